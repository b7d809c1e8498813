//! One device of any model, with static dispatch.

use super::{Command, Device, DeviceOptions, FcArray, InvalidOptions, SataDisk, SataSsd, ServerDevice};

/// One of the models.
#[derive(Clone, Debug)]
pub enum AnyDevice {
    /// Stated service times.
    Server(ServerDevice),
    /// A disk array.
    FcArray(FcArray),
    /// A rotating disk. Boxed: it is several times larger than the others.
    SataDisk(Box<SataDisk>),
    /// A solid-state disk.
    SataSsd(SataSsd),
}

/// Calls a method on whichever model it is.
macro_rules! on_each {
    ($device:expr, $inner:ident => $call:expr) => {
        match $device {
            AnyDevice::Server($inner) => $call,
            AnyDevice::FcArray($inner) => $call,
            AnyDevice::SataDisk($inner) => $call,
            AnyDevice::SataSsd($inner) => $call,
        }
    };
}

impl AnyDevice {
    /// An idle device as `options` describe it. `seed` feeds the model's own random streams only.
    ///
    /// When [`DeviceOptions::validate`] finds a problem: every one, by name.
    pub fn new(options: &DeviceOptions, seed: u64) -> Result<Self, InvalidOptions> {
        Ok(match options {
            DeviceOptions::Server(options) => Self::Server(ServerDevice::new(options, seed)?),
            DeviceOptions::FcArray(options) => Self::FcArray(FcArray::new(options, seed)?),
            DeviceOptions::SataDisk(options) => Self::SataDisk(Box::new(SataDisk::new(options, seed)?)),
            DeviceOptions::SataSsd(options) => Self::SataSsd(SataSsd::new(options, seed)?),
        })
    }
}

impl Device for AnyDevice {
    fn depth(&self) -> u32 {
        on_each!(self, device => device.depth())
    }

    fn is_non_rotational(&self) -> bool {
        on_each!(self, device => device.is_non_rotational())
    }

    fn has_volatile_cache(&self) -> bool {
        on_each!(self, device => device.has_volatile_cache())
    }

    fn supports_fua(&self) -> bool {
        on_each!(self, device => device.supports_fua())
    }

    fn capacity_sectors(&self) -> u64 {
        on_each!(self, device => device.capacity_sectors())
    }

    fn start(&mut self, now_ns: u64, command: Command) {
        on_each!(self, device => device.start(now_ns, command));
    }

    fn next_event_ns(&self) -> Option<u64> {
        on_each!(self, device => device.next_event_ns())
    }

    fn advance(&mut self, now_ns: u64, done: &mut Vec<u32>) {
        on_each!(self, device => device.advance(now_ns, done));
    }
}
