//! The words the page explains, with the section of the model each comes from.
//!
//! They are written in one place, the tables of `docs/glossary.md`, so that readers of the documents and of the page
//! meet the same sentences.

use std::sync::OnceLock;

/// A word and what it means here.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Term {
    /// The word as the page shows it; kernel names as the kernel writes them.
    pub name: &'static str,
    /// What it means, in at most [`DEFINITION_CHARS_MAX`] characters.
    pub definition: &'static str,
    /// The section of `docs/model/block-layer.md` that has the rules, such as `2.14`.
    pub section: &'static str,
}

/// The longest definition, in characters: two lines of the page's explanations.
pub const DEFINITION_CHARS_MAX: usize = 180;

const GLOSSARY: &str = include_str!("../../../../docs/glossary.md");

/// Every term, in the glossary's order. Read once, at the first call.
#[must_use]
pub fn terms() -> &'static [Term] {
    static TERMS: OnceLock<Vec<Term>> = OnceLock::new();
    TERMS.get_or_init(|| GLOSSARY.lines().filter_map(term_of_row).collect())
}

/// The term called `name`, exactly as written. O(terms).
#[must_use]
pub fn term(name: &str) -> Option<&'static Term> {
    terms().iter().find(|term| term.name == name)
}

/// The term in a row of one of the glossary's tables; their heads and all other lines have none.
fn term_of_row(line: &'static str) -> Option<Term> {
    let mut cells = line.strip_prefix("| ")?.strip_suffix(" |")?.split(" | ");
    let term = Term { name: cells.next()?, definition: cells.next()?, section: cells.next()? };
    (cells.next().is_none() && term.name != "term").then_some(term)
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::path::Path;

    /// The numbers of all headings of the block layer model: `2.14` of "### 2.14 Workload trees".
    fn sections_of_the_model() -> Vec<String> {
        let model = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/model");
        let parts = std::fs::read_dir(model.join("block-layer")).expect("the model is in the project");
        let mut files: Vec<_> = parts.map(|part| part.expect("a readable folder").path()).collect();
        files.push(model.join("block-layer.md"));
        let mut sections = Vec::new();
        for file in files {
            let text = std::fs::read_to_string(&file).expect("a readable document");
            let headings = text.lines().filter(|line| line.starts_with("## ") || line.starts_with("### "));
            let numbers = headings.filter_map(|line| line.split_whitespace().nth(1));
            sections.extend(numbers.map(|number| number.trim_end_matches('.').to_owned()));
        }
        sections
    }

    /// Goal: an explanation never points into the void. Method: every cited section is a heading of the model.
    #[test]
    fn every_cited_section_exists() {
        let sections = sections_of_the_model();
        for must in ["0.1", "1.8", "2.14", "4.3", "7.2"] {
            assert!(sections.iter().any(|section| section == must), "the model has lost section {must}");
        }
        for term in terms() {
            assert!(
                sections.iter().any(|section| section == term.section),
                "{}: {}",
                term.name,
                term.section
            );
        }
    }

    /// Goal: no row is lost to a slip of the pen. Method: every line of a table is a head, a rule or a term.
    #[test]
    fn every_row_of_the_glossary_is_a_term() {
        let rows = GLOSSARY.lines().filter(|line| line.starts_with('|') && !line.starts_with("|---"));
        let heads = GLOSSARY.lines().filter(|line| *line == "| term | meaning | section |").count();
        assert!(heads > 0);
        assert_eq!(rows.count() - heads, terms().len());
    }

    #[test]
    fn a_definition_is_a_sentence_that_fits_two_lines() {
        for Term { name, definition, .. } in terms() {
            let length = definition.chars().count();
            assert!(length <= DEFINITION_CHARS_MAX, "{name}: {length} characters");
            assert!(definition.ends_with('.'), "{name}: {definition}");
        }
    }

    #[test]
    fn a_term_is_defined_once_and_found_by_its_name() {
        for expected in terms() {
            assert_eq!(term(expected.name), Some(expected), "{} is defined twice", expected.name);
        }
        assert_eq!(term("no such word"), None);
    }
}
