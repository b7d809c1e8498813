//! The small deterministic core: integer time, the event queue and named random streams.
//!
//! Nothing here knows about Linux except [`Clock`], which knows what a jiffy is.

mod clock;
mod event_queue;
mod random;

pub use clock::Clock;
pub use event_queue::EventQueue;
pub use random::RandomStream;
