//! What is started when, and what it is held up by: plugs, a busy elevator, a full device, a full pool (sections 1.2,
//! 1.3 and 1.7), and how that is booked.

use super::*;
use crate::device::ServerOptions;
use crate::observe::HeldReason;

const UNPLUG: BioFlags = BioFlags::SYNC.with(BioFlags::UNPLUG);

/// Device A with room for one command.
fn shallow() -> DeviceOptions {
    DeviceOptions::Server(ServerOptions { depth: 1, ..ServerOptions::default() })
}

/// One task's read is in the device, another's waits in CFQ.
fn one_waits() -> Bench {
    let mut bench = Bench::new("2.6.35", "cfq");
    bench.submit_as(1, 0, 8, UNPLUG);
    bench.run_until(100 * US);
    bench.submit_as(2, 500_000, 8, READ);
    bench.unplug();
    assert_eq!(bench.starts().len(), 1);
    bench
}

/// Section 0.4, point 4: while another queue's request waits, one that arrives neither plugs the queue nor is
/// started, not even with UNPLUG; the next completion starts it.
#[test]
fn a_request_beside_waiting_ones_is_not_started_on_arrival() {
    let mut bench = one_waits();
    bench.submit_as(1, 8, 8, READ);
    assert!(!bench.queue.is_plugged());
    bench.submit_as(1, 16, 8, UNPLUG);
    assert_eq!(bench.starts().len(), 1, "no plug, so nothing is run");
    bench.run_until(441 * US);
    assert_eq!(bench.starts()[1], (440, 8, 16), "the completion runs the queue");
}

/// A task's service is the time the device is busy in its own slice.
#[test]
fn service_belongs_to_whose_slice_it_is() {
    let bench = one_waits();
    assert_eq!(bench.queue.served_ns(1, 300 * US), 300 * US);
    assert_eq!(bench.queue.served_ns(2, 300 * US), 0);
    let mut bench = Bench::new("2.6.35", "deadline");
    bench.submit_as(1, 0, 8, UNPLUG);
    bench.run_until(600 * US);
    let busy_ns = bench.queue.held_totals(600 * US).get(HeldReason::Busy);
    assert!((440 * US..441 * US).contains(&busy_ns), "{busy_ns}");
    assert_eq!(bench.queue.served_ns(2, 600 * US), busy_ns, "where nobody has slices, it is everybody's");
}

/// Section 1.7: the elevator is asked even when the device is full: one request is looked at and waits.
#[test]
fn a_full_device_is_peeked_for() {
    let mut bench = Bench::on("2.6.35", "noop", &shallow(), &[]);
    bench.submit(0, 8, UNPLUG);
    bench.submit(1000, 8, UNPLUG);
    let dispatched =
        bench.recorder.events().iter().filter(|event| matches!(event.kind, TraceKind::Dispatch(_))).count();
    assert_eq!((dispatched, bench.starts().len()), (2, 1));
}

/// Section 1.7: what is dispatched together is sorted one way from where the driver's last request ended.
#[test]
fn the_dispatch_list_goes_on_from_the_last_request() {
    for elevator in ["noop", "cfq"] {
        let mut bench = Bench::on("2.6.35", elevator, &shallow(), &[]);
        bench.submit(500_000, 8, WRITE_SYNC_PLUG);
        bench.unplug();
        bench.submit(100, 8, WRITE_SYNC_PLUG);
        bench.submit(600_000, 8, WRITE_SYNC_PLUG);
        bench.submit(900_000, 8, WRITE_SYNC_PLUG.with(BioFlags::BARRIER));
        bench.run_until(100 * MS);
        let order: Vec<u64> = bench.starts().iter().map(|start| start.1).collect();
        assert_eq!(order, [500_000, 600_000, 100, 900_000], "{elevator}");
    }
}

/// Section 1.2, rule 5: who sleeps for a request unplugs the queue first.
#[test]
fn who_sleeps_for_a_request_unplugs() {
    let mut bench = Bench::with("2.6.35", "noop", "device-a", &[("nr_requests", 4)]);
    for n in 0..4 {
        bench.submit_as(1, n * 1000, 8, READ);
    }
    assert_eq!(bench.starts().len(), 4, "four start the queue");
    assert_eq!(bench.submit_as(1, 10_000, 8, READ), Submission::Accepted, "a batcher");
    assert!(bench.queue.is_plugged());
    assert_eq!(bench.submit_as(2, 20_000, 8, READ), Submission::MustWait(Sync::Sync));
    assert!(!bench.queue.is_plugged());
    assert_eq!(bench.starts().len(), 5);
}

/// Section 1.2, rule 5: who was woken for a request becomes a batcher, and gets one although others have filled the
/// pool again.
#[test]
fn who_was_woken_for_a_request_gets_one() {
    let mut bench = Bench::with("2.6.35", "noop", "device-a", &[("nr_requests", 4)]);
    for n in 0..4 {
        bench.submit_as(1, n * 1000, 8, READ);
    }
    assert_eq!(bench.submit_as(2, 20_000, 8, READ), Submission::MustWait(Sync::Sync));
    bench.run_until(500 * US);
    assert_eq!(bench.out.wake[Sync::Sync.index()], 1);
    assert_eq!(bench.submit_as(3, 30_000, 8, READ), Submission::Accepted, "it takes the free one");
    assert_eq!(bench.submit_as(4, 40_000, 8, READ), Submission::MustWait(Sync::Sync), "it comes too late");
    assert_eq!(bench.resume_as(2, 20_000, 8, READ), Submission::Accepted);
}

/// Section 1.8 and 2.6.37: requests go on beside a flush, and the flush's time is not charged to them as draining.
#[test]
fn a_flush_of_2_6_37_stops_nobody() {
    let flush = WRITE_SYNC_PLUG.with(BioFlags::FLUSH).with(BioFlags::FUA);
    let mut bench = Bench::with("2.6.37", "noop", "sata", &[]);
    bench.submit(1_000_000, 1024, UNPLUG.with(WRITE));
    bench.run_until(10 * MS);
    let before = bench.starts().len();
    bench.submit(0, 8, flush);
    bench.unplug();
    bench.submit(2_000_000, 8, UNPLUG);
    bench.run_until(10 * MS + 1);
    assert_eq!(bench.starts().len(), before + 1, "a read starts while the cache is flushed");
    bench.run_until(200 * MS);
    assert_eq!(bench.queue.allocated(), 0);
    let held = bench.queue.held_totals(200 * MS);
    assert!(held.get(HeldReason::Flushing) > 0);
    assert_eq!(held.get(HeldReason::Draining), 0);
}

/// Flushes that come while one is carried out are carried out in turn.
#[test]
fn flushes_wait_in_order() {
    let flush = WRITE_SYNC_PLUG.with(BioFlags::FLUSH).with(BioFlags::FUA);
    let mut bench = Bench::with("2.6.37", "noop", "sata", &[]);
    bench.submit(5_000_000, 8, UNPLUG.with(WRITE));
    for sector in [1000, 2000, 3000] {
        bench.submit(sector, 8, flush.with(BioFlags::UNPLUG));
    }
    bench.run_until(1000 * MS);
    let order: Vec<u64> = bench.starts().iter().map(|start| start.1).collect();
    assert_eq!(order, [5_000_000, 1000, 2000, 3000]);
    assert_eq!(bench.queue.allocated(), 0);
}
