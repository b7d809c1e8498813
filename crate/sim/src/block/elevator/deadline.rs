//! deadline: batches in sector order, with a bound on how long the oldest request waits.
//!
//! *Models:* reads and writes apart, each sorted by sector and by arrival; batches; expiry, looked at
//! between batches only; writes that are passed over so many times at most; front merges.
//! *Does not model:* nothing is left out. Whether a request is sync makes no difference to deadline,
//! and it never waits for anybody.
//! *Follows:* model/block-layer.md, section 3.1; Linux 2.6.32 and 2.6.35 `block/deadline-iosched.c`.

use super::tunables::{LARGEST_INT, TunableError, TunableInfo, TunableUnit, check, jiffies_from_sysfs_ms};
use super::{Elevator, ElevatorIo, SortedRequests};
use crate::block::{Bio, Fifo, RequestId, RequestPool};
use crate::engine::Clock;

/// What can be set about deadline.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct DeadlineTunables {
    /// How long after its arrival a read expires, in jiffies.
    pub read_expire_jiffies: u64,
    /// How long after its arrival a write expires, in jiffies.
    pub write_expire_jiffies: u64,
    /// How many times reads may be preferred while writes wait.
    pub writes_starved: u64,
    /// Longest batch, in requests.
    pub fifo_batch_requests: u64,
    /// Whether a bio may be put in front of a request.
    pub front_merges: bool,
}

static TUNABLES: [TunableInfo; 5] = [
    TunableInfo {
        name: "read_expire",
        unit: TunableUnit::Milliseconds,
        min: 0,
        max: LARGEST_INT,
        default: 500,
        documentation: "How long a read may wait before it is served ahead of its turn in sector order.",
    },
    TunableInfo {
        name: "write_expire",
        unit: TunableUnit::Milliseconds,
        min: 0,
        max: LARGEST_INT,
        default: 5000,
        documentation: "How long a write may wait before it is served ahead of its turn in sector order.",
    },
    TunableInfo {
        name: "writes_starved",
        unit: TunableUnit::Factor,
        min: 0,
        max: LARGEST_INT,
        default: 2,
        documentation: "How many batches of reads may go first while writes wait.",
    },
    TunableInfo {
        name: "fifo_batch",
        unit: TunableUnit::Requests,
        min: 0,
        max: LARGEST_INT,
        default: 16,
        documentation: "How many requests in sector order make a batch, after which expired ones are looked for.",
    },
    TunableInfo {
        name: "front_merges",
        unit: TunableUnit::Boolean,
        min: 0,
        max: 1,
        default: 1,
        documentation: "Whether to look for a waiting request that starts where a new one ends.",
    },
];

impl DeadlineTunables {
    /// The kernel's defaults: half a second for reads, five for writes, two, sixteen, on.
    #[must_use]
    pub fn for_clock(clock: &Clock) -> Self {
        Self {
            read_expire_jiffies: clock.hz() / 2,
            write_expire_jiffies: 5 * clock.hz(),
            writes_starved: 2,
            fifo_batch_requests: 16,
            front_merges: true,
        }
    }

    /// Every tunable: name, unit, range, default, meaning.
    #[must_use]
    pub fn info() -> &'static [TunableInfo] {
        &TUNABLES
    }

    /// Sets the tunable with the sysfs name `name` to `value`, in the unit that [`Self::info`] gives.
    ///
    /// # Errors
    /// No such tunable, or the value is out of range; nothing is changed then.
    pub fn set(&mut self, name: &str, value: u64, clock: &Clock) -> Result<(), TunableError> {
        let info = check(&TUNABLES, name, value)?;
        match info.name {
            "read_expire" => self.read_expire_jiffies = jiffies_from_sysfs_ms(clock, value),
            "write_expire" => self.write_expire_jiffies = jiffies_from_sysfs_ms(clock, value),
            "writes_starved" => self.writes_starved = value,
            "fifo_batch" => self.fifo_batch_requests = value,
            _ => self.front_merges = value != 0,
        }
        Ok(())
    }

    fn expire_jiffies(&self, direction: Direction) -> u64 {
        match direction {
            Direction::Read => self.read_expire_jiffies,
            Direction::Write => self.write_expire_jiffies,
        }
    }
}

/// Which way data moves: deadline's only distinction.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Direction {
    Read = 0,
    Write = 1,
}

impl Direction {
    fn of(is_write: bool) -> Self {
        if is_write { Self::Write } else { Self::Read }
    }
}

/// The requests of one direction.
#[derive(Clone, Debug, Default)]
struct Waiting {
    sorted: SortedRequests,
    fifo: Fifo,
}

/// The deadline I/O scheduler.
#[derive(Clone, Debug)]
pub struct Deadline {
    tunables: DeadlineTunables,
    waiting: [Waiting; 2],
    /// What follows the last dispatched request in sector order, in its direction: where the batch
    /// goes on.
    next: Option<RequestId>,
    /// Requests in the present batch so far.
    batching: u64,
    /// Times reads were preferred while writes waited, since the last batch of writes.
    starved: u64,
}

impl Deadline {
    /// An empty deadline.
    #[must_use]
    pub fn new(tunables: DeadlineTunables) -> Self {
        Self { tunables, waiting: Default::default(), next: None, batching: 0, starved: 0 }
    }

    /// The tunables in force.
    #[must_use]
    pub fn tunables(&self) -> &DeadlineTunables {
        &self.tunables
    }

    fn of(&mut self, direction: Direction) -> &mut Waiting {
        &mut self.waiting[direction as usize]
    }

    /// Sorts a request in. One that starts at the same sector has to leave for the device first.
    fn sort_in(&mut self, io: &mut ElevatorIo<'_>, request: RequestId) {
        let (sector, direction) = (io.requests[request].sector, direction_of(io.requests, request));
        while let Some(alias) = self.of(direction).sorted.insert(sector, request) {
            self.release(io, alias);
        }
    }

    /// Forgets a request; a batch that would have continued with it continues behind it.
    fn forget(&mut self, io: &mut ElevatorIo<'_>, request: RequestId) {
        let (sector, direction) = (io.requests[request].sector, direction_of(io.requests, request));
        if self.next == Some(request) {
            self.next = self.of(direction).sorted.successor(sector, request);
        }
        let waiting = self.of(direction);
        waiting.sorted.remove(sector, request);
        io.requests.fifo_remove(&mut waiting.fifo, request);
    }

    /// Moves a request to the dispatch list and notes where its batch would go on.
    fn release(&mut self, io: &mut ElevatorIo<'_>, request: RequestId) {
        let (sector, direction) = (io.requests[request].sector, direction_of(io.requests, request));
        self.next = self.of(direction).sorted.successor(sector, request);
        self.forget(io, request);
        io.dispatch_last(request);
    }

    /// The next request to serve, counting it as part of its batch.
    fn choose(&mut self, io: &ElevatorIo<'_>) -> Option<RequestId> {
        if self.next.is_some() && self.batching < self.tunables.fifo_batch_requests {
            self.batching += 1;
            return self.next;
        }
        let direction = self.choose_direction()?;
        let oldest = self.waiting[direction as usize].fifo.first()?;
        let next = self.next.filter(|next| direction_of(io.requests, *next) == direction);
        let has_expired = io.now_jiffies > io.requests[oldest].fifo_jiffies;
        self.batching = 1;
        Some(if has_expired { oldest } else { next.unwrap_or(oldest) })
    }

    /// Reads go first, but only so many times while writes wait.
    fn choose_direction(&mut self) -> Option<Direction> {
        let [reads, writes] = &self.waiting;
        let (reads_wait, writes_wait) = (!reads.fifo.is_empty(), !writes.fifo.is_empty());
        if reads_wait {
            let writes_have_starved = self.starved >= self.tunables.writes_starved;
            self.starved += u64::from(writes_wait);
            if !(writes_wait && writes_have_starved) {
                return Some(Direction::Read);
            }
        } else if !writes_wait {
            return None;
        }
        self.starved = 0;
        Some(Direction::Write)
    }

    fn dispatch_one(&mut self, io: &mut ElevatorIo<'_>) -> usize {
        let Some(request) = self.choose(io) else { return 0 };
        self.release(io, request);
        1
    }
}

fn direction_of(requests: &RequestPool, request: RequestId) -> Direction {
    Direction::of(requests[request].is_write())
}

impl Elevator for Deadline {
    fn is_empty(&self) -> bool {
        self.held() == 0
    }

    fn allows_merge(&self, _requests: &RequestPool, _request: RequestId, _bio: &Bio) -> bool {
        true
    }

    fn front_merge_candidate(&self, _requests: &RequestPool, bio: &Bio) -> Option<RequestId> {
        if !self.tunables.front_merges {
            return None;
        }
        self.waiting[Direction::of(bio.flags.is_write()) as usize].sorted.find(bio.end())
    }

    fn neighbours(
        &self,
        requests: &RequestPool,
        request: RequestId,
    ) -> (Option<RequestId>, Option<RequestId>) {
        let sorted = &self.waiting[direction_of(requests, request) as usize].sorted;
        let sector = requests[request].sector;
        (sorted.predecessor(sector, request), sorted.successor(sector, request))
    }

    fn front_merged(&mut self, io: &mut ElevatorIo<'_>, request: RequestId, old_sector: u64) {
        let direction = direction_of(io.requests, request);
        self.of(direction).sorted.remove(old_sector, request);
        self.sort_in(io, request);
    }

    fn requests_merged(&mut self, io: &mut ElevatorIo<'_>, survivor: RequestId, absorbed: RequestId) {
        let direction = direction_of(io.requests, survivor);
        let earlier = io.requests[absorbed].fifo_jiffies;
        if earlier < io.requests[survivor].fifo_jiffies {
            io.requests.fifo_move_behind(&mut self.of(direction).fifo, survivor, absorbed);
            io.requests[survivor].fifo_jiffies = earlier;
        }
        self.forget(io, absorbed);
    }

    fn insert(&mut self, io: &mut ElevatorIo<'_>, request: RequestId) {
        self.sort_in(io, request);
        let direction = direction_of(io.requests, request);
        io.requests[request].fifo_jiffies = io.now_jiffies + self.tunables.expire_jiffies(direction);
        io.requests.fifo_push(&mut self.of(direction).fifo, request);
    }

    fn dispatch(&mut self, io: &mut ElevatorIo<'_>, force: bool) -> usize {
        let mut moved = self.dispatch_one(io);
        while force && !self.is_empty() {
            moved += self.dispatch_one(io);
        }
        moved
    }

    fn held(&self) -> usize {
        self.waiting.iter().map(|waiting| waiting.sorted.len()).sum()
    }
}

#[cfg(test)]
mod tests;
