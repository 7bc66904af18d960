use std::time::{Duration, Instant};

use pretty_assertions::assert_eq;
use proptest::prelude::*;

use super::{EditFailure, EditStrategy, find_edit};

mod inexact;

fn edit(text: &str, old: &str, new: &str) -> Result<(EditStrategy, String), EditFailure> {
    find_edit(text, old, new, false).map(|found| (found.strategy, found.apply(text)))
}

#[test]
fn corpus() {
    use EditStrategy::{Exact, Flexible, Fuzzy, Regex};
    let table = [
        ("plain", "a\nb\nc\n", "b", "x", Exact, "a\nx\nc\n"),
        ("dollar is no pattern", "a\n", "a", "$1$&", Exact, "$1$&\n"),
        ("final line feed is kept", "a\nb\n", "\nb\n", "", Exact, "a\n"),
        ("no final line feed is kept", "a\nb", "b", "c\n", Exact, "a\nc"),
        ("everything goes", "a\n", "a\n", "", Exact, ""),
        ("crlf in the search", "a\nb\nc\n", "a\r\nb", "x", Exact, "x\nc\n"),
        ("unicode", "héllo wörld\n", "wörld", "✓", Exact, "héllo ✓\n"),
        (
            "indentation shifted",
            "fn a() {\n        one();\n        two();\n}\n",
            "one();\ntwo();",
            "one();\nif x {\n    two();\n}",
            Flexible,
            "fn a() {\n        one();\n        if x {\n            two();\n        }\n}\n",
        ),
        (
            "dedent within the replacement",
            "{\n\t\tif a {\n\t\t\tb\n\t\t}\n}\n",
            "b\n}",
            "\tc\n}",
            Flexible,
            "{\n\t\tif a {\n\t\t\tc\n\t\t}\n}\n",
        ),
        ("trailing space", "a  \nb\n", "a\nb\n", "c\n", Flexible, "c\n"),
        ("lines go with their feeds", "x\n  a \n  b\ny\n", "a\nb", "", Flexible, "x\ny\n"),
        ("blank lines are emptied", "  a\n  b\n", "a\nb", "a\n   \nb", Flexible, "  a\n\n  b\n"),
        (
            "white space inside",
            "  call(a,  b );\nrest\n",
            "call( a, b )",
            "call(b)",
            Regex,
            "  call(b);\nrest\n",
        ),
        (
            "words over lines",
            "if (x)\n{\n  y\n}\n",
            "if (x) {\n  y }",
            "if (z) {\n  y\n}",
            Regex,
            "if (z)\n{\n  y\n}\n",
        ),
        (
            "curly quotes",
            "say(“x”) // it’s\n",
            "say(\"x\") // it's",
            "say(\"x\", 1) // it's",
            Fuzzy,
            "say(“x”, 1) // it’s\n",
        ),
    ];
    for (name, text, old, new, strategy, expected) in table {
        assert_eq!(edit(text, old, new), Ok((strategy, expected.to_owned())), "{name}");
    }
}

#[test]
fn failures_say_why() {
    let nowhere = Err(EditFailure::NotFound { nearest: None });
    assert_eq!(edit("a\n", "", "b"), Err(EditFailure::EmptySearch));
    assert_eq!(edit("a\n", "a", "a"), Err(EditFailure::NoChange));
    assert_eq!(edit("", "a", "b"), nowhere);
    assert_eq!(edit("\n\n\n", "  \n", "b"), nowhere, "white space alone is no anchor");
    let twice = |lines| Err(EditFailure::Ambiguous { count: 2, lines });
    assert_eq!(edit("a\nb\na\n", "a", "x"), twice(vec![1, 3]));
    assert_eq!(edit("  a\nb\n  c\n a\nb\n  c\n", "a\nb\nc", "x"), twice(vec![1, 4]));
    assert_eq!(edit("f( a )\nf( a )\n", "f(a)", "x"), twice(vec![1, 2]));
    let close = "say(\"first\"); \n";
    assert_eq!(edit(&close.repeat(2), "say(“first”);", "x"), twice(vec![1, 2]));
    let short = edit("x a( b )\n", "a(b )", "x");
    assert!(matches!(short, Err(EditFailure::NotFound { .. })), "a short text within a line");
    let overlapping = edit("ab\n ab\n ab\n", "ab\nab", "x");
    assert_eq!(overlapping, twice(vec![1, 2]), "places that overlap");
}

#[test]
fn all_places_change_when_several_are_meant() {
    let found = find_edit("a b a\na\n", "a", "xy", true).unwrap();
    assert_eq!(found.apply("a b a\na\n"), "xy b xy\nxy\n");
    assert_eq!(found.line_ranges("a b a\na\n"), [(1, 1), (1, 1), (2, 2)]);
    let found = find_edit("(\n\n", "\n", "", true).unwrap();
    assert_eq!(found.apply("(\n\n"), "(\n", "the final line feed stays when all others go");
    let text = "  a\n  b\nz\n a\n b\n";
    let found = find_edit(text, "a\nb", "c\nd", true).unwrap();
    assert_eq!(
        (found.strategy, found.apply(text).as_str()),
        (EditStrategy::Flexible, "  c\n  d\nz\n c\n d\n")
    );
}

#[test]
fn a_failure_names_the_nearest_lines() {
    let text =
        "use a;\n\nfn first() {\n    let x = compute(1);\n    done(x)\n}\n\nfn second() {}\n";
    let search = "fn first() {\n    let y = something_else_entirely(2);\n    done(x)\n}";
    let Err(EditFailure::NotFound { nearest: Some(nearest) }) = edit(text, search, "x") else {
        panic!("expected a near miss");
    };
    assert_eq!((nearest.first, nearest.lines.len()), (3, 4));
    assert_eq!(nearest.lines[1], "    let x = compute(1);");
    assert_eq!(nearest.wanted[1], "    let y = something_else_entirely(2);");
    assert_eq!(nearest.others, [] as [usize; 0]);
    let Err(EditFailure::NotFound { nearest: Some(nearest) }) =
        edit(text, "let x = compute(other, 77)", "x")
    else {
        panic!("expected a near miss");
    };
    assert_eq!(nearest.first, 4);
    let text = "call(1)\nsame(x)\n".repeat(6);
    let Err(EditFailure::NotFound { nearest: Some(nearest) }) =
        edit(&text, "entirely(other, 77)\nsame(x)", "x")
    else {
        panic!("expected a near miss");
    };
    assert_eq!((nearest.first, nearest.others.as_slice()), (1, [3, 5, 7].as_slice()));
}

#[test]
fn a_failure_names_similar_lines_although_no_line_is_equal() {
    let text =
        "use a;\n\nfn main() {\n    let total = load_items(path);\n    print_sum(total);\n}\n";
    let search = "let amount = read_items(file);\nshow_sum(amount);";
    let Err(EditFailure::NotFound { nearest: Some(nearest) }) = edit(text, search, "x") else {
        panic!("expected a near miss");
    };
    assert_eq!(nearest.first, 4);
    assert_eq!(nearest.lines, ["    let total = load_items(path);", "    print_sum(total);"]);
    let unlike = edit(text, "while running {\n    poke(&mut queue)?;\n}", "x");
    assert_eq!(unlike, Err(EditFailure::NotFound { nearest: None }));
}

#[test]
fn text_around_a_place_within_a_line_stays() {
    let old = "let total = compute(items,&taxes)";
    let table = [
        ("let total = compute(items, &taxes);\t\nb\n", "let sum = 1;\t\nb\n"),
        ("let total = compute(items, &taxes)\n", "let sum = 1\n"),
        ("{ let total = compute(items, &taxes)\n", "{ let sum = 1\n"),
        ("let total = compute(items, &taxes)?;", "let sum = 1?;"),
    ];
    for (text, expected) in table {
        let found = edit(text, old, "let sum = 1").map(|(_, text)| text);
        assert_eq!(found, Ok(expected.to_owned()), "{text:?}");
    }
    let text = "let total = compute(items, &taxes); // why\n";
    for (new, expected) in [
        ("let sum = 1; // why", "let sum = 1; // why\n"),
        ("let sum = 1;", "let sum = 1;; // why\n"),
        ("", "; // why\n"),
    ] {
        assert_eq!(edit(text, old, new).unwrap().1, expected, "what the new text has already");
    }
    let whole = format!("{old}\n");
    let nearest = edit(text, &whole, "let sum = 1\nmore()\n");
    assert!(matches!(nearest, Err(EditFailure::NotFound { .. })), "the line is not whole");
}

#[test]
fn an_edit_that_grows_without_bound_is_refused() {
    let text = "a".repeat(1_000_000);
    assert_eq!(find_edit(&text, "a", "bb", true), Err(EditFailure::TooLarge));
    let new = "b".repeat(1_000_000);
    assert_eq!(find_edit(&text[..100_000], "a", &new, true), Err(EditFailure::TooLarge));
    // Without an exact match, each place has its own copy of the new text: a terabyte in all.
    let lines = "f( x )\n".repeat(1_000_000);
    for old in ["  f( x )", "f(x)"] {
        assert_eq!(find_edit(&lines, old, &new, true), Err(EditFailure::TooLarge), "{old}");
    }
}

#[test]
fn repetitive_input_takes_bounded_time() {
    let start = Instant::now();
    let lines = "a\n".repeat(100_000);
    let cases = [
        (lines.as_str(), format!("{}b", "a\n".repeat(20_000))),
        (lines.as_str(), format!("{}b", "a ".repeat(20_000))),
        (lines.as_str(), "a\na\na\na\na\nb".to_owned()),
        (lines.as_str(), format!("{}{}", "(".repeat(50_000), "x")),
    ];
    for (text, old) in &cases {
        assert!(find_edit(text, old, "new", false).is_err());
    }
    // About two seconds of work; without the limits, hours. The bound leaves time for a busy
    // machine.
    assert!(start.elapsed() < Duration::from_mins(2), "{:?}", start.elapsed());
}

proptest! {
    #[test]
    fn only_the_spans_change(
        text in "([ab(]| |\n|\t|é){0,60}",
        old in "([ab(]| |\n|é){1,14}",
        new in "([ab(]| |\n|é){0,14}",
        multiple: bool,
    ) {
        if let Ok(found) = find_edit(&text, &old, &new, multiple) {
            let mut end = 0;
            for (range, _) in &found.replacements {
                prop_assert!(range.start >= end && range.end >= range.start);
                prop_assert!(text.is_char_boundary(range.start));
                prop_assert!(text.is_char_boundary(range.end));
                end = range.end;
            }
            prop_assert!(multiple || found.replacements.len() == 1);
            let result = found.apply(&text);
            prop_assert_ne!(&result, &text);
            let (first, _) = &found.replacements[0];
            prop_assert!(result.starts_with(&text[..first.start]));
            prop_assert!(result.ends_with(&text[end..]));
            if !text.is_empty() && !result.is_empty() && text.ends_with('\n') {
                prop_assert!(result.ends_with('\n'));
            }
        }
    }

    #[test]
    fn an_exact_text_that_occurs_once_is_replaced_in_place(
        before in "[a-d \n]{0,20}", after in "[a-d \n]{1,20}", new in "[a-d \n]{0,10}"
    ) {
        let text = format!("{before}UNIQUE{after}");
        let expected = format!("{before}{new}{after}");
        prop_assert_eq!(edit(&text, "UNIQUE", &new).unwrap(), (EditStrategy::Exact, expected));
    }

    #[test]
    fn any_text_is_safe(text in "(?s).{0,60}", old in "(?s).{0,30}", new in "(?s).{0,30}", all: bool) {
        if let Ok(found) = find_edit(&text, &old, &new, all) {
            found.apply(&text);
            found.line_ranges(&text);
        }
    }
}
