//! Prompts that are longer than the model takes.

use pollux_testkit::{Endpoint, reply};
use pretty_assertions::assert_eq;
use serde_json::json;

use super::stage::{FORMATS, Stage, lines_of, terminal_result, texts};

/// Takes 256,000 tokens.
const SMALL: &str = "gemma-4-31b-it";
/// Longer than that: a quarter of a token each.
const LETTERS: usize = 1_100_000;

fn small<'a>(arguments: &[&'a str]) -> Vec<&'a str> {
    ["-m", SMALL].into_iter().chain(arguments.iter().copied()).collect()
}

#[test]
fn a_prompt_that_does_not_fit_is_not_sent_and_is_said_to_be_so() {
    for format in FORMATS {
        let stage = Stage::new();
        let run = stage
            .program()
            .args(small(&["-o", format, "-p", "sum up"]))
            .stdin("x".repeat(LETTERS))
            .run();
        run.assert_code(1);
        assert_eq!(stage.server.requests().len(), 0);
        let told = run.stderr_text();
        assert!(told.contains("275002 tokens") && told.contains("256000"), "{told}");
        assert!(told.contains("--model"), "the remedy: {told}");
        match format {
            "json" => {
                let message = run.json()["error"]["message"].as_str().unwrap().to_owned();
                assert!(message.contains("275002"), "{message}");
            }
            "stream-json" => assert_eq!(terminal_result(&run)["status"], "error"),
            _ => assert_eq!(run.stdout_text(), ""),
        }
    }
}

#[test]
fn a_prompt_that_was_not_sent_does_not_stand_in_the_way_of_the_next() {
    let stage = Stage::with([reply().text("hello").usage(250_000, 10), reply().text("again")]);
    stage.program().args(small(&["-p", "hi"])).run().assert_code(0);
    let resumed = ["--resume", "latest", "-p", "sum up"];
    let long = stage.program().args(small(&resumed)).stdin("x".repeat(LETTERS)).run();
    long.assert_code(1);
    stage.program().args(small(&["--resume", "latest", "-p", "short"])).run().assert_code(0);
    let sent = stage.server.last_request();
    let contents = sent.body["contents"].as_array().unwrap();
    assert_eq!(texts(contents.last().unwrap()), ["short"]);
    assert!(sent.body.to_string().len() < LETTERS / 2);
}

#[test]
fn a_prompt_that_would_fit_alone_makes_the_conversation_shorter() {
    let stage = Stage::with([reply().text("hello").usage(110_000, 10), reply().text("done")]);
    let summary =
        reply().text("<state_snapshot><overall_goal>Greet.</overall_goal></state_snapshot>");
    stage.server.answer_with(Endpoint::GenerateContent, move |_| summary.clone());
    let first = stage.program().args(small(&["-p", "sum up"])).stdin("y".repeat(440_000)).run();
    first.assert_code(0);
    let run = stage
        .program()
        .args(small(&["--resume", "latest", "-p", "sum up"]))
        .stdin("x".repeat(640_000))
        .run();
    run.assert_code(0);
    assert_eq!(run.stdout_text().trim(), "done");
    let sent = stage.server.last_request().body.to_string();
    assert!(sent.contains("<overall_goal>Greet.") && sent.contains("sum up"), "it was summarised");
}

#[test]
fn what_the_vendor_counted_is_room_that_is_gone() {
    let stage =
        Stage::with([reply().call("read_file", json!({"file_path": "a.txt"})).usage(255_999, 10)]);
    stage.home.project_file("a.txt", "some words\n".repeat(20));
    let run = stage.program().args(small(&["-o", "stream-json", "-p", "read"])).run();
    run.assert_code(1);
    assert_eq!(stage.requests().len(), 1);
    assert_eq!(lines_of(&run, "tool_result").len(), 1, "what was done is told");
    assert!(run.stderr_text().contains("leaves room for 1 of"), "{}", run.report());
}

#[test]
fn only_media_are_counted_by_the_vendor() {
    for answer in [reply().tokens(300_000), reply().status(500, json!({}))] {
        let stage = Stage::new();
        stage.home.project_file("a.png", b"\x89PNG\r\n\x1a\n");
        stage.home.settings(&json!({"general": {"maxAttempts": 1}}));
        let fails = answer.clone();
        stage.server.answer_with(Endpoint::CountTokens, move |_| fails.clone());
        stage.server.stream(reply().text("a dot"));
        let run = stage.program().args(small(&["-p", "look at @a.png"])).run();
        let counted = stage.server.requests_to(Endpoint::CountTokens);
        assert_eq!(counted.len(), 1, "{}", run.report());
        if stage.requests().is_empty() {
            run.assert_code(1);
            assert!(run.stderr_text().contains("300000 tokens"), "{}", run.report());
        } else {
            run.assert_code(0);
        }
        stage.server.take_failures();
    }
}
