//! The names a kernel choice may use, seen from the scenario: what exists, and what goes together.
//!
//! Everything here is asked of `kernel`; nothing is known twice.

use super::{FileSystemKind, KernelChoice};
use crate::block::elevator::tunables::TunableInfo;
use crate::kernel::{self, ElevatorName, Policy};

/// Every release, oldest first.
pub(super) fn releases() -> Vec<&'static str> {
    kernel::releases().iter().map(|release| release.name).collect()
}

/// Every patch.
pub(super) fn patches() -> Vec<&'static str> {
    kernel::patches().iter().map(|patch| patch.name).collect()
}

/// Every elevator that `release` has.
pub(super) fn elevators(release: &str) -> Vec<&'static str> {
    let has_anticipatory =
        kernel::releases().iter().any(|info| info.name == release && info.has_anticipatory);
    let all = ElevatorName::ALL.into_iter();
    all.filter(|name| has_anticipatory || *name != ElevatorName::Anticipatory)
        .map(ElevatorName::name)
        .collect()
}

/// Every tunable of the kernel's elevator and of its queue; none if the kernel does not exist.
pub(super) fn tunables(choice: &KernelChoice) -> Vec<&'static TunableInfo> {
    let elevator = ElevatorName::ALL.into_iter().find(|elevator| elevator.name() == choice.elevator);
    match (elevator, policy(choice)) {
        (Some(elevator), Ok(policy)) => kernel::available_tunables(elevator, &policy),
        _ => Vec::new(),
    }
}

/// Why release and patches, whose names are known, do not go together, if they do not.
pub(super) fn refuses(choice: &KernelChoice) -> Option<String> {
    policy(choice).err()
}

/// The kernel's rules. The file system makes no difference to what may be said about the kernel.
fn policy(choice: &KernelChoice) -> Result<Policy, String> {
    Policy::new(&choice.release, &choice.patches, FileSystemKind::Ext4).map_err(|error| error.to_string())
}
