//! Arithmetic on the metrics of a table: names, numbers, `+ - * /` and parentheses.

use crate::text::parse_decimal;

/// The value of `expression`, names looked up with `lookup`; `None` if a name is unknown or the text is malformed.
pub(super) fn evaluate(expression: &str, lookup: &dyn Fn(&str) -> Option<f64>) -> Option<f64> {
    let mut reader = Reader { rest: expression.trim_start(), lookup, depth: 0 };
    let value = reader.sum()?;
    reader.rest.is_empty().then_some(value)
}

/// Deeper nesting than this is refused.
const DEPTH_MAX: u32 = 32;

struct Reader<'e> {
    rest: &'e str,
    lookup: &'e dyn Fn(&str) -> Option<f64>,
    depth: u32,
}

impl<'e> Reader<'e> {
    fn sum(&mut self) -> Option<f64> {
        let mut value = self.product()?;
        while let Some(operator) = self.one_of(['+', '-']) {
            let next = self.product()?;
            value = if operator == '+' { value + next } else { value - next };
        }
        Some(value)
    }

    fn product(&mut self) -> Option<f64> {
        let mut value = self.atom()?;
        while let Some(operator) = self.one_of(['*', '/']) {
            let next = self.atom()?;
            value = if operator == '*' { value * next } else { value / next };
        }
        Some(value)
    }

    fn atom(&mut self) -> Option<f64> {
        if self.one_of(['(']).is_some() {
            self.depth += 1;
            let value = if self.depth > DEPTH_MAX { None } else { self.sum() }?;
            self.depth -= 1;
            return self.one_of([')']).map(|_| value);
        }
        let word = self.word()?;
        let is_number = word.starts_with(|first: char| first.is_ascii_digit());
        if is_number { parse_decimal(word) } else { (self.lookup)(word) }
    }

    fn one_of<const N: usize>(&mut self, wanted: [char; N]) -> Option<char> {
        let first = self.rest.chars().next().filter(|first| wanted.contains(first))?;
        self.rest = self.rest.get(first.len_utf8()..)?.trim_start();
        Some(first)
    }

    fn word(&mut self) -> Option<&'e str> {
        let is_part =
            |character: char| character.is_ascii_alphanumeric() || character == '_' || character == '.';
        let end = self.rest.find(|character| !is_part(character)).unwrap_or(self.rest.len());
        let (word, rest) = self.rest.split_at_checked(end)?;
        self.rest = rest.trim_start();
        (!word.is_empty()).then_some(word)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn value(expression: &str) -> Option<f64> {
        evaluate(expression, &|name| match name {
            "a" => Some(6.0),
            "pgscan_direct_dma32" => Some(4.0),
            _ => None,
        })
    }

    #[test]
    fn precedence_and_parentheses() {
        assert_eq!(value("1 + 2 * 3 - 4 / 2"), Some(5.0));
        assert_eq!(value("(a + pgscan_direct_dma32) / (1+1)"), Some(5.0));
        assert_eq!(value("10 - 3 - 2"), Some(5.0));
        for wrong in ["", "a +", "(a", "a)", "b", "1 2", "a * * a", "1.2.3"] {
            assert_eq!(value(wrong), None, "{wrong}");
        }
    }

    proptest! {
        #[test]
        fn any_text_is_survived(text in "[a0-9+*/() .-]{0,80}") {
            let _ = value(&text);
            let _ = value(&"(".repeat(10_000));
        }
    }
}
