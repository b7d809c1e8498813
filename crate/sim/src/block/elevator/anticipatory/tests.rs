//! Anticipatory, rule by rule: model/block-layer.md, sections 3.3 and 0.1.

use super::super::reference::bench::{Bench, READ, WRITE, WRITE_SYNC, bio, submitter};
use super::super::reference::driver::Subject;
use super::super::{Effects, TimerRequest};
use super::*;

/// Sectors so far away that no rule calls them close.
const FAR: u64 = 50_000_000;

fn clock() -> Clock {
    Clock::new(1000, false)
}

fn bench(change: impl FnOnce(&mut AnticipatoryTunables)) -> Bench<Anticipatory> {
    let mut tunables = AnticipatoryTunables::for_clock(&clock());
    change(&mut tunables);
    Bench::new(Anticipatory::new(tunables, &clock(), 300_000), 300_000)
}

/// Process 0 has had a few sequential reads, with a think time of so many jiffies, the last of which
/// (sector 192) has just been completed.
fn after_a_sequential_reader(think_jiffies: u64) -> Bench<Anticipatory> {
    let mut bench = bench(|_| {});
    for page in 0..24 {
        bench.submit(0, READ, page * 8);
        assert!(bench.serve_and_complete().is_some());
        bench.now += if page < 23 { think_jiffies } else { 0 };
    }
    bench
}

fn armed(jiffies: u64) -> Option<TimerRequest> {
    Some(TimerRequest::Arm { jiffies })
}

fn time_out(bench: &mut Bench<Anticipatory>) {
    bench.effects = bench.queue.timer(bench.now);
}

/// Section 3.3: after a sync request the disk waits for the same process's next one, which goes before
/// a far one that has waited longer.
#[test]
fn waits_for_the_process_just_served() {
    let mut bench = after_a_sequential_reader(1);
    let far = bench.submit(1, READ, FAR);
    assert_eq!(bench.serve(), None);
    assert_eq!(bench.effects.timer, armed(6));
    assert_eq!(bench.elevator().serving(), Serving::Context(0));
    assert!(bench.elevator().is_idling());

    bench.now += 2;
    let expected = bench.submit(0, READ, 192);
    assert_eq!(
        bench.effects,
        Effects { run_queue: false, kick_kblockd: true, timer: Some(TimerRequest::Cancel) }
    );
    assert!(!bench.elevator().is_idling());
    assert_eq!(bench.serve_and_complete(), Some(expected));
    assert_eq!(bench.serve(), None, "waits again");
    bench.now += 6;
    time_out(&mut bench);
    assert_eq!(bench.serve(), Some(far));
}

/// Section 3.3: when the timer fires, the others are served.
#[test]
fn a_wait_in_vain_ends_with_the_timer() {
    let mut bench = after_a_sequential_reader(1);
    let far = bench.submit(1, READ, FAR);
    assert_eq!(bench.serve(), None);
    bench.now += 6;
    time_out(&mut bench);
    assert!(bench.effects.kick_kblockd);
    assert_eq!(bench.elevator().serving(), Serving::Nobody);
    assert_eq!(bench.serve(), Some(far));
}

/// Section 3.3: the time runs from the end of the process's request, not from the decision to wait.
#[test]
fn the_time_runs_from_the_end_of_the_request() {
    let mut bench = after_a_sequential_reader(1);
    let own = bench.submit(0, READ, 192);
    assert_eq!(bench.serve(), Some(own));
    bench.submit(1, READ, FAR);
    assert_eq!(bench.serve(), None);
    assert_eq!(bench.effects.timer, None);
    assert!(bench.elevator().is_idling());
    bench.now += 50;
    bench.complete(own);
    assert_eq!(bench.effects.timer, armed(6));

    // A wait that begins later ends at the same time; after that time none begins.
    for (late, left) in [(2, Some(4)), (5, Some(1)), (6, None)] {
        let mut bench = after_a_sequential_reader(1);
        bench.now += late;
        bench.submit(1, READ, FAR);
        assert_eq!(bench.serve().is_none(), left.is_some());
        assert_eq!(bench.effects.timer, left.and_then(armed));
    }
}

/// Section 3.3: a process whose mean think time is longer than the wait is not waited for.
#[test]
fn a_slow_thinker_is_not_waited_for() {
    for (think, waits) in [(0, true), (5, true), (6, true), (7, false), (15, false)] {
        let mut bench = after_a_sequential_reader(think);
        let far = bench.submit(1, READ, FAR);
        let served = bench.serve();
        assert_eq!(served, if waits { None } else { Some(far) }, "thinks for {think} jiffies");
    }
}

/// Section 3.3: a fresh process is judged by the mean think time of others' first gaps.
#[test]
fn a_fresh_process_is_judged_by_the_others() {
    for (think, waits) in [(5, true), (15, false)] {
        let mut bench = bench(|_| {});
        for process in 10..40 {
            for _ in 0..2 {
                bench.submit(process, READ, u64::from(process) * 8);
                assert!(bench.serve_and_complete().is_some());
                bench.now += think;
            }
        }
        bench.submit(50, READ, 0);
        assert!(bench.serve_and_complete().is_some());
        bench.submit(1, READ, FAR);
        assert_eq!(bench.serve().is_none(), waits, "others think for {think} jiffies");
    }
}

/// Section 3.3: a sync request of another process no more than 8192 sectors in front of the head, or
/// half that behind it, is as good as the expected one.
#[test]
fn a_close_request_of_another_is_served() {
    for (sector, is_close) in
        [(192 + 8192, true), (192 + 8193, false), (4_000_192 - 4096, true), (4_000_192 - 4097, false)]
    {
        let mut bench = bench(|_| {});
        let base = if sector > 1_000_000 { 4_000_000 } else { 0 };
        for page in 0..24 {
            bench.submit(0, READ, base + page * 8);
            assert!(bench.serve_and_complete().is_some());
        }
        bench.submit(1, READ, sector);
        assert_eq!(bench.serve().is_some(), is_close, "sector {sector}");
    }
}

/// Section 3.3: what is close grows to 8192 << n sectors after n jiffies of waiting.
#[test]
fn closeness_grows_with_the_wait() {
    for (waited, distance, is_close) in
        [(1, 16_384, true), (1, 16_385, false), (3, 65_536, true), (3, 65_537, false), (5, 262_144, true)]
    {
        let mut bench = after_a_sequential_reader(1);
        bench.submit(1, READ, FAR);
        assert_eq!(bench.serve(), None);
        bench.now += waited;
        let other = bench.submit(2, READ, 192 + distance);
        assert_eq!(!bench.elevator().is_idling(), is_close, "{distance} sectors after {waited} jiffies");
        assert_eq!(bench.serve(), is_close.then_some(other));
    }
}

/// Linux 2.6.32 `as_close_req`: after more than 20 ms of waiting every sync request is close.
#[test]
fn everything_is_close_in_the_end() {
    let clock = Clock::new(100, false);
    for (waited, is_close) in [(2, false), (3, true)] {
        let mut tunables = AnticipatoryTunables::for_clock(&clock);
        tunables.antic_expire_jiffies = 10;
        let mut bench = Bench::new(Anticipatory::new(tunables, &clock, 30_000), 30_000);
        bench.submit(0, READ, 0);
        assert!(bench.serve_and_complete().is_some());
        bench.submit(1, READ, FAR);
        assert_eq!(bench.serve(), None);
        bench.now += waited;
        bench.submit(2, READ, 2 * FAR);
        assert_eq!(!bench.elevator().is_idling(), is_close, "{waited} jiffies of 10 ms");
    }
}

/// Section 3.3: a request nearer than the process's own seeks usually are is close.
#[test]
fn less_than_the_usual_seek_is_close() {
    for (distance, is_close) in [(900_000, true), (1_100_000, false)] {
        let mut bench = bench(|_| {});
        let mut sector = 0;
        for turn in 0..60 {
            sector = if turn % 2 == 0 { 0 } else { 1_000_000 };
            bench.submit(0, READ, sector);
            assert!(bench.serve_and_complete().is_some());
        }
        bench.submit(1, READ, sector + distance);
        assert_eq!(bench.serve().is_some(), is_close, "distance {distance}");
    }
}

/// Section 3.3: no waiting while the process has another request in the elevator, or on the dispatch
/// list where the driver has not looked at it; one in the device does not count.
#[test]
fn a_process_with_more_to_do_is_not_waited_for() {
    let mut bench = after_a_sequential_reader(1);
    let far = bench.submit(1, READ, FAR);
    bench.submit(0, WRITE, FAR * 2);
    assert_eq!(bench.serve(), Some(far));

    for is_looked_at in [false, true] {
        let mut bench = after_a_sequential_reader(1);
        let own = bench.submit(0, READ, 192);
        let far = bench.submit(1, READ, FAR);
        assert_eq!(bench.queue.dispatch(bench.now, false).0, 1);
        if is_looked_at {
            bench.queue.activate(bench.now, own);
        }
        bench.queue.dispatch(bench.now, false);
        let list = if is_looked_at { vec![own] } else { vec![own, far] };
        assert_eq!(bench.queue.dispatch_list(), list);
    }
}

/// Section 3.3: nobody is waited for after an async write.
#[test]
fn no_wait_after_a_write() {
    for writes in [0, 1] {
        let mut bench = after_a_sequential_reader(1);
        for _ in 0..writes {
            bench.submit(0, WRITE, FAR);
        }
        bench.queue.dispatch(bench.now, true);
        for _ in 0..writes {
            assert!(bench.serve_and_complete().is_some());
        }
        bench.submit(1, READ, 2 * FAR);
        assert_eq!(bench.serve().is_some(), writes == 1);
    }
}

/// Section 3.3: a sync write is awaited and expected like a read.
#[test]
fn sync_writes_count_as_reads() {
    let mut bench = after_a_sequential_reader(1);
    bench.submit(1, WRITE_SYNC, FAR);
    assert_eq!(bench.serve(), None);
    let expected = bench.submit(0, WRITE_SYNC, 192);
    assert_eq!(bench.serve(), Some(expected));
}

/// Section 3.3: the expired head of the fifo is served, whoever would be better.
#[test]
fn an_expired_request_is_served() {
    for (age, is_served) in [(125, false), (126, true)] {
        let mut bench = after_a_sequential_reader(1);
        let far = bench.submit(1, READ, FAR);
        bench.now += age;
        let own = bench.submit(0, READ, 192);
        assert_eq!(bench.serve(), Some(if is_served { far } else { own }), "age {age}");
    }
}

/// Section 3.3: expired requests are looked for once per expiry time, or the disk would seek all the
/// time.
#[test]
fn expiry_is_looked_for_once_per_expiry_time() {
    let mut bench = after_a_sequential_reader(1);
    let [oldest, low] = [FAR, 1000].map(|sector| bench.submit(1, READ, sector));
    let stream = [FAR + 8, FAR + 16, FAR + 24].map(|sector| bench.submit(1, READ, sector));
    bench.now += 200;
    assert_eq!(bench.serve(), Some(oldest), "the first look");
    assert_eq!(bench.serve_some(2), stream[..2], "though the low one has expired too");
    bench.now += 124;
    assert_eq!(bench.serve(), Some(stream[2]));
    let last = bench.submit(1, READ, FAR + 32);
    bench.now += 1;
    assert_eq!(bench.serve_some(2), [low, last], "the next look");
}

/// Section 3.3: antic_expire = 0 switches anticipation off.
#[test]
fn anticipation_can_be_switched_off() {
    let mut bench = bench(|tunables| tunables.antic_expire_jiffies = 0);
    bench.submit(0, READ, 0);
    assert!(bench.serve_and_complete().is_some());
    let far = bench.submit(1, READ, FAR);
    assert_eq!(bench.serve(), Some(far));
}

/// Section 1.2, rule 1: the process that is waited for gets its request in any case.
#[test]
fn the_expected_process_must_have_its_request() {
    let mut bench = after_a_sequential_reader(1);
    bench.submit(1, READ, FAR);
    assert_eq!(bench.queue.may_queue(bench.now, submitter(0), Sync::Sync).0, MayQueue::May);
    assert_eq!(bench.serve(), None);
    assert_eq!(bench.queue.may_queue(bench.now, submitter(0), Sync::Sync).0, MayQueue::Must);
    assert_eq!(bench.queue.may_queue(bench.now, submitter(1), Sync::Sync).0, MayQueue::May);
}

/// A process reads twice close to the head and exits; process 1 then asks for something far away.
/// Returns whether the disk waited (in vain) before serving it.
fn exit_is_waited_for(bench: &mut Bench<Anticipatory>, process: u32) -> bool {
    read_twice_and_exit(bench, process);
    let far = bench.submit(1, READ, FAR + u64::from(process) * 8);
    let first = bench.serve();
    if first.is_none() {
        bench.now += 6;
        time_out(bench);
        assert_eq!(bench.serve(), Some(far));
    }
    bench.complete(far);
    bench.now += 100;
    first.is_none()
}

fn read_twice_and_exit(bench: &mut Bench<Anticipatory>, process: u32) {
    for sector in [192, 200] {
        bench.submit(process, READ, sector);
        assert!(bench.serve_and_complete().is_some());
    }
    bench.effects = bench.queue.context_exited(bench.now, process);
}

/// Section 3.3: a process that has exited is waited for, since another may carry on, until that has
/// been in vain too often: 256 - 256 (7/8)^n, rounded down at each step, exceeds 128 after six times.
#[test]
fn exits_without_successors_end_the_waiting() {
    let mut bench = after_a_sequential_reader(1);
    let waits: Vec<bool> = (10..20).map(|process| exit_is_waited_for(&mut bench, process)).collect();
    assert_eq!(waits, [[true; 6].as_slice(), &[false; 4]].concat());
}

/// Section 3.3: somebody who carries on close by after an exit makes the next wait worth trying.
#[test]
fn a_cooperating_process_keeps_the_waiting_alive() {
    let mut bench = after_a_sequential_reader(1);
    for process in 10..16 {
        exit_is_waited_for(&mut bench, process);
    }
    read_twice_and_exit(&mut bench, 20);
    let close = bench.submit(1, READ, 208);
    assert_eq!(bench.serve_and_complete(), Some(close));
    bench.now += 100;
    assert!(exit_is_waited_for(&mut bench, 21));
    assert!(!exit_is_waited_for(&mut bench, 22));
}

/// Section 3.3: fresh processes that usually exit at once, without successors, are not waited for.
#[test]
fn fresh_processes_that_exit_are_not_waited_for() {
    let mut bench = after_a_sequential_reader(1);
    let mut waits = 0;
    for process in 10..30 {
        let own = bench.submit(process, READ, 192);
        assert_eq!(bench.serve_and_complete(), Some(own));
        let far = bench.submit(1, READ, FAR + u64::from(process) * 8);
        if bench.serve().is_none() {
            waits += 1;
            bench.effects = bench.queue.context_exited(bench.now, process);
            bench.now += 6;
            time_out(&mut bench);
            assert_eq!(bench.serve(), Some(far));
        }
        bench.complete(far);
        bench.now += 100;
    }
    // Both probabilities are 186 of 256 after ten waits in vain: 186 * 186 > 32 768, 176 * 176 is not.
    assert_eq!(waits, 10);
}

/// Section 3.3: batches alternate while both kinds wait: 500 ms of reads, counted from the end of the
/// first, then as many writes as the last batches of writes make fit into 125 ms.
#[test]
fn batches_alternate_and_adapt() {
    let mut bench = bench(|tunables| tunables.antic_expire_jiffies = 0);
    let writes = bench.submit_pages(WRITE, FAR, 200);
    bench.submit_pages(READ, 0, 2000);
    let mut runs: Vec<(bool, u32)> = Vec::new();
    while runs.len() < 7 {
        let ticket = bench.serve_and_complete().expect("both kinds wait");
        bench.now += 1;
        let is_write = writes.contains(&ticket);
        match runs.last_mut() {
            Some((kind, length)) if *kind == is_write => *length += 1,
            _ => runs.push((is_write, 1)),
        }
    }
    // The first batch of writes is 12, doubled: the empty one before it took no time. 24 writes take
    // less than a third of 125 ms, 48 do not.
    let expected = [(false, 501), (true, 24), (false, 501), (true, 48), (false, 501), (true, 49)];
    assert_eq!(runs[..6], expected);
}

/// Section 3.3: when the direction changes, the device has to be empty first.
#[test]
fn a_change_waits_for_an_empty_device() {
    let mut bench = bench(|tunables| tunables.antic_expire_jiffies = 0);
    let reads = bench.submit_pages(READ, 0, 2);
    assert_eq!(bench.serve_some(2), reads);
    let write = bench.submit(1, WRITE, FAR);
    assert_eq!(bench.serve(), None);
    let late = bench.submit(0, READ, 16);
    bench.complete(reads[0]);
    assert!(!bench.effects.kick_kblockd);
    assert_eq!(bench.serve(), None, "one read is still in the device");
    bench.complete(reads[1]);
    assert!(bench.effects.kick_kblockd);
    assert_eq!(bench.serve(), Some(write), "the late read has missed its batch");
    assert_eq!(bench.serve(), None);
    bench.complete(write);
    assert_eq!(bench.serve(), Some(late));
}

/// Linux 2.6.32 `as_choose_req`: the shorter way; backward counts double; farther back than 2^20
/// sectors comes last, lowest first.
#[test]
fn the_shorter_way_is_taken() {
    const HEAD: u64 = 40_000_000;
    for (offsets, better) in [
        ([300, -100], -100),
        ([199, -100], 199),
        ([200, -100], 200),
        ([30_000_000, -(1 << 20)], -(1 << 20)),
        ([30_000_000, -(1 << 20) - 1], 30_000_000),
        ([-5_000_000, -2_000_000], -5_000_000),
    ] {
        for order in [[0, 1], [1, 0]] {
            let mut bench = bench(|tunables| tunables.antic_expire_jiffies = 0);
            bench.submit(0, READ, HEAD - 8);
            assert!(bench.serve_and_complete().is_some());
            let tickets = order.map(|at| {
                let offset: i64 = offsets[at];
                (offset, bench.submit(0, READ, HEAD.wrapping_add_signed(offset)))
            });
            let served = bench.serve();
            let offset = tickets.iter().find(|(_, ticket)| Some(*ticket) == served).map(|found| found.0);
            assert_eq!(offset, Some(better), "{offsets:?} {order:?}");
        }
    }
}

/// Section 1.4 and Linux 2.6.32 `as_merge`: front merges are looked for among the wrong kind.
#[test]
fn only_sync_writes_are_found_for_front_merges() {
    let mut bench = bench(|_| {});
    bench.submit(0, READ, 108);
    bench.submit(0, WRITE, 208);
    let sync_write = bench.submit(0, WRITE_SYNC, 308);
    assert_eq!(bench.queue.front_merge_candidate(&bio(1, READ, 100)), None);
    assert_eq!(bench.queue.front_merge_candidate(&bio(1, WRITE, 200)), None);
    assert_eq!(bench.queue.front_merge_candidate(&bio(1, READ, 200)), None);
    assert_eq!(bench.queue.front_merge_candidate(&bio(1, WRITE, 300)), Some(sync_write));
}

/// Linux 2.6.32 `as_merged_requests`: a request that becomes part of another process's is finished for
/// its own: the think time runs.
#[test]
fn an_absorbed_request_is_finished_for_its_process() {
    let mut bench = bench(|_| {});
    let survivor = bench.submit(0, READ, 100);
    let absorbed = bench.submit(1, READ, 108);
    bench.queue.coalesce(bench.now, survivor, absorbed);
    bench.now += 10;
    bench.submit(1, READ, FAR);
    // One sample: (10 * 256 / 8 + 128) / 32.
    assert_eq!(bench.queue.elevator.history.context(1).think.mean(), Some(14));
}

/// Section 1.8: a barrier's forced dispatch leaves nothing, reads before writes, and ends the wait.
#[test]
fn a_forced_dispatch_takes_everything() {
    let mut bench = after_a_sequential_reader(1);
    let far = bench.submit(1, READ, FAR);
    assert_eq!(bench.serve(), None);
    let write = bench.submit(1, WRITE, 500);
    let (moved, effects) = bench.queue.dispatch(bench.now, true);
    assert_eq!(moved, 2);
    assert_eq!(effects.timer, Some(TimerRequest::Cancel));
    assert!(!bench.elevator().is_idling() && bench.elevator().is_empty());
    assert_eq!(bench.queue.dispatch_list(), [far, write]);
}

/// Sections 3.3 and 0.1: the defaults at each tick rate.
#[test]
fn defaults() {
    for (hz, expected) in
        [(1000, [125, 250, 500, 125, 6]), (250, [31, 62, 125, 31, 1]), (100, [12, 25, 50, 12, 1])]
    {
        let tunables = AnticipatoryTunables::for_clock(&Clock::new(hz, false));
        assert_eq!(all(&tunables), expected, "HZ={hz}");
    }
}

fn all(tunables: &AnticipatoryTunables) -> [u64; 5] {
    [
        tunables.read_expire_jiffies,
        tunables.write_expire_jiffies,
        tunables.read_batch_expire_jiffies,
        tunables.write_batch_expire_jiffies,
        tunables.antic_expire_jiffies,
    ]
}

/// Every tunable is set under its own name, and set to its documented default changes nothing.
#[test]
fn tunables_are_set_by_their_sysfs_names() {
    let defaults = AnticipatoryTunables::for_clock(&clock());
    let mut set = defaults;
    for info in AnticipatoryTunables::info() {
        assert_eq!(set.set(info.name, info.default, &clock()), Ok(()));
    }
    assert_eq!(set, defaults);
    let names = ["read_expire", "write_expire", "read_batch_expire", "write_batch_expire", "antic_expire"];
    for (value, name) in names.into_iter().enumerate() {
        assert_eq!(set.set(name, value as u64, &clock()), Ok(()));
    }
    assert_eq!(all(&set), [0, 1, 2, 3, 4]);
    assert!(set.set("slice_idle", 2, &clock()).is_err());
    assert_eq!(all(&set), [0, 1, 2, 3, 4]);
}
