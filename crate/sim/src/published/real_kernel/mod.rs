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
mod prelude;
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
    use proptest::prelude::*;

    fn comparison(name: &str) -> Comparison {
        let all = compare_all().expect("the kept traces can be read");
        all.into_iter().find(|comparison| comparison.name == name).expect("the trace is kept")
    }

    /// What the trace calls on the way from a cause to its start may add up to: about 3 us each, and in a
    /// burst of CFQ's decisions up to a dozen of them, in each of the two requests in the device.
    const TRACING_NS: u64 = 72_000;

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

    /// The comparison can fail: what another kernel does is not taken for the recorded one.
    #[test]
    fn other_kernels_do_not_conform() {
        for release in ["2.6.30", "2.6.31", "2.6.32"] {
            let text = TRACES[0].1.replace("Linux 2.6.35", &format!("Linux {release}"));
            let comparison = RealTrace::parse(&text).and_then(|trace| trace.compare(release));
            let comparison = comparison.expect("the trace can be read");
            assert!(comparison.first_divergence.is_some(), "{comparison}");
            assert!(comparison.start_difference_ns > TRACING_NS, "{comparison}");
        }
        let text = TRACES[1].1.replacen("CFQ", "deadline", 1);
        let comparison = RealTrace::parse(&text).and_then(|trace| trace.compare("deadline"));
        let comparison = comparison.expect("the trace can be read");
        assert!(comparison.starts.in_order < comparison.starts.recorded, "{comparison}");
    }

    proptest! {
        /// Whatever is cut out of a trace, changed or swapped: an answer or an error, no panic.
        #[test]
        fn damaged_traces_are_refused_or_compared(
            which in 0_usize..3,
            damage in prop::collection::vec((any::<u16>(), any::<u16>(), 0_u8..4), 1..6),
        ) {
            let mut lines: Vec<String> = TRACES[which].1.lines().take(150).map(str::to_owned).collect();
            for (at, value, kind) in damage {
                let at = usize::from(at) % lines.len();
                let line = &mut lines[at];
                match kind {
                    0 => line.clear(),
                    1 => *line = line.replace('8', &value.to_string()),
                    2 => *line = line.replacen(' ', "", 1),
                    _ => lines.truncate(at + 1),
                }
            }
            let _ = RealTrace::parse(&lines.join("\n")).and_then(|trace| trace.compare("damaged"));
        }
    }
}
