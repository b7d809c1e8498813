//! What one reclaim is allowed to do, and what it has done (`struct scan_control`).
//!
//! *Follows:* docs/model/reclaim.md, sections 3.4 to 3.6; Linux 2.6.36, `mm/vmscan.c`, `struct scan_control`.

use super::gfp::Caller;

/// Limits and tallies of one reclaim. The mode is set for each batch.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Control {
    /// Who reclaims.
    pub(crate) caller: Caller,
    /// For a block of this order.
    pub(crate) order: u8,
    /// In lumpy mode: neighbours are taken too, and references may not protect (R4.11).
    pub(crate) lumpy: bool,
    /// May call the file system.
    pub(crate) may_enter_fs: bool,
    /// May start I/O.
    pub(crate) may_io: bool,
    /// May write pages.
    pub(crate) may_writepage: bool,
    /// May unmap pages.
    pub(crate) may_unmap: bool,
    /// May swap.
    pub(crate) may_swap: bool,
    /// Pages looked at in this pass, mapped ones twice (section 4.5, step 1).
    pub(crate) scanned: u64,
    /// Pages freed.
    pub(crate) reclaimed: u64,
    /// Pages to free; kswapd's of 2.6.34 and later is without limit.
    pub(crate) target: u64,
}
