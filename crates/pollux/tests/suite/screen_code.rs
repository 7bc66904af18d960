//! Code in answers on the screen.

use std::fs;
use std::time::Duration;

use pollux_testkit::{ModelReply, Signal, reply};

use super::screen::{PLACEHOLDER, Talk, on_screen};
use super::stage::{MODEL, Stage};

/// Name of the thread that finds colours.
const THREAD: &str = "highlighter";
/// Script that starts the program and writes the id of its process.
const RUN: &str = "echo $$ > process; exec \"$0\" \"$@\"";
/// Time after which no line waits for its colours.
const WAIT: Duration = Duration::from_millis(600);
/// Number of answers after which one has its colours, however slow the machine is.
const ANSWERS: usize = 8;
/// Number of lines of an answer, which is more than the screen shows.
const LINES: usize = 60;

fn line(answer: usize, number: usize) -> String {
    format!("let line_{answer}_{number} = \"{number}\";")
}

fn code(answer: usize) -> ModelReply {
    let lines: Vec<String> = (0..LINES).map(|number| line(answer, number)).collect();
    let text = format!("```rust\n{}\n```\n", lines.join("\n"));
    text.split_inclusive('=').fold(reply(), ModelReply::text)
}

/// Returns the names of the threads of a process.
fn threads(process: &str) -> Vec<String> {
    let tasks = fs::read_dir(format!("/proc/{}/task", process.trim())).unwrap();
    // A thread may end meanwhile.
    let names = tasks.filter_map(|task| fs::read_to_string(task.ok()?.path().join("comm")).ok());
    names.map(|name| name.trim_end().to_owned()).collect()
}

fn has_highlighter(process: &str) -> bool {
    let names = threads(process);
    assert!(!names.is_empty());
    names.iter().any(|name| name == THREAD)
}

#[test]
fn code_has_colours_and_is_written_once() {
    let stage = Stage::with((0..ANSWERS).map(code));
    let program = on_screen(stage.redirected(RUN)).args(["-m", MODEL]).env("NO_COLOR", "");
    let talk = Talk { terminal: program.in_terminal(24, 80), stage };
    talk.wait(PLACEHOLDER);
    let process = talk.stage.home.read_project_file("process");
    assert!(!has_highlighter(&process), "there is no code yet");
    let is_coloured = || {
        let printed = talk.terminal.transcript();
        String::from_utf8_lossy(&printed).contains("\x1b[35mlet")
    };
    let mut answers = 0;
    while answers < ANSWERS && !is_coloured() {
        talk.line("go");
        talk.wait(&line(answers, LINES - 1));
        talk.idle();
        std::thread::sleep(WAIT);
        answers += 1;
    }
    assert!(is_coloured(), "{}", talk.terminal.screen());
    assert!(has_highlighter(&process));
    talk.stage.server.discard_replies();
    let expected: Vec<String> = (0..answers)
        .flat_map(|answer| (0..LINES).map(move |number| line(answer, number)))
        .collect();
    let rows = talk.terminal.all_rows();
    let lines: Vec<&String> = rows.iter().filter(|row| row.starts_with("let line_")).collect();
    assert_eq!(lines, expected.iter().collect::<Vec<_>>());
    talk.end();
}

#[test]
fn code_needs_no_thread_without_colours() {
    let stage = Stage::with([code(0)]);
    let program = on_screen(stage.redirected(RUN)).args(["-m", MODEL]);
    let talk = Talk { terminal: program.in_terminal(24, 80), stage };
    talk.wait(PLACEHOLDER);
    talk.line("go");
    talk.wait(&line(0, LINES - 1));
    talk.idle();
    assert!(!has_highlighter(&talk.stage.home.read_project_file("process")));
    talk.end();
}

#[test]
fn code_needs_no_thread_in_a_headless_run() {
    let stage = Stage::with([code(0).text("end").stall_after(LINES + 1)]);
    let mut run = stage.pollux(&["-o", "stream-json", "-p", "go"]).env("NO_COLOR", "").spawn();
    run.stdout_until(&format!("line_0_{}", LINES - 1));
    assert!(!has_highlighter(&run.id().to_string()));
    run.signal(Signal::KILL);
    let killed = run.wait();
    assert!(killed.stdout_text().contains("line_0_0"), "{}", killed.report());
}
