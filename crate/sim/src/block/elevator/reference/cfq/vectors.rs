//! Section 10 of the model document as scripted tests of any CFQ: [`CASES`].
//!
//! Each case states its expectation for every release; a scheduler passes if none panics.

use super::bench::{Bench, Make, READ, READ_NOIDLE, START, WRITE, WRITE_SYNC, of_priority, process};
use super::{Kernel, Patches, Tunables};
use crate::block::elevator::{DeviceFacts, Serving};
use crate::block::{BioFlags, IoClass};

type Script = fn(&Make);

/// Name and script of every case.
pub(crate) const CASES: [(&str, Script); 20] = [
    ("slice lengths by priority", slice_lengths),
    ("async requests in one slice", async_quota),
    ("residual time and the key", residual),
    ("think time and the idle window", think_time),
    ("async depth after any sync completion", async_depth_any_sync),
    ("async depth after a late sync completion", async_depth_late_sync),
    ("depth with another queue busy", depth_with_others),
    ("preemption by async and by sync", preemption_by_kind),
    ("preemption by metadata", preemption_by_metadata),
    ("preemption within the noidle tree", noidle_preemption),
    ("preemption across workloads", preemption_across_workloads),
    ("idling after a NOIDLE write, alone", noidle_write_alone),
    ("idling after a NOIDLE write, with others", noidle_write_with_others),
    ("idling in the noidle tree", noidle_tree),
    ("idling with another's request in the driver", foreign_request_in_driver),
    ("detection of command queueing", hw_tag),
    ("a forced dispatch", forced_dispatch),
    ("the awaited request, small and large", awaited_request),
    ("the slice starts at the first completion", slice_start),
    ("async waits for sync", async_waits_for_sync),
];

const DISK: DeviceFacts = DeviceFacts { non_rotational: false, queues_commands: true };

fn patched(make: &Make, kernel: Kernel, patches: Patches, depth: usize) -> Bench {
    Bench::with(make(kernel, patches, Tunables::defaults(kernel, 1000), DISK), depth)
}

/// Section 2.3: slice(p) = 100 + 20 * (4 - p), from the first completion on.
fn slice_lengths(make: &Make) {
    for kernel in Kernel::ALL {
        for priority in 0..8 {
            let mut bench = Bench::new(make, kernel, 1);
            bench.submit_many(of_priority(1, IoClass::BestEffort, priority), 250, READ);
            bench.submit_many(process(2), 1, READ);
            bench.run();
            bench.work_off();
            // One completion a jiffy: the first starts the clock, the one at its end stops it, and
            // one more has been looked at by then.
            let slice =
                100 + 20 * (4 - usize::from(priority).min(4)) as i64 - 20 * (i64::from(priority) - 4).max(0);
            let served = bench.started_before(1, 2) as i64;
            assert_eq!(served, slice + 2, "{kernel:?}, priority {priority}");
        }
    }
}

/// Section 2.3: 2 * (2 + 2 * (7 - p)) async requests in one slice if others wait.
fn async_quota(make: &Make) {
    for kernel in Kernel::ALL {
        for priority in 0..8_u8 {
            let tunables = Tunables { low_latency: false, ..Tunables::defaults(kernel, 1000) };
            let subject = make(kernel, Patches::default(), tunables, DISK);
            let mut bench = Bench::with(subject, 1);
            bench.submit_many(of_priority(1, IoClass::BestEffort, priority), 60, WRITE);
            bench.submit_many(of_priority(2, IoClass::BestEffort, u8::from(priority == 0)), 60, WRITE);
            bench.run();
            bench.work_off();
            let quota = 2 * (2 + 2 * (7 - usize::from(priority)));
            assert_eq!(bench.started_before(1, 2), quota, "{kernel:?}, priority {priority}");
        }
    }
}

/// Section 2.6: time left over brings a queue forward; up to 2.6.32-rc4 it sets it back.
fn residual(make: &Make) {
    for kernel in Kernel::ALL {
        let mut bench = Bench::new(make, kernel, 1);
        bench.submit_many(process(1), 200, READ);
        bench.run();
        for _ in 0..71 {
            bench.tick(1);
            bench.complete_oldest();
        }
        // 30 ms are left. Real time comes in between.
        bench.submit_many(of_priority(3, IoClass::RealTime, 4), 20, READ_NOIDLE);
        assert_ne!(bench.serving(), Serving::Context(1), "{kernel:?}");
        for _ in 0..12 {
            bench.tick(1);
            bench.complete_oldest();
        }
        // The first queue's key is 80 - 30 or 80 + 30 after the preemption, this one's 12 + 40 or, if a
        // new queue counts itself, 12 + 80.
        bench.submit_many(of_priority(2, IoClass::BestEffort, 2), 5, READ);
        bench.work_off();
        let back: Vec<u32> = bench.started.iter().map(|(_, _, owner)| *owner).collect();
        let last = back.iter().rposition(|owner| *owner == 3).expect("real time was served");
        let expected = if kernel >= Kernel::V32Rc5 { 1 } else { 2 };
        assert_eq!(back[last + 1], expected, "{kernel:?}");
    }
}

/// Section 2.10: from the third sample on, a mean think time above 8 ms ends idling for a queue by
/// itself; from for-2.6.33 on the last queue of its tree is still idled for (2.15).
fn think_time(make: &Make) {
    for kernel in Kernel::ALL {
        let mut bench = Bench::new(make, kernel, 1);
        for count in 1..=3 {
            let ticket = bench.submit(process(1), 1000 + 32 * count, 32, READ);
            bench.run();
            bench.tick(1);
            bench.complete(ticket);
            let idles = count < 3 || kernel >= Kernel::For33;
            assert_eq!(bench.idle_for(), idles.then_some(8), "{kernel:?}, request {count}");
            bench.tick(20);
        }
    }
}

fn async_depth(make: &Make, kernel: Kernel, elapsed: u64, others: bool) -> usize {
    let mut bench = Bench::new(make, kernel, 31);
    let read = bench.submit(process(1), 1000, 1, READ_NOIDLE);
    bench.run();
    bench.complete(read);
    bench.tick(elapsed);
    bench.submit_many(process(1), 40, WRITE);
    if others {
        bench.submit_many(of_priority(2, IoClass::BestEffort, 0), 1, WRITE);
    }
    bench.run();
    bench.in_device.len()
}

/// Section 2.9 f, 2.6.32 from rc3 on: the depth grows by one each 100 ms after any sync completion.
fn async_depth_any_sync(make: &Make) {
    for kernel in [Kernel::V32Rc3, Kernel::V32Rc5, Kernel::V32] {
        for (elapsed, depth) in [(0, 1), (99, 1), (100, 1), (199, 1), (250, 2), (399, 3), (2000, 16)] {
            assert_eq!(async_depth(make, kernel, elapsed, false), depth, "{kernel:?}, {elapsed}");
        }
        assert_eq!(async_depth(make, kernel, 2000, true), 4, "{kernel:?}, others busy");
    }
    for kernel in [Kernel::V30, Kernel::V32Rc1] {
        assert_eq!(async_depth(make, kernel, 0, false), 16, "{kernel:?} has no low latency");
    }
    // Section 0.3: the sole async queue counts as one to idle for, so a second request is refused.
    assert_eq!(async_depth(make, Kernel::For33, 2000, false), 1);
}

/// Section 2.9 f, 2.6.33 on: only a sync request that took 125 ms or more throttles.
fn async_depth_late_sync(make: &Make) {
    for kernel in Kernel::ALL.into_iter().filter(|kernel| *kernel >= Kernel::V33) {
        for (took, throttled) in [(124, false), (125, true)] {
            let mut bench = Bench::new(make, kernel, 31);
            let read = bench.submit(process(1), 1000, 1, READ_NOIDLE);
            bench.run();
            bench.tick(took);
            bench.complete(read);
            bench.submit_many(process(1), 40, WRITE);
            bench.tick(10);
            bench.run();
            let depth = bench.in_device.len();
            assert_eq!(depth == 1, throttled, "{kernel:?}, {took} ms: depth {depth}");
        }
    }
}

/// Section 2.9 d: from 2.6.34 on a queue may use the whole quantum while most of its slice is left.
fn depth_with_others(make: &Make) {
    for kernel in Kernel::ALL {
        let mut bench = Bench::new(make, kernel, 31);
        bench.submit_many(process(1), 60, READ);
        bench.submit_many(process(2), 1, READ);
        bench.run();
        assert_eq!(bench.in_device.len(), 4, "{kernel:?}, new slice");
        bench.tick(1);
        bench.complete_oldest();
        let full = if kernel >= Kernel::V34 { 8 } else { 4 };
        assert_eq!(bench.in_device.len(), full, "{kernel:?}, 100 ms left");
        bench.tick(80);
        for _ in 0..full - 3 {
            bench.complete_oldest();
        }
        assert_eq!(bench.in_device.len(), 4, "{kernel:?}, 20 ms left");
    }
}

/// Section 2.11: a waiting sync queue is not preempted by async, an async queue is by sync.
fn preemption_by_kind(make: &Make) {
    for kernel in Kernel::ALL {
        let mut bench = Bench::new(make, kernel, 1);
        let read = bench.submit(process(1), 1000, 32, READ);
        bench.run();
        bench.tick(1);
        bench.complete(read);
        bench.submit(process(2), 9_000_000, 32, WRITE);
        assert_eq!((bench.serving(), bench.idle_for()), (Serving::Context(1), Some(8)), "{kernel:?}");

        let mut bench = Bench::new(make, kernel, 1);
        bench.submit_many(process(1), 20, WRITE);
        bench.run();
        assert_eq!(bench.serving(), Serving::Async);
        bench.submit(process(2), 9_000_000, 32, READ);
        bench.work_off();
        // The device has one write and has looked at another at most when the read arrives. From
        // for-2.6.33 to 2.6.37 the workload is restored, and the read waits for its turn.
        let writes = bench.started_before(1, 2);
        let undone = kernel >= Kernel::For33 && kernel < Kernel::V38;
        assert_eq!(writes > 2, undone, "{kernel:?}: {writes} writes first");
    }
}

/// Section 2.11 row 10; 2.6.32-rc5 and -rc6 have it the wrong way round.
fn preemption_by_metadata(make: &Make) {
    for kernel in Kernel::ALL {
        let mut bench = Bench::new(make, kernel, 1);
        bench.submit_many(process(1), 20, READ);
        bench.run();
        bench.submit(process(2), 90_000_000, 1, READ.with(BioFlags::META));
        let preempts = kernel != Kernel::V32Rc5;
        // The device is full: nobody is chosen yet.
        let expected = if preempts { Serving::Nobody } else { Serving::Context(1) };
        assert_eq!(bench.serving(), expected, "{kernel:?}");
    }
}

/// Three reads with long pauses: the queue has no idle window any more.
fn make_noidle(bench: &mut Bench, io_context: u32) {
    for count in 1..=3 {
        let page = u64::from(io_context) * 10_000_000 + 32 * count;
        let ticket = bench.submit(process(io_context), page, 32, READ);
        bench.run();
        bench.complete(ticket);
        bench.tick(20);
    }
}

/// Section 2.11 row 9, 2.6.33 on: two queues alone in the noidle tree change places at once.
fn noidle_preemption(make: &Make) {
    for kernel in Kernel::ALL.into_iter().filter(|kernel| *kernel >= Kernel::V33) {
        for third in [false, true] {
            let mut bench = Bench::new(make, kernel, 1);
            (1..=3).for_each(|io_context| make_noidle(&mut bench, io_context));
            for page in 0..3 {
                bench.submit(process(1), 20_000_000 + 64 * page, 32, READ);
            }
            bench.run();
            if third {
                bench.submit(process(3), 40_000_000, 32, READ);
            }
            assert_eq!(bench.serving(), Serving::Context(1), "{kernel:?}");
            // Now the queue is empty: one request in the device, one looked at.
            bench.complete_oldest();
            bench.submit(process(2), 60_000_000, 32, READ);
            // A preempted queue is gone at once; the device is full, so nobody is chosen yet. From
            // 2.6.38 on a queue that is empty and not idled for gives way in any case.
            let expected = if third && kernel < Kernel::V38 { Serving::Context(1) } else { Serving::Nobody };
            assert_eq!(bench.serving(), expected, "{kernel:?}, third queue: {third}");
        }
    }
}

/// Section 0.3: the preempted workload keeps its turn up to 2.6.37.
fn preemption_across_workloads(make: &Make) {
    for kernel in Kernel::ALL {
        let mut bench = Bench::new(make, kernel, 1);
        bench.submit_many(process(1), 20, WRITE);
        bench.run();
        bench.complete_oldest();
        bench.submit(process(2), 9_000_000, 32, READ);
        bench.complete_oldest();
        let restored = kernel >= Kernel::For33 && kernel < Kernel::V38;
        let expected = if restored { Serving::Async } else { Serving::Context(2) };
        assert_eq!(bench.serving(), expected, "{kernel:?}");
    }
}

/// Section 2.15: who idles after the NOIDLE write of the only queue.
fn noidle_write_alone(make: &Make) {
    let idles = |kernel: Kernel, patches: Patches| {
        let mut bench = patched(make, kernel, patches, 1);
        let write = bench.submit(process(1), 1000, 16, WRITE_SYNC);
        bench.run();
        bench.tick(1);
        bench.complete(write);
        bench.idle_for()
    };
    for kernel in Kernel::ALL {
        let expected = (kernel >= Kernel::V33).then_some(8);
        assert_eq!(idles(kernel, Patches::default()), expected, "{kernel:?}");
    }
    let reverted = Patches { revert_8e55063: true, ..Patches::default() };
    let clause = Patches { revert_c04645e592d: true, ..Patches::default() };
    let pair = Patches { rq_noidle_pair: true, ..Patches::default() };
    for kernel in [Kernel::V33, Kernel::V34, Kernel::V36] {
        assert_eq!(idles(kernel, reverted), None, "{kernel:?}");
        // The queue still lives in the SYNC tree, where the flag is ignored.
        assert_eq!(idles(kernel, clause), Some(8), "{kernel:?}");
        // The pair leaves the clause "alone in its group" in place (2.18).
        assert_eq!(idles(kernel, pair), Some(8), "{kernel:?}");
    }
}

/// Section 10, 13: with another queue in the SYNC tree.
fn noidle_write_with_others(make: &Make) {
    let idles = |kernel: Kernel, patches: Patches| {
        let mut bench = patched(make, kernel, patches, 1);
        let write = bench.submit(process(1), 1000, 16, WRITE_SYNC);
        bench.run();
        bench.submit(process(2), 9_000_000, 16, READ);
        bench.tick(1);
        bench.complete(write);
        bench.idle_for()
    };
    for kernel in [Kernel::V30, Kernel::V32, Kernel::For33] {
        assert_eq!(idles(kernel, Patches::default()), None, "{kernel:?}");
    }
    for kernel in [Kernel::V33, Kernel::V34, Kernel::V36] {
        assert_eq!(idles(kernel, Patches::default()), Some(8), "{kernel:?}");
        let pair = Patches { rq_noidle_pair: true, ..Patches::default() };
        assert_eq!(idles(kernel, pair), None, "{kernel:?}, the pair honours NOIDLE everywhere");
    }
}

/// Section 2.15: one idle at the end of the noidle tree, unless all requests of the turn were NOIDLE.
fn noidle_tree(make: &Make) {
    for kernel in [Kernel::V33, Kernel::V34, Kernel::V36] {
        for (flags, expected) in [(WRITE_SYNC, None), (READ, Some(8))] {
            let mut bench = Bench::new(make, kernel, 1);
            make_noidle(&mut bench, 1);
            let first = bench.submit(process(1), 30_000_000, 16, flags);
            bench.submit(process(2), 9_000_000, 16, WRITE);
            bench.tick(10);
            bench.run();
            assert_eq!(bench.in_device, [first], "{kernel:?}");
            bench.tick(1);
            bench.complete(first);
            assert_eq!(bench.idle_for(), expected, "{kernel:?}, {flags:?}");
        }
    }
}

/// Section 10, 14: only the queue's own requests count from 2.6.33 on.
fn foreign_request_in_driver(make: &Make) {
    for kernel in Kernel::ALL {
        let mut bench = Bench::new(make, kernel, 4);
        bench.submit(process(1), 1000, 16, READ);
        bench.run();
        let urgent = bench.submit(of_priority(2, IoClass::RealTime, 4), 9_000_000, 16, READ);
        bench.run();
        assert_eq!(bench.in_device.len(), 2, "{kernel:?}");
        bench.tick(1);
        bench.complete(urgent);
        let expected = (kernel >= Kernel::V33).then_some(8);
        assert_eq!(bench.idle_for(), expected, "{kernel:?}");
        let reverted = Patches { revert_8e55063: true, ..Patches::default() };
        if kernel >= Kernel::V33 && kernel < Kernel::V37 {
            let mut bench = patched(make, kernel, reverted, 4);
            bench.submit(process(1), 1000, 16, READ);
            bench.run();
            let urgent = bench.submit(of_priority(2, IoClass::RealTime, 4), 9_000_000, 16, READ);
            bench.tick(1);
            bench.complete(urgent);
            assert_eq!(bench.idle_for(), None, "{kernel:?}, 8e55063 reverted");
        }
    }
}

/// Completes 60 requests of one process while more wait, then the rest.
fn load(bench: &mut Bench) {
    bench.submit_many(process(1), 70, READ);
    bench.run();
    while !bench.in_device.is_empty() {
        bench.complete_oldest();
    }
}

/// Section 10, 15: on a device without seeks, command queueing decides whether anybody idles.
fn hw_tag(make: &Make) {
    let fast = DeviceFacts { non_rotational: true, queues_commands: true };
    for kernel in Kernel::ALL {
        let new = |depth| {
            Bench::with(make(kernel, Patches::default(), Tunables::defaults(kernel, 1000), fast), depth)
        };
        // A request that has been looked at counts: three in the device and one more make four.
        let mut bench = new(3);
        load(&mut bench);
        assert_eq!(bench.idle_for(), Some(8), "{kernel:?}, never more than 4");
        let mut bench = new(4);
        load(&mut bench);
        assert_eq!(bench.idle_for(), None, "{kernel:?}, 5 at once");
        bench.depth = 1;
        load(&mut bench);
        load(&mut bench);
        let forgets = kernel < Kernel::V33;
        assert_eq!(bench.idle_for(), forgets.then_some(8), "{kernel:?}, later only 2");
    }
}

/// Section 10, 17.
fn forced_dispatch(make: &Make) {
    for kernel in Kernel::ALL {
        let mut bench = Bench::new(make, kernel, 1);
        let read = bench.submit(process(1), 1000, 16, READ);
        bench.run();
        bench.tick(1);
        bench.complete(read);
        bench.submit_many(process(2), 3, READ);
        bench.submit_many(process(3), 4, WRITE);
        assert_eq!(bench.serving(), Serving::Context(1), "{kernel:?}");
        assert_eq!(bench.drain(), 7, "{kernel:?}");
        assert_eq!((bench.serving(), bench.timer), (Serving::Nobody, None), "{kernel:?}");
    }
}

/// Section 2.8: one page alone waits for more, unless another queue is busy.
fn awaited_request(make: &Make) {
    for kernel in Kernel::ALL {
        for (pages, at_once) in [(1, false), (2, true)] {
            let mut bench = Bench::new(make, kernel, 1);
            let read = bench.submit(process(1), 1000, 16, READ);
            bench.run();
            bench.tick(1);
            bench.complete(read);
            bench.tick(2);
            bench.submit(process(1), 1016, pages, READ);
            assert_eq!(bench.in_device.len(), usize::from(at_once), "{kernel:?}, {pages} pages");
            bench.tick(6);
            assert_eq!(bench.in_device.len(), 1, "{kernel:?}, the timer lets it through");
            assert_eq!(bench.started.last().map(|start| start.0), Some(START + if at_once { 3 } else { 9 }));
        }
    }
}

/// Section 2.7: a request that takes long costs its queue nothing.
fn slice_start(make: &Make) {
    for kernel in Kernel::ALL {
        let mut bench = Bench::new(make, kernel, 1);
        bench.submit_many(process(1), 50, READ);
        bench.submit_many(process(2), 1, READ);
        bench.run();
        bench.tick(500);
        bench.complete_oldest();
        bench.tick(99);
        bench.complete_oldest();
        assert_eq!(bench.serving(), Serving::Context(1), "{kernel:?}, 99 ms after the first completion");
        bench.tick(1);
        bench.complete_oldest();
        assert_eq!(bench.serving(), Serving::Context(2), "{kernel:?}, 100 ms after");
    }
}

/// Section 2.9 b.
fn async_waits_for_sync(make: &Make) {
    for kernel in Kernel::ALL {
        let mut bench = Bench::new(make, kernel, 4);
        let read = bench.submit(process(1), 1000, 16, READ_NOIDLE);
        bench.run();
        bench.submit(process(2), 9_000_000, 16, WRITE);
        bench.run();
        assert_eq!(bench.in_device, [read], "{kernel:?}");
        bench.complete(read);
        bench.tick(9);
        assert_eq!(bench.in_device.len(), 1, "{kernel:?}");
        assert_ne!(bench.in_device, [read], "{kernel:?}");
    }
}
