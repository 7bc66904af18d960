//! What is left when the program ends. The list of sessions is one for the whole process, so this
//! runs in a process of its own: the test binary, called again.

use std::process::Command;
use std::time::{Duration, Instant};

use pollux_shell::{reap_all, run};
use tokio_util::sync::CancellationToken;

use super::{command, is_running, number, sh, wait_until_gone};

const INNER: &str = "suite::reaping::inner";

#[test]
fn nothing_is_left_after_reap_all() {
    let program = std::env::current_exe().unwrap();
    let inner = Command::new(program).args(["--exact", INNER, "--ignored", "--nocapture"]).output();
    let inner = inner.unwrap();
    let text = String::from_utf8_lossy(&inner.stdout);
    assert!(inner.status.success() && text.contains("1 passed"), "{text}");
}

#[test]
#[ignore = "run by nothing_is_left_after_reap_all, in a process of its own"]
fn inner() {
    let runtime = tokio::runtime::Runtime::new().unwrap();
    let left = runtime.block_on(async {
        let background = sh("trap '' TERM; sleep 1000 & echo job=$!").await;
        // One that moved to a group of its own, and said nothing.
        let hidden = sh("(set -m; sleep 1000 >/dev/null 2>&1 & echo job=$!)").await;
        let cancel = CancellationToken::new();
        let stopped = cancel.clone();
        let cancelled = run(command("trap '' TERM; echo job=$$; sleep 1000"), cancel, |_| {
            stopped.cancel();
        });
        let cancelled = cancelled.await.unwrap();
        // One that left the session, and whose parent is gone.
        let daemon = sh("(setsid sh -c 'echo job=$$; exec sleep 1000' &)").await;
        // One that did so, and has ended since: nothing of it stays in the table of processes.
        let dead = sh("(setsid sh -c 'echo job=$$; sleep 0.1' &)").await;
        let dead = number(&dead.text(), "job");
        wait_until_gone(dead).await;
        while std::path::Path::new(&format!("/proc/{dead}")).exists() {
            sh("true").await;
        }
        [background, hidden, cancelled, daemon].map(|outcome| number(&outcome.text(), "job"))
    });
    // The program ends at once, with the killing of the cancelled command still under way.
    runtime.shutdown_background();
    assert!(is_running(left[0]) && is_running(left[3]));
    let started = Instant::now();
    reap_all();
    assert!(left.iter().all(|&id| !is_running(id)), "{left:?}");
    assert!(started.elapsed() < Duration::from_secs(2));
    let started = Instant::now();
    reap_all();
    assert!(started.elapsed() < Duration::from_millis(50));
}
