//! Zones: where they lie, their marks, their reserves, their state.
//!
//! *Models:* DMA, DMA32, Normal and HighMem of x86-64 and i386; `min_free_kbytes` and the three marks up to 4.5; lowmem_reserve;
//! per-CPU batches.
//! *Does not model:* NUMA nodes, the Movable zone, memory hotplug, `managed_pages`.
//! *Follows:* docs/model/reclaim.md, sections 1.1, 1.2, 1.3 and 1.10; Linux 2.6.31, `mm/page_alloc.c`, `init_per_zone_wmark_min`,
//! `setup_per_zone_wmarks`, `setup_per_zone_lowmem_reserve`, `zone_batchsize`.

use super::frame::ListId;
use super::gfp::{MAX_ORDER, Mobility};
use super::lru::{LRU_LISTS, Lru};
use super::ring::Ring;
use super::vmstat::ZoneEvents;
use super::watermark::{self, AllocFlags, Mark};
use serde::{Deserialize, Serialize};

/// Zones by what they are good for, lowest first.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub enum ZoneKind {
    /// Below 16 MiB.
    Dma,
    /// Below 4 GiB (x86-64).
    Dma32,
    /// What the kernel maps for itself.
    Normal,
    /// What it does not (i386).
    HighMem,
}

impl ZoneKind {
    /// As in the names of counters.
    #[must_use]
    pub fn suffix(self) -> &'static str {
        match self {
            Self::Dma => "dma",
            Self::Dma32 => "dma32",
            Self::Normal => "normal",
            Self::HighMem => "high",
        }
    }

    /// As in the kernel's reports.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::Dma => "DMA",
            Self::Dma32 => "DMA32",
            Self::Normal => "Normal",
            Self::HighMem => "HighMem",
        }
    }

    /// `lowmem_reserve_ratio`: divisor of the memory above the zone (section 0.4).
    #[must_use]
    pub fn lowmem_reserve_ratio(self) -> u32 {
        match self {
            Self::Dma | Self::Dma32 => 256,
            Self::Normal | Self::HighMem => 32,
        }
    }
}

/// One zone of a machine.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct ZoneSpan {
    /// Which.
    pub kind: ZoneKind,
    /// First frame.
    pub start: u32,
    /// Frames up to the next zone, holes included.
    pub spanned: u32,
    /// Frames that exist (`present_pages`); 0 for an empty zone.
    pub present: u32,
    /// Of these, frames the kernel has taken before the run starts.
    pub taken: u32,
}

/// The memory of a machine.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct MemoryLayout {
    /// Zones, lowest first, one behind the other.
    pub zones: Vec<ZoneSpan>,
    /// Order of a pageblock: 9 on x86-64 and with PAE, 10 on i386 without.
    pub pageblock_order: u8,
}

/// Frames below 16 MiB.
const DMA_FRAMES: u32 = 4096;
/// Frames below 896 MiB.
const LOWMEM_FRAMES: u32 = 896 << 8;
/// Frames below 4 GiB.
const DMA32_FRAMES: u32 = 4 << 18;
/// Frames that exist of DMA on a usual PC.
const DMA_PRESENT: u32 = 3980;
/// Most frames a layout may have: 4 TiB of 4 KiB pages.
const FRAMES_MAX: u64 = 1 << 30;

impl MemoryLayout {
    /// The machine of table TJ (section 0.5, G13): 2 GiB, x86-64, with what was free at the start of the run.
    #[must_use]
    pub fn mapped_stream_2010() -> Self {
        Self::from_present(&[
            (ZoneKind::Dma, 3_980, 3_980 - 3_960),
            (ZoneKind::Dma32, 509_000, 509_000 - 470_500),
        ])
    }

    /// An x86-64 machine whose zones have these present and taken pages: DMA and DMA32 up to 4 GiB, Normal above.
    #[must_use]
    pub fn from_present(zones: &[(ZoneKind, u32, u32)]) -> Self {
        let mut start = 0;
        let spans = zones
            .iter()
            .map(|&(kind, present, taken)| {
                let least = if kind == ZoneKind::Dma { DMA_FRAMES } else { present };
                let spanned = least.max(present).next_multiple_of(1 << (MAX_ORDER - 1));
                let span = ZoneSpan { kind, start, spanned, present, taken };
                start += spanned;
                span
            })
            .collect();
        Self { zones: spans, pageblock_order: 9 }
    }

    /// An x86-64 machine with so many 4 KiB pages: what lies between 3 and 4 GiB is moved above 4 GiB (R1.1), and the page map
    /// takes 56 bytes of every page.
    #[must_use]
    pub fn x86_64(pages: u32) -> Self {
        const GIB: u32 = 1 << 18;
        let below = if pages >= DMA32_FRAMES { 3 * GIB } else { pages };
        let mut zones = vec![(ZoneKind::Dma, DMA_PRESENT.min(pages), 0)];
        zones.push((ZoneKind::Dma32, present(below.saturating_sub(DMA_FRAMES)), 0));
        if pages > below {
            zones.push((ZoneKind::Normal, present(pages - below), 0));
        }
        Self::from_present(&zones)
    }

    /// An i386 machine with so many 4 KiB pages: Normal up to 896 MiB, HighMem above (R1.2).
    #[must_use]
    pub fn i386(pages: u32) -> Self {
        let normal = pages.min(LOWMEM_FRAMES).saturating_sub(DMA_FRAMES);
        let mut zones =
            vec![(ZoneKind::Dma, DMA_PRESENT.min(pages), 0), (ZoneKind::Normal, present(normal), 0)];
        if pages > LOWMEM_FRAMES {
            zones.push((ZoneKind::HighMem, pages - LOWMEM_FRAMES, 0));
        }
        Self { pageblock_order: 10, ..Self::from_present(&zones) }
    }

    /// Everything that is wrong with the layout, in words; empty if nothing is.
    #[must_use]
    pub fn problems(&self) -> Vec<String> {
        let mut problems = Vec::new();
        let mut at: u64 = 0;
        let mut last = None;
        for zone in &self.zones {
            let name = zone.kind.name();
            if last.is_some_and(|last| last >= zone.kind) {
                problems
                    .push(format!("zone {name} is out of order: zones go from the lowest to the highest"));
            }
            if u64::from(zone.start) != at {
                problems.push(format!("zone {name} starts at frame {} instead of {at}", zone.start));
            }
            if zone.start % (1 << (MAX_ORDER - 1)) != 0 {
                problems.push(format!("zone {name} starts inside a block of 4 MiB"));
            }
            if zone.present > zone.spanned {
                problems.push(format!("zone {name} has more pages present than it spans"));
            }
            if zone.taken > zone.present {
                problems.push(format!("zone {name} has more pages taken than are present"));
            }
            last = Some(zone.kind);
            at = u64::from(zone.start) + u64::from(zone.spanned);
        }
        if at > FRAMES_MAX {
            problems.push(format!("{at} frames are more than the {FRAMES_MAX} that can be simulated"));
        }
        if self.zones.iter().all(|zone| zone.kind == ZoneKind::HighMem || zone.present == 0) {
            problems.push("no zone has memory for the kernel".to_owned());
        }
        if !(3..MAX_ORDER as u8).contains(&self.pageblock_order) {
            problems.push(format!("a pageblock of order {} is not between 3 and 10", self.pageblock_order));
        }
        problems
    }

    /// Frames, holes included.
    #[must_use]
    pub fn frames(&self) -> u32 {
        self.zones.iter().map(|zone| zone.spanned).sum()
    }
}

/// What the page map leaves of a zone's frames.
fn present(spanned: u32) -> u32 {
    spanned - (u64::from(spanned) * 56).div_ceil(4096) as u32
}

/// `min_free_kbytes` for so many pages below HighMem (R1.5).
#[must_use]
pub fn min_free_kbytes(lowmem_pages: u64) -> u32 {
    let kbytes = (16 * 4 * lowmem_pages).isqrt();
    kbytes.clamp(128, 65_536) as u32
}

/// The marks [min, low, high] of a zone (R1.6 to R1.8).
#[must_use]
pub fn marks(kind: ZoneKind, present: u32, min_free_kbytes: u32, lowmem_pages: u64) -> [u32; 3] {
    let share = u64::from(min_free_kbytes / 4) * u64::from(present) / lowmem_pages.max(1);
    let share = u32::try_from(share).unwrap_or(u32::MAX / 2);
    let min = if kind == ZoneKind::HighMem { (present / 1024).clamp(32, 128) } else { share };
    [min, min + share / 4, min + share / 2]
}

/// Pages moved at once between per-CPU and buddy lists (R1.30).
#[must_use]
pub fn per_cpu_batch(present: u32) -> u32 {
    let quarter = ((present / 1024).min(128) / 4).max(1);
    let rounded = 1 << (quarter + quarter / 2).ilog2();
    (rounded - 1_u32).max(1)
}

/// One zone at work.
#[derive(Clone, Debug)]
pub struct Zone {
    /// Which.
    pub kind: ZoneKind,
    /// First frame.
    pub(crate) start: u32,
    /// Frame behind the last.
    pub(crate) end: u32,
    /// Frames that exist.
    pub present: u32,
    /// min, low, high.
    pub marks: [u32; 3],
    /// Pages kept from requests of each class, by index of the class's zone.
    pub reserve: [u32; 4],
    /// NR_FREE_PAGES. May be lower than what the lists hold: see [`super::MemoryPolicy::free_counter_leaks`].
    pub free: i64,
    /// Free blocks by order, all mobility types together.
    pub free_blocks: [u32; MAX_ORDER],
    /// The LRU lists.
    pub(crate) lru: [Ring; LRU_LISTS],
    /// Pages taken off the LRU by reclaimers: anonymous, file.
    pub isolated: [u32; 2],
    /// Pages the kernel itself holds.
    pub kernel_pages: u32,
    /// User pages in CPUs' vectors.
    pub(crate) in_vectors: u32,
    /// Scan amounts put by, for the four evictable lists (R4.2).
    pub(crate) saved_scan: [u32; 4],
    /// recent_scanned: anonymous, file (R4.1).
    pub(crate) recent_scanned: [u64; 2],
    /// recent_rotated.
    pub(crate) recent_rotated: [u64; 2],
    /// Pages scanned since a page was last freed (R3.5).
    pub pages_scanned: u64,
    /// Not worth scanning (R3.5).
    pub all_unreclaimable: bool,
    /// All dirty pages met belonged to congested devices (R5.8).
    pub congested: bool,
    /// Per-CPU batch.
    pub batch: u32,
    /// Per-CPU pages at which a batch is given back.
    pub high: u32,
    /// `sqrt(10 * gigabytes)`, at least 1 (section 4.3).
    pub inactive_ratio: u32,
    /// Priority of the last scan.
    pub prev_priority: u8,
    /// Event counters.
    pub events: ZoneEvents,
    /// Mobility type of each pageblock.
    pub(crate) pageblocks: Vec<Mobility>,
    pub(crate) pageblock_order: u8,
    /// See [`super::MemoryPolicy::fallback_takes_all_pageblocks`].
    pub(crate) fallback_takes_all_pageblocks: bool,
    /// Sentinel of the first of this zone's lists.
    first_list: ListId,
}

/// Lists of a zone: free blocks by order and type.
pub(crate) const LISTS_OF_A_ZONE: u32 = (MAX_ORDER * Mobility::ALL.len()) as u32;

impl Zone {
    pub(crate) fn new(
        span: &ZoneSpan,
        marks: [u32; 3],
        reserve: [u32; 4],
        first_list: ListId,
        pageblock_order: u8,
    ) -> Self {
        let batch = per_cpu_batch(span.present);
        let gigabytes = u64::from(span.present) >> 18;
        Self {
            kind: span.kind,
            start: span.start,
            end: span.start + span.spanned,
            present: span.present,
            marks,
            reserve,
            free: 0,
            free_blocks: [0; MAX_ORDER],
            lru: std::array::from_fn(|_| Ring::new()),
            isolated: [0; 2],
            kernel_pages: 0,
            in_vectors: 0,
            saved_scan: [0; 4],
            recent_scanned: [0; 2],
            recent_rotated: [0; 2],
            pages_scanned: 0,
            all_unreclaimable: false,
            congested: false,
            batch,
            // The formula gives 0 for a zone as small as DMA: what is freed there goes straight through.
            high: if span.present < 4096 { 0 } else { 6 * batch },
            inactive_ratio: ((10 * gigabytes).isqrt() as u32).max(1),
            prev_priority: super::scan::DEF_PRIORITY,
            events: ZoneEvents::default(),
            pageblocks: vec![Mobility::Movable; (span.spanned >> pageblock_order) as usize + 1],
            pageblock_order,
            fallback_takes_all_pageblocks: true,
            first_list,
        }
    }

    /// Pages on an LRU list.
    #[must_use]
    #[inline]
    pub fn lru_pages(&self, lru: Lru) -> u32 {
        self.lru[lru.index()].len()
    }

    /// The list of free blocks.
    #[inline]
    pub(crate) fn free_list(&self, order: usize, mobility: Mobility) -> ListId {
        self.first_list + (order * Mobility::ALL.len() + mobility.index()) as u32
    }

    #[inline]
    pub(crate) fn pageblock(&self, frame: u32) -> usize {
        ((frame - self.start) >> self.pageblock_order) as usize
    }

    #[inline]
    pub(crate) fn pageblock_type(&self, frame: u32) -> Mobility {
        self.pageblocks[self.pageblock(frame)]
    }

    /// Whether the zone exists.
    #[must_use]
    pub fn is_populated(&self) -> bool {
        self.present != 0
    }

    /// `zone_watermark_ok`: the mark, for a request of `order` whose class is the zone with index `class`.
    #[must_use]
    #[inline]
    pub fn passes(&self, mark: Mark, order: u8, class: usize, flags: AllocFlags) -> bool {
        if order == 0 && !flags.high && !flags.harder {
            return self.free > i64::from(self.marks[mark as usize]) + i64::from(self.reserve[class]);
        }
        self.passes_pages(self.marks[mark as usize], order, class, flags)
    }

    /// The same for a mark of so many pages.
    #[must_use]
    pub fn passes_pages(&self, mark_pages: u32, order: u8, class: usize, flags: AllocFlags) -> bool {
        watermark::passes(self.free, &self.free_blocks, order, mark_pages, self.reserve[class], flags)
    }

    /// Pages in the buddy lists: what [`Self::free`] ought to be.
    #[must_use]
    pub fn listed_pages(&self) -> u64 {
        self.free_blocks.iter().enumerate().map(|(order, &count)| u64::from(count) << order).sum()
    }

    /// Pages that reclaim could look at: the file lists, and the anonymous ones if there is swap (`zone_reclaimable_pages`).
    #[must_use]
    pub fn reclaimable_pages(&self, with_anon: bool) -> u64 {
        let size = |lru: Lru| u64::from(self.lru_pages(lru));
        let file = size(Lru::InactiveFile) + size(Lru::ActiveFile);
        if with_anon { file + size(Lru::InactiveAnon) + size(Lru::ActiveAnon) } else { file }
    }

    /// Whether the zone has been scanned less than six times over since a page was freed there (`zone_reclaimable`).
    pub(crate) fn is_reclaimable(&self, with_anon: bool) -> bool {
        self.pages_scanned < 6 * self.reclaimable_pages(with_anon)
    }

    /// Pages on the lists of a kind.
    pub(crate) fn lru_total(&self, file: bool) -> u64 {
        u64::from(self.lru_pages(Lru::inactive(file))) + u64::from(self.lru_pages(Lru::active(file)))
    }
}
