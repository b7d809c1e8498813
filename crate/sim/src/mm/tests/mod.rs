//! Tests named after the rules they protect, most of them worked examples of docs/model/reclaim.md.

mod allocator;
mod balance;
mod direct;
mod fate;
mod kswapd;
mod laws;
mod lumpy;
mod marks;
mod naps;
mod pageblocks;
mod reference;
mod rounds;
mod scan;
mod size;
mod stream;
mod twin;
mod zones;

use super::*;
use crate::kernel::Policy;
use crate::scenario::FileSystemKind;

/// The rules of a release.
fn policy(release: &str) -> MemoryPolicy {
    patched(release, &[])
}

/// The rules of a release with patches.
fn patched(release: &str, patches: &[&str]) -> MemoryPolicy {
    let patches: Vec<String> = patches.iter().map(|&patch| patch.to_owned()).collect();
    Policy::new(release, &patches, FileSystemKind::Ext4).expect("known").mm
}

/// x86-64 with these present pages.
fn memory_of(release: &str, dma: u32, dma32: u32) -> Memory {
    memory_with(policy(release), dma, dma32)
}

fn memory_with(policy: MemoryPolicy, dma: u32, dma32: u32) -> Memory {
    let layout = MemoryLayout::from_present(&[(ZoneKind::Dma, dma, 0), (ZoneKind::Dma32, dma32, 0)]);
    Memory::new(&layout, policy, 2, 250).expect("a good layout")
}

/// Bounds a loop that ends only while the rules are kept: a broken one fails instead of hanging.
#[derive(Default)]
struct Fuse(u32);

impl Fuse {
    /// Another round.
    fn burn(&mut self) {
        self.0 += 1;
        assert!(self.0 < 1_000_000, "no end in sight");
    }
}

const MOVABLE: Request = Request::page(Gfp::HIGHUSER_MOVABLE);
const KERNEL: Request = Request::page(Gfp::KERNEL);

fn task() -> Caller {
    Caller::on_cpu(0)
}

/// A page of the file `mapping` that a page table points to, not used since.
fn file_page(mapping: u32, index: u32) -> NewPage {
    NewPage { owner: Owner { mapping, index }, anon: false, mapped: false, dirty: false, active: false }
}

/// A file without anything special.
fn file(memory: &mut Memory) -> u32 {
    memory.add_owner(OwnerInfo { has_writepage: true, ..OwnerInfo::default() })
}

/// Adds so many pages of a file at once.
fn fill(memory: &mut Memory, mapping: u32, pages: u32) -> u32 {
    memory.add_run(MOVABLE, &task(), &file_page(mapping, 0), pages, |_| ())
}

/// Steps an allocation to its end; `each` sees every step before.
fn run(
    memory: &mut Memory,
    mut allocation: Allocation,
    mut each: impl FnMut(&mut Memory, &Step<Option<FrameId>>),
) -> Option<FrameId> {
    for _ in 0..1_000_000 {
        let step = allocation.step(memory);
        memory.check();
        if let Step::Done(frame) = step {
            return frame;
        }
        each(memory, &step);
    }
    panic!("the request never ends");
}

/// Takes kernel pages until a request for one would have to wait, and no CPU keeps any.
fn exhaust(memory: &mut Memory) -> Vec<FrameId> {
    let mut pages = Vec::new();
    let mut fuse = Fuse::default();
    loop {
        fuse.burn();
        let before = pages.len();
        pages.extend(std::iter::from_fn(|| memory.allocate_at_once(KERNEL, &task())));
        memory.drain_all_pages();
        if pages.len() == before {
            return pages;
        }
    }
}

/// Lets kswapd do what it can. Where nothing can be reclaimed it finds that out.
fn let_kswapd_finish(memory: &mut Memory) {
    let mut kswapd = Kswapd::new(1);
    for _ in 0..100_000 {
        if let Step::Sleep(_) = kswapd.step(memory) {
            return;
        }
    }
    panic!("kswapd never sleeps");
}
