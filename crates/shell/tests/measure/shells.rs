//! Compares the reading of command lines with the behaviour of bash and dash.
//!
//! `cargo bench -p pollux-shell --bench shells -- COUNT [SEED]` makes lines from
//! fragments until COUNT of them are parsed, runs those in both shells, and compares programs,
//! arguments and new files with the parsed lines. Programs are shell functions that record their
//! arguments; the folder is a temporary one and `PATH` is empty. Each line runs twice: all programs
//! succeed, then all fail, so that each side of `&&` and `||` runs once.
#![allow(clippy::disallowed_methods, clippy::disallowed_types, reason = "not part of the product")]
#![allow(
    clippy::print_stdout,
    clippy::format_push_string,
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    missing_docs
)]

use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};

use pollux_shell::Dialect;
use pollux_shell::command_line::{CommandLine, SimpleCommand, Word, read};

#[path = "shells/compare.rs"]
mod compare;
#[path = "shells/lines.rs"]
mod lines;
#[path = "shells/run.rs"]
mod run;

/// Number of lines that one shell process runs.
const BATCH: usize = 400;
const THREADS: usize = 2;
/// Maximum number of differences that are printed.
const SHOWN: usize = 20;

fn main() {
    let mut arguments = std::env::args().skip(1);
    let count: usize = arguments.next().map_or(2_000, |text| text.parse().expect("a count"));
    let seed: u64 = arguments.next().map_or(1, |text| text.parse().expect("a seed"));
    let started = std::time::Instant::now();
    let (done, made, different) = (AtomicUsize::new(0), AtomicUsize::new(0), AtomicUsize::new(0));
    let output = Mutex::new(());
    std::thread::scope(|scope| {
        for thread in 0..THREADS {
            let (done, made, different, output) = (&done, &made, &different, &output);
            scope.spawn(move || {
                let mut source = lines::Source::new(seed, thread);
                let boxes = ["bash", "dash"].map(run::ShellBox::new);
                while done.fetch_add(BATCH, Ordering::Relaxed) < count {
                    let (batch, tried) = batch(&mut source);
                    made.fetch_add(tried, Ordering::Relaxed);
                    for report in differences(&boxes, &batch) {
                        let number = different.fetch_add(1, Ordering::Relaxed);
                        if number < SHOWN {
                            let _guard = output.lock().unwrap();
                            println!("{report}\n");
                        }
                    }
                }
            });
        }
    });
    let (made, different) = (made.into_inner(), different.into_inner());
    let seconds = started.elapsed().as_secs();
    let count = count.div_ceil(BATCH) * BATCH;
    println!("{made} lines, {count} of them parsed; {different} differ; seed {seed}, {seconds} s");
    assert_eq!(different, 0, "the reader and a shell differ");
}

/// Makes a batch of lines that are parsed. Returns the batch and the number of all lines made.
fn batch(source: &mut lines::Source) -> (Vec<(String, CommandLine)>, usize) {
    let (mut batch, mut made) = (Vec::with_capacity(BATCH), 0);
    while batch.len() < BATCH {
        let text = source.line();
        made += 1;
        let line = read(&text, Dialect::Bash);
        if line.is_parsed() && can_compare(&text, &line) {
            batch.push((text, line));
        }
    }
    (batch, made)
}

/// Returns true if a run shows all effects of the line.
fn can_compare(text: &str, line: &CommandLine) -> bool {
    let is_known = |command: &SimpleCommand| {
        !run::WRAPPERS.contains(&command.name()) || command.known(0).is_ok()
    };
    // Shells write words with line breaks in several parts, which would mix with the output of
    // other commands of a pipeline.
    let has_break = |word: &Word| word.shown().contains('\n');
    let mixes = text.contains('|')
        && line.commands.iter().flat_map(|command| &command.words).any(has_break);
    !line.commands.is_empty()
        && line.commands.iter().all(is_known)
        && !mixes
        && lines::is_harmless(text)
}

fn differences(boxes: &[run::ShellBox; 2], batch: &[(String, CommandLine)]) -> Vec<String> {
    let mut reports = Vec::new();
    let runs = boxes.each_ref().map(|shell| {
        let texts: Vec<&str> = batch.iter().map(|(text, _)| text.as_str()).collect();
        [0, 1].map(|status| shell.run(&texts, status))
    });
    for (index, (text, line)) in batch.iter().enumerate() {
        for (shell, runs) in boxes.iter().zip(&runs) {
            let observed = [&runs[0][index], &runs[1][index]];
            if let Some(problem) = compare::problem(line, observed, shell) {
                let commands: Vec<_> = line.commands.iter().map(|command| &command.words).collect();
                let targets: Vec<_> =
                    line.commands.iter().flat_map(|command| &command.redirections).collect();
                reports.push(format!(
                    "{problem} in {}: {text:?}\n  read: {commands:?} {targets:?}\n  programs \
                     succeed: {:?}\n  programs fail: {:?}",
                    shell.name, observed[0], observed[1]
                ));
            }
        }
    }
    reports
}
