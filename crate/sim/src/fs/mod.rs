//! Files, the page cache, readahead and the journal: what they know and decide. What a task does with
//! them, step by step, is in `simulation/operation`.

mod file;
pub mod journal;
mod layout;
mod metadata;
mod page_cache;
mod readahead;

pub use file::{Extent, File, FileId, Files, PageTotals};
pub use journal::{Access, Journal, Tid, Transaction};
pub use layout::Layout;
pub use metadata::{DirectoryId, Metadata, MetadataBlock};
pub use page_cache::{PAGE_BYTES, PageCache, PageFlags};
pub use readahead::{Miss, Readahead, Window};
