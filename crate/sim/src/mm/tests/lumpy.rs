//! Section 4.7: lumpy reclaim.

use super::*;

/// A list of dirty pages, each under writeback after the first look, scanned for `order` from `priority` down: whether the batch asks
/// for a nap, and whether it waits for a page's write.
fn second_pass(release: &str, order: u8, priority: u8) -> (bool, bool) {
    let mut memory = memory_of(release, 3980, 60_000);
    let mapping = file(&mut memory);
    let page = NewPage { dirty: true, ..file_page(mapping, 0) };
    memory.add_run(MOVABLE, &task(), &page, 2_000, |_| ());
    let mut control = control::Control {
        caller: task(),
        order,
        lumpy: false,
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
    let mut fuse = Fuse::default();
    loop {
        fuse.burn();
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
            lumpy: false,
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
    assert_eq!(scanned(12, 2), (33, 280), "11 blocks of 4 without the active quarter: neighbours count");
    assert_eq!(scanned(9, 2), (32, 272), "8 whole blocks");
}

/// What is on the list of a lumpy scan: each page in a block of its own at first, then their neighbours.
struct Strided {
    memory: Memory,
    control: control::Control,
    frames: Vec<u32>,
}

impl Strided {
    /// 70 blocks of 4, for a scan of this order.
    fn new(release: &str, page: NewPage, info: OwnerInfo, order: u8) -> Self {
        let mut memory = memory_of(release, 3980, 60_000);
        memory.add_owner(info);
        memory.add_run(MOVABLE, &task(), &page, 280, |_| ());
        memory.drain_vectors(0);
        let lru = if page.anon { Lru::InactiveAnon } else { Lru::InactiveFile };
        let mut frames = vec![0; 280];
        let ring = &mut memory.zones[1].lru[lru.index()];
        assert_eq!(ring.take(&mut frames), 280);
        frames.sort_by_key(|frame| (frame % 4, *frame));
        ring.push_batch(&mut memory.frames, &frames);
        let control = control::Control {
            caller: task(),
            order,
            lumpy: false,
            may_enter_fs: true,
            may_io: true,
            may_writepage: true,
            may_unmap: true,
            may_swap: true,
            scanned: 0,
            reclaimed: 0,
            target: 32,
        };
        Self { memory, control, frames }
    }

    /// Scans a batch.
    fn scan(&mut self, lru: Lru, priority: u8) {
        let mut shrink = shrink_inactive::InactiveShrink::new(1, lru, 32, priority);
        while shrink.step(&mut self.memory, &mut self.control) != Step::Done(()) {
            self.memory.check();
        }
        self.memory.check_every_frame();
    }

    fn freed(&self) -> u64 {
        self.control.reclaimed
    }
}

/// R4.12: from 2.6.32 on neighbours for which there is no slot are left; from 2.6.37 on the search ends at the first that cannot be taken.
#[test]
fn neighbours_by_release() {
    for (release, taken) in [("2.6.31", 8), ("2.6.32", 32), ("2.6.36", 32)] {
        let page = NewPage { anon: true, ..file_page(0, 0) };
        let mut strided = Strided::new(release, page, OwnerInfo::default(), 2);
        strided.scan(Lru::InactiveAnon, 9);
        let active = strided.memory.zones()[1].lru_pages(Lru::ActiveAnon);
        assert_eq!(active, 32, "{release}: without a slot they are activated");
        let of_blocks = strided
            .frames
            .iter()
            .filter(|frame| frame.is_multiple_of(4))
            .filter(|&&frame| strided.memory.frames.word(frame).any(frame::Word::ACTIVE))
            .count();
        assert_eq!(of_blocks, taken, "{release}");
    }
    for (release, freed) in [("2.6.36", 33), ("2.6.37", 32)] {
        let mut strided = Strided::new(release, file_page(0, 0), OwnerInfo::default(), 2);
        // The second page of each block is pinned: 2.6.36 takes the other three, 2.6.37 the first alone.
        for frame in strided.frames.clone().into_iter().filter(|frame| frame % 4 == 1) {
            strided.memory.set_unevictable(FrameId(frame), true);
        }
        strided.scan(Lru::InactiveFile, 12);
        assert_eq!(strided.freed(), freed, "{release}");
        let gone = strided.frames.iter().filter(|frame| frame.is_multiple_of(4));
        let gone = gone.filter(|&&frame| strided.memory.owner(FrameId(frame)).is_none()).count() as u64;
        assert_eq!(gone, if release == "2.6.36" { 11 } else { 32 }, "{release}");
    }
}

/// R4.11, section 4.5: references are ignored for costly orders, and from 2.6.35 on whenever lumpy reclaim is at it; from 2.6.37 on only
/// until a page stays.
#[test]
fn references_in_lumpy_mode_by_release() {
    let used = NewPage { mapped: true, ..file_page(0, 0) };
    let info = OwnerInfo { has_writepage: true, ..OwnerInfo::default() };
    for (release, order, freed) in [
        ("2.6.33", 2, 0),
        ("2.6.33", 4, 32),
        ("2.6.34", 2, 0),
        ("2.6.34", 4, 32),
        ("2.6.35", 2, 32),
        ("2.6.37", 2, 32),
    ] {
        let mut strided = Strided::new(release, used, info, order);
        // kswapd, since a task's second pass finds no references any more.
        strided.control.caller = Caller::kswapd_on_cpu(0);
        strided.scan(Lru::InactiveFile, 9);
        assert_eq!(strided.freed() >= 32, freed == 32, "{release}, order {order}: {}", strided.freed());
        assert!(freed == 32 || strided.freed() == 0, "{release}, order {order}: {}", strided.freed());
    }
    for (release, freed) in [("2.6.36", 31), ("2.6.37", 1)] {
        let mut strided = Strided::new(release, used, info, 2);
        let second_taken = strided.frames[0] + 1;
        strided.memory.set_locked(FrameId(second_taken), true);
        strided.scan(Lru::InactiveFile, 9);
        assert_eq!(strided.freed(), freed, "{release}: what comes after the locked page");
    }
}

/// Section 4.7: pages activated by the first pass are inactive again in the second; in 2.6.37 there is none after that.
#[test]
fn second_pass_starts_afresh_by_release() {
    let dirty = NewPage { dirty: true, ..file_page(0, 0) };
    for (release, activated, deactivated) in [("2.6.31", 64, 32), ("2.6.36", 64, 32), ("2.6.37", 32, 0)] {
        let mut strided = Strided::new(release, dirty, OwnerInfo::default(), 5);
        strided.scan(Lru::InactiveFile, 12);
        let vmstat = &strided.memory.vmstat;
        assert_eq!((vmstat.pgactivate, vmstat.pgdeactivate), (activated, deactivated), "{release}");
        let zone = &strided.memory.zones()[1];
        assert_eq!((zone.lru_pages(Lru::ActiveFile), zone.recent_rotated[1]), (32, 32), "{release}");
    }
}

/// Section 4.7: a page that the first pass activated and the second writes ends inactive.
#[test]
fn activation_of_the_first_pass_is_undone() {
    let used = NewPage { mapped: true, dirty: true, ..file_page(0, 0) };
    let info = OwnerInfo { has_writepage: true, ..OwnerInfo::default() };
    let mut strided = Strided::new("2.6.31", used, info, 2);
    strided.scan(Lru::InactiveFile, 9);
    assert_eq!(strided.memory.vmstat.pgactivate, 32);
    assert_eq!(strided.memory.out.writes.len(), 32, "nothing protects them any more");
    assert_eq!(strided.memory.zones()[1].lru_pages(Lru::ActiveFile), 0);
}

/// R4.6: from 2.6.37 on a task in need of a costly order writes to congested devices.
#[test]
fn congested_devices_for_costly_orders_by_release() {
    let dirty = NewPage { dirty: true, ..file_page(0, 0) };
    let info = OwnerInfo { has_writepage: true, device: 1, ..OwnerInfo::default() };
    for (release, order, writes) in [("2.6.36", 4, false), ("2.6.37", 4, true), ("2.6.37", 3, false)] {
        let mut strided = Strided::new(release, dirty, info, order);
        strided.memory.set_congested(0, [true, false]);
        let mut shrink = shrink_inactive::InactiveShrink::new(1, Lru::InactiveFile, 32, 9);
        shrink.step(&mut strided.memory, &mut strided.control);
        assert_eq!(strided.memory.out.writes.len() >= 32, writes, "{release}, order {order}");
        assert_eq!(strided.memory.zones()[1].congested, !writes, "{release}, order {order}: R5.8");
    }
}

/// Lumpy reclaim makes room for a block where freeing in the order of the list does not.
#[test]
fn lumpy_reclaim_frees_a_block() {
    let mut memory = memory_of("2.6.36", 3980, 60_000);
    let mapping = file(&mut memory);
    fill(&mut memory, mapping, 80_000);
    memory.drain_all_pages();
    // One reclaim of 32 pages may not be enough, and costly requests get no other unless they must not fail.
    let request = Request { gfp: Gfp::KERNEL.with(Gfp::NOFAIL), order: 5 };
    let got = run(&mut memory, Allocation::new(request, task()), |memory, _| memory.out.clear());
    assert!(got.is_some_and(|frame| frame.0.is_multiple_of(32)));
    memory.check_every_frame();
}
