//! What differs between the generations of CFQ: one field per rule.
//!
//! *Follows:* model/block-layer.md, sections 2.1 to 2.23; each field names its section.

use serde::{Deserialize, Serialize};

/// The rules of one release's CFQ.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct CfqPolicy {
    /// How many requests a queue may have in the device at first, if nobody tunes it (2.2).
    pub default_quantum: u64,
    /// One tree of queues, or one per class and workload type (2.6, 2.14).
    pub trees: ServiceTrees,
    /// A queue that runs empty stays in its tree until it is expired (2.14, G3).
    pub empty_queue_stays: bool,
    /// Barriers expire the active queue before they empty the others (2.7; from 2.6.34).
    pub forced_dispatch_expires_first: bool,
    /// What a queue's unused time does to its next key (2.6).
    pub residual: Residual,
    /// A queue expired before its first completion keeps its whole slice as residual (2.6.38).
    pub unstarted_slice_is_residual: bool,
    /// Where a preempting queue is put (2.6).
    pub preempting_key: PreemptingKey,
    /// A busy real-time queue expires the active one at the next selection (2.7, step 3).
    pub real_time_expires_active: bool,
    /// The active queue's next request is recomputed from whatever request is dispatched, not only
    /// when the next one is (2.22, 06d2188644c).
    pub next_follows_dispatch: bool,
    /// Where distances are measured from when the next request is chosen (2.5), and with the same
    /// commit, cf7c25cf91f: whether a survivor takes the place of a next request it absorbs.
    pub next_measured_from: MeasuredFrom,
    /// Which expiry a request's fifo deadline uses (2.5).
    pub fifo: FifoDeadline,
    /// Whether `low_latency` exists (2.2).
    pub has_low_latency: bool,
    /// `low_latency` shortens slices when many queues are busy (2.14).
    pub low_latency_scales_slices: bool,
    /// `low_latency` keeps the idle window of seeky tasks (2.10, G1b).
    pub low_latency_idles_for_seeky: bool,
    /// How deep async requests may go under `low_latency` (2.9f).
    pub async_depth: AsyncDepth,
    /// A queue worth idling for waits until async requests have left the device (2.9a).
    pub drain_async: DrainAsync,
    /// How many requests one queue may have in the device (2.9c-e).
    pub depth: DepthRule,
    /// How seeks are remembered (2.10).
    pub seek: SeekMemory,
    /// When a seeky queue has no idle window (2.10).
    pub seeky_idle: SeekyIdle,
    /// A seeky task's idle wait is cut to 2 ms (2.8, G1).
    pub short_idle_for_seeky: bool,
    /// A seeky task keeps its idle window only if it thinks for 2 ms or less (2.10; 2.6.32-rc5 and
    /// later).
    pub seeky_must_think_shortly: bool,
    /// A queue whose next request carries NOIDLE has no idle window (2.19 b).
    pub noidle_request_ends_idle_window: bool,
    /// No idling when the mean think time exceeds what is left of the slice (2.8; from 2.6.32-rc5).
    pub idle_must_fit_slice: bool,
    /// What may still be in the device when idling begins (2.15).
    pub idle_when: IdleWhen,
    /// Which completions may begin idling (2.15).
    pub idle_after: IdleAfter,
    /// When a queue without an idle window is worth idling for (2.15, should-idle).
    pub tree_idle: TreeIdle,
    /// Idling at the end of the noidle tree lasts 2 ms, and not at all on NCQ devices, while others
    /// are in the tree (2.15, G2).
    pub short_idle_in_noidle_tree: bool,
    /// An arrival ends the wait for good, so a later expiry finds no timer (2.15; from 2.6.33).
    pub arrival_ends_wait: bool,
    /// At the end of its slice a queue alone in its group is waited for (2.15, wait-busy; G3).
    pub waits_busy: WaitsBusy,
    /// Who may take the device from whom (2.11).
    pub preempt: PreemptRules,
    /// How close queues work together (2.12).
    pub cooperation: Cooperation,
    /// How NCQ is detected (2.13).
    pub ncq_detection: NcqDetection,
    /// How the next workload type is chosen when the class changes (2.14).
    pub class_change: ClassChange,
    /// The workload's remaining time survives an expiry (2.14, groups; G3).
    pub saves_workload: bool,
    /// Async turns are bounded by the share of async queues among all (2.14; G3).
    pub caps_async_turn: bool,
    /// `group_idle` exists (2.16; from 2.6.36).
    pub has_group_idle: bool,
    /// A queue that seeks deeply but drains early loses its idle window (2.22, 8e1ac665510).
    pub deep_seeky_stops_idling: bool,
    /// A process that waits for another may hand over its turn (2.20).
    pub yields: bool,
}

/// Shape of the service trees.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum ServiceTrees {
    /// One tree, sorted by class, then key.
    One,
    /// {real time, best effort} x {async, sync-noidle, sync}, and one for the idle class.
    ByWorkload,
}

/// Effect of unused slice time on the service key.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Residual {
    /// Added: unused time pushes a queue back (the sign error of 2.6.30 and 2.6.31).
    Added,
    /// Subtracted: unused time brings a queue forward.
    Subtracted,
}

/// Key of a queue that preempts.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum PreemptingKey {
    /// 0.
    Zero,
    /// One second before the first key of its tree.
    BeforeFirst,
}

/// Reference point of distances inside a queue.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum MeasuredFrom {
    /// The end of the last request started.
    Head,
    /// The position of the request just dispatched.
    Dispatched,
}

/// Fifo deadline of a request.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum FifoDeadline {
    /// Allocation time plus the queue's expiry, by the queue's sync-ness (2.6.30, .31).
    FromStartByQueue,
    /// Insertion time plus the request's expiry.
    FromArrivalByRequest,
}

/// Limit on async requests in flight under `low_latency`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum AsyncDepth {
    /// None.
    Unlimited,
    /// Slices since the last completion of any sync request.
    SinceLastSync,
    /// Slices since a sync request last took `fifo_expire_sync` or longer.
    SinceDelayedSync,
    /// The ramp-up of the November 2009 proposal (2.21; unverified): slices since the last sync
    /// completion plus what is left of the async slice in units of `slice_idle`.
    RampUp,
}

/// Whether async requests in the device hold back an idling queue.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum DrainAsync {
    /// No.
    Never,
    /// Yes, those the driver has looked at.
    InDriver,
    /// Yes, those on the dispatch list too.
    InFlight,
}

/// Requests one queue may have in the device.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum DepthRule {
    /// `quantum`; four times that for a sole queue (G1, G2).
    QuantumTimesFour,
    /// `quantum`; no limit for a sole queue (2.6.33).
    QuantumUnlimited,
    /// Half of `quantum`; `quantum` while the slice is young; no limit for a sole queue (2.6.34+).
    HalfQuantum,
}

/// Memory of seek distances.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum SeekMemory {
    /// Decaying mean per task (G1).
    MeanPerTask,
    /// Decaying mean per queue (G2, 2.6.33).
    MeanPerQueue,
    /// One bit per request, 32 requests (2.6.34+).
    History,
}

/// When seeking costs the idle window.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum SeekyIdle {
    /// On a device with NCQ (G1).
    OffWithNcq,
    /// When enough samples say so (G2).
    Off,
    /// Unless the queue has been deep (2.6.33+).
    OffUnlessDeep,
}

/// What must be empty before idling.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum IdleWhen {
    /// The device.
    DeviceEmpty,
    /// The queue's own requests in the device (8e55063).
    OwnRequestsDone,
}

/// Which completion of a sync request may begin idling.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum IdleAfter {
    /// Any that does not carry NOIDLE.
    NotNoidle,
    /// Any on the sync tree; on the noidle tree once a request without NOIDLE was seen in this turn
    /// (8e55063).
    TreeFlag {
        /// Or when the queue is the only one of its group (c04645e592d).
        or_alone: bool,
    },
    /// Any while some queue's last request in this turn was without NOIDLE, on either tree, or when
    /// the queue is alone (the RQ_NOIDLE pair, 2.18; unverified).
    QueueFlags,
    /// Any (749ef9f8423).
    Always,
}

/// Idling for a queue without an idle window.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum TreeIdle {
    /// Never (G1).
    Never,
    /// When no other queue is in its tree, async queues included (G2).
    LastAny,
    /// When a sync queue is alone in its tree (2.6.33+), and never on a non-rotational NCQ device.
    LastSync,
}

/// Waiting for a lone queue at the end of its slice.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum WaitsBusy {
    /// Never.
    Never,
    /// When alone in its group.
    Alone,
    /// When alone in its group and empty (2.6.38, 02a8f01b5a9).
    AloneAndEmpty,
}

/// Rules of preemption.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct PreemptRules {
    /// A used-up slice is tested before the classes (G1, G2) or after sync-against-async (G3).
    pub used_slice_first: bool,
    /// A real-time queue is never preempted by a lower class (G3).
    pub real_time_protected: bool,
    /// Between queues of the noidle tree.
    pub noidle: NoidlePreempt,
    /// An empty active queue that is not worth idling for gives way (2.6.38).
    pub pointless_wait_ends: bool,
    /// A newcomer of another workload type ends the turn of the type that was served; otherwise the
    /// turn is restored at the next selection and the preemption may be undone (f8ae6e3eb82, 2.6.38).
    pub ends_turn: bool,
    /// Requests for metadata.
    pub metadata: MetadataPreempt,
    /// A request close to the head preempts only if its queue has not jumped before, or is the only
    /// busy one (2.6.32-rc7).
    pub close_once: bool,
}

/// Preemption inside the noidle tree.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum NoidlePreempt {
    /// None (G1).
    No,
    /// Any queue of the active one's tree (G2).
    SameTree,
    /// One of exactly two queues while the active one is empty (G3).
    PairWhileEmpty,
}

/// What a metadata request does.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum MetadataPreempt {
    /// Preempts a queue that has none pending.
    Preempts,
    /// Blocks preemption where it should preempt (a6151c3a5c8: 2.6.32-rc5, -rc6).
    Inverted,
}

/// Queues that work close together.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Cooperation {
    /// The close queue jumps ahead once (G1).
    Jump,
    /// The queues are merged; split when seeky for a second (G2).
    MergeSplitAfterSecond,
    /// The queues are merged; split when seeky at the end of a slice (G3).
    MergeSplitAtExpiry,
}

/// Detection of command queueing.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum NcqDetection {
    /// Decided anew after every 50 samples (G1).
    Periodic,
    /// The same, without samples taken while a shallow queue idles (G2).
    PeriodicUnlessIdling,
    /// Unknown at first, which counts as yes; once yes, for ever (2.6.33+).
    Sticky,
}

/// Choice of the workload type after a change of class.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum ClassChange {
    /// Not looked at: the type is kept while its tree has queues and time (2.6.33 to .37).
    Ignored,
    /// Sync-noidle first, then sync, then async (G2).
    PrefersNoidle,
    /// The lowest key, even if the turn has time left (2.6.38, f8ae6e3eb82).
    ChoosesAnew,
}
