//! Sections 4.1, 4.4 and 4.5: what becomes of pages.

use super::*;

/// A machine whose file list is one page, ready to be looked at by kswapd or by a task.
struct OnePage {
    memory: Memory,
    frame: FrameId,
}

impl OnePage {
    fn new(release: &str, page: impl FnOnce(u32) -> NewPage, info: OwnerInfo) -> Self {
        let mut memory = memory_of(release, 3980, 60_000);
        let owner = memory.add_owner(info);
        let frame = memory.allocate_at_once(MOVABLE, &task()).expect("plenty");
        memory.add_page(frame, &page(owner), 0);
        memory.drain_vectors(0);
        Self { memory, frame }
    }

    fn file(release: &str) -> Self {
        Self::new(
            release,
            |owner| file_page(owner, 7),
            OwnerInfo { has_writepage: true, ..OwnerInfo::default() },
        )
    }

    /// Looks at the page's list once, on behalf of kswapd.
    fn look(&mut self) {
        self.look_as(Caller::kswapd_on_cpu(1), Gfp::KERNEL);
    }

    fn look_as(&mut self, caller: Caller, gfp: Gfp) {
        let mut control = control::Control {
            caller,
            order: 0,
            lumpy: false,
            may_enter_fs: gfp.has(Gfp::FS),
            may_io: gfp.has(Gfp::IO),
            may_writepage: true,
            may_unmap: true,
            may_swap: true,
            scanned: 0,
            reclaimed: 0,
            target: 32,
        };
        for lru in [Lru::InactiveFile, Lru::InactiveAnon] {
            let mut shrink = shrink_inactive::InactiveShrink::new(1, lru, 32, 11);
            assert_eq!(shrink.step(&mut self.memory, &mut control), Step::Done(()));
        }
        self.memory.check_every_frame();
    }

    fn is_on(&self, lru: Lru) -> bool {
        self.memory.zones()[1].lru_pages(lru) == 1
    }

    fn is_gone(&self) -> bool {
        self.memory.owner(self.frame).is_none()
    }
}

/// A clean page that nobody uses is freed, and whoever owned it is told.
#[test]
fn unused_page_is_freed() {
    let mut one = OnePage::file("2.6.36");
    one.look();
    assert!(one.is_gone());
    let removed = one.memory.out.removed[0];
    assert_eq!(
        (removed.owner, removed.frame, removed.mapped),
        (Owner { mapping: 0, index: 7 }, one.frame, false)
    );
    assert_eq!(one.memory.zones()[1].events.pgsteal, 1);
    assert_eq!(one.memory.vmstat.kswapd_steal, 1);
}

/// R4.7: from 2.6.34 on a mapped page of a file makes a second trip; before, it is activated at the first look.
#[test]
fn mapped_file_page_by_release() {
    for (release, first) in [
        ("2.6.30", Lru::ActiveFile),
        ("2.6.32", Lru::ActiveFile),
        ("2.6.34", Lru::InactiveFile),
        ("2.6.36", Lru::InactiveFile),
    ] {
        let mut one = OnePage::file(release);
        one.memory.map(one.frame);
        one.look();
        assert!(one.is_on(first), "{release}");
        let rotated = one.memory.zones()[1].recent_rotated[1];
        assert_eq!(rotated, u64::from(first == Lru::ActiveFile), "{release}: section 4.6");
        if first == Lru::InactiveFile {
            one.memory.touch(one.frame);
            one.look();
            assert!(one.is_on(Lru::ActiveFile), "{release}: used twice");
            assert_eq!(one.memory.vmstat.pgactivate, 1);
        }
    }
    let mut one = OnePage::file("2.6.36");
    one.memory.map(one.frame);
    one.look();
    one.look();
    assert!(one.is_gone() && one.memory.out.removed[0].mapped, "used once: the second look frees it");
}

/// Section 4.1: the second system call activates.
#[test]
fn reading_twice_activates() {
    let mut one = OnePage::file("2.6.36");
    one.memory.mark_accessed(one.frame);
    assert!(one.is_on(Lru::InactiveFile));
    one.memory.mark_accessed(one.frame);
    assert!(one.is_on(Lru::ActiveFile));
    one.memory.check_every_frame();
}

/// Section 4.5, step 4: a page that was read once is reclaimed only while it is clean.
#[test]
fn read_once_and_dirty_is_kept() {
    let mut one = OnePage::file("2.6.36");
    one.memory.mark_accessed(one.frame);
    one.memory.set_dirty(one.frame);
    one.look();
    assert!(one.is_on(Lru::InactiveFile) && one.memory.out.writes.is_empty());
    one.look();
    assert_eq!(one.memory.out.writes.len(), 1, "the mark was used up");
}

/// Section 4.5, steps 6 and 7, R4.5: a dirty page is unmapped, written, kept, and next in turn when its write ends.
#[test]
fn dirty_page_is_written_and_rotated() {
    let mut one = OnePage::file("2.6.36");
    one.memory.map(one.frame);
    one.look();
    one.memory.set_dirty(one.frame);
    // The first look left the mark of a use; it protects dirty pages once.
    one.look();
    one.look();
    assert_eq!(one.memory.out.unmapped.len(), 1);
    let write = one.memory.out.writes[0];
    assert_eq!((write.frame, write.slot), (one.frame, None));
    assert!(one.memory.is_under_writeback(one.frame));
    assert_eq!((one.memory.vmstat.nr_vmscan_write, one.memory.writeback_pages()), (1, 1));
    one.look();
    assert!(one.is_on(Lru::InactiveFile), "nobody waits for it");
    assert!(!one.memory.forget(one.frame, 0), "it cannot be forgotten while it is written");
    // Other pages have come to the tail's side meanwhile.
    fill(&mut one.memory, 0, 40);
    one.memory.drain_vectors(0);
    one.memory.written(one.frame);
    assert_eq!((one.memory.vmstat.pgrotated, one.memory.writeback_pages()), (1, 0));
    let oldest = one.memory.zones[1].lru[Lru::InactiveFile.index()].iter().next();
    assert_eq!(oldest, Some(one.frame.0));
}

/// R4.6: a task does not write to a congested device, unless it is writing there anyway; kswapd does.
#[test]
fn congested_device_by_caller() {
    let info = OwnerInfo { has_writepage: true, device: 1, ..OwnerInfo::default() };
    let writes = |caller: Caller| {
        let mut one = OnePage::new("2.6.36", |owner| NewPage { dirty: true, ..file_page(owner, 0) }, info);
        one.memory.set_congested(0, [true, false]);
        one.look_as(caller, Gfp::KERNEL);
        let refused = one.memory.out.writes.is_empty();
        assert_eq!(one.memory.zones()[1].congested, refused, "R5.8: all dirty pages met were refused");
        one.memory.out.writes.len()
    };
    assert_eq!(writes(task()), 0);
    assert_eq!(writes(Caller { writing_to: 1, ..task() }), 1);
    assert_eq!(writes(Caller::kswapd_on_cpu(1)), 1);
}

/// Section 4.5: what may not be done for a request is not done.
#[test]
fn limits_of_the_request() {
    let dirty = |owner| NewPage { dirty: true, ..file_page(owner, 0) };
    let info = OwnerInfo { has_writepage: true, ..OwnerInfo::default() };
    let mut one = OnePage::new("2.6.36", dirty, info);
    one.look_as(task(), Gfp::NOFS);
    assert!(one.memory.out.writes.is_empty());
    let mut one = OnePage::new("2.6.36", dirty, OwnerInfo::default());
    one.look();
    assert!(one.is_on(Lru::ActiveFile), "a file whose pages cannot be written");
    for (pin, lru) in [
        (Memory::set_locked as fn(&mut Memory, FrameId, bool), Lru::InactiveFile),
        (Memory::set_private, Lru::ActiveFile),
    ] {
        let mut one = OnePage::file("2.6.36");
        pin(&mut one.memory, one.frame, true);
        one.look();
        assert!(one.is_on(lru));
    }
    let mut one = OnePage::file("2.6.36");
    one.memory.set_unevictable(one.frame, true);
    assert!(one.is_on(Lru::Unevictable));
    one.look();
    assert!(one.is_on(Lru::Unevictable));
    one.memory.set_unevictable(one.frame, false);
    assert!(one.is_on(Lru::InactiveFile));
}

/// Section 4.5, steps 5 to 7, 0.6: an anonymous page gets a slot, is written there, and leaves its contents when it goes.
#[test]
fn anonymous_page_goes_to_swap() {
    let anon = |owner| NewPage { anon: true, ..file_page(owner, 3) };
    let mut one = OnePage::new("2.6.36", anon, OwnerInfo::default());
    one.look();
    assert!(one.is_on(Lru::ActiveAnon), "without swap there is nowhere to go");

    let mut one = OnePage::new("2.6.36", anon, OwnerInfo::default());
    one.memory.add_swap(1000, 1, false);
    one.look_as(task(), Gfp::NOIO);
    assert!(one.memory.out.writes.is_empty());
    // Swap is written without the file system.
    one.look_as(task(), Gfp::NOFS);
    let write = one.memory.out.writes[0];
    assert_eq!(write.slot, Some(1));
    assert_eq!(one.memory.vmstat.pswpout, 1);
    one.memory.written(one.frame);
    one.memory.out.clear();
    one.look();
    assert_eq!(one.memory.out.removed[0].slot, Some(1));
    assert!(one.is_gone() && one.memory.swap().expect("there").is_used(1));
    one.memory.free_slot(1, None);
    assert_eq!(one.memory.swap().expect("there").used_slots(), 0);
}

/// Takes so many slots and says which they are.
fn take_slots(memory: &mut Memory, frames: std::ops::Range<u32>) -> Vec<u32> {
    frames
        .map(|frame| {
            assert!(memory.add_to_swap(frame));
            memory.slot_of(frame, frame::Word(frame::Word::SWAP_CACHE)).expect("has one")
        })
        .collect()
}

/// 0.6: slots are taken in order inside the first 256 free ones in a row; without such a row, onward from where the search stands.
#[test]
fn swap_slots_by_cluster() {
    let mut memory = memory_of("2.6.36", 3980, 60_000);
    memory.add_swap(600, 0, false);
    assert_eq!(take_slots(&mut memory, 5000..5300), (1..=300).collect::<Vec<u32>>());
    for slot in [10, 20] {
        memory.free_slot(slot, None);
    }
    // 212 more in the cluster begun at 257; then 90 slots are no cluster, and the search goes on behind the last.
    assert_eq!(take_slots(&mut memory, 5300..5600), (301..=600).collect::<Vec<u32>>());
    assert_eq!(take_slots(&mut memory, 5600..5602), [10, 20], "round the end");
    assert!(!memory.add_to_swap(5602), "full");
    assert!(!memory.has_swap_space());

    // A new cluster is looked for from the beginning, or on a solid state disk from where the search stands.
    for (solid_state, expected) in [(false, 1), (true, 513)] {
        let mut memory = memory_of("2.6.36", 3980, 60_000);
        memory.add_swap(2000, 0, solid_state);
        take_slots(&mut memory, 5000..5512);
        for slot in 1..=256 {
            memory.free_slot(slot, None);
        }
        assert_eq!(take_slots(&mut memory, 6000..6001), [expected]);
    }
}

/// 0.6: what is read with a slot: its neighbours in the aligned window of 8, up to the first gap.
#[test]
fn swap_window() {
    let mut memory = memory_of("2.6.36", 3980, 60_000);
    memory.add_swap(600, 0, false);
    take_slots(&mut memory, 5000..5020);
    memory.free_slot(10, None);
    let swap = memory.swap().expect("there");
    for (slot, window) in
        [(3, 1..8), (7, 1..8), (8, 8..10), (13, 11..16), (16, 16..21), (10, 10..10), (21, 21..21)]
    {
        assert_eq!(swap.read_window(slot), window, "slot {slot}");
    }
}

/// 0.6: a page that stays in memory gives up its slot while swap is more than half full.
#[test]
fn slot_of_an_active_page() {
    for (others, kept) in [(4, true), (5, false)] {
        let anon = |owner| NewPage { anon: true, ..file_page(owner, 3) };
        let mut one = OnePage::new("2.6.36", anon, OwnerInfo::default());
        one.memory.add_swap(10, 1, false);
        one.look();
        one.memory.written(one.frame);
        one.memory.map(one.frame);
        // Of frames in DMA, where the page is not.
        take_slots(&mut one.memory, 100..100 + others);
        one.look();
        assert!(one.is_on(Lru::ActiveAnon));
        assert_eq!(one.memory.swap().expect("there").is_used(1), kept);
        assert_eq!(one.memory.is_dirty(one.frame), !kept, "its contents are in memory only");
    }
}

/// R4.7, section 4.4: from 2.6.34 on the mark of a use survives on the active list, so that one use after deactivation is enough.
#[test]
fn mark_survives_deactivation_by_release() {
    for (release, mapped_twice) in [("2.6.33", false), ("2.6.34", true), ("2.6.36", true)] {
        let mut one = OnePage::file(release);
        one.memory.map(one.frame);
        one.look();
        one.memory.touch(one.frame);
        one.look();
        assert!(one.is_on(Lru::ActiveFile), "{release}");
        one.memory.shrink_active(1, Lru::ActiveFile, 32, 0);
        assert!(one.is_on(Lru::InactiveFile), "{release}");
        let marked = one.memory.frames.word(one.frame.0).any(frame::Word::REFERENCED);
        assert_eq!(marked, mapped_twice, "{release}");
        one.memory.touch(one.frame);
        one.look();
        assert!(one.is_on(Lru::ActiveFile), "{release}");
    }
}

/// Section 4.4: a mark left by system calls counts on the active list up to 2.6.33, and only for pages in use by somebody.
#[test]
fn marks_on_the_active_list_by_release() {
    for (release, mapped, counts) in
        [("2.6.33", true, true), ("2.6.33", false, false), ("2.6.34", true, false), ("2.6.34", false, false)]
    {
        let active = |owner| NewPage { active: true, ..file_page(owner, 0) };
        let mut one = OnePage::new(release, active, OwnerInfo::default());
        one.memory.mark_accessed(one.frame);
        if mapped {
            let word = one.memory.frames.word(one.frame.0);
            one.memory.frames.set(one.frame.0, word.with(frame::Word::MAPPED));
        }
        let before = one.memory.zones()[1].recent_rotated[1];
        one.memory.shrink_active(1, Lru::ActiveFile, 32, 0);
        assert_eq!(one.memory.zones()[1].recent_rotated[1] - before, u64::from(counts), "{release} {mapped}");
    }
}

/// Section 4.4: deactivation takes referenced pages too; programs' pages stay from 2.6.31 on.
#[test]
fn active_pages_by_release() {
    let active = |owner| NewPage { active: true, mapped: true, ..file_page(owner, 0) };
    for (release, executable, expected) in [
        ("2.6.30", true, Lru::InactiveFile),
        ("2.6.31", true, Lru::ActiveFile),
        ("2.6.36", true, Lru::ActiveFile),
        ("2.6.36", false, Lru::InactiveFile),
    ] {
        let info = OwnerInfo { executable, ..OwnerInfo::default() };
        let mut one = OnePage::new(release, active, info);
        assert!(one.is_on(Lru::ActiveFile));
        one.memory.shrink_active(1, Lru::ActiveFile, 32, 0);
        assert!(one.is_on(expected), "{release} {executable}");
        assert_eq!(one.memory.zones()[1].events.pgrefill, 1);
        assert_eq!(one.memory.zones()[1].recent_rotated[1], 2, "added active, and found referenced");
        one.memory.check_every_frame();
    }
}

/// 0.5 G12: what stays keeps its order, whatever goes from between.
#[test]
fn order_of_what_stays() {
    let mut memory = memory_of("2.6.36", 3980, 60_000);
    let mapping = file(&mut memory);
    fill(&mut memory, mapping, 56);
    memory.drain_vectors(0);
    let before: Vec<u32> = memory.zones[1].lru[2].iter().collect();
    for (index, &frame) in before.iter().enumerate() {
        if index % 3 != 0 {
            memory.map(FrameId(frame));
        }
    }
    let mut control = control::Control {
        caller: task(),
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
    };
    let mut shrink = shrink_inactive::InactiveShrink::new(1, Lru::InactiveFile, 32, 12);
    assert_eq!(shrink.step(&mut memory, &mut control), Step::Done(()));
    let after: Vec<u32> = memory.zones[1].lru[2].iter().collect();
    let mut expected = before[32..].to_vec();
    expected
        .extend(before[..32].iter().enumerate().filter(|(index, _)| index % 3 != 0).map(|(_, &frame)| frame));
    assert_eq!(after, expected);
    assert_eq!(control.reclaimed, 11);
    assert_eq!(control.scanned, 32 + 21, "mapped pages count twice for the slab (step 1)");
}
