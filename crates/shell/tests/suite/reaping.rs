//! Processes that are left when the program ends. The register of children is global to a process,
//! so these tests run in separate processes: the test binary calls itself.

use std::process::Command;
use std::time::{Duration, Instant};

use pollux_shell::{
    Duplex, OutputLimits, PipedCommand, Program, reap_all, run, run_in_foreground, run_piped,
    spawn_duplex,
};
use tokio_util::sync::CancellationToken;

use super::{child, command, end, is_running, number, sh, wait_until_gone};

/// Runs an ignored test of this file in a separate process.
fn in_own_process(test: &str) {
    let program = std::env::current_exe().unwrap();
    let test = format!("suite::reaping::{test}");
    let inner = Command::new(program).args(["--exact", &test, "--ignored", "--nocapture"]).output();
    let inner = inner.unwrap();
    let text = String::from_utf8_lossy(&inner.stdout);
    assert!(inner.status.success() && text.contains("1 passed"), "{text}");
}

#[test]
fn nothing_is_left_after_reap_all() {
    in_own_process("commands");
}

#[test]
#[ignore = "run by nothing_is_left_after_reap_all, in a process of its own"]
fn commands() {
    let runtime = tokio::runtime::Runtime::new().unwrap();
    let left = runtime.block_on(async {
        let background = sh("trap '' TERM; sleep 1000 & echo job=$!").await;
        // A job that moved to a separate group and printed nothing.
        let hidden = sh("(set -m; sleep 1000 >/dev/null 2>&1 & echo job=$!)").await;
        let cancel = CancellationToken::new();
        let stopped = cancel.clone();
        let cancelled = run(command("trap '' TERM; echo job=$$; sleep 1000"), cancel, |_| {
            stopped.cancel();
        });
        let cancelled = cancelled.await.unwrap();
        // A daemon that left the session and whose parent is gone.
        let daemon = super::daemon("exec sleep 1000").await;
        // A daemon that has ended since: it leaves no entry in the process table.
        let dead = super::daemon(":").await;
        wait_until_gone(dead).await;
        while std::path::Path::new(&format!("/proc/{dead}")).exists() {
            sh("true").await;
        }
        let [first, second, third] =
            [background, hidden, cancelled].map(|outcome| number(&outcome.text(), "job"));
        [first, second, third, daemon]
    });
    // The runtime ends immediately, while the cancelled command is still being killed.
    runtime.shutdown_background();
    assert!(is_running(left[0]) && is_running(left[3]));
    reap_all();
    assert!(left.iter().all(|&id| !is_running(id)), "{left:?}");
    // The absence of a wait when nothing is left can only be measured; several attempts for a busy
    // machine.
    let is_quick = |_| {
        let started = Instant::now();
        reap_all();
        started.elapsed() < Duration::from_millis(50)
    };
    assert!((0..20).any(is_quick));
}

#[test]
fn servers_and_the_editor_end_with_the_program() {
    in_own_process("servers");
}

#[test]
#[ignore = "run by servers_and_the_editor_end_with_the_program, in a process of its own"]
fn servers() {
    let runtime = tokio::runtime::Runtime::new().unwrap();
    let folder = tempfile::tempdir().unwrap();
    let (server, editor, fifo) = runtime.block_on(async {
        let script = Program::Script("trap '' TERM; echo up; sleep 1000; sleep 1000".to_owned());
        let server = spawn_duplex(&child(script), OutputLimits::default()).unwrap();
        let fifo = super::Fifo::new(folder.path().join("editor"));
        let script = format!("echo pid=$$ > '{}'; exec sleep 1000", fifo.path().display());
        let spec = child(Program::Script(script));
        let editor = tokio::spawn(async move { run_in_foreground(&spec).await });
        (server, editor, fifo)
    });
    let id = runtime.block_on(async { number(&fifo.line().await, "pid") });
    let Duplex { process, .. } = &server;
    assert!(is_running(process.id()) && is_running(id));
    reap_all();
    assert!(!is_running(process.id()) && !is_running(id));
    assert_eq!(runtime.block_on(editor).unwrap().unwrap(), None, "a signal ended it");
}

#[cfg(target_os = "linux")]
#[test]
fn other_children_outlive_reap_all() {
    in_own_process("others");
}

#[cfg(target_os = "linux")]
#[test]
#[ignore = "run by other_children_outlive_reap_all, in a process of its own"]
fn others() {
    let runtime = tokio::runtime::Runtime::new().unwrap();
    let (foreign, kept) = runtime.block_on(async {
        let foreign = super::foreign::start("exec sleep 1000");
        let ours = super::daemon("exec sleep 1000").await;
        // Processes that a program of the user leaves running, inside and outside its session.
        let script = "sleep 1000 & echo job=$!; \
                      (setsid sh -c 'echo $$; exec sleep 1000 >/dev/null' &) | \
                      (read id; echo daemon=$id)";
        let piped = PipedCommand {
            child: child(Program::Script(script.to_owned())),
            input: Vec::new(),
            timeout: Duration::MAX,
            limit: 1 << 16,
        };
        let piped = run_piped(piped, &CancellationToken::new()).await.unwrap();
        let text = String::from_utf8(piped.stdout).unwrap();
        assert!(is_running(ours));
        reap_all();
        assert!(!is_running(ours));
        (foreign, [number(&text, "job"), number(&text, "daemon")])
    });
    let ids: Vec<u32> = foreign.iter().map(|child| child.id().unwrap()).chain(kept).collect();
    assert!(ids.iter().all(|&id| is_running(id)), "{ids:?}");
    ids.into_iter().for_each(end);
}
