//! A run of one kernel of a setting, with close looks at its windows.

use super::check::{meaning, run_key};
use super::setting::Setting;
use crate::describe::Span;
use crate::figures::Closeup;
use stallarium_sim::report::{RunLabel, RunResult, Runner, Step};
use stallarium_sim::scenario::form;

/// The most entries of a close look: more cannot be told apart on any screen.
const ENTRIES_MAX: usize = 200_000;

/// How long after a window it is looked how things end: longer than an idle timer's usual length.
const LEAD_OUT_NS: u64 = 20_000_000;

/// A run, owned by a worker.
#[derive(Clone, Debug)]
pub struct PageRun {
    runner: Runner,
    key: String,
}

impl PageRun {
    /// A run of the kernel with this label or name. With `keep`, windows can be looked at closely.
    ///
    /// # Errors
    /// What is wrong with the setting, in sentences.
    pub fn new(setting: &Setting, kernel: &str, keep: bool) -> Result<Self, String> {
        let meaning = meaning(setting).map_err(|problems| {
            let texts: Vec<String> = problems.iter().map(form::complaint).collect();
            texts.join(" ")
        })?;
        let scenarios = meaning.file.scenarios();
        let columns = meaning.file.kernels.iter().zip(&scenarios);
        let named = |column: &&str| *column == kernel;
        let found = columns.into_iter().find(|(column, scenario)| {
            named(&column.label.as_str()) || scenario.kernel.to_string() == kernel
        });
        let (column, scenario) =
            found.ok_or_else(|| format!("There is no kernel {kernel} in this setting."))?;
        let label = RunLabel::new(&column.label, &setting.case);
        let runner =
            if keep { Runner::new(scenario, label) } else { Runner::without_checkpoints(scenario, label) };
        let runner = runner.map_err(|error| format!("{error}."))?;
        Ok(Self { runner, key: run_key(scenario) })
    }

    /// The run's key, as in the column.
    #[must_use]
    pub fn key(&self) -> &str {
        &self.key
    }

    /// Goes on for about so many events; whether the run has ended.
    pub fn advance(&mut self, events: u64) -> bool {
        self.runner.advance(events) == Step::Done
    }

    /// Simulated time so far, nanoseconds.
    #[must_use]
    pub fn now_ns(&self) -> u64 {
        self.runner.progress().now_ns
    }

    /// Where it ends at the latest, nanoseconds.
    #[must_use]
    pub fn limit_ns(&self) -> u64 {
        self.runner.progress().limit_ns
    }

    /// What there is to say so far.
    #[must_use]
    pub fn result(&self) -> RunResult {
        self.runner.result()
    }

    /// The window in full detail, with a little before and after it, so that what begins before it and how it ends are known.
    ///
    /// # Errors
    /// Why it cannot be shown, as a sentence.
    pub fn look(&self, start_ns: u64, end_ns: u64) -> Result<Closeup, String> {
        let span = Span::new(start_ns, end_ns);
        let lead_ns = (end_ns.saturating_sub(start_ns) / 2).clamp(50_000_000, 500_000_000);
        let from_ns = start_ns.saturating_sub(lead_ns);
        let to_ns = end_ns.saturating_add(LEAD_OUT_NS);
        let detail = self.runner.detail(from_ns, to_ns, ENTRIES_MAX).map_err(|error| format!("{error}."))?;
        let elevator = self.runner.scenario().kernel.elevator.clone();
        Ok(Closeup { span, detail, elevator })
    }
}

#[cfg(test)]
mod tests {
    use super::super::open_link;
    use super::*;

    fn short() -> Setting {
        let mut setting = open_link("").setting;
        setting.overrides.insert("time".into(), "300 ms".into());
        setting
    }

    /// A window of vanilla CFQ shows what the experiment is about: idling in vain, by the words and by the lanes.
    #[test]
    fn a_window_of_cfq_shows_idling_in_vain() {
        let mut run = PageRun::new(&short(), "vanilla cfq", true).expect("right");
        while !run.advance(10_000) {}
        let closeup = run.look(100_000_000, 150_000_000).expect("run");
        let service = closeup.figure("service").expect("something is served");
        assert!(service.summary.contains("in vain"), "{}", service.summary);
        let crate::Chart::Lanes(lanes) = &service.chart else { panic!("lanes") };
        let vain = lanes
            .categories
            .iter()
            .position(|category| category.label == "idling, in vain")
            .expect("a category");
        let idle = lanes.lanes.iter().find(|lane| lane.label == "idling for").expect("a lane");
        let count = idle.intervals.iter().filter(|interval| interval.category == vain).count();
        assert!((3..=7).contains(&count), "about one in 9 or 10 ms of 50 ms: {count}");
        for name in ["tasks", "dispatches", "depth"] {
            assert!(closeup.figure(name).is_some(), "{name}");
        }
        assert_eq!(closeup.remark(), "");
    }

    /// Lanes have no overlaps, no gaps behind the first known state, and nothing outside the run.
    #[test]
    fn lanes_are_in_order() {
        let mut run = PageRun::new(&short(), "vanilla cfq", true).expect("right");
        while !run.advance(10_000) {}
        for (start, end) in [(0, 300_000_000), (120_000_000, 140_000_000), (200_000_000, 200_001_000)] {
            let closeup = run.look(start, end).expect("run");
            for name in ["service", "tasks"] {
                let Some(figure) = closeup.figure(name) else { continue };
                let crate::Chart::Lanes(chart) = &figure.chart else { panic!("lanes") };
                for lane in &chart.lanes {
                    assert!(
                        lane.intervals.windows(2).all(|pair| pair[0].end_ns <= pair[1].start_ns),
                        "{name}: {lane:?}"
                    );
                    assert!(lane.intervals.iter().all(|interval| interval.category < chart.categories.len()));
                }
            }
        }
    }

    /// Deadline does not idle, and the page says that instead of showing empty lanes.
    #[test]
    fn deadline_has_no_slices() {
        let mut run = PageRun::new(&short(), "deadline", true).expect("right");
        while !run.advance(10_000) {}
        let service =
            run.look(100_000_000, 110_000_000).expect("run").figure("service").expect("something is served");
        assert!(service.summary.contains("does not idle"), "{}", service.summary);
    }

    /// What cannot be run or looked at is refused in words.
    #[test]
    fn refusals_are_sentences() {
        let error = PageRun::new(&short(), "nobody", false).expect_err("no such kernel");
        assert!(error.ends_with('.') && error.contains("nobody"), "{error}");
        let mut setting = short();
        setting.overrides.insert("machine.hz".into(), "300".into());
        let error = PageRun::new(&setting, "deadline", false).expect_err("no such HZ");
        assert!(error.contains("100, 250"), "{error}");
        let mut run = PageRun::new(&short(), "deadline", false).expect("right");
        run.advance(10_000);
        assert!(run.look(0, 1_000_000).is_err());
    }
}
