//! A slow, obvious twin of the buddy lists and of the LRU lists, compared step by step.

use super::*;
use frame::{Frames, Word};
use proptest::prelude::*;
use std::collections::BTreeMap;

/// Free blocks as a map, and lists as vectors, newest first.
#[derive(Default)]
struct SlowBuddy {
    /// Order and list of each free block.
    blocks: BTreeMap<u32, (usize, Mobility)>,
    lists: BTreeMap<(usize, usize), Vec<u32>>,
    pageblocks: Vec<Mobility>,
    start: u32,
    end: u32,
}

impl SlowBuddy {
    fn attach(&mut self, frame: u32, order: usize, mobility: Mobility) {
        self.blocks.insert(frame, (order, mobility));
        self.lists.entry((order, mobility.index())).or_default().insert(0, frame);
    }

    fn detach(&mut self, frame: u32) {
        let (order, mobility) = self.blocks.remove(&frame).expect("free");
        self.lists.get_mut(&(order, mobility.index())).expect("listed").retain(|&other| other != frame);
    }

    fn first(&self, order: usize, mobility: Mobility) -> Option<u32> {
        self.lists.get(&(order, mobility.index())).and_then(|list| list.first().copied())
    }

    fn type_of(&mut self, frame: u32) -> &mut Mobility {
        &mut self.pageblocks[((frame - self.start) >> 9) as usize]
    }

    fn give(&mut self, mut frame: u32, mut order: usize, mobility: Mobility) {
        while order < 10 {
            let buddy = frame ^ (1 << order);
            if self.blocks.get(&buddy).is_none_or(|&(other, _)| other != order) {
                break;
            }
            self.detach(buddy);
            frame = frame.min(buddy);
            order += 1;
        }
        self.attach(frame, order, mobility);
    }

    fn split(&mut self, frame: u32, from: usize, order: usize, mobility: Mobility) {
        for k in (order..from).rev() {
            self.attach(frame + (1 << k), k, mobility);
        }
    }

    fn take_own(&mut self, order: usize, mobility: Mobility) -> Option<u32> {
        let (k, frame) = (order..=10).find_map(|k| self.first(k, mobility).map(|frame| (k, frame)))?;
        self.detach(frame);
        self.split(frame, k, order, mobility);
        Some(frame)
    }

    /// R1.21, R1.23, R1.24, word by word.
    fn take(&mut self, order: usize, wanted: Mobility) -> Option<u32> {
        if let Some(frame) = self.take_own(order, wanted) {
            return Some(frame);
        }
        use Mobility::{Movable, Reclaimable, Unmovable};
        let others = match wanted {
            Unmovable => [Reclaimable, Movable],
            Reclaimable => [Unmovable, Movable],
            _ => [Reclaimable, Unmovable],
        };
        for k in (order..=10).rev() {
            for other in others {
                let Some(frame) = self.first(k, other) else { continue };
                let mut side = other;
                if k >= 4 || wanted == Reclaimable {
                    let first = frame & !511;
                    let inside: Vec<(u32, usize)> =
                        self.blocks.range(first..first + 512).map(|(&at, &(order, _))| (at, order)).collect();
                    let mut moved = 0;
                    for (at, order) in inside {
                        self.detach(at);
                        self.attach(at, order, wanted);
                        moved += 1 << order;
                    }
                    if moved >= 256 {
                        *self.type_of(frame) = wanted;
                    }
                    side = wanted;
                }
                self.detach(frame);
                if k >= 9 {
                    for block in 0..1 << (k - 9) {
                        *self.type_of(frame + block * 512) = wanted;
                    }
                }
                self.split(frame, k, order, side);
                return Some(frame);
            }
        }
        self.take_own(order, Mobility::Reserve)
    }
}

/// The fast lists as a map.
fn snapshot(frames: &Frames, zone: &Zone) -> BTreeMap<(usize, usize), Vec<u32>> {
    let mut lists = BTreeMap::new();
    for order in 0..MAX_ORDER {
        for mobility in Mobility::ALL {
            let list = zone.free_list(order, mobility);
            let mut at = frames.first(list);
            let mut blocks = Vec::new();
            while let Some(frame) = at {
                blocks.push(frame);
                at = Some(frames.links[frame as usize].next).filter(|&next| next != list);
            }
            if !blocks.is_empty() {
                lists.insert((order, mobility.index()), blocks);
            }
        }
    }
    lists
}

#[derive(Clone, Debug)]
enum Act {
    Take { order: usize, mobility: Mobility },
    Singles { count: u32, mobility: Mobility },
    Give { which: usize },
    GiveRun { which: usize, count: usize },
}

fn act() -> impl Strategy<Value = Act> {
    let mobility =
        || prop::sample::select(vec![Mobility::Unmovable, Mobility::Reclaimable, Mobility::Movable]);
    prop_oneof![
        (0..11_usize, mobility())
            .prop_map(|(order, mobility)| Act::Take { order: order * order / 10, mobility }),
        (1..32_u32, mobility()).prop_map(|(count, mobility)| Act::Singles { count, mobility }),
        any::<usize>().prop_map(|which| Act::Give { which }),
        (any::<usize>(), 1..60_usize).prop_map(|(which, count)| Act::GiveRun { which, count }),
    ]
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 48, failure_persistence: None, ..ProptestConfig::default() })]

    /// Section 1.9: the same blocks, on the same lists, in the same order, after every step.
    #[test]
    fn buddy_lists_are_those_of_the_twin(
        is_full in any::<bool>(),
        acts in prop::collection::vec(act(), 1..250),
    ) {
        let mut memory = memory_of("2.6.34", 3980, 9_000);
        let (frames, zone) = (&mut memory.frames, &mut memory.zones[1]);
        let mut slow = SlowBuddy {
            start: zone.start, end: zone.end, pageblocks: zone.pageblocks.clone(), ..SlowBuddy::default()
        };
        for (&(order, mobility), blocks) in &snapshot(frames, zone) {
            for &frame in blocks.iter().rev() {
                slow.attach(frame, order, Mobility::from_index(mobility as u8));
            }
        }
        let mut held: Vec<(u32, usize)> = Vec::new();
        // From a full zone on there are only the small blocks that come back.
        while is_full && let Some(frame) = buddy::take(frames, zone, 0, Mobility::Movable) {
            prop_assert_eq!(Some(frame), slow.take(0, Mobility::Movable));
            held.push((frame, 0));
        }
        for act in acts {
            match act {
                Act::Take { order, mobility } => {
                    let fast = buddy::take(frames, zone, order, mobility);
                    prop_assert_eq!(fast, slow.take(order, mobility));
                    held.extend(fast.map(|frame| (frame, order)));
                }
                Act::Singles { count, mobility } => {
                    let mut fast = Vec::new();
                    let got = buddy::take_singles(frames, zone, count, mobility, |frame| fast.push(frame));
                    prop_assert_eq!(got as usize, fast.len());
                    let twin: Vec<u32> = (0..count).map_while(|_| slow.take(0, mobility)).collect();
                    prop_assert_eq!(&fast, &twin, "in the order of single requests");
                    held.extend(fast.into_iter().map(|frame| (frame, 0)));
                }
                Act::Give { which } => {
                    if held.is_empty() { continue }
                    let (frame, order) = held.swap_remove(which % held.len());
                    let mobility = zone.pageblock_type(frame);
                    buddy::give(frames, zone, frame, order, mobility, false);
                    slow.give(frame, order, mobility);
                }
                Act::GiveRun { which, count } => {
                    // Single pages, in the order in which they were taken or against it, as from a per-CPU list.
                    let singles: Vec<(u32, Mobility)> =
                        held.iter().filter(|&&(_, order)| order == 0).map(|&(frame, _)| (frame, zone.pageblock_type(frame))).collect();
                    if singles.is_empty() { continue }
                    let from = which % singles.len();
                    let mut run = singles[from..(from + count).min(singles.len())].to_vec();
                    if which % 2 == 0 { run.reverse(); }
                    held.retain(|&(frame, order)| order != 0 || run.iter().all(|&(other, _)| other != frame));
                    per_cpu::give_back_for_test(frames, zone, &run);
                    for &(frame, mobility) in &run {
                        slow.give(frame, 0, mobility);
                    }
                }
            }
            let twin: BTreeMap<(usize, usize), Vec<u32>> =
                slow.lists.iter().filter(|(_, list)| !list.is_empty()).map(|(&at, list)| (at, list.clone())).collect();
            prop_assert_eq!(snapshot(frames, zone), twin);
            prop_assert_eq!(&zone.pageblocks, &slow.pageblocks);
            prop_assert!(slow.end > slow.start);
        }
    }

    /// Section 4.1: an LRU list is a list: what is added at either end and removed anywhere stays in order.
    #[test]
    fn ring_is_a_list(acts in prop::collection::vec((0..5_u8, any::<usize>()), 1..600)) {
        let count = 200;
        let mut frames = Frames::new(count, 0);
        let mut ring = ring::Ring::new();
        let mut twin: Vec<u32> = Vec::new();
        let mut free: Vec<u32> = (0..count).collect();
        for (act, which) in acts {
            match act {
                0 | 1 => {
                    let Some(frame) = free.pop() else { continue };
                    if act == 0 {
                        ring.push_head(&mut frames, frame);
                        twin.push(frame);
                    } else {
                        ring.push_tail(&mut frames, frame);
                        twin.insert(0, frame);
                    }
                }
                2 => {
                    if twin.is_empty() { continue }
                    let frame = twin.remove(which % twin.len());
                    ring.remove(&frames, frame);
                    free.push(frame);
                }
                3 => {
                    let mut batch = vec![0; which % 40];
                    let taken = ring.take(&mut batch);
                    let expected: Vec<u32> = twin.drain(..taken).collect();
                    prop_assert_eq!(&batch[..taken], &expected[..]);
                    prop_assert!(taken == batch.len() || twin.is_empty());
                    ring.push_batch(&mut frames, &batch[..taken]);
                    twin.extend(expected);
                }
                _ => {
                    let batch: Vec<u32> = free.drain(free.len().saturating_sub(which % 20)..).collect();
                    ring.push_batch(&mut frames, &batch);
                    twin.extend(batch);
                }
            }
            prop_assert_eq!(ring.len() as usize, twin.len());
            prop_assert_eq!(ring.iter().collect::<Vec<_>>(), twin.clone());
        }
        prop_assert_eq!(frames.word(0), Word::NOTHING);
    }
}
