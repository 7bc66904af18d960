//! Streams that break, lie or say nothing.

use std::time::Duration;

use pollux_testkit::{Finished, Reply, errors, reply};
use pretty_assertions::assert_eq;
use serde_json::{Value, json};

use super::stage::{FORMATS, Stage, spoken, terminal_result};

/// Wire bytes that are no answer.
fn bytes(text: &str) -> Reply {
    reply().sse_bytes(vec![text.as_bytes().to_vec()])
}

/// An event with this as its data.
fn event(data: &Value) -> Reply {
    bytes(&format!("data: {data}\r\n\r\n"))
}

/// What the last turn said, in any format.
fn said(format: &str, run: &Finished) -> String {
    match format {
        "text" => run.stdout_text(),
        "json" => run.json()["response"].as_str().unwrap_or_default().to_owned(),
        _ => spoken(run),
    }
}

/// Faults of one answer after which the program asks again.
fn faults() -> Vec<(&'static str, Reply)> {
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
            reply().status(200, pollux_testkit::Content::html("<html>Log in</html>")),
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
fn after_a_fault_the_answer_is_asked_for_again() {
    for (name, fault) in faults() {
        let stage = Stage::with([fault, reply().text("whole")]);
        let run = stage.prompt("json", "go");
        assert_eq!(run.code, Some(0), "{name}\n{}", run.report());
        assert_eq!(said("json", &run), "whole", "{name}");
        assert_eq!(run.json().get("error"), None, "{name}");
        let requests = stage.requests();
        assert_eq!(requests[0].contents(), requests[1].contents(), "{name}");
    }
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
fn characters_and_events_may_be_cut_anywhere() {
    let words = "Grüße, 世界 🙂 – ok";
    for length in 1..=7 {
        let turn = reply().text(words).call("glob", json!({"pattern": "*ü*"})).split_every(length);
        let stage = Stage::with([turn, reply().text(words).split_every(length)]);
        stage.home.project_file("für.txt", "");
        let run = stage.prompt("stream-json", "go");
        run.assert_code(0);
        assert_eq!(spoken(&run), format!("{words}{words}"), "{length}");
        assert!(stage.response().contains("für.txt"), "{length}");
    }
}

#[test]
fn a_first_attempts_words_are_void() {
    for format in FORMATS {
        let broken = reply().text("half ").text("an").drop_after(1);
        let run = Stage::with([broken, reply().text("whole")]).prompt(format, "go");
        run.assert_code(0);
        // What is printed cannot be taken back; the second attempt begins a line of its own.
        let expected = match format {
            "text" => "half \nwhole\n",
            "json" => "whole",
            _ => "half whole",
        };
        assert_eq!(said(format, &run), expected, "{format}");
    }
}

#[test]
fn an_empty_answer_is_asked_for_four_times_with_a_word_about_it() {
    let stage = Stage::with((0..4).map(|_| reply()));
    stage.prompt("json", "go").assert_code(0);
    let requests = stage.requests();
    assert_eq!(requests.len(), 4);
    let system = |number: usize| requests[number].body["systemInstruction"].to_string();
    assert!(system(1).len() > system(0).len() && system(1) == system(2));
    let stats = stage.server.requests().len();
    assert_eq!(stats, 4, "no other call");
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
    let run = Stage::with((0..4).map(|_| blocked())).prompt("json", "go");
    assert_eq!(run.json()["error"]["message"], table[1].1, "{}", run.report());
    let stage = Stage::with((0..4).map(|_| reply().thought("**T** hm")));
    let message = "The model returned reasoning thoughts but no final response text. If your context window is near capacity, try using /compress.";
    assert_eq!(stage.prompt("json", "go").json()["error"]["message"], message);
}

#[test]
fn failed_requests_are_counted() {
    let stage = Stage::with([errors::plain(503), reply(), reply().text("ok")]);
    let run = stage.prompt("json", "go");
    run.assert_code(0);
    let models = &run.json()["stats"]["models"];
    let api = &models[super::stage::MODEL]["api"];
    // An empty answer that is asked for again is no error; only the one that is given up is.
    assert_eq!((&api["totalRequests"], &api["totalErrors"]), (&json!(3), &json!(1)), "{api}");
    assert!(run.stderr_text().contains("Retrying with backoff"), "{}", run.report());
}

#[test]
fn a_wait_that_the_server_asks_for_is_kept() {
    let stage = Stage::with([errors::retry_info("300ms"), reply().text("ok")]);
    stage.prompt("text", "go").assert_code(0);
    let requests = stage.requests();
    let waited = requests[1].at - requests[0].at;
    assert!(waited >= Duration::from_millis(300), "{waited:?}");
    assert!(waited < Duration::from_millis(1500), "{waited:?}");
}

#[test]
fn what_waiting_cannot_mend_fails_at_once() {
    let table = [
        ("the quota of the day", errors::per_day_quota()),
        ("a wait of a quarter of an hour", errors::retry_info("900s")),
        ("a wrong key", errors::invalid_key()),
        ("a wrong request", errors::bad_request("No.")),
        ("401", errors::unauthenticated()),
    ];
    for (name, error) in table {
        let stage = Stage::with([error]);
        let run = stage.prompt("text", "go");
        assert_eq!((run.code, stage.requests().len()), (Some(1), 1), "{name}\n{}", run.report());
        assert!(run.stderr_text().contains("[API Error: "), "{name}\n{}", run.report());
    }
}

#[test]
fn a_redirect_without_end_is_left() {
    let stage = Stage::with([reply().redirect_loop()]);
    let run = stage.prompt("json", "go");
    assert_ne!(run.code, Some(0), "{}", run.report());
    assert!(
        run.json()["error"]["message"].as_str().unwrap().contains("redirect"),
        "{}",
        run.report()
    );
    assert!(stage.server.requests().len() <= 25, "{}", stage.server.requests().len());
}

#[test]
fn a_line_of_50_megabytes_does_not_end_in_a_panic() {
    let stage = Stage::new();
    stage
        .home
        .settings(&json!({"general": {"maxAttempts": 1}, "model": {"disableLoopDetection": true}}));
    stage.server.stream(reply().huge_line(50 << 20));
    let run = stage.prompt("text", "go");
    match run.code {
        Some(0) => assert!(run.stdout.len() >= 50 << 20),
        _ => assert!(
            run.code == Some(1) && run.stderr_text().contains("[API Error: "),
            "{}",
            run.report()
        ),
    }
}

#[test]
fn an_answer_that_was_cut_short_is_an_answer() {
    for reason in ["MAX_TOKENS", "SAFETY", "STOP"] {
        let run = Stage::with([reply().text("some words").finish(reason)]).prompt("json", "go");
        run.assert_code(0);
        assert_eq!(
            (&run.json()["response"], run.json().get("error")),
            (&json!("some words"), None),
            "{reason}"
        );
    }
}

#[test]
fn only_the_first_candidate_counts() {
    let candidate = |index: u32, text: &str| json!({"content": {"role": "model", "parts": [{"text": text}]}, "finishReason": "STOP", "index": index});
    let chunk = json!({"candidates": [candidate(0, "first"), candidate(1, "second")]});
    let run = Stage::with([reply().chunks(vec![chunk])]).prompt("text", "go");
    assert_eq!(run.stdout_text(), "first\n");
}

#[test]
fn twenty_thousand_chunks_are_no_burden() {
    let stage = Stage::with([reply().many_text_chunks(20_000)]);
    let run = stage.prompt("text", "go");
    run.assert_code(0);
    assert!(run.stdout_text().ends_with("19998 19999 \n"));
    assert!(run.duration < Duration::from_secs(5), "{:?}", run.duration);
    // The words are one part of the history, however they came.
    let record = stage.session_lines().into_iter().find(|line| line["type"] == "gemini").unwrap();
    assert!(record["content"].is_string());
}
