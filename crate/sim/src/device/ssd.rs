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

crate::slots!(SataSsdOptions {
    capacity_sectors,
    depth,
    read_overhead_ns,
    write_overhead_ns,
    link_bytes_per_s,
    channels,
    page_sectors,
    read_page_ns,
    program_page_ns,
    write_cache_bytes,
    flush_ns,
    spare_bytes,
    collect_every_bytes,
    collect_min_ns,
    collect_max_ns,
});

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

#[cfg(test)]
mod tests {
    use super::super::tests::{MS, S, US, alone, assert_near, flush, keep_busy, mb_per_s, read, write};
    use super::*;

    fn ssd() -> SataSsd {
        SataSsd::new(&SataSsdOptions::default(), 1).expect("valid")
    }

    /// Section 7.4: 4 KiB read 90 to 150 us, written to the cache 60 to 100 us; no seeks, a volatile cache,
    /// 31 tags.
    #[test]
    fn single_commands_take_a_tenth_of_a_millisecond() {
        let mut device = ssd();
        let read_ns = alone(&mut device, 0, read(0, 5_000_000, 8));
        assert!((90 * US..=150 * US).contains(&read_ns), "{read_ns}");
        let write_ns = alone(&mut device, MS, write(0, 9_000_000, 8)) - MS;
        assert!((60 * US..=100 * US).contains(&write_ns), "{write_ns}");
        assert!(device.is_non_rotational() && device.has_volatile_cache() && device.depth() == 31);
    }

    /// Section 7.4: 35 000 to 80 000 random reads a second with 31 outstanding; one at a time 1 / 0.12 ms.
    #[test]
    fn random_reads_use_every_channel() {
        let mut places = RandomStream::new(3, "test places");
        let mut rate = |depth| {
            20_000 * S
                / keep_busy(&mut ssd(), 0, depth, 20_000, |tag| read(tag, 8 * places.below(30_000_000), 8))
        };
        assert_near("reads a second, one at a time", rate(1), 8_240, 1);
        let many = rate(31);
        assert!((35_000..=80_000).contains(&many), "{many}");
    }

    /// Sequential reads fill the link's 250 MB/s (2 %: the first access). Long writes, once the cache is
    /// full, are programmed at 8 channels * 4 KiB / 300 us = 109 MB/s (5 %: the cache, 8 MiB of 200).
    #[test]
    fn long_transfers_are_limited_by_link_and_channels() {
        let reading_ns = keep_busy(&mut ssd(), 0, 4, 2_000, |tag| read(tag, 256 * u64::from(tag), 256));
        assert_near("MB/s reading", mb_per_s(2_000 * 131_072, reading_ns), 250, 2);
        let writing_ns = keep_busy(&mut ssd(), 0, 4, 1_600, |tag| write(tag, 256 * u64::from(tag), 256));
        assert_near("MB/s writing", mb_per_s(1_600 * 131_072, writing_ns), 109, 5);
    }

    /// A flush takes 0.5 ms with nothing to do, and 256 pages / 8 channels * 300 us = 9.6 ms more for 1 MiB
    /// that was just written, less what was programmed during its transfer (at most 4.2 ms).
    #[test]
    fn a_flush_programs_the_cache() {
        let mut device = ssd();
        let empty_ns = alone(&mut device, MS, flush(0)) - MS;
        assert_eq!(empty_ns, 560 * US);
        let written_ns =
            2 * MS + keep_busy(&mut device, 2 * MS, 8, 8, |tag| write(tag, 256 * u64::from(tag), 256));
        let flush_ns = alone(&mut device, written_ns, flush(0)) - written_ns;
        assert!((5_900 * US..=10_100 * US).contains(&flush_ns), "{flush_ns}");
    }

    /// A read waits for the page being programmed on its channel, 300 us at most, not for the whole cache.
    #[test]
    fn reads_overtake_programming() {
        let mut device = ssd();
        let mut now_ns = keep_busy(&mut device, 0, 8, 32, |tag| write(tag, 256 * u64::from(tag), 256));
        let mut slowest_ns = 0;
        for tag in 0..20 {
            let end_ns = alone(&mut device, now_ns, read(tag, 9_000_000 + 8 * u64::from(tag), 8));
            slowest_ns = slowest_ns.max(end_ns - now_ns);
            now_ns = end_ns;
        }
        assert!((150 * US..=121_384 + 300 * US).contains(&slowest_ns), "{slowest_ns}");
    }

    /// Until as much is written as the spare area holds nothing pauses; from then on 32 MiB take 308 ms to
    /// program and 52.5 ms on average to collect for, and some read waits for 5 ms and more. 10 %: 30
    /// draws.
    #[test]
    fn a_worn_disk_pauses() {
        let options = SataSsdOptions { spare_bytes: 64 << 20, ..SataSsdOptions::default() };
        let mut device = SataSsd::new(&options, 1).expect("valid");
        let next = |tag| write(tag, 256 * u64::from(tag), 256);
        let fresh_ns = keep_busy(&mut device, 0, 4, 512, next);
        assert_near("MB/s fresh", mb_per_s(64 << 20, fresh_ns), 124, 3);
        let worn_ns = keep_busy(&mut device, fresh_ns, 4, 30 * 256, next);
        assert_near("ns for 32 MiB", worn_ns / 30, 360 * MS, 10);
        let (mut now_ns, mut slowest_ns) = (fresh_ns + worn_ns + S, 0);
        for tag in 0..10_000 {
            now_ns = alone(&mut device, now_ns, write(tag, 8 * u64::from(tag), 8));
            let end_ns = alone(&mut device, now_ns, read(tag, 8 * u64::from(tag), 8));
            slowest_ns = slowest_ns.max(end_ns - now_ns);
            now_ns = end_ns;
        }
        assert!(slowest_ns >= 5 * MS, "{slowest_ns}");
    }
}
