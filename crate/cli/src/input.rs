//! From the command line to scenarios.

use crate::args::SubjectArgs;
use crate::failure::Failure;
use stallarium_sim::report::RunLabel;
use stallarium_sim::report::explain::TimeWords;
use stallarium_sim::scenario::link::{Link, Subject as LinkSubject};
use stallarium_sim::scenario::{Experiment, Overrides, Place, Problem, Scenario, ScenarioFile, Selection};
use stallarium_sim::text::{Scale, parse_range};
use std::io::Read as _;
use std::path::Path;

/// What problems on the command line are said to be in.
const DOCUMENT: &str = "command line";

/// What is to be run.
#[derive(Debug)]
pub(crate) struct Subject {
    /// The experiment it belongs to.
    pub(crate) experiment: Option<Experiment>,
    /// The case, or the scenario's title; may be empty.
    pub(crate) case: String,
    /// A title for tables and charts.
    pub(crate) title: String,
    /// The scenario, with the kernels to compare.
    pub(crate) file: ScenarioFile,
    /// What would open the same in the page.
    pub(crate) link: Link,
}

impl Subject {
    /// Reads what the command line means.
    pub(crate) fn read(args: &SubjectArgs) -> Result<Self, Failure> {
        let mut overrides = Overrides::from_document(DOCUMENT);
        for setting in &args.set {
            overrides.add(setting)?;
        }
        if let Some(time) = &args.time {
            overrides = overrides.with("time", time);
        }
        if let Some(fragment) = fragment(&args.subject) {
            return Self::of_link(args, fragment, overrides);
        }
        match Experiment::find(&args.subject) {
            Ok(experiment) => Self::of_experiment(args, experiment, overrides),
            Err(problems) => Self::of_file(args, problems, overrides),
        }
    }

    fn of_experiment(
        args: &SubjectArgs,
        experiment: Experiment,
        overrides: Overrides,
    ) -> Result<Self, Failure> {
        let case = args.case.clone().unwrap_or_else(|| experiment.interactive.case.clone());
        let kernels = if args.kernel.is_empty() {
            experiment.interactive.columns.clone()
        } else {
            args.kernel.iter().map(|kernel| kernel.trim().to_owned()).collect()
        };
        let selection = Selection {
            case: &case,
            kernels: &kernels,
            workload: None,
            seed: args.seed.unwrap_or(1),
            is_interactive: !args.full,
            overrides: &overrides,
        };
        let file = experiment.select(&selection)?;
        let known = experiment.case(&case)?;
        let mut settings = overrides.values;
        if args.full && !settings.contains_key("time") {
            settings.insert("time".to_owned(), format!("{} ns", known.time_ns));
        }
        let link = Link {
            subject: LinkSubject::Experiment {
                id: experiment.id.clone(),
                case: case.clone(),
                kernels,
                workload: None,
            },
            seed: Some(args.seed.unwrap_or(1)),
            settings,
            ..Link::to_experiment(&experiment.id)?
        };
        // Another workload is another case.
        let other = link.settings.get("workload").cloned();
        let title = other.clone().unwrap_or_else(|| known.title.clone());
        Ok(Self { experiment: Some(experiment), case: other.unwrap_or(case), title, file, link })
    }

    fn of_file(
        args: &SubjectArgs,
        no_experiment: Vec<Problem>,
        mut overrides: Overrides,
    ) -> Result<Self, Failure> {
        refuse_case(args, "a scenario file has one case")?;
        let text = read_file(&args.subject, no_experiment)?;
        if let Some(seed) = args.seed {
            overrides = overrides.with("seed", &seed.to_string());
        }
        if !args.kernel.is_empty() {
            overrides = overrides.with("kernels", &args.kernel.join(","));
        }
        let name = Path::new(&args.subject).file_name().map(|name| name.to_string_lossy().into_owned());
        let document = name.unwrap_or_else(|| "scenario".to_owned());
        let file = ScenarioFile::from_toml(&document, &text, &overrides)?;
        let link = Link {
            subject: LinkSubject::Own { text },
            seed: args.seed,
            settings: overrides.values,
            seeds: 1,
            model: None,
            digest: None,
            view: Default::default(),
        };
        let title = if file.title.is_empty() { document } else { file.title.clone() };
        Ok(Self { experiment: None, case: String::new(), title, file, link })
    }

    fn of_link(args: &SubjectArgs, fragment: &str, overrides: Overrides) -> Result<Self, Failure> {
        refuse_case(args, "the link says which case it runs")?;
        let mut link = Link::open(fragment)?;
        link.settings.extend(overrides.values);
        link.seed = args.seed.or(link.seed);
        if !args.kernel.is_empty() {
            match &mut link.subject {
                LinkSubject::Experiment { kernels, .. } => kernels.clone_from(&args.kernel),
                LinkSubject::Own { .. } => {
                    link.settings.insert("kernels".to_owned(), args.kernel.join(","));
                }
            }
        }
        let file = link.file()?;
        let (experiment, case) = match &link.subject {
            LinkSubject::Experiment { id, case, .. } => (Some(Experiment::find(id)?), case.clone()),
            LinkSubject::Own { .. } => (None, String::new()),
        };
        let title = file.title.clone();
        Ok(Self { experiment, case, title, file, link })
    }

    /// The runs with one seed, one for each kernel.
    pub(crate) fn runs(&self, seed: u64) -> Vec<(RunLabel, Scenario)> {
        let labels = self.file.kernels.iter().map(|column| RunLabel::new(&column.label, &self.case));
        let scenarios = self.file.scenarios().into_iter();
        labels.zip(scenarios.map(|scenario| Scenario { seed, ..scenario })).collect()
    }

    /// The labels of the kernels.
    pub(crate) fn labels(&self) -> Vec<String> {
        self.file.kernels.iter().map(|column| column.label.clone()).collect()
    }

    /// The only run.
    pub(crate) fn only_run(&self, why: &str) -> Result<(RunLabel, Scenario), Failure> {
        let mut runs = self.runs(self.file.seed);
        match (runs.pop(), runs.is_empty()) {
            (Some(run), true) => Ok(run),
            _ => {
                let problem = Problem::new(Place::of_path(DOCUMENT, "--kernel"), why);
                let labels = self.labels();
                Err(problem.with_allowed(labels.join(", ")).into())
            }
        }
    }
}

/// How times are to be written.
pub(crate) fn words(args: &SubjectArgs) -> TimeWords {
    if args.jiffies { TimeWords::Kernel } else { TimeWords::Plain }
}

/// Reads a window, in nanoseconds.
pub(crate) fn window(text: &str) -> Result<(u64, u64), Failure> {
    parse_range(text, Scale::Time).map_err(|message| {
        let problem = Problem::new(Place::of_path(DOCUMENT, "--window"), message).with_value(text);
        problem.with_allowed("two times, such as 1s..1.02s").into()
    })
}

/// The fragment of a link, if it is one.
fn fragment(subject: &str) -> Option<&str> {
    let (_, fragment) = subject.split_once('#')?;
    Some(fragment)
}

fn refuse_case(args: &SubjectArgs, why: &str) -> Result<(), Failure> {
    match &args.case {
        Some(case) => {
            Err(Problem::new(Place::of_path(DOCUMENT, "--case"), why).with_value(case.clone()).into())
        }
        None => Ok(()),
    }
}

fn read_file(name: &str, no_experiment: Vec<Problem>) -> Result<String, Failure> {
    if name == "-" {
        let mut text = String::new();
        let read = std::io::stdin().read_to_string(&mut text);
        return read.map(|_| text).map_err(|error| format!("reading stdin: {error}").into());
    }
    match std::fs::read_to_string(name) {
        Ok(text) => Ok(text),
        // A bare word is rather a slip in an experiment's name than a file's.
        Err(error) if error.kind() == std::io::ErrorKind::NotFound && !name.contains(['/', '.']) => {
            let explained = no_experiment.into_iter().map(|mut problem| {
                problem.message = "there is no experiment and no file of this name".to_owned();
                problem.place = Place::of_path(DOCUMENT, "");
                problem
            });
            Err(Failure::Problems(explained.collect()))
        }
        Err(error) => Err(Failure::Other(format!("reading {name}: {error}"))),
    }
}
