//! Tests of tools that a command in the settings lists.

use std::sync::Arc;

use pollux_protocol::{CancellationToken, Tool, ToolErrorKind, ToolOutput};
use pollux_tools::{Discovered, DiscoveryCommands, ToolContext, discover};
use pretty_assertions::assert_eq;
use serde_json::{Value, json};

use super::session::Session;

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

/// A session whose settings contain these commands.
struct Listed {
    session: Session,
    context: Arc<ToolContext>,
    commands: DiscoveryCommands,
}

impl Listed {
    fn new(list: &str) -> Self {
        let session = Session::new();
        let script = |name: &str, text: &str| {
            let path = session.path(name);
            pollux_testkit::write_executable(&path, text);
            path.display().to_string()
        };
        let (discovery, call) = (script("list", list), script("call", CALL));
        let workspace = pollux_fs::Workspace::new(session.root.clone(), session.spill.clone());
        let mut context = ToolContext::new(workspace, session.spill.clone());
        context.environment = std::env::vars_os().collect();
        context.environment.push(("GEMINI_API_KEY".into(), "secret".into()));
        context.credentials = vec!["GEMINI_API_KEY".to_owned()];
        let commands = DiscoveryCommands { discovery, call: Some(call) };
        Self { session, context: Arc::new(context), commands }
    }

    async fn find(&self) -> Result<Vec<Arc<dyn Tool>>, String> {
        let found = discover(&self.context, &self.commands, &CancellationToken::new()).await;
        found.map(|Discovered { tools, .. }| tools)
    }

    async fn call(&self, name: &str, arguments: Value) -> ToolOutput {
        let tools = self.find().await.unwrap();
        let tool = tools.iter().find(|tool| tool.name() == name).unwrap();
        match tool.prepare(arguments.as_object().unwrap()) {
            Ok(invocation) => {
                invocation.run(self.session.run_context(CancellationToken::new())).await
            }
            Err(error) => error.into(),
        }
    }
}

fn text(output: &ToolOutput) -> String {
    output.content.iter().filter_map(|part| part.as_text()).collect()
}

#[tokio::test]
async fn results_are_what_the_command_prints() {
    let listed = Listed::new(LIST);
    let output = listed.call("discovered_tool_greet", json!({"who": "Ada"})).await;
    let project = listed.session.root.display();
    assert_eq!(text(&output), format!("greet 1 {{\"who\":\"Ada\"}} {project} []\n"));
    let output = listed.call("discovered_tool_odd_name_", json!({})).await;
    assert_eq!(text(&output), "called odd name!");
    let table = [
        ("fails", "Stdout: out\n\nStderr: err\n\nError: (none)\nExit Code: 3\nSignal: (none)"),
        ("warns", "Stdout: out\n\nStderr: careful\n\nError: (none)\nExit Code: 0\nSignal: (none)"),
        (
            "dies",
            "Stdout: (empty)\nStderr: (empty)\nError: (none)\nExit Code: (none)\nSignal: SIGKILL",
        ),
    ];
    for (name, message) in table {
        let output = listed.call(&format!("discovered_tool_{name}"), json!({})).await;
        let error = output.error.unwrap();
        assert_eq!(error.message, message, "{name}");
        assert_eq!(error.kind, ToolErrorKind::DiscoveredToolExecutionError, "{name}");
    }
    let error = listed.call("discovered_tool_greet", json!({})).await.error.unwrap();
    assert_eq!(error.message, "params must have required property 'who'");
}

#[tokio::test]
async fn long_output_has_a_file() {
    let listed = Listed::new(LIST);
    let reported = text(&listed.call("discovered_tool_much", json!({})).await);
    assert!(
        reported.contains("characters omitted") && reported.ends_with("\n20000\n"),
        "{}",
        &reported[..300]
    );
    let file = reported.split("For full output see: ").nth(1).and_then(|rest| rest.lines().next());
    assert!(std::fs::read_to_string(file.unwrap()).unwrap().starts_with("1\n2\n"));
}

#[tokio::test]
async fn a_list_that_does_not_come_is_reported_with_its_reason() {
    let table = [
        ("#!/bin/sh\necho no such thing >&2; exit 3\n", "failed with exit code 3: no such thing"),
        ("#!/bin/sh\necho hello\n", "did not print JSON"),
        ("#!/bin/sh\necho '{}'\n", "did not print a JSON array of tools"),
        ("#!/nonexistent/program\n", "failed with exit code 12"),
        ("#!/bin/sh\nhead -c 20000000 /dev/zero\n", "printed more than 10 MiB"),
    ];
    for (list, words) in table {
        let failure = Listed::new(list).find().await.err().unwrap();
        assert!(failure.contains(words), "{words}: {failure}");
    }
}
