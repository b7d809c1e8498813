//! Worked examples of section 2, where the comparison with the reference has too few queues to come to them.

use super::*;
use crate::kernel::Policy;
use crate::scenario::FileSystemKind;

/// CFQ of 2.6.35 with async queues of all eight priorities and one sync queue, all of them waiting.
fn with_nine_queues(slice_idle_ms: u64) -> Cfq {
    let clock = Clock::new(1000, false);
    let policy = Policy::new("2.6.35", &[], FileSystemKind::Ext4).expect("a known release").cfq;
    let mut tunables = CfqTunables::for_clock(&clock, &policy);
    tunables.set("slice_idle", slice_idle_ms, &clock).expect("in its range");
    let mut cfq = Cfq::new(policy, tunables, &clock);
    let mut owners: Vec<_> = (0..8).map(|priority| (Owner::Async, priority)).collect();
    owners.push((Owner::Context(1), 4));
    for (owner, priority) in owners {
        let id = cfq.new_queue(owner, 1, IoClass::BestEffort, priority);
        cfq.queue_mut(id).idle_window = true;
        cfq.place_in_tree(id, false, 0);
        cfq.busy_queues += 1;
    }
    cfq
}

/// Section 2.14: a type's turn is its share of the target latency of 300 ms. A sync one is at least two idle windows
/// long, an async one is cut by the ratio of the slices, 40 to 100.
#[test]
fn turns_by_type() {
    for (slice_idle_ms, sync, background) in [(8, 33, 106), (100, 200, 106)] {
        let mut cfq = with_nine_queues(slice_idle_ms);
        cfq.serving_class = IoClass::BestEffort;
        cfq.serving_workload = WorkloadType::Sync;
        assert_eq!(cfq.turn_length(), sync);
        cfq.serving_workload = WorkloadType::Async;
        assert_eq!(cfq.turn_length(), background, "266 of 300 ms, of these 40 %");
    }
}
