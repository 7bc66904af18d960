use proptest::prelude::*;
use serde_json::json;

use super::*;

fn resolve(setting: &Value, name: &str) -> Result<Resolved, ConfigsError> {
    ModelConfigs::new(Some(setting)).resolve(name, Purpose::default())
}

fn config(setting: &Value, name: &str) -> Value {
    Value::Object(resolve(setting, name).unwrap().config)
}

#[test]
fn the_built_in_table_is_sound() {
    let configs = ModelConfigs::new(None);
    assert!(configs.aliases.len() > 30);
    for name in configs.aliases.keys() {
        let resolved = configs.resolve(name, Purpose::default());
        let abstract_one = ["base", "chat-base", "chat-base-2.5", "chat-base-3"];
        if abstract_one.contains(&name.as_str()) {
            assert_eq!(resolved, Err(ConfigsError::NoModel(name.clone())));
        } else {
            assert!(!resolved.unwrap().model.is_empty(), "{name}");
        }
    }
}

#[test]
fn a_known_and_an_unknown_model_are_asked_as_gemini_cli_asks_them() {
    let known = json!({"temperature": 1, "topP": 0.95, "topK": 64,
        "thinkingConfig": {"includeThoughts": true, "thinkingBudget": 8192}});
    assert_eq!(config(&json!({}), "gemini-2.5-pro"), known);
    let unknown = json!({"temperature": 1, "topP": 0.95, "topK": 64,
        "thinkingConfig": {"includeThoughts": true}});
    assert_eq!(config(&json!({}), "my-model"), unknown);
    assert_eq!(resolve(&json!({}), "my-model").unwrap().model, "my-model");
    assert_eq!(resolve(&json!({}), "classifier").unwrap().model, "flash-lite");
}

#[test]
fn own_aliases_extend_the_built_in_ones_and_replace_lists() {
    let setting = json!({"customAliases": {
        "mine": {"extends": "gemini-2.5-pro", "modelConfig": {"generateContentConfig":
            {"temperature": 0.5, "stopSequences": ["a", "b"]}}},
        "mine-too": {"extends": "mine", "modelConfig": {"model": "other", "generateContentConfig":
            {"stopSequences": ["c"]}}},
    }});
    let resolved = resolve(&setting, "mine-too").unwrap();
    assert_eq!(resolved.model, "other");
    assert_eq!(resolved.config["temperature"], json!(0.5));
    assert_eq!(resolved.config["stopSequences"], json!(["c"]));
    assert_eq!(resolved.config["thinkingConfig"]["thinkingBudget"], json!(8192));
}

#[test]
fn broken_aliases_are_named() {
    let setting = json!({"aliases": {
        "a": {"extends": "b"}, "b": {"extends": "a"}, "lost": {"extends": "nowhere"}, "word": "x",
        "empty": {}
    }});
    for (name, message) in [
        ("a", "Circular alias dependency: a -> b -> a"),
        ("lost", "Alias \"nowhere\" not found."),
        ("word", "Alias \"word\" in modelConfigs must be an object."),
    ] {
        assert_eq!(resolve(&setting, name).unwrap_err().to_string(), message);
    }
    let error = resolve(&setting, "empty").unwrap_err().to_string();
    assert!(error.starts_with("Could not resolve a model name for alias \"empty\""), "{error}");
    // The built-in ones are still there.
    assert_eq!(config(&setting, "unknown")["topK"], json!(64));
}

#[test]
fn overrides_apply_by_level_then_conditions_then_position() {
    let change = |label: &str| json!({"generateContentConfig": {"label": label}});
    let setting = json!({"customOverrides": [
        {"match": {"model": "gemini-2.5-pro"}, "modelConfig": change("leaf")},
        {"match": {"model": "chat-base-2.5", "overrideScope": "core"}, "modelConfig": change("alias, two")},
        {"match": {"model": "chat-base-2.5", "isRetry": false}, "modelConfig": change("nothing is")},
        {"match": {"overrideScope": "core"}, "modelConfig": change("any model")},
        {"match": {}, "modelConfig": change("never")},
        {"match": {"model": "gemini-2.5-pro", "isRetry": true}, "modelConfig": change("retry")},
        {"match": {"model": 7}, "modelConfig": change("unreadable condition")},
    ]});
    let configs = ModelConfigs::new(Some(&setting));
    let label = |name: &str, scope: Option<&str>, is_retry: bool| {
        let resolved = configs.resolve(name, Purpose { scope, is_retry }).unwrap();
        resolved.config.get("label").map_or("none", |value| value.as_str().unwrap()).to_owned()
    };
    assert_eq!(label("gemini-2.5-pro", None, false), "leaf");
    assert_eq!(label("gemini-2.5-pro", None, true), "retry");
    assert_eq!(label("gemini-2.5-flash", None, false), "alias, two");
    assert_eq!(label("gemini-3.5-flash", None, false), "any model");
    assert_eq!(label("gemini-3.5-flash", Some("codebase"), false), "none");
}

#[test]
fn an_override_can_change_the_model() {
    let setting = json!({"overrides": [
        {"match": {"model": "my-model", "isRetry": true}, "modelConfig": {"model": "flash"}}]});
    let configs = ModelConfigs::new(Some(&setting));
    let retry = Purpose { is_retry: true, ..Purpose::default() };
    assert_eq!(configs.resolve("my-model", retry).unwrap().model, "flash");
}

#[test]
fn a_long_chain_ends_in_an_error() {
    let long: Map<String, Value> = (0..=MAX_DEPTH)
        .map(|index| {
            (
                format!("a{index}"),
                json!({"extends": format!("a{}", index + 1), "modelConfig": {"model": "m"}}),
            )
        })
        .collect();
    let error = resolve(&json!({"aliases": long}), "a0").unwrap_err();
    assert_eq!(error, ConfigsError::TooDeep("a0".to_owned()));
}

fn any_json() -> impl Strategy<Value = Value> {
    let leaf = prop_oneof![
        Just(Value::Null),
        any::<bool>().prop_map(Value::from),
        any::<i32>().prop_map(Value::from),
        prop::sample::select(vec!["a", "b", "base", "m"]).prop_map(Value::from),
    ];
    let key = prop::sample::select(vec![
        "aliases",
        "customAliases",
        "overrides",
        "customOverrides",
        "extends",
        "modelConfig",
        "model",
        "generateContentConfig",
        "match",
        "isRetry",
        "overrideScope",
        "a",
        "b",
    ]);
    leaf.prop_recursive(6, 64, 6, move |inner| {
        prop_oneof![
            prop::collection::vec(inner.clone(), 0..4).prop_map(Value::from),
            prop::collection::vec((key.clone(), inner), 0..6).prop_map(|pairs| {
                Value::Object(
                    pairs.into_iter().map(|(key, value)| (key.to_owned(), value)).collect(),
                )
            }),
        ]
    })
}

proptest! {
    #[test]
    fn any_setting_resolves_or_fails_in_words(setting in any_json(), retry in any::<bool>()) {
        let configs = ModelConfigs::new(Some(&setting));
        for name in ["a", "b", "base", "gemini-2.5-pro"] {
            let purpose = Purpose { is_retry: retry, scope: Some("a") };
            match configs.resolve(name, purpose) {
                Ok(resolved) => prop_assert!(!resolved.model.is_empty()),
                Err(error) => prop_assert!(!error.to_string().is_empty()),
            }
        }
    }
}
