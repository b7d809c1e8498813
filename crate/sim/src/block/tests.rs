//! The request queue as a whole: plugging, merging, barriers, waiting for requests.
//!
//! Goal: each rule of section 1 that a submitter can observe. Method: a queue over the serial device
//! of section 0.4, driven by hand; what happens is read off the event trace.

mod held_up;
mod merging;

use super::*;
use crate::device::{AnyDevice, DeviceOptions, preset};
use crate::engine::Clock;
use crate::kernel::Kernel;
use crate::observe::{Recorder, TraceKind};
use crate::scenario::{FileSystemKind, KernelChoice};
use litemap::LiteMap;

const MS: u64 = 1_000_000;
const US: u64 = 1_000;
const READ: BioFlags = BioFlags(0);
const WRITE: BioFlags = BioFlags::WRITE;
const WRITE_SYNC_PLUG: BioFlags = WRITE.with(BioFlags::SYNC).with(BioFlags::NOIDLE);

/// A queue under test with its clock.
struct Bench {
    queue: BlockQueue,
    recorder: Recorder,
    out: BlockOut,
    now_ns: u64,
    next_tag: u32,
}

impl Bench {
    fn new(release: &str, elevator: &str) -> Self {
        Self::with(release, elevator, "device-a", &[])
    }

    fn with(release: &str, elevator: &str, device: &str, tunables: &[(&str, u64)]) -> Self {
        let options: DeviceOptions = preset(device).expect("a named device").options();
        Self::on(release, elevator, &options, tunables)
    }

    fn on(release: &str, elevator: &str, device: &DeviceOptions, tunables: &[(&str, u64)]) -> Self {
        let clock = Clock::new(1000, false);
        let choice = KernelChoice {
            release: release.to_owned(),
            patches: Vec::new(),
            elevator: elevator.to_owned(),
            tunables: tunables
                .iter()
                .map(|&(name, value)| (name.to_owned(), value))
                .collect::<LiteMap<_, _>>(),
        };
        let kernel = Kernel::new(&choice, FileSystemKind::Ext4, &clock).expect("a known kernel");
        let device = AnyDevice::new(device, 1).expect("valid options");
        Self {
            queue: BlockQueue::new(kernel.policy.block, kernel.limits, kernel.elevator, device, clock),
            recorder: Recorder::new(100_000),
            out: BlockOut::default(),
            now_ns: 0,
            next_tag: 0,
        }
    }

    fn submit_as(&mut self, task: u32, sector: u64, sectors: u32, flags: BioFlags) -> Submission {
        self.attempt(task, sector, sectors, flags, false)
    }

    /// The second attempt of a task that was woken for a free request.
    fn resume_as(&mut self, task: u32, sector: u64, sectors: u32, flags: BioFlags) -> Submission {
        self.attempt(task, sector, sectors, flags, true)
    }

    fn attempt(
        &mut self,
        task: u32,
        sector: u64,
        sectors: u32,
        flags: BioFlags,
        resumed: bool,
    ) -> Submission {
        let submitter = Submitter { task, io_context: task, class: IoClass::BestEffort, priority: 4 };
        let bio = Bio { sector, sectors, flags, submitter, tag: BioTag(self.next_tag) };
        self.next_tag += 1;
        self.recorder.set_context(self.now_ns, task);
        self.queue.submit(self.now_ns, &bio, resumed, &mut self.recorder, &mut self.out)
    }

    fn submit(&mut self, sector: u64, sectors: u32, flags: BioFlags) -> Submission {
        self.submit_as(1, sector, sectors, flags)
    }

    /// Somebody is going to wait for I/O.
    fn unplug(&mut self) {
        self.queue.unplug(self.now_ns, &mut self.recorder, &mut self.out);
    }

    /// Runs timers, the device and kblockd (which gets a CPU at once) up to `until_ns`.
    fn run_until(&mut self, until_ns: u64) {
        while let Some(next) = self.queue.next_event_ns().filter(|&next| next <= until_ns) {
            self.now_ns = next;
            self.recorder.set_context(next, u32::MAX);
            self.queue.advance(next, &mut self.recorder, &mut self.out);
            if std::mem::take(&mut self.out.kick_kblockd) {
                self.queue.run_work(next, &mut self.recorder, &mut self.out);
            }
        }
        self.now_ns = until_ns;
    }

    /// (time in us, first sector, sectors) of every start.
    fn starts(&self) -> Vec<(u64, u64, u32)> {
        let started = |event: &crate::observe::TraceEvent| match event.kind {
            TraceKind::Start(facts, _) => Some((event.time_ns / US, facts.sector, facts.sectors)),
            _ => None,
        };
        self.recorder.events().iter().filter_map(started).collect()
    }
}

/// Section 10, test 2: three requests on an idle queue wait for the plug's 3 ms; the fourth starts
/// all of them.
#[test]
fn a_plug_gathers_up_to_four_requests() {
    for elevator in ["noop", "deadline", "cfq"] {
        let mut bench = Bench::new("2.6.35", elevator);
        for n in 0..3 {
            bench.submit(n * 1000, 8, READ);
        }
        assert!(bench.starts().is_empty(), "{elevator}");
        bench.run_until(5 * MS);
        assert_eq!(bench.starts()[0].0, 3000, "{elevator}: the timer fires on the third tick");

        let mut bench = Bench::new("2.6.35", elevator);
        for n in 0..4 {
            bench.submit(n * 1000, 8, READ);
        }
        assert_eq!(bench.starts()[0].0, 0, "{elevator}: the fourth starts the queue");
    }
}

/// Section 10, test 2: a read that carries UNPLUG starts at once.
#[test]
fn unplug_flag_starts_at_once() {
    let mut bench = Bench::new("2.6.35", "cfq");
    bench.submit(0, 8, BioFlags::SYNC.with(BioFlags::UNPLUG));
    assert_eq!(bench.starts(), [(0, 0, 8)]);
}

/// Section 1.3: an SSD with tags is never plugged; in 2.6.32 only once it was seen deep.
#[test]
fn non_rotational_queueing_devices_are_not_plugged() {
    let mut bench = Bench::with("2.6.35", "noop", "ssd", &[]);
    bench.submit(0, 8, READ);
    assert_eq!(bench.starts().len(), 1);

    let mut bench = Bench::with("2.6.32", "noop", "ssd", &[]);
    bench.submit(0, 8, READ);
    assert!(bench.starts().is_empty(), "2.6.32 does not know yet that it queues");
    for n in 1..8 {
        bench.submit(n * 1000, 8, READ);
    }
    bench.run_until(100 * MS);
    let before = bench.starts().len();
    bench.submit(50_000, 8, READ);
    assert_eq!(bench.starts().len(), before + 1, "it has had more than 4 requests in flight");
}

/// Section 1.4: sixteen pages become one request while plugged, and one of 512 KiB takes no more.
#[test]
fn contiguous_bios_merge_up_to_the_limit() {
    let mut bench = Bench::new("2.6.35", "cfq");
    for page in 0..130 {
        bench.submit(page * 8, 8, WRITE_SYNC_PLUG);
    }
    bench.unplug();
    bench.run_until(20 * MS);
    assert_eq!(bench.starts().iter().map(|start| start.2).collect::<Vec<_>>(), [1024, 16]);
    assert_eq!(bench.out.completed.len(), 130, "every bio completes");
}

/// Section 1.4: a bio in front of a request joins it; one that fills a gap makes one of two.
#[test]
fn front_merges_and_coalescing() {
    for elevator in ["deadline", "cfq"] {
        let mut bench = Bench::new("2.6.35", elevator);
        bench.submit(16, 8, WRITE_SYNC_PLUG);
        bench.submit(0, 8, WRITE_SYNC_PLUG);
        bench.submit(8, 8, WRITE_SYNC_PLUG);
        bench.submit(100, 8, WRITE_SYNC_PLUG);
        bench.submit(92, 8, WRITE_SYNC_PLUG);
        bench.unplug();
        bench.run_until(20 * MS);
        let starts: Vec<_> = bench.starts().iter().map(|start| (start.1, start.2)).collect();
        assert_eq!(starts, [(0, 24), (92, 16)], "{elevator}");
    }
}

/// Section 1.4: a sync bio never joins an async request under CFQ; under deadline it does.
#[test]
fn cfq_keeps_sync_and_async_apart() {
    for (elevator, requests) in [("cfq", 2), ("deadline", 1)] {
        let mut bench = Bench::new("2.6.35", elevator);
        bench.submit(0, 8, WRITE);
        bench.submit(8, 8, WRITE_SYNC_PLUG);
        bench.unplug();
        bench.run_until(100 * MS);
        assert_eq!(bench.starts().len(), requests, "{elevator}");
    }
}

/// Section 10, test 17: a barrier sends everything queued ahead of it, of every queue, and waits
/// until the device is empty; what comes later waits for the barrier.
#[test]
fn a_barrier_drains() {
    let mut bench = Bench::new("2.6.35", "cfq");
    for task in 1..4 {
        bench.submit_as(task, u64::from(task) * 100_000, 8, READ);
    }
    bench.submit_as(9, 900_000, 8, WRITE_SYNC_PLUG.with(BioFlags::BARRIER));
    bench.submit_as(1, 100_008, 8, READ);
    bench.run_until(100 * MS);
    let order: Vec<u64> = bench.starts().iter().map(|start| start.1).collect();
    assert_eq!(order, [100_000, 200_000, 300_000, 900_000, 100_008]);
    let starts = bench.starts();
    // Three reads of 440.24 us on a serial device, then the barrier's write of 430.24 us.
    assert_eq!((starts[3].0, starts[4].0), (1320, 1750));
}

/// Section 1.8: with a volatile cache the barrier is flushed before and after; from 2.6.37 the flags
/// mean nothing to a device without one, and the write goes through the elevator.
#[test]
fn barriers_flush_only_volatile_caches() {
    let barrier = WRITE_SYNC_PLUG.with(BioFlags::BARRIER);
    let mut bench = Bench::with("2.6.35", "cfq", "sata", &[]);
    bench.submit(0, 8, barrier);
    bench.run_until(100 * MS);
    let flushed = bench.out.completed.len();
    assert_eq!(flushed, 1);
    let held = bench.queue.held_totals(100 * MS).get(crate::observe::HeldReason::Flushing);
    assert!(held > 0, "time was spent flushing");

    let mut bench = Bench::new("2.6.37", "cfq");
    bench.submit(0, 8, WRITE_SYNC_PLUG.with(BioFlags::FLUSH).with(BioFlags::FUA));
    assert!(bench.queue.is_plugged(), "an ordinary write: it is plugged like one");
}

/// Section 1.2: when the pool is full the submitter is told to wait, and is woken by a completion.
#[test]
fn a_full_pool_makes_submitters_wait() {
    let mut bench = Bench::with("2.6.35", "noop", "device-a", &[("nr_requests", 4)]);
    let mut waits = 0;
    for n in 0..40 {
        let result = bench.submit_as(n, u64::from(n) * 1000, 8, READ);
        waits += u32::from(result == Submission::MustWait(Sync::Sync));
    }
    assert!(waits > 0);
    assert_eq!(u64::from(waits), bench.queue.counters().sleeps);
    bench.run_until(100 * MS);
    assert!(bench.out.wake[Sync::Sync.index()] > 0);
    assert_eq!(bench.queue.allocated(), 0, "everything accepted has completed");
}
