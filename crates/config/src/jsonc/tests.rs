use pretty_assertions::assert_eq;
use proptest::prelude::*;
use serde_json::json;

use super::*;

fn parse_text(text: &str) -> Result<Value, SyntaxError> {
    parse(Path::new("/s.json"), text)
}

#[test]
fn comments_are_allowed_anywhere() {
    let text =
        "\u{feff}// head\n{ /* a */ \"a\": [1, // one\n 2], \"url\": \"http://x//y\" }\n// end";
    assert_eq!(parse_text(text).unwrap(), json!({"a": [1, 2], "url": "http://x//y"}));
}

#[test]
fn errors_name_line_and_column() {
    let cases = [
        ("{\n  \"a\": 1,\n}", "Trailing commas are not allowed", 2, 9),
        ("{\n  \"a\": 'b'\n}", "Single-quoted strings are not allowed", 2, 8),
        ("{\n  a: 1\n}", "Expected string for object property", 2, 3),
    ];
    for (text, message, line, column) in cases {
        let error = parse_text(text).unwrap_err();
        assert_eq!(error.message, message, "{text}");
        assert_eq!(error.position, Some(Position { line, column }), "{text}");
    }
}

#[test]
fn the_text_of_an_error_is_one_line() {
    let error = parse_text("{\"a\": 1,}").unwrap_err();
    assert_eq!(
        error.to_string(),
        "Error in /s.json: Trailing commas are not allowed (line 1, column 8)"
    );
}

#[test]
fn the_root_must_be_an_object() {
    for text in ["", "   // nothing", "[]", "1", "null", "\"x\""] {
        let error = parse_text(text).unwrap_err();
        assert_eq!(error.message, "Settings file is not a valid JSON object.", "{text:?}");
    }
}

#[test]
fn nesting_is_bounded() {
    for depth in [200, 100_000] {
        let text = format!("{{\"a\":{}{}}}", "[".repeat(depth), "]".repeat(depth));
        assert!(parse_text(&text).unwrap_err().message.contains("nested deeper than 128"));
    }
    let text = format!("{{\"a\":{}{}}}", "[".repeat(120), "]".repeat(120));
    assert!(parse_text(&text).is_ok());
}

proptest! {
    #[test]
    fn never_panics(text in ".{0,200}") {
        let _ignored = parse_text(&text);
    }

    #[test]
    fn never_panics_on_json_like_text(text in r#"[\[\]{}:,"/* \n0-9eE+.tfn\\u-]{0,80}"#) {
        let _ignored = parse_text(&format!("{{{text}}}"));
    }
}
