//! Runs with a service that supports OpenAI's Responses.

use pollux_testkit::responses::{bytes, call, events, message, reasoning};
use pollux_testkit::{Finished, reply};
use pretty_assertions::assert_eq;
use serde_json::{Value, json};

use super::stage::{FORMATS, Stage, terminal_result};

/// Creates a stage whose service always answers with these events.
fn stage(events: &[Value]) -> Stage {
    let body = bytes(events);
    let stage = Stage::new();
    stage.server.route("/v1/responses", move |_| reply().status(200, body.clone()));
    stage
}

fn prompt(stage: &Stage, format: &str) -> Finished {
    let url = format!("{}/v1", stage.server.url());
    let program = stage.program().env("OPENAI_API_KEY", "sk-test").env("OPENAI_BASE_URL", url);
    let program = program.env("OPENAI_WIRE_API", "responses");
    program.args(["-m", "openai/gpt-5", "-o", format, "-p", "go"]).run()
}

/// Returns the events of an incomplete response.
fn cut_off(reason: &str) -> Vec<Value> {
    let mut events = events(&[message("half")]);
    let last = events.last_mut().unwrap();
    last["type"] = "response.incomplete".into();
    last["response"]["status"] = "incomplete".into();
    last["response"]["incomplete_details"] = json!({ "reason": reason });
    events
}

#[test]
fn an_answer_has_its_thoughts_its_usage_and_its_cost() {
    let mut events = events(&[reasoning("**Plan** Think.", "gA"), message("Hello.")]);
    events.last_mut().unwrap()["response"]["usage"] = json!({
        "input_tokens": 1000, "output_tokens": 100, "total_tokens": 1100,
        "input_tokens_details": {"cached_tokens": 600, "cache_write_tokens": 0},
        "output_tokens_details": {"reasoning_tokens": 40}});
    let run = prompt(&stage(&events), "json");
    run.assert_code(0);
    let report = run.json();
    assert_eq!(report["response"], "Hello.");
    // The name is the one that the service reports.
    let model = &report["stats"]["models"]["gpt-test"];
    let tokens = ["input", "cached", "candidates", "thoughts", "total"]
        .map(|name| model["tokens"][name].as_u64());
    assert_eq!(tokens, [400, 600, 60, 40, 1100].map(Some), "{}", report["stats"]);
    // 400 tokens at 1.25 dollars, 600 at 0.125, 100 at 10, each for a million.
    let cost = report["stats"]["cost"].as_f64().unwrap();
    assert!((cost - 0.001_575).abs() < 1e-12, "{cost}");
}

#[test]
fn an_answer_that_was_cut_off_is_a_failure() {
    for format in FORMATS {
        for (reason, message, finish) in [
            (
                "max_output_tokens",
                "The answer was cut off at the model's output limit.",
                "MAX_TOKENS",
            ),
            ("content_filter", "The answer was cut off by a content filter", "SAFETY"),
        ] {
            let run = prompt(&stage(&cut_off(reason)), format);
            run.assert_code(59);
            assert_eq!(run.stderr_text().matches(message).count(), 1, "{}", run.report());
            let error = match format {
                "text" => continue,
                "json" => run.json()["error"].clone(),
                _ => terminal_result(&run)["error"].clone(),
            };
            assert_eq!(error["finishReason"], finish, "{}", run.report());
        }
    }
}

#[test]
fn a_stream_that_always_breaks_off_fails_the_run() {
    let mut events = events(&[message("half")]);
    events.pop();
    let run = prompt(&stage(&events), "json");
    run.assert_code(1);
    let error = "The answer broke off before its end";
    assert_eq!(run.stderr_text().matches(error).count(), 1, "{}", run.report());
}

#[test]
fn a_failed_response_names_the_reason() {
    let mut events = events(&[message("half")]);
    let last = events.last_mut().unwrap();
    last["type"] = "response.failed".into();
    last["response"]["status"] = "failed".into();
    last["response"]["error"] = json!({"code": "invalid_prompt", "message": "Flagged."});
    let run = prompt(&stage(&events), "json");
    run.assert_code(144); // 400, as the system shortens it.
    let message = run.json()["error"]["message"].as_str().unwrap().to_owned();
    assert_eq!(message, "[API Error: Flagged. (Status: invalid_prompt)]");
}

#[test]
fn a_call_that_was_cut_off_does_not_run() {
    let mut events = cut_off("max_output_tokens");
    let mut cut = call("c", "write_file", &json!({"file_path": "x", "content": "y"}));
    cut["status"] = "incomplete".into();
    let place = events.len() - 1;
    events.insert(
        place,
        json!({"type": "response.output_item.done", "output_index": 1, "item": cut}),
    );
    let stage = stage(&events);
    prompt(&stage, "json").assert_code(59);
    assert!(!stage.home.project().join("x").exists());
}

#[test]
fn a_wrong_wire_api_is_named_before_anything_is_sent() {
    let stage = Stage::new();
    let program = stage.program().env("OPENAI_API_KEY", "sk-test").env("OPENAI_WIRE_API", "soap");
    let run = program.args(["-m", "openai/gpt-5", "-p", "go"]).run();
    run.assert_code(52);
    let message = "OPENAI_WIRE_API is \"soap\". Set it to chat or responses.";
    assert!(run.stderr_text().contains(message), "{}", run.report());
}
