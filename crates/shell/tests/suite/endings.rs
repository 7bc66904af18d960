//! Ends of commands.

use std::time::{Duration, Instant};

use pollux_shell::{Ended, OutputChunk, ShellError, run};
use pollux_testkit::{StoppedClock, timed_test};
use tokio::sync::mpsc::unbounded_channel;
use tokio::time::advance;
use tokio_util::sync::CancellationToken;

use super::{Fifo, PROMPT, cancelled_after, command, number, outcome, sh, wait_until_gone};

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
    let _alone = timed_test();
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
    let (printed, mut prints) = unbounded_channel();
    let line = command("echo pid=$$; sleep 1000");
    let running = run(line, CancellationToken::new(), |chunk| {
        if let OutputChunk::Text(text) = chunk {
            printed.send(number(text, "pid")).unwrap();
        }
    });
    let pid = tokio::select! {
        _ = running => panic!("it ended"),
        pid = prints.recv() => pid.unwrap(),
    };
    wait_until_gone(pid).await;
}

#[tokio::test]
async fn a_cancelled_token_starts_nothing() {
    let cancel = CancellationToken::new();
    cancel.cancel();
    let error = run(command("echo"), cancel, |_| {}).await.unwrap_err();
    assert!(matches!(error, ShellError::CancelledBeforeStart));
}

#[tokio::test(start_paused = true)]
async fn time_runs_out() {
    let clock = StoppedClock::new();
    let (printed, mut prints) = unbounded_channel();
    let mut command = command("while :; do echo busy; sleep 0.01; done");
    command.timeout = Some(Duration::from_secs(10));
    command.inactivity = Some(Duration::from_secs(100));
    let running = run(command, CancellationToken::new(), move |_| printed.send(()).unwrap());
    let time = async {
        for _ in 0..10 {
            prints.recv().await.unwrap();
            advance(Duration::from_secs(1)).await;
        }
        drop(clock);
    };
    let (outcome, ()) = tokio::join!(running, time);
    let outcome = outcome.unwrap();
    assert_eq!(outcome.ended, Ended::TimedOut);
    assert!(outcome.text().contains("busy"));
    wait_until_gone(outcome.process_group).await;
}

#[tokio::test(start_paused = true)]
async fn silence_runs_out_and_output_resets_it() {
    let clock = StoppedClock::new();
    let folder = tempfile::tempdir().unwrap();
    let go = Fifo::new(folder.path().join("go"));
    let (printed, mut prints) = unbounded_channel();
    let go_on = format!("read line <'{}'", go.path().display());
    let mut command = command(&format!("for i in 1 2 3; do echo $i; {go_on}; done; sleep 1000"));
    command.inactivity = Some(Duration::from_secs(10));
    let running = run(command, CancellationToken::new(), move |_| printed.send(()).unwrap());
    let time = async {
        for _ in 0..3 {
            prints.recv().await.unwrap();
            advance(Duration::from_secs(6)).await;
            go.go();
        }
        drop(clock);
    };
    let (outcome, ()) = tokio::join!(running, time);
    let outcome = outcome.unwrap();
    assert_eq!(outcome.ended, Ended::Inactive);
    assert_eq!(outcome.text(), "1\n2\n3");
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
async fn ten_commands_run_side_by_side() {
    // Each waits for all others.
    let folder = tempfile::tempdir().unwrap();
    let line = format!(
        "cd '{}'; : >$$; until [ $(ls | wc -l) = 10 ]; do sleep 0.01; done",
        folder.path().display()
    );
    let commands = (0..10).map(|_| tokio::spawn(outcome(command(&line))));
    for running in commands.collect::<Vec<_>>() {
        assert_eq!(running.await.unwrap().exit_code, Some(0));
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_hundred_commands_end_at_once() {
    const COMMANDS: usize = 100;
    let _alone = timed_test();
    let cancel = CancellationToken::new();
    let (started, mut signals) = tokio::sync::mpsc::unbounded_channel();
    let running: Vec<_> = (0..COMMANDS)
        .map(|_| {
            let (cancel, started) = (cancel.clone(), started.clone());
            tokio::spawn(run(command("sleep 1000 & echo child=$!; wait"), cancel, move |_| {
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
    // A prompt end is also guaranteed for many commands at the same time.
    let took = cancelled.elapsed();
    assert!(took < Duration::from_secs(20), "{took:?}");
    for process in processes {
        wait_until_gone(process).await;
    }
}

#[tokio::test]
async fn what_cannot_start_says_why() {
    let mut missing = command("echo");
    missing.child.folder = "/no/such/folder".into();
    let error = run(missing, CancellationToken::new(), |_| {}).await.unwrap_err();
    assert_eq!(error.to_string(), "cannot run in /no/such/folder: not a folder");
    let nul = command("echo \0");
    let error = run(nul, CancellationToken::new(), |_| {}).await.unwrap_err();
    assert!(matches!(error, ShellError::NulCharacter));
    let huge = command(&format!("echo {}", "x".repeat(10 << 20)));
    let error = run(huge, CancellationToken::new(), |_| {}).await.unwrap_err();
    assert!(matches!(error, ShellError::Spawn { .. }), "{error}");
}
