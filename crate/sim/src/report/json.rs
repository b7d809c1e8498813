//! Reading the JSON that is embedded: published tables and claims.
//!
//! The readers that serde derives cost 45 KB of the page's wasm for these few structs; this one is a fifth of that.

use std::iter::Peekable;
use std::str::Chars;

/// The deepest nesting of lists and objects.
const MAX_DEPTH: usize = 32;

/// A JSON value.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum Json {
    Null,
    Boolean(bool),
    Number(f64),
    Text(String),
    List(Vec<Json>),
    /// In the order of the text.
    Object(Vec<(String, Json)>),
}

impl Json {
    /// Reads a text.
    ///
    /// # Errors
    /// The text is not JSON: what was expected, and where.
    pub(super) fn parse(text: &str) -> Result<Self, String> {
        let mut parser = Parser { rest: text.chars().peekable(), length: text.chars().count() };
        let value = parser.value(0)?;
        parser.space();
        if parser.rest.peek().is_some() { parser.wanted("the end") } else { Ok(value) }
    }

    /// The value under a key; `Null` when there is none.
    pub(super) fn get(&self, key: &str) -> &Self {
        let entries = if let Self::Object(entries) = self { &entries[..] } else { &[] };
        entries.iter().find(|(known, _)| known == key).map_or(&Self::Null, |(_, value)| value)
    }

    /// The items of a list; a single value is a list of one, and `Null` an empty one.
    pub(super) fn list(&self) -> &[Self] {
        match self {
            Self::List(items) => items,
            Self::Null => &[],
            one => std::slice::from_ref(one),
        }
    }

    /// A number, if it is one.
    pub(super) fn number(&self) -> Option<f64> {
        if let Self::Number(number) = self { Some(*number) } else { None }
    }

    /// A text, if it is one.
    pub(super) fn text(&self) -> Option<&str> {
        if let Self::Text(text) = self { Some(text) } else { None }
    }

    /// The text under a key; empty when there is none.
    pub(super) fn words(&self, key: &str) -> String {
        self.get(key).text().unwrap_or_default().to_owned()
    }

    /// The text under a key that must be there.
    ///
    /// # Errors
    /// It is not there, or no text.
    pub(super) fn name(&self, key: &str) -> Result<String, String> {
        self.get(key).text().map(str::to_owned).ok_or_else(|| format!("`{key}` must be a text"))
    }
}

/// A decimal number of at most 15 digits, read exactly; what is longer is refused. The standard library reads every number,
/// with a table that is 10 KB of the page's wasm and cannot be compressed.
pub(super) fn number(text: &str) -> Option<f64> {
    const EXACT_DIGITS: usize = 15;
    /// Powers of ten up to this one are exact.
    const EXACT_POWER: i32 = 22;
    let (text, power) = text.split_once(['e', 'E']).unwrap_or((text, "0"));
    let (whole, fraction) = text.split_once('.').unwrap_or((text, "0"));
    let (sign, whole) = whole.strip_prefix('-').map_or((1.0, whole), |whole| (-1.0, whole));
    let is_number = |digits: &str| !digits.is_empty() && digits.bytes().all(|byte| byte.is_ascii_digit());
    if !is_number(whole) || !is_number(fraction) {
        return None;
    }
    let fraction = fraction.trim_end_matches('0');
    let digits = [whole, fraction].concat();
    let digits = digits.trim_start_matches('0');
    let power = power.parse::<i32>().ok()?.checked_sub(i32::try_from(fraction.len()).ok()?)?;
    if digits.len() > EXACT_DIGITS || !(-EXACT_POWER..=EXACT_POWER).contains(&power) {
        return None;
    }
    // Both numbers are exact, so that one rounding gives the nearest number to what is written.
    let value = digits.bytes().fold(0.0, |value, digit| value * 10.0 + f64::from(digit - b'0'));
    let factor = (0..power.abs()).fold(1.0, |factor, _| factor * 10.0);
    Some(sign * if power < 0 { value / factor } else { value * factor })
}

struct Parser<'t> {
    rest: Peekable<Chars<'t>>,
    /// Of the whole text, in characters.
    length: usize,
}

impl Parser<'_> {
    fn wanted<T>(&self, what: &str) -> Result<T, String> {
        Err(format!("{what} expected at character {}", self.length - self.rest.clone().count() + 1))
    }

    fn space(&mut self) {
        while self.rest.next_if(|c| matches!(c, ' ' | '\n' | '\r' | '\t')).is_some() {}
    }

    /// Whether `c` comes next, behind spaces; if so it is behind us.
    fn next_is(&mut self, c: char) -> bool {
        self.space();
        self.rest.next_if_eq(&c).is_some()
    }

    fn value(&mut self, depth: usize) -> Result<Json, String> {
        if depth > MAX_DEPTH {
            return self.wanted("less depth");
        }
        if self.next_is('"') {
            return self.string().map(Json::Text);
        }
        if self.next_is('[') {
            let mut items = Vec::new();
            self.items(']', |parser| {
                items.push(parser.value(depth + 1)?);
                Ok(())
            })?;
            return Ok(Json::List(items));
        }
        if self.next_is('{') {
            let mut entries = Vec::new();
            self.items('}', |parser| {
                if !parser.next_is('"') {
                    return parser.wanted("a key");
                }
                let key = parser.string()?;
                if !parser.next_is(':') {
                    return parser.wanted("a colon");
                }
                entries.push((key, parser.value(depth + 1)?));
                Ok(())
            })?;
            return Ok(Json::Object(entries));
        }
        let mut word = String::new();
        while let Some(c) = self.rest.next_if(|c| c.is_ascii_alphanumeric() || matches!(c, '+' | '-' | '.')) {
            word.push(c);
        }
        match word.as_str() {
            "null" => Ok(Json::Null),
            "true" => Ok(Json::Boolean(true)),
            "false" => Ok(Json::Boolean(false)),
            word => number(word).map_or_else(|| self.wanted("a value"), |value| Ok(Json::Number(value))),
        }
    }

    /// Items between commas, up to the bracket that closes.
    fn items(
        &mut self,
        close: char,
        mut item: impl FnMut(&mut Self) -> Result<(), String>,
    ) -> Result<(), String> {
        if self.next_is(close) {
            return Ok(());
        }
        loop {
            item(self)?;
            if self.next_is(close) {
                return Ok(());
            }
            if !self.next_is(',') {
                return self.wanted("a comma");
            }
        }
    }

    /// The rest of a string, behind its first quote.
    fn string(&mut self) -> Result<String, String> {
        let mut text = String::new();
        while let Some(c) = self.rest.next_if(|c| *c >= ' ') {
            match c {
                '"' => return Ok(text),
                '\\' => text.push(self.escaped()?),
                c => text.push(c),
            }
        }
        self.wanted("a quote")
    }

    /// What stands behind a backslash. Letters beyond U+FFFF are written as they are, not as two escapes.
    fn escaped(&mut self) -> Result<char, String> {
        Ok(match self.rest.next() {
            Some(c @ ('"' | '\\' | '/')) => c,
            Some('b') => '\u{8}',
            Some('f') => '\u{c}',
            Some('n') => '\n',
            Some('r') => '\r',
            Some('t') => '\t',
            Some('u') => {
                let mut code = 0;
                for _ in 0..4 {
                    let digit = self.rest.next().and_then(|c| c.to_digit(16));
                    let Some(digit) = digit else { return self.wanted("four hexadecimal digits") };
                    code = code * 16 + digit;
                }
                return char::from_u32(code).map_or_else(|| self.wanted("a letter"), Ok);
            }
            _ => return self.wanted("an escape"),
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use serde_json::Value;

    fn same(ours: &Json, theirs: &Value) -> bool {
        match (ours, theirs) {
            (Json::Null, Value::Null) => true,
            (Json::Boolean(one), Value::Bool(other)) => one == other,
            (Json::Number(one), Value::Number(other)) => Some(*one) == other.as_f64(),
            (Json::Text(one), Value::String(other)) => one == other,
            (Json::List(one), Value::Array(other)) => {
                one.len() == other.len() && one.iter().zip(other).all(|(one, other)| same(one, other))
            }
            (Json::Object(one), Value::Object(other)) => {
                one.len() == other.len() && one.iter().all(|(key, value)| same(value, &other[key]))
            }
            _ => false,
        }
    }

    fn value() -> impl Strategy<Value = Value> {
        let leaf = prop_oneof![
            Just(Value::Null),
            any::<bool>().prop_map(Value::from),
            any::<i32>().prop_map(Value::from),
            (-1e9..1e9_f64).prop_map(|number| Value::from((number * 8.0).round() / 8.0)),
            ".{0,8}".prop_map(Value::from),
        ];
        leaf.prop_recursive(4, 40, 6, |inner| {
            prop_oneof![
                prop::collection::vec(inner.clone(), 0..6).prop_map(Value::from),
                prop::collection::btree_map(".{0,4}", inner, 0..6)
                    .prop_map(|entries| Value::Object(entries.into_iter().collect())),
            ]
        })
    }

    proptest! {
        /// serde_json is the reference, for what it writes itself.
        #[test]
        fn reads_what_serde_json_writes(value in value()) {
            for text in [value.to_string(), format!("\t{value:#}\r\n")] {
                let ours = Json::parse(&text);
                prop_assert!(ours.as_ref().is_ok_and(|ours| same(ours, &value)), "{text}: {ours:?}");
            }
        }

        /// The standard library is the reference for numbers of up to 15 digits, with and without an exponent.
        #[test]
        fn numbers_are_the_nearest(text in "-?(0|[1-9][0-9]{0,7})(\\.[0-9]{1,7})?(e-?[0-9])?") {
            prop_assert_eq!(number(&text).map(f64::to_bits), text.parse().ok().map(f64::to_bits), "{}", text);
        }

        /// Any text is read or refused.
        #[test]
        fn any_text_is_survived(text in "[\\[\\]{}\",:0-9.eE+\\-a-u\\\\ ]{0,40}") {
            let ours = Json::parse(&text);
            if let Ok(theirs) = serde_json::from_str::<Value>(&text) {
                // serde_json keeps the last of two equal keys, this reader the first.
                let is_known = text.contains('\\') || text.matches(':').count() > 1;
                prop_assert!(is_known || ours.is_ok_and(|ours| same(&ours, &theirs)), "{text}");
            }
        }
    }

    /// What is no JSON is refused with its place; depth is bounded.
    #[test]
    fn errors_have_a_place() {
        let error = |text: &str| Json::parse(text).expect_err(text);
        assert_eq!(error("[1, 2"), "a comma expected at character 6");
        assert_eq!(error("{\"a\" 1}"), "a colon expected at character 6");
        assert_eq!(error("[1] x"), "the end expected at character 5");
        for text in [
            "",
            "nul",
            "[inf]",
            "[NaN]",
            "[1,]",
            "{1: 2}",
            "\"a",
            "\"\\x\"",
            "\"\\u12g4\"",
            "1e",
            "1e23",
            "-",
            ".5",
            "1.",
        ] {
            error(text);
        }
        error(&"[".repeat(100_000));
    }
}
