use std::time::{Duration, Instant};

use proptest::prelude::*;

use super::*;

#[test]
fn groups() {
    let table: [(&str, &[&str], &[&str]); 18] = [
        ("+(a|b).rs", &["a.rs", "b.rs", "abba.rs"], &[".rs", "c.rs", "abc.rs", "x/a.rs"]),
        ("*(a|b).rs", &[".rs", "a.rs", "ba.rs"], &["c.rs"]),
        ("?(a|b).rs", &[".rs", "a.rs", "b.rs"], &["ab.rs"]),
        ("@(a|b).rs", &["a.rs", "b.rs"], &[".rs", "ab.rs"]),
        ("!(a|b).rs", &[".rs", "c.rs", "ab.rs"], &["a.rs", "b.rs", "c.ts"]),
        ("**/!(*.rs)", &["a.ts", "src/b.ts", ".x"], &["a.rs", "src/b.rs"]),
        ("src/!(*.test).ts", &["src/a.ts", "src/test.ts"], &["src/a.test.ts", "src/d/a.ts"]),
        ("!(test)*.js", &["a.js", "tes.js"], &["test.js", "testing.js"]),
        ("!(a)/x", &["b/x", "aa/x"], &["a/x", "x"]),
        ("+(a?(c))", &["a", "aa", "ac", "aca", "acac"], &["", "c", "cc", "acc"]),
        ("*(*(a)b)", &["", "b", "ab", "aabbab"], &["a", "ba"]),
        ("+(|a)", &["", "a", "aa"], &["b"]),
        ("a/**/+(x)", &["a/x", "a/b/x", "a/b/c/xx"], &["a", "x", "ab/x", "a/bx"]),
        ("+(a)/**", &["a/b", "aa/b/c"], &["a", "b/a"]),
        ("+([a-c]|[!a-z]).{x,y}", &["ab1.x", "A.y"], &["d.x", "a.z", "/.x"]),
        ("\\+(a)", &["+(a)"], &["a", "aa"]),
        ("+(\\(|a\\|b)", &["(", "a|b", "(a|b("], &["a", "b"]),
        ("@(a.*|!(b)c)", &["a.rs", "c", "xc"], &["bc", "b"]),
    ];
    for (pattern, matching, others) in table {
        let compiled = ExtendedPattern::new(pattern, true).unwrap();
        for path in matching {
            assert!(compiled.matches(path), "{pattern} matches {path}");
        }
        for path in others {
            assert!(!compiled.matches(path), "{pattern} does not match {path}");
        }
    }
}

#[test]
fn case_counts_only_if_asked_for() {
    let matches = |sensitive, path: &str| {
        ExtendedPattern::new("+(É|[x-z]).RS", sensitive).unwrap().matches(path)
    };
    assert!(matches(false, "éX.rs"));
    assert!(!matches(true, "éX.rs") && matches(true, "Éx.RS"));
}

#[test]
fn only_groups_are_extended() {
    for pattern in ["+(a)", "x*(a)", "!(a)", "a?(b)", "@(a)"] {
        assert!(is_extended(pattern), "{pattern}");
    }
    for pattern in ["(a)", "\\+(a)", "a+b", "!a", "app/(group)/*.ts"] {
        assert!(!is_extended(pattern), "{pattern}");
    }
}

#[test]
fn broken_and_hostile_patterns_are_refused() {
    let deep = format!("{}a{}", "+(".repeat(9), ")".repeat(9));
    let long = format!("+({})", "a".repeat(1024));
    for pattern in ["+(a", "+(a|b", "+({a)", "+([a)", &deep, &long] {
        assert!(ExtendedPattern::new(pattern, true).is_err(), "{pattern}");
    }
}

#[test]
fn hostile_patterns_take_bounded_time() {
    let begun = Instant::now();
    let path = "a".repeat(4000);
    for pattern in
        ["+(+(+(+(+(a)))))b".to_owned(), "*(a|aa|aaa)".repeat(40) + "b", "!(*a*)".repeat(100) + "b"]
    {
        assert!(!ExtendedPattern::new(&pattern, true).unwrap().matches(&path), "{pattern}");
    }
    // Backtracking takes longer than the age of the universe.
    assert!(begun.elapsed() < Duration::from_secs(20), "{:?}", begun.elapsed());
}

/// Pattern with groups, and the equivalent regular expression.
fn pairs() -> impl Strategy<Value = (String, String)> {
    let leaf = prop_oneof![
        Just(("a".to_owned(), "a".to_owned())),
        Just(("b".to_owned(), "b".to_owned())),
        Just(("?".to_owned(), "[^/]".to_owned())),
        Just(("*".to_owned(), "[^/]*".to_owned())),
    ];
    leaf.prop_recursive(4, 24, 3, |inner| {
        let row = prop::collection::vec(inner, 1..3);
        (prop::collection::vec(row, 1..3), prop::sample::select(vec!["@", "?", "+", "*"])).prop_map(
            |(choices, kind)| {
                let joined = |side: fn(&(String, String)) -> &str| {
                    let row = |row: &Vec<_>| row.iter().map(side).collect::<String>();
                    choices.iter().map(row).collect::<Vec<_>>().join("|")
                };
                let repeat = if kind == "@" { "" } else { kind };
                (
                    format!("{kind}({})", joined(|pair| &pair.0)),
                    format!("(?:{}){repeat}", joined(|pair| &pair.1)),
                )
            },
        )
    })
}

proptest! {
    #[test]
    fn groups_without_negation_mean_regular_expressions(
        (pattern, expression) in pairs(), path in "[ab/]{0,7}"
    ) {
        // A star directly before a bracket of the next group would change the meaning.
        prop_assume!(!pattern.contains("**") && !pattern.contains("*?("));
        let expected = regex::Regex::new(&format!("^(?:{expression})$")).unwrap().is_match(&path);
        let compiled = ExtendedPattern::new(&pattern, true).unwrap();
        prop_assert_eq!(compiled.matches(&path), expected, "{} {}", pattern, expression);
    }

    #[test]
    fn negation_is_the_complement_of_a_name(choices in "[ab?*]{1,4}(\\|[ab?]{1,3}){0,2}", path in "[abc]{0,6}") {
        let compiled = |kind| ExtendedPattern::new(&format!("{kind}({choices})"), true).unwrap();
        prop_assert_ne!(compiled("!").matches(&path), compiled("@").matches(&path));
    }

    #[test]
    fn any_pattern_is_safe(pattern in "[-+*?@!()|{},\\[\\]\\\\ab/]{0,24}", path in "[ab/]{0,9}") {
        if let Ok(compiled) = ExtendedPattern::new(&pattern, false) {
            compiled.matches(&path);
        }
    }
}
