//! Safety checkers that are external programs: they check a call after the rules and before it
//! runs.

use std::path::Path;
use std::time::Duration;

use pollux_policy::CheckerProgram;
use pollux_protocol::{CallStatus, Effects, Op, PromptOutcome};
use pollux_scripted::{FakeTool, reply};
use pollux_testkit::write_executable;
use pretty_assertions::assert_eq;
use serde_json::{Value, json};

use super::stage::{Stage, Talk};

const RULE: &str = "[[safety_checker]]\ntoolName = \"write\"\n[safety_checker.checker]\ntype = \"external\"\nname = \"mine\"\n";
const ALLOW: &str = r#"echo '{"decision":"allow"}'"#;

/// Returns a model that writes a file, with the tool and with the checker `mine`, which is this
/// script.
fn checked_by(script: &str) -> (Stage, FakeTool) {
    let tool = FakeTool::new("write").effects(|_| Effects::write("/a.txt"));
    let call = reply().call("write", json!({"path": "a.txt"}));
    let stage = Stage::with([call, reply().text("done")]).tool(tool.clone());
    let mut stage = Stage { rules: RULE.to_owned(), ..stage };
    let file = stage.path("check.sh");
    write_executable(&file, &format!("#!/bin/sh\n{script}\n"));
    name(&mut stage, CheckerProgram { file, arguments: vec!["--strict".into(), "a b".into()] });
    (stage, tool)
}

fn name(stage: &mut Stage, program: CheckerProgram) {
    stage.checkers.programs = [("mine".to_owned(), program)].into();
    stage.checkers.environment = std::env::vars_os().collect();
}

/// Runs one prompt. Returns the answer to the call, and true if it ran.
async fn run(stage: Stage, tool: &FakeTool) -> (String, bool, Talk) {
    let talk = stage.start();
    talk.done("please write").await;
    (talk.models.last().response(), !tool.ran().is_empty(), talk)
}

#[tokio::test]
async fn a_program_reads_the_call_and_lets_it_run() {
    let script = format!("cat > input; echo \"$# $2\" > args; {ALLOW}");
    let (mut stage, tool) = checked_by(&script);
    stage.rules = format!("{RULE}config = {{ limit = 3 }}\n");
    let (_, ran, talk) = run(stage, &tool).await;
    assert!(ran);
    let stage = talk.close().await;
    let kept = |name: &str| std::fs::read_to_string(stage.path(name)).unwrap();
    let (folder, args) = (stage.path(""), json!({"path": "a.txt"}));
    let folder = folder.to_str().unwrap().trim_end_matches('/');
    let reported: Value = serde_json::from_str(&kept("input")).unwrap();
    let expected = json!({
        "protocolVersion": "1.0.0",
        "toolCall": {"name": "write", "args": args},
        "context": {
            "environment": {"cwd": folder, "workspaces": [folder]},
            "history": {"turns": [{
                "user": {"text": "please write"},
                "model": {"text": "", "toolCalls": [{"name": "write", "args": args}]}
            }]}
        },
        "config": {"limit": 3}
    });
    assert_eq!(reported, expected);
    assert_eq!(kept("args"), "2 a b\n");
}

#[tokio::test]
async fn an_answer_that_is_no_clear_yes_refuses_the_call() {
    const NOBODY: &str = "Tool execution for \"write\" requires user confirmation, which is not supported in non-interactive mode.";
    for (script, expected) in [
        (
            r#"echo '{"decision":"deny","reason":"Too risky."}'"#,
            "Tool execution denied by policy. Too risky.",
        ),
        (r#"echo '{"decision":"ask_user","reason":"Really?"}'"#, NOBODY),
        (
            "echo fine",
            "Tool execution denied by policy. Safety checker \"mine\" returned no valid JSON: ",
        ),
        (
            "echo bad >&2; exit 3",
            "Tool execution denied by policy. Safety checker \"mine\" exited with code 3: bad",
        ),
        (
            "yes | head -c 2000000",
            "Tool execution denied by policy. Safety checker \"mine\" printed more than 1 MiB.",
        ),
    ] {
        let (stage, tool) = checked_by(script);
        let (reported, ran, talk) = run(stage, &tool).await;
        assert!(reported.starts_with(expected), "{script}: {reported}");
        assert!(!ran, "{script}");
        let asks = talk.log.notices().iter().any(|notice| notice == "Really?");
        assert_eq!(asks, script.contains("ask_user"), "{:?}", talk.log.notices());
    }
}

#[tokio::test]
async fn without_its_program_nothing_passes() {
    let failed = "Tool execution denied by policy. Failed to run safety checker \"mine\": ";
    for (file, expected) in [
        ("/nowhere/check", "cannot start /nowhere/check: "),
        ("check", "Its command must be an absolute path."),
        ("", "Unknown external checker \"mine\"."),
    ] {
        let (mut stage, tool) = checked_by(ALLOW);
        name(&mut stage, CheckerProgram { file: file.into(), arguments: Vec::new() });
        if file.is_empty() {
            stage.checkers.programs.clear();
        }
        let (reported, ran, _) = run(stage, &tool).await;
        assert!(reported.starts_with(&format!("{failed}{expected}")), "{reported}");
        assert!(!ran);
    }
}

#[tokio::test]
async fn a_process_left_behind_by_a_program_delays_nothing() {
    // The process would keep the output open for longer than the test runner allows.
    let (stage, tool) = checked_by(&format!("sleep 600 & echo $! > pid; {ALLOW}"));
    let file = stage.path("pid");
    let talk = stage.start();
    talk.done("go").await;
    assert!(!tool.ran().is_empty());
    // Pollux ends such processes when it exits, but a test is not the program.
    let process = std::fs::read_to_string(file).unwrap();
    let killed = std::process::Command::new("kill").arg(process.trim()).status().unwrap();
    assert!(killed.success(), "the process ended with the checker");
}

#[tokio::test]
async fn a_program_never_makes_policy_weaker() {
    let (mut stage, tool) = checked_by(ALLOW);
    let deny = "[[rule]]\ntoolName = \"write\"\ndecision = \"deny\"\npriority = 1\nargsPattern = \"a.txt\"\n";
    stage.rules = format!("{deny}{RULE}");
    let (reported, ran, _) = run(stage, &tool).await;
    assert_eq!((reported.as_str(), ran), ("Tool execution denied by policy.", false));
}

#[tokio::test]
async fn a_cancel_ends_the_program() {
    let (stage, tool) = checked_by("echo $$ > pid.part; mv pid.part pid; exec sleep 600");
    let file = stage.path("pid");
    let talk = stage.start();
    let id = talk.begin("go");
    until("the program runs", || file.exists()).await;
    talk.send(Op::Cancel);
    assert!(matches!(talk.ended(&id).await, PromptOutcome::Cancelled));
    assert_eq!(talk.finished()[0].status, CallStatus::Cancelled);
    assert!(tool.ran().is_empty());
    assert_ends(&file).await;
    talk.models.discard_replies();
}

// The paused clock advances by itself while all tasks wait, so the time limit takes no real time.
#[tokio::test(start_paused = true)]
async fn a_program_that_hangs_is_ended() {
    let script = "trap '' TERM; echo $$ > pid.part; mv pid.part pid; exec sleep 600 > /dev/null";
    let (stage, tool) = checked_by(script);
    let file = stage.path("pid");
    let talk = stage.start();
    talk.done("go").await;
    let expected =
        "Tool execution denied by policy. Safety checker \"mine\" timed out after 5000ms";
    assert_eq!(talk.models.last().response(), expected);
    assert!(tool.ran().is_empty());
    if file.exists() {
        assert_ends(&file).await;
    }
}

/// Waits until the process whose number is in this file has ended.
async fn assert_ends(file: &Path) {
    let process = format!("/proc/{}/stat", std::fs::read_to_string(file).unwrap().trim());
    let is_alive = || std::fs::read_to_string(&process).is_ok_and(|stat| !stat.contains(") Z "));
    until("the program is gone", || !is_alive()).await;
}

/// Waits for a condition that no event reports, because another process brings it about.
async fn until(what: &str, mut is_true: impl FnMut() -> bool) {
    let began = std::time::Instant::now();
    while !is_true() {
        assert!(began.elapsed() < Duration::from_secs(20), "waited until {what}");
        std::thread::sleep(Duration::from_millis(1));
        tokio::task::yield_now().await;
    }
}
