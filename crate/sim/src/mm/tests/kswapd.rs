//! Section 3: kswapd's sleep, its balance, its naps.

use super::*;

/// A machine below LOW whose memory is full of file pages.
fn pressed(release: &str, mapped: bool) -> (Memory, Kswapd) {
    let mut memory = memory_of(release, 3980, 60_000);
    let mapping = file(&mut memory);
    let page = NewPage { mapped, ..file_page(mapping, 0) };
    let pages = memory.add_run(MOVABLE, &task(), &page, 80_000, |_| ());
    assert!(pages < 80_000);
    (memory, Kswapd::new(1))
}

/// Steps kswapd until it sleeps; `each` sees the steps before.
fn until_sleep(memory: &mut Memory, kswapd: &mut Kswapd, mut each: impl FnMut(&Step<()>)) -> Option<u64> {
    for _ in 0..1_000_000 {
        let step = kswapd.step(memory);
        memory.check();
        memory.out.clear();
        if let Step::Sleep(jiffies) = step {
            return jiffies;
        }
        each(&step);
    }
    panic!("kswapd never sleeps");
}

/// A19: two stages from 2.6.33 on, with what is counted; one before.
#[test]
fn a19_two_stage_sleep() {
    let (mut memory, mut kswapd) = pressed("2.6.34", false);
    assert_eq!(until_sleep(&mut memory, &mut kswapd, |_| ()), Some(25), "a tenth of a second at 250 ticks");
    assert_eq!(kswapd.state(), KswapdState::Dozing);
    // Woken early: it goes on at once, although nothing is to be done.
    kswapd.woken(13);
    assert_eq!(until_sleep(&mut memory, &mut kswapd, |_| ()), Some(25));
    assert_eq!(memory.vmstat.kswapd_low_wmark_hit_quickly, 1);
    // Not woken, and all zones are still above HIGH: it sleeps for good.
    kswapd.woken(0);
    assert_eq!(until_sleep(&mut memory, &mut kswapd, |_| ()), None);
    assert_eq!(kswapd.state(), KswapdState::Asleep);
    assert_eq!(memory.vmstat.kswapd_high_wmark_hit_quickly, 0);
    // Not woken, but a zone has fallen below HIGH.
    memory.kswapd.is_waiting = false;
    assert_eq!(until_sleep(&mut memory, &mut kswapd, |_| ()), Some(25));
    exhaust(&mut memory);
    kswapd.woken(0);
    let mut worked = 0;
    until_sleep(&mut memory, &mut kswapd, |_| worked += 1);
    assert_eq!(memory.vmstat.kswapd_high_wmark_hit_quickly, 1);
    assert!(worked > 0);

    for (release, patches, expected) in [
        ("2.6.32", vec![], None),
        ("2.6.32", vec!["kswapd-quick-recheck"], Some(25)),
        ("2.6.33", vec![], Some(25)),
    ] {
        let mut memory = memory_with(patched(release, &patches), 3980, 60_000);
        assert_eq!(until_sleep(&mut memory, &mut Kswapd::new(1), |_| ()), expected, "{release} {patches:?}");
    }
}

/// kswapd ends with every zone above HIGH.
#[test]
fn balance_reaches_high() {
    for release in ["2.6.30", "2.6.31", "2.6.32", "2.6.34", "2.6.36", "2.6.37"] {
        let (mut memory, mut kswapd) = pressed(release, true);
        until_sleep(&mut memory, &mut kswapd, |_| ());
        for zone in memory.zones() {
            assert!(zone.passes(Mark::High, 0, 0, AllocFlags::default()), "{release}");
        }
        assert_eq!(memory.vmstat.allocstall, 0);
        assert!(memory.vmstat.kswapd_steal > 0);
        memory.check_every_frame();
    }
}

/// A20, R3.2: PAGEOUTRUN counts starts over, not wakings.
#[test]
fn a20_pageoutrun_counts_restarts() {
    let (mut memory, mut kswapd) = pressed("2.6.34", false);
    until_sleep(&mut memory, &mut kswapd, |_| ());
    let freed = memory.vmstat.kswapd_steal;
    assert!(memory.vmstat.pageoutrun > 1, "one waking");
    assert!(freed / memory.vmstat.pageoutrun >= 32, "every start but the last freed a batch at least");
}

/// R3.1: with the check before the shrink, up to 2.6.33, the pass that repairs a zone never ends the loop: there is one more than with
/// the check after.
#[test]
fn check_before_the_shrink_costs_a_pass() {
    let passes = |release: &str| {
        let policy = policy(release);
        // One zone only: with DMA below, which never passes with its reserve, both kernels end in the search for a zone that fails.
        let layout = MemoryLayout::from_present(&[(ZoneKind::Dma32, 60_000, 0)]);
        let mut memory = Memory::new(&layout, policy, 2, 250).expect("good");
        let mapping = file(&mut memory);
        fill(&mut memory, mapping, 80_000);
        memory.take_work();
        until_sleep(&mut memory, &mut Kswapd::new(1), |_| ());
        memory.take_work().passes
    };
    assert_eq!(passes("2.6.33"), passes("2.6.34") + 1);
}

/// Section 3.5, 0.5 G4: no nap while a zone is under MIN, tested with the class of the highest zone that failed: DMA within its reserve
/// counts.
#[test]
fn no_nap_under_min() {
    for (dma_free, skips) in [(1988 + 11, true), (1988 + 12, false)] {
        let layout = MemoryLayout::mapped_stream_2010();
        let mut memory = Memory::new(&layout, policy("2.6.36"), 2, 250).expect("good");
        let mapping = file(&mut memory);
        // A list whose pages cannot go: kswapd comes to P = 9 without ending the loop.
        let mut fuse = Fuse::default();
        while memory.zones()[1].free > 1800 {
            fuse.burn();
            let frame = memory.allocate_at_once(MOVABLE, &task()).expect("above MIN");
            memory.add_page(frame, &file_page(mapping, 0), 0);
            memory.begin_write(frame);
        }
        let dma = Request::page(Gfp::HIGHUSER_MOVABLE.without(Gfp::HIGHMEM).with(Gfp::DMA));
        for _ in 0..100 {
            let frame = memory.allocate_at_once(dma, &task()).expect("plenty");
            memory.add_page(frame, &file_page(mapping, 0), 0);
            memory.begin_write(frame);
        }
        memory.zones[0].free = dma_free;
        let mut kswapd = Kswapd::new(1);
        let mut naps = 0;
        for _ in 0..2000 {
            naps += u32::from(matches!(kswapd.step(&mut memory), Step::Nap(_)));
            if naps + memory.vmstat.kswapd_skip_congestion_wait as u32 > 0 {
                break;
            }
        }
        assert_eq!(memory.vmstat.kswapd_skip_congestion_wait == 1, skips, "DMA free {dma_free}");
        assert_eq!(naps == 1, !skips);
        if naps == 1 {
            assert_eq!(kswapd.state(), KswapdState::Balancing(9), "R3.3: the first nap is at P = 9");
        }
    }
}

/// Section 4.3: without swap kswapd tops up the inactive anonymous list all the same, up to 2.6.36.
#[test]
fn anon_aging_without_swap_by_release() {
    for (release, ages) in [("2.6.31", true), ("2.6.36", true), ("2.6.37", false)] {
        let mut memory = memory_of(release, 3980, 60_000);
        let mapping = file(&mut memory);
        let anon = NewPage { anon: true, mapped: true, active: true, ..file_page(mapping, 0) };
        memory.add_run(MOVABLE, &task(), &anon, 20_000, |_| ());
        let page = file_page(mapping, 20_000);
        memory.add_run(MOVABLE, &task(), &page, 60_000, |_| ());
        until_sleep(&mut memory, &mut Kswapd::new(1), |_| ());
        assert_eq!(memory.zones()[1].lru_pages(Lru::InactiveAnon) > 0, ages, "{release}");
        assert_eq!(memory.vmstat.pgdeactivate > 0, ages, "{release}");
    }
}

/// Section 3.2: the order asked for is read and reset when a balance is over: the next is for order 0 again.
#[test]
fn order_is_reset_when_read() {
    let (mut memory, mut kswapd) = pressed("2.6.36", false);
    memory.kswapd.max_order = 2;
    until_sleep(&mut memory, &mut kswapd, |_| ());
    assert_eq!(memory.kswapd_queue(), KswapdQueue { max_order: 0, is_waiting: true });
}

/// R3.4: an order that cannot be had is given up only after a whole descent without 32 pages, and kswapd goes on for order 0.
#[test]
fn hopeless_order_is_given_up() {
    let mut memory = memory_of("2.6.36", 3980, 60_000);
    exhaust(&mut memory);
    memory.out.clear();
    memory.allocate_at_once(Request { gfp: Gfp::ATOMIC, order: 5 }, &task());
    let mut kswapd = Kswapd::new(1);
    // Nothing can be reclaimed: all zones become unreclaimable, and it sleeps.
    until_sleep(&mut memory, &mut kswapd, |_| ());
    assert!(memory.zones().iter().all(|zone| zone.all_unreclaimable));
}

/// R3.5: freeing a page makes a zone worth scanning again.
#[test]
fn unreclaimable_until_a_page_is_freed() {
    let mut memory = memory_of("2.6.36", 3980, 60_000);
    let pages = exhaust(&mut memory);
    let mut kswapd = Kswapd::new(1);
    until_sleep(&mut memory, &mut kswapd, |_| ());
    assert!(memory.zones()[1].all_unreclaimable);
    for &page in &pages[..400] {
        memory.free_pages(page, 0, 0);
    }
    assert!(memory.zones().iter().any(|zone| !zone.all_unreclaimable && zone.pages_scanned == 0));
}

/// Patch 5 of V3, as first posted: for high orders kswapd naps at lower priorities only.
#[test]
fn adjust_priority_moves_the_first_nap() {
    let first_nap = |patches: &[&str]| {
        let mut memory = memory_with(patched("2.6.31", patches), 3980, 60_000);
        let mapping = file(&mut memory);
        let mut fuse = Fuse::default();
        while memory.zones()[1].free > i64::from(memory.zones()[1].marks[0]) + 40 {
            fuse.burn();
            let frame = memory.allocate_at_once(MOVABLE, &task()).expect("above MIN");
            memory.add_page(frame, &file_page(mapping, 0), 0);
            memory.begin_write(frame);
        }
        memory.kswapd.max_order = 3;
        let mut kswapd = Kswapd::new(1);
        let mut fuse = Fuse::default();
        loop {
            fuse.burn();
            match kswapd.step(&mut memory) {
                Step::Nap(_) => return kswapd.state(),
                Step::Sleep(_) => panic!("cannot be balanced"),
                _ => {}
            }
        }
    };
    assert_eq!(first_nap(&[]), KswapdState::Balancing(9));
    assert_eq!(first_nap(&["adjust-priority"]), KswapdState::Balancing(6));
}
