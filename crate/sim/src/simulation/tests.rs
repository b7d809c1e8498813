//! The machine as a whole: laws that hold for every scenario, and what single rules lead to.

use super::*;
use crate::block::IoClass;
use crate::device::{AnyDevice, Device, DeviceOptions, ServerOptions, preset};
use crate::observe::{Cause, CauseKind, TaskTrace, TraceKind};
use crate::scenario::{KernelChoice, Limits, Machine};
use crate::workload::{
    Branch, FileSpec, HandleId, MarkId, Operand, Pattern, ProcessSpec, Step, Times, Workload,
};
use proptest::prelude::*;
use std::collections::BTreeMap;

const MS: u64 = 1_000_000;
const SECOND: u64 = 1000 * MS;
const FILE: HandleId = HandleId(0);

fn device(name: &str) -> DeviceOptions {
    preset(name).expect("a known device").options()
}

/// `cfq@2.6.35` on the serial device, with one file of 1 GB at a tenth of it.
fn scenario(processes: Vec<ProcessSpec>, time_ns: u64) -> Scenario {
    Scenario {
        machine: Machine { device: device("device-a"), ..Machine::default() },
        kernel: KernelChoice {
            release: "2.6.35".into(),
            patches: Vec::new(),
            elevator: "cfq".into(),
            tunables: litemap::LiteMap::new(),
        },
        workload: Workload {
            files: vec![FileSpec { name: "data".into(), size_bytes: 1_000_000_000, at_per_mille: 100 }],
            processes,
            barriers: vec!["start".into()],
        },
        seed: 1,
        limits: Limits { time_ns, events: 50_000_000 },
    }
}

fn process(name: &str, steps: Vec<Step>) -> ProcessSpec {
    ProcessSpec {
        name: name.into(),
        count: 1,
        io_class: IoClass::BestEffort,
        io_priority: 4,
        shared_io_context: false,
        handles: vec!["file".into()],
        marks: vec!["done".into()],
        steps,
    }
}

fn forever(body: Vec<Step>) -> Vec<Step> {
    vec![Step::Repeat { times: Times::Forever, body }]
}

fn mark() -> Step {
    Step::Mark { mark: MarkId(0), amount: 1 }
}

fn fs_mark() -> ProcessSpec {
    process(
        "fs_mark",
        forever(vec![
            Step::Create { handle: FILE, directories: 1 },
            Step::Write {
                handle: FILE,
                bytes: Operand::Fixed(65_536),
                call_bytes: 4096,
                pattern: Pattern::Sequential,
                direct: false,
            },
            Step::Fsync(FILE),
            Step::Close(FILE),
            mark(),
        ]),
    )
}

fn reader() -> ProcessSpec {
    process(
        "reader",
        vec![
            Step::Open { handle: FILE, file: 0 },
            Step::Repeat {
                times: Times::Forever,
                body: vec![
                    Step::ReadToEnd { handle: FILE, call_bytes: 131_072 },
                    Step::DropCache(FILE),
                    Step::Rewind(FILE),
                ],
            },
        ],
    )
}

fn run(scenario: &Scenario) -> Simulation {
    let mut simulation = Simulation::new(scenario).expect("a valid scenario");
    while let Advance::More(_) = simulation.advance(Budget::events(100_000)) {}
    simulation
}

fn task<'a>(simulation: &'a Simulation, name: &str) -> (TaskId, &'a crate::task::Task) {
    let tasks = simulation.world().tasks();
    let index = tasks.iter().position(|task| task.name == name).expect("a task of this name");
    (TaskId(index as u32), &tasks[index])
}

fn marks(simulation: &Simulation, name: &str) -> u64 {
    let (id, _) = task(simulation, name);
    simulation.world().process(id).map_or(0, |totals| totals.marks[0].count)
}

fn share(simulation: &Simulation, name: &str, kind: CauseKind, via_journal: bool) -> f64 {
    let (_, task) = task(simulation, name);
    task.causes.get(Cause { kind, via_journal }) as f64 / simulation.world().now_ns() as f64
}

/// Everything about a run that a rule could change.
fn digest(simulation: &Simulation) -> String {
    let world = simulation.world();
    let tasks: Vec<_> = world.tasks().iter().map(|task| (&task.name, task.causes)).collect();
    let marks: Vec<_> = (0..world.tasks().len() as u32).map(|id| world.process(TaskId(id))).collect();
    format!("{:?} {tasks:?} {marks:?} {:?}", world.counters(), world.queue().counters())
}

/// Section 4.4: alone under vanilla CFQ a file takes 9 ticks, of which the journal's write is held for
/// seven because CFQ idles for fs_mark.
#[test]
fn fs_mark_alone_shows_the_idling_as_its_cause() {
    let run = run(&scenario(vec![fs_mark()], 2 * SECOND));
    assert_eq!(marks(&run, "fs_mark"), 222);
    let idling = share(&run, "fs_mark", CauseKind::Idling, true) * 9.0;
    assert!((7.0..7.5).contains(&idling), "{idling} of 9 ms a file");
}

/// Rule 6: time may be charged at any moment of a wait; that changes no total, of any cause.
#[test]
fn charging_in_between_changes_nothing() {
    for processes in [vec![fs_mark()], vec![reader()], vec![fs_mark(), reader()]] {
        let scenario = scenario(processes, 500 * MS);
        let whole = run(&scenario);
        let mut looked_at = Simulation::new(&scenario).expect("valid");
        while let Advance::More(_) = looked_at.advance(Budget::events(7)) {
            looked_at.world.charge_all();
        }
        assert_eq!(digest(&whole), digest(&looked_at));
    }
}

/// Section 1.5: a window of readahead unplugs the queue only if the page being read is up to date; a
/// reader that waits does it itself. So in 2.6.33 and later a cached page's window starts at once, in
/// 2.6.32 it waits for the plug's timer or for the reader.
#[test]
fn readahead_unplugs_only_from_2_6_33_and_only_for_a_cached_page() {
    // Reads the first window, computes until all of it is there, then steps on the mark.
    let steps = vec![
        Step::Open { handle: FILE, file: 0 },
        Step::Read {
            handle: FILE,
            bytes: Operand::Fixed(4096),
            call_bytes: 4096,
            pattern: Pattern::Sequential,
            direct: false,
        },
        Step::Sleep(Operand::Fixed(10 * MS)),
        Step::Read {
            handle: FILE,
            bytes: Operand::Fixed(4096),
            call_bytes: 4096,
            pattern: Pattern::Sequential,
            direct: false,
        },
        Step::Sleep(Operand::Fixed(10 * MS)),
    ];
    let starts = |release: &str| -> Vec<(u64, u64)> {
        let mut scenario = scenario(vec![process("reader", steps.clone())], SECOND);
        scenario.kernel.release = release.into();
        // CFQ would start it anyway: it still waits for this reader.
        scenario.kernel.elevator = "deadline".into();
        let mut simulation = Simulation::new(&scenario).expect("valid");
        simulation.set_trace_limit(1000);
        while let Advance::More(_) = simulation.advance(Budget::events(1000)) {}
        let mut inserted = 0;
        let mut starts = Vec::new();
        for event in simulation.take_trace() {
            match event.kind {
                TraceKind::Insert(_) => inserted = event.time_ns,
                TraceKind::Start(facts, _) => {
                    starts.push((u64::from(facts.sectors), event.time_ns - inserted))
                }
                _ => {}
            }
        }
        starts
    };
    let (old, new) = (starts("2.6.32"), starts("2.6.35"));
    // Both: the reader's own wait starts the first window of 4 pages.
    assert_eq!((old[0].0, new[0].0), (32, 32));
    // The second window of 8 pages: asked for while the page is there.
    assert_eq!(new[1], (64, 0));
    assert!(old[1].0 == 64 && old[1].1 > MS, "{old:?}");
}

/// Section 0.4, point 7: if reads dirty the inode, the reader blocks in the running commit, CFQ idles
/// for it in vain, and a file takes 211 ms instead of 407.
#[test]
fn access_times_make_the_reader_wait_for_the_journal() {
    let mut scenario = scenario(vec![fs_mark(), reader()], 5 * SECOND);
    let plain = marks(&run(&scenario), "fs_mark");
    scenario.machine.file_system.access_time = true;
    let run = run(&scenario);
    assert!((11..=14).contains(&plain), "{plain}");
    assert!((22..=25).contains(&marks(&run, "fs_mark")), "{}", marks(&run, "fs_mark"));
    assert!(share(&run, "reader", CauseKind::Idling, true) > 0.02);
}

/// A bio's name is given away again only when its submitter has noticed the end; otherwise it would
/// wait for another's bio (the journal thread for the reader's, for ever).
#[test]
fn a_wait_ends_with_its_own_bio() {
    let mut scenario = scenario(vec![fs_mark(), reader()], SECOND);
    scenario.machine.device = device("device-b");
    scenario.kernel.release = "2.6.37".into();
    scenario.kernel.elevator = "deadline".into();
    assert!(marks(&run(&scenario), "fs_mark") > 300);
}

/// Two that compute share one CPU, and do not share two.
#[test]
fn cpus_are_shared() {
    let busy = |name| process(name, forever(vec![Step::Compute(Operand::Fixed(MS)), mark()]));
    let mut scenario = scenario(vec![busy("a"), busy("b")], SECOND);
    let one = run(&scenario);
    for name in ["a", "b"] {
        assert!((490..=505).contains(&marks(&one, name)), "{name}: {}", marks(&one, name));
        assert!((0.48..0.52).contains(&share(&one, name, CauseKind::WaitCpu, false)));
    }
    scenario.machine.cpus = 2;
    let two = run(&scenario);
    assert!(marks(&two, "a") >= 998 && marks(&two, "b") >= 998);
}

/// A sleep takes its time, give or take nothing.
#[test]
fn a_sleep_lasts_as_long_as_it_says() {
    let sleeper = process("sleeper", forever(vec![Step::Sleep(Operand::Fixed(10 * MS)), mark()]));
    let run = run(&scenario(vec![sleeper], SECOND));
    assert_eq!(marks(&run, "sleeper"), 99);
    assert!(share(&run, "sleeper", CauseKind::Sleep, false) > 0.99);
}

/// Whoever waits for a process that has gone waits for ever, and the run says so.
#[test]
fn a_deadlock_is_named() {
    let waits = process("waits", vec![Step::Meet(0)]);
    let goes =
        process("goes", vec![Step::Repeat { times: Times::Count(0), body: vec![Step::Meet(0)] }, mark()]);
    let run = run(&scenario(vec![waits, goes], 10 * SECOND));
    let Some(End::Deadlock(blocked)) = run.end() else { panic!("{:?}", run.end()) };
    assert_eq!(blocked.len(), 1);
    assert_eq!(blocked[0].task, "waits");
    assert!(blocked[0].waits_for.contains("\"start\": 1 of 2"), "{}", blocked[0].waits_for);
}

/// A loop that does nothing passes simulated time all the same, and a run has a limit of events.
#[test]
fn a_loop_without_time_does_not_hang() {
    let mut scenario = scenario(vec![process("spin", forever(vec![mark()]))], MS);
    assert_eq!(run(&scenario).end(), Some(&End::TimeUp));
    scenario.limits.events = 1000;
    assert_eq!(run(&scenario).end(), Some(&End::EventLimit));
}

/// Processes that meet at a barrier go on together; then all exit.
#[test]
fn processes_meet_and_exit() {
    let early = process("early", vec![Step::Meet(0), mark()]);
    let late = process("late", vec![Step::Sleep(Operand::Fixed(5 * MS)), Step::Meet(0), mark()]);
    let run = run(&scenario(vec![early, late], SECOND));
    assert_eq!(run.end(), Some(&End::AllExited));
    assert!(run.world().now_ns() < 6 * MS);
    let (_, early) = task(&run, "early");
    let waited = early.causes.get(Cause { kind: CauseKind::Start, via_journal: false });
    assert!((4_900_000..5_100_000).contains(&waited), "{waited}");
}

/// Section 2.20 and rule 6: the trace's states of a task alternate as they must.
#[test]
fn the_trace_tells_every_change_of_state() {
    let scenario = scenario(vec![fs_mark()], 100 * MS);
    let mut simulation = Simulation::new(&scenario).expect("valid");
    simulation.set_trace_limit(100_000);
    while let Advance::More(_) = simulation.advance(Budget::events(1000)) {}
    let (id, _) = task(&simulation, "fs_mark");
    let mut state = TaskTrace::Runnable;
    let mut changes = 0;
    for event in simulation.take_trace() {
        let TraceKind::Task(task, next) = event.kind else { continue };
        if task != id.0 {
            continue;
        }
        let follows = matches!(
            (state, next),
            (TaskTrace::Runnable, TaskTrace::Running)
                | (TaskTrace::Running, TaskTrace::Runnable | TaskTrace::Blocked(_) | TaskTrace::Exited)
                | (TaskTrace::Blocked(_), TaskTrace::Runnable)
        );
        assert!(follows, "{state:?} then {next:?}");
        state = next;
        changes += 1;
    }
    assert!(changes > 50);
}

/// Section 1.9: the flusher takes 4 MiB of a file at a time, but goes on until nothing old is dirty, and
/// with much that is dirty until less than its share is.
#[test]
fn the_flusher_goes_on_until_it_is_done() {
    let write = |bytes, time_ns| {
        let write = Step::Write {
            handle: FILE,
            bytes: Operand::Fixed(bytes),
            call_bytes: 1 << 20,
            pattern: Pattern::Sequential,
            direct: false,
        };
        let steps = vec![
            Step::Create { handle: FILE, directories: 1 },
            write,
            Step::Sleep(Operand::Fixed(SECOND * 100)),
        ];
        run(&scenario(vec![process("writer", steps)], time_ns))
    };
    let old = write(64 << 20, 36 * SECOND);
    assert_eq!(old.world().files().dirty_pages(), 0, "16 chunks within the second from 35 s on");
    let much = write(600 << 20, 20 * SECOND);
    let dirty_pages = much.world().files().dirty_pages();
    assert!((103_000..105_000).contains(&dirty_pages), "a tenth of 4 GiB stays: {dirty_pages}");
}

/// Direct I/O goes to the device call by call, buffered writes only when the flusher comes.
#[test]
fn direct_writes_reach_the_device_and_buffered_ones_wait_for_the_flusher() {
    let write = |direct| {
        let steps = vec![
            Step::Open { handle: FILE, file: 0 },
            Step::Write {
                handle: FILE,
                bytes: Operand::Fixed(1 << 20),
                call_bytes: 65_536,
                pattern: Pattern::Sequential,
                direct,
            },
            mark(),
            Step::Sleep(Operand::Fixed(50 * SECOND)),
        ];
        scenario(vec![process("writer", steps)], 45 * SECOND)
    };
    let direct = run(&write(true));
    assert_eq!(direct.world().counters().flushed_pages, 0);
    let mut buffered = Simulation::new(&write(false)).expect("valid");
    buffered.advance(Budget::until(29 * SECOND));
    assert_eq!(buffered.world().files().dirty_pages(), 256);
    while let Advance::More(_) = buffered.advance(Budget::events(1000)) {}
    assert_eq!(buffered.world().files().dirty_pages(), 0);
    assert_eq!(buffered.world().counters().flushed_pages, 256);
    assert_eq!(marks(&direct, "writer"), 1);
}

/// A write that has to wait for the journal before it can change the file's size has dirtied its pages by
/// then, and does not dirty others when it goes on.
#[test]
fn a_write_dirties_no_page_behind_its_end() {
    let body = vec![
        Step::Create { handle: FILE, directories: 33 },
        Step::Write {
            handle: FILE,
            bytes: Operand::Fixed(16_385),
            call_bytes: 4096,
            pattern: Pattern::Sequential,
            direct: false,
        },
        Step::Close(FILE),
    ];
    let writer = ProcessSpec { count: 2, ..process("writer", forever(body)) };
    let run = run(&scenario(vec![fs_mark(), writer], 100 * MS));
    let files = run.world().files();
    assert!(files.len() > 100);
    for id in (0..files.len() as u32).map(crate::fs::FileId) {
        assert!(files.get(id).cache.cached() <= files.get(id).pages(), "{id:?}");
    }
}

/// Whoever has slept for a request uses it for what it wanted it for: the flusher does not turn to another
/// metadata block meanwhile, although others change them.
#[test]
fn a_request_is_used_for_the_bio_that_slept_for_it() {
    let round = |syncs: bool| {
        let bytes = Operand::Fixed(4096);
        let (handle, call_bytes, pattern, direct) = (FILE, 4096, Pattern::Sequential, false);
        let mut round = vec![
            Step::Create { handle, directories: 40 },
            Step::Write { handle, bytes, call_bytes, pattern, direct },
            Step::Close(FILE),
            Step::Sleep(Operand::Between(MS, 10 * MS)),
        ];
        if syncs {
            round.insert(2, Step::Fsync(FILE));
        }
        vec![Step::Repeat { times: Times::For(50 * SECOND), body: round }]
    };
    let clock = process("clock", vec![Step::Sleep(Operand::Fixed(200 * SECOND))]);
    let processes = vec![process("syncs", round(true)), process("rounds", round(false)), clock];
    let mut scenario = scenario(processes, 190 * SECOND);
    scenario.machine.device =
        DeviceOptions::Server(ServerOptions { write_latency_ns: 5 * MS, ..ServerOptions::default() });
    scenario.kernel.tunables.insert("nr_requests".into(), 4);
    let mut simulation = Simulation::new(&scenario).expect("valid");
    simulation.set_trace_limit(10_000_000);
    while let Advance::More(_) = simulation.advance(Budget::events(100_000)) {}
    let (mut last, mut sleeping, mut checked) = (BTreeMap::new(), BTreeMap::new(), 0);
    for event in simulation.take_trace() {
        match event.kind {
            TraceKind::Queue(bio) => _ = last.insert(event.by, bio),
            TraceKind::SleepForRequest => _ = sleeping.insert(event.by, last[&event.by]),
            TraceKind::GetRequest(bio) => {
                if let Some(wanted) = sleeping.remove(&event.by) {
                    assert_eq!(bio, wanted, "at {} ns", event.time_ns);
                    checked += 1;
                }
            }
            _ => {}
        }
    }
    assert!(checked > 10, "{checked}");
    assert!(simulation.world().counters().flushed_metadata_blocks > 100);
}

fn step(depth: u32) -> BoxedStrategy<Step> {
    let leaf = prop_oneof![
        Just(Step::Create { handle: FILE, directories: 3 }),
        Just(Step::Open { handle: FILE, file: 0 }),
        (0u64..200_000, 1u64..70_000, any::<bool>(), any::<bool>(), any::<bool>()).prop_map(
            |(bytes, call_bytes, random, direct, reads)| {
                let pattern = if random { Pattern::Random } else { Pattern::Sequential };
                let bytes = Operand::Between(0, bytes);
                if reads {
                    Step::Read { handle: FILE, bytes, call_bytes, pattern, direct }
                } else {
                    Step::Write { handle: FILE, bytes, call_bytes, pattern, direct }
                }
            }
        ),
        Just(Step::Fsync(FILE)),
        Just(Step::Fdatasync(FILE)),
        Just(Step::Close(FILE)),
        Just(Step::Unlink(FILE)),
        Just(Step::DropCache(FILE)),
        Just(Step::Rewind(FILE)),
        (0u64..3_000_000).prop_map(|ns| Step::Compute(Operand::Between(0, ns))),
        (0u64..3_000_000).prop_map(|ns| Step::Sleep(Operand::Fixed(ns))),
        Just(mark()),
    ];
    if depth == 0 {
        return leaf.boxed();
    }
    let body = prop::collection::vec(step(depth - 1), 0..5);
    prop_oneof![
        6 => leaf,
        1 => (body.clone(), 0u64..4)
            .prop_map(|(body, times)| Step::Repeat { times: Times::Count(times), body }),
        1 => (body.clone(), 0u64..5_000_000)
            .prop_map(|(body, ns)| Step::Repeat { times: Times::For(ns), body }),
        1 => prop::collection::vec((0u32..3, body), 0..3).prop_map(|branches| {
            Step::Choose(branches.into_iter().map(|(weight, steps)| Branch { weight, steps }).collect())
        }),
    ]
    .boxed()
}

prop_compose! {
    fn any_scenario()(
        bodies in prop::collection::vec((prop::collection::vec(step(2), 1..8), 1u32..3), 1..4),
        kernel in prop::sample::select(vec![
            ("2.6.30", "cfq"), ("2.6.31", "anticipatory"), ("2.6.32", "cfq"), ("for-2.6.33", "cfq"),
            ("2.6.33", "noop"), ("2.6.35", "cfq"), ("2.6.35", "deadline"), ("2.6.37", "cfq"), ("2.6.38", "deadline"),
        ]),
        device_name in prop::sample::select(vec!["device-a", "device-c", "array", "sata", "ssd"]),
        (cpus, is_ext3, barrier, access_time, few_requests) in
            (1u32..4, any::<bool>(), any::<bool>(), any::<bool>(), any::<bool>()),
        seed in 0u64..1000,
    ) -> Scenario {
        let processes = bodies.into_iter().enumerate().map(|(index, (body, count))| ProcessSpec {
            count,
            ..process(&format!("p{index}"), forever(body))
        }).collect();
        let mut scenario = scenario(processes, 300 * MS);
        scenario.kernel.release = kernel.0.into();
        scenario.kernel.elevator = kernel.1.into();
        if few_requests {
            scenario.kernel.tunables.insert("nr_requests".into(), 4);
        }
        scenario.machine.device = device(device_name);
        scenario.machine.cpus = cpus;
        scenario.machine.file_system.journal_mib = 4;
        scenario.machine.file_system.barrier = barrier;
        scenario.machine.file_system.access_time = access_time;
        if is_ext3 {
            scenario.machine.file_system.kind = crate::scenario::FileSystemKind::Ext3;
        }
        scenario.seed = seed;
        scenario.limits.events = 300_000;
        scenario
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    /// Rules 1, 6 and 7: whatever runs, causes add up to elapsed time for every task, the checks after
    /// every event hold, and neither cutting the run into budgets nor going on from a checkpoint
    /// changes anything.
    #[test]
    fn laws_hold_for_any_scenario(scenario in any_scenario(), cut in 1u64..5000, pause in 0u64..300) {
        let whole = run(&scenario);
        for task in whole.world().tasks() {
            prop_assert_eq!(task.causes.sum_ns(), whole.world().now_ns(), "causes of {}", &task.name);
        }
        let mut cut_up = Simulation::new(&scenario).expect("valid");
        cut_up.advance(Budget::until(pause * MS));
        let mut checkpoint = cut_up.clone();
        while let Advance::More(_) = cut_up.advance(Budget::events(cut)) {}
        prop_assert_eq!(digest(&whole), digest(&cut_up));
        while let Advance::More(_) = checkpoint.advance(Budget::events(100_000)) {}
        prop_assert_eq!(digest(&whole), digest(&checkpoint));
    }
}

/// Every named device works under every release's default elevator.
#[test]
fn every_release_runs_on_every_device() {
    for release in crate::kernel::releases() {
        for name in ["array", "sata", "ssd", "device-a"] {
            let mut scenario = scenario(vec![fs_mark(), reader()], 200 * MS);
            scenario.kernel.release = release.name.into();
            scenario.machine.device = device(name);
            assert!(AnyDevice::new(&scenario.machine.device, 1).is_ok_and(|device| device.depth() > 0));
            let run = run(&scenario);
            assert_eq!(run.end(), Some(&End::TimeUp));
            let (id, _) = task(&run, "reader");
            let read = run.world().process(id).map_or(0, |totals| totals.read_bytes);
            assert!(read > 1_000_000, "{} on {name}: {read}", release.name);
        }
    }
}
