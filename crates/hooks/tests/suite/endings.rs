//! Ends of programs: a program cannot cause more harm than the use of its time limit.

use std::time::{Duration, Instant};

use pollux_protocol::CancellationToken;
use pretty_assertions::assert_eq;
use serde_json::json;

use super::{Bench, hook, says, tool_call};

/// Time limit of the tests: longer than any of them takes on a busy machine, and shorter than a
/// hang.
const SOON: Duration = Duration::from_secs(20);

#[tokio::test]
async fn exit_codes() {
    let table = [
        ("true", None, None),
        ("echo hi", Some("hi"), None),
        ("echo hi; exit 1", Some("Warning: hi"), None),
        ("echo no; exit 2", None, Some("no")),
        ("echo no >&2; exit 2", None, Some("no")),
        ("echo no >&2; exit 77", None, Some("no")),
        ("exit 2", None, None),
        ("echo '{}'; exit 2", None, None),
        ("echo '{\"decision\":\"block\",\"reason\":\"r\"}'; exit 1", None, Some("r")),
        ("echo hi; kill -9 $$", Some("hi"), None),
    ];
    for (command, message, block) in table {
        let outcome = Bench::command(command, json!({})).call().await;
        let result = &outcome.result;
        assert_eq!(
            (result.system_message.as_deref(), result.block.as_deref()),
            (message, block),
            "{command}"
        );
        let fails = command.contains("exit") || command.contains("kill");
        assert_eq!(outcome.runs[0].failure().is_some(), fails, "{command}");
    }
}

#[tokio::test]
async fn a_missing_program_refuses() {
    let outcome = Bench::command("/no/such/program", json!({})).call().await;
    assert!(outcome.result.block.unwrap().contains("No such file or directory"));
    assert_eq!(outcome.runs[0].exit_code, Some(127));
}

#[tokio::test]
async fn a_program_that_hangs_costs_its_time_limit() {
    for command in
        ["sleep 600", "trap '' TERM INT; while :; do sleep 1; done", "cat <&2; sleep 600"]
    {
        let started = Instant::now();
        let bench = Bench::command(
            &format!("echo '{{\"decision\":\"deny\"}}'; {command}"),
            json!({ "timeout": 300 }),
        );
        let outcome = bench.call().await;
        // The test checks the time limit: a hook that outlives it would take ten minutes.
        assert!(started.elapsed() < SOON, "{command}");
        assert_eq!(outcome.runs[0].error.as_deref(), Some("Hook timed out after 300ms"));
        assert_eq!(outcome.result.block, None, "what it said does not count");
    }
}

#[tokio::test]
async fn what_a_hanging_program_started_ends_with_it() {
    let bench = Bench::command("(sleep 600 & echo $! > child; wait)", json!({ "timeout": 2000 }));
    bench.call().await;
    let child = bench.text("child").trim().to_owned();
    let started = Instant::now();
    let alive = || {
        let stat = std::fs::read_to_string(format!("/proc/{child}/stat")).unwrap_or_default();
        !stat.is_empty() && !stat.contains(") Z ")
    };
    while alive() {
        // The test polls, because the end of a process that is not a child sends no event.
        assert!(started.elapsed() < SOON, "{child} still runs");
        tokio::time::sleep(Duration::from_millis(20)).await;
    }
}

#[tokio::test]
async fn a_daemon_is_not_waited_for() {
    let started = Instant::now();
    let bench = Bench::command(
        "sleep 30 & disown; (setsid sleep 30 > /dev/null 2>&1 &); echo '{\"systemMessage\":\"m\"}'",
        json!({}),
    );
    let outcome = bench.call().await;
    // Waiting for the programs left behind would take 30 s.
    assert!(started.elapsed() < SOON);
    assert_eq!(outcome.result.system_message.as_deref(), Some("m"));
    assert!(outcome.runs[0].succeeded());
}

#[tokio::test]
async fn a_flood_is_no_reply() {
    let bench = Bench::command("yes deny", json!({ "timeout": 500 }));
    let outcome = bench.call().await;
    assert_eq!(outcome.result.block, None);
    assert!(outcome.runs[0].failure().unwrap().contains("timed out"));
    assert!(outcome.runs[0].stdout.len() <= 8 << 10, "its beginning is kept");
    let bench = Bench::command("head -c 20000000 /dev/zero; exit 2", json!({}));
    let outcome = bench.call().await;
    assert_eq!(outcome.result.block, None);
    assert_eq!(outcome.runs[0].failure().as_deref(), Some("it printed more than 16 MiB"));
}

#[tokio::test]
async fn garbage_is_words() {
    let bench = Bench::command("head -c 3000 /dev/urandom", json!({}));
    let outcome = bench.call().await;
    assert_eq!((outcome.result.block, outcome.result.stop), (None, None));
    for (command, said) in [
        ("printf '\\xff\\xfe no text'", "\u{fffd}\u{fffd} no text"),
        ("echo '{\"decision\": \"deny\"'", "{\"decision\": \"deny\""),
        ("printf '\\xef\\xbb\\xbfhi'", "hi"),
    ] {
        let outcome = Bench::command(command, json!({})).call().await;
        assert_eq!(outcome.result.system_message.as_deref(), Some(said), "{command}");
    }
}

#[tokio::test]
async fn input_need_not_be_read() {
    let mut payload = tool_call();
    if let pollux_protocol::HookPayload::BeforeTool(call) = &mut payload {
        call.tool_input = json!({ "content": "x".repeat(8 << 20) });
    }
    for command in ["exec <&-; echo hi", "echo hi", "head -c 1 > /dev/null; echo hi"] {
        let outcome = Bench::command(command, json!({})).fire(payload.clone()).await;
        assert_eq!(outcome.result.system_message.as_deref(), Some("hi"), "{command}");
    }
}

#[tokio::test]
async fn one_bad_program_leaves_the_others_alone() {
    let hooks = [
        hook("sleep 600", &json!({ "timeout": 200 })),
        hook("exit 3", &json!({})),
        hook(&says(&json!({ "decision": "deny", "reason": "r" })), &json!({})),
    ];
    let outcome = Bench::new(json!({ "BeforeTool": [{ "hooks": hooks }] })).call().await;
    assert_eq!(outcome.result.block.as_deref(), Some("r"));
    let failures: Vec<_> = outcome.runs.iter().map(pollux_hooks::HookRun::failure).collect();
    assert_eq!(
        failures,
        [Some("Hook timed out after 200ms".to_owned()), Some("exit code 3".to_owned()), None]
    );
}

#[tokio::test]
async fn a_stop_ends_programs_and_decides_nothing() {
    let bench = Bench::command("echo '{\"decision\":\"deny\"}'; sleep 600", json!({}));
    let cancel = CancellationToken::new();
    let stopper = cancel.clone();
    tokio::spawn(async move {
        // A running hook sends no event. A hook that has not started yet is cancelled as well.
        tokio::time::sleep(Duration::from_millis(300)).await;
        stopper.cancel();
    });
    let started = Instant::now();
    let outcome = bench.hooks().fire(&tool_call(), &cancel).await;
    // A hook that is not stopped would take 30 s.
    assert!(started.elapsed() < SOON);
    assert_eq!(outcome.result.block, None);
    assert!(outcome.runs.is_empty());
}

#[tokio::test]
async fn a_folder_that_is_gone_is_a_failure() {
    let bench = Bench::command("true", json!({}));
    std::fs::remove_dir_all(bench.folder.path()).unwrap();
    let outcome = bench.call().await;
    assert!(outcome.runs[0].failure().unwrap().contains("not a folder"));
}
