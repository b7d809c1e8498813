//! Which of several places the drive goes to next: the nearest in time.
//!
//! *Models:* the shortest positioning time (seek and rotation together) among the commands that wait, with
//! an age from which a command goes first; the same search over the runs in the write cache.
//!
//! *Follows:* docs/model/block-layer.md, section 7.2 (NCQ, write cache).

use super::geometry::Geometry;
use super::write_cache::Extent;

/// The mechanism at the moment of a choice.
#[derive(Clone, Copy, Debug)]
pub(super) struct Standpoint {
    /// When.
    pub(super) at_ns: u64,
    /// The sector under which the head stands or would go on.
    pub(super) head_sector: u64,
}

/// A command that waits for the mechanism.
#[derive(Clone, Copy, Debug)]
pub(super) struct Candidate {
    /// The sector at which the medium is needed first.
    pub(super) sector: u64,
    /// How long the head settles there.
    pub(super) settle_ns: u64,
    /// When the command arrived.
    pub(super) arrived_ns: u64,
}

/// The index of the candidate to serve: the oldest, once it has waited for `age_limit_ns`; otherwise the
/// one with the shortest positioning time, of equal ones the first. Candidates are in order of arrival.
pub(super) fn choose_command(
    geometry: &Geometry,
    from: Standpoint,
    age_limit_ns: u64,
    candidates: impl Iterator<Item = Candidate>,
) -> Option<usize> {
    let mut best: Option<(u64, usize)> = None;
    for (index, candidate) in candidates.enumerate() {
        if index == 0 && from.at_ns.saturating_sub(candidate.arrived_ns) >= age_limit_ns {
            return Some(0);
        }
        let time_ns =
            geometry.positioning_ns(from.at_ns, from.head_sector, candidate.sector, candidate.settle_ns);
        if best.is_none_or(|(best_ns, _)| time_ns < best_ns) {
            best = Some((time_ns, index));
        }
    }
    best.map(|(_, index)| index)
}

/// The index of the run whose beginning the head reaches first, of equal ones the lowest.
///
/// The search walks outwards from the head in both directions. Positioning takes at least the seek, and a
/// seek grows with distance; so a direction is finished as soon as the seek alone takes longer than the best
/// found. With thousands of scattered runs that leaves a handful to look at.
pub(super) fn choose_run(
    geometry: &Geometry,
    from: Standpoint,
    settle_ns: u64,
    runs: &[Extent],
) -> Option<usize> {
    let mut best: Option<(u64, usize)> = None;
    let middle = runs.partition_point(|run| run.start < from.head_sector);
    // Returns whether runs further out can still win.
    let mut consider = |index: usize| {
        let target = runs[index].start;
        let seek_ns = geometry.seek_ns(from.head_sector, target, settle_ns);
        if best.is_some_and(|(best_ns, _)| seek_ns > best_ns) {
            return false;
        }
        let time_ns = geometry.positioning_ns(from.at_ns, from.head_sector, target, settle_ns);
        if best.is_none_or(|known| (time_ns, index) < known) {
            best = Some((time_ns, index));
        }
        true
    };
    let _ = (middle..runs.len()).all(&mut consider);
    let _ = (0..middle).rev().all(&mut consider);
    best.map(|(_, index)| index)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::super::SataDiskOptions;
    use super::*;

    /// Sectors that lie on few tracks and on many, so that both near and far choices occur.
    fn sectors() -> impl Strategy<Value = u64> {
        prop_oneof![0u64..5_000, 0u64..976_000_000, 400_000_000u64..400_100_000]
    }

    proptest! {
        /// The search that stops early finds what looking at every run finds.
        #[test]
        fn the_run_chosen_is_the_nearest_in_time(
            mut starts in prop::collection::btree_set(sectors(), 1..200),
            head_sector in sectors(),
            at_ns in 0u64..10_000_000_000,
            write in any::<bool>(),
        ) {
            let geometry = Geometry::new(&SataDiskOptions::default(), 12_345);
            let settle_ns = if write { 700_000 } else { 0 };
            let from = Standpoint { at_ns, head_sector };
            starts.insert(head_sector);
            let runs: Vec<Extent> = starts.iter().map(|&start| Extent { start, end: start + 1 }).collect();
            let slow = (0..runs.len()).min_by_key(|&index| {
                (geometry.positioning_ns(at_ns, head_sector, runs[index].start, settle_ns), index)
            });
            prop_assert_eq!(choose_run(&geometry, from, settle_ns, &runs), slow);
        }

        /// A command that is too old goes first; otherwise none of the others is nearer than the one chosen,
        /// and none that arrived earlier is as near.
        #[test]
        fn the_command_chosen_is_the_nearest_unless_one_is_old(
            waiting in prop::collection::vec((sectors(), 0u64..1_000_000_000, any::<bool>()), 1..32),
            head_sector in sectors(),
            wait_ns in 0u64..1_000_000_000,
        ) {
            let geometry = Geometry::new(&SataDiskOptions::default(), 0);
            let age_limit_ns = 500_000_000;
            let mut arrivals: Vec<u64> = waiting.iter().map(|&(_, arrived_ns, _)| arrived_ns).collect();
            arrivals.sort_unstable();
            let at_ns = arrivals[arrivals.len() - 1] + wait_ns;
            let candidates: Vec<Candidate> = waiting
                .iter()
                .zip(&arrivals)
                .map(|(&(sector, _, write), &arrived_ns)| {
                    Candidate { sector, settle_ns: if write { 700_000 } else { 200_000 }, arrived_ns }
                })
                .collect();
            let from = Standpoint { at_ns, head_sector };
            let chosen = choose_command(&geometry, from, age_limit_ns, candidates.iter().copied());
            let expected = if at_ns - arrivals[0] >= age_limit_ns {
                0
            } else {
                let mut order: Vec<usize> = (0..candidates.len()).collect();
                order.sort_by_key(|&index| {
                    let candidate = candidates[index];
                    (geometry.positioning_ns(at_ns, head_sector, candidate.sector, candidate.settle_ns), index)
                });
                order[0]
            };
            prop_assert_eq!(chosen, Some(expected));
        }
    }
}
