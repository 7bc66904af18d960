//! Tools that a command from the settings lists.

use std::fs;
use std::time::Duration;

use pollux_testkit::{Finished, Key, reply, write_executable};
use serde_json::{Value, json};

use super::stage::{MODEL, Stage, is_alive, wait_until};

const SOON: Duration = Duration::from_secs(20);

const LIST: &str = r#"#!/bin/sh
cat <<'END'
[
  {"name": "greet", "description": "Greets.", "parametersJsonSchema":
    {"type": "object", "properties": {"who": {"type": "string"}}, "required": ["who"]}},
  {"functionDeclarations": [{"name": "fails"}, {"name": "warns"}, {"name": "dies"}, {"name": "odd name!"}, {"name": "much"}]}
]
END
"#;

const CALL: &str = r#"#!/bin/sh
input=$(cat)
case $1 in
  greet) echo "$1 $# $input $PWD [$GEMINI_API_KEY]";;
  fails) echo out; echo err >&2; exit 3;;
  warns) echo out; echo careful >&2;;
  dies) kill -9 $$;;
  much) seq 1 20000;;
  *) printf 'called %s' "$1";;
esac
"#;

fn script(stage: &Stage, name: &str, text: &str) -> String {
    let path = stage.home.project().join(name);
    write_executable(&path, text);
    path.display().to_string()
}

/// Creates a stage whose settings name these commands.
fn stage_with(list: &str) -> Stage {
    let stage = Stage::new();
    let (discovery, call) = (script(&stage, "list", list), script(&stage, "call", CALL));
    stage.home.settings(&json!({"tools": {"discoveryCommand": discovery, "callCommand": call}}));
    stage
}

fn calls(stage: &Stage, calls: &[(&str, Value)]) -> Finished {
    for (name, arguments) in calls {
        stage.server.stream(reply().call(name, arguments.clone()));
    }
    stage.server.stream(reply().text("done"));
    let run = stage.pollux(&["-y", "-o", "stream-json", "-p", "go"]).run();
    run.assert_code(0);
    run
}

#[test]
fn a_project_that_is_not_trusted_runs_nothing() {
    let stage = stage_with("#!/bin/sh\ntouch ran; echo '[]'\n");
    stage.server.stream(reply().text("done"));
    let run = stage.pollux(&["-p", "go"]).env("GEMINI_CLI_TRUST_WORKSPACE", "false");
    run.run().assert_code(0);
    assert!(!stage.home.project().join("ran").exists());
}

#[test]
fn without_a_persons_yes_they_do_not_run() {
    let stage = stage_with(LIST);
    stage.server.stream(reply().call("discovered_tool_greet", json!({"who": "Ada"})));
    stage.server.stream(reply().text("done"));
    stage.program().args(["-m", MODEL, "-p", "go"]).run().assert_code(0);
    assert!(stage.response().contains("not found"), "{}", stage.response());
    // In a conversation the user is asked.
    let stage = stage_with(LIST);
    stage.server.stream(reply().call("discovered_tool_greet", json!({"who": "Ada"})));
    stage.server.stream(reply().text("All is done."));
    let mut terminal = stage.pollux(&["-i", "go"]).in_terminal(40, 120);
    terminal.wait_for_text("Choose 1-", SOON);
    terminal.send("1");
    terminal.send_key(Key::Enter);
    terminal.wait_for_text("All is done.", SOON);
    assert!(stage.response().starts_with("greet 1 {\"who\":\"Ada\"}"), "{}", stage.response());
    terminal.send_key(Key::Ctrl('d'));
    terminal.wait_exit(SOON);
}

#[test]
fn a_list_that_hangs_can_be_stopped() {
    let stage = stage_with("#!/bin/sh\necho $$ > pid; exec sleep 1000\n");
    let mut terminal = stage.pollux(&["-y", "-i", "go"]).in_terminal(40, 120);
    wait_until("the command runs", || {
        fs::read_to_string(stage.home.project().join("pid")).is_ok_and(|pid| pid.ends_with('\n'))
    });
    let process: u32 = stage.home.read_project_file("pid").trim().parse().unwrap();
    // Before, Ctrl-C ends the program.
    terminal.wait_for_text("/help lists the commands.", SOON);
    terminal.send_key(Key::Ctrl('c'));
    terminal.wait_for_text("Request cancelled.", SOON);
    assert_eq!(stage.requests().len(), 0);
    terminal.send_key(Key::Ctrl('d'));
    terminal.wait_exit(SOON);
    wait_until("the command is gone", || !is_alive(process));
}

#[test]
fn a_list_that_does_not_come_is_reported_and_the_run_goes_on() {
    let stage = stage_with("#!/bin/sh\necho no such thing >&2; exit 3\n");
    let run = calls(&stage, &[]);
    let words = "failed with exit code 3: no such thing";
    assert!(run.stderr_text().contains(words), "{}", run.report());
    let request = stage.server.last_request();
    assert!(!request.declared_tools().iter().any(|name| name.starts_with("discovered")));
}

#[test]
fn a_tool_that_cannot_be_described_is_left_out_alone() {
    let stage = stage_with(
        r##"#!/bin/sh
cat <<'END'
[
  {"name": "word", "parametersJsonSchema": {"type": "string"}},
  {"name": "tree", "parametersJsonSchema": {"type": "object",
    "properties": {"root": {"$ref": "#/$defs/node"}},
    "$defs": {"node": {"type": "object", "properties": {"next": {"$ref": "#/$defs/node"}}}}}}
]
END
"##,
    );
    let run = calls(&stage, &[("discovered_tool_tree", json!({"root": {"next": {}}}))]);
    assert_eq!(stage.response(), "called tree");
    let request = stage.server.last_request();
    let declarations = request.body["tools"][0]["functionDeclarations"].as_array().unwrap();
    let schema = |name: &str| {
        let declaration = declarations.iter().find(|one| one["name"] == name);
        declaration.map(|declaration| &declaration["parametersJsonSchema"])
    };
    assert_eq!(schema("discovered_tool_word"), None);
    let tree = schema("discovered_tool_tree").unwrap();
    assert_eq!(tree.get("$defs"), None);
    assert_eq!(
        tree["properties"]["root"],
        json!({"type": "object", "properties": {"next": {"type": "object",
            "description": "The same structure as one that it is part of."}}})
    );
    // Two requests were sent.
    let warning = "The model cannot use the tool discovered_tool_word: \
                   its parameters are not described as an object.";
    assert_eq!(run.stderr_text().matches(warning).count(), 1, "{}", run.report());
}
