//! Tools that a command of the settings lists.

use std::fs;
use std::os::unix::fs::PermissionsExt as _;
use std::time::Duration;

use pollux_testkit::{Finished, Key, reply};
use serde_json::{Value, json};

use super::stage::{MODEL, Stage, is_alive, lines_of, wait_until};

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
    stage.home.project_file(name, text);
    let path = stage.home.project().join(name);
    fs::set_permissions(&path, fs::Permissions::from_mode(0o755)).unwrap();
    path.display().to_string()
}

/// A stage whose settings name these commands.
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

/// What the model is told of one call.
fn told(name: &str, arguments: Value) -> Value {
    let stage = stage_with(LIST);
    calls(&stage, &[(name, arguments)]);
    let responses = stage.responses();
    let [response] = &responses[..] else { panic!("{responses:?}") };
    let project = stage.home.project().canonicalize().unwrap();
    let text = response.to_string().replace(&project.display().to_string(), "<project>");
    serde_json::from_str(&text).unwrap()
}

#[test]
fn they_are_declared_behind_our_own() {
    let stage = stage_with(LIST);
    calls(&stage, &[]);
    let request = stage.server.last_request();
    let declared = request.declared_tools();
    let expected = ["greet", "fails", "warns", "dies", "odd_name_", "much"];
    let expected: Vec<String> =
        expected.iter().map(|name| format!("discovered_tool_{name}")).collect();
    assert_eq!(declared[declared.len() - expected.len()..], expected);
    let tools = request.body["tools"][0]["functionDeclarations"].as_array().unwrap();
    let greet = tools.iter().find(|tool| tool["name"] == "discovered_tool_greet").unwrap();
    assert!(greet["description"].as_str().unwrap().starts_with("Greets.\n\n"));
    assert_eq!(greet["parametersJsonSchema"]["required"], json!(["who"]));
}

#[test]
fn results_are_what_the_command_prints() {
    let output = told("discovered_tool_greet", json!({"who": "Ada"}));
    assert_eq!(output, json!({"output": "greet 1 {\"who\":\"Ada\"} <project> []\n"}));
    assert_eq!(told("discovered_tool_odd_name_", json!({})), json!({"output": "called odd name!"}));
    let table = [
        ("fails", "Stdout: out\n\nStderr: err\n\nError: (none)\nExit Code: 3\nSignal: (none)"),
        ("warns", "Stdout: out\n\nStderr: careful\n\nError: (none)\nExit Code: 0\nSignal: (none)"),
        (
            "dies",
            "Stdout: (empty)\nStderr: (empty)\nError: (none)\nExit Code: (none)\nSignal: SIGKILL",
        ),
    ];
    for (name, error) in table {
        let response = told(&format!("discovered_tool_{name}"), json!({}));
        assert_eq!(response, json!({ "error": error }), "{name}");
    }
    let response = told("discovered_tool_greet", json!({}));
    assert_eq!(response, json!({"error": "params must have required property 'who'"}));
}

#[test]
fn failures_have_a_kind_and_long_output_a_file() {
    let stage = stage_with(LIST);
    let run =
        calls(&stage, &[("discovered_tool_fails", json!({})), ("discovered_tool_much", json!({}))]);
    let results = lines_of(&run, "tool_result");
    assert_eq!(results[0]["error"]["type"], "discovered_tool_execution_error");
    let told = stage.response();
    assert!(told.contains("characters omitted") && told.ends_with("\n20000\n"), "{}", &told[..300]);
    let file = told.split("For full output see: ").nth(1).and_then(|rest| rest.lines().next());
    assert!(fs::read_to_string(file.unwrap()).unwrap().starts_with("1\n2\n"));
}

#[test]
fn a_list_that_does_not_come_is_told_and_the_run_goes_on() {
    let table = [
        ("#!/bin/sh\necho no such thing >&2; exit 3\n", "failed with exit code 3: no such thing"),
        ("#!/bin/sh\necho hello\n", "printed no JSON"),
        ("#!/bin/sh\necho '{}'\n", "did not print a JSON array of tools"),
        ("#!/nonexistent/program\n", "failed with exit code 12"),
        ("#!/bin/sh\nhead -c 20000000 /dev/zero\n", "printed more than 10 MiB"),
    ];
    for (list, words) in table {
        let stage = stage_with(list);
        let run = calls(&stage, &[]);
        assert!(run.stderr_text().contains(words), "{words}\n{}", run.report());
        let request = stage.server.last_request();
        assert!(!request.declared_tools().iter().any(|name| name.starts_with("discovered")));
    }
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
    // Where there is a person, that one is asked.
    let stage = stage_with(LIST);
    stage.server.stream(reply().call("discovered_tool_greet", json!({"who": "Ada"})));
    stage.server.stream(reply().text("All is told."));
    let mut terminal = stage.pollux(&["-i", "go"]).in_terminal(40, 120);
    terminal.wait_for_text("Choose 1-", SOON);
    terminal.send("1");
    terminal.send_key(Key::Enter);
    terminal.wait_for_text("All is told.", SOON);
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
    terminal.send_key(Key::Ctrl('c'));
    terminal.wait_for_text("Request cancelled.", SOON);
    assert_eq!(stage.requests().len(), 0);
    terminal.send_key(Key::Ctrl('d'));
    terminal.wait_exit(SOON);
    wait_until("the command is gone", || !is_alive(process));
}
