//! What a setting means: the kernels with their runs, the fields with their values, or what is wrong with it.

use super::setting::Setting;
use serde::{Deserialize, Serialize};
use stallarium_sim::kernel::{self, ElevatorName};
use stallarium_sim::report::published::published_data;
use stallarium_sim::scenario::form::{self, Field};
use stallarium_sim::scenario::link::{Link, SCHEMA};
use stallarium_sim::scenario::{Experiment, KernelChoice, Problem, Scenario, ScenarioFile};
use stallarium_sim::text::format_time;

/// The most kernels side by side.
pub(super) const COLUMNS_MAX: usize = 6;

/// Something that is wrong, for beside its field.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Complaint {
    /// The field's path; empty for the whole.
    pub path: String,
    /// What is wrong and what is allowed, in a line.
    pub text: String,
}

/// One kernel that is shown or could be.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Column {
    /// What it is called.
    pub label: String,
    /// Its kernel name, as it stands in a setting.
    pub name: String,
    /// What is special about it.
    pub about: String,
    /// Names its run: equal keys mean the same run. Empty while it is switched off.
    pub key: String,
    /// Its place in the palette.
    pub slot: u8,
    /// Whether it is run and shown.
    pub is_on: bool,
    /// Whether it is none of the experiment's columns.
    pub is_extra: bool,
}

/// A case of the experiment.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct CaseChoice {
    /// Its name in a setting.
    pub name: String,
    /// Its title.
    pub title: String,
    /// How long it runs for the published numbers, as text for the field `time`.
    pub full_time: String,
}

/// An experiment that can be opened.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct ExperimentChoice {
    /// Its title: a question.
    pub title: String,
    /// When its table was published, as `2010-07-09`.
    pub date: String,
    /// The fragment that opens it, with the `#`.
    pub fragment: String,
    /// Whether it is the one that is shown.
    pub is_shown: bool,
}

/// What a setting means.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Checked {
    /// What is wrong; the rest is empty then.
    pub complaints: Vec<Complaint>,
    /// Every kernel, in the table's order, those added last.
    pub columns: Vec<Column>,
    /// What can be set.
    pub fields: Vec<Field>,
    /// The cases there are.
    pub cases: Vec<CaseChoice>,
    /// Every experiment there is.
    pub experiments: Vec<ExperimentChoice>,
    /// The question.
    pub title: String,
    /// What it is about, in sentences.
    pub context: Vec<String>,
    /// The conditions in a line, for subtitles.
    pub conditions: String,
}

/// A setting that can be run.
#[derive(Clone, Debug)]
pub(super) struct Meaning {
    pub(super) experiment: Option<Experiment>,
    pub(super) file: ScenarioFile,
    pub(super) link: Link,
}

/// Looks a setting up.
pub(super) fn meaning(setting: &Setting) -> Result<Meaning, Vec<Problem>> {
    let link = setting.link().map_err(|problem| vec![*problem])?;
    let file = link.file()?;
    let experiment =
        if setting.scenario.is_empty() { Experiment::find(&setting.experiment).ok() } else { None };
    if file.kernels.len() > COLUMNS_MAX {
        let place = stallarium_sim::scenario::Place::of_path("page", "kernels");
        let message = format!("at most {COLUMNS_MAX} kernels are compared at once");
        return Err(vec![Problem::new(place, message)]);
    }
    Ok(Meaning { experiment, file, link })
}

/// What a setting means, or what is wrong with it.
#[must_use]
pub fn check(setting: &Setting) -> Checked {
    match meaning(setting) {
        Ok(meaning) => describe(setting, &meaning),
        Err(problems) => {
            Checked { complaints: problems.iter().map(complaint).collect(), ..Checked::default() }
        }
    }
}

fn complaint(problem: &Problem) -> Complaint {
    let mut path = problem.place.path.clone();
    // A kernel of a list is told as the list, which the page shows as one.
    if path.starts_with("kernels") {
        path = "kernels".to_owned();
    }
    Complaint { path, text: form::complaint(problem) }
}

fn describe(setting: &Setting, meaning: &Meaning) -> Checked {
    let Meaning { experiment, file, link } = meaning;
    let device = form_value(&form::fields(link, file), "machine.device");
    let title = experiment.as_ref().map_or(&file.title, |experiment| &experiment.title).clone();
    let case = experiment.as_ref().and_then(|experiment| experiment.case(&setting.case).ok());
    let what = case.map_or(file.title.as_str(), |case| case.title.as_str());
    let (hz, seed, time) = (file.machine.hz, file.seed, format_time(file.limits.time_ns));
    let conditions = format!("{what}, {time}, {device}, HZ={hz}, seed {seed}");
    let choice = |case: &stallarium_sim::scenario::Case| CaseChoice {
        name: case.name.clone(),
        title: case.title.clone(),
        full_time: format_time(case.time_ns),
    };
    let source = experiment.as_ref().and_then(|experiment| published_data(experiment).ok());
    let source = source.map(|data| format!("Published on {}, {}: \"{}\".", data.list, data.date, data.title));
    let about = experiment.as_ref().map_or(&file.about, |experiment| &experiment.question).clone();
    let context = [about].into_iter().chain(source).collect();
    Checked {
        complaints: Vec::new(),
        columns: columns(setting, meaning),
        fields: form::fields(link, file),
        cases: experiment.iter().flat_map(|experiment| &experiment.cases).map(choice).collect(),
        experiments: experiments(experiment.as_ref()),
        title,
        context,
        conditions,
    }
}

fn experiments(shown: Option<&Experiment>) -> Vec<ExperimentChoice> {
    let all = Experiment::ids().filter_map(|id| Experiment::find(id).ok());
    all.map(|experiment| ExperimentChoice {
        fragment: format!("#{}t.experiment={}", SCHEMA, experiment.id),
        is_shown: shown.is_some_and(|shown| shown.id == experiment.id),
        title: experiment.title,
        date: experiment.date,
    })
    .collect()
}

fn form_value(fields: &[Field], path: &str) -> String {
    fields.iter().find(|field| field.path == path).map_or(String::new(), |field| field.value.clone())
}

/// The kernels that are on, and the experiment's others.
fn columns(setting: &Setting, meaning: &Meaning) -> Vec<Column> {
    let Meaning { experiment, file, .. } = meaning;
    let known = experiment.as_ref().map_or(&[][..], |experiment| &experiment.columns[..]);
    let scenarios = file.scenarios();
    let key_of = |label: &str| {
        let on = file.kernels.iter().position(|column| column.label == label);
        on.and_then(|index| scenarios.get(index)).map_or(String::new(), run_key)
    };
    let slot = |index: usize| u8::try_from(index).unwrap_or(u8::MAX);
    let mut all: Vec<Column> = known
        .iter()
        .enumerate()
        .map(|(index, column)| {
            let key = key_of(&column.label);
            Column {
                label: column.label.clone(),
                name: column.kernel.clone(),
                about: column.about.clone(),
                is_on: !key.is_empty(),
                key,
                slot: slot(index),
                is_extra: false,
            }
        })
        .collect();
    for (index, column) in file.kernels.iter().enumerate() {
        if known.iter().any(|known| known.label == column.label) {
            continue;
        }
        let name = setting.kernels.get(index).cloned().unwrap_or_else(|| column.label.clone());
        all.push(Column {
            label: column.label.clone(),
            about: about(&column.kernel),
            name,
            key: key_of(&column.label),
            slot: slot(all.len()),
            is_on: true,
            is_extra: !setting.kernels.is_empty(),
        });
    }
    all
}

/// What is special about a kernel: what its release and its patches say of themselves.
fn about(choice: &KernelChoice) -> String {
    let release = kernel::releases().iter().find(|release| release.name == choice.release);
    let patches =
        choice.patches.iter().filter_map(|name| kernel::patches().iter().find(|patch| patch.name == *name));
    let sentences = release.map(|release| release.documentation).into_iter();
    sentences.chain(patches.map(|patch| patch.documentation)).collect::<Vec<_>>().join(" ")
}

/// Names a run: scenarios that differ in anything have different keys.
pub(super) fn run_key(scenario: &Scenario) -> String {
    let bytes = postcard::to_allocvec(scenario).unwrap_or_default();
    // FNV-1a, 64 bits: no adversary gains anything by a collision here.
    let hash = bytes.iter().fold(0xcbf2_9ce4_8422_2325_u64, |hash, byte| {
        (hash ^ u64::from(*byte)).wrapping_mul(0x0000_0100_0000_01b3)
    });
    format!("{hash:016x}")
}

/// What the page can offer: releases with their elevators and patches.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Catalogue {
    /// Every release, oldest first.
    pub releases: Vec<ReleaseChoice>,
    /// Every patch.
    pub patches: Vec<PatchChoice>,
    /// The most kernels side by side.
    pub columns_max: usize,
    /// The release that most experiments are about.
    pub default_release: String,
}

/// A release with what goes with it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct ReleaseChoice {
    /// Its name.
    pub name: String,
    /// What distinguishes it.
    pub about: String,
    /// The elevators it has.
    pub elevators: Vec<String>,
    /// The patches that apply to it.
    pub patches: Vec<String>,
}

/// A patch.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct PatchChoice {
    /// Its name.
    pub name: String,
    /// What it does.
    pub about: String,
}

/// What the page can offer.
#[must_use]
pub fn catalogue() -> Catalogue {
    let release = |info: &kernel::ReleaseInfo| ReleaseChoice {
        name: info.name.to_owned(),
        about: info.documentation.to_owned(),
        elevators: ElevatorName::ALL
            .into_iter()
            .filter(|elevator| info.has_anticipatory || *elevator != ElevatorName::Anticipatory)
            .map(|elevator| elevator.name().to_owned())
            .collect(),
        patches: kernel::patches()
            .iter()
            .filter(|patch| patch.applies_to_release(info))
            .map(|patch| patch.name.to_owned())
            .collect(),
    };
    let patch = |info: &kernel::PatchInfo| PatchChoice {
        name: info.name.to_owned(),
        about: info.documentation.to_owned(),
    };
    let default_release = KernelChoice::parse("cfq").map(|kernel| kernel.release).unwrap_or_default();
    Catalogue {
        releases: kernel::releases().iter().map(release).collect(),
        patches: kernel::patches().iter().map(patch).collect(),
        columns_max: COLUMNS_MAX,
        default_release,
    }
}

#[cfg(test)]
mod tests {
    use super::super::open_link;
    use super::*;

    /// The experiment opens with its five columns, three of them on, and something to set.
    #[test]
    fn the_first_page_is_right() {
        let checked = check(&open_link("").setting);
        assert_eq!(checked.complaints, []);
        assert_eq!(checked.columns.len(), 5);
        let on: Vec<&str> = checked
            .columns
            .iter()
            .filter(|column| column.is_on)
            .map(|column| column.label.as_str())
            .collect();
        assert_eq!(on, ["deadline", "vanilla cfq", "8e55063 revert"]);
        assert!(
            checked.conditions.contains("HZ=1000") && checked.conditions.contains("array"),
            "{}",
            checked.conditions
        );
        assert_eq!(checked.cases.len(), 3);
    }

    /// Runs are told apart by whatever decides their outcome, and by nothing else.
    #[test]
    fn keys_follow_the_scenario() {
        let setting = open_link("").setting;
        let key = |setting: &Setting, label: &str| {
            let columns = check(setting).columns;
            columns.iter().find(|column| column.label == label).expect("there").key.clone()
        };
        let before = [key(&setting, "deadline"), key(&setting, "vanilla cfq")];
        let mut fewer = setting.clone();
        fewer.kernels.pop();
        assert_eq!(key(&fewer, "deadline"), before[0], "another column is off");
        let mut tuned = setting.clone();
        tuned.overrides.insert("tunable.slice_idle".into(), "0".into());
        assert_eq!(key(&tuned, "deadline"), before[0], "deadline has no slice_idle");
        assert_ne!(key(&tuned, "vanilla cfq"), before[1]);
        let seeded = Setting { seed: "2".into(), ..setting };
        assert_ne!(key(&seeded, "deadline"), before[0]);
    }

    /// An added kernel is a column of its own, with a colour that no column of the experiment has.
    #[test]
    fn kernels_can_be_added() {
        let mut setting = open_link("").setting;
        setting.kernels.push("cfq@2.6.37".into());
        let checked = check(&setting);
        let added = checked.columns.last().expect("columns");
        assert_eq!(
            (added.name.as_str(), added.slot, added.is_extra, added.is_on),
            ("cfq@2.6.37", 5, true, true)
        );
        assert!(!added.about.is_empty());
        for release in ["2.6.30", "2.6.31", "2.6.32", "2.6.36"] {
            setting.kernels.push(format!("cfq@{release}"));
        }
        assert_eq!(check(&setting).complaints[0].path, "kernels");
    }

    /// What is wrong is told with the path of the field it belongs to.
    #[test]
    fn complaints_find_their_field() {
        for (path, value) in
            [("machine.hz", "300"), ("tunable.slice_idle", "x"), ("machine.cpus", "0"), ("time", "5")]
        {
            let mut setting = open_link("").setting;
            setting.overrides.insert(path.into(), value.into());
            let checked = check(&setting);
            assert_eq!(
                checked.complaints.iter().map(|complaint| complaint.path.as_str()).collect::<Vec<_>>(),
                [path]
            );
        }
        let setting = Setting { kernels: vec!["cfq@2.6.99".into()], ..open_link("").setting };
        let complaint = &check(&setting).complaints[0];
        assert_eq!(complaint.path, "kernels");
        let setting = Setting { seed: "-1".into(), ..open_link("").setting };
        assert_eq!(check(&setting).complaints[0].path, "seed");
        let setting = Setting { case: "mixd".into(), ..open_link("").setting };
        assert_eq!(check(&setting).complaints[0].path, "case");
    }

    /// Whatever the form for another kernel offers can be added.
    #[test]
    fn every_offered_kernel_exists() {
        let catalogue = catalogue();
        assert!(catalogue.releases.iter().any(|release| release.name == catalogue.default_release));
        for release in &catalogue.releases {
            for elevator in &release.elevators {
                let kernels = vec![format!("{elevator}@{}", release.name)];
                let setting = Setting { kernels, ..open_link("").setting };
                assert_eq!(check(&setting).complaints, [], "{elevator}@{}", release.name);
            }
            for patch in &release.patches {
                let kernels = vec![format!("cfq@{}+{patch}", release.name)];
                let setting = Setting { kernels, ..open_link("").setting };
                assert_eq!(check(&setting).complaints, [], "{}+{patch}", release.name);
            }
        }
    }
}
