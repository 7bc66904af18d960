//! Background jobs and grandchildren.

use pollux_shell::Ended;

use super::{Fifo, daemon, end, is_running, number, sh, sh_in, shells, wait_until_gone};

#[tokio::test]
async fn background_jobs_are_listed_and_go_on() {
    for shell in shells() {
        let outcome = sh_in(&shell, "sleep 1000 & echo job=$!; sleep 0 & wait $!; exit 3").await;
        let job = number(&outcome.text(), "job");
        assert_eq!(outcome.background_pids, [job], "{shell:?}");
        assert_eq!(outcome.exit_code, Some(3));
        assert!(is_running(job));
        end(job);
        wait_until_gone(job).await;
    }
}

/// The grandchild runs for 1000 seconds.
#[tokio::test]
async fn a_grandchild_that_holds_the_pipe_is_not_waited_for() {
    let outcome = sh("(sleep 1000 & echo job=$! ); echo parent").await;
    assert_eq!(outcome.ended, Ended::Exited);
    let text = outcome.text();
    assert!(text.ends_with("parent"));
    end(number(&text, "job"));
}

#[tokio::test]
async fn a_daemon_is_not_waited_for() {
    end(daemon("exec sleep 1000").await);
}

/// The job runs forever.
#[tokio::test]
async fn a_flood_from_behind_does_not_hold_the_result() {
    let outcome = sh("yes & echo job=$!").await;
    assert_eq!(outcome.background_pids.len(), 1);
    end(outcome.background_pids[0]);
}

#[tokio::test]
async fn a_job_that_prints_later_does_not_die_of_it() {
    let folder = tempfile::tempdir().unwrap();
    let [go, done] = ["go", "done"].map(|name| Fifo::new(folder.path().join(name)));
    let line = format!(
        "(read line <'{}'; echo late; echo later; echo done >'{}'; exec sleep 1000) & echo job=$!",
        go.path().display(),
        done.path().display()
    );
    let outcome = sh(&line).await;
    go.go();
    assert_eq!(done.line().await, "done");
    end(number(&outcome.text(), "job"));
}

#[tokio::test]
async fn output_just_before_the_end_is_complete() {
    for _ in 0..20 {
        let outcome = sh("seq 1 5000; sleep 1000 & true").await;
        assert!(outcome.text().ends_with("4999\n5000"));
        end(outcome.background_pids[0]);
    }
}
