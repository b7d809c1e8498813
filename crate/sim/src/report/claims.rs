//! Claims: what a published table says, as inequalities that a simulated run must meet.

use super::expression::evaluate;
use super::tables::{ClaimResult, ClaimStatus, RowResult, TableResult};

/// One claim, as the experiment's `published/ID.toml` has it.
#[derive(Clone, Debug, PartialEq)]
pub struct Claim {
    /// Its id.
    pub id: String,
    /// The table it is about.
    pub table: String,
    /// What it says.
    pub says: String,
    /// How its number is made.
    pub kind: ClaimKind,
    /// The row, for every kind but `absolute-expression`.
    pub metric: String,
    /// Arithmetic on rows, for `absolute-expression`.
    pub expression: String,
    /// The column, or several that each have to meet the claim.
    pub of: Vec<String>,
    /// The column it is divided by, for ratios.
    pub to: Option<String>,
    /// The table of `of`, for `ratio-across-tables`.
    pub of_table: Option<String>,
    /// The table of `to`, for `ratio-across-tables`.
    pub to_table: Option<String>,
    /// The published number, or one for each column of `of`; empty when there is none.
    pub published: Vec<f64>,
    /// The least the number may be.
    pub at_least: Option<f64>,
    /// The most the number may be.
    pub at_most: Option<f64>,
    /// How far it is to be taken.
    pub status: ClaimStatus,
    /// What is known about it.
    pub note: String,
}

/// How a claim's number is made.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ClaimKind {
    /// Mean of the metric in column `of` by that in column `to`.
    Ratio,
    /// The same with columns of different tables.
    RatioAcrossTables,
    /// Mean of the metric in column `of`.
    Absolute,
    /// Arithmetic on the means of several metrics in column `of`.
    AbsoluteExpression,
}

impl ClaimKind {
    /// It compares two columns, so that the size of what was run drops out.
    #[must_use]
    pub fn is_ratio(self) -> bool {
        matches!(self, Self::Ratio | Self::RatioAcrossTables)
    }
}

/// A ratio of two means. If either is 0, one half is added to both: counts of nothing can then be compared.
pub(super) fn ratio(of: f64, to: f64) -> f64 {
    if of == 0.0 || to == 0.0 { (of + 0.5) / (to + 0.5) } else { of / to }
}

impl Claim {
    /// Tries the claim on simulated tables. A number that is missing fails it, and the sentence says so.
    #[must_use]
    pub fn try_on(&self, tables: &[TableResult]) -> ClaimResult {
        let numbers: Option<Vec<f64>> = self.of.iter().map(|column| self.number(column, tables)).collect();
        let numbers = numbers.filter(|numbers| !numbers.is_empty());
        // Of several columns, the one that is farthest out has to be within the bounds.
        let worst = numbers.as_ref().and_then(|numbers| {
            let by_excess = |&one: &usize, &other: &usize| {
                self.excess(numbers[one]).total_cmp(&self.excess(numbers[other]))
            };
            (0..numbers.len()).max_by(by_excess).map(|index| (index, numbers[index]))
        });
        let simulated = worst.map(|(_, number)| number);
        let index = worst.map_or(0, |(index, _)| index);
        let published = self.published.get(index).or(self.published.first()).copied();
        let holds = simulated.is_some_and(|number| self.excess(number) <= 0.0);
        ClaimResult {
            id: self.id.clone(),
            says: self.says.clone(),
            status: self.status,
            holds,
            simulated,
            published,
            at_least: self.at_least,
            at_most: self.at_most,
            sentence: self.sentence(holds, simulated, published),
        }
    }

    /// How far a number is out of bounds; 0 or less within them.
    fn excess(&self, number: f64) -> f64 {
        let below = self.at_least.map_or(f64::NEG_INFINITY, |least| least - number);
        let above = self.at_most.map_or(f64::NEG_INFINITY, |most| number - most);
        if number.is_nan() { f64::INFINITY } else { below.max(above) }
    }

    fn number(&self, of: &str, tables: &[TableResult]) -> Option<f64> {
        let mean = |table: &str, column: &str| mean(tables, table, &self.metric, column);
        match self.kind {
            ClaimKind::Ratio => Some(ratio(mean(&self.table, of)?, mean(&self.table, self.to.as_ref()?)?)),
            ClaimKind::RatioAcrossTables => {
                let of = mean(self.of_table.as_ref().unwrap_or(&self.table), of)?;
                let to = mean(self.to_table.as_ref().unwrap_or(&self.table), self.to.as_ref()?)?;
                Some(ratio(of, to))
            }
            ClaimKind::Absolute => mean(&self.table, of),
            ClaimKind::AbsoluteExpression => {
                evaluate(&self.expression, &|metric| self::mean(tables, &self.table, metric, of))
            }
        }
    }

    fn sentence(&self, holds: bool, simulated: Option<f64>, published: Option<f64>) -> String {
        let bounds = match (self.at_least, self.at_most) {
            (Some(least), Some(most)) => format!("between {least} and {most}"),
            (Some(least), None) => format!("at least {least}"),
            (None, Some(most)) => format!("at most {most}"),
            (None, None) => "any number".to_owned(),
        };
        let Some(simulated) = simulated else {
            return format!("{}: not tried, a run is missing.", self.says);
        };
        let verdict = if holds { "holds" } else { "fails" };
        let published = published.map_or_else(String::new, |number| format!(", published {}", short(number)));
        let mut sentence =
            format!("{}: {verdict}, simulated {}{published}, wanted {bounds}.", self.says, short(simulated));
        if !self.note.is_empty() && (!holds || self.status == ClaimStatus::Open) {
            sentence.push(' ');
            sentence.push_str(&self.note);
        }
        sentence
    }
}

/// The mean of a metric in a column, if it was measured.
fn mean(tables: &[TableResult], table: &str, metric: &str, column: &str) -> Option<f64> {
    let table = tables.iter().find(|entry| entry.id == table)?;
    let row: &RowResult = table.rows.iter().find(|row| row.metric == metric)?;
    let position = table.columns.iter().position(|label| label == column)?;
    let cell = row.cells.get(position)?;
    (!cell.values.is_empty()).then_some(cell.statistics.mean)
}

/// A number with as many digits as tell it apart: three or four.
pub(super) fn short(number: f64) -> String {
    let size = number.abs();
    let digits = if size >= 100.0 || size == 0.0 {
        1
    } else if size >= 10.0 {
        2
    } else {
        3
    };
    format!("{number:.digits$}")
}

#[cfg(test)]
mod tests {
    use super::super::compare::table;
    use super::super::compare::tests::{files_row, run};
    use super::*;

    fn tables(deadline: u64, cfq: u64) -> Vec<TableResult> {
        let columns = ["deadline".to_owned(), "cfq".to_owned()];
        let runs = [run("deadline", "", 1, deadline, 0), run("cfq", "", 1, cfq, 0)];
        vec![table("t", "", &columns, 1, &[files_row("", &[])], &runs)]
    }

    fn claim(kind: ClaimKind, of: &[&str]) -> Claim {
        Claim {
            id: "x".to_owned(),
            table: "t".to_owned(),
            says: "it is so".to_owned(),
            kind,
            metric: "fs_mark".to_owned(),
            expression: String::new(),
            of: of.iter().map(|&label| label.to_owned()).collect(),
            to: None,
            of_table: None,
            to_table: None,
            published: Vec::new(),
            at_least: None,
            at_most: None,
            status: ClaimStatus::Firm,
            note: String::new(),
        }
    }

    /// Each side of a bound, and exactly on it.
    #[test]
    fn ratios_have_bounds() {
        let ratio = Claim {
            to: Some("cfq".to_owned()),
            at_least: Some(4.0),
            at_most: Some(6.0),
            published: vec![4.9],
            ..claim(ClaimKind::Ratio, &["deadline"])
        };
        for (deadline, holds) in [(3_999, false), (4_000, true), (5_000, true), (6_000, true), (6_001, false)]
        {
            assert_eq!(ratio.try_on(&tables(deadline, 1_000)).holds, holds, "{deadline}");
        }
        let result = ratio.try_on(&tables(3_000, 1_000));
        assert_eq!(
            result.sentence,
            "it is so: fails, simulated 3.000, published 4.900, wanted between 4 and 6."
        );
    }

    /// Zero counts: one half is added to both.
    #[test]
    fn nothing_can_be_compared_with_nothing() {
        assert_eq!(ratio(0.0, 0.0), 1.0);
        assert_eq!(ratio(0.0, 2.0), 0.2);
        assert_eq!(ratio(3.0, 2.0), 1.5);
    }

    /// Of several columns the worst decides, and its published number is shown.
    #[test]
    fn every_column_must_meet_an_absolute_claim() {
        let absolute = Claim {
            at_most: Some(150.0),
            published: vec![1.0, 2.0],
            ..claim(ClaimKind::Absolute, &["deadline", "cfq"])
        };
        let result = absolute.try_on(&tables(1_000, 2_000));
        assert_eq!((result.holds, result.simulated, result.published), (false, Some(200.0), Some(2.0)));
        assert!(absolute.try_on(&tables(1_000, 1_400)).holds);
    }

    /// A claim about a run that does not exist is not met by accident.
    #[test]
    fn a_missing_run_fails() {
        let absolute = Claim { at_most: Some(150.0), ..claim(ClaimKind::Absolute, &["noop"]) };
        let result = absolute.try_on(&tables(1, 1));
        assert_eq!((result.holds, result.simulated), (false, None));
        assert!(result.sentence.contains("not tried"));
    }

    /// Arithmetic on rows.
    #[test]
    fn expressions_are_worked_out() {
        let expression = Claim {
            expression: "(fs_mark + fs_mark) / 2 - 1".to_owned(),
            at_least: Some(99.0),
            at_most: Some(99.0),
            ..claim(ClaimKind::AbsoluteExpression, &["cfq"])
        };
        assert!(expression.try_on(&tables(1, 1_000)).holds);
    }
}
