//! Measures of memory management: references with reclaim running, the published run, page replacement beside libCacheSim.

use super::measures::{ROUNDS, own_program, python_rival, wasm_module};
use super::table::{Row, median};
use crate::command::{Child, Outcome};
use crate::project::Project;

/// References of one measured run with reclaim running.
const REFERENCES: &str = "33554432";
/// References of the Zipf stream, to 2^20 pages.
const ZIPF_REFERENCES: &str = "4000000";
/// Pages in memory at a time.
const RESIDENT_PAGES: &str = "131072";
/// Both columns of the published run.
const COLUMNS: [&str; 2] = ["with-congestion-wait", "without-congestion-wait"];

/// A rate in millions a second, how long it took in seconds, and the number that shows that the same was done.
struct Figure {
    rate: f64,
    seconds: f64,
    proof: String,
}

fn figure(output: &str) -> Outcome<Figure> {
    let malformed = || format!("no `COUNT SECONDS PROOF`: {output}");
    let words: Vec<&str> = output.split_whitespace().collect();
    let [count, seconds, proof] = words[..] else { return Err(malformed()) };
    let count: f64 = count.parse().map_err(|_| malformed())?;
    let seconds: f64 = seconds.parse().map_err(|_| malformed())?;
    Ok(Figure { rate: count / seconds / 1e6, seconds, proof: proof.to_owned() })
}

fn median_rate(rounds: usize, run: impl Fn() -> Outcome<String>) -> Outcome<f64> {
    let rates: Vec<f64> = (0..rounds).map(|_| Ok(figure(&run()?)?.rate)).collect::<Outcome<_>>()?;
    median(rates).ok_or_else(|| "no figure".into())
}

pub(super) fn memory(project: &Project) -> Outcome<Vec<Row>> {
    let program = own_program(project)?;
    let module = wasm_module(project)?;
    let script = project.root.join("tests/bench/wasm.mjs");
    let native = |what: &[&str]| Child::new(&program).args(what).output();
    let wasm =
        |what: &[&str]| Child::new("node").args([script.as_os_str(), module.as_os_str()]).args(what).output();
    let unit = "M references/s";
    let references = median_rate(ROUNDS, || native(&["references", REFERENCES]))?;
    let what = "page references with reclaim running";
    let mut rows = vec![
        Row::at_least(&format!("{what}, natively"), references, 40.0, unit),
        Row::slower_at_most(
            &format!("{what}, wasm"),
            median_rate(ROUNDS, || wasm(&["references", REFERENCES]))?,
            1.5,
            "native",
            references,
            unit,
        ),
    ];
    for label in COLUMNS {
        let whole = figure(&native(&["column", label, "stream"])?)?;
        rows.push(Row::at_most(&format!("512 GiB, {label}"), whole.seconds, 5.0, "s"));
    }
    for (case, what, factor) in [("late", "32 GiB of it", 1.5), ("stream", "512 GiB", 2.0)] {
        let rounds = if case == "late" { ROUNDS } else { 1 };
        let native = median_rate(rounds, || native(&["column", COLUMNS[0], case]))?;
        let wasm = median_rate(rounds, || wasm(&["column", case]))?;
        rows.push(Row::slower_at_most(
            &format!("{what}, whole machine, wasm"),
            wasm,
            factor,
            "native",
            native,
            unit,
        ));
    }
    rows.extend(replacement(project, &native)?);
    Ok(rows)
}

/// LRU and CLOCK on the same Zipf stream. They are compared only if they miss equally often.
fn replacement(project: &Project, native: &impl Fn(&[&str]) -> Outcome<String>) -> Outcome<Vec<Row>> {
    let python = python_rival(project, "libcachesim")?;
    let folder = project.root.join("target/rivals");
    std::fs::create_dir_all(&folder).map_err(|error| format!("cannot make {}: {error}", folder.display()))?;
    let trace = folder.join("zipf.oracleGeneral.bin").display().to_string();
    native(&["trace", ZIPF_REFERENCES, &trace])?;
    let rival = |name: &str| {
        Child::new(&python)
            .args(["tests/rivals/libcachesim/replace.py", name, &trace, RESIDENT_PAGES])
            .dir(&project.root)
            .output()
    };
    let mut rows = Vec::new();
    for name in ["lru", "clock"] {
        let own = || native(&["replace", name, ZIPF_REFERENCES]);
        let (ours, theirs) = (figure(&own()?)?.proof, figure(&rival(name)?)?.proof);
        if ours != theirs {
            return Err(format!("{name} misses {ours} times, that of libCacheSim {theirs} times"));
        }
        let what = format!("page replacement, {}", name.to_uppercase());
        let (own, rival) = (median_rate(ROUNDS, own)?, median_rate(ROUNDS, || rival(name))?);
        rows.push(Row::at_least_times(&what, own, 1.0, "libCacheSim", rival, "M references/s"));
    }
    Ok(rows)
}
