//! Hooks of the user at every event, with every outcome.

use pollux_testkit::{Finished, ModelReply, Signal, reply};
use pretty_assertions::assert_eq;
use serde_json::{Value, json};

use super::stage::{FORMATS, MODEL, SOON, Stage, lines_of};

/// Creates a stage with these hooks of the user: event, matcher, command line.
fn with_hooks(
    replies: impl IntoIterator<Item = ModelReply>,
    hooks: &[(&str, &str, &str)],
) -> Stage {
    let stage = Stage::with(replies);
    stage.home.settings(&json!({ "hooks": definitions(hooks) }));
    stage
}

fn definitions(hooks: &[(&str, &str, &str)]) -> Value {
    let mut definitions = json!({});
    for (event, matcher, command) in hooks {
        if definitions[*event].is_null() {
            definitions[*event] = json!([]);
        }
        let hook = json!({ "type": "command", "command": command });
        let definition = json!({ "matcher": matcher, "hooks": [hook] });
        definitions[*event].as_array_mut().unwrap().push(definition);
    }
    definitions
}

/// Returns a command line that prints this reply.
fn says(reply: &Value) -> String {
    format!("cat > /dev/null; printf '%s' '{reply}'")
}

/// Command line that stores every event in the home directory.
const KEEP: &str = "cat >> \"$HOME/events\"; echo >> \"$HOME/events\"";

/// Returns the events that [`KEEP`] has stored.
fn kept(stage: &Stage) -> Vec<Value> {
    let text = std::fs::read_to_string(stage.home.home().join("events")).unwrap_or_default();
    text.lines()
        .filter(|line| !line.is_empty())
        .map(|line| serde_json::from_str(line).unwrap())
        .collect()
}

fn names(events: &[Value]) -> Vec<&str> {
    events.iter().map(|event| event["hook_event_name"].as_str().unwrap()).collect()
}

fn write(path: &str) -> ModelReply {
    reply().text("hello").call_with_id(
        "w",
        "write_file",
        json!({ "file_path": path, "content": "x" }),
    )
}

fn stderr_has(run: &Finished, line: &str) {
    assert!(
        run.stderr_text().lines().any(|reported| reported == line),
        "no line {line:?}\n{}",
        run.report()
    );
}

#[test]
fn a_refusal_among_other_text_refuses() {
    let deny = r#"{"decision":"deny","reason":"Not here."}"#;
    for script in
        [format!("echo checking; echo '{deny}'"), format!("echo '{deny}'; echo; echo checked")]
    {
        let stage =
            with_hooks([write("a.txt"), reply().text("done")], &[("BeforeTool", "", &script)]);
        stage.yolo("go");
        assert!(!stage.home.project().join("a.txt").exists(), "{script}");
    }
}

#[test]
fn every_event_of_a_run_in_order_with_its_fields() {
    let events = [
        "SessionStart",
        "BeforeAgent",
        "PreCompress",
        "BeforeModel",
        "BeforeToolSelection",
        "AfterModel",
        "BeforeTool",
        "AfterTool",
        "AfterAgent",
        "SessionEnd",
        "Notification",
    ];
    let hooks: Vec<_> = events.iter().map(|event| (*event, "", KEEP)).collect();
    let stage = with_hooks([write("a.txt"), reply().text("done")], &hooks);
    stage.yolo("go");
    let events = kept(&stage);
    let turn = ["PreCompress", "BeforeModel", "BeforeToolSelection"];
    let mut expected = vec!["SessionStart", "BeforeAgent"];
    expected.extend(turn);
    expected.extend(["AfterModel", "BeforeTool", "AfterTool"]);
    expected.extend(turn);
    expected.extend(["AfterModel", "AfterAgent", "SessionEnd"]);
    // Each piece of an answer is an event of its own.
    let mut reported = names(&events);
    reported.dedup();
    assert_eq!(reported, expected);
    let of = |name: &str| events.iter().find(|event| event["hook_event_name"] == name).unwrap();
    let transcript = stage.session_file().display().to_string();
    for event in &events {
        assert_eq!(event["transcript_path"], transcript);
        assert_eq!(event["cwd"], stage.home.project().display().to_string());
    }
    assert_eq!(of("SessionStart")["source"], "startup");
    assert_eq!(of("SessionEnd")["reason"], "exit");
    assert_eq!(of("BeforeAgent")["prompt"], "go");
    assert_eq!(of("PreCompress")["trigger"], "auto");
    let request = &of("BeforeModel")["llm_request"];
    assert_eq!(request["model"], MODEL);
    assert_eq!(request["config"], json!({ "temperature": 1, "topP": 0.95, "topK": 64 }));
    let [message] = &request["messages"].as_array().unwrap()[..] else { panic!("{request}") };
    let text = message["content"].as_str().unwrap();
    assert!(
        text.starts_with("<session_context>") && text.ends_with("</session_context>go"),
        "{text}"
    );
    assert_eq!(of("BeforeToolSelection")["llm_request"], *request);
    assert_eq!(of("AfterModel")["llm_response"]["candidates"][0]["content"]["role"], "model");
    let arguments = json!({ "file_path": "a.txt", "content": "x" });
    assert_eq!(
        (&of("BeforeTool")["tool_name"], &of("BeforeTool")["tool_input"]),
        (&json!("write_file"), &arguments)
    );
    let response = &of("AfterTool")["tool_response"];
    assert!(response["llmContent"].as_str().unwrap().contains("a.txt"), "{response}");
    assert_eq!(response["returnDisplay"]["newContent"], "x");
    assert_eq!(response.get("error"), None);
    let end = of("AfterAgent");
    assert_eq!((&end["prompt"], &end["prompt_response"]), (&json!("go"), &json!("hello\ndone")));
    assert_eq!(end["stop_hook_active"], false);
}

#[test]
fn a_hook_continues_the_work_and_standard_output_is_the_text_of_the_model() {
    let deny = says(&json!({ "decision": "deny", "reason": "more" }));
    let once = format!("[ -e \"$HOME/once\" ] || {{ touch \"$HOME/once\"; {deny}; }}");
    let stage = with_hooks([reply().text("a"), reply().text("b")], &[("AfterAgent", "", &once)]);
    let run = stage.prompt("text", "go");
    run.assert_code(0);
    assert_eq!(run.stdout_text(), "ab\n");
    stderr_has(&run, "[WARNING] Agent execution blocked: more");
}

#[test]
fn a_subagent_has_the_hooks_of_tools_but_not_those_of_prompts() {
    let deny = says(&json!({ "decision": "deny", "reason": "more" }));
    let once = format!("[ -e \"$HOME/once\" ] || {{ touch \"$HOME/once\"; {deny}; }}");
    let task = json!({ "agent_name": "generalist", "prompt": "look" });
    let stage = with_hooks(
        [
            reply().text("hello").call("invoke_agent", task),
            reply().call("read_file", json!({ "file_path": "a.txt" })),
            reply().text("I forget to report."),
            reply().call("complete_task", json!({ "result": "seen" })),
            reply().text("done"),
            reply().text("more done"),
        ],
        &[
            ("BeforeAgent", "", KEEP),
            ("BeforeTool", "invoke_agent|read_file", KEEP),
            ("AfterAgent", "", KEEP),
            ("AfterAgent", "", &once),
        ],
    );
    stage.home.project_file("a.txt", "content");
    stage.yolo("go");
    let events = kept(&stage);
    let is_event = |name| move |event: &&Value| event["hook_event_name"] == name;
    let tools: Vec<_> =
        events.iter().filter(is_event("BeforeTool")).map(|event| &event["tool_name"]).collect();
    assert_eq!(tools, ["invoke_agent", "read_file"]);
    let prompts: Vec<_> =
        events.iter().filter(is_event("BeforeAgent")).map(|event| &event["prompt"]).collect();
    assert_eq!(prompts, ["go", "more"]);
    let ends: Vec<_> = events
        .iter()
        .filter(is_event("AfterAgent"))
        .map(|event| (&event["prompt_response"], &event["stop_hook_active"]))
        .collect();
    let expected =
        [(&json!("hello\ndone"), &json!(false)), (&json!("hello\ndone\nmore done"), &json!(true))];
    assert_eq!(ends, expected);
}

#[test]
fn context_of_a_hook_is_stored_apart_from_the_prompt() {
    let context = says(&json!({ "hookSpecificOutput": { "additionalContext": "from the hook" } }));
    let stage = with_hooks([reply().text("done")], &[("BeforeAgent", "", &context)]);
    stage.prompt("text", "go").assert_code(0);
    let prompt = stored(&stage).into_iter().find(|line| line["displayContent"].is_array());
    let prompt = prompt.expect("a prompt with a text of its own for display");
    assert_eq!(prompt["displayContent"], json!([{ "text": "go" }]));
    assert!(prompt["content"].to_string().contains("from the hook"), "{prompt}");
}

#[test]
fn a_refused_call_is_stored_with_the_name_of_its_tool() {
    let refused = reply().call("read_file", json!({}));
    let stage = Stage::with([refused, reply().text("done")]);
    stage.prompt("text", "go").assert_code(0);
    let calls: Vec<Value> =
        stored(&stage).into_iter().filter_map(|line| line["toolCalls"].get(0).cloned()).collect();
    let call = calls.last().expect("a stored call");
    assert_eq!(call["status"], "error");
    assert_eq!(call["displayName"], "ReadFile");
    assert_eq!(call["renderOutputAsMarkdown"], true);
}

/// Returns the lines of the session file.
fn stored(stage: &Stage) -> Vec<Value> {
    let text = std::fs::read_to_string(stage.session_file()).unwrap();
    text.lines().map(|line| serde_json::from_str(line).unwrap()).collect()
}

#[test]
fn a_prompt_is_refused() {
    let deny = says(&json!({ "decision": "deny", "reason": "not today" }));
    for format in FORMATS {
        let stage = with_hooks([], &[("BeforeAgent", "ignored", &deny), ("AfterAgent", "", KEEP)]);
        let run = stage.prompt(format, "go");
        run.assert_code(0);
        assert_eq!(stage.requests().len(), 0, "{format}");
        assert!(kept(&stage).is_empty(), "nothing was worked on");
        let reported = "Agent execution blocked: not today";
        match format {
            "text" => {
                assert_eq!(run.stdout_text(), "");
                stderr_has(&run, &format!("[WARNING] {reported}"));
            }
            "json" => {
                assert_eq!(run.json()["warnings"], json!([reported]));
                assert_eq!(run.json()["response"], "");
            }
            _ => {
                let [error] = &lines_of(&run, "error")[..] else { panic!("{}", run.report()) };
                assert_eq!(
                    (&error["severity"], &error["message"]),
                    (&json!("warning"), &json!(reported))
                );
                assert_eq!(lines_of(&run, "result")[0]["status"], "success");
            }
        }
        let users = stage.session_lines().iter().filter(|line| line["type"] == "user").count();
        assert_eq!(users, 0, "a prompt that was refused was never said");
    }
}

#[test]
fn a_prompt_is_stopped() {
    let stop = says(&json!({ "continue": false, "stopReason": "enough", "reason": "r" }));
    let stage = with_hooks([], &[("BeforeAgent", "", &stop)]);
    let run = stage.prompt("text", "go");
    run.assert_code(0);
    stderr_has(&run, "Agent execution stopped: enough");
    let users = stage.session_lines().iter().filter(|line| line["type"] == "user").count();
    assert_eq!(users, 1, "what was said stays said");
    let stage = with_hooks([], &[("BeforeAgent", "", &stop)]);
    assert_eq!(
        stage.prompt("json", "go").json()["warnings"],
        json!(["Agent execution stopped: enough"])
    );
}

#[test]
fn a_session_ends_with_programs_that_take_their_time() {
    let stage = with_hooks(
        [reply().text("done")],
        &[("SessionEnd", "exit", "sleep 3; echo '{\"systemMessage\":\"bye\"}'; touch ended")],
    );
    let run = stage.prompt("text", "go");
    run.assert_code(0);
    assert!(stage.home.project().join("ended").exists());
    stderr_has(&run, "Hook system message: bye");
}

#[test]
fn a_stopped_run_ends_its_session_too() {
    let stage = with_hooks([reply().never_answer()], &[("SessionEnd", "", KEEP)]);
    let run = stage.pollux(&["-p", "go"]).spawn();
    stage.server.wait_for_requests(1, SOON);
    run.signal(Signal::INT);
    run.wait().assert_code(130);
    assert_eq!(names(&kept(&stage)), ["SessionEnd"]);
}
