//! Merging: limits, refusals, neighbours (section 1.4).

use super::*;

fn shapes(bench: &Bench) -> Vec<(u64, u32)> {
    bench.starts().iter().map(|start| (start.1, start.2)).collect()
}

/// Each page is a segment: where requests may have 2048 sectors, scattered pages still make 1024.
#[test]
fn segments_limit_a_request() {
    let mut bench = Bench::with("2.6.35", "deadline", "device-a", &[("max_sectors_kb", 1024)]);
    for page in 0..130 {
        bench.submit(page * 8, 8, WRITE_SYNC_PLUG);
    }
    bench.unplug();
    assert_eq!(shapes(&bench), [(0, 1024), (1024, 16)]);
}

/// A request that was too large for a bio is not tried again, not even with one that would fit
/// (`REQ_NOMERGE`).
#[test]
fn a_refused_merge_is_the_last() {
    for elevator in ["deadline", "cfq"] {
        let mut bench = Bench::new("2.6.35", elevator);
        bench.submit(1000, 1016, WRITE_SYNC_PLUG);
        bench.submit(2016, 16, WRITE_SYNC_PLUG);
        bench.submit(992, 8, WRITE_SYNC_PLUG);
        bench.unplug();
        bench.run_until(20 * MS);
        assert_eq!(shapes(&bench).len(), 3, "{elevator}: {:?}", shapes(&bench));
    }
}

/// A bio found by the hash that closes a gap at the end of a request makes one of the two; the survivor is as old
/// as the older one.
#[test]
fn a_back_merge_closes_a_gap() {
    for elevator in ["deadline", "cfq"] {
        let mut bench = Bench::new("2.6.35", elevator);
        // The request merged with most recently is tried first, and is none of those that matter.
        bench.submit(1000, 8, WRITE_SYNC_PLUG);
        bench.submit(16, 8, WRITE_SYNC_PLUG);
        bench.now_ns = 2 * MS;
        bench.submit(0, 8, WRITE_SYNC_PLUG);
        bench.submit(8, 8, WRITE_SYNC_PLUG);
        let merged = (0..4).map(RequestId).find(|&id| bench.queue.requests[id].sectors == 24);
        let started = merged.map(|id| bench.queue.requests[id].start_jiffies);
        assert_eq!(started, Some(bench.queue.clock.jiffies(0)), "{elevator}");
        bench.unplug();
        bench.run_until(20 * MS);
        let mut shapes = shapes(&bench);
        shapes.sort_unstable();
        assert_eq!(shapes, [(0, 24), (1000, 8)], "{elevator}");
    }
}

/// Section 1.4, order of attempts: without the hook of the elevator (noop), a bio in front of a request joins it
/// only if that was the last one merged or inserted.
#[test]
fn noop_has_no_front_merges_of_its_own() {
    let mut bench = Bench::new("2.6.35", "noop");
    bench.submit(1000, 8, WRITE_SYNC_PLUG);
    bench.submit(2000, 8, WRITE_SYNC_PLUG);
    bench.submit(992, 8, WRITE_SYNC_PLUG);
    bench.submit(1992, 8, WRITE_SYNC_PLUG);
    bench.unplug();
    bench.run_until(20 * MS);
    assert_eq!(shapes(&bench), [(992, 16), (2000, 8), (1992, 8)]);
}
