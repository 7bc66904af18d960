use serde_json::json;

use super::*;

fn list(setting: &serde_json::Value) -> ModelList {
    let replay = Arc::new(Replay::from_text("", true).unwrap());
    ModelList::new(Source::Replay(replay), Arc::new(ModelConfigs::new(Some(setting))), None, None)
}

async fn choose(list: &ModelList, requested: &str) -> Result<Choice, ModelError> {
    let context = SelectContext { requested: requested.to_owned(), ..SelectContext::default() };
    list.select(&context).await
}

#[tokio::test]
async fn names_and_aliases_choose() {
    let setting = json!({"customAliases": {"fast": {"extends": "gemini-2.5-flash"}}});
    let list = list(&setting);
    for (requested, name, reason) in [
        ("auto", "gemini-3.1-pro-preview", "agent-router/default"),
        ("", "gemini-3.1-pro-preview", "agent-router/default"),
        ("pro", "gemini-3.1-pro-preview", "agent-router/override"),
        ("gemini-3-pro-preview", "gemini-3.1-pro-preview", "agent-router/override"),
        ("models/gemini-2.5-pro", "gemini-2.5-pro", "agent-router/override"),
        ("fast", "gemini-2.5-flash", "agent-router/override"),
        ("classifier", "gemini-3.5-flash-lite", "agent-router/override"),
        ("mine", "mine", "agent-router/override"),
    ] {
        let choice = choose(&list, requested).await.unwrap();
        assert_eq!((choice.name.as_str(), choice.reason.as_str()), (name, reason), "{requested}");
        assert_eq!(choice.model.name(), name);
    }
}

#[tokio::test]
async fn a_model_is_built_once() {
    let list = list(&json!({}));
    let first = choose(&list, "auto").await.unwrap().model;
    let again = choose(&list, "pro").await.unwrap().model;
    assert!(Arc::ptr_eq(&first, &again));
}

#[tokio::test]
async fn broken_aliases_are_a_settings_error() {
    let list = list(&json!({"customAliases": {"a": {"extends": "a"}}}));
    let error = choose(&list, "a").await.err().unwrap();
    assert_eq!(error.kind, pollux_protocol::ModelErrorKind::Config);
    assert_eq!(error.message, "Circular alias dependency: a -> a");
}
