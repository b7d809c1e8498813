//! What a run has to say: the words for it and, as it grows, statistics, tables and claims.

mod terms;

pub use terms::{DEFINITION_CHARS_MAX, Term, term, terms};
