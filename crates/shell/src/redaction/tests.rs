use super::*;

/// Returns true if a variable is kept.
fn kept(name: &str, value: &str, redaction: &Redaction) -> bool {
    !redact(vec![(name.into(), value.into())], redaction).is_empty()
}

fn enabled() -> Redaction {
    Redaction { enabled: true, ..Redaction::default() }
}

/// Returns a token that no service would issue.
fn token(prefix: &str, length: usize) -> String {
    format!("{prefix}{}", "A1".repeat(length).get(..length).unwrap())
}

#[test]
fn nothing_is_hidden_unless_asked_for() {
    let blocked = Redaction { blocked: vec!["PLAIN".into()], ..Redaction::default() };
    for name in ["API_KEY", "DATABASE_URL", "PLAIN"] {
        assert!(kept(name, &token("ghp_", 36), &blocked), "{name}");
    }
}

#[test]
fn values_that_are_secrets_go_whatever_their_name() {
    let secrets = [
        "-----BEGIN RSA PRIVATE KEY-----\nx".to_owned(),
        "-----BEGIN OPENSSH PRIVATE KEY-----".to_owned(),
        "-----BEGIN PRIVATE KEY-----".to_owned(),
        "x -----BEGIN CERTIFICATE-----".to_owned(),
        "https://user:password@example.com/x".to_owned(),
        "postgres://me:pw@db/x".to_owned(),
        token("ghp_", 36),
        token("ghs_", 40),
        token("github_pat_", 36),
        token("AIzaSy", 33),
        token("AKIA", 16),
        "eyJhbGciOiJ.eyJzdWIi.c2ln".to_owned(),
        token("sk_live_", 24),
        token("rk_test_", 24),
        "xoxb-12-ab".to_owned(),
    ];
    let allowed = Redaction { allowed: vec!["MINE".into()], ..enabled() };
    for secret in &secrets {
        for name in ["PLAIN", "PATH", "MINE", "GIT_CONFIG_VALUE_0"] {
            assert!(!kept(name, secret, &allowed), "{name}={secret}");
        }
        assert!(kept("GEMINI_CLI_X", secret, &allowed), "our own names come first");
    }
    let harmless =
        ["", "https://example.com:8080/a", "ghp_short", "user@host", "sk_live_", "AKIA", "a.b.c"];
    for value in harmless {
        assert!(kept("PLAIN", value, &enabled()), "{value}");
    }
}

#[test]
fn names_decide_in_their_order() {
    let redaction = Redaction {
        allowed: vec!["My_Token".into(), "DATABASE_URL".into(), "BOTH".into()],
        blocked: vec!["plain".into(), "PATH".into(), "BOTH".into(), "GIT_CONFIG_COUNT".into()],
        ..enabled()
    };
    let table = [
        ("GEMINI_CLI_API_KEY", true),
        ("GIT_CONFIG_KEY_0", true),
        ("GIT_CONFIG_COUNT", true),
        ("MY_TOKEN", true),
        ("my_token", true),
        ("DATABASE_URL", true),
        ("BOTH", true),
        ("PLAIN", false),
        ("PATH", false),
        ("HOME", true),
        ("OTHER", true),
        ("OTHER_TOKEN", false),
    ];
    for (name, expected) in table {
        assert_eq!(kept(name, "x", &redaction), expected, "{name}");
    }
}

#[test]
fn known_names_are_harmless_or_sensitive() {
    for name in HARMLESS {
        assert!(kept(name, "x", &enabled()), "{name}");
        assert!(kept(&name.to_lowercase(), "x", &enabled()), "{name}");
    }
    for name in SENSITIVE {
        assert!(!kept(name, "x", &enabled()), "{name}");
    }
    for part in SUSPICIOUS {
        assert!(!kept(&format!("my_{}s", part.to_lowercase()), "x", &enabled()), "{part}");
    }
}

#[test]
fn strict_keeps_only_what_is_known() {
    let strict = Redaction {
        strict: true,
        allowed: vec!["MINE".into()],
        blocked: vec!["HOME".into()],
        ..Redaction::default()
    };
    let table = [
        ("PATH", true),
        ("ISSUE_TITLE", true),
        ("MINE", true),
        ("GEMINI_CLI_X", true),
        ("GIT_CONFIG_KEY_0", true),
        ("HOME", false),
        ("OTHER", false),
        ("EDITOR", false),
    ];
    for (name, expected) in table {
        assert_eq!(kept(name, "x", &strict), expected, "{name}");
    }
}

#[test]
fn the_order_is_kept_and_every_form_compiles() {
    let base = [("B", "1"), ("API_KEY", "2"), ("A", "3")];
    let base = base.map(|(name, value)| (name.into(), value.into())).to_vec();
    let expected = [("B", "1"), ("A", "3")];
    let expected: Vec<(OsString, OsString)> =
        expected.map(|(name, value)| (name.into(), value.into())).to_vec();
    assert_eq!(redact(base, &enabled()), expected);
    assert_eq!(SECRETS.as_ref().map(RegexSet::len), Some(SECRET_FORMS.len()));
}
