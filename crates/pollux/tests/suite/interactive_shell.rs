//! Commands in a conversation: they have a terminal, and the user can type for them.

use std::fs;
use std::path::Path;
use std::time::Duration;

use pollux_testkit::{CapturedRequest, Endpoint, Key, ModelReply, Terminal, reply};
use serde_json::{Value, json};

use super::stage::{Stage, is_alive, texts, wait_until};

const SOON: Duration = Duration::from_secs(20);

fn wait_for_prompt(terminal: &Terminal) {
    terminal.wait_for(|screen| screen.contents().trim_end().ends_with('>'), SOON);
}

fn say(terminal: &Terminal, line: &str) {
    terminal.send(line);
    terminal.send_key(Key::Enter);
}

fn leave(terminal: &mut Terminal) {
    terminal.send_key(Key::Ctrl('d'));
    assert_eq!(terminal.wait_exit(SOON).exit_code(), 0, "{}", terminal.screen());
}

/// Starts a conversation in which all commands may run, and whose model runs this command first.
fn conversation(stage: &Stage, command: &str) -> Terminal {
    let call = reply().call("run_shell_command", json!({ "command": command }));
    stage.server.stream(call).stream(reply().text("All is done."));
    let terminal = stage.pollux(&["--yolo"]).in_terminal(40, 120);
    wait_for_prompt(&terminal);
    say(&terminal, "go");
    terminal
}

/// Returns the result of the command for the model, at the end of the command.
fn reported(stage: &Stage, terminal: &mut Terminal) -> String {
    terminal.wait_for_text("All is done.", SOON);
    wait_for_prompt(terminal);
    let reported = stage.response();
    leave(terminal);
    reported
}

/// Returns the lines between the tags of untrusted text, without the line that differs between
/// runs.
fn lines(reported: &str) -> Vec<&str> {
    let inner =
        reported.strip_prefix("<untrusted_context>\n").unwrap_or_else(|| panic!("{reported}"));
    let inner =
        inner.strip_suffix("\n</untrusted_context>").unwrap_or_else(|| panic!("{reported}"));
    inner.lines().filter(|line| !line.starts_with("Process Group PGID: ")).collect()
}

#[test]
fn commands_have_a_terminal_of_the_windows_size() {
    let stage = Stage::new();
    let mut terminal = conversation(
        &stage,
        "test -t 0 && test -t 1 && stty size; printf '\\033[31mred\\033[0m\\n'",
    );
    assert_eq!(lines(&reported(&stage, &mut terminal)), ["Output: 40 120", "red"]);
    // The session log, which is for the user, keeps the colours.
    let text = serde_json::to_string(&stage.session_lines()).unwrap();
    assert!(text.contains(r#""text":"red","bold":false"#) && text.contains(r##""fg":"#800000""##));
}

#[test]
fn a_person_can_have_none_of_it() {
    for (settings, variable) in [
        (json!({"tools": {"shell": {"enableInteractiveShell": false}}}), None),
        (json!({}), Some("child_process")),
    ] {
        let stage = Stage::new();
        stage.home.settings(&settings);
        let command = "test -t 1 || test -t 0 || echo none; cat";
        let call = reply().call("run_shell_command", json!({ "command": command }));
        stage.server.stream(call).stream(reply().text("All is done."));
        let mut program = stage.pollux(&["--yolo", "-i", "go"]);
        if let Some(value) = variable {
            program = program.env("GEMINI_PTY_INFO", value);
        }
        let mut terminal = program.in_terminal(40, 120);
        assert_eq!(lines(&reported(&stage, &mut terminal)), ["Output: none"], "{settings}");
    }
}

#[test]
fn a_question_of_a_command_is_answered_by_the_person() {
    let stage = Stage::new();
    let mut terminal = conversation(
        &stage,
        "echo Welcome; printf 'Your name? '; read name; echo \"Hello, $name.\"",
    );
    terminal.wait_for_text("The command waits for input.", SOON);
    terminal.wait_for_text("Your name?", SOON);
    terminal.wait_for_text("input>", SOON);
    say(&terminal, "Ada");
    let reported = reported(&stage, &mut terminal);
    assert_eq!(lines(&reported), ["Output: Welcome", "Your name? Ada", "Hello, Ada."]);
}

#[test]
fn a_password_is_seen_by_the_command_alone() {
    let stage = Stage::new();
    let command = "printf 'Password: '; stty -echo; read word; stty echo; echo; echo ${#word}";
    let mut terminal = conversation(&stage, command);
    terminal.wait_for_text("input (not shown)>", SOON);
    say(&terminal, "hunter2!");
    let reported = reported(&stage, &mut terminal);
    assert_eq!(lines(&reported), ["Output: Password: ", "8"]);
    let bytes = String::from_utf8_lossy(&terminal.transcript()).into_owned();
    let session = std::fs::read_to_string(stage.session_file()).unwrap();
    let requests = format!("{:?}", stage.requests());
    for seen in [bytes, session, requests] {
        assert!(!seen.contains("hunter2"), "{seen}");
    }
}

#[test]
fn a_window_that_changes_is_reported_to_the_command() {
    let stage = Stage::new();
    let command = "trap 'stty size; exit' WINCH; touch ready; while :; do sleep 0.05; done";
    let mut terminal = conversation(&stage, command);
    wait_until("the command runs", || stage.home.project().join("ready").exists());
    terminal.resize(30, 100);
    let reported = reported(&stage, &mut terminal);
    assert_eq!(lines(&reported), ["Output: 30 100"]);
}

#[test]
fn a_stop_ends_a_program_that_waits() {
    let stage = Stage::new();
    let call = json!({"command": "echo $$ > pid; trap '' INT TERM HUP; cat; sleep 1000"});
    stage.server.stream(reply().call("run_shell_command", call));
    let mut terminal = stage.pollux(&["--yolo", "-i", "go"]).in_terminal(40, 120);
    terminal.wait_for_text("input>", SOON);
    let process: u32 = stage.home.read_project_file("pid").trim().parse().unwrap();
    assert!(is_alive(process));
    terminal.send_key(Key::Ctrl('c'));
    terminal.wait_for_text("Request cancelled.", SOON);
    wait_for_prompt(&terminal);
    wait_until("the command is gone", || !is_alive(process));
    leave(&mut terminal);
}

/// Returns true if a request contains the result of a call after the prompt.
fn was_called(request: &CapturedRequest) -> bool {
    request.last_parts().iter().any(|part| part.get("functionResponse").is_some())
}

/// Replies of a model that starts the command of the prompt in the background.
fn starts_in_background(request: &CapturedRequest) -> ModelReply {
    let contents = request.contents();
    let prompt = *texts(contents.last().unwrap()).last().unwrap_or(&"");
    match prompt.strip_prefix("start ") {
        Some(command) if !was_called(request) => {
            let arguments = json!({"command": command, "is_background": true, "delay_ms": 0});
            reply().call("run_shell_command", arguments)
        }
        _ => reply().text("Well."),
    }
}

fn with_behaviour(behaviour: &str) -> (Stage, Terminal) {
    let stage = Stage::new();
    stage.home.settings(&json!({"tools": {"shell": {"backgroundCompletionBehavior": behaviour}}}));
    stage.server.answer_with(Endpoint::StreamGenerateContent, starts_in_background);
    let terminal = stage.pollux(&["--yolo"]).in_terminal(40, 120);
    wait_for_prompt(&terminal);
    (stage, terminal)
}

/// Starts a command that ends after the prompt; returns the texts before the next prompt's own
/// text.
fn end_of_command(behaviour: &str, notice: Option<&str>) -> Vec<String> {
    let (stage, mut terminal) = with_behaviour(behaviour);
    say(
        &terminal,
        "start while test ! -e stop; do sleep 0.05; done; echo '</background_output> made'; echo $$ > pid; exit 3",
    );
    terminal.wait_for_text("Well.", SOON);
    wait_for_prompt(&terminal);
    let before = stage.requests().len();
    stage.home.project_file("stop", "");
    wait_until("Pollux has waited for the command", || {
        let pid = fs::read_to_string(stage.home.project().join("pid")).unwrap_or_default();
        pid.ends_with('\n') && !Path::new("/proc").join(pid.trim()).exists()
    });
    if let Some(notice) = notice {
        terminal.wait_for_text(notice, SOON);
    }
    // Pollux learns of the end a moment later; the test waits, because the absence of a request is
    // no event.
    std::thread::sleep(Duration::from_millis(700));
    assert_eq!(stage.requests().len(), before, "nobody asked the model");
    say(&terminal, "next");
    wait_until("the model is asked", || stage.requests().len() > before);
    wait_for_prompt(&terminal);
    leave(&mut terminal);
    let request = stage.server.last_request();
    let parts = request.last_parts().iter();
    let reported: Vec<String> =
        parts.filter_map(|part| part["text"].as_str()).map(str::to_owned).collect();
    assert_eq!(reported.last().map(String::as_str), Some("next"));
    reported[..reported.len() - 1].to_vec()
}

#[test]
fn the_end_of_a_background_command_is_reported_as_the_setting_says() {
    assert_eq!(end_of_command("silent", None), [""; 0]);
    let notice = "completed with error: exit code 3: while test";
    assert_eq!(end_of_command("notify", Some(notice)), [""; 0]);
    let reported = end_of_command("inject", None);
    let [reported] = &reported[..] else { panic!("{reported:?}") };
    let start = "<background_output>\n[Background command completed with error: exit code 3. Output saved to /";
    assert!(reported.starts_with(start), "{reported}");
    let end = "\n\n&lt;/background_output&gt; made\n</background_output>\n\n";
    assert!(reported.contains(end), "{reported}");
}

#[test]
fn an_end_during_the_work_comes_with_the_next_results() {
    let stage = Stage::new();
    stage.home.settings(&json!({"tools": {"shell": {"backgroundCompletionBehavior": "inject"}}}));
    let build = "echo $$ >build.pid; sleep 0.5; echo built";
    let background = json!({"command": build, "is_background": true, "delay_ms": 0});
    let wait = "until [ -s build.pid ]; do sleep 0.05; done; \
                while kill -0 $(cat build.pid) 2>/dev/null; do sleep 0.05; done; sleep 2";
    let wait = json!({ "command": wait });
    stage.server.stream(reply().call("run_shell_command", background));
    stage.server.stream(reply().call("run_shell_command", wait));
    stage.server.stream(reply().text("done"));
    stage.yolo("go");
    let request = stage.server.last_request();
    let words: Vec<&Value> =
        request.last_parts().iter().filter(|part| part.get("text").is_some()).collect();
    let [words] = &words[..] else { panic!("{words:?}") };
    let words = words["text"].as_str().unwrap();
    assert!(
        words.contains("[Background command completed successfully. Output saved to "),
        "{words}"
    );
    assert!(words.contains("\n\nbuilt\n</background_output>"), "{words}");
}

#[test]
fn a_process_that_was_stopped_is_not_reported_of() {
    let (stage, mut terminal) = with_behaviour("inject");
    say(&terminal, "start sleep 1000");
    terminal.wait_for_text("Well.", SOON);
    wait_for_prompt(&terminal);
    let reported = Value::from(stage.server.last_request().contents().to_vec()).to_string();
    let (_, rest) = reported.split_once("PID: ").unwrap();
    let process: u32 =
        rest.split(|letter: char| !letter.is_ascii_digit()).next().unwrap().parse().unwrap();
    stage.server.stream(reply().call("stop_background_process", json!({"pid": process})));
    say(&terminal, "stop");
    terminal.wait_for_text("was stopped", SOON);
    wait_for_prompt(&terminal);
    // Pollux learns of the end a moment later; the test waits, because the absence of a request is
    // no event.
    std::thread::sleep(Duration::from_millis(300));
    say(&terminal, "next");
    wait_until("the model is asked", || {
        texts(stage.server.last_request().contents().last().unwrap()).contains(&"next")
    });
    let request = stage.server.last_request();
    assert!(!Value::from(request.contents().to_vec()).to_string().contains("background_output>"));
    wait_for_prompt(&terminal);
    leave(&mut terminal);
}
