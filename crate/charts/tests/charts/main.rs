//! The crate from outside: pictures, places, and what cannot break it.

mod golden;
mod layout;
#[cfg(feature = "png")]
mod png;
mod robust;
mod samples;
