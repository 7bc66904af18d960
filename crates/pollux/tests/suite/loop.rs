//! The agent loop: concurrent and sequential calls, failing calls, and the ends of the loop.

use pollux_testkit::reply;
use pretty_assertions::assert_eq;
use serde_json::{Value, json};

use super::stage::Stage;

fn shell(command: &str) -> Value {
    json!({"command": command})
}

#[test]
fn a_models_words_do_not_move_the_cursor() {
    let stage = Stage::with([
        reply().call("\u{1b}[2J\u{1b}]0;evil\u{7}\rname", json!({})),
        reply().text("ok"),
    ]);
    let run = stage.prompt("text", "go");
    run.assert_code(0);
    let errors = run.stderr_text();
    assert!(errors.contains("Error executing tool "), "{errors}");
    let control = |character: char| character.is_control() && character != '\n';
    assert!(!errors.contains(control), "{errors:?}");
}

#[test]
fn plan_mode_writes_plans_alone() {
    let turn = reply()
        .call("write_file", json!({"file_path": "src/a.rs", "content": "x"}))
        .call("run_shell_command", shell("touch made"));
    let stage = Stage::with([turn, reply().text("done")]);
    let run = stage.pollux(&["--approval-mode", "plan", "-p", "go"]).run();
    run.assert_code(0);
    let reported = stage.responses();
    assert!(reported[0]["error"].as_str().unwrap().contains("plan"), "{reported:?}");
    assert!(reported[1]["error"].is_string(), "{reported:?}");
    let project = stage.home.project();
    assert!(!project.join("src/a.rs").exists() && !project.join("made").exists());
}

#[test]
fn a_plan_is_written_where_plans_are_kept() {
    let write = json!({"file_path": "my-plan.md", "content": "1. Look.\n"});
    let stage = Stage::with([reply().call("write_file", write), reply().text("done")]);
    let run = stage.pollux(&["--approval-mode", "plan", "-o", "json", "-p", "go"]).run();
    run.assert_code(0);
    let session = run.json()["session_id"].as_str().unwrap().to_owned();
    let plan = stage.project_temporary().join(session).join("plans/my-plan.md");
    let reported = stage.response();
    assert!(reported.starts_with("Successfully created and wrote to new file: "), "{reported}");
    assert_eq!(std::fs::read_to_string(plan).unwrap(), "1. Look.\n");
    assert!(!stage.home.project().join("my-plan.md").exists());
}

#[test]
fn auto_edit_writes_and_default_does_not() {
    for (mode, written) in [("auto_edit", true), ("default", false)] {
        let write = json!({"file_path": "a.txt", "content": "x"});
        let stage = Stage::with([reply().call("write_file", write), reply().text("done")]);
        stage.pollux(&["--approval-mode", mode, "-p", "go"]).run().assert_code(0);
        assert_eq!(stage.home.project().join("a.txt").exists(), written, "{mode}");
    }
}

#[test]
fn yolo_is_announced_on_standard_error() {
    let stage = Stage::with([reply().text("done")]);
    let run = stage.yolo("go");
    let line = "YOLO mode is enabled. All tool calls will be automatically approved.";
    assert_eq!(run.stderr_text().trim_end(), line, "{}", run.report());
}

#[test]
fn without_a_person_an_approved_plan_still_changes_nothing() {
    let stage = Stage::new();
    let plan = json!({"file_path": "p.md", "content": "# Goal\n"});
    let edit = json!({"file_path": "a.txt", "content": "x"});
    for reply in [
        reply().call("write_file", plan),
        reply().call("exit_plan_mode", json!({"plan_filename": "p.md"})),
        reply().call("write_file", edit),
        reply().text("Planned."),
    ] {
        stage.server.stream(reply);
    }
    let run = stage.pollux(&["--approval-mode", "plan", "-p", "go"]).run();
    run.assert_code(0);
    assert!(!stage.home.project().join("a.txt").exists());
    let requests = stage.requests();
    let offers = |turn: usize, name: &str| requests[turn].declared_tools().contains(&name);
    assert!(offers(0, "exit_plan_mode") && !offers(0, "enter_plan_mode"));
    assert!(!offers(2, "exit_plan_mode") && offers(2, "enter_plan_mode"));
}
