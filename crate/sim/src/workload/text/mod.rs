//! Workloads as people write them: TOML in, [`Workload`](super::Workload) out, and back.
//!
//! The language is described for its users in `workloads/README.md`. Reading goes in three steps:
//! parameters are put in place of `$name` (`parameters`), files, processes and steps are read
//! (`document`, `steps`), and the result is checked as a whole ([`super::Workload::check`]). [`write()`]
//! goes the other way.
#![cfg_attr(
    not(test),
    deny(clippy::unwrap_used, clippy::expect_used, clippy::indexing_slicing, clippy::panic)
)]

mod document;
mod parameters;
mod steps;
#[cfg(test)]
mod tests;
mod write;

pub use document::{WorkloadText, read, read_field};
pub use parameters::{Parameter, Values};
pub use write::write;
