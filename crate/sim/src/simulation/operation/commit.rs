//! One commit: data, log blocks, commit record, each waited for.
//!
//! *Models:* the order of writes and waits of jbd (data before the log) and jbd2 (data beside it), one
//! bio per log block, the time during which metadata blocks may not be changed, the commit record with
//! its barrier, what becomes of the metadata afterwards.
//! *Does not model:* revoke records, asynchronous commit records, checksums.
//! *Follows:* model/block-layer.md, sections 0.4 and 4.2; Linux 2.6.35
//! `jbd2_journal_commit_transaction`.

use super::{Frame, Outcome, Step, WritePages};
use crate::block::{BioFlags, BioTag};
use crate::fs::Transaction;
use crate::simulation::io::IoKind;
use crate::simulation::world::World;
use crate::task::{TaskId, WaitOn};

/// The journal thread's work on one transaction.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Commit {
    phase: CommitPhase,
    /// The block or file that the phase has come to.
    at: usize,
    paid: bool,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum CommitPhase {
    Begin,
    WriteData,
    WaitDataFirst,
    Log,
    WaitData,
    WaitLog,
    Record,
    WaitRecord(BioTag),
    Finish,
}

impl Commit {
    pub(crate) fn new() -> Self {
        Self { phase: CommitPhase::Begin, at: 0, paid: false }
    }

    fn go_to(&mut self, phase: CommitPhase) -> Step {
        (self.phase, self.at, self.paid) = (phase, 0, false);
        Ok(Outcome::Continue)
    }

    pub(super) fn step(&mut self, world: &mut World, me: TaskId) -> Step {
        match self.phase {
            CommitPhase::Begin => {
                if !world.journal.begin_commit(world.now_ns, &mut world.metadata) {
                    return Ok(Outcome::Done);
                }
                world.wake_all(None, |on| on == WaitOn::TransactionLocked);
                let writes_data = world.policy.journal.commit_writes_data;
                self.phase = if writes_data { CommitPhase::WriteData } else { CommitPhase::Log };
                Ok(Outcome::Cpu(world.host.commit_start_ns))
            }
            CommitPhase::WriteData => self.write_data(world),
            CommitPhase::WaitDataFirst => {
                self.wait_data(world, me)?;
                self.go_to(CommitPhase::Log)
            }
            CommitPhase::Log => self.write_log(world, me),
            CommitPhase::WaitData => {
                self.wait_data(world, me)?;
                self.go_to(CommitPhase::WaitLog)
            }
            CommitPhase::WaitLog => {
                if world.journal.log_in_flight != 0 {
                    world.unplug(me);
                    if world.journal.log_in_flight != 0 {
                        return Err(Outcome::Wait(WaitOn::Log));
                    }
                }
                world.journal.shadow = false;
                world.wake_all(None, |on| on == WaitOn::Shadow);
                self.phase = CommitPhase::Record;
                Ok(Outcome::Cpu(world.host.commit_record_ns))
            }
            CommitPhase::Record => {
                let rules = &world.policy.journal;
                let barrier = world.file_system.barrier;
                let added = if barrier { rules.commit_barrier_flags } else { BioFlags::default() };
                let flags = rules.commit_record_flags.with(added);
                let sector = world.journal.next_log_sector();
                let tag = world.submit(me, sector, World::sectors(1), flags, IoKind::Single)?;
                world.journal.log_block_used();
                self.go_to(CommitPhase::WaitRecord(tag))
            }
            CommitPhase::WaitRecord(tag) => {
                world.wait_for_bio(me, tag)?;
                self.phase = CommitPhase::Finish;
                Ok(Outcome::Cpu(world.host.commit_end_ns))
            }
            CommitPhase::Finish => {
                let tid = world.journal.finish_commit(world.now_ns, &mut world.metadata);
                world.counters.commits += 1;
                world.wake_all(None, |on| matches!(on, WaitOn::Commit(wanted) if wanted <= tid));
                Ok(Outcome::Done)
            }
        }
    }

    fn log_flags(world: &World) -> BioFlags {
        let rules = &world.policy.journal;
        match &world.journal.committing {
            Some(transaction) if transaction.synchronous => rules.log_flags_synchronous,
            _ => rules.log_flags,
        }
    }

    /// jbd: the commit itself writes the ordered data that is still dirty.
    fn write_data(&mut self, world: &mut World) -> Step {
        let file = world.journal.committing.as_ref().and_then(|transaction| transaction.ordered.get(self.at));
        let Some(&file) = file else { return self.go_to(CommitPhase::WaitDataFirst) };
        self.at += 1;
        if world.files.get(file).cache.dirty() == 0 {
            return Ok(Outcome::Continue);
        }
        Ok(world.call(Frame::WritePages(WritePages::sync(file, Self::log_flags(world)))))
    }

    fn wait_data(&mut self, world: &mut World, me: TaskId) -> Result<(), Outcome> {
        loop {
            let file =
                world.journal.committing.as_ref().and_then(|transaction| transaction.ordered.get(self.at));
            let Some(&file) = file else { return Ok(()) };
            world.wait_for_data(me, file)?;
            self.at += 1;
        }
    }

    fn write_log(&mut self, world: &mut World, me: TaskId) -> Step {
        let blocks = world.journal.committing.as_ref().map_or(0, Transaction::log_blocks) as usize;
        if self.at >= blocks {
            let writes_data = world.policy.journal.commit_writes_data;
            return self.go_to(if writes_data { CommitPhase::WaitLog } else { CommitPhase::WaitData });
        }
        // From here on until they are on the device, the blocks' content must not change.
        world.journal.shadow = true;
        if !self.paid {
            self.paid = true;
            return Ok(Outcome::Cpu(world.host.commit_block_ns + world.host.submit_bio_ns));
        }
        let sector = world.journal.next_log_sector();
        let flags = Self::log_flags(world);
        world.journal.log_in_flight += 1;
        if let Err(obstacle) = world.submit(me, sector, World::sectors(1), flags, IoKind::Log) {
            world.journal.log_in_flight -= 1;
            return Err(obstacle);
        }
        world.journal.log_block_used();
        world.counters.log_blocks += 1;
        (self.paid, self.at) = (false, self.at + 1);
        Ok(Outcome::Continue)
    }
}
