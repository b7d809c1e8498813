//! A 7200 rpm SATA disk.
//!
//! *Models:* seeks, and rotation as the phase of simulated time (`geometry`); NCQ, which goes to the nearest
//! waiting command in time, with an age limit (`schedule`); reading ahead into segments (`segments`); a
//! volatile write cache that acknowledges a write after its transfer and is written to the medium when no
//! read waits and the drive has been left alone for a while, in turns with reads when it is three quarters
//! full, and wholly by a flush (`write_cache`); one link, which data cross in turn.
//!
//! *Does not model:* separate heads and cylinders, defects and retries, thermal recalibration, power
//! saving, reads served from written data that are no longer dirty, writing a run from its middle. Data of
//! a read cross the link while the medium delivers them. There is no FUA (libata's default of the period):
//! a write that asks for it goes to the medium directly, past the cache.
//!
//! *Follows:* docs/model/block-layer.md, sections 7.1 and 7.2 as corrected by 0.2 (destaging after about 1 ms of
//! quiet; the half revolution that a flush costs on average is the rotational wait of the writes it causes,
//! so nothing is added for it) and 0.3 (order of destaging, steps of 128 KiB). Calibrate before trusting
//! absolute figures.

mod geometry;
mod machine;
mod schedule;
mod segments;
#[cfg(test)]
mod tests;
mod write_cache;

use serde::{Deserialize, Serialize};

use super::options::Checks;
use super::{Command, Device, InvalidOptions, OptionProblem};
use crate::engine::RandomStream;
use machine::Machine;

/// What a [`SataDisk`] is like. The default is the disk of section 7.2 with 500 GB.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default, rename_all = "kebab-case", deny_unknown_fields)]
pub struct SataDiskOptions {
    /// Capacity in sectors, 2048 to 2^40.
    pub capacity_sectors: u64,
    /// Commands accepted at once, 1 to 1024: 31 with NCQ, 1 without.
    pub depth: u32,
    /// Time of one turn of the platter, 1 ms to 100 ms.
    pub revolution_ns: u64,
    /// Seek over the fraction x of the surface: the part that does not depend on x; up to 10 s.
    pub seek_fixed_ns: u64,
    /// The part that grows with the square root of x, at x = 1; up to 10 s.
    pub seek_root_ns: u64,
    /// The part that grows with x, at x = 1; up to 10 s.
    pub seek_linear_ns: u64,
    /// Time for the head to settle before a read that needed a seek; up to 10 s.
    pub read_settle_ns: u64,
    /// The same before a write; up to 10 s.
    pub write_settle_ns: u64,
    /// Rate of the medium at the outer edge (first sector), 1 MB/s to 100 GB/s.
    pub media_outer_bytes_per_s: u64,
    /// Rate at the inner edge (last sector), not above that at the outer edge.
    pub media_inner_bytes_per_s: u64,
    /// Rate of the link, 1 MB/s to 100 GB/s.
    pub link_bytes_per_s: u64,
    /// Time before the drive begins to act on a command; it goes on with others meanwhile. 1 ns to 10 s.
    pub command_overhead_ns: u64,
    /// Segments of the read cache, 1 to 256.
    pub segments: u32,
    /// Size of a segment, 4 KiB to 1 TiB.
    pub segment_bytes: u64,
    /// How far it reads on behind a read when nothing else is to be done, 0 to the size of a segment.
    pub read_ahead_bytes: u64,
    /// Age from which a waiting command goes first; up to 10 s.
    pub age_limit_ns: u64,
    /// Writes are acknowledged from a volatile cache; otherwise each goes to the medium.
    pub write_cache: bool,
    /// Size of the write cache, 4 KiB to 1 TiB.
    pub write_cache_bytes: u64,
    /// Share of the write cache from which destaging takes turns with reads, 1 to 100 %.
    pub pressed_percent: u32,
    /// Quiet time, without a command arriving or ending, after which destaging begins; up to 10 s.
    pub destage_quiet_ns: u64,
    /// Most data written in one step of destaging, 4 KiB to 1 TiB.
    pub destage_step_bytes: u64,
}

crate::slots!(SataDiskOptions {
    capacity_sectors,
    depth,
    revolution_ns,
    seek_fixed_ns,
    seek_root_ns,
    seek_linear_ns,
    read_settle_ns,
    write_settle_ns,
    media_outer_bytes_per_s,
    media_inner_bytes_per_s,
    link_bytes_per_s,
    command_overhead_ns,
    segments,
    segment_bytes,
    read_ahead_bytes,
    age_limit_ns,
    write_cache,
    write_cache_bytes,
    pressed_percent,
    destage_quiet_ns,
    destage_step_bytes,
});

impl Default for SataDiskOptions {
    fn default() -> Self {
        Self {
            capacity_sectors: 976_773_168,
            depth: 31,
            revolution_ns: 8_333_333,
            seek_fixed_ns: 800_000,
            seek_root_ns: 8_600_000,
            seek_linear_ns: 7_600_000,
            read_settle_ns: 200_000,
            write_settle_ns: 700_000,
            media_outer_bytes_per_s: 100_000_000,
            media_inner_bytes_per_s: 50_000_000,
            link_bytes_per_s: 250_000_000,
            command_overhead_ns: 150_000,
            segments: 16,
            segment_bytes: 512 << 10,
            read_ahead_bytes: 256 << 10,
            age_limit_ns: 500_000_000,
            write_cache: true,
            write_cache_bytes: 16 << 20,
            pressed_percent: 75,
            destage_quiet_ns: 1_000_000,
            destage_step_bytes: 128 << 10,
        }
    }
}

impl SataDiskOptions {
    /// Every problem, by name; empty when the options describe a device.
    #[must_use]
    pub fn validate(&self) -> Vec<OptionProblem> {
        let mut checks = Checks::default();
        checks.capacity("capacity-sectors", self.capacity_sectors);
        checks.range("depth", self.depth.into(), 1..=1024);
        checks.range("revolution-ns", self.revolution_ns, 1_000_000..=100_000_000);
        checks.duration("seek-fixed-ns", self.seek_fixed_ns, 0);
        checks.duration("seek-root-ns", self.seek_root_ns, 0);
        checks.duration("seek-linear-ns", self.seek_linear_ns, 0);
        checks.duration("read-settle-ns", self.read_settle_ns, 0);
        checks.duration("write-settle-ns", self.write_settle_ns, 0);
        checks.bandwidth("media-outer-bytes-per-s", self.media_outer_bytes_per_s);
        checks.bandwidth("media-inner-bytes-per-s", self.media_inner_bytes_per_s);
        let outer = self.media_outer_bytes_per_s;
        let inner = self.media_inner_bytes_per_s;
        checks.holds(inner <= outer, "media-inner-bytes-per-s", inner, || {
            format!("up to media-outer-bytes-per-s, which is {outer}")
        });
        checks.bandwidth("link-bytes-per-s", self.link_bytes_per_s);
        checks.duration("command-overhead-ns", self.command_overhead_ns, 1);
        checks.range("segments", self.segments.into(), 1..=256);
        checks.cache("segment-bytes", self.segment_bytes);
        checks.range("read-ahead-bytes", self.read_ahead_bytes, 0..=self.segment_bytes);
        checks.duration("age-limit-ns", self.age_limit_ns, 0);
        checks.cache("write-cache-bytes", self.write_cache_bytes);
        checks.range("pressed-percent", self.pressed_percent.into(), 1..=100);
        checks.duration("destage-quiet-ns", self.destage_quiet_ns, 0);
        checks.cache("destage-step-bytes", self.destage_step_bytes);
        checks.into_problems()
    }
}

/// The device.
#[derive(Clone, Debug)]
pub struct SataDisk {
    depth: u32,
    capacity_sectors: u64,
    write_cache: bool,
    machine: Machine,
}

impl SataDisk {
    /// A disk that is idle, with its heads at the first sector and nothing in its caches. `seed` decides
    /// how the platter stands at time zero.
    ///
    /// When [`SataDiskOptions::validate`] finds a problem.
    pub fn new(options: &SataDiskOptions, seed: u64) -> Result<Self, InvalidOptions> {
        InvalidOptions::none_of(options.validate())?;
        let phase_ns = RandomStream::new(seed, "device sata-disk phase").below(options.revolution_ns);
        Ok(Self {
            depth: options.depth,
            capacity_sectors: options.capacity_sectors,
            write_cache: options.write_cache,
            machine: Machine::new(options, phase_ns),
        })
    }

    /// Data acknowledged but not yet on the medium, in bytes, as of the last call.
    #[must_use]
    pub fn dirty_bytes(&self) -> u64 {
        self.machine.dirty_bytes()
    }

    /// The sector at which the head stands, or to which it is under way, as of the last call.
    #[must_use]
    pub fn head_sector(&self) -> u64 {
        self.machine.head_sector()
    }
}

impl Device for SataDisk {
    fn depth(&self) -> u32 {
        self.depth
    }

    fn is_non_rotational(&self) -> bool {
        false
    }

    fn has_volatile_cache(&self) -> bool {
        self.write_cache
    }

    fn supports_fua(&self) -> bool {
        false
    }

    fn capacity_sectors(&self) -> u64 {
        self.capacity_sectors
    }

    fn start(&mut self, now_ns: u64, command: Command) {
        self.machine.catch_up(now_ns);
        self.machine.arrive(now_ns, command);
    }

    fn next_event_ns(&self) -> Option<u64> {
        self.machine.next_event_ns()
    }

    fn advance(&mut self, now_ns: u64, done: &mut Vec<u32>) {
        self.machine.catch_up(now_ns);
        self.machine.take_finished(done);
    }
}
