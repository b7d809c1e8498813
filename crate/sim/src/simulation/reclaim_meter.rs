//! What is measured of reclaim over time, and where tasks that want memory lose theirs.
//!
//! *Models:* counters and list sizes of memory management, read once a bucket; kswapd's time by what it does; the waits of the
//! allocator's slow path by cause.
//! *Does not model:* anything a page fault would have to pay for.
//! *Follows:* docs/model/reclaim.md, sections 2.9, 3.1 and 5.1.

use super::operation::Outcome;
use super::world::World;
use crate::mm::{KswapdState, Lru, NapSite, ZoneKind};
use crate::observe::{Reading, Sampled, Series};
use crate::task::WaitOn;
use serde::{Deserialize, Serialize};

/// Buckets as wide as this at first.
const FINEST_BUCKET_NS: u64 = 1_000_000;

/// What kswapd is doing.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
#[repr(u8)]
pub enum KswapdDoing {
    /// It sleeps until somebody wakes it.
    #[default]
    Asleep = 0,
    /// It is in its first, short sleep.
    Dozing = 1,
    /// It balances at priority 12 to 10: the first passes, which look at a 1024th of a list or less.
    Lightly = 2,
    /// It balances at priority 9 to 6.
    Harder = 3,
    /// It balances at priority 5 to 0: a 32nd of a list, up to all of it.
    Desperately = 4,
    /// It sleeps in `congestion_wait`.
    Napping = 5,
    /// It waits for a free request or for a page to be written.
    Device = 6,
}

impl KswapdDoing {
    /// Everything it can do.
    pub const ALL: [Self; 7] = [
        Self::Asleep,
        Self::Dozing,
        Self::Lightly,
        Self::Harder,
        Self::Desperately,
        Self::Napping,
        Self::Device,
    ];

    /// In words.
    #[must_use]
    pub fn words(self) -> &'static str {
        match self {
            Self::Asleep => "asleep",
            Self::Dozing => "in its short first sleep",
            Self::Lightly => "balancing at priority 12 to 10",
            Self::Harder => "balancing harder at 9 to 6",
            Self::Desperately => "balancing hardest at 5 to 0",
            Self::Napping => "napping (congestion_wait)",
            Self::Device => "waiting for the device",
        }
    }

    /// What it does after a step that ended so.
    pub(crate) fn after(outcome: &Outcome, state: KswapdState) -> Self {
        match (outcome, state) {
            (Outcome::Wait(WaitOn::Work), _) => Self::Asleep,
            (Outcome::Wait(WaitOn::Doze), _) => Self::Dozing,
            (Outcome::Wait(WaitOn::Congestion(_)), _) => Self::Napping,
            (Outcome::Wait(_), _) => Self::Device,
            (_, KswapdState::Balancing(0..=5)) => Self::Desperately,
            (_, KswapdState::Balancing(6..=9)) => Self::Harder,
            _ => Self::Lightly,
        }
    }
}

/// Why a task that wants memory sleeps.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum DirectSleep {
    /// It naps in the allocator between two direct reclaims.
    Retry,
    /// It naps after a pass of direct reclaim.
    Reclaim,
    /// It naps before the second pass of lumpy reclaim.
    Lumpy,
    /// It naps because too many pages are isolated.
    Isolated,
    /// It naps because too much is being written.
    Writeout,
    /// A page that it reclaims is being written.
    PageWritten,
    /// It writes pages itself, and there is no free request.
    FreeRequest,
    /// Somebody has been killed; it waits for what that gives back.
    Killed,
}

impl DirectSleep {
    /// Every cause.
    pub const ALL: [Self; 8] = [
        Self::Retry,
        Self::Reclaim,
        Self::Lumpy,
        Self::Isolated,
        Self::Writeout,
        Self::PageWritten,
        Self::FreeRequest,
        Self::Killed,
    ];

    /// A nap's.
    pub(crate) fn nap(site: NapSite) -> Self {
        match site {
            NapSite::Retry => Self::Retry,
            NapSite::Reclaim | NapSite::Kswapd => Self::Reclaim,
            NapSite::Lumpy => Self::Lumpy,
            NapSite::Isolated => Self::Isolated,
            NapSite::Writeout => Self::Writeout,
        }
    }

    /// In words.
    #[must_use]
    pub fn words(self) -> &'static str {
        match self {
            Self::Retry => "napping in the allocator between two attempts",
            Self::Reclaim => "napping in direct reclaim after a pass",
            Self::Lumpy => "napping before lumpy reclaim's second pass",
            Self::Isolated => "napping while too many pages are isolated",
            Self::Writeout => "napping while too much is being written",
            Self::PageWritten => "waiting for a page to be written",
            Self::FreeRequest => "waiting for a free request",
            Self::Killed => "waiting for a killed process",
        }
    }
}

/// Sleeps of one cause.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct DirectSleeps {
    /// Why.
    pub cause: DirectSleep,
    /// How many.
    pub count: u64,
    /// Time slept until the task ran again, in nanoseconds.
    pub ns: u64,
    /// The longest, in nanoseconds.
    pub longest_ns: u64,
}

/// What a series of reclaim shows.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Watched {
    /// Pages looked at in a zone: by direct reclaim, otherwise by kswapd.
    Scanned(ZoneKind, bool),
    /// Pages freed in a zone: by direct reclaim, otherwise by kswapd.
    Freed(ZoneKind, bool),
    /// Pages on a list, in all zones.
    Pages(Lru),
    /// Nanoseconds that kswapd spent so.
    Kswapd(KswapdDoing),
}

/// The measurements.
#[derive(Clone, Debug, Default)]
pub(crate) struct ReclaimMeter {
    sampled: Sampled,
    kswapd_ns: [u64; KswapdDoing::ALL.len()],
    doing: KswapdDoing,
    doing_since_ns: u64,
    /// Those that there were.
    sleeps: Vec<DirectSleeps>,
}

impl ReclaimMeter {
    /// kswapd takes a step: what it has been doing is over.
    #[inline]
    pub(crate) fn kswapd_was(&mut self, now_ns: u64) {
        self.kswapd_ns[self.doing as usize] += now_ns - self.doing_since_ns;
        self.doing_since_ns = now_ns;
    }

    /// What kswapd does from now on.
    #[inline]
    pub(crate) fn kswapd_does(&mut self, doing: KswapdDoing) {
        self.doing = doing;
    }

    /// A sleep of a task that wants memory is over.
    pub(crate) fn slept(&mut self, cause: DirectSleep, ns: u64) {
        let known = self.sleeps.iter().position(|sleeps| sleeps.cause == cause);
        let index = known.unwrap_or_else(|| {
            self.sleeps.push(DirectSleeps { cause, count: 0, ns: 0, longest_ns: 0 });
            self.sleeps.len() - 1
        });
        let sleeps = &mut self.sleeps[index];
        sleeps.count += 1;
        sleeps.ns += ns;
        sleeps.longest_ns = sleeps.longest_ns.max(ns);
    }
}

impl World {
    /// Reads what is to be seen of reclaim, if it is time.
    #[inline]
    pub(crate) fn watch_reclaim(&mut self) {
        let now_ns = self.now_ns;
        if self.memory.as_ref().is_some_and(|memory| now_ns >= memory.meter.sampled.due_ns()) {
            self.read_reclaim();
        }
    }

    /// Reads it now.
    #[cold]
    pub(crate) fn read_reclaim(&mut self) {
        let now_ns = self.now_ns;
        let Some(memory) = &mut self.memory else { return };
        memory.meter.kswapd_was(now_ns);
        let (zones, kswapd_ns) = (memory.memory.zones(), memory.meter.kswapd_ns);
        let reading = |watched: Watched| match watched {
            Watched::Pages(lru) => {
                Reading::Value(zones.iter().map(|zone| u64::from(zone.lru_pages(lru))).sum())
            }
            Watched::Kswapd(doing) => Reading::Total(kswapd_ns[doing as usize]),
            Watched::Scanned(kind, direct) | Watched::Freed(kind, direct) => {
                let zone = zones.iter().find(|zone| zone.kind == kind);
                Reading::Total(zone.map_or(0, |zone| {
                    let events = &zone.events;
                    match (watched, direct) {
                        (Watched::Scanned(..), false) => events.pgscan_kswapd,
                        (Watched::Scanned(..), true) => events.pgscan_direct,
                        (_, false) => events.kswapd_steal,
                        (_, true) => events.pgsteal - events.kswapd_steal,
                    }
                }))
            }
        };
        let readings: Vec<Reading> = memory.watched().map(reading).collect();
        memory.meter.sampled.read(now_ns, FINEST_BUCKET_NS, readings.into_iter());
    }

    /// What was watched of reclaim over time; nothing where memory is not simulated. Complete in a settled world.
    pub fn reclaim_over_time(&self) -> impl Iterator<Item = (Watched, &Series)> {
        self.memory.iter().flat_map(|memory| memory.watched().zip(memory.meter.sampled.series()))
    }

    /// How tasks that wanted memory have slept, by cause.
    #[must_use]
    pub fn direct_sleeps(&self) -> &[DirectSleeps] {
        self.memory.as_ref().map_or(&[], |memory| &memory.meter.sleeps)
    }
}

impl super::memory::MachineMemory {
    /// Everything that is read, in order.
    fn watched(&self) -> impl Iterator<Item = Watched> {
        let zones = self.memory.zones().iter().filter(|zone| zone.is_populated());
        let by_zone = zones.flat_map(|zone| {
            let kind = zone.kind;
            [false, true]
                .into_iter()
                .flat_map(move |direct| [Watched::Scanned(kind, direct), Watched::Freed(kind, direct)])
        });
        let lists = Lru::ALL.into_iter().map(Watched::Pages);
        by_zone.chain(lists).chain(KswapdDoing::ALL.into_iter().map(Watched::Kswapd))
    }
}
