//! Section 5.4: the mapping streamed through memory.

use super::*;

fn exercise(policy: MemoryPolicy, layout: MemoryLayout, pages: u64) -> StreamRun {
    let costs = StreamCosts::default();
    stream_exercise(&StreamExercise { layout, policy, pages, hz: 250, costs, seed: 1 })
        .expect("enough memory")
}

fn total(run: &StreamRun, of: fn(&ZoneEvents) -> u64) -> u64 {
    run.memory.zones().iter().map(|zone| of(&zone.events)).sum()
}

fn scanned(run: &StreamRun) -> u64 {
    total(run, |events| events.pgscan_kswapd + events.pgscan_direct)
}

/// An eighth of the machine of table TJ.
fn small() -> MemoryLayout {
    MemoryLayout::from_present(&[(ZoneKind::Dma, 3980, 20), (ZoneKind::Dma32, 64_000, 5_000)])
}

/// A7, R4.7: every page is looked at twice before it is freed. Pages on the list at the end have had up to one look.
#[test]
fn a7_two_looks_a_page() {
    let run = exercise(policy("2.6.34"), small(), 2 << 20);
    let freed = total(&run, |events| events.pgsteal);
    let on_list = u64::from(
        run.memory.zones()[0].lru_pages(Lru::InactiveFile)
            + run.memory.zones()[1].lru_pages(Lru::InactiveFile),
    );
    assert!((2 * freed..=2 * freed + on_list).contains(&scanned(&run)));
    let half_looked_at = (scanned(&run) - 2 * freed) as f64 / freed as f64;
    assert!(half_looked_at < 0.035, "the end effect is the list's share of the file: {half_looked_at}");
    run.memory.check_every_frame();
}

/// Before 2.6.34 a young page is activated and comes back: another ratio, and the active list is scanned.
#[test]
fn older_kernels_activate() {
    let run = exercise(policy("2.6.32"), small(), 1 << 20);
    assert!(run.memory.vmstat.pgactivate > 900_000);
    assert!(total(&run, |events| events.pgrefill) > 800_000);
    run.memory.check_every_frame();
}

/// A10, section 5.4: what removing the nap does to the counters. The elapsed time is reported, not demanded, at this size.
#[test]
fn a10_removing_the_nap() {
    let pages = 32 << 18;
    let layout = MemoryLayout::mapped_stream_2010;
    let with = exercise(policy("mmotm-2010-08"), layout(), pages);
    let without = exercise(patched("mmotm-2010-08", &["no-reclaim-congestion-wait"]), layout(), pages);
    let ratio = |of: &dyn Fn(&StreamRun) -> u64| of(&without) as f64 / of(&with) as f64;
    let scans = ratio(&scanned);
    assert!((0.995..=1.005).contains(&scans), "scans {scans}");
    let direct = ratio(&|run| total(run, |events| events.pgscan_direct));
    assert!(direct >= 10.0, "direct scans {direct}");
    let stalls = ratio(&|run| run.memory.vmstat.allocstall);
    assert!(stalls >= 4.0, "stalls {stalls}");
    let kswapd = ratio(&|run| total(run, |events| events.pgscan_kswapd));
    assert!((0.4..0.92).contains(&kswapd), "kswapd's scans {kswapd}");
    let dma = ratio(&|run| run.memory.zones()[0].events.pgalloc);
    assert!(dma > 1.0, "pages from DMA {dma}");
    let steal = ratio(&|run| total(run, |events| events.pgsteal));
    assert!((0.98..=1.02).contains(&steal), "freed {steal}");
    assert!(without.longest_fault_ns < with.longest_fault_ns, "the longest fault gets shorter");
    for run in [&with, &without] {
        // 0.5 G3: the parts are the whole.
        assert_eq!(run.elapsed_ns, run.fault_ns + run.direct_ns + run.retry_naps_ns + run.reclaim_naps_ns);
        // Section 5.4: data pages and one page table page for 512 of them.
        assert_eq!(total(run, |events| events.pgalloc), pages + pages / 512);
        run.memory.check_every_frame();
    }
    assert_eq!(without.reclaim_naps_ns, 0);
}

/// The same seed gives the same run, another one another.
#[test]
fn runs_are_reproducible() {
    let run = |seed| {
        let exercise = StreamExercise {
            layout: small(),
            policy: policy("2.6.36"),
            pages: 1 << 18,
            hz: 250,
            costs: StreamCosts::default(),
            seed,
        };
        let run = stream_exercise(&exercise).expect("enough memory");
        (run.elapsed_ns, run.steps, run.memory.vmstat)
    };
    assert_eq!(run(1), run(1));
    assert_ne!(run(1).0, run(2).0);
}

/// Page tables that fill memory end in a named lack of memory; in 2.6.36 possibly in none: a zone that kswapd has given up is scanned no
/// more, and so never counts as scanned enough (section 3.6).
#[test]
fn page_tables_can_fill_memory() {
    for (release, ends) in
        [("2.6.32", "out of memory"), ("2.6.35", "out of memory"), ("2.6.36", "no progress")]
    {
        let layout = MemoryLayout::from_present(&[(ZoneKind::Dma, 2000, 0), (ZoneKind::Dma32, 4000, 0)]);
        let exercise = StreamExercise {
            layout,
            policy: policy(release),
            pages: 1 << 22,
            hz: 250,
            costs: StreamCosts::default(),
            seed: 1,
        };
        let problems = stream_exercise(&exercise).expect_err("too small");
        assert!(problems[0].contains(ends), "{release}: {problems:?}");
    }
}
