//! Where data lie on a disk, and how long it takes to get there.
//!
//! *Models:* a surface that delivers data more slowly towards the inside, in zones of constant rate; the
//! angle at which each sector lies; seek time as a curve over distance; rotation as the phase of simulated
//! time, so that a wait depends on when one asks.
//!
//! *Does not model:* heads and cylinders. Tracks follow one another in one spiral whose skew is such that
//! reading on costs nothing at a track's end. Spare sectors.
//!
//! *Follows:* docs/model/block-layer.md, sections 7.1 and 7.2 (seek curve, revolution, media rate).

use super::super::SECTOR_BYTES;
use super::SataDiskOptions;

/// Zones of constant media rate into which the surface is divided.
const ZONES: u64 = 64;

/// A zone.
#[derive(Clone, Copy, Debug)]
struct Zone {
    first_sector: u64,
    /// Time to read the whole disk up to here, in nanoseconds.
    first_ns: u64,
    sector_ns: u64,
}

/// The layout of one disk.
#[derive(Clone, Debug)]
pub(super) struct Geometry {
    zones: Vec<Zone>,
    zone_sectors: u64,
    capacity_sectors: u64,
    revolution_ns: u64,
    /// Angle at which the disk stands at time zero, as a time.
    phase_ns: u64,
    seek: SeekCurve,
}

/// Time to move the heads over the fraction x of the surface:
/// `fixed + root * sqrt(x) + linear * x`, in nanoseconds.
#[derive(Clone, Copy, Debug)]
struct SeekCurve {
    fixed_ns: u64,
    root_ns: u64,
    linear_ns: u64,
}

impl Geometry {
    /// The layout that `options` describe, standing at `phase_ns` at time zero.
    pub(super) fn new(options: &SataDiskOptions, phase_ns: u64) -> Self {
        let zone_sectors = options.capacity_sectors.div_ceil(ZONES);
        let mut zones = Vec::new();
        let mut first_ns = 0;
        for zone in 0..ZONES {
            let sector_ns = Self::zone_sector_ns(options, zone);
            zones.push(Zone { first_sector: zone * zone_sectors, first_ns, sector_ns });
            first_ns += zone_sectors * sector_ns;
        }
        Self {
            zones,
            zone_sectors,
            capacity_sectors: options.capacity_sectors,
            revolution_ns: options.revolution_ns,
            phase_ns,
            seek: SeekCurve {
                fixed_ns: options.seek_fixed_ns,
                root_ns: options.seek_root_ns,
                linear_ns: options.seek_linear_ns,
            },
        }
    }

    /// Time to pass one sector in a zone: the rate falls evenly from the outer to the inner edge, and each
    /// zone has the rate of its middle.
    fn zone_sector_ns(options: &SataDiskOptions, zone: u64) -> u64 {
        let fall = options.media_outer_bytes_per_s - options.media_inner_bytes_per_s;
        let rate = options.media_outer_bytes_per_s - fall / (2 * ZONES) * (2 * zone + 1);
        (SECTOR_BYTES * 1_000_000_000 + rate / 2) / rate.max(1)
    }

    /// Time to read the whole disk from its beginning up to `sector`. It is the coordinate along the
    /// spiral: its remainder by a revolution is the angle, its quotient the track. What lies beyond the last
    /// sector counts as lying at the end.
    pub(super) fn spiral_ns(&self, sector: u64) -> u64 {
        let sector = sector.min(self.capacity_sectors);
        let index = usize::try_from(sector / self.zone_sectors).unwrap_or(usize::MAX);
        let zone = &self.zones[index.min(self.zones.len() - 1)];
        zone.first_ns + (sector - zone.first_sector) * zone.sector_ns
    }

    /// The sector that lies at `spiral_ns`, which need not be a sector's beginning.
    pub(super) fn sector_at(&self, spiral_ns: u64) -> u64 {
        let index = self.zones.partition_point(|zone| zone.first_ns <= spiral_ns).max(1) - 1;
        let zone = &self.zones[index];
        zone.first_sector + (spiral_ns - zone.first_ns) / zone.sector_ns
    }

    /// Time for `from` to `to` to pass under the head, `to` not before `from`.
    pub(super) fn pass_ns(&self, from: u64, to: u64) -> u64 {
        self.spiral_ns(to).saturating_sub(self.spiral_ns(from))
    }

    /// Time to move the heads between two sectors: nothing within a track.
    pub(super) fn seek_ns(&self, from: u64, to: u64, settle_ns: u64) -> u64 {
        if from == to || self.track(from) == self.track(to) {
            0
        } else {
            self.long_seek_ns(from.abs_diff(to)) + settle_ns
        }
    }

    /// Time to move the heads over `sectors`, at least to the next track.
    // Division and square root of f64 give the same bits on every target; all values are far below 2^53.
    #[allow(clippy::cast_precision_loss, clippy::cast_possible_truncation, clippy::cast_sign_loss)]
    pub(super) fn long_seek_ns(&self, sectors: u64) -> u64 {
        let x = sectors.min(self.capacity_sectors) as f64 / self.capacity_sectors as f64;
        let moving_ns = self.seek.root_ns as f64 * x.sqrt() + self.seek.linear_ns as f64 * x;
        self.seek.fixed_ns + moving_ns as u64
    }

    /// Time until `to` begins to pass under the head, when the head stands over `from` at `at_ns`.
    pub(super) fn positioning_ns(&self, at_ns: u64, from: u64, to: u64, settle_ns: u64) -> u64 {
        let seek_ns = self.seek_ns(from, to, settle_ns);
        let arrival_angle_ns = (at_ns + self.phase_ns + seek_ns) % self.revolution_ns;
        let target_angle_ns = self.spiral_ns(to) % self.revolution_ns;
        seek_ns + (target_angle_ns + self.revolution_ns - arrival_angle_ns) % self.revolution_ns
    }

    fn track(&self, sector: u64) -> u64 {
        self.spiral_ns(sector) / self.revolution_ns
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn geometry() -> Geometry {
        Geometry::new(&SataDiskOptions::default(), 0)
    }

    /// Section 7.2: a track-to-track seek takes 0.8 to 1.0 ms with its settling, the full stroke 17 ms, the
    /// mean over random pairs 8.5 ms with settling; writes settle 0.5 ms longer.
    #[test]
    fn the_seek_curve_has_the_published_points() {
        let (geometry, options) = (geometry(), SataDiskOptions::default());
        let capacity = options.capacity_sectors;
        let next_track = geometry.seek_ns(0, 2_000, options.read_settle_ns);
        assert!((800_000..=1_050_000).contains(&next_track), "{next_track}");
        let full = geometry.seek_ns(0, capacity - 1, 0);
        assert!(full.abs_diff(17_000_000) < 10_000, "{full}");
        // A grid of pairs stands for the expectation; its error is below 1 %.
        let points: Vec<u64> = (0..100).map(|step| capacity / 200 * (2 * step + 1)).collect();
        let total: u64 = points
            .iter()
            .flat_map(|&from| points.iter().map(move |&to| (from, to)))
            .map(|(from, to)| geometry.seek_ns(from, to, options.read_settle_ns))
            .sum();
        let mean = total / 10_000;
        assert!((7_900_000..=8_600_000).contains(&mean), "{mean}");
        assert_eq!(options.write_settle_ns - options.read_settle_ns, 500_000);
    }

    /// Section 7.2: 100 MB/s at the outer edge, 50 at the inner one, linear between them (0.5 % for the zones
    /// and for whole nanoseconds).
    #[test]
    fn the_media_rate_falls_evenly() {
        let geometry = geometry();
        let capacity = SataDiskOptions::default().capacity_sectors;
        for (position, rate) in [(0, 100_000_000), (capacity / 2, 75_000_000), (capacity - 4096, 50_000_000)]
        {
            let measured = 2048 * SECTOR_BYTES * 1_000_000_000 / geometry.pass_ns(position, position + 2048);
            assert!(measured.abs_diff(rate) <= rate / 100, "{position}: {measured}");
        }
    }

    /// Position along the spiral and sector are each other's inverse, also where zones meet.
    #[test]
    fn the_spiral_can_be_read_both_ways() {
        let geometry = geometry();
        for zone in 1..ZONES {
            for sector in zone * geometry.zone_sectors - 2..zone * geometry.zone_sectors + 2 {
                let spiral_ns = geometry.spiral_ns(sector);
                assert_eq!(geometry.sector_at(spiral_ns), sector);
                assert_eq!(geometry.sector_at(spiral_ns + 1), sector);
            }
        }
    }

    /// Reading on costs no wait, reading the same again a whole turn, and one is never away longer than seek
    /// and turn.
    #[test]
    fn rotation_is_the_phase_of_time() {
        let geometry = geometry();
        let revolution = geometry.revolution_ns;
        let start = geometry.positioning_ns(0, 0, 5_000, 0);
        let end = start + geometry.pass_ns(5_000, 5_256);
        assert_eq!(geometry.positioning_ns(end, 5_256, 5_256, 0), 0);
        let again = geometry.positioning_ns(end, 5_256, 5_000, 0);
        assert_eq!(again + geometry.pass_ns(5_000, 5_256), revolution);
        // A fixed later moment: the same place, 1 ms of turning further on.
        let later = geometry.positioning_ns(end + 1_000_000, 5_256, 5_256, 0);
        assert_eq!(later, revolution - 1_000_000);
    }
}
