//! What `/proc/sys/vm` sets: limits of dirty data, the inclination to swap, the watermarks.
//!
//! *Models:* the files named here, in the kernel's own units.
//! *Does not model:* `lowmem_reserve_ratio` (always the kernel's own), `zone_reclaim_mode`, `laptop_mode`, `overcommit_memory`.
//! *Follows:* docs/model/reclaim.md, sections 1.2, 4.2 and 6.1; Linux 2.6.31, `Documentation/sysctl/vm.txt`.

use super::Policy;
use crate::block::elevator::tunables::{LARGEST_INT, TunableInfo, TunableUnit};

const fn info(name: &'static str, [min, default, max]: [u64; 3], documentation: &'static str) -> TunableInfo {
    TunableInfo { name, unit: TunableUnit::Factor, min, max, default, documentation }
}

/// Every file that is modelled.
pub(super) static VM: [TunableInfo; 8] = [
    info("dirty_ratio", [0, 20, 100], "Writers are held up above this percentage of dirtyable memory."),
    info(
        "dirty_background_ratio",
        [0, 10, 100],
        "Data is written in the background above this percentage of dirtyable memory.",
    ),
    info("dirty_bytes", [0, 0, 1 << 40], "Writers are held up above so many bytes; 0: dirty_ratio counts."),
    info(
        "dirty_background_bytes",
        [0, 0, 1 << 40],
        "Data is written in the background above so many bytes; 0: dirty_background_ratio counts.",
    ),
    info(
        "dirty_expire_centisecs",
        [0, 3000, LARGEST_INT],
        "Data is old after so many hundredths of a second.",
    ),
    info(
        "dirty_writeback_centisecs",
        [1, 500, LARGEST_INT],
        "Old data is looked for every so many hundredths of a second.",
    ),
    info("swappiness", [0, 60, 100], "How much anonymous memory is preferred to the page cache in reclaim."),
    info(
        "min_free_kbytes",
        [0, 0, 1 << 20],
        "What the lowest watermarks add up to, in KiB; 0: it follows from the size of memory.",
    ),
];

/// Puts a value, which is within its range, into the rules; false if there is no such file.
pub(super) fn set(policy: &mut Policy, name: &str, value: u64) -> bool {
    let writeback = &mut policy.fs.writeback;
    let percent = value.min(100) as u32;
    match name {
        "dirty_ratio" => writeback.dirty_ratio_percent = percent,
        "dirty_background_ratio" => writeback.background_ratio_percent = percent,
        "dirty_bytes" => writeback.dirty_bytes = value,
        "dirty_background_bytes" => writeback.background_bytes = value,
        "dirty_expire_centisecs" => writeback.expire_ms = value * 10,
        "dirty_writeback_centisecs" => writeback.interval_ms = value * 10,
        "swappiness" => policy.mm.swappiness = percent,
        "min_free_kbytes" => policy.mm.min_free_kbytes = value.min(1 << 20) as u32,
        _ => return false,
    }
    true
}
