//! Devices: what happens to a request after the driver has taken it.
//!
//! A device has no view of the queue above it: it gets commands and says when they finish.

use serde::{Deserialize, Serialize};

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

    /// Takes a command at `now_ns`. The caller keeps to [`Self::depth`].
    fn start(&mut self, now_ns: u64, command: Command);

    /// When the device next has something to say, if ever: a completion, or work of its own such as
    /// destaging. May be called again after every [`Self::start`] and [`Self::advance`].
    fn next_event_ns(&self) -> Option<u64>;

    /// Lets the device work up to `now_ns`, appending the tags of finished commands to `done` in the
    /// order in which they finished.
    fn advance(&mut self, now_ns: u64, done: &mut Vec<u32>);
}

/// Placeholder until the models land.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct DeviceOptions {}
