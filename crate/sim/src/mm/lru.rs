//! The LRU lists of a zone.
//!
//! *Models:* two lists for anonymous and two for file pages, and one for pages that must stay.
//! *Does not model:* the unevictable list's own scanning.
//! *Follows:* docs/model/reclaim.md, section 4.1; Linux 2.6.31, `include/linux/mmzone.h`, `enum lru_list`.

use super::frame::Word;
use serde::{Deserialize, Serialize};

/// LRU lists of a zone.
pub const LRU_LISTS: usize = 5;

/// One of them.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
#[repr(u8)]
pub enum Lru {
    /// Anonymous, next to go.
    InactiveAnon = 0,
    /// Anonymous, in use.
    ActiveAnon = 1,
    /// File, next to go.
    InactiveFile = 2,
    /// File, in use.
    ActiveFile = 3,
    /// Not to be reclaimed.
    Unevictable = 4,
}

impl Lru {
    /// The lists that reclaim scans, in the order in which it does.
    pub const EVICTABLE: [Self; 4] =
        [Self::InactiveAnon, Self::ActiveAnon, Self::InactiveFile, Self::ActiveFile];

    /// All lists of a zone.
    pub const ALL: [Self; LRU_LISTS] =
        [Self::InactiveAnon, Self::ActiveAnon, Self::InactiveFile, Self::ActiveFile, Self::Unevictable];

    /// Index into lists.
    #[must_use]
    #[inline]
    pub const fn index(self) -> usize {
        self as usize
    }

    /// In words.
    #[must_use]
    pub const fn words(self) -> &'static str {
        match self {
            Self::InactiveAnon => "inactive anonymous pages",
            Self::ActiveAnon => "active anonymous pages",
            Self::InactiveFile => "inactive file pages",
            Self::ActiveFile => "active file pages",
            Self::Unevictable => "unevictable pages",
        }
    }

    /// Holds file pages.
    #[must_use]
    #[inline]
    pub const fn is_file(self) -> bool {
        matches!(self, Self::InactiveFile | Self::ActiveFile)
    }

    /// Holds active pages.
    #[must_use]
    #[inline]
    pub const fn is_active(self) -> bool {
        matches!(self, Self::ActiveAnon | Self::ActiveFile)
    }

    /// The inactive list of a kind.
    #[must_use]
    pub const fn inactive(file: bool) -> Self {
        if file { Self::InactiveFile } else { Self::InactiveAnon }
    }

    /// The active list of a kind.
    #[must_use]
    pub const fn active(file: bool) -> Self {
        if file { Self::ActiveFile } else { Self::ActiveAnon }
    }

    /// Where a page with these flags belongs.
    #[inline]
    pub(crate) fn of(word: Word) -> Self {
        let file = !word.has(Word::ANON);
        if word.any(Word::UNEVICTABLE) {
            Self::Unevictable
        } else if word.any(Word::ACTIVE) {
            Self::active(file)
        } else {
            Self::inactive(file)
        }
    }

    /// The list a page is on, if it is on one.
    pub(crate) fn holding(word: Word) -> Option<Self> {
        if !word.is_on_lru() {
            return None;
        }
        Some(match word.place() - Word::ON_LRU {
            0 => Self::InactiveAnon,
            1 => Self::ActiveAnon,
            2 => Self::InactiveFile,
            3 => Self::ActiveFile,
            _ => Self::Unevictable,
        })
    }

    /// The word of a page on this list.
    #[inline]
    pub(crate) fn place(self, word: Word) -> Word {
        word.at(Word::ON_LRU + self as u16)
    }
}
