//! What differs between releases in the block layer outside the elevators.

use serde::{Deserialize, Serialize};

/// Rules of the request queue that changed between 2.6.30 and 2.6.38.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct BlockPolicy {
    /// Which devices are never plugged (section 1.3).
    pub never_plugged: NeverPlugged,
    /// How a barrier or a cache flush is carried out (section 1.8).
    pub barrier: BarrierRule,
}

/// Which devices start requests at once instead of gathering them behind a plug.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum NeverPlugged {
    /// Non-rotational devices with block-layer tagging (2.6.30, .31, .33 to .38).
    NonRotationalTagged,
    /// Non-rotational devices that have ever had more than 4 requests in flight (2.6.32,
    /// fb1e75389bd).
    NonRotationalSeenDeep,
}

/// How the order of a barrier is kept.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum BarrierRule {
    /// The elevator is emptied, everything before the barrier completes, then a flush if needed, the barrier's
    /// write, a flush if needed; nothing passes (up to 2.6.36).
    Drain,
    /// Flush, write, flush in sequence beside other requests; without a volatile cache the flags
    /// are dropped at submission (from 2.6.37).
    FlushSequence,
}
