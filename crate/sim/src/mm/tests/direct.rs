//! Sections 2.1 and 3.6: direct reclaim, and what the allocator makes of it.

use super::*;
use crate::mm::direct::DirectReclaim;

/// Reclaims to the end; `each` sees memory after every step.
fn reclaim(memory: &mut Memory, caller: &Caller, mut each: impl FnMut(&mut Memory)) -> u64 {
    let mut direct = DirectReclaim::new(memory, MOVABLE, 1, caller);
    for _ in 0..100_000 {
        let step = direct.step(memory);
        memory.check();
        each(memory);
        if let Step::Done(result) = step {
            return result;
        }
    }
    panic!("it never ends");
}

fn scanned(memory: &Memory) -> u64 {
    memory.zones().iter().map(|zone| zone.events.pgscan_direct).sum()
}

/// A machine full of such pages of a file on device 1.
fn full_of(release: &str, page: NewPage) -> Memory {
    let mut memory = memory_of(release, 3980, 60_000);
    memory.add_owner(OwnerInfo { has_writepage: true, device: 1, ..OwnerInfo::default() });
    memory.add_run(MOVABLE, &task(), &page, 80_000, |_| ());
    memory.drain_vectors(0);
    memory
}

/// Section 3.6: the flushers are woken for as many pages as have been looked at, once these are more than 48.
#[test]
fn flushers_are_woken() {
    let mut memory = full_of("2.6.36", file_page(0, 0));
    reclaim(&mut memory, &task(), |_| ());
    assert!(scanned(&memory) <= 64, "the target was met in the first passes: {}", scanned(&memory));
    assert_eq!(memory.out.wake_flushers_pages, 0);

    let mut memory = full_of("2.6.36", file_page(0, 0));
    for zone in 0..2 {
        let pages: Vec<u32> = memory.zones[zone].lru[Lru::InactiveFile.index()].iter().collect();
        pages.iter().for_each(|&frame| memory.begin_write(FrameId(frame)));
    }
    let mut asked = Vec::new();
    reclaim(&mut memory, &task(), |memory| asked.push((memory.out.wake_flushers_pages, scanned(memory))));
    assert!(
        asked.iter().all(|&(pages, scanned)| pages == 0 || (pages > 48 && pages <= scanned)),
        "{asked:?}"
    );
    assert_eq!(memory.out.wake_flushers_pages, scanned(&memory));
}

/// Section 3.6: in laptop mode a task writes only after more than 48 looks.
#[test]
fn laptop_mode_writes_late() {
    for laptop_mode in [false, true] {
        let mut memory = full_of("2.6.36", NewPage { dirty: true, ..file_page(0, 0) });
        memory.laptop_mode = laptop_mode;
        let mut at_first_write = None;
        reclaim(&mut memory, &task(), |memory| {
            if !memory.out.writes.is_empty() {
                at_first_write = at_first_write.or(Some(scanned(memory)));
            }
        });
        let at_first_write = at_first_write.expect("it writes in the end");
        assert_eq!(at_first_write > 48 + 32, laptop_mode, "{at_first_write}");
    }
}

/// R4.6: what a task is writing to anyway stays known while it reclaims.
#[test]
fn own_device_is_written_to() {
    for (writing_to, writes) in [(0, false), (1, true), (2, false)] {
        let mut memory = full_of("2.6.36", NewPage { dirty: true, ..file_page(0, 0) });
        memory.set_congested(0, [true, false]);
        reclaim(&mut memory, &Caller { writing_to, ..task() }, |_| ());
        assert_eq!(!memory.out.writes.is_empty(), writes, "device {writing_to}");
    }
}

/// Sections 3.6 and 4.8: pages of slabs count as reclaimed. Up to 2.6.34 what was freed does not count where nothing more can be.
#[test]
fn slab_pages_count_by_release() {
    for (release, result) in [("2.6.31", 0), ("2.6.34", 0), ("2.6.35", 10), ("2.6.36", 10)] {
        let mut memory = memory_of(release, 3980, 60_000);
        let cache = memory.add_shrinker("inodes", 2, 100, true);
        for _ in 0..1000 {
            let page = memory
                .needs_slab_page(cache)
                .then(|| memory.allocate_at_once(KERNEL, &task()).expect("plenty"));
            memory.add_object(cache, page);
        }
        memory.zones.iter_mut().for_each(|zone| zone.all_unreclaimable = true);
        assert_eq!(reclaim(&mut memory, &task(), |_| ()), result, "{release}");
        assert_eq!(memory.shrinkers()[cache].objects, 0, "without other pages all of them are due");
    }
}

/// Section 3.6, R4.3: a zone that has been given up is still tried in the first pass, which does not end at 32 pages.
#[test]
fn given_up_zone_is_tried_in_the_first_pass() {
    let mut memory = memory_of("2.6.36", 3980, 200_000);
    let mapping = file(&mut memory);
    fill(&mut memory, mapping, 300_000);
    memory.zones[1].all_unreclaimable = true;
    assert_eq!(reclaim(&mut memory, &task(), |_| ()), 199_000 >> 12);
    assert_eq!(memory.vmstat.kswapd_steal, 0, "R4.8: kswapd has no part in it");
}

/// Section 2.1, step 7: before anything is killed the free lists are tried at HIGH, so that pages between MIN and HIGH spare nobody.
#[test]
fn kill_is_preceded_by_an_attempt_at_high() {
    for (blocks, is_killed) in [(10, true), (20, false)] {
        let mut memory = memory_of("2.6.34", 3980, 200_000);
        let kept: Vec<FrameId> = (0..blocks)
            .map(|_| {
                memory.allocate_at_once(Request { gfp: Gfp::KERNEL, order: 5 }, &task()).expect("plenty")
            })
            .collect();
        let mapping = file(&mut memory);
        let mut fuse = Fuse::default();
        loop {
            fuse.burn();
            while let Some(frame) = memory.allocate_at_once(MOVABLE, &task()) {
                memory.add_page(frame, &file_page(mapping, 0), 0);
                memory.begin_write(frame);
            }
            memory.drain_all_pages();
            if !memory.zones()[1].passes(Mark::Min, 0, 1, AllocFlags::default()) {
                break;
            }
        }
        memory.zones.iter_mut().for_each(|zone| zone.all_unreclaimable = true);
        let mut allocation = Allocation::new(MOVABLE, task());
        assert_eq!(allocation.step(&mut memory), Step::Work, "in the first pass");
        kept.into_iter().for_each(|frame| memory.free_pages(frame, 5, 0));
        let zone = &memory.zones()[1];
        assert!(zone.passes(Mark::Min, 0, 1, AllocFlags::default()));
        assert_eq!(zone.passes(Mark::High, 0, 1, AllocFlags::default()), !is_killed);
        memory.zones.iter_mut().for_each(|zone| zone.all_unreclaimable = true);
        let mut fuse = Fuse::default();
        let end = loop {
            fuse.burn();
            match allocation.step(&mut memory) {
                Step::Work | Step::Nap(_) => {}
                end => break end,
            }
        };
        assert_eq!(end == Step::Oom, is_killed, "{end:?}");
        assert_eq!(memory.vmstat.oom_kills, u64::from(is_killed));
    }
}

/// Section 2.1, step 7: nothing is killed for a costly order.
#[test]
fn no_kill_for_costly_orders() {
    for (order, kills) in [(3, 1), (4, 0)] {
        let mut memory = memory_of("2.6.31", 3980, 20_000);
        exhaust(&mut memory);
        let_kswapd_finish(&mut memory);
        let mut allocation = Allocation::new(Request { gfp: Gfp::KERNEL, order }, task());
        let mut fuse = Fuse::default();
        let end = loop {
            fuse.burn();
            match allocation.step(&mut memory) {
                Step::Work | Step::Nap(_) => {}
                end => break end,
            }
        };
        assert_eq!(end, if kills == 1 { Step::Oom } else { Step::Done(None) });
        assert_eq!(memory.vmstat.oom_kills, kills);
    }
}

/// Section 2.1, step 8: with REPEAT a costly request reclaims until it has freed as many pages as it wants; without, once.
#[test]
fn repeat_tries_until_enough_is_freed() {
    for (gfp, once) in [(Gfp::KERNEL, true), (Gfp::KERNEL.with(Gfp::REPEAT), false)] {
        let mut memory = memory_of("2.6.36", 3980, 20_000);
        let mapping = file(&mut memory);
        // Every second page is the kernel's: no block ever comes together.
        let pages = exhaust(&mut memory);
        for &frame in pages.iter().filter(|frame| frame.0 % 2 == 1) {
            memory.add_page(frame, &file_page(mapping, 0), 0);
        }
        let got = run(&mut memory, Allocation::new(Request { gfp, order: 8 }, task()), |memory, _| {
            memory.out.clear()
        });
        assert_eq!((got, memory.vmstat.failures[8]), (None, 1));
        let freed: u64 = memory.zones().iter().map(|zone| zone.events.pgsteal).sum();
        assert_eq!(memory.vmstat.allocstall == 1, once);
        assert_eq!(freed < 256, once, "{freed}");
    }
}

/// 0.5 G9: new pages come to their list by 14.
#[test]
fn pages_reach_their_list_by_fourteen() {
    let mut memory = memory_of("2.6.36", 3980, 60_000);
    let mapping = file(&mut memory);
    for added in 1..=30 {
        let frame = memory.allocate_at_once(MOVABLE, &task()).expect("plenty");
        memory.add_page(frame, &file_page(mapping, added), 0);
        assert_eq!(memory.zones()[1].lru_pages(Lru::InactiveFile), added / 14 * 14);
    }
}

/// R3.5: a block given back makes its zone worth scanning again, as single pages do.
#[test]
fn freed_block_ends_giving_up() {
    let mut memory = memory_of("2.6.36", 3980, 60_000);
    let frame = memory.allocate_at_once(Request { gfp: Gfp::KERNEL, order: 1 }, &task()).expect("plenty");
    memory.zones[1].all_unreclaimable = true;
    memory.zones[1].pages_scanned = 7;
    memory.free_pages(frame, 1, 0);
    let zone = &memory.zones()[1];
    assert_eq!((zone.all_unreclaimable, zone.pages_scanned), (false, 0));
}
