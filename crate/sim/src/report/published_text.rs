//! Reading published tables and claims: the text of `published/ID.toml`.

use super::claims::{Claim, ClaimKind};
use super::published::{PublishedData, PublishedRow, PublishedTable};
use super::tables::{Better, ClaimStatus};
use crate::text::{Field, Kind, Node, Problem, Problems, Table, parse_decimal};

/// Names this module's documents in problems.
const DOCUMENT: &str = "published data";

/// Reads the text of a published message.
///
/// # Errors
/// Every problem found, with its place.
pub(super) fn read(text: &str) -> Result<PublishedData, Vec<Problem>> {
    let root = Node::parse(DOCUMENT, text)?;
    let mut problems = Problems::default();
    let data = read_root(&Field::root(DOCUMENT, &root), &mut problems);
    problems.or(data)
}

fn read_root(root: &Field<'_>, problems: &mut Problems) -> Option<PublishedData> {
    let mut table = root.table(problems)?;
    let data = PublishedData {
        id: required(&mut table, "id", problems)?,
        title: required(&mut table, "title", problems)?,
        date: required(&mut table, "date", problems)?,
        list: words(&mut table, "list", problems),
        machine: words(&mut table, "machine", problems),
        notes: words(&mut table, "notes", problems),
        tables: each(&mut table, "table", problems, read_table),
        claims: each(&mut table, "claim", problems, read_claim),
    };
    // For people alone.
    table.field("workload");
    table.finish(problems);
    Some(data)
}

fn read_table(table: &mut Table<'_>, problems: &mut Problems) -> Option<PublishedTable> {
    // For people alone.
    for key in ["kernels", "patches"] {
        table.field(key);
    }
    Some(PublishedTable {
        id: required(table, "id", problems)?,
        caption: words(table, "caption", problems),
        baseline: maybe_words(table, "baseline", problems),
        columns: list(table, "columns", problems, text_of),
        rows: each(table, "row", problems, read_row),
    })
}

fn read_row(table: &mut Table<'_>, problems: &mut Problems) -> Option<PublishedRow> {
    // For people alone.
    table.field("uncorrected");
    let directions = [("higher", Better::Higher), ("lower", Better::Lower), ("none", Better::None)];
    Some(PublishedRow {
        metric: required(table, "metric", problems)?,
        unit: words(table, "unit", problems),
        better: table.require("better", "the good direction", problems)?.one_of(&directions, problems)?,
        values: list(table, "values", problems, number_of),
        unexplained: table.field("unexplained").and_then(|field| field.boolean(problems)).unwrap_or_default(),
    })
}

fn read_claim(table: &mut Table<'_>, problems: &mut Problems) -> Option<Claim> {
    let kinds = [
        ("ratio", ClaimKind::Ratio),
        ("ratio-across-tables", ClaimKind::RatioAcrossTables),
        ("absolute", ClaimKind::Absolute),
        ("absolute-expression", ClaimKind::AbsoluteExpression),
    ];
    let statuses = [("firm", ClaimStatus::Firm), ("reach", ClaimStatus::Reach), ("open", ClaimStatus::Open)];
    let mut bound = |key| table.field(key).and_then(|field| number_of(&field, problems));
    let (at_least, at_most) = (bound("at-least"), bound("at-most"));
    Some(Claim {
        id: required(table, "id", problems)?,
        table: required(table, "table", problems)?,
        says: required(table, "says", problems)?,
        kind: table.require("kind", "how its number is made", problems)?.one_of(&kinds, problems)?,
        metric: words(table, "metric", problems),
        expression: words(table, "expression", problems),
        of: list(table, "of", problems, text_of),
        to: maybe_words(table, "to", problems),
        of_table: maybe_words(table, "of-table", problems),
        to_table: maybe_words(table, "to-table", problems),
        published: list(table, "published", problems, number_of),
        at_least,
        at_most,
        status: table
            .require("status", "how far it is to be taken", problems)?
            .one_of(&statuses, problems)?,
        note: words(table, "note", problems),
    })
}

/// Every item of a list of tables; none if there is no such key.
fn each<T>(
    table: &mut Table<'_>,
    key: &'static str,
    problems: &mut Problems,
    read: fn(&mut Table<'_>, &mut Problems) -> Option<T>,
) -> Vec<T> {
    table.field(key).map(|list| list.tables(problems, read)).unwrap_or_default()
}

/// The items of a list; a single value is a list of one, and no value an empty one.
fn list<T>(
    table: &mut Table<'_>,
    key: &'static str,
    problems: &mut Problems,
    read: fn(&Field<'_>, &mut Problems) -> Option<T>,
) -> Vec<T> {
    let Some(field) = table.field(key) else { return Vec::new() };
    let fields = match field.node.kind {
        Kind::List(_) => field.list(problems).unwrap_or_default(),
        _ => vec![field],
    };
    fields.iter().filter_map(|field| read(field, problems)).collect()
}

fn required(table: &mut Table<'_>, key: &'static str, problems: &mut Problems) -> Option<String> {
    table.require(key, "some text", problems).and_then(|field| text_of(&field, problems))
}

fn maybe_words(table: &mut Table<'_>, key: &'static str, problems: &mut Problems) -> Option<String> {
    table.field(key).and_then(|field| text_of(&field, problems))
}

fn words(table: &mut Table<'_>, key: &'static str, problems: &mut Problems) -> String {
    maybe_words(table, key, problems).unwrap_or_default()
}

fn text_of(field: &Field<'_>, problems: &mut Problems) -> Option<String> {
    field.text(problems).map(str::to_owned)
}

/// A number of at most 15 digits.
fn number_of(field: &Field<'_>, problems: &mut Problems) -> Option<f64> {
    let number = match &field.node.kind {
        Kind::Integer(value) => Some(*value as f64),
        Kind::Number(text) => parse_decimal(text),
        _ => None,
    };
    if number.is_none() {
        problems.push(field.problem("this is no number of at most 15 digits"));
    }
    number
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Every published text of the project, embedded or not.
    fn texts() -> Vec<(String, String)> {
        let folder = concat!(env!("CARGO_MANIFEST_DIR"), "/published");
        let files = std::fs::read_dir(folder).expect("the folder").map(|file| file.expect("a file").path());
        let read = |path: std::path::PathBuf| {
            let name = path.file_stem().expect("a name").to_string_lossy().into_owned();
            (name, std::fs::read_to_string(path).expect("it can be read"))
        };
        files.filter(|path| path.extension().is_some_and(|end| end == "toml")).map(read).collect()
    }

    /// Every text is read whole: each number is the one written, and no claim lacks what its kind needs.
    #[test]
    fn every_text_is_well_formed() {
        let texts = texts();
        assert!(texts.len() >= 5);
        for (name, text) in texts {
            let data = read(&text).unwrap_or_else(|problems| panic!("{name}: {problems:?}"));
            assert_eq!(data.id, name);
            let root = Node::parse(DOCUMENT, &text).expect("TOML");
            for (table_at, table) in data.tables.iter().enumerate() {
                for (row_at, row) in table.rows.iter().enumerate() {
                    let number = |at: usize| {
                        let path = format!("table.{table_at}.row.{row_at}.values.{at}");
                        root.at(&path)?.written().parse().ok()
                    };
                    let written: Vec<f64> = (0..).map_while(number).collect();
                    assert_eq!(row.values, written, "{name}: {}", row.metric);
                    assert_eq!(row.values.len(), table.columns.len(), "{name}: {}", row.metric);
                }
            }
            assert!(!data.claims.is_empty(), "{name}");
            for claim in &data.claims {
                let has_table = |id: &String| data.tables.iter().any(|table| table.id == *id);
                let tables = [Some(&claim.table), claim.of_table.as_ref(), claim.to_table.as_ref()];
                assert!(
                    claim.of_table.is_some() || tables.into_iter().flatten().all(has_table),
                    "{}",
                    claim.id
                );
                assert!(claim.id.starts_with(&name) && !claim.of.is_empty(), "{}", claim.id);
                assert!(claim.at_least.is_some() || claim.at_most.is_some(), "{}", claim.id);
                let is_ratio = matches!(claim.kind, ClaimKind::Ratio | ClaimKind::RatioAcrossTables);
                assert_eq!(is_ratio, claim.to.is_some(), "{}", claim.id);
                let is_expression = claim.kind == ClaimKind::AbsoluteExpression;
                assert_eq!(is_expression, !claim.expression.is_empty(), "{}", claim.id);
            }
        }
    }

    /// What is wrong is told with its place.
    #[test]
    fn errors_have_a_place() {
        let text = "id = \"a\"\ntitle = \"b\"\ndate = \"c\"\n[[claim]]\nid = \"d\"\ntable = \"t\"\nsays = \"e\"\n\
                    kind = \"ratoi\"\nat-least = 0.12345678901234567\n";
        let problems: Vec<_> = read(text).expect_err("wrong").iter().map(ToString::to_string).collect();
        assert_eq!(problems.len(), 2, "{problems:?}");
        assert!(problems[0].contains("line 8") && problems[0].contains("mean ratio"), "{}", problems[0]);
        assert!(problems[1].contains("line 9") && problems[1].contains("15 digits"), "{}", problems[1]);
    }
}
