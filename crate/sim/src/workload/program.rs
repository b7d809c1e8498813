//! A workload as the interpreter runs it: names resolved to indices, sizes in bytes, times in
//! nanoseconds.

use crate::block::{IoClass, PAGE_SECTORS};
use serde::{Deserialize, Serialize};

/// What runs on the machine.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Workload {
    /// Files that exist before the run.
    pub files: Vec<FileSpec>,
    /// Processes, all started at time 0.
    pub processes: Vec<ProcessSpec>,
    /// Names of the barriers processes can meet at.
    pub barriers: Vec<String>,
}

/// A file that exists before the run, its pages not in memory.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct FileSpec {
    /// Name.
    pub name: String,
    /// Length in bytes.
    pub size_bytes: u64,
    /// Where it begins, in thousandths of the device's capacity; contiguous from there.
    pub at_per_mille: u32,
}

impl Workload {
    /// Whether it uses memory in a way that can only run on a machine whose memory is simulated.
    #[must_use]
    pub fn needs_memory(&self) -> bool {
        fn any(steps: &[Step]) -> bool {
            steps.iter().any(|step| match step {
                Step::Touch { .. } | Step::MapAnonymous { .. } => true,
                Step::Repeat { body, .. } => any(body),
                Step::Choose(branches) => branches.iter().any(|branch| any(&branch.steps)),
                _ => false,
            })
        }
        self.processes.iter().any(|process| any(&process.steps))
    }
}

impl FileSpec {
    /// Its first sector on a device of `capacity_sectors`: on a boundary of a page.
    #[must_use]
    pub fn first_sector(&self, capacity_sectors: u64) -> u64 {
        let page_sectors = u64::from(PAGE_SECTORS);
        let sector = u128::from(capacity_sectors) * u128::from(self.at_per_mille.min(1000)) / 1000;
        // At most the capacity, so it fits.
        u64::try_from(sector).unwrap_or(capacity_sectors) / page_sectors * page_sectors
    }
}

/// A process, or several that do the same.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct ProcessSpec {
    /// Name.
    pub name: String,
    /// How many run the same steps, each with its own handles and random stream; 1 or more.
    pub count: u32,
    /// I/O priority class.
    pub io_class: IoClass,
    /// I/O priority, 0 (highest) to 7.
    pub io_priority: u8,
    /// The `count` processes share one io context (CLONE_IO).
    pub shared_io_context: bool,
    /// Names of the file handles its steps use.
    pub handles: Vec<String>,
    /// Names of its marks: what it counts.
    pub marks: Vec<String>,
    /// What it does, once; then it exits.
    pub steps: Vec<Step>,
}

/// Index into [`ProcessSpec::handles`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub struct HandleId(pub u16);

/// Index into [`ProcessSpec::marks`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub struct MarkId(pub u16);

/// A quantity that may be drawn at random each time it is used.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Operand {
    /// Always the same.
    Fixed(u64),
    /// Evenly from the first to the second, both included.
    Between(u64, u64),
}

/// How often a loop runs.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Times {
    /// So many times.
    Count(u64),
    /// Until the run ends.
    Forever,
    /// While less than so many nanoseconds of simulated time have passed since the loop began.
    For(u64),
}

/// Where reads and writes go in a file.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Pattern {
    /// From the handle's position on; the position moves. A read that starts at the end of the file
    /// transfers nothing.
    Sequential,
    /// At a random multiple of the call's size within the file.
    Random,
}

/// One branch of a choice.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Branch {
    /// Its share among the branches' weights.
    pub weight: u32,
    /// What it does.
    pub steps: Vec<Step>,
}

/// One thing a process does.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Step {
    /// Runs the body again and again.
    Repeat {
        /// How often.
        times: Times,
        /// The body.
        body: Vec<Step>,
    },
    /// Runs one branch, drawn at random by weight.
    Choose(Vec<Branch>),
    /// Creates an empty file in the directory with the given index (files of one directory share
    /// metadata blocks) and opens it.
    Create {
        /// The handle to open it as.
        handle: HandleId,
        /// The number of directories that files are spread over in turn, 1 or more.
        directories: u32,
    },
    /// Opens a file of the workload, position 0.
    Open {
        /// The handle.
        handle: HandleId,
        /// Index into [`Workload::files`].
        file: u32,
    },
    /// Reads `bytes` in calls of `call_bytes`.
    Read {
        /// From.
        handle: HandleId,
        /// How much in all.
        bytes: Operand,
        /// How much per system call.
        call_bytes: u64,
        /// Where.
        pattern: Pattern,
        /// O_DIRECT.
        direct: bool,
    },
    /// Writes `bytes` in calls of `call_bytes`.
    Write {
        /// To.
        handle: HandleId,
        /// How much in all.
        bytes: Operand,
        /// How much per system call.
        call_bytes: u64,
        /// Where.
        pattern: Pattern,
        /// O_DIRECT.
        direct: bool,
    },
    /// Reads from the current position to the end of the file in calls of `call_bytes`.
    ReadToEnd {
        /// From.
        handle: HandleId,
        /// How much per system call.
        call_bytes: u64,
    },
    /// Sets the position to 0.
    Rewind(HandleId),
    /// Waits until the file's data and metadata are safe.
    Fsync(HandleId),
    /// Waits until the file's data (and the metadata needed to read it) are safe.
    Fdatasync(HandleId),
    /// Closes.
    Close(HandleId),
    /// Removes the file that the handle refers to, or referred to before it was closed. Closes the
    /// handle if it is open.
    Unlink(HandleId),
    /// Makes a file that is shorter this long (`ftruncate`); what is added is a hole, which takes no space.
    Truncate {
        /// The file.
        handle: HandleId,
        /// Its new length, in bytes.
        bytes: u64,
    },
    /// Maps an anonymous region, opened as a handle. It goes when the handle is closed or the process ends. Needs a machine whose memory
    /// is simulated.
    MapAnonymous {
        /// The handle.
        handle: HandleId,
        /// Its size in bytes.
        bytes: u64,
    },
    /// Uses one byte of every page of a region or a file in turn. A file is mapped for that, shared and without
    /// readahead (`MADV_RANDOM`). Needs a machine whose memory is simulated.
    Touch {
        /// The region or file.
        handle: HandleId,
        /// How much of it, from its beginning or at random pages; all of it once if `None`.
        bytes: Option<Operand>,
        /// In which order.
        pattern: Pattern,
        /// How many of a hundred uses write, for a region: 0 to 100, all of them if `None`. Files are only read.
        writes_percent: Option<u32>,
    },
    /// Drops the file's clean pages from the page cache (`POSIX_FADV_DONTNEED`).
    DropCache(HandleId),
    /// Computes for so many nanoseconds.
    Compute(Operand),
    /// Sleeps for so many nanoseconds.
    Sleep(Operand),
    /// Counts units of work.
    Mark {
        /// Which mark.
        mark: MarkId,
        /// How many.
        amount: u32,
    },
    /// Waits until every process that uses this barrier has come (index into
    /// [`Workload::barriers`]).
    Meet(u32),
}
