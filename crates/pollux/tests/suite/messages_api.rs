//! Runs with a service that supports Anthropic's Messages API.

use std::sync::atomic::{AtomicUsize, Ordering};

use pollux_testkit::{Endpoint, ModelReply, Pollux, reply};
use pretty_assertions::assert_eq;
use serde_json::{Value, json};

use super::stage::{FORMATS, MODEL, Stage, terminal_result};

const SONNET: &str = "anthropic/claude-sonnet-4-6";

fn program(stage: &Stage) -> Pollux {
    let url = stage.server.url();
    let program = stage.program().env("ANTHROPIC_API_KEY", "sk-ant-test");
    let program = program.env("ANTHROPIC_BASE_URL", &url);
    program.env("OPENAI_API_KEY", "sk-test").env("OPENAI_BASE_URL", format!("{url}/v1"))
}

fn listing() -> ModelReply {
    reply().thought("hm").signature("c2ln").call("list_directory", json!({"dir_path": "."}))
}

fn error(status: u16, kind: &str, message: &str) -> ModelReply {
    reply().status(status, json!({"type": "error", "error": {"type": kind, "message": message}}))
}

/// Returns the kinds of the blocks of each message.
fn kinds(body: &Value) -> Vec<Vec<String>> {
    let messages = body["messages"].as_array().unwrap().iter();
    let of_message = |message: &Value| {
        let blocks = message["content"].as_array().unwrap().iter();
        blocks.map(|block| block["type"].as_str().unwrap().to_owned()).collect()
    };
    messages.map(of_message).collect()
}

#[test]
fn thoughts_cached_tokens_and_costs_of_a_run() {
    let stage = Stage::new();
    stage.server.message(listing().usage(1000, 100));
    let cached = json!({"promptTokenCount": 5000, "candidatesTokenCount": 100,
        "cachedContentTokenCount": 4000});
    stage.server.message(reply().text("Nothing there.").usage_metadata(cached));
    let run = program(&stage).args(["-m", SONNET, "-o", "json", "-p", "go"]).run();
    run.assert_code(0);
    let reported = run.json();
    assert_eq!(reported["response"], "Nothing there.");
    // The service names the model that answered.
    let tokens = &reported["stats"]["models"]["claude-scripted"]["tokens"];
    assert_eq!((&tokens["prompt"], &tokens["cached"]), (&json!(6000), &json!(4000)));
    // (2000 × 3 + 4000 × 0.3 + 200 × 15) / 1,000,000 dollars.
    let cost = reported["stats"]["cost"].as_f64().unwrap();
    assert!((cost - 0.0102).abs() < 1e-6, "{cost}");
    let last = stage.server.last_request().body;
    assert_eq!(
        kinds(&last)[1..],
        [vec!["thinking".to_owned(), "tool_use".to_owned()], vec!["tool_result".to_owned()]]
    );
    stage.server.assert_all_valid();
}

#[test]
fn a_resumed_session_sends_thoughts_back_to_their_model_only() {
    let stage = Stage::new();
    stage.server.message(listing());
    stage.server.answer_with(Endpoint::Messages, |_| reply().text("ok"));
    let ask = |model: &str, resumed: &[&str]| {
        let run = program(&stage).args(["-m", model, "-p", "go"]).args(resumed).run();
        run.assert_code(0);
        assert_eq!(run.stdout_text(), "ok\n", "a thought is not part of the answer");
        stage.server.last_request().body
    };
    ask(SONNET, &[]);
    let same = ask(SONNET, &["--resume", "latest"]);
    let thinking = json!({"type": "thinking", "thinking": "hm", "signature": "c2ln"});
    assert_eq!(same["messages"][1]["content"][0], thinking);
    let other = ask("anthropic/claude-opus-4-8", &["--resume", "latest"]);
    assert!(!other.to_string().contains("c2ln"), "{other}");
    stage.server.assert_all_valid();
}

#[test]
fn a_conversation_moves_between_three_vendors() {
    let stage = Stage::new();
    let chat = |delta: Value, reason: &str| {
        let chunk = json!({"choices": [{"index": 0, "delta": delta, "finish_reason": reason}]});
        reply().status(200, format!("data: {chunk}\n\ndata: [DONE]\n\n").into_bytes())
    };
    let call = json!({"tool_calls": [{"index": 0, "id": "call_o", "type": "function",
        "function": {"name": "list_directory", "arguments": "{\"dir_path\": \".\"}"}}]});
    let asked = AtomicUsize::new(0);
    stage.server.route("/v1/chat/completions", move |_| {
        if asked.fetch_add(1, Ordering::Relaxed).is_multiple_of(2) {
            chat(call.clone(), "tool_calls")
        } else {
            chat(json!({"content": "from OpenAI"}), "stop")
        }
    });
    let list = || reply().call("list_directory", json!({"dir_path": "."}));
    let ask = |model: &str, first: bool| {
        let resumed: &[&str] = if first { &[] } else { &["--resume", "latest"] };
        let run = program(&stage).args(["-m", model, "-p", "go"]).args(resumed).run();
        run.assert_code(0);
        run.stdout_text().trim().to_owned()
    };
    for turn in 0..2 {
        stage.server.stream(list().signature("R2VtaW5p")).stream(reply().text("from Google"));
        assert_eq!(ask(MODEL, turn == 0), "from Google");
        stage.server.message(listing()).message(reply().text("from Anthropic"));
        assert_eq!(ask(SONNET, false), "from Anthropic");
        assert_eq!(ask("openai/gpt-test", false), "from OpenAI");
    }
    // Each service accepts what the others have said, and sees all of it.
    stage.server.assert_all_valid();
    let requests = stage.server.requests();
    let last = |endpoint| {
        let mut all = requests.iter().rev();
        all.find(|request| request.endpoint == endpoint).unwrap().body.to_string()
    };
    let google = last(Some(Endpoint::StreamGenerateContent));
    let (anthropic, openai) = (last(Some(Endpoint::Messages)), last(None));
    for (name, body, others) in [
        ("Google", &google, ["from Google", "from Anthropic", "from OpenAI"]),
        ("Anthropic", &anthropic, ["from Google", "from Anthropic", "from OpenAI"]),
        ("OpenAI", &openai, ["from Google", "from Anthropic", "from OpenAI"]),
    ] {
        for said in others {
            assert!(body.contains(said), "{name} does not see what is {said}: {body}");
        }
    }
    // Signatures go back to their vendor only.
    for (body, own, foreign) in [(&google, "R2VtaW5p", "c2ln"), (&anthropic, "c2ln", "R2VtaW5p")] {
        assert!(body.contains(own) && !body.contains(foreign), "{own}: {body}");
    }
    assert!(!openai.contains("R2VtaW5p") && !openai.contains("c2ln"), "{openai}");
}

#[test]
fn refusals_and_limits_are_failures() {
    for (reason, code, class) in [
        ("refusal", 59, "FatalAnswerCutOffError"),
        ("max_tokens", 59, "FatalAnswerCutOffError"),
        ("model_context_window_exceeded", 59, "FatalAnswerCutOffError"),
    ] {
        for format in FORMATS {
            let stage = Stage::new();
            stage.server.message(reply().text("half").finish(reason));
            let run = program(&stage).args(["-m", SONNET, "-o", format, "-p", "go"]).run();
            run.assert_code(code);
            let error = match format {
                "text" => continue,
                "json" => run.json()["error"].clone(),
                _ => terminal_result(&run)["error"].clone(),
            };
            assert_eq!(error["type"], class, "{reason}: {}", run.report());
        }
    }
}

#[test]
fn a_response_that_breaks_off_is_requested_again() {
    let overloaded = json!({"type": "error",
        "error": {"type": "overloaded_error", "message": "Overloaded"}});
    for broken in [
        reply().text("half").no_finish(),
        reply().text("half").drop_after(3),
        reply().text("half").chunks(vec![overloaded]),
        error(529, "overloaded_error", "Overloaded"),
        error(429, "rate_limit_error", "Slow down.").header("retry-after-ms", "1"),
    ] {
        let stage = Stage::new();
        stage.server.message(broken).message(reply().text("whole"));
        let run = program(&stage).args(["-m", SONNET, "-o", "json", "-p", "go"]).run();
        run.assert_code(0);
        assert_eq!(run.json()["response"], "whole", "{}", run.report());
    }
}

#[test]
fn a_refused_key_and_a_missing_model_have_remedies() {
    for (status, kind, message, expected) in [
        (401, "authentication_error", "invalid x-api-key", "Check ANTHROPIC_API_KEY."),
        (404, "not_found_error", "model: claude-sonnet-4-6", "Choose another with --model"),
        (400, "invalid_request_error", "Your credit balance is too low", "no credit left"),
    ] {
        let stage = Stage::new();
        stage.server.message(error(status, kind, message));
        let run = program(&stage).args(["-m", SONNET, "-p", "go"]).run();
        let text = run.stderr_text();
        assert!(run.stdout_text().is_empty(), "{}", run.report());
        assert!(text.contains(message) && text.contains(expected), "{text}");
    }
}

#[test]
fn only_a_key_of_anthropic_is_enough() {
    let stage = Stage::new();
    let url = stage.server.url();
    let models = json!({"data": [{"type": "model", "id": "claude-first"}]});
    stage.server.route("/v1/models", move |_| reply().json(models.clone()));
    stage.server.message(reply().text("ok"));
    let alone = stage.alone().env_remove("GEMINI_API_KEY");
    let alone = alone.env("ANTHROPIC_API_KEY", "sk-ant-test");
    let run = alone.env("ANTHROPIC_BASE_URL", &url).args(["-p", "go"]).run();
    run.assert_code(0);
    let requests = stage.server.requests();
    let paths: Vec<&str> = requests.iter().map(|request| request.path.as_str()).collect();
    assert_eq!(paths, ["/v1/models", "/v1/messages"]);
    assert_eq!(stage.server.last_request().body["model"], "claude-first");
}
