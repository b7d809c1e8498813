//! Pages of files and of regions one by one: what becomes of frames, slots and page tables, and whom the OOM killer chooses.

use super::memory::MachineMemory;
use super::memory_tests::{cat, hog};
use super::operation::Reserve;
use super::writeback_tests::{MIB, MS, RELEASES, SECOND, find, process, run, scenario};
use super::*;
use crate::block::BioTag;
use crate::fs::FileId;
use crate::mm::{FrameId, Gfp, Lru, NewPage, Owner, PageWrite, Removed, Request};
use crate::observe::CauseKind;
use crate::workload::{HandleId, Operand, Pattern, Step, Times};

const PAGE: Request = Request::page(Gfp::HIGHUSER_MOVABLE);

/// A machine with 48 MiB, one of swap, and so many processes, before any of them has run.
fn world(release: &str, processes: usize) -> World {
    let processes = (0..processes).map(|index| {
        let mut process = cat(MIB, Pattern::Sequential);
        process.name = format!("p{index}");
        process
    });
    let mut scenario = scenario(release, 48, processes.collect(), SECOND);
    scenario.machine.memory.swap_mib = 1;
    Simulation::new(&scenario).expect("a sound scenario").world
}

fn task(world: &World, index: usize) -> TaskId {
    TaskId((world.first_process() + index) as u32)
}

fn memory(world: &mut World) -> &mut MachineMemory {
    world.memory.as_mut().expect("it is simulated")
}

/// A region of the first process with one page, in use.
fn region(world: &mut World) -> (u32, FrameId) {
    let me = task(world, 0);
    let frame = world.allocate_at_once(me, PAGE).expect("plenty");
    let memory = memory(world);
    let region = memory.add_region(me);
    let owner = Owner { mapping: region, index: 0 };
    let new = NewPage { owner, anon: true, mapped: true, dirty: false, active: true };
    memory.memory.add_page(frame, &new, 0);
    memory.mappings[region as usize].table.add_table(0);
    memory.mappings[region as usize].table.set(0, frame);
    (region, frame)
}

/// The page gets the first slot.
fn give_slot(world: &mut World, frame: FrameId) {
    let memory = &mut memory(world).memory;
    assert!(memory.add_to_swap(frame.0));
    memory.put_in_swap_cache(frame, 1);
    assert_eq!(memory.slot(frame), Some(1));
}

/// Pages of the file of the workload, in the page cache.
fn cached(world: &mut World, pages: u32, locked: bool) -> (FileId, Vec<FrameId>) {
    let (me, file) = (task(world, 0), world.workload_files[0]);
    let frames = (0..pages).map(|page| {
        let frame = world.allocate_at_once(me, PAGE).expect("plenty");
        memory(world).held[me.index()].push(frame);
        assert!(world.give_frame(me, file, page, locked));
        frame
    });
    (file, frames.collect())
}

fn user_pages(world: &mut World) -> u64 {
    memory(world).memory.user_pages()
}

/// Section 0.6: a write frees the slot, unless the page is just being written, and makes the page dirty; a read keeps both as they are, but
/// above half full the slot goes as well.
#[test]
fn what_a_use_does_to_a_slot() {
    let after = |is_half_full: bool, is_written: bool, writes: bool| {
        let mut world = world("2.6.35", 1);
        let (_, frame) = region(&mut world);
        give_slot(&mut world, frame);
        if is_half_full {
            let others: Vec<FrameId> =
                (0..130).filter_map(|_| world.allocate_at_once(task(&world, 0), PAGE)).collect();
            assert!(others.iter().all(|other| memory(&mut world).memory.add_to_swap(other.0)));
        }
        let memory = memory(&mut world);
        if is_written {
            memory.memory.begin_write(frame);
        }
        memory.swapped_in(frame, writes);
        (memory.memory.slot(frame), memory.memory.is_dirty(frame))
    };
    let (low, half, idle, written, read, write) = (false, true, false, true, false, true);
    assert_eq!(after(low, idle, read), (Some(1), false));
    assert_eq!(after(low, idle, write), (None, true));
    assert_eq!(
        after(low, written, write),
        (Some(1), true),
        "what is being written is not what the page holds now"
    );
    assert_eq!(after(half, idle, read), (None, true));
    assert_eq!(after(half, written, read), (Some(1), false));
}

/// A region that is gone leaves nothing: a page that is just being written is freed when that is over, and its number is not given to another
/// region before.
#[test]
fn a_region_leaves_nothing() {
    let mut world = world("2.6.35", 1);
    let kernel_pages = memory(&mut world).memory.kernel_pages();
    let (number, frame) = region(&mut world);
    let table = world.allocate_at_once(task(&world, 0), PAGE).expect("plenty");
    memory(&mut world).mappings[number as usize].tables.push(table);
    give_slot(&mut world, frame);
    memory(&mut world).memory.begin_write(frame);
    world.unmap_region(number);
    assert_eq!((user_pages(&mut world), memory(&mut world).memory.kernel_pages()), (1, kernel_pages));
    let me = task(&world, 0);
    assert_ne!(memory(&mut world).add_region(me), number);
    memory(&mut world).memory.written(frame);
    world.free_orphans();
    assert_eq!(user_pages(&mut world), 0);
    assert_eq!(memory(&mut world).memory.swap().map(crate::mm::Swap::used_slots), Some(0));
    let (next, _) = region(&mut world);
    world.unmap_region(next);
    assert_eq!(memory(&mut world).add_region(me), next, "a number is used again");
}

/// What reclaim takes of a region that is gone gives its slot back.
#[test]
fn reclaim_takes_the_page_of_a_region_that_is_gone() {
    let mut world = world("2.6.35", 1);
    let (number, frame) = region(&mut world);
    give_slot(&mut world, frame);
    memory(&mut world).memory.begin_write(frame);
    world.unmap_region(number);
    assert_eq!(memory(&mut world).orphans, [frame]);
    let owner = Owner { mapping: number, index: 0 };
    world.page_removed(&Removed { owner, frame, mapped: false, slot: Some(1) });
    assert_eq!(memory(&mut world).orphans, []);
    assert_eq!(memory(&mut world).memory.swap().map(crate::mm::Swap::used_slots), Some(0));
}

/// Section 4.1: writing a page twice activates it.
#[test]
fn writing_twice_activates() {
    let mut world = world("2.6.35", 1);
    // As many as a CPU's vector holds, so that they are on their list.
    let (file, _) = cached(&mut world, 14, false);
    for page in [3, 3, 5] {
        world.dirty_page(file, page);
    }
    assert_eq!(memory(&mut world).memory.vmstat.pgactivate, 1);
}

/// A page that is dirty, or being read, survives the dropping of its file's pages; those of a removed file go when that is over.
#[test]
fn pages_in_use_are_dropped_later() {
    let mut dirty = world("2.6.35", 1);
    let (file, frames) = cached(&mut dirty, 1, false);
    dirty.dirty_page(file, 0);
    dirty.drop_pages(file);
    assert_eq!(memory(&mut dirty).frame_of(file, 0), Some(frames[0]), "dirty");
    dirty.start_writeback(file, 0);
    dirty.remove_file(file);
    assert_eq!(memory(&mut dirty).frame_of(file, 0), Some(frames[0]), "being written");
    dirty.files.end_writeback(file, 0);
    dirty.page_written(file, 0);
    assert_eq!((memory(&mut dirty).frame_of(file, 0), user_pages(&mut dirty)), (None, 0));

    let mut read = world("2.6.35", 1);
    let (file, frames) = cached(&mut read, 1, true);
    let cache = &mut read.files.get_mut(file).cache;
    cache.add_for_read(0);
    cache.read_submitted(0, 1, BioTag(7));
    read.remove_file(file);
    assert_eq!(memory(&mut read).frame_of(file, 0), Some(frames[0]), "being read");
    read.files.get_mut(file).cache.read_completed(0, 1, BioTag(7));
    read.unlock_read(file, 0, 1);
    assert_eq!((memory(&mut read).frame_of(file, 0), user_pages(&mut read)), (None, 0));
}

/// A file that two processes have mapped stays mapped until the last of them ends; a process that maps it twice counts once; then its page
/// tables are free, and its pages in the page cache. What the last process of all has mapped stays, to be looked at.
#[test]
fn a_file_is_mapped_until_its_last_user_ends() {
    let mut three = world("2.6.35", 3);
    let (file, frames) = cached(&mut three, 1, false);
    let number = memory(&mut three).map(file);
    let kernel_pages = memory(&mut three).memory.kernel_pages();
    let (a, b) = (task(&three, 0), task(&three, 1));
    let table = three.allocate_at_once(a, PAGE).expect("plenty");
    let mapping = &mut memory(&mut three).mappings[number as usize];
    mapping.table.add_table(0);
    mapping.tables.push(table);
    for process in [a, a, b] {
        three.map_file(process, number, file);
    }
    memory(&mut three).map_cached(number, 0, frames[0]);
    three.dirty_page(file, 0);
    assert_eq!(memory(&mut three).mappings[number as usize].users, 2);
    three.unmap_files(a);
    assert_eq!(memory(&mut three).mappings[number as usize].table.present(), 1);
    three.unmap_files(b);
    let mapping = &memory(&mut three).mappings[number as usize];
    assert_eq!((mapping.table.present(), mapping.cached.present(), mapping.tables.len()), (0, 1, 0));
    assert_eq!(memory(&mut three).memory.kernel_pages(), kernel_pages);
    assert!(!memory(&mut three).memory.is_mapped(frames[0]));

    let mut alone = world("2.6.35", 1);
    let (file, frames) = cached(&mut alone, 1, false);
    let (me, number) = (task(&alone, 0), memory(&mut alone).map(file));
    memory(&mut alone).mappings[number as usize].table.add_table(0);
    alone.map_file(me, number, file);
    memory(&mut alone).map_cached(number, 0, frames[0]);
    alone.dirty_page(file, 0);
    alone.remove_file(file);
    assert!(!memory(&mut alone).memory.is_dirty(frames[0]), "nobody needs to write what is gone");
    alone.unmap_files(me);
    assert_eq!(memory(&mut alone).mappings[number as usize].table.present(), 1);
}

/// Section 4.5, step 7: reclaim does not write what has no place on the device yet, and notes whose page it writes to a slot.
#[test]
fn what_reclaim_writes() {
    let mut world = world("2.6.35", 1);
    let me = task(&world, 0);
    let file = world.files.add(99, 0, 0, None);
    let frame = world.allocate_at_once(me, PAGE).expect("plenty");
    memory(&mut world).held[me.index()].push(frame);
    assert!(world.give_frame(me, file, 0, false));
    world.dirty_page(file, 0);
    let owner = memory(&mut world).memory.owner(frame).expect("it has one");
    memory(&mut world).memory.begin_write(frame);
    world.page_out(me, &PageWrite { owner, frame, slot: None });
    assert!(memory(&mut world).to_write[me.index()].is_empty());
    assert!(
        memory(&mut world).memory.is_dirty(frame) && !memory(&mut world).memory.is_under_writeback(frame)
    );

    let (number, frame) = region(&mut world);
    let owner = Owner { mapping: number, index: 0 };
    world.page_out(me, &PageWrite { owner, frame, slot: Some(5) });
    assert_eq!(memory(&mut world).slot_owners[5], owner);
    assert_eq!(memory(&mut world).owner_of_slot(5), None, "it is in memory");
    memory(&mut world).mappings[number as usize].swapped.add_table(0);
    memory(&mut world).mappings[number as usize].swapped.set(0, FrameId(5));
    assert_eq!(memory(&mut world).owner_of_slot(5), Some(owner));
    let start = world.swap_sector(0);
    assert_eq!((world.swap_sector(5), start % 8), (start + 40, 0));
}

/// Section 10.5: up to 2.6.35 what a process has mapped counts, less by the root of its computing in units of 8 s and the fourth root of
/// its age in units of 1024 s; from 2.6.36 on what it has in memory and on swap, in thousandths of both.
#[test]
fn badness_by_release() {
    let of = |release: &str, cpu_s: u64, now_s: u64| {
        let mut world = world(release, 2);
        let me = task(&world, 0);
        let (number, _) = region(&mut world);
        let memory = memory(&mut world);
        let mapping = &mut memory.mappings[number as usize];
        mapping.swapped.add_table(500);
        (512..712).for_each(|page| {
            mapping.swapped.add_table(page);
            mapping.swapped.set(page, FrameId(page));
        });
        // Unmapped and not taken yet.
        (1024..1124).for_each(|page| mapping.cache(page, FrameId(page)));
        world.process_mut(me).expect("a process").handles[0].region = Some((number, 10_000));
        world.tasks[me.index()].causes.add(CauseKind::OnCpu, cpu_s * SECOND);
        world.now_ns = now_s * SECOND;
        (world.badness(me), world.badness(task(&world, 1)))
    };
    assert_eq!(of("2.6.35", 0, 0), (10_000, 0));
    assert_eq!(of("2.6.35", 7, 1023), (10_000, 0));
    assert_eq!(of("2.6.35", 8 * 16, 0), (2_500, 0), "a quarter of it for 128 s of computing");
    assert_eq!(of("2.6.35", 0, 16 * 1024), (5_000, 0), "half of it for 4.5 h");
    // 1 page in use, 200 on swap, 100 on the way there; of 48 MiB and 255 slots.
    let present = {
        world("2.6.36", 1)
            .memory()
            .expect("it is simulated")
            .zones()
            .iter()
            .map(|zone| u64::from(zone.present))
            .sum::<u64>()
    };
    assert_eq!(of("2.6.36", 1000, 100_000), (301_000 / (present + 255), 0));
}

/// Section 10.5: one victim at a time, the first of equals; without any the run ends with the state of memory.
#[test]
fn one_victim_at_a_time() {
    let mut three = world("2.6.35", 3);
    let (a, b, c) = (task(&three, 0), task(&three, 1), task(&three, 2));
    three.out_of_memory_for(a);
    assert!(
        three
            .out_of_memory()
            .is_some_and(|asker| asker.task == "p0" && asker.waits_for.starts_with("a page; DMA: "))
    );
    memory(&mut three).out_of_memory = None;
    for process in [b, c] {
        let number = memory(&mut three).add_region(process);
        three.process_mut(process).expect("a process").handles[0].region = Some((number, 100));
    }
    three.out_of_memory_for(a);
    assert!(three.is_killed(b) && !three.is_killed(a) && !three.is_killed(c));
    if let Some((_, pages)) = &mut three.process_mut(c).expect("a process").handles[0].region {
        *pages = 200;
    }
    three.out_of_memory_for(c);
    assert!(!three.is_killed(c), "b is dying");
    assert!(three.out_of_memory().is_none());
    three.tasks[b.index()].state = TaskState::Exited;
    three.out_of_memory_for(a);
    assert!(three.is_killed(c));
}

/// Section 2: pages to be read may be cold, since the device fills them; what is written within a transaction must not call the file system.
#[test]
fn what_is_asked_for_pages_of_files() {
    let gfp = |reserve: Reserve| reserve.request().gfp;
    assert!(gfp(Reserve::read(1)).has(Gfp::COLD) && gfp(Reserve::read(1)).has(Gfp::FS));
    assert!(!gfp(Reserve::write(1, false)).has(Gfp::COLD) && gfp(Reserve::write(1, false)).has(Gfp::FS));
    assert!(!gfp(Reserve::write(1, true)).has(Gfp::FS) && gfp(Reserve::write(1, true)).has(Gfp::IO));
}

/// Section 4.1: new anonymous pages begin active.
#[test]
fn new_anonymous_pages_are_active() {
    let mut hog = hog(4 * MIB, 1, Pattern::Sequential, 100);
    hog.steps.pop();
    let mut simulation =
        Simulation::new(&scenario("2.6.35", 48, vec![hog, process("p", Vec::new())], SECOND)).expect("sound");
    while let Advance::More(_) = simulation.advance(Budget::events(1)) {
        let world = simulation.world();
        let pages = |lru: Lru| {
            world.memory().map_or(0, |memory| memory.zones().iter().map(|zone| zone.lru_pages(lru)).sum())
        };
        if pages(Lru::ActiveAnon) > 500 {
            assert_eq!(pages(Lru::InactiveAnon), 0);
            return;
        }
    }
    panic!("they never come to their list");
}

/// Section 10.5: a victim that sleeps is woken to die, and what it gives back is there for the others at once.
#[test]
fn a_sleeping_victim_dies() {
    for release in RELEASES {
        let mut sleeper = hog(30 * MIB, 1, Pattern::Sequential, 100);
        sleeper.name = "sleeper".into();
        sleeper.steps.push(Step::Sleep(Operand::Fixed(500 * SECOND)));
        let last = sleeper.steps.len() - 1;
        sleeper.steps.swap(last - 1, last);
        let mut late = hog(24 * MIB, 1, Pattern::Sequential, 100);
        late.steps.insert(0, Step::Sleep(Operand::Fixed(SECOND)));
        let simulation = run(&scenario(release, 48, vec![sleeper, late], 600 * SECOND));
        assert_eq!(simulation.end(), Some(&End::AllExited), "{release}");
        let world = simulation.world();
        let killed = |name| world.process(find(&simulation, name)).map(|totals| totals.killed);
        assert_eq!((killed("sleeper"), killed("hog")), (Some(true), Some(false)), "{release}");
        assert!(world.now_ns() < 100 * SECOND, "{release}: {} ns", world.now_ns());
    }
}

/// Section 0.6: what is read from swap was written there before, at the same place; neighbours are read with it.
#[test]
fn swap_is_read_where_it_was_written() {
    let mut scenario = scenario("2.6.35", 48, vec![hog(64 * MIB, 2, Pattern::Sequential, 100)], 600 * SECOND);
    scenario.machine.memory.swap_mib = 64;
    let mut simulation = run(&scenario);
    let start = simulation.world().swap_sector(0);
    let mut written = std::collections::BTreeSet::new();
    let mut reads = 0;
    for event in simulation.take_trace() {
        let crate::observe::TraceKind::Queue(bio) = event.kind else { continue };
        if bio.sector < start {
            continue;
        }
        if bio.flags.is_write() {
            written.insert(bio.sector);
        } else {
            assert!(written.contains(&bio.sector), "sector {} was never written", bio.sector);
            reads += 1;
        }
    }
    let vmstat = &simulation.world().memory().expect("it is simulated").vmstat;
    let windows = vmstat.pgmajfault;
    assert!(reads > 3 * windows && windows > 500, "{reads} pages in {windows} windows");
}

/// Uses `bytes` of the region behind a handle, all of it if `None`, so many of a hundred times to write.
fn touch(handle: u16, bytes: Option<u64>, writes_percent: u32) -> Step {
    Step::Touch {
        handle: HandleId(handle),
        bytes: bytes.map(Operand::Fixed),
        pattern: Pattern::Sequential,
        writes_percent: Some(writes_percent),
    }
}

/// Section 0.6: pages that came back from swap for reading keep their slots; written to later, through page tables that point to them already,
/// they lose them, and are dirty.
#[test]
fn a_later_write_frees_the_slot() {
    let pages = |last: Option<Step>| {
        let map = |handle, bytes| Step::MapAnonymous { handle: HandleId(handle), bytes };
        let mut steps = vec![
            map(0, 4 * MIB),
            touch(0, None, 100),
            map(1, 64 * MIB),
            touch(1, None, 100),
            touch(0, None, 0),
        ];
        steps.extend(last);
        steps.push(Step::Sleep(Operand::Fixed(1000 * SECOND)));
        let mut user = process("user", steps);
        user.handles = vec!["small".into(), "large".into()];
        let mut scenario = scenario("2.6.35", 48, vec![user], 100 * SECOND);
        scenario.machine.memory.swap_mib = 256;
        let simulation = run(&scenario);
        let memory = simulation.world.memory.as_ref().expect("it is simulated");
        let frames = memory.mappings[0].table.iter().map(|(_, frame)| frame);
        let (kept, rest): (Vec<FrameId>, _) = frames.partition(|&frame| memory.memory.slot(frame).is_some());
        (kept.len(), rest.iter().filter(|&&frame| memory.memory.is_dirty(frame)).count())
    };
    assert_eq!(pages(None), (1024, 0));
    assert_eq!(pages(Some(touch(0, None, 100))), (0, 1024));
}

/// Section 4.5: anonymous pages in use stay in memory while others that are used once go to swap. A fault that has to wait takes as long as it
/// waits.
#[test]
fn anonymous_pages_in_use_stay() {
    let round = vec![touch(0, None, 0), Step::Compute(Operand::Fixed(2 * MS))];
    let steps = vec![
        Step::MapAnonymous { handle: HandleId(0), bytes: MIB },
        Step::Repeat { times: Times::Forever, body: round },
    ];
    let mut used = process("used", steps);
    used.handles = vec!["region".into()];
    let mut scenario =
        scenario("2.6.35", 48, vec![hog(96 * MIB, 2, Pattern::Sequential, 100), used], 40 * SECOND);
    scenario.machine.memory.swap_mib = 256;
    let simulation = run(&scenario);
    let world = simulation.world();
    let totals = |name| world.process(find(&simulation, name)).expect("a process");
    let (often, once) = (totals("used"), totals("hog"));
    assert!(often.faults < 2 * 256, "{} faults on 256 pages in use", often.faults);
    assert!(once.faults >= 2 * 96 * 256, "{} faults", once.faults);
    // The second half are swapped in, by windows of 8 pages; the first have to reclaim now and then.
    let (fast_ns, slow_ns) = (once.fault_ns.quantile(100), once.fault_ns.max());
    assert!(fast_ns < 10_000 && slow_ns > 10 * MS, "{fast_ns} to {slow_ns} ns");
}

/// How long faults took that had to wait for swap, and for reclaim.
#[test]
fn waiting_faults_take_their_time() {
    let took_ns = |rounds: u64, swap_mib: u32| {
        let mut scenario =
            scenario("2.6.35", 48, vec![hog(64 * MIB, rounds, Pattern::Sequential, 0)], 100 * SECOND);
        scenario.machine.memory.swap_mib = swap_mib;
        let simulation = run(&scenario);
        let faults = &simulation.world().process(find(&simulation, "hog")).expect("a process").fault_ns;
        (faults.max(), faults.quantile(950))
    };
    let (once, twice) = (took_ns(1, 256), took_ns(3, 256));
    assert!(once.0 > 100_000, "reclaim: {once:?} ns");
    assert!(twice.1 > 2 * MS, "the first of a window waits for the device: {twice:?} ns");
}
