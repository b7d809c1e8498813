//! The block layer: bios, requests, merging, plugging, the request pool, elevators and barriers.

mod bio;
mod dispatch_list;
pub mod elevator;
mod queue;
mod request;

pub use bio::{Bio, BioFlags, BioTag, IoClass, PAGE_SECTORS, SECTOR_BYTES, Submitter, Sync};
pub use dispatch_list::DispatchList;
pub use queue::{BioCompletion, BlockOut, BlockQueue, Submission};
pub use request::{Fifo, Place, Request, RequestId, RequestPool};
