use super::*;

fn found(pattern: &str, text: &str) -> bool {
    Expression::new(pattern).unwrap().find(text).is_sure()
}

#[test]
fn means_what_it_means_in_ecmascript() {
    for (pattern, text, expected) in [
        ("", "x", true),
        ("a.c", "a\nc", false),
        ("a.c", "a\u{2028}c", false),
        ("a.c", "a\u{85}c", true),
        ("^b", "a\nb", false),
        ("a$", "a\n", false),
        (r"\d", "٣", false),
        (r"^\w+$", "naïve", false),
        (r"\bve", "naïve", true),
        (r"\s", "\u{feff}", true),
        (r"\s", "\u{85}", false),
        (r"\x41\u0042\103", "ABC", true),
        (r"\ud83d\ude00", "😀", true),
        (r"\u{3}", "uuu", true),
        (r"\0", "\0", true),
        (r#"\x00"file":"a"\x00"#, "{\0\"file\":\"a\"\0}", true),
        (r"\cJ", "\n", true),
        (r"\/\-\@\:", "/-@:", true),
        ("a{,2}", "a{,2}", true),
        ("x{", "x{", true),
        ("a{2}", "aa", true),
        ("^a{2,}$", "aaa", true),
        ("[]", "a", false),
        ("[^]", "\n", true),
        (r"[\w-]", "-", true),
        ("[a&&b]", "&", true),
        ("[[]", "[", true),
        (r"[\b]", "\u{8}", true),
        ("]", "]", true),
        ("a|", "b", true),
        ("#", "#", true),
        ("^(?:a|b)+$", "abab", true),
        ("^(?=.*x)a", "abx", true),
        ("^(?!a)", "abc", false),
        ("(?<=a)b", "ab", true),
        (r"^(?=x)\bx", "xx", true),
        (r"^(a)?\1b", "b", true),
        (r"(?<q>['x]).\k<q>", "'a'", true),
        (r"\k", "k", true),
        (r"(a)\2", "a\u{2}", true),
        ("(a*)*$", "aaaa", true),
        ("a??b", "ab", true),
    ] {
        assert_eq!(found(pattern, text), expected, "{pattern} {text:?}");
    }
}

#[test]
fn what_javascript_refuses_is_refused() {
    for pattern in [
        "(",
        ")",
        "a**",
        "a++",
        "*",
        "+a",
        "[",
        "[b-a]",
        "a{2,1}",
        "(?i)a",
        "(?>a)",
        "(?P<x>a)",
        "\\",
        "(?<1>a)",
        "(?<a>x)(?<a>y)",
        "{2}",
        "a{2}{3}",
        "^*",
    ] {
        let error = Expression::new(pattern).unwrap_err();
        assert_eq!(error.kind, ExpressionErrorKind::Invalid, "{pattern}");
    }
}

#[test]
fn what_cannot_be_expressed_is_refused() {
    for pattern in [r"(a)*\1", r"\1(a)", r"(a\1)", r"\p{L}", "((a{100}){100}){100}", "(?=a)*"] {
        let error = Expression::new(pattern).unwrap_err();
        assert_eq!(error.kind, ExpressionErrorKind::Unsupported, "{pattern}");
    }
    assert!(Expression::new(&"a".repeat(MAX_LENGTH)).unwrap().check().is_ok());
    assert!(Expression::new(&"a".repeat(MAX_LENGTH + 1)).is_err());
}

#[test]
fn errors_say_where() {
    let error = Expression::new("ab(c").unwrap_err();
    assert_eq!(error.kind, ExpressionErrorKind::Invalid);
    assert_eq!(
        error.to_string(),
        "there is a ( without a matching ) (at character 5 of the pattern)"
    );
}

#[test]
fn patterns_that_blow_up_elsewhere_end_here() {
    let text = format!("{}!", "a".repeat(5000));
    assert_eq!(Expression::new("^(a+)+$").unwrap().find(&text), ExpressionMatch::No);
    assert_eq!(
        Expression::new(r"^(a*)(a*)(a*)\1\2\3b").unwrap().find(&text),
        ExpressionMatch::TooMuch
    );
}

#[test]
fn the_end_of_what_was_found() {
    let expression = Expression::at_start("npm (ci|install)").unwrap();
    assert_eq!(expression.find("npm install x"), ExpressionMatch::Until(11));
    assert_eq!(expression.find("x npm ci"), ExpressionMatch::No);
    assert_eq!(Expression::at_start("a|b").unwrap().find("xb"), ExpressionMatch::No);
}

proptest::proptest! {
    #[test]
    fn any_text_is_read_without_a_panic(pattern in ".{0,60}") {
        if let Ok(expression) = Expression::new(&pattern) {
            expression.find("some \"text\" [a-z] {x}");
        }
    }

    #[test]
    fn what_is_read_can_be_compiled(pattern in r"[abc.*+?()|\[\]^${},\\dwsb0-9-]{0,20}") {
        if let Ok(expression) = Expression::new(&pattern) {
            proptest::prop_assert!(expression.check().is_ok(), "{pattern}: {}", expression.translated.text);
        }
    }
}

#[test]
fn a_pattern_of_commands_is_found_at_the_beginning_only() {
    for (pattern, text, found) in [
        ("git push", "git push -f", true),
        ("git push", "git pull", false),
        ("gits? push", "git push", true),
        ("git* push", "gi push", true),
        ("git{0,2}x", "gix", true),
        ("git+", "gitt", true),
        ("git|npm", "npm", true),
        ("", "x", true),
        ("?", "x", false),
        ("a-b/c_d e", "a-b/c_d e", true),
        ("git (a|b)", "git b", true),
        ("git", "a git", false),
    ] {
        let found_here = Expression::at_start(pattern).is_ok_and(|made| made.find(text).is_sure());
        assert_eq!(found_here, found, "{pattern} in {text}");
    }
}
