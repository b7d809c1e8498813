//! How many pages of each list a scan looks at.
//!
//! *Models:* pressure by priority, the division between anonymous and file pages, what is put by for the next scan.
//! *Does not model:* memory cgroups.
//! *Follows:* docs/model/reclaim.md, section 4.2 and 0.5 (G11); Linux 2.6.31, `mm/vmscan.c`, `get_scan_ratio`,
//! `nr_scan_try_batch`.

use super::lru::Lru;
use super::memory::Memory;
use super::policy::ScanDivision;
use super::watermark::Mark;

/// Where a descent of priorities begins.
pub const DEF_PRIORITY: u8 = 12;
/// Pages in a batch (SWAP_CLUSTER_MAX).
pub const BATCH_PAGES: u32 = 32;

/// Shares of scanning: anonymous and file, of a whole.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ScanShares {
    /// Numerators: anonymous, file.
    pub parts: [u64; 2],
    /// Denominator.
    pub whole: u64,
}

/// The shares that follow from what became of pages scanned lately (R4.1). `scanned` and `rotated` are for anonymous and file pages.
#[must_use]
pub fn shares(swappiness: u64, scanned: [u64; 2], rotated: [u64; 2], division: ScanDivision) -> ScanShares {
    let anon = (swappiness + 1) * (scanned[0] + 1) / (rotated[0] + 1);
    let file = (200 - swappiness.min(200) + 1) * (scanned[1] + 1) / (rotated[1] + 1);
    match division {
        ScanDivision::Percent => {
            let percent = 100 * anon / (anon + file + 1);
            ScanShares { parts: [percent, 100 - percent], whole: 100 }
        }
        ScanDivision::Fraction => ScanShares { parts: [anon, file], whole: anon + file + 1 },
    }
}

impl Memory {
    /// The shares of a zone.
    fn zone_shares(&mut self, zone: usize, may_swap: bool) -> ScanShares {
        let whole = |anon: u64, file: u64| ScanShares { parts: [anon, file], whole: 1 };
        if !may_swap {
            return whole(0, 1);
        }
        let (swappiness, division) = (u64::from(self.swappiness), self.policy.scan_division);
        let zone = &mut self.zones[zone];
        let (anon, file) = (zone.lru_total(false), zone.lru_total(true));
        if file as i64 + zone.free <= i64::from(zone.marks[Mark::High as usize]) {
            return whole(1, 0);
        }
        for (kind, total) in [anon, file].into_iter().enumerate() {
            if zone.recent_scanned[kind] > total / 4 {
                zone.recent_scanned[kind] /= 2;
                zone.recent_rotated[kind] /= 2;
            }
        }
        shares(swappiness, zone.recent_scanned, zone.recent_rotated, division)
    }

    /// The pages to look at on each evictable list (R4.2).
    pub(crate) fn scan_amounts(&mut self, zone: usize, priority: u8, may_swap: bool) -> [u32; 4] {
        let may_swap = may_swap && self.has_swap_space();
        let shares = self.zone_shares(zone, may_swap);
        let last_pass_ignores_swap = self.policy.last_pass_ignores_swap;
        let zone = &mut self.zones[zone];
        Lru::EVICTABLE.map(|lru| {
            let index = lru.index();
            let mut amount = u64::from(zone.lru_pages(lru));
            if priority != 0 || (!may_swap && !last_pass_ignores_swap) {
                amount = (amount >> priority) * shares.parts[usize::from(lru.is_file())] / shares.whole;
            }
            // What is put by is part of every amount, and is used up with it.
            let total = zone.saved_scan[index].saturating_add(amount as u32);
            let ready = total >= BATCH_PAGES;
            zone.saved_scan[index] = if ready { 0 } else { total };
            if ready { total } else { 0 }
        })
    }

    /// Whether the inactive list of a kind is too short (section 4.3).
    pub(crate) fn is_inactive_low(&self, zone: usize, file: bool) -> bool {
        let zone = &self.zones[zone];
        let inactive = u64::from(zone.lru_pages(Lru::inactive(file)));
        let active = u64::from(zone.lru_pages(Lru::active(file)));
        if file {
            match self.policy.file_low {
                super::policy::FileLowRule::Always => true,
                super::policy::FileLowRule::ActiveLonger => active > inactive,
            }
        } else {
            inactive * u64::from(zone.inactive_ratio) < active
        }
    }
}
