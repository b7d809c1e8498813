//! The scenario file: one machine, one workload, one kernel or several.
//!
//! The language is described for its users in `experiments/README.md`. Experiments and links come
//! down to the same tree and are read by the same code.

use super::check::{DEFAULT_EVENTS, DEFAULT_TIME_NS, MAX_EVENTS, MAX_TIME_NS};
use super::kernel_text::read_kernels;
use super::machine_text::read_machine;
use super::{KernelChoice, Limits, Machine, Overrides, Scenario};
use crate::text::{Field, Kind, Node, Position, Problem, Problems, Scale};
use crate::workload::built_in;
use crate::workload::text::{Values, WorkloadText, read_field};

/// What a scenario file says.
#[derive(Clone, Debug, PartialEq)]
pub struct ScenarioFile {
    /// A short title; may be empty.
    pub title: String,
    /// What it shows; may be empty.
    pub about: String,
    /// The machine.
    pub machine: Machine,
    /// The kernels to compare, at least one.
    pub kernels: Vec<KernelColumn>,
    /// What runs.
    pub workload: WorkloadText,
    /// Seed.
    pub seed: u64,
    /// Limits.
    pub limits: Limits,
}

/// A kernel and what its column is called.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct KernelColumn {
    /// What it is called in tables; unique in its file.
    pub label: String,
    /// The kernel.
    pub kernel: KernelChoice,
}

impl ScenarioFile {
    /// Reads a scenario file. `document` names it in messages.
    ///
    /// # Errors
    /// Every problem found.
    pub fn from_toml(document: &str, text: &str, overrides: &Overrides) -> Result<Self, Vec<Problem>> {
        Self::from_tree(document, Node::parse(document, text)?, overrides)
    }

    /// Reads a scenario's tree.
    pub(super) fn from_tree(
        document: &str,
        mut root: Node,
        overrides: &Overrides,
    ) -> Result<Self, Vec<Problem>> {
        let mut problems = Problems::default();
        overrides.apply(document, &mut root, &mut problems);
        let file = read(&Field::root(document, &root), &mut problems);
        if let (Some(file), true) = (&file, problems.is_empty()) {
            // What one kernel's run refuses for the machine or the workload, every kernel's does.
            let faults = file.scenarios().first().map(|scenario| scenario.check());
            for mut problem in faults.unwrap_or_default() {
                document.clone_into(&mut problem.place.document);
                problems.push(root.locate(problem));
            }
        }
        problems.or(file)
    }

    /// The runs, one for each kernel.
    #[must_use]
    pub fn scenarios(&self) -> Vec<Scenario> {
        let scenario = |column: &KernelColumn| Scenario {
            machine: self.machine.clone(),
            kernel: column.kernel.clone(),
            workload: self.workload.workload.clone(),
            seed: self.seed,
            limits: self.limits,
        };
        self.kernels.iter().map(scenario).collect()
    }
}

impl Scenario {
    /// Reads a scenario file that has one kernel.
    ///
    /// # Errors
    /// Every problem found; that there are several kernels is one.
    pub fn from_toml(text: &str) -> Result<Self, Vec<Problem>> {
        let file = ScenarioFile::from_toml("scenario", text, &Overrides::none())?;
        let mut scenarios = file.scenarios();
        match (scenarios.pop(), scenarios.len()) {
            (Some(scenario), 0) => Ok(scenario),
            (_, others) => {
                let place = crate::text::Place::of_path("scenario", "kernels");
                let message = format!("one run has one kernel, this text has {}", others + 1);
                Err(vec![Problem::new(place, message)])
            }
        }
    }
}

fn read(root: &Field<'_>, problems: &mut Problems) -> Option<ScenarioFile> {
    let mut table = root.table(problems)?;
    let mut words =
        |key| table.field(key).and_then(|field| field.text(problems)).unwrap_or("").trim().to_owned();
    let (title, about) = (words("title"), words("about"));
    let mut number = |key, scale, default, bounds| {
        let field = table.field(key);
        field.map_or(Some(default), |field| field.quantity(scale, &bounds, problems))
    };
    let seed = number("seed", Scale::Count, 1, 0..=u64::MAX);
    let time_ns = number("time", Scale::Time, DEFAULT_TIME_NS, 1..=MAX_TIME_NS);
    let events = number("events", Scale::Count, DEFAULT_EVENTS, 1..=MAX_EVENTS);
    let machine = read_machine(table.field("machine").as_ref(), problems);
    let tunables = table.field("tunable");
    let kernels = table.require("kernels", "at least one, such as \"cfq@2.6.35\"", problems);
    let kernels = kernels.map(|field| read_kernels(&field, tunables.as_ref(), problems));
    let workload = table.require("workload", "a built-in one's name, or a table with processes", problems);
    let workload = workload.map(|field| read_workload(&field, problems));
    table.finish(problems);
    Some(ScenarioFile {
        title,
        about,
        machine: machine?,
        kernels: kernels.filter(|kernels| !kernels.is_empty())?,
        workload: workload??,
        seed: seed?,
        limits: Limits { time_ns: time_ns?, events: events? },
    })
}

/// Reads `workload`: the name of a built-in one, `{ use = "name", parameter = value, ... }`, or the
/// workload itself.
fn read_workload(field: &Field<'_>, problems: &mut Problems) -> Option<WorkloadText> {
    if !matches!(field.node.kind, Kind::Table(_)) {
        return read_built_in(field, &Values::none(), problems);
    }
    let mut table = field.table(problems)?;
    let mut values = Values::none();
    if let Some(name) = table.field("use") {
        for (key, value) in table.rest() {
            values.set_field(key, &value);
        }
        return read_built_in(&name, &values, problems);
    }
    // Values that came in by name stand beside the workload's own keys; they are its parameters.
    let mut own = field.node.clone();
    if let Kind::Table(entries) = &mut own.kind {
        for (key, value) in
            table.all().into_iter().filter(|(_, value)| value.node.position == Position::default())
        {
            values.set_field(key, &value);
            entries.remove(key);
        }
    }
    read_field(&Field { node: &own, ..field.clone() }, &values, problems)
}

fn read_built_in(field: &Field<'_>, values: &Values, problems: &mut Problems) -> Option<WorkloadText> {
    let name = field.text(problems)?;
    let Some(found) = built_in::find(name) else {
        let problem = field.problem("there is no built-in workload of this name");
        problems.push(problem.with_names(name, built_in::names()));
        return None;
    };
    let document = format!("workload {name}");
    match Node::parse(&document, found.toml) {
        Ok(root) => read_field(&Field::root(&document, &root), values, problems),
        Err(wrong) => {
            problems.extend(wrong);
            None
        }
    }
}
