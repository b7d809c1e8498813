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

fn scenario(workload: &str, release: &str, elevator: &str, memory: &str, events: u64) -> Scenario {
    let text = format!(
        "kernels = \"{elevator}@{release}\"\ntime = \"300 s\"\nevents = {events}\n[machine]\ncpus = 2\ndevice = \"sata\"\n\
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

/// Whether a wait is explained by the state of memory.
fn explains(waits_for: &str) -> bool {
    waits_for.starts_with("a page; DMA: ") && waits_for.contains(" pages free (min ")
}

/// Page tables of a mapping that is much larger than memory fill it in the end. Its process is killed for it; where the kernel's rules
/// find nobody to kill, or hope for ever, the run ends by name (sections 3.6 and 10.5 of docs/model/reclaim.md).
#[test]
fn page_tables_that_fill_memory_are_named() {
    let (mut killed, mut named) = (0, 0);
    for release in releases() {
        for (size_mib, file_gib) in [(4, 4), (8, 8)] {
            let text = format!(
                "kernels = \"deadline@{}\"\ntime = \"3600 s\"\n[machine.memory]\nsize-mib = {size_mib}\n\
                 [workload]\nuse = \"mapped-file-stream\"\nfile-size = \"{file_gib} GiB\"\n",
                release.name
            );
            let scenario = Scenario::from_toml(&text).unwrap_or_else(|problems| panic!("{problems:#?}"));
            let mut simulation = started(&scenario);
            let end = runs::finish(&mut simulation, || Budget::events(u64::MAX));
            let world = simulation.world();
            world.check_every_page();
            let table_pages = world.page_table_pages();
            let what = format!("{} on {size_mib} MiB: {end:?}, {table_pages} page tables", release.name);
            let processes = (0..world.tasks().len() as u32).filter_map(|id| world.process(TaskId(id)));
            let is_killed = processes.into_iter().any(|totals| totals.killed);
            let wanted = format!("page tables {table_pages} pages");
            match end {
                End::AllExited => killed += u32::from(is_killed),
                End::OutOfMemory(asker) => {
                    assert!(explains(&asker.waits_for) && asker.waits_for.contains(&wanted), "{what}");
                    named += 1;
                }
                End::Deadlock(blocked) => {
                    let is_told = |waits_for: &str| explains(waits_for) && waits_for.contains(&wanted);
                    assert!(blocked.iter().all(|task| is_told(&task.waits_for)), "{what}");
                    named += 1;
                }
                other => panic!("{what}: {other:?}"),
            }
        }
    }
    println!("{killed} were killed, {named} lacked memory for ever and were named");
    assert!(killed > 0 && named > 0, "{killed} killed, {named} named");
    assert_eq!(killed + named, 2 * releases().len() as u32);
}

const SIZES: [(u32, u32); 5] = [(4, 0), (4, 16), (8, 0), (16, 16), (32, 0)];
const ELEVATORS: [&str; 3] = ["noop", "deadline", "cfq"];

/// ARCHITECTURE.md, rule 7: every built-in workload on 4 to 32 MiB, on every release, with and without swap. It ends by itself or goes on
/// as long as it may, or else a lack of memory is named, with the state of memory that explains it. Sizes and elevators take turns;
/// `PROPTEST_CASES` says how many of the 15 pairs each workload meets on each release.
#[test]
fn tiny_machines_make_progress_or_say_why_not() {
    let turns = std::env::var("PROPTEST_CASES").ok().and_then(|cases| cases.parse().ok()).unwrap_or(2);
    let (mut turn, mut went_on, mut named) = (0, 0, 0);
    for release in releases() {
        for workload in built_in::names() {
            for _ in 0..turns.min(SIZES.len() * ELEVATORS.len()) {
                // 5 and 3 have no common divisor: in 15 turns all pairs.
                let ((size_mib, swap_mib), elevator) =
                    (SIZES[turn % SIZES.len()], ELEVATORS[turn % ELEVATORS.len()]);
                turn += 1;
                let memory = format!("size-mib = {size_mib}\nswap-mib = {swap_mib}");
                let what = format!(
                    "{workload} on {size_mib} MiB and {swap_mib} of swap, {elevator}@{}",
                    release.name
                );
                let (simulation, end) =
                    run(&scenario(workload, release.name, elevator, &memory, 40_000), &what);
                let world = simulation.world();
                world.check_every_page();
                for task in world.tasks() {
                    assert_eq!(task.causes.sum_ns(), world.now_ns(), "{what}: causes of {}", task.name);
                }
                runs::check_marks(world).expect("sound marks");
                match end {
                    End::TimeUp | End::EventLimit | End::AllExited => went_on += 1,
                    End::OutOfMemory(asker) if explains(&asker.waits_for) => named += 1,
                    End::Deadlock(blocked) if blocked.iter().any(|task| explains(&task.waits_for)) => {
                        named += 1
                    }
                    other => panic!("{what}: {other:?}"),
                }
            }
        }
    }
    assert_eq!(went_on + named, turn);
    println!("{went_on} runs went on or ended, {named} lacked memory and said so");
}
