//! Leads two elevators through the same random life and stops at the first different answer.
//!
//! The driver plays request queue, device, kblockd and clock: it merges bios as section 1.4 says, runs
//! the queue as section 1.7 says, completes requests in any order and fires the elevator's timer.

use crate::block::elevator::{DeviceFacts, Effects, MayQueue, Serving, TimerRequest};
use crate::block::{Bio, BioFlags, BioTag, IoClass, PAGE_SECTORS, Submitter, Sync};
use proptest::prelude::*;
use proptest::strategy::ValueTree;
use proptest::test_runner::TestRunner;
use std::collections::BTreeMap;

/// The driver's name for a request; never used twice.
pub(crate) type Ticket = u32;

/// What can be seen of an elevator between two calls.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct State {
    pub(crate) is_empty: bool,
    pub(crate) held: usize,
    pub(crate) serving: Serving,
    pub(crate) is_idling: bool,
}

/// One of the two that are compared: an elevator with its requests and its dispatch list. `now` is in
/// jiffies everywhere.
pub(crate) trait Subject {
    fn may_queue(&mut self, now: u64, submitter: Submitter, sync: Sync) -> (MayQueue, Effects);
    fn allows_merge(&self, ticket: Ticket, bio: &Bio) -> bool;
    fn front_merge_candidate(&self, bio: &Bio) -> Option<Ticket>;
    fn neighbours(&self, ticket: Ticket) -> (Option<Ticket>, Option<Ticket>);
    /// The bio joins the end of a held request.
    fn append(&mut self, ticket: Ticket, bio: &Bio);
    /// The bio joins the front of a held request; [`Self::front_merged`] or [`Self::coalesce`] follows.
    fn prepend(&mut self, ticket: Ticket, bio: &Bio);
    fn front_merged(&mut self, now: u64, ticket: Ticket, old_sector: u64) -> Effects;
    fn coalesce(&mut self, now: u64, survivor: Ticket, absorbed: Ticket) -> Effects;
    fn insert(&mut self, now: u64, ticket: Ticket, bio: &Bio) -> Effects;
    fn dispatch(&mut self, now: u64, force: bool) -> (usize, Effects);
    fn dispatch_list(&self) -> Vec<Ticket>;
    /// The driver looks at the first request of the dispatch list for the first time.
    fn activate(&mut self, now: u64, ticket: Ticket) -> Effects;
    /// The first request of the dispatch list goes into the device.
    fn start(&mut self);
    fn complete(&mut self, now: u64, ticket: Ticket) -> Effects;
    fn timer(&mut self, now: u64) -> Effects;
    /// The run that the last effects asked for is over.
    fn queue_was_run(&mut self);
    fn context_exited(&mut self, now: u64, io_context: u32) -> Effects;
    fn state(&self) -> State;
}

/// Where the next bio of a process starts.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Start {
    /// Where its last one ended.
    Continue,
    /// So many sectors behind the end of its last one.
    Skip(u32),
    /// Anywhere, in units of a page.
    Page(u32),
    /// At the start of a held request: the older the smaller the number, counted modulo how many are held.
    At(u8),
    /// So that it ends where a held request starts.
    Before(u8),
    /// Where a held request ends.
    Behind(u8),
    /// Exactly between a held request and the next one behind it, if a bio fits.
    Gap(u8),
}

/// One thing that happens.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Action {
    /// A process submits a bio of so many pages.
    Submit { process: u8, start: Start, pages: u8, flags: BioFlags },
    /// The queue is run (unplugged).
    Run,
    /// The device finishes one of its requests, counted modulo how many it has.
    Complete(u8),
    /// Ticks pass.
    Advance(u16),
    /// A barrier arrives: everything is dispatched.
    Drain,
    /// A process ends.
    Exit(u8),
}

/// The machine around the elevators.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Machine {
    /// Requests the device takes at a time.
    pub(crate) depth: usize,
    pub(crate) device: DeviceFacts,
    /// The longest request, in sectors.
    pub(crate) sectors_max: u64,
    /// The first jiffy.
    pub(crate) start_jiffies: u64,
}

/// How often what the comparison is about came up: a comparison of nothing proves nothing.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Tally {
    /// Every request in the order in which the device took it.
    pub(crate) started: Vec<Ticket>,
    pub(crate) back_merges: u32,
    pub(crate) front_merges: u32,
    pub(crate) coalesced: u32,
    pub(crate) timers_fired: u32,
    /// Actions after which the elevator idled with requests waiting.
    pub(crate) idled: u32,
    pub(crate) must_queue: u32,
}

/// A few processes' random lives.
pub(crate) fn actions(length: usize) -> impl Strategy<Value = Vec<Action>> {
    let start = prop_oneof![
        5 => Just(Start::Continue),
        1 => (1_u32..40).prop_map(|pages| Start::Skip(pages * PAGE_SECTORS)),
        1 => (1_u32..20_000).prop_map(|pages| Start::Skip(pages * PAGE_SECTORS)),
        2 => (0_u32..24).prop_map(Start::Page),
        2 => (0_u32..600_000).prop_map(Start::Page),
        1 => any::<u8>().prop_map(Start::At),
        2 => any::<u8>().prop_map(Start::Before),
        1 => any::<u8>().prop_map(Start::Behind),
        2 => any::<u8>().prop_map(Start::Gap),
    ];
    let flags = prop_oneof![
        5 => Just(BioFlags::default()),
        4 => Just(BioFlags::WRITE),
        2 => Just(BioFlags::WRITE.with(BioFlags::SYNC)),
        1 => Just(BioFlags::WRITE.with(BioFlags::SYNC).with(BioFlags::NOIDLE)),
        1 => Just(BioFlags::META),
    ];
    let submit = (0_u8..4, start, prop_oneof![Just(1_u8), 1_u8..40], flags)
        .prop_map(|(process, start, pages, flags)| Action::Submit { process, start, pages, flags });
    let action = prop_oneof![
        40 => submit,
        4 => Just(Action::Run),
        12 => any::<u8>().prop_map(Action::Complete),
        8 => (1_u16..12).prop_map(Action::Advance),
        2 => (12_u16..700).prop_map(Action::Advance),
        1 => Just(Action::Drain),
        1 => (0_u8..4).prop_map(Action::Exit),
    ];
    prop::collection::vec(action, 1..length)
}

/// Processes that mostly read one after another, on a queue that is run at once: what matters is who
/// waits for whom.
pub(crate) fn light_actions(length: usize) -> impl Strategy<Value = Vec<Action>> {
    let start = prop_oneof![
        6 => Just(Start::Continue),
        1 => (1_u32..20_000).prop_map(|pages| Start::Skip(pages * PAGE_SECTORS)),
        2 => (0_u32..600_000).prop_map(Start::Page),
    ];
    let flags = prop_oneof![6 => Just(BioFlags::default()), 1 => Just(BioFlags::WRITE)];
    let submit = (0_u8..4, start, flags).prop_map(|(process, start, flags)| Action::Submit {
        process,
        start,
        pages: 1,
        flags,
    });
    let action = prop_oneof![
        10 => submit,
        10 => Just(Action::Run),
        10 => any::<u8>().prop_map(Action::Complete),
        5 => (1_u16..12).prop_map(Action::Advance),
        1 => (0_u8..4).prop_map(Action::Exit),
    ];
    prop::collection::vec(action, 1..length)
}

/// A device that takes one request at a time, a few, or many.
pub(crate) fn machine() -> impl Strategy<Value = Machine> {
    (prop_oneof![Just(1_usize), Just(4), Just(31)], any::<bool>(), any::<bool>()).prop_map(
        |(depth, non_rotational, queues_commands)| Machine {
            depth,
            device: DeviceFacts { non_rotational, queues_commands },
            sectors_max: 1024,
            start_jiffies: 300_000,
        },
    )
}

/// Runs so many comparisons with the same random lives every time and adds up what came up in them.
pub(crate) fn summary(
    runs: u32,
    mut run: impl FnMut(Machine, &[Action]) -> Result<Tally, TestCaseError>,
) -> Tally {
    let mut runner = TestRunner::deterministic();
    let mut sum = Tally::default();
    for _ in 0..runs {
        let life = (machine(), actions(300)).new_tree(&mut runner).expect("the strategy makes lives");
        let (machine, actions) = life.current();
        let tally = run(machine, &actions).expect("the two agree");
        sum.back_merges += tally.back_merges;
        sum.front_merges += tally.front_merges;
        sum.coalesced += tally.coalesced;
        sum.timers_fired += tally.timers_fired;
        sum.idled += tally.idled;
        sum.must_queue += tally.must_queue;
    }
    sum
}

/// Leads both through `actions` and then to the end of all requests.
///
/// # Errors
/// The first difference in words.
pub(crate) fn compare(
    machine: Machine,
    fast: &mut dyn Subject,
    plain: &mut dyn Subject,
    actions: &[Action],
) -> Result<Tally, TestCaseError> {
    let mut driver = Driver::new(machine, fast, plain);
    for (index, action) in actions.iter().enumerate() {
        driver.act(*action).map_err(|difference| at_action(index, action, difference))?;
    }
    driver.finish()?;
    Ok(driver.tally)
}

fn at_action(index: usize, action: &Action, difference: TestCaseError) -> TestCaseError {
    TestCaseError::fail(format!("action {index}, {action:?}: {difference}"))
}

/// What the driver itself knows of a request.
#[derive(Clone, Copy, Debug)]
struct Entry {
    sector: u64,
    sectors: u64,
    is_write: bool,
    /// Still held by the elevator: may be merged with.
    held: bool,
    /// When it was last put into the index of ends: the newest is found first.
    indexed: u64,
}

struct Driver<'a> {
    machine: Machine,
    fast: &'a mut dyn Subject,
    plain: &'a mut dyn Subject,
    now: u64,
    book: BTreeMap<Ticket, Entry>,
    next_ticket: Ticket,
    index_counter: u64,
    last_merge: Option<Ticket>,
    activated: Option<Ticket>,
    in_device: Vec<Ticket>,
    timer: Option<u64>,
    kblockd_waits: bool,
    process_end: [u64; 4],
    tally: Tally,
}

impl<'a> Driver<'a> {
    fn new(machine: Machine, fast: &'a mut dyn Subject, plain: &'a mut dyn Subject) -> Self {
        Self {
            machine,
            fast,
            plain,
            now: machine.start_jiffies,
            book: BTreeMap::new(),
            next_ticket: 0,
            index_counter: 0,
            last_merge: None,
            activated: None,
            in_device: Vec::new(),
            timer: None,
            kblockd_waits: false,
            process_end: [0, 100_000, 2_000_000, 2_020_000],
            tally: Tally::default(),
        }
    }

    /// Asks both the same; the answers must agree.
    fn both<T: PartialEq + std::fmt::Debug>(
        &mut self,
        what: &str,
        call: impl Fn(&mut dyn Subject, u64) -> T,
    ) -> Result<T, TestCaseError> {
        let (fast, plain) = (call(&mut *self.fast, self.now), call(&mut *self.plain, self.now));
        prop_assert_eq!(&fast, &plain, "{} at jiffy {}", what, self.now);
        Ok(fast)
    }

    /// A call that asks for something to be done; does it.
    fn with_effects(
        &mut self,
        what: &str,
        call: impl Fn(&mut dyn Subject, u64) -> Effects,
    ) -> Result<(), TestCaseError> {
        let effects = self.both(what, call)?;
        self.obey(effects)
    }

    fn obey(&mut self, effects: Effects) -> Result<(), TestCaseError> {
        match effects.timer {
            Some(TimerRequest::Arm { jiffies }) => self.timer = Some(self.now + jiffies),
            Some(TimerRequest::Cancel) => self.timer = None,
            None => {}
        }
        self.kblockd_waits |= effects.kick_kblockd;
        self.observe_dispatch_list()?;
        if effects.run_queue {
            self.run_queue()?;
            self.fast.queue_was_run();
            self.plain.queue_was_run();
        }
        Ok(())
    }

    fn act(&mut self, action: Action) -> Result<(), TestCaseError> {
        match action {
            Action::Submit { process, start, pages, flags } => self.submit(process, start, pages, flags)?,
            Action::Run => self.run_queue()?,
            Action::Complete(which) => self.complete(which)?,
            Action::Advance(jiffies) => self.advance(jiffies)?,
            Action::Drain => self.drain()?,
            Action::Exit(process) => self.with_effects("context_exited", |subject, now| {
                subject.context_exited(now, u32::from(process))
            })?,
        }
        let state = self.both("state", |subject, _| subject.state())?;
        let held = self.book.values().filter(|entry| entry.held).count();
        prop_assert_eq!(state.held, held, "requests held");
        self.tally.idled += u32::from(state.is_idling && held > 0);
        Ok(())
    }

    fn submit(&mut self, process: u8, start: Start, pages: u8, flags: BioFlags) -> Result<(), TestCaseError> {
        let (sector, sectors) = self.place(process, start, u64::from(pages) * u64::from(PAGE_SECTORS));
        let bio = Bio {
            sector,
            sectors: sectors as u32,
            flags,
            submitter: submitter(process),
            tag: BioTag(self.next_ticket),
        };
        self.process_end[usize::from(process)] = bio.end();
        if self.back_merge(&bio)? || self.front_merge(&bio)? {
            return Ok(());
        }
        let (answer, effects) =
            self.both("may_queue", |subject, now| subject.may_queue(now, bio.submitter, bio.flags.sync()))?;
        self.tally.must_queue += u32::from(answer == MayQueue::Must);
        self.obey(effects)?;
        let ticket = self.next_ticket;
        self.next_ticket += 1;
        self.index_counter += 1;
        self.book.insert(
            ticket,
            Entry {
                sector: bio.sector,
                sectors,
                is_write: flags.is_write(),
                held: true,
                indexed: self.index_counter,
            },
        );
        self.last_merge = self.last_merge.or(Some(ticket));
        self.with_effects("insert", |subject, now| subject.insert(now, ticket, &bio))
    }

    /// First sector and length of a bio that would be `sectors` long.
    fn place(&self, process: u8, start: Start, sectors: u64) -> (u64, u64) {
        let end = self.process_end[usize::from(process)];
        let held: Vec<&Entry> = self.book.values().filter(|entry| entry.held).collect();
        let pick = |which: u8| held.get(usize::from(which) % held.len().max(1));
        let sector = match start {
            Start::Continue => end,
            Start::Skip(sectors) => end + u64::from(sectors),
            Start::Page(page) => u64::from(page * PAGE_SECTORS),
            Start::At(which) => pick(which).map_or(end, |entry| entry.sector),
            Start::Before(which) => pick(which).map_or(end, |entry| entry.sector.saturating_sub(sectors)),
            Start::Behind(which) => pick(which).map_or(end, |entry| entry.sector + entry.sectors),
            Start::Gap(which) => {
                let start = pick(which).map_or(end, |entry| entry.sector + entry.sectors);
                let next = held.iter().map(|entry| entry.sector).filter(|next| *next > start).min();
                return match next {
                    Some(next) if next - start <= self.machine.sectors_max => (start, next - start),
                    _ => (start, sectors),
                };
            }
        };
        (sector, sectors)
    }

    /// Whether `bio` may join `ticket` at all: same direction, and the elevator consents.
    fn may_merge(&mut self, ticket: Ticket, bio: &Bio) -> Result<bool, TestCaseError> {
        let allowed = self.both("allows_merge", |subject, _| subject.allows_merge(ticket, bio))?;
        Ok(allowed && self.book[&ticket].is_write == bio.flags.is_write())
    }

    fn fits(&self, ticket: Ticket, sectors: u64) -> bool {
        self.book[&ticket].sectors + sectors <= self.machine.sectors_max
    }

    /// The last-merge cache, then the newest request that ends where the bio starts.
    fn back_merge(&mut self, bio: &Bio) -> Result<bool, TestCaseError> {
        let ends_here = |entry: &Entry| entry.held && entry.sector + entry.sectors == bio.sector;
        let cached = self.last_merge.filter(|ticket| ends_here(&self.book[ticket]));
        let indexed = self.book.iter().filter(|(_, entry)| ends_here(entry));
        let newest = indexed.max_by_key(|(_, entry)| entry.indexed).map(|(ticket, _)| *ticket);
        for ticket in [cached, newest].into_iter().flatten() {
            if !self.may_merge(ticket, bio)? {
                continue;
            }
            if !self.fits(ticket, u64::from(bio.sectors)) {
                return Ok(false);
            }
            self.tally.back_merges += 1;
            self.fast.append(ticket, bio);
            self.plain.append(ticket, bio);
            self.grown(ticket, 0, u64::from(bio.sectors));
            let (_, after) = self.both("neighbours", |subject, _| subject.neighbours(ticket))?;
            if let Some(after) = after {
                self.coalesce(ticket, after)?;
            }
            return Ok(true);
        }
        Ok(false)
    }

    /// The last-merge cache, then the elevator's own candidate.
    fn front_merge(&mut self, bio: &Bio) -> Result<bool, TestCaseError> {
        let cached = self.last_merge.filter(|ticket| self.book[ticket].sector == bio.end());
        let named = self.both("front_merge_candidate", |subject, _| subject.front_merge_candidate(bio))?;
        if let Some(ticket) = named {
            prop_assert!(self.book[&ticket].held, "the candidate is held");
            prop_assert_eq!(self.book[&ticket].sector, bio.end(), "the candidate starts at the bio's end");
        }
        for ticket in [cached, named].into_iter().flatten() {
            if !self.may_merge(ticket, bio)? {
                continue;
            }
            if !self.fits(ticket, u64::from(bio.sectors)) {
                return Ok(false);
            }
            self.tally.front_merges += 1;
            self.fast.prepend(ticket, bio);
            self.plain.prepend(ticket, bio);
            let sectors = u64::from(bio.sectors);
            self.grown(ticket, sectors, sectors);
            let (before, _) = self.both("neighbours", |subject, _| subject.neighbours(ticket))?;
            let coalesced = before.map_or(Ok(false), |before| self.coalesce(before, ticket))?;
            if !coalesced {
                let old = bio.end();
                self.with_effects("front_merged", |s, now| s.front_merged(now, ticket, old))?;
            }
            return Ok(true);
        }
        Ok(false)
    }

    fn grown(&mut self, ticket: Ticket, at_front: u64, sectors: u64) {
        self.index_counter += 1;
        let entry = self.book.get_mut(&ticket).expect("the ticket is in the book");
        entry.sector -= at_front;
        entry.sectors += sectors;
        if at_front == 0 {
            entry.indexed = self.index_counter;
        }
        self.last_merge = Some(ticket);
    }

    /// Joins two held requests if the second starts where the first ends.
    fn coalesce(&mut self, survivor: Ticket, absorbed: Ticket) -> Result<bool, TestCaseError> {
        let (first, second) = (self.book[&survivor], self.book[&absorbed]);
        prop_assert!(first.held && second.held, "neighbours are held");
        let contiguous = first.sector + first.sectors == second.sector && first.is_write == second.is_write;
        if !contiguous || !self.fits(survivor, second.sectors) {
            return Ok(false);
        }
        self.tally.coalesced += 1;
        self.book.remove(&absorbed);
        self.grown(survivor, 0, second.sectors);
        self.with_effects("coalesce", |subject, now| subject.coalesce(now, survivor, absorbed))?;
        Ok(true)
    }

    /// The driver loop of section 1.7: looks at one request even when the device is full.
    fn run_queue(&mut self) -> Result<(), TestCaseError> {
        loop {
            let list = self.observe_dispatch_list()?;
            let Some(&first) = list.first() else {
                let (moved, effects) = self.both("dispatch", |subject, now| subject.dispatch(now, false))?;
                self.obey(effects)?;
                if moved == 0 {
                    return Ok(());
                }
                continue;
            };
            if self.activated != Some(first) {
                self.activated = Some(first);
                self.with_effects("activate", |subject, now| subject.activate(now, first))?;
            }
            if self.in_device.len() >= self.machine.depth {
                return Ok(());
            }
            self.fast.start();
            self.plain.start();
            self.in_device.push(first);
            self.tally.started.push(first);
        }
    }

    /// The dispatch lists agree; what is on them can no longer be merged with.
    fn observe_dispatch_list(&mut self) -> Result<Vec<Ticket>, TestCaseError> {
        let list = self.both("dispatch list", |subject, _| subject.dispatch_list())?;
        for ticket in &list {
            self.book.get_mut(ticket).expect("the ticket is in the book").held = false;
            if self.last_merge == Some(*ticket) {
                self.last_merge = None;
            }
        }
        Ok(list)
    }

    fn complete(&mut self, which: u8) -> Result<(), TestCaseError> {
        if !self.in_device.is_empty() {
            let ticket = self.in_device.remove(usize::from(which) % self.in_device.len());
            self.book.remove(&ticket);
            self.with_effects("complete", |subject, now| subject.complete(now, ticket))?;
            self.run_queue()?;
        }
        Ok(())
    }

    fn advance(&mut self, jiffies: u16) -> Result<(), TestCaseError> {
        for _ in 0..jiffies {
            if std::mem::take(&mut self.kblockd_waits) {
                self.run_queue()?;
            }
            self.now += 1;
            if self.timer.is_some_and(|target| target <= self.now) {
                self.timer = None;
                self.tally.timers_fired += 1;
                self.with_effects("timer", |subject, now| subject.timer(now))?;
            }
        }
        Ok(())
    }

    fn drain(&mut self) -> Result<(), TestCaseError> {
        let held = self.book.values().filter(|entry| entry.held).count();
        let (moved, effects) = self.both("forced dispatch", |subject, now| subject.dispatch(now, true))?;
        prop_assert_eq!(moved, held, "a forced dispatch leaves nothing");
        self.obey(effects)
    }

    /// Nobody waits for ever: with completions and time alone every request gets to the device.
    fn finish(&mut self) -> Result<(), TestCaseError> {
        const PATIENCE: u32 = 20_000;
        for _ in 0..PATIENCE {
            if self.book.is_empty() {
                prop_assert!(self.both("state", |subject, _| subject.state())?.is_empty);
                return Ok(());
            }
            self.act(Action::Run)?;
            self.act(Action::Complete(0))?;
            self.act(Action::Advance(1))?;
        }
        Err(TestCaseError::fail(format!("requests that are never served: {:?}", self.book)))
    }
}

/// Processes differ in class and priority, for elevators that look at it.
fn submitter(process: u8) -> Submitter {
    let class = if process == 3 { IoClass::Idle } else { IoClass::BestEffort };
    Submitter {
        task: u32::from(process) + 100,
        io_context: u32::from(process),
        class,
        priority: 4 - process % 3,
    }
}
