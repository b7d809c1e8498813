//! `cargo xtask bench`: how fast things are, each beside its target.
//!
//! Figures are medians. Where there is a rival, it takes turns with our own code in the same run, and what counts is the ratio:
//! a machine's mood then touches both alike.

mod measures;
mod memory;
mod table;

use crate::command::{Child, Outcome};
use crate::project::Project;
use measures::MEASURES;
use std::fs::OpenOptions;
use std::io::Write;
use table::Row;

/// Where `--record` keeps the history.
const HISTORY: &str = "docs/benchmarks.md";

/// One thing that is measured; it may give several rows.
struct Measure {
    /// What `--only` calls it.
    name: &'static str,
    /// What it measures, in a line.
    about: &'static str,
    run: fn(&Project) -> Outcome<Vec<Row>>,
}

/// Prints the measures.
pub(crate) fn list() {
    for measure in MEASURES {
        println!("{:10} {}", measure.name, measure.about);
    }
}

/// Runs the named measures, or all when none is named, and prints one table; `record` adds it to the history.
///
/// A target that is missed is shown, and is no failure: times depend on the machine.
///
/// # Errors
/// When a name is unknown, or something could not be measured (the rest is, and is shown).
pub(crate) fn bench(project: &Project, only: &[String], record: bool) -> Outcome {
    if let Some(name) = only.iter().find(|name| !MEASURES.iter().any(|measure| measure.name == **name)) {
        let known: Vec<_> = MEASURES.iter().map(|measure| measure.name).collect();
        return Err(format!("no measure is called {name}; the measures are {}", known.join(", ")));
    }
    let mut rows = Vec::new();
    let mut failures = Vec::new();
    for measure in
        MEASURES.iter().filter(|measure| only.is_empty() || only.iter().any(|name| name == measure.name))
    {
        println!("Measuring {}: {}", measure.name, measure.about);
        match (measure.run)(project) {
            Ok(measured) => rows.extend(measured),
            Err(message) => {
                println!("{}: {message}", measure.name);
                failures.push(measure.name);
            }
        }
    }
    let table = table::text(&rows);
    println!("\n{}\n\n{table}", machine());
    if record {
        append_to_history(project, &table)?;
    }
    if failures.is_empty() { Ok(()) } else { Err(format!("not measured: {}", failures.join(", "))) }
}

fn append_to_history(project: &Project, table: &str) -> Outcome {
    let path = project.root.join(HISTORY);
    let cannot = |error| format!("cannot write {HISTORY}: {error}");
    let is_new = !path.is_file();
    let date = Child::new("date").args(["-u", "+%Y-%m-%d"]).output()?;
    let commit = Child::new("git").args(["rev-parse", "--short", "HEAD"]).dir(&project.root).output()?;
    if let Some(folder) = path.parent() {
        std::fs::create_dir_all(folder).map_err(cannot)?;
    }
    let mut file = OpenOptions::new().create(true).append(true).open(&path).map_err(cannot)?;
    if is_new {
        let intro = "Each section is what `cargo xtask bench --record` printed. Ratios compare across machines, times do not.";
        writeln!(file, "# Benchmarks\n\n{intro}").map_err(cannot)?;
    }
    writeln!(file, "\n## {}, {}\n\n{}\n\n{table}", date.trim(), commit.trim(), machine()).map_err(cannot)?;
    println!("Added to {HISTORY}.");
    Ok(())
}

/// The processor and how many of it, in a line.
fn machine() -> String {
    let cores = std::thread::available_parallelism().map_or(1, usize::from);
    let info = std::fs::read_to_string("/proc/cpuinfo").unwrap_or_default();
    let model =
        info.lines().find_map(|line| line.strip_prefix("model name")?.split_once(": ").map(|(_, name)| name));
    format!("{cores} x {}", model.unwrap_or("an unnamed processor"))
}
