//! One run as text: what was done, where the time went, what the queue did, and why.

use super::events::name_of;
use super::explain::{self, TimeWords, duration};
use super::results::{Detail, Latency, ProcessResult, RunResult, TaskName};
use super::timelines::TimelineKind;
use crate::observe::TraceKind;
use std::fmt::Write as _;

/// Shares below this are left out of lists, in thousandths.
const WORTH_LISTING_PER_MILLE: u64 = 1;

impl RunResult {
    /// The run as text, for people.
    #[must_use]
    pub fn text(&self, words: TimeWords) -> String {
        let mut out = String::new();
        let case = if self.case.is_empty() { String::new() } else { format!(", {}", self.case) };
        let name =
            if self.kernel == self.kernel_name { String::new() } else { format!(" ({})", self.kernel_name) };
        let _ = writeln!(out, "{}{name}{case}, seed {}, HZ={}", self.kernel, self.seed, self.hz);
        let _ = writeln!(
            out,
            "{:.3} s of {:.3} s simulated, {} events, digest {}: {}",
            self.elapsed_ns as f64 / 1e9,
            self.limit_ns as f64 / 1e9,
            self.events,
            self.digest,
            self.end.describe()
        );
        self.work(&mut out);
        self.causes(&mut out);
        self.queue_text(&mut out);
        out.push_str(&self.writeback.text());
        if let Some(memory) = &self.memory {
            out.push_str(&memory.text());
        }
        let sentences = explain::run(self, words);
        if !sentences.is_empty() {
            let _ = writeln!(out, "\nWhy");
            sentences.iter().for_each(|sentence| {
                let _ = writeln!(out, "  {sentence}");
            });
        }
        out
    }

    fn work(&self, out: &mut String) {
        let _ = writeln!(out, "\nWork");
        let seconds = self.elapsed_ns as f64 / 1e9;
        let rate = |amount: f64| if seconds == 0.0 { 0.0 } else { amount / seconds };
        for process in self.processes.iter().filter(|process| !process.is_kernel_thread) {
            let mut parts: Vec<String> = Vec::new();
            for mark in &process.marks {
                let per_second = rate(mark.count as f64);
                parts.push(format!("{} {} ({per_second:.1}/s)", mark.count, mark.name));
            }
            for (bytes, what) in [(process.read_bytes, "read"), (process.written_bytes, "written")] {
                if bytes != 0 {
                    let megabytes = bytes as f64 / 1e6;
                    parts.push(format!("{megabytes:.1} MB {what} ({:.1} MB/s)", rate(megabytes)));
                }
            }
            if process.faults != 0 {
                parts.push(format!("{} page faults", process.faults));
            }
            if process.fsyncs != 0 {
                parts.push(format!("{} fsyncs", process.fsyncs));
            }
            if process.killed != 0 {
                parts.push(format!("{} killed for want of memory", process.killed));
            }
            let copies = if process.tasks > 1 { format!(" x {}", process.tasks) } else { String::new() };
            let done = if parts.is_empty() { "nothing countable".to_owned() } else { parts.join(", ") };
            let _ = writeln!(out, "  {}{copies}: {done}", process.name);
            latencies(process).into_iter().for_each(|(what, latency)| {
                let _ = writeln!(out, "    {what}: {}", percentiles(&latency));
            });
        }
    }

    fn causes(&self, out: &mut String) {
        let _ = writeln!(out, "\nWhere the time went");
        for process in self.processes.iter().filter(|process| !process.causes.is_empty()) {
            let total: u64 = process.causes.iter().map(|share| share.ns).sum();
            let mut shares = process.causes.clone();
            shares.sort_by_key(|share| std::cmp::Reverse(share.ns));
            let listed: Vec<String> = shares
                .iter()
                .filter(|share| share.ns >= total / 1000 * WORTH_LISTING_PER_MILLE)
                .map(|share| {
                    let whose = if share.via_journal { "journal: " } else { "" };
                    format!("{whose}{} {}", share.cause.label(), percent(share.ns, total))
                })
                .collect();
            let _ = writeln!(out, "  {}: {}", process.name, listed.join(", "));
        }
    }

    fn queue_text(&self, out: &mut String) {
        let queue = &self.queue;
        let _ = writeln!(out, "\nRequest queue ({})", queue.elevator);
        let requests: u64 = queue.completed.iter().sum();
        let _ = writeln!(
            out,
            "  {} bios, {} merged, {requests} requests ({} sync, {} async), {:.1} MB read, {:.1} MB written",
            queue.bios,
            queue.merges,
            queue.completed[1],
            queue.completed[0],
            queue.sectors[0] as f64 * 512e-6,
            queue.sectors[1] as f64 * 512e-6
        );
        let _ = writeln!(
            out,
            "  of a bio, submission to completion (Q2C) {}, in the device (D2C) {}; a request in the device {}; {} sleeps \
             for a request",
            duration(queue.q2c.mean_ns()),
            duration(queue.d2c.mean_ns()),
            duration(queue.service.mean_ns()),
            queue.sleeps
        );
        let mut turns = queue.turns.clone();
        turns.sort_by_key(|turn| std::cmp::Reverse(turn.ns));
        let listed: Vec<String> = turns
            .iter()
            .filter(|turn| turn.ns >= self.elapsed_ns / 1000 * WORTH_LISTING_PER_MILLE)
            .map(|turn| format!("{} {}", turn.turn.describe(), percent(turn.ns, self.elapsed_ns)))
            .collect();
        let _ = writeln!(out, "  the device's time: {}", listed.join(", "));
        let scheduler = &queue.scheduler;
        if scheduler.selections != 0 {
            let _ = writeln!(
                out,
                "  {} queues selected, {} slices used up, {} cut short, {} preemptions; idle timer armed {} times: \
                 rewarded {}, in vain {}",
                scheduler.selections,
                scheduler.slices_used_up,
                scheduler.slices_cut_short,
                scheduler.preemptions,
                scheduler.idle_armed,
                scheduler.idle_rewarded,
                scheduler.idle_fired
            );
        }
    }

    /// The timelines as CSV with a head: a line for each bucket of each timeline. Rates and shares have no extremes.
    #[must_use]
    pub fn timelines_csv(&self) -> String {
        let mut out = String::from("timeline,unit,from_s,to_s,value,min,max\n");
        for timeline in &self.timelines {
            let name = timeline.name.replace('"', "\"\"");
            for (index, bucket) in timeline.buckets.iter().enumerate() {
                let from_ns = index as u64 * timeline.bucket_ns;
                let to_ns = from_ns + timeline.covered_ns(index);
                let extremes = match timeline.kind {
                    TimelineKind::Gauge => format!("{},{}", bucket.min, bucket.max),
                    TimelineKind::Rate | TimelineKind::Share => ",".to_owned(),
                };
                let _ = writeln!(
                    out,
                    "\"{name}\",{},{},{},{},{extremes}",
                    timeline.unit,
                    from_ns as f64 / 1e9,
                    to_ns as f64 / 1e9,
                    timeline.value(index)
                );
            }
        }
        out
    }
}

impl Detail {
    /// What is in the window, in a line.
    #[must_use]
    pub fn describe(&self) -> String {
        let count =
            |is_it: fn(&TraceKind) -> bool| self.events.iter().filter(|event| is_it(&event.kind)).count();
        format!(
            "{:.6} s to {:.6} s: {} events, {} requests started, {} completed, {} tasks",
            self.from_ns as f64 / 1e9,
            self.to_ns as f64 / 1e9,
            self.events.len(),
            count(|kind| matches!(kind, TraceKind::Start(..))),
            count(|kind| matches!(kind, TraceKind::Complete(..))),
            self.tasks.len()
        )
    }

    /// The task's name by its index, as trace events carry it.
    #[must_use]
    pub fn task_name(&self, task: u32) -> &str {
        let tasks: &[TaskName] = &self.tasks;
        name_of(task, tasks)
    }
}

fn latencies(process: &ProcessResult) -> Vec<(String, Latency)> {
    let mut all: Vec<(String, Latency)> = process
        .marks
        .iter()
        .map(|mark| (format!("from one of {} to the next", mark.name), mark.period))
        .collect();
    all.push(("fsync".to_owned(), process.fsync_latency));
    all.push(("read call".to_owned(), process.read_latency));
    all.push(("page fault".to_owned(), process.fault_latency));
    all.retain(|(_, latency)| latency.count != 0);
    all
}

fn percentiles(latency: &Latency) -> String {
    let times = [
        ("min", latency.min_ns),
        ("median", latency.p50_ns),
        ("mean", latency.mean_ns),
        ("90 %", latency.p90_ns),
        ("99 %", latency.p99_ns),
        ("max", latency.max_ns),
    ];
    times.map(|(name, ns)| format!("{name} {}", duration(ns as f64))).join(", ")
}

fn percent(ns: u64, total: u64) -> String {
    if total == 0 { "-".to_owned() } else { format!("{:.1} %", ns as f64 * 100.0 / total as f64) }
}

#[cfg(test)]
mod tests {
    use super::super::runner::{RunLabel, Runner};
    use super::*;
    use crate::scenario::{Experiment, Overrides};

    fn run(kernel: &str) -> RunResult {
        let experiment = Experiment::find("cfq-noidle-2010").expect("embedded");
        // Long enough for a file beside the reader, which takes 407 ms (section 0.4).
        let overrides = Overrides::from_document("test").with("time", "900 ms");
        let scenario = experiment.scenario(kernel, "mixed", 3, &overrides).expect("valid");
        let mut runner = Runner::new(&scenario, RunLabel::new(kernel, "mixed")).expect("it starts");
        runner.finish();
        runner.result()
    }

    /// The causes of every task add up to the elapsed time, and so do the turns and what the queue was held for.
    #[test]
    fn everything_adds_up() {
        for kernel in ["vanilla cfq", "deadline", "8e55063 revert"] {
            let run = run(kernel);
            for process in &run.processes {
                let sum: u64 = process.causes.iter().map(|share| share.ns).sum();
                assert_eq!(sum, run.elapsed_ns * u64::from(process.tasks), "{kernel}: {}", process.name);
            }
            assert_eq!(run.queue.turns.iter().map(|turn| turn.ns).sum::<u64>(), run.elapsed_ns);
            assert_eq!(run.queue.held.iter().map(|share| share.ns).sum::<u64>(), run.elapsed_ns);
        }
    }

    /// Timelines agree with the totals that were counted in another way.
    #[test]
    fn timelines_agree_with_totals() {
        let run = run("vanilla cfq");
        let reader = run.process("fio").expect("it reads");
        let sum = |name: &str| {
            let timeline =
                run.timelines.iter().find(|timeline| timeline.name == name).expect("it is recorded");
            timeline.buckets.iter().map(|bucket| bucket.sum).sum::<u64>()
        };
        assert_eq!(sum("fio: read"), reader.read_bytes);
        let writer = run.process("fs_mark").expect("it writes");
        assert_eq!(sum("fs_mark: written"), writer.written_bytes);
        let depth = run.timelines.iter().find(|timeline| timeline.name == "requests in the device");
        let in_device_ns: u64 = depth.expect("it is recorded").buckets.iter().map(|bucket| bucket.sum).sum();
        // The device's time by requests that finished; those still in it are at most a few at the end.
        let finished_ns = run.queue.service.sum_ns;
        assert!(in_device_ns >= finished_ns && in_device_ns - finished_ns < run.elapsed_ns);
    }

    /// The text says what the numbers are of, and its CSV has a line for each bucket.
    #[test]
    fn texts_are_complete() {
        let slow = run("vanilla cfq").text(TimeWords::Plain);
        let quick = run("deadline");
        let text = quick.text(TimeWords::Plain);
        assert!(slow.contains("idle timer armed") && !text.contains("idle timer armed"), "{slow}{text}");
        for wanted in ["files (", "MB/s)", "fsync: min", "Where the time went", "Why\n", "Of "] {
            assert!(text.contains(wanted), "{wanted}: {text}");
        }
        let buckets: usize = quick.timelines.iter().map(|timeline| timeline.buckets.len()).sum();
        assert_eq!(quick.timelines_csv().lines().count(), buckets + 1);
    }

    /// Results travel in both formats without loss.
    #[test]
    fn results_travel() {
        let run = run("deadline");
        let bytes = postcard::to_allocvec(&run).expect("plain data");
        assert_eq!(postcard::from_bytes::<RunResult>(&bytes).as_ref(), Ok(&run));
        let json = serde_json::to_string(&run).expect("plain data");
        assert_eq!(serde_json::from_str::<RunResult>(&json).expect("plain data"), run);
    }
}
