//! Deadline, rule by rule: model/block-layer.md, sections 3.1, 1.4 and 10.16.

use super::super::reference::bench::{Bench, READ, WRITE, WRITE_SYNC, bio};
use super::super::reference::driver::Subject;
use super::*;

fn tunables() -> DeadlineTunables {
    DeadlineTunables::for_clock(&Clock::new(1000, false))
}

fn bench(change: impl FnOnce(&mut DeadlineTunables)) -> Bench<Deadline> {
    let mut tunables = tunables();
    change(&mut tunables);
    Bench::new(Deadline::new(tunables), 10_000)
}

/// Section 10.16: of 20 sequential reads and 20 sequential writes, 16 reads go first, then the other
/// 4 reads, by which time writes have been passed over twice, then the writes.
#[test]
fn two_batches_of_reads_then_writes() {
    let mut bench = bench(|_| {});
    let writes = bench.submit_pages(WRITE, 500_000, 20);
    let reads = bench.submit_pages(READ, 0, 20);
    assert_eq!(bench.serve_some(16), reads[..16]);
    assert_eq!(bench.elevator().starved, 1);
    assert_eq!(bench.serve_some(4), reads[16..]);
    assert_eq!(bench.elevator().starved, 2);
    assert_eq!(bench.serve_some(20), writes);
    assert_eq!(bench.serve(), None);
}

/// Section 10.16: a read older than 500 ms at the end of a batch is served first; one of exactly 500
/// ms is not.
#[test]
fn an_expired_read_is_served_at_the_end_of_a_batch() {
    for (age, is_first) in [(500, false), (501, true)] {
        let mut bench = bench(|_| {});
        let stream = bench.submit_pages(READ, 5000, 1);
        let old = bench.submit(0, READ, 0);
        let stream = [stream, bench.submit_pages(READ, 5008, 30)].concat();
        assert_eq!(bench.serve(), Some(stream[0]));
        bench.now += age;
        assert_eq!(bench.serve_some(15), stream[1..16], "no batch is cut short");
        let next = if is_first { old } else { stream[16] };
        assert_eq!(bench.serve(), Some(next), "age {age}");
    }
}

/// Section 3.1: with both kinds always waiting, two batches of reads are followed by one of writes.
#[test]
fn writes_are_passed_over_twice() {
    let mut bench = bench(|tunables| tunables.fifo_batch_requests = 2);
    let writes = bench.submit_pages(WRITE, 500_000, 8);
    let reads = bench.submit_pages(READ, 0, 16);
    let served = bench.serve_some(12);
    let directions: Vec<bool> = served.iter().map(|ticket| writes.contains(ticket)).collect();
    let (r, w) = ([false; 2], [true; 2]);
    assert_eq!(directions, [r, r, w, r, r, w].concat());
    assert_eq!(served[6..8], reads[4..6], "a batch goes back to the oldest read");
}

/// Section 3.1: a batch ends when nothing lies behind the last request; the next one begins with the
/// oldest request.
#[test]
fn a_batch_ends_with_the_last_sector() {
    let mut bench = bench(|_| {});
    let [high, low, middle] = [9000, 1000, 5000].map(|sector| bench.submit(0, READ, sector));
    let write = bench.submit(0, WRITE, 100);
    assert_eq!(bench.serve_some(4), [high, low, middle, write]);
}

/// Section 3.1: SYNC makes no difference; a sync write waits with the other writes.
#[test]
fn sync_writes_are_writes() {
    let mut bench = bench(|_| {});
    let write = bench.submit(0, WRITE_SYNC, 100);
    let read = bench.submit(0, READ, 9000);
    assert_eq!(bench.serve_some(2), [read, write]);
    let write = bench.submit(0, WRITE_SYNC, 100);
    bench.now += 4000;
    let other = bench.submit(0, WRITE, 50);
    assert_eq!(bench.serve_some(2), [write, other], "a write does not expire with the reads");
}

/// Section 3.1: requests are appended to the dispatch list, not sorted into it.
#[test]
fn the_dispatch_list_is_not_sorted() {
    let mut bench = bench(|_| {});
    let [high, low] = [9000, 1000].map(|sector| bench.submit(0, READ, sector));
    assert_eq!(bench.queue.dispatch(bench.now, true).0, 2);
    assert_eq!(bench.queue.dispatch_list(), [high, low]);
}

/// Section 1.4: a front merge is looked for among the requests of the same direction, if at all.
#[test]
fn front_merges_by_direction() {
    let mut off = bench(|tunables| tunables.front_merges = false);
    let mut on = bench(|_| {});
    let read = on.submit(0, READ, 108);
    off.submit(0, READ, 108);
    assert_eq!(on.queue.front_merge_candidate(&bio(1, READ, 100)), Some(read));
    assert_eq!(on.queue.front_merge_candidate(&bio(1, READ, 99)), None);
    assert_eq!(on.queue.front_merge_candidate(&bio(1, WRITE, 100)), None);
    assert_eq!(off.queue.front_merge_candidate(&bio(1, READ, 100)), None);
}

/// Section 1.4: the survivor inherits the earlier deadline and the place in the fifo.
#[test]
fn a_survivor_inherits_the_earlier_deadline() {
    let mut bench = bench(|_| {});
    let absorbed = bench.submit(0, READ, 108);
    bench.now += 100;
    let between = bench.submit(0, READ, 9000);
    bench.now += 100;
    let survivor = bench.submit(0, READ, 100);
    bench.queue.coalesce(bench.now, survivor, absorbed);
    assert_eq!(bench.serve_some(3), [survivor, between]);
}

/// Linux 2.6.35 `deadline_add_rq_rb`: a request that starts where a new one does is sent to the device
/// at once, and the batch would go on behind it.
#[test]
fn a_request_at_the_same_sector_makes_room() {
    let mut bench = bench(|_| {});
    let [behind, first, oldest] = [200, 100, 50].map(|sector| bench.submit(0, READ, sector));
    let second = bench.submit(0, READ, 100);
    assert_eq!(bench.queue.dispatch_list(), [first]);
    assert_eq!(bench.serve_some(4), [first, behind, oldest, second]);
}

/// Section 3.1: the defaults at each tick rate.
#[test]
fn defaults() {
    for (hz, read, write) in [(1000, 500, 5000), (250, 125, 1250), (100, 50, 500)] {
        let tunables = DeadlineTunables::for_clock(&Clock::new(hz, false));
        assert_eq!((tunables.read_expire_jiffies, tunables.write_expire_jiffies), (read, write));
        assert_eq!((tunables.writes_starved, tunables.fifo_batch_requests), (2, 16));
        assert!(tunables.front_merges);
    }
}

/// Every tunable is set under its own name, and set to its documented default changes nothing.
#[test]
fn tunables_are_set_by_their_sysfs_names() {
    let clock = Clock::new(1000, false);
    let mut set = tunables();
    for info in DeadlineTunables::info() {
        assert_eq!(set.set(info.name, info.default, &clock), Ok(()));
    }
    assert_eq!(set, tunables());
    for (name, value) in [
        ("read_expire", 1),
        ("write_expire", 2),
        ("writes_starved", 3),
        ("fifo_batch", 4),
        ("front_merges", 0),
    ] {
        assert_eq!(set.set(name, value, &clock), Ok(()));
    }
    let expected = DeadlineTunables {
        read_expire_jiffies: 1,
        write_expire_jiffies: 2,
        writes_starved: 3,
        fifo_batch_requests: 4,
        front_merges: false,
    };
    assert_eq!(set, expected);
    assert!(set.set("front_merges", 2, &clock).is_err());
    assert!(set.set("slice_idle", 2, &clock).is_err());
    assert_eq!(set, expected, "a refused value changes nothing");
}
