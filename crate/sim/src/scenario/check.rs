//! What makes a scenario impossible, found before it runs.

use super::{Machine, Scenario, vocabulary};
use crate::block::SECTOR_BYTES;
use crate::device::{AnyDevice, Device};
use crate::mm::{ZoneKind, min_free_kbytes};
use crate::short_sort;
use crate::text::{Place, Problem, format_size};
use crate::workload::{FileSpec, Workload};

/// The longest run: 1 hour of simulated time.
pub const MAX_TIME_NS: u64 = 3_600_000_000_000;
/// The most events of a run.
pub const MAX_EVENTS: u64 = 10_000_000_000;
/// How long a run lasts unless it says so: 10 s.
pub(super) const DEFAULT_TIME_NS: u64 = 10_000_000_000;
/// The most events of a run unless it says so: far more than any built-in workload makes in an hour.
pub(super) const DEFAULT_EVENTS: u64 = 1_000_000_000;

impl Scenario {
    /// Everything that makes this scenario impossible to run; empty if nothing does. Texts and links
    /// have passed this already.
    #[must_use]
    pub fn check(&self) -> Vec<Problem> {
        let mut problems = self.machine.check();
        problems.extend(self.kernel.check());
        for fault in self.workload.check() {
            problems.push(fault.problem(place("workload")));
        }
        if problems.is_empty() {
            problems.extend(check_files(&self.workload, &self.machine));
            problems.extend(self.check_min_free());
            if self.workload.needs_memory() && !self.machine.memory.is_simulated() {
                let message = "the workload maps files, which needs a machine whose memory is simulated";
                let problem = Problem::new(place("machine.memory.size-mib"), message).with_value("0");
                problems
                    .push(problem.with_hint("give it a size, such as machine.memory.size-mib = \"2 GiB\""));
            }
        }
        let mut bound = |path, value: u64, most: u64| {
            if value == 0 || value > most {
                let problem = Problem::new(place(path), format!("it lies between 1 and {most}"));
                problems.push(problem.with_value(value.to_string()));
            }
        };
        bound("time", self.limits.time_ns, MAX_TIME_NS);
        bound("events", self.limits.events, MAX_EVENTS);
        problems
    }
}

impl Scenario {
    /// Watermarks that memory cannot pass are refused.
    fn check_min_free(&self) -> Option<Problem> {
        let zones = self.machine.memory.layout()?.zones;
        let free_pages: u64 = zones.iter().map(|zone| u64::from(zone.present - zone.taken)).sum();
        let set = self.kernel.tunables.get("min_free_kbytes").copied().filter(|&kib| kib != 0);
        let lowmem = zones.iter().filter(|zone| zone.kind != ZoneKind::HighMem);
        let lowmem_pages = lowmem.map(|zone| u64::from(zone.present)).sum();
        let kib = set.unwrap_or_else(|| min_free_kbytes(lowmem_pages).into());
        (kib > free_pages).then(|| match set {
            Some(_) => {
                let message = format!("at most a quarter of the memory is kept free, here {free_pages} KiB");
                Problem::new(place("tunable.min_free_kbytes"), message).with_value(kib.to_string())
            }
            None => {
                let message = format!(
                    "{free_pages} pages are free at the start, and the kernel would keep {} of them free: more than a quarter",
                    kib / 4
                );
                let size_mib = self.machine.memory.size_mib;
                let problem = Problem::new(place("machine.memory.size-mib"), message).with_value(size_mib.to_string());
                problem.with_hint("let less be taken (dma-taken, dma32-taken), or set min_free_kbytes")
            }
        })
    }
}

fn place(path: &str) -> Place {
    Place::of_path("scenario", path)
}

impl Machine {
    /// Everything about the machine that has no meaning.
    #[must_use]
    pub fn check(&self) -> Vec<Problem> {
        let mut problems = Vec::new();
        let mut refuse = |path: &str, value: u64, allowed: &str, message: &str| {
            let problem =
                Problem::new(place(&format!("machine.{path}")), message).with_value(value.to_string());
            problems.push(problem.with_allowed(allowed));
        };
        if !(1..=64).contains(&self.cpus) {
            refuse("cpus", self.cpus.into(), "1 to 64", "a machine has 1 to 64 CPUs");
        }
        if ![100, 250, 1000].contains(&self.hz) {
            refuse(
                "hz",
                self.hz.into(),
                "100, 250, 1000",
                "kernels of the time ticked at 100, 250 or 1000 Hz",
            );
        }
        let journal = self.file_system.journal_mib;
        if !(4..=400).contains(&journal) {
            refuse("file-system.journal-mib", journal.into(), "4 to 400", "a journal has 4 to 400 MiB");
        }
        let host = &self.host;
        let costs = [
            ("create-ns", host.create_ns),
            ("write-page-ns", host.write_page_ns),
            ("read-page-ns", host.read_page_ns),
            ("readahead-page-ns", host.readahead_page_ns),
            ("allocate-blocks-ns", host.allocate_blocks_ns),
            ("submit-bio-ns", host.submit_bio_ns),
            ("drop-page-ns", host.drop_page_ns),
            ("switch-ns", host.switch_ns),
            ("commit-start-ns", host.commit_start_ns),
            ("commit-block-ns", host.commit_block_ns),
            ("commit-record-ns", host.commit_record_ns),
            ("touch-page-ns", host.touch_page_ns),
            ("fault-ns", host.fault_ns),
            ("scan-page-ns", host.scan_page_ns),
            ("free-page-ns", host.free_page_ns),
            ("interrupt-ns", host.interrupt_ns),
        ];
        for (name, value) in costs {
            if value > MAX_COST_NS {
                refuse(&format!("host.{name}"), value, "0 to 100 ms", "the host's work takes at most 100 ms");
            }
        }
        if !(MIN_SYSCALL_NS..=MAX_COST_NS).contains(&host.syscall_ns) {
            // Loops of system calls would otherwise pass no time at all.
            let message = "a system call takes 10 ns to 100 ms";
            refuse("host.syscall-ns", host.syscall_ns, "10 ns to 100 ms", message);
        }
        if !(100..=10_000).contains(&host.contended_percent) {
            let message = "contention makes reclaim 1 to 100 times dearer";
            refuse("host.contended-percent", host.contended_percent, "100 to 10000", message);
        }
        if host.jitter_per_mille > 500 {
            let message = "costs vary by at most half, 500 thousandths";
            refuse("host.jitter-per-mille", host.jitter_per_mille, "0 to 500", message);
        }
        for (field, value, message) in self.memory.problems() {
            let place = place(&format!("machine.memory.{field}"));
            problems.push(Problem::new(place, message).with_value(value.to_string()));
        }
        for wrong in self.device.validate() {
            let place = place(&format!("machine.device.{}", wrong.field));
            let message = format!("a device has a {} of {}", wrong.field, wrong.allowed);
            problems.push(Problem::new(place, message).with_value(wrong.value).with_allowed(wrong.allowed));
        }
        problems
    }
}

const MAX_COST_NS: u64 = 100_000_000;
const MIN_SYSCALL_NS: u64 = 10;

/// Files lie on the device, and not on each other.
fn check_files(workload: &Workload, machine: &Machine) -> Vec<Problem> {
    let Ok(device) = AnyDevice::new(&machine.device, 0) else { return Vec::new() };
    let capacity = device.capacity_sectors();
    let span = |file: &FileSpec| {
        let first = file.first_sector(capacity);
        (first, first.saturating_add(file.size_bytes.div_ceil(SECTOR_BYTES)))
    };
    let mut problems = Vec::new();
    let memory = &machine.memory;
    let swap = memory.swap_area(capacity);
    let bytes = u64::from(memory.swap_mib) << 20;
    if bytes > capacity.saturating_mul(SECTOR_BYTES) {
        let of = format_size(capacity.saturating_mul(SECTOR_BYTES));
        let message = format!("a swap area of {} does not fit on a device of {of}", format_size(bytes));
        let place = place("machine.memory.swap-mib");
        problems.push(Problem::new(place, message).with_value(memory.swap_mib.to_string()));
    }
    for file in workload.files.iter().filter(|file| !swap.is_empty() && span(file).1 > swap.start) {
        let message =
            format!("the file \"{}\" reaches into the swap area at the end of the device", file.name);
        let problem = Problem::new(place("workload"), message);
        problems.push(problem.with_hint("give it another position (at), or the machine less swap"));
    }
    for file in &workload.files {
        if span(file).1 > capacity {
            let message = format!(
                "the file \"{}\" of {} begins at {}.{} % of a device of {} and would end beyond it",
                file.name,
                format_size(file.size_bytes),
                file.at_per_mille / 10,
                file.at_per_mille % 10,
                format_size(capacity.saturating_mul(SECTOR_BYTES)),
            );
            problems.push(Problem::new(place("workload"), message));
        }
    }
    let mut by_place: Vec<&FileSpec> = workload.files.iter().collect();
    short_sort::sort_by_key(&mut by_place, |file| span(file));
    for (file, next) in by_place.iter().zip(by_place.iter().skip(1)) {
        if span(file).1 > span(next).0 {
            let message = format!("the files \"{}\" and \"{}\" lie on each other", file.name, next.name);
            let problem = Problem::new(place("workload"), message);
            problems.push(problem.with_hint("give them other positions (at) or less size"));
        }
    }
    problems
}

impl super::KernelChoice {
    /// Everything about the kernel that does not exist or does not go together.
    #[must_use]
    pub fn check(&self) -> Vec<Problem> {
        let mut problems = Vec::new();
        let mut known = |what: &str, name: &str, names: Vec<&str>| {
            if !names.contains(&name) {
                let problem = Problem::new(place("kernels"), format!("there is no {what} \"{name}\""));
                problems.push(problem.with_names(name, names));
            }
        };
        known("release", &self.release, vocabulary::releases());
        known("elevator", &self.elevator, vocabulary::elevators(&self.release));
        for patch in &self.patches {
            known("patch", patch, vocabulary::patches());
        }
        if !problems.is_empty() {
            return problems;
        }
        problems.extend(vocabulary::refuses(self).map(|reason| Problem::new(place("kernels"), reason)));
        let tunables = vocabulary::tunables(self);
        for (name, value) in &self.tunables {
            let place = place(&format!("tunable.{name}"));
            match tunables.iter().find(|info| info.name == name) {
                Some(info) if (info.min..=info.max).contains(value) => {}
                Some(info) => {
                    let allowed = format!("{} to {}{}", info.min, info.max, info.unit.suffix());
                    let problem = Problem::new(place, format!("{name} is {allowed}"));
                    problems.push(problem.with_value(value.to_string()).with_allowed(allowed));
                }
                None => {
                    let message = format!("{self} has no tunable \"{name}\"");
                    let names = tunables.iter().map(|info| info.name);
                    problems.push(Problem::new(place, message).with_names(name, names));
                }
            }
        }
        problems
    }
}
