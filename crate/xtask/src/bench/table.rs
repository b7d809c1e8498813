//! Figures beside their targets, as a Markdown table.

/// One line of the table.
#[derive(Debug, PartialEq)]
pub(super) struct Row {
    /// What was measured.
    what: String,
    /// The figure with its unit.
    figure: String,
    /// What it should be, in words; empty when the row is there for comparison.
    target: String,
    /// The figure as a multiple of what it is compared with, where there is such a thing.
    ratio: Option<f64>,
    /// Whether the target is met.
    is_met: Option<bool>,
}

impl Row {
    /// A figure that should be at most `limit`; the ratio is the part of the limit that it takes.
    pub(super) fn at_most(what: &str, figure: f64, limit: f64, unit: &str) -> Self {
        Self {
            what: what.into(),
            figure: format!("{} {unit}", rounded(figure)),
            target: format!("at most {} {unit}", rounded(limit)),
            ratio: Some(figure / limit),
            is_met: Some(figure <= limit),
        }
    }

    /// A rate that should be at least `limit`; the ratio is what it is of that.
    pub(super) fn at_least(what: &str, rate: f64, limit: f64, unit: &str) -> Self {
        Self {
            what: what.into(),
            figure: format!("{} {unit}", rounded(rate)),
            target: format!("at least {} {unit}", rounded(limit)),
            ratio: Some(rate / limit),
            is_met: Some(rate >= limit),
        }
    }

    /// A rate that may be at most `factor` times slower than another's; the ratio is how much slower it is.
    pub(super) fn slower_at_most(
        what: &str,
        rate: f64,
        factor: f64,
        other: &str,
        other_rate: f64,
        unit: &str,
    ) -> Self {
        let ratio = other_rate / rate;
        Self {
            what: format!("{what} against {other}"),
            figure: format!("{} {unit}", rounded(rate)),
            target: format!("at most {} times slower than {} {unit}", rounded(factor), rounded(other_rate)),
            ratio: Some(ratio),
            is_met: Some(ratio <= factor),
        }
    }

    /// A rate that should be at least `factor` times a rival's.
    pub(super) fn at_least_times(
        what: &str,
        rate: f64,
        factor: f64,
        rival: &str,
        rival_rate: f64,
        unit: &str,
    ) -> Self {
        let ratio = rate / rival_rate;
        Self {
            what: format!("{what} against {rival}"),
            figure: format!("{} {unit}", rounded(rate)),
            target: format!("at least {} times {} {unit}", rounded(factor), rounded(rival_rate)),
            ratio: Some(ratio),
            is_met: Some(ratio >= factor),
        }
    }

    /// A figure that could not be had, with the reason.
    pub(super) fn missing(what: &str, reason: &str) -> Self {
        Self {
            what: what.into(),
            figure: "not measured".into(),
            target: reason.into(),
            ratio: None,
            is_met: None,
        }
    }

    fn cells(&self) -> [String; 5] {
        let verdict = match self.is_met {
            Some(true) => "met",
            Some(false) => "MISSED",
            None => "",
        };
        let ratio = self.ratio.map_or(String::new(), |ratio| format!("{ratio:.2}"));
        [self.what.clone(), self.figure.clone(), self.target.clone(), ratio, verdict.into()]
    }
}

/// The rows as a table whose columns line up.
pub(super) fn text(rows: &[Row]) -> String {
    let mut lines = vec![["what", "figure", "target", "ratio", "verdict"].map(str::to_owned)];
    lines.extend(rows.iter().map(Row::cells));
    let width = |column: usize| lines.iter().map(|cells| cells[column].chars().count()).max().unwrap_or(0);
    let widths = [0, 1, 2, 3, 4].map(width);
    lines.insert(1, widths.map(|width| "-".repeat(width)));
    let line = |cells: &[String; 5]| {
        let padded = cells.iter().zip(widths).map(|(cell, width)| format!("{cell:width$}"));
        format!("| {} |", padded.collect::<Vec<_>>().join(" | "))
    };
    lines.iter().map(line).collect::<Vec<_>>().join("\n")
}

/// The value in the middle; of an even number, the upper one of the two.
pub(super) fn median(mut values: Vec<f64>) -> Option<f64> {
    values.sort_by(f64::total_cmp);
    values.get(values.len() / 2).copied()
}

/// Three digits that count, or all before the point.
fn rounded(value: f64) -> String {
    match value {
        v if v >= 100.0 || v == v.trunc() => format!("{v:.0}"),
        v if v >= 10.0 => format!("{v:.1}"),
        v => format!("{v:.2}"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_median_is_untouched_by_one_slow_run() {
        assert_eq!(median(vec![3.0, 1.0, 900.0, 2.0, 2.5]), Some(2.5));
        assert_eq!(median(vec![]), None);
    }

    #[test]
    fn a_target_is_met_up_to_its_limit_and_missed_beyond() {
        let verdict = |row: Row| row.cells()[4].clone();
        assert_eq!(verdict(Row::at_most("weight", 500.0, 500.0, "KB")), "met");
        assert_eq!(verdict(Row::at_most("weight", 501.0, 500.0, "KB")), "MISSED");
        assert_eq!(verdict(Row::at_least_times("queue", 20.0, 20.0, "SimPy", 1.0, "M/s")), "met");
        assert_eq!(verdict(Row::at_least_times("queue", 19.0, 20.0, "SimPy", 1.0, "M/s")), "MISSED");
        assert_eq!(verdict(Row::missing("chart", "none yet")), "");
    }

    #[test]
    fn columns_line_up() {
        let table = text(&[Row::at_most("weight", 41.25, 500.0, "KB"), Row::missing("first chart", "none")]);
        let lengths: Vec<_> = table.lines().map(|line| line.chars().count()).collect();
        assert_eq!(lengths.len(), 4);
        assert!(lengths.iter().all(|length| *length == lengths[0]), "{table}");
        assert!(table.contains("| 41.2 KB "), "{table}");
    }
}
