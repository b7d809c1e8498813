//! The workload language: what processes do, as data.

mod program;

pub use program::{Branch, FileSpec, HandleId, MarkId, Operand, Pattern, ProcessSpec, Step, Times, Workload};
