//! Extensions: what they bring to a session, and `pollux extensions`.

use std::fs;

use pollux_testkit::{Finished, reply, write_executable};
use pretty_assertions::assert_eq;
use serde_json::{Value, json};

use super::mcp_server::ScriptServer;
use super::screen::{Talk as Screen, on_screen};
use super::stage::{Stage, texts};

/// Writes a file of an installed extension.
fn file(stage: &Stage, path: &str, text: impl AsRef<str>) {
    stage.home.user_file(&format!("extensions/{path}"), text.as_ref());
}

#[expect(clippy::needless_pass_by_value, reason = "tests hand it a literal")]
fn manifest(stage: &Stage, name: &str, fields: Value) {
    let mut manifest = json!({"name": name, "version": "1.0.0"});
    manifest.as_object_mut().unwrap().extend(fields.as_object().unwrap().clone());
    file(stage, &format!("{name}/gemini-extension.json"), manifest.to_string());
}

/// Returns the names of the tools that the latest request offers.
fn offered(stage: &Stage) -> Vec<String> {
    let tools = stage.server.last_request().body["tools"].clone();
    let declared = tools[0]["functionDeclarations"].as_array().unwrap().clone();
    declared.into_iter().map(|tool| tool["name"].as_str().unwrap().to_owned()).collect()
}

fn run(stage: &Stage, arguments: &[&str]) -> Finished {
    stage.server.stream(reply().text("ok"));
    let run = stage.pollux(arguments).run();
    run.assert_code(0);
    run
}

/// Returns the texts of the first message of the latest request.
fn first_message(stage: &Stage) -> String {
    texts(&stage.server.last_request().contents()[0]).join("\n")
}

#[test]
fn servers_context_settings_and_exclusions_take_effect() {
    let stage = Stage::new();
    let server =
        ScriptServer { call: r#"env > variables; text "seen""#, ..ScriptServer::default() };
    let mut entry = server.entry(&stage, "server");
    entry["trust"] = json!(true);
    entry["env"] = json!({"PLACE": "${extensionPath}${/}x", "TOKEN": "$ACME_REGION"});
    manifest(
        &stage,
        "acme",
        json!({
            "contextFileName": "ACME.md",
            "mcpServers": {"acme": entry},
            "excludeTools": ["google_web_search", "run_shell_command(rm)"],
            "settings": [{"name": "Region", "envVar": "ACME_REGION"}],
            "plan": {"directory": ".acme/plans"}
        }),
    );
    file(&stage, "acme/ACME.md", "Always say acme. @inner.md");
    file(&stage, "acme/inner.md", "Imported.");
    file(&stage, "acme/.env", "ACME_REGION=eu\n");
    stage.server.stream(reply().call("mcp_acme_look", json!({"x": "1"})));
    stage.server.stream(reply().text("done"));
    stage.pollux(&["-y", "-p", "go"]).run().assert_code(0);
    let tools = offered(&stage);
    assert!(tools.contains(&"mcp_acme_look".to_owned()), "{tools:?}");
    assert!(tools.contains(&"run_shell_command".to_owned()), "{tools:?}");
    assert!(!tools.contains(&"google_web_search".to_owned()), "{tools:?}");
    let message = first_message(&stage);
    let context = message.find("<extension_context>").unwrap();
    assert!(message[context..].contains("Always say acme.") && message.contains("Imported."));
    let variables = stage.home.read_project_file("variables");
    let place = format!("PLACE={}", stage.home.gemini().join("extensions/acme/x").display());
    for line in ["ACME_REGION=eu", "TOKEN=eu", &place] {
        assert!(variables.lines().any(|known| known == line), "{line}: {variables}");
    }
    // The manifest cannot trust its own server.
    run(&stage, &["-p", "go"]);
    assert!(!offered(&stage).contains(&"mcp_acme_look".to_owned()));
    // The user can.
    stage
        .home
        .settings(&json!({"mcpServers": {"acme": {"trust": true, "includeTools": ["look"]}}}));
    run(&stage, &["-p", "go"]);
    assert!(offered(&stage).contains(&"mcp_acme_look".to_owned()));
    for arguments in [["-e", "none", "-p", "go"], ["-e", "other", "-p", "go"]] {
        let finished = run(&stage, &arguments);
        assert!(offered(&stage).contains(&"google_web_search".to_owned()));
        assert!(!first_message(&stage).contains("acme"), "{}", first_message(&stage));
        let is_reported = finished.stderr_text().contains("Extension not found: other");
        assert_eq!(is_reported, arguments[1] == "other", "{}", finished.report());
    }
}

#[test]
fn commands_hooks_skills_and_policies_take_effect() {
    let stage = Stage::new();
    manifest(&stage, "kit", json!({"settings": [{"name": "Mark", "envVar": "KIT_MARK"}]}));
    file(&stage, "kit/.env", "KIT_MARK=m1\n");
    file(&stage, "kit/commands/deploy.toml", "prompt = 'Deploy {{args}} !{echo from-kit}'");
    file(&stage, "kit/commands/only.toml", "prompt = 'Only here.'");
    stage.home.user_file("commands/deploy.toml", "prompt = 'Mine.'");
    let hook = json!({"hooks": {"BeforeTool": [{"matcher": "write_file", "hooks": [
        {"type": "command", "name": "check", "command": "sh ${extensionPath}/check.sh ${KIT_MARK}"}
    ]}]}});
    file(&stage, "kit/hooks/hooks.json", hook.to_string());
    let script = stage.home.gemini().join("extensions/kit/check.sh");
    write_executable(&script, "#!/bin/sh\ncat > /dev/null; echo \"$1 $KIT_MARK\" > hooked\n");
    file(
        &stage,
        "kit/skills/s/SKILL.md",
        "---\nname: s\ndescription: In ${extensionPath}\n---\nUse ${KIT_MARK}.\n",
    );
    let rules = "[[rule]]\ntoolName = 'run_shell_command'\ncommandPrefix = 'touch'\ndecision = 'deny'\npriority = 10\ndenyMessage = 'Not with kit.'\n\
                 [[rule]]\ntoolName = 'write_file'\ndecision = 'allow'\npriority = 10\n";
    file(&stage, "kit/policies/p.toml", rules);
    let finished = run(&stage, &["-y", "-p", "/kit:deploy now"]);
    assert!(first_message(&stage).contains("Deploy now from-kit"), "{}", finished.report());
    assert!(finished.stderr_text().contains("1 in "), "{}", finished.report());
    run(&stage, &["-p", "/user.deploy"]);
    assert!(first_message(&stage).contains("Mine."));
    run(&stage, &["-p", "/only"]);
    assert!(first_message(&stage).contains("Only here."));
    run(&stage, &["-y", "-p", "/kit:s do it"]);
    let message = first_message(&stage);
    assert!(message.contains("Use m1.") && message.contains("do it"), "{message}");
    let instruction = stage.server.last_request().body["systemInstruction"].to_string();
    assert!(instruction.contains("extensions/kit"), "{instruction}");
    stage.server.stream(reply().call("write_file", json!({"file_path": "a", "content": "b"})));
    stage.server.stream(reply().call("run_shell_command", json!({"command": "touch x"})));
    stage.server.stream(reply().text("done"));
    stage
        .pollux(&[
            "--approval-mode",
            "auto_edit",
            "--allowed-tools",
            "run_shell_command",
            "-p",
            "go",
        ])
        .run()
        .assert_code(0);
    assert_eq!(stage.home.read_project_file("hooked"), "m1 m1\n");
    assert!(stage.home.project().join("a").exists());
    run(&stage, &["-e", "none", "-p", "/only"]);
    assert!(first_message(&stage).ends_with("/only"));
}

#[test]
fn one_unusable_extension_is_reported_and_the_rest_works() {
    let stage = Stage::new();
    manifest(&stage, "good", json!({}));
    file(&stage, "good/GEMINI.md", "Good.");
    file(&stage, "bad/gemini-extension.json", "{\"name\": \"bad\"}");
    file(&stage, "good2/gemini-extension.json", r#"{"name": "Good", "version": "2"}"#);
    file(&stage, "good/policies/p.toml", "[[rule]\n");
    let finished = run(&stage, &["-p", "go"]);
    assert!(first_message(&stage).contains("Good."));
    let path = stage.home.gemini().join("extensions/bad");
    let text = finished.stderr_text();
    for part in [
        &format!("Warning: Skipping extension in {}: Failed to load", path.display()) as &str,
        "missing \"version\"",
        "Extension with name Good already was loaded from ",
        "Policies of the extension \"good\": ",
    ] {
        assert!(text.contains(part), "{part}: {}", finished.report());
    }
}

#[test]
fn two_servers_of_one_name_are_reported() {
    let stage = Stage::new();
    for name in ["a", "b"] {
        let server = ScriptServer::default().entry(&stage, name);
        manifest(&stage, name, json!({"mcpServers": {"same": server}}));
    }
    let finished = run(&stage, &["-p", "go"]);
    let expected = "Skipping the MCP server \"same\" of the extension \"b\": the extension \"a\"";
    assert!(finished.stderr_text().contains(expected), "{}", finished.report());
}

#[test]
fn a_server_of_the_user_is_not_taken_over() {
    let stage = Stage::new();
    let server = ScriptServer {
        start: r#"env > variables; echo "$#" > arguments"#,
        ..ScriptServer::default()
    };
    let mut own = server.entry(&stage, "own");
    own["trust"] = json!(true);
    stage.home.settings(&json!({"mcpServers": {"corp": own}}));
    let brought = json!({
        "httpUrl": "http://127.0.0.1:9/mcp", "args": ["--theirs"], "env": {"THEIRS": "1"},
        "excludeTools": ["look"],
    });
    manifest(&stage, "acme", json!({"mcpServers": {"corp": brought}}));
    let finished = run(&stage, &["-p", "go"]);
    assert!(offered(&stage).contains(&"mcp_corp_look".to_owned()), "{}", finished.report());
    assert!(!stage.home.read_project_file("variables").contains("THEIRS"));
    assert_eq!(stage.home.read_project_file("arguments").trim(), "0");
    let expected = "Skipping the MCP server \"corp\" of the extension \"acme\": your settings";
    assert!(finished.stderr_text().contains(expected), "{}", finished.report());
}

#[test]
fn subagents_take_effect() {
    let stage = Stage::with([
        reply().call("invoke_agent", json!({"agent_name": "helper", "prompt": "look"})),
        reply().call("complete_task", json!({"result": "seen"})),
        reply().text("Done."),
    ]);
    manifest(&stage, "acme", json!({}));
    let agent = |text: &str| format!("---\nname: helper\ndescription: Helps\n---\n{text}\n");
    file(&stage, "acme/agents/helper.md", agent("You are in ${extensionPath}."));
    file(&stage, "acme/agents/bad.md", "---\nname: bad\n---\n");
    let run = stage.pollux(&["-p", "go"]).run();
    run.assert_code(0);
    let reported = run.stderr_text();
    assert!(reported.contains("acme/agents/bad.md: "), "{reported}");
    let instruction = stage.requests()[1].body["systemInstruction"].to_string();
    let folder = stage.home.gemini().join("extensions/acme");
    assert!(instruction.contains(&format!("You are in {}.", folder.display())), "{instruction}");
    // The user's own definition replaces that of an extension.
    stage.home.user_file("agents/helper.md", agent("You are mine."));
    stage
        .server
        .stream(reply().call("invoke_agent", json!({"agent_name": "helper", "prompt": "look"})));
    stage.server.stream(reply().call("complete_task", json!({"result": "seen"})));
    stage.server.stream(reply().text("Done."));
    let run = stage.pollux(&["-p", "go"]).run();
    assert!(run.stderr_text().contains("Duplicate agent name 'helper'"), "{}", run.report());
    let instruction = stage.requests()[4].body["systemInstruction"].to_string();
    assert!(instruction.contains("You are mine."), "{instruction}");
}

#[test]
fn themes_can_be_chosen() {
    let stage = Stage::new();
    let theme =
        json!({"type": "custom", "name": "night", "text": {"primary": "#fff", "link": "no"}});
    manifest(&stage, "acme", json!({"themes": [theme, {"name": "day", "type": "custom"}]}));
    stage.home.settings(&json!({"ui": {"theme": "night (acme)"}}));
    let program = on_screen(stage.pollux(&[])).env("NO_COLOR", "");
    let talk = Screen { terminal: program.in_terminal(30, 140), stage };
    talk.wait(
        "! Theme night (acme): ui.customThemes.night (acme): text.link: \"no\" is no colour.",
    );
    talk.line("/theme day (acme)");
    talk.wait("ui.theme");
    talk.idle();
    let (stage, _) = talk.end();
    let settings = fs::read_to_string(stage.home.gemini().join("settings.json")).unwrap();
    assert!(settings.contains("\"day (acme)\""), "{settings}");
}

#[test]
fn extensions_are_listed_enabled_and_disabled() {
    let stage = Stage::new();
    let program = |arguments: &[&str]| stage.alone().args(arguments).run();
    let empty = program(&["extensions", "list"]);
    assert_eq!(empty.stdout_text(), "No extensions installed.\n");
    assert_eq!(program(&["extensions", "list", "-o", "json"]).stdout_text(), "[]\n");
    manifest(
        &stage,
        "acme",
        json!({"mcpServers": {"s": {"command": "x", "env": {"K": "secret-value"}}}}),
    );
    let listed = program(&["extensions", "list"]).stdout_text();
    assert!(listed.starts_with("✓ acme (1.0.0)\n ID: "), "{listed}");
    assert!(listed.contains("\n MCP servers:\n  s\n"), "{listed}");
    let json: Value =
        serde_json::from_str(&program(&["extension", "list", "-o", "json"]).stdout_text()).unwrap();
    assert_eq!((&json[0]["name"], &json[0]["isActive"]), (&json!("acme"), &json!(true)));
    assert!(!json.to_string().contains("secret-value"), "{json}");
    assert_eq!(program(&["-l"]).stdout_text(), "Installed extensions:\n- acme\n");
    let done = program(&["extensions", "disable", "ACME", "--scope", "workspace"]);
    done.assert_code(0);
    let text = "Extension \"acme\" successfully disabled for scope \"workspace\".\n";
    assert_eq!((done.stdout_text(), done.stderr_text()), (String::new(), text.to_owned()));
    assert!(program(&["extensions", "list"]).stdout_text().starts_with("✗ acme"));
    let rules =
        fs::read_to_string(stage.home.gemini().join("extensions/extension-enablement.json"))
            .unwrap();
    let project = stage.home.project();
    assert!(rules.contains(&format!("\"!{}/*\"", project.display())), "{rules}");
    let done = program(&["extensions", "enable", "acme", "--scope", "workspace"]);
    assert_eq!(
        done.stderr_text(),
        "Extension \"acme\" successfully enabled for scope \"workspace\".\n"
    );
    assert!(program(&["extensions", "list"]).stdout_text().starts_with("✓ acme"));
    for (verb, code) in [("enable", 52), ("disable", 1)] {
        let unknown = program(&["extensions", verb, "nosuch"]);
        unknown.assert_code(code);
        assert_eq!(unknown.stderr_text(), "Extension with name nosuch does not exist.\n");
    }
}

#[test]
fn extensions_are_created_and_checked() {
    let stage = Stage::new();
    let program = |arguments: &[&str]| stage.alone().args(arguments).run();
    program(&["extensions", "new", "mine", "mcp-server"]).assert_code(0);
    let done = program(&["extensions", "validate", "mine"]);
    done.assert_code(0);
    assert!(done.stderr_text().ends_with("mine has been successfully validated.\n"));
    let again = program(&["extensions", "new", "mine"]);
    again.assert_code(1);
    assert!(again.stderr_text().starts_with("Path already exists: "), "{}", again.report());
    stage.home.project_file(
        "mine/gemini-extension.json",
        r#"{"name": "m", "version": "x", "contextFileName": "no.md"}"#,
    );
    let failed = program(&["extensions", "validate", "mine"]);
    failed.assert_code(1);
    let text = failed.stderr_text();
    assert!(text.starts_with("Validation warnings:\n  - Warning: Version 'x'"), "{text}");
    assert!(text.ends_with("are missing: no.md\nExtension validation failed.\n"), "{text}");
    let manifest = r#"{"name": "m", "version": "1.0.0", "mcpServers": {"s": {"command": 5}}}"#;
    stage.home.project_file("mine/gemini-extension.json", manifest);
    let hooks = r#"{"hooks": {"BeforeTool": 5, "Nope": [], "AfterTool": [{"hooks": [{}]}]}}"#;
    stage.home.project_file("mine/hooks/hooks.json", hooks);
    let failed = program(&["extensions", "validate", "mine"]);
    failed.assert_code(1);
    let text = failed.stderr_text();
    for fault in [
        "gemini-extension.json: \"mcpServers.s.command\": Expected string, received number\n",
        "hooks.json, ignored: hooks.BeforeTool must be a list.\n",
        "Invalid hook event name: \"Nope\" from extensions config.",
        "hooks.json, ignored: hooks.AfterTool[0].hooks[0] has no \"type\"",
    ] {
        assert!(text.contains(fault), "{fault}: {text}");
    }
    program(&["extensions", "link", "mine", "--consent"]).assert_code(0);
    stage.server.stream(reply().text("ok"));
    let run = stage.prompt("text", "Hello");
    run.assert_code(0);
    let fault = "\"mcpServers.s.command\": Expected string, received number";
    assert!(run.stderr_text().contains(fault), "{}", run.report());
    stage.home.project_file("mine/gemini-extension.json", "{}");
    let failed = program(&["extensions", "validate", "mine"]);
    failed.assert_code(1);
    assert!(failed.stderr_text().contains("missing \"name\""), "{}", failed.report());
}
