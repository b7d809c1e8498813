//! Textbook page replacement on the frames and the ring that reclaim works with: what a reference costs, beside other simulators.
//!
//! *Models:* LRU and CLOCK with one reference bit, for pages of one size in memory of a fixed number of frames.
//! *Does not model:* zones, lists, priorities, dirty pages: the kernels' reclaim is in this module's siblings.
//! *Follows:* Corbató, "A Paging Experiment with the Multics System", 1968 (CLOCK).

use super::frame::{Frames, Word};
use super::ring::Ring;

/// No frame holds the page.
const ABSENT: u32 = u32::MAX;

/// Which page goes when memory is full.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Replacement {
    /// The one not used for longest.
    Lru,
    /// The oldest that has not been used since the hand last passed it.
    Clock,
}

/// References the pages of `stream`, numbers below `pages`, in memory of `frames` frames (1 or more); returns how many were not
/// there.
#[must_use]
pub fn replacement_exercise(replacement: Replacement, frames: u32, pages: u32, stream: &[u32]) -> u64 {
    let capacity = frames.max(1);
    let mut frames = Frames::new(capacity, 0);
    let mut ring = Ring::new();
    let mut held_in = vec![ABSENT; pages as usize];
    let mut page_of = vec![0; capacity as usize];
    let mut used = 0;
    let mut misses = 0;
    for &page in stream {
        let Some(&frame) = held_in.get(page as usize) else { continue };
        if frame != ABSENT {
            match replacement {
                Replacement::Lru => {
                    ring.remove(&frames, frame);
                    ring.push_head(&mut frames, frame);
                }
                Replacement::Clock => frames.set(frame, frames.word(frame).with(Word::REFERENCED)),
            }
            continue;
        }
        misses += 1;
        let frame = if used < capacity {
            used += 1;
            used - 1
        } else {
            let frame = victim(&mut ring, &mut frames);
            held_in[page_of[frame as usize] as usize] = ABSENT;
            frame
        };
        held_in[page as usize] = frame;
        page_of[frame as usize] = page;
        ring.push_head(&mut frames, frame);
    }
    misses
}

/// Takes the oldest page that has not been used since it was last looked at off the ring.
fn victim(ring: &mut Ring, frames: &mut Frames) -> u32 {
    let mut oldest = [0];
    loop {
        ring.take(&mut oldest);
        let word = frames.word(oldest[0]);
        if !word.has(Word::REFERENCED) {
            return oldest[0];
        }
        frames.set(oldest[0], word.without(Word::REFERENCED));
        ring.push_head(frames, oldest[0]);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use std::collections::VecDeque;

    /// The same with a queue of pages, oldest first, searched from end to end.
    fn plainly(replacement: Replacement, frames: usize, stream: &[u32]) -> u64 {
        let mut queue: VecDeque<(u32, bool)> = VecDeque::new();
        let mut misses = 0;
        for &page in stream {
            if let Some(at) = queue.iter().position(|held| held.0 == page) {
                match replacement {
                    Replacement::Lru => {
                        queue.remove(at);
                        queue.push_back((page, false));
                    }
                    Replacement::Clock => queue[at].1 = true,
                }
                continue;
            }
            misses += 1;
            while queue.len() >= frames {
                match queue.pop_front() {
                    Some((spared, true)) => queue.push_back((spared, false)),
                    _ => break,
                }
            }
            queue.push_back((page, false));
        }
        misses
    }

    proptest! {
        /// The ring's gaps and growth change nothing.
        #[test]
        fn as_a_plain_queue(frames in 1u32..80, stream in prop::collection::vec(0u32..200, 0..2000)) {
            for replacement in [Replacement::Lru, Replacement::Clock] {
                let misses = replacement_exercise(replacement, frames, 200, &stream);
                prop_assert_eq!(misses, plainly(replacement, frames as usize, &stream));
            }
        }
    }
}
