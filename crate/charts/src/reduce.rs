//! Draw what a screen can show: from any number of points to a few per pixel column.
//!
//! Everything here is pure: values in, columns out. A column is one pixel of the backend (half a CSS pixel in
//! SVG). What must not be lost: the extremes of a series, the presence of a dot, that a lane was in use at all.

use crate::describe::{Bucket, Interval};

/// A window on the horizontal axis, cut into columns of equal width.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Columns {
    low: f64,
    high: f64,
    /// How many; at least 1.
    pub(crate) count: usize,
}

impl Columns {
    /// The window from `low` to `high` in `count` columns; made non-empty where it is not.
    pub(crate) fn new(low: f64, high: f64, count: usize) -> Self {
        let low = if low.is_finite() { low } else { 0.0 };
        let high = if high.is_finite() && high > low { high } else { low + 1.0 };
        Self { low, high, count: count.max(1) }
    }

    /// Where a value lies, in columns from the left end; outside the window below 0 or above the count.
    pub(crate) fn position(&self, value: f64) -> f64 {
        (value - self.low) / (self.high - self.low) * self.count as f64
    }

    /// The column that holds a value; `None` outside the window. The window's end is in the last column.
    pub(crate) fn column(&self, value: f64) -> Option<usize> {
        if value >= self.low && value <= self.high {
            Some((self.position(value) as usize).min(self.count - 1))
        } else {
            None
        }
    }

    /// A value surely still in a column, near its end.
    fn edge(&self, column: usize) -> f64 {
        self.low + (column as f64 + 0.999) / self.count as f64 * (self.high - self.low)
    }

    /// The value in the middle of a column.
    fn middle(&self, column: usize) -> f64 {
        self.low + (column as f64 + 0.5) / self.count as f64 * (self.high - self.low)
    }
}

/// A stretch of columns of one category, `[start, end)`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Run {
    pub(crate) start: usize,
    pub(crate) end: usize,
    pub(crate) category: usize,
}

/// One lane's intervals as runs: each column has the category that covers most of it, among those that cover any.
/// Time not covered does not count, so that an interval far narrower than a column still shows.
/// Linear in intervals plus columns times categories. Unknown categories count as category `categories`.
pub(crate) fn runs(intervals: &[Interval], categories: usize, window: Columns) -> Vec<Run> {
    let kinds = categories + 1;
    let mut cover = vec![0.0f32; window.count * kinds];
    for interval in intervals {
        let (start, end) = (interval.start_ns as f64, interval.end_ns as f64);
        if end < window.low || start > window.high || end < start {
            continue;
        }
        let from = window.position(start).max(0.0);
        let to = window.position(end).min(window.count as f64);
        let kind = interval.category.min(categories);
        let first = (from as usize).min(window.count - 1);
        // An interval that ends on a column's edge has no part in the next column.
        let last = (to.ceil() as usize).saturating_sub(1).clamp(first, window.count - 1);
        for column in first..=last {
            let part = to.min(column as f64 + 1.0) - from.max(column as f64);
            cover[column * kinds + kind] += part.max(1e-6) as f32;
        }
    }
    let mut runs: Vec<Run> = Vec::new();
    for (column, shares) in cover.chunks_exact(kinds).enumerate() {
        let mut most = (0.0, 0);
        for (kind, &share) in shares.iter().enumerate() {
            if share > most.0 {
                most = (share, kind);
            }
        }
        if most.0 <= 0.0 {
            continue;
        }
        match runs.last_mut() {
            Some(run) if run.end == column && run.category == most.1 => run.end = column + 1,
            _ => runs.push(Run { start: column, end: column + 1, category: most.1 }),
        }
    }
    runs
}

/// What a series does within one column.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Extent {
    /// Time of the column's last point; may lie outside the window for the neighbours of its ends.
    pub(crate) at: f64,
    /// Least value.
    pub(crate) min: f64,
    /// Greatest value.
    pub(crate) max: f64,
    /// Value of the last point.
    pub(crate) last: f64,
}

/// A series as unbroken pieces, each with at most one extent per column, plus the nearest point on either
/// side of the window so that lines run off its edges. Linear in buckets.
pub(crate) fn extents(buckets: &[Bucket], window: Columns) -> Vec<Vec<Extent>> {
    let mut pieces: Vec<Vec<Extent>> = vec![Vec::new()];
    let mut open: Option<usize> = None;
    let mut edge = f64::NEG_INFINITY;
    let mut before: Option<Extent> = None;
    let mut ended = false;
    for bucket in buckets {
        let at = bucket.at_ns as f64;
        let Some(extent) = extent(bucket, at) else {
            before = None;
            ended = false;
            open = None;
            if pieces.last().is_some_and(|piece| !piece.is_empty()) {
                pieces.push(Vec::new());
            }
            continue;
        };
        let Some(piece) = pieces.last_mut() else {
            break;
        };
        // Most points lie in the same column as the one before; to see that takes no division.
        let column = match open {
            Some(column) if at < edge && at >= window.low => Some(column),
            _ => window.column(at),
        };
        match column {
            None if at < window.low => before = Some(extent),
            None => {
                if !ended {
                    piece.extend(before.take());
                    piece.push(extent);
                    ended = true;
                }
            }
            Some(column) => {
                piece.extend(before.take());
                match piece.last_mut() {
                    Some(last) if open == Some(column) => {
                        last.at = at;
                        last.min = last.min.min(extent.min);
                        last.max = last.max.max(extent.max);
                        last.last = extent.last;
                    }
                    _ => piece.push(extent),
                }
                if open != Some(column) {
                    edge = window.edge(column);
                }
                open = Some(column);
            }
        }
    }
    // A value that began before the window and has not changed since still holds in it.
    if let (Some(piece), Some(extent)) = (pieces.last_mut(), before) {
        piece.push(extent);
    }
    pieces.retain(|piece| !piece.is_empty());
    pieces
}

/// A bucket's extremes with its last value among them; `None` for a gap.
fn extent(bucket: &Bucket, at: f64) -> Option<Extent> {
    if !bucket.last.is_finite() {
        return None;
    }
    let min = if bucket.min.is_finite() { bucket.min.min(bucket.last) } else { bucket.last };
    let max = if bucket.max.is_finite() { bucket.max.max(bucket.last) } else { bucket.last };
    Some(Extent { at, min, max, last: bucket.last })
}

/// A set of cells of a plot: remembers which were taken.
#[derive(Clone, Debug)]
pub(crate) struct Cells {
    columns: usize,
    rows: usize,
    taken: Vec<u64>,
}

impl Cells {
    /// No cell taken.
    pub(crate) fn new(columns: usize, rows: usize) -> Self {
        let (columns, rows) = (columns.max(1), rows.max(1));
        Self { columns, rows, taken: vec![0; (columns * rows).div_ceil(64)] }
    }

    /// Takes a cell; true when it was free. Cells outside are never free.
    pub(crate) fn take(&mut self, column: usize, row: usize) -> bool {
        if column >= self.columns || row >= self.rows {
            return false;
        }
        let index = row * self.columns + column;
        let bit = 1u64 << (index % 64);
        match self.taken.get_mut(index / 64) {
            Some(word) if *word & bit == 0 => {
                *word |= bit;
                true
            }
            _ => false,
        }
    }

    /// How many columns and rows.
    pub(crate) fn size(&self) -> (usize, usize) {
        (self.columns, self.rows)
    }

    fn is_taken(&self, column: usize, row: usize) -> bool {
        let index = row * self.columns + column;
        let word = self.taken.get(index / 64).copied().unwrap_or(0);
        word & (1u64 << (index % 64)) != 0
    }

    /// The runs of taken cells of a row, `(start, end)` columns each.
    pub(crate) fn runs(&self, row: usize) -> Vec<(usize, usize)> {
        let mut runs: Vec<(usize, usize)> = Vec::new();
        for column in (0..self.columns).filter(|&column| self.is_taken(column, row)) {
            match runs.last_mut() {
                Some(run) if run.1 == column => run.1 = column + 1,
                _ => runs.push((column, column + 1)),
            }
        }
        runs
    }

    /// Frees every cell.
    pub(crate) fn clear(&mut self) {
        self.taken.fill(0);
    }
}

/// Bins of a histogram that would be narrower than a column share one: the greatest count of each column, as
/// `(start column, end column, count)`, empty ones left out.
pub(crate) fn bins(counts: &[u64], first: f64, width: f64, window: Columns) -> Vec<(f64, f64, u64)> {
    let narrow = window.position(window.low + width) < 1.0;
    let mut out: Vec<(f64, f64, u64)> = Vec::new();
    for (index, &count) in counts.iter().enumerate() {
        let low = first + index as f64 * width;
        if count == 0 || low + width <= window.low || low >= window.high {
            continue;
        }
        let (from, to) =
            (window.position(low).max(0.0), window.position(low + width).min(window.count as f64));
        if !narrow {
            out.push((from, to, count));
            continue;
        }
        let column = from.floor();
        match out.last_mut() {
            Some(last) if last.0 == column => last.2 = last.2.max(count),
            _ => out.push((column, column + 1.0, count)),
        }
    }
    out
}

/// Points in time as columns, each once, ascending.
pub(crate) fn moments(times: impl Iterator<Item = u64>, window: Columns) -> Vec<f64> {
    let mut seen = Cells::new(window.count, 1);
    for at in times {
        if let Some(column) = window.column(at as f64) {
            seen.take(column, 0);
        }
    }
    (0..window.count).filter(|&column| !seen.take(column, 0)).map(|column| window.middle(column)).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn buckets() -> impl Strategy<Value = Vec<Bucket>> {
        let one = (1u64..500, -1e6f64..1e6, 0.0f64..1e3, 0.0f64..1e3);
        proptest::collection::vec(one, 0..400).prop_map(|steps| {
            let mut at_ns = 0;
            steps
                .into_iter()
                .map(|(step, last, below, above)| {
                    at_ns += step;
                    Bucket { at_ns, min: last - below, max: last + above, last }
                })
                .collect()
        })
    }

    fn intervals() -> impl Strategy<Value = Vec<Interval>> {
        let one = (0u64..200, 0u64..200, 0usize..4);
        proptest::collection::vec(one, 0..300).prop_map(|steps| {
            let mut at = 0;
            steps
                .into_iter()
                .map(|(gap, length, category)| {
                    let start = at + gap;
                    at = start + length;
                    Interval::new(start, at, category)
                })
                .collect()
        })
    }

    proptest! {
        /// The greatest and least value of every column survive, and no more than one extent per column is made.
        #[test]
        fn extremes_are_never_lost(
            buckets in buckets(), low in 0u64..50_000, span in 1u64..50_000, count in 1usize..300,
        ) {
            let window = Columns::new(low as f64, (low + span) as f64, count);
            let pieces = extents(&buckets, window);
            let drawn: Vec<Extent> = pieces.concat();
            for column in 0..count {
                let inside = buckets.iter().filter(|b| window.column(b.at_ns as f64) == Some(column));
                let max = inside.clone().map(|b| b.max).fold(f64::NEG_INFINITY, f64::max);
                let min = inside.clone().map(|b| b.min).fold(f64::INFINITY, f64::min);
                let of_column: Vec<&Extent> =
                    drawn.iter().filter(|e| window.column(e.at) == Some(column)).collect();
                prop_assert!(of_column.len() <= 1);
                match of_column.first() {
                    Some(extent) => prop_assert_eq!((extent.min, extent.max), (min, max)),
                    None => prop_assert_eq!(inside.count(), 0),
                }
            }
            prop_assert!(drawn.len() <= count + 2);
        }

        /// A line that crosses the window is drawn even when no point of it lies inside.
        #[test]
        fn lines_run_off_the_edges(buckets in buckets(), low in 0u64..50_000, span in 1u64..1000) {
            let window = Columns::new(low as f64, (low + span) as f64, 100);
            let pieces = extents(&buckets, window);
            let before = buckets.iter().rfind(|b| (b.at_ns as f64) < window.low);
            let after = buckets.iter().find(|b| (b.at_ns as f64) > window.high);
            if let Some(bucket) = before {
                prop_assert_eq!(pieces[0][0].last, bucket.last);
            }
            if let Some(bucket) = after {
                prop_assert_eq!(pieces.last().and_then(|p| p.last()).map(|e| e.last), Some(bucket.last));
            }
        }

        /// A column is drawn exactly when an interval touches it, in the category that covers most of it.
        #[test]
        fn lanes_show_every_interval(
            intervals in intervals(), low in 0u64..20_000, span in 1u64..40_000, count in 1usize..200,
        ) {
            let window = Columns::new(low as f64, (low + span) as f64, count);
            let runs = runs(&intervals, 4, window);
            let mut drawn = vec![None; count];
            for run in &runs {
                prop_assert!(run.start < run.end && run.end <= count);
                for column in &mut drawn[run.start..run.end] {
                    prop_assert_eq!(*column, None);
                    *column = Some(run.category);
                }
            }
            for pair in runs.windows(2) {
                prop_assert!(pair[0].end < pair[1].start || pair[0].category != pair[1].category);
            }
            for (column, category) in drawn.iter().enumerate() {
                // The slow reference: clip every interval to the column and add up by category.
                let (from, to) = (column as f64, column as f64 + 1.0);
                let mut cover = [0.0; 4];
                for interval in &intervals {
                    let start = window.position(interval.start_ns as f64).max(from);
                    let end = window.position(interval.end_ns as f64).min(to);
                    cover[interval.category] += (end - start).max(0.0);
                }
                let most = cover.iter().copied().fold(0.0, f64::max);
                if most > 1e-3 {
                    prop_assert!(category.is_some_and(|found| cover[found] > most - 1e-3), "{column}");
                }
            }
        }

        /// However short, an interval inside the window leaves a mark.
        #[test]
        fn a_single_short_interval_shows(at in 0u64..1_000_000_000, length in 0u64..10) {
            let window = Columns::new(0.0, 1e9, 500);
            prop_assert_eq!(runs(&[Interval::new(at, at + length, 0)], 1, window).len(), 1);
        }

        #[test]
        fn bins_keep_their_peaks(
            counts in proptest::collection::vec(0u64..1000, 1..400), count in 1usize..100, width in 0.1f64..10.0,
        ) {
            let window = Columns::new(0.0, counts.len() as f64 * width, count);
            let drawn = bins(&counts, 0.0, width, window);
            prop_assert_eq!(drawn.iter().map(|bin| bin.2).max().unwrap_or(0), counts.iter().copied().max().unwrap_or(0));
            prop_assert!(drawn.len() <= counts.len().min(count + 1).max(counts.len().min(2 * count)));
            prop_assert!(drawn.iter().all(|bin| bin.0 < bin.1));
        }

        #[test]
        fn moments_are_each_shown_once(times in proptest::collection::vec(0u64..2000, 0..300)) {
            let window = Columns::new(0.0, 1000.0, 50);
            let shown = moments(times.iter().copied(), window);
            let mut expected: Vec<usize> = times.iter().filter_map(|&at| window.column(at as f64)).collect();
            expected.sort_unstable();
            expected.dedup();
            let found: Vec<usize> = shown.iter().filter_map(|&at| window.column(at)).collect();
            prop_assert_eq!(found, expected);
        }
    }

    #[test]
    fn gaps_interrupt_a_line() {
        let window = Columns::new(0.0, 100.0, 100);
        let gap = Bucket::point(20, f64::NAN);
        let buckets = [Bucket::point(10, 1.0), gap, Bucket::point(30, 2.0), Bucket::point(40, 3.0)];
        let pieces = extents(&buckets, window);
        assert_eq!(pieces.iter().map(Vec::len).collect::<Vec<_>>(), [1, 2]);
    }

    #[test]
    fn a_cell_is_taken_once() {
        let mut cells = Cells::new(3, 2);
        assert!(cells.take(0, 0));
        assert_eq!(cells.runs(0), [(0, 1)]);
        assert!(cells.take(2, 1));
        assert!(!cells.take(2, 1));
        assert!(!cells.take(3, 0));
        cells.clear();
        assert!(cells.take(2, 1));
    }
}
