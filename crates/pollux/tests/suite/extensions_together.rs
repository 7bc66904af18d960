//! One headless run with everything that an extension brings: a server, a skill with a script, a
//! command, and subagents side by side.

use std::sync::atomic::{AtomicUsize, Ordering};

use pollux_testkit::{CapturedRequest, Endpoint, ModelReply, ReplyGate, reply, write_executable};
use serde_json::{Value, json};

use super::mcp_server::ScriptServer;
use super::stage::{Stage, texts};

/// Installs the extension as a folder of the user.
fn install(stage: &Stage) {
    let file = |path: &str, text: &str| {
        stage.home.user_file(&format!("extensions/acme/{path}"), text);
    };
    let entry = ScriptServer::default().entry(stage, "server");
    let manifest = json!({"name": "acme", "version": "1.0.0", "mcpServers": {"acme": entry}});
    file("gemini-extension.json", &manifest.to_string());
    file("commands/ship.toml", "prompt = 'Ship {{args}} after !{echo checks}: @{a.txt}'");
    let skill = "---\nname: fill\ndescription: Fills forms\n---\nRun ${extensionPath}/fill.sh.\n";
    file("skills/fill/SKILL.md", skill);
    let script = stage.home.gemini().join("extensions/acme/fill.sh");
    write_executable(&script, "#!/bin/sh\necho \"filled by $1\"\n");
    for name in ["one", "two"] {
        let text = format!("---\nname: {name}\ndescription: Works\n---\nYou are {name}.\n");
        file(&format!("agents/{name}.md"), &text);
    }
}

/// Answers the main agent with calls of everything, and each subagent with its end. The first
/// subagent gets its answer only when the second one works, too.
fn answers(stage: &Stage) -> impl Fn(&CapturedRequest) -> ModelReply + Send + Sync + 'static {
    let script = stage.home.gemini().join("extensions/acme/fill.sh");
    let (both, turn) = (ReplyGate::closed(), AtomicUsize::new(0));
    move |request| {
        let instruction = request.body["systemInstruction"].to_string();
        let complete = |result: &str| reply().call("complete_task", json!({"result": result}));
        if instruction.contains("You are one.") {
            return complete("first part").held_by(&both);
        }
        if instruction.contains("You are two.") {
            both.open();
            return complete("second part");
        }
        let invoke = |name: &str| json!({"agent_name": name, "prompt": format!("task of {name}")});
        match turn.fetch_add(1, Ordering::Relaxed) {
            0 => reply().call("mcp_acme_look", json!({"x": "1"})),
            1 => reply().call("activate_skill", json!({"name": "fill"})),
            2 => {
                let command = format!("{} pollux", script.display());
                reply().call("run_shell_command", json!({"command": command}))
            }
            3 => reply().call("invoke_agent", invoke("one")).call("invoke_agent", invoke("two")),
            _ => reply().text("Shipped."),
        }
    }
}

/// Returns the result of the only call of a tool, as the model has got it.
fn results(stage: &Stage, tool: &str) -> Vec<String> {
    let request = stage.server.last_request();
    let parts = request
        .contents()
        .iter()
        .flat_map(|content| content["parts"].as_array().cloned().unwrap_or_default());
    let result = |part: Value| {
        let response = &part["functionResponse"];
        (response["name"] == tool).then(|| response["response"].to_string())
    };
    parts.filter_map(result).collect()
}

#[test]
fn everything_of_an_extension_works_in_one_run() {
    let stage = Stage::new();
    install(&stage);
    stage.home.project_file("a.txt", "the notes\n");
    stage.server.answer_with(Endpoint::StreamGenerateContent, answers(&stage));
    let run = stage.pollux(&["-y", "-p", "/ship it"]).run();
    run.assert_code(0);
    assert_eq!(run.stdout_text(), "Shipped.\n");
    let prompt = texts(stage.requests()[0].contents().last().unwrap()).join("\n");
    assert!(prompt.contains("Ship it after checks: "), "{prompt}");
    assert!(prompt.contains("the notes"), "{prompt}");
    for (tool, expected) in [
        ("mcp_acme_look", &["seen"][..]),
        ("activate_skill", &["extensions/acme/fill.sh"]),
        ("run_shell_command", &["filled by pollux"]),
        ("invoke_agent", &["first part", "second part"]),
    ] {
        let results = results(&stage, tool);
        assert_eq!(results.len(), expected.len(), "{tool}: {results:?}");
        for (result, expected) in results.iter().zip(expected) {
            assert!(result.contains(expected), "{tool}: {result}");
        }
    }
    let listed = stage.pollux(&["--list-sessions"]).run().stdout_text();
    let lines: Vec<&str> = listed.lines().collect();
    let main = lines.iter().position(|line| line.contains("1. ")).unwrap();
    let below = &lines[main + 1..=main + 2];
    for name in ["one", "two"] {
        let row = format!("       - {name}: task of {name} [");
        assert!(below.iter().any(|line| line.starts_with(&row)), "{listed}");
    }
}
