//! The simulator.
#![forbid(unsafe_code)]
