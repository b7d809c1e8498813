//! What tasks do inside and outside the kernel, as resumable steps.
//!
//! A task has a stack of frames. Each call of [`Frame::step`] does a little and says what comes next:
//! go on, use so much CPU time, wait for something, call another frame, or return. A frame keeps in its
//! fields how far it has come; a step that has to wait is simply taken again afterwards.

mod allocate;
mod checkpoint;
mod commit;
mod direct;
mod flusher;
mod fsync;
mod kswapd;
mod names;
mod pdflush;
mod program;
mod read;
mod reserve;
mod threads;
mod throttle;
mod touch;
mod touch_region;
mod truncate;
mod write;
mod write_pages;
mod writeback_pass;

use super::world::World;
use crate::task::{TaskId, WaitOn};

pub(crate) use allocate::Allocate;
pub(crate) use checkpoint::Checkpoint;
pub(crate) use commit::Commit;
pub(crate) use direct::Direct;
pub(crate) use flusher::Flusher;
pub(crate) use fsync::Fsync;
pub(crate) use kswapd::KswapdThread;
pub(crate) use names::{Create, DropCache, Unlink};
pub(crate) use pdflush::PdflushThread;
pub(crate) use program::{Interpreter, Transfer};
pub(crate) use read::{ReadPages, ReadWindow};
pub(crate) use reserve::Reserve;
pub(crate) use threads::{JournalThread, Kblockd};
pub(crate) use throttle::Throttle;
pub(crate) use touch::Touch;
pub(crate) use touch_region::TouchRegion;
pub(crate) use truncate::Truncate;
pub(crate) use write::WriteCall;
pub(crate) use write_pages::WritePages;
pub(crate) use writeback_pass::{MetadataFlush, WritebackPass};

/// What comes after a step.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Outcome {
    /// The next step, at once.
    Continue,
    /// So much CPU time (give or take the host's jitter), then the next step.
    Cpu(u64),
    /// Exactly so much CPU time, then the next step.
    Exactly(u64),
    /// A wait, then the next step.
    Wait(WaitOn),
    /// The frame in `World::called`; the next step of this one when it is done. An outcome itself stays small: every step
    /// hands one over.
    Call,
    /// The frame is done.
    Done,
}

/// One thing a task is in the middle of.
#[derive(Clone, Debug)]
pub(crate) enum Frame {
    Interpreter(Interpreter),
    Transfer(Transfer),
    ReadPages(ReadPages),
    ReadWindow(ReadWindow),
    Reserve(Reserve),
    WriteCall(WriteCall),
    WritePages(WritePages),
    Direct(Direct),
    Create(Create),
    Unlink(Unlink),
    DropCache(DropCache),
    Fsync(Fsync),
    JournalThread(JournalThread),
    Commit(Commit),
    Checkpoint(Checkpoint),
    Flusher(Flusher),
    PdflushThread(PdflushThread),
    WritebackPass(WritebackPass),
    Throttle(Throttle),
    MetadataFlush(MetadataFlush),
    Kblockd(Kblockd),
    Touch(Touch),
    TouchRegion(Box<TouchRegion>),
    Truncate(Truncate),
    Allocate(Allocate),
    KswapdThread(KswapdThread),
}

impl Frame {
    /// Does the next little thing for the task `me`.
    pub(crate) fn step(&mut self, world: &mut World, me: TaskId) -> Outcome {
        let outcome = match self {
            Self::Interpreter(frame) => Ok(frame.step(world, me)),
            Self::Transfer(frame) => Ok(frame.step(world, me)),
            Self::ReadPages(frame) => frame.step(world, me),
            Self::ReadWindow(frame) => frame.step(world, me),
            Self::Reserve(frame) => Ok(frame.step(world, me)),
            Self::WriteCall(frame) => frame.step(world, me),
            Self::WritePages(frame) => frame.step(world, me),
            Self::Direct(frame) => frame.step(world, me),
            Self::Create(frame) => frame.step(world, me),
            Self::Unlink(frame) => frame.step(world, me),
            Self::DropCache(frame) => Ok(frame.step(world)),
            Self::Fsync(frame) => frame.step(world, me),
            Self::JournalThread(frame) => Ok(frame.step(world)),
            Self::Commit(frame) => frame.step(world, me),
            Self::Checkpoint(frame) => frame.step(world, me),
            Self::Flusher(frame) => Ok(frame.step(world, me)),
            Self::PdflushThread(frame) => Ok(frame.step(world, me)),
            Self::WritebackPass(frame) => Ok(frame.step(world, me)),
            Self::Throttle(frame) => Ok(frame.step(world, me)),
            Self::MetadataFlush(frame) => frame.step(world, me),
            Self::Kblockd(frame) => Ok(frame.step(world, me)),
            Self::Touch(frame) => frame.step(world, me),
            Self::TouchRegion(frame) => frame.step(world, me),
            Self::Truncate(frame) => frame.step(world, me),
            Self::Allocate(frame) => Ok(frame.step(world, me)),
            Self::KswapdThread(frame) => Ok(frame.step(world, me)),
        };
        // An obstacle (a wait, a call) ends a step as well as its regular end does.
        outcome.unwrap_or_else(|obstacle| obstacle)
    }
}

impl World {
    /// The outcome of a step that calls another frame.
    pub(crate) fn call(&mut self, frame: Frame) -> Outcome {
        self.called = Some(frame);
        Outcome::Call
    }
}

/// The end of a step: its regular outcome, or the obstacle that has to be overcome before the step is
/// taken again.
pub(crate) type Step = Result<Outcome, Outcome>;
