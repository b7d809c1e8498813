//! The names a kernel choice may use, seen from the scenario: what exists, and what goes together.

use super::KernelChoice;
use crate::block::elevator::tunables::{TunableInfo, TunableUnit};

/// Names of releases, patches, elevators and tunables.
pub trait Vocabulary {
    /// Every release, oldest first.
    fn releases(&self) -> Vec<&'static str>;

    /// Every patch.
    fn patches(&self) -> Vec<&'static str>;

    /// Every elevator that `release` has.
    fn elevators(&self, release: &str) -> Vec<&'static str>;

    /// Every tunable of the kernel's elevator and of its queue.
    fn tunables(&self, kernel: &KernelChoice) -> Vec<&'static TunableInfo>;

    /// Why the release, the patches and the elevator do not go together, if they do not; their names
    /// are known.
    fn refuses(&self, kernel: &KernelChoice) -> Option<String>;
}

/// The queue's own tunables, the same for every elevator: `/sys/block/*/queue`.
///
/// *Follows:* docs/model/block-layer.md, sections 1.2 (`nr_requests`) and 1.5 (`read_ahead_kb`).
pub static QUEUE_TUNABLES: [TunableInfo; 2] = [
    TunableInfo {
        name: "nr_requests",
        unit: TunableUnit::Requests,
        min: 4,
        max: 8192,
        default: 128,
        documentation: "How many requests of each kind, sync and async, may wait before those who want more sleep.",
    },
    TunableInfo {
        name: "read_ahead_kb",
        unit: TunableUnit::Kilobytes,
        min: 0,
        max: 16_384,
        default: 128,
        documentation: "The most that is read ahead of a sequential reader.",
    },
];
