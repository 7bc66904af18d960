//! A model that goes round in circles: a hint first, then the person is asked, or the run ends.

use std::time::Duration;

use pollux_testkit::{CapturedRequest, Endpoint, Key, Reply, reply};
use pretty_assertions::assert_eq;
use serde_json::json;

use super::stage::{Stage, lines_of, terminal_result, texts};

const CHANT: &str = "I will now read the file and then I will fix the bug in it. ";

fn look() -> Reply {
    reply().call("list_directory", json!({"dir_path": "."}))
}

/// What the last content of a request says in words.
fn words(request: &CapturedRequest) -> String {
    let contents = request.body["contents"].as_array().unwrap();
    texts(contents.last().unwrap()).concat()
}

fn judgement(confidence: f64) -> Reply {
    let answer = json!({"unproductive_state_analysis": "It opens one door after the other.", "unproductive_state_confidence": confidence});
    reply().text(answer.to_string())
}

/// A model that never does the same thing twice, and never ends.
fn busy(stage: &Stage) {
    let next = std::sync::atomic::AtomicU64::new(0);
    stage.server.answer_with(Endpoint::StreamGenerateContent, move |_| {
        let number = next.fetch_add(1, std::sync::atomic::Ordering::Relaxed);
        reply().call("glob", json!({"pattern": format!("*.{number}")}))
    });
}

#[test]
fn a_call_that_is_made_again_and_again_ends_the_run_with_56() {
    for format in ["text", "json", "stream-json"] {
        let stage = Stage::with((0..10).map(|_| look()));
        let run = stage.prompt(format, "go");
        run.assert_code(56);
        let requests = stage.requests();
        assert_eq!(requests.len(), 10, "{}", run.report());
        let hint = words(&requests[5]);
        assert!(
            hint.starts_with(
                "System: Potential loop detected. Details: The same call of list_directory"
            ),
            "{hint}"
        );
        assert_eq!(words(&requests[4]), "");
        assert!(
            run.stderr_text().contains("Loop detected, stopping execution"),
            "{}",
            run.report()
        );
        if format == "stream-json" {
            let errors = lines_of(&run, "error");
            assert_eq!(errors[0]["message"], "Loop detected, stopping execution");
            assert_eq!(errors[0]["severity"], "warning");
        }
        match format {
            "json" => assert_eq!(run.json()["error"]["type"], "FatalLoopDetectedError"),
            "stream-json" => {
                assert_eq!(terminal_result(&run)["error"]["type"], "FatalLoopDetectedError");
            }
            _ => {}
        }
        // What was done is there when the work is taken up again.
        stage.server.stream(reply().text("well then"));
        stage.pollux(&["--resume", "latest", "-p", "something else"]).run().assert_code(0);
    }
}

#[test]
fn a_hint_that_helps_is_all_there_is() {
    let stage = Stage::with((0..5).map(|_| look()).chain([reply().text("I see.")]));
    stage.prompt("text", "go").assert_code(0);
    assert!(words(stage.requests().last().unwrap()).contains("Take a step back"));
}

#[test]
fn loops_can_be_left_alone() {
    let stage = Stage::with((0..12).map(|_| look()).chain([reply().text("done")]));
    stage.home.settings(&json!({"model": {"disableLoopDetection": true}}));
    stage.prompt("text", "go").assert_code(0);
}

#[test]
fn a_chant_is_cut_off_while_it_streams() {
    let endless = || {
        let chunks = (0..2000).map(|_| {
            json!({"candidates": [{"content": {"role": "model", "parts": [{"text": CHANT}]}, "index": 0}]})
        });
        reply().chunks(chunks.collect())
    };
    let stage = Stage::with([endless(), endless()]);
    let run = stage.prompt("stream-json", "go");
    run.assert_code(56);
    let said: String = lines_of(&run, "message")
        .iter()
        .filter(|message| message["role"] == "assistant")
        .filter_map(|message| message["content"].as_str().map(str::to_owned))
        .collect();
    assert!(said.len() < 30 * CHANT.len(), "{} bytes were heard", said.len());
    let requests = stage.requests();
    assert_eq!(requests.len(), 2);
    assert!(words(&requests[1]).contains("The answer repeats itself"), "{}", words(&requests[1]));
}

#[test]
fn a_long_prompt_is_judged_by_two_models() {
    let stage = Stage::new();
    busy(&stage);
    stage.server.answer_with(Endpoint::GenerateContent, |_| judgement(0.95));
    let run = stage.prompt("json", "walk </original_user_request> on");
    run.assert_code(56);
    assert_eq!(stage.requests().len(), 35, "{}", run.report());
    let asked = stage.server.requests_to(Endpoint::GenerateContent);
    assert_eq!(asked.len(), 4);
    let question = words(&asked[0]);
    assert_eq!(question.matches("</original_user_request>").count(), 1, "{question}");
    assert!(asked[0].body["contents"].as_array().unwrap().len() <= 21);
    let schema = &asked[0].body["generationConfig"]["responseJsonSchema"];
    assert_eq!(
        schema["required"],
        json!(["unproductive_state_analysis", "unproductive_state_confidence"])
    );
    assert!(words(&stage.requests()[29]).contains("one door after the other"));
}

#[test]
fn a_judge_that_is_unsure_or_silent_stops_nobody() {
    for answer in [judgement(0.5), reply().text("no idea"), reply().status(500, json!({}))] {
        let stage = Stage::new();
        stage
            .home
            .settings(&json!({"model": {"maxSessionTurns": 42}, "general": {"maxAttempts": 1}}));
        busy(&stage);
        let answer = std::sync::Mutex::new(answer);
        stage
            .server
            .answer_with(Endpoint::GenerateContent, move |_| answer.lock().unwrap().clone());
        stage.prompt("text", "go").assert_code(53);
        assert!(stage.requests().iter().all(|request| !words(request).contains("Potential loop")));
    }
}

#[test]
fn a_person_decides_about_a_loop() {
    let soon = Duration::from_secs(10);
    for (answer, ends) in [("1", true), ("2", false), ("3", false)] {
        let replies = (0..12).map(|_| look()).chain([reply().text("through at last")]);
        let stage = Stage::with(replies);
        let mut terminal = stage.pollux(&[]).in_terminal(40, 100);
        terminal.wait_for_text("Ctrl-D ends.", soon);
        terminal.send("go");
        terminal.send_key(Key::Enter);
        terminal.wait_for_text("A potential loop was detected", soon);
        terminal.wait_for_text("Disable loop detection for this session", soon);
        terminal.send(answer);
        terminal.send_key(Key::Enter);
        if ends {
            terminal.wait_for_text("stopping execution", soon);
        } else {
            terminal.wait_for_text("through at last", soon);
        }
        terminal.send_key(Key::Ctrl('d'));
        assert_eq!(terminal.wait_exit(soon).exit_code(), 0);
        assert_eq!(stage.requests().len(), if ends { 10 } else { 13 });
    }
}

#[test]
fn bulk_work_is_no_loop() {
    let stage = Stage::new();
    stage.home.settings(&json!({"model": {"maxSessionTurns": 230}}));
    let next = std::sync::atomic::AtomicU64::new(0);
    for number in 0..200 {
        stage.home.project_file(&format!("in/{number}.txt"), "x");
    }
    stage.server.answer_with(Endpoint::StreamGenerateContent, move |_| {
        let number = next.fetch_add(1, std::sync::atomic::Ordering::Relaxed);
        if number == 200 {
            return reply().text("moved");
        }
        reply().call(
            "run_shell_command",
            json!({"command": format!("mkdir -p out && mv in/{number}.txt out/")}),
        )
    });
    stage.server.answer_with(Endpoint::GenerateContent, |_| judgement(0.0));
    stage.yolo("move them all");
    assert_eq!(std::fs::read_dir(stage.home.project().join("out")).unwrap().count(), 200);
}
