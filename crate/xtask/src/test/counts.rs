//! Counts of tests, read from what test runners print.

use std::fmt;
use std::ops::AddAssign;

/// How many tests held and how many did not.
#[derive(Clone, Copy, Default, PartialEq, Eq, Debug)]
pub(super) struct Counts {
    pub(super) passed: u64,
    pub(super) failed: u64,
}

impl Counts {
    /// A step that is one test, and held.
    pub(super) fn success() -> Self {
        Self { passed: 1, failed: 0 }
    }

    /// A step that failed as a whole.
    pub(super) fn failure() -> Self {
        Self { passed: 0, failed: 1 }
    }

    pub(super) fn is_success(self) -> bool {
        self.failed == 0
    }

    /// Takes a line of cargo's test output into account: `test result: ok. 3 passed; 0 failed; ...`.
    pub(super) fn read_cargo_line(&mut self, line: &str) {
        let Some(result) = line.strip_prefix("test result: ") else {
            return;
        };
        for part in result.split(['.', ';']) {
            match part.trim().split_once(' ') {
                Some((count, "passed")) => self.passed += count.parse::<u64>().unwrap_or(0),
                Some((count, "failed")) => self.failed += count.parse::<u64>().unwrap_or(0),
                _ => {}
            }
        }
    }

    /// Takes a line of the summary of Node's `spec` reporter into account: `ℹ pass 3`. What was cancelled, skipped or
    /// left for later did not hold.
    pub(super) fn read_node_line(&mut self, line: &str) {
        let Some((name, count)) = line.strip_prefix("ℹ ").and_then(|rest| rest.split_once(' ')) else {
            return;
        };
        let Ok(count) = count.parse::<u64>() else {
            return;
        };
        match name {
            "pass" => self.passed += count,
            "fail" | "cancelled" | "skipped" | "todo" => self.failed += count,
            _ => {}
        }
    }

    /// What a runner's lines and its exit status say together: a runner that failed has a failure, even when it broke
    /// before it could count one, and one that ran nothing has not succeeded.
    pub(super) fn with_status(mut self, success: bool) -> Self {
        let nothing_ran = self.passed == 0;
        if self.failed == 0 && (!success || nothing_ran) {
            self.failed = 1;
        }
        self
    }
}

impl AddAssign for Counts {
    fn add_assign(&mut self, other: Self) {
        self.passed += other.passed;
        self.failed += other.failed;
    }
}

impl fmt::Display for Counts {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "{} passed, {} failed", self.passed, self.failed)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn cargos_results_add_up_over_all_test_programs() {
        let mut counts = Counts::default();
        for line in [
            "running 3 tests",
            "test result: ok. 3 passed; 0 failed; 0 ignored; 0 measured; 0 filtered out; finished in 0.01s",
            "test result: FAILED. 1 passed; 2 failed; 0 ignored; 0 measured; 7 filtered out; finished in 0.01s",
        ] {
            counts.read_cargo_line(line);
        }
        assert_eq!(counts, Counts { passed: 4, failed: 2 });
    }

    #[test]
    fn nodes_summary_counts_what_did_not_run_as_a_failure() {
        let mut counts = Counts::default();
        for line in [
            "✔ opens (3 ms)",
            "ℹ tests 4",
            "ℹ pass 2",
            "ℹ fail 1",
            "ℹ cancelled 0",
            "ℹ skipped 1",
            "ℹ duration_ms 9.5",
        ] {
            counts.read_node_line(line);
        }
        assert_eq!(counts, Counts { passed: 2, failed: 2 });
    }

    #[test]
    fn a_runner_that_breaks_or_runs_nothing_has_failed() {
        assert_eq!(Counts { passed: 3, failed: 0 }.with_status(false), Counts { passed: 3, failed: 1 });
        assert_eq!(Counts::default().with_status(true), Counts::failure());
        assert_eq!(Counts { passed: 3, failed: 2 }.with_status(false), Counts { passed: 3, failed: 2 });
        assert_eq!(Counts::success().with_status(true), Counts::success());
    }
}
