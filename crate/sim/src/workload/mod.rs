//! The workload language: what processes do, as data.
//!
//! [`Workload`] is the resolved form that the interpreter runs. People write workloads as text
//! ([`text`]); whatever its origin, a workload passes [`Workload::check`] before it runs.

pub mod built_in;
mod check;
mod compile;
mod program;
pub mod text;

pub use check::{Fault, MAX_DEVICE_BYTES, MAX_PROCESSES, MAX_TIME_NS, Spot};
pub use compile::{Operation, Program};
pub use program::{Branch, FileSpec, HandleId, MarkId, Operand, Pattern, ProcessSpec, Step, Times, Workload};
