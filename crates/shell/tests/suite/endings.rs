//! How commands end, and that they do.

use std::time::{Duration, Instant};

use pollux_shell::{Ended, ShellError, run};
use tokio_util::sync::CancellationToken;

use super::{cancelled_after, command, number, outcome, sh, wait_until_gone};

/// What `run` promises is 100 ms; the rest is for a busy machine.
const PROMPT: Duration = Duration::from_millis(600);

#[tokio::test]
async fn a_signal_is_reported() {
    let outcome = sh("kill -9 $$").await;
    assert_eq!((outcome.exit_code, outcome.signal), (None, Some(9)));
    assert_eq!(outcome.ended, Ended::Exited);
    let outcome = sh("kill -TERM $$; echo no").await;
    assert_eq!(outcome.signal, Some(15));
    assert!(!outcome.text().contains("no"));
}

#[tokio::test]
async fn a_child_that_ignores_sigterm_is_killed() {
    let line = "trap '' TERM; sleep 1000 & echo child=$!; echo shell=$$; wait; sleep 1000";
    let (outcome, took) = cancelled_after(line, "shell=").await;
    assert!(took < PROMPT, "{took:?}");
    assert_eq!(outcome.ended, Ended::Cancelled);
    assert_eq!((outcome.exit_code, outcome.signal), (None, None));
    let text = outcome.text();
    assert_eq!(number(&text, "shell"), outcome.process_group);
    wait_until_gone(number(&text, "child")).await;
    wait_until_gone(outcome.process_group).await;
}

#[tokio::test]
async fn last_words_after_sigterm_are_kept() {
    let line = "trap 'echo bye; exit' TERM; echo ready; while :; do sleep 0.01; done";
    let (outcome, _) = cancelled_after(line, "ready").await;
    // The shell may report the end of its `sleep` in between.
    let text = outcome.text();
    assert!(text.starts_with("ready") && text.ends_with("bye"), "{text}");
    assert!(!text.contains("bgpids"), "{text}");
}

#[cfg(target_os = "linux")]
#[tokio::test]
async fn processes_that_left_the_group_end_too() {
    let line = "set -m; sleep 1000 & echo group=$!; setsid sleep 1001 & echo away=$!; wait";
    let (outcome, _) = cancelled_after(line, "away=").await;
    let text = outcome.text();
    wait_until_gone(number(&text, "group")).await;
    wait_until_gone(number(&text, "away")).await;
}

#[tokio::test]
async fn a_dropped_run_leaves_nothing() {
    let mut pid = 0;
    let running = run(command("echo pid=$$; sleep 1000"), CancellationToken::new(), |chunk| {
        if let pollux_shell::Chunk::Text(text) = chunk {
            pid = number(text, "pid");
        }
    });
    assert!(tokio::time::timeout(Duration::from_millis(500), running).await.is_err());
    assert_ne!(pid, 0);
    wait_until_gone(pid).await;
}

#[tokio::test]
async fn a_cancelled_token_starts_nothing() {
    let cancel = CancellationToken::new();
    cancel.cancel();
    let error = run(command("echo"), cancel, |_| {}).await.unwrap_err();
    assert!(matches!(error, ShellError::CancelledBeforeStart));
}

#[tokio::test]
async fn time_runs_out() {
    let mut command = command("echo pid=$$; while :; do echo busy; sleep 0.01; done");
    command.timeout = Some(Duration::from_millis(200));
    command.inactivity = Some(Duration::from_secs(100));
    let started = Instant::now();
    let outcome = outcome(command).await;
    assert!(started.elapsed() < Duration::from_millis(200) + PROMPT);
    assert_eq!(outcome.ended, Ended::TimedOut);
    assert!(outcome.text().contains("busy"));
    wait_until_gone(outcome.process_group).await;
}

#[tokio::test]
async fn silence_runs_out_and_output_resets_it() {
    let mut command = command("for i in 1 2 3 4 5; do echo $i; sleep 0.1; done; sleep 1000");
    command.inactivity = Some(Duration::from_millis(400));
    let started = Instant::now();
    let outcome = outcome(command).await;
    assert_eq!(outcome.ended, Ended::Inactive);
    assert_eq!(outcome.text(), "1\n2\n3\n4\n5");
    assert!(started.elapsed() > Duration::from_millis(750));
    wait_until_gone(outcome.process_group).await;
}

#[tokio::test]
async fn a_limit_past_the_end_of_time_is_none() {
    let mut command = command("echo");
    command.timeout = Some(Duration::MAX);
    command.inactivity = Some(Duration::MAX);
    assert_eq!(outcome(command).await.ended, Ended::Exited);
}

#[tokio::test]
async fn closed_output_does_not_end_the_command() {
    let outcome = sh("echo early; exec >&- 2>&-; sleep 0.2; exit 4").await;
    assert_eq!((outcome.exit_code, outcome.text().as_str()), (Some(4), "early"));
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn ten_sleeps_run_side_by_side() {
    let started = Instant::now();
    let commands = (0..10).map(|_| tokio::spawn(sh("sleep 0.3")));
    for running in commands.collect::<Vec<_>>() {
        assert_eq!(running.await.unwrap().exit_code, Some(0));
    }
    let took = started.elapsed();
    assert!(took < Duration::from_secs(1), "{took:?}");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_hundred_commands_end_at_once() {
    const COMMANDS: usize = 100;
    let cancel = CancellationToken::new();
    let (started, mut signals) = tokio::sync::mpsc::unbounded_channel();
    let running: Vec<_> = (0..COMMANDS)
        .map(|_| {
            let (cancel, started) = (cancel.clone(), started.clone());
            tokio::spawn(run(command("sleep 100 & echo child=$!; wait"), cancel, move |_| {
                started.send(()).ok();
            }))
        })
        .collect();
    for _ in 0..COMMANDS {
        signals.recv().await.unwrap();
    }
    let cancelled = Instant::now();
    cancel.cancel();
    let mut processes = Vec::new();
    for outcome in running {
        let outcome = outcome.await.unwrap().unwrap();
        assert_eq!(outcome.ended, Ended::Cancelled);
        processes.extend([outcome.process_group, number(&outcome.text(), "child")]);
    }
    let took = cancelled.elapsed();
    assert!(took < Duration::from_secs(2), "{took:?}");
    for process in processes {
        wait_until_gone(process).await;
    }
    let took = cancelled.elapsed();
    assert!(took < Duration::from_secs(5), "{took:?}");
}

#[tokio::test]
async fn what_cannot_start_says_why() {
    let mut missing = command("echo");
    missing.cwd = "/no/such/folder".into();
    let error = run(missing, CancellationToken::new(), |_| {}).await.unwrap_err();
    assert_eq!(error.to_string(), "cannot run in /no/such/folder: not a folder");
    let nul = command("echo \0");
    let error = run(nul, CancellationToken::new(), |_| {}).await.unwrap_err();
    assert!(matches!(error, ShellError::NulCharacter));
    let huge = command(&format!("echo {}", "x".repeat(10 << 20)));
    let error = run(huge, CancellationToken::new(), |_| {}).await.unwrap_err();
    assert!(matches!(error, ShellError::Spawn { .. }), "{error}");
}
