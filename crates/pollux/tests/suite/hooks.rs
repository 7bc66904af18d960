//! The user's programs at every event, with every outcome.

use pollux_testkit::{Finished, Reply, Signal, reply};
use pretty_assertions::assert_eq;
use serde_json::{Value, json};

use super::stage::{FORMATS, MODEL, Stage, lines_of, spoken, texts, wait_until};

/// A stage whose person has these hooks: event, matcher, command lines.
fn with_hooks(replies: impl IntoIterator<Item = Reply>, hooks: &[(&str, &str, &str)]) -> Stage {
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

/// A command line that prints this reply.
fn says(reply: &Value) -> String {
    format!("cat > /dev/null; printf '%s' '{reply}'")
}

/// The same for what is special about an event.
fn specific(specific: &Value) -> String {
    says(&json!({ "hookSpecificOutput": specific }))
}

/// A command line that keeps every event in the home directory.
const KEEP: &str = "cat >> \"$HOME/events\"; echo >> \"$HOME/events\"";

/// What [`KEEP`] has kept.
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

fn write(path: &str) -> Reply {
    reply().text("hello").call_with_id(
        "w",
        "write_file",
        json!({ "file_path": path, "content": "x" }),
    )
}

fn exists(stage: &Stage, file: &str) -> bool {
    stage.home.project().join(file).exists()
}

/// The texts of all parts of the user in the latest request.
fn said(stage: &Stage) -> Vec<String> {
    let request = stage.server.last_request();
    let user = request.contents().iter().filter(|content| content["role"] == "user");
    user.flat_map(|content| texts(content).into_iter().map(str::to_owned)).collect()
}

fn stderr_has(run: &Finished, line: &str) {
    assert!(
        run.stderr_text().lines().any(|told| told == line),
        "no line {line:?}\n{}",
        run.report()
    );
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
    // A piece of an answer is told for itself.
    let mut told = names(&events);
    told.dedup();
    assert_eq!(told, expected);
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
fn a_prompt_is_refused() {
    let deny = says(&json!({ "decision": "deny", "reason": "not today" }));
    for (format, command) in FORMATS.into_iter().flat_map(|format| {
        [
            (format, deny.as_str()),
            (format, "echo 'not today' >&2; exit 2"),
            (format, "echo 'not today'; exit 3"),
        ]
    }) {
        let stage =
            with_hooks([], &[("BeforeAgent", "ignored", command), ("AfterAgent", "", KEEP)]);
        let run = stage.prompt(format, "go");
        run.assert_code(0);
        assert_eq!(stage.requests().len(), 0, "{format}");
        assert!(kept(&stage).is_empty(), "nothing was worked on");
        let told = "Agent execution blocked: not today";
        match format {
            "text" => {
                assert_eq!(run.stdout_text(), "");
                stderr_has(&run, &format!("[WARNING] {told}"));
            }
            "json" => {
                assert_eq!(run.json()["warnings"], json!([told]));
                assert_eq!(run.json()["response"], "");
            }
            _ => {
                let [error] = &lines_of(&run, "error")[..] else { panic!("{}", run.report()) };
                assert_eq!(
                    (&error["severity"], &error["message"]),
                    (&json!("warning"), &json!(told))
                );
                assert_eq!(lines_of(&run, "result")[0]["status"], "success");
            }
        }
        let users = stage.session_lines().iter().filter(|line| line["type"] == "user").count();
        assert_eq!(users, 0, "a prompt that was refused was never said");
    }
}

#[test]
fn what_does_not_refuse() {
    for command in
        ["exit 2", "echo '{\"a\":1}'; exit 2", "echo hi; exit 1", "kill -9 $$", "echo 5; exit 2"]
    {
        let stage = with_hooks([reply().text("done")], &[("BeforeAgent", "", command)]);
        let run = stage.prompt("text", "go");
        run.assert_code(0);
        assert_eq!(run.stdout_text(), "done\n", "{command}");
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
fn words_for_the_model_come_with_the_prompt() {
    let context = specific(&json!({ "additionalContext": "mind </hook_context> & this" }));
    let stage = with_hooks([reply().text("done")], &[("BeforeAgent", "", &context)]);
    stage.prompt("text", "go").assert_code(0);
    let fenced = "<hook_context>mind &lt;/hook_context&gt; & this</hook_context>";
    assert_eq!(said(&stage)[1..], ["go", fenced]);
}

#[test]
fn a_session_begins_with_words_of_programs() {
    let start = says(&json!({ "systemMessage": "welcome", "decision": "deny", "continue": false,
        "hookSpecificOutput": { "additionalContext": "it rains" } }));
    let stage = with_hooks(
        [reply().text("done")],
        &[("SessionStart", "startup", &start), ("SessionStart", "start.*", "touch matched")],
    );
    let run = stage.prompt("text", "go");
    run.assert_code(0);
    stderr_has(&run, "Hook system message: welcome");
    assert_eq!(said(&stage)[1..], ["<hook_context>it rains</hook_context>\n\ngo"]);
    assert!(!exists(&stage, "matched"), "reasons are compared as they are");
    stage.home.settings(&json!({ "hooks": definitions(&[("SessionStart", "resume", KEEP)]) }));
    stage.server.stream(reply().text("again"));
    stage.pollux(&["--resume", "latest", "-p", "more"]).run().assert_code(0);
    assert_eq!(kept(&stage)[0]["source"], "resume");
}

#[test]
fn a_session_ends_with_programs_that_take_their_time() {
    let stage = with_hooks(
        [reply().text("done")],
        &[("SessionEnd", "exit", "sleep 3; echo '{\"systemMessage\":\"bye\"}'; touch ended")],
    );
    let run = stage.prompt("text", "go");
    run.assert_code(0);
    assert!(exists(&stage, "ended"));
    stderr_has(&run, "Hook system message: bye");
}

#[test]
fn a_stopped_run_ends_its_session_too() {
    let stage = with_hooks([reply().never_answer()], &[("SessionEnd", "", KEEP)]);
    let run = stage.pollux(&["-p", "go"]).spawn();
    wait_until("the request came", || stage.server.connections() > 0);
    run.signal(Signal::INT);
    run.wait().assert_code(130);
    assert_eq!(names(&kept(&stage)), ["SessionEnd"]);
}

#[test]
fn a_call_is_refused_and_the_model_told() {
    let deny = says(&json!({ "decision": "block", "reason": "hands off" }));
    let stage = with_hooks(
        [write("a.txt"), reply().text("done")],
        &[("BeforeTool", "write_file|replace", &deny), ("AfterTool", "", KEEP)],
    );
    let run = stage.pollux(&["-y", "-o", "stream-json", "-p", "go"]).run();
    run.assert_code(0);
    assert_eq!(stage.responses(), [json!({ "error": "Tool execution blocked: hands off" })]);
    let result = lines_of(&run, "tool_result").remove(0);
    assert_eq!(
        result["error"],
        json!({ "type": "policy_violation", "message": "Tool execution blocked: hands off" })
    );
    assert!(!exists(&stage, "a.txt"));
    assert!(kept(&stage).is_empty(), "it did not run");
}

#[test]
fn matchers_choose_by_tool() {
    let deny = says(&json!({ "decision": "deny" }));
    for (matcher, refused) in [
        ("write", true),
        ("^read", false),
        ("*", true),
        ("(?!write)^.*", false),
        ("write_file[", false),
    ] {
        let stage =
            with_hooks([write("a.txt"), reply().text("done")], &[("BeforeTool", matcher, &deny)]);
        stage.yolo("go");
        assert_eq!(exists(&stage, "a.txt"), !refused, "{matcher}");
    }
}

#[test]
fn a_call_stops_the_work() {
    let stop = says(&json!({ "continue": false, "stopReason": "enough" }));
    for event in ["BeforeTool", "AfterTool"] {
        let stage = with_hooks([write("a.txt")], &[(event, "", &stop)]);
        let run = stage.pollux(&["-y", "-o", "stream-json", "-p", "go"]).run();
        run.assert_code(0);
        assert_eq!(lines_of(&run, "tool_result")[0]["error"]["type"], "stop_execution", "{event}");
        assert_eq!(
            lines_of(&run, "tool_result")[0]["output"],
            "Agent execution stopped by hook: enough"
        );
        assert_eq!(stage.requests().len(), 1);
        assert_eq!(exists(&stage, "a.txt"), event == "AfterTool");
    }
}

#[test]
fn arguments_are_replaced_and_judged_anew() {
    let rewrite = |arguments: Value| specific(&json!({ "tool_input": arguments }));
    let other = rewrite(json!({ "file_path": "b.txt", "content": "y" }));
    let stage = with_hooks(
        [write("a.txt"), reply().text("done")],
        &[("BeforeTool", "", &other), ("AfterTool", "", KEEP)],
    );
    stage.yolo("go");
    assert!(exists(&stage, "b.txt") && !exists(&stage, "a.txt"));
    let told = stage.response();
    assert!(
        told.ends_with(
            "\n\n[System] Tool input parameters were modified by a hook before execution."
        ),
        "{told}"
    );
    assert_eq!(kept(&stage)[0]["tool_input"]["file_path"], "b.txt", "what has run");

    let bad = rewrite(json!({ "file_path": 5 }));
    let stage = with_hooks([write("a.txt"), reply().text("done")], &[("BeforeTool", "", &bad)]);
    stage.yolo("go");
    let told = stage.response();
    assert!(
        told.starts_with("Tool parameter modification by hook failed validation: params"),
        "{told}"
    );
    assert!(!exists(&stage, "a.txt"));

    // Outside the workspace the tool itself says no, whoever wants it.
    let outside = rewrite(json!({ "file_path": "/etc/evil", "content": "y" }));
    let stage = with_hooks([write("a.txt"), reply().text("done")], &[("BeforeTool", "", &outside)]);
    stage.yolo("go");
    assert!(stage.response().contains("failed validation"), "{}", stage.response());
}

#[test]
fn policy_judges_what_programs_made_of_a_call() {
    // Plan mode lets plans be written, and nothing else: a program cannot get past it.
    let other = specific(&json!({ "tool_input": { "file_path": "code.rs", "content": "y" } }));
    for decision in ["allow", "approve", "ask"] {
        let allow = says(&json!({ "decision": decision }));
        let stage = with_hooks(
            [write("plan.md"), reply().text("done")],
            &[("BeforeTool", "", &other), ("BeforeTool", "write.*", &allow)],
        );
        stage.pollux(&["--approval-mode", "plan", "-p", "go"]).run().assert_code(0);
        assert!(!exists(&stage, "code.rs"), "{decision}");
        assert!(stage.responses()[0]["error"].is_string(), "{:?}", stage.responses());
    }
}

#[test]
fn asking_needs_a_person() {
    let ask = says(&json!({ "decision": "ask", "systemMessage": "sure?" }));
    let stage = with_hooks([write("a.txt"), reply().text("done")], &[("BeforeTool", "", &ask)]);
    let run = stage.yolo("go");
    stderr_has(&run, "Hook system message: sure?");
    assert_eq!(
        stage.response(),
        "Tool execution for \"WriteFile\" requires user confirmation, which is not supported in non-interactive mode."
    );
    assert!(!exists(&stage, "a.txt"));
}

#[test]
fn a_result_is_withheld() {
    let deny = says(&json!({ "decision": "deny", "reason": "secret" }));
    let stage = with_hooks([write("a.txt"), reply().text("done")], &[("AfterTool", "", &deny)]);
    let run = stage.yolo("go");
    assert!(exists(&stage, "a.txt"), "it ran");
    assert_eq!(stage.responses(), [json!({ "error": "secret" })]);
    stderr_has(&run, "Error executing tool write_file: Tool result blocked: secret");
}

#[test]
fn words_follow_a_result() {
    let context = specific(&json!({ "additionalContext": "lint: <ok>" }));
    let stage = with_hooks([write("a.txt"), reply().text("done")], &[("AfterTool", "", &context)]);
    stage.yolo("go");
    let told = stage.response();
    assert!(told.ends_with("\n\n<hook_context>lint: &lt;ok&gt;</hook_context>"), "{told}");
}

#[test]
fn another_call_takes_the_place_of_one() {
    let tail = |name: &str, arguments: Value| {
        specific(&json!({ "tailToolCallRequest": { "name": name, "args": arguments } }))
    };
    let read = tail("read_file", json!({ "file_path": "a.txt" }));
    let stage = with_hooks(
        [write("a.txt"), reply().text("done")],
        &[("AfterTool", "write_file", &read), ("BeforeTool", "", KEEP)],
    );
    stage.yolo("go");
    assert_eq!(stage.response(), "x");
    let events = kept(&stage);
    assert_eq!(
        (&events[0]["tool_name"], events[0].get("original_request_name")),
        (&json!("write_file"), None)
    );
    assert_eq!(
        (&events[1]["tool_name"], &events[1]["original_request_name"]),
        (&json!("read_file"), &json!("write_file"))
    );

    let unknown = tail("nope", json!({}));
    let stage = with_hooks(
        [write("a.txt"), reply().text("done")],
        &[("AfterTool", "write_file", &unknown)],
    );
    stage.yolo("go");
    assert!(stage.response().starts_with("Tool \"nope\" not found."), "{}", stage.response());
}

#[test]
fn the_work_goes_on_until_a_program_is_content() {
    let again = "cat | tee -a \"$HOME/events\" | grep -q '\"stop_hook_active\":false' && echo '{\"decision\":\"block\",\"reason\":\"and tests?\"}'; \
                 echo >> \"$HOME/events\"; true";
    let stage = with_hooks(
        [reply().text("a"), reply().text("b")],
        &[("AfterAgent", "", again), ("BeforeAgent", "", KEEP)],
    );
    let run = stage.prompt("stream-json", "go");
    run.assert_code(0);
    assert_eq!(said(&stage)[1..], ["go", "and tests?"]);
    assert_eq!(spoken(&run), "ab");
    assert_eq!(lines_of(&run, "error")[0]["message"], "Agent execution blocked: and tests?");
    let events = kept(&stage);
    assert_eq!(names(&events), ["BeforeAgent", "AfterAgent", "BeforeAgent", "AfterAgent"]);
    assert_eq!(events[2]["prompt"], "and tests?");
    assert_eq!(
        (&events[3]["prompt"], &events[3]["prompt_response"]),
        (&json!("go"), &json!("a\nb"))
    );
    assert_eq!(events[3]["stop_hook_active"], true);
}

#[test]
fn the_work_goes_on_without_what_was_said() {
    let again = "grep -q '\"stop_hook_active\":false' && echo '{\"decision\":\"block\",\"reason\":\"anew\",\"hookSpecificOutput\":{\"clearContext\":true}}'; true";
    let stage = with_hooks([reply().text("a"), reply().text("b")], &[("AfterAgent", "", again)]);
    stage.prompt("text", "go").assert_code(0);
    let said = said(&stage);
    assert!(said[0].starts_with("<session_context>"), "{said:?}");
    assert_eq!(said[1..], ["anew"]);
    // Nor does it come back.
    stage.home.settings(&json!({}));
    stage.server.stream(reply().text("c"));
    stage.pollux(&["-r", "latest", "-p", "more"]).run().assert_code(0);
    let contents = stage.server.last_request().contents().to_vec();
    let texts: Vec<&str> = contents.iter().flat_map(texts).collect();
    assert!(texts[0].starts_with("<session_context>"), "{texts:?}");
    assert_eq!(texts[1..], ["anew", "b", "more"]);
}

#[test]
fn the_end_of_the_work_is_stopped() {
    let stop = says(&json!({ "continue": false, "stopReason": "enough" }));
    let stage = with_hooks([reply().text("a")], &[("AfterAgent", "", &stop)]);
    let run = stage.prompt("text", "go");
    run.assert_code(0);
    assert_eq!(run.stdout_text(), "a\n");
    stderr_has(&run, "Agent execution stopped: enough");
}

#[test]
fn a_model_that_is_never_content_ends() {
    let stage = Stage::new();
    stage.home.settings(&json!({ "model": { "maxSessionTurns": 3 }, "hooks": definitions(&[
        ("AfterAgent", "", "echo '{\"decision\":\"block\",\"reason\":\"more\"}'")]) }));
    for _ in 0..3 {
        stage.server.stream(reply().text("a"));
    }
    stage.prompt("text", "go").assert_code(53);
}
