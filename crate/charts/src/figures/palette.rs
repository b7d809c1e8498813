//! Which colour and which pattern means what, in every figure.

use crate::describe::{Category, Fill, Tone};
use stallarium_sim::observe::{CauseKind, WaitKind};

/// The category of a cause of waiting.
///
/// Idling is what the experiments are about, so it alone has the colour of what one does not want.
pub(super) fn cause(kind: CauseKind, via_journal: bool) -> Category {
    let (tone, fill) = match kind {
        CauseKind::OnCpu => (Tone::Series(2), Fill::Solid),
        CauseKind::WaitCpu => (Tone::Series(2), Fill::Tint),
        CauseKind::InDevice => (Tone::Series(0), Fill::Solid),
        CauseKind::DeviceBusy => (Tone::Series(0), Fill::Rising),
        CauseKind::OtherSlice => (Tone::Series(1), Fill::Solid),
        CauseKind::Idling => (Tone::Bad, Fill::Hatched),
        CauseKind::Plugged => (Tone::Series(4), Fill::Solid),
        CauseKind::Draining => (Tone::Series(3), Fill::Rising),
        CauseKind::Flushing => (Tone::Series(3), Fill::Solid),
        CauseKind::NotRun => (Tone::Series(4), Fill::Tint),
        CauseKind::NoFreeRequest => (Tone::Series(6), Fill::Solid),
        CauseKind::Journal => (Tone::Series(5), Fill::Solid),
        CauseKind::Congestion => (Tone::Bad, Fill::Rising),
        CauseKind::OutOfMemory => (Tone::Bad, Fill::Tint),
        CauseKind::Throttled => (Tone::Bad, Fill::Solid),
        CauseKind::FileBusy => (Tone::Series(6), Fill::Rising),
        CauseKind::Sleep | CauseKind::Work | CauseKind::Start | CauseKind::Ended => {
            (Tone::Faint, Fill::Solid)
        }
    };
    let fill = match (via_journal, fill) {
        (true, Fill::Solid) => Fill::Half,
        (true, Fill::Rising) => Fill::Falling,
        (_, fill) => fill,
    };
    let label = kind.label();
    let label = if via_journal { format!("journal thread: {label}") } else { label.to_owned() };
    Category::new(label, tone, fill)
}

/// The category of what a blocked task waits for.
pub(super) fn wait(kind: WaitKind) -> Category {
    let (label, tone, fill) = match kind {
        WaitKind::Read => ("waits for a read", Tone::Series(0), Fill::Solid),
        WaitKind::Write => ("waits for a write", Tone::Series(1), Fill::Rising),
        WaitKind::Commit => ("waits for the commit", Tone::Series(3), Fill::Hatched),
        WaitKind::FreeRequest => ("waits for a free request", Tone::Bad, Fill::Solid),
        WaitKind::Sleep => ("sleeps", Tone::Faint, Fill::Solid),
        WaitKind::Work => ("nothing to do", Tone::Faint, Fill::Thin),
        WaitKind::Congestion => ("sleeps for congestion to end", Tone::Bad, Fill::Rising),
        WaitKind::Throttle => ("held up: too many dirty pages", Tone::Bad, Fill::Hatched),
        WaitKind::Start => ("waits for other processes", Tone::Faint, Fill::Tint),
    };
    Category::new(label, tone, fill)
}
