//! Streams that break, contain invalid data or stay silent.

use pollux_testkit::{Finished, ModelReply, errors, reply};
use pretty_assertions::assert_eq;
use serde_json::{Value, json};

use super::stage::{FORMATS, Stage, spoken, terminal_result};

/// Returns a reply of raw bytes.
fn bytes(text: &str) -> ModelReply {
    reply().sse_bytes(vec![text.as_bytes().to_vec()])
}

/// Returns an event with this data.
fn event(data: &Value) -> ModelReply {
    bytes(&format!("data: {data}\r\n\r\n"))
}

/// Returns the text of the last turn, in any format.
fn said(format: &str, run: &Finished) -> String {
    match format {
        "text" => run.stdout_text(),
        "json" => run.json()["response"].as_str().unwrap_or_default().to_owned(),
        _ => spoken(run),
    }
}

/// Faults of one answer after which the program sends the request again.
fn faults() -> Vec<(&'static str, ModelReply)> {
    vec![
        ("garbage", reply().text("half ").garbage()),
        ("half an event", reply().text("half ").text("an answer").truncated_json()),
        ("no event at all", reply().drop_after(0)),
        ("a drop in the middle", reply().text("half ").text("an").text("answer").drop_after(1)),
        ("a server that hangs up", reply().hang_up()),
        ("no finish reason", reply().text("half ").no_finish()),
        ("an empty body", bytes("")),
        ("a comment alone", bytes(": nothing\n\n")),
        ("no JSON", bytes("data: {not json}\n\n")),
        ("JSON of the wrong shape", event(&json!([1, 2]))),
        ("a number", event(&json!(5))),
        ("nothing", event(&Value::Null)),
        ("candidates that are none", event(&json!({"candidates": "no"}))),
        ("no candidate", event(&json!({"candidates": []}))),
        ("parts that are none", event(&json!({"candidates": [{"content": {"parts": "no"}}]}))),
        ("a part that is none", event(&json!({"candidates": [{"content": {"parts": [5]}}]}))),
        ("a deep nest", bytes(&format!("data: {}\n\n", "[".repeat(100_000)))),
        (
            "a page of a portal",
            reply().status(200, pollux_testkit::ReplyContent::html("<html>Log in</html>")),
        ),
        ("an empty answer", reply()),
        ("thoughts alone", reply().thought("**T** hm")),
        ("a malformed call", reply().finish("MALFORMED_FUNCTION_CALL")),
        ("an error in the stream", errors::in_stream(503, "UNAVAILABLE", "Overloaded.")),
        ("503", errors::plain(503)),
        ("a page of a proxy", errors::html()),
    ]
}

#[test]
fn a_fault_that_stays_ends_with_a_message() {
    for (name, fault) in faults() {
        let stage = Stage::new();
        stage.home.settings(&json!({"general": {"maxAttempts": 4}}));
        for _ in 0..4 {
            stage.server.stream(fault.clone());
        }
        let run = stage.prompt("stream-json", "go");
        let result = terminal_result(&run);
        assert_eq!(result["status"], "error", "{name}");
        assert!(!run.stderr_text().contains("panicked"), "{name}\n{}", run.report());
        assert!(
            run.code == Some(0) || !run.stderr_text().trim().is_empty(),
            "{name}\n{}",
            run.report()
        );
        stage.server.assert_script_done();
    }
}

#[test]
fn a_first_attempts_words_are_void() {
    for format in FORMATS {
        let broken = reply().text("half ").text("an").drop_after(1);
        let run = Stage::with([broken, reply().text("whole")]).prompt(format, "go");
        run.assert_code(0);
        let expected = if format == "text" { "whole\n" } else { "whole" };
        assert_eq!(said(format, &run), expected, "{format}");
        assert_eq!(run.stderr_text().matches("It is requested again.").count(), 1);
    }
}

#[test]
fn a_line_names_the_number_of_void_lines() {
    let call = || reply().text("Look").call("list_directory", json!({"dir_path": "."}));
    let broken = reply().text("ha").text("lf").drop_after(2);
    let run = Stage::with([
        call(),
        call().garbage(),
        reply().drop_after(0),
        broken,
        reply().text("whole"),
    ]);
    let run = run.prompt("stream-json", "go");
    run.assert_code(0);
    let lines: Vec<String> = run
        .json_lines()
        .iter()
        .map(|line| match line["voids"].as_u64() {
            Some(voids) => format!("{} {voids}", line["severity"].as_str().unwrap()),
            None => line["type"].as_str().unwrap().to_owned(),
        })
        .collect();
    let expected = [
        "init",
        "message",
        "message",
        "tool_use",
        "tool_result",
        "message",
        "tool_use",
        "warning 2",
        "message",
        "message",
        "warning 2",
        "message",
        "result",
    ];
    assert_eq!(lines, expected, "{}", run.report());
}

#[test]
fn what_blocks_an_answer_is_named() {
    let table = [
        (
            "MAX_TOKENS",
            "Model response was truncated because it exceeded the token limit. Try using /compress to free up context space.",
        ),
        ("SAFETY", "The model response was blocked due to safety settings."),
        ("RECITATION", "The model response was blocked due to recitation/copyright filters."),
        ("OTHER", "The model response was blocked due to other policy settings."),
    ];
    for (reason, message) in table {
        let stage = Stage::with((0..4).map(|_| reply().finish(reason)));
        let run = stage.prompt("json", "go");
        run.assert_code(0);
        assert_eq!(run.json()["error"], json!({"type": "INVALID_STREAM", "message": message}));
    }
    let blocked = || reply().chunks(vec![json!({"promptFeedback": {"blockReason": "SAFETY"}})]);
    let run = Stage::with([blocked()]).prompt("json", "go");
    let message = format!("{} The prompt was blocked: SAFETY.", table[1].1);
    assert_eq!(run.json()["error"]["message"], message, "{}", run.report());
    let stage = Stage::with((0..4).map(|_| reply().thought("**T** hm")));
    let message = "The model returned reasoning thoughts but no final response text. If your context window is near capacity, try using /compress.";
    assert_eq!(stage.prompt("json", "go").json()["error"]["message"], message);
}

#[test]
fn a_blocked_prompt_is_sent_again_only_if_the_reason_may_change() {
    let blocked = |reason: &str| {
        let feedback = json!({"promptFeedback": {"blockReason": reason}});
        reply().chunks(vec![feedback])
    };
    for (reason, requests) in [("PROHIBITED_CONTENT", 1), ("A_NEW_REASON", 1), ("OTHER", 4)] {
        let stage = Stage::with((0..requests).map(|_| blocked(reason)));
        let run = stage.prompt("json", "go");
        run.assert_code(0);
        let message = format!(
            "The model response was blocked due to other policy settings. The prompt was blocked: {reason}."
        );
        assert_eq!(run.json()["error"], json!({"type": "INVALID_STREAM", "message": message}));
        assert_eq!(stage.server.requests().len(), requests, "{reason}");
        let model = &run.json()["stats"]["models"][super::stage::MODEL];
        assert_eq!(model["api"]["totalErrors"], 1, "{reason}");
    }
    let unspecified = json!({"promptFeedback": {"blockReason": "BLOCK_REASON_UNSPECIFIED"}});
    let run = Stage::with([reply().text("hi").chunks(vec![unspecified])]).prompt("json", "go");
    assert_eq!(run.json().get("warnings"), None, "{}", run.report());
}

#[test]
fn failed_requests_are_counted() {
    let stage = Stage::with([errors::plain(503), reply(), reply().text("ok")]);
    let run = stage.prompt("json", "go");
    run.assert_code(0);
    let models = &run.json()["stats"]["models"];
    let api = &models[super::stage::MODEL]["api"];
    // An empty answer that is requested again is not an error; only the last one is.
    assert_eq!((&api["totalRequests"], &api["totalErrors"]), (&json!(3), &json!(1)), "{api}");
    assert!(run.stderr_text().contains(" Attempt 2 of 10 in "), "{}", run.report());
}
