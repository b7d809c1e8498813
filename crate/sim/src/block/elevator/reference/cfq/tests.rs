//! The reference on its own: it serves everybody in the end, for every release and patch.

use super::idling::add_think_time;
use super::vectors::CASES;
use super::{Cfq, Kernel, Mean, Patches, Tunables};
use crate::block::Sync;
use crate::block::elevator::reference::driver::{Subject, actions, compare, machine};
use crate::block::elevator::reference::plain::Plain;
use proptest::prelude::*;

/// Any release with its tunables, mostly the defaults, at any tick rate.
pub(crate) fn kernel() -> impl Strategy<Value = (Kernel, Patches, Tunables)> {
    let flags = any::<[bool; 7]>();
    let one = (0_usize..7).prop_map(|which| std::array::from_fn(|index| index == which));
    let patches = prop_oneof![Just([false; 7]), one, flags].prop_map(|flag| Patches {
        revert_8e55063: flag[0],
        revert_c04645e592d: flag[1],
        rq_noidle_pair: flag[2],
        noidle_leaves_sync_tree: flag[3],
        always_try_to_idle: flag[4],
        async_ramp_up: flag[5],
        only_8e55063: flag[6],
    });
    let hz = prop_oneof![3 => Just(1000_u64), 1 => Just(250), 1 => Just(100)];
    let changes = (0_u64..12, 0_u64..12, any::<bool>(), 1_u64..12, any::<bool>());
    (prop::sample::select(&Kernel::ALL[..]), patches, hz, changes).prop_map(
        |(kernel, patches, hz, (slice_idle, group_idle, low_latency, quantum, change))| {
            let defaults = Tunables::defaults(kernel, hz);
            let changed = Tunables { slice_idle, group_idle, low_latency, quantum, ..defaults };
            (kernel, patches, if change { changed } else { defaults })
        },
    )
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(400))]
    /// Nobody waits for ever, nothing is lost, and the same life gives the same answers.
    #[test]
    fn everybody_is_served(
        (kernel, patches, tunables) in kernel(),
        mut machine in machine(),
        actions in actions(300),
    ) {
        machine.start_jiffies = 300 * tunables.hz;
        let cfq = Cfq::new(kernel, patches, tunables);
        let mut one = Plain::new(cfq.clone(), machine.device);
        let mut other = Plain::new(cfq, machine.device);
        compare(machine, &mut one, &mut other, &actions)?;
    }
}

/// Section 10 against the reference.
#[test]
fn the_reference_passes_every_vector() {
    let make = |kernel, patches, tunables, device| -> Box<dyn Subject> {
        Box::new(Plain::new(Cfq::new(kernel, patches, tunables), device))
    };
    for (name, case) in CASES {
        println!("{name}");
        case(&make);
    }
}

/// Section 10, 6: three gaps of 4 jiffies make a mean of 5: the bias of the integers.
#[test]
fn think_times_are_averaged_with_the_kernels_weights() {
    let mut mean = Mean::default();
    for (samples, total) in [(32, 128), (60, 240), (84, 338)] {
        add_think_time(&mut mean, 4);
        assert_eq!((mean.samples, mean.total), (samples, total));
    }
    assert_eq!(mean.mean, 5);
    assert!(mean.is_valid());
}

/// Section 2.14: the average of busy queues rises fast and sticks two above what is busy.
#[test]
fn the_busy_average_sticks_two_above() {
    let average = super::order::busy_average;
    assert_eq!((average(0, 1), average(1, 5), average(4, 5)), (1, 4, 5));
    assert_eq!((average(5, 1), average(4, 1), average(3, 1)), (4, 3, 3));
}

/// Section 2.14: slices of priority 4 with 5 and with 20 queues.
#[test]
fn slices_shrink_with_the_number_of_queues() {
    let tunables = Tunables::defaults(Kernel::V34, 1000);
    let scaled = |slice, queues| super::order::scaled(slice, queues, 300, &tunables);
    assert_eq!((scaled(100, 3), scaled(100, 5), scaled(100, 20), scaled(40, 5)), (100, 60, 16, 24));
}

/// Section 2.3: n = 3 busy queues (2.6.30 to for-2.6.33 count the queue itself).
#[test]
fn keys_of_three_busy_queues() {
    let cfq = Cfq::new(Kernel::V32, Patches::default(), Tunables::defaults(Kernel::V32, 1000));
    let offset = |sync, priority| 2 * (cfq.priority_slice(true, 0) - cfq.priority_slice(sync, priority));
    assert_eq!((offset(true, 4), offset(false, 4), offset(false, 3)), (160, 280, 264));
}

/// Section 10, 7: 4 far steps of 32 are not seeky, 5 are; up to 2.6.33 a mean of 8192 is not, 8193 is.
#[test]
fn seekiness_has_a_threshold() {
    for (history, mean, seeky) in [(0xf, 8192, false), (0x1f, 8193, true)] {
        for kernel in [Kernel::For33, Kernel::V33, Kernel::V34, Kernel::V38] {
            let mut cfq = Cfq::new(kernel, Patches::default(), Tunables::defaults(kernel, 1000));
            let queue = cfq.get_queue(super::bench::process(1), Sync::Sync);
            cfq.queues[queue].seek_history = history;
            cfq.queues[queue].seek.mean = mean;
            assert_eq!(cfq.is_seeky(queue), seeky, "{kernel:?}");
        }
    }
}
