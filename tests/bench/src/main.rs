//! Measures parts of the simulator natively. `cargo xtask bench` runs it beside its rivals.
//!
//! * `stallarium-bench hold PENDING EVENTS` prints `EVENTS SECONDS TIME_NS`, the line that every rival prints;
//! * `stallarium-bench block ELEVATOR REQUESTS` and `stallarium-bench experiment CASE` print
//!   `REQUESTS SECONDS SIMULATED_NS`.

use stallarium_bench::{Done, block, experiment, hold};
use std::process::ExitCode;
use std::time::Instant;

fn main() -> ExitCode {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let result = match arguments.iter().map(String::as_str).collect::<Vec<_>>()[..] {
        ["hold", pending, events] => match (pending.parse(), events.parse()) {
            (Ok(pending), Ok(events)) => {
                let mut run = hold(pending);
                timed(|| Ok(Done { count: events, simulated_ns: run(events) }))
            }
            _ => Err("PENDING and EVENTS are numbers".into()),
        },
        ["block", elevator, requests] => match requests.parse() {
            Ok(requests) => timed(|| block(elevator, requests)),
            Err(_) => Err("REQUESTS is a number".into()),
        },
        ["experiment", case] => timed(|| experiment(case)),
        _ => {
            Err("usage: stallarium-bench hold PENDING EVENTS | block ELEVATOR REQUESTS | experiment CASE"
                .into())
        }
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
    println!("{} {} {}", done.count, start.elapsed().as_secs_f64(), done.simulated_ns);
    Ok(())
}
