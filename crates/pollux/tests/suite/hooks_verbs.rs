//! `pollux hooks`, and hooks at the terminal.

use std::time::Duration;

use pollux_testkit::{Finished, Key, reply};
use pretty_assertions::assert_eq;
use serde_json::{Value, json};

use super::stage::{Stage, wait_until};

/// Timeout for all steps whose time is not measured.
const SOON: Duration = Duration::from_secs(10);

fn hook(command: &str) -> Value {
    json!({ "type": "command", "command": command })
}

fn at(event: &str, matcher: &str, command: &str) -> Value {
    json!({ "hooks": { event: [{ "matcher": matcher, "hooks": [hook(command)] }] } })
}

fn verb(stage: &Stage, words: &[&str]) -> Finished {
    stage.alone().args(["hooks"]).args(words).run()
}

#[test]
fn hooks_are_listed() {
    let stage = Stage::new();
    let run = verb(&stage, &["list"]);
    run.assert_code(0);
    assert_eq!(run.stdout_text(), "No hooks are configured.\n");
    stage.home.settings(&at("BeforeTool", "glob", "./guard"));
    stage.home.project_settings(&at("AfterTool", "", "./lint"));
    let run = verb(&stage, &["list"]);
    assert_eq!(
        run.stdout_text(),
        "BeforeTool           on             ./guard (user settings; for glob)\n\
         AfterTool            on             ./lint (project settings; for )\n"
    );
    let run = stage
        .alone()
        .args(["hook", "list", "--json"])
        .env_remove("GEMINI_CLI_TRUST_WORKSPACE")
        .run();
    run.assert_code(0);
    let json = run.json();
    let [guard] = &json["hooks"].as_array().unwrap()[..] else { panic!("{}", run.report()) };
    assert_eq!((&guard["event"], &guard["state"]), (&json!("BeforeTool"), &json!("on")));
}

#[test]
fn hooks_are_tried_on_a_sample() {
    let stage = Stage::new();
    let rewrite = r#"cat > event.json; echo careful >&2; echo '{"decision":"ask","hookSpecificOutput":{"tool_input":{"command":"ls"}}}'"#;
    stage.home.settings(&at("BeforeTool", "shell", rewrite));
    let run = verb(&stage, &["test", "BeforeTool"]);
    run.assert_code(0);
    let text = run.stdout_text();
    for line in [
        "  stderr: careful",
        "The user would be asked.",
        "The arguments would become: {\"command\":\"ls\"}",
    ] {
        assert!(text.lines().any(|reported| reported == line), "{line}\n{text}");
    }
    let event: Value = serde_json::from_str(&stage.home.read_project_file("event.json")).unwrap();
    assert_eq!(
        (&event["tool_name"], &event["tool_input"]),
        (&json!("run_shell_command"), &json!({ "command": "echo sample" }))
    );
    let run = verb(
        &stage,
        &[
            "test",
            "BeforeTool",
            "--tool",
            "run_shell_command",
            "--input",
            "{\"command\":\"id\"}",
            "--json",
        ],
    );
    assert_eq!(run.json()["runs"][0]["input"]["tool_input"], json!({ "command": "id" }));
    assert_eq!(run.json()["merged"]["decision"], "ask");
    let run = verb(&stage, &["test", "BeforeTool", "--tool", "glob"]);
    assert_eq!(
        run.stdout_text(),
        "No hook runs at BeforeTool of glob. There are hooks for shell: choose a tool with --tool NAME.\n"
    );
}

#[test]
fn every_event_can_be_tried() {
    for event in [
        "SessionStart",
        "SessionEnd",
        "BeforeAgent",
        "AfterAgent",
        "BeforeModel",
        "AfterModel",
        "BeforeToolSelection",
        "AfterTool",
        "PreCompress",
        "Notification",
    ] {
        let stage = Stage::new();
        stage.home.settings(&at(event, "", "echo hi"));
        let run = verb(&stage, &["test", event]);
        run.assert_code(0);
        assert!(run.stdout_text().contains("succeeded"), "{event}\n{}", run.report());
        stage.home.settings(&at(event, "", "exit 3"));
        verb(&stage, &["test", event]).assert_code(1);
    }
    let run = verb(&Stage::new(), &["test", "Nope"]);
    run.assert_code(1);
    assert!(run.stderr_text().starts_with("Unknown event Nope."), "{}", run.report());
}

#[test]
fn hooks_of_claude_code_are_taken_over() {
    let stage = Stage::new();
    let usage = verb(&stage, &["migrate"]);
    usage.assert_code(0);
    assert!(usage.stdout_text().contains("hooks migrate --from-claude"));
    verb(&stage, &["migrate", "--from-claude"]).assert_code(0);
    assert!(!stage.home.project().join(".gemini/settings.json").exists());
    let theirs = json!({ "hooks": { "PreToolUse": [{ "matcher": "Bash", "hooks": [
        { "type": "command", "command": "$CLAUDE_PROJECT_DIR/x.sh", "timeout": 5 }] }] } });
    stage.home.project_file(".claude/settings.json", theirs.to_string());
    stage.home.project_file(".gemini/settings.json", "{\n  // mine\n  \"ui\": {}\n}\n");
    let run = verb(&stage, &["migrate", "--from-claude", "--json"]);
    run.assert_code(0);
    assert_eq!(run.json()["migrated"], 1);
    let ours = stage.home.read_project_file(".gemini/settings.json");
    assert!(
        ours.contains("// mine") && ours.contains("run_shell_command") && ours.contains("5000"),
        "{ours}"
    );
    assert!(ours.contains("$GEMINI_PROJECT_DIR/x.sh"), "{ours}");
    let again = verb(&stage, &["migrate", "--from-claude"]);
    again.assert_code(0);
    assert_eq!(stage.home.read_project_file(".gemini/settings.json"), ours);
}

#[test]
fn a_person_is_asked_and_reported() {
    let call = reply().call("write_file", json!({ "file_path": "a.txt", "content": "x" }));
    let stage = Stage::with([call, reply().text("done")]);
    let ask = r#"cat > /dev/null; echo '{"decision":"ask","systemMessage":"look twice"}'"#;
    stage.home.settings(&json!({ "hooks": {
        "BeforeTool": [{ "hooks": [hook(ask)] }],
        "Notification": [{ "hooks": [hook("cat > notified")] }],
    } }));
    let mut terminal = stage.pollux(&["--yolo"]).in_terminal(40, 100);
    terminal.wait_for_text("Ctrl-D quits.", SOON);
    terminal.send("/hooks");
    terminal.send_key(Key::Enter);
    terminal.wait_for_text("BeforeTool:", SOON);
    terminal.send("go");
    terminal.send_key(Key::Enter);
    terminal.wait_for_text("look twice", SOON);
    terminal.wait_for_text("1.", SOON);
    wait_until("the hook was called", || {
        let text =
            std::fs::read_to_string(stage.home.project().join("notified")).unwrap_or_default();
        serde_json::from_str::<Value>(&text).is_ok()
    });
    let reported: Value = serde_json::from_str(&stage.home.read_project_file("notified")).unwrap();
    assert_eq!(
        (&reported["notification_type"], &reported["details"]["type"]),
        (&json!("ToolPermission"), &json!("edit"))
    );
    assert!(!stage.home.project().join("a.txt").exists());
    terminal.send("1");
    terminal.send_key(Key::Enter);
    terminal.wait_for_text("done", SOON);
    assert!(stage.home.project().join("a.txt").exists());
    terminal.send_key(Key::Ctrl('d'));
    assert_eq!(terminal.wait_exit(SOON).exit_code(), 0);
}

#[test]
fn hooks_are_switched_off_and_stay_off() {
    let stage = Stage::with([reply().text("done")]);
    stage.home.settings(&at("BeforeAgent", "", "echo no; exit 2"));
    let mut terminal = stage.pollux(&[]).in_terminal(40, 100);
    terminal.wait_for_text("Ctrl-D quits.", SOON);
    terminal.send("/hooks disable-all");
    terminal.send_key(Key::Enter);
    terminal.wait_for_text("Switched off: echo no; exit 2.", SOON);
    terminal.send("go");
    terminal.send_key(Key::Enter);
    terminal.wait_for_text("done", SOON);
    terminal.send_key(Key::Ctrl('d'));
    assert_eq!(terminal.wait_exit(SOON).exit_code(), 0);
    assert!(verb(&stage, &["list"]).stdout_text().contains(" off "));
}

#[test]
fn a_changed_hook_of_the_folder_stays_off() {
    let stage = Stage::new();
    stage.home.trust_project();
    stage.home.project_file("h.sh", "touch ran\n");
    stage.home.project_settings(&at("BeforeAgent", "", "sh ./h.sh"));
    let go = || {
        stage.server.stream(reply().text("done"));
        stage.pollux(&["-p", "go"]).env_remove("GEMINI_CLI_TRUST_WORKSPACE").run()
    };
    let ran = || std::fs::remove_file(stage.home.project().join("ran")).is_ok();
    go().assert_code(0);
    assert!(ran(), "a folder that is trusted is pinned as it is");
    go().assert_code(0);
    assert!(ran());
    stage.home.project_file("h.sh", "touch ran \n");
    let run = go();
    run.assert_code(0);
    assert!(!ran(), "a byte of the script is another hook");
    assert!(run.stderr_text().contains("hook"), "{}", run.report());
}

#[test]
fn a_hook_that_changes_while_a_session_runs_is_not_run() {
    let stage = Stage::new();
    stage.home.trust_project();
    stage.home.project_file("h.sh", "echo x >> count\n");
    stage.home.project_settings(&at("BeforeTool", "", "sh ./h.sh"));
    let edit =
        reply().call("write_file", json!({ "file_path": "h.sh", "content": "touch evil\n" }));
    for answer in [edit, reply().call("glob", json!({ "pattern": "*" })), reply().text("done")] {
        stage.server.stream(answer);
    }
    let run = stage
        .pollux(&["-p", "go", "--approval-mode", "auto_edit"])
        .env_remove("GEMINI_CLI_TRUST_WORKSPACE")
        .run();
    run.assert_code(0);
    assert_eq!(stage.home.read_project_file("count"), "x\n");
    assert!(!stage.home.project().join("evil").exists());
    assert!(run.stderr_text().contains("it has changed since its approval"), "{}", run.report());
}

#[test]
fn hooks_are_counted_in_telemetry() {
    let stage = Stage::with([reply().text("done")]);
    stage.home.settings(&at("BeforeAgent", "", "/bin/echo hi --secret"));
    let outfile = stage.home.project().join("telemetry.log");
    let program = stage
        .pollux(&["-p", "go"])
        .env("GEMINI_TELEMETRY_ENABLED", "true")
        .env("GEMINI_TELEMETRY_OUTFILE", &outfile);
    program.env("GEMINI_TELEMETRY_LOG_PROMPTS", "false").run().assert_code(0);
    let text = std::fs::read_to_string(outfile).unwrap();
    assert!(
        text.contains("\"gemini_cli.hook_call\"")
            && text.contains("\"gemini_cli.hook_call.count\""),
        "{text}"
    );
    assert!(text.contains("\"hook_name\": \"echo\"") && !text.contains("--secret"), "{text}");
}
