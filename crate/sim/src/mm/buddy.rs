//! The buddy allocator of a zone.
//!
//! *Models:* free blocks by order and mobility type, splitting and merging, falling back to other types and stealing their
//! pageblocks, the reserve.
//! *Does not model:* CMA, isolation, compaction.
//! *Follows:* docs/model/reclaim.md, section 1.9; Linux 2.6.31, `mm/page_alloc.c`, `__rmqueue`, `__rmqueue_fallback`,
//! `__free_one_page`, `setup_zone_migrate_reserve`.

use super::frame::{Frames, Word};
use super::gfp::{MAX_ORDER, Mobility};
use super::zone::Zone;

/// Types to fall back to, best first; the reserve comes last for all (R1.23).
const FALLBACKS: [[Mobility; 2]; 3] = [
    [Mobility::Reclaimable, Mobility::Movable],
    [Mobility::Unmovable, Mobility::Movable],
    [Mobility::Reclaimable, Mobility::Unmovable],
];

/// Takes a block of `order`; `None` if no list has one. The free counter is the caller's.
pub(crate) fn take(frames: &mut Frames, zone: &mut Zone, order: usize, mobility: Mobility) -> Option<u32> {
    take_own(frames, zone, order, mobility)
        .or_else(|| take_fallback(frames, zone, order, mobility))
        .or_else(|| take_own(frames, zone, order, Mobility::Reserve))
}

/// The smallest block of the type that is large enough (R1.21).
fn take_own(frames: &mut Frames, zone: &mut Zone, order: usize, mobility: Mobility) -> Option<u32> {
    let (found, frame) = smallest(frames, zone, order, mobility)?;
    detach(frames, zone, frame, found);
    split(frames, zone, frame, found, order, mobility);
    Some(frame)
}

#[inline]
fn smallest(frames: &Frames, zone: &Zone, order: usize, mobility: Mobility) -> Option<(usize, u32)> {
    (order..MAX_ORDER).find_map(|k| {
        if zone.free_blocks[k] == 0 {
            return None;
        }
        frames.first(zone.free_list(k, mobility)).map(|frame| (k, frame))
    })
}

/// Takes up to `count` single pages in the order in which single requests would get them, and gives each to `each`. Returns how
/// many there were. A block that is used up entirely is handed out whole instead of being split page by page: the lists end the same.
pub(crate) fn take_singles(
    frames: &mut Frames,
    zone: &mut Zone,
    count: u32,
    mobility: Mobility,
    mut each: impl FnMut(u32),
) -> u32 {
    let mut left = count;
    while left != 0 {
        let Some((found, frame)) = smallest(frames, zone, 0, mobility) else {
            let Some(frame) = take(frames, zone, 0, mobility) else { break };
            each(frame);
            left -= 1;
            continue;
        };
        let whole = left.ilog2() as usize;
        let order = found.min(whole);
        detach(frames, zone, frame, found);
        split(frames, zone, frame, found, order, mobility);
        (frame..frame + (1 << order)).for_each(&mut each);
        left -= 1 << order;
    }
    count - left
}

/// The largest block of another type; its pageblock may change sides (R1.23, R1.24).
fn take_fallback(frames: &mut Frames, zone: &mut Zone, order: usize, wanted: Mobility) -> Option<u32> {
    let fallbacks = FALLBACKS.get(wanted.index())?;
    for k in (order..MAX_ORDER).rev() {
        for &other in fallbacks {
            let Some(frame) = frames.first(zone.free_list(k, other)) else { continue };
            let mut side = other;
            let pageblock_order = usize::from(zone.pageblock_order);
            if k >= pageblock_order / 2 || wanted == Mobility::Reclaimable {
                let moved = move_free_pages(frames, zone, frame, wanted);
                if moved >= 1 << (pageblock_order - 1) {
                    let block = zone.pageblock(frame);
                    zone.pageblocks[block] = wanted;
                }
                side = wanted;
            }
            detach(frames, zone, frame, k);
            if k >= pageblock_order {
                let first = zone.pageblock(frame);
                let blocks = if zone.fallback_takes_all_pageblocks { 1 << (k - pageblock_order) } else { 1 };
                zone.pageblocks[first..first + blocks].fill(wanted);
            }
            split(frames, zone, frame, k, order, side);
            return Some(frame);
        }
    }
    None
}

/// Moves the free blocks of a pageblock to another type's lists; returns their pages. One that is cut off by the zone's end is left.
fn move_free_pages(frames: &mut Frames, zone: &Zone, frame: u32, to: Mobility) -> u32 {
    let mask = (1 << zone.pageblock_order) - 1;
    let mut at = frame & !mask;
    let end = at + mask + 1;
    if end > zone.end {
        return 0;
    }
    let mut moved = 0;
    while at < end {
        let Some(order) = free_order(frames, at) else {
            at += 1;
            continue;
        };
        frames.unlink(at);
        frames.push_head(zone.free_list(order, to), at);
        moved += 1 << order;
        at += 1 << order;
    }
    moved
}

/// The order of the free block that starts here, if one does.
#[inline]
fn free_order(frames: &Frames, frame: u32) -> Option<usize> {
    let word = frames.word(frame);
    (word.place() == Word::FREE_HEAD).then_some(usize::from(word.0 >> 4))
}

#[inline]
fn detach(frames: &mut Frames, zone: &mut Zone, frame: u32, order: usize) {
    frames.unlink(frame);
    frames.set(frame, Word::NOTHING);
    zone.free_blocks[order] -= 1;
}

#[inline]
fn attach(frames: &mut Frames, zone: &mut Zone, frame: u32, order: usize, mobility: Mobility) {
    frames.set(frame, Word::free_head(order as u8));
    zone.free_blocks[order] += 1;
    frames.push_head(zone.free_list(order, mobility), frame);
}

/// Gives back the upper halves of a block until `order` is left.
#[inline]
fn split(
    frames: &mut Frames,
    zone: &mut Zone,
    frame: u32,
    mut from: usize,
    order: usize,
    mobility: Mobility,
) {
    while from > order {
        from -= 1;
        attach(frames, zone, frame + (1 << from), from, mobility);
    }
}

/// Gives a block back, merging it with its buddies while they are free (R1.22). The free counter is the caller's.
#[inline]
pub(crate) fn give(
    frames: &mut Frames,
    zone: &mut Zone,
    frame: u32,
    order: usize,
    mobility: Mobility,
    tail: bool,
) {
    let (mut frame, mut order) = (frame, order);
    while order < MAX_ORDER - 1 {
        let buddy = frame ^ (1 << order);
        if buddy < zone.start || buddy >= zone.end || frames.word(buddy) != Word::free_head(order as u8) {
            break;
        }
        detach(frames, zone, buddy, order);
        frame &= !(1 << order);
        order += 1;
    }
    frames.set(frame, Word::free_head(order as u8));
    zone.free_blocks[order] += 1;
    let list = zone.free_list(order, mobility);
    if tail && is_likely_to_merge(frames, zone, frame, order) {
        frames.push_tail(list, frame);
    } else {
        frames.push_head(list, frame);
    }
}

/// Whether the buddy of the block this one would grow into is free already.
fn is_likely_to_merge(frames: &Frames, zone: &Zone, frame: u32, order: usize) -> bool {
    if order >= MAX_ORDER - 2 {
        return false;
    }
    let above = (frame & !(1 << order)) ^ (1 << (order + 1));
    above >= zone.start && above < zone.end && free_order(frames, above) == Some(order + 1)
}

/// Sets the reserve's pageblocks aside, at most `blocks_max` of them (R1.25): the first whose pages are all free.
pub(crate) fn set_reserve(frames: &mut Frames, zone: &mut Zone, blocks_max: u32) {
    let pages = 1_u32 << zone.pageblock_order;
    let mut wanted = zone.marks[0].div_ceil(pages).min(blocks_max);
    for block in 0..zone.pageblocks.len() {
        if wanted == 0 {
            return;
        }
        let first = zone.start + (block as u32) * pages;
        if first + pages > zone.end || zone.pageblocks[block] != Mobility::Movable {
            continue;
        }
        let containing = (usize::from(zone.pageblock_order)..MAX_ORDER)
            .find(|&k| free_order(frames, first & !((1 << k) - 1)) == Some(k));
        let Some(k) = containing else { continue };
        // A larger block is cut so that the reserve's pages can stand on their own list.
        let head = first & !((1 << k) - 1);
        detach(frames, zone, head, k);
        let order = usize::from(zone.pageblock_order);
        for part in (head..head + (1 << k)).step_by(1 << order) {
            let mobility = if part == first { Mobility::Reserve } else { zone.pageblock_type(part) };
            attach(frames, zone, part, order, mobility);
        }
        zone.pageblocks[block] = Mobility::Reserve;
        wanted -= 1;
    }
}
