//! Readahead: which pages to read before anybody asks.
//!
//! *Models:* the on-demand algorithm: initial windows, the next window from the mark, context
//! readahead, reads that are not sequential.
//! *Does not model:* readahead around page faults, thrashing, `MADV_*`.
//! *Follows:* model/block-layer.md, sections 0.2 and 1.5; Linux 2.6.32 `mm/readahead.c`,
//! `ondemand_readahead`.

use super::page_cache::PageCache;

/// What to read now.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Window {
    /// First page.
    pub start: u32,
    /// Pages.
    pub size: u32,
    /// The mark goes so many pages before the window's end; 0: no mark.
    pub async_size: u32,
}

/// The state of one open file (`struct file_ra_state`), in pages.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Readahead {
    start: u32,
    size: u32,
    async_size: u32,
    /// The page the previous read ended in; `None` before the first.
    previous: Option<u32>,
}

/// One question to the algorithm.
#[derive(Clone, Copy, Debug)]
pub struct Miss {
    /// The page that is absent, or that carries the mark.
    pub page: u32,
    /// Pages the reader still wants, this one included.
    pub wanted: u32,
    /// The page is there and carries the mark.
    pub marked: bool,
}

impl Readahead {
    /// A read has ended in `page`.
    pub fn read_ended_in(&mut self, page: u32) {
        self.previous = Some(page);
    }

    /// What to read, given that a reader missed a page or came to the mark. `max` is `read_ahead_kb`
    /// in pages, `context` whether a miss behind cached pages continues them.
    pub fn ask(&mut self, miss: Miss, max: u32, context: bool, cache: &PageCache) -> Option<Window> {
        let Miss { page, wanted, marked } = miss;
        let wanted = wanted.max(1);
        if max == 0 {
            return (!marked).then_some(Window { start: page, size: wanted, async_size: 0 });
        }
        if page == 0 {
            self.initial(page, wanted, max);
        } else if self.size != 0
            && (page == self.start + self.size - self.async_size || page == self.start + self.size)
        {
            self.start += self.size;
            self.size = next_size(self.size, max);
            self.async_size = self.size;
        } else if marked {
            let hole = cache.next_hole(page + 1, max)?;
            self.start = hole;
            self.size = next_size(hole - page + wanted, max);
            self.async_size = self.size;
        } else if wanted > max || self.is_sequential(page) {
            self.initial(page, wanted, max);
        } else if let Some(stream) = self.stream_behind(page, context, max, cache) {
            self.start = page;
            self.size = initial_size(stream + wanted, max);
            self.async_size = self.size;
        } else {
            return Some(Window { start: page, size: wanted, async_size: 0 });
        }
        // The reader stands on the mark that this window would carry: read the next window with it.
        if page == self.start && self.size == self.async_size {
            self.async_size = next_size(self.size, max);
            self.size += self.async_size;
        }
        Some(Window { start: self.start, size: self.size, async_size: self.async_size })
    }

    /// The page follows the previous read, or is the one it ended in.
    fn is_sequential(&self, page: u32) -> bool {
        match self.previous {
            Some(previous) => page.wrapping_sub(previous) <= 1,
            // Before the first read the kernel's previous position is -1, in front of page 0.
            None => false,
        }
    }

    fn initial(&mut self, page: u32, wanted: u32, max: u32) {
        self.start = page;
        self.size = initial_size(wanted, max);
        self.async_size = if self.size > wanted { self.size - wanted } else { self.size };
    }

    fn stream_behind(&self, page: u32, context: bool, max: u32, cache: &PageCache) -> Option<u32> {
        if !context {
            return None;
        }
        let history = cache.history(page, max);
        match history {
            0 => None,
            // The file has been read from its beginning: most likely a long stream.
            _ if history >= page => Some(history * 2),
            _ => Some(history),
        }
    }
}

/// Size of the first window of a stream, for a request of `wanted` pages.
fn initial_size(wanted: u32, max: u32) -> u32 {
    let rounded = wanted.checked_next_power_of_two().unwrap_or(max);
    if rounded <= max / 32 {
        rounded * 4
    } else if rounded <= max / 4 {
        rounded * 2
    } else {
        max
    }
}

/// Size of the window after one of `size` pages.
fn next_size(size: u32, max: u32) -> u32 {
    let grown = if size < max / 16 { size.saturating_mul(4) } else { size.saturating_mul(2) };
    grown.min(max)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::block::BioTag;
    use crate::fs::PageFlags;

    /// Reads `pages` pages from `from` in calls of `call` pages, every read complete at once; returns
    /// the windows.
    fn windows(from: u32, pages: u32, call: u32, context: bool) -> Vec<Window> {
        let (mut cache, mut state, mut windows) = (PageCache::default(), Readahead::default(), Vec::new());
        let mut page = from;
        while page < from + pages {
            let end = page + call;
            while page < end {
                let flags = cache.get(page);
                let marked = flags.has(PageFlags::MARK);
                if marked {
                    cache.clear_mark(page);
                }
                if flags == PageFlags::ABSENT || marked {
                    let miss = Miss { page, wanted: end - page, marked };
                    if let Some(window) = state.ask(miss, 32, context, &cache) {
                        fill(&mut cache, window);
                        windows.push(window);
                    }
                }
                page += 1;
            }
            state.read_ended_in(end - 1);
        }
        windows
    }

    fn fill(cache: &mut PageCache, window: Window) {
        for page in window.start..window.start + window.size {
            if cache.get(page) == PageFlags::ABSENT {
                cache.add_for_read(page);
                if window.async_size != 0 && page == window.start + window.size - window.async_size {
                    cache.set_mark(page);
                }
            }
        }
        cache.read_completed(window.start, window.size, BioTag(0));
    }

    /// Section 10, test 19: windows of 4, 8, 16, 32, 32 pages from offset 0 with 4 KiB reads.
    #[test]
    fn windows_grow_from_the_beginning() {
        let sizes: Vec<u32> = windows(0, 100, 1, true).iter().map(|window| window.size).collect();
        assert_eq!(sizes[..5], [4, 8, 16, 32, 32]);
    }

    /// Section 1.5: a big reader has one window of 32 pages ahead in steady state.
    #[test]
    fn big_calls_read_whole_windows() {
        let windows = windows(0, 256, 32, true);
        assert_eq!((windows[0].start, windows[0].size), (0, 64));
        for (index, window) in windows.iter().enumerate().skip(1) {
            assert_eq!((window.start, window.size), (64 + 32 * (index as u32 - 1), 32));
        }
    }

    /// Section 1.5: a random read is exact and leaves the state alone.
    #[test]
    fn random_reads_are_exact() {
        let cache = PageCache::default();
        let mut state = Readahead::default();
        state.read_ended_in(10);
        let before = state;
        let window = state.ask(Miss { page: 500, wanted: 2, marked: false }, 32, true, &cache);
        assert_eq!(window, Some(Window { start: 500, size: 2, async_size: 0 }));
        assert_eq!(state, before);
    }

    /// Section 1.5: from 2.6.31 a miss behind cached pages continues them; before, it does not.
    #[test]
    fn context_readahead_continues_a_stream() {
        let mut cache = PageCache::default();
        for page in 100..108 {
            cache.add_for_read(page);
        }
        let ask = |context| {
            let mut state = Readahead::default();
            state.read_ended_in(900);
            state.ask(Miss { page: 108, wanted: 1, marked: false }, 32, context, &cache)
        };
        assert_eq!(ask(false), Some(Window { start: 108, size: 1, async_size: 0 }));
        let window = ask(true).expect("a window");
        assert_eq!(window.start, 108);
        assert!(window.size >= 32);
    }
}
