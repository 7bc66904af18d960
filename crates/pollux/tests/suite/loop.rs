//! The loop: calls side by side and in order, what goes wrong with them, and where it ends.

use std::time::Duration;

use pollux_testkit::{Endpoint, reply};
use pretty_assertions::assert_eq;
use serde_json::{Value, json};

use super::stage::{FORMATS, Stage, lines_of, spoken};

fn shell(command: &str) -> Value {
    json!({"command": command})
}

#[test]
fn ten_sleeps_take_as_long_as_one() {
    let turn = (0..10).fold(reply(), |turn, _| turn.call("run_shell_command", shell("sleep 0.3")));
    let stage = Stage::with([turn, reply().text("done")]);
    let run = stage.yolo("go");
    assert!(run.duration < Duration::from_secs(1), "{:?}", run.duration);
    assert_eq!(stage.responses().len(), 10);
}

#[test]
fn responses_come_in_the_order_of_the_calls() {
    let turn = [0.3, 0.1, 0.2].iter().fold(reply(), |turn, seconds| {
        let command = format!("sleep {seconds}; echo slept {seconds}");
        turn.call("run_shell_command", shell(&command))
    });
    let stage = Stage::with([turn, reply().text("done")]);
    let run = stage.pollux(&["-y", "-o", "stream-json", "-p", "go"]).run();
    run.assert_code(0);
    let told = stage.responses();
    for (response, seconds) in told.iter().zip(["0.3", "0.1", "0.2"]) {
        let words = format!("slept {seconds}");
        assert!(response["output"].as_str().unwrap().contains(&words), "{told:?}");
    }
    let asked: Vec<Value> =
        lines_of(&run, "tool_use").iter().map(|line| line["tool_id"].clone()).collect();
    let answered: Vec<Value> =
        lines_of(&run, "tool_result").iter().map(|line| line["tool_id"].clone()).collect();
    assert_eq!(asked, answered);
}

#[test]
fn a_call_can_wait_for_those_before_it() {
    let mut second = shell("cat made.txt");
    second["wait_for_previous"] = true.into();
    let turn = reply()
        .call("run_shell_command", shell("sleep 0.2; echo hello > made.txt"))
        .call("run_shell_command", second)
        .call("write_file", json!({"file_path": "made.txt", "content": "written after\n"}))
        .call("read_file", json!({"file_path": "made.txt"}));
    let stage = Stage::with([turn, reply().text("done")]);
    stage.yolo("go");
    let told = stage.responses();
    assert!(told[1]["output"].as_str().unwrap().contains("Output: hello"), "{told:?}");
    assert_eq!(told[3]["output"], "written after\n", "edits run alone and in order");
}

#[test]
fn unknown_tools_go_back_with_the_nearest_names() {
    let turn = reply().call("read_fil", json!({})).call("run_shell_command", shell("true"));
    let stage = Stage::with([turn, reply().text("done")]);
    let run = stage.prompt("stream-json", "go");
    run.assert_code(0);
    let errors = stage.responses();
    let message = errors[0]["error"].as_str().unwrap();
    assert!(
        message.starts_with("Tool \"read_fil\" not found. Did you mean one of: \"read_file\", \""),
        "{message}"
    );
    assert_eq!(message.matches('"').count(), 8, "three names: {message}");
    let message = errors[1]["error"].as_str().unwrap();
    assert!(
        message.starts_with("Tool \"run_shell_command\" not found."),
        "not declared: {message}"
    );
    for result in lines_of(&run, "tool_result") {
        assert_eq!(result["error"]["type"], "tool_not_registered");
    }
    let errors = run.stderr_text();
    assert!(
        errors.contains("Error executing tool read_fil: Tool \"read_fil\" not found."),
        "{errors}"
    );
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
fn wrong_arguments_go_back_with_what_is_wrong() {
    let table = [
        (json!({}), "params must have required property 'file_path'"),
        (json!({"file_path": "a", "start_line": 0}), "params/start_line must be >= 1"),
        (json!({"file_path": " "}), "The 'file_path' parameter must be non-empty."),
        (
            json!({"file_path": "a", "start_line": 3, "end_line": 2}),
            "start_line cannot be greater than end_line",
        ),
    ];
    for (arguments, message) in table {
        let stage = Stage::with([reply().call("read_file", arguments), reply().text("done")]);
        let run = stage.prompt("stream-json", "go");
        run.assert_code(0);
        assert_eq!(stage.responses(), [json!({"error": message})]);
        let result = lines_of(&run, "tool_result").remove(0);
        assert_eq!(result["error"], json!({"type": "invalid_tool_params", "message": message}));
    }
}

#[test]
fn arguments_that_are_no_object_do_not_break_the_conversation() {
    for arguments in [json!("text"), json!([1]), json!(7), Value::Null] {
        let stage = Stage::with([reply().call("glob", arguments.clone()), reply().text("done")]);
        let run = stage.prompt("stream-json", "go");
        run.assert_code(0);
        assert_eq!(spoken(&run), "done", "{arguments}");
        assert!(stage.responses()[0]["error"].is_string(), "{arguments}");
    }
    let bare = reply().part(json!({"functionCall": {"name": "glob"}}));
    let stage = Stage::with([bare, reply().text("done")]);
    stage.prompt("text", "go").assert_code(0);
    assert_eq!(stage.responses()[0]["error"], "params must have required property 'pattern'");
}

#[test]
fn a_call_without_a_name_is_answered_too() {
    let stage = Stage::with([reply().call("", json!({})), reply().text("done")]);
    let run = stage.prompt("stream-json", "go");
    run.assert_code(0);
    assert_eq!(lines_of(&run, "tool_use")[0]["tool_name"], "generic_tool");
}

#[test]
fn calls_with_the_same_id_are_told_apart() {
    let turn = reply().call_with_id("x", "glob", json!({"pattern": "a*"})).call_with_id(
        "x",
        "glob",
        json!({"pattern": "b*"}),
    );
    let stage = Stage::with([turn, reply().text("done")]);
    stage.home.project_file("a.txt", "").project_file("b.txt", "");
    stage.prompt("text", "go").assert_code(0);
    let told = stage.responses();
    assert!(
        told[0].to_string().contains("a.txt") && told[1].to_string().contains("b.txt"),
        "{told:?}"
    );
}

#[test]
fn plan_mode_writes_plans_alone() {
    let turn = reply()
        .call("write_file", json!({"file_path": "src/a.rs", "content": "x"}))
        .call("run_shell_command", shell("touch made"));
    let stage = Stage::with([turn, reply().text("done")]);
    let run = stage.pollux(&["--approval-mode", "plan", "-p", "go"]).run();
    run.assert_code(0);
    let told = stage.responses();
    assert!(told[0]["error"].as_str().unwrap().contains("plan"), "{told:?}");
    assert!(told[1]["error"].is_string(), "{told:?}");
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
    let told = stage.response();
    assert!(told.starts_with("Successfully created and wrote to new file: "), "{told}");
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
fn an_empty_answer_to_results_ends_the_prompt() {
    for format in FORMATS {
        let stage = Stage::with([reply().call("glob", json!({"pattern": "*"})), reply()]);
        stage.prompt(format, "go").assert_code(0);
        assert_eq!(stage.requests().len(), 2, "{format}");
    }
}

#[test]
fn a_prompt_ends_after_a_hundred_turns() {
    let stage = Stage::new();
    stage.server.answer_with(Endpoint::StreamGenerateContent, |request| {
        let pattern = format!("{}*", request.contents().len());
        reply().call("glob", json!({"pattern": pattern}))
    });
    // Nobody thinks that it goes round in circles.
    stage.home.settings(&json!({"model": {"disableLoopDetection": true}}));
    let run = stage.pollux(&["-p", "go"]).timeout(Duration::from_secs(20)).run();
    assert_eq!(stage.requests().len(), 100, "{}", run.report());
}

#[test]
fn turns_are_counted_for_the_whole_session() {
    let stage = Stage::with([reply().call("glob", json!({"pattern": "*"})), reply().text("done")]);
    stage.home.settings(&json!({"model": {"maxSessionTurns": 2}}));
    let run = stage.prompt("text", "go");
    run.assert_code(0);
    assert_eq!(run.stdout_text(), "done\n");
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
