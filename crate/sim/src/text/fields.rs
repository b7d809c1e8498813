//! Reading a tree field by field, noting every problem and going on.

use super::problem::{Place, Problem, Problems};
use super::tree::{Entry, Kind, Node, Position};
use super::units::{Scale, parse_quantity, parse_range};
use litemap::LiteMap;
use std::ops::RangeInclusive;

/// A value and its path.
#[derive(Clone, Debug)]
pub struct Field<'n> {
    /// The value.
    pub node: &'n Node,
    /// Which text it stands in.
    pub document: &'n str,
    /// Its path from the top of the text.
    pub path: String,
}

impl<'n> Field<'n> {
    /// The top of a text.
    #[must_use]
    pub fn root(document: &'n str, node: &'n Node) -> Self {
        Self { node, document, path: String::new() }
    }

    /// Where it stands: where the value came from, if it stands in for another.
    #[must_use]
    pub fn place(&self) -> Place {
        let (document, path) = self
            .node
            .origin
            .as_ref()
            .map_or((self.document, self.path.as_str()), |origin| (origin.0.as_str(), origin.1.as_str()));
        let mut place = Place::of_path(document, path);
        (place.line, place.column) = self.node.position.0.unzip();
        place
    }

    /// A problem with this value.
    #[must_use]
    pub fn problem(&self, message: impl Into<String>) -> Problem {
        let problem = Problem::new(self.place(), message);
        match self.node.kind {
            Kind::Table(_) => problem,
            _ => problem.with_value(self.node.written()),
        }
    }

    /// The last key of the path.
    fn key(&self) -> &str {
        self.path.rsplit('.').find(|part| part.parse::<usize>().is_err()).unwrap_or("it")
    }

    /// As text.
    pub fn text(&self, problems: &mut Problems) -> Option<&'n str> {
        match &self.node.kind {
            Kind::Text(text) | Kind::Loose(text) => Some(text),
            _ => {
                problems.push(self.problem("this is not text: put it in quotes"));
                None
            }
        }
    }

    /// As a name: text of 1 to 60 printable characters.
    pub fn name(&self, problems: &mut Problems) -> Option<&'n str> {
        let name = self.text(problems)?;
        let is_fine = (1..=60).contains(&name.chars().count())
            && name.trim() == name
            && !name.chars().any(|c| c.is_control() || c == '"')
            && !name.starts_with('$');
        if !is_fine {
            problems.push(self.problem("a name has 1 to 60 printable characters and no quotes"));
        }
        is_fine.then_some(name)
    }

    /// As true or false.
    pub fn boolean(&self, problems: &mut Problems) -> Option<bool> {
        match &self.node.kind {
            Kind::Boolean(value) => Some(*value),
            Kind::Loose(text) if text == "true" || text == "1" => Some(true),
            Kind::Loose(text) if text == "false" || text == "0" => Some(false),
            _ => {
                problems.push(self.problem("this is true or false").with_allowed("true, false"));
                None
            }
        }
    }

    /// As one of several names.
    pub fn one_of<T: Copy>(&self, choices: &[(&str, T)], problems: &mut Problems) -> Option<T> {
        let text = self.text(problems)?;
        let found = choices.iter().find(|(name, _)| *name == text).map(|(_, value)| *value);
        if found.is_none() {
            let names = choices.iter().map(|(name, _)| *name);
            let message = format!("there is no {} of this name", self.key());
            problems.push(self.problem(message).with_names(text, names));
        }
        found
    }

    /// As a quantity within bounds.
    pub fn quantity(
        &self,
        scale: Scale,
        bounds: &RangeInclusive<u64>,
        problems: &mut Problems,
    ) -> Option<u64> {
        let value = match &self.node.kind {
            Kind::Text(text) | Kind::Loose(text) => parse_quantity(text, scale),
            Kind::Integer(value) if scale != Scale::Time => {
                u64::try_from(*value).map_err(|_| "it cannot be negative".to_owned())
            }
            Kind::Integer(_) => Err(format!("it has no unit; {}", scale.advice())),
            _ => Err(scale.advice().to_owned()),
        };
        self.bounded(value, scale, bounds, problems)
    }

    /// As a quantity or a range of two, within bounds.
    pub fn range(
        &self,
        scale: Scale,
        bounds: &RangeInclusive<u64>,
        problems: &mut Problems,
    ) -> Option<(u64, u64)> {
        match &self.node.kind {
            Kind::Text(text) | Kind::Loose(text) if text.contains("..") => {
                let (low, high) = match parse_range(text, scale) {
                    Ok(range) => range,
                    Err(message) => {
                        return self.bounded(Err(message), scale, bounds, problems).map(|v| (v, v));
                    }
                };
                let low = self.bounded(Ok(low), scale, bounds, problems);
                low.zip(self.bounded(Ok(high), scale, bounds, problems))
            }
            _ => self.quantity(scale, bounds, problems).map(|value| (value, value)),
        }
    }

    /// `value` if it lies within bounds; `name` is what it is called in the message.
    pub fn within(
        &self,
        value: u64,
        scale: Scale,
        bounds: &RangeInclusive<u64>,
        name: &str,
        problems: &mut Problems,
    ) -> Option<u64> {
        self.bounded_as(name, Ok(value), scale, bounds, problems)
    }

    fn bounded(
        &self,
        value: Result<u64, String>,
        scale: Scale,
        bounds: &RangeInclusive<u64>,
        problems: &mut Problems,
    ) -> Option<u64> {
        self.bounded_as(self.key(), value, scale, bounds, problems)
    }

    fn bounded_as(
        &self,
        key: &str,
        value: Result<u64, String>,
        scale: Scale,
        bounds: &RangeInclusive<u64>,
        problems: &mut Problems,
    ) -> Option<u64> {
        let (most, least, range) = bounds_in_words(scale, bounds);
        let message = match value {
            Ok(value) if bounds.contains(&value) => return Some(value),
            Ok(value) if value > *bounds.end() => {
                format!("the {most} {key} is {}", scale.format(*bounds.end()))
            }
            Ok(_) => format!("the {least} {key} is {}", scale.format(*bounds.start())),
            Err(message) => message,
        };
        let mut problem = self.problem(message);
        // Whatever a number can hold is no bound that anybody set.
        problem.allowed = (*bounds != (0..=u64::MAX)).then_some(range);
        problems.push(problem);
        None
    }

    /// As a list. A single value is a list of one when it came in by name.
    pub fn list(&self, problems: &mut Problems) -> Option<Vec<Self>> {
        match &self.node.kind {
            Kind::List(list) => Some(
                list.iter()
                    .enumerate()
                    .map(|(index, node)| Self {
                        node,
                        document: self.document,
                        path: format!("{}.{index}", self.path),
                    })
                    .collect(),
            ),
            _ => {
                problems.push(self.problem("this is not a list: write [ ... ]"));
                None
            }
        }
    }

    /// As a list of tables, each read and its unknown keys reported. What cannot be read is left out.
    pub fn tables<T>(
        &self,
        problems: &mut Problems,
        read: fn(&mut Table<'_>, &mut Problems) -> Option<T>,
    ) -> Vec<T> {
        let mut items = Vec::new();
        for field in self.list(problems).unwrap_or_default() {
            let Some(mut table) = field.table(problems) else { continue };
            items.extend(read(&mut table, problems));
            table.finish(problems);
        }
        items
    }

    /// As a table.
    pub fn table(&self, problems: &mut Problems) -> Option<Table<'n>> {
        match &self.node.kind {
            Kind::Table(entries) => {
                Some(Table { entries, field: self.clone(), asked: Vec::new(), is_open: false })
            }
            _ => {
                problems.push(self.problem("this is not a table: write { ... }"));
                None
            }
        }
    }
}

/// `(largest, smallest, "0 to 1 s")`, or longest and shortest for times.
fn bounds_in_words(scale: Scale, bounds: &RangeInclusive<u64>) -> (&'static str, &'static str, String) {
    let (most, least) = match scale {
        Scale::Time => ("longest", "shortest"),
        Scale::Size | Scale::Count => ("largest", "smallest"),
    };
    let (start, end) = (*bounds.start(), *bounds.end());
    (most, least, format!("{} to {}", scale.format(start), scale.format(end)))
}

/// A table that is being read: keys are asked for one by one, and those nobody asked for are
/// reported at the end.
#[derive(Clone, Debug)]
pub struct Table<'n> {
    entries: &'n LiteMap<String, Entry>,
    field: Field<'n>,
    asked: Vec<&'static str>,
    is_open: bool,
}

impl<'n> Table<'n> {
    /// The value under `key`, if it is there.
    pub fn field(&mut self, key: &'static str) -> Option<Field<'n>> {
        self.asked.push(key);
        self.entries.get(key).map(|entry| self.child(key, entry))
    }

    /// The value under `key`; its absence is a problem.
    pub fn require(&mut self, key: &'static str, what: &str, problems: &mut Problems) -> Option<Field<'n>> {
        let found = self.field(key);
        if found.is_none() {
            let mut problem = Problem::new(self.place(), format!("`{key}` is missing: {what}"));
            if let Some(near) = super::nearest_name(key, self.entries.keys().map(String::as_str)) {
                problem.hint = Some(format!("is `{near}` it?"));
            }
            problems.push(problem);
        }
        found
    }

    /// Whether `key` is there; does not count as asking for it.
    #[must_use]
    pub fn has(&self, key: &str) -> bool {
        self.entries.contains_key(key)
    }

    /// Where the table stands.
    #[must_use]
    pub fn place(&self) -> Place {
        self.field.place()
    }

    /// A problem with the table as a whole.
    #[must_use]
    pub fn problem(&self, message: impl Into<String>) -> Problem {
        Problem::new(self.place(), message)
    }

    /// Every key and value, for tables whose keys are names of the writer's; no key is unknown then.
    pub fn all(&mut self) -> Vec<(&'n str, Field<'n>)> {
        self.is_open = true;
        self.entries.iter().map(|(key, entry)| (key.as_str(), self.child(key, entry))).collect()
    }

    /// Every key and value not asked for so far; no key is unknown then.
    pub fn rest(&mut self) -> Vec<(&'n str, Field<'n>)> {
        let asked = std::mem::take(&mut self.asked);
        let mut all = self.all();
        all.retain(|(key, _)| !asked.contains(key));
        self.asked = asked;
        all
    }

    fn child(&self, key: &str, entry: &'n Entry) -> Field<'n> {
        let path =
            if self.field.path.is_empty() { key.to_owned() } else { format!("{}.{key}", self.field.path) };
        Field { node: &entry.node, document: self.field.document, path }
    }

    /// Reports the keys nobody asked for.
    pub fn finish(self, problems: &mut Problems) {
        if self.is_open {
            return;
        }
        for (key, entry) in self.entries.iter().filter(|(key, _)| !self.asked.contains(&key.as_str())) {
            let mut place = self.child(key, entry).place();
            if let Position(Some((line, column))) = entry.position {
                (place.line, place.column) = (Some(line), Some(column));
            }
            let problem = Problem::new(place, "there is no such key here");
            problems.push(problem.with_names(key, self.asked.iter().copied()));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(text: &str, read: impl FnOnce(&mut Table<'_>, &mut Problems)) -> Vec<String> {
        let root = Node::parse("scenario", text).expect("TOML");
        let mut problems = Problems::default();
        let mut table = Field::root("scenario", &root).table(&mut problems).expect("a table");
        read(&mut table, &mut problems);
        table.finish(&mut problems);
        if problems.is_empty() {
            return Vec::new();
        }
        problems.into_list().iter().map(ToString::to_string).collect()
    }

    /// The example of the design, from a text.
    #[test]
    fn out_of_range_is_told_with_line_value_and_bound() {
        let text = "\n\nslice_idle = \"8 hours\"\n";
        let problems = read(text, |table, problems| {
            let field = table.field("slice_idle").expect("there");
            assert_eq!(field.quantity(Scale::Time, &(0..=1_000_000_000), problems), None);
        });
        assert_eq!(problems, ["scenario line 3: slice_idle = \"8 hours\": the longest slice_idle is 1 s"]);
    }

    /// Unknown keys are reported with the nearest known one, all of them.
    #[test]
    fn unknown_keys() {
        let problems = read("cpu = 1\nspeed = 3\n", |table, _| {
            assert!(table.field("cpus").is_none());
        });
        assert_eq!(
            problems,
            [
                "scenario line 1: cpu: there is no such key here; did you mean cpus?",
                "scenario line 2: speed: there is no such key here (allowed: cpus)"
            ]
        );
    }
}
