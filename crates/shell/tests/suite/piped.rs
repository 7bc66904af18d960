//! Programs with one input and two output streams.

use std::time::Duration;

use pollux_shell::{Ended, PipedCommand, PipedOutcome, Program, ShellError, run_piped};
use tokio_util::sync::CancellationToken;

use super::{Fifo, child, end};

fn piped(script: &str) -> PipedCommand {
    PipedCommand {
        child: child(Program::Script(script.to_owned())),
        input: b"{\"a\":1}".to_vec(),
        timeout: Duration::from_mins(1),
        limit: 1 << 16,
    }
}

async fn outcome(command: PipedCommand) -> PipedOutcome {
    run_piped(command, &CancellationToken::new()).await.unwrap()
}

#[tokio::test]
async fn streams_are_apart_and_input_ends() {
    let done = outcome(piped("cat; echo oops >&2; exit 3")).await;
    assert_eq!(done.stdout, b"{\"a\":1}");
    assert_eq!(done.stderr, b"oops\n");
    assert_eq!((done.exit_code, done.ended), (Some(3), Ended::Exited));
}

#[tokio::test]
async fn a_huge_input_that_is_not_read_harms_nobody() {
    let mut command = piped("exec 0<&-; echo done");
    command.input = vec![b'x'; 8 << 20];
    assert_eq!(outcome(command.clone()).await.stdout, b"done\n");
    command.child.program = Program::Script("head -c 3".to_owned());
    assert_eq!(outcome(command).await.stdout, b"xxx");
}

#[tokio::test]
async fn a_huge_input_goes_through_while_output_comes() {
    let mut command = piped("cat");
    command.input = vec![b'x'; 4 << 20];
    command.limit = 8 << 20;
    assert_eq!(outcome(command).await.stdout.len(), 4 << 20);
}

#[tokio::test]
async fn a_flood_is_bounded_and_ends_with_the_time() {
    let mut command = piped("yes & yes >&2");
    command.timeout = Duration::from_millis(300);
    let done = outcome(command).await;
    assert_eq!(done.ended, Ended::TimedOut);
    assert!(done.overflowed);
    assert_eq!((done.stdout.len(), done.stderr.len()), (1 << 16, 1 << 16));
}

#[tokio::test]
async fn what_is_left_running_is_not_waited_for() {
    let done = outcome(piped("sleep 1000 & echo $!")).await;
    end(std::str::from_utf8(&done.stdout).unwrap().trim().parse().unwrap());
}

#[tokio::test]
async fn a_stop_returns_at_once() {
    let cancel = CancellationToken::new();
    let folder = tempfile::tempdir().unwrap();
    let up = Fifo::new(folder.path().join("up"));
    let script = format!("trap '' TERM; echo up >'{}'; sleep 1000", up.path().display());
    let stop = async {
        up.line().await;
        cancel.cancel();
    };
    let (done, ()) = tokio::join!(run_piped(piped(&script), &cancel), stop);
    assert_eq!(done.unwrap().ended, Ended::Cancelled);
    let error = run_piped(piped("true"), &cancel).await.unwrap_err();
    assert!(matches!(error, ShellError::CancelledBeforeStart));
}

#[tokio::test]
async fn what_cannot_run_says_why() {
    let cancel = CancellationToken::new();
    let mut command = piped("true");
    command.child.folder = "/no/such/folder".into();
    let error = run_piped(command, &cancel).await.unwrap_err();
    assert!(matches!(error, ShellError::WorkingDirectory(_)));
    let error = run_piped(piped("a\0b"), &cancel).await.unwrap_err();
    assert!(matches!(error, ShellError::NulCharacter));
    assert_eq!(outcome(piped("/no/such/program")).await.exit_code, Some(127));
    assert_eq!(outcome(piped("kill -9 $$")).await.signal, Some(9));
}
