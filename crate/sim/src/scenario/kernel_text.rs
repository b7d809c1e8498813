//! Kernels and tunables as a text says them.

use super::kernel_choice::KernelName;
use super::{KernelChoice, KernelColumn, vocabulary};
use crate::block::elevator::tunables::{TunableInfo, TunableUnit};
use crate::short_sort;
use crate::text::{Field, Kind, Node, Problems, Scale, parse_quantity};
use litemap::LiteMap;

/// The most kernels of one comparison.
const MAX_KERNELS: usize = 12;

/// Reads `kernels`: a kernel name, a table, or a list of both; tunables of the whole text go to the
/// kernels that know them and do not set them themselves.
pub(super) fn read_kernels(
    field: &Field<'_>,
    tunables: Option<&Field<'_>>,
    problems: &mut Problems,
) -> Vec<KernelColumn> {
    let listed;
    let items = match &field.node.kind {
        Kind::List(_) => field.list(problems).unwrap_or_default(),
        Kind::Loose(text) => {
            // By name several kernels are separated by commas.
            listed = text.split(',').map(|name| loose_like(field, name)).collect::<Vec<Node>>();
            listed.iter().map(|node| Field { node, ..field.clone() }).collect()
        }
        _ => vec![field.clone()],
    };
    if items.is_empty() || items.len() > MAX_KERNELS {
        let message = format!("{} kernels: a text names 1 to {MAX_KERNELS}", items.len());
        problems.push(field.problem(message));
        return Vec::new();
    }
    let mut columns: Vec<KernelColumn> =
        items.iter().filter_map(|item| read_kernel(item, problems)).collect();
    if let Some(tunables) = tunables {
        spread_tunables(tunables, &mut columns, problems);
    }
    for (index, column) in columns.iter().enumerate() {
        if columns.iter().take(index).any(|earlier| earlier.label == column.label) {
            problems.push(field.problem(format!("two kernels are labelled \"{}\"", column.label)));
        }
    }
    columns
}

/// A value that came in by name, part of `field`.
fn loose_like(field: &Field<'_>, text: &str) -> Node {
    Node { kind: Kind::Loose(text.trim().to_owned()), ..field.node.clone() }
}

/// A kernel name, or `{ kernel = "...", label = "...", tunables = { ... } }`.
fn read_kernel(field: &Field<'_>, problems: &mut Problems) -> Option<KernelColumn> {
    if !matches!(field.node.kind, Kind::Table(_)) {
        let kernel = read_name(field, problems)?;
        return Some(KernelColumn { label: field.text(problems)?.trim().to_owned(), kernel });
    }
    let mut table = field.table(problems)?;
    let name = table.require("kernel", "its name, such as \"cfq@2.6.35\"", problems);
    let label = table.field("label").map(|label| label.name(problems));
    let tunables = table.field("tunables");
    table.finish(problems);
    let name = name?;
    let mut kernel = read_name(&name, problems)?;
    for (key, value) in
        tunables.and_then(|field| field.table(problems)).iter_mut().flat_map(|table| table.all())
    {
        read_tunable(key, &value, &mut kernel, problems);
    }
    let label = match label {
        Some(label) => label?.to_owned(),
        None => name.text(problems)?.to_owned(),
    };
    Some(KernelColumn { label, kernel })
}

fn read_name(field: &Field<'_>, problems: &mut Problems) -> Option<KernelChoice> {
    let name = match KernelName::parse(field.text(problems)?) {
        Ok(name) => name,
        Err(message) => {
            problems.push(field.problem(message));
            return None;
        }
    };
    let mut known = |message: &str, name: &str, names: Vec<&str>| {
        let is_known = names.contains(&name);
        if !is_known {
            problems.push(field.problem(format!("{message} \"{name}\"")).with_names(name, names));
        }
        is_known
    };
    let mut all_known = known("there is no release", name.release, vocabulary::releases());
    if all_known {
        let message = format!("{} has no elevator", name.release);
        all_known &= known(&message, name.elevator, vocabulary::elevators(name.release));
    }
    for patch in &name.patches {
        all_known &= known("there is no patch", patch, vocabulary::patches());
    }
    if !all_known {
        return None;
    }
    let mut kernel = KernelChoice {
        release: name.release.to_owned(),
        patches: name.patches.iter().map(|patch| (*patch).to_owned()).collect(),
        elevator: name.elevator.to_owned(),
        tunables: LiteMap::new(),
    };
    if let Some(reason) = vocabulary::refuses(&kernel) {
        problems.push(field.problem(reason));
        return None;
    }
    for (key, value) in name.tunables {
        let node = loose_like(field, value);
        let value = Field { node: &node, path: format!("{}.{key}", field.path), ..field.clone() };
        read_tunable(key, &value, &mut kernel, problems);
    }
    Some(kernel)
}

/// Sets a tunable of one kernel.
fn read_tunable(key: &str, value: &Field<'_>, kernel: &mut KernelChoice, problems: &mut Problems) {
    let tunables = vocabulary::tunables(kernel);
    match tunables.iter().find(|info| info.name == key) {
        Some(info) => {
            if let Some(value) = read_value(info, value, problems) {
                kernel.tunables.insert(key.to_owned(), value);
            }
        }
        None => {
            let message = format!("{}@{} has no tunable \"{key}\"", kernel.elevator, kernel.release);
            problems.push(value.problem(message).with_names(key, tunables.iter().map(|info| info.name)));
        }
    }
}

/// Gives the tunables of the whole text to the kernels that know them.
fn spread_tunables(field: &Field<'_>, columns: &mut [KernelColumn], problems: &mut Problems) {
    for (key, value) in field.table(problems).iter_mut().flat_map(|table| table.all()) {
        let mut all: Vec<&str> = Vec::new();
        let mut read = None;
        for column in columns.iter_mut() {
            let tunables = vocabulary::tunables(&column.kernel);
            all.extend(tunables.iter().map(|info| info.name));
            if let Some(info) = tunables.iter().find(|info| info.name == key) {
                read = read.or_else(|| Some(read_value(info, &value, problems)));
                if let Some(Some(value)) = read {
                    column.kernel.tunables.entry(key.to_owned()).or_insert(value);
                }
            }
        }
        if read.is_none() && !columns.is_empty() {
            short_sort::sort_by_key(&mut all, |name| *name);
            all.dedup();
            problems
                .push(value.problem("none of the kernels has a tunable of this name").with_names(key, all));
        }
    }
}

/// A value in sysfs units: a bare number, or with a unit that is converted.
fn read_value(info: &TunableInfo, field: &Field<'_>, problems: &mut Problems) -> Option<u64> {
    let (scale, unit) = match info.unit {
        TunableUnit::Milliseconds => (Scale::Time, 1_000_000),
        TunableUnit::Kilobytes => (Scale::Size, 1024),
        TunableUnit::Boolean => {
            if let Kind::Boolean(value) = &field.node.kind {
                return Some(u64::from(*value));
            }
            (Scale::Count, 1)
        }
        TunableUnit::Requests | TunableUnit::Factor => (Scale::Count, 1),
    };
    // Sysfs takes bare numbers in the tunable's own unit, so they are right here for times too.
    let bare = match &field.node.kind {
        Kind::Integer(value) => u64::try_from(*value).ok(),
        Kind::Text(text) | Kind::Loose(text) => parse_quantity(text, Scale::Count).ok(),
        _ => None,
    };
    let value = match bare {
        Some(value) => value.saturating_mul(unit),
        None => field.quantity(scale, &(0..=u64::MAX), problems)?,
    };
    let bounds = info.min.saturating_mul(unit)..=info.max.saturating_mul(unit);
    let in_bounds = field.within(value, scale, &bounds, info.name, problems)?;
    if !in_bounds.is_multiple_of(unit) {
        problems.push(field.problem(format!("{} counts whole{}", info.name, info.unit.suffix())));
        return None;
    }
    Some(in_bounds / unit)
}
