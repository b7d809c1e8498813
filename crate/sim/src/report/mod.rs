//! What a run has to say: results, the runner with its checkpoints, statistics over seeds, tables, claims, explanations
//! and the words for them.

pub mod blktrace;
mod claims;
mod collect;
pub mod compare;
mod digest;
pub mod events;
pub mod explain;
mod expression;
mod histogram;
mod layout;
pub mod memory;
pub mod published;
mod published_text;
mod results;
mod runner;
pub mod statistics;
mod summary;
mod tables;
mod terms;
mod timelines;
pub mod writeback;

pub use claims::{Claim, ClaimKind};
pub use digest::Digest;
pub use histogram::PeriodHistogram;
pub use results::{
    Average, CauseShare, Detail, EndReason, ExperimentResult, HeldShare, Latency, MarkResult, MemoryResult,
    NapResult, ProcessResult, QueueResult, RunResult, TaskName, TurnShare, ZoneResult,
};
pub use runner::{DetailError, RunLabel, RunProgress, Runner, Step};
pub use statistics::{Difference, Statistics};
pub use tables::{Better, Cell, ClaimResult, ClaimStatus, RowResult, TableResult};
pub use terms::{DEFINITION_CHARS_MAX, Term, term, terms};
pub use timelines::{Subject, Timeline, TimelineKind, Turn};
pub use writeback::{WriteWaitResult, WritebackResult};
