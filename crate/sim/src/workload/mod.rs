//! The workload language: what processes do, as data.

mod compile;
mod program;

pub use compile::{Operation, Program};
pub use program::{Branch, FileSpec, HandleId, MarkId, Operand, Pattern, ProcessSpec, Step, Times, Workload};
