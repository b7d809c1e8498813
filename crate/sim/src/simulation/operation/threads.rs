//! The main loops of kblockd and of the journal thread.

use super::{Commit, Frame, Outcome};
use crate::simulation::world::World;
use crate::task::{TaskId, WaitOn};

/// kblockd: runs the queue when an interrupt or a timer asked for it.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Kblockd {
    paid: bool,
}

impl Kblockd {
    pub(super) fn step(&mut self, world: &mut World, me: TaskId) -> Outcome {
        if !world.kblockd_kicked {
            return Outcome::Wait(WaitOn::Work);
        }
        if !self.paid {
            self.paid = true;
            return Outcome::Cpu(world.host.kblockd_ns);
        }
        self.paid = false;
        world.kblockd_kicked = false;
        world.with_queue(Some(me), |queue, now_ns, recorder, out| queue.run_work(now_ns, recorder, out));
        Outcome::Continue
    }
}

/// The journal thread: commits what somebody asks for.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct JournalThread {}

impl JournalThread {
    pub(super) fn step(&mut self, world: &mut World) -> Outcome {
        if world.journal.commit_request > world.journal.commit_sequence {
            world.call(Frame::Commit(Commit::new()))
        } else {
            Outcome::Wait(WaitOn::Work)
        }
    }
}
