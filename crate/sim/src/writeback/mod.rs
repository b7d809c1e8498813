//! When the flusher writes: what is old enough, and when there is too much of it.
//!
//! *Models:* the age limit, and the background threshold as a share of memory.
//! *Does not model:* memory itself: its size is assumed; the throttling of writers
//! (`balance_dirty_pages`), which needs it.
//! *Follows:* model/block-layer.md, section 1.9; Linux 2.6.35 `wb_check_old_data_flush`,
//! `over_bground_thresh`.

use crate::kernel::WritebackPolicy;

/// Pages of memory that may become dirty: a machine with 4 GiB, until memory is modelled.
pub const DIRTYABLE_PAGES: u64 = 1 << 20;

/// Data that became dirty at or before this time, in nanoseconds, is old at `now_ns`; `None` if nothing
/// can be yet.
#[must_use]
pub fn old_before_ns(now_ns: u64, policy: &WritebackPolicy) -> Option<u64> {
    now_ns.checked_sub(policy.expire_ms * 1_000_000)
}

/// Whether so many dirty pages are reason enough to write in the background, however young they are.
#[must_use]
pub fn is_above_background(dirty_pages: u64, policy: &WritebackPolicy) -> bool {
    dirty_pages * 100 > DIRTYABLE_PAGES * u64::from(policy.background_ratio_percent)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::kernel::FsPolicy;
    use crate::scenario::FileSystemKind;

    /// Section 1.9: 30 s, and a tenth of memory.
    #[test]
    fn data_is_old_after_30_s_and_too_much_above_a_tenth() {
        let policy = FsPolicy::for_release("2.6.35", FileSystemKind::Ext4).expect("known").writeback;
        assert_eq!(old_before_ns(29_999_999_999, &policy), None);
        assert_eq!(old_before_ns(35_000_000_000, &policy), Some(5_000_000_000));
        assert!(!is_above_background(DIRTYABLE_PAGES / 10, &policy));
        assert!(is_above_background(DIRTYABLE_PAGES / 10 + 1, &policy));
    }
}
