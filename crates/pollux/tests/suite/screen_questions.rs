//! Questions of the model, and the approval of plans, on the screen.

use pollux_testkit::{Key, ModelReply, reply, write_executable};
use serde_json::json;

use super::screen::{PLACEHOLDER, SOON, Talk, on_screen};
use super::stage::Stage;

#[test]
fn questions_are_answered_in_any_order_and_reviewed() {
    let option = |label: &str| json!({"label": label, "description": "stores data"});
    let questions = json!({"questions": [
        {"question": "Which database?", "header": "Database", "type": "choice",
         "options": [option("SQLite"), option("Postgres")]},
        {"question": "Which tests?", "header": "Tests", "type": "choice", "multiSelect": true,
         "options": [option("Unit"), option("Load")]},
        {"question": "What is it called?", "header": "Name", "type": "text", "placeholder": "main"}
    ]});
    let talk = Talk::with([reply().call("ask_user", questions), reply().text("Good.")]);
    talk.line("set it up");
    talk.wait("! Answer Questions\n\u{2190} \u{25a1} Database \u{2502} \u{25a1} Tests");
    talk.terminal.send_key(Key::Right);
    talk.wait("Which tests? (Select all that apply)");
    talk.terminal.send("2");
    talk.wait("2. [x] Load");
    talk.terminal.send_key(Key::Left);
    talk.wait("Which database?");
    talk.terminal.send("1");
    talk.wait("2. [x] Load");
    talk.terminal.send("4");
    talk.terminal.paste("2 more");
    talk.wait("[x] 2 more");
    talk.enter();
    talk.wait("\u{25cf} 5. Done");
    talk.enter();
    talk.wait("> main");
    talk.enter();
    talk.wait("Name \u{2192} (not answered)\n1 question has no answer.");
    talk.enter();
    talk.wait("Good.");
    talk.idle();
    let reported = talk.stage.server.last_request().body.to_string();
    let answers = r#"{\"answers\":{\"0\":\"SQLite\",\"1\":\"Load, 2 more\"}}"#;
    assert!(reported.contains(answers), "{reported}");
    talk.end();
}

/// Returns a model that plans, and submits the plan twice.
fn planner() -> Vec<ModelReply> {
    let plan = json!({"file_path": "p.md", "content": "# Goal\n\nMend *it*.\n"});
    let submit = || reply().call("exit_plan_mode", json!({"plan_filename": "p.md"}));
    vec![
        reply().call("enter_plan_mode", json!({})),
        reply().call("write_file", plan),
        submit(),
        submit(),
        submit(),
        reply().text("Done."),
    ]
}

#[test]
fn a_plan_is_changed_in_the_editor_commented_and_approved() {
    let stage = Stage::with(planner());
    let editor = stage.home.gemini().join("editor");
    write_executable(&editor, "#!/bin/sh\necho '- and test it' >> \"$1\"\n");
    let program = on_screen(stage.pollux(&[])).env("VISUAL", editor.display().to_string());
    let terminal = program.in_terminal(24, 80);
    let talk = Talk { stage, terminal };
    talk.wait(PLACEHOLDER);
    talk.line("mend it");
    talk.wait("Allow once");
    talk.terminal.send("1");
    talk.wait("Mend *it*.\nReady to start implementation?");
    talk.wait("3. Type your feedback...");
    talk.terminal.send_key(Key::Ctrl('g'));
    talk.wait("and test it");
    talk.wait("Ready to start implementation?");
    let reported = talk.stage.server.last_request().body.to_string();
    assert!(reported.contains("User feedback: I have changed the plan in its file."), "{reported}");
    talk.terminal.wait_for(|screen| screen.contents().contains("3. Type your"), SOON);
    talk.terminal.send("use tabs");
    talk.wait("3. Feedback: use tabs");
    talk.enter();
    talk.wait("3. Type your feedback...");
    let reported = talk.stage.server.last_request().body.to_string();
    assert!(reported.contains("User feedback: use tabs"), "{reported}");
    talk.terminal.send("2");
    talk.wait("Done.");
    talk.idle();
    talk.end();
}
