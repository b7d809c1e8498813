//! Dirty limits, throttled writers, flushers and naps, in whole machines: docs/model/reclaim.md, sections 5 and 6.

use super::*;
use crate::block::IoClass;
use crate::device::{DeviceOptions, ServerOptions};
use crate::kernel::{FsPolicy, ThrottleSleep};
use crate::mm::{NapQueue, NapSite};
use crate::observe::{Cause, CauseKind, TaskTrace, TraceEvent, TraceKind, WaitKind};
use crate::scenario::{FileSystemKind, KernelChoice, Limits, Machine, MemoryOptions};
use crate::task::WaitOn;
use crate::workload::{FileSpec, HandleId, Operand, Pattern, ProcessSpec, Step, Times, Workload};
use crate::writeback::WaitSite;

pub(super) const MS: u64 = 1_000_000;
pub(super) const SECOND: u64 = 1000 * MS;
pub(super) const MIB: u64 = 1 << 20;
const FILE: HandleId = HandleId(0);
/// The device moves so much in a second.
const BYTES_PER_S: u64 = 50_000_000;

/// A machine with a device of a known rate and `mib` MiB of memory.
pub(super) fn scenario(release: &str, mib: u32, processes: Vec<ProcessSpec>, time_ns: u64) -> Scenario {
    let device = DeviceOptions::Server(ServerOptions {
        bandwidth_bytes_per_s: BYTES_PER_S,
        transfers_serialised: true,
        read_latency_ns: 2 * MS,
        depth: 1,
        servers: 1,
        ..ServerOptions::default()
    });
    let memory = MemoryOptions { size_mib: mib, ..MemoryOptions::default() };
    Scenario {
        machine: Machine { cpus: 2, device, memory, ..Machine::default() },
        kernel: KernelChoice {
            release: release.into(),
            patches: Vec::new(),
            elevator: "deadline".into(),
            tunables: litemap::LiteMap::new(),
        },
        workload: Workload {
            files: vec![FileSpec { name: "data".into(), size_bytes: 1 << 30, at_per_mille: 700 }],
            processes,
            barriers: Vec::new(),
        },
        seed: 1,
        limits: Limits { time_ns, events: 50_000_000 },
    }
}

pub(super) fn process(name: &str, steps: Vec<Step>) -> ProcessSpec {
    ProcessSpec {
        name: name.into(),
        count: 1,
        io_class: IoClass::BestEffort,
        io_priority: 4,
        shared_io_context: false,
        handles: vec!["file".into()],
        marks: Vec::new(),
        steps,
    }
}

/// Writes so much in calls of 1 MiB, then sleeps.
pub(super) fn dd(bytes: u64) -> ProcessSpec {
    let write = Step::Write {
        handle: FILE,
        bytes: Operand::Fixed(bytes),
        call_bytes: MIB,
        pattern: Pattern::Sequential,
        direct: false,
    };
    let sleep = Step::Sleep(Operand::Fixed(1000 * SECOND));
    process("dd", vec![Step::Create { handle: FILE, directories: 1 }, write, sleep])
}

/// Reads the file without the page cache, 4 KiB at a time, for ever.
fn reader() -> ProcessSpec {
    let read = Step::Read {
        handle: FILE,
        bytes: Operand::Fixed(4096),
        call_bytes: 4096,
        pattern: Pattern::Random,
        direct: true,
    };
    let forever = Step::Repeat { times: Times::Forever, body: vec![read] };
    process("reader", vec![Step::Open { handle: FILE, file: 0 }, forever])
}

/// Streams through a mapping of a sparse file that is larger than memory.
pub(super) fn stream(bytes: u64) -> ProcessSpec {
    let steps = vec![
        Step::Create { handle: FILE, directories: 1 },
        Step::Truncate { handle: FILE, bytes },
        Step::Touch { handle: FILE, bytes: None, pattern: Pattern::Sequential, writes_percent: None },
    ];
    process("stream", steps)
}

fn started(scenario: &Scenario) -> Simulation {
    assert_eq!(scenario.check().len(), 0);
    let mut simulation = Simulation::new(scenario).expect("a sound scenario");
    simulation.set_trace_limit(10_000_000);
    simulation
}

pub(super) fn run(scenario: &Scenario) -> Simulation {
    let mut simulation = started(scenario);
    while let Advance::More(_) = simulation.advance(Budget::events(u64::MAX)) {}
    simulation
}

pub(super) fn find(simulation: &Simulation, name: &str) -> TaskId {
    let at = simulation.world().tasks().iter().position(|task| task.name == name);
    TaskId(at.expect("there is such a task") as u32)
}

/// Beginning and end of every wait of this kind that is over, in nanoseconds.
fn waits(trace: &[TraceEvent], kind: WaitKind) -> Vec<(u64, u64)> {
    let mut waits = Vec::new();
    let mut since = std::collections::BTreeMap::new();
    for event in trace {
        match event.kind {
            TraceKind::Task(task, TaskTrace::Blocked(on)) if on == kind => {
                since.insert(task, event.time_ns);
            }
            TraceKind::Task(task, TaskTrace::Runnable) => {
                waits.extend(since.remove(&task).map(|began_ns| (began_ns, event.time_ns)));
            }
            _ => {}
        }
    }
    waits
}

pub(super) const RELEASES: [&str; 6] = ["2.6.30", "2.6.31", "2.6.32", "2.6.35", "2.6.36", "2.6.38"];

/// Section 6.4: a writer faster than the disk goes at the disk's rate, with dirty and writeback pages between the middle of
/// the thresholds and the upper one. Method: 128 MiB of memory, a disk of 50 MB/s, looked at ten times a second. Every 5 s the
/// writer waits for a commit, and in 2.6.30 for naps that nothing ends, while the disk goes on: so not every look finds as much.
#[test]
fn a_writer_is_held_to_the_rate_of_the_disk() {
    for release in RELEASES {
        let mut simulation = started(&scenario(release, 128, vec![dd(1 << 40)], 20 * SECOND));
        let written = |simulation: &Simulation| {
            let world = simulation.world();
            world.process(find(simulation, "dd")).map_or(0, |totals| totals.written_bytes)
        };
        simulation.advance(Budget::until(5 * SECOND));
        let before = written(&simulation);
        let (mut sum, mut below) = (0, 0);
        let limits = simulation.world().dirty_limits();
        for tenths in 51..=150 {
            simulation.advance(Budget::until(tenths * 100 * MS));
            let used = simulation.world().nr_dirty() + simulation.world().nr_writeback();
            // What was dirtied since the last look comes on top.
            assert!(used <= limits.dirty_pages + 8, "{release}, at {tenths}: {used} of {limits:?}");
            sum += used;
            below += u32::from(used < limits.free_run_pages());
        }
        assert!(sum / 100 > limits.free_run_pages(), "{release}: {} of {limits:?}", sum / 100);
        assert!(below < 25, "{release}: {below} of 100");
        let rate = (written(&simulation) - before) / 10;
        let expected = BYTES_PER_S * 80 / 100..=BYTES_PER_S * 102 / 100;
        assert!(expected.contains(&rate), "{release}: {rate} B/s");
        let dd = &simulation.settled().tasks()[find(&simulation, "dd").index()].causes.clone();
        let held_up = dd.get(Cause { kind: CauseKind::Throttled, via_journal: false });
        assert!(held_up > 3 * SECOND, "{release}: held up for {held_up} ns");
    }
}

/// Section 6.1: what is below the middle of the thresholds holds nobody up.
#[test]
fn a_small_writer_is_not_held_up() {
    for release in RELEASES {
        let simulation = run(&scenario(release, 512, vec![dd(40 * MIB)], 3 * SECOND));
        assert_eq!(simulation.world().writeback().waits.at(WaitSite::Throttle).taken, 0, "{release}");
        assert_eq!(simulation.world().nr_written(), 0, "{release}: nor written before it is old");
        assert!(simulation.world().nr_dirty() >= 40 * 256, "{release}");
    }
}

/// Section 6.4: up to 2.6.31 a writer's sleep ends when a request is done or after a tenth of a second; from 2.6.32 on it ends
/// at a tick: 1, 2, 4 ... ticks, a tenth of a second at most.
#[test]
fn writers_sleep_otherwise_from_2_6_32_on() {
    for release in RELEASES {
        let mut simulation = run(&scenario(release, 128, vec![dd(1 << 40)], 10 * SECOND));
        let trace = simulation.take_trace();
        let sleeps = waits(&trace, WaitKind::Throttle);
        assert!(sleeps.len() > 20, "{release}: {} sleeps", sleeps.len());
        let recorded = simulation.world().writeback().waits.at(WaitSite::Throttle);
        assert!(recorded.taken + 1 >= sleeps.len() as u64 && recorded.longest_ns < 101 * MS);
        let tick = simulation.world().clock().tick_ns();
        let at_tick = |ns: u64| ns.is_multiple_of(tick);
        let policy = FsPolicy::for_release(release, FileSystemKind::Ext4).expect("known").writeback;
        if policy.throttle_sleep == ThrottleSleep::Doubling {
            assert!(sleeps.iter().all(|&(_, end)| at_tick(end)), "{release}");
            let ticks = |&(began, end): &(u64, u64)| (end - began).div_ceil(tick);
            assert!(sleeps.iter().map(ticks).all(|ticks| ticks.is_power_of_two() || ticks == 100));
            assert!(sleeps.iter().any(|sleep| ticks(sleep) == 2), "{release}: some have doubled");
        } else if policy.throttle_sleep == ThrottleSleep::Congestion(NapQueue::Async) {
            let by_request = sleeps.iter().filter(|&&(_, end)| !at_tick(end)).count();
            assert!(by_request > sleeps.len() / 2, "{release}: {by_request} of {}", sleeps.len());
        } else {
            // 2.6.30 sleeps on the queue of reads, of which there are none.
            let by_time = sleeps.iter().filter(|&&(began, end)| at_tick(end) && end - began > 98 * MS);
            assert!(by_time.count() > sleeps.len() * 9 / 10, "{release}");
        }
    }
}

/// Sections 6.2 and 6.3: what has been dirty for 30 s is written at the next look, every 5 s, and nothing younger.
#[test]
fn old_data_is_written_by_every_kernel() {
    for release in RELEASES {
        let mut simulation = started(&scenario(release, 0, vec![dd(64 * MIB)], 60 * SECOND));
        simulation.advance(Budget::until(29 * SECOND));
        assert_eq!(simulation.world().nr_written(), 0, "{release}");
        simulation.advance(Budget::until(40 * SECOND));
        let world = simulation.world();
        assert!(world.nr_written() >= 64 * 256, "{release}: {}", world.nr_written());
        assert_eq!(world.files().dirty_pages(), 0, "{release}");
    }
}

/// Section 6.2: pdflush ends a pass at congestion and naps for it; the flusher of 2.6.32 waits for a request instead.
/// Method: a file of 512 requests on a queue of 128.
#[test]
fn pdflush_naps_at_congestion_and_the_flusher_does_not() {
    for (release, naps) in [("2.6.31", true), ("2.6.32", false)] {
        let simulation = run(&scenario(release, 0, vec![dd(256 * MIB)], 60 * SECOND));
        let kupdate = simulation.world().writeback().waits.at(WaitSite::Kupdate);
        assert_eq!(kupdate.taken != 0, naps, "{release}");
        assert_eq!(simulation.world().queue().counters().sleeps != 0, !naps, "{release}");
        assert_eq!(kupdate.unnecessary, 0, "the queue was congested");
        assert_eq!(simulation.world().files().dirty_pages(), 0);
    }
}

/// Sections 6.2 and 6.3: who wants memory has pages written, however young they are.
#[test]
fn reclaim_wakes_the_flushers() {
    for release in RELEASES {
        let mut simulation = started(&scenario(release, 0, vec![dd(64 * MIB)], 60 * SECOND));
        simulation.advance(Budget::until(2 * SECOND));
        assert_eq!(simulation.world().nr_written(), 0, "{release}");
        simulation.world.wake_flushers(1500);
        simulation.advance(Budget::until(5 * SECOND));
        let written = simulation.world().nr_written();
        assert!((1500..=1500 + 1024).contains(&written), "{release}: {written} pages, in whole passes");
    }
}

/// Sections 6.2 and 6.3: a file that another task writes back is passed over; if nothing else is left, the flusher waits for it,
/// and pdflush naps although nothing is congested.
#[test]
fn a_file_has_one_writer_at_a_time() {
    for release in RELEASES {
        let mut simulation = started(&scenario(release, 0, vec![dd(64 * MIB)], 60 * SECOND));
        simulation.advance(Budget::until(2 * SECOND));
        let file = simulation.world.files.oldest_dirty(u64::MAX).expect("it is dirty");
        simulation.world.files.get_mut(file).is_written_back = true;
        simulation.world.wake_flushers(2048);
        simulation.advance(Budget::until(3 * SECOND));
        assert_eq!(simulation.world().files().page_totals().written, 0, "{release}");
        let waits_on = |on: WaitOn| {
            simulation.world().tasks().iter().any(|task| task.wait.as_ref().is_some_and(|wait| wait.on == on))
        };
        let naps = *simulation.world().writeback().waits.at(WaitSite::Background);
        let is_new = simulation.world().policy.writeback.per_device_flusher;
        assert_eq!((waits_on(WaitOn::BusyFile(Some(file))), naps.taken > 3), (is_new, !is_new), "{release}");
        assert_eq!(naps.unnecessary, naps.taken);
        simulation.world.files.get_mut(file).is_written_back = false;
        simulation.world.wake_all(None, |on| on == WaitOn::BusyFile(Some(file)));
        simulation.advance(Budget::until(6 * SECOND));
        assert!(simulation.world().files().page_totals().written >= 2048, "{release}");
    }
}

/// A8 (R5.2, R5.4b, R5.5): beside a process that only reads, naps of 2.6.30 end when the next read is done, those of 2.6.31 after
/// their full time.
#[test]
fn a8_naps_beside_a_reader() {
    for (release, ends_by_reads) in [("2.6.30", true), ("2.6.31", false)] {
        let mut simulation = run(&scenario(release, 64, vec![stream(1 << 30), reader()], 4 * SECOND));
        let trace = simulation.take_trace();
        let naps = waits(&trace, WaitKind::Congestion);
        assert!(naps.len() > 3, "{release}: {} naps", naps.len());
        let reads: std::collections::BTreeSet<u64> = trace
            .iter()
            .filter(|event| matches!(event.kind, TraceKind::Complete(facts, _) if !facts.flags.is_write()))
            .map(|event| event.time_ns)
            .collect();
        for (began, end) in naps {
            let first = reads.range(began + 1..).next().copied();
            if ends_by_reads {
                let full = [20 * MS, 100 * MS].iter().any(|full| end - began > full - MS);
                assert!(
                    first == Some(end) || (full && first > Some(end)),
                    "{release}: {began} to {end}, {first:?}"
                );
            } else {
                let (short, long) = (19 * MS..=20 * MS, 99 * MS..=100 * MS);
                assert!(short.contains(&(end - began)) || long.contains(&(end - began)), "{release}");
            }
        }
    }
}

/// A9 (R5.7): without congestion 2.6.37 naps nowhere in direct reclaim, where 2.6.36 does.
#[test]
fn a9_nobody_naps_without_congestion() {
    for (release, naps) in [("2.6.36", true), ("2.6.37", false)] {
        let simulation = run(&scenario(release, 64, vec![stream(1 << 30)], 4 * SECOND));
        let memory = simulation.world().memory().expect("it is simulated");
        let totals = [NapSite::Reclaim, NapSite::Retry].map(|site| *memory.naps().at(site));
        let taken: u64 = totals.iter().map(|totals| totals.taken).sum();
        let left_out: u64 = totals.iter().map(|totals| totals.left_out).sum();
        assert_eq!((taken != 0, left_out != 0), (naps, !naps), "{release}: {totals:?}");
        assert!(totals.iter().all(|totals| totals.unnecessary == totals.taken), "{release}");
    }
}

/// Section 5.1 and patch 3 of section 2.6: who sleeps on both queues goes on from the asynchronous one to the other, and both
/// kinds of sleepers are told apart.
#[test]
fn sleepers_wake_by_kind() {
    let sleeps = |on: WaitOn, freed: &[[bool; 2]]| {
        let mut simulation = started(&scenario("2.6.31", 0, vec![dd(MIB)], 10 * SECOND));
        simulation.advance(Budget::until(SECOND));
        let task = find(&simulation, "dd");
        simulation.world.tasks[task.index()].wait.as_mut().expect("it sleeps").on = on;
        freed.iter().for_each(|&freed| simulation.world.wake_congested(freed));
        simulation.world.tasks[task.index()].wait.is_some()
    };
    let (an_async, a_sync) = ([true, false], [false, true]);
    for wait in [WaitOn::Congestion, |queue| WaitOn::Throttle(Some(queue))] {
        assert!(!sleeps(wait(NapQueue::Async), &[an_async]) && sleeps(wait(NapQueue::Async), &[a_sync]));
        assert!(!sleeps(wait(NapQueue::Sync), &[a_sync]) && sleeps(wait(NapQueue::Sync), &[an_async]));
    }
    let both = WaitOn::Congestion(NapQueue::AsyncThenSync);
    assert!(sleeps(both, &[an_async]) && sleeps(both, &[a_sync]) && sleeps(both, &[a_sync, an_async]));
    assert!(!sleeps(both, &[an_async, a_sync]));
    assert!(sleeps(WaitOn::Throttle(None), &[an_async, a_sync]), "time alone ends it");
}
