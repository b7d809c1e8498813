//! The ladder: what an old schema's named values are in the next one.

use super::SCHEMA;
use super::codec::Fields;

/// From one schema to the next. Shows in a comment what a link looked like before and after.
pub(super) type Upgrade = fn(Fields) -> Fields;

/// One upgrader for each schema but the newest; the length says that none is missing.
const LADDER: [Upgrade; SCHEMA as usize - 1] = [];

/// Complete named values of schema `from`, in the newest schema.
pub(super) fn upgrade(fields: Fields, from: u32) -> Fields {
    climb(fields, from, &LADDER)
}

/// Applies the upgraders of a ladder from schema `from` on.
fn climb(fields: Fields, from: u32, ladder: &[Upgrade]) -> Fields {
    let passed = usize::try_from(from.saturating_sub(1)).unwrap_or(usize::MAX);
    ladder.iter().skip(passed).fold(fields, |fields, upgrade| upgrade(fields))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Each link takes the steps above its own, in order, and no other.
    #[test]
    fn a_link_climbs_from_its_own_step() {
        fn note(mut fields: Fields, step: &str) -> Fields {
            fields.entry("steps".to_owned()).or_default().push_str(step);
            fields
        }
        let ladder: [Upgrade; 3] =
            [|fields| note(fields, "1>2 "), |fields| note(fields, "2>3 "), |fields| note(fields, "3>4 ")];
        let steps = |from| climb(Fields::new(), from, &ladder).remove("steps");
        assert_eq!(steps(1).as_deref(), Some("1>2 2>3 3>4 "));
        assert_eq!(steps(3).as_deref(), Some("3>4 "));
        assert_eq!(steps(4), None);
    }
}
