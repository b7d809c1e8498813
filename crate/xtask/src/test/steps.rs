//! The steps of `cargo xtask test`. A new one is a function and a line in [`STEPS`].

use super::counts::Counts;
use super::{Context, Step, style};
use crate::command::{Child, Outcome};
use crate::{debian, node, tools};

/// All steps, the quickest to fail first.
pub(super) const STEPS: &[Step] = &[
    Step { name: "format", about: "the code is laid out by rustfmt", run: format },
    Step { name: "style", about: "the rules of this house that no other tool knows", run: style::check },
    Step { name: "clippy", about: "clippy has nothing to say, natively and for wasm", run: clippy },
    Step { name: "rust", about: "unit, property and documentation tests", run: rust },
    Step { name: "docs", about: "the documentation builds, and its links lead somewhere", run: docs },
    Step { name: "page", about: "dist/ builds from nothing but this checkout", run: page },
    Step { name: "types", about: "the page's and the tests' scripts agree with their types", run: types },
    Step {
        name: "wasm",
        about: "the page's wasm module under Node.js gives what native code gives",
        run: wasm,
    },
    Step { name: "browser", about: "the page in a real Chromium", run: browser },
];

/// The folders that hold scripts, each with the configuration that says how they are checked.
const TYPE_CONFIGURATIONS: &[&str] =
    &["www/tsconfig.json", "www/tsconfig.worker.json", "tests/tsconfig.json"];

fn format(context: &Context<'_>) -> Outcome<Counts> {
    tools::component("rustfmt")?;
    cargo(context).args(["fmt", "--all", "--check"]).run()?;
    Ok(Counts::success())
}

fn clippy(context: &Context<'_>) -> Outcome<Counts> {
    tools::component("clippy")?;
    tools::wasm_target()?;
    let native = ["clippy", "--workspace", "--all-targets", "--", "-D", "warnings"];
    let wasm =
        ["clippy", "-p", "stallarium-web", "--target", "wasm32-unknown-unknown", "--", "-D", "warnings"];
    let mut counts = Counts::default();
    for arguments in [&native[..], &wasm[..]] {
        counts += each(cargo(context).args(arguments).run());
    }
    Ok(counts)
}

fn rust(context: &Context<'_>) -> Outcome<Counts> {
    // Without btt the tests that need it fail; the others are run all the same.
    let mut counts = debian::btt().map_or_else(|message| each(Err(message)), |_| Counts::default());
    let success = cargo(context)
        .args(["test", "--workspace", "--no-fail-fast"])
        .run_reading(|line| counts.read_cargo_line(line))?;
    Ok(counts.with_status(success))
}

fn docs(context: &Context<'_>) -> Outcome<Counts> {
    cargo(context).args(["doc", "--workspace", "--no-deps"]).env("RUSTDOCFLAGS", "-D warnings").run()?;
    Ok(Counts::success())
}

fn page(context: &Context<'_>) -> Outcome<Counts> {
    context.page()?;
    Ok(Counts::success())
}

fn types(context: &Context<'_>) -> Outcome<Counts> {
    // The wasm module's types are among what the scripts are checked against.
    context.page()?;
    let tsc = node::packages(context.project)?.join("tsc");
    let mut counts = Counts::default();
    for configuration in TYPE_CONFIGURATIONS {
        counts += each(Child::new(&tsc).args(["--project", configuration]).dir(&context.project.root).run());
    }
    Ok(counts)
}

fn wasm(context: &Context<'_>) -> Outcome<Counts> {
    context.page()?;
    node_tests(context, "tests/wasm", |child| child)
}

fn browser(context: &Context<'_>) -> Outcome<Counts> {
    context.page()?;
    let chromium = debian::chromium()?;
    node_tests(context, "tests/browser", |child| child.env("CHROME", &chromium))
}

/// Runs all `*.test.mjs` files of a folder with Node's own test runner.
fn node_tests(context: &Context<'_>, folder: &str, prepare: impl FnOnce(Child) -> Child) -> Outcome<Counts> {
    node::packages(context.project)?;
    let files = test_files(context, folder)?;
    let mut counts = Counts::default();
    let child =
        Child::new("node").args(["--test", "--test-reporter=spec"]).args(files).dir(&context.project.root);
    let success = prepare(child).run_reading(|line| counts.read_node_line(line))?;
    Ok(counts.with_status(success))
}

/// The test files of a folder in the order of their names: Node 20 takes no patterns.
fn test_files(context: &Context<'_>, folder: &str) -> Outcome<Vec<String>> {
    let path = context.project.root.join(folder);
    let entries = std::fs::read_dir(&path).map_err(|error| format!("cannot read {folder}: {error}"))?;
    let mut files: Vec<String> = entries
        .filter_map(|entry| entry.ok()?.file_name().into_string().ok())
        .filter(|name| name.ends_with(".test.mjs"))
        .map(|name| format!("{folder}/{name}"))
        .collect();
    files.sort();
    if files.is_empty() { Err(format!("{folder} holds no *.test.mjs")) } else { Ok(files) }
}

fn cargo(context: &Context<'_>) -> Child {
    Child::new("cargo").dir(&context.project.root)
}

/// Counts one of several programs of a step, printing why it failed, so that the others still run.
fn each(outcome: Outcome) -> Counts {
    match outcome {
        Ok(()) => Counts::success(),
        Err(message) => {
            println!("{message}");
            Counts::failure()
        }
    }
}
