//! Sections 3.4 and 3.5: what a balance of kswapd looks at.

use super::*;

/// Lets kswapd go on until it sleeps.
fn balance(memory: &mut Memory) {
    let mut kswapd = Kswapd::new(1);
    for _ in 0..1_000_000 {
        if let Step::Sleep(_) = kswapd.step(memory) {
            return;
        }
        memory.out.clear();
    }
    panic!("kswapd never sleeps");
}

/// The machine of table TJ with DMA32 just below HIGH and some pages of a file in DMA, that are being written.
fn pages_in_both_zones() -> Memory {
    let mut memory =
        Memory::new(&MemoryLayout::mapped_stream_2010(), policy("2.6.36"), 2, 250).expect("good");
    let mapping = file(&mut memory);
    while memory.zones()[1].free > 2100 {
        let frame = memory.allocate_at_once(MOVABLE, &task()).expect("above MIN");
        memory.add_page(frame, &file_page(mapping, 0), 0);
    }
    for _ in 0..1900 {
        let dma = Request::page(Gfp::MOVABLE.with(Gfp::DMA).with(Gfp::WAIT));
        let frame = memory.allocate_at_once(dma, &task()).expect("plenty");
        memory.add_page(frame, &file_page(mapping, 0), 0);
        memory.begin_write(frame);
    }
    memory.drain_vectors(0);
    memory
}

/// Section 3.5, 0.5 G4: DMA within its reserve keeps a balance from ending with the pass that repairs DMA32.
#[test]
fn high_is_tested_with_the_class_of_the_end() {
    let runs = |dma_free| {
        let mut memory = pages_in_both_zones();
        memory.zones[0].free = dma_free;
        balance(&mut memory);
        memory.vmstat.pageoutrun
    };
    assert_eq!(runs(1988 + 16), runs(1988 + 17) + 1);
}

/// Section 3.4, part C: a zone above HIGH is shrunk too, unless it is above eight times HIGH.
#[test]
fn zones_below_eight_times_high_are_shrunk() {
    for (dma_free, is_shrunk) in [(1988 + 8 * 16, true), (1988 + 8 * 16 + 1, false)] {
        let mut memory = pages_in_both_zones();
        // Nothing in DMA32 can be freed: kswapd comes to the priorities at which DMA's list is long enough.
        let pages: Vec<u32> = memory.zones[1].lru[Lru::InactiveFile.index()].iter().collect();
        pages.iter().for_each(|&frame| memory.begin_write(FrameId(frame)));
        memory.zones[0].free = dma_free;
        let mut kswapd = Kswapd::new(1);
        while kswapd.state() != KswapdState::Balancing(2) {
            assert!(!matches!(kswapd.step(&mut memory), Step::Sleep(_)));
        }
        assert_eq!(memory.zones()[0].events.pgscan_kswapd > 0, is_shrunk, "DMA free {dma_free}");
    }
}

/// R3.4: an order that cannot be had is given up after a descent without 32 pages; the zones are not.
#[test]
fn order_is_given_up_before_the_zone() {
    for (release, runs) in [("2.6.32", 2), ("2.6.36", 3)] {
        let mut memory = memory_of(release, 0, 60_000);
        let mapping = file(&mut memory);
        // Of each two pages one is the kernel's. The others are free or being written: no order above 0 can be had.
        let reclaimer = Caller { memalloc: true, ..task() };
        let pages: Vec<FrameId> =
            std::iter::from_fn(|| run(&mut memory, Allocation::new(MOVABLE, reclaimer), |_, _| ())).collect();
        for (index, &frame) in pages.iter().filter(|frame| frame.0 % 2 == 1).enumerate() {
            if index < 4000 {
                memory.free_pages(frame, 0, 0);
            } else {
                memory.add_page(frame, &file_page(mapping, 0), 0);
                memory.begin_write(frame);
            }
        }
        memory.drain_all_pages();
        memory.drain_vectors(0);
        memory.check_every_frame();
        memory.kswapd.max_order = 5;
        balance(&mut memory);
        // From 2.6.33 on kswapd finds the order missing before it sleeps, and starts once more.
        assert_eq!(memory.vmstat.pageoutrun, runs, "{release}");
        assert!(!memory.zones().iter().any(|zone| zone.all_unreclaimable), "{release}");
    }
}

/// Section 3.4, part C: a zone that has been given up is still tried at the first priority.
#[test]
fn given_up_zone_is_tried_at_the_first_priority() {
    let mut memory = memory_of("2.6.36", 3980, 200_000);
    let mapping = file(&mut memory);
    fill(&mut memory, mapping, 300_000);
    memory.zones[1].all_unreclaimable = true;
    balance(&mut memory);
    assert!(memory.zones()[1].events.pgscan_kswapd >= 200_000 >> 12);
}

/// Section 3.4, part C: in laptop mode kswapd begins to write when it has scanned more than 64 pages, and 1.5 times what it freed.
#[test]
fn laptop_mode_writes_late() {
    for laptop_mode in [false, true] {
        let mut memory = memory_of("2.6.36", 3980, 60_000);
        let mapping = file(&mut memory);
        memory.laptop_mode = laptop_mode;
        let page = NewPage { dirty: true, ..file_page(mapping, 0) };
        memory.add_run(MOVABLE, &task(), &page, 80_000, |_| ());
        let mut kswapd = Kswapd::new(1);
        while memory.out.writes.is_empty() {
            assert!(!matches!(kswapd.step(&mut memory), Step::Sleep(_)), "it writes in the end");
        }
        // The batch in which it began is among them.
        let scanned = memory.zones().iter().map(|zone| zone.events.pgscan_kswapd).sum::<u64>();
        assert_eq!(scanned > 64 + 32, laptop_mode, "{scanned}");
    }
}

/// Section 3.5: from 2.6.37 on a zone that passes HIGH is not flagged as congested any more.
#[test]
fn balanced_zone_is_not_congested_by_release() {
    for (release, is_congested) in [("2.6.36", true), ("2.6.37", false)] {
        let mut memory = memory_of(release, 3980, 60_000);
        let mapping = file(&mut memory);
        fill(&mut memory, mapping, 80_000);
        memory.zones[1].congested = true;
        balance(&mut memory);
        assert_eq!(memory.zones()[1].congested, is_congested, "{release}");
    }
}

/// Section 3.2, A19: kswapd does not sleep for good while a zone is at HIGH or below.
#[test]
fn sleep_is_premature_up_to_high() {
    for (above, sleeps) in [(0, false), (1, true)] {
        let mut memory = memory_of("2.6.36", 3980, 60_000);
        let mut kswapd = Kswapd::new(1);
        assert_eq!(kswapd.step(&mut memory), Step::Sleep(Some(25)));
        memory.zones[1].free = i64::from(memory.zones[1].marks[2]) + above;
        kswapd.woken(0);
        assert_eq!(kswapd.step(&mut memory) == Step::Sleep(None), sleeps);
        assert_eq!(memory.vmstat.kswapd_high_wmark_hit_quickly, u64::from(!sleeps));
    }
}

/// Section 3.4, part C: a zone is given up when it has been scanned six times over.
#[test]
fn given_up_after_six_scans() {
    let mut memory = memory_of("2.6.36", 3980, 60_000);
    let mapping = file(&mut memory);
    fill(&mut memory, mapping, 140);
    let zone = &mut memory.zones[1];
    zone.pages_scanned = 6 * 140 - 1;
    assert!(zone.is_reclaimable(false));
    zone.pages_scanned += 1;
    assert!(!zone.is_reclaimable(false));
}
