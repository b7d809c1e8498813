//! A slow, obvious twin of the LRU lists and of what reclaim does to pages, compared after every act.

use super::*;
use proptest::prelude::*;

/// A page, with everything that reclaim looks at in a field of its own.
#[derive(Clone, Debug, Default)]
struct Page {
    frame: u32,
    mapped: bool,
    young: bool,
    referenced: bool,
    dirty: bool,
    writeback: bool,
    reclaim: bool,
    locked: bool,
    private: bool,
    active: bool,
    anon: bool,
}

/// The lists of one zone, oldest first: inactive and active, of anonymous and of file pages.
#[derive(Default)]
struct Twin {
    lists: [Vec<Page>; 4],
    two_trips: bool,
    writes: Vec<u32>,
    freed: u64,
    activated: u64,
    deactivated: u64,
    looks: u64,
}

/// What becomes of a page.
#[derive(PartialEq)]
enum Fate {
    Keep,
    Activate,
    Free,
}

impl Twin {
    /// The tests of section 4.5, one after the other, for kswapd at order 0 on a machine without swap.
    fn judge(&mut self, page: &mut Page) -> Fate {
        if page.locked {
            return Fate::Keep;
        }
        self.looks += if page.mapped { 2 } else { 1 };
        if page.writeback {
            return Fate::Keep;
        }
        let (young, marked) = (page.young, page.referenced);
        (page.young, page.referenced) = (false, false);
        if self.two_trips {
            if young && page.anon {
                return Fate::Activate;
            }
            if young {
                page.referenced = true;
                return if marked { Fate::Activate } else { Fate::Keep };
            }
        } else if (young || marked) && page.mapped {
            return Fate::Activate;
        }
        if page.anon {
            return Fate::Activate;
        }
        if page.dirty {
            page.mapped = false;
            if marked || (young && !self.two_trips) {
                return Fate::Keep;
            }
            (page.dirty, page.writeback, page.reclaim) = (false, true, true);
            self.writes.push(page.frame);
            return Fate::Keep;
        }
        if page.private { Fate::Activate } else { Fate::Free }
    }

    fn scan(&mut self, list: usize, pages: usize) {
        let count = pages.min(self.lists[list].len());
        let batch: Vec<Page> = self.lists[list].drain(..count).collect();
        for mut page in batch {
            match self.judge(&mut page) {
                Fate::Keep => self.lists[list].push(page),
                Fate::Activate => {
                    page.active = true;
                    self.activated += 1;
                    self.lists[list + 1].push(page);
                }
                Fate::Free => self.freed += 1,
            }
        }
    }

    /// Section 4.4, without programs.
    fn deactivate(&mut self, list: usize, pages: usize) {
        let count = pages.min(self.lists[list + 1].len());
        let batch: Vec<Page> = self.lists[list + 1].drain(..count).collect();
        for mut page in batch {
            page.young = false;
            if !self.two_trips && page.mapped {
                page.referenced = false;
            }
            page.active = false;
            self.deactivated += 1;
            self.lists[list].push(page);
        }
    }

    /// Section 4.1.
    fn read(&mut self, frame: u32) {
        for list in [0, 2] {
            if let Some(at) = self.lists[list].iter().position(|page| page.frame == frame && page.referenced)
            {
                let mut page = self.lists[list].remove(at);
                (page.referenced, page.active) = (false, true);
                self.activated += 1;
                self.lists[list + 1].push(page);
                return;
            }
        }
        self.change(frame, |page| page.referenced = true);
    }

    /// R4.5.
    fn written(&mut self, frame: u32) {
        self.change(frame, |page| page.writeback = false);
        for list in [0, 2] {
            let is_it = |page: &Page| page.frame == frame && page.reclaim && !page.dirty && !page.locked;
            if let Some(at) = self.lists[list].iter().position(is_it) {
                let page = self.lists[list].remove(at);
                self.lists[list].insert(0, page);
            }
        }
        self.change(frame, |page| page.reclaim = false);
    }

    fn change(&mut self, frame: u32, change: impl FnOnce(&mut Page)) {
        if let Some(page) = self.lists.iter_mut().flatten().find(|page| page.frame == frame) {
            change(page);
        }
    }
}

#[derive(Clone, Debug)]
enum Act {
    /// So many pages: anonymous or not, mapped, dirty, active.
    Add {
        pages: u32,
        anon: bool,
        mapped: bool,
        dirty: bool,
        active: bool,
    },
    /// Something happens to a page and some behind it.
    Change {
        which: usize,
        count: usize,
        what: u8,
    },
    Scan {
        anon: bool,
        pages: u32,
    },
    Deactivate {
        anon: bool,
        pages: u32,
    },
    Written,
}

fn act() -> impl Strategy<Value = Act> {
    let flag = any::<bool>;
    prop_oneof![
        2 => (1..50_u32, prop::bool::weighted(0.2), flag(), prop::bool::weighted(0.2), prop::bool::weighted(0.2))
            .prop_map(|(pages, anon, mapped, dirty, active)| Act::Add { pages, anon, mapped, dirty, active }),
        4 => (any::<usize>(), 1..40_usize, 0..8_u8).prop_map(|(which, count, what)| Act::Change { which, count, what }),
        4 => (prop::bool::weighted(0.2), 1..33_u32).prop_map(|(anon, pages)| Act::Scan { anon, pages }),
        1 => (prop::bool::weighted(0.3), 1..33_u32).prop_map(|(anon, pages)| Act::Deactivate { anon, pages }),
        1 => Just(Act::Written),
    ]
}

/// A machine and its twin.
struct Pair {
    memory: Memory,
    twin: Twin,
    control: control::Control,
}

impl Pair {
    fn act(&mut self, act: &Act) {
        let (memory, twin) = (&mut self.memory, &mut self.twin);
        match *act {
            Act::Add { pages, anon, mapped, dirty, active } => {
                for index in 0..pages {
                    let frame = memory.allocate_at_once(MOVABLE, &task()).expect("plenty");
                    let page = NewPage { anon, mapped, dirty, active, ..file_page(0, index) };
                    memory.add_page(frame, &page, 0);
                    let list = 2 * usize::from(!anon) + usize::from(active);
                    twin.lists[list].push(Page {
                        frame: frame.0,
                        mapped,
                        young: mapped,
                        dirty,
                        anon,
                        active,
                        ..Page::default()
                    });
                }
                memory.drain_vectors(0);
            }
            Act::Change { which, count, what } => {
                let all: Vec<Page> = twin.lists.iter().flatten().cloned().collect();
                for page in all.iter().cycle().skip(which % all.len().max(1)).take(count.min(all.len())) {
                    let frame = FrameId(page.frame);
                    match what {
                        0 | 1 if page.mapped => {
                            memory.touch(frame);
                            twin.change(page.frame, |page| page.young = true);
                        }
                        2 | 3 => {
                            memory.mark_accessed(frame);
                            twin.read(page.frame);
                        }
                        4 => {
                            memory.set_dirty(frame);
                            twin.change(page.frame, |page| page.dirty = true);
                        }
                        5 => {
                            memory.map(frame);
                            twin.change(page.frame, |page| (page.mapped, page.young) = (true, true));
                        }
                        6 => {
                            memory.set_locked(frame, !page.locked);
                            twin.change(page.frame, |page| page.locked = !page.locked);
                        }
                        7 => {
                            memory.set_private(frame, !page.private);
                            twin.change(page.frame, |page| page.private = !page.private);
                        }
                        _ => {}
                    }
                }
            }
            Act::Scan { anon, pages } => {
                let lru = Lru::inactive(!anon);
                let mut shrink = shrink_inactive::InactiveShrink::new(1, lru, pages, 11);
                assert_eq!(shrink.step(memory, &mut self.control), Step::Done(()));
                twin.scan(lru.index(), pages as usize);
            }
            Act::Deactivate { anon, pages } => {
                memory.shrink_active(1, Lru::active(!anon), pages, 1);
                twin.deactivate(Lru::inactive(!anon).index(), pages as usize);
            }
            Act::Written => {
                let writes: Vec<u32> = memory.out.writes.drain(..).map(|write| write.frame.0).collect();
                assert_eq!(writes, std::mem::take(&mut twin.writes));
                for frame in writes {
                    memory.written(FrameId(frame));
                    twin.written(frame);
                }
            }
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 64, failure_persistence: None, ..ProptestConfig::default() })]

    /// Sections 4.1, 4.4, 4.5: the same pages on the same lists in the same order, with the same flags and counters, after every act.
    #[test]
    fn lists_are_those_of_the_twin(
        (release, two_trips) in prop::sample::select(vec![("2.6.32", false), ("2.6.34", true), ("2.6.37", true)]),
        acts in prop::collection::vec(act(), 1..80),
    ) {
        let mut memory = memory_of(release, 3980, 60_000);
        file(&mut memory);
        let control = control::Control {
            caller: Caller::kswapd_on_cpu(1),
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
        let mut pair = Pair { memory, twin: Twin { two_trips, ..Twin::default() }, control };
        for act in &acts {
            pair.act(act);
            let (memory, twin) = (&pair.memory, &pair.twin);
            for (list, pages) in twin.lists.iter().enumerate() {
                let fast: Vec<u32> = memory.zones[1].lru[list].iter().collect();
                prop_assert_eq!(&fast, &pages.iter().map(|page| page.frame).collect::<Vec<u32>>(), "list {}", list);
                for page in pages {
                    let word = memory.frames.word(page.frame);
                    let flags = [
                        (frame::Word::MAPPED, page.mapped),
                        (frame::Word::YOUNG, page.young),
                        (frame::Word::REFERENCED, page.referenced),
                        (frame::Word::DIRTY, page.dirty),
                        (frame::Word::WRITEBACK, page.writeback),
                        (frame::Word::RECLAIM, page.reclaim),
                        (frame::Word::ACTIVE, page.active),
                    ];
                    for (flag, set) in flags {
                        prop_assert_eq!(word.any(flag), set, "{:?}, flag {:#x}", page, flag);
                    }
                }
            }
            prop_assert_eq!(pair.control.reclaimed, twin.freed);
            prop_assert_eq!(pair.control.scanned, twin.looks);
            prop_assert_eq!(memory.vmstat.pgactivate, twin.activated);
            prop_assert_eq!(memory.vmstat.pgdeactivate, twin.deactivated);
        }
        pair.memory.check_every_frame();
    }

    /// A run of pages is what single pages would be: same frames, same lists, same counters.
    #[test]
    fn a_run_is_single_pages(
        release in prop::sample::select(vec!["2.6.30", "2.6.32", "2.6.36", "mmotm-2010-08"]),
        // The larger zone hands out batches of 31 pages, the smaller one single pages.
        (dma32, left) in prop::sample::select(vec![(9_000, 9_000), (130_000, 4_000)]),
        runs in prop::collection::vec((1..700_u32, any::<bool>(), any::<bool>()), 1..40),
    ) {
        let (mut many, mut single) = (memory_of(release, 3980, dma32), memory_of(release, 3980, dma32));
        for memory in [&mut many, &mut single] {
            for _ in left..dma32 {
                prop_assert!(memory.allocate_at_once(KERNEL, &task()).is_some());
            }
        }
        for (count, mapped, cold) in runs {
            let gfp = if cold { Gfp::HIGHUSER_MOVABLE.with(Gfp::COLD) } else { Gfp::HIGHUSER_MOVABLE };
            let request = Request::page(gfp);
            let page = |index| NewPage { mapped, ..file_page(0, index) };
            let got = many.add_run(request, &task(), &page(0), count, |_| ());
            let one_by_one = (0..count)
                .map_while(|index| {
                    let frame = single.allocate_at_once(request, &task())?;
                    single.add_page(frame, &page(index), 0);
                    Some(())
                })
                .count();
            prop_assert_eq!(got as usize, one_by_one);
            for (a, b) in many.zones.iter().zip(&single.zones) {
                prop_assert_eq!((a.free, a.events, a.in_vectors, a.free_blocks), (b.free, b.events, b.in_vectors, b.free_blocks));
                for lru in 0..LRU_LISTS {
                    prop_assert_eq!(a.lru[lru].iter().collect::<Vec<_>>(), b.lru[lru].iter().collect::<Vec<_>>());
                }
            }
            prop_assert_eq!(many.out.wake_kswapd, single.out.wake_kswapd);
        }
    }
}
