//! Models of subagents.

use std::sync::Arc;

use pollux_protocol::{PromptOutcome, SessionRequest};
use pollux_scripted::EventLog;
use pollux_testkit::{CapturedRequest, Endpoint, reply};
use pretty_assertions::assert_eq;
use serde_json::json;

use super::stage::Stage;

const MAIN: &str = "gemini-2.5-pro";
const OTHER: &str = "gemini-2.5-flash";

/// Returns the names of the models that were requested, in order.
async fn requested(role: Option<&str>, model_in_definition: &str) -> Vec<String> {
    let mut stage = Stage::new();
    stage.host.environment = stage
        .host
        .environment
        .with("ANTHROPIC_API_KEY", "k")
        .with("ANTHROPIC_BASE_URL", &stage.server.url());
    let roles = role.map_or_else(|| json!({}), |model| json!({"subagent": model}));
    stage.home.settings(&json!({"pollux": {"roles": roles}}));
    let definition =
        format!("---\nname: tester\ndescription: Tests\n{model_in_definition}---\nYou test.\n");
    stage.home.user_file("agents/tester.md", definition);
    let folder = stage.folder("p", &json!({"model": {"name": MAIN}}), ("GEMINI.md", ""));
    let report = || reply().call("complete_task", json!({"result": "fine"}));
    stage.server.answer_with(Endpoint::Messages, move |_| report());
    stage.server.answer_with(Endpoint::StreamGenerateContent, move |request| {
        let is_agent = request.declared_tools().contains(&"complete_task");
        match request.contents().len() {
            _ if is_agent => report(),
            1 => reply().call("invoke_agent", json!({"agent_name": "tester", "prompt": "go"})),
            _ => reply().text("Done."),
        }
    });
    let talk = stage.open(SessionRequest::new(folder), &Arc::<EventLog>::default()).await;
    talk.prompt("one", "go");
    let outcome = talk.log.ended("one").await;
    assert!(matches!(outcome, PromptOutcome::Done), "{outcome:?}");
    let requests = stage.server.requests();
    let model = |request: &CapturedRequest| {
        let named = request.model().or(request.body["model"].as_str());
        named.unwrap_or_default().to_owned()
    };
    requests.iter().map(model).collect()
}

#[tokio::test]
async fn the_role_is_the_model_of_subagents_that_name_none() {
    let other_vendor = "anthropic/claude-haiku-5-5";
    for (role, definition, expected) in [
        (None, "", MAIN),
        (Some(OTHER), "", OTHER),
        (Some(other_vendor), "", "claude-haiku-5-5"),
        (Some(OTHER), "model: inherit\n", MAIN),
        (Some(other_vendor), "model: gemini-2.5-flash-lite\n", "gemini-2.5-flash-lite"),
    ] {
        let models = requested(role, definition).await;
        assert_eq!(models, [MAIN, expected, MAIN], "{role:?}, {definition:?}");
    }
}
