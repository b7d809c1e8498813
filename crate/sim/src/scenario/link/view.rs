//! What is seen: the part of a link that changes nothing of what is run.

use super::codec::Fields;
use crate::text::{Place, Problem, Problems, Scale, format_time, parse_range};
use crate::workload::MAX_TIME_NS;
use serde::{Deserialize, Serialize};

/// The most charts a link can name.
const MAX_CHARTS: usize = 32;

/// What of the results is on the screen.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct View {
    /// Beginning and end of the time shown, in nanoseconds; none for all of it.
    pub range_ns: Option<(u64, u64)>,
    /// The charts that are shown, by name, in order; none means the page's own choice. Names have
    /// small letters, digits and hyphens.
    pub charts: Vec<String>,
    /// The request or task that is selected, by the page's name for it; may be empty.
    pub selected: String,
}

impl View {
    /// Takes the view's values out of a link's.
    pub(super) fn take(fields: &mut Fields, problems: &mut Problems) -> Self {
        let mut view = Self::default();
        let mut problem = |name: &str, value: &str, message: &str| {
            problems.push(Problem::new(Place::of_path("link", name), message).with_value(value));
        };
        if let Some(text) = fields.remove("view") {
            match parse_range(&text, Scale::Time) {
                Ok((from, to)) if from < to && to <= MAX_TIME_NS => view.range_ns = Some((from, to)),
                Ok(_) => problem("view", &text, "a view begins before it ends, within one hour"),
                Err(message) => problem("view", &text, &message),
            }
        }
        if let Some(text) = fields.remove("charts") {
            let names: Vec<String> = text.split(',').map(str::to_owned).collect();
            if names.len() <= MAX_CHARTS && names.iter().all(|name| is_chart_name(name)) {
                view.charts = names;
            } else {
                problem(
                    "charts",
                    &text,
                    "this is no list of charts: names of small letters, with commas between",
                );
            }
        }
        if let Some(text) = fields.remove("selected") {
            if text.chars().count() <= 60 && !text.chars().any(char::is_control) {
                view.selected = text;
            } else {
                problem("selected", &text, "this is nobody's name");
            }
        }
        view
    }

    /// Adds the view's values to a link's.
    pub(super) fn put(&self, fields: &mut Fields) {
        if let Some((from, to)) = self.range_ns {
            let text = format!("{}..{}", format_time(from), format_time(to)).replace(' ', "");
            fields.insert("view".to_owned(), text);
        }
        if !self.charts.is_empty() {
            fields.insert("charts".to_owned(), self.charts.join(","));
        }
        if !self.selected.is_empty() {
            fields.insert("selected".to_owned(), self.selected.clone());
        }
    }
}

fn is_chart_name(name: &str) -> bool {
    (1..=40).contains(&name.len())
        && name.bytes().all(|byte| byte.is_ascii_lowercase() || byte.is_ascii_digit() || byte == b'-')
}
