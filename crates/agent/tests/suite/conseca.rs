//! A model that checks calls: one policy for a prompt, one verdict for a call.

use pollux_protocol::{ModelError, ModelErrorKind};
use pollux_scripted::{FakeTool, ScriptedReply, SentAs, SentRequest, reply};
use pretty_assertions::assert_eq;
use serde_json::{Value, json};

use super::stage::{Stage, Talk};

fn write(path: &str) -> ScriptedReply {
    reply().call("write", json!({"path": path}))
}

/// Returns the JSON that a side call sent to the model.
fn reported(sent: &SentRequest) -> Value {
    serde_json::from_str(sent.last_texts()[0]).unwrap()
}

/// Returns a stage whose model writes these files, and whose side calls return this policy and this
/// verdict.
fn guarded(paths: &[&str], policy: ScriptedReply, verdict: ScriptedReply) -> (Stage, FakeTool) {
    let tool = FakeTool::new("write");
    let mut stage = Stage::with(paths.iter().map(|path| write(path))).tool(tool.clone());
    stage.models.stream(reply().text("done"));
    stage.conseca = true;
    stage.models.generate_with(move |sent| {
        if reported(sent).get("tool_call").is_some() { verdict.clone() } else { policy.clone() }
    });
    (stage, tool)
}

fn policy() -> ScriptedReply {
    let entry = json!({
        "tool_name": "write", "permissions": "allow", "constraints": "a.txt only", "rationale": "It was asked for."
    });
    reply().text(json!({"policies": [entry]}).to_string())
}

fn verdict(decision: &str) -> ScriptedReply {
    reply().text(json!({"decision": decision, "reason": "Because of b.txt."}).to_string())
}

fn warnings(talk: &Talk) -> usize {
    talk.log.notices().concat().matches("security.enableConseca").count()
}

#[tokio::test]
async fn each_call_is_judged_by_one_policy_for_the_prompt() {
    let (stage, tool) = guarded(&["a.txt", "b.txt"], policy(), verdict("allow"));
    let talk = stage.start();
    talk.done("write two files").await;
    assert_eq!((tool.ran().len(), warnings(&talk)), (2, 0));
    let asked = talk.models.generated();
    assert_eq!(asked.len(), 3, "one policy, two verdicts");
    let first = reported(&asked[0]);
    assert_eq!(first["user_prompt"], "write two files");
    let tools = first["trusted_content"].as_array().unwrap();
    assert!(tools.iter().any(|tool| tool["name"] == "write"), "{tools:?}");
    let second = reported(&asked[1]);
    assert_eq!(second["policy"]["write"]["constraints"], "a.txt only");
    assert_eq!(second["tool_call"]["args"]["path"], "a.txt");
    assert!(matches!(&asked[1].kind, SentAs::Json(schema) if schema.is_object()));
}

#[tokio::test]
async fn a_verdict_makes_policy_stricter() {
    for (decision, expected) in [
        ("deny", "Tool execution denied by policy. Because of b.txt."),
        (
            "ask_user",
            "Tool execution for \"write\" requires user confirmation, which is not supported in non-interactive mode.",
        ),
    ] {
        let (stage, tool) = guarded(&["b.txt"], policy(), verdict(decision));
        let talk = stage.start();
        talk.done("go").await;
        assert_eq!(talk.models.last().response(), expected);
        assert!(tool.ran().is_empty());
    }
}

#[tokio::test]
async fn a_failure_lets_calls_pass_and_is_reported_once() {
    let broken = || reply().fails(ModelError::new(ModelErrorKind::Invalid, "no"));
    for (policy, verdict, questions) in [
        (broken(), verdict("deny"), 2),
        (reply().text("no json"), verdict("deny"), 2),
        (policy(), broken(), 3),
        (policy(), reply().text(r#"{"decision":"perhaps","reason":""}"#), 3),
    ] {
        let (stage, tool) = guarded(&["a.txt", "b.txt"], policy, verdict);
        let talk = stage.start();
        talk.done("go").await;
        assert_eq!((tool.ran().len(), warnings(&talk)), (2, 1), "{:?}", talk.log.notices());
        assert_eq!(talk.models.generated().len(), questions);
    }
}

#[tokio::test]
async fn nobody_is_asked_unless_it_is_switched_on() {
    let (stage, tool) = guarded(&["a.txt"], policy(), verdict("deny"));
    let talk = Stage { conseca: false, ..stage }.start();
    talk.done("go").await;
    assert_eq!((talk.models.generated().len(), tool.ran().len()), (0, 1));
}
