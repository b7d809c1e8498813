//! A device with stated service times and no mechanics.
//!
//! *Models:* a number of servers, each with a fixed time per command and kind; data at a fixed rate,
//! either with each server for itself or over one link that all share; commands taken in order of
//! arrival; optionally a little noise per command.
//!
//! *Does not model:* seeks, caches, any dependence on the address. It reports no volatile cache; a flush,
//! should one come, costs a write without data. Where transfers share a link, the link is given in order of
//! arrival, so a command can wait for the transfer of an earlier one whose latency ends a little later.
//!
//! *Follows:* docs/model/block-layer.md, section 0.4: the private block devices A, B and C on which real
//! kernels were measured.

use std::cmp::Reverse;
use std::collections::BinaryHeap;

use serde::{Deserialize, Serialize};

use super::options::Checks;
use super::serial::{Completions, Serial, transfer_ns};
use super::{Command, Device, InvalidOptions, Operation, OptionProblem};
use crate::engine::RandomStream;

/// What a [`ServerDevice`] is like. The default is device A of section 0.4.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default, rename_all = "kebab-case", deny_unknown_fields)]
pub struct ServerOptions {
    /// Capacity in sectors, 2048 to 2^40.
    pub capacity_sectors: u64,
    /// Commands accepted at once, 1 to 1024.
    pub depth: u32,
    /// Commands served at once, 1 to 1024; the others wait in order of arrival.
    pub servers: u32,
    /// Time of a read without its data, 1 ns to 10 s.
    pub read_latency_ns: u64,
    /// Time of a write without its data, 1 ns to 10 s.
    pub write_latency_ns: u64,
    /// Rate of a transfer, 1 MB/s to 100 GB/s.
    pub bandwidth_bytes_per_s: u64,
    /// Transfers take turns on one link; otherwise each server has its own.
    pub transfers_serialised: bool,
    /// Each command takes between 0 and this much longer, evenly; up to 10 s.
    pub jitter_ns: u64,
    /// Seeks cost nothing, and it says so (the kernel's rotational flag is 0).
    pub non_rotational: bool,
}

crate::slots!(ServerOptions {
    capacity_sectors,
    depth,
    servers,
    read_latency_ns,
    write_latency_ns,
    bandwidth_bytes_per_s,
    transfers_serialised,
    jitter_ns,
    non_rotational,
});

impl Default for ServerOptions {
    fn default() -> Self {
        Self {
            capacity_sectors: 1 << 27,
            depth: 32,
            servers: 1,
            read_latency_ns: 430_000,
            write_latency_ns: 420_000,
            bandwidth_bytes_per_s: 400_000_000,
            transfers_serialised: true,
            jitter_ns: 0,
            non_rotational: false,
        }
    }
}

impl ServerOptions {
    /// Every problem, by name; empty when the options describe a device.
    #[must_use]
    pub fn validate(&self) -> Vec<OptionProblem> {
        let mut checks = Checks::default();
        checks.capacity("capacity-sectors", self.capacity_sectors);
        checks.range("depth", self.depth.into(), 1..=1024);
        checks.range("servers", self.servers.into(), 1..=1024);
        checks.duration("read-latency-ns", self.read_latency_ns, 1);
        checks.duration("write-latency-ns", self.write_latency_ns, 1);
        checks.bandwidth("bandwidth-bytes-per-s", self.bandwidth_bytes_per_s);
        checks.duration("jitter-ns", self.jitter_ns, 0);
        checks.into_problems()
    }
}

/// The device. `start` and `advance` cost O(log n) for n commands or servers.
#[derive(Clone, Debug)]
pub struct ServerDevice {
    options: ServerOptions,
    jitter: RandomStream,
    /// When each server is free, earliest first.
    servers: BinaryHeap<Reverse<u64>>,
    link: Serial,
    completions: Completions,
}

impl ServerDevice {
    /// A device that is idle. `seed` matters only with jitter.
    ///
    /// When [`ServerOptions::validate`] finds a problem.
    pub fn new(options: &ServerOptions, seed: u64) -> Result<Self, InvalidOptions> {
        InvalidOptions::none_of(options.validate())?;
        Ok(Self {
            jitter: RandomStream::new(seed, "device server jitter"),
            servers: (0..options.servers).map(|_| Reverse(0)).collect(),
            link: Serial::default(),
            completions: Completions::default(),
            options: options.clone(),
        })
    }

    /// The fixed part of a command's time, with its noise.
    fn latency_ns(&mut self, operation: Operation) -> u64 {
        let latency_ns = match operation {
            Operation::Read => self.options.read_latency_ns,
            Operation::Write | Operation::Flush => self.options.write_latency_ns,
        };
        if self.options.jitter_ns == 0 {
            latency_ns
        } else {
            latency_ns + self.jitter.below(self.options.jitter_ns + 1)
        }
    }

    /// Bytes that a command moves.
    fn moved_bytes(command: &Command) -> u64 {
        if command.operation == Operation::Flush { 0 } else { command.bytes() }
    }

    /// The command's end. Servers and link serve in order of arrival, so it is known on arrival.
    fn serve(&mut self, now_ns: u64, command: &Command) -> u64 {
        let latency_ns = self.latency_ns(command.operation);
        let transfer_ns = transfer_ns(Self::moved_bytes(command), self.options.bandwidth_bytes_per_s);
        let free_ns = self.servers.peek().map_or(0, |&Reverse(free_ns)| free_ns);
        let ready_ns = free_ns.max(now_ns) + latency_ns;
        let end_ns = if self.options.transfers_serialised {
            self.link.occupy(ready_ns, transfer_ns)
        } else {
            ready_ns + transfer_ns
        };
        if let Some(mut server) = self.servers.peek_mut() {
            *server = Reverse(end_ns);
        }
        end_ns
    }
}

impl Device for ServerDevice {
    fn depth(&self) -> u32 {
        self.options.depth
    }

    fn is_non_rotational(&self) -> bool {
        self.options.non_rotational
    }

    fn has_volatile_cache(&self) -> bool {
        false
    }

    fn supports_fua(&self) -> bool {
        false
    }

    fn capacity_sectors(&self) -> u64 {
        self.options.capacity_sectors
    }

    fn start(&mut self, now_ns: u64, command: Command) {
        let end_ns = self.serve(now_ns, &command);
        self.completions.push(end_ns, command.tag);
    }

    fn next_event_ns(&self) -> Option<u64> {
        self.completions.next_ns()
    }

    fn advance(&mut self, now_ns: u64, done: &mut Vec<u32>) {
        self.completions.drain(now_ns, done);
    }
}

#[cfg(test)]
mod tests {
    use super::super::tests::{US, next_end, read, write};
    use super::super::{DeviceOptions, preset};
    use super::*;

    fn device(name: &str) -> ServerDevice {
        match preset(name).map(|preset| preset.options()) {
            Some(DeviceOptions::Server(options)) => ServerDevice::new(&options, 1).expect("valid"),
            other => panic!("{name} is {other:?}"),
        }
    }

    /// When each of the commands ends that are started at the given times (in 0.1 us), in order of tags.
    fn ends(device: &mut ServerDevice, commands: &[(u64, Command)]) -> Vec<u64> {
        let mut ends = vec![0; commands.len()];
        for &(start_tenths, command) in commands {
            device.start(start_tenths * 100, command);
        }
        while let Some((end_ns, done)) = next_end(device) {
            for tag in done {
                ends[tag as usize] = end_ns;
            }
        }
        ends
    }

    /// Section 0.4, device A as a real kernel used it: fs_mark beside a reader under deadline, the commands
    /// of one file and a half with the time from start to end that the device stated. All in 0.1 us;
    /// tolerance 0.2 us, since starts and times are both rounded to tenths.
    #[test]
    fn device_a_serves_as_recorded() {
        let (r, w) = (Operation::Read, Operation::Write);
        let recorded = [
            (117_115, w, 8, 4_302),
            (121_512, r, 256, 7_577),
            (121_564, r, 256, 15_102),
            (124_536, w, 128, 17_969),
            (129_892, r, 256, 20_189),
            (137_467, r, 256, 20_190),
            (143_482, w, 56, 19_092),
            (150_885, r, 256, 19_266),
            (158_461, r, 256, 19_267),
            (177_833, w, 8, 4_302),
            (182_230, r, 256, 7_577),
            (182_282, r, 256, 15_102),
            (185_190, w, 128, 18_033),
        ];
        let commands: Vec<(u64, Command)> = (0..)
            .zip(recorded)
            .map(|(tag, (start, operation, sectors, _))| {
                (start, Command { tag, operation, sector: 0, sectors, force_unit_access: false })
            })
            .collect();
        let ends = ends(&mut device("device-a"), &commands);
        for ((start, _, sectors, stated), end_ns) in recorded.into_iter().zip(ends) {
            let took_ns = end_ns - start * 100;
            assert!(took_ns.abs_diff(stated * 100) <= 200, "{sectors} sectors at {start}: {took_ns} ns");
        }
    }

    /// Section 0.4, the service times of device A alone: a read of 128 KiB 757.7 us; writes of 64, 28 and 4
    /// KiB 583.8, 491.7 and 430.2 us. Exact before rounding.
    #[test]
    fn device_a_alone() {
        let sizes = [(read(0, 0, 256), 757_680), (write(0, 0, 128), 583_840), (write(0, 0, 56), 491_680)];
        for (command, took_ns) in sizes {
            assert_eq!(ends(&mut device("device-a"), &[(0, command)]), [took_ns]);
        }
    }

    /// Device B: two reads overlap but for their transfers of 327.68 us. Device C: eight at once, each 200
    /// us and 655.36 us for its data; the ninth waits for the first.
    #[test]
    fn devices_b_and_c_overlap() {
        let reads: Vec<(u64, Command)> = (0..9).map(|tag| (0, read(tag, 0, 256))).collect();
        assert_eq!(ends(&mut device("device-b"), &reads[..2]), [757_680, 1_085_360]);
        let ends = ends(&mut device("device-c"), &reads);
        assert!(ends[..8].iter().all(|&end_ns| end_ns == 855_360), "{ends:?}");
        assert_eq!(ends[8], 2 * 855_360);
    }

    /// Jitter adds 0 to 30 us a command, all of that range, and depends on the seed.
    #[test]
    fn jitter_lies_within_its_range() {
        let options = ServerOptions { jitter_ns: 30 * US, ..ServerOptions::default() };
        let extra = |seed: u64| -> Vec<u64> {
            let mut device = ServerDevice::new(&options, seed).expect("valid");
            let mut ends: Vec<u64> =
                ends(&mut device, &(0..500).map(|tag| (0, write(tag, 0, 8))).collect::<Vec<_>>());
            ends.insert(0, 0);
            ends.windows(2).map(|pair| pair[1] - pair[0] - 430_240).collect()
        };
        let drawn = extra(1);
        assert!(drawn.iter().all(|&ns| ns <= 30 * US) && drawn.iter().any(|&ns| ns > 29 * US));
        assert!(drawn.iter().any(|&ns| ns < US) && drawn != extra(2));
    }
}
