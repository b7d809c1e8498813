//! The flusher thread: writes back what has been dirty for long, files and metadata.
//!
//! *Models:* a look every 5 s, data older than 30 s, 4 MiB of one file at a time; metadata through the
//! block device's own mapping, in the order of sectors; background writeback above a share of memory.
//! *Does not model:* several pdflush threads, congestion (the thread simply waits for a free request),
//! laptop mode.
//! *Follows:* model/block-layer.md, sections 0.4 point 2 and 1.9; Linux 2.6.35 `wb_writeback`,
//! `wb_check_old_data_flush`.

use super::{Frame, Outcome, Step, WritePages};
use crate::fs::FileId;
use crate::simulation::world::{Event, World};
use crate::task::{TaskId, WaitOn};
use crate::writeback;

/// The flusher's main loop.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Flusher {
    phase: FlusherPhase,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum FlusherPhase {
    Sleep,
    /// Files that have been dirty since before this time, until so many in a row have nothing to write.
    Files {
        cutoff_ns: u64,
        turns: usize,
    },
    Metadata {
        cutoff_ns: u64,
    },
    Background {
        turns: usize,
    },
}

impl Flusher {
    pub(crate) fn new() -> Self {
        Self { phase: FlusherPhase::Sleep }
    }

    pub(super) fn step(&mut self, world: &mut World) -> Outcome {
        match self.phase {
            FlusherPhase::Sleep => {
                if !std::mem::take(&mut world.flusher_due) {
                    return Outcome::Wait(WaitOn::Work);
                }
                self.phase = match writeback::old_before_ns(world.now_ns, &world.policy.writeback) {
                    Some(cutoff_ns) => FlusherPhase::Files { cutoff_ns, turns: world.files.dirty_files() },
                    None => FlusherPhase::Background { turns: world.files.dirty_files() },
                };
                Outcome::Continue
            }
            FlusherPhase::Files { cutoff_ns, turns } => match world.files.oldest_dirty(cutoff_ns) {
                Some(file) if turns > 0 => {
                    let turns = Self::turns_after(world, file, turns);
                    self.phase = FlusherPhase::Files { cutoff_ns, turns };
                    Self::write_chunk(world, file, cutoff_ns)
                }
                _ => {
                    self.phase = FlusherPhase::Metadata { cutoff_ns };
                    Outcome::Continue
                }
            },
            FlusherPhase::Metadata { cutoff_ns } => {
                self.phase = FlusherPhase::Background { turns: world.files.dirty_files() };
                if world.metadata.dirtied_ns().is_some_and(|since_ns| since_ns <= cutoff_ns) {
                    return Outcome::Call(Frame::MetadataFlush(MetadataFlush {
                        sector: 0,
                        paid: false,
                        started: None,
                    }));
                }
                Outcome::Continue
            }
            FlusherPhase::Background { turns } => {
                let dirty_pages = world.files.dirty_pages();
                let is_above = writeback::is_above_background(dirty_pages, &world.policy.writeback);
                match world.files.oldest_dirty(u64::MAX).filter(|_| is_above && turns > 0) {
                    Some(file) => {
                        let turns = Self::turns_after(world, file, turns);
                        self.phase = FlusherPhase::Background { turns };
                        Self::write_chunk(world, file, u64::MAX)
                    }
                    None => {
                        self.phase = FlusherPhase::Sleep;
                        world.schedule_flusher();
                        Outcome::Continue
                    }
                }
            }
        }
    }

    /// The flusher goes on as long as anything is written: one that has come round all files without writing
    /// has done what it can.
    fn turns_after(world: &World, file: FileId, turns: usize) -> usize {
        let writes = world.files.get(file).cache.has_dirty_at_rest();
        if writes { world.files.dirty_files() } else { turns - 1 }
    }

    fn write_chunk(world: &mut World, file: FileId, cutoff_ns: u64) -> Outcome {
        let pages = world.policy.writeback.chunk_pages;
        let flags = world.policy.write_flags.background;
        let state = world.files.get(file);
        let from =
            if state.cache.next_dirty(state.writeback_index).is_some() { state.writeback_index } else { 0 };
        world.counters.flushed_pages += u64::from(state.cache.dirty().min(pages));
        world.files.rotate_oldest(cutoff_ns);
        Outcome::Call(Frame::WritePages(WritePages::background(file, flags, from, pages)))
    }
}

/// Writes all dirty metadata blocks in place.
#[derive(Clone, Copy, Debug)]
pub(crate) struct MetadataFlush {
    sector: u64,
    paid: bool,
    /// The block whose write has been started and is to be submitted.
    started: Option<u32>,
}

impl MetadataFlush {
    pub(super) fn step(&mut self, world: &mut World, me: TaskId) -> Step {
        if let Some(block) = self.started {
            return self.submit(world, me, block);
        }
        let Some(block) = world.metadata.next_dirty(self.sector) else {
            world.metadata.restart_age(world.now_ns);
            return Ok(Outcome::Done);
        };
        if !self.paid {
            self.paid = true;
            return Ok(Outcome::Cpu(world.host.submit_bio_ns));
        }
        world.start_metadata_write(block);
        self.started = Some(block);
        self.submit(world, me, block)
    }

    fn submit(&mut self, world: &mut World, me: TaskId, block: u32) -> Step {
        world.submit_metadata(me, block)?;
        world.counters.flushed_metadata_blocks += 1;
        let sector = world.metadata.block(block).sector;
        *self = Self { sector: sector + 1, paid: false, started: None };
        Ok(Outcome::Continue)
    }
}

impl World {
    /// The flusher looks again after its interval.
    pub(crate) fn schedule_flusher(&mut self) {
        let interval = self.clock.jiffies_from_ms(self.policy.writeback.interval_ms, 1);
        let due_ns = self.clock.timer_ns(self.now_ns, interval);
        self.schedule(due_ns, Event::Flusher);
    }
}
