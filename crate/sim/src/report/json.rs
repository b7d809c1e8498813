//! Reading the JSON that is embedded: published tables and claims.
//!
//! Field by field: the readers that serde derives for these few structs cost 20 KB of the page's gzipped wasm more.

use jzon::JsonValue;

/// Reads an embedded text.
///
/// # Errors
/// The text is not JSON: what stands in the way, and where.
pub(super) fn parse(text: &str) -> Result<JsonValue, String> {
    jzon::parse(text).map_err(|error| error.to_string())
}

/// The items of a list; a single value is a list of one, and `null` an empty one.
pub(super) fn list(json: &JsonValue) -> &[JsonValue] {
    match json {
        JsonValue::Array(items) => items,
        JsonValue::Null => &[],
        one => std::slice::from_ref(one),
    }
}

/// The texts of a list.
pub(super) fn texts(json: &JsonValue) -> Vec<String> {
    list(json).iter().filter_map(JsonValue::as_str).map(str::to_owned).collect()
}

/// The text under a key, if there is one.
pub(super) fn text(json: &JsonValue, key: &str) -> Option<String> {
    json[key].as_str().map(str::to_owned)
}

/// The text under a key that must be there.
///
/// # Errors
/// It is not there, or no text.
pub(super) fn name(json: &JsonValue, key: &str) -> Result<String, String> {
    text(json, key).ok_or_else(|| format!("`{key}` must be a text"))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::scenario::{CLAIMS_JSON, Experiment};
    use serde_json::Value;

    fn same(ours: &JsonValue, theirs: &Value) -> bool {
        match theirs {
            Value::Null => ours.is_null(),
            Value::Bool(flag) => ours.as_bool() == Some(*flag),
            Value::Number(number) => ours.as_f64().map(f64::to_bits) == number.as_f64().map(f64::to_bits),
            Value::String(text) => ours.as_str() == Some(text),
            Value::Array(items) => {
                let own = ours.members();
                ours.is_array()
                    && own.len() == items.len()
                    && own.zip(items).all(|(one, other)| same(one, other))
            }
            Value::Object(entries) => {
                ours.is_object()
                    && ours.len() == entries.len()
                    && entries.iter().all(|(key, value)| same(&ours[key.as_str()], value))
            }
        }
    }

    /// Every embedded file is read as serde_json reads it, to the last bit of every number.
    #[test]
    fn embedded_files_are_read_as_serde_json_reads_them() {
        let experiments: Vec<_> =
            Experiment::ids().map(|id| Experiment::find(id).expect("embedded")).collect();
        let published = experiments.iter().filter_map(Experiment::published_json);
        let texts: Vec<_> = published.chain([CLAIMS_JSON]).collect();
        assert!(texts.len() > experiments.len());
        for text in texts {
            let theirs: Value = serde_json::from_str(text).expect("JSON");
            assert!(same(&parse(text).expect("JSON"), &theirs), "{:.200}", text);
        }
    }

    /// What is no JSON is refused with its place.
    #[test]
    fn errors_have_a_place() {
        assert_eq!(parse("[1,\n 2x").expect_err("not JSON"), "Unexpected character: x at (2:3)");
        assert_eq!(name(&parse("{}").expect("JSON"), "id").expect_err("no id"), "`id` must be a text");
        for text in ["", "nul", "[1, 2", "[1,]", "{1: 2}", "\"a", "1.", ".5", "[1] x"] {
            assert!(parse(text).is_err(), "{text}");
        }
    }

    /// One value stands for a list of one.
    #[test]
    fn lists_may_be_single_values() {
        let json = parse(r#"{"one": "a", "two": ["a", "b"]}"#).expect("JSON");
        assert_eq!(texts(&json["one"]), ["a"]);
        assert_eq!(texts(&json["two"]), ["a", "b"]);
        assert!(texts(&json["none"]).is_empty());
    }
}
