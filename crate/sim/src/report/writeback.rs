//! What became of dirty pages, in numbers and lines.
//!
//! *Follows:* docs/model/reclaim.md, sections 6.1, 6.4 and 6.6.

use super::explain::duration;
use crate::simulation::World;
use crate::writeback::WaitSite;
use serde::{Deserialize, Serialize};
use std::fmt::Write as _;

/// Dirty pages, and what was done about them.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct WritebackResult {
    /// The kernel's name and the value at the end, in pages: `nr_dirty`, `nr_writeback`, `nr_dirtied`, `nr_written`,
    /// `nr_dirty_threshold`, `nr_dirty_background_threshold`. Kernels show the last four from 2.6.37 on.
    pub counters: Vec<(String, u64)>,
    /// Sleeps, by where they are taken; places without any are left out.
    pub waits: Vec<WriteWaitResult>,
}

/// Sleeps because of dirty pages in one place.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct WriteWaitResult {
    /// Where.
    pub site: WaitSite,
    /// How many.
    pub taken: u64,
    /// Of these, how many began while no device was congested.
    pub unnecessary: u64,
    /// Time slept, in nanoseconds.
    pub slept_ns: u64,
    /// The longest, in nanoseconds.
    pub longest_ns: u64,
}

impl WritebackResult {
    pub(super) fn of(world: &World) -> Self {
        let (writeback, limits) = (world.writeback(), world.dirty_limits());
        let counters = [
            ("nr_dirty", world.nr_dirty()),
            ("nr_writeback", world.nr_writeback()),
            ("nr_dirtied", world.nr_dirtied()),
            ("nr_written", world.nr_written()),
            ("nr_dirty_threshold", limits.dirty_pages),
            ("nr_dirty_background_threshold", limits.background_pages),
        ];
        let wait = |site: WaitSite| {
            let totals = writeback.waits.at(site);
            WriteWaitResult {
                site,
                taken: totals.taken,
                unnecessary: totals.unnecessary,
                slept_ns: totals.slept_ns,
                longest_ns: totals.longest_ns,
            }
        };
        Self {
            counters: counters.map(|(name, value)| (name.to_owned(), value)).to_vec(),
            waits: WaitSite::ALL.into_iter().map(wait).filter(|wait| wait.taken != 0).collect(),
        }
    }

    /// The counter of this name.
    #[must_use]
    pub fn counter(&self, name: &str) -> Option<u64> {
        self.counters.iter().find(|(known, _)| known == name).map(|(_, value)| *value)
    }

    /// The sleeps at a place, if there were any.
    #[must_use]
    pub fn wait(&self, site: WaitSite) -> Option<&WriteWaitResult> {
        self.waits.iter().find(|wait| wait.site == site)
    }

    /// As text, for people; empty when no page was ever dirty.
    #[must_use]
    pub fn text(&self) -> String {
        if self.counter("nr_dirtied").unwrap_or(0) == 0 {
            return String::new();
        }
        let listed: Vec<String> =
            self.counters.iter().map(|(name, value)| format!("{name} {value}")).collect();
        let mut out = format!("\nWriteback\n  {}\n", listed.join(", "));
        for wait in &self.waits {
            let _ = writeln!(out, "  {}", wait.sentence());
        }
        out
    }
}

impl WriteWaitResult {
    /// `writers, while too much is dirty: 556 sleeps of 91 s in all, at most 100 ms; 12 of them while nothing was congested`.
    #[must_use]
    pub fn sentence(&self) -> String {
        format!(
            "{}: {} sleeps, {} in all, at most {}; {} of them while nothing was congested",
            self.site.words(),
            self.taken,
            duration(self.slept_ns as f64),
            duration(self.longest_ns as f64),
            self.unnecessary
        )
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Nothing is said of writeback where nothing was written.
    #[test]
    fn the_text_has_counters_and_sleeps() {
        let wait = WriteWaitResult {
            site: WaitSite::Throttle,
            taken: 3,
            unnecessary: 1,
            slept_ns: 200_000_000,
            longest_ns: 100_000_000,
        };
        let mut result = WritebackResult { counters: vec![("nr_dirtied".into(), 0)], waits: vec![wait] };
        assert_eq!(result.text(), "");
        result.counters[0].1 = 7;
        let expected = "\nWriteback\n  nr_dirtied 7\n  writers, while too much is dirty: 3 sleeps, 200 ms in all, at most \
                        100 ms; 1 of them while nothing was congested\n";
        assert_eq!(result.text(), expected);
    }
}
