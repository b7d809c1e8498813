//! Single values that replace those of a text, by dotted path: what links and command lines say.

use crate::text::{Kind, Node, Place, Problem, Problems};
use litemap::LiteMap;

/// What an override may begin with.
const HEADS: [&str; 7] = ["machine", "tunable", "workload", "time", "events", "seed", "kernels"];

/// Values by path: `machine.hz` = `250`, `machine.device.write-latency-us` = `450`,
/// `tunable.slice_idle` = `0`, `workload.file-size` = `16 KiB`, `time` = `20 s`, `seed` = `7`,
/// `kernels` = `deadline,cfq@2.6.35+revert-8e55063`.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Overrides {
    /// What the values are called in messages: `link`, `command line`, `page`.
    pub document: String,
    /// The values, as text without quotes.
    pub values: LiteMap<String, String>,
}

impl Overrides {
    /// Nothing is replaced.
    #[must_use]
    pub fn none() -> Self {
        Self::default()
    }

    /// No values yet, from `document`.
    #[must_use]
    pub fn from_document(document: &str) -> Self {
        Self { document: document.to_owned(), values: LiteMap::new() }
    }

    /// With one more value.
    #[must_use]
    pub fn with(mut self, path: &str, value: &str) -> Self {
        self.values.insert(path.to_owned(), value.to_owned());
        self
    }

    /// Reads `path=value`, as written on a command line.
    ///
    /// # Errors
    /// The argument has no `=`.
    pub fn add(&mut self, argument: &str) -> Result<(), Vec<Problem>> {
        let Some((path, value)) = argument.split_once('=') else {
            let place = Place::of_path(&self.document, argument);
            let message = "this sets nothing: write a path and a value, such as tunable.slice_idle=0";
            return Err(vec![Problem::new(place, message)]);
        };
        self.values.insert(path.trim().to_owned(), value.trim().to_owned());
        Ok(())
    }

    /// Puts the values into a scenario's tree.
    pub(super) fn apply(&self, document: &str, root: &mut Node, problems: &mut Problems) {
        spell_out(document, root);
        // In the order of the paths: a table as a whole comes before its parts.
        for (path, value) in &self.values {
            let keys: Vec<&str> = path.split('.').collect();
            let head = keys.first().copied().unwrap_or("");
            if !HEADS.contains(&head) || keys.contains(&"") || keys.len() > 8 {
                let problem = Problem::new(Place::of_path(&self.document, path), "nothing has this name");
                problems.push(problem.with_value(value.clone()).with_names(head, HEADS));
                continue;
            }
            root.put(&keys, Node::loose(&self.document, path, value));
            spell_out(document, root);
        }
    }
}

/// Replaces the short forms `device = "array"` and `workload = "fs-mark"` by the tables they stand
/// for, so that single values can be put into them.
fn spell_out(document: &str, root: &mut Node) {
    for (path, key) in [(&["machine", "device"][..], "preset"), (&["workload"][..], "use")] {
        let dotted = path.join(".");
        let Some(mut name) = root.at(&dotted).cloned() else { continue };
        // Problems with the name are told under the key that was written.
        name.origin = name.origin.or_else(|| Some(Box::new((document.to_owned(), dotted))));
        if matches!(name.kind, Kind::Text(_) | Kind::Loose(_)) {
            let mut table = Node { kind: Kind::Table(LiteMap::new()), ..name.clone() };
            table.put(&[key], name);
            root.put(path, table);
        }
    }
}
