//! A model that checks calls, tested from outside.

use pollux_testkit::{CapturedRequest, Endpoint, ModelReply, reply};
use pretty_assertions::assert_eq;
use serde_json::{Value, json};

use super::stage::Stage;

fn write(name: &str) -> ModelReply {
    reply().call("write_file", json!({"file_path": name, "content": "x"}))
}

/// Returns the JSON that a side call sends to the model.
fn reported(request: &CapturedRequest) -> Value {
    serde_json::from_str(request.last_parts()[0]["text"].as_str().unwrap()).unwrap()
}

/// Creates a stage that answers the request for a policy with `policy`, and for a verdict with
/// `verdict`.
fn guarded(
    replies: impl IntoIterator<Item = ModelReply>,
    policy: ModelReply,
    verdict: ModelReply,
) -> Stage {
    let stage = Stage::with(replies);
    stage.home.settings(&json!({"security": {"enableConseca": true}}));
    stage.server.answer_with(Endpoint::GenerateContent, move |request| {
        if reported(request).get("tool_call").is_some() { verdict.clone() } else { policy.clone() }
    });
    stage
}

fn policy() -> ModelReply {
    let entry = json!({
        "tool_name": "write_file", "permissions": "allow", "constraints": "a.txt only", "rationale": "It was asked for."
    });
    reply().text(json!({"policies": [entry]}).to_string())
}

fn verdict(decision: &str) -> ModelReply {
    reply().text(json!({"decision": decision, "reason": "Because of b.txt."}).to_string())
}

#[test]
fn telemetry_has_the_verdict_and_keeps_words_to_itself() {
    for log_prompts in [true, false] {
        let stage = guarded([write("b.txt"), reply().text("done")], policy(), verdict("deny"));
        let outfile = stage.home.project().join("telemetry.log");
        stage.home.settings(&json!({
            "security": {"enableConseca": true},
            "telemetry": {"enabled": true, "target": "local", "outfile": outfile, "logPrompts": log_prompts},
        }));
        stage.yolo("go");
        let text = stage.home.read_project_file("telemetry.log");
        let events: Vec<Value> = serde_json::Deserializer::from_str(&text)
            .into_iter::<Value>()
            .map(|event| event.unwrap()["attributes"].clone())
            .collect();
        let named = |name: &str| {
            events.iter().find(|event| event["event.name"] == name).cloned().unwrap_or_default()
        };
        let policy = named("gemini_cli.conseca.policy_generation");
        let verdict = named("gemini_cli.conseca.verdict");
        assert_eq!(verdict["verdict"], "deny", "{text}");
        let words = [
            &policy["user_prompt"],
            &policy["trusted_content"],
            &policy["policy"],
            &verdict["user_prompt"],
            &verdict["tool_call"],
            &verdict["verdict_rationale"],
        ];
        assert!(words.iter().all(|words| words.is_string() == log_prompts), "{policy} {verdict}");
    }
}
