//! The allocator's fast path, freeing, and the way of a new page to its LRU list.
//!
//! *Models:* the first zone of the zonelist that passes its mark, with the mark tested before the per-CPU list is looked at; buddy
//! lists for order > 0; waking kswapd.
//! *Does not model:* NUMA zonelists, the zonelist cache, zeroing.
//! *Follows:* docs/model/reclaim.md, sections 1.4, 1.7, 1.8, 1.10 and 3.3; Linux 2.6.31, `mm/page_alloc.c`,
//! `get_page_from_freelist`, `buffered_rmqueue`; `mm/vmscan.c`, `wakeup_kswapd`.

use super::buddy;
use super::frame::{FrameId, Owner, Word};
use super::gfp::{Caller, Gfp, MAX_ORDER, Request};
use super::lru::Lru;
use super::memory::Memory;
use super::per_cpu::VECTOR_PAGES;
use super::watermark::{AllocFlags, Mark};

/// What a user page is when it is put into memory.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct NewPage {
    /// Whose.
    pub owner: Owner,
    /// Anonymous memory; otherwise a file's page.
    pub anon: bool,
    /// A page table points to it, and it has just been used through it.
    pub mapped: bool,
    /// It has to be written before it can go.
    pub dirty: bool,
    /// It begins on the active list; new anonymous pages do (section 4.1).
    pub active: bool,
}

impl NewPage {
    #[inline]
    fn word(&self) -> Word {
        let flag = |set: bool, flag: u16| if set { flag } else { 0 };
        Word(
            Word::IN_VECTOR
                | flag(self.anon, Word::ANON)
                | flag(self.mapped, Word::MAPPED | Word::YOUNG)
                | flag(self.dirty, Word::DIRTY)
                | flag(self.active, Word::ACTIVE),
        )
    }
}

impl Memory {
    /// One attempt: the first zone that passes `mark` gives the pages (R1.18).
    #[inline]
    pub(crate) fn take_from_freelist(
        &mut self,
        request: Request,
        cpu: usize,
        mark: Mark,
        flags: AllocFlags,
    ) -> Option<u32> {
        let class = self.preferred_zone(request.gfp.highest_zone())?;
        for index in (0..=class).rev() {
            let zone = &self.zones[index];
            if !zone.is_populated()
                || (!flags.no_watermarks && !zone.passes(mark, request.order, class, flags))
            {
                continue;
            }
            let taken = if request.order == 0 {
                let cache = &mut self.cpus[cpu].pages[index];
                let zone = &mut self.zones[index];
                let (mobility, cold) = (request.gfp.mobility(), request.gfp.has(Gfp::COLD));
                cache.take(&mut self.frames, zone, mobility, cold, &self.policy)
            } else {
                self.take_block(index, request)
            };
            if let Some(frame) = taken {
                let zone = &mut self.zones[index];
                zone.events.pgalloc += 1 << request.order;
                zone.kernel_pages += 1 << request.order;
                self.frames.set(frame, Word(Word::KERNEL));
                return Some(frame);
            }
        }
        None
    }

    pub(crate) fn take_block(&mut self, index: usize, request: Request) -> Option<u32> {
        let zone = &mut self.zones[index];
        let order = usize::from(request.order);
        let taken = buddy::take(&mut self.frames, zone, order, request.gfp.mobility());
        // Section 1.8: in 2.6.31 and 2.6.32 the counter falls whether or not there was a block.
        if taken.is_some() || self.policy.free_counter_leaks {
            zone.free -= 1 << order;
        }
        taken
    }

    /// Allocates without ever reclaiming or waiting: the fast path at LOW, then kswapd is woken and MIN is tried. `None` means that
    /// the request has to go the slow way, an [`super::Allocation`], from its beginning.
    #[inline]
    pub fn allocate_at_once(&mut self, request: Request, caller: &Caller) -> Option<FrameId> {
        if usize::from(request.order) >= MAX_ORDER {
            return None;
        }
        let low = self.take_from_freelist(request, caller.cpu, Mark::Low, AllocFlags::default());
        if let Some(frame) = low {
            return Some(FrameId(frame));
        }
        self.wake_kswapd(request);
        let flags = AllocFlags { no_watermarks: false, ..AllocFlags::of(request.gfp, caller, &self.policy) };
        self.take_from_freelist(request, caller.cpu, Mark::Min, flags).map(FrameId)
    }

    /// Wakes kswapd for every zone of the request's zonelist that fails LOW (section 3.3).
    #[inline]
    pub(crate) fn wake_kswapd(&mut self, request: Request) {
        let Some(class) = self.preferred_zone(request.gfp.highest_zone()) else { return };
        if !self.kswapd.is_waiting && self.kswapd.max_order >= request.order {
            return;
        }
        for index in (0..=class).rev() {
            let zone = &self.zones[index];
            if !zone.is_populated() || zone.passes(Mark::Low, request.order, 0, AllocFlags::default()) {
                continue;
            }
            self.kswapd.max_order = self.kswapd.max_order.max(request.order);
            if std::mem::take(&mut self.kswapd.is_waiting) {
                self.out.wake_kswapd = true;
            }
        }
    }

    /// Gives back pages that the kernel held.
    pub fn free_pages(&mut self, frame: FrameId, order: u8, cpu: usize) {
        let index = self.zone_of(frame.0);
        self.zones[index].kernel_pages -= 1 << order;
        self.vmstat.pgfree += 1 << order;
        if order == 0 {
            self.put_page(index, frame.0, cpu, false);
            return;
        }
        let zone = &mut self.zones[index];
        zone.all_unreclaimable = false;
        zone.pages_scanned = 0;
        self.frames.set(frame.0, Word::NOTHING);
        let mobility = zone.pageblock_type(frame.0);
        let tail = self.policy.free_to_tail_if_merging;
        buddy::give(&mut self.frames, zone, frame.0, usize::from(order), mobility, tail);
        zone.free += 1 << order;
    }

    /// Puts a page that nobody holds any more on the CPU's list.
    #[inline]
    pub(crate) fn put_page(&mut self, zone: usize, frame: u32, cpu: usize, cold: bool) {
        self.frames.set(frame, Word::NOTHING);
        let cache = &mut self.cpus[cpu].pages[zone];
        cache.put(&mut self.frames, &mut self.zones[zone], frame, cold, &self.policy);
    }

    /// Gives all per-CPU pages of all CPUs back to the buddy lists.
    pub fn drain_all_pages(&mut self) {
        for cpu in &mut self.cpus {
            for (cache, zone) in cpu.pages.iter_mut().zip(&mut self.zones) {
                cache.give_back(&mut self.frames, zone, cache.count, &self.policy);
            }
        }
    }

    /// Makes an allocated page a user page, on its way to its LRU list.
    #[inline]
    pub fn add_page(&mut self, frame: FrameId, page: &NewPage, cpu: usize) {
        let zone = self.zone_of(frame.0);
        self.zones[zone].kernel_pages -= 1;
        self.put_in_vector(zone, frame.0, page.word(), page.owner, cpu);
    }

    #[inline]
    fn put_in_vector(&mut self, zone: usize, frame: u32, word: Word, owner: Owner, cpu: usize) {
        self.frames.set(frame, word);
        self.frames.set_owner(frame, owner);
        self.zones[zone].in_vectors += 1;
        let lru = Lru::of(word).index();
        let vector = &mut self.cpus[cpu].vectors[lru];
        vector.frames[usize::from(vector.len)] = frame;
        vector.len += 1;
        if usize::from(vector.len) == VECTOR_PAGES {
            self.drain_vector(cpu, lru);
        }
    }

    /// Allocates and adds up to `count` pages of one owner, from `page.owner.index` on, as [`Self::allocate_at_once`] and
    /// [`Self::add_page`] would one after the other, and tells `placed` the frame of each. Returns how many; fewer than `count` means
    /// that the next has to go the slow way.
    #[inline]
    pub fn add_run(
        &mut self,
        request: Request,
        caller: &Caller,
        page: &NewPage,
        count: u32,
        mut placed: impl FnMut(FrameId),
    ) -> u32 {
        let (cpu, word, mut owner) = (caller.cpu, page.word(), page.owner);
        let (mobility, cold) = (request.gfp.mobility(), request.gfp.has(Gfp::COLD));
        let mut done = 0;
        let free_pages = |memory: &Self| memory.zones.iter().map(|zone| zone.free).sum::<i64>();
        while done < count {
            let free = free_pages(self);
            let Some(frame) = self.allocate_at_once(request, caller) else { break };
            let zone = self.zone_of(frame.0);
            self.zones[zone].kernel_pages -= 1;
            let mut next = Some(frame.0);
            let from = done;
            // Taking what is on the CPU's list does not change the watermark test, so its outcome stands until the list is empty; filling
            // the list does change it.
            let is_test_over =
                free_pages(self) != free || self.policy.per_cpu_lists_mixed || request.order != 0;
            while let Some(frame) = next {
                self.put_in_vector(zone, frame, word, owner, cpu);
                placed(FrameId(frame));
                owner.index = owner.index.wrapping_add(1);
                done += 1;
                if done == count || is_test_over {
                    break;
                }
                next = self.cpus[cpu].pages[zone].take_ready(mobility, cold);
            }
            self.zones[zone].events.pgalloc += u64::from(done - from - 1);
        }
        done
    }

    /// Puts what is in a CPU's vectors on the lists (`lru_add_drain`).
    #[inline]
    pub(crate) fn drain_vectors(&mut self, cpu: usize) {
        for lru in 0..self.cpus[cpu].vectors.len() {
            if self.cpus[cpu].vectors[lru].len != 0 {
                self.drain_vector(cpu, lru);
            }
        }
    }

    fn drain_vector(&mut self, cpu: usize, lru: usize) {
        let vector = self.cpus[cpu].vectors[lru];
        self.cpus[cpu].vectors[lru].len = 0;
        let pages = &vector.frames[..usize::from(vector.len)];
        // Stretches of pages of one zone with the same flags go to one list together. Flags may have changed since they came here.
        let mut rest = pages;
        while let Some(&first) = rest.first() {
            let index = self.zone_of(first);
            let word = self.frames.word(first);
            let zone = self.zones[index].start..self.zones[index].end;
            let others =
                rest.iter().position(|&frame| self.frames.word(frame) != word || !zone.contains(&frame));
            let count = others.unwrap_or(rest.len());
            let (stretch, others) = rest.split_at(count);
            rest = others;
            let lru = Lru::of(word);
            let placed = lru.place(word);
            for &frame in stretch {
                self.frames.set(frame, placed);
            }
            let zone = &mut self.zones[index];
            zone.in_vectors -= count as u32;
            let kind = usize::from(lru.is_file());
            zone.recent_scanned[kind] += count as u64;
            zone.recent_rotated[kind] += if lru.is_active() { count as u64 } else { 0 };
            zone.lru[lru.index()].push_batch(&mut self.frames, stretch);
        }
    }

    /// Puts a page at the head of the list it belongs to.
    #[inline]
    pub(crate) fn add_to_lru(&mut self, zone: usize, frame: u32, word: Word) {
        let lru = Lru::of(word);
        self.frames.set(frame, lru.place(word));
        self.zones[zone].lru[lru.index()].push_head(&mut self.frames, frame);
    }

    /// Takes a page off the list it is on.
    #[inline]
    pub(crate) fn take_off_lru(&mut self, zone: usize, frame: u32, lru: Lru) {
        self.zones[zone].lru[lru.index()].remove(&self.frames, frame);
    }
}
