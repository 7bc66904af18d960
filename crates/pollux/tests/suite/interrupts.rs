//! Signals at every moment of a run: the program ends immediately, prints its one result, and loses
//! no finished work.

use std::fs;
use std::path::Path;
use std::time::{Duration, Instant};

use pollux_testkit::{Finished, RunningProgram, Signal, errors, reply, timed_test};
use rustix::event::{PollFd, PollFlags, Timespec, poll};
use serde_json::json;

use super::stage::{FORMATS, SOON, Stage, is_alive, terminal_result, wait_until};

/// Maximum time until the program ends, in a debug build on a busy machine.
const AT_ONCE: Duration = Duration::from_secs(3);

fn start(stage: &Stage, format: &str) -> RunningProgram {
    stage.pollux(&["-y", "-o", format, "-p", "go"]).spawn()
}

/// Sends the signal and waits for the end, which must come immediately.
fn end_by(running: RunningProgram, signal: Signal) -> Finished {
    let _alone = timed_test();
    let asked = Instant::now();
    running.signal(signal);
    let run = running.wait();
    let took = asked.elapsed();
    assert!(took < AT_ONCE, "took {took:?}\n{}", run.report());
    run
}

fn assert_cancelled(format: &str, run: &Finished, code: i32) {
    run.assert_code(code);
    assert!(run.stderr_text().contains("Operation cancelled."), "{}", run.report());
    let error = match format {
        "text" => return,
        "json" => {
            assert_eq!(run.json()["error"]["code"], code);
            run.json()["error"].clone()
        }
        _ => {
            let result = terminal_result(run);
            assert_eq!(result["status"], "error");
            result["error"].clone()
        }
    };
    assert_eq!(error["type"], "FatalCancellationError", "{}", run.report());
    assert_eq!(error["message"], "Operation cancelled.", "{}", run.report());
}

#[test]
fn a_signal_ends_a_stream() {
    for format in FORMATS {
        for (signal, code) in [(Signal::INT, 130), (Signal::TERM, 143)] {
            let stage =
                Stage::with([reply().text("One ").text("two ").text("three").stall_after(2)]);
            let mut running = start(&stage, format);
            if format == "stream-json" {
                running.stdout_until("two ");
            } else {
                stage.server.wait_for_requests(1, SOON);
                // These formats print nothing while the answer streams.
                std::thread::sleep(Duration::from_millis(200));
            }
            let run = end_by(running, signal);
            if format == "text" {
                assert_eq!(run.stdout_text(), "One two \n", "the part that has arrived");
            }
            assert_cancelled(format, &run, code);
            assert!(stage.server.wait_for_abort(SOON).is_some(), "the socket is closed");
        }
    }
}

#[test]
fn a_signal_ends_the_wait_for_a_server_that_never_answers() {
    for format in FORMATS {
        let stage = Stage::with([reply().never_answer()]);
        let running = start(&stage, format);
        stage.server.wait_for_requests(1, SOON);
        let run = end_by(running, Signal::INT);
        assert_cancelled(format, &run, 130);
        assert!(stage.server.wait_for_abort(SOON).is_some());
    }
}

#[test]
fn a_signal_and_the_time_limit_end_the_search_for_the_default_model() {
    for (key, address) in
        [("OPENAI_API_KEY", "OPENAI_BASE_URL"), ("ANTHROPIC_API_KEY", "ANTHROPIC_BASE_URL")]
    {
        let stage = Stage::new();
        stage.server.route("/v1/models", |_| reply().never_answer());
        let program = |flags: &[&str]| {
            let program = stage.alone().args(flags).args(["-o", "json", "-p", "go"]);
            let program = program.env_remove("GEMINI_API_KEY").env(key, "k");
            program.env(address, format!("{}/v1", stage.server.url()))
        };
        let running = program(&[]).spawn();
        stage.server.wait_for_requests(1, SOON);
        assert_cancelled("json", &end_by(running, Signal::INT), 130);
        assert!(stage.server.wait_for_abort(SOON).is_some(), "the socket is closed");
        let run = program(&["--timeout", "1"]).run();
        run.assert_code(57);
    }
}

#[test]
fn a_signal_ends_a_wait_for_the_next_attempt() {
    for format in FORMATS {
        let stage = Stage::with([errors::per_minute_quota()]);
        let mut running = start(&stage, format);
        running.stderr_until(" Attempt 2 of ");
        assert_cancelled(format, &end_by(running, Signal::INT), 130);
    }
}

#[test]
fn a_signal_ends_a_command_and_all_it_started() {
    for format in FORMATS {
        let command = "echo $$ > pids; (trap '' TERM; echo $BASHPID >> pids; sleep 60) & sleep 60 & echo $! >> pids; wait";
        let stage = Stage::with([reply().call("run_shell_command", json!({"command": command}))]);
        let running = start(&stage, format);
        let file = stage.home.project().join("pids");
        let pids = || -> Vec<u32> {
            let text = fs::read_to_string(&file).unwrap_or_default();
            text.lines().filter_map(|line| line.parse().ok()).collect()
        };
        wait_until("the command runs", || pids().len() == 3);
        let run = end_by(running, Signal::INT);
        assert_cancelled(format, &run, 130);
        wait_until("all processes are gone", || pids().iter().all(|pid| !is_alive(*pid)));
    }
}

#[test]
fn a_terminals_interrupt_reaches_everyone_and_still_leaves_one_result() {
    let stage =
        Stage::with([reply().call("run_shell_command", json!({"command": "touch on; sleep 60"}))]);
    let running = start(&stage, "stream-json");
    wait_until("the command runs", || stage.home.project().join("on").exists());
    running.signal_group(Signal::INT);
    assert_cancelled("stream-json", &running.wait(), 130);
}

/// Returns true if a write to this named pipe would wait.
fn is_full(pipe: &Path) -> bool {
    let Ok(pipe) = fs::File::options().read(true).write(true).open(pipe) else { return false };
    poll(&mut [PollFd::new(&pipe, PollFlags::OUT)], Some(&Timespec::default())).unwrap() == 0
}

#[test]
fn a_reader_that_has_stopped_reading_does_not_hold_up_a_signal() {
    let turn = (0..2000).fold(reply(), |turn, _| turn.text("x".repeat(1 << 10)));
    let stage = Stage::with([turn]);
    stage.home.settings(&json!({"model": {"disableLoopDetection": true}}));
    // A full pipe that stays open.
    let program = stage.redirected("mkfifo full; exec 3<>full; exec \"$0\" \"$@\" > full");
    let running = program.args(["-m", super::stage::MODEL, "-p", "go"]);
    let running = running.spawn();
    let pipe = stage.home.project().join("full");
    wait_until("the pipe is full", || is_full(&pipe));
    end_by(running, Signal::INT).assert_code(130);
}

#[test]
fn a_second_signal_ends_the_program_whatever_it_does() {
    let stage = Stage::with([reply().never_answer()]);
    let running = start(&stage, "text");
    stage.server.wait_for_requests(1, SOON);
    running.signal(Signal::INT);
    running.signal(Signal::INT);
    running.wait().assert_code(130);
}

#[test]
fn two_signals_at_once_leave_one_result() {
    // GNU `timeout` sends one signal to the program and one to its process group.
    for format in ["json", "stream-json"].repeat(5) {
        let stage = Stage::with([reply().never_answer()]);
        let running = start(&stage, format);
        stage.server.wait_for_requests(1, SOON);
        running.signal(Signal::TERM);
        running.signal_group(Signal::TERM);
        assert_cancelled(format, &running.wait(), 143);
    }
}

#[test]
fn a_signal_ends_the_wait_for_standard_input() {
    let stage = Stage::new();
    let mut running = stage.pollux(&["-o", "json", "-p", "go"]).stdin_held_open().spawn();
    running.write_stdin(b"some");
    wait_until("the program waits for the rest", || running.stdin_is_read());
    let run = end_by(running, Signal::INT);
    assert_cancelled("json", &run, 130);
}
