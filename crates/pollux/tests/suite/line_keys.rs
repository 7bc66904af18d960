//! Keys of line mode, and lines that are not prompts.

use std::time::Duration;

use pollux_testkit::{Key, reply};

use super::line::{Talk, at_prompt};
use super::stage::{Stage, texts};

const SOON: Duration = Duration::from_secs(20);

/// Returns the text of the last prompt that the model received.
fn last_prompt(talk: &Talk) -> String {
    let contents = talk.stage.server.last_request().contents().to_vec();
    texts(contents.last().unwrap()).join("|")
}

#[test]
fn a_line_end_can_be_typed() {
    let talk = Talk::with([reply().text("Read.")]);
    for (line, key) in [
        ("one", "\u{1b}\r"),
        ("two", "\n"),
        ("three", "\u{1b}[13;2u"),
        ("four", "\u{1b}[27;2;13~"),
        ("five", "\r"),
    ] {
        talk.terminal.send(line);
        talk.terminal.send(key);
    }
    talk.wait_for_text("> one\n. two\n. three\n. four\n. five\nRead.");
    assert!(last_prompt(&talk).ends_with("one\ntwo\nthree\nfour\nfive"));
    talk.end();
}

/// Returns the rows of the screen, joined by `|`, from the first prompt on.
fn from_prompt(screen: &str) -> String {
    let rows: Vec<&str> = screen.trim_end().lines().map(str::trim_end).collect();
    let start = rows.iter().position(|row| row.starts_with("> ") || row.contains("pro> "));
    rows[start.unwrap_or_default()..].join("|")
}

#[test]
fn a_long_prompt_wraps_between_words_and_stays() {
    let stage = Stage::with([reply().text("Read.")]);
    let terminal = stage.pollux(&[]).in_terminal(24, 40);
    let talk = Talk { stage, terminal };
    talk.wait_for_prompt();
    let words = "explain the parser and then the printer of this 漢字漢字 crate END";
    talk.terminal.send(words);
    let rows = "> explain the parser and then the|printer of this 漢字漢字 crate END";
    talk.terminal.wait_for(|screen| from_prompt(&screen.contents()) == rows, SOON);
    // The first word is replaced; the rows below follow.
    talk.terminal.send("\u{1}\u{1b}dDescribe\u{1b}[C\u{1b}[C\u{1b}[C\u{1b}[C\u{15}Say why the");
    let rows = "> Say why the parser and then the|printer of this 漢字漢字 crate END";
    talk.terminal
        .wait_for(|screen| from_prompt(&screen.contents()).starts_with("> Say why the"), SOON);
    let shown = from_prompt(&talk.terminal.screen());
    assert_eq!(shown, rows);
    talk.terminal.resize(24, 50);
    let wide = "Say why the parser and then the printer of this|漢字漢字 crate END";
    talk.terminal.wait_for(|screen| from_prompt(&screen.contents()).contains(wide), SOON);
    talk.terminal.send("\r");
    talk.wait_for_text("Read.");
    talk.wait_for_prompt();
    let shown = from_prompt(&talk.terminal.screen());
    assert!(shown.contains(&format!("{wide}|Read.|")), "{shown}");
    assert_eq!(shown.matches("Say why").count(), 1, "{shown}");
    talk.quit();
}

#[test]
fn a_prompt_of_several_lines_is_shown_with_its_lines() {
    let talk = Talk::with([reply().text("Read."), reply().text("Again.")]);
    talk.terminal.paste("one\ntwo\nthree");
    let lines = "> one\n. two\n. three";
    talk.wait_for_text(lines);
    talk.terminal.send_key(Key::Enter);
    talk.wait_for_text(&format!("{lines}\nRead."));
    talk.wait_for_prompt();
    talk.terminal.send("\u{1b}[A");
    talk.terminal.wait_for(|screen| screen.contents().matches(lines).count() == 2, SOON);
    // The recalled prompt is edited in its first line, and shown again below another line.
    talk.terminal.send(&"\u{1b}[D".repeat(12));
    talk.terminal.send("x");
    talk.wait_for_text("> oxne\n. two\n. three");
    talk.terminal.send("\r");
    talk.wait_for_text("> oxne\n. two\n. three\nAgain.");
    assert!(last_prompt(&talk).ends_with("oxne\ntwo\nthree"), "{}", last_prompt(&talk));
    talk.quit();
}

#[test]
fn a_screen_reader_gets_the_whole_prompt_at_its_end() {
    let stage = Stage::with([reply().text("Read.")]);
    let talk = Talk::start(stage, |program| program.args(["--screen-reader"]));
    let words = ["a prompt of many words "; 6].concat();
    talk.terminal.send(&words);
    talk.terminal.send("END");
    talk.wait_for_text(" END");
    talk.terminal.send_key(Key::Enter);
    talk.wait_for_text("Read.");
    assert!(talk.terminal.screen().contains("> a prompt of many words a prompt of"));
    talk.end();
}

#[test]
fn a_path_is_completed() {
    let stage = Stage::with([reply().text("Read.")]);
    stage.home.project_file("source/main file.rs", "fn main() {}\n");
    stage.home.project_file("source/market.rs", "");
    stage.home.project_file("build/x", "");
    stage.home.project_file(".gitignore", "build\n");
    std::fs::create_dir(stage.home.project().join(".git")).unwrap();
    let talk = Talk::start(stage, |program| program);
    talk.terminal.send("see @\t");
    talk.wait_for_text("> see @source/");
    talk.terminal.send("m\t");
    talk.wait_for_text("> see @source/ma");
    talk.terminal.send("\t");
    talk.wait_for_text(&(at_prompt("source/main\\ file.rs  source/market.rs") + " see @source/ma"));
    talk.terminal.send("i\t");
    talk.wait_for_text("> see @source/main\\ file.rs");
    talk.terminal.send("now\r");
    talk.wait_for_text("Read.");
    assert!(last_prompt(&talk).contains("fn main() {}"), "{}", last_prompt(&talk));
    talk.end();
}

#[test]
fn the_history_is_searched_and_changes_are_undone() {
    let talk = Talk::with([reply().text("One."), reply().text("Two."), reply().text("Three.")]);
    for (line, answer) in [("explain the parser", "One."), ("run the tests", "Two.")] {
        talk.type_line(line);
        talk.wait_for_text(answer);
        talk.wait_for_prompt();
    }
    talk.terminal.send_key(Key::Ctrl('r'));
    talk.terminal.send("pars");
    talk.wait_for_text("(reverse-i-search)`pars': explain the parser");
    // The word is deleted, the deletion is undone; the word is deleted and inserted twice.
    talk.terminal.send("\u{1b}[F\u{17}\u{1f}\u{17}\u{19}\u{19}\r");
    talk.wait_for_text("> explain the parserparser\nThree.");
    talk.end();
}

#[test]
fn a_prompt_is_written_in_the_editor() {
    let stage = Stage::with([reply().text("One."), reply().text("Two.")]);
    let script = "#!/bin/sh\nprintf 'and more\\nlines\\n' >> \"$1\"\n";
    stage.home.project_file("editor.sh", script);
    let editor = format!("sh {}", stage.home.project().join("editor.sh").display());
    let talk = Talk::start(stage, |program| program.env("VISUAL", editor));
    for (keys, answer) in [("\u{7}", "One."), ("\u{18}\u{5}", "Two.")] {
        talk.terminal.send("first ");
        talk.terminal.send(keys);
        talk.wait_for_text("> first and more\n. lines");
        talk.terminal.send_key(Key::Enter);
        talk.wait_for_text(answer);
        talk.wait_for_prompt();
        assert!(last_prompt(&talk).ends_with("first and more\nlines"), "{}", last_prompt(&talk));
        talk.terminal.send_key(Key::Ctrl('l'));
        talk.terminal.wait_for(|screen| screen.contents().trim_end() == at_prompt("").trim(), SOON);
    }
    talk.quit();
}

#[test]
fn a_command_of_the_user_runs_and_is_shown_to_the_model() {
    let talk = Talk::with([reply().text("I see.")]);
    talk.type_line("!echo made by me; touch made; exit 3");
    talk.wait_for_text(&at_prompt("made by me\nError: The command ended: exit code 3."));
    assert!(talk.stage.home.project().join("made").exists());
    assert_eq!(talk.stage.requests().len(), 0);
    talk.type_line("what did I do?");
    talk.wait_for_text("I see.");
    let prompt = last_prompt(&talk);
    let command = "$ echo made by me; touch made; exit 3\nmade by me\n[exit code 3]";
    assert!(prompt.contains(command) && prompt.contains("what did I do?"), "{prompt}");
    talk.end();
}

#[test]
fn a_command_of_the_user_can_be_stopped() {
    let talk = Talk::with([]);
    talk.type_line("!echo started; sleep 60; touch late");
    talk.wait_for_text("\nstarted");
    talk.wait_for_text("running the command, 1 s");
    talk.terminal.send_key(Key::Ctrl('c'));
    talk.wait_for_text("Request cancelled.");
    talk.wait_for_prompt();
    talk.end();
}

#[test]
fn a_line_that_begins_with_a_path_is_a_prompt() {
    let talk = Talk::with([reply().text("Explained.")]);
    talk.type_line("/etc/hosts explain this");
    talk.wait_for_text("Explained.");
    assert!(last_prompt(&talk).ends_with("/etc/hosts explain this"));
    talk.end();
}
