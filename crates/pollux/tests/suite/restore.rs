//! Checkpoints of files, and `/restore`.

use std::fs;

use pollux_testkit::{CapturedRequest, Endpoint, ModelReply, reply};
use pretty_assertions::assert_eq;
use serde_json::json;

use super::line::Talk;
use super::stage::{Stage, texts};

/// Model that runs the command line of a prompt such as `run COMMAND`, and writes a file for
/// `write TEXT`.
fn worker(request: &CapturedRequest) -> ModelReply {
    if request.last_parts().iter().any(|part| part.get("functionResponse").is_some()) {
        return reply().text("Done.");
    }
    let said = texts(request.contents().last().unwrap()).last().unwrap().to_string();
    match said.split_once(' ') {
        Some(("run", command)) => reply().call("run_shell_command", json!({ "command": command })),
        Some(("write", text)) => {
            reply().call("write_file", json!({"file_path": "a.txt", "content": text}))
        }
        _ => reply().text(format!("Heard {said}.")),
    }
}

fn talk(enabled: bool) -> Talk {
    let stage = Stage::new();
    stage.server.answer_with(Endpoint::StreamGenerateContent, worker);
    stage.home.settings(&json!({"general": {"checkpointing": {"enabled": enabled}}}));
    stage.home.project_file("a.txt", "original");
    stage.home.project_file("b.txt", "mine\r\n");
    stage.home.project_file(".gitignore", "ignored\n");
    stage.home.project_file("ignored", "1");
    super::stored_conversations::start(stage, |program| program.args(["--yolo"]))
}

fn names(talk: &Talk) -> Vec<String> {
    let entries = fs::read_dir(talk.stage.project_temporary().join("checkpoints")).unwrap();
    let names = entries.map(|entry| entry.unwrap().file_name().into_string().unwrap());
    let mut names: Vec<String> =
        names.map(|name| name.strip_suffix(".json").unwrap().to_owned()).collect();
    names.sort();
    names
}

#[test]
fn files_are_restored_also_after_commands_and_the_restore_is_taken_back() {
    let talk = talk(true);
    let project = talk.stage.home.project();
    let read = |name: &str| fs::read_to_string(project.join(name)).ok();
    talk.say("/restore", "No restorable tool calls found.");
    talk.say("write first", "Done.");
    talk.say("run rm b.txt; echo new > c.txt; echo 2 > ignored", "Done.");
    assert_eq!((read("a.txt").as_deref(), read("b.txt")), (Some("first"), None));
    let [first, second] = &names(&talk)[..] else { panic!("{:?}", names(&talk)) };
    assert!(first.ends_with("-a.txt-write_file"), "{first}");
    assert!(second.ends_with("-files-run_shell_command"), "{second}");
    talk.say("/restore", &format!("Available tool calls to restore:\n  {first}\n  {second}"));
    talk.say("/restore nosuch", "Error: File not found: nosuch");

    let preview = "Files that a restore changes: 3\n  change a.txt\n  create b.txt\n  remove c.txt";
    talk.say_and_answer(&format!("/restore {first}"), preview, "n");
    talk.wait_for_end("Choose 1-3: n");
    assert_eq!(read("a.txt").as_deref(), Some("first"), "nothing was restored");
    talk.say_and_answer(&format!("/restore {first}.json"), preview, "1");
    talk.wait_for_end("To take this back: /restore ");
    let restored = (read("a.txt"), read("b.txt"), read("c.txt"), read("ignored"));
    let text = |text: &str| Some(text.to_owned());
    assert_eq!(restored, (text("original"), text("mine\r\n"), None, text("2\n")));
    // The conversation continues before the prompt that led to the call.
    talk.say("hello", "Heard hello.");
    assert_eq!(talk.last_conversation(), ["hello"]);

    let undo = names(&talk).pop().unwrap();
    assert!(undo.ends_with("-restore"), "{undo}");
    talk.say_and_answer(&format!("/restore {undo}"), "Restore the files", "1");
    talk.wait_for_more("To take this back: /restore ", 1, |last| last.ends_with('>'));
    assert_eq!((read("a.txt").as_deref(), read("b.txt")), (Some("first"), None));
    assert!(!project.join(".git").exists());
    talk.leave();
}

#[test]
fn without_the_setting_there_are_no_checkpoints() {
    let talk = talk(false);
    talk.say("/restore", "Set general.checkpointing.enabled.");
    talk.say("write first", "Done.");
    assert!(!talk.stage.project_temporary().join("checkpoints").exists());
    assert!(!talk.stage.home.gemini().join("history/project/.git").exists());
    talk.leave();
}

#[test]
fn without_git_a_conversation_does_not_begin() {
    let stage = Stage::new();
    stage.home.settings(&json!({"general": {"checkpointing": {"enabled": true}}}));
    let empty = stage.home.root().join("empty");
    let mut terminal = stage.pollux(&[]).env("PATH", empty).in_terminal(40, 100);
    let code = terminal.wait_exit(super::stage::SOON).exit_code();
    assert_eq!(code, 52, "{}", terminal.screen());
    assert!(terminal.screen().contains("Git is not installed"), "{}", terminal.screen());
}
