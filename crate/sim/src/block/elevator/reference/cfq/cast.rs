//! Gives the driver's four processes other priorities, classes and io contexts.

use crate::block::elevator::reference::driver::{State, Subject, Ticket};
use crate::block::elevator::{Effects, MayQueue};
use crate::block::{Bio, IoClass, Submitter, Sync};
use proptest::prelude::*;

/// Who the four processes are.
pub(crate) type Roles = [(IoClass, u8, u32); 4];

/// Mostly alike, so that queues of the same priority meet; two may share an io context.
pub(crate) fn cast() -> impl Strategy<Value = Roles> {
    let class = prop_oneof![
        8 => Just(IoClass::BestEffort),
        1 => Just(IoClass::RealTime),
        1 => Just(IoClass::Idle),
    ];
    let priority = prop_oneof![4 => Just(4_u8), 1 => 0_u8..8];
    let roles = prop::collection::vec((class, priority), 4);
    (roles, any::<bool>()).prop_map(|(roles, shared)| {
        let mut cast = [(IoClass::BestEffort, 4, 0); 4];
        for (index, role) in roles.into_iter().enumerate() {
            cast[index] = (role.0, role.1, index as u32);
        }
        if shared {
            cast[1] = cast[0];
        }
        cast
    })
}

/// A subject that sees the processes in their roles.
pub(crate) struct Cast<'a> {
    subject: &'a mut dyn Subject,
    roles: Roles,
}

impl<'a> Cast<'a> {
    pub(crate) fn new(subject: &'a mut dyn Subject, roles: Roles) -> Self {
        Self { subject, roles }
    }

    fn submitter(&self, submitter: Submitter) -> Submitter {
        let (class, priority, io_context) = self.roles[submitter.io_context as usize % 4];
        Submitter { class, priority, io_context, ..submitter }
    }

    fn bio(&self, bio: &Bio) -> Bio {
        Bio { submitter: self.submitter(bio.submitter), ..*bio }
    }
}

impl Subject for Cast<'_> {
    fn may_queue(&mut self, now: u64, submitter: Submitter, sync: Sync) -> (MayQueue, Effects) {
        self.subject.may_queue(now, self.submitter(submitter), sync)
    }

    fn allows_merge(&self, ticket: Ticket, bio: &Bio) -> bool {
        self.subject.allows_merge(ticket, &self.bio(bio))
    }

    fn front_merge_candidate(&self, bio: &Bio) -> Option<Ticket> {
        self.subject.front_merge_candidate(&self.bio(bio))
    }

    fn neighbours(&self, ticket: Ticket) -> (Option<Ticket>, Option<Ticket>) {
        self.subject.neighbours(ticket)
    }

    fn append(&mut self, ticket: Ticket, bio: &Bio) {
        self.subject.append(ticket, &self.bio(bio));
    }

    fn prepend(&mut self, ticket: Ticket, bio: &Bio) {
        self.subject.prepend(ticket, &self.bio(bio));
    }

    fn front_merged(&mut self, now: u64, ticket: Ticket, old_sector: u64) -> Effects {
        self.subject.front_merged(now, ticket, old_sector)
    }

    fn coalesce(&mut self, now: u64, survivor: Ticket, absorbed: Ticket) -> Effects {
        self.subject.coalesce(now, survivor, absorbed)
    }

    fn insert(&mut self, now: u64, ticket: Ticket, bio: &Bio) -> Effects {
        self.subject.insert(now, ticket, &self.bio(bio))
    }

    fn dispatch(&mut self, now: u64, force: bool) -> (usize, Effects) {
        self.subject.dispatch(now, force)
    }

    fn dispatch_list(&self) -> Vec<Ticket> {
        self.subject.dispatch_list()
    }

    fn activate(&mut self, now: u64, ticket: Ticket) -> Effects {
        self.subject.activate(now, ticket)
    }

    fn start(&mut self) {
        self.subject.start();
    }

    fn complete(&mut self, now: u64, ticket: Ticket) -> Effects {
        self.subject.complete(now, ticket)
    }

    fn timer(&mut self, now: u64) -> Effects {
        self.subject.timer(now)
    }

    fn queue_was_run(&mut self) {
        self.subject.queue_was_run();
    }

    fn context_exited(&mut self, now: u64, io_context: u32) -> Effects {
        let io_context = self.roles[io_context as usize % 4].2;
        self.subject.context_exited(now, io_context)
    }

    fn state(&self) -> State {
        self.subject.state()
    }
}
