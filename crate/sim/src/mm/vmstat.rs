//! Counters under the kernel's own names.
//!
//! *Models:* the event counters of `/proc/vmstat` that concern memory, and where the kernel keeps them per zone, per zone; what the
//! kernel does not count but the causes need: naps by place and whether they were necessary, failures by order.
//! *Does not model:* NUMA counters, compaction.
//! *Follows:* docs/model/reclaim.md, sections 4.6 and 10.8; Linux 2.6.36, `mm/vmstat.c`.

use super::gfp::MAX_ORDER;
use super::zone::Zone;

/// Event counters of one zone.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct ZoneEvents {
    /// Pages allocated.
    pub pgalloc: u64,
    /// Pages looked at on the active lists.
    pub pgrefill: u64,
    /// Pages freed by reclaim.
    pub pgsteal: u64,
    /// Of these, pages freed by kswapd; the kernel counts them for the machine only.
    pub kswapd_steal: u64,
    /// Pages isolated from the inactive lists by kswapd.
    pub pgscan_kswapd: u64,
    /// The same by direct reclaim.
    pub pgscan_direct: u64,
}

/// Event counters of the machine.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Vmstat {
    /// Pages freed, by whomever.
    pub pgfree: u64,
    /// Pages moved to an active list.
    pub pgactivate: u64,
    /// Pages moved from an active to an inactive list.
    pub pgdeactivate: u64,
    /// Page faults; counted by the caller.
    pub pgfault: u64,
    /// Page faults that found no page in memory; counted by the caller.
    pub pgmajfault: u64,
    /// Objects looked at by shrinkers.
    pub slabs_scanned: u64,
    /// Pages freed by kswapd.
    pub kswapd_steal: u64,
    /// Times kswapd was woken out of its first, short sleep.
    pub kswapd_low_wmark_hit_quickly: u64,
    /// Times kswapd found a zone under HIGH when it meant to sleep.
    pub kswapd_high_wmark_hit_quickly: u64,
    /// Naps kswapd left out because a zone was under MIN.
    pub kswapd_skip_congestion_wait: u64,
    /// Starts and restarts of a balance.
    pub pageoutrun: u64,
    /// Direct reclaims.
    pub allocstall: u64,
    /// Pages moved to the inactive tail when their write ended.
    pub pgrotated: u64,
    /// Pages that reclaim gave to be written.
    pub nr_vmscan_write: u64,
    /// Pages read from swap; counted by the caller.
    pub pswpin: u64,
    /// Pages written to swap.
    pub pswpout: u64,
    /// Requests that failed, by order; whether or not the log shows it.
    pub failures: [u64; MAX_ORDER],
    /// Failures that the log's limit of 10 in 5 seconds let through.
    pub failures_logged: u64,
    /// Times the OOM killer was called.
    pub oom_kills: u64,
}

/// One line of `/proc/vmstat`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct VmstatRow {
    /// The kernel's name.
    pub name: String,
    /// Its value.
    pub value: u64,
}

impl Vmstat {
    /// The event counters as lines, in the kernel's order. `two_stage` says whether the kernel has the counters that came with
    /// kswapd's short sleep.
    #[must_use]
    pub fn rows(&self, zones: &[Zone], two_stage: bool) -> Vec<VmstatRow> {
        let mut rows = Vec::new();
        let mut row = |name: String, value: u64| rows.push(VmstatRow { name, value });
        let per_zone = |name: &str, of: fn(&ZoneEvents) -> u64, row: &mut dyn FnMut(String, u64)| {
            for zone in zones {
                row(format!("{name}_{}", zone.kind.suffix()), of(&zone.events));
            }
        };
        row("nr_vmscan_write".into(), self.nr_vmscan_write);
        row("pswpin".into(), self.pswpin);
        row("pswpout".into(), self.pswpout);
        per_zone("pgalloc", |events| events.pgalloc, &mut row);
        row("pgfree".into(), self.pgfree);
        row("pgactivate".into(), self.pgactivate);
        row("pgdeactivate".into(), self.pgdeactivate);
        row("pgfault".into(), self.pgfault);
        row("pgmajfault".into(), self.pgmajfault);
        per_zone("pgrefill", |events| events.pgrefill, &mut row);
        per_zone("pgsteal", |events| events.pgsteal, &mut row);
        per_zone("pgscan_kswapd", |events| events.pgscan_kswapd, &mut row);
        per_zone("pgscan_direct", |events| events.pgscan_direct, &mut row);
        row("slabs_scanned".into(), self.slabs_scanned);
        row("kswapd_steal".into(), self.kswapd_steal);
        if two_stage {
            row("kswapd_low_wmark_hit_quickly".into(), self.kswapd_low_wmark_hit_quickly);
            row("kswapd_high_wmark_hit_quickly".into(), self.kswapd_high_wmark_hit_quickly);
            row("kswapd_skip_congestion_wait".into(), self.kswapd_skip_congestion_wait);
        }
        row("pageoutrun".into(), self.pageoutrun);
        row("allocstall".into(), self.allocstall);
        row("pgrotated".into(), self.pgrotated);
        rows
    }
}
