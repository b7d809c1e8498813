//! What can be set, for people who set it in a form: each value with its name, what it does, its unit, its range and
//! what it is when nobody sets it.
//!
//! Whatever a field is set to goes through [`Overrides`](super::Overrides) under the field's path, so that a form, a link and a command line mean the same.

use super::check::MAX_TIME_NS;
use super::link::{Link, Subject};
use super::vocabulary::tunables;
use super::{Experiment, FileSystemKind, KernelColumn, ScenarioFile};
use crate::block::elevator::tunables::{TunableInfo, TunableUnit};
use crate::device;
use crate::short_sort;
use crate::text::{Problem, format_time};
use litemap::LiteMap;
use serde::{Deserialize, Serialize};

/// Which part of a form a field belongs to.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum FieldGroup {
    /// The hardware and the file system.
    Machine,
    /// What sysfs offers.
    Tunables,
    /// Length and seed.
    Run,
}

/// What a field's value is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum FieldKind {
    /// A number, possibly with a unit.
    Number,
    /// One of [`Field::choices`].
    Choice,
    /// Off or on: the first and the second of [`Field::choices`].
    Switch,
}

/// A value that can be set.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Field {
    /// Its path, as in [`Overrides`](super::Overrides); `seed` is the link's own.
    pub path: String,
    /// Where it belongs.
    pub group: FieldGroup,
    /// What it is called: sysfs's name, or the scenario file's.
    pub name: String,
    /// What it does, in a sentence.
    pub about: String,
    /// What it can be.
    pub kind: FieldKind,
    /// The unit of a bare number; empty if it has none.
    pub unit: String,
    /// What is allowed, in words; empty where the choices say it.
    pub range: String,
    /// What it is now.
    pub value: String,
    /// What it is when nobody sets it.
    pub usual: String,
    /// What it can be, of a choice or a switch.
    pub choices: Vec<String>,
}

/// Every field of a form for what the link runs. Values are those of `file`, which the link gave.
///
/// Linear in kernels times tunables.
#[must_use]
pub fn fields(link: &Link, file: &ScenarioFile) -> Vec<Field> {
    let plain = Link { settings: LiteMap::new(), ..link.clone() };
    let usual = plain.file();
    let usual = usual.as_ref().unwrap_or(file);
    let mut fields = run_fields(link, file, usual);
    fields.extend(tunable_fields(link, file, usual));
    fields.extend(machine_fields(link, file, &plain, usual));
    fields
}

/// What is wrong, in one line for beside the field that has it: without the field's name, which stands there already.
#[must_use]
pub fn complaint(problem: &Problem) -> String {
    let mut text = problem.message.clone();
    if let Some(first) = text.get(..1) {
        text = first.to_ascii_uppercase() + text.get(1..).unwrap_or("");
    }
    let is_bound_named = |allowed: &str| allowed.split(" to ").all(|bound| text.contains(bound));
    match (&problem.nearest, &problem.allowed) {
        (Some(nearest), _) => text = format!("{text}. Did you mean {nearest}?"),
        (None, Some(allowed)) if !is_bound_named(allowed) => text = format!("{text}. Allowed: {allowed}."),
        (None, _) if text.ends_with('.') => {}
        (None, _) => text.push('.'),
    }
    if let Some(hint) = &problem.hint {
        text = format!("{text} {hint}");
    }
    text
}

fn field(group: FieldGroup, path: &str, about: &str) -> Field {
    Field {
        path: path.to_owned(),
        group,
        name: path.rsplit('.').next().unwrap_or(path).to_owned(),
        about: about.to_owned(),
        kind: FieldKind::Number,
        unit: String::new(),
        range: String::new(),
        value: String::new(),
        usual: String::new(),
        choices: Vec::new(),
    }
}

impl Field {
    fn values(self, value: impl ToString, usual: impl ToString) -> Self {
        Self { value: value.to_string(), usual: usual.to_string(), ..self }
    }

    fn range(self, unit: &str, range: impl Into<String>) -> Self {
        Self { unit: unit.to_owned(), range: range.into(), ..self }
    }

    fn one_of(self, choices: impl IntoIterator<Item = impl ToString>) -> Self {
        let choices = choices.into_iter().map(|choice| choice.to_string()).collect();
        Self { kind: FieldKind::Choice, choices, ..self }
    }

    fn switch(self, off: &str, on: &str) -> Self {
        Self { kind: FieldKind::Switch, choices: vec![off.to_owned(), on.to_owned()], ..self }
    }
}

fn run_fields(link: &Link, file: &ScenarioFile, usual: &ScenarioFile) -> Vec<Field> {
    let mut about = "How much time is simulated.".to_owned();
    if let Subject::Experiment { id, case, .. } = &link.subject
        && let Ok(case) = Experiment::find(id).as_ref().map(|experiment| experiment.case(case))
        && let Ok(case) = case
    {
        about =
            format!("How much time is simulated. The published numbers need {}.", format_time(case.time_ns));
    }
    let longest = format_time(MAX_TIME_NS);
    vec![
        field(FieldGroup::Run, "time", &about)
            .values(format_time(file.limits.time_ns), format_time(usual.limits.time_ns))
            .range("", format!("1 ns to {longest}, with its unit")),
        field(
            FieldGroup::Run,
            "seed",
            "Where every random stream begins. The same seed gives the same run, on every machine.",
        )
        .values(file.seed, 1)
        .range("", "a whole number"),
    ]
}

/// Every tunable that some kernel has, by name. A value set by name goes to all kernels that know it.
fn tunable_fields(link: &Link, file: &ScenarioFile, usual: &ScenarioFile) -> Vec<Field> {
    let mut order: Vec<(&TunableInfo, Vec<&KernelColumn>)> = Vec::new();
    for column in &file.kernels {
        for info in tunables(&column.kernel) {
            match order.iter_mut().find(|(known, _)| known.name == info.name) {
                Some((_, columns)) => columns.push(column),
                None => order.push((info, vec![column])),
            }
        }
    }
    let fields = order.iter().map(|(info, columns)| {
        let name = info.name;
        let usual_value = distinct(columns, |column| {
            let plain = usual.kernels.iter().find(|other| other.label == column.label);
            plain.and_then(|plain| plain.kernel.tunables.get(name)).copied().unwrap_or(info.default)
        });
        let value =
            distinct(columns, |column| column.kernel.tunables.get(name).copied().unwrap_or(info.default));
        let path = format!("tunable.{name}");
        let given = link.settings.get(&path).cloned();
        let who = if columns.len() == file.kernels.len() {
            String::new()
        } else {
            let labels: Vec<&str> = columns.iter().map(|column| column.label.as_str()).collect();
            format!(" Of {}.", labels.join(", "))
        };
        let field = field(FieldGroup::Tunables, &path, &format!("{}{who}", info.documentation))
            .values(given.unwrap_or(value), usual_value);
        match info.unit {
            TunableUnit::Boolean => field.switch("0", "1"),
            unit => field.range(unit.suffix().trim(), format!("{} to {}", info.min, info.max)),
        }
    });
    fields.collect()
}

/// The value of a tunable under every kernel that has it: one number, or all that occur.
fn distinct(columns: &[&KernelColumn], value: impl Fn(&KernelColumn) -> u64) -> String {
    let mut values: Vec<u64> = columns.iter().map(|column| value(column)).collect();
    values.dedup();
    short_sort::sort_by_key(&mut values, |value| *value);
    values.dedup();
    values.iter().map(u64::to_string).collect::<Vec<_>>().join(" or ")
}

/// The device's name: as set, else the preset of the same model.
fn preset(link: &Link, file: &ScenarioFile) -> String {
    let kind = file.machine.device.kind();
    let set = link.settings.get("machine.device").filter(|name| device::preset(name).is_some()).cloned();
    let same = || device::presets().iter().find(|preset| preset.options().kind() == kind);
    set.or_else(|| same().map(|preset| preset.name.to_owned())).unwrap_or_default()
}

fn machine_fields(link: &Link, file: &ScenarioFile, plain: &Link, usual: &ScenarioFile) -> Vec<Field> {
    let (now, then) = (&file.machine, &usual.machine);
    let kind = |kind: FileSystemKind| match kind {
        FileSystemKind::Ext3 => "ext3",
        FileSystemKind::Ext4 => "ext4",
    };
    let device = device::presets().iter().map(|preset| format!("{}: {}", preset.name, preset.doc));
    let machine = |path, about| field(FieldGroup::Machine, path, about);
    vec![
        machine("machine.device", &device.collect::<Vec<_>>().join(" "))
            .values(preset(link, file), preset(plain, usual))
            .one_of(device::presets().iter().map(|preset| preset.name)),
        machine(
            "machine.hz",
            "Ticks of the kernel's clock per second. Slices and idle timers are whole ticks.",
        )
        .values(now.hz, then.hz)
        .one_of([100, 250, 1000]),
        machine("machine.cpus", "Processors.").values(now.cpus, then.cpus).range("", "1 to 64"),
        machine(
            "machine.exact-timers",
            "Timers expire exactly, not on a tick: what no kernel of the time did.",
        )
        .values(now.exact_timers, then.exact_timers)
        .switch("false", "true"),
        machine(
            "machine.file-system.kind",
            "The file system and its journal: ext3 with jbd, ext4 with jbd2.",
        )
        .values(kind(now.file_system.kind), kind(then.file_system.kind))
        .one_of(["ext3", "ext4"]),
        machine("machine.file-system.barrier", "Mounted with barriers: each commit waits until it is safe.")
            .values(now.file_system.barrier, then.file_system.barrier)
            .switch("false", "true"),
        machine("machine.file-system.journal-mib", "Size of the journal.")
            .values(now.file_system.journal_mib, then.file_system.journal_mib)
            .range("MiB", "4 to 400"),
        machine("machine.file-system.access-time", "Reads update the access time on disk.")
            .values(now.file_system.access_time, then.file_system.access_time)
            .switch("false", "true"),
        machine(
            "machine.host.jitter-per-mille",
            "How much every cost on the CPU varies, drawn from the seed, in thousandths either way.",
        )
        .values(now.host.jitter_per_mille, then.host.jitter_per_mille)
        .range("‰", "0 to 500"),
    ]
}

#[cfg(test)]
mod tests {
    use super::super::Overrides;
    use super::*;

    fn link(settings: &[(&str, &str)]) -> Link {
        let mut link = Link::to_experiment("cfq-noidle-2010").expect("embedded");
        link.settings =
            settings.iter().map(|(path, value)| ((*path).to_owned(), (*value).to_owned())).collect();
        link
    }

    fn all(link: &Link) -> Vec<Field> {
        fields(link, &link.file().expect("right"))
    }

    /// Goal: a form offers nothing that is then refused. Method: every field set to its own value, and every choice and
    /// switch to each of its values, one at a time, still gives a scenario that passes.
    #[test]
    fn whatever_a_field_offers_is_accepted() {
        for field in all(&link(&[])).iter().filter(|field| field.path != "seed") {
            let tried =
                if field.choices.is_empty() { vec![field.value.clone()] } else { field.choices.clone() };
            for value in tried.iter().filter(|value| !value.contains(" or ")) {
                let set = link(&[(&field.path, value)]);
                assert!(set.file().is_ok(), "{} = {value}: {:?}", field.path, set.file().err());
            }
        }
    }

    /// Goal: what is shown is what runs. Method: a field that is set shows the new value, keeps the usual one, and no
    /// other changes.
    #[test]
    fn setting_one_field_changes_that_field_alone() {
        let before = all(&link(&[]));
        for (path, value) in [
            ("machine.hz", "250"),
            ("machine.device", "sata"),
            ("machine.file-system.barrier", "false"),
            ("tunable.slice_idle", "0"),
            ("time", "2 s"),
        ] {
            let after = all(&link(&[(path, value)]));
            assert_eq!(before.len(), after.len(), "{path}");
            for (old, new) in before.iter().zip(&after) {
                assert_eq!(old.usual, new.usual, "{path}: {}", old.path);
                let expected = if old.path == path { value } else { old.value.as_str() };
                assert_eq!(new.value, expected, "{path}: {}", old.path);
            }
        }
    }

    /// Tunables are listed with whom they belong to: deadline has no slice_idle.
    #[test]
    fn tunables_name_the_kernels_that_have_them() {
        let fields = all(&link(&[]));
        let slice_idle =
            fields.iter().find(|field| field.path == "tunable.slice_idle").expect("CFQ is there");
        assert_eq!((slice_idle.value.as_str(), slice_idle.unit.as_str()), ("8", "ms"));
        assert!(
            slice_idle.about.contains("vanilla cfq") && !slice_idle.about.contains("deadline"),
            "{}",
            slice_idle.about
        );
    }

    /// A complaint has the range and the nearest name, and stands without the field's name.
    #[test]
    fn complaints_say_what_is_allowed() {
        let file = |path: &str, value: &str| link(&[(path, value)]).file().expect_err("wrong");
        let range = complaint(&file("tunable.slice_idle", "99999999")[0]);
        assert!(range.contains("3600000") || range.contains("1 h") || range.contains("3600 s"), "{range}");
        let hz = complaint(&file("machine.hz", "300")[0]);
        assert!(hz.contains("100, 250"), "{hz}");
        let overrides = Overrides::from_document("page").with("tunable.slice_idel", "1");
        let experiment = Experiment::find("cfq-noidle-2010").expect("embedded");
        let wrong = experiment.scenario("vanilla cfq", "fs-mark", 1, &overrides).expect_err("wrong");
        assert!(complaint(&wrong[0]).contains("Did you mean slice_idle?"), "{}", complaint(&wrong[0]));
    }
}
