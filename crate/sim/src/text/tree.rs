//! A TOML text as a tree that remembers where each value stands.

use super::problem::{Place, Problem, Problems};
use litemap::LiteMap;
use std::ops::Range;
use toml::Spanned;
use toml::de::{DeTable, DeValue};

/// The longest text that is read, in bytes: the same bound as for an inflated link.
pub const MAX_TEXT_BYTES: usize = 64 * 1024;

/// The deepest nesting of tables and lists.
const MAX_DEPTH: usize = 64;

/// The most dots in a text. Each dot of a dotted key opens a table within a table; the parser bounds
/// the depth of one key and of brackets, but not of keys within brackets within keys, and a deep
/// tree would exhaust the stack when it is dropped.
const MAX_DOTS: usize = 1000;

/// Line and column, from 1; none for values that were not written in a text.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Position(pub Option<(u32, u32)>);

/// A value of a text.
#[derive(Clone, Debug, PartialEq)]
pub struct Node {
    /// Where it begins.
    pub position: Position,
    /// Document and path it came from, when it stands in for another (a parameter's value, an
    /// override).
    pub origin: Option<Box<(String, String)>>,
    /// What it is.
    pub kind: Kind,
}

/// Kinds of values.
#[derive(Clone, Debug, PartialEq)]
pub enum Kind {
    /// A quoted string.
    Text(String),
    /// A whole number that fits.
    Integer(i64),
    /// Another number, as written.
    Number(String),
    /// true or false.
    Boolean(bool),
    /// A value given by name, without TOML's quotes: read as whatever is wanted.
    Loose(String),
    /// A list.
    List(Vec<Node>),
    /// A table.
    Table(LiteMap<String, Entry>),
}

/// A table's value and where its key stands.
#[derive(Clone, Debug, PartialEq)]
pub struct Entry {
    /// Where the key begins.
    pub position: Position,
    /// The value.
    pub node: Node,
}

impl Node {
    /// A node that was not written in a text.
    #[must_use]
    pub fn new(kind: Kind) -> Self {
        Self { position: Position::default(), origin: None, kind }
    }

    /// A value given by name, from `document` (a link, a command line) under `path`.
    #[must_use]
    pub fn loose(document: &str, path: &str, value: &str) -> Self {
        Self {
            position: Position::default(),
            origin: Some(Box::new((document.to_owned(), path.to_owned()))),
            kind: Kind::Loose(value.to_owned()),
        }
    }

    /// Reads a text. On success the node is a table.
    ///
    /// # Errors
    /// Every place where the text is not TOML, or the bound that it exceeds.
    pub fn parse(document: &str, text: &str) -> Result<Self, Vec<Problem>> {
        let whole = |message: String| vec![Problem::new(Place::of_path(document, ""), message)];
        if text.len() > MAX_TEXT_BYTES {
            return Err(whole(format!(
                "the text has {} bytes; the longest text has {MAX_TEXT_BYTES}",
                text.len()
            )));
        }
        if text.bytes().filter(|byte| *byte == b'.').count() > MAX_DOTS {
            return Err(whole(format!("the text has more than {MAX_DOTS} dots, which no scenario needs")));
        }
        let lines = Lines::new(text);
        let (table, errors) = DeTable::parse_recoverable(text);
        let mut problems = Problems::default();
        for error in errors {
            let Position(position) = error.span().map_or(Position::default(), |span| lines.position(&span));
            let mut place = Place::of_path(document, "");
            (place.line, place.column) = position.unzip();
            problems.push(Problem::new(place, format!("this is not TOML: {}", error.message())));
        }
        if !problems.is_empty() {
            return Err(problems.into_list());
        }
        match convert_table(table.get_ref(), &lines, 0) {
            Some(entries) => {
                Ok(Self { position: Position(Some((1, 1))), origin: None, kind: Kind::Table(entries) })
            }
            None => Err(whole(format!("tables and lists are nested more than {MAX_DEPTH} deep"))),
        }
    }

    /// The node with every node below it remembering its document and path, so that it can become
    /// part of another tree.
    #[must_use]
    pub fn at_home(mut self, document: &str, path: &str) -> Self {
        let below = |key: &str| if path.is_empty() { key.to_owned() } else { format!("{path}.{key}") };
        self.kind = match self.kind {
            Kind::Table(mut entries) => {
                for (key, entry) in &mut entries {
                    let node = std::mem::replace(&mut entry.node, Self::new(Kind::Boolean(false)));
                    entry.node = node.at_home(document, &below(key));
                }
                Kind::Table(entries)
            }
            Kind::List(list) => {
                let home = |(index, node): (usize, Self)| node.at_home(document, &below(&index.to_string()));
                Kind::List(list.into_iter().enumerate().map(home).collect())
            }
            other => other,
        };
        let home = || Box::new((document.to_owned(), path.to_owned()));
        self.origin = self.origin.or_else(|| Some(home()));
        self
    }

    /// The value as it was written, for messages.
    #[must_use]
    pub fn written(&self) -> String {
        match &self.kind {
            Kind::Text(text) => format!("\"{text}\""),
            Kind::Integer(value) => value.to_string(),
            Kind::Number(text) | Kind::Loose(text) => text.clone(),
            Kind::Boolean(value) => value.to_string(),
            Kind::List(list) if list.is_empty() => "[]".to_owned(),
            Kind::List(_) => "[...]".to_owned(),
            Kind::Table(_) => "{...}".to_owned(),
        }
    }

    /// The node at a dotted path below this one.
    #[must_use]
    pub fn at(&self, path: &str) -> Option<&Self> {
        path.split('.').filter(|key| !key.is_empty()).try_fold(self, |node, key| match &node.kind {
            Kind::Table(entries) => entries.get(key).map(|entry| &entry.node),
            Kind::List(list) => key.parse::<usize>().ok().and_then(|index| list.get(index)),
            _ => None,
        })
    }

    /// Puts `node` at a dotted path below this table, making tables on the way. What is in the way
    /// and is not a table is replaced.
    pub fn put(&mut self, path: &[&str], node: Self) {
        let Some((key, rest)) = path.split_first() else {
            *self = node;
            return;
        };
        if !matches!(self.kind, Kind::Table(_)) {
            self.kind = Kind::Table(LiteMap::new());
            self.origin.clone_from(&node.origin);
        }
        if let Kind::Table(entries) = &mut self.kind {
            let entry = entries.entry((*key).to_owned()).or_insert_with(|| Entry {
                position: Position::default(),
                node: Self { origin: node.origin.clone(), ..Self::new(Kind::Table(LiteMap::new())) },
            });
            entry.node.put(rest, node);
        }
    }

    /// Puts every value of another tree over this one; tables are merged, everything else is replaced.
    pub fn lay_over(&mut self, over: &Self) {
        match (&mut self.kind, &over.kind) {
            (Kind::Table(_), Kind::Table(entries)) => {
                for (key, entry) in entries.iter() {
                    match &mut self.kind {
                        Kind::Table(own) if own.contains_key(key) => {
                            own.entry(key.clone())
                                .or_insert_with(|| entry.clone())
                                .node
                                .lay_over(&entry.node);
                        }
                        _ => self.put(&[key], entry.node.clone()),
                    }
                }
            }
            _ => *self = over.clone(),
        }
    }

    /// Fills in line, column and value of a problem that is known by its path alone, if the path
    /// leads to a node of this tree.
    #[must_use]
    pub fn locate(&self, mut problem: Problem) -> Problem {
        if problem.place.line.is_some() {
            return problem;
        }
        if let Some(node) = self.at(&problem.place.path) {
            (problem.place.line, problem.place.column) = node.position.0.unzip();
            if let Some(origin) = &node.origin {
                (problem.place.document, problem.place.path) = (**origin).clone();
            }
            if !problem.place.path.is_empty() && !matches!(node.kind, Kind::Table(_) | Kind::List(_)) {
                problem = problem.with_value(node.written());
            }
        }
        problem
    }
}

fn convert_table(table: &DeTable<'_>, lines: &Lines<'_>, depth: usize) -> Option<LiteMap<String, Entry>> {
    let mut entries = LiteMap::new();
    for (key, value) in table {
        let node = convert(value, lines, depth + 1)?;
        entries.insert(key.get_ref().to_string(), Entry { position: lines.position(&key.span()), node });
    }
    Some(entries)
}

fn convert(value: &Spanned<DeValue<'_>>, lines: &Lines<'_>, depth: usize) -> Option<Node> {
    if depth > MAX_DEPTH {
        return None;
    }
    let kind = match value.get_ref() {
        DeValue::String(text) => Kind::Text(text.to_string()),
        DeValue::Integer(integer) => i64::from_str_radix(integer.as_str(), integer.radix())
            .map_or_else(|_| Kind::Number(integer.to_string()), Kind::Integer),
        DeValue::Float(float) => Kind::Number(float.as_str().to_owned()),
        DeValue::Boolean(value) => Kind::Boolean(*value),
        DeValue::Datetime(value) => Kind::Number(value.to_string()),
        DeValue::Array(list) => {
            Kind::List(list.iter().map(|item| convert(item, lines, depth + 1)).collect::<Option<_>>()?)
        }
        DeValue::Table(table) => Kind::Table(convert_table(table, lines, depth)?),
    };
    Some(Node { position: lines.position(&value.span()), origin: None, kind })
}

/// Where the lines of a text begin.
struct Lines<'t> {
    text: &'t str,
    starts: Vec<usize>,
}

impl<'t> Lines<'t> {
    fn new(text: &'t str) -> Self {
        let after_newlines = text.match_indices('\n').map(|(index, _)| index + 1);
        Self { text, starts: std::iter::once(0).chain(after_newlines).collect() }
    }

    /// Line and column of the beginning of a span of bytes.
    fn position(&self, span: &Range<usize>) -> Position {
        let line = self.starts.partition_point(|start| *start <= span.start).max(1);
        let start = self.starts.get(line - 1).copied().unwrap_or(0);
        let column = self.text.get(start..span.start).map_or(1, |before| before.chars().count() + 1);
        Position(u32::try_from(line).ok().zip(u32::try_from(column).ok()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Positions count lines and characters from 1, also behind letters of several bytes.
    #[test]
    fn positions() {
        let root = Node::parse("scenario", "a = 1\n[b]\n  \"größe\" = \"8 ms\"\n").expect("TOML");
        let node = root.at("b.größe").expect("there");
        assert_eq!(node.position, Position(Some((3, 13))));
        assert_eq!(node.written(), "\"8 ms\"");
    }

    /// Every error of syntax is reported, each with its line.
    #[test]
    fn syntax_errors_are_all_reported() {
        let problems = Node::parse("scenario", "a = \nb = 2\nc = [1,\n").expect_err("broken");
        assert!(problems.len() >= 2, "{problems:?}");
        assert_eq!(problems.first().and_then(|problem| problem.place.line), Some(1));
        let twice = Node::parse("scenario", "a = 1\na = 2\n").expect_err("a key twice");
        assert_eq!(twice.first().and_then(|problem| problem.place.line), Some(2));
    }

    /// Depth built from brackets and dotted keys together is refused before it can exhaust a stack,
    /// even a small one.
    #[test]
    fn hostile_depth_is_refused() {
        let key = vec!["a"; 79].join(".");
        let mut texts = vec!["x = ".to_owned() + &"[".repeat(30_000)];
        texts.push(format!("{}1{}", format!("{key} = {{").repeat(70), "}".repeat(70)));
        texts.push(format!("{}1{}", format!("{key} = {{").repeat(12), "}".repeat(12)));
        texts.push(vec!["a"; 900].join(".") + " = 1");
        for text in texts {
            let thread = std::thread::Builder::new().stack_size(512 * 1024);
            let refused = thread.spawn(move || Node::parse("link", &text).is_err()).expect("a thread");
            assert!(refused.join().expect("no overflow"));
        }
    }

    /// A path leads into lists too, and what is put can be found.
    #[test]
    fn trees_lie_over_each_other() {
        let read = |text: &str| Node::parse("scenario", text).expect("TOML");
        let mut tree = read("hz = 250\n[memory]\nsize = 1\ntaken = 2\n");
        tree.lay_over(&read("cpus = 2\n[memory]\ntaken = 3\n"));
        for (path, value) in [("hz", "250"), ("cpus", "2"), ("memory.size", "1"), ("memory.taken", "3")] {
            assert_eq!(tree.at(path).map(Node::written).as_deref(), Some(value), "{path}");
        }
    }

    #[test]
    fn put_and_find() {
        let mut root = Node::parse("scenario", "[[process]]\nname = \"a\"\n").expect("TOML");
        assert!(root.at("process.0.name").is_some());
        root.put(&["machine", "hz"], Node::loose("link", "machine.hz", "250"));
        let located = root.locate(Problem::new(Place::of_path("scenario", "machine.hz"), "wrong"));
        assert_eq!(located.to_string(), "link: machine.hz = 250: wrong");
    }
}
