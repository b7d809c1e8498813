//! Sections 1.9 and 1.10: pageblocks that change sides, places on free lists, turns of types.

use super::*;
use std::iter;

/// A machine without a free page, and a pageblock in its middle.
fn full(release: &str) -> (Memory, u32) {
    let mut memory = memory_of(release, 0, 60_000);
    let reclaimer = Caller { memalloc: true, ..task() };
    while run(&mut memory, Allocation::new(MOVABLE, reclaimer), |_, _| ()).is_some() {}
    let first = memory.zones()[1].start.next_multiple_of(1024) + 8 * 1024;
    assert_eq!(memory.zones()[1].pageblock_type(first), Mobility::Movable);
    (memory, first)
}

fn list(memory: &Memory, order: usize, mobility: Mobility) -> Vec<u32> {
    let list = memory.zones[1].free_list(order, mobility);
    let next = |&at: &u32| Some(memory.frames.links[at as usize].next).filter(|&next| next != list);
    iter::successors(memory.frames.first(list), next).collect()
}

fn pages_of(memory: &Memory, mobility: Mobility) -> usize {
    (0..MAX_ORDER).map(|order| list(memory, order, mobility).len() << order).sum()
}

/// R1.24: what a request that falls back to movable pages takes with it: the rest of a block of order 4 and more, or of any for
/// reclaimable ones; the pageblock's type if half of it was free.
#[test]
fn fallback_steals_by_size() {
    let odd: Vec<usize> = (0..8).rev().collect();
    for (wanted, free, stolen, changes) in [
        (Gfp::KERNEL, vec![4], 15, false),
        (Gfp::KERNEL, vec![3], 0, false),
        (Gfp::KERNEL.with(Gfp::RECLAIMABLE), vec![3], 7, false),
        (Gfp::KERNEL, odd, 254, false),
        (Gfp::KERNEL, vec![8], 255, true),
    ] {
        let (mut memory, first) = full("2.6.36");
        let mut at = first;
        for &order in &free {
            // Orders fall, so that each block is aligned, and no two are buddies.
            memory.free_pages(FrameId(at), order as u8, 0);
            at += 1 << order;
        }
        memory.drain_all_pages();
        let pages: usize = free.iter().map(|order| 1 << order).sum();
        assert_eq!(pages_of(&memory, Mobility::Movable), pages);
        let mobility = wanted.mobility();
        buddy::take(&mut memory.frames, &mut memory.zones[1], 0, mobility).expect("a page");
        assert_eq!(pages_of(&memory, mobility), stolen, "{free:?} for {mobility:?}");
        assert_eq!(pages_of(&memory, Mobility::Movable), pages - 1 - stolen);
        assert_eq!(memory.zones()[1].pageblock_type(first) == mobility, changes, "{free:?} for {mobility:?}");
    }
}

/// R1.22: from 2.6.35 on a freed block goes to its list's tail if the one it would grow into has a free buddy.
#[test]
fn place_of_a_freed_block_by_release() {
    for (release, goes_to_tail) in [("2.6.34", false), ("2.6.35", true), ("2.6.36", true)] {
        let (mut memory, first) = full(release);
        memory.free_pages(FrameId(first + 64), 1, 0);
        memory.free_pages(FrameId(first + 4), 2, 0);
        memory.free_pages(FrameId(first), 1, 0);
        let mut expected = [first, first + 64];
        if goes_to_tail {
            expected.reverse();
        }
        assert_eq!(list(&memory, 1, Mobility::Movable), expected, "{release}");
    }
}

/// R1.32: types take turns when a batch goes back; one without pages passes its turn, and the next gives one page more.
#[test]
fn types_take_turns() {
    for (given_back, movable_left, unmovable_left) in [(2, 8, 10), (3, 8, 9), (6, 6, 8)] {
        let mut memory = memory_of("2.6.36", 3980, 200_000);
        let mut take = |request| -> Vec<FrameId> {
            (0..10).map(|_| memory.allocate_at_once(request, &task()).expect("plenty")).collect()
        };
        let pages = [take(KERNEL), take(MOVABLE)].concat();
        memory.drain_all_pages();
        pages.into_iter().for_each(|page| memory.free_pages(page, 0, 0));
        let (frames, zone) = (&mut memory.frames, &mut memory.zones[1]);
        let cache = &mut memory.cpus[0].pages[1];
        cache.give_back(frames, zone, given_back, &memory.policy);
        let left = |mobility| cache.frames().filter(|&frame| zone.pageblock_type(frame) == mobility).count();
        assert_eq!((left(Mobility::Movable), left(Mobility::Unmovable)), (movable_left, unmovable_left));
        memory.check_every_frame();
    }
}
