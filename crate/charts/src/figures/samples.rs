//! Results made up for the tests of this folder.

use super::Column;
use stallarium_sim::observe::Periods;
use stallarium_sim::report::{
    Digest, EndReason, Latency, MarkResult, PeriodHistogram, ProcessResult, QueueResult, RunResult,
    WritebackResult,
};

/// A column without further seeds.
pub(super) fn column(run: &RunResult, slot: u8) -> Column<'_> {
    Column { label: &run.kernel, slot, run, others: &[] }
}

/// A run in which fs_mark has made `files` files.
pub(super) fn run_with_marks(kernel: &str, files: u64, elapsed_ns: u64) -> RunResult {
    RunResult {
        kernel: kernel.to_owned(),
        kernel_name: kernel.to_owned(),
        case: "fs-mark".to_owned(),
        seed: 1,
        hz: 1000,
        digest: Digest(files),
        elapsed_ns,
        limit_ns: elapsed_ns,
        events: files * 40,
        end: EndReason::TimeUp,
        processes: vec![fs_mark(files, PeriodHistogram::default())],
        queue: QueueResult::default(),
        memory: None,
        writeback: WritebackResult::default(),
        timelines: Vec::new(),
        detail: None,
    }
}

/// A run whose files were made in these times: how long, how often.
pub(super) fn run_with_periods(kernel: &str, times_ns: &[(u64, u64)]) -> RunResult {
    let mut periods = Periods::default();
    for &(ns, count) in times_ns {
        (0..count).for_each(|_| periods.record(ns));
    }
    let mut run = run_with_marks(kernel, periods.count() + 1, 5_000_000_000);
    run.processes = vec![fs_mark(periods.count() + 1, PeriodHistogram::from(&periods))];
    run
}

fn fs_mark(files: u64, periods: PeriodHistogram) -> ProcessResult {
    let mark = MarkResult {
        name: "files".to_owned(),
        count: files,
        passes: files,
        first_ns: 0,
        last_ns: 0,
        periods,
        period: Latency::default(),
    };
    ProcessResult {
        name: "fs_mark".to_owned(),
        is_kernel_thread: false,
        tasks: 1,
        marks: vec![mark],
        read_bytes: 0,
        written_bytes: 0,
        files_created: files,
        fsyncs: files,
        fsync_latency: Latency::default(),
        killed: 0,
        faults: 0,
        fault_latency: Latency::default(),
        read_latency: Latency::default(),
        causes: Vec::new(),
    }
}
