//! Shrinking an inactive list, a batch at a time.
//!
//! *Models:* isolating a batch from the tail, with the neighbours of each page in lumpy reclaim; what becomes of each page; putting
//! back what stays, in its old order; the second pass of lumpy reclaim; waiting while too many pages are isolated.
//! *Does not model:* time: one batch of order 0 is atomic (section 0.5, G12).
//! *Follows:* docs/model/reclaim.md, sections 4.5 to 4.7; Linux 2.6.31 and 2.6.36, `mm/vmscan.c`, `shrink_inactive_list`,
//! `isolate_lru_pages`.

use super::control::Control;
use super::fate::{Fate, SPECIAL};
use super::frame::{FrameId, Word};
use super::gfp::COSTLY_ORDER;
use super::lru::Lru;
use super::memory::Memory;
use super::policy::{NapRule, References};
use super::scan::{BATCH_PAGES, DEF_PRIORITY};
use super::step::{NapSite, Removed, Step};

/// The machine for one batch of one list.
#[derive(Clone, Debug)]
pub(crate) struct InactiveShrink {
    zone: usize,
    lru: Lru,
    pages: u32,
    priority: u8,
    stage: Stage,
    /// Pages in hand, with where they belong when put back. Only for orders above 0.
    hand: Vec<u32>,
    at: usize,
    kept: usize,
    taken: u32,
    freed: u32,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Stage {
    Begin,
    First,
    SecondNap,
    Second,
    PutBack,
}

/// What a batch has done.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Tally {
    pub(crate) taken: u32,
    pub(crate) freed: u32,
    pub(crate) activated: u32,
    pub(crate) dirty: u32,
    /// Of these, those whose queue was congested for this caller.
    pub(crate) dirty_refused: u32,
}

impl InactiveShrink {
    pub(crate) fn new(zone: usize, lru: Lru, pages: u32, priority: u8) -> Self {
        Self {
            zone,
            lru,
            pages,
            priority,
            stage: Stage::Begin,
            hand: Vec::new(),
            at: 0,
            kept: 0,
            taken: 0,
            freed: 0,
        }
    }

    /// Lumpy mode (R4.11).
    fn is_lumpy(&self, order: u8) -> bool {
        order > COSTLY_ORDER || (order != 0 && self.priority < DEF_PRIORITY - 2)
    }

    pub(crate) fn step(&mut self, memory: &mut Memory, control: &mut Control) -> Step<()> {
        loop {
            match self.stage {
                Stage::Begin => {
                    if memory.policy.too_many_isolated
                        && !control.caller.kswapd
                        && memory.has_too_many_isolated(self.zone, self.lru.is_file())
                    {
                        let rule = NapRule::Always(memory.policy.isolated_nap);
                        return memory.nap(NapSite::Isolated, rule, None);
                    }
                    memory.drain_vectors(control.caller.cpu);
                    if control.order == 0 {
                        let tally = memory.shrink_batch(self.zone, self.lru, self.pages, control);
                        memory.account(self.zone, self.lru, tally, control);
                        return Step::Done(());
                    }
                    control.lumpy = self.is_lumpy(control.order);
                    self.isolate(memory, control);
                    self.stage = Stage::First;
                }
                Stage::First => {
                    if self.look_at_hand(memory, control, false).is_err() || self.at < self.hand.len() {
                        return Step::Work;
                    }
                    self.hand.truncate(self.kept);
                    self.stage = if self.wants_second_pass(memory, control) {
                        Stage::SecondNap
                    } else {
                        Stage::PutBack
                    };
                    return Step::Work;
                }
                Stage::SecondNap => {
                    (self.at, self.kept) = (0, 0);
                    self.stage = Stage::Second;
                    if let Some(queue) = memory.policy.lumpy.second_pass.nap {
                        return memory.nap(NapSite::Lumpy, NapRule::Always(queue), None);
                    }
                }
                Stage::Second => {
                    if self.at == 0 {
                        self.clear_active(memory);
                    }
                    if let Err(frame) = self.look_at_hand(memory, control, true) {
                        return Step::WaitWritten(frame);
                    }
                    if self.at < self.hand.len() {
                        return Step::Work;
                    }
                    self.hand.truncate(self.kept);
                    self.stage = Stage::PutBack;
                    return Step::Work;
                }
                Stage::PutBack => {
                    self.put_back(memory, control);
                    return Step::Done(());
                }
            }
        }
    }

    /// R4.13.
    fn wants_second_pass(&self, memory: &Memory, control: &Control) -> bool {
        let rule = memory.policy.lumpy.second_pass;
        let costly = control.order > COSTLY_ORDER;
        let from = if costly { rule.costly_from_priority } else { rule.cheap_from_priority };
        self.freed < self.taken
            && !control.caller.kswapd
            && control.lumpy
            && (costly || rule.any_order)
            && self.priority <= from
            && !self.hand.is_empty()
    }

    /// Pages that the first pass has meant to activate are inactive again.
    fn clear_active(&self, memory: &mut Memory) {
        for &frame in &self.hand {
            let word = memory.frames.word(frame);
            memory.vmstat.pgdeactivate += u64::from(word.any(Word::ACTIVE));
            memory.frames.set(frame, word.without(Word::ACTIVE));
        }
    }

    /// Takes pages from the tail, and what lies beside them in their blocks, until there are as many as wanted (R4.12).
    fn isolate(&mut self, memory: &mut Memory, control: &Control) {
        let mut hand = std::mem::take(&mut memory.spare);
        hand.clear();
        let block = 1_u32 << control.order;
        let rules = memory.policy.lumpy;
        let leaves_anon = rules.leaves_unswappable && !memory.has_swap_space();
        while hand.len() < self.pages as usize {
            let mut oldest = [0];
            if memory.zones[self.zone].lru[self.lru.index()].take(&mut oldest) == 0 {
                break;
            }
            let frame = oldest[0];
            memory.mark_isolated(self.zone, frame, self.lru);
            hand.push(frame);
            let first = frame & !(block - 1);
            let zone = &memory.zones[self.zone];
            let (from, to) = (first.max(zone.start), (first + block).min(zone.end));
            for neighbour in (from..to).filter(|&neighbour| neighbour != frame) {
                let word = memory.frames.word(neighbour);
                let same_state = Lru::holding(word) == Some(self.lru);
                let same_kind = Lru::holding(word) == Some(Lru::active(self.lru.is_file()));
                let unswappable = leaves_anon && word.any(Word::ANON) && !word.any(Word::SWAP_CACHE);
                if (same_state || (control.lumpy && same_kind)) && !unswappable {
                    memory.isolate(self.zone, neighbour);
                    hand.push(neighbour);
                } else if rules.stops_at_neighbour && memory.is_in_use(neighbour) {
                    break;
                }
            }
        }
        let scanned = hand.len() as u32;
        memory.count_scanned(self.zone, scanned, self.lru.is_file(), control);
        (self.hand, self.at, self.kept, self.taken) = (hand, 0, 0, scanned);
    }

    /// Looks at up to a batch of what is in hand; `Err` names a page whose write has to end first.
    fn look_at_hand(
        &mut self,
        memory: &mut Memory,
        control: &mut Control,
        synchronous: bool,
    ) -> Result<(), FrameId> {
        let end = self.hand.len().min(self.at + BATCH_PAGES as usize);
        let mut tally = Tally::default();
        memory.work.batches += 1;
        let mut waits = None;
        while self.at < end {
            let frame = self.hand[self.at];
            let word = memory.frames.word(frame);
            let (fate, word) = memory.look_at(frame, word, control, synchronous, &mut tally);
            memory.frames.set(frame, word);
            // A page that stays for another reason than its write.
            let stays = matches!(fate, Fate::Keep | Fate::Activate) && !word.any(Word::WRITEBACK);
            if stays && memory.policy.lumpy.ends_at_kept_page {
                control.lumpy = false;
            }
            match fate {
                Fate::Wait => {
                    waits = Some(FrameId(frame));
                    break;
                }
                Fate::Free => {
                    let kind = usize::from(self.lru.is_file());
                    memory.zones[self.zone].isolated[kind] -= 1;
                    memory.release(self.zone, frame, word, control.caller.cpu);
                    self.freed += 1;
                    control.reclaimed += 1;
                }
                Fate::Keep | Fate::Activate => {
                    self.hand[self.kept] = frame;
                    self.kept += 1;
                }
            }
            self.at += 1;
            memory.work.looked_at += 1;
        }
        memory.flag_congestion(self.zone, &tally);
        waits.map_or(Ok(()), Err)
    }

    fn put_back(&mut self, memory: &mut Memory, control: &Control) {
        let kind = usize::from(self.lru.is_file());
        let mut activated = 0;
        for &frame in &self.hand {
            let word = memory.frames.word(frame);
            memory.zones[self.zone].isolated[kind] -= 1;
            activated += u32::from(word.any(Word::ACTIVE));
            memory.add_to_lru(self.zone, frame, word);
        }
        let zone = &mut memory.zones[self.zone];
        zone.recent_rotated[kind] += u64::from(activated);
        memory.count_stolen(self.zone, self.freed, control);
        memory.spare = std::mem::take(&mut self.hand);
    }
}

impl Memory {
    /// R4.10.
    fn has_too_many_isolated(&self, zone: usize, file: bool) -> bool {
        let zone = &self.zones[zone];
        zone.isolated[usize::from(file)] > zone.lru_pages(Lru::inactive(file))
    }

    /// Whether somebody holds the page: it is neither free, nor about to be.
    fn is_in_use(&self, frame: u32) -> bool {
        let word = self.frames.word(frame);
        word.is_user() || word.place() == Word::KERNEL
    }

    /// Takes a page off its list.
    fn isolate(&mut self, zone: usize, frame: u32) {
        let Some(lru) = Lru::holding(self.frames.word(frame)) else { return };
        self.take_off_lru(zone, frame, lru);
        self.mark_isolated(zone, frame, lru);
    }

    /// A page is in hand now; an active one loses its mark (R4.12).
    fn mark_isolated(&mut self, zone: usize, frame: u32, lru: Lru) {
        let word = self.frames.word(frame);
        self.vmstat.pgdeactivate += u64::from(word.any(Word::ACTIVE));
        self.frames.set(frame, word.at(Word::ISOLATED).without(Word::ACTIVE));
        self.zones[zone].isolated[usize::from(lru.is_file())] += 1;
    }

    /// One batch of order 0, from isolation to putting back, at once. What stays keeps its order at the head of the list.
    fn shrink_batch(&mut self, zone_index: usize, lru: Lru, pages: u32, control: &mut Control) -> Tally {
        let mut batch = [0_u32; BATCH_PAGES as usize];
        let wanted = pages.min(BATCH_PAGES) as usize;
        let ring = &mut self.zones[zone_index].lru[lru.index()];
        let count = ring.take(&mut batch[..wanted]);
        let mut tally = Tally { taken: count as u32, ..Tally::default() };
        if self.shrink_uniform_batch(zone_index, lru, &batch[..count], control, &mut tally) {
            return tally;
        }
        let kept = self.judge_batch(&mut batch, count, control, &mut tally);
        // What stays is put back, oldest first.
        self.zones[zone_index].lru[lru.index()].push_batch(&mut self.frames, &batch[..kept]);
        tally.activated = count as u32 - kept as u32 - tally.freed;
        let gone = &mut batch[kept..count];
        if tally.activated != 0 {
            // Those that stay after all are put back, and what is free moves up.
            let mut free = 0;
            for at in 0..gone.len() {
                let frame = gone[at];
                let word = self.frames.word(frame);
                if word.any(Word::ACTIVE | Word::UNEVICTABLE) {
                    self.add_to_lru(zone_index, frame, word);
                } else {
                    gone[free] = frame;
                    free += 1;
                }
            }
        }
        let free = &batch[kept..kept + tally.freed as usize];
        self.release_batch(zone_index, free, control.caller.cpu);
        tally
    }

    /// The common cases, a batch of clean file pages that are all young or all due to go, in few steps; true if it was one. What
    /// becomes of them is what [`Self::look_at`] says of each.
    #[inline]
    fn shrink_uniform_batch(
        &mut self,
        zone: usize,
        lru: Lru,
        batch: &[u32],
        control: &mut Control,
        tally: &mut Tally,
    ) -> bool {
        if self.policy.references != References::TwoTrips {
            return false;
        }
        let (mut any, mut all, mut mapped) = (0, u16::MAX, 0);
        for &frame in batch {
            let word = self.frames.word(frame);
            any |= word.0;
            all &= word.0;
            mapped += u64::from(word.any(Word::MAPPED));
        }
        if any & SPECIAL != 0 {
            return false;
        }
        if all & Word::YOUNG != 0 && any & Word::REFERENCED == 0 {
            for &frame in batch {
                let word = self.frames.word(frame);
                self.frames.set(frame, word.without(Word::YOUNG).with(Word::REFERENCED));
            }
            self.zones[zone].lru[lru.index()].push_batch(&mut self.frames, batch);
        } else if any & Word::YOUNG == 0 {
            tally.freed = batch.len() as u32;
            self.release_batch(zone, batch, control.caller.cpu);
        } else {
            return false;
        }
        control.scanned += batch.len() as u64 + mapped;
        true
    }

    /// Takes pages out of the cache and gives their frames back, in this order.
    fn release_batch(&mut self, zone: usize, batch: &[u32], cpu: usize) {
        let frames = &self.frames;
        let any = batch.iter().fold(0, |any, &frame| any | frames.word(frame).0);
        if any & Word::SWAP_CACHE == 0 {
            self.out.removed.extend(batch.iter().map(|&frame| {
                let mapped = frames.word(frame).any(Word::MAPPED);
                Removed { owner: frames.owner(frame), frame: FrameId(frame), mapped, slot: None }
            }));
        } else {
            for &frame in batch {
                self.remove(frame, self.frames.word(frame));
            }
        }
        for &frame in batch {
            self.frames.set(frame, Word::NOTHING);
        }
        self.work.freed += batch.len() as u32;
        self.vmstat.pgfree += batch.len() as u64;
        let cache = &mut self.cpus[cpu].pages[zone];
        cache.put_batch(&mut self.frames, &mut self.zones[zone], batch, &self.policy);
    }

    /// Judges a batch. Afterwards those that stay inactive come first, in their order, and the others follow, in theirs. Returns how
    /// many stay.
    #[inline]
    fn judge_batch(
        &mut self,
        batch: &mut [u32; BATCH_PAGES as usize],
        count: usize,
        control: &mut Control,
        tally: &mut Tally,
    ) -> usize {
        let mut others = [0_u32; BATCH_PAGES as usize];
        let (mut kept, mut gone) = (0, 0);
        for at in 0..count {
            let frame = batch[at];
            let word = self.frames.word(frame);
            let (fate, word) = self.look_at(frame, word, control, false, tally);
            self.frames.set(frame, word);
            if matches!(fate, Fate::Keep) && !word.any(Word::UNEVICTABLE) {
                batch[kept] = frame;
                kept += 1;
            } else {
                tally.freed += u32::from(matches!(fate, Fate::Free));
                others[gone] = frame;
                gone += 1;
            }
        }
        batch[kept..count].copy_from_slice(&others[..gone]);
        kept
    }

    /// Books a batch of order 0.
    fn account(&mut self, zone_index: usize, lru: Lru, tally: Tally, control: &mut Control) {
        self.count_scanned(zone_index, tally.taken, lru.is_file(), control);
        self.flag_congestion(zone_index, &tally);
        self.zones[zone_index].recent_rotated[usize::from(lru.is_file())] += u64::from(tally.activated);
        self.count_stolen(zone_index, tally.freed, control);
        control.reclaimed += u64::from(tally.freed);
        self.work.looked_at += tally.taken;
        self.work.batches += u32::from(tally.taken != 0);
    }

    /// Counters at isolation (R4.8).
    fn count_scanned(&mut self, zone: usize, pages: u32, file: bool, control: &Control) {
        let pages = u64::from(pages);
        let zone = &mut self.zones[zone];
        zone.pages_scanned += pages;
        zone.recent_scanned[usize::from(file)] += pages;
        if control.caller.kswapd {
            zone.events.pgscan_kswapd += pages;
        } else {
            zone.events.pgscan_direct += pages;
        }
    }

    /// Counters at the end (R4.8).
    fn count_stolen(&mut self, zone: usize, pages: u32, control: &Control) {
        self.zones[zone].events.pgsteal += u64::from(pages);
        if control.caller.kswapd {
            self.vmstat.kswapd_steal += u64::from(pages);
            self.zones[zone].events.kswapd_steal += u64::from(pages);
        }
    }

    /// R5.8. kswapd is never refused, so that only tasks set the flag.
    fn flag_congestion(&mut self, zone: usize, tally: &Tally) {
        if tally.dirty != 0 && tally.dirty == tally.dirty_refused {
            self.zones[zone].congested = true;
        }
    }
}
