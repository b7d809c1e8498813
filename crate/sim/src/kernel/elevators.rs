//! Elevators by name, and the tunables of a kernel.

use super::vm;
use super::{Kernel, KernelError, Policy};
use crate::block::QueueLimits;
use crate::block::elevator::tunables::{TunableError, TunableInfo, TunableUnit, check};
use crate::block::elevator::{
    Anticipatory, AnticipatoryTunables, AnyElevator, Cfq, CfqTunables, Deadline, DeadlineTunables, Noop,
};
use crate::engine::Clock;

/// A tunable's description.
pub type TunableName = TunableInfo;

/// An elevator by name.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ElevatorName {
    /// First in, first out.
    Noop,
    /// Deadlines and batches.
    Deadline,
    /// Anticipation of the next read.
    Anticipatory,
    /// Complete fair queueing.
    Cfq,
}

impl ElevatorName {
    /// All of them.
    pub const ALL: [Self; 4] = [Self::Noop, Self::Deadline, Self::Anticipatory, Self::Cfq];

    /// The name in `/sys/block/*/queue/scheduler`.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::Noop => "noop",
            Self::Deadline => "deadline",
            Self::Anticipatory => "anticipatory",
            Self::Cfq => "cfq",
        }
    }

    /// What it does, in a sentence.
    #[must_use]
    pub fn documentation(self) -> &'static str {
        match self {
            Self::Noop => "First in, first out, with merging.",
            Self::Deadline => "Batches in sector order; nobody waits longer than a deadline; never idles.",
            Self::Anticipatory => {
                "Waits a moment after a read for the same process's next one (until 2.6.32)."
            }
            Self::Cfq => "A queue and a time slice for each process; idles for sequential readers.",
        }
    }

    pub(super) fn find(name: &str, policy: &Policy) -> Result<Self, KernelError> {
        let found = Self::ALL.into_iter().find(|elevator| elevator.name() == name);
        match found {
            None => Err(KernelError::unknown("elevator", name, Self::ALL.map(Self::name).to_vec())),
            Some(Self::Anticipatory) if !policy.has_anticipatory => {
                Err(KernelError::NoSuchElevator { elevator: "anticipatory" })
            }
            Some(elevator) => Ok(elevator),
        }
    }

    /// The elevator's tunables in a kernel with these rules.
    #[must_use]
    pub fn tunables(self, policy: &Policy) -> Vec<&'static TunableInfo> {
        let all: &'static [TunableInfo] = match self {
            Self::Noop => &[],
            Self::Deadline => DeadlineTunables::info(),
            Self::Anticipatory => AnticipatoryTunables::info(),
            Self::Cfq => CfqTunables::info(),
        };
        let exists = |info: &&TunableInfo| match info.name {
            "low_latency" => policy.cfq.has_low_latency,
            "group_idle" => policy.cfq.has_group_idle,
            "group_isolation" => policy.cfq.saves_workload,
            _ => true,
        };
        all.iter().filter(exists).collect()
    }
}

/// The queue's own tunables.
static QUEUE: [TunableInfo; 3] = [
    TunableInfo {
        name: "nr_requests",
        unit: TunableUnit::Requests,
        min: 4,
        max: 8192,
        default: 128,
        documentation: "Requests that may be allocated in each direction.",
    },
    TunableInfo {
        name: "read_ahead_kb",
        unit: TunableUnit::Kilobytes,
        min: 0,
        max: 16384,
        default: 128,
        documentation: "The largest readahead window.",
    },
    TunableInfo {
        name: "max_sectors_kb",
        unit: TunableUnit::Kilobytes,
        min: 4,
        max: 32768,
        default: 512,
        documentation: "The largest request.",
    },
];

/// Tunables being set.
pub(super) struct Settings {
    elevator: ElevatorName,
    clock: Clock,
    available: Vec<&'static TunableInfo>,
    deadline: DeadlineTunables,
    anticipatory: AnticipatoryTunables,
    cfq: CfqTunables,
    limits: QueueLimits,
    read_ahead_kb: u64,
    vm: Vec<(&'static str, u64)>,
}

/// Every tunable of an elevator in a kernel, the queue's own and those of memory included.
pub fn available_tunables(elevator: ElevatorName, policy: &Policy) -> Vec<&'static TunableInfo> {
    elevator.tunables(policy).into_iter().chain(&QUEUE).chain(&vm::VM).collect()
}

/// Where a tunable lives: the name of the elevator that has it, `queue` for those of every request queue, `vm` for `/proc/sys/vm`.
#[must_use]
pub fn tunable_home(elevator: ElevatorName, tunable: &TunableInfo) -> &'static str {
    let is_in = |group: &[TunableInfo]| group.iter().any(|known| known.name == tunable.name);
    if is_in(&vm::VM) {
        "vm"
    } else if is_in(&QUEUE) {
        "queue"
    } else {
        elevator.name()
    }
}

impl Settings {
    pub(super) fn new(elevator: ElevatorName, policy: &Policy, clock: &Clock) -> Self {
        Self {
            elevator,
            clock: *clock,
            available: available_tunables(elevator, policy),
            deadline: DeadlineTunables::for_clock(clock),
            anticipatory: AnticipatoryTunables::for_clock(clock),
            cfq: CfqTunables::for_clock(clock, &policy.cfq),
            limits: QueueLimits::default(),
            read_ahead_kb: 128,
            vm: Vec::new(),
        }
    }

    pub(super) fn set(&mut self, name: &str, value: u64) -> Result<(), KernelError> {
        if !self.available.iter().any(|info| info.name == name) {
            let nearest = self
                .available
                .iter()
                .map(|info| info.name)
                .min_by_key(|known| strsim::damerau_levenshtein(known, name.get(..64).unwrap_or(name)));
            return Err(TunableError::Unknown { name: name.to_owned(), nearest }.into());
        }
        if QUEUE.iter().any(|info| info.name == name) {
            return self.set_queue(name, value);
        }
        if vm::VM.iter().any(|info| info.name == name) {
            self.vm.push((check(&vm::VM, name, value)?.name, value));
            return Ok(());
        }
        match self.elevator {
            ElevatorName::Noop => {}
            ElevatorName::Deadline => self.deadline.set(name, value, &self.clock)?,
            ElevatorName::Anticipatory => self.anticipatory.set(name, value, &self.clock)?,
            ElevatorName::Cfq => self.cfq.set(name, value, &self.clock)?,
        }
        Ok(())
    }

    fn set_queue(&mut self, name: &str, value: u64) -> Result<(), KernelError> {
        check(&QUEUE, name, value)?;
        let value_u32 = u32::try_from(value).unwrap_or(u32::MAX);
        match name {
            "nr_requests" => self.limits.nr_requests = value_u32,
            "max_sectors_kb" => self.limits.max_sectors = value_u32.saturating_mul(2),
            _ => self.read_ahead_kb = value,
        }
        Ok(())
    }

    pub(super) fn into_kernel(self, mut policy: Policy) -> Kernel {
        for (name, value) in self.vm {
            let is_known = vm::set(&mut policy, name, value);
            debug_assert!(is_known, "{name}");
        }
        let elevator = match self.elevator {
            ElevatorName::Noop => AnyElevator::Noop(Noop::new()),
            ElevatorName::Deadline => AnyElevator::Deadline(Deadline::new(self.deadline)),
            ElevatorName::Anticipatory => AnyElevator::Anticipatory(Anticipatory::new(
                self.anticipatory,
                &self.clock,
                self.clock.jiffies(0),
            )),
            ElevatorName::Cfq => {
                AnyElevator::Cfq(Box::new(Cfq::new(policy.cfq.clone(), self.cfq, &self.clock)))
            }
        };
        Kernel { policy, elevator, limits: self.limits, read_ahead_kb: self.read_ahead_kb }
    }
}
