//! Sections 1.1 to 1.4 and 1.10: marks, reserves, watermark tests, batches.

use super::*;

/// A1, R1.9: the marks of the machines of the table, exactly.
#[test]
fn a1_marks_of_the_table() {
    let cases: [(&[u32], &[[u32; 3]]); 7] = [
        (&[3834, 505_937], &[[10, 12, 15], [1416, 1770, 2124]]),
        (&[3952, 60_944], &[[30, 37, 45], [478, 597, 717]]),
        (&[3980, 126_000], &[[22, 27, 33], [698, 872, 1047]]),
        (&[3980, 509_000], &[[11, 13, 16], [1420, 1775, 2130]]),
        (&[3980, 765_000], &[[0; 3], [1743, 2178, 2614]]),
        (&[3980, 765_000, 258_048], &[[0; 3], [1509, 1886, 2263], [509, 636, 763]]),
        (&[3976, 765_000, 3_400_000], &[[0; 3], [749, 936, 1123], [3329, 4161, 4993]]),
    ];
    let kinds = [ZoneKind::Dma, ZoneKind::Dma32, ZoneKind::Normal];
    for (present, expected) in cases {
        let lowmem = present.iter().map(|&pages| u64::from(pages)).sum();
        let kbytes = min_free_kbytes(lowmem);
        for (index, (&pages, &want)) in present.iter().zip(expected).enumerate() {
            // The table leaves some rows of DMA out.
            if want != [0; 3] {
                assert_eq!(marks(kinds[index], pages, kbytes, lowmem), want, "{present:?}, zone {index}");
            }
        }
    }
    assert_eq!(min_free_kbytes(3834 + 505_937), 5711);
    assert_eq!(min_free_kbytes(3952 + 60_944), 2037);
    assert_eq!(
        (min_free_kbytes(10), min_free_kbytes(u64::from(u32::MAX))),
        (128, 65_536),
        "clamped (section 0.4)"
    );
}

/// R1.7: HighMem's MIN is its own, LOW and HIGH still rise by its share.
#[test]
fn marks_of_highmem() {
    let lowmem = 225_000;
    let [min, low, high] = marks(ZoneKind::HighMem, 300_000, min_free_kbytes(lowmem), lowmem);
    assert_eq!(min, 128);
    let share = min_free_kbytes(lowmem) / 4 * 300_000 / 225_000;
    assert_eq!((low, high), (128 + share / 4, 128 + share / 2));
    assert_eq!(marks(ZoneKind::HighMem, 1_024, min_free_kbytes(lowmem), lowmem)[0], 32);
}

/// A2, R1.12: the reserves of the table, exactly; a zone pays nothing for its own class (R1.11).
#[test]
fn a2_reserves_of_the_table() {
    let reserve = |zones: &[(ZoneKind, u32, u32)], zone: usize, class: usize| {
        Memory::new(&MemoryLayout::from_present(zones), policy("2.6.31"), 1, 250).expect("good").zones()[zone]
            .reserve[class]
    };
    let two = |dma32| [(ZoneKind::Dma, 3980, 0), (ZoneKind::Dma32, dma32, 0)];
    assert_eq!(reserve(&[(ZoneKind::Dma, 3834, 0), (ZoneKind::Dma32, 505_937, 0)], 0, 1), 1976);
    for (dma32, expected) in [(126_000, 492), (509_000, 1988), (765_000, 2988)] {
        assert_eq!(reserve(&two(dma32), 0, 1), expected);
        assert_eq!(reserve(&two(dma32), 1, 1), 0);
    }
    let four = [(ZoneKind::Dma, 3980, 0), (ZoneKind::Dma32, 765_000, 0), (ZoneKind::Normal, 258_048, 0)];
    assert_eq!((reserve(&four, 0, 1), reserve(&four, 0, 2), reserve(&four, 1, 2)), (2988, 3996, 1008));
    let i386 = [(ZoneKind::Dma, 3952, 0), (ZoneKind::Normal, 60_944, 0)];
    assert_eq!(reserve(&i386, 0, 1), 238);
}

/// Runs the test step by step.
fn comparisons(
    free: i64,
    blocks: &[u32],
    order: u8,
    mark: u32,
    reserve: u32,
    flags: AllocFlags,
) -> (bool, Vec<Comparison>) {
    let mut counts = [0; MAX_ORDER];
    counts[..blocks.len()].copy_from_slice(blocks);
    let mut steps = Vec::new();
    let passes = compare(free, &counts, order, mark, reserve, flags, |step| steps.push(step));
    (passes, steps)
}

const ATOMIC: AllocFlags = AllocFlags { high: true, harder: true, no_watermarks: false };

/// A3, R1.15: the published failures, with every value on the way.
#[test]
fn a3_watermark_vectors() {
    let (passes, steps) = comparisons(727, &[275, 58, 50, 13, 0, 1], 5, 478, 0, ATOMIC);
    assert!(!passes, "although a block of order 5 exists");
    assert_eq!(steps, [(696, 180), (421, 90), (305, 45), (105, 22), (1, 11)]);

    let (passes, steps) = comparisons(85_652 / 4, &[12_419, 4439, 1, 0, 1, 1, 1], 2, 1416, 0, ATOMIC);
    assert!(!passes);
    assert_eq!(steps, [(21_410, 531), (8991, 265), (113, 132)]);

    let (passes, steps) = comparisons(48_500 / 4, &[9299, 1341, 4, 0, 0, 0, 0, 1], 2, 1416, 0, ATOMIC);
    assert!(passes, "the failure preceded the printing");
    assert_eq!(steps, [(12_122, 531), (2823, 265), (141, 132)]);

    for free in [1979 + 3, 1974 + 3] {
        let (passes, steps) = comparisons(free, &[], 2, 10, 1976, ATOMIC);
        assert!(!passes);
        assert_eq!(steps, [(free - 3, 4 + 1976)]);
    }
}

/// R1.14: HIGH and HARDER together leave three eighths of the mark.
#[test]
fn atomic_requests_may_take_five_eighths_of_min() {
    let passes = |free, flags| comparisons(free, &[], 0, 1420, 0, flags).0;
    assert!(passes(534, ATOMIC) && !passes(533, ATOMIC));
    assert!(passes(1421, AllocFlags::default()) && !passes(1420, AllocFlags::default()));
    assert!(passes(711, AllocFlags { high: true, ..AllocFlags::default() }));
}

/// Section 1.6: who goes how deep; 2.6.31 let interrupts on top of a real-time task go deeper (2.2b).
#[test]
fn allocation_flags_by_release() {
    let real_time = Caller { real_time: true, ..task() };
    let interrupt = Caller { in_interrupt: true, ..real_time };
    for (release, expected) in
        [("2.6.30", false), ("2.6.31", true), ("2.6.32-rc5", true), ("2.6.32", false), ("2.6.36", false)]
    {
        let flags = |gfp, caller: &Caller| AllocFlags::of(gfp, caller, &policy(release));
        assert!(flags(Gfp::KERNEL, &real_time).harder, "{release}");
        assert_eq!(flags(Gfp::KERNEL, &interrupt).harder, expected, "{release}");
        assert_eq!(flags(Gfp::ATOMIC, &task()), ATOMIC, "{release}");
        assert!(flags(Gfp::KERNEL, &Caller::kswapd_on_cpu(0)).no_watermarks);
        assert!(!flags(Gfp::KERNEL.with(Gfp::NOMEMALLOC), &Caller::kswapd_on_cpu(0)).no_watermarks);
    }
    let fixed = patched("2.6.31", &["pgalloc-2.6.30"]);
    assert!(!AllocFlags::of(Gfp::KERNEL, &interrupt, &fixed).harder);
}

/// A4, R1.30.
#[test]
fn a4_per_cpu_batches() {
    for (pages, batch) in [(3_900, 1), (60_944, 15), (131_072, 31), (509_000, 31), (3_400_000, 31)] {
        assert_eq!(per_cpu_batch(pages), batch, "{pages} pages");
    }
    let memory = memory_of("2.6.31", 3980, 509_000);
    assert_eq!(
        (memory.zones()[0].batch, memory.zones()[0].high),
        (1, 0),
        "what is freed in DMA goes straight through"
    );
    assert_eq!((memory.zones()[1].batch, memory.zones()[1].high), (31, 186));
}

/// R1.1, R1.2: the zones of usual machines; every layout made is a good one.
#[test]
fn layouts_of_usual_machines() {
    let kinds = |layout: &MemoryLayout| layout.zones.iter().map(|zone| zone.kind).collect::<Vec<_>>();
    use ZoneKind::{Dma, Dma32, HighMem, Normal};
    assert_eq!(kinds(&MemoryLayout::x86_64(512 << 8)), [Dma, Dma32]);
    assert_eq!(kinds(&MemoryLayout::x86_64(4096 << 8)), [Dma, Dma32, Normal]);
    assert_eq!(kinds(&MemoryLayout::i386(512 << 8)), [Dma, Normal]);
    assert_eq!(kinds(&MemoryLayout::i386(2048 << 8)), [Dma, Normal, HighMem]);
    for pages in [64 << 8, 512 << 8, 900 << 8, 2048 << 8, 3072 << 8, 4096 << 8, 16_384 << 8] {
        for layout in [MemoryLayout::x86_64(pages), MemoryLayout::i386(pages)] {
            assert_eq!(layout.problems(), Vec::<String>::new(), "{pages}");
            assert!(layout.zones.iter().map(|zone| zone.present).sum::<u32>() <= pages);
        }
    }
}

/// Impossible layouts are refused, with every reason.
#[test]
fn bad_layouts_are_refused() {
    let refused = |change: fn(&mut MemoryLayout)| {
        let mut layout = MemoryLayout::mapped_stream_2010();
        change(&mut layout);
        Memory::new(&layout, policy("2.6.36"), 2, 250).expect_err("refused").join("; ")
    };
    assert!(refused(|layout| layout.zones[1].taken = 510_000).contains("more pages taken"));
    assert!(refused(|layout| layout.zones[1].present = 600_000).contains("more pages present"));
    assert!(refused(|layout| layout.zones[1].start = 4097).contains("starts at frame"));
    assert!(refused(|layout| layout.zones.swap(0, 1)).contains("out of order"));
    assert!(refused(|layout| layout.zones.clear()).contains("no zone has memory"));
    assert!(refused(|layout| layout.pageblock_order = 11).contains("pageblock"));
}

/// R1.25: two pageblocks at most are set aside from 2.6.31 on, as many as MIN needs before.
#[test]
fn reserve_pageblocks_by_release() {
    let reserved = |release| {
        let memory = Memory::new(&MemoryLayout::x86_64(2 << 20), policy(release), 1, 250).expect("good");
        let zone = &memory.zones()[1];
        (zone.pageblocks.iter().filter(|&&side| side == Mobility::Reserve).count(), zone.marks[0])
    };
    let (blocks, min) = reserved("2.6.30");
    assert_eq!(blocks as u32, min.div_ceil(512));
    assert!(blocks > 2);
    assert_eq!(reserved("2.6.31").0, 2);
}
