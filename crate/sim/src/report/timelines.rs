//! Timelines as results carry them: a bounded series with what it shows.

use crate::mm::Lru;
use crate::observe::{Bucket, Series};
use crate::simulation::{KswapdDoing, Watched};
use serde::{Deserialize, Serialize};

/// A bounded series over a whole run.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Timeline {
    /// What it shows, in words.
    pub name: String,
    /// The unit of [`Self::value`]: `requests`, `files/s`, `MB/s`, `share`.
    pub unit: String,
    /// What it shows, for programs.
    pub subject: Subject,
    /// How its buckets are to be read.
    pub kind: TimelineKind,
    /// The width of a bucket, in nanoseconds. The last bucket may be only partly covered: see [`Self::covered_ns`].
    pub bucket_ns: u64,
    /// Until when it was recorded, in nanoseconds.
    pub end_ns: u64,
    /// The buckets, from time 0 on.
    pub buckets: Vec<Bucket>,
}

/// How a timeline's buckets are to be read.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum TimelineKind {
    /// A value in effect: `sum` is its integral over time, so the mean is `sum` by the covered time.
    Gauge,
    /// Amounts that happened: `sum` by the covered time is the rate.
    Rate,
    /// Something is so or is not: `sum` by the covered time is the share of time, 0 to 1.
    Share,
}

/// What a timeline shows.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Subject {
    /// Requests in the device.
    InDevice,
    /// Requests that wait in the elevator or on the dispatch list.
    Waiting,
    /// Units of work counted by a mark.
    Mark {
        /// The process.
        process: String,
        /// The mark.
        mark: String,
    },
    /// Bytes that a process has read.
    BytesRead {
        /// The process.
        process: String,
    },
    /// Bytes that a process has written.
    BytesWritten {
        /// The process.
        process: String,
    },
    /// What the device's time was used for. The shares of all turns add up to 1.
    Turn(Turn),
    /// Free pages of a zone.
    FreePages {
        /// As the kernel prints it: `DMA32`.
        zone: String,
    },
    /// Pages that reclaim looked at in a zone.
    Scanned {
        /// As the kernel prints it: `DMA32`.
        zone: String,
        /// By tasks that wanted memory; otherwise by kswapd.
        direct: bool,
    },
    /// Pages that reclaim freed in a zone.
    Freed {
        /// As the kernel prints it: `DMA32`.
        zone: String,
        /// By tasks that wanted memory; otherwise by kswapd.
        direct: bool,
    },
    /// Pages on an LRU list, in all zones.
    OnList(Lru),
    /// kswapd's time. The shares of all that it does add up to 1.
    Kswapd(KswapdDoing),
    /// Pages changed and not on their way to the device (`nr_dirty`).
    Dirty,
    /// Pages on their way to the device (`nr_writeback`).
    UnderWriteback,
    /// How many sync queues CFQ reckons with when it sizes slices (`busy_queues_avg`).
    BusyAverage,
}

/// Whose turn it was, doing what.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Turn {
    /// The device works in the slice of this process.
    Slice(String),
    /// The device works in the slice of the shared async queues.
    AsyncSlice,
    /// The device works in nobody's slice.
    NoSlice,
    /// The scheduler keeps the device idle for this process's next request.
    IdleFor(String),
    /// The scheduler keeps the device idle, and does not say for whom.
    Idle,
    /// The queue is plugged.
    Plugged,
    /// A barrier lets everything before it finish.
    Draining,
    /// The device writes its cache to the medium.
    Flushing,
    /// Nothing to do, or nobody has run the queue yet.
    Nothing,
}

impl Turn {
    /// In words.
    #[must_use]
    pub fn describe(&self) -> String {
        match self {
            Self::Slice(process) => format!("{process}'s slice"),
            Self::AsyncSlice => "slice of buffered writeback".to_owned(),
            Self::NoSlice => "device busy".to_owned(),
            Self::IdleFor(process) => format!("idling for {process}"),
            Self::Idle => "idling".to_owned(),
            Self::Plugged => "plugged".to_owned(),
            Self::Draining => "draining for a barrier".to_owned(),
            Self::Flushing => "flushing the device's cache".to_owned(),
            Self::Nothing => "nothing to do".to_owned(),
        }
    }
}

impl Timeline {
    /// A series with what it shows, closed at `end_ns`.
    #[must_use]
    pub fn new(subject: Subject, series: &Series, end_ns: u64) -> Self {
        let mut series = series.clone();
        let (name, unit, kind) = describe(&subject);
        if kind != TimelineKind::Rate {
            series.settle(end_ns);
        }
        let mut buckets = series.buckets().to_vec();
        if kind == TimelineKind::Rate {
            // A run may go on after the last count; the stretch without any is part of the picture.
            let whole = end_ns.div_ceil(series.bucket_ns()).min(1 << 20) as usize;
            buckets.resize(buckets.len().max(whole), Bucket::default());
        }
        Self { name, unit, subject, kind, bucket_ns: series.bucket_ns(), end_ns, buckets }
    }

    /// How much of a bucket's width lies within the recorded time, in nanoseconds.
    #[must_use]
    pub fn covered_ns(&self, bucket: usize) -> u64 {
        let from = (bucket as u64).saturating_mul(self.bucket_ns);
        self.end_ns.saturating_sub(from).min(self.bucket_ns)
    }

    /// A bucket's value in [`Self::unit`]: mean of a gauge, rate, share; 0 outside.
    #[must_use]
    pub fn value(&self, bucket: usize) -> f64 {
        let covered = self.covered_ns(bucket);
        let Some(entry) = self.buckets.get(bucket) else { return 0.0 };
        if covered == 0 {
            return 0.0;
        }
        entry.sum as f64 * self.per_sum() / covered as f64
    }

    /// The mean over the whole time, in [`Self::unit`].
    #[must_use]
    pub fn mean(&self) -> f64 {
        let sum: u64 = self.buckets.iter().map(|bucket| bucket.sum).sum();
        if self.end_ns == 0 { 0.0 } else { sum as f64 * self.per_sum() / self.end_ns as f64 }
    }

    /// What one of a bucket's `sum` by one nanosecond is in [`Self::unit`].
    fn per_sum(&self) -> f64 {
        match (&self.subject, self.kind) {
            (Subject::BytesRead { .. } | Subject::BytesWritten { .. }, _) => 1e3,
            (_, TimelineKind::Rate) => 1e9,
            _ => 1.0,
        }
    }
}

/// Who reclaims, in words.
fn reclaimer(direct: bool) -> &'static str {
    if direct { "direct reclaim" } else { "kswapd" }
}

impl Subject {
    /// Of a series of reclaim.
    pub(super) fn of_reclaim(watched: Watched) -> Self {
        match watched {
            Watched::Scanned(kind, direct) => Self::Scanned { zone: kind.name().to_owned(), direct },
            Watched::Freed(kind, direct) => Self::Freed { zone: kind.name().to_owned(), direct },
            Watched::Pages(list) => Self::OnList(list),
            Watched::Kswapd(doing) => Self::Kswapd(doing),
        }
    }
}

/// Name, unit and kind.
fn describe(subject: &Subject) -> (String, String, TimelineKind) {
    let (name, unit, kind) = match subject {
        Subject::InDevice => ("requests in the device".to_owned(), "requests", TimelineKind::Gauge),
        Subject::Waiting => ("requests waiting".to_owned(), "requests", TimelineKind::Gauge),
        Subject::Mark { process, mark } => {
            return (format!("{process}: {mark}"), format!("{mark}/s"), TimelineKind::Rate);
        }
        Subject::BytesRead { process } => (format!("{process}: read"), "MB/s", TimelineKind::Rate),
        Subject::BytesWritten { process } => (format!("{process}: written"), "MB/s", TimelineKind::Rate),
        Subject::FreePages { zone } => (format!("free pages of {zone}"), "pages", TimelineKind::Gauge),
        Subject::Scanned { zone, direct } => {
            (format!("pages of {zone} scanned by {}", reclaimer(*direct)), "pages/s", TimelineKind::Rate)
        }
        Subject::Freed { zone, direct } => {
            (format!("pages of {zone} freed by {}", reclaimer(*direct)), "pages/s", TimelineKind::Rate)
        }
        Subject::OnList(list) => (list.words().to_owned(), "pages", TimelineKind::Gauge),
        Subject::Kswapd(doing) => (format!("kswapd: {}", doing.words()), "share", TimelineKind::Share),
        Subject::Dirty => ("dirty pages".to_owned(), "pages", TimelineKind::Gauge),
        Subject::UnderWriteback => ("pages under writeback".to_owned(), "pages", TimelineKind::Gauge),
        Subject::Turn(turn) => (turn.describe(), "share", TimelineKind::Share),
        Subject::BusyAverage => ("busy queues, averaged by CFQ".to_owned(), "queues", TimelineKind::Gauge),
    };
    (name, unit.to_owned(), kind)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Means, rates and shares come out in their units, in a bucket that is only half covered too.
    #[test]
    fn values_have_their_units() {
        let mut depth = Series::new(1000, 8);
        depth.set(0, 2);
        depth.set(500, 4);
        let depth = Timeline::new(Subject::InDevice, &depth, 1500);
        assert_eq!((depth.value(0), depth.value(1), depth.covered_ns(1)), (3.0, 4.0, 500));

        let mut bytes = Series::new(1_000_000_000, 8);
        bytes.count(10, 50_000_000);
        bytes.count(20, 100_000_000);
        let bytes = Timeline::new(Subject::BytesRead { process: "fio".into() }, &bytes, 2_000_000_000);
        assert_eq!((bytes.value(0), bytes.value(1), bytes.mean()), (150.0, 0.0, 75.0));

        let mut files = Series::new(1_000_000_000, 8);
        (0..100).for_each(|n| files.count(n, 1));
        let subject = Subject::Mark { process: "fs_mark".into(), mark: "files".into() };
        let files = Timeline::new(subject, &files, 500_000_000);
        assert_eq!((files.value(0), files.unit.as_str()), (200.0, "files/s"));
    }
}
