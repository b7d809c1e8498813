//! The machine: CPUs, timer tick, device, file system, and what the host's own work costs.

use super::MemoryOptions;
use crate::device::{DeviceOptions, FcArrayOptions};
use crate::text::{Choice, Slot, Slots};
use serde::{Deserialize, Serialize};

/// The hardware and its calibration; the same for every kernel of an experiment.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case", deny_unknown_fields, default)]
pub struct Machine {
    /// CPUs, 1 to 64.
    pub cpus: u32,
    /// Timer ticks a second: 100, 250 or 1000.
    pub hz: u32,
    /// Timers expire exactly instead of on a tick (a what-if; see [`crate::engine::Clock`]).
    pub exact_timers: bool,
    /// The one block device.
    pub device: DeviceOptions,
    /// The file system on it.
    pub file_system: FileSystemOptions,
    /// Its memory.
    pub memory: MemoryOptions,
    /// What work costs on the CPU.
    pub host: HostCosts,
}

impl Slots for Machine {
    /// The device has rules of its own (presets, models) and is left out.
    fn slots(&mut self) -> Vec<(String, Slot<'_>)> {
        let Self { cpus, hz, exact_timers, device: _, file_system, memory, host } = self;
        let fields = [
            ("cpus", Slot::Small(cpus)),
            ("hz", Slot::Small(hz)),
            ("exact-timers", Slot::Boolean(exact_timers)),
            ("file-system", Slot::Table(file_system.slots())),
            ("memory", Slot::Table(memory.slots())),
            ("host", Slot::Table(host.slots())),
        ];
        fields.into_iter().map(|(name, slot)| (name.to_owned(), slot)).collect()
    }
}

impl Default for Machine {
    fn default() -> Self {
        Self {
            cpus: 1,
            hz: 1000,
            exact_timers: false,
            device: DeviceOptions::FcArray(FcArrayOptions::default()),
            file_system: FileSystemOptions::default(),
            memory: MemoryOptions::default(),
            host: HostCosts::default(),
        }
    }
}

/// Which file system.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum FileSystemKind {
    /// ext3 with jbd, data=ordered.
    Ext3,
    /// ext4 with jbd2, data=ordered, delayed allocation.
    #[default]
    Ext4,
}

impl Choice for FileSystemKind {
    fn names(&self) -> &'static [&'static str] {
        &["ext3", "ext4"]
    }

    fn choose(&mut self, name: &str) -> bool {
        match name {
            "ext3" => *self = Self::Ext3,
            "ext4" => *self = Self::Ext4,
            _ => return false,
        }
        true
    }
}

/// The file system and its mount options.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case", deny_unknown_fields, default)]
pub struct FileSystemOptions {
    /// ext3 or ext4.
    pub kind: FileSystemKind,
    /// Mounted with barriers. ext4's default; ext3's default is off (section 4.2).
    pub barrier: bool,
    /// Size of the journal, in MiB, 4 to 400.
    pub journal_mib: u32,
    /// Reads update the access time on disk (`atime`; off means `noatime` or `relatime`).
    pub access_time: bool,
}

crate::slots!(FileSystemOptions { kind, barrier, journal_mib, access_time });

impl Default for FileSystemOptions {
    fn default() -> Self {
        Self { kind: FileSystemKind::Ext4, barrier: true, journal_mib: 128, access_time: false }
    }
}

/// What the host's own work costs, in nanoseconds of CPU time. Calibrated once per machine.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case", deny_unknown_fields, default)]
pub struct HostCosts {
    /// Entering and leaving a system call.
    pub syscall_ns: u64,
    /// Creating a file: directory entry, inode.
    pub create_ns: u64,
    /// Copying one page into the page cache, the lookup included.
    pub write_page_ns: u64,
    /// Copying one page out of the page cache, the lookup included.
    pub read_page_ns: u64,
    /// Allocating one page of read-ahead and adding it to its bio.
    pub readahead_page_ns: u64,
    /// Allocating blocks for a delayed-allocation extent.
    pub allocate_blocks_ns: u64,
    /// Submitting one bio.
    pub submit_bio_ns: u64,
    /// Dropping one page from the page cache.
    pub drop_page_ns: u64,
    /// From the wake-up of a task to its first instruction on an idle CPU.
    pub switch_ns: u64,
    /// The journal thread's work before it submits the first log block of a commit.
    pub commit_start_ns: u64,
    /// The journal thread's work per log block.
    pub commit_block_ns: u64,
    /// The journal thread's work from the last log block's completion to the commit record.
    pub commit_record_ns: u64,
    /// The journal thread's work from the commit record's completion to the wake-up of waiters.
    pub commit_end_ns: u64,
    /// The work of fsync between its data's completion and the request for a commit.
    pub fsync_ns: u64,
    /// kblockd's work before it runs the queue.
    pub kblockd_ns: u64,
    /// Using a page that is mapped already.
    pub touch_page_ns: u64,
    /// A page fault that finds free memory, the page's zeroing included.
    pub fault_ns: u64,
    /// Reclaim's look at one page.
    pub scan_page_ns: u64,
    /// Freeing the page it looked at.
    pub free_page_ns: u64,
    /// A batch of reclaim while another CPU reclaims too (shared locks), in percent of what it costs alone.
    pub contended_percent: u64,
    /// The completion interrupt: from the device's completion to the wake-up it causes.
    pub interrupt_ns: u64,
    /// Spread of every cost from run to run, in thousandths either way, drawn from the seed.
    pub jitter_per_mille: u64,
}

crate::slots!(HostCosts {
    syscall_ns,
    create_ns,
    write_page_ns,
    read_page_ns,
    readahead_page_ns,
    allocate_blocks_ns,
    submit_bio_ns,
    drop_page_ns,
    switch_ns,
    commit_start_ns,
    commit_block_ns,
    commit_record_ns,
    commit_end_ns,
    fsync_ns,
    kblockd_ns,
    touch_page_ns,
    fault_ns,
    scan_page_ns,
    free_page_ns,
    contended_percent,
    interrupt_ns,
    jitter_per_mille,
});

impl Default for HostCosts {
    fn default() -> Self {
        Self {
            // Section 0.4 and the traces of 2.6.35: about 0.25 ms a file for fs_mark, 190 us of it
            // from the commit record's completion to the next file's data, 44 us from that to the
            // log; 2.1 us a page for a reader; 0.38 s to drop 4 GB.
            syscall_ns: 300,
            create_ns: 36_000,
            write_page_ns: 3_700,
            read_page_ns: 1_400,
            readahead_page_ns: 500,
            allocate_blocks_ns: 12_000,
            submit_bio_ns: 3_500,
            drop_page_ns: 370,
            switch_ns: 2_500,
            commit_start_ns: 9_000,
            commit_block_ns: 1_000,
            commit_record_ns: 8_000,
            commit_end_ns: 8_000,
            fsync_ns: 8_000,
            kblockd_ns: 1_500,
            // Section 0.5, "Constants used".
            touch_page_ns: 20,
            fault_ns: 3_000,
            scan_page_ns: 400,
            free_page_ns: 800,
            contended_percent: 200,
            interrupt_ns: 5_000,
            jitter_per_mille: 20,
        }
    }
}
