//! What a run leaves behind: counters, histograms, bounded timelines, the event trace and the cause
//! of every wait. Written to from everywhere, read by nothing below `report`.

mod held;
mod trace;

pub use held::{HeldReason, HeldTotals};
pub use trace::{Recorder, RequestFacts, TaskTrace, TraceEvent, TraceKind, WaitKind, WorkloadType};
