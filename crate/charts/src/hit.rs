//! What is under the pointer: answered from the description and the layout, never from pixels.

use crate::describe::{Bars, Chart, Dot, DotSeries, Dots, Figure, Histogram, Lane, Lanes, Lines, Stacked};
use crate::layout::{Item, Layout, Panel, Rect, Target};
use crate::number::{fixed, instant};
use serde::{Deserialize, Serialize};

/// How far from a dot or an event the pointer may be, CSS pixels.
const REACH: f64 = 8.0;

/// What is under the pointer.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Hit {
    /// What to say about it, in one line.
    pub text: String,
    /// Where it is, for a marker or a frame.
    pub area: Rect,
}

impl Layout {
    /// What lies at a place of a figure drawn with this layout, CSS pixels. `None` where there is nothing.
    /// Linear in the marks of one lane or plot; nothing is drawn.
    pub fn hit(&self, figure: &Figure, x: f64, y: f64) -> Option<Hit> {
        match &figure.chart {
            Chart::Lanes(chart) => self.hit_lanes(chart, x, y),
            Chart::Dots(chart) => self.hit_dots(chart, x, y),
            Chart::Lines(chart) => self.hit_lines(chart, x, y),
            Chart::Bars(chart) => self.hit_bars(chart, x, y),
            Chart::Stacked(chart) => self.hit_stacked(chart, x, y),
            Chart::Histogram(chart) => self.hit_histogram(chart, x, y),
        }
    }

    fn target_at(&self, x: f64, y: f64) -> Option<&Target> {
        self.targets.iter().find(|target| target.area.contains(x, y))
    }

    fn hit_lanes(&self, chart: &Lanes, x: f64, y: f64) -> Option<Hit> {
        let target = self.target_at(x, y)?;
        let Item::Lane(index) = target.item else {
            return None;
        };
        let (lane, panel) = (chart.lanes.get(index)?, self.panels.get(target.panel)?);
        hit_event(chart, lane, panel, target.area, x)
            .or_else(|| hit_interval(chart, lane, panel, target.area, x))
    }

    fn hit_dots(&self, chart: &Dots, x: f64, y: f64) -> Option<Hit> {
        let panel = self.panel_at(x, y)?;
        // Whole numbers first: most dots are ruled out by their time alone.
        let time = |x: f64| panel.x.value(x).max(0.0) as u64;
        let times = time(x - REACH)..=time(x + REACH);
        let mut nearest: Option<(f64, &DotSeries, &Dot)> = None;
        for series in &chart.series {
            for dot in &series.dots {
                let shown = dot.value >= panel.y.low && dot.value <= panel.y.high;
                if !times.contains(&dot.at_ns) || !shown {
                    continue;
                }
                let (across, up) = (panel.x.pixel(dot.at_ns as f64) - x, panel.y.pixel(dot.value) - y);
                let distance = across * across + up * up;
                if distance < nearest.map_or(REACH * REACH, |(least, _, _)| least) {
                    nearest = Some((distance, series, dot));
                }
            }
        }
        let (_, series, dot) = nearest?;
        let kind = chart.kinds.get(dot.kind).map_or(String::new(), |kind| format!(", {}", kind.label));
        let at = instant(dot.at_ns as f64, per_pixel(panel));
        let place = exact(chart, dot.value);
        Some(Hit {
            text: format!("{}{kind}: {place} at {at}", series.label),
            area: around(panel.x.pixel(dot.at_ns as f64), panel.y.pixel(dot.value)),
        })
    }

    fn hit_lines(&self, chart: &Lines, x: f64, y: f64) -> Option<Hit> {
        let panel = self.panel_at(x, y)?;
        let at = panel.x.value(x);
        let mut nearest: Option<(f64, Hit)> = None;
        for series in &chart.series {
            // The bucket that holds this time: the last that starts at or before it.
            let next = series.buckets.partition_point(|bucket| bucket.at_ns as f64 <= at);
            let Some(bucket) = next.checked_sub(1).and_then(|index| series.buckets.get(index)) else {
                continue;
            };
            if !bucket.last.is_finite() {
                continue;
            }
            let value_y = panel.y.pixel_within(bucket.last);
            let distance = (value_y - y).abs();
            if nearest.as_ref().is_none_or(|(least, _)| distance < *least) {
                let unit = &chart.y.unit;
                let extremes = if bucket.min < bucket.max {
                    format!(" ({} to {})", unit.write(bucket.min), unit.write(bucket.max))
                } else {
                    String::new()
                };
                let when = instant(at, per_pixel(panel));
                let text = format!("{}: {}{extremes} at {when}", series.label, unit.write(bucket.last));
                nearest = Some((distance, Hit { text, area: around(x, value_y) }));
            }
        }
        nearest.map(|(_, hit)| hit)
    }

    fn hit_bars(&self, chart: &Bars, x: f64, y: f64) -> Option<Hit> {
        let target = self.target_at(x, y)?;
        let Item::Bar(group, index) = target.item else {
            return None;
        };
        let series = chart.series.get(index)?;
        let bar = series.bars.get(group)?.as_ref()?;
        let unit = &chart.axis.unit;
        let mut text = format!("{}, {}: {}", chart.groups.get(group)?, series.label, unit.write(bar.value));
        if let Some((low, high)) = bar.spread {
            text.push_str(&format!(" ({} to {})", unit.write(low), unit.write(high)));
        }
        if let Some(value) = bar.reference {
            text.push_str(&format!("; {} {}", chart.reference, unit.write(value)));
        }
        Some(Hit { text, area: target.area })
    }

    fn hit_stacked(&self, chart: &Stacked, x: f64, y: f64) -> Option<Hit> {
        let target = self.target_at(x, y)?;
        let Item::Part(index, part) = target.item else {
            return None;
        };
        let (bar, category) = (chart.bars.get(index)?, chart.parts.get(part)?);
        let (value, total) = (bar.value(part), bar.total(chart.parts.len()));
        let share = if total > 0.0 { value / total * 100.0 } else { 0.0 };
        let share = format!("{}\u{202F}%", fixed(share, 1));
        let text = format!("{}: {}, {} ({share})", bar.label, category.label, chart.unit.write(value));
        Some(Hit { text, area: target.area })
    }

    fn hit_histogram(&self, chart: &Histogram, x: f64, y: f64) -> Option<Hit> {
        let panel = self.panel_at(x, y)?;
        let width = chart.bin_width();
        let low = panel.x.low;
        let bin = ((panel.x.value(x) - low) / width).max(0.0) as usize;
        let (from, to) = (low + bin as f64 * width, low + (bin as f64 + 1.0) * width);
        let here = self.targets.iter().filter(|target| target.area.contains(x, y));
        let parts: Vec<String> = here
            .filter_map(|target| match target.item {
                Item::Bins(index) => chart.series.get(index),
                _ => None,
            })
            .map(|series| format!("{}: {}", series.label, series.counts.get(bin).copied().unwrap_or(0)))
            .collect();
        if parts.is_empty() {
            return None;
        }
        let unit = &chart.unit;
        let text =
            format!("{} to {}: {} ({})", unit.write(from), unit.write(to), parts.join(", "), chart.counted);
        let area = Rect { left: panel.x.pixel_within(from), right: panel.x.pixel_within(to), ..panel.plot };
        Some(Hit { text, area })
    }
}

/// Nanoseconds per CSS pixel.
fn per_pixel(panel: &Panel) -> f64 {
    (panel.x.high - panel.x.low) / panel.plot.width().max(1.0)
}

/// A place on the value axis as the description has it: sectors exactly, with the bytes in brackets.
fn exact(chart: &Dots, value: f64) -> String {
    match chart.y.unit {
        crate::describe::Unit::Sectors => {
            format!("sector {} ({})", fixed(value, 0), chart.y.unit.write(value))
        }
        _ => chart.y.unit.write(value),
    }
}

fn around(x: f64, y: f64) -> Rect {
    Rect::new(x - 4.0, y - 4.0, x + 4.0, y + 4.0)
}

/// The nearest event within reach whose mark the pointer is on: the strip above a lane's bar belongs to events.
fn hit_event(chart: &Lanes, lane: &Lane, panel: &Panel, area: Rect, x: f64) -> Option<Hit> {
    let distance = |at_ns: u64| (panel.x.pixel(at_ns as f64) - x).abs();
    let near = lane.events.iter().filter(|event| distance(event.at_ns) <= REACH / 2.0);
    let event = near.min_by(|a, b| distance(a.at_ns).total_cmp(&distance(b.at_ns)))?;
    let kind = chart.kinds.get(event.kind).map_or("", |kind| kind.label.as_str());
    let words = event.label.as_deref().unwrap_or(kind);
    let at = instant(event.at_ns as f64, per_pixel(panel));
    let middle = panel.x.pixel(event.at_ns as f64);
    Some(Hit {
        text: format!("{}: {words} at {at}", lane.label),
        area: Rect { left: middle - 4.0, right: middle + 4.0, ..area },
    })
}

/// The interval under the pointer, or the nearest within a pixel: intervals may be narrower than one.
fn hit_interval(chart: &Lanes, lane: &Lane, panel: &Panel, area: Rect, x: f64) -> Option<Hit> {
    let at = panel.x.value(x);
    let reach = per_pixel(panel);
    let distance = |start: u64, end: u64| (start as f64 - at).max(at - end as f64).max(0.0);
    let near = lane.intervals.iter().filter(|interval| distance(interval.start_ns, interval.end_ns) <= reach);
    let interval = near.min_by(|a, b| {
        let (a, b) = (distance(a.start_ns, a.end_ns), distance(b.start_ns, b.end_ns));
        a.total_cmp(&b)
    })?;
    let name = |interval: &crate::describe::Interval| {
        chart.categories.get(interval.category).map_or("", |category| category.label.as_str())
    };
    if chart.is_shared {
        let start_ns = interval.start_ns;
        let here = lane.intervals.iter().filter(|interval| interval.start_ns == start_ns);
        let seen = here.filter(|interval| interval.share() >= 0.001);
        let parts: Vec<String> =
            seen.map(|part| format!("{} {}\u{202F}%", name(part), fixed(part.share() * 100.0, 1))).collect();
        let text = format!("{}, from {}: {}", lane.label, instant(start_ns as f64, reach), parts.join(", "));
        return Some(Hit { text, area });
    }
    let category = name(interval);
    let own = interval.label.as_ref().map_or(String::new(), |label| format!(" ({label})"));
    let length =
        crate::describe::Unit::Nanoseconds.write(interval.end_ns.saturating_sub(interval.start_ns) as f64);
    let start = instant(interval.start_ns as f64, reach);
    Some(Hit {
        text: format!("{}: {category}{own}, {length} from {start}", lane.label),
        area: Rect {
            left: panel.x.pixel_within(interval.start_ns as f64),
            right: panel.x.pixel_within(interval.end_ns as f64),
            ..area
        },
    })
}
