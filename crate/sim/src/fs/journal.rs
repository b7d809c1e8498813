//! The journal's state: transactions, log space, checkpoints. Who waits for what is decided here; the
//! writing is done by the operations that use it.
//!
//! *Models:* one running and one committing transaction, the set of metadata blocks in each, blocks
//! that a commit holds while it writes them, log space and checkpoint lists, the tail in the journal's
//! super block.
//! *Does not model:* revoke records, credits that are reserved but not used, aborts, recovery.
//! *Follows:* model/block-layer.md, sections 4.1 and 4.2; Linux 2.6.35 `fs/jbd2/transaction.c`,
//! `commit.c`, `checkpoint.c`.

use super::file::FileId;
use super::metadata::Metadata;
use crate::block::PAGE_SECTORS;
use std::collections::VecDeque;

/// Number of a transaction; 0 is before the first.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub struct Tid(pub u32);

/// Log blocks kept back for rounding (`MIN_LOG_RESERVED_BLOCKS`).
const RESERVED_BLOCKS: u64 = 32;
/// Blocks that one descriptor block can name.
const TAGS_PER_DESCRIPTOR: u32 = 500;

/// A transaction.
#[derive(Clone, Debug)]
pub struct Transaction {
    /// Its number.
    pub tid: Tid,
    /// The metadata blocks it changes, in the order of first change.
    pub blocks: Vec<u32>,
    /// Files whose data must be on the device before it is committed.
    pub ordered: Vec<FileId>,
    /// A synchronous handle belongs to it (`t_synchronous_commit`).
    pub synchronous: bool,
    /// When its first handle began, in nanoseconds.
    pub started_ns: u64,
    /// When its commit began, in nanoseconds.
    pub commit_started_ns: u64,
    /// Its first log block, counted from the journal's creation.
    pub log_start: u64,
}

impl Transaction {
    /// Log blocks its commit writes before the commit record, descriptors included.
    #[must_use]
    pub fn log_blocks(&self) -> u32 {
        let blocks = self.blocks.len() as u32;
        blocks + blocks.div_ceil(TAGS_PER_DESCRIPTOR)
    }
}

/// A committed transaction that still holds log space.
#[derive(Clone, Debug)]
struct Checkpoint {
    tid: Tid,
    log_start: u64,
    blocks: Vec<u32>,
    left: u32,
}

/// Why a task may not change metadata now.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Access {
    /// It may: the blocks are part of this transaction.
    Granted(Tid),
    /// The commit is writing one of the blocks to the log.
    Shadow,
    /// This block is being written in place.
    Writing(u32),
    /// The running transaction is full and has to be committed first.
    Full,
    /// The log has no room: the task has to make some.
    NoRoom,
}

/// The journal of one file system.
#[derive(Clone, Debug)]
pub struct Journal {
    /// The transaction that handles join.
    pub running: Option<Transaction>,
    /// The transaction being written.
    pub committing: Option<Transaction>,
    /// Metadata of the committing transaction may not be changed: its log blocks are on their way.
    pub shadow: bool,
    /// Log blocks in flight.
    pub log_in_flight: u32,
    /// The newest transaction whose commit somebody wants.
    pub commit_request: Tid,
    /// The newest transaction committed.
    pub commit_sequence: Tid,
    /// The last task that ended a synchronous handle (`j_last_sync_writer`).
    pub last_sync_writer: Option<u32>,
    /// Average length of a commit, in nanoseconds.
    pub average_commit_ns: u64,
    /// The task that is making room, while there is one.
    pub making_room: Option<u32>,
    /// Some metadata block has been written in place since the checkpoint lists were last cleaned.
    pub clean_blocks_listed: bool,
    /// The next handle is granted although the log is full.
    overcommit: bool,
    first_sector: u64,
    length_blocks: u64,
    next_tid: Tid,
    /// Log blocks ever written; the next one goes here.
    head: u64,
    /// Log blocks before this one are free.
    tail: u64,
    tail_tid: Tid,
    checkpoints: VecDeque<Checkpoint>,
}

impl Journal {
    /// An empty journal of `length_blocks` blocks (at least 64), its super block at `first_sector`.
    #[must_use]
    pub fn new(first_sector: u64, length_blocks: u64) -> Self {
        Self {
            running: None,
            committing: None,
            shadow: false,
            log_in_flight: 0,
            commit_request: Tid(0),
            commit_sequence: Tid(0),
            last_sync_writer: None,
            average_commit_ns: 0,
            making_room: None,
            clean_blocks_listed: false,
            overcommit: false,
            first_sector,
            length_blocks: length_blocks.max(64),
            next_tid: Tid(1),
            head: 0,
            tail: 0,
            tail_tid: Tid(1),
            checkpoints: VecDeque::new(),
        }
    }

    /// The sector of the journal's super block.
    #[must_use]
    pub fn super_block_sector(&self) -> u64 {
        self.first_sector
    }

    /// Log blocks free.
    #[must_use]
    pub fn free_blocks(&self) -> u64 {
        (self.length_blocks - 1).saturating_sub(self.head - self.tail)
    }

    /// The largest transaction, in blocks.
    #[must_use]
    pub fn max_transaction_blocks(&self) -> u64 {
        self.length_blocks / 4
    }

    /// Whether there is room for the largest transaction besides the committing one
    /// (`__jbd2_log_space_left`, `jbd_space_needed`).
    #[must_use]
    pub fn has_room(&self) -> bool {
        if self.overcommit {
            return true;
        }
        let free = self.free_blocks().saturating_sub(RESERVED_BLOCKS);
        let usable = free - free / 8;
        let committing = self.committing.as_ref().map_or(0, |transaction| transaction.blocks.len() as u64);
        usable >= self.max_transaction_blocks() + committing
    }

    /// Grants the next handle although the log is full: nothing can make room (the journal is too small
    /// for the load; a kernel would abort it).
    pub fn grant_once(&mut self) {
        self.overcommit = true;
    }

    /// Makes `blocks` part of the running transaction, which is started if there is none.
    pub fn access(&mut self, now_ns: u64, metadata: &mut Metadata, blocks: &[u32]) -> Access {
        let size = self.running.as_ref().map_or(0, |running| running.blocks.len());
        if (size + blocks.len()) as u64 > self.max_transaction_blocks() {
            return Access::Full;
        }
        if !self.has_room() {
            return Access::NoRoom;
        }
        for &block in blocks {
            let state = metadata.block(block);
            if state.running {
                continue;
            }
            if state.writing {
                return Access::Writing(block);
            }
            if state.committing && self.shadow {
                return Access::Shadow;
            }
        }
        self.overcommit = false;
        let running = Self::started(&mut self.running, &mut self.next_tid, now_ns);
        for &block in blocks {
            if !metadata.block(block).running {
                running.blocks.push(block);
                metadata.block_mut(block).running = true;
                // Its content is the journal's business from now on: the flusher leaves it alone.
                metadata.set_dirty(now_ns, block, false);
            }
        }
        Access::Granted(running.tid)
    }

    fn started<'a>(
        running: &'a mut Option<Transaction>,
        next_tid: &mut Tid,
        now_ns: u64,
    ) -> &'a mut Transaction {
        running.get_or_insert_with(|| {
            let tid = *next_tid;
            next_tid.0 += 1;
            Transaction {
                tid,
                blocks: Vec::new(),
                ordered: Vec::new(),
                synchronous: false,
                started_ns: now_ns,
                commit_started_ns: 0,
                log_start: 0,
            }
        })
    }

    /// The running transaction, started if there is none.
    pub fn ensure_running(&mut self, now_ns: u64) -> &mut Transaction {
        Self::started(&mut self.running, &mut self.next_tid, now_ns)
    }

    /// Asks for the commit of `tid`. Returns whether that is news (`__jbd2_log_start_commit`).
    pub fn request_commit(&mut self, tid: Tid) -> bool {
        if self.commit_request >= tid {
            return false;
        }
        self.commit_request = tid;
        true
    }

    /// The running transaction becomes the committing one. Returns false if there is none, and then
    /// forgets the request for it.
    pub fn begin_commit(&mut self, now_ns: u64, metadata: &mut Metadata) -> bool {
        debug_assert!(self.committing.is_none());
        let Some(mut transaction) = self.running.take() else {
            self.commit_request = self.commit_sequence;
            return false;
        };
        self.clean_checkpoints(metadata);
        transaction.commit_started_ns = now_ns;
        transaction.log_start = self.head;
        for &block in &transaction.blocks {
            let state = metadata.block_mut(block);
            state.running = false;
            state.committing = true;
        }
        self.commit_request = self.commit_request.max(transaction.tid);
        self.committing = Some(transaction);
        true
    }

    /// The sector of the next log block.
    #[must_use]
    pub fn next_log_sector(&self) -> u64 {
        let block = 1 + self.head % (self.length_blocks - 1);
        self.first_sector + block * u64::from(PAGE_SECTORS)
    }

    /// The next log block has been submitted.
    pub fn log_block_used(&mut self) {
        self.head += 1;
    }

    /// The commit record is on the device: the transaction's blocks are dirty in place now and hold
    /// its log space. Returns the transaction's number.
    pub fn finish_commit(&mut self, now_ns: u64, metadata: &mut Metadata) -> Tid {
        let Some(transaction) = self.committing.take() else { return self.commit_sequence };
        let tid = transaction.tid;
        let mut left = 0;
        for &block in &transaction.blocks {
            self.release_checkpoint(metadata, block);
            let state = metadata.block_mut(block);
            state.committing = false;
            state.checkpoint = Some(tid);
            left += 1;
            if !state.running {
                metadata.set_dirty(now_ns, block, true);
            }
        }
        if left != 0 {
            let log_start = transaction.log_start;
            self.checkpoints.push_back(Checkpoint { tid, log_start, blocks: transaction.blocks, left });
        }
        let length_ns = now_ns - transaction.commit_started_ns;
        self.average_commit_ns = match self.average_commit_ns {
            0 => length_ns,
            average => (length_ns + 3 * average) / 4,
        };
        self.commit_sequence = tid;
        tid
    }

    /// Drops blocks that are clean in place from the checkpoint lists.
    fn clean_checkpoints(&mut self, metadata: &mut Metadata) {
        if !std::mem::take(&mut self.clean_blocks_listed) {
            return;
        }
        for checkpoint in &mut self.checkpoints {
            for &block in &checkpoint.blocks {
                let state = metadata.block_mut(block);
                let busy = state.dirty || state.writing || state.running || state.committing;
                if state.checkpoint == Some(checkpoint.tid) && !busy {
                    state.checkpoint = None;
                    checkpoint.left -= 1;
                }
            }
        }
        self.checkpoints.retain(|checkpoint| checkpoint.left != 0);
    }

    /// Takes a block off the checkpoint list that holds it; a list without blocks goes.
    pub fn release_checkpoint(&mut self, metadata: &mut Metadata, block: u32) {
        let Some(tid) = metadata.block_mut(block).checkpoint.take() else { return };
        let at = self.checkpoints.partition_point(|checkpoint| checkpoint.tid < tid);
        if let Some(checkpoint) = self.checkpoints.get_mut(at) {
            debug_assert_eq!(checkpoint.tid, tid);
            checkpoint.left -= 1;
            if checkpoint.left == 0 {
                self.checkpoints.remove(at);
            }
        }
    }

    /// The oldest transaction that still holds log space because of blocks not written in place.
    #[must_use]
    pub fn oldest_checkpoint(&self) -> Option<Tid> {
        self.checkpoints.front().map(|checkpoint| checkpoint.tid)
    }

    /// A block on the list of `tid`, if that is still the oldest; the `index`-th of those it began
    /// with or a later one. Returns its place in the list and the block.
    #[must_use]
    pub fn checkpoint_block(&self, tid: Tid, index: usize, metadata: &Metadata) -> Option<(usize, u32)> {
        let oldest = self.checkpoints.front().filter(|checkpoint| checkpoint.tid == tid)?;
        let rest = oldest.blocks.get(index..)?;
        let at = rest.iter().position(|&block| metadata.block(block).checkpoint == Some(tid))?;
        Some((index + at, rest[at]))
    }

    /// Moves the tail up to the oldest transaction that is still needed; returns whether it moved, in
    /// which case the super block has to be written (`jbd2_cleanup_journal_tail`).
    pub fn move_tail(&mut self) -> bool {
        let (tid, block) = if let Some(checkpoint) = self.checkpoints.front() {
            (checkpoint.tid, checkpoint.log_start)
        } else if let Some(committing) = &self.committing {
            (committing.tid, committing.log_start)
        } else if let Some(running) = &self.running {
            (running.tid, self.head)
        } else {
            (self.next_tid, self.head)
        };
        if self.tail_tid == tid {
            return false;
        }
        self.tail_tid = tid;
        self.tail = block;
        true
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fs::{DirectoryId, Layout};

    fn commit(journal: &mut Journal, metadata: &mut Metadata, now_ns: u64) {
        assert!(journal.begin_commit(now_ns, metadata));
        let blocks = journal.committing.as_ref().map_or(0, Transaction::log_blocks);
        (0..=blocks).for_each(|_| journal.log_block_used());
        journal.finish_commit(now_ns, metadata);
    }

    /// Section 0.4 point 5: a journal of 128 MiB is full after about 3000 small files, and then every
    /// 16 or 17 files one block written in place makes room for the next 16.
    #[test]
    fn the_journal_fills_and_is_checkpointed_every_16_files() {
        let layout = Layout::new(54_000_000, 262_144, &[]);
        let mut metadata = Metadata::new(&layout, 0);
        let mut journal = Journal::new(layout.journal_start, 32_768);
        let mut checkpoints = Vec::new();
        for file in 0..4000u64 {
            let inode = metadata.new_inode();
            let blocks = metadata.create_entry(DirectoryId(0), inode);
            while journal.access(file, &mut metadata, &blocks) == Access::NoRoom {
                if journal.move_tail() {
                    continue;
                }
                let oldest = journal.oldest_checkpoint().expect("something holds the log");
                let mut written = 0;
                while let Some((_, block)) = journal.checkpoint_block(oldest, 0, &metadata) {
                    assert!(metadata.block(block).dirty);
                    metadata.set_dirty(file, block, false);
                    journal.release_checkpoint(&mut metadata, block);
                    written += 1;
                }
                assert!(written <= 2, "only the inode table's block, at times the directory's");
                checkpoints.push(file);
            }
            let blocks = metadata.allocation(layout.data_start, inode);
            assert!(matches!(journal.access(file, &mut metadata, &blocks), Access::Granted(_)));
            commit(&mut journal, &mut metadata, file);
        }
        assert!((2850..3150).contains(&checkpoints[0]), "{}", checkpoints[0]);
        let later: Vec<u64> = checkpoints.windows(2).map(|pair| pair[1] - pair[0]).collect();
        assert!(later.iter().filter(|&&gap| (15..=17).contains(&gap)).count() * 10 >= later.len() * 8);
    }

    /// A block whose log write is under way may not be changed; one that the running transaction has
    /// already may, and afterwards both may.
    #[test]
    fn a_commit_holds_its_blocks_while_it_writes_them() {
        let layout = Layout::new(54_000_000, 262_144, &[]);
        let mut metadata = Metadata::new(&layout, 0);
        let mut journal = Journal::new(layout.journal_start, 32_768);
        let (a, b) = (metadata.inode_block(0), metadata.inode_block(100));
        assert_eq!(journal.access(0, &mut metadata, &[a, b]), Access::Granted(Tid(1)));
        assert!(journal.begin_commit(1, &mut metadata));
        assert_eq!(journal.access(2, &mut metadata, &[a]), Access::Granted(Tid(2)));
        journal.shadow = true;
        assert_eq!(journal.access(3, &mut metadata, &[a]), Access::Granted(Tid(2)));
        assert_eq!(journal.access(3, &mut metadata, &[b]), Access::Shadow);
        journal.shadow = false;
        journal.finish_commit(4, &mut metadata);
        assert!(!metadata.block(a).dirty, "the running transaction has it");
        assert!(metadata.block(b).dirty);
    }
}
