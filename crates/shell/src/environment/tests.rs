use super::*;
use proptest::prelude::*;

fn environment(base: &[(&str, &str)], credentials: &[&str]) -> Vec<(String, String)> {
    let base = base.iter().map(|&(name, value)| (name.into(), value.into()));
    child_environment(base, credentials)
        .into_iter()
        .map(|(name, value)| (name.into_string().unwrap(), value.into_string().unwrap()))
        .collect()
}

fn value<'a>(environment: &'a [(String, String)], name: &str) -> Option<&'a str> {
    environment.iter().find(|(found, _)| found == name).map(|(_, value)| value.as_str())
}

#[test]
fn fixed_variables_replace_the_users() {
    let result = environment(&[("PAGER", "less"), ("PATH", "/bin"), ("DISPLAY", ":0")], &[]);
    assert_eq!(value(&result, "PAGER"), Some("cat"));
    assert_eq!(value(&result, "DISPLAY"), Some(""));
    assert_eq!(value(&result, "PATH"), Some("/bin"));
    assert_eq!(value(&result, "GEMINI_CLI"), Some("1"));
}

#[test]
fn only_the_named_credentials_go() {
    let base = [("GEMINI_API_KEY", "secret"), ("GITHUB_TOKEN", "other"), ("GEMINI_API_KEY_2", "x")];
    let result = environment(&base, &["GEMINI_API_KEY"]);
    assert_eq!(value(&result, "GEMINI_API_KEY"), None);
    assert_eq!(value(&result, "GITHUB_TOKEN"), Some("other"));
    assert_eq!(value(&result, "GEMINI_API_KEY_2"), Some("x"));
}

#[test]
fn git_settings_start_at_zero() {
    let result = environment(&[], &[]);
    assert_eq!(value(&result, "GIT_CONFIG_COUNT"), Some("7"));
    assert_eq!(value(&result, "GIT_CONFIG_KEY_0"), Some("credential.helper"));
    assert_eq!(value(&result, "GIT_CONFIG_KEY_4"), Some("core.pager"));
    assert_eq!(value(&result, "GIT_CONFIG_VALUE_4"), Some("cat"));
}

#[test]
fn git_settings_follow_those_already_there() {
    let base = [
        ("GIT_CONFIG_COUNT", "1"),
        ("GIT_CONFIG_KEY_0", "safe.directory"),
        ("GIT_CONFIG_VALUE_0", "*"),
        ("GIT_CONFIG_KEY_1", "stale"),
    ];
    let result = environment(&base, &[]);
    assert_eq!(value(&result, "GIT_CONFIG_COUNT"), Some("8"));
    assert_eq!(value(&result, "GIT_CONFIG_KEY_0"), Some("safe.directory"));
    assert_eq!(value(&result, "GIT_CONFIG_KEY_1"), Some("credential.helper"));
}

#[test]
fn an_unreadable_git_count_starts_afresh() {
    for count in ["", "-1", "many", "99999999999999"] {
        let result = environment(&[("GIT_CONFIG_COUNT", count)], &[]);
        assert_eq!(value(&result, "GIT_CONFIG_COUNT"), Some("7"), "{count}");
    }
}

proptest! {
    #[test]
    fn no_name_twice_and_no_credential(
        names in proptest::collection::hash_set("[A-Z_]{1,12}|GIT_CONFIG_KEY_[0-9]|PAGER|TERM", 0..12),
        count in 0u32..10,
    ) {
        let mut base: Vec<(&str, &str)> = names.iter().map(|name| (name.as_str(), "v")).collect();
        let count = count.to_string();
        base.push(("GIT_CONFIG_COUNT", &count));
        let credentials: Vec<&str> = names.iter().take(2).map(String::as_str)
            .filter(|name| value(&environment(&[], &[]), name).is_none()).collect();
        let result = environment(&base, &credentials);
        let unique: std::collections::HashSet<&String> = result.iter().map(|(name, _)| name).collect();
        prop_assert_eq!(unique.len(), result.len());
        for credential in credentials {
            let ours = credential.starts_with("GIT_CONFIG_");
            prop_assert!(ours || value(&result, credential).is_none());
        }
    }
}
