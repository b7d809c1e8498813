//! The two tables of section 0.4: what real kernels did on the devices A, B and C, cell by cell.
//!
//! Method: the same workload (create, 16 writes of 4 KiB, fsync, close; a reader of 4.19 GB in calls of
//! 128 KiB that drops its cache at the end) on the same devices, and the figures within 10 % of the
//! measured ones, for one set of host costs (the default of `HostCosts`). Cells that miss are listed in
//! `MISSES` with what is known about them, and the test fails too if one of them starts to hold.

use stallarium_sim::block::IoClass;
use stallarium_sim::device;
use stallarium_sim::scenario::{KernelChoice, Limits, Machine, Scenario};
use stallarium_sim::simulation::{Advance, Budget, Simulation};
use stallarium_sim::task::TaskId;
use stallarium_sim::workload::{
    FileSpec, HandleId, MarkId, Operand, Pattern, ProcessSpec, Step, Times, Workload,
};

const SECOND: u64 = 1_000_000_000;
const FILE: HandleId = HandleId(0);

fn process(name: &str, steps: Vec<Step>) -> ProcessSpec {
    ProcessSpec {
        name: name.into(),
        count: 1,
        io_class: IoClass::BestEffort,
        io_priority: 4,
        shared_io_context: false,
        handles: vec!["file".into()],
        marks: vec!["files".into()],
        steps,
    }
}

fn fs_mark() -> ProcessSpec {
    let body = vec![
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
        Step::Mark { mark: MarkId(0), amount: 1 },
    ];
    process("fs_mark", vec![Step::Repeat { times: Times::Forever, body }])
}

fn reader() -> ProcessSpec {
    let body = vec![
        Step::ReadToEnd { handle: FILE, call_bytes: 131_072 },
        Step::DropCache(FILE),
        Step::Rewind(FILE),
    ];
    let steps = vec![Step::Open { handle: FILE, file: 0 }, Step::Repeat { times: Times::Forever, body }];
    process("reader", steps)
}

/// Reads here and there for five seconds, and ends.
fn guest(name: &str) -> ProcessSpec {
    let body = vec![Step::Read {
        handle: FILE,
        bytes: Operand::Fixed(4096),
        call_bytes: 4096,
        pattern: Pattern::Random,
        direct: true,
    }];
    let steps =
        vec![Step::Open { handle: FILE, file: 1 }, Step::Repeat { times: Times::For(5 * SECOND), body }];
    process(name, steps)
}

/// What runs.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Case {
    Alone,
    Reader,
    Mixed,
}

/// A run and its two figures.
struct Run {
    simulation: Simulation,
}

impl Run {
    fn new(device_name: &str, kernel: &str, case: Case, change: impl FnOnce(&mut Machine)) -> Self {
        Self::with(device_name, kernel, case, Vec::new(), change)
    }

    /// Besides the case's own processes, some more.
    fn with(
        device_name: &str,
        kernel: &str,
        case: Case,
        others: Vec<ProcessSpec>,
        change: impl FnOnce(&mut Machine),
    ) -> Self {
        let mut machine = Machine {
            device: device::preset(device_name).expect("a known device").options(),
            ..Machine::default()
        };
        change(&mut machine);
        let mut processes = Vec::new();
        if case != Case::Reader {
            processes.push(fs_mark());
        }
        if case != Case::Alone {
            processes.push(reader());
        }
        processes.extend(others);
        let scenario = Scenario {
            machine,
            kernel: KernelChoice::parse(kernel).expect("a kernel's name"),
            workload: Workload {
                files: vec![
                    FileSpec { name: "data".into(), size_bytes: 4_190_000_000, at_per_mille: 100 },
                    FileSpec { name: "other".into(), size_bytes: 1_000_000_000, at_per_mille: 500 },
                ],
                processes,
                barriers: Vec::new(),
            },
            seed: 1,
            limits: Limits { time_ns: 200 * SECOND, events: 100_000_000 },
        };
        Self { simulation: Simulation::new(&scenario).expect("a valid scenario") }
    }

    /// Files made and bytes read up to `seconds`.
    fn until(&mut self, seconds: u64) -> (u64, u64) {
        let advance = self.simulation.advance(Budget::until(seconds * SECOND));
        assert!(matches!(advance, Advance::More(_)), "the run ended early: {advance:?}");
        let world = self.simulation.world();
        let totals = (0..world.tasks().len() as u32).filter_map(|id| world.process(TaskId(id)));
        totals.fold((0, 0), |(files, bytes), totals| {
            (files + totals.marks.first().map_or(0, |mark| mark.count), bytes + totals.read_bytes)
        })
    }

    /// Files a second and the reader's MB/s between two times.
    fn rates(&mut self, from: u64, to: u64) -> (f64, f64) {
        let (before, after) = (self.until(from), self.until(to));
        let seconds = (to - from) as f64;
        ((after.0 - before.0) as f64 / seconds, (after.1 - before.1) as f64 / seconds / 1e6)
    }
}

fn rates(device: &str, kernel: &str, case: Case, from: u64, to: u64) -> (f64, f64) {
    Run::new(device, kernel, case, |_| {}).rates(from, to)
}

/// Collects cells and fails at the end, all at once.
#[derive(Default)]
struct Table {
    failures: Vec<String>,
}

impl Table {
    /// `real` is the measured figure, or its range.
    fn cell(&mut self, name: &str, simulated: f64, real: impl Into<Real>) {
        let Real { low, high } = real.into();
        let holds = simulated >= low * 0.9 && simulated <= high * 1.1;
        println!("{name:60} simulated {simulated:8.2}, real {low} to {high}");
        let is_known = MISSES.iter().any(|(cell, _)| *cell == name);
        match (holds, is_known) {
            (false, false) => self.failures.push(format!("{name}: {simulated:.2}, real {low} to {high}")),
            (true, true) => self.failures.push(format!("{name} holds now: take it off the list")),
            _ => {}
        }
    }

    fn finish(self) {
        assert!(self.failures.is_empty(), "{}", self.failures.join("\n"));
    }
}

struct Real {
    low: f64,
    high: f64,
}

impl From<f64> for Real {
    fn from(figure: f64) -> Self {
        Self { low: figure, high: figure }
    }
}

impl From<(f64, f64)> for Real {
    fn from((low, high): (f64, f64)) -> Self {
        Self { low, high }
    }
}

/// Cells that miss, and what is known about them.
const MISSES: &[(&str, &str)] = &[
    (
        "device-c mixed slice_idle=0 files",
        "13 % too many: 3.2 ms a file instead of 3.6. The order of a file's requests is decided by preemption in \
         the no-idle tree within some 100 us of each other; there is no trace of this run to compare with.",
    ),
    (
        "device-c 120 s cfq@2.6.35 files",
        "12 % too many. It depends on when the busy average goes to 3 (section 0.4, point 2): here with the first \
         metadata flush, after 33 s; the real run's 595 files need a later one, after about 60 s.",
    ),
];

const VANILLA: &str = "cfq@2.6.35";
const REVERTED: &str = "cfq@2.6.35+revert-8e55063";
const NO_IDLE: &str = "cfq@2.6.35:slice_idle=0";
const DEADLINE: &str = "deadline@2.6.35";

/// Section 0.4, first table: fs_mark alone, files a second.
#[test]
fn fs_mark_alone() {
    let mut table = Table::default();
    let alone = |device: &str, kernel: &str| rates(device, kernel, Case::Alone, 1, 5).0;
    table.cell("alone A deadline", alone("device-a", DEADLINE), (559.0, 577.0));
    table.cell("alone A slice_idle=0", alone("device-a", NO_IDLE), 572.0);
    table.cell("alone B deadline", alone("device-b", DEADLINE), 571.0);
    table.cell("alone B slice_idle=0", alone("device-b", NO_IDLE), 571.0);
    table.cell("alone A vanilla", alone("device-a", VANILLA), 111.1);
    table.cell("alone B vanilla", alone("device-b", VANILLA), 111.1);
    table.cell("alone A reverted", alone("device-a", REVERTED), 558.0);
    table.cell("alone A c04645e reverted", alone("device-a", "cfq@2.6.35+revert-c04645e"), 127.6);
    table.cell("alone A 2.6.32", alone("device-a", "cfq@2.6.32"), 560.0);
    table.cell("alone A 2.6.32 low_latency=0", alone("device-a", "cfq@2.6.32:low_latency=0"), 564.0);
    table.cell("alone A 2.6.32 deadline", alone("device-a", "deadline@2.6.32"), 565.0);
    table.cell("alone A 2.6.37 deadline", alone("device-a", "deadline@2.6.37"), 235.0);
    table.cell("alone A 2.6.37", alone("device-a", "cfq@2.6.37"), 215.0);
    table.cell("alone B 2.6.37 deadline", alone("device-b", "deadline@2.6.37"), 583.0);
    table.cell("alone B 2.6.37", alone("device-b", "cfq@2.6.37"), 580.0);
    table.finish();
}

/// Section 0.4, first table: the tick of 4 ms, and the file system without barriers.
#[test]
fn fs_mark_alone_on_other_machines() {
    let mut table = Table::default();
    let at_250 =
        |kernel: &str| Run::new("device-a", kernel, Case::Alone, |machine| machine.hz = 250).rates(1, 5).0;
    table.cell("alone A HZ=250 vanilla", at_250(VANILLA), 125.05);
    table.cell("alone A HZ=250 reverted", at_250(REVERTED), 572.0);
    let no_barrier = |kernel: &str| {
        Run::new("device-a", kernel, Case::Alone, |machine| machine.file_system.barrier = false).rates(1, 5).0
    };
    table.cell("alone A no barriers deadline", no_barrier(DEADLINE), 578.0);
    table.cell("alone A no barriers vanilla", no_barrier(VANILLA), 81.3);
    table.cell("alone A no barriers reverted", no_barrier(REVERTED), 575.0);
    table.finish();
}

/// Section 0.4: with a slower write the period of vanilla goes from 9 to 10 ticks, the edge near 500 us.
#[test]
fn the_period_is_a_whole_number_of_ticks() {
    let mut table = Table::default();
    for (write_us, real) in
        [(420, 111.1), (450, 111.1), (470, 111.1), (490, 111.0), (510, 103.5), (540, 100.0)]
    {
        let mut run = Run::new("device-a", VANILLA, Case::Alone, |machine| {
            if let device::DeviceOptions::Server(options) = &mut machine.device {
                options.write_latency_ns = write_us * 1000;
                // As measured: with 0 to 30 us of jitter.
                options.jitter_ns = 30_000;
            }
        });
        let files = run.rates(1, 5).0;
        println!("write {write_us} us: {files}");
        assert!((99.0..112.0).contains(&files));
        table.cell(&format!("alone A vanilla, write {write_us} us"), files, real);
    }
    table.finish();
}

/// Section 0.4, second table, rows of 20 s: fs_mark beside the reader, and the reader alone.
#[test]
fn fs_mark_beside_the_reader() {
    let mut table = Table::default();
    let reals = [
        ("device-a", 173.0, (165.0, 129.0)),
        ("device-b", 317.0, (316.0, 241.0)),
        ("device-c", 281.0, (456.0, 234.0)),
    ];
    for (device, alone, mixed) in reals {
        let reader = rates(device, DEADLINE, Case::Reader, 1, 10).1;
        table.cell(&format!("{device} reader alone"), reader, alone);
        let (files, megabytes) = rates(device, DEADLINE, Case::Mixed, 1, 12);
        table.cell(&format!("{device} mixed deadline files"), files, mixed.0);
        table.cell(&format!("{device} mixed deadline reader"), megabytes, mixed.1);
    }
    for (device, reader) in [("device-a", 171.0), ("device-b", 171.0), ("device-c", 152.0)] {
        for kernel in [VANILLA, REVERTED] {
            let (files, megabytes) = rates(device, kernel, Case::Mixed, 1, 20);
            table.cell(&format!("{device} mixed {kernel} first files"), files, 2.46);
            table.cell(&format!("{device} mixed {kernel} first reader"), megabytes, reader);
        }
    }
    let (files, megabytes) = rates("device-a", NO_IDLE, Case::Mixed, 1, 20);
    table.cell("device-a mixed slice_idle=0 files", files, 4.88);
    table.cell("device-a mixed slice_idle=0 reader", megabytes, 170.0);
    table.cell("device-c mixed slice_idle=0 files", rates("device-c", NO_IDLE, Case::Mixed, 1, 20).0, 276.0);
    let low_latency = rates("device-a", "cfq@2.6.35:low_latency=0", Case::Mixed, 1, 23).0;
    table.cell("device-a mixed low_latency=0", low_latency, 1.64);
    let slice_sync = rates("device-a", "cfq@2.6.35:slice_sync=40", Case::Mixed, 1, 23).0;
    table.cell("device-a mixed slice_sync=40", slice_sync, 3.04);
    table.finish();
}

/// Section 0.4, points 1 and 2: the first metadata flush, 30 s after the first dirtying, makes a third
/// queue busy; from then on a file takes one reader slice a wait instead of two.
#[test]
fn the_busy_average_is_a_hidden_state() {
    let mut table = Table::default();
    let mut run = Run::new("device-a", VANILLA, Case::Mixed, |_| {});
    // Between the reader's wraps, which come every 24.5 s.
    table.cell("device-a average 2 files", run.rates(5, 23).0, 2.46);
    table.cell("device-a average 3 files", run.rates(52, 72).0, 4.88);
    // Two more queues, for a few seconds: the average stays at 4 when they have gone.
    let guests = vec![guest("guest 1"), guest("guest 2")];
    let mut run = Run::with("device-a", VANILLA, Case::Mixed, guests, |_| {});
    table.cell("device-a average 4 files", run.rates(10, 23).0, 6.54);
    table.finish();
}

/// Section 0.4, point 3: over 120 s most files are made while the reader drops its cache. The reverted
/// run began at busy average 3: its window begins when that is about to be reached.
#[test]
fn two_minutes_with_the_readers_pauses() {
    let mut table = Table::default();
    for (device, vanilla, reverted) in
        [("device-a", (5.65, 168.0), (12.5, 168.0)), ("device-c", (4.96, 150.0), (13.15, 150.0))]
    {
        for (kernel, from, real) in [(VANILLA, 0, vanilla), (REVERTED, 28, reverted)] {
            let (files, megabytes) = rates(device, kernel, Case::Mixed, from, from + 120);
            table.cell(&format!("{device} 120 s {kernel} files"), files, real.0);
            table.cell(&format!("{device} 120 s {kernel} reader"), megabytes, real.1);
        }
    }
    table.finish();
}

/// Section 0.4, rows of other releases.
#[test]
fn other_releases_beside_the_reader() {
    let mut table = Table::default();
    for kernel in ["cfq@2.6.32", "cfq@2.6.32:low_latency=0"] {
        let (files, megabytes) = rates("device-a", kernel, Case::Mixed, 1, 20);
        table.cell(&format!("device-a mixed {kernel} files"), files, 4.95);
        table.cell(&format!("device-a mixed {kernel} reader"), megabytes, 171.0);
    }
    let (files, megabytes) = rates("device-a", "deadline@2.6.32", Case::Mixed, 1, 12);
    table.cell("device-a mixed deadline@2.6.32 files", files, 201.0);
    table.cell("device-a mixed deadline@2.6.32 reader", megabytes, 159.0);
    // Point 5: first until the journal is full after about 3000 files, then with checkpoints.
    for device in ["device-a", "device-b"] {
        let mut run = Run::new(device, "cfq@2.6.37", Case::Mixed, |_| {});
        let (first, first_reader) = run.rates(1, 7);
        let (full, full_reader) = run.rates(12, 24);
        table.cell(&format!("{device} mixed 2.6.37 first files"), first, (335.0, 340.0));
        table.cell(&format!("{device} mixed 2.6.37 first reader"), first_reader, 25.0);
        table.cell(&format!("{device} mixed 2.6.37 full files"), full, 35.0);
        table.cell(&format!("{device} mixed 2.6.37 full reader"), full_reader, (154.0, 155.0));
    }
    table.finish();
}
