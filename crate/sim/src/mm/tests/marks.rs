//! Sections 4.1, 4.4, 4.5 and 5.2: marks that pages and zones get and lose.

use super::*;

/// A machine with one page on a list.
fn one_page(page: NewPage, info: OwnerInfo) -> (Memory, FrameId) {
    let mut memory = memory_of("2.6.36", 3980, 60_000);
    memory.add_owner(info);
    let frame = memory.allocate_at_once(MOVABLE, &task()).expect("plenty");
    memory.add_page(frame, &page, 0);
    memory.drain_vectors(0);
    (memory, frame)
}

/// R4.5: only a page that reclaim itself wrote is rotated when its write ends.
#[test]
fn others_writes_do_not_rotate() {
    let (mut memory, frame) = one_page(file_page(0, 0), OwnerInfo::default());
    memory.begin_write(frame);
    fill(&mut memory, 0, 28);
    memory.written(frame);
    assert_eq!((memory.vmstat.pgrotated, memory.writeback_pages()), (0, 0));
}

/// Section 4.1: a use through a page table that reclaim has not seen counts as a reading when the page is unmapped.
#[test]
fn unmapping_tells_of_a_use() {
    let (mut memory, frame) = one_page(file_page(0, 0), OwnerInfo::default());
    for list in [Lru::InactiveFile, Lru::ActiveFile] {
        memory.map(frame);
        memory.unmap(frame);
        assert_eq!(memory.zones()[1].lru_pages(list), 1);
    }
    // Without a use nothing is told.
    let (mut memory, frame) = one_page(file_page(0, 0), OwnerInfo::default());
    memory.unmap(frame);
    memory.unmap(frame);
    assert_eq!(memory.zones()[1].lru_pages(Lru::InactiveFile), 1);
}

/// Section 4.4: a program's page stays active only if it has been used.
#[test]
fn unused_programs_are_deactivated() {
    let info = OwnerInfo { executable: true, ..OwnerInfo::default() };
    let page = NewPage { active: true, mapped: true, ..file_page(0, 0) };
    let (mut memory, _) = one_page(page, info);
    for list in [Lru::ActiveFile, Lru::InactiveFile] {
        // The first look uses up the mark of the use that brought the page in.
        memory.shrink_active(1, Lru::ActiveFile, 32, 0);
        assert_eq!(memory.zones()[1].lru_pages(list), 1);
    }
}

/// R5.8: a zone is flagged only if all dirty pages met were refused.
#[test]
fn zone_is_flagged_only_if_all_are_refused() {
    for (free_devices_pages, is_flagged) in [(0, true), (1, false)] {
        let mut memory = memory_of("2.6.36", 3980, 60_000);
        for device in [1, 2] {
            memory.add_owner(OwnerInfo { has_writepage: true, device, ..OwnerInfo::default() });
        }
        memory.set_congested(0, [true, false]);
        for (mapping, pages) in [(0, 3), (1, free_devices_pages)] {
            let page = NewPage { dirty: true, ..file_page(mapping, 0) };
            memory.add_run(MOVABLE, &task(), &page, pages, |_| ());
        }
        memory.drain_vectors(0);
        let mut control = rounds::control(task());
        let mut shrink = shrink_inactive::InactiveShrink::new(1, Lru::InactiveFile, 32, 12);
        assert_eq!(shrink.step(&mut memory, &mut control), Step::Done(()));
        assert_eq!(memory.out.writes.len(), free_devices_pages as usize);
        assert_eq!(memory.zones()[1].congested, is_flagged);
    }
}

/// 0.6: 255 free slots in a row are no cluster.
#[test]
fn clusters_have_256_slots() {
    for (freed, expected) in [(255, 513), (256, 1)] {
        let mut memory = memory_of("2.6.36", 3980, 60_000);
        memory.add_swap(600, 0, true);
        assert!((5000..5512).all(|frame| memory.add_to_swap(frame)));
        (1..=freed).for_each(|slot| memory.free_slot(slot, None));
        assert!(memory.add_to_swap(6000));
        let slot = memory.slot_of(6000, frame::Word(frame::Word::SWAP_CACHE));
        assert_eq!(slot, Some(expected), "{freed} free in a row");
    }
}

/// R1.31: pages that reclaim frees are cold: they are the last to be handed out, and the first for who asks for cold ones.
#[test]
fn reclaimed_pages_are_cold() {
    let (mut memory, reclaimed) = one_page(file_page(0, 0), OwnerInfo::default());
    let freed = memory.allocate_at_once(MOVABLE, &task()).expect("plenty");
    memory.drain_all_pages();
    memory.free_pages(freed, 0, 0);
    let mut control = rounds::control(task());
    let mut shrink = shrink_inactive::InactiveShrink::new(1, Lru::InactiveFile, 32, 12);
    shrink.step(&mut memory, &mut control);
    let pages = &mut memory.cpus[0].pages[1];
    assert_eq!(pages.take_ready(Mobility::Movable, true), Some(reclaimed.0));
    assert_eq!(pages.take_ready(Mobility::Movable, true), Some(freed.0));
}
