//! Sections 4.2 and 4.8: how much is scanned.

use super::*;

/// A5, R3.7: pages examined before success, from one list of 460,000 pages when every page is rejected.
#[test]
fn a5_cumulative_scan_by_priority() {
    let mut memory = memory_of("2.6.36", 3980, 509_000);
    let mapping = file(&mut memory);
    assert_eq!(fill(&mut memory, mapping, 460_000), 460_000);
    memory.drain_vectors(0);
    let mut total = 0;
    let cumulative: Vec<u32> = (5..=12)
        .rev()
        .map(|priority| {
            total += memory.scan_amounts(1, priority, true).iter().sum::<u32>();
            total
        })
        .collect();
    assert_eq!(cumulative, [112, 336, 785, 1683, 3479, 7072, 14_259, 28_634]);
}

/// A6, the vector of R4.1: swappiness 60 and empty statistics give 30 to 70.
#[test]
fn a6_scan_ratio() {
    let percent = |scanned, rotated| shares(60, scanned, rotated, ScanDivision::Percent).parts;
    assert_eq!(percent([0; 2], [0; 2]), [30, 70]);
    assert_eq!(percent([1000, 0], [0, 0])[0], 99, "anonymous pages that never come back are preferred");
    let fraction = shares(60, [0; 2], [0; 2], ScanDivision::Fraction);
    assert_eq!((fraction.parts, fraction.whole), ([61, 141], 203));
}

/// R4.2, 0.5 G11: what is too little for a batch is put by, for whoever scans next, and is part of larger amounts too.
#[test]
fn small_amounts_are_put_by() {
    let mut memory = memory_of("2.6.36", 3980, 60_000);
    let mapping = file(&mut memory);
    fill(&mut memory, mapping, 41_000);
    memory.drain_vectors(0);
    let mut scan = |priority| memory.scan_amounts(1, priority, true)[Lru::InactiveFile.index()];
    assert_eq!((scan(12), scan(12), scan(12)), (0, 0, 0), "10 pages each");
    assert_eq!(scan(12), 40, "41000 >> 12 is 10: four of them make a batch");
    assert_eq!(scan(12), 0);
    assert_eq!(scan(10), 50, "40, and the 10 put by");
}

/// R4.1, 0.5 G10: without swap, or without an anonymous page, only file pages are scanned.
#[test]
fn no_anonymous_scan_without_reason() {
    let mut memory = memory_of("2.6.31", 3980, 60_000);
    let mapping = file(&mut memory);
    fill(&mut memory, mapping, 20_000);
    memory.add_swap(10_000, 0, false);
    memory.drain_vectors(0);
    assert_eq!(memory.scan_amounts(1, 4, true)[Lru::InactiveFile.index()], 20_000 >> 4);
}

/// R4.2: in 2.6.30 the last pass takes whole lists even without swap, anonymous ones too.
#[test]
fn last_pass_without_swap_by_release() {
    for (release, anon) in [("2.6.30", 280), ("2.6.31", 0), ("2.6.36", 0)] {
        let mut memory = memory_of(release, 3980, 60_000);
        let mapping = file(&mut memory);
        memory.add_run(MOVABLE, &task(), &NewPage { anon: true, ..file_page(mapping, 0) }, 280, |_| ());
        fill(&mut memory, mapping, 560);
        memory.drain_vectors(0);
        assert_eq!(memory.scan_amounts(1, 0, true), [anon, 0, 560, 0], "{release}");
        assert_eq!(memory.scan_amounts(1, 1, true), [0, 0, 280, 0], "{release}");
    }
}

/// Sections 4.2, 4.3: up to 2.6.35 an inactive list is scanned by whole batches, and up to 2.6.32 the turn of an active list that is not too
/// long goes to the inactive one.
#[test]
fn amounts_scanned_by_release() {
    for (release, scanned) in
        [("2.6.30", 96), ("2.6.31", 160), ("2.6.32", 160), ("2.6.33", 96), ("2.6.35", 96), ("2.6.36", 78)]
    {
        let mut memory = memory_of(release, 3980, 60_000);
        let mapping = file(&mut memory);
        fill(&mut memory, mapping, 20_006);
        memory.add_run(MOVABLE, &task(), &NewPage { active: true, ..file_page(mapping, 0) }, 10_010, |_| ());
        memory.drain_vectors(0);
        let mut control = control::Control {
            caller: Caller::kswapd_on_cpu(0),
            order: 0,
            lumpy: false,
            may_enter_fs: true,
            may_io: true,
            may_writepage: true,
            may_unmap: true,
            may_swap: true,
            scanned: 0,
            reclaimed: 0,
            target: u64::MAX,
        };
        let mut shrink = shrink_zone::ZoneShrink::new(&mut memory, &control, 1, 8);
        while shrink.step(&mut memory, &mut control) != Step::Done(()) {}
        // 20,006 >> 8 is 78: two batches and 14; 10,010 >> 8 is 39: two turns, of which 2.6.30 shrinks the active list in any case.
        assert_eq!(memory.zones()[1].events.pgscan_kswapd, scanned, "{release}");
        assert_eq!(memory.zones()[1].events.pgrefill > 0, release == "2.6.30");
    }
}

/// Section 3.4: up to 2.6.31 anonymous pages count as reclaimable without swap.
#[test]
fn anon_counts_by_release() {
    for (release, without_swap) in [("2.6.31", true), ("2.6.32-rc5", false), ("2.6.36", false)] {
        let mut memory = memory_of(release, 3980, 60_000);
        assert_eq!(memory.counts_anon(), without_swap, "{release}");
        memory.add_swap(10, 0, false);
        assert!(memory.counts_anon(), "{release}");
    }
}

/// A23: shrink_slab's arithmetic.
#[test]
fn a23_shrink_slab() {
    let debt = debt_after(0, 32, 2, 10_000, 1000);
    assert_eq!(debt, 639);
    let mut memory = memory_of("2.6.31", 3980, 60_000);
    let cache = memory.add_shrinker("dentries", 2, 21, true);
    for _ in 0..10_000 {
        let page =
            memory.needs_slab_page(cache).then(|| memory.allocate_at_once(KERNEL, &task()).expect("plenty"));
        memory.add_object(cache, page);
    }
    assert_eq!(memory.shrinkers()[cache].pages.len(), 10_000_usize.div_ceil(21));
    let shrunk = memory.shrink_slab(32, true, 1000, 0);
    let after = &memory.shrinkers()[cache];
    assert_eq!(
        (shrunk.objects, after.debt, memory.vmstat.slabs_scanned),
        (512, 127, 512),
        "4 batches of 128, 127 left"
    );
    assert_eq!(shrunk.pages as usize, 10_000_usize.div_ceil(21) - (10_000_usize - 512).div_ceil(21));
    memory.check();
    assert_eq!(memory.shrink_slab(32, false, 1000, 0).objects, 0, "this one needs the file system");
    assert_eq!(debt_after(0, 0, 2, 10_000, 1000), 639, "nothing scanned counts as 32");
    assert_eq!(debt_after(0, 1_000_000, 2, 100, 10), 200, "at most twice the objects");
}

/// Section 4.3: from 2.6.31 on the active file list is left alone while it is not the longer one.
#[test]
fn active_file_list_by_release() {
    for (release, expected) in [("2.6.30", true), ("2.6.31", false), ("2.6.36", false)] {
        let mut memory = memory_of(release, 3980, 60_000);
        let mapping = file(&mut memory);
        fill(&mut memory, mapping, 1_000);
        memory.drain_vectors(0);
        assert_eq!(memory.is_inactive_low(1, true), expected, "{release}");
    }
    let gigabytes = |pages| {
        let layout = MemoryLayout::from_present(&[(ZoneKind::Dma, 3980, 0), (ZoneKind::Dma32, pages, 0)]);
        Memory::new(&layout, policy("2.6.31"), 1, 250).expect("good").zones()[1].inactive_ratio
    };
    assert_eq!([1, 2, 4, 10].map(|gib| gigabytes(gib << 18)), [3, 4, 6, 10]);
}
