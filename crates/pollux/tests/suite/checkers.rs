//! Safety checkers that are programs, from outside.

use std::fs;
use std::os::unix::fs::PermissionsExt as _;
use std::path::PathBuf;
use std::time::{Duration, Instant};

use pollux_testkit::{Reply, Signal, reply};
use serde_json::{Value, json};

use super::stage::{Stage, is_alive, wait_until};

const RULE: &str = "[[safety_checker]]\ntoolName = \"write_file\"\n[safety_checker.checker]\ntype = \"external\"\nname = \"mine\"\n";
const ALLOW: &str = r#"echo '{"decision":"allow"}'"#;

fn write() -> Reply {
    reply().call("write_file", json!({"file_path": "a.txt", "content": "x"}))
}

/// A run that writes a file, with a rule that wants a checker called `mine` to look.
fn writing() -> Stage {
    let stage = Stage::with([write(), reply().text("done")]);
    stage.home.user_file("policies/my.toml", RULE);
    stage
}

/// The checker `mine` is this script.
fn checked_by(stage: &Stage, script: &str) -> PathBuf {
    let program = stage.home.gemini().join("check.sh");
    stage.home.user_file("check.sh", format!("#!/bin/sh\n{script}\n"));
    fs::set_permissions(&program, fs::Permissions::from_mode(0o755)).unwrap();
    name(stage, &json!({"command": program, "args": ["--strict", "a b"]}));
    program
}

fn name(stage: &Stage, program: &Value) {
    stage.home.settings(&json!({"pollux": {"safetyCheckers": {"mine": program}}}));
}

fn wrote(stage: &Stage) -> bool {
    stage.home.project().join("a.txt").exists()
}

#[test]
fn a_program_is_told_of_the_call_and_lets_it_run() {
    let stage = writing();
    let rule = format!("{RULE}config = {{ limit = 3 }}\n");
    stage.home.user_file("policies/my.toml", rule);
    let script = format!(
        "here=$(dirname \"$0\"); cat > \"$here/told\"; echo \"$# $2\" > \"$here/args\"; pwd > \"$here/cwd\"; {ALLOW}"
    );
    checked_by(&stage, &script);
    stage.yolo("please write");
    assert!(wrote(&stage));
    let kept = |name: &str| fs::read_to_string(stage.home.gemini().join(name)).unwrap();
    let project = stage.home.project();
    let args = json!({"file_path": "a.txt", "content": "x"});
    let told: Value = serde_json::from_str(&kept("told")).unwrap();
    assert_eq!(
        told,
        json!({
            "protocolVersion": "1.0.0",
            "toolCall": {"name": "write_file", "args": args},
            "context": {
                "environment": {"cwd": project, "workspaces": [project]},
                "history": {"turns": [{
                    "user": {"text": "please write"},
                    "model": {"text": "", "toolCalls": [{"name": "write_file", "args": args}]}
                }]}
            },
            "config": {"limit": 3}
        })
    );
    assert_eq!(kept("args"), "2 a b\n");
    assert_eq!(kept("cwd").trim(), project.to_str().unwrap());
}

#[test]
fn what_a_program_says_is_the_least_that_holds() {
    const NOBODY: &str = "Tool execution for \"WriteFile\" requires user confirmation, which is not supported in non-interactive mode.";
    for (script, wanted) in [
        (
            r#"echo '{"decision":"deny","reason":"Too risky."}'"#,
            "Tool execution denied by policy. Too risky.",
        ),
        (r#"echo '{"decision":"ask_user","reason":"Really?"}'"#, NOBODY),
        ("echo fine", "Tool execution denied by policy. Safety checker \"mine\" gave no JSON: "),
        (
            "echo bad >&2; exit 3",
            "Tool execution denied by policy. Safety checker \"mine\" exited with code 3: bad",
        ),
        (
            "yes | head -c 2000000",
            "Tool execution denied by policy. Safety checker \"mine\" printed more than 1 MiB.",
        ),
    ] {
        let stage = writing();
        checked_by(&stage, script);
        let run = stage.yolo("go");
        let told = stage.response();
        assert!(told.starts_with(wanted), "{script}: {told}");
        assert!(!wrote(&stage), "{script}");
        assert_eq!(run.stderr_text().contains("[WARNING] Really?"), script.contains("ask_user"));
    }
}

#[test]
fn without_its_program_nothing_passes() {
    let failed = "Tool execution denied by policy. Failed to run safety checker \"mine\": ";
    for (program, wanted) in [
        (json!({"command": "/nowhere/check"}), "cannot start /nowhere/check: "),
        (json!({"command": "check"}), "Its command must be an absolute path."),
    ] {
        let stage = writing();
        name(&stage, &program);
        stage.yolo("go");
        let told = stage.response();
        assert!(told.starts_with(&format!("{failed}{wanted}")), "{told}");
        assert!(!wrote(&stage));
    }
    // Nor does one that the project names.
    let stage = writing();
    let program = json!({"command": "/bin/echo", "args": ["{\"decision\":\"allow\"}"]});
    stage.home.project_settings(&json!({"pollux": {"safetyCheckers": {"mine": program}}}));
    stage.yolo("go");
    assert_eq!(stage.response(), format!("{failed}Unknown external checker \"mine\"."));
}

#[test]
fn a_program_that_hangs_is_ended() {
    let stage = writing();
    checked_by(
        &stage,
        "echo $$ > \"$(dirname \"$0\")/pid\"; trap '' TERM; while :; do sleep 1; done",
    );
    let began = Instant::now();
    stage.yolo("go");
    assert_eq!(
        stage.response(),
        "Tool execution denied by policy. Safety checker \"mine\" timed out after 5000ms"
    );
    assert!(began.elapsed() < Duration::from_secs(20), "{:?}", began.elapsed());
    let pid = fs::read_to_string(stage.home.gemini().join("pid")).unwrap().trim().parse().unwrap();
    wait_until("the program is gone", || !is_alive(pid));
}

#[test]
fn what_a_program_leaves_behind_holds_up_nothing() {
    let stage = writing();
    checked_by(&stage, &format!("sleep 30 & {ALLOW}"));
    let began = Instant::now();
    stage.yolo("go");
    assert!(wrote(&stage));
    assert!(began.elapsed() < Duration::from_secs(10), "{:?}", began.elapsed());
}

#[test]
fn a_program_never_makes_policy_weaker() {
    let stage = writing();
    let deny = "[[rule]]\ntoolName = \"write_file\"\ndecision = \"deny\"\npriority = 1\nargsPattern = \"a.txt\"\n";
    stage.home.user_file("policies/my.toml", format!("{deny}{RULE}"));
    checked_by(&stage, ALLOW);
    stage.yolo("go");
    assert_eq!(stage.response(), "Tool execution denied by policy.");
    assert!(!wrote(&stage));
}

#[test]
fn a_stop_does_not_wait_for_a_program() {
    let stage = Stage::with([write()]);
    stage.home.user_file("policies/my.toml", RULE);
    checked_by(&stage, "echo $$ > \"$(dirname \"$0\")/pid\"; exec sleep 60");
    let running = stage.pollux(&["-y", "-p", "go"]).spawn();
    let pid = stage.home.gemini().join("pid");
    wait_until("the program runs", || {
        fs::read_to_string(&pid).is_ok_and(|text| text.ends_with('\n'))
    });
    let began = Instant::now();
    running.signal(Signal::INT);
    running.wait().assert_code(130);
    assert!(began.elapsed() < Duration::from_secs(2), "{:?}", began.elapsed());
    let pid = fs::read_to_string(&pid).unwrap().trim().parse().unwrap();
    wait_until("the program is gone", || !is_alive(pid));
    assert!(!wrote(&stage));
}

#[test]
fn files_that_a_command_asks_for_outside_are_asked_about() {
    for (path, runs) in [("/etc", false), ("sub", true)] {
        let wanted = json!({"fileSystem": {"read": [path], "write": []}});
        let args = json!({"command": "touch a.txt", "additional_permissions": wanted});
        let stage = Stage::with([reply().call("run_shell_command", args), reply().text("done")]);
        stage.yolo("go");
        assert_eq!(wrote(&stage), runs, "{path}");
        let asks = stage.response().contains("requires user confirmation");
        assert_eq!(asks, !runs, "{}", stage.response());
    }
}
