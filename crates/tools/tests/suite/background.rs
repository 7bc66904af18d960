//! Tests of commands in the background and of their tools.
#![cfg(unix)]

use std::path::Path;
use std::time::Duration;

use futures::StreamExt as _;
use pollux_protocol::{CallInput, CancellationToken, RunContext, ToolErrorKind};
use pretty_assertions::assert_eq;
use serde_json::{Value, json};

use super::session::{Session, display, text};

/// Timeout of a wait for an event: long enough for a busy machine.
const SOON: Duration = Duration::from_secs(30);

/// Returns the number after the last occurrence of these words.
fn number(reported: &str, words: &str) -> i64 {
    let (_, rest) = reported.rsplit_once(words).unwrap_or_else(|| panic!("{reported}"));
    rest.split(|letter: char| !letter.is_ascii_digit()).next().unwrap().parse().unwrap()
}

/// Starts a command and returns its result and process id.
async fn start(session: &Session, mut args: Value) -> (String, i64) {
    args["is_background"] = true.into();
    let reported = session.ok("run_shell_command", args).await;
    let pid = number(&reported, "PID: ");
    (reported, pid)
}

async fn read(session: &Session, args: Value) -> String {
    session.ok("read_background_output", args).await
}

/// Waits until the list of processes contains one that has ended, and returns the list.
async fn listed_end(session: &Session) -> String {
    let polling = async {
        loop {
            let listed = session.ok("list_background_processes", json!({})).await;
            if listed.contains("EXITED") {
                return listed;
            }
            tokio::time::sleep(Duration::from_millis(5)).await;
        }
    };
    tokio::time::timeout(SOON, polling).await.expect("the process ends")
}

fn is_alive(pid: i64) -> bool {
    let stat = std::fs::read_to_string(format!("/proc/{pid}/stat")).unwrap_or_default();
    stat.rsplit(')').next().is_some_and(|rest| !rest.trim_start().starts_with(['Z', 'X']))
        && Path::new(&format!("/proc/{pid}")).exists()
}

/// Waits until a condition holds; polls, because other processes send no event.
async fn until(mut is_true: impl FnMut() -> bool) {
    let polling = async {
        while !is_true() {
            tokio::time::sleep(Duration::from_millis(5)).await;
        }
    };
    tokio::time::timeout(SOON, polling).await.expect("it becomes true");
}

#[tokio::test]
async fn it_is_started_listed_read_and_stopped() {
    let session = Session::new();
    let list = || session.ok("list_background_processes", json!({}));
    assert_eq!(list().await, "No background processes found.");
    let command = "echo early; until test -e go; do sleep 0.05; done; echo late; sleep 1000";
    let (reported, pid) = start(&session, json!({"command": command, "delay_ms": 2000})).await;
    assert_eq!(
        reported,
        format!(
            "<untrusted_context>\nCommand is running in background. PID: {pid}. Initial output:\nearly\n</untrusted_context>"
        )
    );
    assert_eq!(list().await, format!("- [PID {pid}] RUNNING: `{command}`"));
    session.file("go", "");
    let all = read(&session, json!({"pid": pid, "delay_ms": 2000})).await;
    assert_eq!(all, "Full Log Output:\nearly\nlate\n");
    let last = read(&session, json!({"pid": pid, "lines": 2})).await;
    assert_eq!(last, "Showing last 2 of 3 lines:\nlate\n");
    let log = session.spill.join(format!("background-processes/background-{pid}.log"));
    assert_eq!(std::fs::read_to_string(log).unwrap(), "early\nlate\n");
    let stopped = session.ok("stop_background_process", json!({"pid": pid})).await;
    assert_eq!(stopped, format!("Background process {pid} was stopped. (Signal: 15)"));
    assert!(!is_alive(pid));
    assert_eq!(list().await, format!("- [PID {pid}] EXITED: `{command}` (Signal: 15)"));
    assert_eq!(read(&session, json!({"pid": pid})).await, all);
    let again = session.ok("stop_background_process", json!({"pid": pid})).await;
    assert_eq!(again, format!("Background process {pid} had already ended. (Signal: 15)"));
}

#[tokio::test]
async fn one_that_ends_at_once_is_reported_as_ended() {
    let session = Session::new();
    let args = json!({"command": "echo quick; exit 4", "is_background": true, "delay_ms": 5000});
    let reported = session.ok("run_shell_command", args).await;
    let pid = number(&reported, "PGID: ");
    assert_eq!(
        reported,
        format!(
            "<untrusted_context>\nOutput: quick\nExit Code: 4\nProcess Group PGID: {pid}\n</untrusted_context>"
        )
    );
    let listed = session.ok("list_background_processes", json!({})).await;
    assert_eq!(listed, format!("- [PID {pid}] EXITED: `echo quick; exit 4` (Exit Code: 4)"));
    assert_eq!(read(&session, json!({"pid": pid})).await, "Full Log Output:\nquick\n");
}

#[tokio::test]
async fn it_waits_for_output_as_long_as_it_is_reported() {
    let session = Session::new();
    let args = json!({"command": "sleep 0.4; echo up; sleep 1000", "delay_ms": 2000});
    let (reported, _) = start(&session, args).await;
    assert!(reported.contains("Initial output:\nup\n"), "{reported}");
    for delay in [0, -5] {
        let args = json!({"command": "sleep 1000", "delay_ms": delay});
        let (reported, pid) = start(&session, args.clone()).await;
        assert!(reported.contains("Initial output:\n(empty)\n"), "{reported}");
        assert_eq!(read(&session, json!({"pid": pid})).await, "Log is empty.");
    }
}

#[tokio::test]
async fn a_person_sees_where_it_runs() {
    let session = Session::new();
    let args = json!({"command": "sleep 1000", "is_background": true, "description": "waits"});
    let invocation = session.prepare("run_shell_command", &args).unwrap();
    assert_eq!(invocation.describe(), "sleep 1000 (waits) [background]");
    let output = session.call("run_shell_command", args).await;
    let pid = number(&text(&output), "PID: ");
    assert_eq!(display(&output), format!("Background process started with PID {pid}."));
    let stop = session.prepare("stop_background_process", &json!({"pid": pid})).unwrap();
    assert_eq!(stop.describe(), format!("Stops background process {pid}: sleep 1000"));
    assert!(stop.effects().alone);
}

#[tokio::test]
async fn much_first_output_is_cut() {
    let session = Session::with(|context| context.options.truncate_threshold = 1000);
    let args = json!({"command": "seq 1 5000; sleep 1000", "delay_ms": 1500});
    let (reported, pid) = start(&session, args).await;
    let log = session.spill.join(format!("background-processes/background-{pid}.log"));
    assert!(reported.contains(&format!("For full output see: {}", log.display())), "{reported}");
    assert!(reported.contains("characters omitted") && reported.chars().count() < 1600);
    assert_eq!(std::fs::read_to_string(log).unwrap().lines().count(), 5000);
}

#[tokio::test]
async fn only_processes_of_this_session_are_read_and_stopped() {
    let session = Session::new();
    let other = Session::new();
    let (_, pid) = start(&other, json!({"command": "sleep 1000"})).await;
    for tool in ["read_background_output", "stop_background_process"] {
        for pid in [pid, 1, -3, 1 << 40] {
            let output = session.call(tool, json!({"pid": pid})).await;
            assert_eq!(display(&output), "Access denied.");
            let error = output.error.unwrap();
            let message = format!("Background process history lookup failed for PID {pid}");
            assert_eq!((error.kind, error.message), (ToolErrorKind::ExecutionFailed, message));
        }
    }
    assert!(is_alive(pid));
}

#[tokio::test]
async fn a_link_in_place_of_a_log_is_refused() {
    let session = Session::new();
    let (_, pid) = start(&session, json!({"command": "echo hi; sleep 1000"})).await;
    let log = session.spill.join(format!("background-processes/background-{pid}.log"));
    std::fs::remove_file(&log).unwrap();
    std::os::unix::fs::symlink(session.file("secret", "secret"), &log).unwrap();
    let (kind, reported) = session.err("read_background_output", json!({"pid": pid})).await;
    assert_eq!(kind, ToolErrorKind::ExecutionFailed);
    assert!(
        reported.starts_with("Access denied: ") && reported.contains("symbolic link"),
        "{reported}"
    );
}

#[tokio::test]
async fn a_cancel_ends_the_waiting_and_the_process() {
    let session = Session::new();
    let args = json!({"command": "echo $$ > p; mv p pid; sleep 1000", "is_background": true, "delay_ms": 60_000});
    let invocation = session.prepare("run_shell_command", &args).unwrap();
    let cancel = CancellationToken::new();
    let running = invocation.run(session.run_context(cancel.clone()));
    let stop = async {
        until(|| session.path("pid").exists()).await;
        cancel.cancel();
    };
    let (output, ()) = tokio::join!(running, stop);
    assert!(text(&output).contains("Command was cancelled by user before it could complete."));
    let pid = session.text("pid").trim().parse().unwrap();
    until(|| !is_alive(pid)).await;
}

#[tokio::test]
async fn a_running_command_goes_to_the_background_on_wish() {
    let session = Session::new();
    let command = "echo before; until test -e go; do sleep 0.05; done; echo after; exit 3";
    let invocation = session.prepare("run_shell_command", &json!({"command": command})).unwrap();
    let mut shown = session.live.subscribe();
    let later = async move {
        shown.wait_for(|all| !all.is_empty()).await.unwrap();
        CallInput::Background
    };
    let context = RunContext {
        input: futures::stream::once(later).boxed(),
        ..session.run_context(CancellationToken::new())
    };
    let reported = text(&invocation.run(context).await);
    let pid = number(&reported, "PID: ");
    assert_eq!(
        reported,
        format!(
            "<untrusted_context>\nCommand moved to background (PID: {pid}). Output hidden. Press Ctrl+B to view.\n</untrusted_context>"
        )
    );
    session.file("go", "");
    let listed = listed_end(&session).await;
    let read = read(&session, json!({"pid": pid})).await;
    assert_eq!(read, "Full Log Output:\nbefore\nafter\n");
    assert_eq!(listed, format!("- [PID {pid}] EXITED: `{command}` (Exit Code: 3)"));
}

#[tokio::test]
async fn a_call_has_a_time_limit_of_its_own() {
    let session = Session::new();
    let args = json!({"command": "echo on; sleep 1000", "timeout_ms": 300});
    let reported = session.ok("run_shell_command", args).await;
    assert!(reported.contains("exceeded the total time limit of 0.3 seconds."), "{reported}");
    let args = json!({"command": "sleep 1000", "timeout_ms": 400, "delay_ms": 0});
    let (_, pid) = start(&session, args).await;
    let listed = listed_end(&session).await;
    assert_eq!(listed, format!("- [PID {pid}] EXITED: `sleep 1000` (Signal: 15)"));
    for (limit, message) in [(0, "must be >= 1"), (86_400_001, "must be <= 86400000")] {
        let args = json!({"command": "true", "timeout_ms": limit});
        let (_, reported) = session.err("run_shell_command", args).await;
        assert_eq!(reported, format!("params/timeout_ms {message}"));
    }
}

#[tokio::test]
async fn a_background_process_is_not_bound_by_the_limits_of_the_settings() {
    let session = Session::with(|context| {
        context.options.shell_timeout = Some(Duration::from_millis(300));
        context.options.shell_inactivity = Some(Duration::from_millis(300));
    });
    let (_, pid) = start(&session, json!({"command": "sleep 1000"})).await;
    // The effect of a time limit can only be tested by waiting.
    tokio::time::sleep(Duration::from_millis(400)).await;
    assert!(is_alive(pid));
}

#[tokio::test]
async fn they_end_with_the_session() {
    let session = Session::new();
    let (_, pid) = start(&session, json!({"command": "trap '' TERM; sleep 1000"})).await;
    drop(session);
    until(|| !is_alive(pid)).await;
}
