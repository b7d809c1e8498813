//! Section 4.2: how much of which list is scanned, and when a zone is left.

use super::*;
use crate::mm::control::Control;
use crate::mm::shrink_zone::ZoneShrink;

/// The limits of an ordinary reclaim for one page.
pub(super) fn control(caller: Caller) -> Control {
    Control {
        caller,
        order: 0,
        lumpy: false,
        may_enter_fs: true,
        may_io: true,
        may_writepage: true,
        may_unmap: true,
        may_swap: true,
        scanned: 0,
        reclaimed: 0,
        target: 32,
    }
}

fn shrink(memory: &mut Memory, priority: u8) {
    let mut control = control(task());
    let mut shrink = ZoneShrink::new(memory, &control, 1, priority);
    while shrink.step(memory, &mut control) != Step::Done(()) {}
    memory.check();
}

/// R4.2: what is put by is kept from one scan of a zone to the next.
#[test]
fn remainder_is_kept_between_scans() {
    let mut memory = memory_of("2.6.36", 3980, 60_000);
    let mapping = file(&mut memory);
    fill(&mut memory, mapping, 41_020);
    for scanned in [0, 0, 0, 40] {
        shrink(&mut memory, 12);
        assert_eq!(memory.zones()[1].events.pgscan_direct, scanned);
    }
}

/// R4.3, R4.4: the active anonymous list's amount alone starts no rounds; the inactive list is topped up by 32 pages afterwards.
#[test]
fn active_anon_alone_is_topped_up_only() {
    let mut memory = memory_of("2.6.36", 3980, 60_000);
    memory.add_swap(10_000, 0, false);
    let mapping = file(&mut memory);
    let anon = NewPage { anon: true, active: true, ..file_page(mapping, 0) };
    memory.add_run(MOVABLE, &task(), &anon, 20_006, |_| ());
    memory.drain_vectors(0);
    shrink(&mut memory, 4);
    assert_eq!(memory.zones()[1].events.pgrefill, 32);
    assert_eq!(memory.zones()[1].lru_pages(Lru::InactiveAnon), 32);
}

/// R4.4: who may start I/O and enter the file system is throttled while too much is being written, others once.
#[test]
fn throttled_once_without_io() {
    for (may_io, may_enter_fs, naps) in [(true, true, 5), (true, false, 1), (false, false, 1)] {
        let mut memory = memory_of("2.6.36", 3980, 60_000);
        let (_, frame) = (file(&mut memory), memory.allocate_at_once(MOVABLE, &task()).expect("plenty"));
        memory.add_page(frame, &file_page(0, 0), 0);
        memory.begin_write(frame);
        memory.writeout_limit_pages = 0;
        let mut control = Control { may_io, may_enter_fs, ..control(task()) };
        let mut shrink = ZoneShrink::new(&mut memory, &control, 1, 12);
        let napping = (0..5)
            .filter(|_| matches!(shrink.step(&mut memory, &mut control), Step::Nap(nap) if nap.site == NapSite::Writeout));
        assert_eq!(napping.count(), naps, "I/O {may_io}, file system {may_enter_fs}");
    }
}

/// R4.1: the history of a kind is halved when more than a quarter of its pages have been scanned.
#[test]
fn history_is_halved_above_a_quarter() {
    for (scanned, left) in [(5_001, 5_001), (5_002, 2_501)] {
        let mut memory = memory_of("2.6.36", 3980, 60_000);
        memory.add_swap(10_000, 0, false);
        let mapping = file(&mut memory);
        fill(&mut memory, mapping, 20_006);
        assert_eq!(memory.zones()[1].lru_total(true), 20_006);
        memory.zones[1].recent_scanned[1] = scanned;
        memory.zones[1].recent_rotated[1] = 101;
        memory.scan_amounts(1, 12, true);
        let rotated = if left == scanned { 101 } else { 50 };
        assert_eq!((memory.zones[1].recent_scanned[1], memory.zones[1].recent_rotated[1]), (left, rotated));
    }
}

/// R4.1: when files have hardly a page, only anonymous pages are scanned.
#[test]
fn anonymous_only_without_file_pages() {
    for (file_pages, scans_files) in [(140, false), (1400, true)] {
        let mut memory = memory_of("2.6.36", 3980, 60_000);
        memory.add_swap(10_000, 0, false);
        let mapping = file(&mut memory);
        fill(&mut memory, mapping, file_pages);
        let anon = NewPage { anon: true, ..file_page(mapping, 0) };
        memory.add_run(MOVABLE, &task(), &anon, 80_000, |_| ());
        memory.drain_vectors(0);
        memory.zones[1].recent_scanned = [0; 2];
        let amounts = memory.scan_amounts(1, 1, true);
        let (free, high) = (memory.zones()[1].free, i64::from(memory.zones()[1].marks[2]));
        assert_eq!(free + i64::from(file_pages) > high, scans_files);
        assert_eq!(amounts[Lru::InactiveFile.index()] > 0, scans_files);
        assert!(amounts[Lru::InactiveAnon.index()] > 0);
    }
}
