//! Random machines and kernels.

use litemap::LiteMap;
use proptest::prelude::*;
use stallarium_sim::block::elevator::tunables::{TunableInfo, TunableUnit};
use stallarium_sim::device::{DeviceOptions, FcArrayOptions, SataDiskOptions, SataSsdOptions, ServerOptions};
use stallarium_sim::kernel::{ElevatorName, Policy, available_tunables, patches, releases};
use stallarium_sim::scenario::{Architecture, FileSystemKind, FileSystemOptions, KernelChoice, Machine};

const US: u64 = 1000;
const MS: u64 = 1000 * US;
const KIB: u64 = 1024;

fn one_of<T: Clone + std::fmt::Debug + 'static>(values: &[T]) -> impl Strategy<Value = T> + use<T> {
    prop::sample::select(values.to_vec())
}

prop_compose! {
    fn servers(capacities: &'static [u64])(
        capacity_sectors in one_of(capacities),
        depth in one_of(&[1u32, 2, 8, 32]),
        servers in 1u32..9,
        read_latency_ns in 20 * US..3 * MS,
        write_latency_ns in 20 * US..3 * MS,
        bandwidth_bytes_per_s in one_of(&[20_000_000u64, 100_000_000, 400_000_000]),
        transfers_serialised in any::<bool>(),
        jitter_ns in one_of(&[0u64, 1, 30_000]),
        non_rotational in any::<bool>(),
    ) -> DeviceOptions {
        DeviceOptions::Server(ServerOptions {
            capacity_sectors, depth, servers, read_latency_ns, write_latency_ns, bandwidth_bytes_per_s,
            transfers_serialised, jitter_ns, non_rotational,
        })
    }
}

prop_compose! {
    fn arrays(capacities: &'static [u64])(
        capacity_sectors in one_of(capacities),
        depth in one_of(&[1u32, 30, 32]),
        write_latency_ns in 100 * US..MS,
        watermark_bytes in one_of(&[256 * KIB, 1 << 30]),
        destage_bytes_per_s in one_of(&[20_000_000u64, 200_000_000]),
        streams in 1u32..9,
        spindles in 1u32..17,
        positioning_max_ns in 4 * MS..12 * MS,
    ) -> DeviceOptions {
        DeviceOptions::FcArray(FcArrayOptions {
            capacity_sectors,
            depth, write_latency_ns, watermark_bytes, destage_bytes_per_s, streams, spindles,
            positioning_min_ns: 3 * MS, positioning_max_ns, ..FcArrayOptions::default()
        })
    }
}

prop_compose! {
    fn disks(capacities: &'static [u64])(
        capacity_sectors in one_of(capacities),
        depth in one_of(&[1u32, 31]),
        write_cache in any::<bool>(),
        write_cache_bytes in one_of(&[64 * KIB, 8 << 20]),
        destage_quiet_ns in one_of(&[0u64, MS, 20 * MS]),
        read_ahead_bytes in one_of(&[0u64, 128 * KIB]),
        pressed_percent in 1u32..101,
        age_limit_ns in one_of(&[0u64, 100 * MS, 1000 * MS]),
    ) -> DeviceOptions {
        DeviceOptions::SataDisk(SataDiskOptions {
            capacity_sectors,
            depth, write_cache, write_cache_bytes, destage_quiet_ns, read_ahead_bytes, pressed_percent,
            age_limit_ns, ..SataDiskOptions::default()
        })
    }
}

prop_compose! {
    fn ssds(capacities: &'static [u64])(
        capacity_sectors in one_of(capacities),
        depth in one_of(&[1u32, 31]),
        channels in 1u32..11,
        write_cache_bytes in one_of(&[64 * KIB, 1 << 20]),
        flush_ns in one_of(&[US, MS]),
        spare_bytes in one_of(&[0u64, 1 << 20, 1 << 35]),
        collect_every_bytes in one_of(&[256 * KIB, 16 << 20]),
    ) -> DeviceOptions {
        DeviceOptions::SataSsd(SataSsdOptions {
            capacity_sectors,
            depth, channels, write_cache_bytes, flush_ns, spare_bytes, collect_every_bytes,
            ..SataSsdOptions::default()
        })
    }
}

prop_compose! {
    fn file_systems(journals: &'static [u32])(
        kind in one_of(&[FileSystemKind::Ext3, FileSystemKind::Ext4]),
        barrier in any::<bool>(),
        journal_mib in one_of(journals),
        access_time in prop::bool::weighted(0.2),
    ) -> FileSystemOptions {
        FileSystemOptions { kind, barrier, journal_mib, access_time }
    }
}

prop_compose! {
    /// A machine with a journal of one of these sizes, in MiB, on a device of one of these, in sectors.
    pub(crate) fn machines(journals: &'static [u32], capacities: &'static [u64])(
        cpus in 1u32..5,
        hz in one_of(&[100u32, 250, 1000]),
        exact_timers in prop::bool::weighted(0.1),
        device in prop_oneof![servers(capacities), arrays(capacities), disks(capacities), ssds(capacities)],
        file_system in file_systems(journals),
        // So little that writers are held up, or so much that they are not; up to 16 MiB one zone alone.
        memory_mib in one_of(&[0u32, 4, 8, 16, 32, 32, 32, 64, 256]),
        architecture in one_of(&[Architecture::X86_64, Architecture::X86_64, Architecture::I386]),
        // Of 32 MiB perhaps less than 4 are left, so that everybody has to reclaim.
        is_tight in any::<bool>(),
        swap_mib in one_of(&[0u32, 1, 16]),
        interrupt_ns in one_of(&[0u64, 5000]),
        jitter_per_mille in one_of(&[0u64, 20, 500]),
    ) -> Machine {
        let mut machine =
            Machine { cpus, hz, exact_timers, device, file_system, ..Machine::default() };
        let memory = &mut machine.memory;
        memory.size_mib = memory_mib;
        memory.architecture = architecture;
        if memory_mib == 32 && is_tight {
            let above = if architecture == Architecture::I386 { &mut memory.normal_taken } else { &mut memory.dma32_taken };
            *above = 3700;
            memory.dma_taken = 3000;
        }
        if memory_mib != 0 {
            memory.swap_mib = swap_mib;
        }
        machine.host.interrupt_ns = interrupt_ns;
        machine.host.jitter_per_mille = jitter_per_mille;
        machine
    }
}

/// A value for a tunable: an end of its range, its default, or a small one. `tame` values let everybody make
/// progress within a second.
fn value(info: &'static TunableInfo, dice: u32, tame: bool) -> u64 {
    let small = info.min + u64::from(dice / 8) % 5;
    match dice % 4 {
        0 => info.min,
        1 if !tame => info.max,
        1 if info.unit == TunableUnit::Boolean => info.max,
        2 => info.default,
        _ => small.min(info.max),
    }
}

/// Any release with patches that apply to it, any of its elevators, some of the tunables set.
pub(crate) fn kernels(tame: bool) -> impl Strategy<Value = KernelChoice> {
    (
        prop::sample::select(releases().to_vec()),
        // CFQ is where most of the rules are.
        prop_oneof![3 => Just(3usize), 2 => 0usize..4],
        prop::collection::vec(0..patches().len(), 0..3),
        prop::collection::vec((any::<prop::sample::Index>(), any::<u32>()), 0..4),
        prop_oneof![2 => Just(None), 1 => Just(Some(4u64)), 1 => Just(Some(16))],
    )
        .prop_map(move |(release, elevator, numbers, tunables, nr_requests)| {
            let mut names: Vec<String> = Vec::new();
            for patch in numbers.into_iter().map(|number| &patches()[number]) {
                let mut more = names.clone();
                more.push(patch.name.to_owned());
                if Policy::new(release.name, &more, FileSystemKind::Ext4).is_ok() {
                    names = more;
                }
            }
            let elevator = match ElevatorName::ALL[elevator] {
                ElevatorName::Anticipatory if !release.has_anticipatory => ElevatorName::Cfq,
                elevator => elevator,
            };
            let policy = Policy::new(release.name, &names, FileSystemKind::Ext4).expect("the names exist");
            let known = available_tunables(elevator, &policy);
            let mut set = LiteMap::new();
            for (index, dice) in tunables {
                let info = known[index.index(known.len())];
                set.insert(info.name.to_owned(), value(info, dice, tame));
            }
            if let Some(requests) = nr_requests {
                set.insert("nr_requests".into(), requests);
            }
            let (release, elevator) = (release.name.to_owned(), elevator.name().to_owned());
            KernelChoice { release, patches: names, elevator, tunables: set }
        })
}
