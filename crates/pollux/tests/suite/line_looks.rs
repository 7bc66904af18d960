//! Looks of line mode: colours, line breaks, the label of the prompt, and the last lines.

use std::time::Duration;

use pollux_testkit::{Key, ModelReply, Terminal, reply};
use serde_json::json;

use super::line::{Talk, at_prompt};
use super::stage::{MODEL, Stage, is_alive, wait_until};

const SOON: Duration = Duration::from_secs(20);

fn edit() -> ModelReply {
    let arguments = json!({"file_path": "a.txt", "instruction": "x", "old_string": "two", "new_string": "zwei"});
    reply().call("replace", arguments)
}

fn transcript(terminal: &Terminal) -> String {
    String::from_utf8(terminal.transcript()).unwrap()
}

#[test]
fn colours_follow_the_wishes_of_the_user() {
    for (no_colour, is_coloured) in [("", true), ("1", false)] {
        let stage = Stage::with([edit()]);
        stage.home.project_file("a.txt", "one\ntwo\n");
        let talk = Talk::start(stage, |program| program.env("NO_COLOR", no_colour));
        talk.type_line("go");
        talk.wait_for_text("Choose 1-4:");
        talk.type_line("n");
        talk.wait_for_text("Not applied. Type what to do instead.");
        talk.wait_for_prompt();
        talk.type_line("/nosuch");
        talk.wait_for_text("Unknown command");
        let shown = transcript(&talk.terminal);
        for coloured in
            ["\u{1b}[31m  -two\u{1b}[0m", "\u{1b}[32m  +zwei\u{1b}[0m", "\u{1b}[31mError: "]
        {
            assert_eq!(shown.contains(coloured), is_coloured, "{coloured:?} {shown:?}");
        }
        assert_eq!(shown.contains("\u{1b}[3"), is_coloured, "{shown:?}");
        talk.wait_for_prompt();
        talk.end();
    }
}

/// Waits until the last line of the screen is this label.
fn wait_for_label(terminal: &Terminal, label: &str) {
    let ends = |screen: &pollux_testkit::Screen| screen.contents().trim_end().ends_with(label);
    terminal.wait_for(ends, SOON);
}

/// Asserts that no printed line is wider than the terminal, if it has a blank to break at.
fn assert_fits(terminal: &Terminal, columns: usize) {
    let printed = transcript(terminal).replace("\u{1b}[?2004h", "").replace('\u{1b}', "\n\u{1b}");
    for line in printed.split(['\r', '\n']) {
        let text = line.trim_start_matches(|letter| "\u{1b}[0123456789m".contains(letter));
        let breaks = text.char_indices().take(columns).any(|(at, letter)| at > 8 && letter == ' ');
        assert!(text.chars().count() <= columns || !breaks, "{line:?}");
    }
}

#[test]
fn questions_and_errors_break_between_words() {
    let missing = json!({"file_path": "a.txt", "instruction": "x", "old_string": "no such text", "new_string": "y"});
    let stage =
        Stage::with([edit(), reply().call("replace", missing), reply().text("All of it is done.")]);
    stage.home.project_file("a.txt", "one\ntwo\n");
    let terminal = stage.pollux(&["--no-screen-reader"]).env("NO_COLOR", "1").in_terminal(60, 40);
    let talk = Talk { stage, terminal };
    talk.wait_for_prompt();
    talk.type_line("go");
    talk.wait_for_text(
        "  1. Allow once\n  2. Allow all edits for this session\n     (mode auto_edit)\n  3. Modify with external editor\n",
    );
    talk.wait_for_text("Choose 1-4:");
    talk.type_line("1");
    talk.wait_for_text("    Error: Could not find an exact\n    match for");
    talk.wait_for_text("All of it is done.");
    assert_fits(&talk.terminal, 40);
    talk.wait_for_prompt();
    talk.end();
}

#[test]
fn messages_before_the_conversation_break_between_words() {
    let stage = Stage::new();
    let program = stage.pollux(&[]).env_remove("GEMINI_CLI_TRUST_WORKSPACE");
    let mut terminal = program.in_terminal(60, 40);
    terminal.wait_for_text("Choose 1-3", SOON);
    terminal.send("3\r");
    terminal.wait_for_text("Ctrl-D", SOON);
    terminal.wait_for(|screen| screen.contents().trim_end().ends_with('>'), SOON);
    let text = terminal.screen();
    assert!(text.contains("Restricted mode:") && text.contains("would be read."), "{text}");
    assert_fits(&terminal, 40);
    terminal.send_key(Key::Ctrl('d'));
    terminal.wait_exit(SOON);
}

#[test]
fn messages_of_a_headless_run_break_between_words() {
    let missing = json!({"file_path": "a.txt", "instruction": "x", "old_string": "no such text", "new_string": "y"});
    let stage = Stage::with([reply().call("replace", missing), reply().text("Done.")]);
    stage.home.project_file("a.txt", "one\n");
    let program = stage.pollux(&["--approval-mode", "auto_edit", "-p", "go"]);
    let mut terminal = program.in_terminal(60, 40);
    terminal.wait_exit(SOON);
    assert!(terminal.screen().contains("Error executing tool"), "{}", terminal.screen());
    assert_fits(&terminal, 40);
}

#[test]
fn the_prompt_shows_model_and_mode() {
    let talk = Talk::with([]);
    for (mode, label) in [("plan", " plan>"), ("auto_edit", " auto_edit>"), ("default", ">")] {
        talk.type_line(&format!("/mode {mode}"));
        wait_for_label(&talk.terminal, &format!("\n{MODEL}{label}"));
    }
    talk.type_line("/model gemini-2.5-flash");
    wait_for_label(&talk.terminal, "\ngemini-2.5-flash>");
    talk.terminal.resize(40, 59);
    talk.type_line("/mode plan");
    wait_for_label(&talk.terminal, "\nplan >");
    talk.end();
}

#[test]
fn a_screen_reader_hears_only_the_mode() {
    let table = [
        (false, &["--screen-reader"][..], "\n>".to_owned()),
        (true, &[], "\n>".to_owned()),
        (true, &["--screen-reader=false"], format!("\n{MODEL}>")),
    ];
    for (is_set, flags, label) in table {
        let stage = Stage::new();
        stage.home.settings(&json!({"ui": {"accessibility": {"screenReader": is_set}}}));
        let talk = Talk::start(stage, |program| program.args(flags));
        wait_for_label(&talk.terminal, &label);
        talk.end();
    }
}

#[test]
fn lines_break_between_words() {
    let answer = format!("{}end", "word ".repeat(20)) + "\n```\n" + &"code ".repeat(20) + "\n```\n";
    let talk = Talk::with([reply().text(&answer[..7]).text(&answer[7..])]);
    talk.type_line("go");
    talk.wait_for_text(&at_prompt("\n```"));
    let screen = talk.terminal.screen();
    assert!(screen.contains("word word\nend\n```\ncode code"), "{screen}");
    talk.end();
}

#[test]
fn a_cleared_conversation_is_forgotten() {
    let talk = Talk::with([reply().text("One."), reply().text("Two.")]);
    talk.type_line("the secret word is swordfish");
    talk.wait_for_text("One.");
    talk.wait_for_prompt();
    talk.type_line("/clear");
    talk.wait_for_text("To resume this session: pollux --resume ");
    talk.wait_for_prompt();
    talk.type_line("again");
    talk.wait_for_text("Two.");
    let request = talk.stage.server.last_request().body.to_string();
    assert!(!request.contains("swordfish") && request.contains("again"), "{request}");
    talk.end();
}

#[test]
fn quitting_names_the_commands_that_it_ends() {
    let command = json!({"command": "echo $$ > process; exec sleep 60", "is_background": true});
    let stage = Stage::with([reply().call("run_shell_command", command), reply().text("Runs.")]);
    let talk = Talk::start(stage, |program| program.args(["--yolo"]));
    talk.type_line("go");
    talk.wait_for_text("Runs.");
    talk.wait_for_prompt();
    let process = || talk.stage.home.project().join("process");
    wait_until("the command runs", || process().exists());
    let Talk { stage, mut terminal } = talk;
    terminal.send_key(Key::Ctrl('d'));
    terminal.wait_exit(SOON);
    let id: u32 = stage.home.read_project_file("process").trim().parse().unwrap();
    let line = format!("Background command {id} is ended: echo $$ > process; exec sleep 60");
    assert!(transcript(&terminal).contains(&line), "{}", terminal.screen());
    wait_until("the command has ended", || !is_alive(id));
}
