//! A small machine for scripted tests of one scheduler: clock, device, kblockd and the idle timer.
//! Nothing is merged: one submission is one request.

use super::{Kernel, Patches, Tunables};
use crate::block::elevator::reference::driver::{Subject, Ticket};
use crate::block::elevator::{DeviceFacts, Effects, Serving, TimerRequest};
use crate::block::{Bio, BioFlags, BioTag, IoClass, Submitter};

/// Makes the scheduler under test.
pub(crate) type Make = dyn Fn(Kernel, Patches, Tunables, DeviceFacts) -> Box<dyn Subject>;

pub(crate) const READ: BioFlags = BioFlags(0);
pub(crate) const READ_NOIDLE: BioFlags = BioFlags::NOIDLE;
pub(crate) const WRITE: BioFlags = BioFlags::WRITE;
pub(crate) const WRITE_SYNC: BioFlags = BioFlags::WRITE.with(BioFlags::SYNC).with(BioFlags::NOIDLE);

/// The first jiffy of every test.
pub(crate) const START: u64 = 300_000;

/// A best-effort process of priority 4.
pub(crate) fn process(io_context: u32) -> Submitter {
    of_priority(io_context, IoClass::BestEffort, 4)
}

pub(crate) fn of_priority(io_context: u32, class: IoClass, priority: u8) -> Submitter {
    Submitter { task: io_context, io_context, class, priority }
}

pub(crate) struct Bench {
    subject: Box<dyn Subject>,
    pub(crate) now: u64,
    /// Requests the device takes at a time.
    pub(crate) depth: usize,
    pub(crate) timer: Option<u64>,
    pub(crate) in_device: Vec<Ticket>,
    /// Every request the device took: when, which, whose.
    pub(crate) started: Vec<(u64, Ticket, u32)>,
    kblockd_waits: bool,
    activated: Option<Ticket>,
    owners: Vec<u32>,
}

impl Bench {
    /// A rotating disk that takes `depth` requests, and a kernel with its defaults.
    pub(crate) fn new(make: &Make, kernel: Kernel, depth: usize) -> Self {
        let device = DeviceFacts { non_rotational: false, queues_commands: true };
        let tunables = Tunables::defaults(kernel, 1000);
        Self::with(make(kernel, Patches::default(), tunables, device), depth)
    }

    pub(crate) fn with(subject: Box<dyn Subject>, depth: usize) -> Self {
        Self {
            subject,
            now: START,
            depth,
            timer: None,
            in_device: Vec::new(),
            started: Vec::new(),
            kblockd_waits: false,
            activated: None,
            owners: Vec::new(),
        }
    }

    fn obey(&mut self, effects: Effects) {
        match effects.timer {
            Some(TimerRequest::Arm { jiffies }) => self.timer = Some(self.now + jiffies),
            Some(TimerRequest::Cancel) => self.timer = None,
            None => {}
        }
        self.kblockd_waits |= effects.kick_kblockd;
        if effects.run_queue {
            self.run();
            self.subject.queue_was_run();
        }
    }

    /// A request of `pages` pages at page number `page`; the queue is run only if the scheduler asks.
    pub(crate) fn submit(&mut self, submitter: Submitter, page: u64, pages: u32, flags: BioFlags) -> Ticket {
        let ticket = self.owners.len() as Ticket;
        self.owners.push(submitter.io_context);
        let bio = Bio { sector: page * 8, sectors: pages * 8, flags, submitter, tag: BioTag(ticket) };
        let effects = self.subject.insert(self.now, ticket, &bio);
        self.obey(effects);
        ticket
    }

    /// So many requests of one page each, far apart.
    pub(crate) fn submit_many(&mut self, submitter: Submitter, count: u64, flags: BioFlags) {
        let first = (u64::from(submitter.io_context) + 1) * 10_000_000;
        for index in 0..count {
            let taken = self.owners.len() as u64;
            self.submit(submitter, first + (taken + index) * 16, 1, flags);
        }
    }

    /// The driver's loop: fills the device and looks at one request more.
    pub(crate) fn run(&mut self) {
        loop {
            let Some(first) = self.subject.dispatch_list().first().copied() else {
                let (moved, effects) = self.subject.dispatch(self.now, false);
                self.obey(effects);
                if moved == 0 {
                    return;
                }
                continue;
            };
            if self.activated != Some(first) {
                self.activated = Some(first);
                let effects = self.subject.activate(self.now, first);
                self.obey(effects);
            }
            if self.in_device.len() >= self.depth {
                return;
            }
            self.subject.start();
            self.in_device.push(first);
            self.started.push((self.now, first, self.owners[first as usize]));
        }
    }

    pub(crate) fn complete(&mut self, ticket: Ticket) {
        self.in_device.retain(|other| *other != ticket);
        let effects = self.subject.complete(self.now, ticket);
        self.obey(effects);
        self.run();
    }

    /// Completes the request that has been in the device longest.
    pub(crate) fn complete_oldest(&mut self) {
        if let Some(oldest) = self.in_device.first().copied() {
            self.complete(oldest);
        }
    }

    pub(crate) fn tick(&mut self, jiffies: u64) {
        for _ in 0..jiffies {
            if std::mem::take(&mut self.kblockd_waits) {
                self.run();
            }
            self.now += 1;
            if self.timer.is_some_and(|target| target <= self.now) {
                self.timer = None;
                let effects = self.subject.timer(self.now);
                self.obey(effects);
            }
        }
        if std::mem::take(&mut self.kblockd_waits) {
            self.run();
        }
    }

    /// The device completes one request a jiffy until nothing starts any more.
    pub(crate) fn work_off(&mut self) {
        for _ in 0..10_000 {
            self.tick(1);
            if self.in_device.is_empty() && self.timer.is_none() {
                return;
            }
            self.complete_oldest();
        }
    }

    pub(crate) fn drain(&mut self) -> usize {
        let (moved, effects) = self.subject.dispatch(self.now, true);
        self.obey(effects);
        moved
    }

    pub(crate) fn serving(&self) -> Serving {
        self.subject.state().serving
    }

    /// Jiffies until the idle timer fires.
    pub(crate) fn idle_for(&self) -> Option<u64> {
        self.timer.map(|target| target - self.now)
    }

    /// How many requests of a process the device has taken before the first of another.
    pub(crate) fn started_before(&self, first: u32, other: u32) -> usize {
        let at = self.started.iter().position(|(_, _, owner)| *owner == other);
        let before = &self.started[..at.unwrap_or(self.started.len())];
        before.iter().filter(|(_, _, owner)| *owner == first).count()
    }
}
