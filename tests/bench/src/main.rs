//! Measures parts of the simulator natively. `cargo xtask bench` runs it beside its rivals.
//!
//! * `stallarium-bench hold PENDING EVENTS` prints `EVENTS SECONDS TIME_NS`, the line that every rival prints;
//! * `stallarium-bench block ELEVATOR REQUESTS` and `stallarium-bench experiment CASE` print
//!   `REQUESTS SECONDS SIMULATED_NS`;
//! * `stallarium-bench references PAGES` and `stallarium-bench column LABEL CASE` print `PAGES SECONDS SIMULATED_NS`;
//! * `stallarium-bench trace REFERENCES FILE` writes the Zipf stream for a rival, and `stallarium-bench replace lru|clock REFERENCES`
//!   prints `REFERENCES SECONDS MISSES` for it.

use stallarium_bench::{Done, block, experiment, hold, memory};
use std::process::ExitCode;
use std::time::Instant;

fn main() -> ExitCode {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let result = match arguments.iter().map(String::as_str).collect::<Vec<_>>()[..] {
        ["hold", pending, events] => match (pending.parse(), events.parse()) {
            (Ok(pending), Ok(events)) => {
                let mut run = hold(pending);
                timed(|| Ok(Done { count: events, proof: run(events) }))
            }
            _ => Err("PENDING and EVENTS are numbers".into()),
        },
        ["block", elevator, requests] => match requests.parse() {
            Ok(requests) => timed(|| block(elevator, requests)),
            Err(_) => Err("REQUESTS is a number".into()),
        },
        ["experiment", case] => timed(|| experiment(case)),
        ["references", pages] => match pages.parse() {
            Ok(pages) => timed(|| memory::references(pages)),
            Err(_) => Err("PAGES is a number".into()),
        },
        ["column", label, case] => timed(|| memory::column(label, case)),
        ["trace", references, path] => match references.parse() {
            Ok(references) => memory::write_trace(path.as_ref(), &memory::zipf(references))
                .map_err(|error| format!("cannot write {path}: {error}")),
            Err(_) => Err("REFERENCES is a number".into()),
        },
        ["replace", name, references] => match references.parse().map(memory::zipf) {
            Ok(stream) => timed(|| memory::replace(name, &stream)),
            Err(_) => Err("REFERENCES is a number".into()),
        },
        _ => Err("usage: see the first lines of tests/bench/src/main.rs".into()),
    };
    match result {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("{error}");
            ExitCode::FAILURE
        }
    }
}

fn timed(run: impl FnOnce() -> Result<Done, String>) -> Result<(), String> {
    let start = Instant::now();
    let done = run()?;
    println!("{} {} {}", done.count, start.elapsed().as_secs_f64(), done.proof);
    Ok(())
}
