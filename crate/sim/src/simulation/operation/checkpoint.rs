//! Making room in the journal: a task that finds the log full writes old metadata in place itself.
//!
//! *Models:* one task at a time; the tail moves if it can (one sync write of the super block);
//! otherwise the blocks that the oldest transaction still has are written as plain async writes and
//! waited for, then the tail moves.
//! *Does not model:* batches of 64 interleaved with rescheduling; aborting the journal.
//! *Follows:* model/block-layer.md, section 0.4 point 5; Linux 2.6.35 `__jbd2_log_wait_for_space`,
//! `jbd2_log_do_checkpoint`, `jbd2_cleanup_journal_tail`.

use super::{Outcome, Step};
use crate::block::BioTag;
use crate::fs::Tid;
use crate::simulation::io::IoKind;
use crate::simulation::world::World;
use crate::task::{TaskId, WaitOn};

/// A task's work to make room in the journal.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Checkpoint {
    phase: CheckpointPhase,
    /// How far it has come in the transaction's list.
    at: usize,
    paid: bool,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum CheckpointPhase {
    Lock,
    Look,
    /// Writes the blocks of the oldest transaction.
    Write(Tid),
    /// Submits one of them.
    Submit(Tid, u32),
    /// Waits for them.
    Wait(Tid),
    /// The blocks are written; the tail may move.
    MoveTail,
    SuperBlock,
    WaitSuperBlock(BioTag),
    WaitCommit(Tid),
}

impl Checkpoint {
    pub(crate) fn new() -> Self {
        Self { phase: CheckpointPhase::Lock, at: 0, paid: false }
    }

    fn go_to(&mut self, phase: CheckpointPhase) -> Step {
        (self.phase, self.at, self.paid) = (phase, 0, false);
        Ok(Outcome::Continue)
    }

    pub(super) fn step(&mut self, world: &mut World, me: TaskId) -> Step {
        match self.phase {
            CheckpointPhase::Lock => {
                if world.journal.making_room.is_some_and(|task| task != me.0) {
                    return Err(Outcome::Wait(WaitOn::Checkpoint));
                }
                world.journal.making_room = Some(me.0);
                self.go_to(CheckpointPhase::Look)
            }
            CheckpointPhase::Look => self.look(world),
            CheckpointPhase::Write(tid) => self.write(world, me, tid),
            CheckpointPhase::Submit(tid, block) => self.submit(world, me, tid, block),
            CheckpointPhase::Wait(tid) => self.wait(world, me, tid),
            CheckpointPhase::MoveTail => {
                let moved = world.journal.move_tail();
                self.go_to(if moved { CheckpointPhase::SuperBlock } else { CheckpointPhase::Look })
            }
            CheckpointPhase::SuperBlock => {
                if !self.paid {
                    self.paid = true;
                    return Ok(Outcome::Cpu(world.host.submit_bio_ns));
                }
                let sector = world.journal.super_block_sector();
                let flags = world.policy.write_flags.sync_buffer;
                let tag = world.submit(me, sector, World::sectors(1), flags, IoKind::Single)?;
                self.go_to(CheckpointPhase::WaitSuperBlock(tag))
            }
            CheckpointPhase::WaitSuperBlock(tag) => {
                world.wait_for_bio(me, tag)?;
                self.go_to(CheckpointPhase::Look)
            }
            CheckpointPhase::WaitCommit(tid) => {
                world.wait_for_commit(me, tid)?;
                self.go_to(CheckpointPhase::Look)
            }
        }
    }

    fn look(&mut self, world: &mut World) -> Step {
        if world.journal.has_room() {
            return Ok(Self::leave(world));
        }
        if world.journal.move_tail() {
            return self.go_to(CheckpointPhase::SuperBlock);
        }
        if let Some(oldest) = world.journal.oldest_checkpoint() {
            return self.go_to(CheckpointPhase::Write(oldest));
        }
        if let Some(committing) = &world.journal.committing {
            let tid = committing.tid;
            return self.go_to(CheckpointPhase::WaitCommit(tid));
        }
        // Nothing can make room: the kernel would abort the journal; go on and say so.
        world.counters.journal_overcommits += 1;
        world.journal.grant_once();
        Ok(Self::leave(world))
    }

    fn leave(world: &mut World) -> Outcome {
        world.journal.making_room = None;
        world.wake_all(None, |on| on == WaitOn::Checkpoint);
        Outcome::Done
    }

    fn write(&mut self, world: &mut World, me: TaskId, tid: Tid) -> Step {
        let Some((at, block)) = world.journal.checkpoint_block(tid, self.at, &world.metadata) else {
            return self.go_to(CheckpointPhase::Wait(tid));
        };
        let state = world.metadata.block(block);
        // A block that has joined a later transaction is let go by committing that one.
        let owner = match (&world.journal.running, &world.journal.committing) {
            (_, Some(committing)) if state.committing => Some(committing.tid),
            (Some(running), _) if state.running => Some(running.tid),
            _ => None,
        };
        if let Some(owner) = owner {
            world.wait_for_commit(me, owner)?;
            return Ok(Outcome::Continue);
        }
        if state.writing || !state.dirty {
            self.at = at + 1;
            return Ok(Outcome::Continue);
        }
        if !self.paid {
            self.paid = true;
            return Ok(Outcome::Cpu(world.host.submit_bio_ns));
        }
        world.start_metadata_write(block);
        (self.phase, self.at) = (CheckpointPhase::Submit(tid, block), at);
        self.submit(world, me, tid, block)
    }

    fn submit(&mut self, world: &mut World, me: TaskId, tid: Tid, block: u32) -> Step {
        world.submit_metadata(me, block)?;
        world.counters.checkpoint_blocks += 1;
        (self.phase, self.at, self.paid) = (CheckpointPhase::Write(tid), self.at + 1, false);
        Ok(Outcome::Continue)
    }

    fn wait(&mut self, world: &mut World, me: TaskId, tid: Tid) -> Step {
        let Some((_, block)) = world.journal.checkpoint_block(tid, 0, &world.metadata) else {
            return self.go_to(CheckpointPhase::MoveTail);
        };
        let state = world.metadata.block(block);
        if state.writing {
            world.unplug(me);
            if world.metadata.block(block).writing {
                return Err(Outcome::Wait(WaitOn::Metadata(block)));
            }
        } else if state.dirty || state.running || state.committing {
            // Changed again meanwhile: once more from the beginning.
            return self.go_to(CheckpointPhase::Write(tid));
        }
        world.journal.release_checkpoint(&mut world.metadata, block);
        Ok(Outcome::Continue)
    }
}

impl World {
    /// A dirty metadata block is going to be written in place: nobody changes it until that is done.
    pub(crate) fn start_metadata_write(&mut self, block: u32) {
        self.metadata.set_dirty(self.now_ns, block, false);
        self.metadata.set_writing(block, true);
        self.note_dirty_pages();
    }

    /// Submits a metadata block whose write has been started.
    ///
    /// # Errors
    ///
    /// When no request is free: the same block has to be submitted again after that wait.
    pub(crate) fn submit_metadata(&mut self, me: TaskId, block: u32) -> Result<(), Outcome> {
        let sector = self.metadata.block(block).sector;
        let flags = self.policy.write_flags.background;
        self.submit(me, sector, World::sectors(1), flags, IoKind::Metadata { block })?;
        Ok(())
    }
}
