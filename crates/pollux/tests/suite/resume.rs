//! Resume: no data is lost, however the earlier run ended.

use std::fs;
use std::time::Duration;

use pollux_testkit::{Endpoint, Finished, Signal, reply};
use pretty_assertions::assert_eq;
use serde_json::{Value, json};

use super::stage::{Stage, is_alive, texts, wait_until};

/// Resumes a session and returns the conversation that is sent to the model.
fn resume(stage: &Stage, session: &str, prompt: &str) -> Vec<Value> {
    stage.server.stream(reply().text(format!("answer to {prompt}")));
    let run = stage.pollux(&["-r", session, "-p", prompt]).run();
    run.assert_code(0);
    stage.server.last_request().contents().to_vec()
}

fn id_of(run: &Finished) -> String {
    run.json()["session_id"].as_str().unwrap().to_owned()
}

/// Returns the last text of each content.
fn last_texts(contents: &[Value]) -> Vec<String> {
    contents.iter().map(|content| texts(content).last().unwrap_or(&"").to_string()).collect()
}

#[test]
fn a_session_is_found_by_latest_number_and_id() {
    let stage = Stage::new();
    let mut ids = Vec::new();
    for prompt in ["one", "two"] {
        stage.server.stream(reply().text(format!("answer to {prompt}")));
        ids.push(id_of(&stage.prompt("json", prompt)));
        // Sessions are ordered by their start time, in milliseconds.
        std::thread::sleep(Duration::from_millis(5));
    }
    let table = [("latest", "two"), ("1", "one"), ("2", "two"), (ids[0].as_str(), "one")];
    for (session, prompt) in table {
        let contents = resume(&stage, session, "more");
        assert_eq!(texts(&contents[0])[1], prompt, "{session}");
        assert_eq!(texts(&contents[1]), [format!("answer to {prompt}")], "{session}");
    }
    stage.server.stream(reply().text("ok"));
    let run = stage.pollux(&["-o", "json", "-p", "more", "--resume"]).run();
    assert_eq!(id_of(&run), ids[1], "a bare flag means the latest; the id stays");
    assert_eq!(stage.session_files().len(), 2);
}

#[test]
fn a_first_resume_begins_a_session_and_says_so() {
    let stage = Stage::with([reply().text("hi")]);
    let run = stage.pollux(&["-r", "-p", "go"]).run();
    run.assert_code(0);
    assert_eq!(run.stdout_text(), "hi\n");
    assert!(run.stderr_text().contains("No previous sessions found"), "{}", run.report());
}

#[test]
fn a_resumed_conversation_is_the_one_that_was() {
    // The replay of the file restores the state in memory: every part, id and signature.
    let calls = reply()
        .thought("**Look** around")
        .text("Looking.")
        .signature("c2lnMQ==")
        .call("read_file", json!({"file_path": "a.txt"}))
        .signature("c2lnMg==")
        .call("glob", json!({"pattern": "*"}))
        .call("no_such_tool", json!({"x": [1, {"y": null}]}));
    let stage = Stage::with([
        calls,
        reply().text("Then this.").call("glob", json!({"pattern": "b*"})).signature("c2lnMw=="),
    ]);
    stage.home.project_file("a.txt", "alpha\n\u{1F600}\u{0}\n");
    let last = reply().text("All ").text("done.").signature("c2lnNA==");
    stage.server.stream(last);
    stage.prompt("text", "go").assert_code(0);
    let live = stage.server.last_request().contents().to_vec();
    let resumed = resume(&stage, "latest", "more");
    // An unsigned call gets the constant only in the current turn; these calls have their own
    // signatures.
    assert_eq!(resumed[..live.len()], live[..]);
    assert_eq!(resumed.len(), live.len() + 2);
    let expected = json!([{"text": "All "}, {"text": "done.", "thoughtSignature": "c2lnNA=="}]);
    assert_eq!(resumed[live.len()]["parts"], expected);
    let again = resume(&stage, "latest", "and more");
    assert_eq!(again[..resumed.len()], resumed[..]);
}

#[test]
fn resume_only_ever_appends() {
    let stage = Stage::with([reply().call("glob", json!({"pattern": "*"})), reply().text("done")]);
    stage.prompt("text", "one").assert_code(0);
    let file = stage.session_file();
    let mut before = fs::read(&file).unwrap();
    let mut contents = Vec::new();
    for round in 0..10 {
        if round % 2 == 0 {
            // A run that ends without a prompt must not lose any data.
            stage.pollux(&["-r", "-p", ""]).run().assert_code(42);
            stage.program().args(["--list-sessions"]).run().assert_code(0);
        } else {
            contents = resume(&stage, "latest", &format!("round {round}"));
        }
        let after = fs::read(&file).unwrap();
        assert!(after.starts_with(&before), "round {round}: the file was shortened or changed");
        before = after;
        assert_eq!(stage.session_file(), file);
    }
    let all = last_texts(&contents).join("|");
    let expected = "one||".to_owned()
        + "|done|round 1|answer to round 1|round 3|answer to round 3|round 5|answer to round 5|round 7|answer to round 7|round 9";
    assert_eq!(all, expected);
    let listed = stage.program().args(["--list-sessions"]).run().stdout_text();
    assert!(listed.contains("(1):\n  1. one (Just now) ["), "{listed}");
}

#[test]
fn the_figures_of_a_run_are_its_own_after_a_resume() {
    let stage = Stage::with([reply().call("glob", json!({"pattern": "*"})), reply().text("done")]);
    stage.prompt("json", "one").assert_code(0);
    stage.server.stream(reply().text("more"));
    let run = stage.pollux(&["-r", "-o", "json", "-p", "two"]).run();
    let stats = run.json()["stats"].clone();
    let model = &stats["models"][super::stage::MODEL];
    assert_eq!(model["tokens"]["total"], 15, "{stats}");
    assert_eq!(stats["tools"]["totalCalls"], 0, "{stats}");
}

/// Kills a run in the middle of its second call.
fn killed_in_a_call(stage: &Stage) {
    let turn = reply()
        .text("Working.")
        .call("write_file", json!({"file_path": "made.txt", "content": "made\n"}))
        .call("run_shell_command", json!({"command": "echo $$ > on; sleep 60"}))
        .signature("c2ln");
    stage.server.stream(turn);
    let running = stage.pollux(&["-y", "-p", "go"]).spawn();
    let file = stage.home.project().join("on");
    wait_until("the command runs", || {
        fs::read_to_string(&file).is_ok_and(|text| text.ends_with('\n'))
    });
    running.signal(Signal::KILL);
    assert_eq!(running.wait().signal, Some(9));
    let child: u32 = fs::read_to_string(&file).unwrap().trim().parse().unwrap();
    if is_alive(child) {
        let group = rustix::process::Pid::from_raw(child.cast_signed()).unwrap();
        rustix::process::kill_process_group(group, rustix::process::Signal::KILL).ok();
    }
}

#[test]
fn a_session_killed_in_a_call_goes_on() {
    let stage = Stage::new();
    killed_in_a_call(&stage);
    let before = fs::read(stage.session_file()).unwrap();
    let contents = resume(&stage, "latest", "go on");
    assert_eq!(texts(&contents[0])[1], "go");
    assert_eq!(texts(&contents[1]), ["Working."]);
    let reported = contents[2]["parts"].as_array().unwrap();
    let result = |number: usize| reported[number]["functionResponse"]["response"].clone();
    let done = result(0)["output"].as_str().unwrap_or_default().to_owned();
    assert!(done.starts_with("Successfully created and wrote to new file"), "{reported:?}");
    assert!(
        result(1)["error"].as_str().unwrap_or_default().contains("interrupted"),
        "{reported:?}"
    );
    assert!(fs::read(stage.session_file()).unwrap().starts_with(&before));
}

#[test]
fn damage_in_the_middle_is_reported_and_passed_over() {
    let stage = Stage::with([reply().text("first answer")]);
    stage.prompt("text", "one").assert_code(0);
    let file = stage.session_file();
    let text = fs::read_to_string(&file).unwrap();
    let mut lines: Vec<&str> = text.lines().collect();
    lines.insert(3, "{broken");
    fs::write(&file, lines.join("\n") + "\n").unwrap();
    stage.server.stream(reply().text("ok"));
    let run = stage.pollux(&["-r", "-p", "more"]).run();
    run.assert_code(0);
    assert!(run.stderr_text().contains("[WARNING]"), "{}", run.report());
    let contents = stage.server.last_request().contents().to_vec();
    assert_eq!(texts(&contents[1]), ["first answer"]);
}

#[test]
fn a_session_in_use_is_not_taken() {
    let stage = Stage::with([reply().text("first answer")]);
    let id = id_of(&stage.prompt("json", "one"));
    stage.server.stream(reply().never_answer());
    let running = stage.pollux(&["-r", "-p", "two"]).spawn();
    stage.server.wait_for_requests(2, Duration::from_secs(5));
    let run = stage.pollux(&["-r", "-o", "json", "-p", "three"]).run();
    run.assert_code(42);
    let message = run.json()["error"]["message"].as_str().unwrap().to_owned();
    assert!(message.contains(&id) && message.contains("another process"), "{message}");
    drop(running);
    let contents = resume(&stage, "latest", "four");
    assert_eq!(contents.iter().flat_map(texts).filter(|text| *text == "two").count(), 1);
}

#[test]
fn two_runs_at_once_have_two_sessions() {
    let stage = Stage::new();
    stage.server.answer_with(Endpoint::StreamGenerateContent, |_| {
        reply().text("hi").delay_before(Duration::from_millis(200))
    });
    let runs: Vec<_> = (0..4).map(|_| stage.pollux(&["-o", "json", "-p", "go"]).spawn()).collect();
    let mut ids: Vec<String> = runs.into_iter().map(|run| id_of(&run.wait())).collect();
    ids.sort();
    ids.dedup();
    assert_eq!((ids.len(), stage.session_files().len()), (4, 4));
}
