//! Page frames: flat arrays, 14 bytes a frame.
//!
//! *Models:* where every frame is (a list, a per-CPU cache, the kernel's hands), the page flags reclaim looks at, and whose page
//! it holds. Lists of free blocks are circular and doubly linked through the frames, with a sentinel each, so that a block leaves its
//! list without anybody knowing which list it is on. A user page is on no such list: the same eight bytes then hold where it is on its
//! LRU list and which page of its owner it is.
//! *Does not model:* reference counts: a page is mapped or not, and in use by the kernel or not.
//! *Follows:* docs/model/reclaim.md, sections 0.5 (speed), 1.9 and 4.1.

/// Number of a page frame; physical memory starts at 0.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct FrameId(pub u32);

/// Number of a list's sentinel among the links.
pub(crate) type ListId = u32;

/// Whose page a frame holds.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
pub struct Owner {
    /// The file or the anonymous region, as registered with [`super::Memory::add_owner`].
    pub mapping: u32,
    /// Page within it.
    pub index: u32,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Link {
    pub(crate) next: u32,
    pub(crate) prev: u32,
}

/// Place and flags of a frame.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Word(pub(crate) u16);

impl Word {
    /// Free inside a block, or on a per-CPU list, or not there at all.
    pub(crate) const NOTHING: Self = Self(0);
    /// Taken by the kernel.
    pub(crate) const KERNEL: u16 = 1;
    /// First of a free block; the order is in bits 4 to 7.
    pub(crate) const FREE_HEAD: u16 = 2;
    /// A user page in a CPU's vector, on its way to its list.
    pub(crate) const IN_VECTOR: u16 = 3;
    /// Taken off its list by a reclaimer.
    pub(crate) const ISOLATED: u16 = 4;
    /// On an LRU list: 8 and the list's index.
    pub(crate) const ON_LRU: u16 = 8;

    const PLACE: u16 = 0xf;

    /// Locked by somebody else: reclaim keeps away.
    pub(crate) const LOCKED: u16 = 1 << 4;
    /// In the swap cache: the frame has a slot.
    pub(crate) const SWAP_CACHE: u16 = 1 << 5;
    /// Private buffers that cannot be released now.
    pub(crate) const PRIVATE: u16 = 1 << 6;
    /// Must not be reclaimed (mlocked).
    pub(crate) const UNEVICTABLE: u16 = 1 << 7;
    /// The page table entry says accessed.
    pub(crate) const YOUNG: u16 = 1 << 8;
    /// PG_referenced.
    pub(crate) const REFERENCED: u16 = 1 << 9;
    /// Has to be written before it can go.
    pub(crate) const DIRTY: u16 = 1 << 10;
    /// Is being written.
    pub(crate) const WRITEBACK: u16 = 1 << 11;
    /// Some page table maps it.
    pub(crate) const MAPPED: u16 = 1 << 12;
    /// PG_reclaim: goes to the inactive tail when its write ends.
    pub(crate) const RECLAIM: u16 = 1 << 13;
    /// PG_active, while the page is not on a list.
    pub(crate) const ACTIVE: u16 = 1 << 14;
    /// Anonymous: its store is swap.
    pub(crate) const ANON: u16 = 1 << 15;

    #[inline]
    pub(crate) const fn place(self) -> u16 {
        self.0 & Self::PLACE
    }

    #[inline]
    pub(crate) const fn at(self, place: u16) -> Self {
        Self(self.0 & !Self::PLACE | place)
    }

    #[inline]
    pub(crate) const fn has(self, flags: u16) -> bool {
        self.0 & flags == flags
    }

    #[inline]
    pub(crate) const fn any(self, flags: u16) -> bool {
        self.0 & flags != 0
    }

    #[inline]
    pub(crate) const fn with(self, flags: u16) -> Self {
        Self(self.0 | flags)
    }

    #[inline]
    pub(crate) const fn without(self, flags: u16) -> Self {
        Self(self.0 & !flags)
    }

    pub(crate) const fn free_head(order: u8) -> Self {
        Self(Self::FREE_HEAD | (order as u16) << 4)
    }

    pub(crate) const fn is_on_lru(self) -> bool {
        self.0 & Self::ON_LRU != 0
    }

    /// Whether the frame holds a user page.
    pub(crate) const fn is_user(self) -> bool {
        self.place() >= Self::IN_VECTOR
    }
}

/// All frames.
#[derive(Clone, Debug)]
pub(crate) struct Frames {
    pub(crate) links: Vec<Link>,
    pub(crate) words: Vec<Word>,
    /// Whose page a frame holds; the page's index is in its link.
    mappings: Vec<u32>,
}

impl Frames {
    /// `frames` frames with nothing in them, and `lists` empty lists.
    pub(crate) fn new(frames: u32, lists: u32) -> Self {
        let links = (0..frames + lists).map(|at| Link { next: at, prev: at }).collect();
        let count = frames as usize;
        Self { links, words: vec![Word::NOTHING; count], mappings: vec![0; count] }
    }

    /// How many frames there are, holes included.
    pub(crate) fn count(&self) -> u32 {
        self.words.len() as u32
    }

    /// Memory that this takes, in bytes.
    pub(crate) fn bytes(&self) -> usize {
        let Self { links, words, mappings } = self;
        std::mem::size_of_val(&links[..])
            + std::mem::size_of_val(&words[..])
            + std::mem::size_of_val(&mappings[..])
    }

    #[inline]
    pub(crate) fn word(&self, frame: u32) -> Word {
        self.words[frame as usize]
    }

    #[inline]
    pub(crate) fn set(&mut self, frame: u32, word: Word) {
        self.words[frame as usize] = word;
    }

    #[inline]
    pub(crate) fn owner(&self, frame: u32) -> Owner {
        Owner { mapping: self.mappings[frame as usize], index: self.links[frame as usize].prev }
    }

    #[inline]
    pub(crate) fn set_owner(&mut self, frame: u32, owner: Owner) {
        self.mappings[frame as usize] = owner.mapping;
        self.links[frame as usize].prev = owner.index;
    }

    /// Where a user page is on its LRU list.
    #[inline]
    pub(crate) fn position(&self, frame: u32) -> u32 {
        self.links[frame as usize].next
    }

    #[inline]
    pub(crate) fn set_position(&mut self, frame: u32, position: u32) {
        self.links[frame as usize].next = position;
    }

    #[inline]
    pub(crate) fn first(&self, list: ListId) -> Option<u32> {
        let first = self.links[list as usize].next;
        (first != list).then_some(first)
    }

    /// Puts a frame that is on no list behind `before`, a frame or a sentinel.
    #[inline]
    fn insert_after(&mut self, before: u32, frame: u32) {
        let next = std::mem::replace(&mut self.links[before as usize].next, frame);
        self.links[frame as usize] = Link { next, prev: before };
        self.links[next as usize].prev = frame;
    }

    #[inline]
    pub(crate) fn push_head(&mut self, list: ListId, frame: u32) {
        self.insert_after(list, frame);
    }

    #[inline]
    pub(crate) fn push_tail(&mut self, list: ListId, frame: u32) {
        self.insert_after(self.links[list as usize].prev, frame);
    }

    #[inline]
    pub(crate) fn unlink(&mut self, frame: u32) {
        let Link { next, prev } = self.links[frame as usize];
        self.links[prev as usize].next = next;
        self.links[next as usize].prev = prev;
    }
}
