//! The machine as a text says it: whatever a field of [`Machine`] is called there, with units.
//!
//! Fields are not listed here. Each struct lists its own ([`Slots`]); what the text says is laid over its default.

use super::{FileSystemKind, Machine};
use crate::device::{self, DeviceKind, DeviceOptions};
use crate::text::{Field, Kind, Problems, Scale, Slot, Slots, Table, parse_quantity};

/// Reads the `machine` table; what it leaves out keeps its default.
pub(super) fn read_machine(field: Option<&Field<'_>>, problems: &mut Problems) -> Option<Machine> {
    let mut machine = Machine::default();
    let Some(field) = field else { return Some(machine) };
    let mut table = field.table(problems)?;
    let device = table.field("device").map(|device| read_device(&device, problems));
    let mut layer = Layer { said: Vec::new(), is_refused: false, problems };
    layer.over(machine.slots(), &mut table, &["device"], "");
    let says_barrier = layer.said.iter().any(|path| path == ".file-system.barrier");
    if machine.file_system.kind == FileSystemKind::Ext3 && !says_barrier {
        // ext3 was mounted without barriers by default (section 4.2).
        machine.file_system.barrier = false;
    }
    if layer.is_refused {
        return None;
    }
    if let Some(device) = device {
        machine.device = device?;
    }
    Some(machine)
}

/// Reads `device`: the name of a preset, or a table with `preset` or `model` and what differs.
fn read_device(field: &Field<'_>, problems: &mut Problems) -> Option<DeviceOptions> {
    if !matches!(field.node.kind, Kind::Table(_)) {
        return read_preset(field, problems);
    }
    let mut table = field.table(problems)?;
    let mut device = match (table.field("preset"), table.field("model")) {
        (Some(preset), Some(_)) => {
            problems.push(preset.problem("a device has a preset or a model, not both"));
            return None;
        }
        (Some(preset), None) => read_preset(&preset, problems)?,
        (None, Some(model)) => read_model(&model, problems)?,
        (None, None) => Machine::default().device,
    };
    let mut layer = Layer { said: Vec::new(), is_refused: false, problems };
    layer.over(device.slots(), &mut table, &["preset", "model"], "");
    (!layer.is_refused).then_some(device)
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
    let kinds = DeviceKind::ALL.map(|kind| (kind.name(), kind));
    field.one_of(&kinds, problems).map(DeviceKind::options)
}

/// A text's values laid over fields with defaults.
struct Layer<'p> {
    /// Paths of the fields that the text has set, each key behind a dot.
    said: Vec<String>,
    /// A value fits its kind, and not its field: there is nothing to go on with.
    is_refused: bool,
    problems: &'p mut Problems,
}

impl Layer<'_> {
    fn over(&mut self, mut slots: Vec<(String, Slot<'_>)>, table: &mut Table<'_>, skip: &[&str], path: &str) {
        for (key, field) in table.all() {
            if skip.contains(&key) {
                continue;
            }
            let Some(index) = known(&slots, key) else {
                let names = slots.iter().map(|(name, _)| name.as_str()).chain(skip.iter().copied());
                self.problems.push(field.problem("there is no such key here").with_names(key, names));
                continue;
            };
            let Some((name, slot)) = slots.get_mut(index) else { continue };
            let path = format!("{path}.{name}");
            if let Slot::Table(inner) = slot {
                if let Some(mut table) = field.table(self.problems) {
                    self.over(std::mem::take(inner), &mut table, &[], &path);
                }
            } else if self.set(slot, name, key, &field) {
                self.said.push(path);
            }
        }
    }

    /// Sets a field; false when the value is wrong.
    fn set(&mut self, slot: &mut Slot<'_>, name: &str, key: &str, field: &Field<'_>) -> bool {
        let problems = &mut *self.problems;
        let fits = match slot {
            Slot::Boolean(value) => field.boolean(problems).map(|read| {
                **value = read;
                true
            }),
            Slot::Large(value) => read_integer(name, key, field, problems).map(|read| {
                **value = read;
                true
            }),
            Slot::Small(value) => read_integer(name, key, field, problems).map(|read| {
                **value = u32::try_from(read).unwrap_or(u32::MAX);
                u32::try_from(read).is_ok()
            }),
            Slot::Name(choice) => field.text(problems).map(|text| choice.choose(text)),
            Slot::Table(_) => None,
        };
        if fits == Some(false) {
            let problem = match (slot, &field.node.kind) {
                (Slot::Name(choice), Kind::Text(text) | Kind::Loose(text)) => field
                    .problem("there is nothing of this name")
                    .with_names(text, choice.names().iter().copied()),
                _ => field.problem("this value does not fit here"),
            };
            problems.push(problem);
            self.is_refused = true;
        }
        fits == Some(true)
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

/// The field that `key` means, by its index: the one of this name, or the one with another unit (`read-latency-us` for
/// `read-latency-ns`).
fn known(slots: &[(String, Slot<'_>)], key: &str) -> Option<usize> {
    let index_of = |is_it: &dyn Fn(&str) -> bool| slots.iter().position(|(name, _)| is_it(name));
    index_of(&|name| name == key).or_else(|| {
        let (stem, scale, _) = unit_of(key)?;
        index_of(&|name| unit_of(name).is_some_and(|(other, kind, _)| other == stem && kind == scale))
    })
}

/// A number in the unit that the field's name ends with: bare in the unit of the key as written, or
/// with a unit of its own.
fn read_integer(name: &str, key: &str, field: &Field<'_>, problems: &mut Problems) -> Option<u64> {
    // No more than a whole number in the text can say.
    let whole = |value: u64| (value <= i64::MAX.unsigned_abs()).then_some(value);
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
