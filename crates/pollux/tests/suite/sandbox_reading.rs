//! Commands that only read, and the files that they cannot read.

use std::fs;
use std::path::{Path, PathBuf};

use pollux_testkit::{Key, reply};
use pretty_assertions::assert_eq;
use serde_json::json;

use super::sandbox::holds_here;
use super::stage::{SOON, Stage};

/// Part of the question, and of the refusal without a user.
const REASON: &str = "is secret or outside of what a command may read without a question";

/// Returns a stage with a file outside of the workspace, whose model reads it by this line.
fn reading(line: &str) -> Stage {
    let stage = Stage::new();
    fs::create_dir(stage.home.root().join("other")).unwrap();
    fs::write(stage.home.root().join("other/notes"), "outside\n").unwrap();
    let call = reply().call("run_shell_command", json!({ "command": line }));
    stage.server.stream(call).stream(reply().text("All is read."));
    stage
}

#[test]
fn a_file_that_inspect_cannot_read_is_asked_about_before_the_first_run() {
    if !holds_here("inspect") {
        return;
    }
    let stage = reading("cat ../other/notes");
    let mut terminal = stage.pollux(&["-i", "go"]).in_terminal(40, 200);
    terminal.wait_for_text("it reads ", SOON);
    terminal.wait_for_text("Choose 1-", SOON);
    terminal.send("1");
    terminal.send_key(Key::Enter);
    terminal.wait_for_text("All is read.", SOON);
    assert!(stage.response().contains("outside\n"), "{}", stage.response());
    terminal.wait_for(|screen| screen.contents().trim_end().ends_with('>'), SOON);
    terminal.send_key(Key::Ctrl('d'));
    assert_eq!(terminal.wait_exit(SOON).exit_code(), 0);
}

#[test]
fn without_a_user_such_a_line_is_refused_and_a_rule_allows_it() {
    if !holds_here("inspect") {
        return;
    }
    let stage = reading("cat ../other/notes");
    stage.prompt("text", "go").assert_code(0);
    let refused = stage.response();
    assert!(
        refused.contains(REASON) && refused.contains("with a rule in ~/.gemini/policies"),
        "{refused}"
    );
    let stage = reading("cat ../other/notes");
    let rule = "[[rule]]\ntoolName = \"run_shell_command\"\ncommandPrefix = \"cat\"\n\
                decision = \"allow\"\npriority = 100\n";
    stage.home.user_file("policies/mine.toml", rule);
    stage.prompt("text", "go").assert_code(0);
    assert!(stage.response().contains("outside\n"), "{}", stage.response());
}

#[test]
fn a_reading_line_cannot_read_secrets_and_leaves_no_file() {
    if !holds_here("inspect") {
        return;
    }
    let stage = Stage::new();
    stage.home.project_file(".env", "KEY=hush\n");
    stage.home.project_file("file", "open\n");
    // The line does not name the secret.
    let line = "cat file .en*";
    let call = reply().call("run_shell_command", json!({ "command": line }));
    stage.server.stream(call).stream(reply().text("All is read."));
    let before = names(&stage.home.project());
    let mut terminal = stage.pollux(&["-i", "go"]).in_terminal(40, 200);
    terminal.wait_for_text("All is read.", SOON);
    let reported = stage.response();
    assert!(reported.contains("open") && !reported.contains("hush"), "{reported}");
    assert!(
        reported.contains("at the level inspect, ") && reported.contains(".env "),
        "{reported}"
    );
    assert_eq!(names(&stage.home.project()), before);
    terminal.wait_for(|screen| screen.contents().trim_end().ends_with('>'), SOON);
    terminal.send_key(Key::Ctrl('d'));
    assert_eq!(terminal.wait_exit(SOON).exit_code(), 0);
}

fn names(folder: &Path) -> Vec<PathBuf> {
    let mut names: Vec<PathBuf> =
        fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path()).collect();
    names.sort();
    names
}
