//! What can be set about anticipatory.
//!
//! *Follows:* model/block-layer.md, section 3.3; Linux 2.6.32 `as_attrs` and the defaults above it.

use super::super::tunables::{
    LARGEST_INT, TunableError, TunableInfo, TunableUnit, check, jiffies_from_sysfs_ms,
};
use crate::block::Sync;
use crate::engine::Clock;

/// Anticipatory's tunables. "Read" means sync and "write" means async: the names are older than the
/// distinction.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct AnticipatoryTunables {
    /// How long after its arrival a sync request expires, in jiffies.
    pub read_expire_jiffies: u64,
    /// How long after its arrival an async request expires, in jiffies.
    pub write_expire_jiffies: u64,
    /// Length of a batch of sync requests while async ones wait, in jiffies.
    pub read_batch_expire_jiffies: u64,
    /// Length of a batch of async requests while sync ones wait, in jiffies.
    pub write_batch_expire_jiffies: u64,
    /// Longest wait for a process's next request, in jiffies; 0 switches anticipation off.
    pub antic_expire_jiffies: u64,
}

const fn time(name: &'static str, default: u64, documentation: &'static str) -> TunableInfo {
    TunableInfo { name, unit: TunableUnit::Milliseconds, min: 0, max: LARGEST_INT, default, documentation }
}

static TUNABLES: [TunableInfo; 5] = [
    time("read_expire", 125, "How long a sync request may wait before it is served ahead of its turn."),
    time("write_expire", 250, "How long an async request may wait before it is served ahead of its turn."),
    time("antic_expire", 6, "How long to wait at most for the next request of the process just served."),
    time("read_batch_expire", 500, "How long sync requests are served while async ones wait."),
    time("write_batch_expire", 125, "How long async requests should be served while sync ones wait."),
];

impl AnticipatoryTunables {
    /// The kernel's defaults.
    #[must_use]
    pub fn for_clock(clock: &Clock) -> Self {
        let hz = clock.hz();
        Self {
            read_expire_jiffies: hz / 8,
            write_expire_jiffies: hz / 4,
            read_batch_expire_jiffies: hz / 2,
            write_batch_expire_jiffies: hz / 8,
            antic_expire_jiffies: (hz / 150).max(1),
        }
    }

    /// Every tunable: name, unit, range, default, meaning.
    #[must_use]
    pub fn info() -> &'static [TunableInfo] {
        &TUNABLES
    }

    /// Sets the tunable with the sysfs name `name` to `value`, in the unit that [`Self::info`] gives.
    ///
    /// # Errors
    /// No such tunable, or the value is out of range; nothing is changed then.
    pub fn set(&mut self, name: &str, value: u64, clock: &Clock) -> Result<(), TunableError> {
        let info = check(&TUNABLES, name, value)?;
        let field = match info.name {
            "read_expire" => &mut self.read_expire_jiffies,
            "write_expire" => &mut self.write_expire_jiffies,
            "antic_expire" => &mut self.antic_expire_jiffies,
            "read_batch_expire" => &mut self.read_batch_expire_jiffies,
            _ => &mut self.write_batch_expire_jiffies,
        };
        *field = jiffies_from_sysfs_ms(clock, value);
        Ok(())
    }

    /// After how many jiffies a request of this kind expires.
    pub(super) fn expire_jiffies(&self, kind: Sync) -> u64 {
        match kind {
            Sync::Sync => self.read_expire_jiffies,
            Sync::Async => self.write_expire_jiffies,
        }
    }

    /// How long a batch of this kind lasts, in jiffies.
    pub(super) fn batch_jiffies(&self, kind: Sync) -> u64 {
        match kind {
            Sync::Sync => self.read_batch_expire_jiffies,
            Sync::Async => self.write_batch_expire_jiffies,
        }
    }
}
