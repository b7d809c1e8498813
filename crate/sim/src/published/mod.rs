//! What others measured, embedded as data, and the simulator's answers beside it.

pub mod real_kernel;
