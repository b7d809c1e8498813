//! Why a run is slow, and why two kernels differ: sentences made of causes and of nothing else.
//!
//! *Models:* the breakdown of a process's time by cause, per unit of its work; differences of two such breakdowns.
//! *Does not model:* who a single wait was caused by: for whom the scheduler idles and whose slices are served is taken
//! from the whole run.
//! *Follows:* ARCHITECTURE.md, "every wait has a cause".

use super::compare::figure;
use super::memory;
use super::results::{ProcessResult, RunResult};
use super::tables::TableResult;
use super::timelines::Turn;
use crate::observe::CauseKind;
use crate::scenario::{Experiment, Rate};
use crate::short_sort;
use litemap::LiteMap;

/// Causes with less than this share of the time are left out of sentences, in thousandths.
const WORTH_SAYING_PER_MILLE: f64 = 50.0;
/// The most causes in one sentence.
const CAUSES_MAX: usize = 4;
/// Somebody with less than this share of all idling or of all others' slices is not named, in thousandths.
const WORTH_NAMING_PER_MILLE: u64 = 100;
/// Two breakdowns whose totals differ by less than this share are called equal, in thousandths.
const EQUAL_PER_MILLE: f64 = 20.0;

/// How times are written.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum TimeWords {
    /// `7.1 ms`.
    #[default]
    Plain,
    /// `7.1 ms (7.1 jiffies)`.
    Kernel,
}

/// Where a process's time went, per unit of its work, over one run or several runs of the same kernel.
#[derive(Clone, Debug, PartialEq)]
pub struct Breakdown {
    /// The kernel's label.
    pub kernel: String,
    /// The process.
    pub process: String,
    /// What the times are for: `file`, `MB read`.
    pub unit: String,
    /// Nanoseconds per unit by cause; the flag says that the cause hit the journal's thread.
    pub causes_ns: LiteMap<(CauseKind, bool), f64>,
    /// Nanoseconds per unit in all.
    pub total_ns: f64,
    hz: u32,
    elevator: String,
    /// For whom the scheduler idles, and whose slices are served, by time over the whole run.
    idles_for: Vec<String>,
    slices_of: Vec<String>,
}

impl Breakdown {
    /// The breakdown of a process's time per unit of whatever it counts; `None` if the runs have no such process, or it
    /// did no countable work.
    #[must_use]
    pub fn of(runs: &[&RunResult], process: &str) -> Option<Self> {
        let of_runs: Vec<&ProcessResult> = runs.iter().filter_map(|run| run.process(process)).collect();
        Self::new(runs, process, &of_runs, work(&of_runs)?)
    }

    /// The same per unit of what `rate` counts.
    #[must_use]
    pub fn per(runs: &[&RunResult], process: &str, rate: &Rate) -> Option<Self> {
        let of_runs: Vec<&ProcessResult> = runs.iter().filter_map(|run| run.process(process)).collect();
        Self::new(runs, process, &of_runs, work_of(&of_runs, rate)?)
    }

    fn new(
        runs: &[&RunResult],
        process: &str,
        of_runs: &[&ProcessResult],
        (amount, unit): (f64, String),
    ) -> Option<Self> {
        let first = *runs.first()?;
        let mut causes_ns = LiteMap::new();
        for share in of_runs.iter().flat_map(|process| &process.causes) {
            *causes_ns.entry((share.cause, share.via_journal)).or_insert(0.0) += share.ns as f64 / amount;
        }
        Some(Self {
            kernel: first.kernel.clone(),
            process: process.to_owned(),
            unit,
            total_ns: causes_ns.values().sum(),
            causes_ns,
            hz: first.hz,
            elevator: elevator_name(&first.queue.elevator),
            idles_for: by_time(runs, |turn| if let Turn::IdleFor(name) = turn { Some(name) } else { None }),
            slices_of: by_time(runs, |turn| match turn {
                Turn::Slice(name) if name != process => Some(name),
                _ => None,
            }),
        })
    }

    /// Why the process takes as long as it does: `Of 9.0 ms a file, 7.1 ms pass while the journal's write is held because
    /// CFQ idles for fs_mark, 1.2 ms while its own request is in the device.`
    #[must_use]
    pub fn sentence(&self, words: TimeWords) -> String {
        let mut causes: Vec<_> = self.causes_ns.iter().map(|(&cause, &ns)| (cause, ns)).collect();
        short_sort::sort_by(&mut causes, |one, other| other.1.total_cmp(&one.1));
        causes.retain(|cause| cause.1 * 1000.0 >= self.total_ns * WORTH_SAYING_PER_MILLE);
        causes.truncate(CAUSES_MAX);
        let whole = self.time(self.total_ns, words);
        let mut parts = Vec::new();
        for (index, &((kind, via_journal), ns)) in causes.iter().enumerate() {
            let pass = if index == 0 { " pass" } else { "" };
            parts.push(format!("{}{pass} while {}", self.time(ns, words), self.clause(kind, via_journal)));
        }
        format!("Of {whole} a {}, {}.", self.unit, listed(&parts))
    }

    /// Why the process takes more or less time than on `other`: `deadline needs 7.2 ms a file less than vanilla cfq: 7.1 ms
    /// less while ...`.
    #[must_use]
    pub fn difference_sentence(&self, other: &Self, words: TimeWords) -> String {
        let difference = self.total_ns - other.total_ns;
        let (us, them) = (&self.kernel, &other.kernel);
        if difference.abs() * 1000.0 < other.total_ns * EQUAL_PER_MILLE {
            let time = self.time(self.total_ns, words);
            return format!("{us} and {them} both need {time} a {}, within 2 %.", self.unit);
        }
        let mut parts: Vec<((CauseKind, bool), f64)> = Vec::new();
        for &cause in self.causes_ns.keys().chain(other.causes_ns.keys()) {
            let of = |breakdown: &Self| breakdown.causes_ns.get(&cause).copied().unwrap_or(0.0);
            if !parts.iter().any(|part| part.0 == cause) {
                parts.push((cause, of(self) - of(other)));
            }
        }
        short_sort::sort_by(&mut parts, |one, other| other.1.abs().total_cmp(&one.1.abs()));
        parts.retain(|part| part.1.abs() * 1000.0 >= difference.abs() * WORTH_SAYING_PER_MILLE);
        parts.truncate(CAUSES_MAX);
        let direction = |ns: f64| if ns < 0.0 { "less" } else { "more" };
        let clauses: Vec<String> = parts
            .iter()
            .map(|&((kind, via_journal), ns)| {
                // Whoever has more of the cause knows who is behind it.
                let teller = if ns < 0.0 { other } else { self };
                let clause = teller.clause(kind, via_journal);
                format!("{} {} while {clause}", self.time(ns.abs(), words), direction(ns))
            })
            .collect();
        let time = self.time(difference.abs(), words);
        format!(
            "{us} needs {time} a {} {} than {them}: {}.",
            self.unit,
            direction(difference),
            listed(&clauses)
        )
    }

    fn time(&self, ns: f64, words: TimeWords) -> String {
        match words {
            TimeWords::Plain => duration(ns),
            TimeWords::Kernel => {
                format!("{} ({:.1} jiffies)", duration(ns), ns * f64::from(self.hz) / 1e9)
            }
        }
    }

    /// What goes on while a cause holds, as a clause.
    fn clause(&self, kind: CauseKind, via_journal: bool) -> String {
        let (who, whose) =
            if via_journal { ("the journal's thread", "the journal's write") } else { ("it", "its request") };
        let names = |names: &[String], otherwise: &str| {
            if names.is_empty() { otherwise.to_owned() } else { listed(names) }
        };
        match kind {
            CauseKind::OnCpu => format!("{who} computes"),
            CauseKind::WaitCpu => format!("{who} waits for a CPU"),
            CauseKind::Sleep => format!("{who} sleeps"),
            CauseKind::Work => format!("{who} has nothing to do"),
            CauseKind::InDevice => format!("{whose} is in the device"),
            CauseKind::DeviceBusy => format!("{whose} is held because the device is busy"),
            CauseKind::OtherSlice => {
                format!(
                    "{whose} is held because it is the turn of {}",
                    names(&self.slices_of, "another queue")
                )
            }
            CauseKind::Idling => {
                let elevator = &self.elevator;
                format!("{whose} is held because {elevator} idles for {}", names(&self.idles_for, "somebody"))
            }
            CauseKind::Plugged => format!("{whose} is held because the queue is plugged"),
            CauseKind::Draining => format!("{whose} is held because a barrier drains the queue"),
            CauseKind::Flushing => format!("{whose} is held because the device flushes its cache"),
            CauseKind::NotRun => format!("{whose} is held because nobody has run the queue"),
            CauseKind::NoFreeRequest => format!("{who} waits for a free request"),
            CauseKind::Journal => format!("{who} waits for room or a turn in the journal"),
            CauseKind::Congestion => format!("{who} sleeps for congestion to end"),
            CauseKind::OutOfMemory => {
                format!("{who} waits for a process that is killed to give its memory back")
            }
            CauseKind::Throttled => format!("{who} is held up because too many pages are dirty"),
            CauseKind::FileBusy => format!("{who} waits for another task that writes the same file"),
            CauseKind::Start => format!("{who} waits for other processes"),
            CauseKind::Ended => format!("{who} has ended"),
        }
    }
}

/// A unit of work that moves more megabytes than this says less about a run than a megabyte does.
const MEGABYTES_PER_UNIT_MAX: f64 = 100.0;

/// How much work was done, and what a unit of it is called: the first mark whose units are not too large, else megabytes,
/// else the first mark that was passed at all.
fn work(processes: &[&ProcessResult]) -> Option<(f64, String)> {
    let marks = || {
        let names = processes.first().map_or(&[][..], |process| &process.marks);
        names.iter().filter_map(|mark| work_of(processes, &Rate::Mark(mark.name.clone())))
    };
    let read = || work_of(processes, &Rate::BytesRead);
    let written = || work_of(processes, &Rate::BytesWritten);
    let moved = || match (read(), written()) {
        (Some(read), Some(written)) => Some(if read.0 >= written.0 { read } else { written }),
        (read, written) => read.or(written),
    };
    let megabytes = moved().map_or(0.0, |(megabytes, _)| megabytes);
    let small = marks().find(|(count, _)| megabytes <= count * MEGABYTES_PER_UNIT_MAX);
    small.or_else(moved).or_else(|| marks().next())
}

/// How much of what `rate` counts was done, and what a unit of it is called; `None` if nothing was.
fn work_of(processes: &[&ProcessResult], rate: &Rate) -> Option<(f64, String)> {
    let sum = |of: &dyn Fn(&ProcessResult) -> u64| processes.iter().map(|process| of(process)).sum::<u64>();
    let (amount, unit) = match rate {
        Rate::Mark(name) => {
            let count = |process: &ProcessResult| process.mark(name).map_or(0, |mark| mark.count);
            (sum(&count) as f64, singular(name))
        }
        Rate::BytesRead => (sum(&|process| process.read_bytes) as f64 / 1e6, "MB read".to_owned()),
        Rate::BytesWritten => (sum(&|process| process.written_bytes) as f64 / 1e6, "MB written".to_owned()),
        Rate::Counter(_) | Rate::Elapsed | Rate::RelativeTime => return None,
    };
    (amount > 0.0).then_some((amount, unit))
}

/// What one of the things called `name` is called: `files` are counted in files, each of them a `file`; one of `passes`
/// is a `pass`.
#[must_use]
pub fn singular(name: &str) -> String {
    let stem = ["sses", "shes", "ches", "xes"].iter().find(|end| name.ends_with(**end));
    match (stem, name.strip_suffix('s')) {
        (Some(_), _) => name.strip_suffix("es").unwrap_or(name).to_owned(),
        (None, Some(stem)) if stem.chars().count() >= 2 && !stem.ends_with('s') => stem.to_owned(),
        _ => name.to_owned(),
    }
}

fn elevator_name(elevator: &str) -> String {
    if elevator == "cfq" { "CFQ".to_owned() } else { format!("the {elevator} scheduler") }
}

/// The names of the turns that `pick` picks, by time, the largest first, small ones left out.
fn by_time(runs: &[&RunResult], pick: impl Fn(&Turn) -> Option<&String>) -> Vec<String> {
    let mut times: LiteMap<&String, u64> = LiteMap::new();
    for share in runs.iter().flat_map(|run| &run.queue.turns) {
        if let Some(name) = pick(&share.turn) {
            *times.entry(name).or_insert(0) += share.ns;
        }
    }
    let total: u64 = times.values().sum();
    let mut names: Vec<_> = times.into_iter().collect();
    names.retain(|&(_, ns)| ns / 1000 * 1000 >= total / 1000 * WORTH_NAMING_PER_MILLE);
    short_sort::sort_by_key(&mut names, |&(name, ns)| (std::cmp::Reverse(ns), name));
    names.into_iter().map(|(name, _)| name.clone()).collect()
}

/// `a`, `a and b`, `a, b and c`.
fn listed(parts: &[String]) -> String {
    match parts {
        [] => String::new(),
        [one] => one.clone(),
        [first @ .., last] => format!("{} and {last}", first.join(", ")),
    }
}

/// A duration for readers: `9.0 ms`, `407 ms`, `12.3 us`, `1.5 s`.
#[must_use]
pub fn duration(ns: f64) -> String {
    let (value, unit) = match ns.abs() {
        size if size >= 999.5e6 => (ns / 1e9, "s"),
        size if size >= 999.5e3 => (ns / 1e6, "ms"),
        size if size >= 999.5 => (ns / 1e3, "us"),
        _ => return format!("{ns:.0} ns"),
    };
    if value.abs() < 99.95 { format!("{value:.1} {unit}") } else { format!("{value:.0} {unit}") }
}

/// One run in sentences, a sentence for each process that did countable work.
#[must_use]
pub fn run(result: &RunResult, words: TimeWords) -> Vec<String> {
    let processes = result.processes.iter().filter(|process| !process.is_kernel_thread);
    processes
        .filter_map(|process| {
            let breakdown = Breakdown::of(&[result], &process.name)?;
            let killed = if process.killed != 0 { "killed for want of memory; " } else { "" };
            Some(format!("{}: {killed}{}", process.name, breakdown.sentence(words)))
        })
        .collect()
}

/// An experiment in sentences: of each row, where the time goes on the baseline, and why each other kernel differs. A
/// difference that the seeds do not bear out is called none.
#[must_use]
pub fn experiment(experiment: &Experiment, tables: &[TableResult], runs: &[RunResult]) -> Vec<String> {
    let mut sentences = Vec::new();
    let rows = tables.iter().flat_map(|table| table.rows.iter().map(move |row| (table, row)));
    for (table, row) in rows {
        let Some(metric) = experiment.metrics.iter().find(|metric| metric.row == row.metric) else {
            continue;
        };
        let of_column = |column: &str| {
            let is_it = |run: &&RunResult| {
                run.kernel == column && run.case == metric.case && figure(run, metric).is_some()
            };
            let mine: Vec<&RunResult> = runs.iter().filter(is_it).collect();
            Breakdown::per(&mine, &metric.process, &metric.rate)
        };
        let Some(base) = table.columns.get(table.baseline).and_then(|column| of_column(column)) else {
            continue;
        };
        let what = &row.metric;
        sentences.push(format!("{what}, {}: {}", base.kernel, base.sentence(TimeWords::Plain)));
        for (column, cell) in table.columns.iter().zip(&row.cells) {
            let Some(breakdown) = of_column(column).filter(|_| *column != base.kernel) else { continue };
            // Of one seed nothing can be said about chance; of several, the interval decides.
            let is_chance = cell.difference.is_some_and(|difference| !difference.is_real());
            sentences.push(if is_chance {
                format!("{what}: between {column} and {} these seeds show no difference.", base.kernel)
            } else {
                format!("{what}: {}", breakdown.difference_sentence(&base, TimeWords::Plain))
            });
        }
    }
    sentences.extend(identities(experiment, tables, runs));
    sentences
}

/// What memory's part in each column's difference from the baseline is, with the first seed.
fn identities(experiment: &Experiment, tables: &[TableResult], runs: &[RunResult]) -> Vec<String> {
    let Some(table) = tables.first() else { return Vec::new() };
    let Some(case) = experiment.metrics.first().map(|metric| &metric.case) else { return Vec::new() };
    let first_of = |column: &String| runs.iter().find(|run| run.kernel == *column && run.case == *case);
    let Some(base) = table.columns.get(table.baseline).and_then(first_of) else { return Vec::new() };
    let others = table.columns.iter().filter_map(first_of).filter(|run| run.kernel != base.kernel);
    others.filter_map(|other| memory::identity(base, other)).collect()
}

/// Several runs of the same case in sentences, compared with the first kernel's, for tables of one's own. Runs of the
/// same kernel are taken together.
#[must_use]
pub fn comparison(runs: &[RunResult], words: TimeWords) -> Vec<String> {
    let mut kernels: Vec<&str> = Vec::new();
    for run in runs {
        if !kernels.contains(&run.kernel.as_str()) {
            kernels.push(&run.kernel);
        }
    }
    let Some((first, others)) = kernels.split_first() else { return Vec::new() };
    let of = |kernel: &str| runs.iter().filter(|run| run.kernel == kernel).collect::<Vec<_>>();
    let mut sentences = Vec::new();
    let processes = runs.first().map_or(&[][..], |run| &run.processes);
    for process in processes.iter().filter(|process| !process.is_kernel_thread) {
        let name = &process.name;
        let Some(base) = Breakdown::of(&of(first), name) else { continue };
        sentences.push(format!("{name}, {first}: {}", base.sentence(words)));
        for kernel in others {
            if let Some(breakdown) = Breakdown::of(&of(kernel), name) {
                sentences.push(format!("{name}: {}", breakdown.difference_sentence(&base, words)));
            }
        }
    }
    let first = runs.first();
    let of_first_seed = runs.iter().skip(1).filter(|run| first.is_some_and(|first| first.seed == run.seed));
    sentences.extend(of_first_seed.filter_map(|run| memory::identity(first?, run)));
    sentences
}

/// What a metric is counted in, for headings: `files`, `MB`.
#[must_use]
pub fn counted(rate: &Rate) -> &str {
    match rate {
        Rate::Mark(mark) => mark,
        Rate::BytesRead | Rate::BytesWritten => "MB",
        Rate::Counter(name) => name,
        Rate::Elapsed | Rate::RelativeTime => "time",
    }
}

#[cfg(test)]
mod tests {
    use super::super::compare::tests::run as plain_run;
    use super::super::results::{CauseShare, TurnShare};
    use super::*;

    fn with_causes(
        kernel: &str,
        files: u64,
        causes: &[(CauseKind, bool, u64)],
        idles_for: &str,
    ) -> RunResult {
        let mut run = plain_run(kernel, "", 1, files, 0);
        run.queue.elevator = "cfq".into();
        run.processes[0].causes =
            causes.iter().map(|&(cause, via_journal, ns)| CauseShare { cause, via_journal, ns }).collect();
        if !idles_for.is_empty() {
            let turn = Turn::IdleFor(idles_for.into());
            run.queue.turns = vec![
                TurnShare { turn, ns: 900_000 },
                TurnShare { turn: Turn::IdleFor("kblockd/0".into()), ns: 1_000 },
                TurnShare { turn: Turn::NoSlice, ns: 5_000_000 },
            ];
        }
        run
    }

    fn vanilla() -> RunResult {
        use CauseKind::{Idling, InDevice, OnCpu};
        let causes = [
            (Idling, true, 7_100_000),
            (InDevice, false, 1_500_000),
            (OnCpu, false, 300_000),
            (OnCpu, true, 100_000),
        ];
        with_causes("vanilla cfq", 1, &causes, "fs_mark")
    }

    /// The sentence that the experiment is about, from causes alone.
    #[test]
    fn a_slow_run_says_why() {
        let breakdown = Breakdown::of(&[&vanilla()], "fs_mark").expect("it counted");
        assert_eq!(
            breakdown.sentence(TimeWords::Plain),
            "Of 9.0 ms a file, 7.1 ms pass while the journal's write is held because CFQ idles for fs_mark and \
             1.5 ms while its request is in the device."
        );
        assert!(
            breakdown
                .sentence(TimeWords::Kernel)
                .starts_with("Of 9.0 ms (9.0 jiffies) a file, 7.1 ms (7.1 jiffies)")
        );
    }

    /// A difference is the difference of the causes, and names what the slower one waits for.
    #[test]
    fn a_difference_says_why() {
        use CauseKind::{InDevice, OnCpu};
        let causes = [(InDevice, false, 2_900_000), (OnCpu, false, 600_000), (OnCpu, true, 200_000)];
        let fast = with_causes("deadline", 2, &causes, "");
        let breakdown = |run: &RunResult| Breakdown::of(&[run], "fs_mark").expect("it counted");
        assert_eq!(
            breakdown(&fast).difference_sentence(&breakdown(&vanilla()), TimeWords::Plain),
            "deadline needs 7.2 ms a file less than vanilla cfq: 7.1 ms less while the journal's write is held because \
             CFQ idles for fs_mark."
        );
        let turned = breakdown(&vanilla()).difference_sentence(&breakdown(&fast), TimeWords::Plain);
        assert!(turned.starts_with("vanilla cfq needs 7.2 ms a file more than deadline: 7.1 ms more while"));
        let same = breakdown(&fast).difference_sentence(&breakdown(&fast), TimeWords::Plain);
        assert_eq!(same, "deadline and deadline both need 1.9 ms a file, within 2 %.");
    }

    /// What is counted has a name in the singular.
    #[test]
    fn units_are_singular() {
        let names =
            ["files", "passes", "boxes", "pass", "log", "us", "batches", "transactions"].map(singular);
        assert_eq!(names, ["file", "pass", "box", "pass", "log", "us", "batch", "transaction"]);
    }

    /// Other causes make other sentences: nothing is said that is not in the numbers.
    #[test]
    fn no_sentence_is_canned() {
        use CauseKind::{Draining, OtherSlice};
        let mut run =
            with_causes("cfq", 1, &[(OtherSlice, false, 300_000_000), (Draining, true, 100_000_000)], "");
        run.queue.turns = vec![TurnShare { turn: Turn::Slice("fio".into()), ns: 300_000_000 }];
        let breakdown = Breakdown::of(&[&run], "fs_mark").expect("it counted");
        assert_eq!(
            breakdown.sentence(TimeWords::Plain),
            "Of 400 ms a file, 300 ms pass while its request is held because it is the turn of fio and 100 ms while \
             the journal's write is held because a barrier drains the queue."
        );
        assert_eq!(Breakdown::of(&[&run], "nobody"), None);
    }

    /// A reader has no mark: its unit is a megabyte.
    #[test]
    fn a_reader_is_measured_in_megabytes() {
        let mut run = plain_run("cfq", "", 1, 0, 1_510_000_000);
        run.processes[0].causes =
            vec![CauseShare { cause: CauseKind::InDevice, via_journal: false, ns: 10_000_000_000 }];
        let breakdown = Breakdown::of(&[&run], "fs_mark").expect("it read");
        assert_eq!(
            breakdown.sentence(TimeWords::Plain),
            "Of 6.6 ms a MB read, 6.6 ms pass while its request is in the device."
        );
    }

    #[test]
    fn durations_are_readable() {
        let shown = [1.0, 999.6, 12_345.0, 999_499.0, 9_000_000.0, 407_000_000.0, 1.5e9].map(duration);
        assert_eq!(shown, ["1 ns", "1.0 us", "12.3 us", "999 us", "9.0 ms", "407 ms", "1.5 s"]);
    }
}
