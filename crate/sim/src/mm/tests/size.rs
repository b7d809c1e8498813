//! How much of the host's memory a machine takes.

use super::*;

/// Pages of 4 KiB in a GiB.
const GIB: u32 = 1 << 18;
/// What the largest machine may take on the host: a browser's 32-bit modules have 4 GiB, and while the closer look at a window is made,
/// or a result, there are two machines.
const LARGEST_BYTES: usize = 1 << 30;

/// The largest machine of all, 64 GiB, is simulated page by page: a frame takes 14 bytes, and one on a list up to 11 more. When it is full of
/// pages of files it takes less than 1 GiB, and its marks are those of the kernel's formula (R1.5 to R1.8).
#[test]
fn the_largest_machine_fits_a_tab() {
    let layout = MemoryLayout::x86_64(64 * GIB);
    let frames = layout.frames() as usize;
    let mut memory = Memory::new(&layout, policy("2.6.36"), 2, 250).expect("a good layout");
    assert!((14 * frames..15 * frames).contains(&memory.bytes()), "{} bytes", memory.bytes());
    let present: Vec<u32> = memory.zones().iter().map(|zone| zone.present).collect();
    assert_eq!(present, [3_980, 771_640, 15_772_160]);
    // isqrt(16 * 4 * 16547780) = 32543 KiB, 8135 pages, of which each zone has its part.
    let marks: Vec<[u32; 3]> = memory.zones().iter().map(|zone| zone.marks).collect();
    assert_eq!(marks, [[1, 1, 1], [379, 473, 568], [7_753, 9_691, 11_629]]);
    let file = file(&mut memory);
    let pages = fill(&mut memory, file, u32::MAX);
    assert!(pages > 16_400_000, "{pages}");
    assert!(memory.bytes() < 25 * frames && memory.bytes() < LARGEST_BYTES, "{} bytes", memory.bytes());
    // And all of them used twice: the ring of the active list is as long.
    for frame in 0..layout.frames() {
        memory.mark_accessed(FrameId(frame));
        memory.mark_accessed(FrameId(frame));
    }
    assert!(memory.zones()[2].lru_pages(Lru::ActiveFile) > 15_000_000);
    assert!(memory.bytes() < LARGEST_BYTES, "{} bytes", memory.bytes());
}
