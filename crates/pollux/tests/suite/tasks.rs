//! Topics, lists, tasks and memories: notes of the model apart from the work itself.

use std::fs;
use std::os::unix::fs::PermissionsExt as _;
use std::time::Duration;

use pollux_testkit::{CapturedRequest, Key, reply};
use pretty_assertions::assert_eq;
use serde_json::{Value, json};

use super::line::Talk;
use super::stage::{MODEL, Stage, lines_of, texts};

fn system(request: &CapturedRequest) -> String {
    texts(&request.body["systemInstruction"]).concat()
}

/// Runs one call in yolo mode and returns its result for the model.
fn call(stage: &Stage, tool: &str, arguments: Value) -> String {
    stage.server.stream(reply().call(tool, arguments)).stream(reply().text("done"));
    stage.yolo("go");
    stage.response()
}

#[test]
fn a_topic_is_reported_first_and_named_in_the_next_prompt() {
    let topic = json!({"title": "Mend the\nparser", "strategic_intent": "look"});
    let turn = reply().call("glob", json!({"pattern": "*"})).call("update_topic", topic);
    let stage = Stage::with([turn, reply().text("done"), reply().text("2"), reply().text("3")]);
    let run = stage.prompt("stream-json", "go");
    run.assert_code(0);
    let results = lines_of(&run, "tool_result");
    assert_eq!(results.len(), 2);
    let order: Vec<Value> = stage.requests()[1].last_parts().to_vec();
    assert_eq!(order[0]["functionResponse"]["name"], "update_topic");
    let reported =
        "Current topic: \"Mend the parser\"\nTopic summary: ...\n\nStrategic Intent: look";
    assert_eq!(order[0]["functionResponse"]["response"]["output"], reported);
    // The system instruction stays the same during a prompt, so that the vendor's cache stays
    // valid.
    let requests = stage.requests();
    assert_eq!(system(&requests[0]), system(&requests[1]));
    assert!(!system(&requests[1]).contains("Active Topic"));
    stage.pollux(&["--resume", "latest", "-p", "more"]).run().assert_code(0);
    let reported = system(&stage.requests()[2]);
    assert!(reported.ends_with("\n\n[Active Topic: Mend the parser]"), "{reported}");
    stage.home.settings(&json!({"general": {"topicUpdateNarration": false}}));
    stage.pollux(&["--resume", "latest", "-p", "more"]).run().assert_code(0);
    assert!(!system(&stage.requests()[3]).contains("Active Topic"));
}

#[test]
fn topics_can_be_switched_off() {
    let topic = json!({"title": "T", "strategic_intent": "look"});
    let stage = Stage::with([reply().call("update_topic", topic), reply().text("done")]);
    stage.home.settings(&json!({"general": {"topicUpdateNarration": false}}));
    stage.prompt("text", "go").assert_code(0);
    assert!(stage.response().starts_with("Tool \"update_topic\" not found."));
    assert!(!system(&stage.requests()[0]).contains("update_topic"));
}

#[test]
fn tasks_are_kept_with_the_session() {
    let create = |title: &str| json!({"title": title, "description": "d", "type": "task"});
    let stage = Stage::with([
        reply().call("tracker_create_task", create("One")),
        reply().text("done"),
        reply().call("tracker_list_tasks", json!({})),
        reply().text("done"),
    ]);
    stage.home.settings(&json!({"experimental": {"taskTracker": true}}));
    // These tools need no approval.
    stage.prompt("text", "go").assert_code(0);
    let reported = stage.response();
    let id = reported.strip_prefix("Created task ").and_then(|rest| rest.strip_suffix(": One"));
    let id = id.unwrap_or_else(|| panic!("{reported}")).to_owned();
    assert!(!stage.requests()[0].declared_tools().contains(&"write_todos"));
    let session = stage.session_lines()[0]["sessionId"].as_str().unwrap().to_owned();
    let path = stage.project_temporary().join(session).join(format!("tracker/{id}.json"));
    let task: Value = serde_json::from_slice(&fs::read(&path).unwrap()).unwrap();
    assert_eq!((&task["id"], &task["status"]), (&json!(id), &json!("open")));
    assert_eq!(fs::metadata(&path).unwrap().permissions().mode() & 0o777, 0o600);
    stage.pollux(&["--resume", "latest", "-p", "more"]).run().assert_code(0);
    assert_eq!(stage.response(), format!("- [{id}] One (open)"));
}

#[test]
fn a_person_follows_the_list_and_says_yes_to_memories() {
    let todos = json!({"todos": [{"description": "read on", "status": "in_progress"}]});
    let stage = Stage::with([
        reply().call("write_todos", todos),
        reply().call("save_memory", json!({"fact": "Likes tea."})),
        reply().text("remembered"),
    ]);
    stage.home.settings(&json!({"pollux": {"tools": {"saveMemory": true}}}));
    let mut terminal = stage.pollux(&[]).in_terminal(40, 100);
    let soon = Duration::from_secs(10);
    terminal.wait_for_text("Ctrl-D quits.", soon);
    terminal.send("go");
    terminal.send_key(Key::Enter);
    terminal.wait_for_text("[in_progress] read on", soon);
    terminal.wait_for_text("+- Likes tea.", soon);
    terminal.wait_for_text("Apply this change?", soon);
    let file = stage.home.gemini().join("GEMINI.md");
    assert!(!file.exists());
    terminal.send("1");
    terminal.send_key(Key::Enter);
    terminal.wait_for_text("remembered", soon);
    assert!(fs::read_to_string(&file).unwrap().ends_with("- Likes tea.\n"));
    terminal.send_key(Key::Ctrl('d'));
    assert_eq!(terminal.wait_exit(soon).exit_code(), 0);
}

#[test]
fn a_conversation_that_goes_on_says_where_it_stands() {
    let todos: Vec<Value> = (0..14)
        .map(|number| json!({"description": format!("step {number}"), "status": "pending"}))
        .collect();
    let topic = json!({"title": "Mend the parser", "strategic_intent": "look"});
    let turn = reply().call("update_topic", topic).call("write_todos", json!({"todos": todos}));
    let stage = Stage::with([turn, reply().text("done")]);
    stage.yolo("go");
    let talk = Talk::start(stage, |program| program.args(["--resume", "latest"]));
    talk.wait_for_text("Topic: Mend the parser");
    talk.wait_for_text("[pending] step 11");
    talk.wait_for_text("... 2 more");
    talk.end();
}

#[test]
fn a_plan_that_was_refused_with_words_is_no_approved_one_later() {
    let plan = json!({"file_path": "p.md", "content": "# Goal\nmend it\n"});
    let stage = Stage::with([
        reply().call("write_file", plan),
        reply().call("exit_plan_mode", json!({"plan_filename": "p.md"})),
        reply().text("Understood."),
        reply().text("again"),
    ]);
    let talk = Talk::start(stage, |program| program.args(["--approval-mode", "plan"]));
    talk.type_line("go");
    talk.wait_for_text("Choose 1-3, or type your feedback:");
    talk.type_line("Smaller steps.");
    talk.wait_for_text("Understood.");
    let (stage, _) = talk.leave();
    stage.pollux(&["--resume", "latest", "-p", "more"]).run().assert_code(0);
    let reported = system(stage.requests().last().unwrap());
    assert!(!reported.contains("approved the plan"), "{reported}");
}

#[test]
fn without_a_person_a_plan_of_the_models_own_accord_is_made_and_approved() {
    let write = |path: &str| json!({"file_path": path, "content": "# Goal\nmend it\n"});
    let stage = Stage::with([
        reply().call("enter_plan_mode", json!({"reason": "It is large."})),
        reply().call("write_file", write("a.txt")),
        reply().call("write_file", write("p.md")),
        reply().call("exit_plan_mode", json!({"plan_filename": "p.md"})),
        reply().call("write_file", write("a.txt")),
        reply().text("done"),
    ]);
    stage.prompt("text", "go").assert_code(0);
    let requests = stage.requests();
    let reported: Vec<String> =
        requests[1..].iter().map(|it| it.last_parts()[0].to_string()).collect();
    assert!(reported[0].contains("Switching to Plan mode."), "{}", reported[0]);
    assert!(reported[1].contains("\"error\""), "{}", reported[1]);
    assert!(reported[2].contains("p.md") && !reported[2].contains("\"error\""), "{}", reported[2]);
    assert!(reported[3].contains("Plan approved."), "{}", reported[3]);
    // After the approval of the plan the usual rules of the run apply again.
    assert!(reported[4].contains("\"error\""), "{}", reported[4]);
    let planning: Vec<bool> =
        requests.iter().map(|request| system(request).contains("# Plan mode\n")).collect();
    assert_eq!(planning, [false, true, true, true, false, false]);
    assert!(system(&requests[4]).contains("approved the plan"));
    assert!(!stage.home.project().join("a.txt").exists());
}

#[test]
fn tasks_are_reported_in_the_instruction_and_shown_to_the_person() {
    let create = json!({"title": "Read on", "description": "d", "type": "task"});
    let stage = Stage::with([reply().call("tracker_create_task", create), reply().text("noted")]);
    stage.home.settings(&json!({"experimental": {"taskTracker": true}}));
    let talk = Talk::start(stage, |program| program);
    talk.type_line("go");
    talk.wait_for_text("[pending] task: Read on");
    talk.wait_for_text("noted");
    let reported = system(&talk.stage.requests()[0]);
    assert!(reported.contains("# Task tracker\n") && reported.contains("/tracker`"), "{reported}");
    assert!(!reported.contains("`write_todos`"), "{reported}");
    talk.end();
}

#[test]
fn a_memory_of_the_project_is_part_of_its_later_sessions() {
    let fact = json!({"fact": "The tests need podman.", "scope": "project"});
    let stage = Stage::with([
        reply().call("save_memory", fact),
        reply().text("done"),
        reply().text("again"),
    ]);
    stage.home.settings(&json!({"pollux": {"tools": {"saveMemory": true}}}));
    stage.pollux(&["--approval-mode", "auto_edit", "-p", "go"]).run().assert_code(0);
    let notes = stage.project_temporary().join("memory/MEMORY.md");
    let kept = fs::read_to_string(&notes).unwrap();
    assert_eq!(kept, "## Gemini Added Memories\n- The tests need podman.\n");
    assert!(!stage.home.gemini().join("GEMINI.md").exists());
    stage.prompt("text", "more").assert_code(0);
    let request = stage.server.last_request().body.to_string();
    assert!(request.contains("The tests need podman."), "{request}");
}

#[test]
fn a_memory_is_reported_to_later_sessions() {
    let fact = json!({"fact": "The person likes tea."});
    let stage = Stage::new();
    assert!(
        call(&stage, "save_memory", fact.clone()).starts_with("Tool \"save_memory\" not found.")
    );
    assert!(!stage.home.gemini().join("GEMINI.md").exists());

    let stage = Stage::with([
        reply().call("save_memory", fact.clone()),
        reply().text("done"),
        reply().call("save_memory", fact),
        reply().text("done"),
    ]);
    stage.home.settings(&json!({"pollux": {"tools": {"saveMemory": true}}}));
    // In a headless run nobody can approve.
    stage.prompt("text", "go").assert_code(0);
    assert!(stage.response().starts_with("Tool \"save_memory\" not found."));
    let run = stage.pollux(&["--approval-mode", "auto_edit", "-p", "go"]).run();
    run.assert_code(0);
    let kept = fs::read_to_string(stage.home.gemini().join("GEMINI.md")).unwrap();
    assert_eq!(kept, "## Gemini Added Memories\n- The person likes tea.\n");
    stage.server.stream(reply().text("hi"));
    stage.program().args(["-m", MODEL, "-p", "hello"]).run().assert_code(0);
    assert!(system(&stage.requests()[4]).contains("- The person likes tea."));
}
