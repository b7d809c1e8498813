//! `stallarium list`.

use crate::args::{ListArgs, Topic};
use crate::failure::{Failure, Status, print};
use clap::ValueEnum as _;
use stallarium_sim::device;
use stallarium_sim::kernel::{self, ElevatorName, Policy};
use stallarium_sim::report::terms;
use stallarium_sim::scenario::{Experiment, FileSystemKind};
use stallarium_sim::workload::{built_in, text};

/// Lines are folded at this many characters.
const WIDTH: usize = 100;

/// A name and what it is.
struct Entry {
    name: String,
    text: String,
}

impl Entry {
    fn new(name: impl Into<String>, text: impl Into<String>) -> Self {
        Self { name: name.into(), text: text.into() }
    }
}

pub(crate) fn list(args: &ListArgs) -> Result<Status, Failure> {
    let topics: Vec<Topic> = match args.topic {
        Some(topic) => vec![topic],
        None => Topic::value_variants().to_vec(),
    };
    let mut out = String::new();
    for topic in topics {
        let mut entries = entries(topic)?;
        if let Some(word) = &args.word {
            let word = word.to_lowercase();
            entries.retain(|entry| {
                entry.name.to_lowercase().contains(&word) || entry.text.to_lowercase().contains(&word)
            });
        }
        if args.topic.is_some() {
            entries.iter().for_each(|entry| write_entry(&mut out, entry));
        } else {
            let name =
                topic.to_possible_value().map_or_else(String::new, |value| value.get_name().to_owned());
            let names: Vec<&str> = entries.iter().map(|entry| entry.name.as_str()).collect();
            write_entry(&mut out, &Entry::new(name, names.join(", ")));
        }
    }
    if out.is_empty() {
        return Err(
            format!("nothing in this list contains \"{}\"", args.word.as_deref().unwrap_or("")).into()
        );
    }
    print(&out)?;
    Ok(Status::Fine)
}

fn entries(topic: Topic) -> Result<Vec<Entry>, Failure> {
    Ok(match topic {
        Topic::Experiments => experiments()?,
        Topic::Kernels => {
            kernel::releases().iter().map(|release| Entry::new(release.name, release.documentation)).collect()
        }
        Topic::Patches => patches(),
        Topic::Elevators => ElevatorName::ALL
            .into_iter()
            .map(|elevator| Entry::new(elevator.name(), elevator.documentation()))
            .collect(),
        Topic::Tunables => tunables()?,
        Topic::Devices => {
            device::presets().iter().map(|preset| Entry::new(preset.name, preset.doc)).collect()
        }
        Topic::Workloads => built_in::ALL.iter().map(workload).collect::<Result<_, _>>()?,
        Topic::Terms => terms()
            .iter()
            .map(|term| Entry::new(term.name, format!("{} Section {}.", term.definition, term.section)))
            .collect(),
    })
}

fn experiments() -> Result<Vec<Entry>, Failure> {
    let mut entries = Vec::new();
    for id in Experiment::ids() {
        let experiment = Experiment::find(id)?;
        entries.push(Entry::new(
            id,
            format!("{} ({}) {}", experiment.title, experiment.date, experiment.question),
        ));
        for case in &experiment.cases {
            entries.push(Entry::new(format!("  --case {}", case.name), case.title.clone()));
        }
        for column in &experiment.columns {
            let text = format!("\"{}\". {}", column.label, column.about);
            entries.push(Entry::new(format!("  --kernel {}", column.kernel), text));
        }
    }
    Ok(entries)
}

fn patches() -> Vec<Entry> {
    let entry = |patch: &kernel::PatchInfo| {
        Entry::new(patch.name, format!("{} Applies to {}.", patch.documentation, patch.applies_to))
    };
    kernel::patches().iter().map(entry).collect()
}

/// The tunables of each elevator in the newest release that has it.
fn tunables() -> Result<Vec<Entry>, Failure> {
    let mut entries: Vec<Entry> = Vec::new();
    for elevator in ElevatorName::ALL {
        let has_it = |release: &&kernel::ReleaseInfo| {
            elevator != ElevatorName::Anticipatory || release.has_anticipatory
        };
        let Some(release) = kernel::releases().iter().rev().find(has_it) else { continue };
        let policy =
            Policy::new(release.name, &[], FileSystemKind::default()).map_err(|error| error.to_string())?;
        for info in kernel::available_tunables(elevator, &policy) {
            let whose = kernel::tunable_home(elevator, info);
            let suffix = info.unit.suffix();
            let text = format!(
                "{} {} to {}{suffix}, default {}{suffix}.",
                info.documentation, info.min, info.max, info.default
            );
            let entry = Entry::new(format!("{whose}: {}", info.name), text);
            if !entries.iter().any(|known| known.name == entry.name) {
                entries.push(entry);
            }
        }
    }
    Ok(entries)
}

/// What a workload's text says it is, and what can be set.
fn workload(known: &built_in::BuiltIn) -> Result<Entry, Failure> {
    let read = text::read(&format!("workload {}", known.name), known.toml, &text::Values::none())?;
    let mut words = read.about;
    for parameter in &read.parameters {
        words.push_str(&format!(
            " workload.{} (default {}): {}.",
            parameter.name, parameter.default, parameter.about
        ));
    }
    Ok(Entry::new(known.name, words))
}

/// The name on a line, then its text, folded and indented.
fn write_entry(out: &mut String, entry: &Entry) {
    out.push_str(&entry.name);
    out.push('\n');
    let indent = entry.name.len() - entry.name.trim_start().len() + 4;
    let mut line = String::new();
    for word in entry.text.split_whitespace() {
        if !line.is_empty() && indent + line.chars().count() + 1 + word.chars().count() > WIDTH {
            write_line(out, indent, &line);
            line.clear();
        }
        if !line.is_empty() {
            line.push(' ');
        }
        line.push_str(word);
    }
    if !line.is_empty() {
        write_line(out, indent, &line);
    }
}

fn write_line(out: &mut String, indent: usize, line: &str) {
    out.extend(std::iter::repeat_n(' ', indent));
    out.push_str(line);
    out.push('\n');
}
