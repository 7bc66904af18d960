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
fn one_variable_is_changed_and_everything_else_stays() {
    for (text, value, expected) in [
        ("", Some("v"), "X=v\n"),
        ("# c\nA=1", Some("a b"), "# c\nA=1\nX=\"a b\"\n"),
        ("A=1\r\n", Some("v"), "A=1\r\nX=v\r\n"),
        ("# c\n  export X = 1 # why\nA='2'\n", Some("v"), "# c\n  export X = v # why\nA='2'\n"),
        ("X=\"1\n2\" # c\r\nA: 2", Some("it's"), "X=\"it's\" # c\r\nA: 2"),
        ("X= # c\nA=1", Some("v"), "X=v # c\nA=1"),
        ("X=\n'1'\nA=1", Some("v"), "X=v\nA=1"),
        ("X: 1\nX=2\nA=1", Some("v"), "X: 1\nX=v\nA=1"),
        ("X=1", Some(r"C:\new 1"), r"X='C:\new 1'"),
        ("A=\"open\n", Some("a b"), "A=\"open\nX=\"a b\"\n"),
        ("A=\"open\n", Some("#"), "A=\"open\nX='#'\n"),
        ("\u{feff}X=1\n# c\n", None, "\u{feff}# c\n"),
        ("# c\nexport X=1 # why\r\n\nA=1\nX='2\n3'", None, "# c\n\nA=1\n"),
        ("A=1 # X=2\n", None, "A=1 # X=2\n"),
    ] {
        assert_eq!(assign(text, "X", value).as_deref(), Some(expected), "{text:?} {value:?}");
    }
    for value in ["a'b\"c`d#e", " '\"` ", "a\n b"] {
        let changed = assign("A=1\n", "X", Some(value));
        assert!(changed.is_none_or(|text| parse(&text)[1].1 == value), "{value:?}");
    }
    assert_eq!(assign("", "X", Some("a'b\"c`d#e")), None);
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
    fn line_breaks_have_one_meaning(text in r#"[AB=: \n\r\t"'`#\\ex]{0,80}"#) {
        let lines = text.replace("\r\n", "\n").replace('\r', "\n");
        prop_assert_eq!(parsed(&text), parsed(&lines));
    }

    #[test]
    fn other_variables_survive_a_change(
        text in r#"[AB=: \n\r\t"'`#\\ex]{0,60}"#,
        value in r#"[a "'#\\]{0,6}"#,
    ) {
        let others = |text: &str| {
            let others = parse(text).into_iter().filter(|(name, _)| name != "A");
            others.collect::<Vec<_>>()
        };
        for value in [Some(value.as_str()), None] {
            let Some(changed) = assign(&text, "A", value) else { continue };
            prop_assert_eq!(others(&changed), others(&text));
            let now = parse(&changed);
            let now = now.iter().find(|(name, _)| name == "A").map(|(_, value)| value.as_str());
            prop_assert_eq!(now, value);
        }
    }

    #[test]
    fn double_quotes_carry_any_plain_text(value in r"[a-z #='\n]{0,40}") {
        prop_assert_eq!(parsed(&format!("A=\"{value}\"")), vec![("A".to_owned(), value)]);
    }
}
