//! Workloads that run short of memory: docs/model/reclaim.md, sections 2 to 5.

use super::writeback_tests::{MIB, MS, RELEASES, SECOND, dd, find, process, run, scenario, stream};
use super::*;
use crate::mm::NapSite;
use crate::workload::{HandleId, Operand, Pattern, ProcessSpec, Step, Times};

const FILE: HandleId = HandleId(0);

/// Reads so much of the file in calls of 128 KiB.
pub(super) fn cat(bytes: u64, pattern: Pattern) -> ProcessSpec {
    let read = Step::Read {
        handle: FILE,
        bytes: Operand::Fixed(bytes),
        call_bytes: 131_072,
        pattern,
        direct: false,
    };
    process("cat", vec![Step::Open { handle: FILE, file: 0 }, read])
}

/// `dd` without its sleep.
fn writer(bytes: u64) -> ProcessSpec {
    let mut writer = dd(bytes);
    writer.steps.pop();
    writer
}

fn stolen(world: &World) -> u64 {
    let zones = world.memory().expect("it is simulated").zones().iter();
    zones.map(|zone| zone.events.pgsteal).sum()
}

/// Sections 3 and 4: a reader and a writer of more than memory holds finish in every kernel, on what reclaim gives them, and every
/// page is where its flags say.
#[test]
fn a_reader_and_a_writer_get_by_with_little_memory() {
    for release in RELEASES {
        let bytes = 128 * MIB;
        let processes = vec![cat(bytes, Pattern::Sequential), writer(bytes)];
        let simulation = run(&scenario(release, 48, processes, 300 * SECOND));
        assert_eq!(simulation.end(), Some(&End::AllExited), "{release}");
        let world = simulation.world();
        world.check_every_page();
        assert!(stolen(world) > 2 * bytes / 4096 - 48 * 256, "{release}: {}", stolen(world));
    }
}

/// A process with an anonymous region that it uses `times` times.
pub(super) fn hog(bytes: u64, times: u64, pattern: Pattern, writes_percent: u32) -> ProcessSpec {
    let touch = Step::Touch { handle: FILE, bytes: None, pattern, writes_percent: Some(writes_percent) };
    let steps = vec![
        Step::MapAnonymous { handle: FILE, bytes },
        Step::Repeat { times: Times::Count(times), body: vec![touch] },
        Step::Close(FILE),
    ];
    process("hog", steps)
}

/// Section 0.6: a region larger than memory lives on swap, in every kernel; a page read back and left alone is dropped without being
/// written again; what ends gives everything back.
#[test]
fn a_region_larger_than_memory_lives_on_swap() {
    for release in RELEASES {
        for (pattern, percent) in [(Pattern::Sequential, 100), (Pattern::Random, 30)] {
            let mut scenario = scenario(release, 48, vec![hog(96 * MIB, 3, pattern, percent)], 600 * SECOND);
            scenario.machine.memory.swap_mib = 128;
            let simulation = run(&scenario);
            assert_eq!(simulation.end(), Some(&End::AllExited), "{release}");
            let world = simulation.world();
            world.check_every_page();
            let memory = world.memory().expect("it is simulated");
            assert!(memory.vmstat.pswpout > 48 * 256 && memory.vmstat.pswpin > 48 * 256, "{release}");
            assert_eq!(memory.swap().map(crate::mm::Swap::used_slots), Some(0), "{release}");
            assert_eq!(memory.user_pages(), 0, "{release}");
        }
    }
}

/// Section 10.5: without swap the process that has most is killed, the others go on with what it gives back.
#[test]
fn the_largest_process_is_killed() {
    for release in RELEASES {
        let mut small = hog(8 * MIB, 200, Pattern::Sequential, 100);
        small.name = "small".into();
        let simulation = run(&scenario(
            release,
            48,
            vec![small, hog(96 * MIB, 1, Pattern::Sequential, 100)],
            600 * SECOND,
        ));
        assert_eq!(simulation.end(), Some(&End::AllExited), "{release}");
        let world = simulation.world();
        let killed = |name| world.process(find(&simulation, name)).map(|totals| totals.killed);
        assert_eq!((killed("small"), killed("hog")), (Some(false), Some(true)), "{release}");
        let memory = world.memory().expect("it is simulated");
        assert_eq!(memory.user_pages(), 0, "{release}");
    }
}

/// Section 4.5, R4.5: reclaim writes dirty pages of files that have blocks, one by one, and their frames are the next to be looked at.
#[test]
fn reclaim_writes_dirty_pages_of_files() {
    for release in RELEASES {
        let write = Step::Write {
            handle: FILE,
            bytes: Operand::Fixed(96 * MIB),
            call_bytes: 4096,
            pattern: Pattern::Random,
            direct: false,
        };
        let random = process("random", vec![Step::Open { handle: FILE, file: 0 }, write]);
        let mut scenario = scenario(release, 48, vec![random], 600 * SECOND);
        // Nothing else writes.
        for (name, mib) in [("dirty_bytes", 1024), ("dirty_background_bytes", 1000)] {
            scenario.kernel.tunables.insert(name.into(), mib * MIB);
        }
        let simulation = run(&scenario);
        assert_eq!(simulation.end(), Some(&End::AllExited), "{release}");
        let world = simulation.world();
        world.check_every_page();
        let memory = world.memory().expect("it is simulated");
        let (written, rotated) = (memory.vmstat.nr_vmscan_write, memory.vmstat.pgrotated);
        assert!(0 < rotated && rotated <= written, "{release}: {rotated} of {written}");
    }
}

/// A page that reclaim takes between the end of its read from swap and its use is read again.
#[test]
fn a_page_lost_before_its_use_is_read_again() {
    let (a, b) = (HandleId(0), HandleId(1));
    let write = Step::Write {
        handle: a,
        bytes: Operand::Fixed(16_385),
        call_bytes: 512,
        pattern: Pattern::Sequential,
        direct: false,
    };
    let touch = |pattern| Step::Touch { handle: b, bytes: None, pattern, writes_percent: Some(0) };
    let body = vec![
        Step::Create { handle: a, directories: 1 },
        write,
        Step::Close(a),
        Step::MapAnonymous { handle: b, bytes: 5_869_569 },
        touch(Pattern::Random),
        touch(Pattern::Sequential),
        Step::Close(b),
    ];
    for release in RELEASES {
        let mut user = process("user", vec![Step::Repeat { times: Times::Count(2), body: body.clone() }]);
        user.handles = vec!["file".into(), "region".into()];
        let processes = vec![user, cat(20_481, Pattern::Sequential)];
        let mut scenario = scenario(release, 32, processes, 100 * SECOND);
        scenario.machine.cpus = 1;
        scenario.machine.hz = 100;
        scenario.kernel.elevator = "cfq".into();
        let memory = &mut scenario.machine.memory;
        (memory.swap_mib, memory.dma_taken, memory.dma32_taken) = (1, 3000, 3700);
        assert_eq!(run(&scenario).end(), Some(&End::AllExited), "{release}");
    }
}

/// A scenario of a built-in workload, as somebody would write it.
fn written(release: &str, memory: &str, workload: &str) -> Scenario {
    let text = format!(
        "kernels = \"deadline@{release}\"\ntime = \"600 s\"\n\
         [machine]\ncpus = 2\ndevice = \"sata\"\n[machine.memory]\n{memory}\n[workload]\n{workload}\n"
    );
    Scenario::from_toml(&text).unwrap_or_else(|problems| panic!("{text}: {problems:#?}"))
}

/// What reclaim has looked at and taken, of all zones: by kswapd, by tasks, taken.
fn reclaimed(memory: &crate::mm::Memory) -> (u64, u64, u64) {
    memory.zones().iter().fold((0, 0, 0), |(kswapd, direct, stolen), zone| {
        let events = &zone.events;
        (kswapd + events.pgscan_kswapd, direct + events.pgscan_direct, stolen + events.pgsteal)
    })
}

/// Sections 3, 4 and 6: on a machine too small for it the built-in reader and writer finish, tasks reclaim as well as kswapd, no page
/// is taken that was not looked at, and every page taken was read or written before.
#[test]
fn the_reader_and_writer_finish() {
    for release in RELEASES {
        let scenario =
            written(release, "size-mib = 64", "use = \"reader-and-writer\"\nfile-size = \"160 MiB\"");
        let simulation = run(&scenario);
        assert_eq!(simulation.end(), Some(&End::AllExited), "{release}");
        let world = simulation.world();
        world.check_every_page();
        let memory = world.memory().expect("it is simulated");
        let (kswapd, direct, stolen) = reclaimed(memory);
        assert!(memory.vmstat.allocstall > 0 && direct > 0 && kswapd > 0, "{release}");
        assert!(stolen <= kswapd + direct && memory.vmstat.kswapd_steal <= stolen, "{release}");
        assert_eq!(stolen + memory.user_pages(), 2 * 160 * 256, "{release}: every page had a frame once");
        assert_eq!((memory.vmstat.pswpout, memory.vmstat.oom_kills), (0, 0), "{release}");
    }
}

/// Sections 0.6 and 10.5: with swap the built-in hog finishes; without it the OOM killer ends it, and the reader goes on.
#[test]
fn the_hog_lives_on_swap_or_dies() {
    for release in RELEASES {
        for swap_mib in [128, 0] {
            let memory = format!("size-mib = 64\nswap-mib = {swap_mib}");
            let workload = "use = \"anonymous-hog\"\nregion-size = \"96 MiB\"\nfile-size = \"64 MiB\"";
            let simulation = run(&written(release, &memory, workload));
            assert_eq!(simulation.end(), Some(&End::AllExited), "{release}");
            let world = simulation.world();
            world.check_every_page();
            let killed = ["hog", "reader"]
                .map(|name| world.process(find(&simulation, name)).is_some_and(|process| process.killed));
            assert_eq!(killed, [swap_mib == 0, false], "{release}");
            let vmstat = &world.memory().expect("it is simulated").vmstat;
            let swaps = vmstat.pswpout > 0 && vmstat.pswpin > 0 && vmstat.pgmajfault > 0;
            assert_eq!(
                (swaps, vmstat.pswpout + vmstat.pswpin != 0),
                (swap_mib != 0, swap_mib != 0),
                "{release}"
            );
            assert_eq!(vmstat.oom_kills != 0, swap_mib == 0, "{release}");
        }
    }
}

/// Section 2.1, steps 7 and 8: who may not call the file system gets nobody killed. Where anonymous memory without swap leaves it
/// nothing to reclaim it tries for ever; the run ends and says so, whatever little was left.
#[test]
fn who_can_never_get_a_page_is_named() {
    for release in RELEASES {
        let end_beside = |pages: u64, others: Vec<ProcessSpec>| {
            let mut hog = hog(pages * 4096, 1, Pattern::Sequential, 100);
            hog.handles.push("copy".into());
            let copy = HandleId(1);
            let write = Step::Write {
                handle: copy,
                bytes: Operand::Fixed(4096),
                call_bytes: 4096,
                pattern: Pattern::Sequential,
                direct: false,
            };
            let last = hog.steps.len() - 1;
            hog.steps.splice(last..last, [Step::Create { handle: copy, directories: 1 }, write]);
            let processes = others.into_iter().chain([hog]).collect();
            let simulation = run(&scenario(release, 32, processes, 1000 * SECOND));
            let faults = simulation.world().memory().map_or(0, |memory| memory.vmstat.pgfault);
            (simulation.end().cloned().expect("it has ended"), faults, simulation.world().now_ns())
        };
        let end = |pages: u64| end_beside(pages, Vec::new());
        // As many pages as there are, less those in reserve; the next is the file's.
        let (_, most, _) = end(10_000);
        let ends: Vec<End> = (most - 8..=most).map(|pages| end(pages).0).collect();
        assert!(ends.iter().all(|end| matches!(end, End::AllExited | End::Deadlock(_))), "{release}");
        let hopeless = ends.iter().find_map(|end| match end {
            End::Deadlock(blocked) => blocked.first(),
            _ => None,
        });
        let hopeless = hopeless.unwrap_or_else(|| panic!("{release}: there is always hope"));
        let stuck =
            (most - 8..=most).find(|&pages| matches!(end(pages).0, End::Deadlock(_))).expect("as just now");
        assert!((60..100).contains(&(end(stuck).2 / SECOND)), "{release}: known after a minute");
        // Somebody who goes on, and may give something back, is hope enough as long as he does.
        let mut other = hog(4096, 1, Pattern::Sequential, 100);
        other.name = "other".into();
        other.steps.insert(2, Step::Compute(Operand::Fixed(200 * SECOND)));
        let (ended, _, at_ns) = end_beside(stuck - 2, vec![other]);
        assert!(at_ns > 200 * SECOND, "{release}: {ended:?} after {at_ns} ns");
        if let End::Deadlock(blocked) = ended {
            assert!(blocked.iter().all(|task| task.task == "hog"), "{release}: {blocked:?}");
        }
        assert_eq!(hopeless.task, "hog", "{release}");
        assert!(hopeless.waits_for.starts_with("a page; DMA: "), "{release}: {}", hopeless.waits_for);
    }
}

/// A8 with the page cache (R5.2, R5.4b): beside a process that reads a file through it, and so runs short of memory itself, naps of
/// 2.6.30 end early, by a read's completion, and those of 2.6.31 last to their end, for next to nothing is written.
#[test]
fn a8_naps_beside_a_buffered_reader() {
    let nap_ns = |release: &str| {
        let processes = vec![cat(256 * MIB, Pattern::Sequential), stream(1 << 30)];
        let simulation = run(&scenario(release, 48, processes, 8 * SECOND));
        let naps = simulation.world().memory().expect("it is simulated").naps();
        let totals = [NapSite::Retry, NapSite::Reclaim].map(|site| *naps.at(site));
        let taken: u64 = totals.iter().map(|totals| totals.taken).sum();
        assert!(taken > 10, "{release}: {totals:?}");
        totals
    };
    let [retry, reclaim] = nap_ns("2.6.31");
    for (totals, full_ms) in [(retry, 20), (reclaim, 100)] {
        // But for the few that a commit's writes end.
        assert!(totals.slept_ns * 10 >= totals.taken * full_ms * MS * 9, "2.6.31: {totals:?}");
    }
    let early = nap_ns("2.6.30");
    let slept_ns: u64 = early.iter().map(|totals| totals.slept_ns).sum();
    let full_ns: u64 = early[0].taken * 19 * MS + early[1].taken * 99 * MS;
    assert!(slept_ns * 2 < full_ns, "2.6.30: {early:?}");
}

/// R5.7, R5.8: in 2.6.37 a task that meets nothing but dirty pages whose device is congested flags the zone, and naps from then on, for
/// a reason; a zone that kswapd has balanced loses its flag.
#[test]
fn a_congested_zone_makes_tasks_nap() {
    let write = Step::Write {
        handle: FILE,
        bytes: Operand::Fixed(64 * MIB),
        call_bytes: 4096,
        pattern: Pattern::Random,
        direct: false,
    };
    let random = |name| process(name, vec![Step::Open { handle: FILE, file: 0 }, write.clone()]);
    // Writers on ext4 may not call the file system, and so never come so far; who reads may.
    let processes = vec![random("a"), random("b"), stream(1 << 30)];
    let mut scenario = scenario("2.6.37", 32, processes, 20 * SECOND);
    for (name, mib) in [("dirty_bytes", 1024), ("dirty_background_bytes", 1000)] {
        scenario.kernel.tunables.insert(name.into(), mib * MIB);
    }
    scenario.kernel.tunables.insert("nr_requests".into(), 8);
    let mut simulation = Simulation::new(&scenario).expect("a sound scenario");
    let (mut set, mut cleared) = (0, 0);
    let mut before = false;
    while let Advance::More(_) = simulation.advance(Budget::events(1)) {
        let zones = simulation.world().memory().expect("it is simulated").zones();
        let is_flagged = zones.iter().any(|zone| zone.congested);
        set += u32::from(is_flagged && !before);
        cleared += u32::from(before && !is_flagged);
        before = is_flagged;
    }
    let naps = simulation.world().memory().expect("it is simulated").naps();
    let totals = [NapSite::Retry, NapSite::Reclaim].map(|site| *naps.at(site));
    assert!(set > 0 && cleared > 0, "set {set} times, cleared {cleared} times");
    assert!(totals.iter().any(|totals| totals.taken > 0), "{totals:?}");
    assert!(
        totals.iter().all(|totals| totals.unnecessary == 0),
        "nobody naps without congestion: {totals:?}"
    );
}

/// What is shown over time adds up to what was counted: pages looked at and freed by zone and by whom, kswapd's time to all of it, and the
/// naps of tasks that want memory to those of their places.
#[test]
fn what_is_watched_adds_up_to_what_is_counted() {
    for release in RELEASES {
        let mut scenario = scenario(
            release,
            48,
            vec![hog(96 * MIB, 2, Pattern::Random, 50), writer(64 * MIB)],
            600 * SECOND,
        );
        scenario.machine.memory.swap_mib = 128;
        let world = run(&scenario).settled();
        let memory = world.memory().expect("it is simulated");
        let mut kswapd_ns = 0;
        let mut looked_at = [0; 2];
        for (watched, series) in world.reclaim_over_time() {
            let (kind, counted): (_, fn(&crate::mm::ZoneEvents) -> u64) = match watched {
                Watched::Scanned(kind, false) => (kind, |events| events.pgscan_kswapd),
                Watched::Scanned(kind, true) => (kind, |events| events.pgscan_direct),
                Watched::Freed(kind, false) => (kind, |events| events.kswapd_steal),
                Watched::Freed(kind, true) => (kind, |events| events.pgsteal - events.kswapd_steal),
                Watched::Kswapd(_) => {
                    kswapd_ns += series.total();
                    continue;
                }
                Watched::Pages(lru) => {
                    let now: u64 = memory.zones().iter().map(|zone| u64::from(zone.lru_pages(lru))).sum();
                    assert_eq!(series.buckets().last().map(|bucket| bucket.last), Some(now), "{release}");
                    continue;
                }
            };
            let zone = memory.zones().iter().find(|zone| zone.kind == kind).expect("it is there");
            assert_eq!(series.total(), counted(&zone.events), "{release}: {watched:?}");
            if let Watched::Scanned(_, direct) = watched {
                looked_at[usize::from(direct)] += series.total();
            }
        }
        assert!(looked_at[0] > 0 && looked_at[1] > 0, "{release}: both reclaim");
        assert_eq!(kswapd_ns, world.now_ns(), "{release}");
        let freed: u64 = memory.zones().iter().map(|zone| zone.events.kswapd_steal).sum();
        assert_eq!(freed, memory.vmstat.kswapd_steal, "{release}");
        for site in [NapSite::Retry, NapSite::Reclaim] {
            let naps = memory.naps().at(site);
            let slept = world.direct_sleeps().iter().find(|sleeps| sleeps.cause == DirectSleep::nap(site));
            let slept = slept.map_or((0, 0, 0), |sleeps| (sleeps.count, sleeps.ns, sleeps.longest_ns));
            assert_eq!(slept, (naps.taken, naps.slept_ns, naps.longest_ns), "{release}: {site:?}");
        }
    }
}

/// Section 4.1: a page read in parts, one behind the other, is used once; a file read twice is in use (Linux 2.6.35,
/// `do_generic_file_read`).
#[test]
fn a_page_read_in_parts_is_used_once() {
    let active = |calls: &[(u64, Pattern)]| {
        let mut steps = vec![Step::Open { handle: FILE, file: 0 }];
        for &(call_bytes, pattern) in calls {
            let bytes = Operand::Fixed(2 * MIB);
            steps.push(Step::Read { handle: FILE, bytes, call_bytes, pattern, direct: false });
            steps.push(Step::Rewind(FILE));
        }
        let mut scenario = scenario("2.6.35", 64, vec![process("cat", steps)], 100 * SECOND);
        scenario.workload.files[0].size_bytes = 2 * MIB;
        let simulation = run(&scenario);
        assert_eq!(simulation.end(), Some(&End::AllExited));
        let zones = simulation.world().memory().expect("it is simulated").zones();
        zones.iter().map(|zone| zone.lru_pages(crate::mm::Lru::ActiveFile)).sum::<u32>()
    };
    for call_bytes in [512, 1000, 4096, 131_072] {
        assert_eq!(active(&[(call_bytes, Pattern::Sequential)]), 0, "calls of {call_bytes} bytes");
    }
    // But for those that are still in a CPU's vector, and pages that two calls of the same reading share.
    for call_bytes in [512, 131_072] {
        let twice = active(&[(4096, Pattern::Sequential), (call_bytes, Pattern::Sequential)]);
        assert!((490..=512).contains(&twice), "{twice} of 512 pages are active");
    }
    assert!(active(&[(512, Pattern::Random)]) > 400, "parts read at random are uses of their own");
}

/// Section 3.2: a kswapd that is woken within its first, short sleep has been so quickly because of LOW, and counts it.
#[test]
fn kswapd_is_woken_from_its_doze() {
    let simulation = run(&scenario("2.6.35", 48, vec![stream(1 << 30)], 8 * SECOND));
    let vmstat = &simulation.world().memory().expect("it is simulated").vmstat;
    let (low, high) = (vmstat.kswapd_low_wmark_hit_quickly, vmstat.kswapd_high_wmark_hit_quickly);
    assert!(low > high, "{low} of LOW, {high} of HIGH");
}
