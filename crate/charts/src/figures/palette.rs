//! Which colour and which pattern means what, in every figure.

use crate::describe::{Category, Fill, Tone};
use stallarium_sim::mm::Lru;
use stallarium_sim::observe::{CauseKind, WaitKind};
use stallarium_sim::simulation::{DirectSleep, KswapdDoing};

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

/// A task's own reclaim, on its CPU.
pub(super) fn reclaiming() -> Category {
    Category::new("reclaiming on the CPU", Tone::Series(2), Fill::Solid)
}

/// The category of what keeps a task from its memory.
pub(super) fn direct_sleep(cause: DirectSleep) -> Category {
    let (tone, fill) = match cause {
        DirectSleep::Retry => (Tone::Bad, Fill::Solid),
        DirectSleep::Reclaim => (Tone::Bad, Fill::Rising),
        DirectSleep::Lumpy | DirectSleep::Isolated | DirectSleep::Writeout => (Tone::Bad, Fill::Hatched),
        DirectSleep::PageWritten => (Tone::Series(0), Fill::Solid),
        DirectSleep::FreeRequest => (Tone::Series(6), Fill::Solid),
        DirectSleep::Killed => (Tone::Bad, Fill::Tint),
    };
    Category::new(cause.words(), tone, fill)
}

/// The category of what kswapd does: the lower the priority, the fuller the colour.
pub(super) fn kswapd(doing: KswapdDoing) -> Category {
    let (tone, fill) = match doing {
        KswapdDoing::Asleep => (Tone::Faint, Fill::Solid),
        KswapdDoing::Dozing => (Tone::Faint, Fill::Rising),
        KswapdDoing::Lightly => (Tone::Series(2), Fill::Hatched),
        KswapdDoing::Harder => (Tone::Series(2), Fill::Rising),
        KswapdDoing::Desperately => (Tone::Series(2), Fill::Solid),
        KswapdDoing::Napping => (Tone::Bad, Fill::Rising),
        KswapdDoing::Device => (Tone::Series(0), Fill::Solid),
    };
    Category::new(doing.words(), tone, fill)
}

/// The categories of those who reclaim, zone by zone: colour says who, pattern where. `places` are kswapd's, then those of tasks.
pub(super) fn reclaimers(places: &[(bool, String)]) -> Vec<Category> {
    let fills = [Fill::Solid, Fill::Hatched, Fill::Falling];
    let categories = places.iter().enumerate().map(|(index, (direct, zone))| {
        let (name, tone) = if *direct { ("direct reclaim", Tone::Bad) } else { ("kswapd", Tone::Series(2)) };
        let fill = fills.get(index % (places.len() / 2).max(1)).copied().unwrap_or_default();
        Category::new(format!("{name} in {zone}"), tone, fill)
    });
    categories.collect()
}

/// The categories of what memory holds: the LRU lists, what is free, what is neither.
pub(super) fn memory() -> Vec<Category> {
    let tones = [
        (Tone::Series(1), Fill::Hatched),
        (Tone::Series(1), Fill::Solid),
        (Tone::Series(0), Fill::Hatched),
        (Tone::Series(0), Fill::Solid),
        (Tone::Series(3), Fill::Solid),
    ];
    let lists = Lru::ALL.into_iter().zip(tones);
    let mut categories: Vec<Category> =
        lists.map(|(list, (tone, fill))| Category::new(list.words(), tone, fill)).collect();
    categories.push(Category::new("free", Tone::Faint, Fill::Solid));
    categories.push(Category::new("page tables and the kernel's own", Tone::Neutral, Fill::Solid));
    categories
}
