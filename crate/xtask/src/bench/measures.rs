//! What `cargo xtask bench` measures. A new measure is a function and a line in [`MEASURES`].

use super::Measure;
use super::memory::memory;
use super::table::{Row, median};
use crate::build::{Speed, build};
use crate::command::{Child, Outcome};
use crate::project::Project;
use crate::tools::announce;
use crate::{debian, node};
use std::path::PathBuf;

/// All measures.
pub(super) const MEASURES: &[Measure] = &[
    Measure { name: "queue", about: "the event queue beside NeXosim and SimPy, hold model", run: queue },
    Measure {
        name: "block",
        about: "requests through CFQ, and a whole experiment, natively and in wasm",
        run: block,
    },
    Measure {
        name: "memory",
        about: "page references with reclaim running, natively and in wasm, and page replacement beside libCacheSim",
        run: memory,
    },
    Measure {
        name: "page",
        about: "the page in Chromium: its weight, and the time to its first chart",
        run: page,
    },
];

/// How often each rival has its turn.
pub(super) const ROUNDS: usize = 5;

/// Events pending in the hold model.
const PENDING: &str = "10000";

/// How many events every rival handles once, to show that all do the same work.
const PROOF_EVENTS: &str = "100000";

/// A program that runs the hold model: its name, how it is started, and how many events make a run of about half a second.
struct Runner {
    name: &'static str,
    program: PathBuf,
    first_arguments: Vec<String>,
    events: &'static str,
}

/// What a runner printed.
struct Run {
    events: f64,
    seconds: f64,
    time_ns: String,
}

impl Runner {
    fn run(&self, events: &str) -> Outcome<Run> {
        let output =
            Child::new(&self.program).args(&self.first_arguments).args([PENDING, events]).output()?;
        let malformed = || format!("{} printed no `EVENTS SECONDS TIME_NS`: {output}", self.name);
        let words: Vec<&str> = output.split_whitespace().collect();
        let [events, seconds, time_ns] = words[..] else { return Err(malformed()) };
        Ok(Run {
            events: events.parse().map_err(|_| malformed())?,
            seconds: seconds.parse().map_err(|_| malformed())?,
            time_ns: time_ns.to_owned(),
        })
    }
}

fn queue(project: &Project) -> Outcome<Vec<Row>> {
    let runners = [own_queue(project)?, nexosim(project)?, simpy(project)?];
    let proofs: Vec<Run> = runners.iter().map(|runner| runner.run(PROOF_EVENTS)).collect::<Outcome<_>>()?;
    for (runner, proof) in runners.iter().zip(&proofs) {
        if proof.time_ns != proofs[0].time_ns {
            return Err(format!(
                "{} ends at {} ns, not at {}",
                runner.name, proof.time_ns, proofs[0].time_ns
            ));
        }
    }
    let mut rates = vec![Vec::new(); runners.len()];
    for _ in 0..ROUNDS {
        for (runner, rates) in runners.iter().zip(&mut rates) {
            let run = runner.run(runner.events)?;
            rates.push(run.events / run.seconds / 1e6);
        }
    }
    let medians: Vec<f64> = rates.into_iter().filter_map(median).collect();
    let [own, nexosim, simpy] = medians[..] else { return Err("a runner has no figure".into()) };
    let what = "event queue, 10 000 pending";
    Ok(vec![
        Row::at_least_times(what, own, 1.0, "NeXosim", nexosim, "M events/s"),
        Row::at_least_times(what, own, 20.0, "SimPy", simpy, "M events/s"),
    ])
}

/// Requests of one measured run through the block layer.
const REQUESTS: &str = "2000000";

fn block(project: &Project) -> Outcome<Vec<Row>> {
    let native = own_program(project)?;
    let module = wasm_module(project)?;
    let script = project.root.join("tests/bench/wasm.mjs");
    let wasm = |what: &[&str]| {
        let arguments = [script.as_os_str(), module.as_os_str()];
        Child::new("node").args(arguments).args(what).output()
    };
    let mut rates: [Vec<f64>; 4] = Default::default();
    for _ in 0..ROUNDS {
        let own = |what: &[&str]| Child::new(&native).args(what).output();
        let runs = [
            own(&["block", "cfq", REQUESTS])?,
            wasm(&["block", REQUESTS])?,
            own(&["experiment", "mixed"])?,
            wasm(&["experiment"])?,
        ];
        for (rates, output) in rates.iter_mut().zip(runs) {
            let words: Vec<f64> = output.split_whitespace().filter_map(|word| word.parse().ok()).collect();
            let [count, seconds, _] = words[..] else { return Err(format!("not a measurement: {output}")) };
            rates.push(count / seconds / 1e6);
        }
    }
    let medians: Vec<f64> = rates.into_iter().filter_map(median).collect();
    let [native, wasm, native_whole, wasm_whole] = medians[..] else { return Err("no figure".into()) };
    let unit = "M requests/s";
    let whole = "whole machine, fs_mark beside a reader, 120 s";
    Ok(vec![
        Row::at_least("block requests through CFQ, natively", native, 2.0, unit),
        Row::slower_at_most("block requests through CFQ, wasm", wasm, 1.5, "native", native, unit),
        Row::slower_at_most(whole, wasm_whole, 1.5, "native", native_whole, unit),
    ])
}

/// The measurements as a wasm module, optimised as the page's is.
pub(super) fn wasm_module(project: &Project) -> Outcome<PathBuf> {
    crate::tools::wasm_target()?;
    let binaries = node::packages(project)?;
    let target = project.root.join("target");
    Child::new("cargo")
        .args(["rustc", "--profile", "page", "--quiet", "--package", "stallarium-bench", "--lib"])
        .args(["--crate-type", "cdylib", "--target", "wasm32-unknown-unknown", "--target-dir"])
        .args([&target])
        .dir(&project.root)
        .run()?;
    let built = target.join("wasm32-unknown-unknown/page/stallarium_bench.wasm");
    let optimised = target.join("stallarium-bench.opt.wasm");
    Child::new(binaries.join("wasm-opt"))
        .args(["-O2", "--skip-pass=inlining-optimizing"])
        .args([built.as_os_str(), "-o".as_ref(), optimised.as_os_str()])
        .args(["--enable-bulk-memory", "--enable-nontrapping-float-to-int", "--enable-sign-ext"])
        .args(["--enable-mutable-globals", "--enable-reference-types", "--enable-multivalue"])
        .run()?;
    Ok(optimised)
}

fn own_queue(project: &Project) -> Outcome<Runner> {
    let program = own_program(project)?;
    Ok(Runner { name: "stallarium", program, first_arguments: vec!["hold".into()], events: "5000000" })
}

pub(super) fn own_program(project: &Project) -> Outcome<PathBuf> {
    let target = project.root.join("target");
    Child::new("cargo")
        .args(["build", "--release", "--quiet", "--package", "stallarium-bench", "--target-dir"])
        .args([&target])
        .dir(&project.root)
        .run()?;
    Ok(target.join("release/stallarium-bench"))
}

fn nexosim(project: &Project) -> Outcome<Runner> {
    let target = project.root.join("target/rivals");
    let program = target.join("release/rival-nexosim");
    if !program.is_file() {
        announce("NeXosim as a rival, into target/", "about half a minute");
    }
    Child::new("cargo")
        .args([
            "build",
            "--release",
            "--quiet",
            "--locked",
            "--manifest-path",
            "tests/rivals/nexosim/Cargo.toml",
        ])
        .args(["--target-dir".as_ref(), target.as_os_str()])
        .dir(&project.root)
        .run()?;
    Ok(Runner { name: "NeXosim", program, first_arguments: Vec::new(), events: "1000000" })
}

fn simpy(project: &Project) -> Outcome<Runner> {
    let program = python_rival(project, "simpy")?;
    let script = project.root.join("tests/rivals/simpy/hold.py").display().to_string();
    Ok(Runner { name: "SimPy", program, first_arguments: vec![script], events: "300000" })
}

/// The Python of an environment that has a rival, as its folder below tests/rivals requires it.
pub(super) fn python_rival(project: &Project, rival: &str) -> Outcome<PathBuf> {
    let requirements = project.read(&format!("tests/rivals/{rival}/requirements.txt"))?;
    let (name, version) = requirements
        .trim()
        .split_once("==")
        .ok_or_else(|| format!("requirements.txt must say {rival}==VERSION"))?;
    let folder = project.tool(name, version);
    let python = folder.join("bin/python");
    let is_there = Child::new(&python).args(["-c", &format!("import {rival}")]).output().is_ok();
    if !is_there {
        announce(&format!("{rival} as a rival, into a Python environment of its own"), "some seconds");
        Child::new("python3").args(["-m".as_ref(), "venv".as_ref(), folder.as_os_str()]).run().map_err(
            |error| {
                format!("{error}; install Python with its venv module (Debian: apt-get install python3-venv)")
            },
        )?;
        Child::new(&python).args(["-m", "pip", "install", "--quiet", requirements.trim()]).run()?;
    }
    Ok(python)
}

fn page(project: &Project) -> Outcome<Vec<Row>> {
    build(project, Speed::Release)?;
    node::packages(project)?;
    let output = Child::new("node")
        .args(["tests/browser/measure.mjs", &ROUNDS.to_string()])
        .env("CHROME", debian::chromium()?)
        .dir(&project.root)
        .output()?;
    let median_of = |name: &str| {
        let line = output.lines().find_map(|line| line.strip_prefix(name))?;
        median(line.split_whitespace().filter_map(|word| word.parse().ok()).collect())
    };
    let row = |what: &str, name: &str, limit: f64, unit: &str| {
        median_of(name).map_or_else(
            || Row::missing(what, &format!("the page gave no {name}")),
            |value| Row::at_most(what, value, limit, unit),
        )
    };
    Ok(vec![
        row("page weight, all it loads, gzip", "weight-kb", 500.0, "KB"),
        row("page ready to use", "ready-ms", 1000.0, "ms"),
        row("first chart in Chromium", "first-chart-ms", 1000.0, "ms"),
    ])
}
