//! What every model must keep, under random commands at random times; and a small driver for the models'
//! own tests.

use std::collections::BTreeMap;

use proptest::prelude::*;

use super::{AnyDevice, Command, Device, DeviceOptions, Operation, presets};
use crate::device::{SataDiskOptions, SataSsdOptions};

/// Nanoseconds in a microsecond, a millisecond and a second.
pub(super) const US: u64 = 1_000;
pub(super) const MS: u64 = 1_000_000;
pub(super) const S: u64 = 1_000_000_000;

/// A read.
pub(super) fn read(tag: u32, sector: u64, sectors: u32) -> Command {
    Command { tag, operation: Operation::Read, sector, sectors, force_unit_access: false }
}

/// A write.
pub(super) fn write(tag: u32, sector: u64, sectors: u32) -> Command {
    Command { tag, operation: Operation::Write, sector, sectors, force_unit_access: false }
}

/// A flush.
pub(super) fn flush(tag: u32) -> Command {
    Command { tag, operation: Operation::Flush, sector: 0, sectors: 0, force_unit_access: false }
}

/// Lets the device work until it has ended something, or has nothing to do; returns when, and what ended.
pub(super) fn next_end(device: &mut impl Device) -> Option<(u64, Vec<u32>)> {
    let mut done = Vec::new();
    while let Some(at_ns) = device.next_event_ns() {
        device.advance(at_ns, &mut done);
        if !done.is_empty() {
            return Some((at_ns, done));
        }
    }
    None
}

/// Runs one command alone from `now_ns`; returns its end.
pub(super) fn alone(device: &mut impl Device, now_ns: u64, command: Command) -> u64 {
    let mut done = Vec::new();
    device.advance(now_ns, &mut done);
    device.start(now_ns, command);
    let (end_ns, done) = next_end(device).expect("a command ends");
    assert_eq!(done, [command.tag]);
    end_ns
}

/// Keeps `depth` commands in the device from `now_ns` on until `count` have ended; returns how long that
/// took.
pub(super) fn keep_busy(
    device: &mut impl Device,
    from_ns: u64,
    depth: u32,
    count: u32,
    mut command: impl FnMut(u32) -> Command,
) -> u64 {
    let (mut started, mut ended, mut now_ns) = (0, 0, from_ns);
    while ended < count {
        while started < count && started - ended < depth {
            device.start(now_ns, command(started));
            started += 1;
        }
        let (end_ns, done) = next_end(device).expect("commands are under way");
        now_ns = end_ns;
        ended += u32::try_from(done.len()).expect("few end at once");
    }
    now_ns - from_ns
}

/// Megabytes a second, for `bytes` in `duration_ns`.
pub(super) fn mb_per_s(bytes: u64, duration_ns: u64) -> u64 {
    bytes * 1_000 / duration_ns
}

/// Fails unless `value` lies within `percent` of `expected`.
#[track_caller]
pub(super) fn assert_near(what: &str, value: u64, expected: u64, percent: u64) {
    assert!(
        value.abs_diff(expected) * 100 <= expected * percent,
        "{what}: {value}, expected {expected} +- {percent} %"
    );
}

/// One step of a random script: wait, then start something.
type Step = (u64, u8, u64, u32);

fn steps() -> impl Strategy<Value = Vec<Step>> {
    let wait = prop_oneof![Just(0u64), 0u64..100 * US, 0u64..30 * MS];
    let sector = prop_oneof![0u64..4_000, 0u64..100_000_000, 1_000_000u64..1_003_000];
    let sectors = prop_oneof![1u32..=8, Just(256u32), 1u32..=1024];
    prop::collection::vec((wait, 0u8..20, sector, sectors), 1..80)
}

/// The presets, and variants in which rare things (a full cache, a collection, an old command) are common.
fn devices() -> Vec<(&'static str, DeviceOptions)> {
    let mut devices: Vec<_> = presets().iter().map(|preset| (preset.name, preset.options())).collect();
    let small_cache = SataDiskOptions {
        write_cache_bytes: 600 << 10,
        age_limit_ns: 20 * MS,
        segments: 2,
        ..SataDiskOptions::default()
    };
    let no_cache = SataDiskOptions { write_cache: false, depth: 1, ..SataDiskOptions::default() };
    let worn = SataSsdOptions {
        spare_bytes: 1 << 20,
        collect_every_bytes: 256 << 10,
        write_cache_bytes: 512 << 10,
        ..SataSsdOptions::default()
    };
    devices.push(("sata, small cache", DeviceOptions::SataDisk(small_cache)));
    devices.push(("sata, no cache, no NCQ", DeviceOptions::SataDisk(no_cache)));
    devices.push(("ssd, worn", DeviceOptions::SataSsd(worn)));
    devices
}

/// The least time a command can take: its data on the link, and the part of its fixed time that no cache
/// takes away.
fn least_ns(options: &DeviceOptions, command: &Command) -> u64 {
    let bytes = if command.operation == Operation::Flush { 0 } else { command.bytes() };
    let is_read = command.operation == Operation::Read;
    let (fixed_ns, rate) = match options {
        DeviceOptions::Server(options) => {
            let latency = if is_read { options.read_latency_ns } else { options.write_latency_ns };
            (latency, options.bandwidth_bytes_per_s)
        }
        DeviceOptions::FcArray(options) => {
            let latency = if is_read { options.read_latency_ns } else { options.write_latency_ns };
            (latency, options.link_bytes_per_s)
        }
        // Data that the medium delivers cross the link meanwhile, so the link alone is the bound.
        DeviceOptions::SataDisk(options) => (options.command_overhead_ns, options.link_bytes_per_s),
        DeviceOptions::SataSsd(options) => match command.operation {
            Operation::Read => (options.read_overhead_ns + options.read_page_ns, options.link_bytes_per_s),
            Operation::Write => (options.write_overhead_ns, options.link_bytes_per_s),
            Operation::Flush => (options.write_overhead_ns + options.flush_ns, options.link_bytes_per_s),
        },
    };
    // Read ahead may have delivered all but the last sectors of a disk read: no transfer is left then.
    let on_disk = matches!(options, DeviceOptions::SataDisk(_)) && is_read;
    let moved = if on_disk { 0 } else { bytes };
    fixed_ns + u64::try_from(u128::from(moved) * u128::from(S) / u128::from(rate)).expect("short")
}

/// A run: each command with its start, and the ends in order.
struct Run {
    starts: Vec<(u64, Command)>,
    ends: Vec<(u64, u32)>,
}

/// Follows a script, going from event to event and never above the device's depth.
fn run_exactly(options: &DeviceOptions, steps: &[Step]) -> Run {
    let mut device = AnyDevice::new(options, 5).expect("valid");
    let mut run = Run { starts: Vec::new(), ends: Vec::new() };
    let (mut now_ns, mut done) = (0, Vec::new());
    let mut work_until = |device: &mut AnyDevice, until_ns: u64, ends: &mut Vec<(u64, u32)>| {
        while let Some(at_ns) = device.next_event_ns().filter(|&at_ns| at_ns <= until_ns) {
            device.advance(at_ns, &mut done);
            assert!(device.next_event_ns().is_none_or(|next_ns| next_ns > at_ns), "time stands still");
            ends.extend(done.drain(..).map(|tag| (at_ns, tag)));
        }
    };
    for (tag, &(wait_ns, kind, sector, sectors)) in (0..).zip(steps) {
        now_ns += wait_ns;
        while run.starts.len() - run.ends.len() >= device.depth() as usize {
            now_ns = now_ns.max(device.next_event_ns().expect("a full device has something to do"));
            work_until(&mut device, now_ns, &mut run.ends);
        }
        work_until(&mut device, now_ns, &mut run.ends);
        let operation = match kind {
            0 => Operation::Flush,
            1..10 => Operation::Read,
            _ => Operation::Write,
        };
        let command = Command { tag, operation, sector, sectors, force_unit_access: kind == 19 };
        device.start(now_ns, command);
        run.starts.push((now_ns, command));
    }
    work_until(&mut device, u64::MAX, &mut run.ends);
    run
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 96, ..ProptestConfig::default() })]

    /// Every command ends exactly once, not before its least time; ends are in order of time.
    #[test]
    fn every_command_ends_once_and_not_too_early(steps in steps()) {
        for (name, options) in devices() {
            let run = run_exactly(&options, &steps);
            prop_assert!(run.ends.windows(2).all(|pair| pair[0].0 <= pair[1].0), "{name}: time went backwards");
            let starts: BTreeMap<u32, (u64, Command)> =
                run.starts.iter().map(|&(at_ns, command)| (command.tag, (at_ns, command))).collect();
            let mut ended: Vec<u32> = run.ends.iter().map(|&(_, tag)| tag).collect();
            ended.sort_unstable();
            prop_assert!(ended.iter().copied().eq(starts.keys().copied()), "{name}: {ended:?}");
            for (end_ns, tag) in run.ends {
                let (start_ns, command) = starts[&tag];
                let least = least_ns(&options, &command);
                prop_assert!(end_ns - start_ns >= least, "{name}: {command:?} took {}", end_ns - start_ns);
            }
        }
    }

    /// How often a device is asked changes nothing: with the same starts, and `advance` called at other
    /// times, the same commands are reported in the same order, each at the first call after its end.
    #[test]
    fn when_it_is_asked_does_not_matter(steps in steps(), polls in prop::collection::vec(1u64..10 * MS, 1..8)) {
        for (name, options) in devices() {
            let run = run_exactly(&options, &steps);
            let mut device = AnyDevice::new(&options, 5).expect("valid");
            let (mut poll_ns, mut gaps, mut reported) = (0, polls.iter().cycle(), 0);
            let mut poll = |device: &mut AnyDevice, at_ns: u64| {
                let mut done = Vec::new();
                device.advance(at_ns, &mut done);
                let expected: Vec<u32> =
                    run.ends[reported..].iter().take_while(|&&(end_ns, _)| end_ns <= at_ns).map(|end| end.1).collect();
                reported += done.len();
                prop_assert_eq!(done, expected, "{} at {}", name, at_ns);
                Ok(())
            };
            let last_ns = run.ends.last().map_or(0, |end| end.0);
            for (start_ns, command) in &run.starts {
                while poll_ns < *start_ns {
                    poll(&mut device, poll_ns)?;
                    poll_ns += gaps.next().expect("endless");
                }
                device.start(*start_ns, *command);
            }
            poll(&mut device, last_ns.max(poll_ns))?;
        }
    }

    /// No address, even one that the device does not have, and no length upsets a device: all commands end.
    #[test]
    fn any_address_is_survived(
        places in prop::collection::vec((any::<u64>(), any::<u32>(), 0u8..20), 1..31),
        shift in 0u32..40,
    ) {
        let steps: Vec<Step> = places
            .iter()
            .map(|&(sector, sectors, kind)| (sector % MS, kind, sector >> shift, sectors >> 12 >> (shift / 4)))
            .collect();
        for (name, options) in devices() {
            prop_assert_eq!(run_exactly(&options, &steps).ends.len(), steps.len(), "{}", name);
        }
    }

    /// A copy goes on exactly as the original does.
    #[test]
    fn a_copy_goes_on_alike(steps in steps()) {
        for (name, options) in devices() {
            let mut device = AnyDevice::new(&options, 5).expect("valid");
            let mut now_ns = 0;
            for (tag, &(wait_ns, kind, sector, sectors)) in (0..device.depth()).zip(&steps) {
                now_ns += wait_ns;
                let command = if kind < 10 { read(tag, sector, sectors) } else { write(tag, sector, sectors) };
                device.start(now_ns, command);
            }
            let mut copy = device.clone();
            loop {
                let (one, other) = (next_end(&mut device), next_end(&mut copy));
                prop_assert_eq!(&one, &other, "{}", name);
                if one.is_none() {
                    break;
                }
            }
        }
    }
}
