//! Slab caches that reclaim can shrink.
//!
//! *Models:* shrinkers with their debt, run in batches of 128 objects; objects that fill kernel pages, which come back when enough
//! objects are gone.
//! *Does not model:* fragmentation of slabs, locks.
//! *Follows:* docs/model/reclaim.md, section 4.8; Linux 2.6.31, `mm/vmscan.c`, `shrink_slab`.

use super::frame::FrameId;
use super::memory::Memory;

/// Objects in a batch (SHRINK_BATCH).
const BATCH_OBJECTS: u64 = 128;

/// A cache that can be shrunk.
#[derive(Clone, Debug)]
pub struct Shrinker {
    /// Its name.
    pub name: String,
    /// How dear an object is to get back: 2 is usual (DEFAULT_SEEKS).
    pub seeks: u64,
    /// Objects in it.
    pub objects: u64,
    /// Objects in a page.
    pub objects_per_page: u64,
    /// Shrinking it needs the file system.
    pub needs_fs: bool,
    /// Objects still to be looked at, carried over.
    pub debt: u64,
    /// Its pages.
    pub(crate) pages: Vec<FrameId>,
}

/// What shrinking has given.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Shrunk {
    pub(crate) objects: u64,
    pub(crate) pages: u64,
}

/// What a scan adds to a shrinker's debt, which never exceeds twice its objects.
#[must_use]
pub fn debt_after(debt: u64, scanned: u64, seeks: u64, objects: u64, lru_pages: u64) -> u64 {
    let scanned = if scanned == 0 { 32 } else { scanned };
    let added = u128::from(4 * scanned / seeks.max(1)) * u128::from(objects) / (u128::from(lru_pages) + 1);
    let total = u128::from(debt) + added;
    u64::try_from(total.min(2 * u128::from(objects))).unwrap_or(u64::MAX)
}

impl Memory {
    /// Adds a cache; objects come with [`Self::add_object`]. Returns its index.
    pub fn add_shrinker(&mut self, name: &str, seeks: u64, objects_per_page: u64, needs_fs: bool) -> usize {
        self.shrinkers.push(Shrinker {
            name: name.to_owned(),
            seeks: seeks.max(1),
            objects: 0,
            objects_per_page: objects_per_page.max(1),
            needs_fs,
            debt: 0,
            pages: Vec::new(),
        });
        self.shrinkers.len() - 1
    }

    /// Whether another object needs another page first, which [`Self::add_object`] then takes.
    #[must_use]
    pub fn needs_slab_page(&self, shrinker: usize) -> bool {
        self.shrinkers
            .get(shrinker)
            .is_some_and(|cache| cache.objects >= cache.pages.len() as u64 * cache.objects_per_page)
    }

    /// Adds an object; `page` is the allocated page it needs, if any.
    pub fn add_object(&mut self, shrinker: usize, page: Option<FrameId>) {
        let Some(cache) = self.shrinkers.get_mut(shrinker) else { return };
        cache.pages.extend(page);
        cache.objects += 1;
    }

    /// The caches.
    #[must_use]
    pub fn shrinkers(&self) -> &[Shrinker] {
        &self.shrinkers
    }

    /// Shrinks all caches in proportion to what was scanned of `lru_pages`.
    pub(crate) fn shrink_slab(
        &mut self,
        scanned: u64,
        may_enter_fs: bool,
        lru_pages: u64,
        cpu: usize,
    ) -> Shrunk {
        let mut shrunk = Shrunk::default();
        for index in 0..self.shrinkers.len() {
            let cache = &mut self.shrinkers[index];
            let mut debt = debt_after(cache.debt, scanned, cache.seeks, cache.objects, lru_pages);
            let may_run = may_enter_fs || !cache.needs_fs;
            let mut looked_at = 0;
            while debt >= BATCH_OBJECTS && may_run {
                debt -= BATCH_OBJECTS;
                looked_at += BATCH_OBJECTS;
                let gone = cache.objects.min(BATCH_OBJECTS);
                cache.objects -= gone;
                shrunk.objects += gone;
            }
            cache.debt = debt;
            self.vmstat.slabs_scanned += looked_at;
            self.work.objects += looked_at as u32;
            shrunk.pages += self.free_slab_pages(index, cpu);
        }
        shrunk
    }

    fn free_slab_pages(&mut self, index: usize, cpu: usize) -> u64 {
        let mut freed = 0;
        loop {
            let cache = &mut self.shrinkers[index];
            let needed = cache.objects.div_ceil(cache.objects_per_page);
            if cache.pages.len() as u64 <= needed {
                return freed;
            }
            let Some(page) = cache.pages.pop() else { return freed };
            self.free_pages(page, 0, cpu);
            freed += 1;
        }
    }
}
