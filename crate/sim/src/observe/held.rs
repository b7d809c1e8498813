//! Why a block queue did not start another request: running totals.
//!
//! A waiter takes the totals when its wait begins and when its request is started; the difference
//! is the breakdown of its wait, exact and cheap (ARCHITECTURE.md, "every wait has a cause").

use serde::{Deserialize, Serialize};

/// What a queue is doing at a moment, as far as a request that waits in it is concerned.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum HeldReason {
    /// The device is at work.
    Busy,
    /// The elevator keeps the device idle for somebody's next request.
    Idling,
    /// The queue is plugged: it gathers requests before it starts.
    Plugged,
    /// A barrier lets everything before it finish.
    Draining,
    /// The device writes its cache to the medium.
    Flushing,
    /// Nothing forbids a start; the queue has to be run (a worker's turn on the CPU).
    Ready,
}

impl HeldReason {
    /// Every reason, in the order of declaration.
    pub const ALL: [Self; 6] =
        [Self::Busy, Self::Idling, Self::Plugged, Self::Draining, Self::Flushing, Self::Ready];

    /// In words.
    #[must_use]
    pub fn label(self) -> &'static str {
        match self {
            Self::Busy => "device busy",
            Self::Idling => "scheduler idling",
            Self::Plugged => "queue plugged",
            Self::Draining => "draining for a barrier",
            Self::Flushing => "device flushing its cache",
            Self::Ready => "nothing to do, or queue not run",
        }
    }
}

/// Nanoseconds spent for each [`HeldReason`] since the simulation began, up to a moment.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct HeldTotals {
    ns: [u64; Self::REASONS],
}

impl HeldTotals {
    /// How many reasons there are.
    pub const REASONS: usize = 6;

    /// Adds `ns` nanoseconds to `reason`.
    pub fn add(&mut self, reason: HeldReason, ns: u64) {
        self.ns[reason as usize] += ns;
    }

    /// The total of `reason`, in nanoseconds.
    #[must_use]
    pub fn get(&self, reason: HeldReason) -> u64 {
        self.ns[reason as usize]
    }

    /// What has been added since `earlier` was taken.
    #[must_use]
    pub fn since(&self, earlier: &Self) -> Self {
        let mut difference = *self;
        for (total, before) in difference.ns.iter_mut().zip(earlier.ns) {
            *total -= before;
        }
        difference
    }
}
