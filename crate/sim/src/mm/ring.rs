//! An LRU list as a ring of frame numbers.
//!
//! *Models:* a list that grows at its head, is taken from at its tail, and loses members anywhere. A member knows its position, and
//! leaves a gap when it goes; gaps are closed when the ring is full. Scanning reads memory in order, where links through frames
//! would be one cache miss after the other.
//! *Does not model:* anything else.
//! *Follows:* docs/model/reclaim.md, section 0.5 (speed).

use super::frame::Frames;

/// What is left of a member that has gone.
const GAP: u32 = u32::MAX;
/// Slots of a ring at first.
const SLOTS_AT_FIRST: usize = 64;

#[derive(Clone, Debug)]
pub(crate) struct Ring {
    /// A power of two of them.
    slots: Vec<u32>,
    /// Position of the oldest member or gap. Positions count modulo 2^32.
    tail: u32,
    /// Position behind the newest.
    head: u32,
    members: u32,
}

impl Ring {
    pub(crate) fn new() -> Self {
        Self { slots: vec![GAP; SLOTS_AT_FIRST], tail: 0, head: 0, members: 0 }
    }

    #[inline]
    pub(crate) fn len(&self) -> u32 {
        self.members
    }

    /// Memory that this takes, in bytes.
    pub(crate) fn bytes(&self) -> usize {
        std::mem::size_of_val(&self.slots[..])
    }

    #[inline]
    fn slot(&self, position: u32) -> usize {
        position as usize & (self.slots.len() - 1)
    }

    /// Adds the newest member.
    #[inline]
    pub(crate) fn push_head(&mut self, frames: &mut Frames, frame: u32) {
        self.make_room(frames);
        let slot = self.slot(self.head);
        self.slots[slot] = frame;
        frames.set_position(frame, self.head);
        self.head = self.head.wrapping_add(1);
        self.members += 1;
    }

    /// Adds members, each newer than the one before.
    #[inline]
    pub(crate) fn push_batch(&mut self, frames: &mut Frames, batch: &[u32]) {
        let taken = self.head.wrapping_sub(self.tail) as usize;
        if taken + batch.len() > self.slots.len() {
            for &frame in batch {
                self.push_head(frames, frame);
            }
            return;
        }
        let mask = self.slots.len() - 1;
        let mut head = self.head;
        for &frame in batch {
            self.slots[head as usize & mask] = frame;
            frames.set_position(frame, head);
            head = head.wrapping_add(1);
        }
        self.head = head;
        self.members += batch.len() as u32;
    }

    /// Adds a member that is older than all others.
    pub(crate) fn push_tail(&mut self, frames: &mut Frames, frame: u32) {
        self.make_room(frames);
        self.tail = self.tail.wrapping_sub(1);
        let slot = self.slot(self.tail);
        self.slots[slot] = frame;
        frames.set_position(frame, self.tail);
        self.members += 1;
    }

    /// Removes a member.
    #[inline]
    pub(crate) fn remove(&mut self, frames: &Frames, frame: u32) {
        let slot = self.slot(frames.position(frame));
        debug_assert_eq!(self.slots[slot], frame, "a member knows where it is");
        self.slots[slot] = GAP;
        self.members -= 1;
    }

    /// Takes the oldest members, oldest first, as many as `batch` holds; returns how many there were.
    #[inline]
    pub(crate) fn take(&mut self, batch: &mut [u32]) -> usize {
        let wanted = batch.len().min(self.members as usize);
        let mask = self.slots.len() - 1;
        let mut at = self.tail;
        let mut taken = 0;
        while taken < wanted {
            let frame = self.slots[at as usize & mask];
            at = at.wrapping_add(1);
            // A gap is written over by what comes next.
            batch[taken] = frame;
            taken += usize::from(frame != GAP);
        }
        self.tail = at;
        self.members -= taken as u32;
        taken
    }

    /// The members, oldest first.
    pub(crate) fn iter(&self) -> impl Iterator<Item = u32> + '_ {
        let count = self.head.wrapping_sub(self.tail);
        (0..count)
            .map(|ahead| self.slots[self.slot(self.tail.wrapping_add(ahead))])
            .filter(|&frame| frame != GAP)
    }

    #[inline]
    fn make_room(&mut self, frames: &mut Frames) {
        if self.head.wrapping_sub(self.tail) as usize == self.slots.len() {
            self.close_gaps_or_grow(frames);
        }
    }

    #[cold]
    fn close_gaps_or_grow(&mut self, frames: &mut Frames) {
        let count = self.slots.len();
        if self.members as usize > count - count / 4 {
            let mut slots = vec![GAP; 2 * count];
            for ahead in 0..count as u32 {
                let position = self.tail.wrapping_add(ahead);
                slots[position as usize & (2 * count - 1)] = self.slots[self.slot(position)];
            }
            self.slots = slots;
            return;
        }
        let mut end = self.tail;
        for ahead in 0..count as u32 {
            let slot = self.slot(self.tail.wrapping_add(ahead));
            let frame = self.slots[slot];
            if frame != GAP {
                let slot = self.slot(end);
                self.slots[slot] = frame;
                frames.set_position(frame, end);
                end = end.wrapping_add(1);
            }
        }
        self.head = end;
    }
}
