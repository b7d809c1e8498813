//! The machine's memory, as a scenario describes it.
//!
//! *Follows:* docs/model/reclaim.md, section 1.1.

use crate::block::{PAGE_SECTORS, SECTOR_BYTES};
use crate::mm::{MemoryLayout, ZoneKind};
use crate::text::Choice;
use serde::{Deserialize, Serialize};
use std::ops::Range;

/// How a machine's memory is divided into zones.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub enum Architecture {
    /// DMA up to 16 MiB, DMA32 up to 4 GiB, Normal above.
    #[default]
    #[serde(rename = "x86-64")]
    X86_64,
    /// DMA up to 16 MiB, Normal up to 896 MiB, HighMem above.
    #[serde(rename = "i386")]
    I386,
}

impl Choice for Architecture {
    fn names(&self) -> &'static [&'static str] {
        &["x86-64", "i386"]
    }

    fn choose(&mut self, name: &str) -> bool {
        match name {
            "x86-64" => *self = Self::X86_64,
            "i386" => *self = Self::I386,
            _ => return false,
        }
        true
    }
}

/// The most memory a machine can have: 64 GiB. A full one takes half a GiB on the host, and a browser gives 4 to a page.
const MAX_MEMORY_MIB: u32 = 64 << 10;
/// The least, as for Linux itself. Up to 16 MiB there is no zone but DMA.
const MIN_MEMORY_MIB: u32 = 4;

/// The memory of a machine. Zone by zone it may be given in pages of 4 KiB, as a kernel prints it; what is 0 follows from the size.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case", deny_unknown_fields, default)]
pub struct MemoryOptions {
    /// Size in MiB, 4 to 65536; 0: memory is not simulated and never runs out.
    pub size_mib: u32,
    /// Which zones there are.
    pub architecture: Architecture,
    /// Size of the swap area in MiB, 0 to 65536; 0: there is none. It lies at the end of the machine's device.
    pub swap_mib: u32,
    /// Pages present in the zone DMA.
    pub dma_present: u32,
    /// Pages present in the zone DMA32 (x86-64).
    pub dma32_present: u32,
    /// Pages present in the zone Normal.
    pub normal_present: u32,
    /// Pages present in the zone HighMem (i386).
    pub highmem_present: u32,
    /// Pages of DMA that are taken for good when the run begins.
    pub dma_taken: u32,
    /// Pages of DMA32 that are taken for good.
    pub dma32_taken: u32,
    /// Pages of Normal that are taken for good.
    pub normal_taken: u32,
    /// Pages of HighMem that are taken for good.
    pub highmem_taken: u32,
}

crate::slots!(MemoryOptions {
    size_mib,
    architecture,
    swap_mib,
    dma_present,
    dma32_present,
    normal_present,
    highmem_present,
    dma_taken,
    dma32_taken,
    normal_taken,
    highmem_taken,
});

impl MemoryOptions {
    /// Whether memory is simulated.
    #[must_use]
    pub fn is_simulated(&self) -> bool {
        self.size_mib != 0
    }

    /// The sectors of the swap area on a device of `capacity_sectors`; empty if there is none.
    #[must_use]
    pub fn swap_area(&self, capacity_sectors: u64) -> Range<u64> {
        let swap_mib = if self.is_simulated() { self.swap_mib } else { 0 };
        let page_sectors = u64::from(PAGE_SECTORS);
        let end = capacity_sectors / page_sectors * page_sectors;
        end.saturating_sub(u64::from(swap_mib) * (1 << 20) / SECTOR_BYTES)..end
    }

    /// The zones; `None` when memory is not simulated.
    #[must_use]
    pub fn layout(&self) -> Option<MemoryLayout> {
        if !self.is_simulated() {
            return None;
        }
        let pages = self.size_mib.min(MAX_MEMORY_MIB) << 8;
        let usual = match self.architecture {
            Architecture::X86_64 => MemoryLayout::x86_64(pages),
            Architecture::I386 => MemoryLayout::i386(pages),
        };
        let zones: Vec<(ZoneKind, u32, u32)> = usual
            .zones
            .iter()
            .map(|zone| {
                let (present, taken) = self.given(zone.kind);
                (zone.kind, if present == 0 { zone.present } else { present }, taken)
            })
            .collect();
        Some(MemoryLayout { pageblock_order: usual.pageblock_order, ..MemoryLayout::from_present(&zones) })
    }

    /// Present and taken pages of a zone as given, 0 if not.
    fn given(&self, kind: ZoneKind) -> (u32, u32) {
        match kind {
            ZoneKind::Dma => (self.dma_present, self.dma_taken),
            ZoneKind::Dma32 => (self.dma32_present, self.dma32_taken),
            ZoneKind::Normal => (self.normal_present, self.normal_taken),
            ZoneKind::HighMem => (self.highmem_present, self.highmem_taken),
        }
    }

    /// Everything that has no meaning: the field, its value, and why.
    #[must_use]
    pub fn problems(&self) -> Vec<(&'static str, u64, String)> {
        let mut problems = Vec::new();
        if self.is_simulated() && !(MIN_MEMORY_MIB..=MAX_MEMORY_MIB).contains(&self.size_mib) {
            let message = if self.size_mib < MIN_MEMORY_MIB {
                "a machine has 4 MiB of memory or more, for Linux does not start with less; 0 leaves memory out"
            } else {
                "a machine has at most 64 GiB of memory: every page of it takes about 30 bytes here, and a browser gives a page 4 GiB"
            };
            let message = message.to_owned();
            problems.push(("size-mib", self.size_mib.into(), message));
            return problems;
        }
        if self.swap_mib > MAX_MEMORY_MIB {
            let message = "a swap area has at most 64 GiB".to_owned();
            problems.push(("swap-mib", self.swap_mib.into(), message));
        } else if self.swap_mib != 0 && !self.is_simulated() {
            let message = "swap needs a machine whose memory is simulated: give it a size-mib".to_owned();
            problems.push(("swap-mib", self.swap_mib.into(), message));
        }
        let kinds = self.layout().map_or_else(Vec::new, |layout| layout.zones);
        let fields = [
            (ZoneKind::Dma, "dma-present", "dma-taken"),
            (ZoneKind::Dma32, "dma32-present", "dma32-taken"),
            (ZoneKind::Normal, "normal-present", "normal-taken"),
            (ZoneKind::HighMem, "highmem-present", "highmem-taken"),
        ];
        for (kind, present_field, taken_field) in fields {
            let (present, taken) = self.given(kind);
            let name = kind.name();
            let Some(zone) = kinds.iter().find(|zone| zone.kind == kind) else {
                for (field, value) in [(present_field, present), (taken_field, taken)] {
                    if value != 0 {
                        problems.push((field, value.into(), format!("this machine has no zone {name}")));
                    }
                }
                continue;
            };
            let most = self.most(kind);
            if present > most {
                let message = format!("zone {name} has at most {most} pages on this machine");
                problems.push((present_field, present.into(), message));
            } else if taken != 0 && taken >= zone.present {
                let message = format!("zone {name} has {} pages, and some must be free", zone.present);
                problems.push((taken_field, taken.into(), message));
            }
        }
        let present: u64 = kinds.iter().map(|zone| u64::from(zone.present)).sum();
        let most = u64::from(self.size_mib) << 8;
        if problems.is_empty() && present > most {
            let given = fields.iter().rev().find(|(kind, ..)| self.given(*kind).0 != 0);
            let field = given.map_or("size-mib", |field| field.1);
            let message = format!(
                "all zones together have {present} pages, and the machine has {most}: give it more memory, or less to a zone"
            );
            problems.push((field, present, message));
        }
        problems
    }

    /// The most pages that a zone can have: the machine's, as far as the zone reaches.
    fn most(&self, kind: ZoneKind) -> u32 {
        const MIB: u32 = 1 << 8;
        let reach = match (self.architecture, kind) {
            (_, ZoneKind::Dma) => 16 * MIB,
            (_, ZoneKind::Dma32) => (4096 - 16) * MIB,
            (Architecture::I386, ZoneKind::Normal) => (896 - 16) * MIB,
            _ => u32::MAX,
        };
        reach.min(self.size_mib << 8)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Section 0.5, G13, given in pages.
    #[test]
    fn the_machine_of_2010_can_be_written_down() {
        let options = MemoryOptions {
            size_mib: 2048,
            dma_present: 3_980,
            dma_taken: 20,
            dma32_present: 509_000,
            dma32_taken: 38_500,
            ..MemoryOptions::default()
        };
        assert_eq!(options.problems(), []);
        assert_eq!(options.layout(), Some(MemoryLayout::mapped_stream_2010()));
    }

    /// What cannot be is named with its field.
    #[test]
    fn impossible_memory_is_refused() {
        let memory = MemoryOptions { size_mib: 512, ..MemoryOptions::default() };
        for (wrong, field) in [
            (MemoryOptions { size_mib: 3, ..memory.clone() }, "size-mib"),
            (MemoryOptions { size_mib: (64 << 10) + 1, ..memory.clone() }, "size-mib"),
            (MemoryOptions { highmem_present: 5, ..memory.clone() }, "highmem-present"),
            (MemoryOptions { normal_taken: 5, ..memory.clone() }, "normal-taken"),
            (MemoryOptions { dma32_present: 1 << 20, ..memory.clone() }, "dma32-present"),
            // DMA ends at 16 MiB.
            (MemoryOptions { dma_present: 4097, ..memory.clone() }, "dma-present"),
            (MemoryOptions { dma_taken: 3980, ..memory.clone() }, "dma-taken"),
            // Each of them could be, both cannot.
            (MemoryOptions { dma32_present: 512 << 8, ..memory.clone() }, "dma32-present"),
            (
                MemoryOptions {
                    size_mib: 1024,
                    architecture: Architecture::I386,
                    normal_present: 881 << 8,
                    ..memory.clone()
                },
                "normal-present",
            ),
        ] {
            assert_eq!(wrong.problems().first().map(|problem| problem.0), Some(field), "{wrong:?}");
        }
        let just_right = [
            MemoryOptions { size_mib: 4, ..memory.clone() },
            MemoryOptions { size_mib: 64 << 10, ..memory.clone() },
            MemoryOptions { dma_present: 4096, dma_taken: 4095, ..memory.clone() },
            MemoryOptions { dma32_present: (512 << 8) - 3980, ..memory },
        ];
        for right in just_right {
            assert_eq!(right.problems(), [], "{right:?}");
        }
    }
}
