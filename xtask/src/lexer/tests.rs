use super::*;

fn texts(source: &str) -> Vec<&str> {
    tokens(source).into_iter().map(|token| token.text).collect()
}

fn named(source: &str) -> Vec<String> {
    paths(&without_tests(&tokens(source))).into_iter().map(|(path, _)| path.join("::")).collect()
}

#[test]
fn comments_and_literals_disappear() {
    let cases = [
        ("a /* b /* c */ d */ e", vec!["a", "e"]),
        ("a // std::fs\nb", vec!["a", "b"]),
        (r#"f("std::fs \" x", g)"#, vec!["f", "(", ",", "g", ")"]),
        (
            r##"f(r#"a " b"#, br"\", c"x", b'\'', 'y', '\u{1}')"##,
            vec!["f", "(", ",", ",", ",", ",", ",", ")"],
        ),
        (
            "fn f<'a>(x: &'a str)",
            vec!["fn", "f", "<", "'", "a", ">", "(", "x", ":", "&", "'", "a", "str", ")"],
        ),
        ("r#type", vec!["r", "#", "type"]),
    ];
    for (source, expected) in cases {
        assert_eq!(texts(source), expected, "{source}");
    }
}

#[test]
fn lines_count_through_comments_and_strings() {
    let source = "a\n/* x\n */ b\n\"y\n\" c";
    let lines: Vec<usize> = tokens(source).iter().map(|token| token.line).collect();
    assert_eq!(lines, [1, 3, 5]);
}

#[test]
fn unfinished_literals_end_with_the_file() {
    for source in ["\"abc", "r#\"abc", "'\\", "/* a", "b'", "'", "r##"] {
        assert!(texts(source).len() < 4, "{source}");
    }
}

#[test]
fn use_trees_are_spread_out() {
    assert_eq!(
        named("use std::{fs, io::{self, Read as _}, path::*};"),
        ["use", "std::fs", "std::io::self", "std::io::Read", "std::path::*"]
    );
    assert_eq!(named("::std::fs::read(x)"), ["std::fs::read", "x"]);
    assert_eq!(named("Vec::<u8>::new()"), ["Vec", "u8"]);
}

#[test]
fn test_items_are_left_out() {
    let source = "\
        use a::b;\n\
        #[cfg(test)]\n#[path = \"x.rs\"]\nmod tests;\n\
        #[cfg(all(test, unix))] use std::fs;\n\
        #[cfg(not(test))] use c::d;\n\
        #[cfg(test)]\nmod more {\n    fn f() { std::fs::read(); }\n}\n\
        struct Last;";
    let named = named(source);
    assert!(!named.iter().any(|path| path.starts_with("std")), "{named:?}");
    assert!(named.contains(&"c::d".to_owned()) && named.contains(&"Last".to_owned()));
    assert_eq!(lines_of_tests(&tokens(source)), 3 + 1 + 4);
}
