//! Parameters: named values of a workload that whoever runs it may set.

use crate::text::{Field, Kind, Node, Problem, Problems, Table};
use litemap::LiteMap;
use serde::{Deserialize, Serialize};

/// A parameter of a workload, for lists and forms.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Parameter {
    /// Name.
    pub name: String,
    /// What it is; may be empty.
    pub about: String,
    /// The value it has unless somebody sets it, as text.
    pub default: String,
    /// The value it has now, as text.
    pub value: String,
}

/// Values for parameters by name, each with the place it came from.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Values(LiteMap<String, Node>);

impl Values {
    /// No values: every parameter keeps its default.
    #[must_use]
    pub fn none() -> Self {
        Self::default()
    }

    /// Adds a value that came in by name, from `document` (a link, the command line) under `path`.
    pub fn set(&mut self, name: &str, document: &str, path: &str, value: &str) {
        self.0.insert(name.to_owned(), Node::loose(document, path, value));
    }

    /// Adds a value that stands in a text.
    pub fn set_field(&mut self, name: &str, field: &Field<'_>) {
        self.0.insert(name.to_owned(), at_home(field));
    }

    /// The names that have values.
    pub(super) fn names(&self) -> impl Iterator<Item = &str> {
        self.0.keys().map(String::as_str)
    }

    /// A problem with the value of `name`.
    pub(super) fn problem(&self, name: &str, message: &str) -> Problem {
        let unknown = Node::loose("workload", name, "");
        Field::root("workload", self.0.get(name).unwrap_or(&unknown)).problem(message)
    }
}

/// A node that remembers where it stands even when it is copied elsewhere.
fn at_home(field: &Field<'_>) -> Node {
    let mut node = field.node.clone();
    if node.origin.is_none() {
        node.origin = Some(Box::new((field.document.to_owned(), field.path.clone())));
    }
    node
}

/// The parameters of one text with the values they have.
pub(super) struct Parameters {
    pub(super) list: Vec<Parameter>,
    values: LiteMap<String, Node>,
    used: LiteMap<String, ()>,
}

impl Parameters {
    /// Reads the `parameters` table; `given` replaces defaults.
    pub(super) fn read(table: &mut Table<'_>, given: &Values, problems: &mut Problems) -> Self {
        let mut parameters = Self { list: Vec::new(), values: LiteMap::new(), used: LiteMap::new() };
        let Some(mut table) = table.field("parameters").and_then(|field| field.table(problems)) else {
            return parameters;
        };
        for (name, field) in table.all() {
            let (default, about) = read_one(&field, problems);
            let Some(default) = default else { continue };
            let node = given.0.get(name).cloned().unwrap_or_else(|| at_home(&default));
            let text = |node: &Node| node.written().trim_matches('"').to_owned();
            let (default, value) = (text(default.node), text(&node));
            parameters.list.push(Parameter { name: name.to_owned(), about, default, value });
            parameters.values.insert(name.to_owned(), node);
        }
        parameters
    }

    /// The values to hand on to an included workload: what was given, and what this text sets.
    pub(super) fn for_included(&self, given: &Values) -> Values {
        let mut values = given.clone();
        for (name, node) in &self.values {
            values.0.insert(name.clone(), node.clone());
        }
        values
    }

    /// Notes that an included workload takes these parameters.
    pub(super) fn taken(&mut self, included: &[Parameter]) {
        for parameter in included {
            self.used.insert(parameter.name.clone(), ());
            if !self.values.contains_key(&parameter.name) {
                self.list.push(parameter.clone());
            }
        }
        self.list.dedup_by(|one, other| one.name == other.name);
    }

    /// Puts values in place of `$name`, everywhere below `field`.
    pub(super) fn fill(&mut self, field: &Field<'_>, problems: &mut Problems) -> Node {
        let kind = match &field.node.kind {
            Kind::Text(text) if text.starts_with('$') => {
                let name = text.trim_start_matches('$');
                if let Some(node) = self.values.get(name) {
                    self.used.insert(name.to_owned(), ());
                    return node.clone();
                }
                let names = self.list.iter().map(|parameter| parameter.name.as_str());
                problems.push(field.problem("there is no parameter of this name").with_names(name, names));
                field.node.kind.clone()
            }
            Kind::List(_) => {
                let items = field.list(problems).unwrap_or_default();
                Kind::List(items.iter().map(|item| self.fill(item, problems)).collect())
            }
            Kind::Table(entries) => {
                let mut entries = entries.clone();
                let mut table = field.table(problems);
                for (key, child) in table.iter_mut().flat_map(Table::all) {
                    let filled = self.fill(&child, problems);
                    if let Some(entry) = entries.get_mut(key) {
                        entry.node = filled;
                    }
                }
                Kind::Table(entries)
            }
            other => other.clone(),
        };
        Node { kind, ..field.node.clone() }
    }

    /// Reports parameters that nothing uses: setting them would silently do nothing.
    pub(super) fn report_unused(&self, document: &str, problems: &mut Problems) {
        for (name, node) in self.values.iter().filter(|(name, _)| !self.used.contains_key(*name)) {
            let field = Field { node, document, path: format!("parameters.{name}") };
            let hint = format!("write \"${name}\" where its value belongs");
            problems.push(field.problem("nothing uses this parameter").with_hint(hint));
        }
    }
}

/// `size = "64 KiB"` or `size = { default = "64 KiB", about = "size of a file" }`.
fn read_one<'n>(field: &Field<'n>, problems: &mut Problems) -> (Option<Field<'n>>, String) {
    if !matches!(field.node.kind, Kind::Table(_)) {
        return (Some(field.clone()), String::new());
    }
    let Some(mut table) = field.table(problems) else { return (None, String::new()) };
    let default = table.require("default", "the value unless somebody sets another", problems);
    let about = table.field("about").and_then(|about| about.text(problems)).unwrap_or("").to_owned();
    table.finish(problems);
    (default, about)
}
