//! Laws under random loads.

use super::*;
use proptest::prelude::*;

/// What a random load does next.
#[derive(Clone, Debug)]
enum Act {
    /// So many pages of a file, mapped or not, dirty or not.
    Add { pages: u32, mapped: bool, dirty: bool, anon: bool },
    /// A kernel block.
    Block { order: u8 },
    /// Gives a kernel block back.
    Free { which: usize },
    /// Uses a page.
    Touch { which: usize, read: bool },
    /// Forgets a page.
    Forget { which: usize },
    /// kswapd takes steps.
    Kswapd { steps: u32 },
    /// All writes end.
    Written,
}

fn act() -> impl Strategy<Value = Act> {
    prop_oneof![
        4 => (1..400_u32, any::<bool>(), prop::bool::weighted(0.2), prop::bool::weighted(0.3))
            .prop_map(|(pages, mapped, dirty, anon)| Act::Add { pages, mapped, dirty, anon }),
        3 => (0..6_u8).prop_map(|order| Act::Block { order }),
        2 => any::<usize>().prop_map(|which| Act::Free { which }),
        3 => (any::<usize>(), any::<bool>()).prop_map(|(which, read)| Act::Touch { which, read }),
        1 => any::<usize>().prop_map(|which| Act::Forget { which }),
        2 => (1..40_u32).prop_map(|steps| Act::Kswapd { steps }),
        1 => Just(Act::Written),
    ]
}

struct Load {
    memory: Memory,
    kswapd: Kswapd,
    pages: Vec<FrameId>,
    blocks: Vec<(FrameId, u8)>,
    writing: Vec<FrameId>,
}

impl Load {
    fn new(release: &str, swap: bool) -> Self {
        let mut memory = memory_of(release, 3980, 12_000);
        memory.add_owner(OwnerInfo { has_writepage: true, executable: true, device: 1 });
        if swap {
            memory.add_swap(3_000, 1, false);
        }
        Self { memory, kswapd: Kswapd::new(1), pages: Vec::new(), blocks: Vec::new(), writing: Vec::new() }
    }

    /// Carries out what memory asks for, and checks that it is about pages that exist.
    fn follow_up(&mut self) {
        self.memory.check();
        for removed in self.memory.out.removed.drain(..) {
            let at =
                self.pages.iter().position(|&page| page == removed.frame).expect("a page that was there");
            self.pages.swap_remove(at);
            // Nobody keeps contents here: the slot is given up at once.
            if let Some(slot) = removed.slot {
                self.writing.retain(|&frame| frame != removed.frame);
                if let Some(swap) = &mut self.memory.swap {
                    assert!(swap.is_used(slot));
                }
            }
        }
        self.writing.extend(self.memory.out.writes.iter().map(|write| write.frame));
        self.memory.out.clear();
        self.memory.take_work();
    }

    fn allocate(&mut self, request: Request) -> Option<FrameId> {
        let mut allocation = Allocation::new(request, task());
        for _ in 0..20_000 {
            let step = allocation.step(&mut self.memory);
            self.follow_up();
            match step {
                Step::Done(frame) => return frame,
                Step::Oom => return None,
                Step::WaitWritten(frame) => self.write(frame),
                Step::Nap(_) => self.write_all(),
                _ => {}
            }
        }
        None
    }

    fn write(&mut self, frame: FrameId) {
        self.writing.retain(|&other| other != frame);
        self.memory.written(frame);
    }

    fn write_all(&mut self) {
        for frame in std::mem::take(&mut self.writing) {
            self.memory.written(frame);
        }
    }

    fn act(&mut self, act: &Act) {
        match *act {
            Act::Add { pages, mapped, dirty, anon } => {
                for index in 0..pages {
                    let Some(frame) = self.allocate(MOVABLE) else { break };
                    let owner = Owner { mapping: 0, index };
                    self.memory.add_page(frame, &NewPage { owner, anon, mapped, dirty, active: anon }, 0);
                    self.pages.push(frame);
                }
            }
            Act::Block { order } => {
                let mobility = if order % 2 == 0 { Gfp::KERNEL } else { Gfp::KERNEL.with(Gfp::RECLAIMABLE) };
                if let Some(frame) = self.allocate(Request { gfp: mobility, order }) {
                    self.blocks.push((frame, order));
                }
            }
            Act::Free { which } => {
                if !self.blocks.is_empty() {
                    let (frame, order) = self.blocks.swap_remove(which % self.blocks.len());
                    self.memory.free_pages(frame, order, which % 2);
                }
            }
            Act::Touch { which, read } => {
                if let Some(&frame) = self.pages.get(which % self.pages.len().max(1)) {
                    if read { self.memory.mark_accessed(frame) } else { self.memory.touch(frame) }
                }
            }
            Act::Forget { which } => {
                if !self.pages.is_empty() {
                    let at = which % self.pages.len();
                    if self.memory.forget(self.pages[at], 0) {
                        self.pages.swap_remove(at);
                    }
                }
            }
            Act::Kswapd { steps } => {
                for _ in 0..steps {
                    let step = self.kswapd.step(&mut self.memory);
                    self.follow_up();
                    match step {
                        Step::Sleep(_) => {
                            self.kswapd.woken(0);
                            break;
                        }
                        Step::WaitWritten(frame) => self.write(frame),
                        _ => {}
                    }
                }
            }
            Act::Written => self.write_all(),
        }
        self.memory.check();
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 24, failure_persistence: None, ..ProptestConfig::default() })]

    /// Every page is in exactly one place after every step, whatever happens, on every release.
    #[test]
    fn pages_are_conserved(
        release in prop::sample::select(vec!["2.6.30", "2.6.31", "2.6.32", "2.6.34", "2.6.36", "2.6.37"]),
        swap in any::<bool>(),
        acts in prop::collection::vec(act(), 1..120),
    ) {
        let mut load = Load::new(release, swap);
        for act in &acts {
            load.act(act);
        }
        load.memory.check_every_frame();
        let user = load.pages.len() as u64;
        let on_lists: u64 = load.memory.zones().iter().map(|zone| {
            Lru::ALL.iter().map(|&lru| u64::from(zone.lru_pages(lru))).sum::<u64>() + u64::from(zone.in_vectors)
        }).sum();
        prop_assert_eq!(user, on_lists);
    }
}
