//! Measures parts of the simulator natively. `cargo xtask bench` runs it beside its rivals.
//!
//! `stallarium-bench block ELEVATOR REQUESTS` prints `REQUESTS SECONDS SIMULATED_NS`.
//! `stallarium-bench hold PENDING EVENTS` prints `EVENTS SECONDS TIME_NS`, the line that every rival prints.

use stallarium_sim::block::exercise;
use stallarium_sim::engine::EventQueue;
use stallarium_sim::scenario::KernelChoice;
use std::collections::BTreeMap;
use std::process::ExitCode;
use std::time::Instant;

/// How many distances the hold model's table holds; it starts again at its end.
const DISTANCES: usize = 1 << 16;

fn main() -> ExitCode {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    match arguments.iter().map(String::as_str).collect::<Vec<_>>()[..] {
        ["hold", pending, events] => match (pending.parse(), events.parse()) {
            (Ok(pending), Ok(events)) => {
                hold(pending, events);
                ExitCode::SUCCESS
            }
            _ => usage(),
        },
        ["block", elevator, requests] => match requests.parse() {
            Ok(requests) => block(elevator, requests),
            Err(_) => usage(),
        },
        _ => usage(),
    }
}

/// Requests through plug, merge, elevator, device and completion.
fn block(elevator: &str, requests: u64) -> ExitCode {
    let choice = KernelChoice {
        release: "2.6.35".to_owned(),
        patches: Vec::new(),
        elevator: elevator.to_owned(),
        tunables: BTreeMap::new(),
    };
    let start = Instant::now();
    match exercise(&choice, requests) {
        Ok(done) => {
            println!("{} {} {}", done.requests, start.elapsed().as_secs_f64(), done.simulated_ns);
            ExitCode::SUCCESS
        }
        Err(error) => {
            eprintln!("{error}");
            ExitCode::FAILURE
        }
    }
}

fn usage() -> ExitCode {
    eprintln!("usage: stallarium-bench hold PENDING EVENTS | block ELEVATOR REQUESTS");
    ExitCode::FAILURE
}

/// The hold model: `pending` events are in the queue; each step takes the earliest and puts a new one some distance later.
fn hold(pending: usize, events: u64) {
    let distances = distances_ns();
    let mut next_distance = (0..DISTANCES).cycle().map(|index| distances[index]);
    let mut distance_ns = || next_distance.next().unwrap_or(1);
    let mut queue = EventQueue::new();
    for index in 0..pending {
        queue.push(distance_ns(), index);
    }
    let start = Instant::now();
    let mut time_ns = 0;
    for _ in 0..events {
        let Some((now_ns, event)) = queue.pop() else { break };
        time_ns = now_ns;
        queue.push(now_ns + distance_ns(), event);
    }
    println!("{events} {} {time_ns}", start.elapsed().as_secs_f64());
}

/// Distances between 1 ns and about 1 ms from a linear congruential generator (Knuth's MMIX constants, seed 1), which is as
/// short in every language as it is here.
fn distances_ns() -> Vec<u64> {
    let mut state = 1_u64;
    let next = std::iter::repeat_with(|| {
        state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (state >> 44) + 1
    });
    next.take(DISTANCES).collect()
}
