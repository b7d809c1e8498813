//! Reading what people write: TOML with places, units and problems told in words.
//!
//! Scenarios, experiments and workloads are all read through this module, so that every mistake in
//! them is reported the same way: where, which value, what is allowed, what was probably meant.
//! What belongs here knows nothing of kernels or disks; what a key *means* is said by the reader of
//! each document.
#![cfg_attr(
    not(test),
    deny(clippy::unwrap_used, clippy::expect_used, clippy::indexing_slicing, clippy::panic)
)]

mod fields;
mod problem;
mod slots;
mod tree;
mod units;

pub use fields::{Field, Table};
pub use problem::{Place, Problem, Problems, nearest_name};
pub use slots::{Choice, Slot, Slots};
pub use tree::{Entry, Kind, MAX_TEXT_BYTES, Node, Position};
pub use units::{Scale, format_size, format_time, parse_decimal, parse_quantity, parse_range};
