//! The watermark test.
//!
//! *Models:* the test of 2.6.30 to 2.6.37, which is the same in all of them; allocation flags.
//! *Does not model:* later tests; drift of per-CPU counter deltas (section 1.8: counters are exact here).
//! *Follows:* docs/model/reclaim.md, sections 1.4 and 1.6; Linux 2.6.31, `mm/page_alloc.c`, `zone_watermark_ok`.

use super::gfp::{Caller, Gfp, MAX_ORDER};
use super::policy::MemoryPolicy;

/// Which of a zone's marks is tested.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Mark {
    /// Below it the slow path reclaims.
    Min = 0,
    /// Below it kswapd is woken.
    Low = 1,
    /// Up to it kswapd reclaims.
    High = 2,
}

/// How far below the mark a request may go.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
pub struct AllocFlags {
    /// Half of the mark.
    pub high: bool,
    /// A quarter less of what is left of it.
    pub harder: bool,
    /// No mark at all.
    pub no_watermarks: bool,
}

impl AllocFlags {
    /// The slow path's flags of a request (section 1.6).
    #[must_use]
    pub fn of(gfp: Gfp, caller: &Caller, policy: &MemoryPolicy) -> Self {
        let real_time = caller.real_time && (!caller.in_interrupt || policy.real_time_harder_in_interrupt);
        Self {
            high: gfp.has(Gfp::HIGH),
            harder: !gfp.has(Gfp::WAIT) || real_time,
            no_watermarks: (caller.memalloc || caller.dying)
                && !caller.in_interrupt
                && !gfp.has(Gfp::NOMEMALLOC),
        }
    }
}

/// One step of the test: what is left, and what it must exceed.
pub type Comparison = (i64, i64);

/// Tests whether `free` pages, of which `blocks[k]` blocks of order k, suffice for a request of `order` under `mark` and
/// `reserve`. Complexity: O(order).
#[must_use]
#[inline]
pub fn passes(
    free: i64,
    blocks: &[u32; MAX_ORDER],
    order: u8,
    mark: u32,
    reserve: u32,
    flags: AllocFlags,
) -> bool {
    compare(free, blocks, order, mark, reserve, flags, |_| ())
}

/// As [`passes`], and tells `each` comparison in turn.
#[inline]
pub fn compare(
    free: i64,
    blocks: &[u32; MAX_ORDER],
    order: u8,
    mark: u32,
    reserve: u32,
    flags: AllocFlags,
    mut each: impl FnMut(Comparison),
) -> bool {
    let mut left = free - (1 << order) + 1;
    let mut mark = i64::from(mark);
    if flags.high {
        mark -= mark / 2;
    }
    if flags.harder {
        mark -= mark / 4;
    }
    each((left, mark + i64::from(reserve)));
    if left <= mark + i64::from(reserve) {
        return false;
    }
    for (k, &count) in blocks.iter().enumerate().take(usize::from(order)) {
        left -= i64::from(count) << k;
        mark >>= 1;
        each((left, mark));
        if left <= mark {
            return false;
        }
    }
    true
}
