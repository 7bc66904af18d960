//! Progress of commands and requests, at a terminal: output as it comes, the end of a failure, and
//! what is awaited.

use std::time::Duration;

use pollux_testkit::{ModelReply, ReplyGate, Screen, Terminal, reply};
use serde_json::json;

use super::line::{Talk, at_prompt};
use super::stage::Stage;

const SOON: Duration = Duration::from_secs(20);

fn run(command: &str) -> ModelReply {
    reply().call("run_shell_command", json!({ "command": command }))
}

/// Starts a conversation in which all commands may run, and whose model runs this command first.
fn running(command: &str) -> Talk {
    let stage = Stage::with([run(command), reply().text("Done.")]);
    let talk = Talk::start(stage, |program| program.args(["--yolo"]));
    talk.type_line("go");
    talk
}

/// Runs a prompt headless in a terminal, with all commands allowed.
fn headless(replies: impl IntoIterator<Item = ModelReply>) -> (Stage, Terminal) {
    let stage = Stage::with(replies);
    stage.home.project_file("README.md", "text\n");
    let terminal = stage.pollux(&["--yolo", "-p", "go"]).in_terminal(40, 100);
    (stage, terminal)
}

/// Returns the seconds that the status on this screen says the model has been waited for.
fn waited(screen: &str) -> Option<u64> {
    let (_, rest) = screen.split_once("waiting for the model, ")?;
    rest.split_once(" s")?.0.parse().ok()
}

fn transcript(terminal: &mut Terminal) -> String {
    assert_eq!(terminal.wait_exit(SOON).exit_code(), 0, "{}", terminal.screen());
    String::from_utf8(terminal.transcript()).unwrap()
}

/// Command that prints a line, and the next one only when the test has seen the first.
const STEPS: &str = "echo first; while ! test -e seen; do sleep 0.1; done; echo second; echo";

#[test]
fn the_output_of_a_command_comes_while_it_runs() {
    let talk = running(STEPS);
    talk.wait_for_text("    first\n");
    talk.wait_for_text("running run_shell_command, ");
    talk.stage.home.project_file("seen", "");
    talk.wait_for_text("    first\n    second\nDone.");
    talk.wait_for_prompt();
    assert!(!talk.terminal.screen().contains("running"), "the status is removed");
    talk.end();
}

#[test]
fn a_failed_command_shows_its_end_and_its_exit_code() {
    let talk = running("seq 1 30; echo FAILED: assertion; exit 3");
    talk.wait_for_text("    30\n    FAILED: assertion\n    Command exited with code: 3\nDone.");
    talk.wait_for_text("    ... 19 earlier lines\n    20\n");
    talk.end();
}

#[test]
fn more_lines_than_the_screen_has_are_counted() {
    let talk = running("seq 1 500; while ! test -e seen; do sleep 0.1; done; echo end");
    talk.wait_for_text(" earlier lines\n");
    talk.wait_for_text("    500\n");
    talk.stage.home.project_file("seen", "");
    talk.wait_for_text("    500\n    end\nDone.");
    let transcript = talk.end();
    assert_eq!(transcript.matches("    500\r\n").count(), 1, "{transcript}");
}

#[test]
fn the_wait_for_the_model_is_shown_and_removed() {
    let gate = ReplyGate::closed();
    let talk = Talk::with([reply().text("Slow.").held_by(&gate)]);
    talk.type_line("go");
    let wait_for = |least| {
        let has_waited = |screen: &Screen| waited(&screen.contents()) >= Some(least);
        talk.terminal.wait_for(has_waited, SOON);
    };
    wait_for(1);
    wait_for(2);
    gate.open();
    talk.wait_for_text(&at_prompt("> go\nSlow."));
    talk.end();
}

#[test]
fn a_headless_run_shows_the_same() {
    let gate = ReplyGate::closed();
    let (stage, mut terminal) = headless([run(STEPS).held_by(&gate), reply().text("Done.")]);
    terminal.wait_for_text("waiting for the model, ", SOON);
    gate.open();
    terminal.wait_for_text("  > run_shell_command echo first;", SOON);
    terminal.wait_for_text("    first\n", SOON);
    stage.home.project_file("seen", "");
    transcript(&mut terminal);
    let screen = terminal.screen();
    assert!(screen.contains("    first\n    second\nDone."), "{screen}");
    assert!(!screen.contains("waiting") && !screen.contains("running"), "{screen}");
}

#[test]
fn text_and_lines_about_calls_do_not_share_a_line() {
    let read = reply().text("I will read.").call("read_file", json!({"file_path": "README.md"}));
    let edit = json!({"file_path": "README.md", "instruction": "x", "old_string": "none", "new_string": "y"});
    let edit = reply().text("I will edit.").call("replace", edit);
    let (_stage, mut terminal) = headless([read, edit, reply().text("Done.")]);
    transcript(&mut terminal);
    let screen = terminal.screen();
    assert!(screen.contains("I will read.\n  > read_file README.md\n"), "{screen}");
    assert!(screen.contains("I will edit.\n  > replace README.md"), "{screen}");
    assert_eq!(screen.matches("Error executing tool replace: ").count(), 1, "{screen}");
    let (before, after) = screen.split_once("  > replace").unwrap();
    assert!(!before.contains("Error") && after.contains("Error executing"), "{screen}");
    assert!(screen.ends_with("Done."), "{screen}");
}

#[test]
fn a_broken_answer_does_not_share_a_line_with_its_error() {
    let broken = || reply().text("Step 0.").no_finish();
    let (_stage, mut terminal) = headless([broken(), broken(), broken(), broken()]);
    transcript(&mut terminal);
    let screen = terminal.screen();
    assert!(screen.contains("\n[ERROR] ") && !screen.contains(".[ERROR]"), "{screen}");
}

#[test]
fn a_pipe_gets_no_status() {
    let slow = reply().text("Slow.").delay_before(Duration::from_millis(1500));
    let stage = Stage::with([slow]);
    let done = stage.prompt("text", "go");
    assert_eq!((done.stdout_text().as_str(), done.stderr_text().as_str()), ("Slow.\n", ""));
}
