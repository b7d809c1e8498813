//! What memory management did, in lines and sentences.
//!
//! *Follows:* docs/model/reclaim.md, sections 0.5 (G3, G5) and 5.4.

use super::explain::duration;
use super::results::{MemoryResult, NapResult, RunResult};
use crate::mm::NapSite;
use std::fmt::Write as _;

impl MemoryResult {
    /// Time slept at a place, in nanoseconds.
    #[must_use]
    pub fn slept_ns(&self, site: NapSite) -> u64 {
        self.naps.iter().filter(|nap| nap.site == site).map(|nap| nap.slept_ns).sum()
    }

    /// Memory at the end as text, for people: zones, naps, counters.
    #[must_use]
    pub fn text(&self) -> String {
        let mut out = String::from("\nMemory\n");
        for zone in &self.zones {
            let [min, low, high] = zone.marks;
            let [inactive_anon, active_anon, inactive_file, active_file, ..] = zone.lru[..] else { continue };
            let _ = writeln!(
                out,
                "  {}: {} of {} pages free (min {min}, low {low}, high {high}); file {inactive_file} inactive, {active_file} \
                 active; anon {inactive_anon} inactive, {active_anon} active",
                zone.name, zone.free, zone.present
            );
        }
        if self.page_table_pages != 0 {
            let _ = writeln!(out, "  page tables: {} pages", self.page_table_pages);
        }
        for nap in &self.naps {
            let _ = writeln!(out, "  {}", nap.sentence());
        }
        let counters = self.vmstat.iter().filter(|(_, value)| *value != 0);
        let counters: Vec<String> = counters.map(|(name, value)| format!("{name} {value}")).collect();
        let _ = writeln!(out, "  /proc/vmstat: {}", counters.join(", "));
        out
    }
}

impl NapResult {
    /// `direct reclaim, after a pass: 556 sleeps of 91 s in all, 556 of them while nothing was congested`.
    #[must_use]
    pub fn sentence(&self) -> String {
        let mut text = format!("{}: ", self.site.words());
        if self.taken != 0 {
            let _ = write!(
                text,
                "{} sleeps, {} in all, at most {}; {} of them while nothing was congested",
                self.taken,
                duration(self.slept_ns as f64),
                duration(self.longest_ns as f64),
                self.unnecessary
            );
        }
        if self.left_out != 0 {
            let and = if self.taken == 0 { "" } else { ", and " };
            let _ = write!(text, "{and}{} left out because nothing was congested", self.left_out);
        }
        text
    }
}

/// `/proc/vmstat` of two kernels the way the mail shows it: a line with - and a line with + for each counter that differs.
/// Each run's counters are those at its end; of several runs of a kernel, the first.
#[must_use]
pub fn vmstat_difference(base: &RunResult, other: &RunResult) -> Vec<String> {
    let (Some(before), Some(after)) = (&base.memory, &other.memory) else { return Vec::new() };
    let mut lines = vec![format!("--- {}", base.kernel), format!("+++ {}", other.kernel)];
    for (name, old) in &before.vmstat {
        let new = after.counter(name).unwrap_or(0);
        if new == *old {
            lines.push(format!(" {name} {old}"));
        } else {
            lines.push(format!("-{name} {old}"));
            lines.push(format!("+{name} {new}"));
        }
    }
    lines
}

/// Where the difference of two runs' times comes from, as far as memory is concerned: direct reclaim on the CPU, the allocator's
/// retry sleeps and direct reclaim's own. Empty when neither run has memory. For one process that does nothing but fault the three
/// add up to the whole (section 0.5, G3).
#[must_use]
pub fn identity(base: &RunResult, other: &RunResult) -> Option<String> {
    let (before, after) = (base.memory.as_ref()?, other.memory.as_ref()?);
    let difference = |of: &dyn Fn(&MemoryResult) -> u64| of(after) as f64 - of(before) as f64;
    let parts = [
        (difference(&|memory| memory.direct_reclaim_ns), "direct reclaim on the CPU"),
        (difference(&|memory| memory.slept_ns(NapSite::Retry)), "sleeps between two attempts to allocate"),
        (difference(&|memory| memory.slept_ns(NapSite::Reclaim)), "sleeps of direct reclaim"),
    ];
    let elapsed = other.elapsed_ns as f64 - base.elapsed_ns as f64;
    if parts.iter().all(|part| part.0 == 0.0) {
        return None;
    }
    let signed = |ns: f64| format!("{}{}", if ns < 0.0 { "-" } else { "+" }, duration(ns.abs()));
    let listed: Vec<String> = parts.iter().map(|(ns, what)| format!("{} {what}", signed(*ns))).collect();
    let rest = elapsed - parts.iter().map(|part| part.0).sum::<f64>();
    let more = if elapsed < 0.0 { "less" } else { "more" };
    Some(format!(
        "In all, {} takes {} {more} than {}: {}, {} everything else.",
        other.kernel,
        duration(elapsed.abs()),
        base.kernel,
        listed.join(", "),
        signed(rest)
    ))
}

#[cfg(test)]
mod tests {
    use super::super::compare::tests::run;
    use super::*;

    fn with(kernel: &str, elapsed_ns: u64, direct_ns: u64, naps: [u64; 2], allocstall: u64) -> RunResult {
        let nap = |site, slept_ns| NapResult {
            site,
            taken: 3,
            unnecessary: 3,
            left_out: 0,
            slept_ns,
            longest_ns: slept_ns,
        };
        let memory = MemoryResult {
            vmstat: vec![("pgfault".to_owned(), 8), ("allocstall".to_owned(), allocstall)],
            naps: vec![nap(NapSite::Retry, naps[0]), nap(NapSite::Reclaim, naps[1])],
            direct_reclaim_ns: direct_ns,
            ..MemoryResult::default()
        };
        RunResult { elapsed_ns, memory: Some(memory), ..run(kernel, "case", 1, 1, 0) }
    }

    /// The mail's layout.
    #[test]
    fn counters_are_shown_as_a_difference() {
        let (before, after) = (with("old", 1, 1, [0, 0], 614), with("new", 1, 1, [0, 0], 8566));
        let expected = ["--- old", "+++ new", " pgfault 8", "-allocstall 614", "+allocstall 8566"];
        assert_eq!(vmstat_difference(&before, &after), expected);
    }

    /// What remains is said as well.
    #[test]
    fn the_identity_adds_up() {
        let s = 1_000_000_000;
        let before = with("old", 500 * s, s, [10 * s, 60 * s], 1);
        let after = with("new", 560 * s, 80 * s, [50 * s, 0], 2);
        let expected = "In all, new takes 60.0 s more than old: +79.0 s direct reclaim on the CPU, +40.0 s sleeps between two attempts to allocate, \
                        -60.0 s sleeps of direct reclaim, +1.0 s everything else.";
        assert_eq!(identity(&before, &after).as_deref(), Some(expected));
    }
}
