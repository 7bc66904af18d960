//! Questions about calls in line mode: nothing is approved unseen.

use pollux_testkit::{ModelReply, reply};
use serde_json::{Value, json};

use super::line::Talk;
use super::stage::Stage;

fn shell(arguments: Value) -> ModelReply {
    reply().call("run_shell_command", arguments)
}

#[test]
fn the_end_of_a_long_command_line_is_seen_before_the_approval() {
    let line = format!("echo {}; touch HIDDEN", "x".repeat(1100));
    let lines = format!("{}touch HIDDEN", "true\n".repeat(900));
    for command in [line, lines] {
        let talk = Talk::with([shell(json!({ "command": command })), reply().text("Done.")]);
        talk.type_line("go");
        talk.wait_for_text("3. Allow");
        let screen = talk.terminal.screen();
        let shown = screen.replace('\n', "");
        assert!(shown.contains("touch HIDDEN"), "{screen}");
        assert!(!talk.stage.home.project().join("HIDDEN").exists());
        talk.type_line("n");
        talk.wait_for_text("Not applied. Type what to do instead.");
        talk.wait_for_prompt();
        talk.stage.server.discard_replies();
        talk.end();
    }
}

#[test]
fn a_command_that_is_not_shown_whole_cannot_be_approved() {
    let command = format!("{}touch HIDDEN\n{}", "true\n".repeat(1000), "true\n".repeat(1000));
    let talk = Talk::with([shell(json!({ "command": command })), reply().text("Done.")]);
    talk.type_line("go");
    talk.wait_for_text("  1. Show everything\n  2. No, suggest changes\nChoose 1-2:");
    talk.type_line("y");
    talk.wait_for_text("Type a number from 1 to 2, or what to do instead.");
    talk.type_line("1");
    talk.wait_for_text("  1. Allow once\n");
    talk.type_line("y");
    talk.wait_for_text("Done.");
    assert!(talk.stage.home.project().join("HIDDEN").exists());
    let transcript = talk.end();
    let (cut, whole) = transcript.split_once("Show everything").unwrap();
    let (cut, _) = cut.split_once("Commands, each once:").unwrap();
    assert!(cut.contains("[Not shown: ") && !cut.contains("touch HIDDEN"), "a part is not shown");
    assert!(whole.contains("  touch HIDDEN\r\n"), "everything is shown");
}

#[test]
fn the_commands_of_a_line_that_is_not_shown_whole_are_listed() {
    let (flood, words) = ("true\n".repeat(1000), "word ".repeat(100));
    let short = (1..=60).map(|number| format!("echo {number}\n")).collect::<Vec<_>>().concat();
    let long_word = "x".repeat(110_000);
    for (command, listed) in [
        (
            format!("{flood}rm -rf ~\nsh -c 'echo {words}; touch HIDDEN'\n{flood}"),
            vec!["  rm -rf ~\n", "  touch HIDDEN\n", "  sh -c 'echo word word"],
        ),
        (
            format!("{short}{flood}{flood}rm -rf ~"),
            vec!["  echo 50\n  and 12 more\nAllow execution"],
        ),
        (
            format!("echo {long_word}; rm -rf ~; echo {long_word}")[..120_000].to_owned(),
            vec!["  rm -rf ~\n"],
        ),
    ] {
        let talk = Talk::with([shell(json!({ "command": command }))]);
        talk.type_line("go");
        talk.wait_for_text("  1. Show everything\n  2. No, suggest changes\nChoose 1-2:");
        let transcript = String::from_utf8(talk.terminal.transcript()).unwrap().replace('\r', "");
        let (_, list) = transcript.split_once("\nCommands, each once:\n").unwrap();
        assert!(listed.iter().all(|entry| list.contains(entry)), "{list}");
        assert!(list.lines().all(|line| line.chars().count() < 170), "{list}");
        talk.type_line("2");
        talk.wait_for_text("Not applied. Type what to do instead.");
        talk.wait_for_prompt();
        talk.end();
    }
}

#[test]
fn a_long_change_is_shown_whole_before_the_approval() {
    let lines: Vec<String> = (0..3000).map(|number| format!("line {number}")).collect();
    let content = lines.join("\n") + "\n";
    let write = json!({ "file_path": "a.txt", "content": content });
    let talk = Talk::with([reply().call("write_file", write), reply().text("Done.")]);
    talk.type_line("go");
    talk.wait_for_text("  1. Show everything\n");
    talk.type_line("1");
    talk.wait_for_text("  1. Allow once\n");
    talk.type_line("1");
    talk.wait_for_text("Done.");
    assert_eq!(talk.stage.home.read_project_file("a.txt"), content);
    assert!(talk.end().contains("  +line 1500\r\n"));
}

#[test]
fn a_command_is_described() {
    let stage = Stage::with([shell(json!({
        "command": "touch made",
        "description": "Makes a file.",
        "dir_path": "sub",
        "is_background": true,
    }))]);
    stage.home.project_file("sub/a.txt", "");
    let talk = Talk::start(stage, |program| program);
    talk.type_line("go");
    talk.wait_for_text("  touch made\nIn: sub\nDescription: Makes a file.\nRuns: touch\n");
    talk.wait_for_text("The command continues in the background.\n");
    talk.type_line("no");
    talk.wait_for_text("Not applied. Type what to do instead.");
    talk.wait_for_prompt();
    talk.end();
}
