//! Runs with a service that supports Chat Completions.

use std::sync::atomic::{AtomicUsize, Ordering};

use pollux_testkit::{Finished, Pollux, reply};
use pretty_assertions::assert_eq;
use serde_json::{Value, json};

use super::stage::{FORMATS, Stage, lines_of, terminal_result};

const CHAT: &str = "/v1/chat/completions";

const TRUNCATED: &str = "The answer was cut off at the model's output limit.";

const FILTERED: &str = "The answer was cut off by a content filter (finish reason SAFETY).";

/// Creates a stage whose service always answers with these payloads.
fn stage(payloads: &[Value]) -> Stage {
    let events = events(payloads);
    let stage = Stage::new();
    stage.server.route(CHAT, move |_| reply().status(200, events.clone().into_bytes()));
    stage
}

fn events(payloads: &[Value]) -> String {
    let events: Vec<String> =
        payloads.iter().map(|payload| format!("data: {payload}\n\n")).collect();
    events.concat()
}

fn delta(content: &str) -> Value {
    json!({"choices": [{"index": 0, "delta": {"content": content}}]})
}

fn finish(reason: &str) -> Value {
    json!({"choices": [{"index": 0, "delta": {}, "finish_reason": reason}]})
}

fn program(stage: &Stage) -> Pollux {
    let url = format!("{}/v1", stage.server.url());
    stage.program().env("OPENAI_API_KEY", "sk-test").env("OPENAI_BASE_URL", url)
}

fn prompt(stage: &Stage, format: &str) -> Finished {
    program(stage).args(["-m", "openai/m", "-o", format, "-p", "go"]).run()
}

fn assert_truncation_is_reported(format: &str, message: &str, run: &Finished) {
    run.assert_code(0);
    let reported = match format {
        "text" => {
            assert_eq!(run.stdout_text(), "half\n", "{}", run.report());
            run.stderr_text().lines().map(|line| line.replace("[WARNING] ", "")).collect()
        }
        "json" => run.json()["warnings"].clone(),
        _ => lines_of(run, "error").iter().map(|line| line["message"].clone()).collect(),
    };
    assert_eq!(reported, json!([message]), "{format}\n{}", run.report());
}

#[test]
fn an_answer_at_the_output_limit_is_a_failure_except_for_gemini() {
    for format in FORMATS {
        for (chunks, text) in [
            (vec![delta("half"), finish("length")], "half"),
            // A model that thinks may reach the limit before its first word.
            (vec![finish("length")], ""),
        ] {
            let stage = stage(&chunks);
            let run = prompt(&stage, format);
            run.assert_code(59);
            assert_eq!(run.stderr_text().matches(TRUNCATED).count(), 1, "{}", run.report());
            let error = match format {
                "text" => {
                    assert_eq!(run.stdout_text().trim_end(), text, "{}", run.report());
                    continue;
                }
                "json" => {
                    assert_eq!(run.json()["response"], text);
                    run.json()["error"].clone()
                }
                _ => terminal_result(&run)["error"].clone(),
            };
            assert_eq!(error["type"], "FatalAnswerCutOffError", "{}", run.report());
            assert_eq!(error["finishReason"], "MAX_TOKENS");
        }
        let gemini = Stage::with([reply().text("half").finish("MAX_TOKENS")]);
        assert_truncation_is_reported(format, TRUNCATED, &gemini.prompt(format, "go"));
    }
}

#[test]
fn a_gateway_gets_the_reasoning_back_that_it_sent_with_a_call() {
    let stage = Stage::new();
    let call = json!({"index": 0, "id": "a", "type": "function",
        "function": {"name": "list_directory", "arguments": "{\"dir_path\": \".\"}"}});
    let think = |text: &str| json!({"choices": [{"delta": {"reasoning_content": text}}]});
    let called = json!({"choices": [{"delta": {"tool_calls": [call]}}]});
    let first = events(&[think("Hm, "), think("look."), called, finish("tool_calls")]);
    let then = events(&[think("Done."), delta("ok"), finish("stop")]);
    let count = AtomicUsize::new(0);
    stage.server.route(CHAT, move |_| {
        let is_first = count.fetch_add(1, Ordering::Relaxed) == 0;
        reply().status(200, if is_first { &first } else { &then }.clone().into_bytes())
    });
    let sent_back = || {
        let request = stage.server.last_request().body;
        let messages = request["messages"].as_array().unwrap().clone();
        let calling = messages.iter().find(|message| !message["tool_calls"].is_null()).unwrap();
        calling.get("reasoning_content").cloned()
    };
    let ask = |model: &str, resumed: &[&str]| {
        let run = program(&stage).args(["-m", model, "-p", "go"]).args(resumed).run();
        run.assert_code(0);
        assert_eq!(run.stdout_text(), "ok\n", "a thought is not part of the answer");
    };
    ask("openai/m", &[]);
    assert_eq!(sent_back(), Some(json!("Hm, look.")));
    ask("openai/m", &["--resume", "latest"]);
    assert_eq!(sent_back(), Some(json!("Hm, look.")));
    ask("openai/other", &["--resume", "latest"]);
    assert_eq!(sent_back(), None, "another model did not send it");
}

fn before_the_end(reason: &str) -> String {
    format!("The answer was cut off before its end (finish reason {reason}).")
}

#[test]
fn an_answer_that_the_vendor_cut_off_is_a_failure_except_for_gemini() {
    for (format, reason, message) in [
        ("text", "content_filter", FILTERED.to_owned()),
        ("json", "error", before_the_end("error")),
        (
            "stream-json",
            "insufficient_system_resource",
            before_the_end("insufficient_system_resource"),
        ),
        ("json", "od\u{1b}[31md", before_the_end("od [31md")),
    ] {
        let run = prompt(&stage(&[delta("half"), finish(reason)]), format);
        run.assert_code(59);
        assert_eq!(run.stderr_text().matches(&message).count(), 1, "{}", run.report());
        match format {
            "text" => assert_eq!(run.stdout_text(), "half\n"),
            "json" => assert_eq!(run.json()["response"], "half"),
            _ => assert_eq!(terminal_result(&run)["status"], "error"),
        }
    }
    for (format, reason, message) in [
        ("text", "SAFETY", FILTERED.to_owned()),
        ("json", "RECITATION", before_the_end("RECITATION")),
        ("stream-json", "SPII", before_the_end("SPII")),
        ("json", "A_NEW_REASON", before_the_end("A_NEW_REASON")),
    ] {
        let gemini = Stage::with([reply().text("half").finish(reason)]);
        assert_truncation_is_reported(format, &message, &gemini.prompt(format, "go"));
    }
}

#[test]
fn an_answer_to_results_without_a_finish_reason_is_reported() {
    let message = "The answer may be incomplete: the stream ended without a finish reason.";
    for format in FORMATS {
        let call = reply().call("list_directory", json!({"dir_path": "."}));
        let gemini = Stage::with([call, reply().text("half").no_finish()]);
        assert_truncation_is_reported(format, message, &gemini.prompt(format, "go"));
    }
}

#[test]
fn an_answer_without_content_is_a_failure_except_for_gemini() {
    let empty = "The model returned an empty response";
    for (format, reason, message) in [
        ("text", "stop", empty),
        ("json", "content_filter", "blocked due to safety settings"),
        ("stream-json", "error", "please try again. Finish reason: error."),
    ] {
        let run = prompt(&stage(&[finish(reason)]), format);
        run.assert_code(1);
        assert_eq!(run.stderr_text().matches(message).count(), 1, "{}", run.report());
        match format {
            "text" => assert_eq!(run.stdout_text(), ""),
            "json" => assert_eq!(run.json()["error"]["type"], "InvalidStreamError"),
            _ => assert_eq!(terminal_result(&run)["status"], "error"),
        }
    }
}

#[test]
fn a_stream_that_always_breaks_off_fails_the_run() {
    for format in FORMATS {
        let stage = stage(&[delta("Step 0. ")]);
        let run = prompt(&stage, format);
        run.assert_code(1);
        let stderr = run.stderr_text();
        let error = "The answer broke off before its end";
        assert_eq!(stderr.matches(error).count(), 1, "{}", run.report());
        let retried = "The answer broke off or is unusable. It is requested again.";
        assert_eq!(stderr.matches(retried).count(), 3, "{}", run.report());
        match format {
            // The last attempt is not void.
            "text" => assert_eq!(run.stdout_text(), "Step 0. \n"),
            "json" => assert_eq!(run.json()["error"]["code"], 1),
            _ => assert_eq!(terminal_result(&run)["status"], "error"),
        }
    }
}

#[test]
fn a_model_that_the_list_determined_is_reported() {
    let stage = stage(&[delta("hi"), finish("stop")]);
    stage.server.route("/v1/models", |_| reply().json(json!({"data": [{"id": "first"}]})));
    for (model, stderr) in [
        (
            None,
            "Using OpenAI, because OPENAI_API_KEY is set and nothing selects a service. --model VENDOR/NAME selects another; docs/models.md has the order.\nUsing the model \"first\", the first one that the service lists.\nChoose another with --model NAME.\n",
        ),
        (Some("named"), ""),
    ] {
        let program = stage.alone().env_remove("GEMINI_API_KEY").env("OPENAI_API_KEY", "sk-test");
        let program = program.env("OPENAI_BASE_URL", format!("{}/v1", stage.server.url()));
        let program = program.env("OPENAI_MODEL", model.unwrap_or_default());
        let run = program.args(["-p", "go"]).run();
        run.assert_code(0);
        assert_eq!((run.stdout_text().as_str(), run.stderr_text().as_str()), ("hi\n", stderr));
        let agent = concat!("Pollux-cli/", env!("CARGO_PKG_VERSION"), "/");
        let agent = format!("{agent}{} (", model.unwrap_or("first"));
        let request = stage.server.last_request();
        assert!(request.header("user-agent").unwrap().starts_with(&agent), "{agent}");
    }
}

#[test]
fn thoughts_in_tags_are_not_part_of_the_answer() {
    let chunks = ["<th", "ink>Hm", ", no.</thi", "nk>\n\nUse `<think>x</think>`."];
    let mut payloads: Vec<Value> = chunks.iter().map(|chunk| delta(chunk)).collect();
    payloads.push(finish("stop"));
    let run = prompt(&stage(&payloads), "text");
    run.assert_code(0);
    assert_eq!(run.stdout_text(), "Use `<think>x</think>`.\n");
}

#[test]
fn a_server_that_does_not_run_is_named_with_the_remedy() {
    let stage = Stage::new();
    // The system gives this port to no server that asks for a free one.
    let program = program(&stage).env("OPENAI_BASE_URL", "http://127.0.0.1:1");
    let run = program.args(["-m", "openai/m", "-p", "go"]).run();
    run.assert_code(62);
    let remedy = "and check OPENAI_BASE_URL; behind a proxy, set HTTPS_PROXY.";
    assert!(run.stderr_text().trim_end().ends_with(remedy), "{}", run.report());
}
