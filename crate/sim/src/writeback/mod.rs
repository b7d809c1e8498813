//! When dirty pages are written: what is old enough, when there is too much, and when writers are held up for it.
//!
//! *Models:* the age limit; thresholds as shares of memory; the pdflush pool and the flusher's work items; the intervals at which
//! writers look, what they write themselves; counters by the kernel's names.
//! *Does not model:* the threads' and the writers' steps (`simulation/operation/`), throttling without I/O (3.2).
//! *Follows:* docs/model/block-layer.md, section 1.9; docs/model/reclaim.md, section 6.

mod limits;
mod pdflush;
mod proportion;
mod state;
mod waits;

pub use limits::{
    DIRTYABLE_PAGES, DirtyLimits, dirtyable_pages, ratelimit_now, ratelimit_pages, write_chunk_pages,
};
pub use pdflush::{Job, PDFLUSH_MAX, PDFLUSH_MIN, Pdflush};
pub use proportion::{Part, Share, Whole};
pub use state::{Busy, PassResult, WorkItem, WorkReason, Writeback};
pub use waits::{WaitSite, Waits};

use crate::kernel::WritebackPolicy;

/// Data that became dirty at or before this time, in nanoseconds, is old at `now_ns`; `None` if nothing
/// can be yet.
#[must_use]
pub fn old_before_ns(now_ns: u64, policy: &WritebackPolicy) -> Option<u64> {
    now_ns.checked_sub(policy.expire_ms * 1_000_000)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::kernel::FsPolicy;
    use crate::scenario::FileSystemKind;

    /// Section 1.9: 30 s.
    #[test]
    fn data_is_old_after_30_s() {
        let policy = FsPolicy::for_release("2.6.35", FileSystemKind::Ext4).expect("known").writeback;
        assert_eq!(old_before_ns(29_999_999_999, &policy), None);
        assert_eq!(old_before_ns(35_000_000_000, &policy), Some(5_000_000_000));
    }
}
