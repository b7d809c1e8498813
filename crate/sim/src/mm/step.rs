//! What the machines of memory management say to whoever runs them.
//!
//! *Models:* the places where the kernel sleeps, yields, or has done a batch of work.
//! *Does not model:* time: the caller charges the work and carries out the sleeps.
//! *Follows:* docs/model/reclaim.md, sections 2.9 and 5.

use super::frame::{FrameId, Owner};
use super::policy::NapQueue;
use serde::{Deserialize, Serialize};

/// Where somebody naps because of congestion.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[repr(u8)]
pub enum NapSite {
    /// The allocator between two direct reclaims: HZ/50.
    Retry = 0,
    /// Direct reclaim after a pass: HZ/10.
    Reclaim = 1,
    /// kswapd after a pass: HZ/10.
    Kswapd = 2,
    /// Before the second pass of lumpy reclaim: HZ/10.
    Lumpy = 3,
    /// Too many pages isolated: HZ/10.
    Isolated = 4,
    /// Too much under writeback: HZ/10.
    Writeout = 5,
}

impl NapSite {
    /// All places.
    pub const ALL: [Self; 6] =
        [Self::Retry, Self::Reclaim, Self::Kswapd, Self::Lumpy, Self::Isolated, Self::Writeout];

    /// In words.
    #[must_use]
    pub fn words(self) -> &'static str {
        match self {
            Self::Retry => "the allocator, between two attempts",
            Self::Reclaim => "direct reclaim, after a pass",
            Self::Kswapd => "kswapd, after a pass",
            Self::Lumpy => "lumpy reclaim, before its second pass",
            Self::Isolated => "direct reclaim, while too many pages are isolated",
            Self::Writeout => "reclaim, while too much is being written",
        }
    }
}

/// A nap to be taken: sleep until the queue is woken or the time is over, then take the next step.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Nap {
    /// Who.
    pub site: NapSite,
    /// Which of the two queues to sleep on.
    pub queue: NapQueue,
    /// For so many ticks at most: it ends at a tick (section 0.3).
    pub jiffies: u64,
    /// Whether a device was congested for this queue's kind when it began.
    pub necessary: bool,
}

/// What comes after a step.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Step<T> {
    /// A batch of work is done: charge [`super::Memory::take_work`], then take the next step.
    Work,
    /// Sleep, report the time with [`super::Memory::napped`], then take the next step.
    Nap(Nap),
    /// Offer the CPU to others, then take the next step.
    Yield,
    /// Wait until this page has been written, then take the next step.
    WaitWritten(FrameId),
    /// Call the OOM killer, sleep one tick if the caller itself is not the victim, then take the next step.
    Oom,
    /// kswapd sleeps on its own queue, for so many ticks at most (for good if `None`); report with
    /// [`super::Kswapd::woken`], then take the next step.
    Sleep(Option<u64>),
    /// The machine is done.
    Done(T),
}

impl<T> Step<T> {
    /// The same step of a machine with another result: what to do, or the result.
    pub(crate) fn or_result<U>(self) -> Result<T, Step<U>> {
        match self {
            Self::Done(result) => Ok(result),
            Self::Work => Err(Step::Work),
            Self::Nap(nap) => Err(Step::Nap(nap)),
            Self::Yield => Err(Step::Yield),
            Self::WaitWritten(frame) => Err(Step::WaitWritten(frame)),
            Self::Oom => Err(Step::Oom),
            Self::Sleep(jiffies) => Err(Step::Sleep(jiffies)),
        }
    }
}

/// Work done since it was last taken: what the CPU time follows from.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Work {
    /// Pages looked at on LRU lists.
    pub looked_at: u32,
    /// Pages freed.
    pub freed: u32,
    /// Batches of up to 32 pages.
    pub batches: u32,
    /// Passes over the zones.
    pub passes: u32,
    /// Objects looked at by shrinkers.
    pub objects: u32,
}

/// A page that reclaim has removed: forget it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Removed {
    /// Whose page it was.
    pub owner: Owner,
    /// The frame it was in.
    pub frame: FrameId,
    /// Page tables still pointed to it.
    pub mapped: bool,
    /// The swap slot in which its contents are.
    pub slot: Option<u32>,
}

/// A page that reclaim has unmapped and kept, or means to write first.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Unmapped {
    /// Whose.
    pub owner: Owner,
    /// The frame.
    pub frame: FrameId,
}

/// A page that reclaim wants written. Call [`super::Memory::written`] when it is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PageWrite {
    /// Whose.
    pub owner: Owner,
    /// The frame.
    pub frame: FrameId,
    /// To this swap slot; `None` for a page of a file.
    pub slot: Option<u32>,
}

/// What needs the outside world. The caller empties it after each step, keeping the allocations.
#[derive(Clone, Debug, Default)]
pub struct MemoryOut {
    /// Pages gone.
    pub removed: Vec<Removed>,
    /// Pages unmapped, but still there.
    pub unmapped: Vec<Unmapped>,
    /// Pages to be written.
    pub writes: Vec<PageWrite>,
    /// kswapd is to be woken.
    pub wake_kswapd: bool,
    /// The flushers are to write so many pages.
    pub wake_flushers_pages: u64,
}

impl MemoryOut {
    /// Whether there is nothing to do.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.removed.is_empty()
            && self.unmapped.is_empty()
            && self.writes.is_empty()
            && !self.wake_kswapd
            && self.wake_flushers_pages == 0
    }

    /// Forgets everything.
    pub fn clear(&mut self) {
        self.removed.clear();
        self.unmapped.clear();
        self.writes.clear();
        self.wake_kswapd = false;
        self.wake_flushers_pages = 0;
    }
}
