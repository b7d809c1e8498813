//! Sections 1.7 to 1.10 and 2: who gets pages, from where, and what happens when there are none.

use super::*;

const fn block(order: u8, gfp: Gfp) -> Request {
    Request { gfp, order }
}

/// R1.18: the first zone that passes LOW gives the page, so a lower zone is used only when all above are below LOW.
#[test]
fn first_fit_at_low() {
    let mut memory = memory_of("2.6.36", 3980, 20_000);
    let low = i64::from(memory.zones()[1].marks[1]);
    let mut fuse = Fuse::default();
    while memory.zones()[1].free > low {
        fuse.burn();
        assert!(memory.allocate_at_once(MOVABLE, &task()).is_some());
        assert_eq!(memory.zones()[0].events.pgalloc, 0);
    }
    // What is left on the CPU's list cannot be reached through the mark (0.5 G6): the next page comes from DMA.
    memory.allocate_at_once(MOVABLE, &task()).expect("DMA has plenty");
    assert_eq!(memory.zones()[0].events.pgalloc, 1);
    assert!(memory.kswapd_queue().is_waiting, "nobody had to be woken yet");
    memory.check_every_frame();
}

/// R1.11, R1.20: ordinary requests use DMA only above its mark and its reserve.
#[test]
fn dma_is_used_down_to_its_reserve() {
    let mut memory = memory_of("2.6.36", 3980, 400_000);
    let reserve = memory.zones()[0].reserve[1];
    assert_eq!(reserve, 400_000 / 256);
    exhaust(&mut memory);
    let [dma, dma32] = [&memory.zones()[0], &memory.zones()[1]];
    assert_eq!(dma.free, i64::from(dma.marks[0] + reserve));
    assert!(dma32.free <= i64::from(dma32.marks[0]));
    assert!(
        memory.allocate_at_once(Request::page(Gfp::KERNEL.with(Gfp::DMA)), &task()).is_some(),
        "its own class pays nothing"
    );
}

/// Section 3.3: kswapd is woken once, when LOW fails everywhere, and remembers the highest order asked for.
#[test]
fn kswapd_is_woken_below_low() {
    let mut memory = memory_of("2.6.36", 3980, 20_000);
    while !memory.out.wake_kswapd {
        memory.allocate_at_once(MOVABLE, &task()).expect("above MIN");
    }
    let zones = memory.zones();
    assert!(zones[1].free <= i64::from(zones[1].marks[1]));
    assert!(!memory.kswapd_queue().is_waiting);
    memory.out.clear();
    memory.allocate_at_once(block(2, Gfp::ATOMIC), &task());
    assert!(!memory.out.wake_kswapd, "it is awake");
    assert_eq!(memory.kswapd_queue().max_order, 2, "but learns of the order");
}

/// Section 2.1, step 5: who cannot sleep fails at once, with a report unless it asked for none.
#[test]
fn atomic_requests_fail_at_once() {
    let mut memory = memory_of("2.6.36", 3980, 20_000);
    exhaust(&mut memory);
    let mut taken = 0;
    while memory.allocate_at_once(Request::page(Gfp::ATOMIC), &task()).is_some() {
        taken += 1;
    }
    assert!(taken > 0, "R1.14: they may go deeper");
    let fails = |memory: &mut Memory, request| {
        assert_eq!(Allocation::new(request, task()).step(memory), Step::Done(None));
    };
    for second in 0..3 {
        memory.set_now(second * 1_000_000_000);
        for _ in 0..5 {
            fails(&mut memory, block(2, Gfp::ATOMIC));
        }
    }
    assert_eq!(
        (memory.vmstat.failures[2], memory.vmstat.failures_logged),
        (15, 10),
        "10 reports in 5 seconds"
    );
    memory.set_now(6_000_000_000);
    fails(&mut memory, Request::page(Gfp::ATOMIC));
    fails(&mut memory, Request::page(Gfp::ATOMIC.with(Gfp::NOWARN)));
    assert_eq!((memory.vmstat.failures[0], memory.vmstat.failures_logged), (2, 11));
    assert_eq!(memory.vmstat.allocstall, 0);
}

/// Section 1.6: who frees memory goes without watermarks, to the last page.
#[test]
fn reclaimers_go_without_watermarks() {
    let mut memory = memory_of("2.6.36", 3980, 20_000);
    exhaust(&mut memory);
    let caller = Caller { memalloc: true, ..task() };
    let mut pages = 0;
    while run(&mut memory, Allocation::new(KERNEL, caller), |_, _| ()).is_some() {
        pages += 1;
    }
    assert!(pages > 100);
    assert_eq!(memory.nr_free_pages(), 0);
    assert_eq!(memory.vmstat.failures[0], 1);
    memory.check_every_frame();
}

/// A17: in 2.6.31 and 2.6.32 an attempt at order 2 that passed the watermark and then found no block loses 4 pages from the counter.
/// With exact counters only another CPU between test and attempt brings that about, so the attempt is made directly.
#[test]
fn a17_counter_leak() {
    for (release, leaks) in
        [("2.6.30", false), ("2.6.31", true), ("2.6.32", true), ("2.6.33", false), ("2.6.34", false)]
    {
        let mut memory = memory_of(release, 3980, 20_000);
        let reclaimer = Caller { memalloc: true, ..task() };
        let pages: Vec<FrameId> =
            std::iter::from_fn(|| run(&mut memory, Allocation::new(KERNEL, reclaimer), |_, _| ())).collect();
        // Every second page is free: no two lie side by side.
        for frame in pages.iter().filter(|frame| frame.0 % 2 == 1) {
            memory.free_pages(*frame, 0, 0);
        }
        memory.drain_all_pages();
        assert!(memory.zones()[1].free > 9000);
        assert_eq!(memory.take_block(1, block(2, Gfp::ATOMIC)), None);
        let lost = memory.zones()[1].listed_pages() as i64 - memory.zones()[1].free;
        assert_eq!(lost, if leaks { 4 } else { 0 }, "{release}");
        memory.check_every_frame();
    }
}

/// A18, R2.1: above order 3 without REPEAT there is exactly one direct reclaim and no nap between attempts, then the failure report.
#[test]
fn a18_costly_orders_try_once() {
    for release in ["2.6.30", "2.6.31", "2.6.36"] {
        let mut memory = memory_of(release, 3980, 20_000);
        let mapping = file(&mut memory);
        let pages = fill(&mut memory, mapping, 60_000);
        assert!(pages < 60_000, "memory is full");
        let mut retries = 0;
        let got = run(&mut memory, Allocation::new(block(10, Gfp::KERNEL), task()), |memory, step| {
            if let Step::Nap(nap) = step {
                retries += u32::from(nap.site == NapSite::Retry);
            }
            memory.out.clear();
        });
        // A block of 4 MiB in the order of the stream may come together; what counts is that nobody tries twice.
        assert_eq!((memory.vmstat.allocstall, retries), (1, 0), "{release}");
        assert_eq!(memory.vmstat.failures[10], u64::from(got.is_none()), "{release}");
    }
}

/// A18: up to order 3 a request tries for ever, until the OOM killer is called.
#[test]
fn a18_cheap_orders_try_until_oom() {
    for release in ["2.6.30", "2.6.31", "2.6.32", "2.6.36", "2.6.37"] {
        let mut memory = memory_of(release, 3980, 20_000);
        exhaust(&mut memory);
        let_kswapd_finish(&mut memory);
        let mut allocation = Allocation::new(KERNEL, task());
        let mut kills = 0;
        let mut fuse = Fuse::default();
        while kills < 3 {
            fuse.burn();
            match allocation.step(&mut memory) {
                Step::Oom => kills += 1,
                Step::Done(frame) => panic!("{release}: {frame:?}"),
                _ => {}
            }
        }
        assert_eq!(memory.vmstat.oom_kills, 3);
        assert_eq!(memory.vmstat.failures[0], 0);
        // The victim itself goes without watermarks when it starts over, if what it may do is looked at again then.
        allocation.set_dying();
        let got = run(&mut memory, allocation, |_, _| ());
        assert_eq!(got.is_some(), release != "2.6.31", "{release}");
    }
}

/// Fills memory with pages that are being written, until no CPU keeps any.
fn fill_with_writes(memory: &mut Memory) {
    let mapping = file(memory);
    let mut fuse = Fuse::default();
    loop {
        fuse.burn();
        let before = memory.nr_free_pages();
        while let Some(frame) = memory.allocate_at_once(MOVABLE, &task()) {
            memory.add_page(frame, &file_page(mapping, 0), 0);
            memory.begin_write(frame);
        }
        memory.drain_all_pages();
        if memory.nr_free_pages() == before {
            return;
        }
    }
}

/// Sections 2.1, 2.2: a victim killed while it reclaims goes without watermarks at once in 2.6.30, and fails later.
#[test]
fn victims_in_reclaim_by_release() {
    for (release, succeeds) in [("2.6.30", true), ("2.6.31", false), ("2.6.32", false), ("2.6.36", false)] {
        let mut memory = memory_of(release, 3980, 20_000);
        fill_with_writes(&mut memory);
        // Without the file system there is no OOM killer: the request reclaims again and again.
        let request = Request::page(Gfp::HIGHUSER_MOVABLE.without(Gfp::FS));
        let mut allocation = Allocation::new(request, task());
        let mut fuse = Fuse::default();
        let nap = loop {
            fuse.burn();
            match allocation.step(&mut memory) {
                Step::Nap(nap) if nap.site == NapSite::Retry => break nap,
                Step::Done(frame) => panic!("{release}: {frame:?}"),
                _ => {}
            }
        };
        assert_eq!(nap.jiffies, 5, "{release}: a fiftieth of a second at 250 ticks");
        allocation.set_dying();
        assert_eq!(run(&mut memory, allocation, |_, _| ()).is_some(), succeeds, "{release}");
    }
}

/// Section 3.6: whether nothing more can be had is told by kswapd's marks up to 2.6.35, and by what was scanned from 2.6.36 on.
#[test]
fn hope_by_release() {
    for (release, is_out_of_memory) in
        [("2.6.34", true), ("2.6.35", true), ("2.6.36", false), ("2.6.37", false)]
    {
        let mut memory = memory_of(release, 3980, 20_000);
        fill_with_writes(&mut memory);
        for zone in &mut memory.zones {
            zone.all_unreclaimable = true;
        }
        let mut allocation = Allocation::new(MOVABLE, task());
        let mut fuse = Fuse::default();
        let ends = loop {
            fuse.burn();
            match allocation.step(&mut memory) {
                Step::Oom => break true,
                Step::Nap(nap) if nap.site == NapSite::Retry => break false,
                // From 2.6.37 on nobody naps here.
                Step::Yield if memory.naps().at(NapSite::Retry).left_out > 0 => break false,
                Step::Done(frame) => panic!("{release}: {frame:?}"),
                _ => {}
            }
        };
        assert_eq!(ends, is_out_of_memory, "{release}");
    }
}

/// R1.32: in 2.6.32 single pages of the reserve that come back end on the movable lists: the reserve drains away.
#[test]
fn reserve_by_release() {
    for (release, is_kept) in [("2.6.31", true), ("2.6.32-rc5", false), ("2.6.32", false), ("2.6.33", true)] {
        let mut memory = memory_of(release, 3980, 60_000);
        let reserve = |memory: &Memory| -> u32 {
            let zone = &memory.zones[1];
            let count = |order: usize| {
                let list = zone.free_list(order, Mobility::Reserve);
                let next =
                    |&at: &u32| Some(memory.frames.links[at as usize].next).filter(|&next| next != list);
                std::iter::successors(memory.frames.first(list), next).count() as u32
            };
            (0..MAX_ORDER).map(|order| count(order) << order).sum()
        };
        assert_eq!(reserve(&memory), 512, "{release}: one pageblock, MIN is 483");
        let reclaimer = Caller { memalloc: true, ..task() };
        let pages: Vec<FrameId> =
            std::iter::from_fn(|| run(&mut memory, Allocation::new(MOVABLE, reclaimer), |_, _| ())).collect();
        assert_eq!((memory.nr_free_pages(), reserve(&memory)), (0, 0), "{release}");
        // Only those of the reserve come back, so that they merge with no others.
        for page in pages {
            let zone = &memory.zones[1];
            if page.0 >= zone.start && zone.pageblock_type(page.0) == Mobility::Reserve {
                memory.free_pages(page, 0, 0);
            }
        }
        memory.drain_all_pages();
        assert_eq!(memory.nr_free_pages(), 512, "{release}");
        assert_eq!(reserve(&memory), if is_kept { 512 } else { 0 }, "{release}");
        memory.check();
    }
}

/// R1.24: up to 2.6.31 only the first of several pageblocks taken at once changes its type.
#[test]
fn pageblocks_taken_by_release() {
    for (release, blocks) in [("2.6.30", 1), ("2.6.31", 1), ("2.6.32-rc5", 2), ("2.6.36", 2)] {
        let mut memory = memory_of(release, 3980, 60_000);
        memory.allocate_at_once(KERNEL, &task()).expect("plenty");
        let unmovable =
            memory.zones[1].pageblocks.iter().filter(|&&mobility| mobility == Mobility::Unmovable);
        assert_eq!(unmovable.count(), blocks, "{release}");
    }
}

/// Section 2.4: from 2.6.36 on nothing is killed for a request that cannot use Normal.
#[test]
fn no_kill_for_dma() {
    for (release, kills) in [("2.6.34", 1), ("2.6.36", 0), ("2.6.37", 0)] {
        let mut memory = memory_of(release, 3980, 20_000);
        let dma = Request::page(Gfp::KERNEL.with(Gfp::DMA));
        while memory.allocate_at_once(dma, &task()).is_some() {}
        exhaust(&mut memory);
        let_kswapd_finish(&mut memory);
        let mut allocation = Allocation::new(dma, task());
        let ends = (0..1000).find_map(|_| match allocation.step(&mut memory) {
            Step::Oom => Some(true),
            Step::Done(frame) => Some(frame.is_some()),
            _ => None,
        });
        assert_eq!(ends, Some(kills == 1), "{release}");
        assert_eq!(memory.vmstat.oom_kills, kills, "{release}");
    }
}

/// 2.2a: after starting over, 2.6.31 does not wake kswapd again; the patch and all other releases do.
#[test]
fn restart_wakes_kswapd_by_release() {
    let cases: [(&str, &[&str], bool); 7] = [
        ("2.6.30", &[], true),
        ("2.6.31", &[], false),
        ("2.6.31", &["pgalloc-wake-kswapd"], true),
        ("2.6.32-rc5", &[], false),
        ("2.6.32-rc6", &[], false),
        ("2.6.32-rc7", &[], true),
        ("2.6.32", &[], true),
    ];
    for (release, patches, expected) in cases {
        let mut memory = memory_with(patched(release, patches), 3980, 20_000);
        exhaust(&mut memory);
        let_kswapd_finish(&mut memory);
        let mut allocation = Allocation::new(KERNEL, task());
        while allocation.step(&mut memory) != Step::Oom {}
        // kswapd has gone back to sleep meanwhile.
        memory.kswapd.is_waiting = true;
        memory.out.clear();
        while allocation.step(&mut memory) != Step::Oom {}
        assert_eq!(memory.out.wake_kswapd, expected, "{release} {patches:?}");
    }
}

/// R1.32: up to 2.6.31 the per-CPU list is one for all types and is filled up when it lacks the wanted one.
#[test]
fn per_cpu_lists_by_release() {
    for release in ["2.6.30", "2.6.31", "2.6.32", "2.6.36"] {
        let mut memory = memory_of(release, 3980, 200_000);
        let first = memory.allocate_at_once(MOVABLE, &task()).expect("plenty");
        let left = memory.cpus[0].pages[1].count;
        assert_eq!(left, 30, "{release}: a batch of 31, less one");
        let kernel = memory.allocate_at_once(KERNEL, &task()).expect("plenty");
        assert_eq!(memory.cpus[0].pages[1].count, 60, "{release}");
        assert_ne!(first.0 >> 9, kernel.0 >> 9, "{release}: R1.24, the kernel's page has its own pageblock");
        memory.free_pages(kernel, 0, 0);
        memory.free_pages(first, 0, 0);
        assert_eq!(memory.cpus[0].pages[1].count, 62);
        memory.drain_all_pages();
        assert_eq!(memory.nr_free_pages(), 203_980);
        memory.check_every_frame();
    }
}

/// R1.31: at `high` pages one batch goes back, so 155 stay.
#[test]
fn per_cpu_list_gives_a_batch_back_at_high() {
    let mut memory = memory_of("2.6.36", 3980, 200_000);
    let pages: Vec<FrameId> =
        (0..400).map(|_| memory.allocate_at_once(MOVABLE, &task()).expect("plenty")).collect();
    memory.drain_all_pages();
    let before = memory.nr_free_pages();
    for (freed, &page) in pages.iter().enumerate().take(186) {
        assert_eq!(memory.nr_free_pages(), before, "after {freed}");
        memory.free_pages(page, 0, 0);
    }
    assert_eq!(memory.nr_free_pages(), before + 31);
    assert_eq!(memory.cpus[0].pages[1].count, 155);
}

/// R1.22, R1.21: whatever order pages are freed in, they end as the same large blocks.
#[test]
fn buddies_merge() {
    let mut memory = memory_of("2.6.30", 3980, 40_000);
    let before = memory.zones()[1].free;
    let mut pages = exhaust(&mut memory);
    pages.reverse();
    let (odd, even): (Vec<FrameId>, Vec<FrameId>) = pages.into_iter().partition(|frame| frame.0 % 2 == 1);
    for frame in odd.into_iter().chain(even) {
        memory.free_pages(frame, 0, 0);
    }
    memory.drain_all_pages();
    memory.check_every_frame();
    assert_eq!(memory.zones()[1].free, before);
    // 40,000 pages are 39 blocks of 1024 and one of 64.
    assert_eq!(memory.zones()[1].free_blocks, [0, 0, 0, 0, 0, 0, 1, 0, 0, 0, 39]);
}

/// R1.30 and section 2.4: 2.6.36 gives per-CPU pages back when an attempt after reclaim has failed, at every order; the kernel of
/// table TJ does not.
#[test]
fn drains_by_release() {
    for (release, drains) in [("mmotm-2010-08", false), ("2.6.36", true), ("2.6.37", true)] {
        let mut memory = memory_of(release, 3980, 200_000);
        let mapping = file(&mut memory);
        fill(&mut memory, mapping, 300_000);
        let mut naps = 0;
        let frame = run(&mut memory, Allocation::new(MOVABLE, task()), |memory, step| {
            naps += u32::from(matches!(step, Step::Nap(_)));
            memory.out.clear();
        });
        assert!(frame.is_some());
        // The pages of the first reclaim lie on the CPU's list (0.5 G1): without a drain the attempt fails and the task naps.
        assert_eq!(naps == 0, drains, "{release}: {naps} naps");
    }
}
