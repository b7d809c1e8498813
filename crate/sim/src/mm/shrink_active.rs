//! Deactivating pages.
//!
//! *Models:* 32 pages from the tail of an active list go to the head of the inactive one, whether referenced or not; referenced
//! pages of mapped programs stay (from 2.6.31).
//! *Does not model:* lumpy isolation from active lists here.
//! *Follows:* docs/model/reclaim.md, section 4.4; Linux 2.6.31, `mm/vmscan.c`, `shrink_active_list`.

use super::frame::Word;
use super::lru::Lru;
use super::memory::Memory;

impl Memory {
    /// Looks at up to `pages` pages from the tail of an active list.
    pub(crate) fn shrink_active(&mut self, zone_index: usize, lru: Lru, pages: u32, cpu: usize) {
        self.drain_vectors(cpu);
        let list = self.zones[zone_index].lru_list(lru);
        let (mut taken, mut rotated, mut deactivated) = (0, 0, 0);
        let pages = pages.min(self.zones[zone_index].lru_pages[lru.index()]);
        // Put back from the oldest on: the order within the batch stays.
        while taken < pages {
            let Some(frame) = self.frames.last(list) else { break };
            taken += 1;
            self.frames.unlink(frame);
            self.zones[zone_index].lru_pages[lru.index()] -= 1;
            let word = self.frames.word(frame);
            if word.any(Word::UNEVICTABLE) {
                self.add_to_lru(zone_index, frame, word);
                continue;
            }
            let in_use = word.any(Word::MAPPED | Word::SWAP_CACHE);
            let referenced = in_use && word.any(Word::YOUNG | Word::REFERENCED);
            // Pages that nobody has mapped keep their flag: it is not looked at here.
            let word = if in_use { word.without(Word::YOUNG | Word::REFERENCED) } else { word };
            rotated += u64::from(referenced);
            let executable = lru.is_file()
                && word.any(Word::MAPPED)
                && self.owner_info(self.frames.owners[frame as usize]).executable;
            if referenced && executable && self.policy.protects_executables {
                self.add_to_lru(zone_index, frame, word.with(Word::ACTIVE));
            } else {
                deactivated += 1;
                self.add_to_lru(zone_index, frame, word.without(Word::ACTIVE));
            }
        }
        let kind = usize::from(lru.is_file());
        let zone = &mut self.zones[zone_index];
        zone.pages_scanned += u64::from(taken);
        zone.recent_scanned[kind] += u64::from(taken);
        zone.recent_rotated[kind] += rotated;
        zone.events.pgrefill += u64::from(taken);
        self.vmstat.pgdeactivate += deactivated;
        self.work.looked_at += taken;
        self.work.batches += u32::from(taken != 0);
    }
}
