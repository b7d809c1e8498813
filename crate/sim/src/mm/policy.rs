//! The rules of memory management that differ between kernels, one field per rule.
//!
//! *Models:* what changed between 2.6.30 and 2.6.37, and the patches and switches of the experiments, as plain data.
//! *Does not model:* which release has which value: `kernel/releases_mm.rs`.
//! *Follows:* docs/model/reclaim.md, sections 1 to 5.

use serde::{Deserialize, Serialize};

/// Which of the two global queues of congestion a nap sleeps on (sections 2.6, 5.1).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum NapQueue {
    /// Index 0: ends when an asynchronous write completes on a queue that is not full.
    Async,
    /// Index 1: ends when a read or a synchronous write completes. 2.6.30's callers pass WRITE, which is 1.
    Sync,
    /// Asynchronous first, then synchronous for what is left of the time (patch `congestion-both`).
    AsyncThenSync,
}

/// How somebody waits for congestion to end.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum NapRule {
    /// `congestion_wait`: sleeps whether or not anything is congested (R5.1).
    Always(NapQueue),
    /// `wait_iff_congested`: only if a device is congested and the zone's flag is set (R5.7).
    IfZoneCongested(NapQueue),
}

impl NapRule {
    /// The queue slept on.
    #[must_use]
    pub fn queue(self) -> NapQueue {
        match self {
            Self::Always(queue) | Self::IfZoneCongested(queue) => queue,
        }
    }
}

/// What the series "Record if the congestion was unnecessary" of 26 August 2010 adds, patch by patch (section 5.3).
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub enum CongestionSwitch {
    /// Nothing.
    Off,
    /// Patch 1: the time slept is accounted.
    Trace,
    /// Patch 2: naps while nothing was congested are accounted as unnecessary.
    AccountUnnecessary,
    /// Patch 3: while nothing is congested nobody sleeps; the CPU is offered to others instead.
    DoNotSleep,
}

/// When the per-CPU lists of all CPUs are given back after a direct reclaim (sections 2.1, 2.4).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum DrainRule {
    /// Before the attempt that follows, for order > 0 only.
    HighOrder,
    /// After that attempt has failed, once, at every order, and then one more attempt.
    AfterFailedAttempt,
}

/// When the inactive anonymous list is topped up from the active one although nothing there can be swapped (section 4.3).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum AnonAging {
    /// Whenever the inactive list is short.
    Always,
    /// Only while a swap slot is free.
    FreeSlot,
    /// Only if there is a swap area.
    SwapArea,
}

/// When kswapd looks whether a zone is balanced (sections 3.4, 3.5).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum BalanceCheck {
    /// Before shrinking it: the pass that repairs a zone never ends the loop (R3.1).
    BeforeShrink,
    /// After shrinking it.
    AfterShrink,
}

/// When kswapd naps at the end of a pass (sections 2.6, 3.4, 3.5).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct KswapdNap {
    /// How it naps.
    pub rule: NapRule,
    /// Not while some zone fails MIN; each omission is counted.
    pub not_under_min: bool,
    /// The priority above which it does not nap falls with the order (patch 5, "adjust-priority").
    pub later_for_high_orders: bool,
}

/// What a reference does to an inactive page (section 4.5, step 4).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum References {
    /// A referenced page whose mapping is in use is activated at once.
    Activate,
    /// A mapped file page makes one more trip before it is activated (`page_check_references`, from 2.6.34). Only uses through page
    /// tables count on the active list, and the mark of a use survives deactivation.
    TwoTrips,
}

/// When the active file list is shrunk (section 4.3).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum FileLowRule {
    /// Whenever its turn comes.
    Always,
    /// Only while it is longer than the inactive one.
    ActiveLonger,
}

/// How the number of pages to scan is divided between anonymous and file pages (R4.1).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum ScanDivision {
    /// By whole percents.
    Percent,
    /// By the exact fraction (from 2.6.35).
    Fraction,
}

/// When `shrink_zone` leaves its loop early (R4.3).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum ZoneExit {
    /// More than 32 pages, for direct reclaim only, below the default priority.
    MoreThanBatch,
    /// At the target, below the default priority; kswapd's target is without limit.
    AtTarget,
}

/// Lumpy reclaim (section 4.7).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct LumpyRules {
    /// Its second pass.
    pub second_pass: LumpySecondPass,
    /// References do not protect pages whenever it is on, instead of for costly orders only (from 2.6.35).
    pub ignores_references: bool,
    /// Neighbours for which there is no swap slot are left alone (from 2.6.32).
    pub leaves_unswappable: bool,
    /// The search among neighbours ends at the first that cannot be taken (from 2.6.37).
    pub stops_at_neighbour: bool,
    /// It is off for the rest of a batch once a page stays for another reason than its write (from 2.6.37).
    pub ends_at_kept_page: bool,
    /// For costly orders congested devices are written to as well (R4.6, from 2.6.37).
    pub writes_to_congested: bool,
}

/// The second, synchronous pass of lumpy reclaim (R4.13).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct LumpySecondPass {
    /// Orders 1 to 3 have one as well as the costly ones.
    pub any_order: bool,
    /// Only from this priority downward, for costly orders; 12 is always.
    pub costly_from_priority: u8,
    /// The same for orders 1 to 3.
    pub cheap_from_priority: u8,
    /// The nap before it; none in 2.6.37.
    pub nap: Option<NapQueue>,
}

/// Whom the OOM killer chooses (section 10.5).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum OomBadness {
    /// Who has mapped most, less what it has computed and how long it has run (up to 2.6.35).
    Mapped,
    /// Who has most in memory and on swap (from 2.6.36).
    Held,
}

/// What direct reclaim reports to the allocator (section 3.6).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum ReclaimResult {
    /// The pages freed, if it met its target or some zone can still be reclaimed; else 0.
    ZeroIfHopeless,
    /// The pages freed if any; else 1 unless all zones were skipped in the last pass.
    OneIfHope,
    /// The pages freed if any; else 1 while some zone has been scanned less than six times over (from 2.6.36).
    OneIfReclaimable,
}

/// All rules of memory management of one kernel.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct MemoryPolicy {
    /// The allocator's nap of HZ/50 between two direct reclaims (section 2.1, step 8).
    pub retry_nap: NapRule,
    /// Direct reclaim's nap of HZ/10 after a pass below priority 10 (section 3.6); none with TJ's change.
    pub reclaim_nap: Option<NapRule>,
    /// The nap while too many pages are isolated (R4.10).
    pub isolated_nap: NapQueue,
    /// The nap while too much is being written (R4.4).
    pub writeout_nap: NapQueue,
    /// Restarting an allocation wakes kswapd again and looks again at what the task may do (2.2a; not in 2.6.31).
    pub restart_wakes_kswapd: bool,
    /// What a request may do is looked at when kswapd is woken for it, not before each reclaim as well (from 2.6.31).
    pub keeps_allocation_flags: bool,
    /// A real-time task's HARDER also counts in interrupts on top of it (2.2b; 2.6.31 only).
    pub real_time_harder_in_interrupt: bool,
    /// When per-CPU lists are drained (2.4).
    pub drain: DrainRule,
    /// A failed attempt at an order > 0 that passed the watermark loses its pages from the counter (1.8).
    pub free_counter_leaks: bool,
    /// One per-CPU list for all mobility types, instead of one a type (R1.32).
    pub per_cpu_lists_mixed: bool,
    /// Single pages of the reserve go back to the reserve from per-CPU lists; in 2.6.32 they went to the movable ones (R1.32).
    pub per_cpu_lists_keep_reserve: bool,
    /// Pageblocks reserved in a zone at most (R1.25).
    pub reserve_blocks_max: u32,
    /// A fallback that takes a block of several pageblocks changes the type of all of them, not of the first (R1.24).
    pub fallback_takes_all_pageblocks: bool,
    /// A freed block whose next larger buddy is likely to become free goes to its list's tail (R1.22).
    pub free_to_tail_if_merging: bool,
    /// Nothing is killed for requests that cannot use Normal (2.4; from 2.6.36).
    pub no_oom_below_normal: bool,
    /// `swappiness`, 0 to 100.
    pub swappiness: u32,
    /// `min_free_kbytes`; 0: it follows from the size of memory.
    pub min_free_kbytes: u32,
    /// Whom the OOM killer chooses.
    pub oom_badness: OomBadness,
    /// What direct reclaim returns.
    pub reclaim_result: ReclaimResult,
    /// kswapd sleeps HZ/10 first and looks again before it sleeps for good (3.2).
    pub kswapd_two_stage_sleep: bool,
    /// When kswapd checks a zone against HIGH. It checks against MIN after the shrink in any case.
    pub balance_check: BalanceCheck,
    /// kswapd's nap.
    pub kswapd_nap: KswapdNap,
    /// A zone that passes HIGH loses its flag of congestion (3.5; from 2.6.37).
    pub balanced_clears_congested: bool,
    /// When `shrink_zone` stops.
    pub zone_exit: ZoneExit,
    /// How scanning is divided.
    pub scan_division: ScanDivision,
    /// The last pass scans whole lists even without swap, anonymous ones too (2.6.30).
    pub last_pass_ignores_swap: bool,
    /// An inactive list is always scanned by 32 pages, however few are left to scan (up to 2.6.35).
    pub scans_whole_batches: bool,
    /// The turn of an active list that need not be shrunk goes to the inactive one (up to 2.6.32).
    pub spare_turn_scans_inactive: bool,
    /// Anonymous pages count as reclaimable even without swap (up to 2.6.31).
    pub anon_counts_without_swap: bool,
    /// kswapd's topping up of inactive anonymous lists.
    pub kswapd_anon_aging: AnonAging,
    /// The topping up after a zone has been shrunk.
    pub zone_anon_aging: AnonAging,
    /// What references do.
    pub references: References,
    /// Referenced pages of mapped programs stay active (4.4; from 2.6.31).
    pub protects_executables: bool,
    /// When the active file list is shrunk.
    pub file_low: FileLowRule,
    /// Direct reclaim waits while more pages are isolated than inactive (R4.10; from 2.6.32).
    pub too_many_isolated: bool,
    /// Lumpy reclaim.
    pub lumpy: LumpyRules,
    /// What is done about naps without congestion.
    pub congestion: CongestionSwitch,
}
