//! Devices: what happens to a request after the driver has taken it.
//!
//! A device has no view of the queue above it: it gets commands and says when they finish. Four
//! models live here; [`AnyDevice`] holds one of them, [`DeviceOptions`] describes it, and
//! [`presets()`] names the ones that experiments use:
//!
//! * [`ServerDevice`]: stated service times and nothing else (what real kernels were measured on),
//! * [`FcArray`]: a disk array behind Fibre Channel with a battery-backed write cache,
//! * [`SataDisk`]: a 7200 rpm disk with heads, a rotating platter, NCQ and a volatile write cache,
//! * [`SataSsd`]: an early SATA SSD with channels, a write cache and garbage collection.
//!
//! A new model is one file here, one variant of [`DeviceOptions`] and [`AnyDevice`], and, if it
//! deserves a name, one line in `presets.rs`.

use serde::{Deserialize, Serialize};

mod any;
mod array;
mod disk;
mod flush_gate;
mod options;
mod presets;
mod serial;
mod server;
mod ssd;
#[cfg(test)]
mod tests;

pub use any::AnyDevice;
pub use array::{FcArray, FcArrayOptions};
pub use disk::{SataDisk, SataDiskOptions};
pub use options::{DeviceKind, DeviceOptions, InvalidOptions, OptionProblem};
pub use presets::{DevicePreset, preset, presets};
pub use server::{ServerDevice, ServerOptions};
pub use ssd::{SataSsd, SataSsdOptions};

/// Bytes in a sector, the unit of every address and length in this module.
const SECTOR_BYTES: u64 = 512;

/// What a device is asked to do.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Command {
    /// The driver's name for it: comes back when it is done.
    pub tag: u32,
    /// What.
    pub operation: Operation,
    /// First sector.
    pub sector: u64,
    /// Length in sectors.
    pub sectors: u32,
    /// A write must be on the medium when it is done.
    pub force_unit_access: bool,
}

impl Command {
    /// Length in bytes.
    #[must_use]
    pub fn bytes(&self) -> u64 {
        u64::from(self.sectors) * SECTOR_BYTES
    }

    /// The sector behind the last one.
    #[must_use]
    pub fn end(&self) -> u64 {
        self.sector.saturating_add(u64::from(self.sectors))
    }
}

/// Kinds of commands.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Operation {
    /// Read data.
    Read,
    /// Write data.
    Write,
    /// Write the volatile cache to the medium.
    Flush,
}

/// A device model. It keeps its own time: `now_ns` never decreases from call to call.
///
/// What it does between two calls depends on the commands and their times alone, not on how often it
/// is asked: advancing it to every event or only now and then gives the same completions. What the
/// device does at a moment comes before a command that arrives at the same moment.
pub trait Device {
    /// Commands it accepts at once (tags).
    fn depth(&self) -> u32;

    /// Seeks cost nothing.
    fn is_non_rotational(&self) -> bool;

    /// It reports a volatile write cache: barriers must flush it.
    fn has_volatile_cache(&self) -> bool;

    /// Writes that bypass the cache are possible (FUA).
    fn supports_fua(&self) -> bool;

    /// Capacity in sectors.
    fn capacity_sectors(&self) -> u64;

    /// Takes a command at `now_ns`. The caller keeps to [`Self::depth`], and uses no tag twice at a time.
    fn start(&mut self, now_ns: u64, command: Command);

    /// When the device next has something to say, if ever: a completion, or work of its own such as
    /// destaging. May be called again after every [`Self::start`] and [`Self::advance`]. After
    /// `advance(now_ns)` it is later than `now_ns`.
    fn next_event_ns(&self) -> Option<u64>;

    /// Lets the device work up to `now_ns`, appending the tags of finished commands to `done` in the
    /// order in which they finished.
    fn advance(&mut self, now_ns: u64, done: &mut Vec<u32>);
}
