//! Background jobs and grandchildren.

use std::time::{Duration, Instant};

use pollux_shell::Ended;

use super::{end, is_running, number, sh, sh_in, shells, wait_until_gone};

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

#[tokio::test]
async fn a_grandchild_that_holds_the_pipe_is_not_waited_for() {
    let started = Instant::now();
    let outcome = sh("(sleep 1000 & echo job=$! ); echo parent").await;
    let took = started.elapsed();
    assert!(took < Duration::from_secs(1), "{took:?}");
    assert_eq!(outcome.ended, Ended::Exited);
    let text = outcome.text();
    assert!(text.ends_with("parent"));
    end(number(&text, "job"));
}

#[tokio::test]
async fn a_daemon_is_not_waited_for() {
    let started = Instant::now();
    let outcome = sh("setsid sh -c 'echo daemon=$$; exec sleep 1000' & sleep 0.1").await;
    assert!(started.elapsed() < Duration::from_secs(1));
    end(number(&outcome.text(), "daemon"));
}

#[tokio::test]
async fn a_flood_from_behind_does_not_hold_the_result() {
    let started = Instant::now();
    let outcome = sh("yes & echo job=$!").await;
    assert!(started.elapsed() < Duration::from_secs(2));
    assert_eq!(outcome.background_pids.len(), 1);
    end(outcome.background_pids[0]);
}

#[tokio::test]
async fn a_job_that_prints_later_does_not_die_of_it() {
    let line = "(sleep 0.3; echo late; echo later; exec sleep 1000) & echo job=$!";
    let outcome = sh(line).await;
    let job = number(&outcome.text(), "job");
    tokio::time::sleep(Duration::from_millis(700)).await;
    assert!(is_running(job));
    end(job);
}

#[tokio::test]
async fn output_just_before_the_end_is_complete() {
    for _ in 0..20 {
        let outcome = sh("seq 1 5000; sleep 1000 & true").await;
        assert!(outcome.text().ends_with("4999\n5000"));
        end(outcome.background_pids[0]);
    }
}
