//! Merging: a bio joins a request that it continues, and neighbours that touch become one.
//!
//! *Models:* the last-merge cache, back merges by hash, front merges by the elevator, coalescing.
//! *Does not model:* `nomerges`, contiguous pages (each page is a segment).
//! *Follows:* model/block-layer.md, section 1.4; Linux 2.6.35 `elv_merge`, `ll_back_merge_fn`,
//! `attempt_merge`.

use super::bio::Bio;
use super::elevator::Elevator;
use super::queue::{BlockOut, BlockQueue};
use super::request::{Place, RequestId, segments};
use super::sequence::Sequencer;
use crate::observe::{Recorder, TraceKind};

enum Merge {
    Back(RequestId),
    Front(RequestId),
}

impl BlockQueue {
    /// Merges `bio` into a waiting request if one fits. Returns whether it did.
    pub(super) fn try_merge(
        &mut self,
        now_ns: u64,
        bio: &Bio,
        recorder: &mut Recorder,
        out: &mut BlockOut,
    ) -> bool {
        let Some(merge) = self.find_merge(bio) else { return false };
        let (Merge::Back(id) | Merge::Front(id)) = merge;
        if !self.fits(id, bio.sectors, segments(bio)) {
            // The kernel marks such a request as not to be merged with any more.
            self.requests[id].merging_over = true;
            self.requests.hash_remove(id);
            if self.current_last_merge() == Some(id) {
                self.last_merge = None;
            }
            return false;
        }
        self.requests.hash_remove(id);
        match merge {
            Merge::Back(_) => {
                self.requests.append_bio(id, bio);
                self.requests[id].queued_sum_ns += now_ns;
                self.requests.hash_insert(id);
                recorder.record(TraceKind::BackMerge(bio.into()));
                let (_, behind) = self.elevator.neighbours(&self.requests, id);
                if let Some(behind) = behind {
                    self.coalesce(now_ns, id, behind, recorder, out);
                }
            }
            Merge::Front(_) => {
                let old_sector = self.requests[id].sector;
                self.requests.prepend_bio(id, bio);
                self.requests[id].queued_sum_ns += now_ns;
                self.requests.hash_insert(id);
                recorder.record(TraceKind::FrontMerge(bio.into()));
                let (before, _) = self.elevator.neighbours(&self.requests, id);
                if !before.is_some_and(|before| self.coalesce(now_ns, before, id, recorder, out)) {
                    self.with_elevator(now_ns, recorder, out, |elevator, io| {
                        elevator.front_merged(io, id, old_sector);
                    });
                    self.set_last_merge(id);
                }
                return true;
            }
        }
        self.set_last_merge(id);
        true
    }

    fn find_merge(&self, bio: &Bio) -> Option<Merge> {
        if let Some(last) = self.current_last_merge()
            && self.may_merge(last, bio)
        {
            if self.requests[last].end() == bio.sector {
                return Some(Merge::Back(last));
            }
            if self.requests[last].sector == bio.end() {
                return Some(Merge::Front(last));
            }
        }
        if let Some(found) = self.requests.hash_find(bio.sector)
            && self.may_merge(found, bio)
        {
            return Some(Merge::Back(found));
        }
        let front = self.elevator.front_merge_candidate(&self.requests, bio)?;
        self.may_merge(front, bio).then_some(Merge::Front(front))
    }

    /// Same kind, still with the elevator, and the elevator agrees.
    #[inline]
    fn may_merge(&self, id: RequestId, bio: &Bio) -> bool {
        let request = &self.requests[id];
        request.place == Place::Elevator
            && !request.merging_over
            && !Sequencer::is_special(request.flags)
            && request.is_write() == bio.flags.is_write()
            && self.elevator.allows_merge(&self.requests, id, bio)
    }

    fn fits(&self, id: RequestId, more_sectors: u32, more_segments: u32) -> bool {
        let request = &self.requests[id];
        request.sectors + more_sectors <= self.limits.max_sectors
            && request.segments + more_segments <= self.limits.max_segments
    }

    /// Makes `first` and `second` one request if they touch and the limits allow it. The survivor
    /// keeps the earlier start time and fifo deadline.
    fn coalesce(
        &mut self,
        now_ns: u64,
        first: RequestId,
        second: RequestId,
        recorder: &mut Recorder,
        out: &mut BlockOut,
    ) -> bool {
        let (a, b) = (&self.requests[first], &self.requests[second]);
        let possible = a.end() == b.sector
            && a.is_write() == b.is_write()
            && !a.merging_over
            && !b.merging_over
            && self.fits(first, b.sectors, b.segments);
        if !possible {
            return false;
        }
        let start = a.start_jiffies.min(b.start_jiffies);
        self.requests[first].start_jiffies = start;
        self.with_elevator(now_ns, recorder, out, |elevator, io| {
            elevator.requests_merged(io, first, second);
        });
        self.requests.hash_remove(first);
        self.requests.hash_remove(second);
        self.requests.absorb(first, second);
        self.requests.hash_insert(first);
        self.set_last_merge(first);
        self.free_request(now_ns, second, recorder, out);
        true
    }
}
