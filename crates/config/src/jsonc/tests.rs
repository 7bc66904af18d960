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
        ("{\"a\": \"\0\"}", "A string contains a control character that is not escaped", 1, 8),
        ("{\n\"é\": \"x\ty\"}", "A string contains a control character that is not escaped", 2, 8),
        (
            "{/*/ \"\u{1} */ \"a\\\"\": 1, // \u{2}\"\n\"\u{3}\": 1}",
            "A string contains a control character that is not escaped",
            2,
            2,
        ),
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
fn other_encodings_are_named() {
    for (bytes, name) in [
        ("{}".encode_utf16().flat_map(u16::to_le_bytes).collect::<Vec<_>>(), "little endian"),
        ("\u{feff}{}".encode_utf16().flat_map(u16::to_le_bytes).collect(), "little endian"),
        ("\u{feff}{}".encode_utf16().flat_map(u16::to_be_bytes).collect(), "big endian"),
    ] {
        let error = parse_text(&String::from_utf8_lossy(&bytes)).unwrap_err();
        assert!(error.message.contains(name), "{error}");
    }
}

#[test]
fn keys_have_places() {
    let text = "\u{feff}{\n  \"a\": {\"b\": 1, \"é\": 2, \"b\": 3},\n  \"a\": { // x\n    \"c\": 1\n  }\n}";
    let places = key_places(Path::new("/s.json"), text).unwrap();
    let shown =
        |(key, place): (&String, &Position)| format!("{key} {}:{}", place.line, place.column);
    let found: Vec<_> = places.found.iter().map(shown).collect();
    assert_eq!(found, ["a 3:3", "a.c 4:5"]);
    let hidden: Vec<_> = places.hidden.iter().map(|(key, place)| shown((key, place))).collect();
    assert_eq!(hidden, ["a 2:3"]);
}

#[test]
fn a_large_file_takes_linear_time() {
    let many: Vec<String> = (0..60_000).map(|n| format!("\"k{}\": {n}", n % 7)).collect();
    let text = format!("{{{}}}", many.join(",\n"));
    let start = std::time::Instant::now();
    assert_eq!(parse_text(&text).unwrap().as_object().unwrap().len(), 7);
    assert_eq!(key_places(Path::new("/s.json"), &text).unwrap().hidden.len(), 60_000 - 7);
    let short = crate::edit::unset(Path::new("/s.json"), &text, &["k3"]).unwrap();
    assert_eq!(parse_text(&short).unwrap().as_object().unwrap().len(), 6);
    // Quadratic run time would take minutes.
    assert!(start.elapsed() < std::time::Duration::from_secs(20), "{:?}", start.elapsed());
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
