//! Slow, obviously right elevators, and a driver that feeds one of them and the fast one the same
//! random life and asks for the same answers.
//!
//! A reference is written from the model document, as plainly as possible: lists that are scanned,
//! no cached candidate, no index. It implements [`plain::Reference`]; [`plain::Plain`] and
//! [`fast::Fast`] put it and the real elevator behind the same [`driver::Subject`].

mod anticipatory;
pub(crate) mod bench;
mod cfq;
mod deadline;
pub(crate) mod driver;
pub(crate) mod fast;
mod noop;
pub(crate) mod plain;
