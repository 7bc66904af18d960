use pretty_assertions::assert_eq;
use proptest::prelude::*;

use super::*;

fn parsed(text: &str) -> Vec<(String, String)> {
    parse(text)
}

#[test]
fn grammar() {
    let cases: &[(&str, &[(&str, &str)])] = &[
        ("A=b", &[("A", "b")]),
        ("  A = b  ", &[("A", "b")]),
        ("export A=b\nexportB=c", &[("A", "b"), ("exportB", "c")]),
        ("A: b\nC:d", &[("A", "b")]),
        ("# comment\n\nA=b # inline\nB=c#d", &[("A", "b"), ("B", "c")]),
        ("A=\nB=2", &[("A", ""), ("B", "2")]),
        ("A= # nothing", &[("A", "")]),
        (r#"A="x # y" # z"#, &[("A", "x # y")]),
        ("A='x # y'", &[("A", "x # y")]),
        ("A=`it's \"x\"`", &[("A", "it's \"x\"")]),
        (r#"A="x\ny""#, &[("A", "x\ny")]),
        (r"A='x\ny'", &[("A", r"x\ny")]),
        (r"A=x\ny", &[("A", r"x\ny")]),
        ("A=\"one\ntwo\"\nB=c", &[("A", "one\ntwo"), ("B", "c")]),
        ("A=\"one\r\ntwo\"\r\nB=c", &[("A", "one\ntwo"), ("B", "c")]),
        ("A='one\ntwo'", &[("A", "one\ntwo")]),
        ("A=\"  spaced  \"", &[("A", "  spaced  ")]),
        (r#"A="a \"quoted\" b""#, &[("A", r#"a \"quoted\" b"#)]),
        (r#"A="C:\""#, &[("A", r"C:\")]),
        ("A=\"open\nB=c", &[("A", "\"open"), ("B", "c")]),
        ("A=\"b\" c\nD=e", &[("A", "\"b\" c"), ("D", "e")]),
        ("A=\"b\" \"c\"", &[("A", "b\" \"c")]),
        ("A=b=c", &[("A", "b=c")]),
        ("A.b-c_1=x", &[("A.b-c_1", "x")]),
        ("not a line\n=x\nA=1\nA=2", &[("A", "2")]),
        ("\u{feff}A=b", &[("A", "b")]),
        ("A=\"\"", &[("A", "")]),
        ("A='\nB=c", &[("A", "'"), ("B", "c")]),
        // Special cases of the package, found by comparing 200,000 random texts with version
        // 17.4.2.
        ("export =x", &[("export", "x")]),
        ("A\n = b", &[("A", "b")]),
        ("A=\n\"b\"", &[("A", "b")]),
        ("A:\nB=c", &[("A", "B=c")]),
    ];
    for (text, expected) in cases {
        let expected: Vec<_> =
            expected.iter().map(|(name, value)| ((*name).into(), (*value).into())).collect();
        assert_eq!(parsed(text), expected, "{text:?}");
    }
}

#[test]
fn untrusted_values_are_stripped() {
    let admitted = admit("GEMINI_API_KEY".into(), "a b;$(x)-_./9\n".into(), false);
    assert_eq!(admitted, Some(("GEMINI_API_KEY".into(), "abx-_./9".into())));
    assert_eq!(admit("GOOGLE_GEMINI_BASE_URL".into(), "http://x".into(), false), None);
    assert_eq!(admit("ANY".into(), "a b".into(), true), Some(("ANY".into(), "a b".into())));
}

#[test]
fn cloud_shell_project() {
    let shell =
        Environment::from_pairs([("CLOUD_SHELL", "true"), ("GOOGLE_CLOUD_PROJECT", "mine")]);
    let file = DotEnv {
        of_project: true,
        path: "/x/.env".into(),
        variables: vec![("GOOGLE_CLOUD_PROJECT".into(), "file".into())],
        refused: Vec::new(),
    };
    let project = |environment: Environment| {
        environment.get("GOOGLE_CLOUD_PROJECT").unwrap_or_default().to_owned()
    };
    assert_eq!(project(apply(&shell, None, false)), "cloudshell-gca");
    assert_eq!(project(apply(&shell, None, true)), "mine");
    assert_eq!(project(apply(&shell, Some(&file), false)), "file");
    let plain = Environment::from_pairs([("GOOGLE_CLOUD_PROJECT", "mine")]);
    assert_eq!(project(apply(&plain, Some(&file), false)), "mine");
}

proptest! {
    #[test]
    fn never_panics(text in r#"[AB=: \n\r\t"'`#\\éx]{0,80}"#) {
        let _ignored = parsed(&text);
    }

    #[test]
    fn double_quotes_carry_any_plain_text(value in r"[a-z #='\n]{0,40}") {
        prop_assert_eq!(parsed(&format!("A=\"{value}\"")), vec![("A".to_owned(), value)]);
    }
}
