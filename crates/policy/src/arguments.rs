//! Arguments of a call as the text that `argsPattern` is matched against.
//!
//! The text is stable JSON without spaces, with keys sorted at every level and each pair of the
//! outermost object between two NULs, so that a pattern can distinguish an argument from a text
//! inside an argument.

use serde_json::{Map, Number, Value};

/// Maximum depth of values. Deeper values are written as `null`.
const MAX_DEPTH: usize = 64;

/// Returns the arguments as text.
pub(crate) fn text(args: &Value) -> String {
    text_with(args, None)
}

/// Returns the arguments as text, with some values replaced.
pub(crate) fn text_with(args: &Value, replaced: Option<(&str, &str)>) -> String {
    let mut out = String::new();
    let Value::Object(fields) = args else {
        value(args, 0, &mut out);
        return out;
    };
    out.push('{');
    for (index, (key, field)) in sorted(fields).into_iter().enumerate() {
        out.push_str(if index == 0 { "\0" } else { ",\0" });
        string(key, &mut out);
        out.push(':');
        match replaced {
            Some((name, text)) if name == key => string(text, &mut out),
            _ => value(field, 1, &mut out),
        }
        out.push('\0');
    }
    out.push('}');
    out
}

/// Returns a text in the form of a JSON string, without its quotes.
pub(crate) fn escaped(text: &str) -> String {
    let mut out = String::with_capacity(text.len() + 2);
    string(text, &mut out);
    out[1..out.len() - 1].to_owned()
}

fn sorted(fields: &Map<String, Value>) -> Vec<(&str, &Value)> {
    let mut sorted: Vec<_> = fields.iter().map(|(key, value)| (key.as_str(), value)).collect();
    sorted.sort_unstable_by_key(|(key, _)| *key);
    sorted
}

fn value(given: &Value, depth: usize, out: &mut String) {
    if depth > MAX_DEPTH {
        out.push_str("null");
        return;
    }
    match given {
        Value::Null => out.push_str("null"),
        Value::Bool(truth) => out.push_str(if *truth { "true" } else { "false" }),
        Value::Number(given) => out.push_str(&number(given)),
        Value::String(text) => string(text, out),
        Value::Array(items) => {
            out.push('[');
            for (index, item) in items.iter().enumerate() {
                if index > 0 {
                    out.push(',');
                }
                value(item, depth + 1, out);
            }
            out.push(']');
        }
        Value::Object(fields) => {
            out.push('{');
            for (index, (key, field)) in sorted(fields).into_iter().enumerate() {
                if index > 0 {
                    out.push(',');
                }
                string(key, out);
                out.push(':');
                value(field, depth + 1, out);
            }
            out.push('}');
        }
    }
}

/// Formats a number as JavaScript does, which writes whole numbers without a decimal point.
fn number(given: &Number) -> String {
    match given.as_f64() {
        Some(float) if given.is_f64() && float.fract() == 0.0 && float.abs() < 1e15 => {
            format!("{float:.0}")
        }
        _ => given.to_string(),
    }
}

fn string(text: &str, out: &mut String) {
    out.push_str(&Value::from(text).to_string());
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn pairs_stand_between_nuls_and_keys_are_sorted() {
        let args =
            json!({"dir_path": ".", "command": "ls \"a\"\n", "x": {"b": 1.0, "a": [null, true]}});
        assert_eq!(
            text(&args),
            "{\0\"command\":\"ls \\\"a\\\"\\n\"\0,\0\"dir_path\":\".\"\0,\0\"x\":{\"a\":[null,true],\"b\":1}\0}"
        );
        assert_eq!(text(&json!({})), "{}");
        let replaced = text_with(&json!({"command": "a; b"}), Some(("command", "b")));
        assert_eq!(replaced, "{\0\"command\":\"b\"\0}");
    }

    #[test]
    fn numbers_have_the_form_of_javascript() {
        let numbers = json!([0, -7, 1.0, -2.0, 1.5, 1e14, 1e300, 9_007_199_254_740_993_u64]);
        let Value::Array(numbers) = numbers else { panic!("{numbers}") };
        let texts: Vec<_> =
            numbers.iter().map(|given| number(given.as_number().unwrap())).collect();
        let expected =
            ["0", "-7", "1", "-2", "1.5", "100000000000000", "1e+300", "9007199254740993"];
        assert_eq!(texts, expected);
    }

    #[test]
    fn values_without_a_bottom_end() {
        let mut args = json!({});
        for _ in 0..100 {
            args = json!({"a": args});
        }
        assert!(text(&args).contains("null"));
    }
}
