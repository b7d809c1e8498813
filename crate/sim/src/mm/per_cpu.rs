//! What each CPU keeps for itself: free pages, and pages on their way to an LRU list.
//!
//! *Models:* per-CPU page lists with their batches, one for all mobility types or one for each; hot pages at the front and cold ones at
//! the back; vectors of 14 pages.
//! *Does not model:* the separate hot and cold lists of kernels before 2.6.25.
//! *Follows:* docs/model/reclaim.md, section 1.10 and 0.5 (G1, G9); Linux 2.6.31 and 2.6.34, `mm/page_alloc.c`, `buffered_rmqueue`,
//! `free_hot_cold_page`, `free_pcppages_bulk`; `mm/swap.c`, `lru_add_drain`.

use super::buddy;
use super::frame::Frames;
use super::gfp::Mobility;
use super::lru::LRU_LISTS;
use super::policy::MemoryPolicy;
use super::zone::Zone;
use std::collections::VecDeque;

/// Pages in a vector (PAGEVEC_SIZE).
pub(crate) const VECTOR_PAGES: usize = 14;
/// The largest batch (R1.30).
const BATCH_MAX: usize = 32;
/// Mobility types that have a list of their own.
const TYPES: usize = 3;
/// Bits of an entry that are the frame; the type's are above.
const FRAME_BITS: u32 = 30;

/// The free pages one CPU keeps of one zone.
#[derive(Clone, Debug)]
pub(crate) struct PerCpuPages {
    /// Frame and the type under which it goes back to the buddy lists; front is hot. The mixed kernels use the first list only.
    lists: [VecDeque<u32>; TYPES],
    pub(crate) count: u32,
}

fn entry(frame: u32, mobility: Mobility) -> u32 {
    frame | (mobility.index() as u32) << FRAME_BITS
}

fn frame_of(entry: u32) -> u32 {
    entry & ((1 << FRAME_BITS) - 1)
}

fn type_of(entry: u32) -> Mobility {
    Mobility::from_index((entry >> FRAME_BITS) as u8)
}

/// The list of free blocks a page goes back to.
fn given_back_as(entry: u32, policy: &MemoryPolicy) -> Mobility {
    match type_of(entry) {
        Mobility::Reserve if !policy.per_cpu_lists_keep_reserve => Mobility::Movable,
        mobility => mobility,
    }
}

impl PerCpuPages {
    fn new(zone: &Zone) -> Self {
        let capacity = (zone.high + 2 * zone.batch) as usize;
        Self { lists: std::array::from_fn(|_| VecDeque::with_capacity(capacity)), count: 0 }
    }

    /// Takes a page, filling up first if there is none (R1.31, R1.32).
    #[inline]
    pub(crate) fn take(
        &mut self,
        frames: &mut Frames,
        zone: &mut Zone,
        mobility: Mobility,
        cold: bool,
        policy: &MemoryPolicy,
    ) -> Option<u32> {
        let frame = if policy.per_cpu_lists_mixed {
            self.take_mixed(frames, zone, mobility, cold)?
        } else {
            let list = mobility.index().min(TYPES - 1);
            if self.lists[list].is_empty() {
                self.fill(frames, zone, list, mobility, cold);
            }
            let list = &mut self.lists[list];
            frame_of(if cold { list.pop_back() } else { list.pop_front() }?)
        };
        self.count -= 1;
        Some(frame)
    }

    /// 2.6.30 and 2.6.31: looks for a page of the type, and fills up if there is none.
    fn take_mixed(
        &mut self,
        frames: &mut Frames,
        zone: &mut Zone,
        mobility: Mobility,
        cold: bool,
    ) -> Option<u32> {
        if let Some(frame) = self.remove_of_type(mobility, cold) {
            return Some(frame);
        }
        self.fill(frames, zone, 0, mobility, cold);
        let list = &mut self.lists[0];
        if cold { list.pop_back() } else { list.pop_front() }.map(frame_of)
    }

    fn remove_of_type(&mut self, mobility: Mobility, cold: bool) -> Option<u32> {
        let list = &mut self.lists[0];
        let is_of_type = |entry: &u32| type_of(*entry) == mobility;
        let at = if cold { list.iter().rposition(is_of_type) } else { list.iter().position(is_of_type) };
        at.and_then(|at| list.remove(at)).map(frame_of)
    }

    /// A batch from the buddy lists, at the end from which pages are taken, so that they come out in ascending order.
    fn fill(&mut self, frames: &mut Frames, zone: &mut Zone, list: usize, mobility: Mobility, cold: bool) {
        let mut batch = [0; BATCH_MAX];
        let wanted = zone.batch.min(BATCH_MAX as u32);
        let mut filled = 0;
        let got = buddy::take_singles(frames, zone, wanted, mobility, |frame| {
            batch[filled] = entry(frame, mobility);
            filled += 1;
        });
        let target = &mut self.lists[list];
        let others = target.len();
        if cold {
            target.extend(batch[..filled].iter().rev());
        } else {
            target.extend(&batch[..filled]);
            target.rotate_left(others);
        }
        zone.free -= i64::from(got);
        self.count += got;
    }

    /// Puts a freed page here; a batch goes back when there are too many.
    #[inline]
    pub(crate) fn put(
        &mut self,
        frames: &mut Frames,
        zone: &mut Zone,
        frame: u32,
        cold: bool,
        policy: &MemoryPolicy,
    ) {
        let mobility = zone.pageblock_type(frame);
        let list = if policy.per_cpu_lists_mixed { 0 } else { mobility.index().min(TYPES - 1) };
        let target = &mut self.lists[list];
        if cold {
            target.push_back(entry(frame, mobility));
        } else {
            target.push_front(entry(frame, mobility));
        }
        self.count += 1;
        if self.count >= zone.high {
            self.give_back(frames, zone, zone.batch, policy);
        }
    }

    /// As [`Self::put`], for cold pages of a batch.
    #[inline]
    pub(crate) fn put_batch(
        &mut self,
        frames: &mut Frames,
        zone: &mut Zone,
        batch: &[u32],
        policy: &MemoryPolicy,
    ) {
        let (Some(&first), false) = (batch.first(), policy.per_cpu_lists_mixed) else {
            return batch.iter().for_each(|&frame| self.put(frames, zone, frame, true, policy));
        };
        let mobility = zone.pageblock_type(first);
        let alike = batch.iter().all(|&frame| zone.pageblock_type(frame) == mobility);
        if !alike || self.count + batch.len() as u32 >= zone.high {
            return batch.iter().for_each(|&frame| self.put(frames, zone, frame, true, policy));
        }
        let list = mobility.index().min(TYPES - 1);
        self.lists[list].extend(batch.iter().map(|&frame| entry(frame, mobility)));
        self.count += batch.len() as u32;
    }

    /// Takes a page only if one is here already: the watermark is as it was.
    #[inline]
    pub(crate) fn take_ready(&mut self, mobility: Mobility, cold: bool) -> Option<u32> {
        let list = &mut self.lists[mobility.index().min(TYPES - 1)];
        let entry = if cold { list.pop_back() } else { list.pop_front() }?;
        self.count -= 1;
        Some(frame_of(entry))
    }

    /// Gives `pages` pages back to the buddy lists, coldest first, taking turns between types.
    pub(crate) fn give_back(
        &mut self,
        frames: &mut Frames,
        zone: &mut Zone,
        pages: u32,
        policy: &MemoryPolicy,
    ) {
        let pages = pages.min(self.count);
        if pages == 0 {
            return;
        }
        zone.all_unreclaimable = false;
        zone.pages_scanned = 0;
        let mut run = Run::new(policy.free_to_tail_if_merging);
        let (mut left, mut list, mut in_a_row) = (pages, 0, 0);
        // With pages of one type only, turns do not matter.
        let only = self.lists.iter().position(|list| list.len() == self.count as usize);
        if let Some(only) = only {
            let list = &mut self.lists[only];
            let keep = list.len() - left as usize;
            for &entry in list.range(keep..).rev() {
                run.add(frames, zone, frame_of(entry), given_back_as(entry, policy));
            }
            list.truncate(keep);
            left = 0;
        }
        while left != 0 {
            // A type without pages passes its turn, and the next gives one page more.
            loop {
                in_a_row += 1;
                list = (list + 1) % TYPES;
                if !self.lists[list].is_empty() {
                    break;
                }
            }
            for _ in 0..in_a_row.min(left) {
                let Some(entry) = self.lists[list].pop_back() else { break };
                run.add(frames, zone, frame_of(entry), given_back_as(entry, policy));
                left -= 1;
            }
            in_a_row = 0;
        }
        run.end(frames, zone);
        self.count -= pages;
        zone.free += i64::from(pages);
    }

    /// The frames kept, for checks.
    pub(crate) fn frames(&self) -> impl Iterator<Item = u32> + '_ {
        self.lists.iter().flatten().map(|&entry| frame_of(entry))
    }
}

/// Pages given back one after the other that lie side by side, in descending or ascending order: they merge among themselves in any
/// case, so they are given back as the largest blocks they make up. The free lists end as they would page by page.
struct Run {
    low: u32,
    /// Pages; 0 before the first.
    pages: u32,
    descending: bool,
    mobility: Mobility,
    tail: bool,
}

impl Run {
    fn new(tail: bool) -> Self {
        Self { low: 0, pages: 0, descending: true, mobility: Mobility::Movable, tail }
    }

    #[inline]
    fn add(&mut self, frames: &mut Frames, zone: &mut Zone, frame: u32, mobility: Mobility) {
        if self.pages != 0 && mobility == self.mobility {
            if frame + 1 == self.low && (self.descending || self.pages == 1) {
                self.descending = true;
                self.low = frame;
                self.pages += 1;
                return;
            }
            if frame == self.low + self.pages && (!self.descending || self.pages == 1) {
                self.descending = false;
                self.pages += 1;
                return;
            }
        }
        self.end(frames, zone);
        (self.low, self.pages, self.mobility) = (frame, 1, mobility);
    }

    fn end(&mut self, frames: &mut Frames, zone: &mut Zone) {
        let (mut low, mut left) = (self.low, self.pages);
        while left != 0 {
            let end = if self.descending { low + left } else { low };
            let order = end.trailing_zeros().min(left.ilog2()) as usize;
            let pages = 1 << order;
            let first = if self.descending { end - pages } else { low };
            buddy::give(frames, zone, first, order, self.mobility, self.tail);
            left -= pages;
            if !self.descending {
                low += pages;
            }
        }
        self.pages = 0;
    }
}

/// Gives single pages back one after the other, as from a list.
#[cfg(test)]
pub(crate) fn give_back_for_test(frames: &mut Frames, zone: &mut Zone, pages: &[(u32, Mobility)]) {
    let mut run = Run::new(false);
    for &(frame, mobility) in pages {
        run.add(frames, zone, frame, mobility);
    }
    run.end(frames, zone);
}

/// Pages on their way to one LRU list.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Vector {
    pub(crate) frames: [u32; VECTOR_PAGES],
    pub(crate) len: u8,
}

/// What one CPU keeps.
#[derive(Clone, Debug)]
pub(crate) struct CpuCache {
    /// By zone.
    pub(crate) pages: Vec<PerCpuPages>,
    /// By LRU list.
    pub(crate) vectors: [Vector; LRU_LISTS],
}

impl CpuCache {
    pub(crate) fn new(zones: &[Zone]) -> Self {
        Self { pages: zones.iter().map(PerCpuPages::new).collect(), vectors: [Vector::default(); LRU_LISTS] }
    }
}
