//! Built-in commands of line mode, each with good and bad arguments.

use std::time::Duration;

use pollux_testkit::{Key, reply};
use pretty_assertions::assert_eq;
use serde_json::json;

use super::line::Talk;
use super::stage::Stage;

/// Types each line and waits for its text.
fn talk_through(talk: &Talk, lines: &[(&str, &str)]) {
    for (line, text) in lines {
        talk.type_line(line);
        talk.wait_for_text(text);
        talk.wait_for_prompt();
    }
}

/// Returns the text of a file of the user.
fn user_file(talk: &Talk, name: &str) -> String {
    std::fs::read_to_string(talk.stage.home.gemini().join(name)).unwrap()
}

#[test]
fn commands_that_show_something() {
    let talk = Talk::with([]);
    talk_through(
        &talk,
        &[
            ("/help", "  show tokens, cost, calls and times"),
            ("/help /model", "/model [NAME|list|manage|set NAME [--persist]]\n"),
            ("/help usage", "Other names: /usage"),
            ("/help hooks", "/hooks enable NAME   "),
            ("/help nosuch", "Error: Unknown command: /nosuch."),
            ("/about", "\nSign-in        gemini-api-key\n"),
            ("/tools", "\n  read_file "),
            ("/tools desc", "\n  stop_background_process (Stop Background Process)\n    Stops "),
            ("/privacy", "Pollux sends nothing to its authors"),
            ("/policies list", "A rule with a higher number comes first."),
            ("/policies nosuch", "Error: Usage: /policies list"),
            ("/tasks", "No command runs in the background."),
            ("/tasks stop 1", "Error: There is no background command 1."),
            ("/bashes nosuch", "Error: Usage: /tasks"),
            ("/docs", "Documentation: https://"),
            ("/shortcuts", "\nCtrl-R                searches earlier prompts\n"),
            ("/copy", "No output in history"),
            ("/hooks", "No hooks are configured."),
        ],
    );
    talk.end();
}

#[test]
fn statistics_have_three_views() {
    let stage = Stage::with([
        reply().call("list_directory", json!({"dir_path": "."})),
        reply().text("Done."),
    ]);
    let talk = Talk::start(stage, |program| program);
    talk_through(
        &talk,
        &[
            ("/stats", "No requests yet."),
            ("/stats tools", "No calls of tools yet."),
            ("list it", "Done."),
            ("/stats", "Calls      1 (1 succeeded, 0 failed: 100.0 %)"),
            ("/usage session", "Model           Requests"),
            ("/stats model", "\nAverage time  "),
            ("/stats tools", "list_directory      1    100.0 %"),
            ("/stats nosuch", "Error: Usage: /stats session, /stats model, or /stats tools"),
        ],
    );
    talk.end();
}

#[test]
fn the_last_answer_goes_to_the_clipboard_of_the_terminal() {
    let talk = Talk::start(Stage::with([reply().text("One."), reply().text("Two.")]), |program| {
        program.env("SSH_TTY", "/dev/pts/9")
    });
    talk_through(
        &talk,
        &[("first", "One."), ("second", "Two."), ("/copy", "Last output copied to the clipboard")],
    );
    talk.terminal.send_key(Key::Ctrl('d'));
    let Talk { mut terminal, .. } = talk;
    terminal.wait_exit(Duration::from_secs(10));
    let output = String::from_utf8(terminal.transcript()).unwrap();
    // "Two." in Base64.
    assert_eq!(output.matches("\u{1b}]52;c;VHdvLg==\u{7}").count(), 1, "{output:?}");
}

#[test]
fn folders_are_added_to_the_workspace_with_trust() {
    let stage = Stage::with([
        reply().call("read_file", json!({"file_path": "../lib/a.txt"})),
        reply().text("It says: hello."),
    ]);
    stage.home.project_file("../lib/a.txt", "hello");
    stage.home.project_file("../other/b.txt", "b");
    let talk = Talk::start(stage, |program| program);
    talk_through(
        &talk,
        &[
            ("/directory", "Current workspace directories:\n- "),
            ("/dir add", "Error: Please provide at least one path to add."),
            ("/directory add /nosuch", "Error: Directory does not exist: /nosuch"),
            ("/directory add .", "project is already in the workspace."),
            ("/directory nosuch", "Error: Usage: /directory show, or /directory add PATH[,PATH]"),
            ("/directory add ../lib, ../other", "Successfully added directories:\n- "),
            ("/directory show", "/other\n"),
            ("read it", "It says: hello."),
        ],
    );
    talk.terminal.send("/directory add ../li\t");
    talk.wait_for_text("> /directory add ../lib/");
    talk.terminal.send_key(Key::Ctrl('c'));
    talk.wait_for_prompt();
    let requests = talk.stage.server.requests();
    let [asked, answered] = [0, 1].map(|index| requests[index].body.to_string());
    assert!(asked.contains("has added folders"), "{asked}");
    assert!(answered.contains("hello"), "{answered}");
    talk.end();
}

#[test]
fn a_folder_without_trust_is_asked_about() {
    let stage = Stage::new();
    stage.home.project_file("../lib/a.txt", "");
    stage.home.project_file("../bad/a.txt", "");
    let (project, bad) = (stage.home.project(), stage.home.root().join("bad"));
    let trust = json!({(project.to_str().unwrap()): "TRUST_FOLDER", (bad.to_str().unwrap()): "DO_NOT_TRUST"});
    stage.home.user_file("trustedFolders.json", trust.to_string());
    let talk = Talk::start(stage, |program| program.env_remove("GEMINI_CLI_TRUST_WORKSPACE"));
    talk.type_line("/directory add ../lib");
    talk.wait_for_text("3. No");
    talk.type_line("3");
    talk.wait_for_text("lib was not added.");
    talk.wait_for_prompt();
    talk.type_line("/directory add ../lib");
    let is_asked_again = |screen: &str| screen.matches("Yes, and remember the folder").count() == 2;
    talk.terminal.wait_for(|screen| is_asked_again(&screen.contents()), Duration::from_secs(10));
    talk.type_line("2");
    talk.wait_for_text("Successfully added directories:");
    talk.wait_for_prompt();
    talk_through(
        &talk,
        &[("/directory add ../bad", "is explicitly untrusted and cannot be added")],
    );
    let stored = user_file(&talk, "trustedFolders.json");
    assert!(stored.contains("/lib\": \"TRUST_FOLDER\""), "{stored}");
    talk.end();
}

#[test]
fn settings_are_found_explained_and_changed() {
    let talk = Talk::with([]);
    talk_through(
        &talk,
        &[
            ("/settings", "/settings TEXT searches"),
            ("/settings vimmode", "general.vimMode  false  (default)"),
            ("/settings nosuchthing", "Error: No setting contains \"nosuchthing\"."),
            ("/settings set", "Error: Usage: /settings [TEXT]"),
            ("/settings set nosuch.key 1", "Error: "),
            ("/settings set model.maxSessionTurns many", "Error: "),
            ("/settings set model.maxSessionTurns 7", "model.maxSessionTurns = 7 saved in "),
            ("/settings model.maxSessionTurns", "* user             7 "),
            ("/settings set model.maxSessionTurns 8 --scope project", "8 saved in "),
            ("/settings unset model.maxSessionTurns --scope=project", "removed from "),
            ("/settings unset model.maxSessionTurns --scope system", "Error: Usage: /settings"),
        ],
    );
    let user = user_file(&talk, "settings.json");
    assert!(user.contains("\"maxSessionTurns\": 7"), "{user}");
    talk.end();
}

#[test]
fn a_model_is_chosen_and_saved() {
    let talk = Talk::with([]);
    talk_through(
        &talk,
        &[
            ("/model set", "Error: Usage: /model NAME, /model list, /model manage, or /model set"),
            ("/model list", "NAME "),
            ("/model set gemini-2.5-flash", "Model: gemini-2.5-flash"),
            ("/model set gemini-2.5-pro --persist", "model.name = \"gemini-2.5-pro\" saved in "),
        ],
    );
    talk.type_line("/model manage");
    talk.wait_for_text("Select Model\n");
    talk.type_line("1");
    talk.wait_for_text("\nModel: ");
    talk.wait_for_prompt();
    let user = user_file(&talk, "settings.json");
    assert!(user.contains("\"name\": \"gemini-2.5-pro\""), "{user}");
    talk.end();
}

#[test]
fn init_creates_the_context_file_once_and_asks_the_model() {
    let talk = Talk::with([reply().text("Written.")]);
    talk_through(
        &talk,
        &[
            ("/init", "Empty GEMINI.md created. Now analyzing the project to populate it."),
            ("/init", "Error: A GEMINI.md file already exists in this directory. No changes were"),
        ],
    );
    let requests = talk.stage.server.requests();
    assert_eq!(requests.len(), 1);
    let sent = requests[0].body.to_string();
    assert!(sent.contains("The file GEMINI.md tells coding assistants"), "{sent}");
    assert_eq!(talk.stage.home.read_project_file("GEMINI.md"), "");
    talk.end();
}

#[cfg(unix)]
#[test]
fn init_follows_no_link_out_of_the_folder() {
    let stage = Stage::new();
    let target = stage.home.root().join("outside.md");
    std::os::unix::fs::symlink(&target, stage.home.project().join("GEMINI.md")).unwrap();
    let talk = Talk::start(stage, |program| program);
    talk_through(&talk, &[("/init", "Error: GEMINI.md cannot be created: ")]);
    assert!(!target.exists());
    talk.end();
}

#[test]
fn background_commands_are_listed_and_stopped() {
    let stage = Stage::with([
        reply().call("run_shell_command", json!({"command": "sleep 300", "is_background": true})),
        reply().text("It runs."),
    ]);
    let talk = Talk::start(stage, |program| program.args(["--yolo"]));
    talk_through(&talk, &[("start it", "It runs."), ("/tasks", " running            sleep 300")]);
    talk.terminal.send("/bg stop \t");
    let is_completed = |screen: &str| {
        let typed = screen.rsplit("/bg stop ").next().unwrap_or_default();
        typed.starts_with(|letter: char| letter.is_ascii_digit())
    };
    talk.terminal.wait_for(|screen| is_completed(&screen.contents()), Duration::from_secs(10));
    talk.terminal.send_key(Key::Enter);
    talk.wait_for_text("\nStopped ");
    talk.wait_for_prompt();
    talk_through(&talk, &[("/tasks", " ended (signal 15) ")]);
    talk.end();
}
