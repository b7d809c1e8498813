//! The block layer: bios, requests, merging, plugging, the request pool, elevators and barriers.

mod allocation;
mod bio;
mod dispatch_list;
mod driver;
pub mod elevator;
mod exercise;
mod held;
mod merge;
mod policy;
mod queue;
mod request;
mod sequence;
#[cfg(test)]
mod tests;

pub use bio::{Bio, BioFlags, BioTag, IoClass, PAGE_SECTORS, SECTOR_BYTES, Submitter, Sync};
pub use dispatch_list::DispatchList;
pub use exercise::{Exercise, exercise};
pub use policy::{BarrierRule, BlockPolicy, NeverPlugged};
pub use queue::{BioCompletion, BlockOut, BlockQueue, QueueCounters, QueueLimits, Submission};
pub use request::{Fifo, Place, Request, RequestId, RequestPool};
