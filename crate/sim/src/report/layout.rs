//! Tables as text: as kernel mailing lists write them, as CSV, as Markdown.

use super::claims::short;
use super::results::ExperimentResult;
use super::statistics::{Statistics, gain_percent};
use super::tables::{Better, Cell, ClaimStatus, RowResult, TableResult};
use std::fmt::Write as _;

/// The least width of a column of numbers: `12345.67 (1234.56%)`.
const COLUMN_WIDTH: usize = 19;

impl TableResult {
    /// The table in the layout of kernel mailing lists: of each metric the minimum, mean, standard deviation and maximum
    /// over seeds, in brackets the gain against the baseline (positive is better), and the interval of the difference.
    #[must_use]
    pub fn text(&self) -> String {
        let mut out = String::new();
        let seeds =
            self.rows.iter().flat_map(|row| &row.cells).map(|cell| cell.values.len()).max().unwrap_or(0);
        let baseline = self.columns.get(self.baseline).map_or("", String::as_str);
        let heading =
            if self.caption.is_empty() { self.id.clone() } else { format!("{}: {}", self.id, self.caption) };
        let plural = if seeds == 1 { "" } else { "s" };
        let _ = writeln!(out, "{heading} ({seeds} seed{plural}; in brackets the gain against {baseline})");
        let label =
            self.rows.iter().map(|row| row.metric.chars().count() + row.unit.chars().count() + 2).max();
        let label = label.unwrap_or(0).max(14);
        let widths: Vec<usize> =
            self.columns.iter().map(|name| name.chars().count().max(COLUMN_WIDTH)).collect();
        let mut line = |first: &str, cells: &mut dyn Iterator<Item = String>| {
            let _ = write!(out, "{first:<label$}");
            for (cell, width) in cells.zip(&widths) {
                let _ = write!(out, "  {cell:>width$}");
            }
            out.truncate(out.trim_end().len());
            out.push('\n');
        };
        line("", &mut self.columns.iter().cloned());
        for row in &self.rows {
            line(&format!("{}, {}", row.metric, row.unit), &mut std::iter::empty());
            self.row_lines(row, seeds, &mut line);
        }
        out
    }

    fn row_lines(
        &self,
        row: &RowResult,
        seeds: usize,
        line: &mut dyn FnMut(&str, &mut dyn Iterator<Item = String>),
    ) {
        let mut statistic = |name: &str, of: fn(&Statistics) -> f64, better: Better| {
            let base = row.cells.get(self.baseline).filter(|cell| !cell.values.is_empty());
            let base = base.map(|cell| of(&cell.statistics));
            line(
                name,
                &mut row.cells.iter().map(|cell| match (cell.values.is_empty(), base) {
                    (true, _) => "-".to_owned(),
                    (false, base) => bracketed(of(&cell.statistics), base, better),
                }),
            );
        };
        if seeds > 1 {
            statistic("  min", |statistics| statistics.min, row.better);
        }
        statistic("  mean", |statistics| statistics.mean, row.better);
        if seeds > 1 {
            statistic("  stddev", |statistics| statistics.stddev, Better::Lower);
            statistic("  max", |statistics| statistics.max, row.better);
            line("  difference", &mut row.cells.iter().map(interval));
        }
        if row.cells.iter().any(|cell| cell.published.is_some()) {
            let base = row.cells.get(self.baseline).and_then(|cell| cell.published);
            let name = if row.is_unexplained { "  published (unexplained)" } else { "  published" };
            line(
                name,
                &mut row.cells.iter().map(|cell| {
                    cell.published.map_or("-".to_owned(), |number| bracketed(number, base, row.better))
                }),
            );
        }
    }

    /// The table as CSV with a head: a line for each cell, its values by seed at the end.
    #[must_use]
    pub fn csv(&self) -> String {
        let mut out = String::from(
            "table,metric,unit,column,seeds,min,mean,stddev,max,gain_percent,difference_low,difference_high,published,values\n",
        );
        let optional = |number: Option<f64>| number.map_or(String::new(), |number| number.to_string());
        for row in &self.rows {
            for (column, cell) in self.columns.iter().zip(&row.cells) {
                let has_values = !cell.values.is_empty();
                let of = |number: f64| if has_values { number.to_string() } else { String::new() };
                let statistics = &cell.statistics;
                let values: Vec<String> = cell.values.iter().map(ToString::to_string).collect();
                let fields = [
                    quoted(&self.id),
                    quoted(&row.metric),
                    quoted(&row.unit),
                    quoted(column),
                    cell.values.len().to_string(),
                    of(statistics.min),
                    of(statistics.mean),
                    of(statistics.stddev),
                    of(statistics.max),
                    optional(cell.gain_percent),
                    optional(cell.difference.map(|difference| difference.low)),
                    optional(cell.difference.map(|difference| difference.high)),
                    optional(cell.published),
                    values.join(" "),
                ];
                let _ = writeln!(out, "{}", fields.join(","));
            }
        }
        out
    }

    /// The table as Markdown: mean, gain, and the published number below it.
    #[must_use]
    pub fn markdown(&self) -> String {
        let mut out = String::new();
        let names: Vec<String> = self.columns.iter().map(|name| name.replace('|', "\\|")).collect();
        let _ = writeln!(out, "| metric | {} |", names.join(" | "));
        let _ = writeln!(out, "|---|{}", "---:|".repeat(self.columns.len()));
        for row in &self.rows {
            let metric = row.metric.replace('|', "\\|");
            let base = row.cells.get(self.baseline).map(|cell| cell.statistics.mean);
            let cells: Vec<String> = row
                .cells
                .iter()
                .map(|cell| match cell.values.len() {
                    0 => "-".to_owned(),
                    1 => bracketed(cell.statistics.mean, base, row.better),
                    _ => {
                        let statistics = &cell.statistics;
                        let gain = bracketed(statistics.mean, base, row.better);
                        format!("{gain} ± {}", plain(statistics.stddev))
                    }
                })
                .collect();
            let _ = writeln!(out, "| {metric}, {} | {} |", row.unit, cells.join(" | "));
            if row.cells.iter().any(|cell| cell.published.is_some()) {
                let numbers: Vec<String> =
                    row.cells.iter().map(|cell| cell.published.map_or("-".to_owned(), plain)).collect();
                let note = if row.is_unexplained { " (unexplained)" } else { "" };
                let _ = writeln!(out, "| *published{note}* | *{}* |", numbers.join("* | *"));
            }
        }
        out
    }
}

impl ExperimentResult {
    /// Tables, claims, the score and the explanations as text.
    #[must_use]
    pub fn text(&self) -> String {
        let mut out = String::new();
        let _ = writeln!(out, "{}: {}", self.experiment, self.title);
        let _ = writeln!(
            out,
            "seeds 1 to {}, scale {}, model version {}",
            self.seeds.len(),
            self.scale,
            self.model
        );
        for table in &self.tables {
            let _ = write!(out, "\n{}", table.text());
        }
        let _ = writeln!(out, "\nClaims:");
        for claim in &self.claims {
            let verdict = if claim.holds { "holds" } else { "FAILS" };
            let status = match claim.status {
                ClaimStatus::Firm => "firm",
                ClaimStatus::Reach => "reach",
                ClaimStatus::Open => "open",
            };
            let _ = writeln!(out, "  {verdict}  {status:<5}  {}", claim.id);
            let _ = writeln!(out, "         {}", claim.sentence);
        }
        if let Some(error) = self.median_abs_log_error {
            let _ = writeln!(out, "\nMedian of |ln(simulated ratio / published ratio)|: {}", short(error));
        }
        if !self.explanations.is_empty() {
            let _ = writeln!(out, "\nWhy:");
            for sentence in &self.explanations {
                let _ = writeln!(out, "  {sentence}");
            }
        }
        out
    }
}

/// A number with its gain: `529.44 (390.77%)`.
fn bracketed(number: f64, base: Option<f64>, better: Better) -> String {
    let gain = base.and_then(|base| gain_percent(number, base, better));
    match gain {
        // A change of nothing is written without a sign.
        Some(gain) => format!("{} ({:.2}%)", plain(number), if gain == 0.0 { 0.0 } else { gain }),
        None => format!("{} (-)", plain(number)),
    }
}

fn plain(number: f64) -> String {
    format!("{number:.2}")
}

/// The 95 % interval of the difference from the baseline; none if it contains zero.
fn interval(cell: &Cell) -> String {
    match cell.difference {
        None => String::new(),
        Some(difference) if difference.is_real() => {
            format!("[{:+.2}, {:+.2}]", difference.low, difference.high)
        }
        Some(_) => "none".to_owned(),
    }
}

fn quoted(text: &str) -> String {
    if text.contains([',', '"', '\n', '\r']) {
        format!("\"{}\"", text.replace('"', "\"\""))
    } else {
        text.to_owned()
    }
}

#[cfg(test)]
mod tests {
    use super::super::compare::table;
    use super::super::compare::tests::{files_row, run};
    use super::*;

    fn sample(seeds: u64) -> TableResult {
        let columns = ["vanilla".to_owned(), "deadline, tuned".to_owned()];
        let mut runs = Vec::new();
        for seed in 1..=seeds {
            runs.push(run("vanilla", "", seed, 1_070 + 10 * seed, 0));
            runs.push(run("deadline, tuned", "", seed, 5_270 + 20 * seed, 0));
        }
        table("t", "files", &columns, 0, &[files_row("", &[107.88, 529.44])], &runs)
    }

    /// The whole layout, to the letter.
    #[test]
    fn text_as_on_mailing_lists() {
        assert_eq!(
            sample(3).text(),
            "\
t: files (3 seeds; in brackets the gain against vanilla)
                              vanilla      deadline, tuned
fs_mark, files/s
  min                  108.00 (0.00%)     529.00 (389.81%)
  mean                 109.00 (0.00%)     531.00 (387.16%)
  stddev                 1.00 (0.00%)      2.00 (-100.00%)
  max                  110.00 (0.00%)     533.00 (384.55%)
  difference                            [+419.52, +424.48]
  published            107.88 (0.00%)     529.44 (390.77%)
"
        );
        assert!(!sample(1).text().contains("stddev"), "of one seed there is no spread");
    }

    #[test]
    fn csv_quotes_what_needs_it() {
        let csv = sample(2).csv();
        let lines: Vec<&str> = csv.lines().collect();
        assert_eq!(lines.len(), 3);
        assert!(lines[2].starts_with("t,fs_mark,files/s,\"deadline, tuned\",2,529,530,"));
        assert!(lines[2].ends_with(",529.44,529 531"));
    }

    #[test]
    fn markdown_has_a_line_for_the_published_numbers() {
        assert_eq!(
            sample(2).markdown(),
            "| metric | vanilla | deadline, tuned |\n|---|---:|---:|\n\
             | fs_mark, files/s | 108.50 (0.00%) ± 0.71 | 530.00 (388.48%) ± 1.41 |\n\
             | *published* | *107.88* | *529.44* |\n"
        );
    }
}
