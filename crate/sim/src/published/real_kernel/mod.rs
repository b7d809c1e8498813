//! Traces of real kernels, replayed: the same arrivals at the same times into the simulated block layer
//! over the same device; then what each starts, in which order and when, and what CFQ decides.
//!
//! *Models:* everything below the submitting processes. The processes themselves, and the moments at
//! which kblockd gets the processor, are taken from the trace. *Does not model:* the time that the kernel's
//! own instructions and the trace calls take (about 3 us for each line of a trace), except between a
//! completion and the start that follows from it, where the trace itself says how long it is.
//! *Follows:* docs/model/block-layer.md, section 0.4; tests/real-kernel/README.md.

mod arrivals;
mod compare;
mod replay;
mod trace;

pub use compare::{Comparison, Matches};
pub use trace::{RealTrace, TraceError};

/// Names and texts of the traces that the project keeps.
pub const TRACES: [(&str, &str); 3] = [
    ("fs_mark alone, CFQ", include_str!("../../../../../tests/real-kernel/01-2.6.35-cfq-fsmark-alone.txt")),
    (
        "two sequential readers, CFQ",
        include_str!("../../../../../tests/real-kernel/03-2.6.35-cfq-two-readers.txt"),
    ),
    (
        "fs_mark beside a reader, deadline",
        include_str!("../../../../../tests/real-kernel/05-2.6.35-deadline-mixed.txt"),
    ),
];

/// Replays every trace of [`TRACES`].
///
/// # Errors
/// A trace cannot be read, which line and why; the kept ones can.
pub fn compare_all() -> Result<Vec<Comparison>, TraceError> {
    TRACES.iter().map(|(name, text)| RealTrace::parse(text)?.compare(name)).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn comparison(name: &str) -> Comparison {
        let all = compare_all().expect("the kept traces can be read");
        all.into_iter().find(|comparison| comparison.name == name).expect("the trace is kept")
    }

    /// What may lie between a cause in the trace and the start that follows from it: the trace calls on
    /// the way, about 3 us each, and the kernel's own work.
    const TRACING_NS: u64 = 40_000;

    fn assert_conforms(comparison: &Comparison) {
        assert_eq!(comparison.first_divergence, None, "{comparison}");
        assert_eq!(comparison.starts.recorded, comparison.starts.in_order, "{comparison}");
        assert_eq!(comparison.starts.recorded, comparison.starts.simulated, "{comparison}");
        assert_eq!(comparison.decisions.recorded, comparison.decisions.in_order, "{comparison}");
        assert!(comparison.start_difference_ns <= TRACING_NS, "{comparison}");
        assert!(comparison.done_difference_ns <= TRACING_NS, "{comparison}");
    }

    /// The 9-tick period, idling in vain, the journal's async queue, the barrier.
    #[test]
    fn fs_mark_alone_conforms() {
        let comparison = comparison("fs_mark alone, CFQ");
        assert_conforms(&comparison);
        assert!(comparison.starts.recorded > 15 && comparison.decisions.recorded > 30, "{comparison}");
    }

    /// Slices, turns, idling, when a request that arrives is started.
    #[test]
    fn two_readers_conform() {
        let comparison = comparison("two sequential readers, CFQ");
        assert_conforms(&comparison);
        assert!(comparison.starts.recorded > 500 && comparison.decisions.recorded > 20, "{comparison}");
    }

    /// Batches, barriers, plugging.
    #[test]
    fn deadline_beside_a_reader_conforms() {
        let comparison = comparison("fs_mark beside a reader, deadline");
        assert_conforms(&comparison);
        assert!(comparison.starts.recorded > 60, "{comparison}");
    }
}

#[cfg(test)]
mod dump {
    use super::*;
    #[test]
    fn dump() {
        let which: usize = std::env::var("TRACE").ok().and_then(|t| t.parse().ok()).unwrap_or(0);
        let from: i64 = std::env::var("FROM").ok().and_then(|t| t.parse().ok()).unwrap_or(-20000);
        let to: i64 = std::env::var("TO").ok().and_then(|t| t.parse().ok()).unwrap_or(20000);
        let trace = RealTrace::parse(TRACES[which].1).unwrap();
        println!(
            "turnaround {} phase {} prelude {}",
            trace.turnaround_ns(),
            trace.phase_ns(),
            trace.prelude_ns().unwrap()
        );
        let played = trace.play().unwrap();
        let mut all: Vec<(i64, u8, String)> = Vec::new();
        for (t, s) in &played.starts {
            all.push((*t, 1, format!("START {}+{} w{}", s.sector, s.sectors, s.flags.0)));
        }
        for (t, s) in &played.completions {
            all.push((*t, 0, format!("DONE {}+{}", s.sector, s.sectors)));
        }
        for (t, d) in &played.decisions {
            all.push((*t, 0, format!("{d:?}")));
        }
        for a in trace.arrivals().unwrap() {
            all.push((a.time_ns, 2, format!("   {:?} {}", a.act, trace.processes[a.process])));
        }
        all.sort();
        for (t, _, s) in all {
            if t / 1000 >= from && t / 1000 <= to {
                println!("{:.1} {s}", t as f64 / 1000.0);
            }
        }
        println!("{}", trace.compare("x").unwrap());
    }
}
