//! Does the device queue commands? CFQ finds out by looking.
//!
//! *Follows:* model/block-layer.md, section 2.13; Linux `cfq_update_hw_tag`.

use super::Cfq;
use super::policy::NcqDetection;

/// Requests that count as load, and the depth that shows queueing.
const HW_QUEUE_MIN: u32 = 5;
/// Samples under load before a verdict.
const SAMPLES: u32 = 50;

/// The verdict and the samples behind it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct HwTag {
    /// `None`: not known yet, which counts as yes.
    verdict: Option<bool>,
    peak: u32,
    samples: u32,
}

impl HwTag {
    pub(super) fn new(detection: NcqDetection) -> Self {
        let verdict = if detection == NcqDetection::Sticky { None } else { Some(true) };
        Self { verdict, peak: 0, samples: 0 }
    }

    pub(super) fn is_set(self) -> bool {
        self.verdict.unwrap_or(true)
    }
}

impl Cfq {
    /// Takes a sample at a completion, before the request is uncounted.
    pub(super) fn update_hw_tag(&mut self) {
        let in_driver = self.driver_total();
        let detection = self.policy.ncq_detection;
        self.hw_tag.peak = self.hw_tag.peak.max(in_driver);
        if detection == NcqDetection::Sticky && self.hw_tag.verdict == Some(true) {
            return;
        }
        if self.held <= HW_QUEUE_MIN && in_driver <= HW_QUEUE_MIN {
            return;
        }
        if detection != NcqDetection::Periodic && self.active_queue_is_too_shallow(in_driver) {
            return;
        }
        self.hw_tag.samples += 1;
        if self.hw_tag.samples <= SAMPLES {
            return;
        }
        self.hw_tag.verdict = Some(self.hw_tag.peak >= HW_QUEUE_MIN);
        if detection != NcqDetection::Sticky {
            self.hw_tag.samples = 0;
            self.hw_tag.peak = 0;
        }
    }

    /// A queue that is idled for and has few requests says nothing about the device.
    fn active_queue_is_too_shallow(&self, in_driver: u32) -> bool {
        self.active.is_some_and(|id| {
            let queue = self.queue(id);
            queue.idle_window && queue.dispatched + queue.held() < HW_QUEUE_MIN && in_driver < HW_QUEUE_MIN
        })
    }
}
