//! Questions at the terminal, and their possible answers.

use std::fs;
use std::time::Duration;

use pollux_testkit::{Key, ModelReply, Pollux, Terminal, reply, write_executable};
use serde_json::{Value, json};

use super::stage::Stage;

const SOON: Duration = Duration::from_secs(10);

/// A conversation in which the model edits `a.txt` and gets the result.
struct Talk {
    stage: Stage,
    terminal: Terminal,
}

impl Talk {
    fn start(stage: Stage, change: impl FnOnce(Pollux) -> Pollux) -> Self {
        let terminal = change(stage.pollux(&[])).in_terminal(40, 100);
        let talk = Self { stage, terminal };
        talk.wait("Ctrl-D quits.");
        talk.line("go");
        talk
    }

    fn wait(&self, text: &str) {
        self.terminal.wait_for_text(text, SOON);
    }

    fn line(&self, line: &str) {
        self.terminal.send(line);
        self.terminal.send_key(Key::Enter);
    }

    fn file(&self) -> String {
        self.stage.home.read_project_file("a.txt")
    }

    /// Returns the response to the latest call.
    fn reported(&self) -> String {
        self.stage.response()
    }

    fn end(mut self) {
        self.terminal.send_key(Key::Ctrl('d'));
        assert_eq!(self.terminal.wait_exit(SOON).exit_code(), 0, "{}", self.terminal.screen());
    }
}

fn stage(replies: impl IntoIterator<Item = ModelReply>) -> Stage {
    let stage = Stage::with(replies);
    stage.home.project_file("a.txt", "one\ntwo\nthree\n");
    stage
}

fn edit() -> ModelReply {
    let arguments = json!({"file_path": "a.txt", "instruction": "change", "old_string": "two", "new_string": "zwei"});
    reply().call("replace", arguments)
}

/// Creates an editor that runs this script.
fn editor(stage: &Stage, script: &str) -> String {
    let path = stage.home.gemini().join("editor");
    write_executable(&path, &format!("#!/bin/sh\n{script}\n"));
    path.display().to_string()
}

#[test]
fn a_change_is_changed_in_the_persons_editor() {
    let stage = stage([edit(), reply().text("Done.")]);
    let editor = editor(&stage, "sed -i s/zwei/drei/ \"$2\"; basename \"$2\" > \"$0.name\"");
    // The first variable counts, and may contain arguments.
    let talk = Talk::start(stage, |program| {
        program.env("VISUAL", format!("{editor} --wait")).env("EDITOR", "false")
    });
    talk.wait("Choose 1-4:");
    talk.line("3");
    talk.wait("  -two\n  +drei\n");
    assert_eq!(talk.file(), "one\ntwo\nthree\n", "it is shown once more before it is made");
    talk.line("1");
    talk.wait("Done.");
    assert_eq!(talk.file(), "one\ndrei\nthree\n");
    assert!(talk.reported().contains("User modified"), "{}", talk.reported());
    let name = fs::read_to_string(talk.stage.home.gemini().join("editor.name")).unwrap();
    assert_eq!(name, "a.txt\n");
    let left = fs::read_dir(talk.stage.project_temporary().join("edits")).unwrap().count();
    assert_eq!(left, 0, "nothing is left behind");
    talk.end();
}

#[test]
fn keys_go_to_the_editor_while_it_is_open() {
    let stage = stage([edit(), reply().text("Done.")]);
    let script = "echo 'EDITOR IS OPEN'; read line; echo \"$line\" > \"$1\"";
    let editor = editor(&stage, script);
    let talk = Talk::start(stage, |program| program.env("EDITOR", editor).env_remove("VISUAL"));
    talk.wait("Choose 1-4:");
    talk.line("3");
    talk.wait("EDITOR IS OPEN");
    talk.line("typed there");
    talk.wait("  +typed there\n");
    talk.wait("Choose 1-4:");
    talk.line("1");
    talk.wait("Done.");
    assert_eq!(talk.file(), "typed there\n");
    talk.end();
}

#[test]
fn an_editor_that_fails_or_changes_nothing_asks_again() {
    for (script, words) in [("exit 3", "ended with exit code 3."), ("true", "Nothing was changed.")]
    {
        let stage = stage([edit(), reply().text("Done.")]);
        let editor = editor(&stage, script);
        let talk = Talk::start(stage, |program| program.env("VISUAL", editor));
        talk.wait("Choose 1-4:");
        talk.line("3");
        talk.wait(words);
        talk.terminal
            .wait_for(|screen| screen.contents().matches("Apply this change?").count() == 2, SOON);
        talk.line("1");
        talk.wait("Done.");
        assert_eq!(talk.file(), "one\nzwei\nthree\n");
        talk.end();
    }
}

#[test]
fn a_command_is_shown_with_what_it_runs_and_writes() {
    let command = "sort a.txt | uniq > b.txt; $X y";
    let call = reply().call("run_shell_command", json!({ "command": command }));
    let talk = Talk::start(stage([call, reply().text("Done.")]), |program| program);
    talk.wait("Runs: sort, uniq");
    talk.wait(
        "Writes: b.txt\nCannot tell: a command name that is computed\nAsked because: cannot tell what runs: a command name that is computed\n",
    );
    talk.line("3");
    talk.wait("Not applied. Type what to do instead.");
    talk.stage.server.discard_replies();
    talk.end();
}

#[test]
fn files_that_programs_change_are_shown() {
    let call = reply().call("run_shell_command", json!({"command": "ls | tee x; cp a b > log"}));
    let talk = Talk::start(stage([call, reply().text("Done.")]), |program| program);
    talk.wait("Runs: ls, tee, cp\nWrites: x, b, log\n");
    talk.line("3");
    talk.wait("Not applied. Type what to do instead.");
    talk.stage.server.discard_replies();
    talk.end();
}

#[test]
fn a_permission_is_kept_by_enter_where_that_is_wanted() {
    let stage = stage([edit(), reply().text("Done.")]);
    stage.home.settings(&json!({"security": {
        "enablePermanentToolApproval": true, "autoAddToPolicyByDefault": true,
    }}));
    let talk = Talk::start(stage, |program| program);
    talk.wait("  3. Allow for this file in all future sessions (policies/auto-saved.toml)");
    talk.wait("Choose 1-5, Enter for 3:");
    talk.line("");
    talk.wait("Done.");
    assert_eq!(talk.file(), "one\nzwei\nthree\n");
    let saved = talk.stage.home.gemini().join("policies/auto-saved.toml");
    assert!(fs::read_to_string(saved).unwrap().contains("replace"));
    talk.end();
}

#[test]
fn a_wider_approval_says_what_the_program_starts() {
    let call = |line: &str| reply().call("run_shell_command", json!({ "command": line }));
    let stage = stage([call("git commit -m x"), call("touch x"), reply().text("Done.")]);
    stage.home.settings(&json!({"security": { "enablePermanentToolApproval": true }}));
    let talk = Talk::start(stage, |program| program);
    talk.wait(
        "git commit also starts: hooks of the repository, and programs that its configuration",
    );
    talk.wait("Allow `git commit …` for all future sessions (policies/auto-saved.toml)");
    talk.wait("Choose 1-8:");
    talk.line("1");
    talk.wait("touch x");
    talk.wait("Choose 1-6:");
    let screen = talk.terminal.screen();
    assert_eq!(screen.matches("also starts").count(), 1, "{screen}");
    talk.line("6");
    talk.wait("Not applied. Type what to do instead.");
    talk.stage.server.discard_replies();
    talk.end();
}

#[test]
fn words_about_a_plan_go_back_to_the_model() {
    let plan = json!({"file_path": "p.md", "content": "# Goal\nmend it\n"});
    let stage = stage([
        reply().call("enter_plan_mode", json!({"reason": "It is large."})),
        reply().call("write_file", plan),
        reply().call("exit_plan_mode", json!({"plan_filename": "p.md"})),
        reply().text("Understood."),
    ]);
    let talk = Talk::start(stage, |program| program);
    talk.wait("Choose 1-3:");
    talk.line("1");
    talk.wait("Choose 1-3, or type your feedback:");
    talk.line("77");
    talk.wait("Type a number from 1 to 3");
    talk.line("Mend b.txt too.");
    talk.wait("Understood.");
    let reported = talk.reported();
    assert!(reported.starts_with("Plan rejected. User feedback: Mend b.txt too.\n"), "{reported}");
    talk.line("/mode");
    talk.wait("plan");
    talk.end();
}

#[test]
fn what_a_checker_wants_asked_is_asked_whatever_was_allowed() {
    let stage = stage([edit(), reply().text("Done.")]);
    let rule = "[[safety_checker]]\ntoolName = \"replace\"\n[safety_checker.checker]\ntype = \"external\"\nname = \"mine\"\n";
    stage.home.user_file("policies/my.toml", rule);
    let program = editor(&stage, r#"echo '{"decision":"ask_user","reason":"It is Sunday."}'"#);
    let checkers: Value = json!({"mine": {"command": program}});
    stage.home.settings(&json!({"pollux": {"safetyCheckers": checkers}}));
    let talk = Talk::start(stage, |program| program.args(["--yolo"]));
    talk.wait("It is Sunday.");
    talk.wait("Choose 1-4:");
    talk.line("1");
    talk.wait("Done.");
    assert_eq!(talk.file(), "one\nzwei\nthree\n");
    talk.end();
}
