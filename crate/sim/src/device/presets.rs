//! The devices that have a name.

use super::{DeviceOptions, FcArrayOptions, SataDiskOptions, SataSsdOptions, ServerOptions};

/// A device with a name.
#[derive(Clone, Copy, Debug)]
pub struct DevicePreset {
    /// The name, as in a scenario.
    pub name: &'static str,
    /// What it is, in a sentence.
    pub doc: &'static str,
    make: fn() -> DeviceOptions,
}

impl DevicePreset {
    /// Its options.
    #[must_use]
    pub fn options(&self) -> DeviceOptions {
        (self.make)()
    }
}

/// Every named device.
#[must_use]
pub fn presets() -> &'static [DevicePreset] {
    &PRESETS
}

/// The named device `name`.
#[must_use]
pub fn preset(name: &str) -> Option<&'static DevicePreset> {
    PRESETS.iter().find(|preset| preset.name == name)
}

static PRESETS: [DevicePreset; 6] = [
    DevicePreset {
        name: "array",
        doc: "A mid-range Fibre Channel disk array with a battery-backed write cache: writes are safe at once, \
              sequential reads come from its cache, nothing needs flushing.",
        make: || DeviceOptions::FcArray(FcArrayOptions::default()),
    },
    DevicePreset {
        name: "sata",
        doc: "A 7200 rpm SATA disk of 2008 to 2010: heads that seek, a platter that turns, NCQ, and a volatile \
              write cache that barriers must flush.",
        make: || DeviceOptions::SataDisk(SataDiskOptions::default()),
    },
    DevicePreset {
        name: "ssd",
        doc: "An early SATA solid-state disk: no seeks, eight channels, a volatile write cache, and pauses for \
              garbage collection once its spare area is used.",
        make: || DeviceOptions::SataSsd(SataSsdOptions::default()),
    },
    DevicePreset {
        name: "device-a",
        doc: "The serial private device on which real kernels were measured (section 0.4): one command at a time, \
              a read 430 us, a write 420 us, and the data at 400 MB/s.",
        make: || DeviceOptions::Server(ServerOptions::default()),
    },
    DevicePreset {
        name: "device-b",
        doc: "As device-a, but the fixed times of all commands overlap and only their data take turns on one \
              400 MB/s link (section 0.4).",
        make: || DeviceOptions::Server(ServerOptions { servers: 32, ..ServerOptions::default() }),
    },
    DevicePreset {
        name: "device-c",
        doc: "Eight servers, each with its own data path (section 0.4): a read 200 us, a write 300 us, and the \
              data at 200 MB/s.",
        make: || {
            DeviceOptions::Server(ServerOptions {
                servers: 8,
                read_latency_ns: 200_000,
                write_latency_ns: 300_000,
                bandwidth_bytes_per_s: 200_000_000,
                transfers_serialised: false,
                ..ServerOptions::default()
            })
        },
    },
];

#[cfg(test)]
mod tests {
    use super::*;
    use crate::device::{AnyDevice, Device};

    /// Each preset can be built and found by its name, and says in a sentence what it is.
    #[test]
    fn presets_are_devices() {
        for entry in presets() {
            let device = AnyDevice::new(&entry.options(), 1);
            assert!(device.is_ok_and(|device| device.depth() >= 31), "{}", entry.name);
            assert!(entry.doc.ends_with('.'), "{}", entry.name);
            assert!(preset(entry.name).is_some_and(|found| found.doc == entry.doc), "{}", entry.name);
        }
        assert!(preset("floppy").is_none());
    }
}
