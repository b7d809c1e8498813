//! CFQ's tunables, by their sysfs names.
//!
//! *Follows:* model/block-layer.md, section 2.2.

use super::CfqPolicy;
use crate::block::elevator::tunables::{
    LARGEST_INT, TunableError, TunableInfo, TunableUnit, check, jiffies_from_sysfs_ms,
};
use crate::engine::Clock;

/// What an administrator can set, times in jiffies.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CfqTunables {
    /// Requests one queue may have in the device.
    pub quantum: u64,
    /// Longest wait of a request: async, sync.
    pub fifo_expire_jiffies: [u64; 2],
    /// How far behind the head a request may lie and still count as near, in sectors.
    pub back_seek_max_sectors: u64,
    /// How much more a sector behind the head costs than one in front.
    pub back_seek_penalty: u64,
    /// Slice of a queue of priority 4: async, sync.
    pub slice_jiffies: [u64; 2],
    /// Unit of the async request quota.
    pub slice_async_rq: u64,
    /// How long to idle for a queue's next request.
    pub slice_idle_jiffies: u64,
    /// How long to idle for a group's next request; 0 without cgroup support.
    pub group_idle_jiffies: u64,
    /// Bound latencies at the expense of throughput.
    pub low_latency: bool,
}

macro_rules! tunable {
    ($name:literal, $unit:ident, $min:expr, $max:expr, $default:expr, $documentation:literal) => {
        TunableInfo {
            name: $name,
            unit: TunableUnit::$unit,
            min: $min,
            max: $max,
            default: $default,
            documentation: $documentation,
        }
    };
}

/// Longest time a time tunable may be set to, in milliseconds: one hour.
const LONGEST_MS: u64 = 3_600_000;

static INFO: [TunableInfo; 12] = [
    tunable!("quantum", Requests, 1, LARGEST_INT, 8, "Requests of one queue in the device at a time."),
    tunable!("fifo_expire_sync", Milliseconds, 1, LONGEST_MS, 125, "Deadline of a sync request."),
    tunable!("fifo_expire_async", Milliseconds, 1, LONGEST_MS, 250, "Deadline of an async request."),
    tunable!("back_seek_max", Kilobytes, 0, LARGEST_INT, 16384, "How far back a seek may go."),
    tunable!("back_seek_penalty", Factor, 1, LARGEST_INT, 2, "Cost of a seek back against one forward."),
    tunable!("slice_sync", Milliseconds, 1, LONGEST_MS, 100, "Time slice of a sync queue of priority 4."),
    tunable!("slice_async", Milliseconds, 1, LONGEST_MS, 40, "Time slice of an async queue of priority 4."),
    tunable!("slice_async_rq", Requests, 1, LARGEST_INT, 2, "Unit of an async queue's request quota."),
    tunable!("slice_idle", Milliseconds, 0, LONGEST_MS, 8, "How long to wait for a queue's next request."),
    tunable!("group_idle", Milliseconds, 0, LONGEST_MS, 0, "How long to wait for a group's next request."),
    tunable!("low_latency", Boolean, 0, 1, 1, "Keep latencies low at the expense of throughput."),
    tunable!(
        "group_isolation",
        Boolean,
        0,
        1,
        0,
        "Keep groups apart even for seeky queues (one group: no effect)."
    ),
];

impl CfqTunables {
    /// The defaults of a release on a machine with this clock.
    #[must_use]
    pub fn for_clock(clock: &Clock, policy: &CfqPolicy) -> Self {
        let hz = clock.hz();
        Self {
            quantum: policy.default_quantum,
            fifo_expire_jiffies: [hz / 4, hz / 8],
            back_seek_max_sectors: 16384 * 2,
            back_seek_penalty: 2,
            slice_jiffies: [(hz / 25).max(1), hz / 10],
            slice_async_rq: 2,
            slice_idle_jiffies: (hz / 125).max(1),
            group_idle_jiffies: 0,
            low_latency: policy.has_low_latency,
        }
    }

    /// Descriptions of all tunables of any generation; [`Self::set`] knows which a release has.
    #[must_use]
    pub fn info() -> &'static [TunableInfo] {
        &INFO
    }

    /// Sets a tunable by its sysfs name, in its sysfs unit.
    ///
    /// # Errors
    /// The name is unknown, or the value out of range.
    pub fn set(&mut self, name: &str, value: u64, clock: &Clock) -> Result<(), TunableError> {
        let info = check(&INFO, name, value)?;
        let jiffies = jiffies_from_sysfs_ms(clock, value);
        match info.name {
            "quantum" => self.quantum = value,
            "fifo_expire_sync" => self.fifo_expire_jiffies[1] = jiffies,
            "fifo_expire_async" => self.fifo_expire_jiffies[0] = jiffies,
            "back_seek_max" => self.back_seek_max_sectors = value * 2,
            "back_seek_penalty" => self.back_seek_penalty = value,
            "slice_sync" => self.slice_jiffies[1] = jiffies,
            "slice_async" => self.slice_jiffies[0] = jiffies,
            "slice_async_rq" => self.slice_async_rq = value,
            "slice_idle" => self.slice_idle_jiffies = jiffies,
            "group_idle" => self.group_idle_jiffies = jiffies,
            "low_latency" => self.low_latency = value != 0,
            _ => {}
        }
        Ok(())
    }
}
