//! What a run leaves behind: counters, histograms, bounded timelines, the event trace and the cause
//! of every wait. Written to from everywhere, read by nothing below `report`.

mod causes;
mod held;
mod histogram;
mod trace;

pub use causes::{Cause, CauseKind, CauseTotals};
pub use held::{HeldReason, HeldTotals};
pub use histogram::Histogram;
pub use trace::{Recorder, RequestFacts, TaskTrace, TraceEvent, TraceKind, WaitKind, WorkloadType};
