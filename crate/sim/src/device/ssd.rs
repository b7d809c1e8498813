//! A SATA solid-state disk of 2009 to 2012.
//!
//! *Models:* pages spread over channels that work in parallel; reads that wait for the page program under way
//! on their channel but not for those behind it; a volatile write cache that acknowledges a write after its
//! transfer and is programmed in the background, at the pace of all channels together; a flush that waits
//! until it is empty; pauses for garbage collection once as much has been written as the spare area holds;
//! one link.
//!
//! *Does not model:* mapping of logical to physical pages (a page's channel follows from its address), trim,
//! garbage collection while idle, wear, reads served from the write cache. There is no FUA.
//!
//! *Follows:* docs/model/block-layer.md, section 7.4 (all magnitudes unverified there). Calibrate before trusting
//! absolute figures.

use std::collections::VecDeque;

use serde::{Deserialize, Serialize};

use super::flush_gate::FlushGate;
use super::options::Checks;
use super::serial::{Backlog, Completions, Serial, earlier, transfer_ns};
use super::{Command, Device, InvalidOptions, Operation, OptionProblem, SECTOR_BYTES};
use crate::engine::{EventQueue, RandomStream};

/// What a [`SataSsd`] is like.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default, rename_all = "kebab-case", deny_unknown_fields)]
pub struct SataSsdOptions {
    /// Capacity in sectors, 2048 to 2^40.
    pub capacity_sectors: u64,
    /// Commands accepted at once, 1 to 1024.
    pub depth: u32,
    /// Time before a read reaches its channels, 1 ns to 10 s.
    pub read_overhead_ns: u64,
    /// Time before a write's transfer begins, 1 ns to 10 s.
    pub write_overhead_ns: u64,
    /// Rate of the link, 1 MB/s to 100 GB/s.
    pub link_bytes_per_s: u64,
    /// Channels, 1 to 64.
    pub channels: u32,
    /// Size of a flash page in sectors, 1 to 128.
    pub page_sectors: u32,
    /// Time for which reading a page occupies its channel, 1 ns to 10 s.
    pub read_page_ns: u64,
    /// Time for which programming a page occupies its channel, 1 ns to 10 s.
    pub program_page_ns: u64,
    /// Data that the write cache holds before writes wait, 4 KiB to 1 TiB.
    pub write_cache_bytes: u64,
    /// Time of a flush after the last page is programmed, up to 10 s.
    pub flush_ns: u64,
    /// Data that can be written before garbage must be collected, up to 1 TiB.
    pub spare_bytes: u64,
    /// From then on, data written from one collection to the next, 4 KiB to 1 TiB.
    pub collect_every_bytes: u64,
    /// Shortest pause for a collection, 1 ns to 10 s.
    pub collect_min_ns: u64,
    /// Longest pause, not below the shortest.
    pub collect_max_ns: u64,
}

impl Default for SataSsdOptions {
    fn default() -> Self {
        Self {
            capacity_sectors: 312_581_808,
            depth: 31,
            read_overhead_ns: 20_000,
            write_overhead_ns: 60_000,
            link_bytes_per_s: 250_000_000,
            channels: 8,
            page_sectors: 8,
            read_page_ns: 85_000,
            program_page_ns: 300_000,
            write_cache_bytes: 8 << 20,
            flush_ns: 500_000,
            spare_bytes: 8 << 30,
            collect_every_bytes: 32 << 20,
            collect_min_ns: 5_000_000,
            collect_max_ns: 100_000_000,
        }
    }
}

impl SataSsdOptions {
    /// Every problem, by name; empty when the options describe a device.
    #[must_use]
    pub fn validate(&self) -> Vec<OptionProblem> {
        let mut checks = Checks::default();
        checks.capacity("capacity-sectors", self.capacity_sectors);
        checks.range("depth", self.depth.into(), 1..=1024);
        checks.duration("read-overhead-ns", self.read_overhead_ns, 1);
        checks.duration("write-overhead-ns", self.write_overhead_ns, 1);
        checks.bandwidth("link-bytes-per-s", self.link_bytes_per_s);
        checks.range("channels", self.channels.into(), 1..=64);
        checks.range("page-sectors", self.page_sectors.into(), 1..=128);
        checks.duration("read-page-ns", self.read_page_ns, 1);
        checks.duration("program-page-ns", self.program_page_ns, 1);
        checks.cache("write-cache-bytes", self.write_cache_bytes);
        checks.duration("flush-ns", self.flush_ns, 0);
        checks.range("spare-bytes", self.spare_bytes, 0..=1 << 40);
        checks.cache("collect-every-bytes", self.collect_every_bytes);
        checks.duration("collect-min-ns", self.collect_min_ns, 1);
        checks.duration("collect-max-ns", self.collect_max_ns, self.collect_min_ns);
        checks.into_problems()
    }
}

/// The device.
#[derive(Clone, Debug)]
pub struct SataSsd {
    options: SataSsdOptions,
    collecting: RandomStream,
    gate: FlushGate,
    channels: Vec<Serial>,
    /// Pages in the write cache, as the time that all channels together need to program them.
    programming: Backlog,
    /// Garbage is being collected until this moment: the channels do nothing else.
    collected_ns: u64,
    /// What can still be written before the first collection.
    spare_bytes: u64,
    /// Written since the last collection, once the spare area is used.
    uncollected_bytes: u64,
    /// Commands that will want the link.
    ready: EventQueue<Command>,
    link: Serial,
    completions: Completions,
    /// Commands that have ended and that nobody has asked for yet.
    finished: VecDeque<(u64, u32)>,
}

impl SataSsd {
    /// A disk that is idle and has all of its spare area. `seed` decides how long collections take.
    ///
    /// # Errors
    /// When [`SataSsdOptions::validate`] finds a problem.
    pub fn new(options: &SataSsdOptions, seed: u64) -> Result<Self, InvalidOptions> {
        InvalidOptions::none_of(options.validate())?;
        Ok(Self {
            collecting: RandomStream::new(seed, "device sata-ssd collecting"),
            gate: FlushGate::default(),
            channels: (0..options.channels).map(|_| Serial::default()).collect(),
            programming: Backlog::default(),
            collected_ns: 0,
            spare_bytes: options.spare_bytes,
            uncollected_bytes: 0,
            ready: EventQueue::new(),
            link: Serial::default(),
            completions: Completions::default(),
            finished: VecDeque::new(),
            options: options.clone(),
        })
    }

    /// Pages that hold some of a command's data: the first, and how many.
    fn pages(&self, command: &Command) -> (u64, u64) {
        let page_sectors = u64::from(self.options.page_sectors);
        let first = command.sector / page_sectors;
        (first, command.end().div_ceil(page_sectors).max(first + 1) - first)
    }

    /// Time for all channels together to do `pages` times what takes one of them `page_ns`.
    fn shared_ns(&self, pages: u64, page_ns: u64) -> u64 {
        pages.saturating_mul(page_ns).div_ceil(self.channels.len() as u64)
    }

    /// When a command that has come in is ready for the link.
    fn begin(&mut self, now_ns: u64, command: Command) {
        match command.operation {
            Operation::Read => {
                let ready_ns = self.read_pages(now_ns + self.options.read_overhead_ns, &command);
                self.ready.push(ready_ns, command);
            }
            Operation::Write => self.ready.push(now_ns + self.options.write_overhead_ns, command),
            // Nothing else is inside, and all data that were acknowledged are in the backlog.
            Operation::Flush => {
                let programmed_ns = self.programming.empty_ns().max(now_ns + self.options.write_overhead_ns);
                self.completions.push(programmed_ns + self.options.flush_ns, command.tag);
            }
        }
    }

    /// Reads a command's pages on their channels. The transfer may begin with the first page, but must not
    /// run out of data before the last; the result is the earliest beginning that allows both.
    fn read_pages(&mut self, at_ns: u64, command: &Command) -> u64 {
        let (first_page, pages) = self.pages(command);
        let channels = self.channels.len() as u64;
        let page_ns = self.options.read_page_ns;
        let (mut first_ns, mut last_ns) = (u64::MAX, at_ns);
        for offset in 0..pages.min(channels) {
            let channel = (first_page + offset) % channels;
            let free_ns = self.channel_free_ns(at_ns, channel);
            let duration_ns = (pages - offset).div_ceil(channels) * page_ns;
            let index = usize::try_from(channel).unwrap_or(0);
            let end_ns = self.channels[index].occupy(free_ns, duration_ns);
            first_ns = first_ns.min(end_ns - duration_ns + page_ns);
            last_ns = last_ns.max(end_ns);
        }
        if self.programming.empty_ns() > at_ns {
            let lost_ns = self.shared_ns(pages, page_ns);
            self.programming.add(at_ns, lost_ns);
        }
        let rate = self.options.link_bytes_per_s;
        let all_ns = transfer_ns(command.bytes(), rate);
        let page_bytes = u64::from(self.options.page_sectors) * SECTOR_BYTES;
        let last_page_ns = transfer_ns(page_bytes.min(command.bytes()), rate);
        first_ns.max((last_ns + last_page_ns).saturating_sub(all_ns))
    }

    /// When a channel can begin to read: garbage is collected, and the page under way is programmed. While
    /// there is something to program each channel does so without pause, and they take turns to begin.
    fn channel_free_ns(&self, at_ns: u64, channel: u64) -> u64 {
        let at_ns = at_ns.max(self.collected_ns);
        if self.programming.empty_ns() <= at_ns {
            return at_ns;
        }
        let program_ns = self.options.program_page_ns;
        let offset_ns = channel * program_ns / self.channels.len() as u64;
        at_ns + (program_ns - (at_ns + offset_ns) % program_ns) % program_ns
    }

    /// Gives the link to a command. A write is acknowledged when its data have arrived, or when the cache
    /// has room for them.
    fn transfer(&mut self, ready_ns: u64, command: &Command) {
        let duration_ns = transfer_ns(command.bytes(), self.options.link_bytes_per_s);
        let mut end_ns = self.link.occupy(ready_ns, duration_ns);
        if command.operation == Operation::Write {
            let (_, pages) = self.pages(command);
            self.programming.add(end_ns, self.shared_ns(pages, self.options.program_page_ns));
            self.use_spare_area(end_ns, command.bytes());
            let page_bytes = u64::from(self.options.page_sectors) * SECTOR_BYTES;
            let cache_pages = self.options.write_cache_bytes.div_ceil(page_bytes);
            let cache_ns = self.shared_ns(cache_pages, self.options.program_page_ns);
            end_ns = end_ns.max(self.programming.below_ns(cache_ns));
        }
        self.completions.push(end_ns, command.tag);
    }

    /// Each write takes pages from the spare area. Once it is used, room must be made by collecting garbage
    /// again and again, and nothing else happens on the channels meanwhile.
    fn use_spare_area(&mut self, now_ns: u64, bytes: u64) {
        let spared = bytes.min(self.spare_bytes);
        self.spare_bytes -= spared;
        self.uncollected_bytes += bytes - spared;
        while self.uncollected_bytes >= self.options.collect_every_bytes {
            self.uncollected_bytes -= self.options.collect_every_bytes;
            let spread_ns = self.options.collect_max_ns - self.options.collect_min_ns;
            let pause_ns = self.options.collect_min_ns + self.collecting.below(spread_ns + 1);
            self.collected_ns = self.collected_ns.max(now_ns).saturating_add(pause_ns);
            self.programming.add(now_ns, pause_ns);
        }
    }

    fn next_inner_ns(&self) -> Option<u64> {
        earlier(self.ready.next_time_ns(), self.completions.next_ns())
    }

    /// Lets everything happen that happens up to `now_ns`, in order.
    fn catch_up(&mut self, now_ns: u64) {
        while let Some(at_ns) = self.next_inner_ns().filter(|&at_ns| at_ns <= now_ns) {
            while let Some((end_ns, tag)) = self.completions.pop(at_ns) {
                self.finished.push_back((end_ns, tag));
                self.gate.leave();
                while let Some(command) = self.gate.release() {
                    self.begin(end_ns, command);
                }
            }
            if self.ready.next_time_ns() == Some(at_ns)
                && let Some((ready_ns, command)) = self.ready.pop()
            {
                self.transfer(ready_ns, &command);
            }
        }
    }
}

impl Device for SataSsd {
    fn depth(&self) -> u32 {
        self.options.depth
    }

    fn is_non_rotational(&self) -> bool {
        true
    }

    fn has_volatile_cache(&self) -> bool {
        true
    }

    fn supports_fua(&self) -> bool {
        false
    }

    fn capacity_sectors(&self) -> u64 {
        self.options.capacity_sectors
    }

    fn start(&mut self, now_ns: u64, command: Command) {
        self.catch_up(now_ns);
        if self.gate.enter(command) {
            self.begin(now_ns, command);
        }
    }

    fn next_event_ns(&self) -> Option<u64> {
        earlier(self.finished.front().map(|&(end_ns, _)| end_ns), self.next_inner_ns())
    }

    fn advance(&mut self, now_ns: u64, done: &mut Vec<u32>) {
        self.catch_up(now_ns);
        done.extend(self.finished.drain(..).map(|(_, tag)| tag));
    }
}
