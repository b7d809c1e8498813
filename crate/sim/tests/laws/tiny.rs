//! Machines with next to no memory: whatever is run on them makes progress, or ends and says why it cannot.

use crate::{runs, started};
use stallarium_sim::kernel::releases;
use stallarium_sim::scenario::Scenario;
use stallarium_sim::simulation::{Advance, Budget, End, Simulation, World};
use stallarium_sim::task::TaskId;
use stallarium_sim::workload::built_in;

const SECOND_NS: u64 = 1_000_000_000;
/// Who has neither got nor given a page for a minute, while nothing else is going on, is told so; nobody has to wait much longer.
const PATIENCE_NS: u64 = 90 * SECOND_NS;

/// What makes a built-in workload of a size that means something here: more than there is of memory, and no more than takes minutes.
fn parameters(workload: &str) -> &'static str {
    match workload {
        "mapped-file-stream" => "file-size = \"64 MiB\"",
        "big-writer" => "file-size = \"24 MiB\"",
        "reader-and-writer" => "file-size = \"24 MiB\"",
        "anonymous-hog" => "region-size = \"40 MiB\"\nrounds = 1\nfile-size = \"8 MiB\"",
        "buffered-writers" => "file-size = \"8 MiB\"",
        _ => "",
    }
}

fn scenario(workload: &str, release: &str, elevator: &str, memory: &str) -> Scenario {
    let text = format!(
        "kernels = \"{elevator}@{release}\"\ntime = \"150 s\"\nevents = 12000\n[machine]\ncpus = 2\ndevice = \"sata\"\n\
         [machine.memory]\n{memory}\n[workload]\nuse = \"{workload}\"\n{}\n",
        parameters(workload)
    );
    Scenario::from_toml(&text).unwrap_or_else(|problems| panic!("{text}: {problems:#?}"))
}

/// Everything that processes have come to, and the pages that were handed out and given back.
fn progress(world: &World) -> u64 {
    let memory = world.memory().expect("it is simulated");
    let pages = memory.vmstat.pgfree + memory.zones().iter().map(|zone| zone.events.pgalloc).sum::<u64>();
    let of_processes = (0..world.tasks().len() as u32).filter_map(|id| world.process(TaskId(id)));
    let done = of_processes.map(|totals| {
        let marks: u64 = totals.marks.iter().map(|mark| mark.passes).sum();
        totals.read_bytes + totals.written_bytes + totals.files_created + totals.faults + marks
    });
    pages + done.sum::<u64>()
}

/// Runs it second by second; how it ended.
fn run(scenario: &Scenario, what: &str) -> (Simulation, End) {
    let mut simulation = started(scenario);
    let (mut before, mut since_ns) = (0, 0);
    loop {
        let until_ns = simulation.progress().now_ns + SECOND_NS;
        let advance = simulation.advance(Budget::until(until_ns));
        let world = simulation.world();
        let now = progress(world);
        if now != before {
            (before, since_ns) = (now, world.now_ns());
        }
        let waits_ns = world.now_ns() - since_ns;
        assert!(waits_ns < PATIENCE_NS, "{what}: nothing has happened for {waits_ns} ns");
        if let Advance::Finished(end) = advance {
            return (simulation, end);
        }
    }
}

/// ARCHITECTURE.md, rule 7: every built-in workload on 4 to 32 MiB, on every release, with and without swap, the elevators in turn. It ends
/// by itself or with its time, or else a lack of memory is named, with the state of memory that explains it.
#[test]
fn tiny_machines_make_progress_or_say_why_not() {
    let elevators = ["noop", "deadline", "cfq"];
    let mut number = 0;
    let mut ends = [0; 3];
    for release in releases() {
        for workload in built_in::names() {
            for (size_mib, swap_mib) in [(4, 0), (4, 16), (8, 0), (16, 16), (32, 0)] {
                let elevator = elevators[number % elevators.len()];
                number += 1;
                let memory = format!("size-mib = {size_mib}\nswap-mib = {swap_mib}");
                let what = format!(
                    "{workload} on {size_mib} MiB and {swap_mib} of swap, {elevator}@{}",
                    release.name
                );
                let scenario = scenario(workload, release.name, elevator, &memory);
                let (simulation, end) = run(&scenario, &what);
                let world = simulation.world();
                world.check_every_page();
                for task in world.tasks() {
                    assert_eq!(task.causes.sum_ns(), world.now_ns(), "{what}: causes of {}", task.name);
                }
                let explains = |waits_for: &str| {
                    waits_for.starts_with("a page; DMA: ") && waits_for.contains("pages free (min ")
                };
                match end {
                    End::TimeUp | End::EventLimit | End::AllExited => ends[0] += 1,
                    End::OutOfMemory(asker) => {
                        assert!(explains(&asker.waits_for), "{what}: {asker:?}");
                        ends[1] += 1;
                    }
                    End::Deadlock(blocked) => {
                        assert!(blocked.iter().any(|task| explains(&task.waits_for)), "{what}: {blocked:?}");
                        ends[2] += 1;
                    }
                }
                runs::check_marks(world).expect("sound marks");
            }
        }
    }
    println!(
        "{number} runs: {} went on or ended, {} ran out of memory, {} got stuck and said so",
        ends[0], ends[1], ends[2]
    );
    assert!(ends[0] > number as u32 / 2, "{ends:?}");
}
