//! Requests in a flat arena: what elevators sort and devices serve.
//!
//! *Follows:* model/block-layer.md, sections 1.1, 1.2 and 1.4; Linux 2.6.35 `init_request_from_bio`.

use super::bio::{Bio, BioFlags, BioTag, Submitter, Sync};
use crate::observe::HeldTotals;

/// Index of a request in its queue's arena.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct RequestId(pub u32);

/// No request, no bio: the end of an intrusive list.
const NONE: u32 = u32::MAX;

/// Where a request is on its way.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Place {
    /// The slot is free.
    Free,
    /// Held by the elevator: may be merged with.
    Elevator,
    /// On the dispatch list: sorted, no longer a merge candidate.
    DispatchList,
    /// In the device.
    Device,
}

/// One request: one or more contiguous bios of the same kind.
#[derive(Clone, Debug)]
pub struct Request {
    /// First sector.
    pub sector: u64,
    /// Length in sectors.
    pub sectors: u32,
    /// Flags of the bio that created it; merged bios do not change them.
    pub flags: BioFlags,
    /// Who created it.
    pub submitter: Submitter,
    /// Where it is.
    pub place: Place,
    /// When it was allocated, in jiffies (`rq->start_time`).
    pub start_jiffies: u64,
    /// When its fifo deadline passes, in jiffies; set by the elevator.
    pub fifo_jiffies: u64,
    /// Bios merged into it, itself included.
    pub bios: u32,
    /// Physical segments: scattered pages, so one per page or part of a page of each bio.
    pub segments: u32,
    /// A merge has been refused for its size: no more are tried.
    pub merging_over: bool,
    /// The elevator's own word for it (CFQ: index of the queue it belongs to).
    pub elevator_data: u32,
    /// Whether the elevator has been told that the driver looked at it.
    pub activated: bool,
    /// When it was allocated, in nanoseconds.
    pub allocated_ns: u64,
    /// When each of its bios was submitted, in nanoseconds, added up: the sum of their waits follows.
    pub queued_sum_ns: u64,
    /// When the device took it, in nanoseconds; meaningful in and after [`Place::Device`].
    pub started_ns: u64,
    /// The queue's running totals of held time when the device took it.
    pub held_at_start: HeldTotals,
    /// Time its own submitter's slice had been served when the device took it, in nanoseconds.
    pub served_at_start_ns: u64,
    /// Counts the uses of this slot: tells a request from a later one in the same place.
    pub generation: u32,
    fifo_previous: u32,
    fifo_next: u32,
    hash_next: u32,
    first_bio: u32,
    last_bio: u32,
}

impl Request {
    /// The sector behind the last one.
    #[must_use]
    pub fn end(&self) -> u64 {
        self.sector + u64::from(self.sectors)
    }

    /// Sync or async (section 1.1).
    #[must_use]
    pub fn sync(&self) -> Sync {
        self.flags.sync()
    }

    /// Whether it is a write.
    #[must_use]
    pub fn is_write(&self) -> bool {
        self.flags.is_write()
    }
}

#[derive(Clone, Copy, Debug)]
struct BioLink {
    tag: BioTag,
    sectors: u32,
    next: u32,
}

/// A first-in, first-out list of requests linked through the arena; removal from the middle is O(1).
#[derive(Clone, Copy, Debug)]
pub struct Fifo {
    first: u32,
    last: u32,
}

impl Default for Fifo {
    fn default() -> Self {
        Self { first: NONE, last: NONE }
    }
}

impl Fifo {
    /// The oldest request.
    #[must_use]
    pub fn first(&self) -> Option<RequestId> {
        (self.first != NONE).then_some(RequestId(self.first))
    }

    /// Whether it holds nothing.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.first == NONE
    }
}

const HASH_BUCKETS: usize = 64;

/// All requests of one queue: an arena with a free list, the index for back merges, and the links
/// of every fifo.
#[derive(Clone, Debug)]
pub struct RequestPool {
    requests: Vec<Request>,
    free: Vec<u32>,
    bios: Vec<BioLink>,
    free_bio: u32,
    back_merge: [u32; HASH_BUCKETS],
}

impl Default for RequestPool {
    fn default() -> Self {
        Self {
            requests: Vec::new(),
            free: Vec::new(),
            bios: Vec::new(),
            free_bio: NONE,
            back_merge: [NONE; HASH_BUCKETS],
        }
    }
}

impl std::ops::Index<RequestId> for RequestPool {
    type Output = Request;
    fn index(&self, id: RequestId) -> &Request {
        &self.requests[id.0 as usize]
    }
}

impl std::ops::IndexMut<RequestId> for RequestPool {
    fn index_mut(&mut self, id: RequestId) -> &mut Request {
        &mut self.requests[id.0 as usize]
    }
}

impl RequestPool {
    /// An empty arena.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// A request made from `bio`, allocated at `now_ns`.
    pub fn allocate(&mut self, bio: &Bio, now_ns: u64, now_jiffies: u64) -> RequestId {
        let index = self.free.pop().unwrap_or_else(|| {
            self.requests.push(blank_request(bio.submitter));
            (self.requests.len() - 1) as u32
        });
        let link = self.new_bio_link(bio);
        let generation = self.requests[index as usize].generation.wrapping_add(1);
        self.requests[index as usize] = Request {
            sector: bio.sector,
            sectors: bio.sectors,
            flags: bio.flags,
            place: Place::Elevator,
            start_jiffies: now_jiffies,
            bios: 1,
            segments: segments(bio),
            allocated_ns: now_ns,
            queued_sum_ns: now_ns,
            generation,
            first_bio: link,
            last_bio: link,
            ..blank_request(bio.submitter)
        };
        RequestId(index)
    }

    /// Frees a request whose bios have been taken.
    pub fn release(&mut self, id: RequestId) {
        debug_assert_eq!(self[id].first_bio, NONE, "bios of a freed request would be lost");
        debug_assert_ne!(self.hash_find(self[id].end()), Some(id), "a freed request can be merged with");
        self[id].place = Place::Free;
        self.free.push(id.0);
    }

    /// Requests in the device, in no particular order.
    pub fn in_device(&self) -> impl Iterator<Item = RequestId> + '_ {
        let all = self.requests.iter().enumerate();
        all.filter(|(_, request)| request.place == Place::Device).map(|(index, _)| RequestId(index as u32))
    }

    /// Requests not free.
    #[must_use]
    pub fn in_use(&self) -> usize {
        self.requests.len() - self.free.len()
    }

    /// Appends `bio` to the end of the request.
    #[inline]
    pub fn append_bio(&mut self, id: RequestId, bio: &Bio) {
        let link = self.new_bio_link(bio);
        let request = &mut self.requests[id.0 as usize];
        self.bios[request.last_bio as usize].next = link;
        request.last_bio = link;
        request.sectors += bio.sectors;
        request.bios += 1;
        request.segments += segments(bio);
    }

    /// Puts `bio` in front of the request.
    pub fn prepend_bio(&mut self, id: RequestId, bio: &Bio) {
        let link = self.new_bio_link(bio);
        let request = &mut self.requests[id.0 as usize];
        self.bios[link as usize].next = request.first_bio;
        request.first_bio = link;
        request.sector = bio.sector;
        request.sectors += bio.sectors;
        request.bios += 1;
        request.segments += segments(bio);
    }

    /// Moves the bios of `absorbed`, which starts where `survivor` ends, to `survivor`.
    pub fn absorb(&mut self, survivor: RequestId, absorbed: RequestId) {
        let (first, last, sectors, bios, segments, queued_sum_ns) = {
            let from = &mut self[absorbed];
            let taken =
                (from.first_bio, from.last_bio, from.sectors, from.bios, from.segments, from.queued_sum_ns);
            from.first_bio = NONE;
            from.last_bio = NONE;
            taken
        };
        let last_of_survivor = self[survivor].last_bio;
        self.bios[last_of_survivor as usize].next = first;
        let into = &mut self[survivor];
        into.last_bio = last;
        into.sectors += sectors;
        into.bios += bios;
        into.segments += segments;
        into.queued_sum_ns += queued_sum_ns;
    }

    /// Takes the request's bios, in sector order, handing each to `each`.
    pub fn take_bios(&mut self, id: RequestId, mut each: impl FnMut(BioTag)) {
        let mut link = std::mem::replace(&mut self[id].first_bio, NONE);
        self[id].last_bio = NONE;
        while link != NONE {
            let entry = self.bios[link as usize];
            each(entry.tag);
            self.bios[link as usize].next = self.free_bio;
            self.free_bio = link;
            link = entry.next;
        }
    }

    /// The tags and lengths in sectors of the request's bios, in sector order.
    pub fn bios(&self, id: RequestId) -> impl Iterator<Item = (BioTag, u32)> + '_ {
        let mut link = self[id].first_bio;
        std::iter::from_fn(move || {
            let entry = self.bios.get(link as usize)?;
            link = entry.next;
            Some((entry.tag, entry.sectors))
        })
    }

    #[inline]
    fn new_bio_link(&mut self, bio: &Bio) -> u32 {
        let link = BioLink { tag: bio.tag, sectors: bio.sectors, next: NONE };
        if self.free_bio == NONE {
            self.bios.push(link);
            (self.bios.len() - 1) as u32
        } else {
            let index = self.free_bio;
            self.free_bio = self.bios[index as usize].next;
            self.bios[index as usize] = link;
            index
        }
    }

    /// Makes the request findable by its end sector (section 1.4, back merges).
    #[inline]
    pub fn hash_insert(&mut self, id: RequestId) {
        let bucket = bucket(self[id].end());
        self[id].hash_next = self.back_merge[bucket];
        self.back_merge[bucket] = id.0;
    }

    /// Undoes [`Self::hash_insert`]; call before the request's end changes. Does nothing if the
    /// request is not in the index.
    #[inline]
    pub fn hash_remove(&mut self, id: RequestId) {
        let bucket = bucket(self[id].end());
        let mut at = self.back_merge[bucket];
        let mut previous = NONE;
        while at != NONE && at != id.0 {
            previous = at;
            at = self.requests[at as usize].hash_next;
        }
        if at == NONE {
            return;
        }
        let next = self[id].hash_next;
        if previous == NONE {
            self.back_merge[bucket] = next;
        } else {
            self.requests[previous as usize].hash_next = next;
        }
    }

    /// The most recently indexed request that ends at `sector`.
    #[must_use]
    pub fn hash_find(&self, sector: u64) -> Option<RequestId> {
        let mut at = self.back_merge[bucket(sector)];
        while at != NONE {
            let request = &self.requests[at as usize];
            if request.end() == sector {
                return Some(RequestId(at));
            }
            at = request.hash_next;
        }
        None
    }

    /// Adds to the end of `fifo`.
    #[inline]
    pub fn fifo_push(&mut self, fifo: &mut Fifo, id: RequestId) {
        self[id].fifo_previous = fifo.last;
        self[id].fifo_next = NONE;
        if fifo.last == NONE {
            fifo.first = id.0;
        } else {
            self.requests[fifo.last as usize].fifo_next = id.0;
        }
        fifo.last = id.0;
    }

    /// Removes from `fifo`, which must hold it.
    #[inline]
    pub fn fifo_remove(&mut self, fifo: &mut Fifo, id: RequestId) {
        let (previous, next) = (self[id].fifo_previous, self[id].fifo_next);
        if previous == NONE {
            fifo.first = next;
        } else {
            self.requests[previous as usize].fifo_next = next;
        }
        if next == NONE {
            fifo.last = previous;
        } else {
            self.requests[next as usize].fifo_previous = previous;
        }
    }

    /// The requests right before and right behind `id` in the fifo that holds it.
    #[must_use]
    pub fn fifo_neighbours(&self, id: RequestId) -> (Option<RequestId>, Option<RequestId>) {
        let link = |index: u32| (index != NONE).then_some(RequestId(index));
        (link(self[id].fifo_previous), link(self[id].fifo_next))
    }

    /// Moves `id` to the place right behind `anchor`; both must be in `fifo`.
    pub fn fifo_move_behind(&mut self, fifo: &mut Fifo, id: RequestId, anchor: RequestId) {
        self.fifo_remove(fifo, id);
        let next = self[anchor].fifo_next;
        self[id].fifo_previous = anchor.0;
        self[id].fifo_next = next;
        self[anchor].fifo_next = id.0;
        if next == NONE {
            fifo.last = id.0;
        } else {
            self.requests[next as usize].fifo_previous = id.0;
        }
    }
}

/// Physical segments of a bio: its pages are scattered in memory (section 1.4).
pub(super) fn segments(bio: &Bio) -> u32 {
    bio.sectors.div_ceil(super::bio::PAGE_SECTORS)
}

fn bucket(sector: u64) -> usize {
    (sector.wrapping_mul(0x9e37_79b9_7f4a_7c15) >> 58) as usize
}

fn blank_request(submitter: Submitter) -> Request {
    Request {
        sector: 0,
        sectors: 0,
        flags: BioFlags::default(),
        submitter,
        place: Place::Free,
        start_jiffies: 0,
        fifo_jiffies: 0,
        bios: 0,
        segments: 0,
        merging_over: false,
        elevator_data: 0,
        activated: false,
        allocated_ns: 0,
        queued_sum_ns: 0,
        started_ns: 0,
        held_at_start: HeldTotals::default(),
        served_at_start_ns: 0,
        generation: 0,
        fifo_previous: NONE,
        fifo_next: NONE,
        hash_next: NONE,
        first_bio: NONE,
        last_bio: NONE,
    }
}
