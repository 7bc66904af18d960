use serde_json::json;

use super::*;

fn list(setting: &serde_json::Value) -> ModelList {
    let replay = Arc::new(Replay::from_text("", true).unwrap());
    ModelList::new(Source::Replay(replay), Arc::new(ModelConfigs::new(Some(setting))), None)
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
async fn the_router_chooses_only_where_a_name_leaves_the_choice() {
    let list = list(&json!({"customAliases": {"fast": {"extends": "gemini-2.5-flash"}}}));
    let (pro, flash) = (ModelTier::Pro, ModelTier::Flash);
    for (requested, tier, name) in [
        ("auto", pro, "gemini-3.1-pro-preview"),
        ("auto", flash, "gemini-3.8-flash"),
        ("", flash, "gemini-3.8-flash"),
        ("auto-gemini-2.5", pro, "gemini-2.5-pro"),
        ("auto-gemini-2.5", flash, "gemini-2.5-flash"),
        ("pro", flash, "gemini-3.1-pro-preview"),
        ("fast", pro, "gemini-2.5-flash"),
        ("mine", pro, "mine"),
    ] {
        let requested = requested.to_owned();
        let context = SelectContext { requested, tier: Some(tier), ..SelectContext::default() };
        assert_eq!(list.select(&context).await.unwrap().name, name, "{context:?}");
    }
    for (requested, method) in [
        ("auto", Some(Classifier::Score)),
        ("vertex/auto", Some(Classifier::Score)),
        ("auto-gemini-2.5", Some(Classifier::Choice)),
        ("gemini/auto-gemini-2.5", Some(Classifier::Choice)),
        ("pro", None),
        ("vertex/pro", None),
    ] {
        assert_eq!(list.classifier(requested), method, "{requested}");
    }
}

#[test]
fn substitutes_stay_at_the_service() {
    let list = list(&json!({}));
    assert_eq!(
        list.substitutes("auto", "gemini-3.1-pro-preview"),
        ["gemini-3.1-pro-preview", "gemini-3.8-flash"]
    );
    assert_eq!(
        list.substitutes("vertex/pro", "gemini-3.1-pro-preview"),
        ["vertex/gemini-3.1-pro-preview", "vertex/gemini-3.8-flash"]
    );
    assert_eq!(list.substitutes("x", "gpt-5"), [""; 0]);
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
