//! Barriers and cache flushes: the steps of one ordered write.
//!
//! *Models:* ordering by draining with flushes around the write (up to 2.6.36), and the flush
//! sequence beside other requests (from 2.6.37).
//! *Does not model:* ordering by tag, errors.
//! *Follows:* model/block-layer.md, section 1.8; Linux 2.6.35 block/blk-barrier.c
//! `start_ordered`, `blk_do_ordered`; 2.6.37 block/blk-flush.c `blk_do_flush`.

use super::bio::{Bio, BioFlags};
use super::policy::BarrierRule;
use super::request::{RequestId, RequestPool};
use crate::device::Device;
use crate::observe::HeldReason;
use std::collections::VecDeque;

/// The device's tag for a flush command; request tags are indices and never get this high.
pub(super) const FLUSH_TAG: u32 = u32::MAX;

/// A step of the sequence.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Stage {
    /// Waits until the device is empty.
    Drain,
    /// Flushes the cache before the write.
    PreFlush,
    /// The write itself.
    Data,
    /// Flushes the cache after the write.
    PostFlush,
    /// Nothing left to do.
    Done,
}

#[derive(Clone, Copy, Debug)]
struct Active {
    request: RequestId,
    stage: Stage,
    /// The stage's command is in the device.
    running: bool,
}

/// What the driver may do now.
pub(super) enum Turn {
    /// No sequence holds anything up.
    Free,
    /// Nothing may start.
    Wait,
    /// Nothing may start, but the sequence has no more commands to send: the driver goes on to ask
    /// the elevator for a request, which then has to wait.
    LastCommandRunning,
    /// A flush command.
    Flush,
    /// The ordered write.
    Data(RequestId),
    /// The sequence is complete: so is its request.
    Done(RequestId),
}

/// Carries out one barrier or flush request at a time.
#[derive(Clone, Debug)]
pub(super) struct Sequencer {
    rule: BarrierRule,
    has_volatile_cache: bool,
    supports_fua: bool,
    active: Option<Active>,
    /// Flush requests that wait for the active one (2.6.37).
    pending: VecDeque<RequestId>,
}

impl Sequencer {
    pub(super) fn new(device: &impl Device, rule: BarrierRule) -> Self {
        Self {
            rule,
            has_volatile_cache: device.has_volatile_cache(),
            supports_fua: device.supports_fua(),
            active: None,
            pending: VecDeque::new(),
        }
    }

    /// Whether a request goes around the elevator.
    pub(super) fn is_special(flags: BioFlags) -> bool {
        flags.has_any(BioFlags::BARRIER.with(BioFlags::FLUSH).with(BioFlags::FUA))
    }

    /// From 2.6.37, FLUSH and FUA mean nothing to a device without a volatile cache.
    pub(super) fn strip_flags(&self, bio: Bio) -> Bio {
        if self.rule == BarrierRule::FlushSequence && !self.has_volatile_cache && bio.sectors > 0 {
            return Bio { flags: bio.flags.without(BioFlags::FLUSH.with(BioFlags::FUA)), ..bio };
        }
        bio
    }

    /// Takes a barrier or flush request from the head of the dispatch list.
    pub(super) fn begin(&mut self, request: RequestId) {
        if self.active.is_some() {
            self.pending.push_back(request);
            return;
        }
        let stage = match self.rule {
            BarrierRule::Drain => Stage::Drain,
            BarrierRule::FlushSequence => Stage::PreFlush,
        };
        self.active = Some(Active { request, stage, running: false });
    }

    /// Moves past stages that need nothing, and says whose turn it is. `idle`: no request is in the
    /// device.
    pub(super) fn turn(&mut self, requests: &RequestPool, idle: bool) -> Turn {
        loop {
            let Some(active) = &self.active else {
                let Some(next) = self.pending.pop_front() else { return Turn::Free };
                self.begin(next);
                continue;
            };
            let Active { request, stage, running } = *active;
            if running {
                return match self.rule {
                    BarrierRule::FlushSequence => Turn::Free,
                    BarrierRule::Drain if self.is_last(requests, request, stage) => Turn::LastCommandRunning,
                    BarrierRule::Drain => Turn::Wait,
                };
            }
            match stage {
                Stage::Drain if !idle => return Turn::Wait,
                Stage::Done => {
                    self.active = None;
                    return Turn::Done(request);
                }
                Stage::Data if self.needs(requests, request, stage) => return Turn::Data(request),
                _ if self.needs(requests, request, stage) => return Turn::Flush,
                _ => self.finish_stage(),
            }
        }
    }

    /// Whether a stage sends a command for this request.
    fn needs(&self, requests: &RequestPool, request: RequestId, stage: Stage) -> bool {
        let (sectors, flags) = (requests[request].sectors, requests[request].flags);
        match stage {
            Stage::Drain | Stage::Done => false,
            Stage::PreFlush => {
                self.has_volatile_cache && flags.has_any(BioFlags::BARRIER.with(BioFlags::FLUSH))
            }
            Stage::Data => sectors > 0,
            Stage::PostFlush => {
                let wants_fua = flags.has_any(BioFlags::BARRIER.with(BioFlags::FUA));
                self.has_volatile_cache && wants_fua && !self.supports_fua && sectors > 0
            }
        }
    }

    /// Whether no stage after this one sends a command.
    fn is_last(&self, requests: &RequestPool, request: RequestId, stage: Stage) -> bool {
        let mut later = stage.next();
        while later != Stage::Done {
            if self.needs(requests, request, later) {
                return false;
            }
            later = later.next();
        }
        true
    }

    /// The device has taken a request; it may be the sequence's own.
    pub(super) fn started(&mut self, request: RequestId) {
        if let Some(active) = self.active.as_mut().filter(|active| active.request == request) {
            active.running = true;
        }
    }

    pub(super) fn flush_started(&mut self) {
        if let Some(active) = &mut self.active {
            active.running = true;
        }
    }

    pub(super) fn flush_finished(&mut self) {
        self.finish_stage();
    }

    /// A request is done; whether it is the sequence's own, which goes on.
    pub(super) fn data_finished(&mut self, request: RequestId) -> bool {
        let own = self.active.is_some_and(|active| active.request == request && active.running);
        if own {
            self.finish_stage();
        }
        own
    }

    fn finish_stage(&mut self) {
        if let Some(active) = &mut self.active {
            active.running = false;
            active.stage = active.stage.next();
        }
    }

    /// Whether a request of a sequence is waiting to be started.
    pub(super) fn holds_request(&self) -> bool {
        !self.pending.is_empty() || self.active.is_some_and(|active| !active.running)
    }

    /// Why other requests are held, if a sequence is the reason.
    pub(super) fn held_reason(&self) -> Option<HeldReason> {
        let active = self.active?;
        match (self.rule, active.stage) {
            (_, Stage::PreFlush | Stage::PostFlush) if active.running => Some(HeldReason::Flushing),
            (BarrierRule::Drain, _) => Some(HeldReason::Draining),
            (BarrierRule::FlushSequence, _) => None,
        }
    }
}

impl Stage {
    fn next(self) -> Self {
        match self {
            Self::Drain => Self::PreFlush,
            Self::PreFlush => Self::Data,
            Self::Data => Self::PostFlush,
            Self::PostFlush | Self::Done => Self::Done,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::block::{BioTag, IoClass, Submitter};
    use crate::device::{AnyDevice, preset};

    const WRITE: BioFlags = BioFlags::WRITE;

    /// The commands of one request's sequence, in order.
    fn commands(device: &str, rule: BarrierRule, flags: BioFlags, sectors: u32) -> Vec<&'static str> {
        let options = preset(device).expect("a named device").options();
        let device = AnyDevice::new(&options, 1).expect("valid options");
        let mut sequencer = Sequencer::new(&device, rule);
        let mut requests = RequestPool::new();
        let submitter = Submitter { task: 1, io_context: 1, class: IoClass::BestEffort, priority: 4 };
        let bio = sequencer.strip_flags(Bio { sector: 0, sectors, flags, submitter, tag: BioTag(0) });
        let request = requests.allocate(&bio, 0, 0);
        if !Sequencer::is_special(bio.flags) {
            return vec!["ordinary"];
        }
        sequencer.begin(request);
        let mut commands = Vec::new();
        if rule == BarrierRule::Drain {
            assert!(matches!(sequencer.turn(&requests, false), Turn::Wait), "it drains first");
        }
        loop {
            match sequencer.turn(&requests, true) {
                Turn::Flush => {
                    commands.push("flush");
                    sequencer.flush_started();
                    sequencer.flush_finished();
                }
                Turn::Data(own) => {
                    commands.push("write");
                    sequencer.started(own);
                    assert!(sequencer.data_finished(own));
                }
                Turn::Done(_) => return commands,
                _ => panic!("it is held up by nothing"),
            }
        }
    }

    /// Section 1.8: which commands a barrier, a flush or a write with FUA becomes, with and without a volatile
    /// cache; none of the devices supports FUA.
    #[test]
    fn sequences_by_flags_and_device() {
        let (barrier, flush, fua) = (BioFlags::BARRIER, BioFlags::FLUSH, BioFlags::FUA);
        let (drain, sequence) = (BarrierRule::Drain, BarrierRule::FlushSequence);
        for (device, rule, flags, sectors, expected) in [
            ("sata", drain, WRITE.with(barrier), 8, &["flush", "write", "flush"][..]),
            ("sata", drain, WRITE.with(barrier), 0, &["flush"]),
            ("array", drain, WRITE.with(barrier), 8, &["write"]),
            ("array", drain, WRITE.with(barrier), 0, &[]),
            ("sata", sequence, WRITE.with(flush).with(fua), 8, &["flush", "write", "flush"]),
            ("sata", sequence, WRITE.with(flush), 8, &["flush", "write"]),
            ("sata", sequence, WRITE.with(fua), 8, &["write", "flush"]),
            ("sata", sequence, WRITE.with(flush), 0, &["flush"]),
            ("array", sequence, WRITE.with(flush).with(fua), 8, &["ordinary"]),
            ("array", sequence, WRITE.with(flush), 0, &[]),
        ] {
            assert_eq!(
                commands(device, rule, flags, sectors),
                expected,
                "{device} {rule:?} {flags:?} {sectors}"
            );
        }
    }
}
