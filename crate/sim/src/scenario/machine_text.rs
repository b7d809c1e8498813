//! The machine as a text says it: whatever a field of [`Machine`] is called there, with units.
//!
//! Fields are not listed here. The default machine, written out, is the list of what exists; what
//! the text says is laid over it.

use super::Machine;
use crate::device::{self, DeviceKind, DeviceOptions};
use crate::text::{Field, Kind, Problem, Problems, Scale, Table, parse_quantity};
use serde::Deserialize;
use serde::de::DeserializeOwned;
use toml::Value;

/// Reads the `machine` table; what it leaves out keeps its default.
pub(super) fn read_machine(field: Option<&Field<'_>>, problems: &mut Problems) -> Option<Machine> {
    let default = Machine::default();
    let Some(field) = field else { return Some(default) };
    let mut table = field.table(problems)?;
    let options = table.field("device").map(|device| read_device(&device, problems));
    let mut base = toml::Table::try_from(&default).ok()?;
    let mut layer = Layer { changes: Vec::new(), problems };
    layer.over(&mut base, &mut table, &["device"], &mut Vec::new());
    if base_says_ext3(&base) && !layer.has_changed(&["file-system", "barrier"]) {
        // ext3 was mounted without barriers by default (section 4.2).
        set(&mut base, &["file-system".to_owned(), "barrier".to_owned()], Value::Boolean(false));
    }
    let machine: Machine = layer.finish(base)?;
    match options {
        Some(options) => Some(Machine { device: options?, ..machine }),
        None => Some(machine),
    }
}

fn base_says_ext3(base: &toml::Table) -> bool {
    let kind = base.get("file-system").and_then(|table| table.get("kind"));
    kind.and_then(Value::as_str) == Some("ext3")
}

/// Reads `device`: the name of a preset, or a table with `preset` or `model` and what differs.
fn read_device(field: &Field<'_>, problems: &mut Problems) -> Option<DeviceOptions> {
    if !matches!(field.node.kind, Kind::Table(_)) {
        return read_preset(field, problems);
    }
    let mut table = field.table(problems)?;
    let base = match (table.field("preset"), table.field("model")) {
        (Some(preset), Some(_)) => {
            problems.push(preset.problem("a device has a preset or a model, not both"));
            return None;
        }
        (Some(preset), None) => read_preset(&preset, problems)?,
        (None, Some(model)) => read_model(&model, problems)?,
        (None, None) => Machine::default().device,
    };
    let mut base = toml::Table::try_from(&base).ok()?;
    let mut layer = Layer { changes: Vec::new(), problems };
    layer.over(&mut base, &mut table, &["preset", "model"], &mut Vec::new());
    layer.finish(base)
}

fn read_preset(field: &Field<'_>, problems: &mut Problems) -> Option<DeviceOptions> {
    let name = field.text(problems)?;
    let found = device::preset(name);
    if found.is_none() {
        let names = device::presets().iter().map(|preset| preset.name);
        problems.push(field.problem("there is no device of this name").with_names(name, names));
    }
    found.map(|preset| preset.options())
}

fn read_model(field: &Field<'_>, problems: &mut Problems) -> Option<DeviceOptions> {
    let names = DeviceKind::ALL.map(|kind| (kind.name(), kind.name()));
    let name = field.one_of(&names, problems)?;
    let mut table = toml::Table::new();
    table.insert("model".to_owned(), Value::String(name.to_owned()));
    DeviceOptions::deserialize(Value::Table(table)).ok()
}

/// A text's values laid over a table of defaults.
struct Layer<'n, 'p> {
    /// What was replaced: where, the default, and the field that replaced it.
    changes: Vec<(Vec<String>, Value, Field<'n>)>,
    problems: &'p mut Problems,
}

impl<'n> Layer<'n, '_> {
    fn over(&mut self, base: &mut toml::Table, table: &mut Table<'n>, skip: &[&str], path: &mut Vec<String>) {
        for (key, field) in table.all() {
            if skip.contains(&key) {
                continue;
            }
            let Some(name) = known_name(base, key) else {
                let names = base.keys().map(String::as_str).chain(skip.iter().copied());
                self.problems.push(field.problem("there is no such key here").with_names(key, names));
                continue;
            };
            path.push(name.clone());
            match base.get_mut(&name) {
                Some(Value::Table(inner)) => {
                    if let Some(mut table) = field.table(self.problems) {
                        self.over(inner, &mut table, &[], path);
                    }
                }
                Some(old) => {
                    if let Some(value) = read_value(old, &name, key, &field, self.problems) {
                        let old = std::mem::replace(old, value);
                        self.changes.push((path.clone(), old, field));
                    }
                }
                None => {}
            }
            path.pop();
        }
    }

    fn has_changed(&self, path: &[&str]) -> bool {
        self.changes.iter().any(|(changed, _, _)| changed.iter().eq(path.iter()))
    }

    /// The table as the type it describes. Values that the type refuses (names of an enum, numbers
    /// too large for the field) are found by putting back the others.
    fn finish<T: DeserializeOwned>(self, table: toml::Table) -> Option<T> {
        let refusal = |table: &toml::Table| T::deserialize(Value::Table(table.clone())).err();
        let Some(error) = refusal(&table) else { return T::deserialize(Value::Table(table)).ok() };
        let mut defaults = table.clone();
        for (path, old, _) in &self.changes {
            set(&mut defaults, path, old.clone());
        }
        let before = self.problems.len();
        for (path, _, field) in &self.changes {
            let mut only_this = defaults.clone();
            if let Some(value) = get(&table, path) {
                set(&mut only_this, path, value.clone());
            }
            if let Some(error) = refusal(&only_this) {
                self.problems.push(refused(field, error.message()));
            }
        }
        if let (true, Some((_, _, field))) = (self.problems.len() == before, self.changes.first()) {
            self.problems.push(field.problem(error.message()));
        }
        None
    }
}

/// A value that serde refused, told in our words where its own can be taken apart.
fn refused(field: &Field<'_>, message: &str) -> Problem {
    // "unknown variant `ext5`, expected `ext3` or `ext4`": the names stand between backquotes.
    let mut quoted = message.split('`').skip(1).step_by(2);
    match (message.starts_with("unknown variant"), quoted.next()) {
        (true, Some(written)) => field.problem("there is nothing of this name").with_names(written, quoted),
        _ => field.problem("this value does not fit here"),
    }
}

fn get<'t>(table: &'t toml::Table, path: &[String]) -> Option<&'t Value> {
    let (first, rest) = path.split_first()?;
    rest.iter().try_fold(table.get(first)?, |value, key| value.get(key))
}

fn set(table: &mut toml::Table, path: &[String], value: Value) {
    match path.split_first() {
        Some((last, [])) => {
            table.insert(last.clone(), value);
        }
        Some((first, rest)) => {
            if let Some(Value::Table(inner)) = table.get_mut(first) {
                set(inner, rest, value);
            }
        }
        None => {}
    }
}

/// Units that names of fields end with: the scale, and what one of it is in the scale's own unit.
const UNITS: [(&str, Scale, u64); 8] = [
    ("-ns", Scale::Time, 1),
    ("-us", Scale::Time, 1_000),
    ("-ms", Scale::Time, 1_000_000),
    ("-bytes", Scale::Size, 1),
    ("-bytes-per-s", Scale::Size, 1),
    ("-kib", Scale::Size, 1 << 10),
    ("-mib", Scale::Size, 1 << 20),
    ("-sectors", Scale::Size, 512),
];

/// `read-latency-ns` into `read-latency` and its unit.
fn unit_of(key: &str) -> Option<(&str, Scale, u64)> {
    UNITS.iter().find_map(|(suffix, scale, unit)| key.strip_suffix(suffix).map(|stem| (stem, *scale, *unit)))
}

/// The field that `key` means: itself, or the field with another unit (`read-latency-us` for
/// `read-latency-ns`).
fn known_name(base: &toml::Table, key: &str) -> Option<String> {
    if base.contains_key(key) {
        return Some(key.to_owned());
    }
    let (stem, scale, _) = unit_of(key)?;
    let same = |name: &&String| unit_of(name).is_some_and(|(other, kind, _)| other == stem && kind == scale);
    base.keys().find(same).cloned()
}

fn read_value(
    default: &Value,
    name: &str,
    key: &str,
    field: &Field<'_>,
    problems: &mut Problems,
) -> Option<Value> {
    match default {
        Value::Boolean(_) => field.boolean(problems).map(Value::Boolean),
        Value::Integer(_) => read_integer(name, key, field, problems).map(Value::Integer),
        _ => field.text(problems).map(|text| Value::String(text.to_owned())),
    }
}

/// A number in the unit that the field's name ends with: bare in the unit of the key as written, or
/// with a unit of its own.
fn read_integer(name: &str, key: &str, field: &Field<'_>, problems: &mut Problems) -> Option<i64> {
    let whole = |value: u64| i64::try_from(value).ok();
    let Some((_, scale, unit)) = unit_of(name) else {
        return field.quantity(Scale::Count, &(0..=i64::MAX.unsigned_abs()), problems).and_then(whole);
    };
    let written_unit = unit_of(key).map_or(unit, |(_, _, unit)| unit);
    let bare = match &field.node.kind {
        Kind::Integer(value) => u64::try_from(*value).ok(),
        Kind::Text(text) | Kind::Loose(text) => parse_quantity(text, Scale::Count).ok(),
        _ => None,
    };
    let value = match (&field.node.kind, bare) {
        (_, Some(value)) => value.checked_mul(written_unit),
        (Kind::Text(text) | Kind::Loose(text), None) if name.ends_with("-per-s") => {
            let rate = text.trim().strip_suffix("/s").map(|size| parse_quantity(size, Scale::Size));
            match rate {
                Some(Ok(rate)) => Some(rate),
                _ => {
                    problems.push(
                        field.problem("write a rate such as \"400 MB/s\", or a number of bytes a second"),
                    );
                    return None;
                }
            }
        }
        _ => Some(field.quantity(scale, &(0..=i64::MAX.unsigned_abs()), problems)?),
    };
    match value.map(|value| (value / unit, value % unit)) {
        Some((value, 0)) if whole(value).is_some() => whole(value),
        Some((_, 1..)) => {
            problems.push(field.problem(format!("{name} is a whole number: this is a fraction of its unit")));
            None
        }
        _ => {
            problems.push(field.problem("it is too large"));
            None
        }
    }
}
