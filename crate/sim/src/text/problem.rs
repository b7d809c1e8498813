//! What is wrong with a text, in words.

use crate::short_sort;
use serde::{Deserialize, Serialize};
use std::fmt;

/// Where in a text something stands.
#[derive(Clone, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub struct Place {
    /// Which text: `scenario`, `workload`, `experiment cfq-noidle-2010`, `link`, ...
    pub document: String,
    /// Line, from 1; none for a value that came in by name (a link's, an option's).
    pub line: Option<u32>,
    /// Column in characters, from 1.
    pub column: Option<u32>,
    /// The key's path, such as `machine.device.kind` or `process.0.steps.2`; empty for the whole text.
    pub path: String,
}

impl Place {
    /// A place that is known by its path alone.
    #[must_use]
    pub fn of_path(document: &str, path: &str) -> Self {
        Self { document: document.to_owned(), line: None, column: None, path: path.to_owned() }
    }

    /// The last key of the path that is not a number, for short messages.
    fn key(&self) -> &str {
        self.path.rsplit('.').find(|part| part.parse::<usize>().is_err()).unwrap_or("")
    }
}

/// One thing that is wrong, with the way out.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Problem {
    /// Where.
    pub place: Place,
    /// The offending value as written, if there is one.
    pub value: Option<String>,
    /// What is wrong: one clause that can stand alone.
    pub message: String,
    /// What is allowed: a range or the valid names.
    pub allowed: Option<String>,
    /// The valid name that was probably meant.
    pub nearest: Option<String>,
    /// What to do about it, where that is not obvious.
    pub hint: Option<String>,
}

impl Problem {
    /// A problem with a message and a place.
    #[must_use]
    pub fn new(place: Place, message: impl Into<String>) -> Self {
        Self { place, message: message.into(), ..Self::default() }
    }

    /// With the value as written, cut to a readable length.
    #[must_use]
    pub fn with_value(mut self, value: impl Into<String>) -> Self {
        self.value = Some(shortened(&value.into()));
        self
    }

    /// With what is allowed.
    #[must_use]
    pub fn with_allowed(mut self, allowed: impl Into<String>) -> Self {
        self.allowed = Some(allowed.into());
        self
    }

    /// With advice.
    #[must_use]
    pub fn with_hint(mut self, hint: impl Into<String>) -> Self {
        self.hint = Some(hint.into());
        self
    }

    /// With the valid names, and the one among them that `written` probably means.
    #[must_use]
    pub fn with_names<'n>(mut self, written: &str, names: impl IntoIterator<Item = &'n str>) -> Self {
        let names: Vec<&str> = names.into_iter().collect();
        self.nearest = nearest_name(written, names.iter().copied()).map(str::to_owned);
        self.allowed = Some(names.join(", "));
        self
    }
}

impl fmt::Display for Problem {
    /// One line: `scenario line 12: slice_idle = "8 hours": the longest slice_idle is 1 s`.
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(&self.place.document)?;
        let key = match self.place.line {
            Some(line) => {
                write!(formatter, " line {line}")?;
                self.place.key()
            }
            None => self.place.path.as_str(),
        };
        match (&self.value, key) {
            (Some(value), "") => write!(formatter, ": {value}")?,
            (Some(value), key) => write!(formatter, ": {key} = {value}")?,
            (None, "") => {}
            (None, key) => write!(formatter, ": {key}")?,
        }
        write!(formatter, ": {}", self.message)?;
        match (&self.nearest, &self.allowed) {
            (Some(nearest), _) => write!(formatter, "; did you mean {nearest}?")?,
            // The message may have named the bound already.
            (None, Some(allowed)) if !allowed.split(" to ").any(|bound| self.message.ends_with(bound)) => {
                write!(formatter, " (allowed: {allowed})")?;
            }
            (None, _) => {}
        }
        if let Some(hint) = &self.hint {
            write!(formatter, "; {hint}")?;
        }
        Ok(())
    }
}

impl std::error::Error for Problem {}

/// Problems found so far, up to a number that a person would still read.
#[derive(Clone, Debug, Default)]
pub struct Problems {
    list: Vec<Problem>,
    /// How many more there were.
    unlisted: usize,
}

impl Problems {
    /// The most problems that are kept; the rest is only counted.
    const KEPT: usize = 50;

    /// Adds one.
    pub fn push(&mut self, problem: Problem) {
        if self.list.len() < Self::KEPT {
            self.list.push(problem);
        } else {
            self.unlisted += 1;
        }
    }

    /// Adds several.
    pub fn extend(&mut self, problems: impl IntoIterator<Item = Problem>) {
        problems.into_iter().for_each(|problem| self.push(problem));
    }

    /// Whether nothing is wrong.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.list.is_empty()
    }

    /// How many are kept.
    #[must_use]
    pub fn len(&self) -> usize {
        self.list.len()
    }

    /// `value` if nothing is wrong, else every problem in the order of the text.
    ///
    /// # Errors
    /// The problems.
    pub fn or<T>(self, value: Option<T>) -> Result<T, Vec<Problem>> {
        match value {
            Some(value) if self.list.is_empty() => Ok(value),
            _ => Err(self.into_list()),
        }
    }

    /// Every problem in the order of the text; never empty after a failure.
    #[must_use]
    pub fn into_list(mut self) -> Vec<Problem> {
        short_sort::sort_by_key(&mut self.list, |problem| (problem.place.line, problem.place.column));
        if self.unlisted > 0 {
            let message = format!("{} more problems are not listed", self.unlisted);
            let document = self.list.first().map_or("", |first| first.place.document.as_str());
            self.list.push(Problem::new(Place::of_path(document, ""), message));
        }
        if self.list.is_empty() {
            self.list.push(Problem::new(Place::of_path("scenario", ""), "it cannot be read"));
        }
        self.list
    }
}

/// The name among `names` that `written` is probably a slip of, if any is near enough: at most one
/// slip (a letter missing, added, wrong, or two swapped) in three letters.
#[must_use]
pub fn nearest_name<'n>(written: &str, names: impl IntoIterator<Item = &'n str>) -> Option<&'n str> {
    let written = shortened(written).to_ascii_lowercase();
    names
        .into_iter()
        .filter(|name| !name.is_empty())
        .map(|name| (strsim::damerau_levenshtein(&written, &name.to_ascii_lowercase()), name))
        .filter(|(slips, name)| *slips <= name.chars().count().max(written.chars().count()).div_ceil(3))
        .min_by_key(|(slips, _)| *slips)
        .map(|(_, name)| name)
}

/// At most 60 characters of `text`, on one line.
fn shortened(text: &str) -> String {
    const LONGEST: usize = 60;
    let mut short: String = text.chars().take(LONGEST).collect::<String>().replace(['\n', '\r'], " ");
    if text.chars().nth(LONGEST).is_some() {
        short.push_str("...");
    }
    short
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The form that the design asks for, to the letter.
    #[test]
    fn a_problem_reads_as_designed() {
        let place = Place {
            document: "scenario".into(),
            line: Some(12),
            column: Some(1),
            path: "tunable.slice_idle".into(),
        };
        let problem = Problem::new(place, "the longest slice_idle is 1 s").with_value("\"8 hours\"");
        assert_eq!(
            problem.to_string(),
            "scenario line 12: slice_idle = \"8 hours\": the longest slice_idle is 1 s"
        );
    }

    /// A value that came in by name is shown with its whole path.
    #[test]
    fn a_problem_without_a_line_shows_its_path() {
        let problem =
            Problem::new(Place::of_path("link", "machine.hz"), "HZ is 100, 250 or 1000").with_value("300");
        assert_eq!(problem.to_string(), "link: machine.hz = 300: HZ is 100, 250 or 1000");
    }

    /// Slips are recognised, strangers are not.
    #[test]
    fn nearest_names() {
        let names = ["slice_idle", "slice_sync", "quantum"];
        assert_eq!(nearest_name("slice_idel", names), Some("slice_idle"));
        assert_eq!(nearest_name("Quantm", names), Some("quantum"));
        assert_eq!(nearest_name("nr_requests", names), None);
    }

    /// A hostile text cannot make the list of its problems long.
    #[test]
    fn problems_are_bounded() {
        let mut problems = Problems::default();
        for _ in 0..1000 {
            problems.push(Problem::new(Place::of_path("scenario", "x"), "wrong"));
        }
        let list = problems.into_list();
        assert_eq!(list.len(), Problems::KEPT + 1);
        assert_eq!(list.last().map(|last| last.message.as_str()), Some("950 more problems are not listed"));
    }
}
