//! Builds a machine from a scenario.

use super::io::IoTable;
use super::memory::MachineMemory;
use super::operation::{Flusher, Frame, Interpreter, JournalThread, Kblockd, KswapdThread, PdflushThread};
use super::process::{Handle, MarkTotals, Process, ProcessTotals};
use super::world::{CpuState, KernelThreads, MachineCounters, MeetingPoint, World};
use crate::block::{BlockOut, BlockQueue, IoClass, PAGE_SECTORS, Submitter};
use crate::device::{AnyDevice, Device, InvalidOptions};
use crate::engine::{Clock, EventQueue, RandomStream};
use crate::fs::{FileId, Files, Journal, Layout, Metadata, PAGE_BYTES};
use crate::kernel::{FsPolicy, Kernel, KernelError};
use crate::mm::Memory;
use crate::observe::{BUCKETS, Meter, MeterTask, Recorder};
use crate::scenario::{FileSystemKind, Scenario};
use crate::task::{FIRST_PID, Scheduler, Task, TaskId, TaskKind};
use crate::workload::{ProcessSpec, Program, Workload};
use crate::writeback::{DIRTYABLE_PAGES, DirtyLimits, PDFLUSH_MAX, Writeback, dirtyable_pages};
use std::collections::VecDeque;
use std::fmt;
use std::ops::Range;

/// Kernel threads run at the default I/O priority unless they ask for another.
const DEFAULT_PRIORITY: u8 = 4;
/// Blocks of the journal in a MiB.
const BLOCKS_PER_MIB: u64 = 256;

/// Why a simulation could not be built.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum NotStarted {
    /// The kernel does not exist or its tunables make no sense.
    Kernel(KernelError),
    /// The device's options make no sense.
    Device(InvalidOptions),
    /// The machine's memory makes no sense.
    Memory(Vec<String>),
}

impl fmt::Display for NotStarted {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Kernel(error) => error.fmt(f),
            Self::Device(error) => error.fmt(f),
            Self::Memory(problems) => f.write_str(&problems.join("; ")),
        }
    }
}

impl std::error::Error for NotStarted {}

/// The machine at time 0: kernel threads first, then the processes, all of them runnable.
pub(super) fn world(scenario: &Scenario) -> Result<World, NotStarted> {
    let machine = &scenario.machine;
    let clock = Clock::new(machine.hz, machine.exact_timers);
    let kernel =
        Kernel::new(&scenario.kernel, machine.file_system.kind, &clock).map_err(NotStarted::Kernel)?;
    let device = AnyDevice::new(&machine.device, scenario.seed).map_err(NotStarted::Device)?;
    let capacity_sectors = device.capacity_sectors();
    let journal_blocks = u64::from(machine.file_system.journal_mib) * BLOCKS_PER_MIB;
    let swap = machine.memory.swap_area(capacity_sectors);
    let areas = (capacity_sectors, journal_blocks, swap.clone());
    let (mut files, layout, workload_files) = files(&scenario.workload, areas);
    let metadata = Metadata::new(&layout, files.len() as u64);
    let mut people = People::new(scenario.seed);
    let layout_of_memory = machine.memory.layout();
    let mut threads =
        people.add_threads(&kernel.policy.fs, machine.file_system.kind, layout_of_memory.is_some());
    for (index, specification) in scenario.workload.processes.iter().enumerate() {
        people.add_processes(index, specification);
    }
    let awake = people.tasks.len() as u32;
    if !kernel.policy.fs.writeback.per_device_flusher {
        (1..PDFLUSH_MAX).for_each(|thread| _ = people.add_pdflush(thread));
    }
    threads.pool = awake..people.tasks.len() as u32;
    let programs: Vec<Program> = scenario.workload.processes.iter().map(Program::new).collect();
    let meeting_points = meeting_points(&scenario.workload, &programs);
    let cpus = (machine.cpus as usize).max(1);
    let mut memory = match layout_of_memory {
        Some(layout) => {
            let memory = Memory::new(&layout, kernel.policy.mm.clone(), cpus, machine.hz);
            let mut memory = memory.map_err(NotStarted::Memory)?;
            if !swap.is_empty() {
                let pages = (swap.end - swap.start) / u64::from(PAGE_SECTORS);
                memory.add_swap(pages as u32 - 1, 1, device.is_non_rotational());
            }
            Some(Box::new(MachineMemory::new(memory, cpus, people.tasks.len())))
        }
        None => None,
    };
    let mut scheduler = Scheduler::new(cpus, people.tasks.len());
    for index in 0..awake {
        scheduler.wake(0, TaskId(index));
    }
    for &id in &workload_files {
        files.get_mut(id).access_jiffies = clock.jiffies(0);
    }
    let mut recorder = Recorder::default();
    // So that a run of full length ends with all its buckets in use and none merged.
    let bucket_ns = scenario.limits.time_ns.div_ceil(BUCKETS as u64).next_multiple_of(1000);
    recorder.set_meter(people.meter(&threads, bucket_ns));
    let writeback = {
        let memory = memory.as_ref().map(|memory| &memory.memory);
        let limits = DirtyLimits::new(dirtyable_pages(memory), &kernel.policy.fs.writeback);
        let present = |memory: &Memory| memory.zones().iter().map(|zone| u64::from(zone.present)).sum();
        let memory_pages = memory.map_or(DIRTYABLE_PAGES, present);
        let now = (clock.jiffies(0), clock.hz());
        Writeback::new(limits, memory_pages, (cpus, people.tasks.len()), now, bucket_ns)
    };
    if let Some(memory) = &mut memory {
        // `throttle_vm_writeout`: a tenth more than writers may have dirty.
        let limits = DirtyLimits::new(dirtyable_pages(Some(&memory.memory)), &kernel.policy.fs.writeback);
        memory.memory.writeout_limit_pages = limits.dirty_pages + limits.dirty_pages / 10;
    }
    let flusher_interval_ms = kernel.policy.fs.writeback.interval_ms;
    let mut world = World {
        now_ns: 0,
        pause_ns: u64::MAX,
        limits: scenario.limits,
        clock,
        host: machine.host.clone(),
        file_system: machine.file_system.clone(),
        readahead_pages: u32::try_from(kernel.read_ahead_kb * 1024 / PAGE_BYTES).unwrap_or(u32::MAX),
        processes_left: people.processes.len(),
        stacks: people.stacks,
        called: None,
        scheduler,
        cpus: vec![CpuState::default(); cpus],
        events: EventQueue::new(),
        periodic_events: 0,
        queue: BlockQueue::new(kernel.policy.block, kernel.limits, kernel.elevator, device, clock),
        policy: kernel.policy.fs,
        block_out: BlockOut::default(),
        swap_start: swap.start,
        memory,
        block_due_ns: None,
        recorder,
        ios: IoTable::default(),
        files,
        metadata,
        journal: Journal::new(layout.journal_start, journal_blocks),
        blocked: Vec::new(),
        request_waiters: [VecDeque::new(), VecDeque::new()],
        kblockd_kicked: false,
        writeback,
        flusher_appointment: 0,
        threads,
        programs,
        io_context_users: people.io_context_users,
        tasks: people.tasks,
        processes: people.processes,
        workload_files,
        meeting_points,
        counters: MachineCounters::default(),
    };
    for thread in world.threads.pool.clone().map(TaskId) {
        world.begin_asleep(thread);
    }
    world.block_due_ns = world.queue.next_event_ns();
    world.schedule_flusher_in(flusher_interval_ms);
    Ok(world)
}

/// Files, and where everything lies: `areas` are the device's capacity in sectors, the journal's blocks, and the swap area's sectors.
fn files(
    workload: &Workload,
    (capacity_sectors, journal_blocks, swap): (u64, u64, Range<u64>),
) -> (Files, Layout, Vec<FileId>) {
    let place =
        |file: &crate::workload::FileSpec| Files::place(capacity_sectors, file.at_per_mille, file.size_bytes);
    let mut taken: Vec<(u64, u64)> = workload
        .files
        .iter()
        .map(|file| {
            let start = place(file);
            (start, start + file.size_bytes.div_ceil(PAGE_BYTES) * u64::from(PAGE_SECTORS))
        })
        .collect();
    if !swap.is_empty() {
        taken.push((swap.start, swap.end));
    }
    let layout = Layout::new(capacity_sectors, journal_blocks * u64::from(PAGE_SECTORS), &taken);
    let mut files = Files::new(&layout);
    let ids = workload
        .files
        .iter()
        .enumerate()
        .map(|(inode, file)| files.add(inode as u64, file.size_bytes, place(file), None))
        .collect();
    (files, layout, ids)
}

fn meeting_points(workload: &Workload, programs: &[Program]) -> Vec<MeetingPoint> {
    let expected = |barrier: u32| {
        let uses = workload.processes.iter().zip(programs);
        uses.filter(|(_, program)| program.meets_at(barrier)).map(|(process, _)| process.count.max(1)).sum()
    };
    let barriers = workload.barriers.iter().enumerate();
    barriers
        .map(|(index, name)| MeetingPoint {
            name: name.clone(),
            expected: expected(index as u32),
            arrived: 0,
        })
        .collect()
}

/// Tasks while they are being collected.
struct People {
    seed: u64,
    tasks: Vec<Task>,
    stacks: Vec<Vec<Frame>>,
    processes: Vec<Process>,
    io_context_users: Vec<u32>,
}

impl People {
    fn new(seed: u64) -> Self {
        Self {
            seed,
            tasks: Vec::new(),
            stacks: Vec::new(),
            processes: Vec::new(),
            io_context_users: Vec::new(),
        }
    }

    fn add_threads(&mut self, policy: &FsPolicy, kind: FileSystemKind, has_memory: bool) -> KernelThreads {
        let journal = if kind == FileSystemKind::Ext4 { "jbd2/sda1-8" } else { "kjournald" };
        let kblockd = Frame::Kblockd(Kblockd::default());
        KernelThreads {
            kblockd: self.add("kblockd/0".into(), TaskKind::Kblockd, DEFAULT_PRIORITY, kblockd),
            flusher: self.add_flusher(policy.writeback.per_device_flusher),
            pool: 0..0,
            journal: self.add(
                journal.into(),
                TaskKind::Journal,
                policy.journal.io_priority,
                Frame::JournalThread(JournalThread::default()),
            ),
            kswapd: has_memory.then(|| {
                let frame = Frame::KswapdThread(KswapdThread::default());
                self.add("kswapd0".into(), TaskKind::Kswapd, DEFAULT_PRIORITY, frame)
            }),
        }
    }

    /// The flusher of the device, or the first thread of the pool.
    fn add_flusher(&mut self, per_device: bool) -> TaskId {
        if !per_device {
            return self.add_pdflush(0);
        }
        self.add("flush-8:0".into(), TaskKind::Flusher, DEFAULT_PRIORITY, Frame::Flusher(Flusher::new()))
    }

    fn add_pdflush(&mut self, thread: usize) -> TaskId {
        let frame = Frame::PdflushThread(PdflushThread::new(thread));
        let name = if thread == 0 { "pdflush".to_owned() } else { format!("pdflush/{thread}") };
        self.add(name, TaskKind::Flusher, DEFAULT_PRIORITY, frame)
    }

    fn add(&mut self, name: String, kind: TaskKind, priority: u8, frame: Frame) -> TaskId {
        let io_context = self.new_io_context();
        self.add_task(name, kind, io_context, IoClass::BestEffort, priority, frame)
    }

    fn add_processes(&mut self, program: usize, specification: &ProcessSpec) {
        let mut shared = None;
        for number in 0..specification.count.max(1) {
            let name = if specification.count > 1 {
                format!("{}/{number}", specification.name)
            } else {
                specification.name.clone()
            };
            let io_context = match shared {
                Some(io_context) if specification.shared_io_context => {
                    self.io_context_users[io_context as usize] += 1;
                    io_context
                }
                _ => self.new_io_context(),
            };
            shared = Some(io_context);
            let dice = RandomStream::new(self.seed, &format!("choices of {name}"));
            let frame = Frame::Interpreter(Interpreter::default());
            let (class, priority) = (specification.io_class, specification.io_priority);
            self.add_task(name, TaskKind::Process, io_context, class, priority, frame);
            self.processes.push(Process {
                program,
                at: 0,
                loops: Vec::new(),
                handles: vec![Handle::default(); specification.handles.len()],
                dice,
                created: 0,
                mapped_files: Vec::new(),
                killed: false,
                totals: ProcessTotals {
                    marks: vec![MarkTotals::default(); specification.marks.len()],
                    ..ProcessTotals::default()
                },
            });
        }
    }

    /// Measures each kernel thread on its own, but those of the pdflush pool together, and the copies of a process together:
    /// groups are the kernel threads, then the specifications. The pool's later threads lie behind the processes.
    fn meter(&self, threads: &KernelThreads, bucket_ns: u64) -> Meter {
        let first_process = self.tasks.len() - self.processes.len() - threads.pool.len();
        let group = |index: usize| match index.checked_sub(first_process) {
            None => index,
            Some(_) if threads.pool.contains(&(index as u32)) => threads.flusher.index(),
            Some(process) => first_process + self.processes[process].program,
        };
        let tasks = self.tasks.iter().enumerate().map(|(index, task)| MeterTask {
            group: group(index) as u32,
            io_context: task.submitter.io_context,
        });
        Meter::new(bucket_ns, &tasks.collect::<Vec<_>>())
    }

    fn new_io_context(&mut self) -> u32 {
        self.io_context_users.push(1);
        (self.io_context_users.len() - 1) as u32
    }

    fn add_task(
        &mut self,
        name: String,
        kind: TaskKind,
        io_context: u32,
        class: IoClass,
        priority: u8,
        frame: Frame,
    ) -> TaskId {
        let id = self.tasks.len() as u32;
        debug_assert!(id < u32::MAX - FIRST_PID);
        let submitter = Submitter { task: id, io_context, class, priority };
        self.tasks.push(Task::new(name, kind, submitter, self.seed));
        self.stacks.push(vec![frame]);
        TaskId(id)
    }
}
