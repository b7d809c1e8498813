//! Deactivating pages.
//!
//! *Models:* 32 pages from the tail of an active list go to the head of the inactive one, whether referenced or not; referenced
//! pages of mapped programs stay (from 2.6.31).
//! *Does not model:* lumpy isolation from active lists here.
//! *Follows:* docs/model/reclaim.md, section 4.4; Linux 2.6.31 and 2.6.34, `mm/vmscan.c`, `shrink_active_list`.

use super::frame::Word;
use super::lru::Lru;
use super::memory::Memory;
use super::policy::References;
use super::scan::BATCH_PAGES;

impl Memory {
    /// Looks at up to `pages` pages from the tail of an active list.
    pub(crate) fn shrink_active(&mut self, zone_index: usize, lru: Lru, pages: u32, cpu: usize) {
        self.drain_vectors(cpu);
        let (mut rotated, mut deactivated) = (0, 0);
        let mut batch = [0; BATCH_PAGES as usize];
        let wanted = (pages.min(BATCH_PAGES)) as usize;
        let taken = self.zones[zone_index].lru[lru.index()].take(&mut batch[..wanted]);
        // Put back from the oldest on: the order within the batch stays.
        for &frame in &batch[..taken] {
            let word = self.frames.word(frame);
            if word.any(Word::UNEVICTABLE) {
                self.add_to_lru(zone_index, frame, word);
                continue;
            }
            // Up to 2.6.33 both kinds of use count, of pages in use by somebody; the others' mark is not looked at. Later only page
            // tables are looked at, and the mark stays.
            let looked_at = match self.policy.references {
                References::Activate if word.any(Word::MAPPED | Word::SWAP_CACHE) => {
                    Word::YOUNG | Word::REFERENCED
                }
                References::Activate => 0,
                References::TwoTrips => Word::YOUNG,
            };
            let referenced = word.any(looked_at);
            let word = word.without(looked_at);
            rotated += u64::from(referenced);
            let executable = lru.is_file()
                && word.any(Word::MAPPED)
                && self.owner_info(self.frames.owner(frame)).executable;
            if referenced && executable && self.policy.protects_executables {
                self.add_to_lru(zone_index, frame, word.with(Word::ACTIVE));
            } else {
                deactivated += 1;
                self.add_to_lru(zone_index, frame, word.without(Word::ACTIVE));
            }
        }
        let kind = usize::from(lru.is_file());
        let zone = &mut self.zones[zone_index];
        zone.pages_scanned += taken as u64;
        zone.recent_scanned[kind] += taken as u64;
        zone.recent_rotated[kind] += rotated;
        zone.events.pgrefill += taken as u64;
        self.vmstat.pgdeactivate += deactivated;
        self.work.looked_at += taken as u32;
        self.work.batches += u32::from(taken != 0);
    }
}
