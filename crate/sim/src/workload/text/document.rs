//! The whole text: title, parameters, included workloads, files and processes.

use super::parameters::{Parameter, Parameters, Values};
use super::steps::StepReader;
use crate::block::IoClass;
use crate::text::{Field, Node, Place, Problem, Problems, Scale, Table};
use crate::workload::check::{MAX_DEVICE_BYTES, Spot};
use crate::workload::program::{FileSpec, ProcessSpec, Workload};
use crate::workload::{built_in, check};

/// How deep workloads may include each other.
const MAX_INCLUDE_DEPTH: usize = 4;
/// How many workloads one may include.
const MAX_INCLUDED: usize = 16;

/// A workload that was read from a text, with what the text says about itself.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct WorkloadText {
    /// A short title; may be empty.
    pub title: String,
    /// What it does and where it comes from; may be empty.
    pub about: String,
    /// Its parameters, those of included workloads among them.
    pub parameters: Vec<Parameter>,
    /// What runs.
    pub workload: Workload,
}

/// Reads a workload's text. `document` names it in messages; `values` sets its parameters.
///
/// # Errors
/// Every problem found: syntax first; if there is none, unknown keys, wrong values and names; if
/// there is none of those, what [`Workload::check`] finds.
pub fn read(document: &str, text: &str, values: &Values) -> Result<WorkloadText, Vec<Problem>> {
    let root = Node::parse(document, text)?;
    let mut problems = Problems::default();
    let read = read_field(&Field::root(document, &root), values, &mut problems);
    problems.or(read)
}

/// Reads a workload that is a table within a larger text.
pub fn read_field(field: &Field<'_>, values: &Values, problems: &mut Problems) -> Option<WorkloadText> {
    let before = problems.len();
    let mut draft = Draft::default();
    let text = draft.read(field, values, 0, problems)?;
    for name in values.names().filter(|name| text.parameters.iter().all(|known| known.name != *name)) {
        let problem = values.problem(name, "this workload has no parameter of this name");
        problems.push(problem.with_names(name, text.parameters.iter().map(|known| known.name.as_str())));
    }
    if problems.len() > before {
        return None;
    }
    let workload = draft.finish();
    let faults = check::check(&workload);
    problems.extend(faults.iter().map(|fault| fault.problem(draft.place(fault.spot, field))));
    Some(WorkloadText { workload, ..text })
}

/// A workload in the making, with the place of everything in it.
#[derive(Default)]
pub(super) struct Draft {
    workload: Workload,
    /// Of each file: where it is, and whether its position on the device was given.
    files: Vec<(Place, bool)>,
    /// Of each process: where it is, and where each of its steps is, in the order of the text.
    processes: Vec<(Place, Vec<Place>)>,
}

impl Draft {
    fn read(
        &mut self,
        field: &Field<'_>,
        values: &Values,
        depth: usize,
        problems: &mut Problems,
    ) -> Option<WorkloadText> {
        let mut table = field.table(problems)?;
        let mut words =
            |key| table.field(key).and_then(|field| field.text(problems)).unwrap_or("").trim().to_owned();
        let (title, about) = (words("title"), words("about"));
        let mut parameters = Parameters::read(&mut table, values, problems);
        let included = list_of(&mut table, "include", problems);
        if let Some(surplus) = included.get(MAX_INCLUDED) {
            problems.push(surplus.problem(format!("at most {MAX_INCLUDED} workloads can be included")));
        }
        for name in included.iter().take(MAX_INCLUDED) {
            let handed_on = parameters.for_included(values);
            if let Some(included) = self.include(name, &handed_on, depth, problems) {
                parameters.taken(&included.parameters);
            }
        }
        for file in list_of(&mut table, "file", problems) {
            let node = parameters.fill(&file, problems);
            self.read_file(&Field { node: &node, ..file }, problems);
        }
        for process in list_of(&mut table, "process", problems) {
            let node = parameters.fill(&process, problems);
            self.read_process(&Field { node: &node, ..process }, problems);
        }
        table.finish(problems);
        parameters.report_unused(field.document, problems);
        Some(WorkloadText { title, about, parameters: parameters.list, workload: Workload::default() })
    }

    /// Adds the processes and files of a built-in workload.
    fn include(
        &mut self,
        field: &Field<'_>,
        values: &Values,
        depth: usize,
        problems: &mut Problems,
    ) -> Option<WorkloadText> {
        let name = field.text(problems)?;
        let Some(found) = built_in::find(name) else {
            let problem = field.problem("there is no built-in workload of this name");
            problems.push(problem.with_names(name, built_in::names()));
            return None;
        };
        if depth >= MAX_INCLUDE_DEPTH {
            problems.push(field.problem("workloads include each other too deeply"));
            return None;
        }
        let document = format!("workload {name}");
        match Node::parse(&document, found.toml) {
            Ok(root) => self.read(&Field::root(&document, &root), values, depth + 1, problems),
            Err(wrong) => {
                problems.extend(wrong);
                None
            }
        }
    }

    fn read_file(&mut self, field: &Field<'_>, problems: &mut Problems) {
        let Some(mut table) = field.table(problems) else { return };
        let name = table.require("name", "steps open it by this name", problems);
        let name = name.and_then(|name| name.name(problems));
        let size = table.require("size", "how long it is, such as \"4.19 GB\"", problems);
        let size = size.and_then(|size| size.quantity(Scale::Size, &(1..=MAX_DEVICE_BYTES), problems));
        let at = table.field("at");
        let at_per_mille = at.as_ref().map(|at| read_per_mille(at, problems));
        table.finish(problems);
        let (Some(name), Some(size_bytes), Some(at_per_mille)) =
            (name, size, at_per_mille.unwrap_or(Some(0)))
        else {
            return;
        };
        let file = FileSpec { name: name.to_owned(), size_bytes, at_per_mille };
        self.workload.files.push(file);
        self.files.push((field.place(), at.is_some()));
    }

    fn read_process(&mut self, field: &Field<'_>, problems: &mut Problems) {
        let Some(mut table) = field.table(problems) else { return };
        let name = table.require("name", "results are shown under it", problems);
        let name = name.and_then(|name| name.name(problems)).unwrap_or("");
        let mut number = |key, default: u64, bounds| {
            let field = table.field(key);
            field.map_or(Some(default), |field| field.quantity(Scale::Count, &bounds, problems))
        };
        let count = number("count", 1, 1..=u64::from(check::MAX_PROCESSES));
        let io_priority = number("io-priority", 4, 0..=7);
        let classes =
            [("real-time", IoClass::RealTime), ("best-effort", IoClass::BestEffort), ("idle", IoClass::Idle)];
        let io_class = table.field("io-class");
        let io_class = io_class.map_or(Some(IoClass::BestEffort), |field| field.one_of(&classes, problems));
        let shared = table.field("shared-io-context");
        let shared_io_context = shared.map_or(Some(false), |field| field.boolean(problems));
        let mut process = ProcessSpec {
            name: name.to_owned(),
            count: count.and_then(|count| u32::try_from(count).ok()).unwrap_or(1),
            io_class: io_class.unwrap_or(IoClass::BestEffort),
            io_priority: io_priority.and_then(|priority| u8::try_from(priority).ok()).unwrap_or(4),
            shared_io_context: shared_io_context.unwrap_or(false),
            handles: Vec::new(),
            marks: Vec::new(),
            steps: Vec::new(),
        };
        let mut places = Vec::new();
        if let Some(steps) = table.require("steps", "what the process does", problems) {
            let mut reader = StepReader {
                files: &self.workload.files,
                barriers: &mut self.workload.barriers,
                process: &mut process,
                places: &mut places,
                problems,
            };
            let steps = reader.steps(&steps);
            process.steps = steps;
        }
        table.finish(problems);
        self.workload.processes.push(process);
        self.processes.push((field.place(), places));
    }

    /// The workload, with files that named no position spread evenly over the device.
    fn finish(&mut self) -> Workload {
        let mut workload = std::mem::take(&mut self.workload);
        let unplaced = self.files.iter().filter(|(_, is_placed)| !is_placed).count();
        let positions = (0..unplaced).map(|index| 1000 * (2 * index + 1) / (2 * unplaced));
        let files = workload.files.iter_mut().zip(&self.files).filter(|(_, (_, is_placed))| !is_placed);
        for ((file, _), position) in files.zip(positions) {
            file.at_per_mille = u32::try_from(position).unwrap_or(0);
        }
        workload
    }

    /// Where a thing of the workload stands in the text.
    fn place(&self, spot: Spot, whole: &Field<'_>) -> Place {
        let process = |index| self.processes.get(index);
        let place = match spot {
            Spot::Workload => None,
            Spot::File(index) => self.files.get(index).map(|(place, _)| place),
            Spot::Process(index) => process(index).map(|(place, _)| place),
            Spot::Step { process: index, step } => process(index).and_then(|(_, places)| places.get(step)),
        };
        place.cloned().unwrap_or_else(|| whole.place())
    }
}

/// The items of the list under `key`; none if it is absent.
fn list_of<'n>(table: &mut Table<'n>, key: &'static str, problems: &mut Problems) -> Vec<Field<'n>> {
    table.field(key).and_then(|field| field.list(problems)).unwrap_or_default()
}

/// `12.5 %` of the device, as thousandths.
fn read_per_mille(field: &Field<'_>, problems: &mut Problems) -> Option<u32> {
    let text = field.text(problems)?;
    // A percentage with one decimal is a count of thousandths with a dot before its last digit.
    let number = text.trim().strip_suffix('%').map(str::trim).unwrap_or("");
    let (whole, tenth) = number.split_once('.').unwrap_or((number, "0"));
    let is_number = tenth.len() == 1 && format!("{whole}{tenth}").bytes().all(|byte| byte.is_ascii_digit());
    let per_mille = format!("{whole}{tenth}").parse().ok().filter(|value| is_number && *value < 1000);
    if per_mille.is_none() {
        let problem =
            field.problem("this is no position on the device: write \"12.5 %\", with at most one decimal");
        problems.push(problem.with_allowed("0 % to 99.9 %"));
    }
    per_mille
}
