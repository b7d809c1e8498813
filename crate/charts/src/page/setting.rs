//! What is set and looked at, in the page's own simple words, and the links that carry it.

use litemap::LiteMap;
use serde::{Deserialize, Serialize};
use stallarium_sim::scenario::link::{self, Link, RECOMMENDED_LENGTH, Subject};
use stallarium_sim::scenario::{Experiment, Place, Problem};
use stallarium_sim::text::format_time;

/// What is to be run. Numbers are text, as people write them.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct Setting {
    /// The experiment's id; empty for a scenario of one's own.
    pub experiment: String,
    /// The case shown.
    pub case: String,
    /// Kernel names, or labels of columns.
    pub kernels: Vec<String>,
    /// A workload of one's own, as text; empty for the case's.
    pub workload: String,
    /// A scenario of one's own, as text; empty for the experiment.
    pub scenario: String,
    /// The seed; empty leaves it to the scenario.
    pub seed: String,
    /// Values by path, such as `machine.hz`.
    pub overrides: LiteMap<String, String>,
}

/// What is looked at.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct View {
    /// Label of the kernel in the close-up; empty for the page's choice.
    pub kernel: String,
    /// The close-up's beginning, nanoseconds.
    pub start_ns: u64,
    /// The close-up's end, nanoseconds; 0 for the page's choice.
    pub end_ns: u64,
    /// The charts shown when embedded; none for the page's choice.
    pub charts: Vec<String>,
}

/// A link, opened.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Opened {
    /// What it runs.
    pub setting: Setting,
    /// What it looks at.
    pub view: View,
    /// The digest it carries; may be empty.
    pub digest: String,
    /// What the reader should know about it, in sentences.
    pub remarks: Vec<String>,
}

impl Setting {
    /// The setting of a link.
    fn of(link: &Link) -> Self {
        let seed = link.seed.map_or(String::new(), |seed| seed.to_string());
        let mut overrides = link.settings.clone();
        // A link always says how long it runs; as long as the page runs by itself is no change.
        if let Subject::Experiment { id, case, .. } = &link.subject
            && let Ok(experiment) = Experiment::find(id)
            && let Ok(case) = experiment.case(case)
            && overrides.get("time") == Some(&format_time(case.interactive_time_ns))
        {
            overrides.remove("time");
        }
        match &link.subject {
            Subject::Experiment { id, case, kernels, workload } => Self {
                experiment: id.clone(),
                case: case.clone(),
                kernels: kernels.clone(),
                workload: workload.clone().unwrap_or_default(),
                scenario: String::new(),
                seed,
                overrides,
            },
            Subject::Own { text } => Self { scenario: text.clone(), seed, overrides, ..Self::default() },
        }
    }

    /// The link that carries this, with nothing looked at.
    ///
    /// # Errors
    /// The seed is no number.
    pub fn link(&self) -> Result<Link, Box<Problem>> {
        let seed = match self.seed.trim() {
            "" => None,
            text => Some(text.parse().map_err(|_| {
                let place = Place::of_path("page", "seed");
                let message = "a seed is a whole number, at most 20 digits";
                Box::new(Problem::new(place, message).with_value(text))
            })?),
        };
        let some = |text: &String| (!text.is_empty()).then(|| text.clone());
        let subject = match some(&self.scenario) {
            Some(text) => Subject::Own { text },
            None => Subject::Experiment {
                id: self.experiment.clone(),
                case: self.case.clone(),
                kernels: self.kernels.clone(),
                workload: some(&self.workload),
            },
        };
        let (settings, view) = (self.overrides.clone(), link::View::default());
        Ok(Link { subject, seed, seeds: 1, settings, model: None, digest: None, view })
    }
}

/// Reads the fragment that the page was opened with; an empty one gives the first experiment. A link that cannot be
/// opened gives the experiment too, and says why.
#[must_use]
pub fn open_link(fragment: &str) -> Opened {
    let first = || Experiment::ids().next().map(Link::to_experiment).and_then(Result::ok);
    let (link, remarks) = match fragment.trim_start_matches('#') {
        "" => (first(), Vec::new()),
        _ => match Link::open(fragment) {
            Ok(link) => {
                let remarks = if link.is_of_another_model() {
                    vec!["This link was made with another version of the model: its numbers may rightly differ.".to_owned()]
                } else {
                    Vec::new()
                };
                (Some(link), remarks)
            }
            Err(error) => {
                let text = error.to_string();
                let mut remarks: Vec<String> = text.lines().map(sentence).collect();
                remarks.push("The experiment is shown as it was published instead.".to_owned());
                (first(), remarks)
            }
        },
    };
    let Some(link) = link else { return Opened { remarks, ..Opened::default() } };
    let (start_ns, end_ns) = link.view.range_ns.unwrap_or((0, 0));
    let view =
        View { kernel: link.view.selected.clone(), start_ns, end_ns, charts: link.view.charts.clone() };
    let digest = link.digest.map_or(String::new(), |digest| format!("{digest:016x}"));
    Opened { setting: Setting::of(&link), view, digest, remarks }
}

/// A clause as a sentence.
fn sentence(clause: &str) -> String {
    let mut sentence = format!("{}.", clause.trim_end_matches('.'));
    if let Some(first) = sentence.get_mut(..1) {
        first.make_ascii_uppercase();
    }
    sentence
}

/// The fragment to share, `#` included; empty when the setting cannot be put into a link.
#[must_use]
pub fn share(setting: &Setting, view: &View, digest: Option<u64>) -> String {
    let Ok(mut link) = setting.link() else { return String::new() };
    link.view = link::View {
        range_ns: (view.end_ns > view.start_ns).then_some((view.start_ns, view.end_ns)),
        charts: view.charts.clone(),
        selected: view.kernel.clone(),
    };
    digest.map_or_else(|| link.clone(), |digest| link.clone().with_digest(digest)).share()
}

/// What to keep in mind when sharing this fragment; empty for most.
#[must_use]
pub fn link_advice(fragment: &str) -> String {
    if fragment.len() > RECOMMENDED_LENGTH {
        format!("It has {} characters: some chat tools cut links after {RECOMMENDED_LENGTH}.", fragment.len())
    } else {
        String::new()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Whatever is on the screen comes back from its link.
    #[test]
    fn a_link_restores_setting_view_and_digest() {
        let mut setting = open_link("").setting;
        assert_eq!(setting.experiment, "cfq-noidle-2010");
        assert_eq!(setting.overrides, LiteMap::new());
        setting.case = "mixed".into();
        setting.kernels.push("cfq@2.6.37".into());
        setting.seed = "18446744073709551615".into();
        setting.overrides.insert("tunable.slice_idle".into(), "0".into());
        let view = View {
            kernel: "vanilla cfq".into(),
            start_ns: 1_000_000,
            end_ns: 50_000_123,
            charts: vec!["service".into()],
        };
        let opened = open_link(&share(&setting, &view, Some(0x1234)));
        assert_eq!(opened, Opened { setting, view, digest: "0000000000001234".into(), remarks: Vec::new() });
    }

    /// A bad link says why, and something is shown all the same.
    #[test]
    fn a_bad_link_leads_somewhere() {
        for fragment in ["#9t.x=1", "#1z.%%%", "#1t.machin.hz=3", "nonsense"] {
            let opened = open_link(fragment);
            assert_eq!(opened.setting, open_link("").setting, "{fragment}");
            assert!(
                opened.remarks.len() >= 2 && opened.remarks.iter().all(|text| text.ends_with('.')),
                "{opened:?}"
            );
        }
    }

    /// A seed that is none is told as a problem of the seed.
    #[test]
    fn a_bad_seed_is_a_problem() {
        let setting = Setting { seed: "seven".into(), ..open_link("").setting };
        assert_eq!(setting.link().map_err(|problem| problem.place.path), Err("seed".to_owned()));
        assert_eq!(share(&setting, &View::default(), None), "");
    }
}
