use jsonc_parser::CommentCollectionStrategy;
use pretty_assertions::assert_eq;
use proptest::prelude::*;
use serde_json::json;

use super::*;

fn path() -> &'static Path {
    Path::new("settings.json")
}

fn set_in(text: &str, key: &str, value: &Value) -> String {
    let names: Vec<&str> = key.split('.').collect();
    set(path(), text, &names, value).unwrap()
}

fn unset_in(text: &str, key: &str) -> String {
    let names: Vec<&str> = key.split('.').collect();
    unset(path(), text, &names).unwrap()
}

#[test]
fn a_value_is_set() {
    let table = [
        // A file that does not exist yet, or is empty.
        ("", "{\n  \"a\": 1\n}"),
        (" \n", "{\n  \"a\": 1\n}"),
        ("{}", "{\n  \"a\": 1\n}"),
        ("{ \n }\n", "{\n \"a\": 1 \n }\n"),
        // An existing value is replaced, and nothing else changes.
        ("{\"a\":/*x*/0}", "{\"a\":/*x*/1}"),
        ("{\n\t\"a\" : [ 1, 2 ] , // two\n\t\"b\": 2\n}", "{\n\t\"a\" : 1 , // two\n\t\"b\": 2\n}"),
        // New properties follow the last one on a line of their own; comments stay with their
        // subject.
        ("{\"b\": 2}", "{\n  \"b\": 2,\n  \"a\": 1\n}"),
        ("{\"b\": 2 // two\n}", "{\"b\": 2, // two\n  \"a\": 1\n}"),
        ("{\n    \"b\": 2\n}", "{\n    \"b\": 2,\n    \"a\": 1\n}"),
        ("{\n  \"b\": 2 // two\n}", "{\n  \"b\": 2, // two\n  \"a\": 1\n}"),
        ("{\n  \"b\": 2 /* two */ // 2\n}", "{\n  \"b\": 2, /* two */ // 2\n  \"a\": 1\n}"),
        ("{\r\n  \"b\": 2\r\n}\r\n", "{\r\n  \"b\": 2,\r\n  \"a\": 1\r\n}\r\n"),
        ("{\n  \"b\": 2\n  // \"c\": 3\n}", "{\n  \"b\": 2,\n  \"a\": 1\n  // \"c\": 3\n}"),
        ("{\n  \"b\": 2 }", "{\n  \"b\": 2,\n  \"a\": 1 }"),
        // The first property of a file that contains comments.
        ("{ // none\n}", "{ // none\n  \"a\": 1\n}"),
        ("{\n  // none\n}", "{\n  // none\n  \"a\": 1\n}"),
        ("{ /* none */ }", "{\n  /* none */\n  \"a\": 1\n}"),
        // The byte order mark stays, and so do repeats; the last of them takes effect.
        ("\u{feff}{\"a\": 2}", "\u{feff}{\"a\": 1}"),
        ("{\"a\": 2, \"a\": 3}", "{\"a\": 2, \"a\": 1}"),
    ];
    for (before, after) in table {
        assert_eq!(set_in(before, "a", &json!(1)), after, "{before:?}");
    }
}

#[test]
fn groups_are_made_on_the_way() {
    let table = [
        ("{}", "{\n  \"a\": {\n    \"b\": [\"x\"]\n  }\n}"),
        ("{\n\t\"c\": 1\n}", "{\n\t\"c\": 1,\n\t\"a\": {\n\t\t\"b\": [\"x\"]\n\t}\n}"),
        ("{\n \"a\": {}\n}", "{\n \"a\": {\n  \"b\": [\"x\"]\n }\n}"),
        ("{\"a\": {}}", "{\"a\": {\n    \"b\": [\"x\"]\n  }}"),
        ("{\"a\": {\"c\": 1}}", "{\"a\": {\n    \"c\": 1,\n    \"b\": [\"x\"]\n  }}"),
    ];
    for (before, after) in table {
        assert_eq!(set_in(before, "a.b", &json!(["x"])), after, "{before:?}");
    }
}

#[test]
fn a_value_is_unset() {
    let table = [
        ("{\"a\": 1}", "{}"),
        ("{\n  \"a\": 1\n}\n", "{\n}\n"),
        ("{\"a\": 1, \"b\": 2}", "{\"b\": 2}"),
        ("{\"b\": 2, \"a\": 1}", "{\"b\": 2}"),
        ("{\"b\": 2, \"a\": 1, \"c\": 3}", "{\"b\": 2, \"c\": 3}"),
        ("{\n  \"a\": 1,\n  \"b\": 2\n}", "{\n  \"b\": 2\n}"),
        ("{\r\n  \"b\": 2,\r\n  \"a\": 1\r\n}", "{\r\n  \"b\": 2\r\n}"),
        ("{\n  \"a\": {\n    \"x\": 1\n  },\n  \"b\": 2\n}", "{\n  \"b\": 2\n}"),
        // Comments stay, because a person wrote them.
        ("{\n  // one\n  \"a\": 1, // why\n  \"b\": 2\n}", "{\n  // one\n  // why\n  \"b\": 2\n}"),
        ("{\n  \"b\": 2, // two\n  \"a\": 1 // one\n}", "{\n  \"b\": 2 // two\n  // one\n}"),
        ("{\"a\": 1 /* , */ , \"b\": 2}", "{/* , */  \"b\": 2}"),
        // Repeats would otherwise take effect.
        ("{\"a\": 1, \"b\": 2, \"a\": 3}", "{\"b\": 2}"),
        ("{\"a\": 1, \"a\": 3}", "{}"),
        ("{\"b\": 1, \"a\": 2, \"a\": 3}", "{\"b\": 1}"),
        ("{\"b\": 1}", "{\"b\": 1}"),
    ];
    for (before, after) in table {
        assert_eq!(unset_in(before, "a"), after, "{before:?}");
    }
    assert_eq!(unset_in("{\"a\": {\"b\": 1}}", "a.b"), "{}");
    assert_eq!(unset_in("{\"c\": 1, \"a\": {\"b\": {\"d\": 1}}}", "a.b.d"), "{\"c\": 1}");
    // A comment stays with its group.
    let commented = "{\"a\": {/* why */ \"b\": 1}}";
    assert_eq!(unset_in(commented, "a.b"), "{\"a\": {/* why */}}");
    assert_eq!(unset_in("{\"a\": 1}", "a.b"), "{\"a\": 1}", "there is no such thing");
    assert_eq!(unset_in("{\"a\": {\"b\": 1}, \"a\": {}}", "a.b"), "{\"a\": {\"b\": 1}, \"a\": {}}");
}

#[test]
fn a_file_that_cannot_be_edited_is_reported_by_line_and_column() {
    let table = [
        ("{\n  \"a\": 1,\n}", Some((2, 9)), "Trailing commas"),
        ("{\n \"a\": 3\n}", Some((2, 7)), "a is no object but of type number"),
        ("[]", None, "not a valid JSON object"),
    ];
    for (text, place, words) in table {
        let error = set(path(), text, &["a", "b"], &json!(1)).unwrap_err();
        let found = error.position.map(|place| (place.line, place.column));
        assert_eq!(found, place, "{text:?}: {error}");
        assert!(error.message.contains(words), "{error}");
    }
    assert!(unset(path(), "{", &["a"]).is_err());
}

#[test]
fn nothing_is_written_that_could_not_be_read() {
    let deep = (0..127).fold(json!(1), |inner, _| json!([inner]));
    assert!(set(path(), "{}", &["a"], &deep).is_ok());
    let error = set(path(), "{}", &["a", "b"], &deep).unwrap_err();
    assert!(error.message.contains("nested deeper"), "{error}");
}

#[test]
fn hostile_files_are_bounded() {
    for depth in [200, 100_000] {
        let text = format!("{{\"a\":{}{}}}", "[".repeat(depth), "]".repeat(depth));
        for changed in [set(path(), &text, &["b"], &json!(1)), unset(path(), &text, &["a"])] {
            assert!(changed.unwrap_err().message.contains("nested deeper"));
        }
    }
    let many: Vec<String> = (0..500_000).map(|n| format!("\"key {n}\": {n}")).collect();
    let text = format!("{{{}}}", many.join(",\n"));
    let start = std::time::Instant::now();
    assert!(text.len() > 10_000_000);
    assert!(set(path(), &text, &["b"], &json!(1)).unwrap().ends_with("\"b\": 1}"));
    assert!(unset(path(), &text, &["key 499999"]).unwrap().ends_with("\"key 499998\": 499998\n}"));
    // Quadratic run time would take hours.
    assert!(start.elapsed() < std::time::Duration::from_mins(1), "{:?}", start.elapsed());
}

/// Generates settings files with comments, repeats and unusual layout.
fn file() -> impl Strategy<Value = String> {
    let blank = || {
        prop_oneof!["[ \t]{0,2}", "\n {0,3}", "\r\n", " // [a-z,}]{0,4}\n", "/\\*[a-z,{ ]{0,4}\\*/"]
    };
    let scalar =
        prop_oneof!["-?[1-9]", "true", "null", r#""[a-z{}, /]{0,4}""#, r"\[\]", r"\[1, 2\]"];
    let value = scalar.prop_recursive(3, 24, 4, move |inner| {
        let property = (blank(), "[abc]", blank(), blank(), inner, blank());
        proptest::collection::vec(property, 0..4).prop_flat_map(move |properties| {
            let properties: Vec<String> = properties
                .into_iter()
                .map(|(a, name, b, c, value, d)| format!("{a}\"{name}\"{b}:{c}{value}{d}"))
                .collect();
            blank().prop_map(move |end| format!("{{{}{end}}}", properties.join(",")))
        })
    });
    let object = value.prop_filter("an object", |text| text.starts_with('{'));
    (prop_oneof![Just(""), Just("\u{feff}")], blank(), object, blank())
        .prop_map(|(mark, before, object, after)| format!("{mark}{before}{object}{after}"))
}

/// Returns the comments of a text with their positions, in order.
fn remarks(text: &str) -> Vec<(usize, &str)> {
    let comments = CommentCollectionStrategy::AsTokens;
    let options = CollectOptions { comments, tokens: true };
    let mark = text.len() - jsonc::without_mark(text).len();
    let parsed = parse_to_ast(&text[mark..], &options, &jsonc::strict()).unwrap();
    let is_remark =
        |token: &Token<'_>| matches!(token, Token::CommentLine(_) | Token::CommentBlock(_));
    let remarks = parsed.tokens.unwrap().into_iter().filter(|token| is_remark(&token.token));
    let ranges = remarks.map(|token| token.start() + mark..token.end() + mark);
    ranges.map(|range| (range.start, &text[range])).collect()
}

/// Returns the comments outside of all ranges.
fn remarks_outside<'t>(text: &'t str, ranges: &[(usize, usize)]) -> Vec<&'t str> {
    let inside = |at: usize| ranges.iter().any(|(start, end)| (*start..*end).contains(&at));
    remarks(text).into_iter().filter(|(at, _)| !inside(*at)).map(|(_, remark)| remark).collect()
}

/// Returns the positions of the properties with this key, and of their values. The property that
/// takes effect comes last.
fn places(text: &str, names: &[&str]) -> Vec<((usize, usize), (usize, usize))> {
    let mark = text.len() - jsonc::without_mark(text).len();
    let root = jsonc::nodes(path(), &text[mark..]).unwrap();
    let (name, groups) = names.split_last().unwrap();
    let group = root.as_ref().and_then(|root| node(root, groups)?.as_object());
    let properties = group.map(|group| group.properties.as_slice()).unwrap_or_default();
    let range = |ranged: &dyn Ranged| (ranged.range().start + mark, ranged.range().end + mark);
    let same = properties.iter().filter(|property| property.name.as_str() == *name);
    same.map(|property| (range(property), range(&property.value))).collect()
}

/// Returns true if the characters of `part`, without white space, occur in `whole` in this order.
fn is_within(part: &str, whole: &str) -> bool {
    let mut rest = whole.chars();
    let mut letters = part.chars().filter(|letter| !letter.is_whitespace());
    letters.all(|letter| rest.any(|other| other == letter))
}

proptest! {
    #[test]
    fn what_is_set_is_read_and_nothing_else_changes(
        text in file(),
        key in proptest::collection::vec("[abcd]", 1..4),
        value in prop_oneof![Just(json!(7)), Just(json!(["x", {}])), Just(json!({"k": {"l": 1}}))],
    ) {
        let Ok(before) = jsonc::parse(path(), &text) else { return Ok(()) };
        let names: Vec<&str> = key.iter().map(String::as_str).collect();
        let Ok(after) = set(path(), &text, &names, &value) else {
            let is_blocked = |end: usize| {
                let found = crate::schema::lookup(&before, &names[..end].join("."));
                found.is_some_and(|value| !value.is_object())
            };
            prop_assert!((1..names.len()).any(is_blocked), "refused without reason: {text:?}");
            return Ok(());
        };
        let mut expected = before;
        crate::schema::insert(expected.as_object_mut().unwrap(), &names.join("."), value.clone());
        prop_assert_eq!(&jsonc::parse(path(), &after).unwrap(), &expected, "{:?}", after);
        if let Some((_, (start, end))) = places(&text, &names).last() {
            let same = after.starts_with(&text[..*start]) && after.ends_with(&text[*end..]);
            prop_assert!(same, "{text:?} became {after:?}");
        } else {
            prop_assert_eq!(remarks_outside(&after, &[]), remarks_outside(&text, &[]));
            prop_assert!(is_within(&text, &after), "{text:?} became {after:?}");
        }
        let again = set(path(), &after, &names, &value).unwrap();
        prop_assert_eq!(jsonc::parse(path(), &again).unwrap(), expected);
    }

    #[test]
    fn what_is_unset_is_gone_and_nothing_else(
        text in file(),
        key in proptest::collection::vec("[abcd]", 1..3),
    ) {
        let Ok(before) = jsonc::parse(path(), &text) else { return Ok(()) };
        let names: Vec<&str> = key.iter().map(String::as_str).collect();
        let after = unset(path(), &text, &names).unwrap();
        let mut expected = before.clone();
        crate::schema::take(&mut expected, &names.join("."));
        let found = jsonc::parse(path(), &after).unwrap();
        let mut pruned = expected.clone();
        if expected != before && expected[names[0]] == json!({}) {
            // An empty group goes, unless it contains a comment.
            crate::schema::take(&mut pruned, names[0]);
        }
        prop_assert!(found == expected || found == pruned, "{:?}", after);
        let removed: Vec<_> = places(&text, &names).into_iter().map(|(range, _)| range).collect();
        prop_assert_eq!(remarks_outside(&after, &[]), remarks_outside(&text, &removed));
        prop_assert!(is_within(&after, &text), "{text:?} became {after:?}");
        if expected == before {
            prop_assert_eq!(after, text);
        }
    }
}
