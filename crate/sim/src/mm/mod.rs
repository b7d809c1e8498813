//! Memory management: frames, zones, the page allocator, page reclaim.

mod allocator;
mod balance;
mod buddy;
mod check;
mod control;
mod direct;
mod exercise;
mod fate;
mod frame;
mod gfp;
mod kswapd;
mod lru;
mod memory;
mod naps;
mod page;
mod page_table;
mod per_cpu;
mod policy;
mod replacement;
mod ring;
mod scan;
mod shrink_active;
mod shrink_inactive;
mod shrink_zone;
mod slab;
mod slow_path;
mod step;
mod swap;
#[cfg(test)]
mod tests;
mod vmstat;
mod watermark;
mod zone;

pub use allocator::NewPage;
pub use exercise::{StreamCosts, StreamExercise, StreamRun, stream_exercise};
pub use frame::{FrameId, Owner};
pub use gfp::{COSTLY_ORDER, Caller, Gfp, MAX_ORDER, Mobility, Request};
pub use kswapd::{Kswapd, KswapdState};
pub use lru::{LRU_LISTS, Lru};
pub use memory::{KswapdQueue, Memory, OwnerInfo};
pub use naps::{NapTotals, Naps};
pub use page_table::{PAGES_A_TABLE, PageTable};
pub use policy::{
    AnonAging, BalanceCheck, CongestionSwitch, DrainRule, FileLowRule, KswapdNap, LumpyRules,
    LumpySecondPass, MemoryPolicy, NapQueue, NapRule, OomBadness, ReclaimResult, References, ScanDivision,
    ZoneExit,
};
pub use replacement::{Replacement, replacement_exercise};
pub use scan::{BATCH_PAGES, DEF_PRIORITY, ScanShares, shares};
pub use slab::{Shrinker, debt_after};
pub use slow_path::{Allocation, AllocationState};
pub use step::{MemoryOut, Nap, NapSite, PageWrite, Removed, Step, Unmapped, Work};
pub use swap::Swap;
pub use vmstat::{Vmstat, VmstatRow, ZoneEvents};
pub use watermark::{AllocFlags, Comparison, Mark, compare, passes};
pub use zone::{MemoryLayout, Zone, ZoneKind, ZoneSpan, marks, min_free_kbytes, per_cpu_batch};
