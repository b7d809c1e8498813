//! The memory of a machine: frames, zones, what CPUs keep, counters, and what has to be told to the outside.
//!
//! *Models:* the state that the machines of this folder work on.
//! *Does not model:* time, tasks, files, page tables: those are the caller's.
//! *Follows:* docs/model/reclaim.md, sections 1 and 5.1.

use super::buddy;
use super::frame::{Frames, Owner, Word};
use super::gfp::Mobility;
use super::naps::Naps;
use super::per_cpu::CpuCache;
use super::policy::MemoryPolicy;
use super::slab::Shrinker;
use super::slow_path::LogLimit;
use super::step::{MemoryOut, Work};
use super::swap::Swap;
use super::vmstat::Vmstat;
use super::zone::{LISTS_OF_A_ZONE, MemoryLayout, Zone, ZoneKind, marks, min_free_kbytes};

/// What reclaim has to know of a file or an anonymous region.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
pub struct OwnerInfo {
    /// Its pages are mapped as a program's text (VM_EXEC).
    pub executable: bool,
    /// Its dirty pages can be written by reclaim.
    pub has_writepage: bool,
    /// Index + 1 of the device its pages are written to; 0 is none.
    pub device: u16,
}

/// kswapd's place as others see it (section 3.1).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct KswapdQueue {
    /// The highest order asked for since it last looked.
    pub max_order: u8,
    /// It sleeps on its queue, and can be woken.
    pub is_waiting: bool,
}

/// Which devices are congested, by kind: asynchronous, synchronous.
#[derive(Clone, Debug, Default)]
struct Congestion {
    devices: Vec<[bool; 2]>,
    count: [u32; 2],
}

/// The memory of a machine.
#[derive(Clone, Debug)]
pub struct Memory {
    pub(crate) policy: MemoryPolicy,
    pub(crate) frames: Frames,
    pub(crate) zones: Vec<Zone>,
    pub(crate) cpus: Vec<CpuCache>,
    /// Index of the highest populated zone at or below each kind.
    preferred: [Option<usize>; 4],
    /// Counters of the machine; those of a zone are in [`Zone::events`].
    pub vmstat: Vmstat,
    /// What the outside has to do.
    pub out: MemoryOut,
    pub(crate) work: Work,
    pub(crate) kswapd: KswapdQueue,
    pub(crate) naps: Naps,
    pub(crate) owners: Vec<OwnerInfo>,
    pub(crate) shrinkers: Vec<Shrinker>,
    pub(crate) swap: Option<Swap>,
    congestion: Congestion,
    /// Ticks a second.
    pub(crate) hz: u64,
    /// `swappiness`, 0 to 100.
    pub swappiness: u32,
    /// `laptop_mode`: reclaim writes only when it must.
    pub laptop_mode: bool,
    /// Pages under writeback above which reclaim is throttled (R4.4); the caller sets it. Without limit at first.
    pub writeout_limit_pages: u64,
    /// Pages under writeback.
    pub(crate) writeback_pages: u64,
    /// Kept so that isolating for lumpy reclaim does not allocate again and again.
    pub(crate) spare: Vec<u32>,
    pub(crate) now_ns: u64,
    pub(crate) log: LogLimit,
}

impl Memory {
    /// Memory laid out as `layout`, free but for what is taken there, for a machine with `cpus` CPUs and `hz` ticks a second.
    ///
    /// # Errors
    /// Everything that is wrong with the layout.
    pub fn new(
        layout: &MemoryLayout,
        policy: MemoryPolicy,
        cpus: usize,
        hz: u32,
    ) -> Result<Self, Vec<String>> {
        let problems = layout.problems();
        if !problems.is_empty() {
            return Err(problems);
        }
        let lowmem = layout.zones.iter().filter(|zone| zone.kind != ZoneKind::HighMem);
        let lowmem_pages = lowmem.map(|zone| u64::from(zone.present)).sum();
        let min_free = match policy.min_free_kbytes {
            0 => min_free_kbytes(lowmem_pages),
            set => set,
        };
        let frame_count = layout.frames();
        let mut frames = Frames::new(frame_count, LISTS_OF_A_ZONE * layout.zones.len() as u32);
        let mut zones: Vec<Zone> = layout
            .zones
            .iter()
            .enumerate()
            .map(|(index, span)| {
                Zone::new(
                    span,
                    marks(span.kind, span.present, min_free, lowmem_pages),
                    reserve(layout, index),
                    frame_count + index as u32 * LISTS_OF_A_ZONE,
                    layout.pageblock_order,
                )
            })
            .collect();
        for (zone, span) in zones.iter_mut().zip(&layout.zones) {
            zone.fallback_takes_all_pageblocks = policy.fallback_takes_all_pageblocks;
            fill(&mut frames, zone, span.taken);
            buddy::set_reserve(&mut frames, zone, policy.reserve_blocks_max);
        }
        let kinds = [ZoneKind::Dma, ZoneKind::Dma32, ZoneKind::Normal, ZoneKind::HighMem];
        let preferred =
            kinds.map(|kind| zones.iter().rposition(|zone| zone.kind <= kind && zone.is_populated()));
        Ok(Self {
            cpus: (0..cpus.max(1)).map(|_| CpuCache::new(&zones)).collect(),
            frames,
            zones,
            preferred,
            swappiness: policy.swappiness,
            policy,
            vmstat: Vmstat::default(),
            out: MemoryOut::default(),
            work: Work::default(),
            kswapd: KswapdQueue { max_order: 0, is_waiting: true },
            naps: Naps::default(),
            owners: Vec::new(),
            shrinkers: Vec::new(),
            swap: None,
            congestion: Congestion::default(),
            hz: u64::from(hz.max(1)),
            laptop_mode: false,
            writeout_limit_pages: u64::MAX,
            writeback_pages: 0,
            spare: Vec::new(),
            now_ns: 0,
            log: LogLimit::default(),
        })
    }

    /// The kernel's rules.
    #[must_use]
    pub fn policy(&self) -> &MemoryPolicy {
        &self.policy
    }

    /// The zones, lowest first; some may be empty.
    #[must_use]
    pub fn zones(&self) -> &[Zone] {
        &self.zones
    }

    /// kswapd's place, for views.
    #[must_use]
    pub fn kswapd_queue(&self) -> KswapdQueue {
        self.kswapd
    }

    /// What has been napped, where, and how much of it for nothing.
    #[must_use]
    pub fn naps(&self) -> &Naps {
        &self.naps
    }

    /// Pages under writeback.
    #[must_use]
    pub fn writeback_pages(&self) -> u64 {
        self.writeback_pages
    }

    /// Free pages of all zones (NR_FREE_PAGES): without those on per-CPU lists.
    #[must_use]
    pub fn nr_free_pages(&self) -> i64 {
        self.zones.iter().map(|zone| zone.free).sum()
    }

    /// Memory that this takes on the host, in bytes: 14 a frame, and at most 11 of each list that all pages have been on at once.
    #[must_use]
    pub fn bytes(&self) -> usize {
        let lists = self.zones.iter().flat_map(|zone| &zone.lru);
        let swap = self.swap.as_ref().map_or(0, Swap::bytes);
        self.frames.bytes() + lists.map(super::ring::Ring::bytes).sum::<usize>() + swap
    }

    /// The work done since the last call.
    pub fn take_work(&mut self) -> Work {
        std::mem::take(&mut self.work)
    }

    /// Registers a file or an anonymous region; returns its number for [`Owner::mapping`].
    pub fn add_owner(&mut self, info: OwnerInfo) -> u32 {
        self.owners.push(info);
        self.owners.len() as u32 - 1
    }

    /// What is known of an owner; that of an unknown one is the default.
    pub(crate) fn owner_info(&self, owner: Owner) -> OwnerInfo {
        self.owners.get(owner.mapping as usize).copied().unwrap_or_default()
    }

    /// Says whether the queue of a device is congested for asynchronous and for synchronous requests.
    pub fn set_congested(&mut self, device: usize, congested: [bool; 2]) {
        if self.congestion.devices.len() <= device {
            self.congestion.devices.resize(device + 1, [false; 2]);
        }
        let old = std::mem::replace(&mut self.congestion.devices[device], congested);
        for kind in 0..2 {
            self.congestion.count[kind] += u32::from(congested[kind]);
            self.congestion.count[kind] -= u32::from(old[kind]);
        }
    }

    /// Whether any device is congested for the kind: 0 asynchronous, 1 synchronous.
    pub(crate) fn is_any_congested(&self, kind: usize) -> bool {
        self.congestion.count[kind] != 0
    }

    /// Whether the device with this index + 1 is congested for asynchronous writes.
    pub(crate) fn is_write_congested(&self, device: u16) -> bool {
        let index = usize::from(device).wrapping_sub(1);
        self.congestion.devices.get(index).is_some_and(|congested| congested[0])
    }

    /// The zone a request prefers: the highest populated one it may use. Also its class.
    #[inline]
    pub(crate) fn preferred_zone(&self, kind: ZoneKind) -> Option<usize> {
        self.preferred[kind as usize]
    }

    /// The zone a frame lies in.
    #[inline]
    pub(crate) fn zone_of(&self, frame: u32) -> usize {
        let above = self.zones[1..].iter().take_while(|zone| zone.start <= frame).count();
        above.min(self.zones.len() - 1)
    }
}

/// `lowmem_reserve` of a zone against each class (R1.10).
fn reserve(layout: &MemoryLayout, index: usize) -> [u32; 4] {
    let mut reserve = [0; 4];
    let zones = &layout.zones;
    let ratio = zones[index].kind.lowmem_reserve_ratio();
    let mut above = 0;
    for class in index + 1..zones.len().min(4) {
        above += zones[class].present;
        reserve[class] = above / ratio;
    }
    reserve
}

/// Frees what is present and not taken: holes lie below 1 MiB in DMA, as on every PC, and at the end elsewhere.
fn fill(frames: &mut Frames, zone: &mut Zone, taken: u32) {
    /// The hole for video memory and firmware begins at 640 KiB.
    const PC_HOLE_FRAME: u32 = 160;
    let holes = (zone.end - zone.start) - zone.present;
    let hole = if zone.kind == ZoneKind::Dma { PC_HOLE_FRAME } else { zone.end - zone.start - holes };
    let hole = zone.start + hole.min(zone.end - zone.start - holes);
    let mut to_take = taken;
    for frame in zone.start..zone.end {
        if (hole..hole + holes).contains(&frame) {
            continue;
        }
        if to_take != 0 {
            to_take -= 1;
            frames.set(frame, Word(Word::KERNEL));
            zone.kernel_pages += 1;
        } else {
            buddy::give(frames, zone, frame, 0, Mobility::Movable, false);
            zone.free += 1;
        }
    }
}
