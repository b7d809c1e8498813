//! Traces against the real tools: `blkparse` prints what we print, and `btt` measures what we measured.
//!
//! Both come with the package blktrace, which `cargo xtask setup` installs.

#![allow(missing_docs)]

mod support;

use stallarium_sim::report::{Average, RunResult};
use std::path::PathBuf;
use std::process::Command;
use support::{out, stallarium};

/// Runs that between them have merges, barriers, idling, sleeps for a request and NCQ.
const RUNS: [&[&str]; 4] = [
    &["--kernel", "cfq", "--time", "1s"],
    &["--kernel", "deadline", "--case", "mixed", "--time", "1s"],
    &[
        "--kernel",
        "deadline",
        "--set",
        "workload=buffered-writers",
        "--set",
        "tunable.nr_requests=8",
        "--time",
        "1s",
    ],
    &["--kernel", "cfq@2.6.37", "--set", "machine.device=sata", "--case", "mixed", "--time", "1s"],
];

fn with<'a>(first: &[&'a str], more: &[&'a str]) -> Vec<&'a str> {
    first.iter().chain(more).copied().collect()
}

/// A directory of this test's own, empty.
fn directory(name: &str) -> PathBuf {
    let path = PathBuf::from(env!("CARGO_TARGET_TMPDIR")).join(name);
    if path.exists() {
        std::fs::remove_dir_all(&path).expect("it is ours");
    }
    std::fs::create_dir_all(&path).expect("it can be made");
    path
}

fn tool(name: &str, arguments: &[&str], directory: &PathBuf) -> String {
    let output = Command::new(name).args(arguments).current_dir(directory).output();
    let output = output.unwrap_or_else(|error| panic!("{name}: {error}; `cargo xtask setup` installs it"));
    assert!(output.status.success(), "{name}: {}", String::from_utf8_lossy(&output.stderr));
    String::from_utf8_lossy(&output.stdout).into_owned()
}

fn record(run: &[&str], directory: &std::path::Path) {
    let file = directory.join("sda.blktrace.0");
    let status = stallarium(&with(&["run", "--blktrace"], &[file.to_str().expect("plain")]))
        .args(run)
        .status()
        .expect("the program starts");
    assert!(status.success());
}

/// A line of the trace: what stands before the time, the time in nanoseconds, and what stands behind it.
fn parts(line: &str) -> Option<(&str, u64, &str)> {
    let (head, rest) = line.split_at_checked(19)?;
    let (seconds, rest) = rest.split_at_checked(6)?;
    let (fraction, rest) = rest.strip_prefix('.')?.split_at_checked(9)?;
    let time_ns = seconds.trim().parse::<u64>().ok()? * 1_000_000_000 + fraction.parse::<u64>().ok()?;
    head.trim_start().starts_with("8,0").then_some((head, time_ns, rest))
}

/// Goal: our text is blkparse's text. Method: blkparse reads our binary trace; its lines and ours are the same, but that
/// it counts time from the first event.
#[test]
fn blkparse_prints_the_same_lines() {
    for (number, run) in RUNS.iter().enumerate() {
        let directory = directory(&format!("blkparse-{number}"));
        record(run, &directory);
        let theirs = tool("blkparse", &["-i", "sda"], &directory);
        let ours = out(&with(&["run", "--blkparse"], run));
        let ours: Vec<_> = ours.lines().filter_map(parts).collect();
        let begin_ns = ours.first().expect("there are events").1;
        let ours = ours.into_iter().map(|(head, time_ns, rest)| (head, time_ns - begin_ns, rest));
        let theirs: Vec<_> = theirs.lines().filter_map(parts).collect();
        assert!(theirs.len() > 500, "{run:?}");
        assert_eq!(ours.len(), theirs.len(), "{run:?}");
        for (ours, theirs) in ours.zip(theirs) {
            assert_eq!(ours, theirs, "{run:?}");
        }
    }
}

/// Goal: btt's averages are ours. Method: Q2C and D2C of the same run, from btt's table and from the result.
#[test]
fn btt_measures_what_we_measured() {
    for (number, run) in RUNS.iter().enumerate() {
        let directory = directory(&format!("btt-{number}"));
        record(run, &directory);
        tool("blkparse", &["-M", "-q", "-i", "sda", "-O", "-d", "sda.bin"], &directory);
        let table = tool("btt", &["-i", "sda.bin"], &directory);
        let result: RunResult = serde_json::from_str(&out(&with(&["run", "--json"], run))).expect("a result");
        assert_average(&table, "Q2C", result.queue.q2c, run);
        assert_average(&table, "D2C", result.queue.d2c, run);
    }
}

/// The row's average, printed to a nanosecond, and its count.
fn assert_average(table: &str, name: &str, ours: Average, run: &[&str]) {
    let row = table.lines().find(|line| line.starts_with(name)).unwrap_or_else(|| panic!("{name}: {table}"));
    let fields: Vec<&str> = row.split_whitespace().collect();
    let average_ns = fields[2].parse::<f64>().expect("seconds") * 1e9;
    let count: u64 = fields[4].parse().expect("a count");
    assert_eq!(count, ours.count, "{name} of {run:?}");
    assert!(
        (average_ns - ours.mean_ns()).abs() <= 1.0,
        "{name} of {run:?}: {average_ns} ns, ours {}",
        ours.mean_ns()
    );
}
