use pretty_assertions::assert_eq;
use proptest::prelude::*;
use serde_json::json;

use super::*;

fn environment() -> Environment {
    Environment::from_pairs([("NAME", "value"), ("EMPTY", ""), ("DOLLAR", "$NAME"), ("A_1", "x")])
}

#[test]
fn unset_variables_in_headers_are_empty_and_named() {
    let settings = json!({
        "a": "$NOPE",
        "mcpServers": {"s": {
            "command": "$NOPE",
            "headers": {"X": "Bearer $NOPE", "Y": "$DOLLAR ${NOPE:-d} $NAME", "Z": 1},
        }, "odd": "$NAME"},
    });
    let mut value = settings.clone();
    interpolate_settings(&mut value, &environment());
    let expected = json!({
        "a": "$NOPE",
        "mcpServers": {"s": {
            "command": "$NOPE",
            "headers": {"X": "Bearer ", "Y": "$NAME d value", "Z": 1},
        }, "odd": "value"},
    });
    assert_eq!(value, expected);
    let unset = unset_in_headers(&settings["mcpServers"]["s"], &environment());
    assert_eq!(unset, [("X".to_owned(), "NOPE".to_owned())]);
    for mut odd in [json!(null), json!([]), json!({"mcpServers": ["$NAME"]})] {
        interpolate_settings(&mut odd, &environment());
        assert!(!odd.to_string().contains('$'), "{odd}");
    }
}

#[test]
fn references() {
    let cases = [
        ("$NAME", "value"),
        ("${NAME}", "value"),
        ("a$NAME-b", "avalue-b"),
        ("$NAMES", "$NAMES"),
        ("${NOPE}", "${NOPE}"),
        ("${NOPE:-default text}", "default text"),
        ("${NOPE:-}", ""),
        ("${NAME:-default}", "value"),
        ("${EMPTY:-default}", ""),
        ("$EMPTY", ""),
        ("$DOLLAR", "$NAME"),
        ("$A_1$A_1", "xx"),
        ("$", "$"),
        ("$$NAME", "$value"),
        ("${}", "${}"),
        ("${:-x}", "${:-x}"),
        ("${NAME", "${NAME"),
        ("} ${NAME", "} ${NAME"),
        ("$é", "$é"),
        ("\\$NAME", "\\value"),
    ];
    for (text, expected) in cases {
        assert_eq!(interpolate_text(text, &environment()), expected, "{text}");
    }
}

#[test]
fn values_not_keys_at_any_depth() {
    let mut value = json!({"$NAME": ["$NAME", {"a": "${NAME}"}], "n": 1, "b": null});
    interpolate(&mut value, &environment());
    assert_eq!(value, json!({"$NAME": ["value", {"a": "value"}], "n": 1, "b": null}));
}

#[test]
fn unclosed_references_cost_linear_time() {
    let text = "${".repeat(500_000);
    assert_eq!(interpolate_text(&text, &environment()), text);
}

proptest! {
    #[test]
    fn unknown_names_are_left_alone(text in r"[a-z ${}:\-é]{0,60}") {
        let nothing = Environment::from_pairs::<&str, &str>([]);
        let result = interpolate_text(&text, &nothing);
        if !text.contains(":-") {
            prop_assert_eq!(result, text);
        }
    }

    #[test]
    fn text_without_a_dollar_is_unchanged(text in "[^$]{0,60}") {
        prop_assert_eq!(interpolate_text(&text, &environment()), text);
    }
}
