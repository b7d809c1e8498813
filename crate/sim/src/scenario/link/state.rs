//! A link's content as a type.

use super::codec::{self, Fields};
use super::defaults::{complete, leave_out};
use super::upgrade::upgrade;
use super::view::View;
use super::{LinkError, MODEL_VERSION, SCHEMA};
use crate::scenario::{Experiment, Overrides, ScenarioFile, Selection};
use crate::text::{MAX_TEXT_BYTES, Place, Problem, Problems};
use litemap::LiteMap;
use serde::{Deserialize, Serialize};

/// Everything a link says.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Link {
    /// What is run.
    pub subject: Subject,
    /// Seed of the first run; none leaves it to the scenario's own text.
    pub seed: Option<u64>,
    /// How many seeds are run, from the first on, 1 to 64.
    pub seeds: u32,
    /// Single values that differ, by path, as in [`Overrides`]: `machine.hz`, `tunable.slice_idle`,
    /// `workload.file-size`, `time`, `events`.
    pub settings: LiteMap<String, String>,
    /// The model version that gave `digest`; none if the link pins none.
    pub model: Option<u32>,
    /// The digest of the results when the link was made.
    pub digest: Option<u64>,
    /// What of the results is shown.
    pub view: View,
}

/// What a link runs.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Subject {
    /// A case of an experiment.
    Experiment {
        /// The experiment.
        id: String,
        /// The case.
        case: String,
        /// The kernels that are shown: kernel names or labels of columns.
        kernels: Vec<String>,
        /// A workload of one's own that runs instead of the case's, as text.
        workload: Option<String>,
    },
    /// A scenario of one's own, as text.
    Own {
        /// The scenario file.
        text: String,
    },
}

/// First keys of the paths that a link may set.
const SETTINGS: [&str; 5] = ["machine", "tunable", "workload", "time", "events"];

/// Everything else a link may say, for messages.
const NAMES: [&str; 17] = [
    "experiment",
    "scenario",
    "case",
    "kernels",
    "seed",
    "seeds",
    "workload-text",
    "model",
    "digest",
    "view",
    "charts",
    "selected",
    "machine",
    "tunable",
    "workload",
    "time",
    "events",
];

/// The most seeds a link may ask for.
const MAX_SEEDS: u32 = 64;

impl Link {
    /// The experiment as the page opens it.
    ///
    /// # Errors
    /// There is no such experiment.
    pub fn to_experiment(id: &str) -> Result<Self, Vec<Problem>> {
        let experiment = Experiment::find(id)?;
        let mut fields = Fields::new();
        fields.insert("experiment".to_owned(), experiment.id);
        Self::from_fields(complete(SCHEMA, fields))
    }

    /// Opens a fragment, with or without its `#`, of any schema that was ever released.
    ///
    /// # Errors
    /// See [`LinkError`]. What the link names is not looked up here: [`Self::file`] does that.
    pub fn open(fragment: &str) -> Result<Self, LinkError> {
        let (schema, fields) = codec::decode(fragment)?;
        Self::from_fields(upgrade(complete(schema, fields), schema)).map_err(LinkError::Wrong)
    }

    /// The fragment to share, `#` included: the readable form or the compressed one, whichever is
    /// shorter. Without the feature `deflate` the readable one.
    #[must_use]
    pub fn share(&self) -> String {
        let fields = leave_out(SCHEMA, self.to_fields());
        let readable = codec::encode_readable(SCHEMA, &fields);
        let compressed = codec::encode_compressed(SCHEMA, &fields);
        compressed.filter(|compressed| compressed.len() < readable.len()).unwrap_or(readable)
    }

    /// The readable fragment, `#` included.
    #[must_use]
    pub fn readable(&self) -> String {
        codec::encode_readable(SCHEMA, &leave_out(SCHEMA, self.to_fields()))
    }

    /// The same link, pinned to a digest that today's model gave.
    #[must_use]
    pub fn with_digest(mut self, digest: u64) -> Self {
        self.model = Some(MODEL_VERSION);
        self.digest = Some(digest);
        self
    }

    /// Whether the link's digest was given by other rules than today's, so that it may rightly differ.
    #[must_use]
    pub fn is_of_another_model(&self) -> bool {
        self.model.is_some_and(|model| model != MODEL_VERSION)
    }

    /// The values that differ, as overrides.
    #[must_use]
    pub fn overrides(&self) -> Overrides {
        Overrides { document: "link".to_owned(), values: self.settings.clone() }
    }

    /// What is run: the machine, the kernels, the workload, the limits.
    ///
    /// # Errors
    /// Every name that does not exist, every value that is not allowed.
    pub fn file(&self) -> Result<ScenarioFile, Vec<Problem>> {
        let mut overrides = self.overrides();
        match &self.subject {
            Subject::Experiment { id, case, kernels, workload } => {
                let experiment = Experiment::find(id).map_err(|problems| as_link(problems, "experiment"))?;
                experiment.case(case).map_err(|problems| as_link(problems, "case"))?;
                let selection = Selection {
                    case,
                    kernels,
                    workload: workload.as_deref(),
                    seed: self.seed.unwrap_or(1),
                    is_interactive: true,
                    overrides: &overrides,
                };
                experiment.select(&selection)
            }
            Subject::Own { text } => {
                if let Some(seed) = self.seed {
                    overrides = overrides.with("seed", &seed.to_string());
                }
                ScenarioFile::from_toml("scenario", text, &overrides)
            }
        }
    }

    /// Complete named values of the newest schema.
    fn to_fields(&self) -> Fields {
        let mut fields = self.settings.clone();
        let mut put = |name: &str, value: String| fields.insert(name.to_owned(), value);
        match &self.subject {
            Subject::Experiment { id, case, kernels, workload } => {
                put("experiment", id.clone());
                put("case", case.clone());
                put("kernels", kernels.join(","));
                if let Some(text) = workload {
                    put("workload-text", text.clone());
                }
            }
            Subject::Own { text } => {
                put("scenario", text.clone());
            }
        }
        if let Some(seed) = self.seed {
            put("seed", seed.to_string());
        }
        put("seeds", self.seeds.to_string());
        if let Some(model) = self.model {
            put("model", model.to_string());
        }
        if let Some(digest) = self.digest {
            put("digest", format!("{digest:016x}"));
        }
        self.view.put(&mut fields);
        fields
    }

    /// Reads complete named values of the newest schema.
    fn from_fields(mut fields: Fields) -> Result<Self, Vec<Problem>> {
        let mut problems = Problems::default();
        let view = View::take(&mut fields, &mut problems);
        let seed = take_number(&mut fields, "seed", 0, u64::MAX, &mut problems);
        let seeds = take_number(&mut fields, "seeds", 1, MAX_SEEDS.into(), &mut problems);
        let model = take_number(&mut fields, "model", 1, u32::MAX.into(), &mut problems);
        let digest = fields.remove("digest").and_then(|text| {
            let digest = u64::from_str_radix(&text, 16).ok().filter(|_| text.len() == 16);
            if digest.is_none() {
                problems.push(wrong("digest", &text, "a digest has 16 hexadecimal digits"));
            }
            digest
        });
        let subject = take_subject(&mut fields, &mut problems);
        for (name, value) in &fields {
            let head = name.split('.').next().unwrap_or("");
            let is_setting = SETTINGS.contains(&head);
            if !is_setting {
                problems.push(wrong(name, value, "a link has no such name").with_names(head, NAMES));
            }
        }
        let narrow = |number: u64| u32::try_from(number).unwrap_or(u32::MAX);
        problems.or(subject.map(|subject| Self {
            subject,
            seed,
            seeds: seeds.map_or(1, narrow),
            settings: fields,
            model: model.map(narrow),
            digest,
            view,
        }))
    }
}

fn wrong(name: &str, value: &str, message: &str) -> Problem {
    Problem::new(Place::of_path("link", name), message).with_value(value)
}

/// Problems with a name that the link gave.
fn as_link(mut problems: Vec<Problem>, name: &str) -> Vec<Problem> {
    for problem in &mut problems {
        problem.place = Place::of_path("link", name);
    }
    problems
}

fn take_number(fields: &mut Fields, name: &str, min: u64, max: u64, problems: &mut Problems) -> Option<u64> {
    let text = fields.remove(name)?;
    let number = text.parse().ok().filter(|number| (min..=max).contains(number));
    if number.is_none() {
        let message = format!("{name} is a whole number from {min} to {max}");
        problems.push(wrong(name, &text, &message).with_allowed(format!("{min} to {max}")));
    }
    number
}

fn take_subject(fields: &mut Fields, problems: &mut Problems) -> Option<Subject> {
    if let Some(text) = fields.remove("scenario") {
        for name in ["experiment", "case", "kernels", "workload-text"] {
            if let Some(value) = fields.remove(name) {
                problems.push(wrong(name, &value, "a scenario's own text says this itself"));
            }
        }
        return Some(Subject::Own { text });
    }
    let id = fields.remove("experiment")?;
    let mut need = |name: &str| {
        let value = fields.remove(name);
        if value.is_none() {
            // The newest schema has no default for an experiment that it does not know.
            let message = "there is no such experiment";
            problems.push(wrong("experiment", &id, message).with_names(&id, Experiment::ids()));
        }
        value
    };
    let case = need("case")?;
    let kernels = need("kernels")?.split(',').map(|name| name.trim().to_owned()).collect();
    let workload = fields.remove("workload-text");
    if workload.as_ref().is_some_and(|text| text.len() > MAX_TEXT_BYTES) {
        problems.push(wrong("workload-text", "", "the workload's text is too long"));
    }
    Some(Subject::Experiment { id, case, kernels, workload })
}
