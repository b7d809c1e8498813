//! What a request for pages asks for.
//!
//! *Models:* the flags that steer the allocator of 2.6.30 to 2.6.37, with the kernel's own values, and what follows from them.
//! *Does not model:* cpusets, NUMA placement, zeroing.
//! *Follows:* docs/model/reclaim.md, sections 1.4, 1.6 and 10.1.

use super::zone::ZoneKind;

/// Orders of blocks: 0 to 10.
pub const MAX_ORDER: usize = 11;
/// Requests above this order are costly: they may fail (section 0.3).
pub const COSTLY_ORDER: u8 = 3;

/// Flags of a request, with the kernel's values.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Gfp(pub u32);

impl Gfp {
    /// Must lie in DMA.
    pub const DMA: Self = Self(0x01);
    /// May lie in HighMem.
    pub const HIGHMEM: Self = Self(0x02);
    /// Must lie below 4 GiB.
    pub const DMA32: Self = Self(0x04);
    /// Can be moved.
    pub const MOVABLE: Self = Self(0x08);
    /// May sleep.
    pub const WAIT: Self = Self(0x10);
    /// May use the emergency reserve.
    pub const HIGH: Self = Self(0x20);
    /// May start I/O.
    pub const IO: Self = Self(0x40);
    /// May call the file system.
    pub const FS: Self = Self(0x80);
    /// A page that no cache holds is as good.
    pub const COLD: Self = Self(0x100);
    /// A failure is not reported.
    pub const NOWARN: Self = Self(0x200);
    /// Try hard.
    pub const REPEAT: Self = Self(0x400);
    /// Must not fail.
    pub const NOFAIL: Self = Self(0x800);
    /// Try once.
    pub const NORETRY: Self = Self(0x1000);
    /// A compound page.
    pub const COMP: Self = Self(0x4000);
    /// Zeroed.
    pub const ZERO: Self = Self(0x8000);
    /// Never without watermarks.
    pub const NOMEMALLOC: Self = Self(0x10000);
    /// Kept within the cpuset.
    pub const HARDWALL: Self = Self(0x20000);
    /// Reclaimable slab.
    pub const RECLAIMABLE: Self = Self(0x80000);

    /// Interrupts and others that cannot sleep.
    pub const ATOMIC: Self = Self::HIGH;
    /// May sleep, but not start I/O.
    pub const NOIO: Self = Self::WAIT;
    /// May start I/O, but not call the file system.
    pub const NOFS: Self = Self(0x50);
    /// The kernel's own pages.
    pub const KERNEL: Self = Self(0xd0);
    /// User pages that the kernel must reach.
    pub const USER: Self = Self(0x200d0);
    /// User pages anywhere.
    pub const HIGHUSER: Self = Self(0x200d2);
    /// User pages anywhere that can be moved: anonymous memory and the page cache.
    pub const HIGHUSER_MOVABLE: Self = Self(0x200da);

    /// All flags of both.
    #[must_use]
    pub const fn with(self, other: Self) -> Self {
        Self(self.0 | other.0)
    }

    /// Without the flags of `other`.
    #[must_use]
    pub const fn without(self, other: Self) -> Self {
        Self(self.0 & !other.0)
    }

    /// Whether all flags of `other` are set.
    #[must_use]
    pub const fn has(self, other: Self) -> bool {
        self.0 & other.0 == other.0
    }

    /// The highest zone allowed (R1.4).
    #[must_use]
    pub fn highest_zone(self) -> ZoneKind {
        if self.has(Self::DMA) {
            ZoneKind::Dma
        } else if self.has(Self::DMA32) {
            ZoneKind::Dma32
        } else if self.has(Self::HIGHMEM) {
            ZoneKind::HighMem
        } else {
            ZoneKind::Normal
        }
    }

    /// Which mobility list serves it.
    #[must_use]
    pub fn mobility(self) -> Mobility {
        if self.has(Self::MOVABLE) {
            Mobility::Movable
        } else if self.has(Self::RECLAIMABLE) {
            Mobility::Reclaimable
        } else {
            Mobility::Unmovable
        }
    }
}

/// Mobility types of pages and pageblocks (section 1.9).
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
#[repr(u8)]
pub enum Mobility {
    /// The kernel's own.
    Unmovable = 0,
    /// Slabs that can be shrunk.
    Reclaimable = 1,
    /// User pages.
    Movable = 2,
    /// The last resort.
    Reserve = 3,
}

impl Mobility {
    /// All types, by index.
    pub const ALL: [Self; 4] = [Self::Unmovable, Self::Reclaimable, Self::Movable, Self::Reserve];

    /// Index into lists.
    #[must_use]
    pub const fn index(self) -> usize {
        self as usize
    }

    /// The type with this index; 3 and above are the reserve.
    #[must_use]
    pub const fn from_index(index: u8) -> Self {
        match index {
            0 => Self::Unmovable,
            1 => Self::Reclaimable,
            2 => Self::Movable,
            _ => Self::Reserve,
        }
    }
}

/// A request for 2^order pages.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Request {
    /// Flags.
    pub gfp: Gfp,
    /// Order, 0 to 10; higher ones fail at once.
    pub order: u8,
}

impl Request {
    /// A request for one page.
    #[must_use]
    pub const fn page(gfp: Gfp) -> Self {
        Self { gfp, order: 0 }
    }
}

/// Who asks, and what follows for the watermarks (section 1.6).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
pub struct Caller {
    /// The CPU it runs on: whose per-CPU lists are used.
    pub cpu: usize,
    /// It reclaims itself, or is kswapd (PF_MEMALLOC): no watermarks.
    pub memalloc: bool,
    /// It has been chosen by the OOM killer: no watermarks.
    pub dying: bool,
    /// It is a real-time task.
    pub real_time: bool,
    /// The request comes from an interrupt on top of it.
    pub in_interrupt: bool,
    /// It is kswapd: writes to congested devices, reclaims without limit.
    pub kswapd: bool,
    /// The device, as `index + 1`, to which this task is writing anyway; 0 is none (R4.6).
    pub writing_to: u16,
}

impl Caller {
    /// An ordinary task on a CPU.
    #[must_use]
    pub fn on_cpu(cpu: usize) -> Self {
        Self { cpu, ..Self::default() }
    }

    /// kswapd on a CPU.
    #[must_use]
    pub fn kswapd_on_cpu(cpu: usize) -> Self {
        Self { cpu, memalloc: true, kswapd: true, ..Self::default() }
    }
}
