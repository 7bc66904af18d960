//! Steps: commands that run one after the other, with their times. The last lines of a failed step
//! are printed again at the end, with the command that repeats the step.

use std::collections::VecDeque;
use std::io::{BufRead, BufReader, Write, pipe};
use std::path::Path;
use std::process::Command;
use std::sync::mpsc;
use std::time::{Duration, Instant};

use anyhow::{Context, Result};

use crate::process;

/// Number of the last lines of a failed step that are printed again.
const LAST_LINES: usize = 60;

/// Time for which the output of a step is read after its end. A process that a step leaves behind
/// may keep the output open.
const REST: Duration = Duration::from_secs(5);

/// One command of a sequence.
pub(crate) struct Step {
    /// Command line as a user types it in the repository root.
    text: String,
    command: Command,
}

impl Step {
    /// Returns a step that runs cargo.
    pub(crate) fn cargo(root: &Path, arguments: &[&str]) -> Self {
        Self::new(process::cargo(root, arguments))
    }

    /// Returns a step that runs a task of this program.
    pub(crate) fn task(root: &Path, arguments: &[&str]) -> Self {
        Self::cargo(root, &[&["xtask"], arguments].concat())
    }

    pub(crate) fn new(command: Command) -> Self {
        Self { text: process::show(&command), command }
    }

    /// Sets an environment variable that the repetition of the step does not need.
    pub(crate) fn with(mut self, name: &str, value: &Path) -> Self {
        self.command.env(name, value);
        self
    }
}

/// Handling of a failed step.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum AfterFailure {
    /// The sequence ends.
    Stop,
    /// The other steps run, and the failures are listed at the end.
    Continue,
}

/// A step that has failed.
pub(crate) struct FailedStep {
    text: String,
    last_lines: VecDeque<String>,
}

/// Runs the steps and prints their times. Returns the failed ones.
pub(crate) fn run(steps: Vec<Step>, after: AfterFailure) -> Result<Vec<FailedStep>> {
    let start = Instant::now();
    let (mut failed, mut times) = (Vec::new(), Vec::new());
    for step in steps {
        let began = Instant::now();
        println!("\n=== {}", step.text);
        let text = step.text.clone();
        let failure = execute(step)?;
        times.push((began.elapsed(), text));
        if let Some(failure) = failure {
            failed.push(failure);
            if after == AfterFailure::Stop {
                break;
            }
        }
    }
    println!("\n=== times");
    for (time, text) in times {
        println!("{:>6} s  {text}", seconds(time));
    }
    println!("{:>6} s  together", seconds(start.elapsed()));
    Ok(failed)
}

fn seconds(time: Duration) -> u64 {
    time.as_secs_f64().round() as u64
}

/// Runs one step. Its output goes to standard output as it arrives.
fn execute(step: Step) -> Result<Option<FailedStep>> {
    let Step { text, mut command } = step;
    let (output, input) = pipe().context("cannot create a pipe")?;
    command.stdout(input.try_clone()?).stderr(input);
    process::forget_package(&mut command);
    let mut child = command.spawn().with_context(|| format!("cannot start `{text}`"))?;
    // The command holds the other end of the pipe, which must close with the child.
    drop(command);
    let (sender, lines) = mpsc::channel();
    std::thread::spawn(move || copy(BufReader::new(output), &mut std::io::stdout(), &sender));
    let status = child.wait().with_context(|| format!("cannot wait for `{text}`"))?;
    let mut last_lines = VecDeque::new();
    while let Ok(line) = lines.recv_timeout(REST) {
        last_lines.push_back(line);
        if last_lines.len() > LAST_LINES {
            last_lines.pop_front();
        }
    }
    Ok((!status.success()).then_some(FailedStep { text, last_lines }))
}

/// Copies lines to the output and to the channel.
fn copy(mut from: impl BufRead, to: &mut impl Write, lines: &mpsc::Sender<String>) -> Result<()> {
    let mut line = Vec::new();
    while from.read_until(b'\n', &mut line)? > 0 {
        to.write_all(&line)?;
        lines.send(String::from_utf8_lossy(&line).trim_end().to_owned())?;
        line.clear();
    }
    Ok(())
}

/// Returns the text for the end of the output. The first failed step comes last, because readers of
/// a long log see its end first.
pub(crate) fn report(failed: &[FailedStep]) -> String {
    let describe = |step: &FailedStep| {
        let lines: Vec<_> = step.last_lines.iter().map(|line| format!("    {line}\n")).collect();
        format!(
            "\n=== the end of the failed step\n{}=== failed; to repeat it: {}\n",
            lines.concat(),
            step.text
        )
    };
    failed.iter().rev().map(describe).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn shell(script: &str) -> Step {
        let mut command = Command::new("sh");
        command.args(["-c", script]);
        Step::new(command)
    }

    #[cfg(unix)]
    #[test]
    fn a_failed_step_is_reported_with_its_last_lines_and_its_command() {
        let step = shell("seq 100; echo wrong >&2; exit 3");
        let failed = execute(step).unwrap().expect("a failure");
        assert_eq!(failed.last_lines.len(), LAST_LINES);
        let report = report(&[failed]);
        assert!(report.contains("    100\n    wrong\n"), "{report}");
        assert!(!report.contains("    40\n"), "{report}");
        assert!(
            report.ends_with("=== failed; to repeat it: sh -c seq 100; echo wrong >&2; exit 3\n"),
            "{report}"
        );
    }

    #[cfg(unix)]
    #[test]
    fn a_sequence_fails_if_one_of_its_steps_does() {
        let folder = std::env::temp_dir().join(format!("pollux-steps-{}", std::process::id()));
        for (after, has_run) in [(AfterFailure::Stop, false), (AfterFailure::Continue, true)] {
            let last = format!("touch {}", folder.display());
            let steps = vec![shell("true"), shell("false"), shell(&last)];
            assert_eq!(run(steps, after).unwrap().len(), 1);
            assert_eq!(std::fs::remove_file(&folder).is_ok(), has_run);
        }
    }
}
