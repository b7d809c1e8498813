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
    /// # Errors
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
