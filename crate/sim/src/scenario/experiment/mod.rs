//! Published experiments: a machine, the kernels of a table, what was run on them, and which numbers
//! the table shows.
//!
//! Each is a file in `experiments/`; its language is described in `experiments/README.md`. An
//! experiment turns into runs by way of a scenario's tree: its machine, the chosen kernels and the
//! case's workload are put together as if somebody had written that scenario file.

mod read;

use super::{KernelChoice, Overrides, Scenario, ScenarioFile};
use crate::text::{Kind, Node, Place, Problem, format_time};
use litemap::LiteMap;
use serde::{Deserialize, Serialize};

/// An experiment.
#[derive(Clone, Debug, PartialEq)]
pub struct Experiment {
    /// Its name everywhere: `cfq-noidle-2010`.
    pub id: String,
    /// Title.
    pub title: String,
    /// What it asks, in a few sentences.
    pub question: String,
    /// When the table was published, as `2010-07-09`.
    pub date: String,
    /// The table's id within the published data.
    pub table: String,
    /// The kernels, in the table's order.
    pub columns: Vec<Column>,
    /// What is run.
    pub cases: Vec<Case>,
    /// The rows of the table, in its order.
    pub metrics: Vec<Metric>,
    /// What the page shows first.
    pub interactive: Interactive,
    /// The `machine` table.
    machine: Node,
    /// Of each case, its `workload`, and what differs from the machine, if anything does.
    workloads: Vec<(Node, Option<Node>)>,
}

/// A column: a kernel.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Column {
    /// Its label in the published table.
    pub label: String,
    /// Its kernel name, as in the text.
    pub kernel: String,
    /// What is special about it; may be empty.
    pub about: String,
}

/// Something that is run on every kernel.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Case {
    /// Its name in links and on the command line.
    pub name: String,
    /// Its title.
    pub title: String,
    /// How long it runs for the published numbers, in nanoseconds of simulated time.
    pub time_ns: u64,
    /// How long it runs in the page unless somebody wants more, in nanoseconds.
    pub interactive_time_ns: u64,
}

/// A row of the table.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Metric {
    /// Its name in the published table.
    pub row: String,
    /// The case it is measured in.
    pub case: String,
    /// The process it is measured at; copies of the process are added up. Empty for what concerns the whole machine.
    pub process: String,
    /// What is measured; of a mark and of bytes, how much per second of simulated time.
    pub rate: Rate,
    /// Unit as shown. Bytes are shown in `MB/s`, millions of bytes a second.
    pub unit: String,
}

/// What is counted.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Rate {
    /// A mark.
    Mark(String),
    /// Bytes that system calls have read.
    BytesRead,
    /// Bytes that system calls have written.
    BytesWritten,
    /// A counter of `/proc/vmstat` at the end: a number, not a rate.
    Counter(String),
    /// How long the run took, in seconds of simulated time.
    Elapsed,
    /// The same, as a multiple of what it took in the table's baseline.
    RelativeTime,
}

impl Rate {
    /// Whether it says something about one process.
    #[must_use]
    pub fn is_of_process(&self) -> bool {
        matches!(self, Self::Mark(_) | Self::BytesRead | Self::BytesWritten)
    }
}

/// What the page shows first.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Interactive {
    /// The case, by name.
    pub case: String,
    /// The columns that are switched on, by label.
    pub columns: Vec<String>,
}

/// What of an experiment is to be run.
#[derive(Clone, Copy, Debug)]
pub struct Selection<'a> {
    /// The case, by name.
    pub case: &'a str,
    /// Kernels: labels of columns, or kernel names; none means every column.
    pub kernels: &'a [String],
    /// The text of a workload that runs instead of the case's.
    pub workload: Option<&'a str>,
    /// Seed.
    pub seed: u64,
    /// As long as in the page, instead of as long as the published numbers need.
    pub is_interactive: bool,
    /// What differs from the experiment.
    pub overrides: &'a Overrides,
}

/// An experiment's text and data. To add one, write the file and add a line to [`EMBEDDED`].
struct Embedded {
    id: &'static str,
    toml: &'static str,
    published: &'static str,
}

const EMBEDDED: &[Embedded] = &[
    Embedded {
        id: "cfq-noidle-2010",
        toml: include_str!("../../../experiments/cfq-noidle-2010.toml"),
        published: include_str!("../../../published/cfq-noidle-2010.toml"),
    },
    Embedded {
        id: "congestion-wait-2010",
        toml: include_str!("../../../experiments/congestion-wait-2010.toml"),
        published: include_str!("../../../published/congestion-wait-2010.toml"),
    },
];

impl Experiment {
    /// The ids of all experiments.
    pub fn ids() -> impl Iterator<Item = &'static str> {
        EMBEDDED.iter().map(|embedded| embedded.id)
    }

    /// The experiment of this id.
    ///
    /// # Errors
    /// There is none; the problem names the nearest.
    pub fn find(id: &str) -> Result<Self, Vec<Problem>> {
        match EMBEDDED.iter().find(|embedded| embedded.id == id) {
            Some(embedded) => Self::from_toml(embedded.toml),
            None => {
                let problem =
                    Problem::new(Place::of_path("scenario", "experiment"), "there is no such experiment");
                Err(vec![problem.with_value(id).with_names(id, Self::ids())])
            }
        }
    }

    /// Reads an experiment's text.
    ///
    /// # Errors
    /// Every problem found, but for those of its machine, kernels and workloads: these show when it is
    /// run.
    pub fn from_toml(text: &str) -> Result<Self, Vec<Problem>> {
        read::read(text)
    }

    /// The published tables and what they claim, as data: TOML, with their source.
    #[must_use]
    pub fn published_text(&self) -> Option<&'static str> {
        EMBEDDED.iter().find(|embedded| embedded.id == self.id).map(|embedded| embedded.published)
    }

    /// The case of this name.
    ///
    /// # Errors
    /// There is none; the problem names the nearest.
    pub fn case(&self, name: &str) -> Result<&Case, Vec<Problem>> {
        self.cases.iter().find(|case| case.name == name).ok_or_else(|| {
            let problem = Problem::new(self.place("case"), "the experiment has no case of this name");
            vec![problem.with_value(name).with_names(name, self.cases.iter().map(|case| case.name.as_str()))]
        })
    }

    /// One run: a column (by its label) or any kernel (by its name) in one case, as long as the
    /// published numbers need.
    ///
    /// # Errors
    /// Every problem with the names and the overrides.
    pub fn scenario(
        &self,
        kernel: &str,
        case: &str,
        seed: u64,
        overrides: &Overrides,
    ) -> Result<Scenario, Vec<Problem>> {
        let kernels = [kernel.to_owned()];
        let selection =
            Selection { case, kernels: &kernels, workload: None, seed, is_interactive: false, overrides };
        let file = self.select(&selection)?;
        let none = || vec![Problem::new(self.place("kernels"), "no kernel is chosen")];
        file.scenarios().into_iter().next().ok_or_else(none)
    }

    /// The chosen runs, as a scenario file would describe them.
    ///
    /// # Errors
    /// Every problem with the names and the overrides.
    pub fn select(&self, selection: &Selection<'_>) -> Result<ScenarioFile, Vec<Problem>> {
        let case = self.case(selection.case)?;
        let position = self.cases.iter().position(|known| known.name == case.name);
        let time_ns = if selection.is_interactive { case.interactive_time_ns } else { case.time_ns };
        let text = |text: &str| Node::new(Kind::Text(text.to_owned()));
        let mut root = Node::new(Kind::Table(LiteMap::new()));
        root.put(&["title"], text(&format!("{}: {}", self.title, case.title)));
        let own = position.and_then(|position| self.workloads.get(position));
        let mut machine = self.machine.clone();
        if let Some((_, Some(over))) = own {
            machine.lay_over(over);
        }
        root.put(&["machine"], machine);
        root.put(&["kernels"], self.kernels(selection.kernels)?);
        root.put(&["time"], text(&format_time(time_ns)));
        root.put(&["seed"], text(&selection.seed.to_string()));
        if let Some(text) = selection.workload {
            root.put(&["workload"], Node::parse("workload", text)?.at_home("workload", ""));
        } else if let Some((workload, _)) = own {
            root.put(&["workload"], workload.clone());
        }
        ScenarioFile::from_tree(&self.document(), root, selection.overrides)
    }

    /// The chosen kernels as a scenario file's `kernels`.
    fn kernels(&self, chosen: &[String]) -> Result<Node, Vec<Problem>> {
        let all: Vec<String> = self.columns.iter().map(|column| column.label.clone()).collect();
        let chosen = if chosen.is_empty() { &all } else { chosen };
        let mut problems = Vec::new();
        let mut nodes = Vec::new();
        for name in chosen {
            let column = self.column(name);
            let labels = || self.columns.iter().map(|column| column.label.as_str());
            // A label with a slip would otherwise be reported as an elevator that does not exist.
            if column.is_none() && (name.contains(' ') || KernelChoice::parse(name).is_err()) {
                let problem =
                    Problem::new(self.place("kernels"), "there is no column or kernel of this name");
                problems.push(problem.with_value(name.clone()).with_names(name, labels()));
                continue;
            }
            let (label, kernel) = match column {
                Some(column) => (&column.label, &column.kernel),
                None => (name, name),
            };
            let mut node = Node::new(Kind::Table(LiteMap::new()));
            node.put(&["label"], Node::new(Kind::Text(label.clone())));
            node.put(&["kernel"], Node::loose(&self.document(), "kernels", kernel));
            nodes.push(node);
        }
        if problems.is_empty() { Ok(Node::new(Kind::List(nodes))) } else { Err(problems) }
    }

    /// The column of this label, or with this kernel.
    #[must_use]
    pub fn column(&self, name: &str) -> Option<&Column> {
        let kernel = KernelChoice::parse(name).ok();
        let is_same = |column: &&Column| {
            column.label == name || (kernel.is_some() && KernelChoice::parse(&column.kernel).ok() == kernel)
        };
        self.columns.iter().find(is_same)
    }

    fn document(&self) -> String {
        format!("experiment {}", self.id)
    }

    fn place(&self, path: &str) -> Place {
        Place::of_path(&self.document(), path)
    }
}
