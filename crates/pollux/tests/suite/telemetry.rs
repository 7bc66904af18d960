//! Telemetry in a file: required and forbidden contents.

use std::collections::BTreeMap;
use std::fs;
use std::time::Duration;

use pollux_testkit::{Endpoint, Key, Pollux, Signal, errors, reply};
use serde_json::{Value, json};

use super::stage::{MODEL, Stage};

const PROMPT: &str = "a prompt with a secret in it";

/// Returns a run with a tool call whose telemetry goes to a file of the project.
fn observed(stage: &Stage) -> Pollux {
    stage.home.project_file("a.txt", "content of a file\n");
    stage.server.stream(reply().call("read_file", json!({"file_path": "a.txt"})).usage(100, 7));
    stage.server.stream(reply().text("an answer with a secret").usage(200, 9));
    let program = stage.pollux(&["-p", PROMPT]).env("GEMINI_TELEMETRY_ENABLED", "true");
    program.env("GEMINI_TELEMETRY_OUTFILE", stage.home.project().join("telemetry.log"))
}

/// Returns the objects of the file, split as consumers of Gemini CLI's format do: `}`, newline,
/// `{`.
fn records(stage: &Stage) -> Vec<Value> {
    let text = stage.home.read_project_file("telemetry.log");
    assert!(
        text.starts_with("{\n  ") && text.ends_with("\n}\n"),
        "two spaces deep, a newline after each"
    );
    let pieces: Vec<&str> = text.trim_end().split("\n}\n{\n").collect();
    let last = pieces.len() - 1;
    let whole = |(number, piece): (usize, &&str)| {
        let start = if number == 0 { "" } else { "{\n" };
        let end = if number == last { "" } else { "\n}" };
        let object = format!("{start}{piece}{end}");
        serde_json::from_str(&object).unwrap_or_else(|error| panic!("{error}: {object}"))
    };
    pieces.iter().enumerate().map(whole).collect()
}

/// Returns the log records by event name, in order.
fn events(records: &[Value]) -> Vec<(String, Value)> {
    let named = records.iter().filter_map(|record| {
        let name = record["attributes"]["event.name"].as_str()?;
        Some((name.to_owned(), record.clone()))
    });
    named.collect()
}

/// Returns the latest data points of each metric.
fn metrics(records: &[Value]) -> BTreeMap<String, Value> {
    let batches = records.iter().filter_map(|record| record["scopeMetrics"].as_array()).flatten();
    let metrics = batches.flat_map(|scope| scope["metrics"].as_array().unwrap());
    metrics
        .map(|metric| (metric["descriptor"]["name"].as_str().unwrap().to_owned(), metric.clone()))
        .collect()
}

#[test]
fn a_run_is_reported_event_by_event() {
    let stage = Stage::new();
    observed(&stage).run().assert_code(0);
    let events = events(&records(&stage));
    let names: Vec<&str> = events.iter().map(|(name, _)| name.as_str()).collect();
    let position = |name: &str| {
        names
            .iter()
            .position(|found| *found == name)
            .unwrap_or_else(|| panic!("{name} in {names:?}"))
    };
    let order = [
        "gemini_cli.config",
        "gemini_cli.startup_stats",
        "gemini_cli.user_prompt",
        "gemini_cli.api_request",
        "gemini_cli.api_response",
        "gemini_cli.tool_call",
        "end_session",
    ];
    assert!(order.map(position).is_sorted(), "{names:?}");
    for name in [
        "gen_ai.client.inference.operation.details",
        "gemini_cli.file_operation",
        "gemini_cli.model_routing",
    ] {
        position(name);
    }
    for (name, event) in &events {
        for key in ["session.id", "installation.id", "event.timestamp"] {
            assert!(event["attributes"][key].is_string(), "{key} of {name}");
        }
        assert_eq!(event["attributes"]["interactive"], false, "{name}");
        assert!(event["_body"].is_string() && event["hrTime"].is_array(), "{name}");
    }
    let prompt = &events[position("gemini_cli.user_prompt")].1;
    assert_eq!(prompt["_body"], format!("User prompt. Length: {}.", PROMPT.len()));
    assert_eq!(prompt["attributes"]["prompt"], PROMPT);
    let call = &events[position("gemini_cli.tool_call")].1["attributes"];
    assert_eq!(call["function_name"], "read_file");
    assert_eq!(
        (&call["success"], &call["decision"], &call["tool_type"]),
        (&json!(true), &json!("accept"), &json!("native"))
    );
    let response = &events[position("gemini_cli.api_response")].1["attributes"];
    assert_eq!((&response["model"], &response["input_token_count"]), (&json!(MODEL), &json!(100)));
    let resource = events[0].1["resource"]["_rawAttributes"].to_string();
    assert!(resource.contains(r#"["service.name","gemini-cli"]"#), "{resource}");
}

#[test]
fn figures_are_reported_before_the_end() {
    let stage = Stage::new();
    observed(&stage).run().assert_code(0);
    let metrics = metrics(&records(&stage));
    let value = |name: &str| metrics[name]["dataPoints"][0]["value"].clone();
    assert_eq!(value("gemini_cli.session.count"), 1);
    assert_eq!(value("gemini_cli.tool.call.count"), 1);
    assert_eq!(value("gemini_cli.startup.duration")["count"], 1);
    assert_eq!(value("gemini_cli.tool.execution.breakdown")["count"], 1);
    assert_eq!(value("gemini_cli.tool.queue.depth")["sum"], 1);
    assert!(value("gemini_cli.memory.usage")["sum"].as_u64().is_some_and(|bytes| bytes > 1 << 20));
    assert_eq!(value("gemini_cli.api.request.count"), 2);
    let tokens = metrics["gemini_cli.token.usage"]["dataPoints"].as_array().unwrap();
    let input = tokens.iter().find(|point| point["attributes"]["type"] == "input").unwrap();
    assert_eq!((&input["value"], &input["attributes"]["model"]), (&json!(300), &json!(MODEL)));
    let latency = &metrics["gemini_cli.api.request.latency"];
    assert_eq!(
        (&latency["dataPointType"], &latency["descriptor"]["type"]),
        (&json!(0), &json!("HISTOGRAM"))
    );
    assert_eq!(value("gemini_cli.api.request.latency")["count"], 2);
    assert_eq!(metrics["gemini_cli.tool.call.count"]["dataPointType"], 3);
}

#[test]
fn texts_stay_out_when_the_person_says_so() {
    for (log, expected) in [("false", false), ("true", true)] {
        let stage = Stage::new();
        observed(&stage).env("GEMINI_TELEMETRY_LOG_PROMPTS", log).run().assert_code(0);
        let text = stage.home.read_project_file("telemetry.log");
        for secret in [PROMPT, "an answer with a secret", "a.txt", "content of a file"] {
            if secret != "content of a file" || !expected {
                assert_eq!(text.contains(secret), expected, "{secret:?} with logPrompts {log}");
            }
        }
        assert!(!text.contains("test-key"), "never a key");
    }
}

#[test]
fn settings_switch_it_on_and_the_environment_wins() {
    let stage = Stage::with([reply().text("hi"), reply().text("hi")]);
    let file = stage.home.project().join("telemetry.log");
    stage.home.settings(&json!({"telemetry": {"enabled": true, "outfile": file}}));
    let off = stage.pollux(&["-p", "go"]).env("GEMINI_TELEMETRY_ENABLED", "false");
    off.run().assert_code(0);
    assert!(!file.exists());
    stage.prompt("text", "go").assert_code(0);
    assert!(!records(&stage).is_empty());
}

#[test]
fn a_file_is_only_added_to_and_only_its_owner_reads_it() {
    use std::os::unix::fs::PermissionsExt as _;
    let stage = Stage::new();
    observed(&stage).run().assert_code(0);
    let file = stage.home.project().join("telemetry.log");
    let before = fs::read(&file).unwrap();
    assert_eq!(fs::metadata(&file).unwrap().permissions().mode() & 0o077, 0);
    observed(&stage).run().assert_code(0);
    assert!(fs::read(&file).unwrap().starts_with(&before));
    let sessions: Vec<Value> = events(&records(&stage))
        .into_iter()
        .map(|(_, event)| event["attributes"]["session.id"].clone())
        .collect();
    assert_ne!(sessions.first(), sessions.last());
    let installations = records(&stage);
    let first = &events(&installations)[0].1["attributes"]["installation.id"];
    let kept = fs::read_to_string(stage.home.gemini().join("installation_id")).unwrap();
    assert_eq!(first, &json!(kept), "the same in every run");
}

#[test]
fn failures_and_cancels_are_reported_too() {
    let stage = Stage::new();
    stage.home.settings(&json!({"general": {"maxAttempts": 1}}));
    let program = observed(&stage);
    // Another prompt uses up the two scripted turns first.
    program.run().assert_code(0);
    fs::remove_file(stage.home.project().join("telemetry.log")).unwrap();
    stage.server.answer_with(Endpoint::StreamGenerateContent, |_| errors::bad_request("No."));
    let file = stage.home.project().join("telemetry.log");
    let program = stage.pollux(&["-p", "go"]).env("GEMINI_TELEMETRY_ENABLED", "1");
    program.env("GEMINI_TELEMETRY_OUTFILE", &file).run().assert_code(1);
    let all = records(&stage);
    let events = events(&all);
    let error = events.iter().find(|(name, _)| name == "gemini_cli.api_error").unwrap();
    assert_eq!(error.1["attributes"]["status_code"], 400);
    assert!(metrics(&all).contains_key("gemini_cli.api.request.count"));
}

#[test]
fn an_interrupted_run_is_flushed() {
    let stage = Stage::with([reply().text("One ").text("two").stall_after(1)]);
    let file = stage.home.project().join("telemetry.log");
    // On a pipe, text would be printed only when the answer is complete.
    let program = stage.pollux(&["-p", "go", "-o", "stream-json"]);
    let program = program.env("GEMINI_TELEMETRY_ENABLED", "1");
    let mut running = program.env("GEMINI_TELEMETRY_OUTFILE", &file).spawn();
    running.stdout_until("One");
    running.signal(Signal::TERM);
    running.wait().assert_code(143);
    assert!(!metrics(&records(&stage)).is_empty());
}

#[test]
fn a_file_that_cannot_be_written_stops_nobody() {
    let stage = Stage::with([reply().text("hi")]);
    let program = stage.pollux(&["-p", "go"]).env("GEMINI_TELEMETRY_ENABLED", "1");
    let run = program.env("GEMINI_TELEMETRY_OUTFILE", stage.home.project()).run();
    run.assert_code(0);
    assert_eq!(run.stdout_text(), "hi\n");
}

fn first<'a>(events: &'a [(String, Value)], name: &str) -> &'a Value {
    let found = events.iter().find(|(found, _)| found == name);
    &found.unwrap_or_else(|| panic!("{name} in {events:?}")).1["attributes"]
}

#[test]
fn a_conversation_tells_its_commands_and_modes() {
    const SOON: Duration = Duration::from_secs(10);
    let edit = json!({
        "file_path": "a.txt", "instruction": "change", "old_string": "one", "new_string": "eins",
    });
    let stage = Stage::with([reply().call("replace", edit), reply().text("Done.")]);
    stage.home.project_file("a.txt", "one\n");
    let program = stage.pollux(&[]).env("GEMINI_TELEMETRY_ENABLED", "1");
    let file = stage.home.project().join("telemetry.log");
    let mut terminal = program.env("GEMINI_TELEMETRY_OUTFILE", file).in_terminal(40, 100);
    let at_prompt = |screen: &pollux_testkit::Screen| screen.contents().trim_end().ends_with('>');
    let type_line = |line: &str| {
        terminal.send(line);
        terminal.send_key(Key::Enter);
    };
    terminal.wait_for(at_prompt, SOON);
    type_line("/about");
    terminal.wait_for(at_prompt, SOON);
    type_line("go");
    terminal.wait_for_text("Choose 1-4:", SOON);
    type_line("2");
    terminal.wait_for_text("Done.", SOON);
    terminal.wait_for(at_prompt, SOON);
    terminal.send_key(Key::Ctrl('d'));
    assert_eq!(terminal.wait_exit(SOON).exit_code(), 0);
    let events = events(&records(&stage));
    assert!(events.iter().all(|(_, event)| event["attributes"]["interactive"] == true));
    let command = first(&events, "gemini_cli.slash_command");
    assert_eq!((&command["command"], &command["status"]), (&json!("about"), &json!("success")));
    let modes: Vec<_> = events
        .iter()
        .filter_map(|(name, event)| {
            let kind = name.strip_prefix("gemini_cli.plan.approval_mode_")?;
            let attributes = &event["attributes"];
            let mode = attributes["mode"].as_str().or(attributes["to_mode"].as_str())?;
            Some(format!("{kind} {mode}"))
        })
        .collect();
    assert_eq!(modes, ["duration default", "switch autoEdit", "duration autoEdit"]);
}
