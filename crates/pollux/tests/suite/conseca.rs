//! A model that checks calls, from outside.

use pollux_testkit::{CapturedRequest, Endpoint, Finished, Reply, reply};
use pretty_assertions::assert_eq;
use serde_json::{Value, json};

use super::stage::Stage;

fn write(name: &str) -> Reply {
    reply().call("write_file", json!({"file_path": name, "content": "x"}))
}

/// The JSON that a side call brought to the model.
fn told(request: &CapturedRequest) -> Value {
    serde_json::from_str(request.last_parts()[0]["text"].as_str().unwrap()).unwrap()
}

/// A policy is answered with `policy`, a verdict with `verdict`.
fn guarded(replies: impl IntoIterator<Item = Reply>, policy: Reply, verdict: Reply) -> Stage {
    let stage = Stage::with(replies);
    stage.home.settings(&json!({"security": {"enableConseca": true}}));
    stage.server.answer_with(Endpoint::GenerateContent, move |request| {
        if told(request).get("tool_call").is_some() { verdict.clone() } else { policy.clone() }
    });
    stage
}

fn policy() -> Reply {
    let entry = json!({
        "tool_name": "write_file", "permissions": "allow", "constraints": "a.txt only", "rationale": "It was asked for."
    });
    reply().text(json!({"policies": [entry]}).to_string())
}

fn verdict(decision: &str) -> Reply {
    reply().text(json!({"decision": decision, "reason": "Because of b.txt."}).to_string())
}

fn exists(stage: &Stage, name: &str) -> bool {
    stage.home.project().join(name).exists()
}

fn warned(run: &Finished) -> usize {
    run.stderr_text().matches("security.enableConseca").count()
}

#[test]
fn each_call_is_judged_by_one_policy_for_the_prompt() {
    let replies = [write("a.txt"), write("b.txt"), reply().text("done")];
    let stage = guarded(replies, policy(), verdict("allow"));
    let run = stage.yolo("write two files");
    assert!(exists(&stage, "a.txt") && exists(&stage, "b.txt"));
    assert_eq!(warned(&run), 0);
    let asked = stage.server.requests_to(Endpoint::GenerateContent);
    assert_eq!(asked.len(), 3, "one policy, two verdicts");
    let first = told(&asked[0]);
    assert_eq!(first["user_prompt"], "write two files");
    let tools = first["trusted_content"].as_array().unwrap();
    assert!(tools.iter().any(|tool| tool["name"] == "write_file"), "{tools:?}");
    let second = told(&asked[1]);
    assert_eq!(second["policy"]["write_file"]["constraints"], "a.txt only");
    assert_eq!(second["tool_call"]["args"]["file_path"], "a.txt");
    assert!(
        asked[1].body["generationConfig"]["responseJsonSchema"].is_object(),
        "{}",
        asked[1].body
    );
}

#[test]
fn a_verdict_makes_policy_stricter() {
    for (decision, wanted) in [
        ("deny", "Tool execution denied by policy. Because of b.txt."),
        (
            "ask_user",
            "Tool execution for \"WriteFile\" requires user confirmation, which is not supported in non-interactive mode.",
        ),
    ] {
        let stage = guarded([write("b.txt"), reply().text("done")], policy(), verdict(decision));
        stage.yolo("go");
        assert_eq!(stage.response(), wanted);
        assert!(!exists(&stage, "b.txt"));
    }
}

#[test]
fn what_fails_lets_pass_and_is_told_once() {
    let broken = || {
        reply().status(400, r#"{"error":{"code":400,"message":"no","status":"INVALID_ARGUMENT"}}"#)
    };
    for (policy, verdict, questions) in [
        (broken(), verdict("deny"), 2),
        (reply().text("no json"), verdict("deny"), 2),
        (policy(), broken(), 3),
        (policy(), reply().text(r#"{"decision":"perhaps","reason":""}"#), 3),
    ] {
        let replies = [write("a.txt"), write("b.txt"), reply().text("done")];
        let stage = guarded(replies, policy, verdict);
        let run = stage.yolo("go");
        assert!(exists(&stage, "a.txt") && exists(&stage, "b.txt"));
        assert_eq!(warned(&run), 1, "{}", run.stderr_text());
        assert_eq!(stage.server.requests_to(Endpoint::GenerateContent).len(), questions);
    }
}

#[test]
fn it_is_off_unless_it_is_wanted() {
    let stage = Stage::with([write("a.txt"), reply().text("done")]);
    stage.yolo("go");
    assert_eq!(stage.server.requests_to(Endpoint::GenerateContent).len(), 0);
    assert!(exists(&stage, "a.txt"));
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
