//! Section 4.7: lumpy reclaim.

use super::*;

/// A list of dirty pages, each under writeback after the first look, scanned for `order` from `priority` down: whether the batch asks
/// for a nap, and whether it waits for a page's write.
fn second_pass(release: &str, order: u8, priority: u8) -> (bool, bool) {
    let mut memory = memory_of(release, 3980, 60_000);
    let mapping = file(&mut memory);
    let page = NewPage { dirty: true, ..file_page(mapping, 0) };
    memory.add_run(MOVABLE, &task(), &page, 2_000);
    let mut control = control::Control {
        caller: task(),
        order,
        may_enter_fs: true,
        may_io: true,
        may_writepage: true,
        may_unmap: true,
        may_swap: true,
        scanned: 0,
        reclaimed: 0,
        target: 32,
    };
    let mut shrink = shrink_inactive::InactiveShrink::new(1, Lru::InactiveFile, 32, priority);
    let (mut naps, mut waits) = (false, false);
    loop {
        match shrink.step(&mut memory, &mut control) {
            Step::Done(()) => break,
            Step::Nap(nap) => naps |= nap.site == NapSite::Lumpy,
            Step::WaitWritten(frame) => {
                waits = true;
                memory.written(frame);
            }
            _ => {}
        }
        memory.check();
    }
    memory.check_every_frame();
    (naps, waits)
}

/// A22, R4.13: who stalls for what, by release.
#[test]
fn a22_second_pass_by_release() {
    let (yes, no) = ((true, true), (false, false));
    for (release, costly, cheap_at_9, cheap_at_4) in [
        ("2.6.30", yes, no, no),
        ("2.6.31", yes, yes, yes),
        ("2.6.32", yes, yes, yes),
        ("2.6.36", yes, no, yes),
        ("2.6.37", (false, true), no, (false, true)),
    ] {
        assert_eq!(second_pass(release, 4, 12), costly, "{release}, order 4");
        assert_eq!(second_pass(release, 3, 9), cheap_at_9, "{release}, order 3 at P = 9");
        assert_eq!(second_pass(release, 3, 4), cheap_at_4, "{release}, order 3 at P = 4");
        assert_eq!(second_pass(release, 3, 10), no, "{release}: R4.11, not lumpy above P = 9");
        assert_eq!(second_pass(release, 0, 0), no, "{release}");
    }
}

/// R4.12: neighbours on the same list are taken along; active ones only in lumpy mode, and they lose their mark.
#[test]
fn neighbours_are_isolated() {
    let scanned = |priority: u8, order: u8| {
        let mut memory = memory_of("2.6.36", 3980, 60_000);
        let mapping = file(&mut memory);
        fill(&mut memory, mapping, 1_120);
        memory.drain_vectors(0);
        let frames: Vec<u32> = memory.zones[1].lru[2].iter().collect();
        for &frame in frames.iter().filter(|&&frame| frame % 4 == 3) {
            memory.mark_accessed(FrameId(frame));
            memory.mark_accessed(FrameId(frame));
        }
        let mut control = control::Control {
            caller: Caller::kswapd_on_cpu(0),
            order,
            may_enter_fs: true,
            may_io: true,
            may_writepage: true,
            may_unmap: true,
            may_swap: true,
            scanned: 0,
            reclaimed: 0,
            target: 32,
        };
        let mut shrink = shrink_inactive::InactiveShrink::new(1, Lru::InactiveFile, 32, priority);
        while shrink.step(&mut memory, &mut control) != Step::Done(()) {}
        memory.check_every_frame();
        (memory.zones()[1].events.pgscan_kswapd, memory.zones()[1].lru_pages(Lru::ActiveFile))
    };
    assert_eq!(scanned(12, 0), (32, 280));
    assert_eq!(scanned(12, 2), (96, 280), "32 blocks of 4, without the active quarter");
    assert_eq!(scanned(9, 2), (128, 248));
}

/// Lumpy reclaim makes room for a block where freeing in the order of the list does not.
#[test]
fn lumpy_reclaim_frees_a_block() {
    let mut memory = memory_of("2.6.36", 3980, 60_000);
    let mapping = file(&mut memory);
    fill(&mut memory, mapping, 80_000);
    memory.drain_all_pages();
    let got =
        run(&mut memory, Allocation::new(Request { gfp: Gfp::KERNEL, order: 5 }, task()), |memory, _| {
            memory.out.clear()
        });
    assert!(got.is_some_and(|frame| frame.0.is_multiple_of(32)));
    memory.check_every_frame();
}
