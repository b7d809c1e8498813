//! Memory management rules of each release.
//!
//! *Follows:* docs/model/reclaim.md, sections 1 to 5; `mm/page_alloc.c` and `mm/vmscan.c` of each Linux from 2.6.30 to 2.6.37, of the
//! candidates of 2.6.32 and of 2.6.36-rc2. 2.6.38 has 2.6.37's rules here: its kswapd, which balances a share of the memory for high
//! orders, and its compaction in place of lumpy reclaim are not modelled.

use crate::mm::{
    AnonAging, BalanceCheck, CongestionSwitch, DrainRule, FileLowRule, KswapdNap, LumpyRules,
    LumpySecondPass, MemoryPolicy, NapQueue, NapRule, OomBadness, ReclaimResult, References, ScanDivision,
    ZoneExit,
};

/// The releases, in the order in which their rules apply.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Generation {
    V30,
    V31,
    /// 2.6.32-rc1 to -rc5.
    V32Early,
    /// 2.6.32-rc6: still without the two corrections of the allocator of November 2009.
    V32Rc6,
    V32,
    V33,
    V34,
    V35,
    /// The mm tree of late August 2010, between 2.6.36-rc1 and the release.
    Mmotm201008,
    V36,
    V37,
}

fn generation(release: &str) -> Option<Generation> {
    Some(match release {
        "2.6.30" => Generation::V30,
        "2.6.31" => Generation::V31,
        "2.6.32-rc1" | "2.6.32-rc2" | "2.6.32-rc3" | "2.6.32-rc4" | "2.6.32-rc5" => Generation::V32Early,
        // The block tree of November 2009 stands on 2.6.32's memory management.
        "2.6.32-rc6" => Generation::V32Rc6,
        "2.6.32-rc7" | "2.6.32-rc8" | "2.6.32" | "for-2.6.33" => Generation::V32,
        "2.6.33" => Generation::V33,
        "2.6.34" => Generation::V34,
        "2.6.35" => Generation::V35,
        "mmotm-2010-08" => Generation::Mmotm201008,
        "2.6.36" => Generation::V36,
        "2.6.37" | "2.6.38" => Generation::V37,
        _ => return None,
    })
}

/// The rules of a release; `None` if it is not known.
pub(super) fn memory_policy(release: &str) -> Option<MemoryPolicy> {
    use Generation as G;
    let generation = generation(release)?;
    let since = |first: G| generation >= first;
    // Section 5.1, R5.2: 2.6.30's callers name the index of synchronous requests.
    let queue = if since(G::V31) { NapQueue::Async } else { NapQueue::Sync };
    let direct_nap = if since(G::V37) { NapRule::IfZoneCongested(queue) } else { NapRule::Always(queue) };
    Some(MemoryPolicy {
        retry_nap: direct_nap,
        reclaim_nap: Some(direct_nap),
        // In 2.6.32 this call came with the old name of the index; the sixth candidate corrected it.
        isolated_nap: if generation == G::V32Early { NapQueue::Sync } else { queue },
        writeout_nap: queue,
        restart_wakes_kswapd: !since(G::V31) || since(G::V32),
        keeps_allocation_flags: since(G::V31),
        real_time_harder_in_interrupt: since(G::V31) && !since(G::V32),
        drain: if since(G::V36) { DrainRule::AfterFailedAttempt } else { DrainRule::HighOrder },
        free_counter_leaks: since(G::V31) && !since(G::V33),
        per_cpu_lists_mixed: !since(G::V32Early),
        per_cpu_lists_keep_reserve: !since(G::V32Early) || since(G::V33),
        reserve_blocks_max: if since(G::V31) { 2 } else { u32::MAX },
        fallback_takes_all_pageblocks: since(G::V32Early),
        free_to_tail_if_merging: since(G::V35),
        no_oom_below_normal: since(G::V36),
        swappiness: 60,
        min_free_kbytes: 0,
        oom_badness: if since(G::V36) { OomBadness::Held } else { OomBadness::Mapped },
        reclaim_result: match generation {
            _ if since(G::V36) => ReclaimResult::OneIfReclaimable,
            _ if since(G::V35) => ReclaimResult::OneIfHope,
            _ => ReclaimResult::ZeroIfHopeless,
        },
        kswapd_two_stage_sleep: since(G::V33),
        balance_check: if since(G::V34) { BalanceCheck::AfterShrink } else { BalanceCheck::BeforeShrink },
        kswapd_nap: KswapdNap {
            rule: NapRule::Always(queue),
            not_under_min: since(G::V33),
            later_for_high_orders: false,
        },
        balanced_clears_congested: since(G::V37),
        zone_exit: if since(G::V33) { ZoneExit::AtTarget } else { ZoneExit::MoreThanBatch },
        scan_division: if since(G::V35) { ScanDivision::Fraction } else { ScanDivision::Percent },
        last_pass_ignores_swap: !since(G::V31),
        scans_whole_batches: !since(G::Mmotm201008),
        spare_turn_scans_inactive: !since(G::V33),
        anon_counts_without_swap: !since(G::V32Early),
        kswapd_anon_aging: if since(G::V37) { AnonAging::SwapArea } else { AnonAging::Always },
        zone_anon_aging: match generation {
            _ if since(G::V37) => AnonAging::SwapArea,
            _ if since(G::V31) => AnonAging::FreeSlot,
            _ => AnonAging::Always,
        },
        references: if since(G::V34) { References::TwoTrips } else { References::Activate },
        protects_executables: since(G::V31),
        file_low: if since(G::V31) { FileLowRule::ActiveLonger } else { FileLowRule::Always },
        too_many_isolated: since(G::V32Early),
        lumpy: LumpyRules {
            second_pass: lumpy_second_pass(generation, queue),
            ignores_references: since(G::V35),
            leaves_unswappable: since(G::V32Early),
            stops_at_neighbour: since(G::V37),
            ends_at_kept_page: since(G::V37),
            writes_to_congested: since(G::V37),
        },
        congestion: CongestionSwitch::Off,
    })
}

/// R4.13.
fn lumpy_second_pass(generation: Generation, queue: NapQueue) -> LumpySecondPass {
    use Generation as G;
    LumpySecondPass {
        any_order: generation >= G::V31,
        costly_from_priority: 12,
        cheap_from_priority: if generation >= G::Mmotm201008 { 4 } else { 12 },
        nap: (generation < G::V37).then_some(queue),
    }
}
