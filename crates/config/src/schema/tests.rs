use serde_json::json;

use super::*;

#[test]
fn keys_are_unique_and_defaults_fit_their_kind() {
    let mut seen = std::collections::BTreeSet::new();
    for setting in all() {
        assert!(seen.insert(setting.key), "{} is listed twice", setting.key);
        assert!(setting.description.ends_with('.'), "{}: a sentence ends", setting.key);
        assert!(!is_group(setting.key), "{} is both a setting and a group", setting.key);
        let fits = match (setting.kind, setting.default) {
            (_, DefaultValue::Unset)
            | (Kind::Boolean, DefaultValue::Boolean(_))
            | (Kind::Number, DefaultValue::Integer(_) | DefaultValue::Fraction(_))
            | (Kind::Text, DefaultValue::Text(_))
            | (Kind::Texts | Kind::List, DefaultValue::Texts(_))
            | (Kind::Object, DefaultValue::EmptyObject) => true,
            (Kind::Choice(choices), DefaultValue::Text(text)) => choices.contains(&text),
            _ => false,
        };
        assert!(fits, "{}: {:?} is no {:?}", setting.key, setting.default, setting.kind);
    }
    assert_eq!(seen.len(), INDEX.len());
}

#[test]
fn defaults_are_nested() {
    let defaults = defaults();
    assert_eq!(defaults["general"]["plan"]["enabled"], json!(true));
    assert_eq!(defaults["advanced"]["excludedEnvVars"], json!(["DEBUG", "DEBUG_MODE"]));
    assert_eq!(lookup(&defaults, "model.compressionThreshold"), Some(&json!(0.5)));
    assert_eq!(lookup(&defaults, "model.name"), None);
}

#[test]
fn groups_are_prefixes_of_settings() {
    assert!(is_group("general") && is_group("general.plan") && is_group("contextManagement.tools"));
    assert!(!is_group("gen") && !is_group("general.pla") && !is_group("general.plan.enabled"));
}
