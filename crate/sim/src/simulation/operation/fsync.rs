//! fsync: write the data, get the metadata committed, flush the device if the kernel thinks it must.
//!
//! *Models:* the path of each release: who submits the data, whether the commit is asked for with or
//! without a synchronous handle, the batching sleep, the device flush.
//! *Does not model:* fsync of directories, `sync`, external journals.
//! *Follows:* model/block-layer.md, section 4.1; Linux 2.6.30 to 2.6.37 `vfs_fsync`, `ext3_sync_file`,
//! `ext4_sync_file`, `jbd2_journal_stop`, `jbd2_log_wait_commit`.

use super::{Frame, Outcome, Step, WritePages};
use crate::block::BioTag;
use crate::fs::{FileId, Tid};
use crate::kernel::{FsyncCommit, FsyncFlush};
use crate::simulation::io::IoKind;
use crate::simulation::world::World;
use crate::task::{TaskId, WaitOn};

/// One fsync or fdatasync call.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Fsync {
    file: FileId,
    data_only: bool,
    began_ns: u64,
    phase: FsyncPhase,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum FsyncPhase {
    Enter,
    WriteData,
    WaitData,
    Commit,
    /// The synchronous handle of this transaction is about to end.
    EndHandle(Tid),
    WaitCommit(Tid),
    Flush,
    WaitFlush(BioTag),
    Leave,
}

impl Fsync {
    pub(crate) fn new(file: FileId, data_only: bool, now_ns: u64) -> Self {
        Self { file, data_only, began_ns: now_ns, phase: FsyncPhase::Enter }
    }

    pub(super) fn step(&mut self, world: &mut World, me: TaskId) -> Step {
        match self.phase {
            FsyncPhase::Enter => {
                self.phase = FsyncPhase::WriteData;
                Ok(Outcome::Cpu(world.host.syscall_ns))
            }
            FsyncPhase::WriteData => {
                self.phase = FsyncPhase::WaitData;
                let flags = world.policy.write_flags.sync_writeback;
                Ok(world.call(Frame::WritePages(WritePages::sync(self.file, flags))))
            }
            FsyncPhase::WaitData => {
                world.wait_for_data(me, self.file)?;
                self.phase = FsyncPhase::Commit;
                Ok(Outcome::Cpu(world.host.fsync_ns))
            }
            FsyncPhase::Commit => {
                self.commit(world);
                // Woken, the journal thread has to wait until this task gives way: the kernel does not
                // preempt itself. So the wait belongs to the same step.
                match self.phase {
                    FsyncPhase::WaitCommit(tid) => self.wait_for_commit(world, me, tid),
                    _ => Ok(Outcome::Continue),
                }
            }
            FsyncPhase::EndHandle(tid) => Ok(self.end_handle(world, me, tid)),
            FsyncPhase::WaitCommit(tid) => self.wait_for_commit(world, me, tid),
            FsyncPhase::Flush => {
                let flags = world.policy.write_flags.flush;
                let tag = world.submit(me, 0, 0, flags, IoKind::Single)?;
                world.unplug(me);
                self.phase = FsyncPhase::WaitFlush(tag);
                Ok(Outcome::Continue)
            }
            FsyncPhase::WaitFlush(tag) => {
                world.wait_for_bio(me, tag)?;
                self.phase = FsyncPhase::Leave;
                Ok(Outcome::Continue)
            }
            FsyncPhase::Leave => {
                let (now_ns, began_ns) = (world.now_ns, self.began_ns);
                if let Some(process) = world.process_mut(me) {
                    process.totals.fsync_ns.record(now_ns - began_ns);
                }
                Ok(Outcome::Done)
            }
        }
    }

    fn wait_for_commit(&mut self, world: &mut World, me: TaskId, tid: Tid) -> Step {
        world.wait_for_commit(me, tid)?;
        self.phase = if self.flushes_after(world, true) { FsyncPhase::Flush } else { FsyncPhase::Leave };
        Ok(Outcome::Continue)
    }

    fn commit(&mut self, world: &mut World) {
        match world.policy.journal.fsync_commit {
            FsyncCommit::StartCommit => {
                let file = world.files.get(self.file);
                let tid = if self.data_only { file.datasync_tid } else { file.sync_tid };
                self.phase = if world.request_commit(tid) {
                    FsyncPhase::WaitCommit(tid)
                } else if self.flushes_after(world, false) {
                    FsyncPhase::Flush
                } else {
                    FsyncPhase::Leave
                };
            }
            FsyncCommit::ForceWithSyncHandle => {
                let file = world.files.get_mut(self.file);
                let is_dirty = std::mem::take(&mut file.inode_dirty);
                if is_dirty {
                    let had_running = world.journal.running.is_some();
                    let running = world.journal.ensure_running(world.now_ns);
                    running.synchronous = true;
                    let tid = running.tid;
                    if !had_running {
                        world.transaction_started(tid);
                    }
                    self.phase = FsyncPhase::EndHandle(tid);
                } else if self.flushes_after(world, false) {
                    self.phase = FsyncPhase::Flush;
                } else {
                    self.phase = FsyncPhase::Leave;
                }
            }
        }
    }

    /// Section 4.2: whoever ends a synchronous handle lets others join the commit for the time that one
    /// takes, unless it was also the last to do so.
    fn end_handle(&mut self, world: &mut World, me: TaskId, tid: Tid) -> Outcome {
        self.phase = FsyncPhase::WaitCommit(tid);
        let is_last_writer = world.journal.last_sync_writer.replace(me.0) == Some(me.0);
        let age_ns = match &world.journal.running {
            Some(running) if running.tid == tid => world.now_ns - running.started_ns,
            _ => u64::MAX,
        };
        let rules = &world.policy.journal;
        let batch_ns =
            world.journal.average_commit_ns.max(rules.batch_min_us * 1000).min(rules.batch_max_us * 1000);
        if !is_last_writer && age_ns < batch_ns {
            return world.sleep(me, batch_ns);
        }
        Outcome::Continue
    }

    fn flushes_after(&self, world: &World, committed: bool) -> bool {
        world.file_system.barrier
            && match world.policy.journal.fsync_flush {
                FsyncFlush::Never => false,
                FsyncFlush::WithoutCommit => !committed,
                FsyncFlush::Always => true,
            }
    }
}

impl World {
    /// Waits until no page of a file is under writeback.
    pub(crate) fn wait_for_data(&mut self, me: TaskId, file: FileId) -> Result<(), Outcome> {
        if self.files.get(file).cache.under_writeback() == 0 {
            return Ok(());
        }
        self.unplug(me);
        if self.files.get(file).cache.under_writeback() == 0 {
            return Ok(());
        }
        Err(Outcome::Wait(WaitOn::Writeback(file)))
    }

    /// Waits until a transaction is committed, its commit asked for.
    pub(crate) fn wait_for_commit(&mut self, me: TaskId, tid: Tid) -> Result<(), Outcome> {
        if self.journal.commit_sequence >= tid {
            return Ok(());
        }
        self.request_commit(tid);
        if self.policy.journal.yields {
            let from = self.tasks[me.index()].submitter;
            let to = self.tasks[self.threads.journal.index()].submitter;
            self.with_queue(Some(me), |queue, now_ns, recorder, out| {
                queue.yield_to(now_ns, from, to, recorder, out);
            });
        }
        Err(Outcome::Wait(WaitOn::Commit(tid)))
    }

    /// Waits for one bio of the task's own, after removing the plug.
    pub(crate) fn wait_for_bio(&mut self, me: TaskId, tag: BioTag) -> Result<(), Outcome> {
        if self.ios.take_done(tag) {
            return Ok(());
        }
        self.unplug(me);
        if self.ios.take_done(tag) {
            return Ok(());
        }
        Err(Outcome::Wait(WaitOn::Bio(tag)))
    }
}
