//! What a run leaves behind: counters, histograms, bounded series, the event trace and the cause
//! of every wait. Written to from everywhere, read by nothing below `report`.

mod causes;
mod held;
mod histogram;
mod meter;
mod periods;
mod sampled;
mod series;
mod trace;

pub use causes::{Cause, CauseKind, CauseTotals};
pub use held::{HeldReason, HeldTotals};
pub use histogram::Histogram;
pub use meter::{BUCKETS, Lane, Meter, MeterTask, QueueState, SchedulerCounters, SliceOwner};
pub use periods::Periods;
pub use sampled::{Reading, Sampled};
pub use series::{Bucket, Series};
pub use trace::{Recorder, RequestFacts, TaskTrace, TraceEvent, TraceKind, WaitKind, WorkloadType};
