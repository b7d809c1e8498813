//! A load that keeps one queue busy, for measuring what a request costs.
//!
//! Eight processes read or write their own regions in order, four pages a request: each request is
//! plugged, merged from four bios, scheduled, served and completed. Half the processes write.

use super::{Bio, BioFlags, BioTag, BlockOut, BlockQueue, IoClass, PAGE_SECTORS, Submission, Submitter};
use crate::device::{AnyDevice, DeviceOptions, ServerOptions};
use crate::engine::Clock;
use crate::kernel::{Kernel, KernelError};
use crate::observe::Recorder;
use crate::scenario::{FileSystemKind, KernelChoice};

const PROCESSES: u32 = 8;
const PAGES_A_REQUEST: u32 = 4;
const REGION_SECTORS: u64 = 1 << 22;

/// What an exercise did.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Exercise {
    /// Requests the device finished.
    pub requests: u64,
    /// Bios that became part of them.
    pub bios: u64,
    /// Simulated time, in nanoseconds: the same on every target.
    pub simulated_ns: u64,
}

/// Sends at least `requests` requests through a queue with the elevator of `choice`.
///
/// # Errors
/// The choice names no kernel.
pub fn exercise(choice: &KernelChoice, requests: u64) -> Result<Exercise, KernelError> {
    let clock = Clock::new(1000, false);
    let kernel = Kernel::new(choice, FileSystemKind::Ext4, &clock)?;
    // Fast and parallel: the queue, not the device, is what is measured.
    let device = DeviceOptions::Server(ServerOptions {
        read_latency_ns: 20_000,
        write_latency_ns: 20_000,
        servers: 4,
        ..ServerOptions::default()
    });
    let Ok(device) = AnyDevice::new(&device, 1) else {
        return Ok(Exercise { requests: 0, bios: 0, simulated_ns: 0 });
    };
    let mut load = Load {
        queue: BlockQueue::new(kernel.policy.block, kernel.limits, kernel.elevator, device, clock),
        out: BlockOut::default(),
        recorder: Recorder::default(),
        positions: [0; PROCESSES as usize],
        pages_left: [0; PROCESSES as usize],
        now_ns: 0,
    };
    (0..PROCESSES).for_each(|process| load.submit(process));
    while load.finished() < requests {
        let Some(next) = load.queue.next_event_ns() else { break };
        load.now_ns = next;
        load.queue.advance(next, &mut load.recorder, &mut load.out);
        load.follow_up();
    }
    let counters = load.queue.counters();
    Ok(Exercise { requests: load.finished(), bios: counters.bios, simulated_ns: load.now_ns })
}

struct Load {
    queue: BlockQueue,
    out: BlockOut,
    recorder: Recorder,
    positions: [u64; PROCESSES as usize],
    pages_left: [u32; PROCESSES as usize],
    now_ns: u64,
}

impl Load {
    fn finished(&self) -> u64 {
        self.queue.counters().completed.iter().sum()
    }

    /// One request's worth of pages, then the unplug of somebody who waits for them.
    fn submit(&mut self, process: u32) {
        let index = process as usize;
        let submitter =
            Submitter { task: process, io_context: process, class: IoClass::BestEffort, priority: 4 };
        let flags = if process.is_multiple_of(2) {
            BioFlags::default()
        } else {
            BioFlags::WRITE.with(BioFlags::SYNC)
        };
        self.pages_left[index] = PAGES_A_REQUEST;
        for _ in 0..PAGES_A_REQUEST {
            let sector = u64::from(process + 1) * REGION_SECTORS + self.positions[index];
            self.positions[index] = (self.positions[index] + u64::from(PAGE_SECTORS)) % REGION_SECTORS;
            let bio = Bio { sector, sectors: PAGE_SECTORS, flags, submitter, tag: BioTag(process) };
            let submission = self.queue.submit(self.now_ns, &bio, false, &mut self.recorder, &mut self.out);
            debug_assert_eq!(submission, Submission::Accepted, "the pool is larger than the load");
        }
        self.queue.unplug(self.now_ns, &mut self.recorder, &mut self.out);
    }

    /// Processes whose pages have all come send the next request; kblockd runs at once.
    fn follow_up(&mut self) {
        let mut completed = std::mem::take(&mut self.out.completed);
        for bio in completed.drain(..) {
            let left = &mut self.pages_left[bio.tag.0 as usize];
            *left -= 1;
            if *left == 0 {
                self.submit(bio.tag.0);
            }
        }
        // Keep the allocation, unless submitting has put completions there.
        if self.out.completed.is_empty() {
            self.out.completed = completed;
        }
        if std::mem::take(&mut self.out.kick_kblockd) {
            self.queue.run_work(self.now_ns, &mut self.recorder, &mut self.out);
        }
    }
}
