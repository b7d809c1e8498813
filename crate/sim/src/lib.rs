//! The simulator: pure computation, no clock, no I/O, no threads.
#![forbid(unsafe_code)]

pub mod block;
pub mod device;
pub mod engine;
pub mod fs;
pub mod kernel;
pub mod mm;
pub mod observe;
pub mod published;
pub mod report;
pub mod scenario;
pub mod short_sort;
pub mod simulation;
pub mod task;
pub mod text;
pub mod workload;
pub mod writeback;
