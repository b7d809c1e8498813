//! CFQ's rules in each generation.
//!
//! Each generation is the one before it with the fields that changed: a diff in data.
//!
//! *Follows:* model/block-layer.md, sections 2.1 to 2.22; Linux block/cfq-iosched.c of each release.

use crate::block::elevator::cfq::{
    AsyncDepth, CfqPolicy, ClassChange, Cooperation, DepthRule, DrainAsync, FifoDeadline, IdleAfter,
    IdleWhen, MeasuredFrom, MetadataPreempt, NcqDetection, NoidlePreempt, PreemptRules, PreemptingKey,
    Residual, SeekMemory, SeekyIdle, ServiceTrees, TreeIdle, WaitsBusy,
};

/// Releases that share CFQ's rules, named after the first.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum CfqGeneration {
    /// 2.6.30 and 2.6.31 (G1a).
    V30,
    /// 2.6.32-rc1 and -rc2.
    V32Rc1,
    /// 2.6.32-rc3 and -rc4.
    V32Rc3,
    /// 2.6.32-rc5 and -rc6.
    V32Rc5,
    /// 2.6.32-rc7 to 2.6.32 (G1b).
    V32,
    /// The block tree of 8 November 2009 (G2).
    For33,
    /// 2.6.33 (G3a).
    V33,
    /// 2.6.34 and 2.6.35 (G3b).
    V34,
    /// 2.6.36 (G3c).
    V36,
    /// 2.6.37 (G4).
    V37,
    /// 2.6.38 (G4).
    V38,
}

/// The rules of a generation.
pub(super) fn cfq_policy(generation: CfqGeneration) -> CfqPolicy {
    match generation {
        CfqGeneration::V30 => v30(),
        CfqGeneration::V32Rc1 => v32_rc1(),
        CfqGeneration::V32Rc3 => v32_rc3(),
        CfqGeneration::V32Rc5 => v32_rc5(),
        CfqGeneration::V32 => v32(),
        CfqGeneration::For33 => for_33(),
        CfqGeneration::V33 => v33(),
        CfqGeneration::V34 => v34(),
        CfqGeneration::V36 => v36(),
        CfqGeneration::V37 => v37(),
        CfqGeneration::V38 => v38(),
    }
}

fn v30() -> CfqPolicy {
    CfqPolicy {
        default_quantum: 4,
        trees: ServiceTrees::One,
        empty_queue_stays: false,
        forced_dispatch_expires_first: false,
        residual: Residual::Added,
        unstarted_slice_is_residual: false,
        preempting_key: PreemptingKey::Zero,
        real_time_expires_active: true,
        next_follows_dispatch: false,
        next_measured_from: MeasuredFrom::Head,
        fifo: FifoDeadline::FromStartByQueue,
        has_low_latency: false,
        low_latency_scales_slices: false,
        low_latency_idles_for_seeky: false,
        async_depth: AsyncDepth::Unlimited,
        drain_async: DrainAsync::Never,
        depth: DepthRule::QuantumTimesFour,
        seek: SeekMemory::MeanPerTask,
        seeky_idle: SeekyIdle::OffWithNcq,
        short_idle_for_seeky: true,
        seeky_must_think_shortly: false,
        noidle_request_ends_idle_window: false,
        idle_must_fit_slice: false,
        idle_when: IdleWhen::DeviceEmpty,
        idle_after: IdleAfter::NotNoidle,
        tree_idle: TreeIdle::Never,
        short_idle_in_noidle_tree: false,
        arrival_ends_wait: false,
        waits_busy: WaitsBusy::Never,
        preempt: PreemptRules {
            used_slice_first: true,
            real_time_protected: false,
            noidle: NoidlePreempt::No,
            pointless_wait_ends: false,
            ends_turn: false,
            metadata: MetadataPreempt::Preempts,
            close_once: false,
        },
        cooperation: Cooperation::Jump,
        ncq_detection: NcqDetection::Periodic,
        class_change: ClassChange::Ignored,
        saves_workload: false,
        caps_async_turn: false,
        has_group_idle: false,
        deep_seeky_stops_idling: false,
        yields: false,
    }
}

fn v32_rc1() -> CfqPolicy {
    CfqPolicy {
        real_time_expires_active: false,
        next_follows_dispatch: true,
        drain_async: DrainAsync::InDriver,
        ..v30()
    }
}

fn v32_rc3() -> CfqPolicy {
    CfqPolicy {
        has_low_latency: true,
        low_latency_idles_for_seeky: true,
        async_depth: AsyncDepth::SinceLastSync,
        ..v32_rc1()
    }
}

fn v32_rc5() -> CfqPolicy {
    let before = v32_rc3();
    CfqPolicy {
        residual: Residual::Subtracted,
        preempting_key: PreemptingKey::BeforeFirst,
        fifo: FifoDeadline::FromArrivalByRequest,
        seeky_must_think_shortly: true,
        idle_must_fit_slice: true,
        preempt: PreemptRules { metadata: MetadataPreempt::Inverted, ..before.preempt },
        ..before
    }
}

fn v32() -> CfqPolicy {
    let before = v32_rc5();
    CfqPolicy {
        preempt: PreemptRules { metadata: MetadataPreempt::Preempts, close_once: true, ..before.preempt },
        ..before
    }
}

fn for_33() -> CfqPolicy {
    let before = v32();
    CfqPolicy {
        trees: ServiceTrees::ByWorkload,
        next_measured_from: MeasuredFrom::Dispatched,
        low_latency_scales_slices: true,
        low_latency_idles_for_seeky: false,
        seek: SeekMemory::MeanPerQueue,
        seeky_idle: SeekyIdle::Off,
        short_idle_for_seeky: false,
        seeky_must_think_shortly: false,
        tree_idle: TreeIdle::LastAny,
        short_idle_in_noidle_tree: true,
        preempt: PreemptRules { noidle: NoidlePreempt::SameTree, close_once: false, ..before.preempt },
        cooperation: Cooperation::MergeSplitAfterSecond,
        ncq_detection: NcqDetection::PeriodicUnlessIdling,
        class_change: ClassChange::PrefersNoidle,
        ..before
    }
}

fn v33() -> CfqPolicy {
    let before = for_33();
    CfqPolicy {
        empty_queue_stays: true,
        async_depth: AsyncDepth::SinceDelayedSync,
        depth: DepthRule::QuantumUnlimited,
        seeky_idle: SeekyIdle::OffUnlessDeep,
        idle_when: IdleWhen::OwnRequestsDone,
        idle_after: IdleAfter::TreeFlag { or_alone: true },
        tree_idle: TreeIdle::LastSync,
        short_idle_in_noidle_tree: false,
        arrival_ends_wait: true,
        waits_busy: WaitsBusy::Alone,
        preempt: PreemptRules {
            used_slice_first: false,
            real_time_protected: true,
            noidle: NoidlePreempt::PairWhileEmpty,
            ..before.preempt
        },
        cooperation: Cooperation::MergeSplitAtExpiry,
        ncq_detection: NcqDetection::Sticky,
        class_change: ClassChange::Ignored,
        saves_workload: true,
        caps_async_turn: true,
        ..before
    }
}

fn v34() -> CfqPolicy {
    CfqPolicy {
        default_quantum: 8,
        forced_dispatch_expires_first: true,
        drain_async: DrainAsync::InFlight,
        depth: DepthRule::HalfQuantum,
        seek: SeekMemory::History,
        ..v33()
    }
}

fn v36() -> CfqPolicy {
    CfqPolicy { has_group_idle: true, ..v34() }
}

fn v37() -> CfqPolicy {
    CfqPolicy { noidle_request_ends_idle_window: true, idle_after: IdleAfter::Always, ..v36() }
}

fn v38() -> CfqPolicy {
    let before = v37();
    CfqPolicy {
        preempt: PreemptRules { pointless_wait_ends: true, ends_turn: true, ..before.preempt },
        unstarted_slice_is_residual: true,
        waits_busy: WaitsBusy::AloneAndEmpty,
        class_change: ClassChange::ChoosesAnew,
        deep_seeky_stops_idling: true,
        ..before
    }
}
