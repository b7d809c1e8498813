//! What is measured, once for all targets: the program calls it natively, `wasm.mjs` under Node.js.

pub mod memory;

use litemap::LiteMap;
use stallarium_sim::block::exercise;
use stallarium_sim::engine::EventQueue;
use stallarium_sim::scenario::{Experiment, KernelChoice, Overrides};
use stallarium_sim::simulation::{Advance, Budget, Simulation};

/// How many distances the hold model's table holds; it starts again at its end.
const DISTANCES: usize = 1 << 16;

/// What a measurement did: how much, and a number that must be the same on every target.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Done {
    /// Requests or events handled.
    pub count: u64,
    /// What shows that the same was done: simulated time at the end, in nanoseconds, or what else a measurement says.
    pub proof: u64,
}

/// Requests through plug, merge, elevator, device and completion.
///
/// # Errors
/// There is no such elevator.
pub fn block(elevator: &str, requests: u64) -> Result<Done, String> {
    let choice = KernelChoice {
        release: "2.6.35".to_owned(),
        patches: Vec::new(),
        elevator: elevator.to_owned(),
        tunables: LiteMap::new(),
    };
    let done = exercise(&choice, requests).map_err(|error| error.to_string())?;
    Ok(Done { count: done.requests, proof: done.simulated_ns })
}

/// One case of the published experiment under vanilla CFQ, at its published length: requests completed.
///
/// # Errors
/// There is no such case.
pub fn experiment(case: &str) -> Result<Done, String> {
    let simulation = simulate("cfq-noidle-2010", "vanilla cfq", case)?;
    let world = simulation.world();
    Ok(Done { count: world.queue().counters().completed.iter().sum(), proof: world.now_ns() })
}

/// Runs a column of a published experiment to its end.
fn simulate(experiment: &str, column: &str, case: &str) -> Result<Simulation, String> {
    let words = |problems: Vec<stallarium_sim::text::Problem>| {
        problems.iter().map(ToString::to_string).collect::<Vec<_>>().join("; ")
    };
    let experiment = Experiment::find(experiment).map_err(words)?;
    let scenario = experiment.scenario(column, case, 1, &Overrides::none()).map_err(words)?;
    let mut simulation = Simulation::new(&scenario).map_err(|error| error.to_string())?;
    while let Advance::More(_) = simulation.advance(Budget::events(1_000_000)) {}
    Ok(simulation)
}

/// The hold model: `pending` events are in the queue; each step takes the earliest and puts a new one some distance later.
pub fn hold(pending: usize) -> impl FnMut(u64) -> u64 {
    let distances = distances_ns();
    let mut index = 0;
    let mut distance_ns = move || {
        index = (index + 1) % DISTANCES;
        distances[(index + DISTANCES - 1) % DISTANCES]
    };
    let mut queue = EventQueue::new();
    for event in 0..pending {
        queue.push(distance_ns(), event);
    }
    move |events| {
        let mut time_ns = 0;
        for _ in 0..events {
            let Some((now_ns, event)) = queue.pop() else { break };
            time_ns = now_ns;
            queue.push(now_ns + distance_ns(), event);
        }
        time_ns
    }
}

/// Distances between 1 ns and about 1 ms from a linear congruential generator (Knuth's MMIX constants, seed 1), which is as
/// short in every language as it is here.
fn distances_ns() -> Vec<u64> {
    let mut state = 1;
    std::iter::repeat_with(|| (next_random(&mut state) >> 44) + 1).take(DISTANCES).collect()
}

fn next_random(state: &mut u64) -> u64 {
    *state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
    *state
}

/// [`block`] under CFQ, for wasm: the simulated time, which fits in a JavaScript number; negative on an error.
#[unsafe(no_mangle)]
pub extern "C" fn block_cfq(requests: u32) -> f64 {
    block("cfq", u64::from(requests)).map_or(-1.0, |done| done.proof as f64)
}

/// [`experiment`] beside the reader, for wasm: requests completed; negative on an error.
#[unsafe(no_mangle)]
pub extern "C" fn experiment_mixed() -> f64 {
    experiment("mixed").map_or(-1.0, |done| done.count as f64)
}
