//! Laws that hold for every scenario that can be run: random machines, kernels and workloads, each run several
//! times in different ways.

mod book;
mod machines;
mod runs;
mod safety;
mod sectors;
mod tiny;
mod workloads;

use proptest::prelude::*;
use proptest::test_runner::RngSeed;
use runs::{Run, finish, samples};
use stallarium_sim::scenario::Scenario;
use stallarium_sim::simulation::{Budget, End, Simulation};
use workloads::Printed;

/// Every law sees the same scenarios each time, unless `PROPTEST_RNG_SEED` says otherwise, and this many of
/// them, unless `PROPTEST_CASES` does.
const CASES: u32 = 800;

fn config() -> ProptestConfig {
    let mut config =
        ProptestConfig { max_shrink_iters: 2000, failure_persistence: None, ..ProptestConfig::default() };
    if std::env::var_os("PROPTEST_CASES").is_none() {
        config.cases = CASES;
    }
    if config.rng_seed == RngSeed::Random {
        config.rng_seed = RngSeed::Fixed(1);
    }
    config
}

fn started(scenario: &Scenario) -> Simulation {
    let problems = scenario.check();
    assert!(problems.is_empty(), "the strategy makes valid scenarios: {problems:?}");
    Simulation::new(scenario).expect("a validated scenario starts")
}

proptest! {
    #![proptest_config(config())]

    /// Rules 1 and 5: neither the trace, nor how a run is cut into budgets, nor going on from a checkpoint
    /// changes anything; the same scenario gives the same run.
    #[test]
    fn a_run_depends_on_its_scenario_alone(
        Printed(scenario) in workloads::scenarios(),
        cut in 1u64..3000,
        pauses_ms in prop::collection::vec(0u64..400, 1..4),
    ) {
        let whole = Run::traced(&scenario);
        let mut plain = started(&scenario);
        finish(&mut plain, || Budget::events(cut));
        prop_assert_eq!(runs::state(&plain), whole.state(), "no trace, budgets of {} events", cut);

        let mut paused = started(&scenario);
        paused.set_trace_limit(runs::TRACE_LIMIT);
        let mut until_ns = 0;
        for pause_ms in pauses_ms {
            until_ns += pause_ms * 1_000_000;
            paused.advance(Budget::until(until_ns));
        }
        let mut checkpoint = paused.clone();
        finish(&mut paused, || Budget::events(cut));
        finish(&mut checkpoint, || Budget::events(u64::MAX));
        for mut run in [paused, checkpoint] {
            prop_assert_eq!(runs::state(&run), whole.state(), "cut at {} ns", until_ns);
            let trace = run.take_trace();
            let differs = trace.iter().zip(&whole.trace).find(|(mine, first)| mine != first);
            prop_assert_eq!(differs, None);
            prop_assert_eq!(trace.len(), whole.trace.len());
        }
    }

    /// Rules 6 and 7 and section 1.8: causes add up, no bio or request is lost or served twice, barriers
    /// part what comes before from what comes after, and who waits for ever waits for another process.
    #[test]
    fn nothing_is_lost(Printed(scenario) in workloads::scenarios()) {
        let run = Run::traced(&scenario);
        let world = run.simulation.world();
        for task in world.tasks() {
            prop_assert_eq!(task.causes.sum_ns(), world.now_ns(), "causes of {}", &task.name);
        }
        if let End::Deadlock(blocked) = &run.end {
            for task in blocked {
                let is_known = ["the other processes", "a page"].iter().any(|on| task.waits_for.starts_with(on));
                prop_assert!(is_known, "{:?}", task);
            }
        }
        if let End::OutOfMemory(asker) = &run.end {
            prop_assert!(asker.waits_for.starts_with("a page; DMA: "), "{:?}", asker);
        }
        world.check_every_page();
        if world.recorder().dropped() == 0 {
            let book = book::read(&run.trace, world).map_err(TestCaseError::fail)?;
            book.compare(world).map_err(TestCaseError::fail)?;
        }
    }

    /// Rule 7: once the processes have stopped and old data is written back, nothing is left in the queue
    /// or dirty, and every process has ended, unless it waits for one that is gone.
    #[test]
    fn a_quiet_machine_is_empty(Printed(scenario) in workloads::quiet_scenarios()) {
        let run = Run::traced(&scenario);
        prop_assume!(run.end != End::EventLimit);
        let world = run.simulation.world();
        world.check_every_page();
        prop_assume!(!runs::somebody_starves(world));
        prop_assert_eq!(&run.end, &End::TimeUp);
        runs::check_quiet(world).map_err(TestCaseError::fail)?;
        let book = book::read(&run.trace, world).map_err(TestCaseError::fail)?;
        book.compare(world).map_err(TestCaseError::fail)?;
        prop_assert_eq!(book.outstanding(), 0);
    }

    /// What has been counted stays counted, and lies in the past.
    #[test]
    fn counts_only_grow(Printed(scenario) in workloads::scenarios(), steps in prop::collection::vec(1u64..2000, 40)) {
        let mut simulation = started(&scenario);
        let mut before = samples(simulation.world());
        for events in steps {
            simulation.advance(Budget::events(events));
            let now = samples(simulation.world());
            prop_assert_eq!(before.len(), now.len());
            for (was, is) in before.iter().zip(&now) {
                prop_assert!(was <= is, "{:?} after {:?}", is, was);
            }
            runs::check_marks(simulation.world()).map_err(TestCaseError::fail)?;
            before = now;
        }
        let settled = simulation.settled();
        for task in settled.tasks() {
            prop_assert_eq!(task.causes.sum_ns(), settled.now_ns(), "causes of {}", &task.name);
        }
    }

    /// When fsync returns, the data written before it has been on the device, whoever else does what.
    #[test]
    fn fsync_has_written_the_data(Printed(scenario) in workloads::roomy_scenarios()) {
        safety::check(&scenario, false).map_err(TestCaseError::fail)?;
    }

    /// Sections 4.1, 4.2 and 4.3: where only one process asks for commits, its fsync returns after its data,
    /// the log and the commit record, in this order, each complete before the next is submitted; a
    /// volatile cache has been flushed in between, if barriers are on.
    #[test]
    fn fsync_keeps_its_order(Printed(scenario) in workloads::one_that_syncs()) {
        safety::check(&scenario, true).map_err(TestCaseError::fail)?;
    }
}
