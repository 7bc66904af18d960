//! Editors that flood, send garbage, do not read, never answer, or die.

use std::collections::HashMap;
use std::io::Write as _;
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use pollux_testkit::{Endpoint, ReplyGate, Signal, reply};
use pretty_assertions::assert_eq;
use serde_json::{Value, json};

use super::acp_client::{Client, folder, text_of};
use super::stage::{MODEL, SOON, Stage};

#[test]
fn a_flood_of_prompts_is_answered_one_by_one() {
    let stage = Stage::new();
    stage.server.answer_with(Endpoint::StreamGenerateContent, |_| reply().text("x"));
    let (mut client, session) = Client::with_session(&stage);
    let ids: Vec<i64> = (0..500).map(|_| client.prompt(&session, "go")).collect();
    let mut answers: HashMap<i64, usize> = HashMap::new();
    while answers.len() < ids.len() {
        let message = client.until(|message| message["method"].is_null()).pop().unwrap();
        *answers.entry(message["id"].as_i64().unwrap()).or_default() += 1;
    }
    assert!(answers.values().all(|count| *count == 1), "{answers:?}");
    let last = client.prompt(&session, "and on");
    let (messages, result) = client.answer_with(last);
    assert_eq!(result.unwrap()["stopReason"], "end_turn");
    assert_eq!(text_of(&messages, "agent_message_chunk"), "x");
    client.end().assert_code(0);
}

#[test]
fn garbage_and_messages_that_are_too_long_leave_the_agent_intact() {
    let stage = Stage::new();
    let mut client = Client::start(&stage);
    client.initialize(json!({}));
    client.program.write_stdin("{\"jsonrpc\":\"2.0\",\n".repeat(1000).as_bytes());
    for _ in 0..1000 {
        client.until(|message| message["error"]["code"] == -32700);
    }
    let mut long = vec![b' '; 33 << 20];
    long.push(b'\n');
    long.insert(0, b'{');
    client.program.write_stdin(&long);
    client.until(|message| message["error"]["code"] == -32600);
    let filling = "x".repeat(33 << 20);
    let request = r#"{"jsonrpc":"2.0","id":77,"method":"session/prompt","params":{"a":""#;
    client.program.write_stdin(format!("{request}{filling}\"}}}}\n").as_bytes());
    client.until(|message| message["id"] == 77 && message["error"]["code"] == -32600);
    client.new_session(&stage);
    client.end().assert_code(0);
}

#[test]
fn an_answer_that_is_too_long_fails_the_call_at_once() {
    let read = json!({"file_path": "a.txt"});
    let stage = Stage::with([reply().call("read_file", read), reply().text("done")]);
    stage.home.project_file("a.txt", "alpha\n");
    let mut client = Client::start(&stage);
    client.initialize(json!({"fs": {"readTextFile": true}}));
    let session = client.new_session(&stage);
    let prompt = client.prompt(&session, "read");
    let asked = client.asked("fs/read_text_file");
    let begun = Instant::now();
    client.respond(&asked, json!({"content": "x".repeat(33 << 20)}));
    assert_eq!(client.answer(prompt).unwrap()["stopReason"], "end_turn");
    // Half of the time after which the client is not waited for any more.
    assert!(begun.elapsed() < Duration::from_secs(15), "{:?}", begun.elapsed());
    let body = stage.requests()[1].body.to_string();
    assert!(body.contains("the editor could not read"), "{body}");
}

#[test]
fn a_client_that_closes_its_end_ends_the_agent() {
    let stage = Stage::new();
    let program = stage.program().args(["-m", MODEL, "--acp"]).stdin_held_open();
    let mut program = program.close_stdout_after(1).spawn();
    let initialize = json!({"jsonrpc": "2.0", "id": 1, "method": "initialize", "params": {}});
    let message = format!("{initialize}\n");
    program.write_stdin(message.as_bytes());
    program.stdout_until("{");
    // Standard input stays open. The next answer finds the pipe closed, as soon as it is.
    let begun = Instant::now();
    while program.is_running() {
        assert!(begun.elapsed() < SOON, "the agent continues");
        program.write_stdin(message.as_bytes());
        std::thread::sleep(Duration::from_millis(200));
    }
    let ended = program.wait();
    assert_eq!(ended.code, Some(0), "{}", ended.report());
}

#[test]
fn a_client_that_does_not_read_cannot_keep_the_agent_alive() {
    let stage = Stage::with([reply().text("x".repeat(4 << 20))]);
    stage.home.settings(&json!({"model": {"disableLoopDetection": true}}));
    let mut child = Command::new(env!("CARGO_BIN_EXE_pollux"))
        .args(["-m", MODEL, "--acp"])
        .env_clear()
        .envs(stage.home.environment())
        .env("GOOGLE_GEMINI_BASE_URL", stage.server.url())
        .current_dir(stage.home.project())
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::null())
        .spawn()
        .unwrap();
    let mut input = child.stdin.take().unwrap();
    let mut output = std::io::BufReader::new(child.stdout.take().unwrap());
    let mut send = |id: i64, method: &str, params: Value| {
        let message = json!({"jsonrpc": "2.0", "id": id, "method": method, "params": params});
        writeln!(input, "{message}").unwrap();
    };
    send(1, "session/new", folder(&stage));
    let mut line = String::new();
    std::io::BufRead::read_line(&mut output, &mut line).unwrap();
    let opened: Value = serde_json::from_str(&line).unwrap();
    let text = json!([{"type": "text", "text": "go"}]);
    send(2, "session/prompt", json!({"sessionId": opened["result"]["sessionId"], "prompt": text}));
    stage.server.wait_for_requests(1, SOON);
    // Time for the answer to fill the pipe.
    std::thread::sleep(Duration::from_millis(300));
    drop(input);
    let begun = Instant::now();
    while child.try_wait().unwrap().is_none() {
        assert!(begun.elapsed() < SOON, "the agent continues");
        std::thread::sleep(Duration::from_millis(20));
    }
    drop(output);
}

#[test]
fn a_client_that_never_answers_cannot_hold_back_a_cancel() {
    let read = json!({"file_path": "a.txt"});
    let stage = Stage::with([reply().call("read_file", read), reply().text("after")]);
    stage.home.project_file("a.txt", "alpha\n");
    let mut client = Client::start(&stage);
    client.initialize(json!({"fs": {"readTextFile": true}}));
    let session = client.new_session(&stage);
    let prompt = client.prompt(&session, "read");
    client.asked("fs/read_text_file");
    let begun = Instant::now();
    client.notify("session/cancel", json!({"sessionId": session}));
    assert_eq!(client.answer(prompt), Ok(json!({"stopReason": "cancelled"})));
    // Many times the promise, for a busy machine.
    assert!(begun.elapsed() < Duration::from_secs(3), "{:?}", begun.elapsed());
    let prompt = client.prompt(&session, "go on");
    let (messages, _) = client.answer_with(prompt);
    assert_eq!(text_of(&messages, "agent_message_chunk"), "after");
}

#[test]
fn the_cancellation_of_a_request_cancels_its_prompt_alone() {
    let gate = ReplyGate::closed();
    let stage = Stage::with([reply().text("never").held_by(&gate)]);
    let (mut client, session) = Client::with_session(&stage);
    let prompt = client.prompt(&session, "go");
    stage.server.wait_for_requests(1, SOON);
    client.notify("$/cancel_request", json!({"requestId": prompt + 7}));
    client.notify("$/cancel_request", json!({"requestId": prompt}));
    assert_eq!(client.answer(prompt), Ok(json!({"stopReason": "cancelled"})));
    gate.open();
}

#[test]
fn a_permission_request_that_is_not_needed_any_more_is_withdrawn() {
    let edit = json!({"file_path": "a.txt", "content": "new\n"});
    let stage = Stage::with([reply().call("write_file", edit), reply().text("done")]);
    let (mut client, session) = Client::with_session(&stage);
    let prompt = client.prompt(&session, "edit");
    let asked = client.asked("session/request_permission");
    client.call("session/set_mode", json!({"sessionId": session, "modeId": "autoEdit"})).unwrap();
    let (messages, result) = client.answer_with(prompt);
    assert_eq!(result.unwrap()["stopReason"], "end_turn");
    let withdrawn = |message: &&Value| message["method"] == "$/cancel_request";
    let withdrawals: Vec<_> = messages.iter().filter(withdrawn).collect();
    assert_eq!(withdrawals.len(), 1, "{messages:?}");
    assert_eq!(withdrawals[0]["params"]["requestId"], asked["id"]);
    assert_eq!(stage.home.read_project_file("a.txt"), "new\n");
}

#[test]
fn a_session_whose_agent_was_killed_is_loaded_again() {
    let gate = ReplyGate::closed();
    let stage = Stage::with([reply().text("kept"), reply().text("lost").held_by(&gate)]);
    let (mut client, session) = Client::with_session(&stage);
    let prompt = client.prompt(&session, "one");
    client.answer(prompt).unwrap();
    client.prompt(&session, "two");
    stage.server.wait_for_requests(2, SOON);
    client.program.signal(Signal::KILL);
    drop(client.program.wait());
    gate.open();
    let mut client = Client::start(&stage);
    client.initialize(json!({}));
    let mut params = folder(&stage);
    params["sessionId"] = session.as_str().into();
    let request = client.request("session/load", params);
    let (messages, result) = client.answer_with(request);
    result.unwrap();
    assert_eq!(text_of(&messages, "user_message_chunk"), "onetwo");
    assert_eq!(text_of(&messages, "agent_message_chunk"), "kept");
    stage.server.stream(reply().text("again"));
    let prompt = client.prompt(&session, "three");
    let (messages, _) = client.answer_with(prompt);
    assert_eq!(text_of(&messages, "agent_message_chunk"), "again");
}
