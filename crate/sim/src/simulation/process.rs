//! What a process has: its handles, its loops, its dice, and what it has done so far.

use crate::engine::RandomStream;
use crate::fs::{FileId, Readahead};
use crate::observe::Histogram;
use crate::workload::Operand;

/// An open file.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Handle {
    /// The file; `None` while closed.
    pub(crate) file: Option<FileId>,
    /// Where the next sequential access begins, in bytes.
    pub(crate) position_bytes: u64,
    /// The anonymous region that it stands for instead: its number, its pages.
    pub(crate) region: Option<(u32, u32)>,
    /// Readahead's memory of it.
    pub(crate) readahead: Readahead,
}

/// A loop in progress.
#[derive(Clone, Copy, Debug)]
pub(crate) enum LoopState {
    /// So many rounds are left after this one.
    Count(u64),
    /// For ever.
    Forever,
    /// Until this time, in nanoseconds.
    Until(u64),
}

/// A process of the workload.
#[derive(Clone, Debug)]
pub(crate) struct Process {
    /// Index of its program, which is its specification's.
    pub(crate) program: usize,
    /// The operation it comes to next.
    pub(crate) at: u32,
    /// Loops it is in, innermost last.
    pub(crate) loops: Vec<LoopState>,
    pub(crate) handles: Vec<Handle>,
    pub(crate) dice: RandomStream,
    /// Files created, for spreading over directories.
    pub(crate) created: u64,
    /// Mappings of the files that it has mapped, with their pages.
    pub(crate) mapped_files: Vec<(u32, u32)>,
    /// It has to die as soon as it can.
    pub(crate) killed: bool,
    pub(crate) totals: ProcessTotals,
}

impl Process {
    /// Everything it has mapped: numbers of the mappings, and their pages.
    pub(crate) fn mappings(&self) -> Vec<(u32, u32)> {
        let regions = self.handles.iter().filter_map(|handle| handle.region);
        regions.chain(self.mapped_files.iter().copied()).collect()
    }

    /// The value of an operand, drawn if it has to be.
    pub(crate) fn draw(&mut self, operand: Operand) -> u64 {
        match operand {
            Operand::Fixed(value) => value,
            Operand::Between(low, high) => {
                let span = high.saturating_sub(low).saturating_add(1);
                low.saturating_add(self.dice.below(span))
            }
        }
    }
}

/// What a process has done.
#[derive(Clone, Debug, Default)]
pub struct ProcessTotals {
    /// Its marks, by index in its specification.
    pub marks: Vec<MarkTotals>,
    /// Bytes read.
    pub read_bytes: u64,
    /// Bytes written.
    pub written_bytes: u64,
    /// Files created.
    pub files_created: u64,
    /// The OOM killer has chosen it.
    pub killed: bool,
    /// Page faults that had to find memory for a page.
    pub faults: u64,
    /// How long each of these took, in nanoseconds.
    pub fault_ns: Histogram,
    /// How long each fsync took, in nanoseconds.
    pub fsync_ns: Histogram,
    /// How long each system call that read took, in nanoseconds.
    pub read_ns: Histogram,
}

/// What a mark has counted.
#[derive(Clone, Debug, Default)]
pub struct MarkTotals {
    /// Units of work.
    pub count: u64,
    /// Times the process came past it.
    pub passes: u64,
    /// When it first came past it, in nanoseconds; meaningful once [`Self::passes`] is not 0.
    pub first_ns: u64,
    /// When it last came past it, in nanoseconds.
    pub last_ns: u64,
    /// Time from one pass to the next, in nanoseconds.
    pub period_ns: Histogram,
}

impl MarkTotals {
    /// Counts `amount` units at `now_ns`.
    pub(crate) fn count(&mut self, now_ns: u64, amount: u32) {
        if self.passes == 0 {
            self.first_ns = now_ns;
        } else {
            self.period_ns.record(now_ns - self.last_ns);
        }
        self.last_ns = now_ns;
        self.passes += 1;
        self.count += u64::from(amount);
    }
}
