//! Background processes: started in one prompt, read in another, and ended with the program.

use std::time::Duration;

use pollux_testkit::{
    CapturedRequest, Endpoint, Key, ModelReply, Terminal, reply, write_executable,
};
use serde_json::{Value, json};

use super::stage::{MODEL, Stage, is_alive, texts, wait_until};

const SOON: Duration = Duration::from_secs(10);
/// Command that runs until it is stopped.
const SERVER: &str = "while :; do echo tick; sleep 0.1; done";

/// Returns the output of the last call in a request, if it is newer than the prompt.
fn last_output(request: &CapturedRequest) -> Option<String> {
    let response = request.last_parts().iter().find_map(|part| part.get("functionResponse"))?;
    Some(response["response"]["output"].as_str().unwrap_or_default().to_owned())
}

/// Returns the id of the process that the conversation is about.
fn pid(request: &CapturedRequest) -> u32 {
    let reported = Value::from(request.contents().to_vec()).to_string();
    let (_, rest) = reported.split_once("PID: ").unwrap_or_else(|| panic!("{reported}"));
    rest.split(|letter: char| !letter.is_ascii_digit()).next().unwrap().parse().unwrap()
}

/// Replies of a model that makes the call which the prompt describes, and then reports its result.
fn answer(request: &CapturedRequest) -> ModelReply {
    if let Some(output) = last_output(request) {
        return reply().text(format!("Told: {}.", output.lines().last().unwrap_or_default()));
    }
    let contents = request.contents();
    match *texts(contents.last().unwrap()).last().unwrap() {
        "start" => {
            let arguments = json!({"command": SERVER, "is_background": true});
            reply().call("run_shell_command", arguments)
        }
        "list" => reply().call("list_background_processes", json!({})),
        "read" => {
            let arguments = json!({"pid": pid(request), "lines": 3, "delay_ms": 1000});
            reply().call("read_background_output", arguments)
        }
        "stop" => reply().call("stop_background_process", json!({"pid": pid(request)})),
        _ => reply().text("What?"),
    }
}

fn stage() -> Stage {
    let stage = Stage::new();
    stage.server.answer_with(Endpoint::StreamGenerateContent, answer);
    stage
}

fn wait_for_prompt(terminal: &Terminal) {
    terminal.wait_for(|screen| screen.contents().trim_end().ends_with('>'), SOON);
}

fn say(terminal: &Terminal, line: &str) {
    terminal.send(line);
    terminal.send_key(Key::Enter);
}

/// Returns the log of the only background process.
fn log(stage: &Stage, pid: u32) -> String {
    let folder = stage.home.gemini().join("tmp/background-processes");
    std::fs::read_to_string(folder.join(format!("background-{pid}.log"))).unwrap()
}

/// Replies of a model that has the conversation of `docs/background.md`.
fn documented(request: &CapturedRequest) -> ModelReply {
    let words = ["start ./serve in the background", "what has it printed?", "stop it"];
    let mut asked = request.contents().iter().rev().flat_map(texts);
    let prompt = asked.find_map(|text| words.iter().position(|word| *word == text));
    match (prompt.unwrap(), last_output(request).is_some()) {
        (0, false) => reply()
            .text("I start it.")
            .call("run_shell_command", json!({"command": "./serve", "is_background": true})),
        (0, true) => reply().text("It runs, and listens on port 8123."),
        (1, false) => {
            let arguments = json!({"pid": pid(request), "delay_ms": 1000});
            reply().call("read_background_output", arguments)
        }
        (1, true) => reply().text("It was asked for one page, and gave it."),
        (_, false) => reply().call("stop_background_process", json!({"pid": pid(request)})),
        (_, true) => reply().text("It is stopped."),
    }
}

#[test]
fn the_session_of_the_documentation_goes_as_it_is_written() {
    let page = include_str!("../../../../docs/background.md");
    let (_, session) = page.split_once("```text\n").unwrap();
    let (session, _) = session.split_once("\n```").unwrap();
    let stage = Stage::new();
    stage.server.answer_with(Endpoint::StreamGenerateContent, documented);
    let serve =
        "#!/bin/sh\necho Listening on port 8123.\nsleep 0.5\necho GET / 200\nexec sleep 600\n";
    write_executable(stage.home.project().join("serve"), serve);
    let mut terminal = stage.pollux(&[]).in_terminal(60, 140);
    let mut before = "";
    for line in session.lines() {
        if let Some(words) = line.strip_prefix(&format!("{MODEL}> ")) {
            terminal.wait_for_text(before, SOON);
            wait_for_prompt(&terminal);
            say(&terminal, words);
        } else if let Some(answer) = line.strip_prefix("Choose 1-4: ") {
            terminal.wait_for_text("Choose 1-4:", SOON);
            say(&terminal, answer);
        }
        before = line;
    }
    terminal.wait_for_text(before, SOON);
    let server = pid(&stage.server.last_request());
    assert!(!is_alive(server));
    let screen = terminal.screen();
    let lines: Vec<&str> = screen.lines().map(str::trim_end).collect();
    // The line with the model's name is printed once, and differs from home to home.
    let shown: Vec<&str> = lines.into_iter().filter(|line| !line.starts_with("Model: ")).collect();
    let expected = session.replace("4711", &server.to_string());
    assert!(shown.join("\n").contains(&expected), "{screen}\n--- expected\n{expected}");
    terminal.send_key(Key::Ctrl('d'));
    terminal.wait_exit(SOON);
}

#[test]
fn a_server_does_not_outlive_the_conversation() {
    for leave in [Key::Ctrl('d'), Key::Ctrl('c')] {
        let stage = stage();
        let mut terminal = stage.pollux(&["--yolo"]).in_terminal(60, 140);
        wait_for_prompt(&terminal);
        say(&terminal, "start");
        terminal.wait_for_text("Told:", SOON);
        wait_for_prompt(&terminal);
        let server = pid(&stage.server.last_request());
        assert!(is_alive(server));
        terminal.send_key(leave);
        if matches!(leave, Key::Ctrl('c')) {
            terminal.wait_for_text("Press Ctrl-C again to exit.", SOON);
            terminal.send_key(leave);
        }
        terminal.wait_exit(SOON);
        assert!(!is_alive(server));
    }
}

#[test]
fn a_server_does_not_outlive_a_run() {
    let stage = stage();
    stage.yolo("start");
    let server = pid(&stage.server.last_request());
    assert!(!is_alive(server));
    assert!(log(&stage, server).starts_with("tick\n"));
}

#[test]
fn a_cancelled_prompt_leaves_earlier_servers_alone() {
    let stage = stage();
    let mut terminal = stage.pollux(&["--yolo"]).in_terminal(60, 140);
    wait_for_prompt(&terminal);
    say(&terminal, "start");
    terminal.wait_for_text("Told:", SOON);
    wait_for_prompt(&terminal);
    let server = pid(&stage.server.last_request());
    let before = stage.requests().len();
    stage.server.stream(reply().call("run_shell_command", json!({"command": "sleep 60"})));
    say(&terminal, "wait");
    wait_until("the command was asked for", || stage.requests().len() > before);
    terminal.wait_for_text("> run_shell_command sleep 60", SOON);
    terminal.send_key(Key::Ctrl('c'));
    terminal.wait_for_text("Request cancelled.", SOON);
    wait_for_prompt(&terminal);
    assert!(is_alive(server));
    terminal.send_key(Key::Ctrl('d'));
    terminal.wait_exit(SOON);
    assert!(!is_alive(server));
}

#[test]
fn the_tools_are_there_where_commands_are() {
    let names = ["list_background_processes", "read_background_output", "stop_background_process"];
    for (mode, offered) in [("yolo", true), ("default", false), ("plan", false)] {
        let stage = Stage::with([reply().text("Hello.")]);
        let arguments = ["-m", MODEL, "--approval-mode", mode, "-p", "go"];
        stage.program().args(arguments).run().assert_code(0);
        let request = stage.server.last_request();
        let declared = request.declared_tools();
        for name in names {
            assert_eq!(declared.contains(&name), offered, "{mode} {name}");
        }
    }
}
