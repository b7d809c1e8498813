//! One figure of each kind, made up but shaped like the real ones: a process that creates files and syncs each,
//! beside a sequential reader, under CFQ. Used by the tests and by the gallery.

use stallarium_charts::describe::{
    Arrangement, Axis, Band, Bar, BarSeries, Bars, Bucket, Category, Dot, DotKind, DotSeries, Dots, Event,
    EventKind, Figure, Fill, Histogram, HistogramSeries, Interval, Lane, Lanes, LineSeries, LineShape, Lines,
    Marker, Measure, Rule, Span, Stacked, StackedBar, Tone, Unit,
};

const MS: u64 = 1_000_000;

/// Numbers that look random and are the same everywhere (a 64-bit linear congruential generator).
struct Dice(u64);

impl Dice {
    fn below(&mut self, limit: u64) -> u64 {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (self.0 >> 33) % limit.max(1)
    }
}

/// Every sample with a file name for it.
pub(crate) fn all() -> Vec<(&'static str, Figure)> {
    vec![
        ("lanes", lanes()),
        ("lanes-shared", lanes_shared()),
        ("dots", dots()),
        ("lines", lines()),
        ("lines-marks", lines_marks()),
        ("bars", bars()),
        ("bars-log", bars_log()),
        ("stacked", stacked()),
        ("stacked-total", stacked_total()),
        ("histogram", histogram()),
        ("histogram-overlaid", histogram_overlaid()),
    ]
}

/// Whose slice is served, and what each process does, over 120 ms.
pub(crate) fn lanes() -> Figure {
    let mut dice = Dice(1);
    let mut service = Lane::new("served queue");
    let mut fs_mark = Lane::new("fs_mark");
    let mut journal = Lane::new("jbd2/sda1-8");
    let mut reader = Lane::new("reader");
    let mut at = 0;
    while at < 118 * MS {
        let busy = MS / 2 + dice.below(MS);
        service.intervals.push(Interval::new(at, at + busy, 0));
        service.events.push(Event::new(at, 0));
        fs_mark.intervals.push(Interval::new(at, at + MS / 5, 0));
        fs_mark.intervals.push(Interval::new(at + MS / 5, at + busy, 1));
        let idle = if dice.below(4) == 0 { 2 * MS } else { 8 * MS };
        let verdict = if idle == 8 * MS { 4 } else { 3 };
        let mut wait = Interval::new(at + busy, at + busy + idle, verdict);
        if idle == 8 * MS {
            wait.label = Some("slice_idle 8 ms".into());
        }
        service.intervals.push(wait);
        fs_mark.intervals.push(Interval::new(at + busy, at + busy + idle, 2));
        let commit = at + busy + idle;
        let length = MS / 3 + dice.below(MS / 2);
        service.intervals.push(Interval::new(commit, commit + length, 1));
        service.events.push(Event::new(commit, 0));
        journal.intervals.push(Interval::new(commit, commit + length, 1));
        journal.events.push(Event::new(commit + length, 1));
        let read = commit + length;
        let reading = 2 * MS + dice.below(3 * MS);
        service.intervals.push(Interval::new(read, read + reading, 2));
        reader.intervals.push(Interval::new(read, read + reading, 1));
        reader.intervals.push(Interval::new(at, read, 2));
        at = read + reading;
    }
    let mut chart = Lanes {
        span: Span::new(0, 120 * MS),
        categories: vec![
            Category::new("fs_mark / on CPU", Tone::Series(0), Fill::Solid),
            Category::new("journal / in the device", Tone::Series(1), Fill::Rising),
            Category::new("reader / queued behind another's slice", Tone::Series(2), Fill::Tint),
            Category::new("idling, rewarded", Tone::Good, Fill::Half),
            Category::new("idling, in vain", Tone::Bad, Fill::Hatched),
        ],
        kinds: vec![
            EventKind::new("slice begins", Tone::Neutral, Marker::Triangle),
            EventKind::new("commit done", Tone::Bad, Marker::Tick),
        ],
        lanes: vec![service, fs_mark, journal, reader],
        is_shared: false,
    };
    chart.lanes.truncate(4);
    Figure::new("Whose slice is being served", chart)
        .subtitle("fs_mark beside a sequential reader, vanilla CFQ 2.6.35, FC array, seed 7")
        .summary("The scheduler idles for fs_mark after each of its writes, mostly in vain, because the journal thread has to write next.")
        .note("Idling is in vain when the timer runs out before the queue it waits for sends a request.")
}

/// What kswapd does under two kernels: less and less sleep.
pub(crate) fn lanes_shared() -> Figure {
    let lane = |label: &str, asleep: u64| {
        let mut lane = Lane::new(label);
        for step in 0..40u64 {
            let asleep = asleep.saturating_sub(step * 2) as f64 / 128.0;
            for (category, band) in
                [(0.0, asleep), (asleep, asleep + 0.125), (asleep + 0.125, 1.0)].into_iter().enumerate()
            {
                lane.intervals.push(Interval { band, ..Interval::new(step * MS, (step + 1) * MS, category) });
            }
        }
        lane
    };
    let categories = vec![
        Category::new("asleep", Tone::Faint, Fill::Solid),
        Category::new("napping", Tone::Bad, Fill::Rising),
        Category::new("balancing", Tone::Series(2), Fill::Hatched),
    ];
    let chart = Lanes {
        span: Span::new(0, 40 * MS),
        categories,
        kinds: Vec::new(),
        lanes: vec![lane("with the nap", 90), lane("without", 60)],
        is_shared: true,
    };
    Figure::new("What kswapd does", chart).summary("It sleeps less and less.")
}

/// Free pages that fall to marks which lie close together, and a limit alone.
pub(crate) fn lines_marks() -> Figure {
    let mut free = LineSeries::slot("free", 0, LineShape::Step);
    free.buckets =
        (0..60u64).map(|step| Bucket::point(step * MS, (470_000 >> step.min(9)) as f64 + 900.0)).collect();
    let marks = [(955.0, "min 955"), (1193.0, "low 1193"), (1432.0, "high 1432"), (90_000.0, "limit")];
    let chart = Lines {
        span: Span::new(0, 60 * MS),
        y: Axis::new("free pages, logarithmic", Unit::named("pages")).log(),
        series: vec![free],
        rules: marks.map(|(value, label)| Rule::new(value, label)).to_vec(),
    };
    Figure::new("Free memory against its marks", chart).summary("It falls to its marks.")
}

/// Dispatches: three files far apart.
pub(crate) fn dots() -> Figure {
    let mut dice = Dice(2);
    let gib = 2_097_152.0;
    let mut files = DotSeries::new("fs_mark", Tone::Series(0));
    let mut journal = DotSeries::new("jbd2/sda1-8", Tone::Series(1));
    let mut reader = DotSeries::new("reader", Tone::Series(2));
    let mut read_at = 40.0 * gib;
    let mut block = 3.2 * gib;
    let mut log = 12.5 * gib;
    for step in 0..900u64 {
        let at = step * 2 * MS + dice.below(MS);
        if step % 9 < 6 {
            reader.dots.push(Dot::new(at, read_at, 0));
            read_at += 256.0;
        } else if step % 9 == 6 {
            files.dots.push(Dot::new(at, block, 1));
            block += 8.0 + dice.below(400) as f64;
            if dice.below(12) == 0 {
                files.dots.push(Dot::new(at + MS / 2, 3.2 * gib + dice.below(30_000) as f64, 2));
            }
        } else {
            journal.dots.push(Dot::new(at, log, 1));
            log = if log > 12.5 * gib + 5_000.0 { 12.5 * gib } else { log + 24.0 };
        }
    }
    let mut chart = Dots {
        span: Span::new(0, 1_800 * MS),
        y: Axis::new("place on the disk", Unit::Sectors),
        bands: Vec::new(),
        kinds: vec![
            DotKind::new("read", Marker::Disc),
            DotKind::new("sync write", Marker::Square),
            DotKind::new("async write", Marker::Cross),
        ],
        series: vec![files, journal, reader],
    };
    chart.cut_into_bands(3);
    for (band, label) in chart.bands.iter_mut().zip(["new files", "journal", "the reader's file"]) {
        *band = Band::new(label, band.low, band.high);
    }
    Figure::new("Where the head goes", chart)
        .subtitle("each mark is one request sent to the disk; the three ranges are cut out of 64 GiB")
        .summary("The reader's file is read from end to end, in stretches between the writes of fs_mark and of the journal.")
}

/// Queue depth and a rate.
pub(crate) fn lines() -> Figure {
    let mut dice = Dice(3);
    let mut waiting = LineSeries::slot("in the elevator", 0, LineShape::Step);
    let mut device = LineSeries::slot("in the device", 1, LineShape::Step);
    let mut mean = LineSeries::slot("mean over 1 s", 2, LineShape::Linear);
    let (mut depth, mut inside) = (4.0f64, 1.0f64);
    for step in 0..6_000u64 {
        depth = (depth + dice.below(7) as f64 - 3.0).clamp(0.0, 40.0);
        inside = (inside + dice.below(3) as f64 - 1.0).clamp(0.0, 4.0);
        let at_ns = step * 5 * MS;
        waiting.buckets.push(Bucket {
            at_ns,
            min: (depth - 2.0).max(0.0),
            max: depth + dice.below(6) as f64,
            last: depth,
        });
        device.buckets.push(Bucket::point(at_ns, inside));
        if step % 200 == 0 {
            mean.buckets.push(Bucket::point(at_ns, depth.midpoint(18.0)));
        }
    }
    let chart = Lines {
        span: Span::new(0, 30_000 * MS),
        y: Axis::new("queue depth", Unit::named("requests")),
        series: vec![waiting, device, mean],
        rules: vec![Rule::new(32.0, "driver's limit")],
    };
    Figure::new("How many requests are waiting", chart)
        .subtitle("fs_mark alone, deadline, 7200 rpm SATA disk")
        .summary("Up to 45 requests wait in the elevator; the device holds at most 4.")
}

fn kernels() -> Vec<String> {
    ["deadline", "vanilla CFQ 2.6.35-rc", "blk_yield", "RQ_NOIDLE pair", "8e55063 reverted"]
        .map(String::from)
        .into()
}

/// Files per second beside the published ones, linear.
pub(crate) fn bars() -> Figure {
    let mut files = BarSeries::slot("fs_mark alone", 0);
    files.bars = vec![
        Some(Bar::new(541.0).spread(516.0, 577.0).reference(529.44)),
        Some(Bar::new(111.2).spread(110.1, 112.0).reference(107.88)),
        Some(Bar::new(512.0).spread(498.0, 530.0).reference(530.82)),
        Some(Bar::new(111.0).spread(110.0, 112.1).reference(110.16)),
        Some(Bar::new(538.0).spread(515.0, 570.0).reference(559.66)),
    ];
    let chart = Bars {
        axis: Axis::new("files created", Unit::named("files/s")),
        groups: kernels(),
        series: vec![files],
        reference: "published".into(),
    };
    Figure::new("One fsync per file", chart)
        .subtitle("mean of 8 seeds, least and greatest as whiskers")
        .summary("Deadline, blk_yield and the revert create five times the files of the two CFQ columns.")
}

/// Alone and beside a reader, over two decades.
pub(crate) fn bars_log() -> Figure {
    let mut alone = BarSeries::slot("fs_mark alone", 0);
    let mut beside = BarSeries::slot("fs_mark beside a reader", 1);
    let published = [(529.44, 450.0), (107.88, 6.6), (530.82, 113.2), (110.16, 7.0), (559.66, 16.1)];
    let simulated = [(541.0, 431.0), (111.2, 5.6), (512.0, 0.0), (111.0, 6.1), (538.0, 13.7)];
    for ((a, b), (p, q)) in simulated.into_iter().zip(published) {
        alone.bars.push(Some(Bar::new(a).spread((a * 0.96).round(), (a * 1.05).round()).reference(p)));
        beside.bars.push(
            (b > 0.0).then(|| {
                Bar::new(b).spread((b * 8.0).round() / 10.0, (b * 13.0).round() / 10.0).reference(q)
            }),
        );
    }
    let chart = Bars {
        axis: Axis::new("files created", Unit::named("files/s")).log(),
        groups: kernels(),
        series: vec![alone, beside],
        reference: "published".into(),
    };
    Figure::new("What a reader beside it does to fs_mark", chart).subtitle("logarithmic scale").summary(
        "Beside a reader, vanilla CFQ falls from 111 files a second to 6; deadline keeps most of its 541.",
    )
}

fn causes() -> Vec<Category> {
    vec![
        Category::new("on CPU", Tone::Series(0), Fill::Solid),
        Category::new("in the device", Tone::Series(2), Fill::Rising),
        Category::new("queued behind another's slice", Tone::Series(1), Fill::Solid),
        Category::new("the scheduler idling", Tone::Bad, Fill::Hatched),
        Category::new("journal commit", Tone::Series(3), Fill::Tint),
        Category::new("other", Tone::Neutral, Fill::Solid),
    ]
}

fn breakdown() -> Vec<StackedBar> {
    let ms = |values: [f64; 6]| values.map(|value| value * 1e6).to_vec();
    vec![
        StackedBar::new("deadline", ms([0.12, 1.31, 0.0, 0.0, 0.38, 0.04])),
        StackedBar::new("vanilla CFQ 2.6.35-rc", ms([0.12, 0.62, 0.0, 7.71, 0.52, 0.03])),
        StackedBar::new("RQ_NOIDLE pair", ms([0.12, 0.61, 0.0, 7.66, 0.58, 0.04])),
        StackedBar::new("8e55063 reverted", ms([0.12, 1.30, 0.02, 0.0, 0.39, 0.03])),
    ]
}

/// Where the time of one file goes, as shares.
pub(crate) fn stacked() -> Figure {
    let chart = Stacked {
        parts: causes(),
        bars: breakdown(),
        unit: Unit::Nanoseconds,
        label: "the time of one file".into(),
        measure: Measure::Share,
    };
    Figure::new("Where fs_mark's time goes", chart)
        .subtitle("alone on the FC array")
        .summary("Under vanilla CFQ six sevenths of the time of a file is the scheduler idling.")
}

/// The same in milliseconds.
pub(crate) fn stacked_total() -> Figure {
    let chart = Stacked {
        parts: causes(),
        bars: breakdown(),
        unit: Unit::Nanoseconds,
        label: "time per file".into(),
        measure: Measure::Total,
    };
    Figure::new("Where fs_mark's time goes", chart)
        .subtitle("alone on the FC array")
        .summary("9 ms a file against 1.85.")
}

fn periods(dice: &mut Dice, centres: &[(u64, u64)]) -> Vec<u64> {
    let mut counts = vec![0u64; 40];
    for &(centre, weight) in centres {
        for _ in 0..weight {
            let bin = centre + dice.below(3) + dice.below(2);
            if let Some(count) = counts.get_mut(bin as usize) {
                *count += 1;
            }
        }
    }
    counts
}

/// Time between two files, one plot per kernel.
pub(crate) fn histogram() -> Figure {
    let mut dice = Dice(4);
    let chart = Histogram {
        label: "time between two files".into(),
        unit: Unit::Nanoseconds,
        first: 0.0,
        width: 500_000.0,
        counted: "files".into(),
        series: vec![
            HistogramSeries::slot("deadline", 0, periods(&mut dice, &[(2, 2400), (3, 300)])),
            HistogramSeries::slot(
                "vanilla CFQ 2.6.35-rc",
                1,
                periods(&mut dice, &[(17, 700), (19, 160), (36, 9)]),
            ),
            HistogramSeries::slot(
                "8e55063 reverted",
                2,
                periods(&mut dice, &[(2, 2300), (4, 240), (17, 30)]),
            ),
        ],
        arrangement: Arrangement::Multiples,
        rules: vec![Rule::new(8e6, "slice_idle")],
    };
    Figure::new("How long each file takes", chart)
        .subtitle("fs_mark alone, HZ=1000, bins of 0.5 ms")
        .summary("Under vanilla CFQ almost every file takes 9 or 10 ms: the idle timer runs out each time.")
}

/// The same, one plot for all.
pub(crate) fn histogram_overlaid() -> Figure {
    let mut figure = histogram();
    if let stallarium_charts::Chart::Histogram(chart) = &mut figure.chart {
        chart.arrangement = Arrangement::Overlaid;
    }
    figure
}
