//! Section 5: naps, and whether they were necessary.

use super::*;

/// The steps of a direct reclaim that frees nothing.
fn hopeless_naps(memory: &mut Memory) -> Vec<Nap> {
    let mapping = file(memory);
    while let Some(frame) = memory.allocate_at_once(MOVABLE, &task()) {
        memory.add_page(frame, &file_page(mapping, 0), 0);
        memory.begin_write(frame);
    }
    let mut allocation = Allocation::new(MOVABLE, task());
    let mut naps = Vec::new();
    let mut fuse = Fuse::default();
    loop {
        fuse.burn();
        match allocation.step(memory) {
            Step::Nap(nap) => {
                memory.napped(&nap, 1_000_000 * nap.jiffies);
                naps.push(nap);
                if matches!(nap.site, NapSite::Retry | NapSite::Writeout) {
                    return naps;
                }
            }
            Step::Oom | Step::Done(_) => return naps,
            _ => {}
        }
    }
}

/// R3.8, R5.2: direct reclaim naps after each pass from P = 9 on, on the queue its release names.
#[test]
fn a8_queue_by_release() {
    let cases: [(&str, &[&str], NapQueue); 5] = [
        ("2.6.30", &[], NapQueue::Sync),
        ("2.6.31", &[], NapQueue::Async),
        ("2.6.36", &[], NapQueue::Async),
        ("2.6.31", &["revert-8aa7e847"], NapQueue::Sync),
        ("2.6.31", &["congestion-both"], NapQueue::AsyncThenSync),
    ];
    for (release, patches, queue) in cases {
        let naps = hopeless_naps(&mut memory_with(patched(release, patches), 3980, 60_000));
        let reclaim: Vec<&Nap> = naps.iter().filter(|nap| nap.site == NapSite::Reclaim).collect();
        assert_eq!(reclaim.len(), 10, "{release}: P = 9 to 0");
        assert!(
            reclaim.iter().all(|nap| nap.queue == queue && nap.jiffies == 25 && !nap.necessary),
            "{release}"
        );
    }
}

/// A9, R5.7: `wait_iff_congested` sleeps only if a device is congested and the zone is flagged.
#[test]
fn a9_wait_iff_congested() {
    for (device, zone, sleeps) in
        [(false, false, false), (true, false, false), (false, true, false), (true, true, true)]
    {
        let mut memory = memory_of("2.6.37", 3980, 60_000);
        memory.set_congested(3, [device, false]);
        memory.zones[1].congested = zone;
        let naps = hopeless_naps(&mut memory);
        assert_eq!(!naps.is_empty(), sleeps, "device {device}, zone {zone}");
        assert!(naps.iter().all(|nap| nap.necessary));
    }
}

/// Section 5.3: the three patches of 26 August 2010 as switches.
#[test]
fn switches_of_august_2010() {
    let run = |patches: &[&str], congested: bool| {
        let mut memory = memory_with(patched("2.6.36", patches), 3980, 60_000);
        memory.set_congested(0, [congested, false]);
        let naps = hopeless_naps(&mut memory);
        let accounted = memory.naps().accounted_ns(memory.policy().congestion);
        (naps.len(), accounted, memory.naps().at(NapSite::Reclaim).left_out)
    };
    let slept = 10 * 25_000_000;
    assert_eq!(run(&[], false), (10, (None, None), 0));
    assert_eq!(run(&["congestion-trace"], false), (10, (Some(slept), None), 0));
    assert_eq!(run(&["congestion-unnecessary"], false), (10, (Some(slept), Some(slept)), 0));
    assert_eq!(run(&["congestion-unnecessary"], true), (10, (Some(slept), Some(0)), 0));
    assert_eq!(run(&["no-sleep-uncongested"], false), (0, (Some(0), Some(0)), 10));
    assert_eq!(run(&["no-sleep-uncongested"], true).0, 10);
    assert_eq!(run(&["no-reclaim-congestion-wait"], false), (0, (None, None), 0));
}

/// Section 5.1: the nap while too much is being written sleeps on the queue of its release too.
#[test]
fn writeout_nap_by_release() {
    let cases: [(&str, &[&str], NapQueue); 3] = [
        ("2.6.30", &[], NapQueue::Sync),
        ("2.6.31", &[], NapQueue::Async),
        ("2.6.31", &["revert-8aa7e847"], NapQueue::Sync),
    ];
    for (release, patches, queue) in cases {
        let mut memory = memory_with(patched(release, patches), 3980, 60_000);
        memory.writeout_limit_pages = 10;
        let naps = hopeless_naps(&mut memory);
        assert_eq!((naps[0].site, naps[0].queue), (NapSite::Writeout, queue), "{release} {patches:?}");
    }
}

/// R4.10: from 2.6.32 on a task waits while more pages are isolated than inactive; kswapd does not.
#[test]
fn too_many_isolated_by_release() {
    use NapQueue::{Async, Sync};
    for (release, waits, queue) in [
        ("2.6.31", false, Async),
        ("2.6.32-rc5", true, Sync),
        ("2.6.32-rc6", true, Async),
        ("2.6.32", true, Async),
        ("2.6.36", true, Async),
    ] {
        for (caller, waits) in [(task(), waits), (Caller::kswapd_on_cpu(1), false)] {
            let mut memory = memory_of(release, 3980, 60_000);
            let mapping = file(&mut memory);
            fill(&mut memory, mapping, 280);
            memory.drain_vectors(0);
            memory.zones[1].isolated[1] = 281;
            let mut control = control::Control {
                caller,
                order: 0,
                lumpy: false,
                may_enter_fs: true,
                may_io: true,
                may_writepage: true,
                may_unmap: true,
                may_swap: true,
                scanned: 0,
                reclaimed: 0,
                target: 32,
            };
            let mut shrink = shrink_inactive::InactiveShrink::new(1, Lru::InactiveFile, 32, 12);
            let step = shrink.step(&mut memory, &mut control);
            let is_nap =
                matches!(step, Step::Nap(nap) if nap.site == NapSite::Isolated && nap.queue == queue);
            assert_eq!(is_nap, waits, "{release}");
            memory.zones[1].isolated[1] = 280;
            while shrink.step(&mut memory, &mut control) != Step::Done(()) {}
        }
    }
}

/// Section 5.3: a nap is unnecessary if nothing was congested when it began, by the kind it waits for.
#[test]
fn necessary_naps_are_told_apart() {
    for (release, congested, unnecessary) in [
        ("2.6.31", [false, false], 10),
        ("2.6.31", [true, false], 0),
        ("2.6.31", [false, true], 10),
        ("2.6.30", [false, true], 0),
    ] {
        let mut memory = memory_of(release, 3980, 60_000);
        memory.set_congested(2, [true, true]);
        memory.set_congested(2, congested);
        hopeless_naps(&mut memory);
        let totals = memory.naps().at(NapSite::Reclaim);
        assert_eq!((totals.taken, totals.unnecessary), (10, unnecessary), "{release} {congested:?}");
        assert_eq!(totals.slept_unnecessarily_ns, unnecessary * 25_000_000);
    }
}
