//! Laws that hold between any two steps.
//!
//! *Models:* every page that is present is in exactly one place.
//! *Does not model:* anything: it looks.
//! *Follows:* ARCHITECTURE.md, rule 7.

use super::frame::Word;
use super::gfp::{MAX_ORDER, Mobility};
use super::lru::Lru;
use super::memory::Memory;
use super::zone::Zone;

impl Memory {
    /// Pages that nothing but the sum of all places accounts for must be none. Complexity: O(zones x CPUs).
    ///
    /// # Panics
    /// A law does not hold: a defect of the simulator.
    pub fn check(&self) {
        for (index, zone) in self.zones.iter().enumerate() {
            let per_cpu: u64 = self.cpus.iter().map(|cpu| u64::from(cpu.pages[index].count)).sum();
            let lru: u64 = (0..zone.lru.len()).map(|lru| u64::from(zone.lru[lru].len())).sum();
            let isolated: u64 = zone.isolated.iter().map(|&pages| u64::from(pages)).sum();
            let held = u64::from(zone.kernel_pages) + u64::from(zone.in_vectors);
            let sum = zone.listed_pages() + per_cpu + lru + isolated + held;
            let name = zone.kind.name();
            assert_eq!(
                sum,
                u64::from(zone.present),
                "zone {name}: {} listed + {per_cpu} per CPU + {lru} on LRU lists + {isolated} isolated + {held} held",
                zone.listed_pages()
            );
            let leaked = zone.listed_pages() as i64 - zone.free;
            assert!(
                leaked == 0 || (leaked > 0 && self.policy.free_counter_leaks),
                "zone {name}: leaked {leaked}"
            );
        }
    }

    /// Looks at every frame and every list. Complexity: O(frames).
    ///
    /// # Panics
    /// A law does not hold: a defect of the simulator.
    pub fn check_every_frame(&self) {
        self.check();
        let mut seen = vec![0_u8; self.frames.count() as usize];
        for (index, zone) in self.zones.iter().enumerate() {
            self.check_free_lists(zone, &mut seen);
            for (lru, ring) in zone.lru.iter().enumerate() {
                let mut pages = 0;
                for frame in ring.iter() {
                    pages += 1;
                    seen[frame as usize] += 1;
                    let word = self.frames.word(frame);
                    assert_eq!(Lru::holding(word).map(Lru::index), Some(lru), "frame {frame}");
                    assert_eq!(Lru::of(word).index(), lru, "frame {frame} is on the list its flags say");
                }
                assert_eq!(pages, ring.len());
            }
            for frame in self.cpus.iter().flat_map(|cpu| cpu.pages[index].frames()) {
                seen[frame as usize] += 1;
                assert_eq!(self.frames.word(frame), Word::NOTHING, "frame {frame}");
                assert!((zone.start..zone.end).contains(&frame));
            }
        }
        for vector in self.cpus.iter().flat_map(|cpu| &cpu.vectors) {
            for &frame in &vector.frames[..usize::from(vector.len)] {
                seen[frame as usize] += 1;
                assert_eq!(self.frames.word(frame).place(), Word::IN_VECTOR, "frame {frame}");
            }
        }
        for zone in &self.zones {
            let elsewhere = u64::from(zone.kernel_pages)
                + zone.isolated.iter().map(|&pages| u64::from(pages)).sum::<u64>();
            let places = &seen[zone.start as usize..zone.end as usize];
            assert!(
                places.iter().all(|&count| count <= 1),
                "zone {}: a frame in two places",
                zone.kind.name()
            );
            let placed = places.iter().filter(|&&count| count == 1).count() as u64;
            assert_eq!(placed + elsewhere, u64::from(zone.present), "zone {}", zone.kind.name());
        }
    }

    fn check_free_lists(&self, zone: &Zone, seen: &mut [u8]) {
        for order in 0..MAX_ORDER {
            let mut blocks = 0;
            for mobility in Mobility::ALL {
                let list = zone.free_list(order, mobility);
                let mut at = self.frames.first(list);
                while let Some(frame) = at {
                    blocks += 1;
                    assert_eq!(self.frames.word(frame), Word::free_head(order as u8), "block {frame}");
                    assert!(frame.is_multiple_of(1 << order));
                    let buddy = frame ^ (1 << order);
                    let is_whole = order == MAX_ORDER - 1 || !(zone.start..zone.end).contains(&buddy);
                    assert!(
                        is_whole
                            || self.frames.word(buddy) != Word::free_head(order as u8)
                            || self.is_cut(zone, frame, order),
                        "block {frame} of order {order} is free beside its buddy"
                    );
                    seen[frame as usize..frame as usize + (1 << order)]
                        .iter_mut()
                        .for_each(|count| *count += 1);
                    at = Some(self.frames.links[frame as usize].next).filter(|&next| next != list);
                }
            }
            assert_eq!(blocks, zone.free_blocks[order], "blocks of order {order}");
        }
    }

    /// Blocks beside the reserve's were cut on purpose when it was set aside.
    fn is_cut(&self, zone: &Zone, frame: u32, order: usize) -> bool {
        let first = frame & !((1 << (order + 1)) - 1);
        order >= usize::from(zone.pageblock_order)
            && [first, first + (1 << order)]
                .iter()
                .any(|&half| zone.pageblock_type(half) == Mobility::Reserve)
    }
}
