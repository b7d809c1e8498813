//! What is always measured while a run goes on: the digest, bounded series, periods of marks, what the scheduler did.
//!
//! *Models:* the state of the one request queue over time, work counted by marks, bytes moved by system calls.
//! *Does not model:* single requests; the trace does, while it is switched on.
//! *Follows:* ARCHITECTURE.md, rules 1 and 5.

use super::held::HeldReason;
use super::periods::Periods;
use super::series::Series;
use super::trace::TraceKind;
use serde::{Deserialize, Serialize};

/// The most buckets of a series.
pub const BUCKETS: usize = 1024;
/// The most groups that have series of their own; the others share the last one's, which keeps memory bounded.
const GROUPS_MAX: usize = 64;

/// What a queue is doing from a moment on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct QueueState {
    /// What a request that waits is held for.
    pub reason: HeldReason,
    /// Whose slice it is.
    pub slice: SliceOwner,
    /// Requests in the device.
    pub in_device: u32,
    /// Requests allocated that are not in the device.
    pub waiting: u32,
    /// CFQ's average of busy queues; 0 for other elevators.
    pub busy_average: u32,
}

/// Whose slice it is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SliceOwner {
    /// Nobody's.
    Nobody,
    /// An io context's.
    Context(u32),
    /// The shared async queues'.
    Async,
}

/// How the device's time was used, as an index of series: first those that belong to nobody in particular.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Lane {
    /// Nothing waits, or nobody has run the queue yet.
    Nothing,
    /// Busy in nobody's slice.
    NoSlice,
    /// Busy in the slice of the shared async queues.
    AsyncSlice,
    /// Kept idle; the elevator does not say for whom.
    Idle,
    /// Plugged.
    Plugged,
    /// Draining for a barrier.
    Draining,
    /// Flushing the device's cache.
    Flushing,
    /// Busy in a group's slice.
    Slice(usize),
    /// Kept idle for a group.
    IdleFor(usize),
}

const COMMON_LANES: [Lane; 7] = [
    Lane::Nothing,
    Lane::NoSlice,
    Lane::AsyncSlice,
    Lane::Idle,
    Lane::Plugged,
    Lane::Draining,
    Lane::Flushing,
];

impl Lane {
    fn index(self) -> usize {
        match self {
            Self::Nothing => 0,
            Self::NoSlice => 1,
            Self::AsyncSlice => 2,
            Self::Idle => 3,
            Self::Plugged => 4,
            Self::Draining => 5,
            Self::Flushing => 6,
            Self::Slice(group) => COMMON_LANES.len() + 2 * group,
            Self::IdleFor(group) => COMMON_LANES.len() + 2 * group + 1,
        }
    }

    fn of_index(index: usize) -> Self {
        match index.checked_sub(COMMON_LANES.len()) {
            None => COMMON_LANES[index],
            Some(rest) if rest % 2 == 0 => Self::Slice(rest / 2),
            Some(rest) => Self::IdleFor(rest / 2),
        }
    }
}

/// What the scheduler did.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct SchedulerCounters {
    /// Times a queue was made active.
    pub selections: u64,
    /// Times a queue was dropped because its slice was used up.
    pub slices_used_up: u64,
    /// Times a queue was dropped for another reason.
    pub slices_cut_short: u64,
    /// Times a queue took the device from the active one.
    pub preemptions: u64,
    /// Times the idle timer was armed.
    pub idle_armed: u64,
    /// Times the request came that was idled for.
    pub idle_rewarded: u64,
    /// Times the idle timer fired: it did not come.
    pub idle_fired: u64,
}

/// Which group a task belongs to, and which io context it submits with.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct MeterTask {
    /// Tasks with the same number are shown together; small and dense.
    pub group: u32,
    /// The io context; small and dense.
    pub io_context: u32,
}

/// One mark of one group.
#[derive(Clone, Debug)]
struct MarkMeter {
    series: Series,
    periods: Periods,
}

/// The measurements. Costs nothing until something happens; memory does not grow with the length of a run.
#[derive(Clone, Debug)]
pub struct Meter {
    digest: u64,
    bucket_ns: u64,
    group_of_task: Vec<u32>,
    group_of_context: Vec<u32>,
    state: Option<QueueState>,
    lane: Option<Lane>,
    in_device: Series,
    waiting: Series,
    busy_average: Series,
    lanes: Vec<Option<Series>>,
    /// By group, then by mark.
    marks: Vec<Vec<MarkMeter>>,
    /// By task, then by mark: when it last came past.
    last_pass_ns: Vec<Vec<Option<u64>>>,
    /// By group: read and written.
    bytes: Vec<Option<[Series; 2]>>,
    scheduler: SchedulerCounters,
}

impl Default for Meter {
    fn default() -> Self {
        Self::new(1_000_000, &[])
    }
}

impl Meter {
    /// A meter whose buckets are at first `bucket_ns` wide; `tasks` by task index. Tasks that are not listed make up one
    /// more group.
    #[must_use]
    pub fn new(bucket_ns: u64, tasks: &[MeterTask]) -> Self {
        let series = || Series::new(bucket_ns, BUCKETS);
        let contexts = tasks.iter().map(|task| task.io_context as usize + 1).max().unwrap_or(0);
        let mut group_of_context = vec![u32::MAX; contexts];
        // Of several tasks with one io context, the first gives it its name.
        for task in tasks.iter().rev() {
            group_of_context[task.io_context as usize] = task.group;
        }
        Self {
            digest: 0,
            bucket_ns,
            group_of_task: tasks.iter().map(|task| task.group).collect(),
            group_of_context,
            state: None,
            lane: None,
            in_device: series(),
            waiting: series(),
            busy_average: series(),
            lanes: Vec::new(),
            marks: Vec::new(),
            last_pass_ns: Vec::new(),
            bytes: Vec::new(),
            scheduler: SchedulerCounters::default(),
        }
    }

    /// The digest of every completion and mark so far, in order.
    #[must_use]
    pub fn digest(&self) -> u64 {
        self.digest
    }

    /// What the scheduler did so far.
    #[must_use]
    pub fn scheduler(&self) -> SchedulerCounters {
        self.scheduler
    }

    /// Requests in the device, over time.
    #[must_use]
    pub fn in_device(&self) -> &Series {
        &self.in_device
    }

    /// Requests waiting, over time.
    #[must_use]
    pub fn waiting(&self) -> &Series {
        &self.waiting
    }

    /// CFQ's average of busy queues, over time.
    #[must_use]
    pub fn busy_average(&self) -> &Series {
        &self.busy_average
    }

    /// The lanes that were ever used: 1 while the device's time belongs to them, else 0.
    pub fn lanes(&self) -> impl Iterator<Item = (Lane, &Series)> {
        let used = self.lanes.iter().enumerate();
        used.filter_map(|(index, series)| Some((Lane::of_index(index), series.as_ref()?)))
    }

    /// The counts and the periods of a group's mark, if it was ever passed.
    #[must_use]
    pub fn mark(&self, group: usize, mark: usize) -> Option<(&Series, &Periods)> {
        let meter = self.marks.get(capped(group))?.get(mark)?;
        Some((&meter.series, &meter.periods))
    }

    /// The bytes a group has read and written, if it has.
    #[must_use]
    pub fn bytes(&self, group: usize) -> Option<&[Series; 2]> {
        self.bytes.get(capped(group))?.as_ref()
    }

    /// The queue is in this state from `now_ns` on.
    pub fn queue_state(&mut self, now_ns: u64, state: QueueState) {
        if self.state == Some(state) {
            return;
        }
        if self.state.is_none() {
            // Before its first state a queue had nothing to do.
            self.lane_series(Lane::Nothing).set(0, 1);
            self.lane = Some(Lane::Nothing);
        }
        let lane = self.lane_of(&state);
        if self.lane != Some(lane) {
            if let Some(before) = self.lane {
                self.lane_series(before).set(now_ns, 0);
            }
            self.lane_series(lane).set(now_ns, 1);
            self.lane = Some(lane);
        }
        self.in_device.set(now_ns, u64::from(state.in_device));
        self.waiting.set(now_ns, u64::from(state.waiting));
        self.busy_average.set(now_ns, u64::from(state.busy_average));
        self.state = Some(state);
    }

    /// A system call of `task` has moved `bytes`.
    pub fn moved(&mut self, now_ns: u64, task: u32, is_write: bool, bytes: u64) {
        let group = capped(self.group(task));
        if group >= self.bytes.len() {
            self.bytes.resize_with(group + 1, || None);
        }
        let bucket_ns = self.bucket_ns;
        let new = || [Series::new(bucket_ns, BUCKETS), Series::new(bucket_ns, BUCKETS)];
        self.bytes[group].get_or_insert_with(new)[usize::from(is_write)].count(now_ns, bytes);
    }

    /// Something happened that the trace may keep.
    pub(super) fn note(&mut self, now_ns: u64, kind: &TraceKind) {
        match *kind {
            TraceKind::Complete(facts, _) => {
                self.mix(now_ns);
                self.mix(facts.sector);
                self.mix(u64::from(facts.sectors) << 16 | u64::from(facts.flags.0));
                self.mix(u64::from(facts.task));
            }
            TraceKind::Mark(task, mark, amount) => {
                self.mix(!now_ns);
                self.mix(u64::from(task) << 16 | u64::from(mark));
                self.mix(u64::from(amount));
                self.passed(now_ns, task, mark.into(), amount);
            }
            TraceKind::CfqSelect(..) => self.scheduler.selections += 1,
            TraceKind::CfqExpire(_, true) => self.scheduler.slices_used_up += 1,
            TraceKind::CfqExpire(_, false) => self.scheduler.slices_cut_short += 1,
            TraceKind::CfqPreempt(_) => self.scheduler.preemptions += 1,
            TraceKind::CfqIdleArm(..) => self.scheduler.idle_armed += 1,
            TraceKind::CfqIdleRewarded(_) => self.scheduler.idle_rewarded += 1,
            TraceKind::CfqIdleFired => self.scheduler.idle_fired += 1,
            _ => {}
        }
    }

    fn passed(&mut self, now_ns: u64, task: u32, mark: usize, amount: u32) {
        let group = capped(self.group(task));
        if group >= self.marks.len() {
            self.marks.resize_with(group + 1, Vec::new);
        }
        let bucket_ns = self.bucket_ns;
        let new = || MarkMeter { series: Series::new(bucket_ns, BUCKETS), periods: Periods::default() };
        if mark >= self.marks[group].len() {
            self.marks[group].resize_with(mark + 1, new);
        }
        let task = task as usize;
        if task >= self.last_pass_ns.len() {
            self.last_pass_ns.resize_with(task + 1, Vec::new);
        }
        if mark >= self.last_pass_ns[task].len() {
            self.last_pass_ns[task].resize(mark + 1, None);
        }
        let meter = &mut self.marks[group][mark];
        meter.series.count(now_ns, u64::from(amount));
        if let Some(last_ns) = self.last_pass_ns[task][mark].replace(now_ns) {
            meter.periods.record(now_ns.saturating_sub(last_ns));
        }
    }

    /// Mixes a word into the digest: a multiplication spreads it upwards, a rotation brings it down again.
    fn mix(&mut self, word: u64) {
        self.digest = (self.digest ^ word).wrapping_mul(0x9e37_79b9_7f4a_7c15).rotate_left(29);
    }

    fn group(&self, task: u32) -> usize {
        self.group_of_task.get(task as usize).map_or(GROUPS_MAX - 1, |&group| group as usize)
    }

    fn lane_of(&self, state: &QueueState) -> Lane {
        let group = |context: u32| {
            let group = self.group_of_context.get(context as usize);
            capped(group.map_or(usize::MAX, |&group| group as usize))
        };
        match (state.reason, state.slice) {
            (HeldReason::Busy, SliceOwner::Nobody) => Lane::NoSlice,
            (HeldReason::Busy, SliceOwner::Async) => Lane::AsyncSlice,
            (HeldReason::Busy, SliceOwner::Context(context)) => Lane::Slice(group(context)),
            (HeldReason::Idling, SliceOwner::Context(context)) => Lane::IdleFor(group(context)),
            (HeldReason::Idling, _) => Lane::Idle,
            (HeldReason::Plugged, _) => Lane::Plugged,
            (HeldReason::Draining, _) => Lane::Draining,
            (HeldReason::Flushing, _) => Lane::Flushing,
            (HeldReason::Ready, _) => Lane::Nothing,
        }
    }

    #[inline]
    fn lane_series(&mut self, lane: Lane) -> &mut Series {
        let index = lane.index();
        if index >= self.lanes.len() {
            self.lanes.resize_with(index + 1, || None);
        }
        let bucket_ns = self.bucket_ns;
        self.lanes[index].get_or_insert_with(|| Series::new(bucket_ns, BUCKETS))
    }
}

/// The group whose series a group uses.
fn capped(group: usize) -> usize {
    group.min(GROUPS_MAX - 1)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn state(reason: HeldReason, slice: SliceOwner) -> QueueState {
        QueueState { reason, slice, in_device: 1, waiting: 0, busy_average: 0 }
    }

    fn states() -> impl Strategy<Value = Vec<(u64, QueueState)>> {
        let reason = prop_oneof![
            Just(HeldReason::Busy),
            Just(HeldReason::Idling),
            Just(HeldReason::Plugged),
            Just(HeldReason::Draining),
            Just(HeldReason::Ready)
        ];
        let slice = prop_oneof![
            Just(SliceOwner::Nobody),
            Just(SliceOwner::Async),
            (0u32..3).prop_map(SliceOwner::Context)
        ];
        prop::collection::vec((1u64..10_000, (reason, slice).prop_map(|(r, s)| state(r, s))), 1..100)
    }

    proptest! {
        /// The lanes share the time out: their sums add up to all of it.
        #[test]
        fn lanes_add_up(steps in states()) {
            let task = |group, io_context| MeterTask { group, io_context };
            let mut meter = Meter::new(100, &[task(0, 0), task(1, 1), task(0, 2)]);
            let mut now = 0;
            for (step, state) in steps {
                meter.queue_state(now, state);
                now += step;
            }
            let settled = |series: &Series| {
                let mut series = series.clone();
                series.settle(now);
                series.total()
            };
            prop_assert_eq!(meter.lanes().map(|(_, series)| settled(series)).sum::<u64>(), now);
            prop_assert!(meter.lanes().all(|(lane, _)| !matches!(lane, Lane::Slice(g) | Lane::IdleFor(g) if g > 1)));
        }
    }

    /// The digest tells apart runs that differ in order, in time or in one number.
    #[test]
    fn the_digest_sees_order_and_values() {
        let run = |marks: &[(u64, u32)]| {
            let mut meter = Meter::default();
            marks.iter().for_each(|&(now, amount)| meter.note(now, &TraceKind::Mark(0, 0, amount)));
            meter.digest()
        };
        let runs =
            [run(&[(1, 1), (2, 1)]), run(&[(2, 1), (1, 1)]), run(&[(1, 1), (3, 1)]), run(&[(1, 1), (2, 2)])];
        for (index, digest) in runs.iter().enumerate() {
            assert!(!runs[..index].contains(digest));
        }
        assert_eq!(runs[0], run(&[(1, 1), (2, 1)]));
    }

    /// Periods are those of each task, also where tasks are shown together.
    #[test]
    fn periods_are_per_task() {
        let task = MeterTask { group: 0, io_context: 0 };
        let mut meter = Meter::new(1000, &[task, task]);
        for (now, task) in [(0, 0), (5_000, 1), (10_000, 0), (15_000, 1)] {
            meter.note(now, &TraceKind::Mark(task, 0, 1));
        }
        let (series, periods) = meter.mark(0, 0).expect("it was passed");
        assert_eq!((series.total(), periods.count(), periods.extremes_ns()), (4, 2, (10_000, 10_000)));
    }

    /// However many groups a scenario makes, the number of series stays bounded.
    #[test]
    fn groups_are_bounded() {
        let tasks: Vec<_> = (0..5000).map(|n| MeterTask { group: n, io_context: n }).collect();
        let mut meter = Meter::new(1000, &tasks);
        for n in 0..5000 {
            meter.moved(u64::from(n), n, false, 1);
        }
        assert_eq!(meter.bytes.len(), GROUPS_MAX);
        let total: u64 = (0..GROUPS_MAX).filter_map(|group| Some(meter.bytes(group)?[0].total())).sum();
        assert_eq!(total, 5000);
    }
}
