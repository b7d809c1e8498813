//! Every step that a person or CI needs: `cargo xtask serve | build | test | bench | screenshots | setup`.

mod bench;
mod build;
mod command;
mod debian;
mod node;
mod project;
mod screenshots;
mod serve;
mod test;
mod tools;

use build::Speed;
use clap::{Parser, Subcommand};
use command::Outcome;
use project::Project;
use std::path::PathBuf;
use std::process::ExitCode;

/// Builds, serves, tests and measures Stallarium. Each step first installs what it needs and does not find.
#[derive(Parser)]
#[command(name = "cargo xtask", bin_name = "cargo xtask")]
struct Arguments {
    #[command(subcommand)]
    step: Step,
}

#[derive(Subcommand)]
enum Step {
    /// Build the page and serve it on this machine, again whenever a source changes.
    Serve {
        /// Build quickly instead of for speed: for work on the page, not for a look at large experiments.
        #[arg(long)]
        dev: bool,
        /// The port to listen on.
        #[arg(long, default_value_t = 8080)]
        port: u16,
        /// Open the page in the default browser.
        #[arg(long)]
        open: bool,
    },
    /// Build the page into dist/.
    Build {
        /// Build quickly instead of for speed.
        #[arg(long)]
        dev: bool,
    },
    /// Run every test, or the steps that are named.
    Test {
        /// Run these steps alone, for example `rust,browser`.
        #[arg(long, value_name = "STEP", value_delimiter = ',')]
        only: Vec<String>,
        /// Print the names of the steps.
        #[arg(long)]
        list: bool,
    },
    /// Measure speed and size beside targets and rivals, and print a table.
    Bench {
        /// Run these measures alone, for example `queue`.
        #[arg(long, value_name = "MEASURE", value_delimiter = ',')]
        only: Vec<String>,
        /// Print the names of the measures.
        #[arg(long)]
        list: bool,
        /// Add the table to docs/benchmarks.md.
        #[arg(long)]
        record: bool,
    },
    /// Build the page and take pictures of it: wide, narrow and dark.
    Screenshots {
        /// The folder that the pictures go to.
        #[arg(long, value_name = "DIR", default_value = "target/screenshots")]
        out: PathBuf,
    },
    /// Install what is missing: wasm target, trunk, wasm-bindgen, npm packages, Chromium, btt.
    Setup,
}

fn main() -> ExitCode {
    match run(Arguments::parse().step) {
        Ok(()) => ExitCode::SUCCESS,
        Err(message) => {
            eprintln!("xtask: {message}");
            ExitCode::FAILURE
        }
    }
}

fn run(step: Step) -> Outcome {
    let project = Project::find()?;
    let speed = |dev| {
        if dev { Speed::Development } else { Speed::Release }
    };
    match step {
        Step::Serve { dev, port, open } => serve::serve(&project, speed(dev), port, open),
        Step::Build { dev } => build::build(&project, speed(dev)),
        Step::Test { list: true, .. } => {
            test::list();
            Ok(())
        }
        Step::Test { only, list: false } => test::test(&project, &only),
        Step::Bench { list: true, .. } => {
            bench::list();
            Ok(())
        }
        Step::Bench { only, list: false, record } => bench::bench(&project, &only, record),
        Step::Screenshots { out } => screenshots::take(&project, &out),
        Step::Setup => setup(&project),
    }
}

/// Installs all that any step needs, and prints where each is. What fails does not keep the rest from being installed.
fn setup(project: &Project) -> Outcome {
    let found = [
        ("wasm target", tools::wasm_target().map(|()| "in the toolchain".to_owned())),
        (
            "rustfmt, clippy",
            ["rustfmt", "clippy"]
                .map(tools::component)
                .into_iter()
                .collect::<Outcome>()
                .map(|()| "in the toolchain".to_owned()),
        ),
        ("npm packages", node::packages(project).map(|path| path.display().to_string())),
        ("wasm-bindgen", tools::wasm_bindgen(project).map(|path| path.display().to_string())),
        ("trunk", tools::trunk(project).map(|path| path.display().to_string())),
        ("Chromium", debian::chromium().map(|path| path.display().to_string())),
        ("btt", debian::btt().map(|path| path.display().to_string())),
    ];
    for (name, outcome) in &found {
        match outcome {
            Ok(place) => println!("{name:16} {place}"),
            Err(message) => println!("{name:16} MISSING: {message}"),
        }
    }
    if found.iter().all(|(_, outcome)| outcome.is_ok()) {
        Ok(())
    } else {
        Err("not everything could be installed".into())
    }
}
