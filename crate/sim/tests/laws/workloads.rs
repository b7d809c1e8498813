//! Random workloads that pass the checks of a scenario, put together from pieces that each leave their file
//! closed.

use crate::machines::{kernels, machines};
use proptest::prelude::*;
use stallarium_sim::block::IoClass;
use stallarium_sim::scenario::{Limits, Scenario};
use stallarium_sim::workload::{
    Branch, FileSpec, HandleId, MarkId, Operand, Pattern, ProcessSpec, Step, Times, Workload,
};
use std::fmt;

const MS: u64 = 1_000_000;
/// How long a machine is left alone so that it comes to rest: the flusher looks every 5 s for what has been
/// dirty for 30, and metadata may become so only when data is written and its transaction committed.
/// A slow device needs minutes for all that memory holds.
const REST_NS: u64 = 900_000 * MS;
const BARRIERS: u32 = 2;
const OLD_FILES: u32 = 2;

/// A scenario that prints on one line.
#[derive(Clone)]
pub(crate) struct Printed(pub(crate) Scenario);

impl fmt::Debug for Printed {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let text = format!("{:?} {:?}", self.0.machine, self.0.workload);
        write!(formatter, "{}: {text}", self.0.kernel)?;
        write!(formatter, ", seed {}, {} ns", self.0.seed, self.0.limits.time_ns)
    }
}

/// A process counts here that it comes round.
pub(crate) const ROUND: MarkId = MarkId(0);
/// It is going to call fsync on a file of its own.
pub(crate) const SYNCING: MarkId = MarkId(1);
/// It has come back from there.
pub(crate) const SYNCED: MarkId = MarkId(2);

/// One access to an open file.
#[derive(Clone, Copy, Debug)]
enum Access {
    Transfer { writes: bool, bytes: u64, call_bytes: u64, pattern: Pattern, direct: bool },
    Sync { data_only: bool },
    DropCache,
    Rewind,
    Touch { bytes: u64, pattern: Pattern },
}

/// A piece of a program.
#[derive(Clone, Debug)]
enum Piece {
    /// Makes a file, works on it, closes and perhaps removes it.
    New {
        accesses: Vec<Access>,
        directories: u32,
        unlinks: bool,
    },
    /// Works on a file that exists before the run.
    Old {
        file: u32,
        accesses: Vec<Access>,
        unlinks: bool,
    },
    /// Uses anonymous memory: how much, and how many of a hundred uses write.
    Region {
        bytes: u64,
        touches: Vec<(Option<u64>, Pattern, u32)>,
    },
    Sleep(u64),
    Compute(u64),
    Meet(u32),
    Choose(Vec<(u32, Vec<Piece>)>),
    Repeat(Times, Vec<Piece>),
}

fn transfer() -> impl Strategy<Value = Access> {
    (
        any::<bool>(),
        prop_oneof![4 => 1u64..70_000, 1 => 1u64..1_500_000],
        prop::sample::select(vec![512u64, 4096, 65_536, 131_072, 1 << 20]),
        prop::bool::weighted(0.3),
        prop::bool::weighted(0.3),
    )
        .prop_map(|(writes, bytes, call_bytes, random, direct)| {
            // At most 128 calls; whole calls where the language wants them.
            let call_bytes = call_bytes.max(bytes / 128).next_multiple_of(512);
            let bytes = if random || direct { bytes.next_multiple_of(call_bytes) } else { bytes };
            let pattern = if random { Pattern::Random } else { Pattern::Sequential };
            Access::Transfer { writes, bytes, call_bytes, pattern, direct }
        })
}

fn patterns() -> impl Strategy<Value = Pattern> {
    prop::sample::select(vec![Pattern::Sequential, Pattern::Random])
}

fn regions() -> impl Strategy<Value = Piece> {
    let touch = (prop::option::of(1u64..4_000_000), patterns(), 0u32..101);
    (1u64..12_000_000, prop::collection::vec(touch, 1..4))
        .prop_map(|(bytes, touches)| Piece::Region { bytes, touches })
}

fn accesses(syncs: bool) -> impl Strategy<Value = Vec<Access>> {
    let sync = any::<bool>().prop_map(|data_only| Access::Sync { data_only });
    let access = prop_oneof![
        4 => transfer().boxed(),
        1 => Just(Access::DropCache).boxed(),
        1 => Just(Access::Rewind).boxed(),
        1 => (1u64..4_000_000, patterns())
            .prop_map(|(bytes, pattern)| Access::Touch { bytes, pattern })
            .boxed(),
        2 => if syncs { sync.boxed() } else { transfer().boxed() },
    ];
    (transfer(), prop::collection::vec(access, 0..4)).prop_map(|(first, mut rest)| {
        rest.insert(0, first);
        rest
    })
}

fn pieces(depth: u32, syncs: bool, meets: bool) -> BoxedStrategy<Piece> {
    let leaf = prop_oneof![
        6 => (accesses(syncs), 1u32..101, any::<bool>())
            .prop_map(|(accesses, directories, unlinks)| Piece::New { accesses, directories, unlinks }),
        5 => (0..OLD_FILES, accesses(syncs), prop::bool::weighted(0.05))
            .prop_map(|(file, accesses, unlinks)| Piece::Old { file, accesses, unlinks }),
        2 => regions(),
        2 => (1..30 * MS).prop_map(Piece::Sleep),
        2 => (1..10 * MS).prop_map(Piece::Compute),
        1 => (0..BARRIERS).prop_map(move |barrier| if meets { Piece::Meet(barrier) } else { Piece::Sleep(MS) }),
    ];
    if depth == 0 {
        return leaf.boxed();
    }
    let inner = pieces(depth - 1, syncs, meets);
    let body = prop::collection::vec(inner, 1..4);
    prop_oneof![
        6 => leaf,
        1 => (body.clone(), prop_oneof![(1u64..5).prop_map(Times::Count), (1..50 * MS).prop_map(Times::For)])
            .prop_map(|(body, times)| Piece::Repeat(times, body)),
        1 => prop::collection::vec((1u32..5, body), 1..4).prop_map(Piece::Choose),
    ]
    .boxed()
}

/// Turns pieces into steps; every piece that makes a file gets a handle of its own.
struct Writer {
    handles: Vec<String>,
    /// Reads at random places of a file smaller than a call go on byte by byte, for minutes.
    reads_at_random: bool,
}

impl Writer {
    fn handle(&mut self) -> HandleId {
        let id = HandleId(self.handles.len() as u16);
        self.handles.push(format!("file {}", id.0));
        id
    }

    fn steps(&mut self, pieces: &[Piece]) -> Vec<Step> {
        pieces.iter().flat_map(|piece| self.piece(piece)).collect()
    }

    fn piece(&mut self, piece: &Piece) -> Vec<Step> {
        match piece {
            Piece::New { accesses, directories, unlinks } => {
                let handle = self.handle();
                let first = Step::Create { handle, directories: *directories };
                self.work(handle, first, accesses, *unlinks, true)
            }
            Piece::Old { file, accesses, unlinks } => {
                let handle = self.handle();
                self.work(handle, Step::Open { handle, file: *file }, accesses, *unlinks, false)
            }
            Piece::Region { bytes, touches } => {
                let handle = self.handle();
                let mut steps = vec![Step::MapAnonymous { handle, bytes: *bytes }];
                steps.extend(touches.iter().map(|&(bytes, pattern, percent)| Step::Touch {
                    handle,
                    bytes: bytes.map(Operand::Fixed),
                    pattern,
                    writes_percent: Some(percent),
                }));
                steps.push(Step::Close(handle));
                steps
            }
            Piece::Sleep(ns) => vec![Step::Sleep(Operand::Between(ns / 2 + 1, *ns + 1))],
            Piece::Compute(ns) => vec![Step::Compute(Operand::Between(1, *ns))],
            Piece::Meet(barrier) => vec![Step::Meet(*barrier)],
            Piece::Choose(branches) => vec![Step::Choose(
                branches
                    .iter()
                    .map(|(weight, body)| Branch { weight: *weight, steps: self.steps(body) })
                    .collect(),
            )],
            Piece::Repeat(times, body) => vec![Step::Repeat { times: *times, body: self.steps(body) }],
        }
    }

    fn work(
        &self,
        handle: HandleId,
        first: Step,
        accesses: &[Access],
        unlinks: bool,
        is_own: bool,
    ) -> Vec<Step> {
        let mark = |mark| Step::Mark { mark, amount: 1 };
        let mut steps = vec![first];
        for access in accesses {
            match *access {
                Access::Transfer { writes, bytes, call_bytes, pattern, direct } => {
                    let bytes = Operand::Fixed(bytes);
                    steps.push(if writes {
                        Step::Write { handle, bytes, call_bytes, pattern, direct }
                    } else {
                        let pattern = if self.reads_at_random { pattern } else { Pattern::Sequential };
                        Step::Read { handle, bytes, call_bytes, pattern, direct }
                    });
                }
                Access::Sync { data_only } => {
                    let sync = if data_only { Step::Fdatasync(handle) } else { Step::Fsync(handle) };
                    if is_own {
                        steps.extend([mark(SYNCING), sync, mark(SYNCED)]);
                    } else {
                        steps.push(sync);
                    }
                }
                Access::DropCache => steps.push(Step::DropCache(handle)),
                Access::Touch { bytes, pattern } => steps.push(Step::Touch {
                    handle,
                    bytes: Some(Operand::Fixed(bytes)),
                    pattern,
                    writes_percent: None,
                }),
                Access::Rewind => steps.push(Step::Rewind(handle)),
            }
        }
        steps.push(Step::Close(handle));
        if unlinks {
            steps.push(Step::Unlink(handle));
        }
        steps
    }
}

fn process(name: String, pieces: &[Piece], times: Times, reads_at_random: bool) -> ProcessSpec {
    let mut writer = Writer { handles: Vec::new(), reads_at_random };
    let mut body = writer.steps(pieces);
    body.push(Step::Mark { mark: ROUND, amount: 3 });
    ProcessSpec {
        name,
        count: 1,
        io_class: IoClass::BestEffort,
        io_priority: 4,
        shared_io_context: false,
        handles: writer.handles,
        marks: vec!["rounds".into(), "syncing".into(), "synced".into()],
        steps: vec![Step::Repeat { times, body }],
    }
}

/// Runs for its time and stops with the clock.
fn clock(time_ns: u64) -> ProcessSpec {
    let mut clock = process("clock".into(), &[], Times::Count(1), true);
    clock.steps = vec![Step::Sleep(Operand::Fixed(time_ns))];
    clock
}

fn files(sizes: [u64; 2]) -> Vec<FileSpec> {
    let file =
        |name: &str, size_bytes, at_per_mille| FileSpec { name: name.into(), size_bytes, at_per_mille };
    vec![file("low", sizes[0], 300), file("high", sizes[1], 700)]
}

/// What the processes of a scenario are made of.
#[derive(Clone, Copy)]
struct Recipe {
    /// Others than the first may call fsync.
    syncs: bool,
    /// Runs end with a rest, in which everything has to come to an end.
    rests: bool,
    /// The first process does nothing but make files and sync them.
    one_that_syncs: bool,
    journals: &'static [u32],
    capacities: &'static [u64],
}

fn processes(recipe: Recipe) -> impl Strategy<Value = Vec<ProcessSpec>> {
    let class = prop::sample::select(vec![
        IoClass::BestEffort,
        IoClass::BestEffort,
        IoClass::BestEffort,
        IoClass::RealTime,
        IoClass::Idle,
    ]);
    let settings = (class, 0u8..8, 1u32..3, any::<bool>());
    let pieces = prop::collection::vec(pieces(1, recipe.syncs, !recipe.one_that_syncs), 1..5);
    let others = prop::collection::vec((pieces, settings, any::<bool>()), 1..4);
    let active_ns = if recipe.rests { 10 * MS..200 * MS } else { 50 * MS..1500 * MS };
    (others, active_ns, prop::bool::weighted(0.2)).prop_map(move |(others, active_ns, ends_early)| {
        let others = others.into_iter().enumerate().map(|(index, (pieces, settings, forever))| {
            let times = match (recipe.rests || ends_early, forever) {
                (true, _) => Times::For(active_ns),
                (false, true) => Times::Forever,
                (false, false) => Times::Count(20),
            };
            let (io_class, io_priority, count, shared_io_context) = settings;
            let process = process(format!("p{index}"), &pieces, times, !recipe.rests);
            ProcessSpec { io_class, io_priority, count, shared_io_context, ..process }
        });
        others.collect()
    })
}

fn scenarios_of(recipe: Recipe) -> impl Strategy<Value = Printed> {
    (
        machines(recipe.journals, recipe.capacities),
        kernels(recipe.rests),
        processes(recipe),
        prop::collection::vec((transfer(), any::<bool>(), 1u32..200), 1..4),
        prop::array::uniform2(prop::sample::select(vec![1u64, 70_000, 1 << 20, 16 << 20])),
        any::<u64>(),
        50u64..1000,
    )
        .prop_map(move |(mut machine, kernel, mut processes, synced, sizes, seed, time_ms)| {
            let mut time_ns = time_ms * MS;
            if recipe.one_that_syncs {
                let files: Vec<_> = synced
                    .into_iter()
                    .map(|(access, data_only, directories)| Piece::New {
                        accesses: vec![written(access), Access::Sync { data_only }],
                        directories,
                        unlinks: false,
                    })
                    .collect();
                processes.insert(0, process("syncs".into(), &files, Times::Forever, true));
            }
            let mut events = 60_000;
            if recipe.rests {
                events = 400_000;
                time_ns += REST_NS;
                processes.push(clock(time_ns + 1));
            }
            let workload = Workload { processes: processes.clone(), ..Workload::default() };
            if workload.needs_memory() && !machine.memory.is_simulated() {
                machine.memory.size_mib = 32;
            }
            let barriers = (0..BARRIERS).map(|barrier| format!("meeting {barrier}")).collect();
            Printed(Scenario {
                machine,
                kernel,
                workload: Workload { files: files(sizes), processes, barriers },
                seed,
                limits: Limits { time_ns, events },
            })
        })
        .prop_filter("a loop that takes no time, or a file removed before it is used", |scenario| {
            scenario.0.check().is_empty()
        })
}

fn written(access: Access) -> Access {
    match access {
        Access::Transfer { bytes, call_bytes, direct, .. } => {
            Access::Transfer { writes: true, bytes, call_bytes, pattern: Pattern::Sequential, direct }
        }
        other => other,
    }
}

const SMALL_JOURNALS: &[u32] = &[4, 4, 8, 64];
/// From the smallest device there is; on small ones, areas lie on each other.
const CAPACITIES: &[u64] = &[2048, 1 << 18, 1 << 27, 1 << 27];
/// New files need no place that others have had.
const ROOMY: &[u64] = &[1 << 27];

const ANY: Recipe = Recipe {
    syncs: true,
    rests: false,
    one_that_syncs: false,
    journals: SMALL_JOURNALS,
    capacities: CAPACITIES,
};

/// Anything that may be run.
pub(crate) fn scenarios() -> impl Strategy<Value = Printed> {
    scenarios_of(ANY)
}

/// The same on a large device.
pub(crate) fn roomy_scenarios() -> impl Strategy<Value = Printed> {
    scenarios_of(Recipe { capacities: ROOMY, ..ANY })
}

/// Processes that stop after a while, followed by a quarter of an hour of rest.
pub(crate) fn quiet_scenarios() -> impl Strategy<Value = Printed> {
    scenarios_of(Recipe { rests: true, ..ANY })
}

/// One process that makes files safe, beside others that never ask for a commit; the journal does not fill.
pub(crate) fn one_that_syncs() -> impl Strategy<Value = Printed> {
    let journals = &[64, 128];
    scenarios_of(Recipe { syncs: false, one_that_syncs: true, journals, capacities: ROOMY, ..ANY })
}
