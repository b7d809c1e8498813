//! The results on the screen, and the charts they give.

use super::check::{Checked, Column, check, meaning};
use super::judge::{self, Judged, capital, quick_look};
use super::setting::Setting;
use crate::describe::Figure;
use crate::figures::{self, Context, Published};
use stallarium_sim::report::RunResult;
use stallarium_sim::report::explain::{Breakdown, TimeWords};
use stallarium_sim::report::memory;
use stallarium_sim::scenario::Experiment;
use stallarium_sim::short_sort;

/// The close-up shows so many units of work at first.
const UNITS_SHOWN: u64 = 5;
/// The close-up's first window when nothing counts units.
const WINDOW_NS: u64 = 50_000_000;

/// Results by key, and the setting they are shown for.
#[derive(Clone, Debug, Default)]
pub struct Board {
    /// By key; a handful.
    runs: Vec<(String, RunResult)>,
    shown: Option<Shown>,
}

#[derive(Clone, Debug)]
struct Shown {
    setting: Setting,
    columns: Vec<Column>,
    experiment: Option<Experiment>,
    conditions: String,
    published: Published,
}

impl Shown {
    fn context(&self) -> Context<'_> {
        Context {
            experiment: self.experiment.as_ref(),
            case: &self.setting.case,
            conditions: &self.conditions,
            published: &self.published,
        }
    }
}

impl Board {
    /// Looks a setting up. If it can be run it is shown from now on; if not, what was shown stays.
    pub fn set(&mut self, setting: &Setting) -> Checked {
        let checked = check(setting);
        if checked.complaints.is_empty() {
            let experiment = meaning(setting).ok().and_then(|meaning| meaning.experiment);
            self.shown = Some(Shown {
                setting: setting.clone(),
                columns: checked.columns.iter().filter(|column| column.is_on).cloned().collect(),
                published: experiment.as_ref().map(judge::numbers).unwrap_or_default(),
                experiment,
                conditions: checked.conditions.clone(),
            });
        }
        checked
    }

    /// Keeps a result.
    pub fn put(&mut self, key: &str, result: RunResult) {
        self.runs.retain(|(known, _)| known != key);
        self.runs.push((key.to_owned(), result));
    }

    fn run(&self, key: &str) -> Option<&RunResult> {
        self.runs.iter().find(|(known, _)| known == key).map(|(_, run)| run)
    }

    /// Whether there is a result.
    #[must_use]
    pub fn has(&self, key: &str) -> bool {
        self.run(key).is_some()
    }

    /// Drops every result but those that are shown.
    pub fn forget_others(&mut self) {
        if let Some(shown) = &self.shown {
            self.runs.retain(|(key, _)| shown.columns.iter().any(|column| column.key == *key));
        }
    }

    /// How much time a run covers, nanoseconds.
    #[must_use]
    pub fn elapsed_ns(&self, key: &str) -> Option<u64> {
        self.run(key).map(|run| run.elapsed_ns)
    }

    /// What the close-up of a run shows first: the middle of the run, some units of work long.
    #[must_use]
    pub fn first_window(&self, key: &str) -> Option<(u64, u64)> {
        let run = self.run(key)?;
        let marks = run.processes.iter().flat_map(|process| &process.marks);
        let period = marks.map(|mark| mark.period.p50_ns).filter(|ns| *ns > 0).max();
        let wanted =
            period.map_or(WINDOW_NS, |ns| ns.saturating_mul(UNITS_SHOWN)).clamp(1, run.elapsed_ns.max(1));
        let start = (run.elapsed_ns / 2).min(run.elapsed_ns - wanted.min(run.elapsed_ns));
        // Whole milliseconds read better.
        let start = start - start % 1_000_000;
        let end = (start + wanted).next_multiple_of(1_000_000).min(run.elapsed_ns.max(1));
        Some((start.min(end - 1), end))
    }

    /// Which kernel the close-up shows first: the one whose scheduler idles in vain most often, else the first.
    #[must_use]
    pub fn first_kernel(&self) -> Option<&str> {
        let columns = self.shown.as_ref()?.columns.iter().filter(|column| self.has(&column.key));
        let vain = |column: &&Column| self.run(&column.key).map_or(0, |run| run.queue.scheduler.idle_fired);
        // Of equals, the first.
        columns.rev().max_by_key(vain).map(|column| column.label.as_str())
    }

    /// The digest of everything shown; `None` until every run is there.
    #[must_use]
    pub fn digest(&self) -> Option<u64> {
        let columns = &self.shown.as_ref()?.columns;
        let digests: Option<Vec<u64>> =
            columns.iter().map(|column| Some(self.run(&column.key)?.digest.0)).collect();
        match digests?[..] {
            [] => None,
            [one] => Some(one),
            ref several => Some(several.iter().fold(0, |mixed: u64, digest| {
                (mixed ^ digest).wrapping_mul(0x9e37_79b9_7f4a_7c15).rotate_left(29)
            })),
        }
    }

    /// What is shown beside what was published; `None` without an experiment.
    #[must_use]
    pub fn judge(&self) -> Option<Judged> {
        let shown = self.shown.as_ref()?;
        let runs: Vec<RunResult> = self.runs_shown(shown).cloned().collect();
        quick_look(shown.experiment.as_ref()?, &shown.setting, &runs).ok()
    }

    /// Why the kernels that are shown differ, in sentences: where the time of the one that is compared with goes, and what
    /// each other spends more or less on.
    #[must_use]
    pub fn explain(&self) -> Vec<String> {
        let Some(shown) = &self.shown else { return Vec::new() };
        let mut runs: Vec<&RunResult> = self.runs_shown(shown).collect();
        // The question is about the kernel that idles in vain: the others are compared with it.
        let first = self.first_kernel().map(str::to_owned);
        short_sort::sort_by_key(&mut runs, |run| Some(&run.kernel) != first.as_ref());
        let processes = runs.first().map_or(&[][..], |run| &run.processes);
        let most = ["rates", "throughput"].into_iter().filter_map(|name| self.figure(name));
        let mut sentences: Vec<String> = most.map(|figure| figure.summary).collect();
        // Of several processes, the one whose work the case counts is what the question is about.
        let context = shown.context();
        let marked = context.marked(&self.columns(shown)).map(|(process, _)| process);
        let is_asked = |name: &String| marked.as_ref().is_none_or(|marked| marked == name);
        for process in processes.iter().filter(|process| !process.is_kernel_thread && is_asked(&process.name))
        {
            let mut breakdowns = runs.iter().filter_map(|run| Breakdown::of(&[run], &process.name));
            let Some(base) = breakdowns.next() else { continue };
            sentences.push(format!(
                "{} under {}: {}",
                process.name,
                base.kernel,
                base.sentence(TimeWords::Plain)
            ));
            sentences
                .extend(breakdowns.map(|other| capital(&other.difference_sentence(&base, TimeWords::Plain))));
        }
        if let Some((base, others)) = runs.split_first() {
            sentences.extend(others.iter().filter_map(|other| memory::identity(base, other)));
        }
        sentences
    }

    /// The kernel's counters of each run that is shown, as `/proc/vmstat` has them: of the first by themselves, of every other as a
    /// difference from the first, line by line. Empty where memory is not simulated.
    #[must_use]
    pub fn counters(&self) -> Vec<String> {
        let Some(shown) = &self.shown else { return Vec::new() };
        let runs: Vec<&RunResult> = self.runs_shown(shown).collect();
        let Some((first, others)) = runs.split_first() else { return Vec::new() };
        if !others.is_empty() {
            return others.iter().flat_map(|other| memory::vmstat_difference(first, other)).collect();
        }
        let rows = first.memory.iter().flat_map(|memory| &memory.vmstat);
        rows.map(|(name, value)| format!(" {name} {value}")).collect()
    }

    /// The columns whose runs are there.
    fn columns<'b>(&'b self, shown: &'b Shown) -> Vec<figures::Column<'b>> {
        let column = |column: &'b Column| {
            let run = self.run(&column.key)?;
            Some(figures::Column { label: &column.label, slot: column.slot, run, others: &[] })
        };
        shown.columns.iter().filter_map(column).collect()
    }

    fn runs_shown<'b>(&'b self, shown: &'b Shown) -> impl Iterator<Item = &'b RunResult> {
        shown.columns.iter().filter_map(|column| self.run(&column.key))
    }

    /// The chart of this name over what is shown, one of [`figures::WHOLE`]. `None` when there is no such chart, or nothing in it.
    #[must_use]
    pub fn figure(&self, name: &str) -> Option<Figure> {
        let shown = self.shown.as_ref()?;
        figures::whole(name, &shown.context(), &self.columns(shown))
    }
}

#[cfg(test)]
mod tests {
    use super::super::{PageRun, open_link};
    use super::*;

    fn filled(case: &str, ms: u64) -> Board {
        let mut setting = open_link("").setting;
        setting.case = case.into();
        setting.overrides.insert("time".into(), format!("{ms} ms"));
        let mut board = Board::default();
        let checked = board.set(&setting);
        for column in checked.columns.iter().filter(|column| column.is_on) {
            let mut run = PageRun::new(&setting, &column.label, false).expect("right");
            while !run.advance(u64::MAX) {}
            assert_eq!(run.key(), column.key);
            board.put(&column.key, run.result());
        }
        board
    }

    /// Every chart that belongs to a case is there, with a title, words and units, and no other.
    #[test]
    fn each_case_has_its_charts() {
        for (case, expected) in [
            ("fs-mark", &["rates", "breakdown", "periods", "files", "queue"][..]),
            ("reader", &["throughput", "breakdown", "reader", "queue"]),
            ("mixed", &["rates", "throughput", "breakdown", "periods", "files", "reader", "queue"]),
        ] {
            let board = filled(case, 1500);
            for name in ["rates", "throughput", "breakdown", "periods", "files", "reader", "queue"] {
                let figure = board.figure(name);
                assert_eq!(figure.is_some(), expected.contains(&name), "{case}: {name}");
                if let Some(figure) = figure {
                    assert!(!figure.title.is_empty() && !figure.summary.is_empty(), "{case}: {name}");
                }
            }
        }
    }

    /// The close-up begins with the kernel that the question is about, at a window with some files in it.
    #[test]
    fn the_close_up_begins_where_it_is_interesting() {
        let board = filled("fs-mark", 1000);
        assert_eq!(board.first_kernel(), Some("vanilla cfq"));
        let shown = board.shown.as_ref().expect("set");
        let key = &shown.columns.iter().find(|column| column.label == "vanilla cfq").expect("on").key;
        let (start, end) = board.first_window(key).expect("run");
        assert!(
            start % 1_000_000 == 0 && (30_000_000..=80_000_000).contains(&(end - start)),
            "{start} to {end}"
        );
        assert!(end <= board.elapsed_ns(key).expect("run"));
    }

    /// A wrong setting leaves what is shown; a digest exists once all runs are there, and then only changes with them.
    #[test]
    fn wrong_settings_change_nothing() {
        let mut board = filled("fs-mark", 200);
        let digest = board.digest();
        assert!(digest.is_some());
        let mut wrong = board.shown.as_ref().expect("set").setting.clone();
        wrong.overrides.insert("machine.hz".into(), "1".into());
        assert!(!board.set(&wrong).complaints.is_empty());
        assert_eq!(board.digest(), digest);
        assert!(board.figure("rates").is_some());
        let mut another = board.shown.as_ref().expect("set").setting.clone();
        another.seed = "5".into();
        board.set(&another);
        assert_eq!(board.digest(), None);
        board.forget_others();
        assert!(board.runs.is_empty());
    }
}
