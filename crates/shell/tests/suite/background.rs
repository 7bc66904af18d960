//! Processes that run in the background of the session.

use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use pollux_shell::{
    BackgroundProcess, BackgroundProcesses, CommandOp, OutputChunk, ProcessState, Ran,
    TerminalSize, run_or_hand_over,
};
use pollux_testkit::StoppedClock;
use tempfile::TempDir;
use tokio::sync::mpsc::unbounded_channel;
use tokio::time::advance;
use tokio_util::sync::CancellationToken;

use super::{Fifo, command, is_running, number, wait_until_gone};

fn registry() -> (TempDir, BackgroundProcesses) {
    let folder = tempfile::tempdir().unwrap();
    let processes = BackgroundProcesses::new(folder.path().join("background-processes"));
    (folder, processes)
}

fn log(process: &BackgroundProcess) -> String {
    String::from_utf8(process.read_log(1 << 20).unwrap()).unwrap()
}

/// Waits until the log contains the text. A file has no event to wait for.
async fn said(process: &BackgroundProcess, words: &str) -> String {
    for _ in 0..500 {
        let text = log(process);
        if text.contains(words) {
            return text;
        }
        // Polls: a file that another process writes sends no event.
        tokio::time::sleep(Duration::from_millis(10)).await;
    }
    panic!("{words} is not in {}", log(process));
}

fn exited(code: i32) -> ProcessState {
    ProcessState::Exited { code: Some(code), signal: None }
}

#[tokio::test]
async fn its_output_is_on_disk_and_its_end_is_known() {
    use std::os::unix::fs::PermissionsExt as _;

    let (folder, processes) = registry();
    let line = "printf '\\033[3'; sleep 0.1; printf '1mred\\033[0m\\n'; echo $PPID >&2; exit 3";
    let process = processes.start(&command(line)).unwrap();
    assert_eq!((process.state(), process.command()), (ProcessState::Running, line));
    assert_eq!(process.ended().await, exited(3));
    assert_eq!(log(&process), format!("red\n{}\n", std::process::id()));
    let path = folder.path().join(format!("background-processes/background-{}.log", process.id()));
    assert_eq!((process.log_path(), process.log_failure()), (path.clone(), None));
    let mode = |path: &Path| std::fs::metadata(path).unwrap().permissions().mode() & 0o777;
    assert_eq!((mode(&path), mode(path.parent().unwrap())), (0o600, 0o700));
    let ids: Vec<u32> = processes.list().iter().map(|process| process.id()).collect();
    assert_eq!(ids, [process.id()]);
    assert!(processes.find(process.id()).is_some() && processes.find(1).is_none());
}

#[tokio::test]
async fn its_first_output_is_given_once() {
    let (_folder, processes) = registry();
    let process = processes.start(&command("echo early; sleep 1000")).unwrap();
    said(&process, "early").await;
    assert_eq!(process.take_first_output().unwrap().text(), "early");
    assert!(process.take_first_output().is_none());
}

#[tokio::test]
async fn a_signal_is_reported() {
    let (_folder, processes) = registry();
    let process = processes.start(&command("kill -9 $$")).unwrap();
    assert_eq!(process.ended().await, ProcessState::Exited { code: None, signal: Some(9) });
}

#[tokio::test]
async fn stopping_ends_all_of_it_whatever_it_ignores() {
    let (_folder, processes) = registry();
    let line = "trap '' TERM; (set -m; sleep 1000 & echo child=$!); sleep 1000";
    let process = processes.start(&command(line)).unwrap();
    let text = said(&process, "child=").await;
    assert!(process.stop().await);
    assert!(!is_running(process.id()) && !is_running(number(&text, "child")));
    assert!(matches!(process.state(), ProcessState::Exited { .. }));
}

#[tokio::test]
async fn what_an_ended_process_left_is_ended_too() {
    let (_folder, processes) = registry();
    let line = "while :; do echo on; sleep 0.1; done & echo child=$!";
    let process = processes.start(&command(line)).unwrap();
    assert_eq!(process.ended().await, exited(0));
    let child = number(&log(&process), "child");
    // Its output still goes to the log.
    said(&process, "on\non\non").await;
    assert!(is_running(child));
    assert!(process.stop().await);
    assert!(!is_running(child));
    assert!(process.stop().await, "there is nothing to do any more");
}

#[tokio::test(start_paused = true)]
async fn a_command_under_way_is_handed_over() {
    let clock = StoppedClock::new();
    let (folder, processes) = registry();
    let go = Fifo::new(folder.path().join("go"));
    let (op, ops) = unbounded_channel();
    let line = &format!("echo before; read x <'{}'; echo after; exit 4", go.path().display());
    let mut command = command(line);
    command.timeout = Some(Duration::from_secs(10));
    let on_output = |_: OutputChunk<'_>| {
        op.send(CommandOp::MoveToBackground).ok();
    };
    let cancel = CancellationToken::new();
    let ran = run_or_hand_over(command, cancel.clone(), on_output, ops, &processes).await;
    let Ran::InBackground(process) = ran.unwrap() else { panic!("it was not handed over") };
    // The process no longer belongs to the call: neither a cancel nor the time limit ends it.
    cancel.cancel();
    advance(Duration::from_secs(20)).await;
    drop(clock);
    go.go();
    assert_eq!(process.ended().await, exited(4));
    assert_eq!((log(&process).as_str(), process.command()), ("before\nafter\n", line.as_str()));
}

#[cfg(unix)]
#[tokio::test]
async fn a_command_in_a_terminal_is_handed_over_with_its_terminal() {
    let (folder, processes) = registry();
    let go = Fifo::new(folder.path().join("go"));
    let (op, ops) = unbounded_channel();
    let mut command = command(&format!(
        "printf '\\033[32mbefore\\033[0m\\n'; read x <'{}'; test -t 0 && printf 'after\\r\\n'",
        go.path().display()
    ));
    command.terminal = Some(TerminalSize::default());
    let on_output = |chunk: OutputChunk<'_>| {
        if matches!(chunk, OutputChunk::Screen { lines, .. } if lines.text() == "before") {
            op.send(CommandOp::MoveToBackground).ok();
        }
    };
    let cancel = CancellationToken::new();
    let ran = run_or_hand_over(command, cancel, on_output, ops, &processes).await;
    let Ran::InBackground(process) = ran.unwrap() else { panic!("it was not handed over") };
    go.go();
    assert_eq!(process.ended().await, exited(0));
    assert_eq!(log(&process), "before\nafter\n");
}

#[cfg(unix)]
#[tokio::test]
async fn a_process_with_a_terminal_is_logged_as_plain_text() {
    let (_folder, processes) = registry();
    let mut command =
        command("printf '\\033[31mred\\033[0m\\n'; test -t 1 && echo terminal; echo end");
    command.terminal = Some(TerminalSize::default());
    let process = processes.start(&command).unwrap();
    assert_eq!(process.ended().await, exited(0));
    assert_eq!(log(&process), "red\nterminal\nend\n");
    assert_eq!(process.take_first_output().unwrap().text(), "red\nterminal\nend");
}

#[tokio::test]
async fn a_command_that_ends_first_is_not_handed_over() {
    let (_folder, processes) = registry();
    let (_wish, ops) = unbounded_channel();
    let cancel = CancellationToken::new();
    let ran = run_or_hand_over(command("exit 2"), cancel, |_| {}, ops, &processes).await;
    let Ran::Ended(outcome) = ran.unwrap() else { panic!("it was handed over") };
    assert_eq!(outcome.exit_code, Some(2));
    assert!(processes.list().is_empty());
}

#[tokio::test(start_paused = true)]
async fn a_limit_ends_it() {
    let (_folder, processes) = registry();
    let mut command = command("sleep 1000");
    command.timeout = Some(Duration::from_secs(10));
    let process = processes.start(&command).unwrap();
    assert_eq!(process.ended().await, ProcessState::Exited { code: None, signal: Some(15) });
}

#[tokio::test]
async fn dropping_the_registry_ends_everything() {
    let (_folder, processes) = registry();
    let running = processes.start(&command("sleep 1000")).unwrap();
    let left = processes.start(&command("sleep 1000 & echo child=$!")).unwrap();
    left.ended().await;
    let child = number(&said(&left, "child=").await, "child");
    drop(processes);
    wait_until_gone(running.id()).await;
    wait_until_gone(child).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn the_history_forgets_only_what_has_ended() {
    let (_folder, processes) = registry();
    let server = processes.start(&command("sleep 1000")).unwrap();
    let mut ended: Vec<Arc<BackgroundProcess>> = Vec::new();
    for _ in 0..102 {
        let process = processes.start(&command("exit 0")).unwrap();
        process.ended().await;
        ended.push(process);
    }
    let ids: Vec<u32> = processes.list().iter().map(|process| process.id()).collect();
    assert_eq!((ids.len(), ids[0]), (100, server.id()));
    assert_eq!(ids[1..], ended[3..].iter().map(|process| process.id()).collect::<Vec<_>>());
}

#[tokio::test]
async fn a_flood_is_cut_on_disk_and_the_process_goes_on() {
    let (_folder, processes) = registry();
    let process =
        processes.start(&command("yes 0123456789 | head -c 230000000; echo end")).unwrap();
    drop(process.take_first_output());
    assert_eq!(process.ended().await, exited(0));
    assert!(std::fs::metadata(process.log_path()).unwrap().len() <= 100_000_000);
    assert!(log(&process).ends_with("\n0123456789end\n"));
}

#[tokio::test]
async fn a_link_in_place_of_the_log_is_not_read() {
    let (folder, processes) = registry();
    let process = processes.start(&command("echo hi")).unwrap();
    process.ended().await;
    let secret = folder.path().join("secret");
    std::fs::write(&secret, "secret").unwrap();
    std::fs::remove_file(process.log_path()).unwrap();
    std::os::unix::fs::symlink(secret, process.log_path()).unwrap();
    let error = process.read_log(100).unwrap_err();
    assert_eq!(error.code(), "ELOOP");
}

#[tokio::test]
async fn a_log_that_cannot_be_made_stops_nothing() {
    let folder = tempfile::tempdir().unwrap();
    std::fs::write(folder.path().join("file"), "").unwrap();
    let processes = BackgroundProcesses::new(folder.path().join("file"));
    let process = processes.start(&command("exit 5")).unwrap();
    assert_eq!(process.ended().await, exited(5));
    assert!(process.log_failure().unwrap().contains("not a directory"));
}
