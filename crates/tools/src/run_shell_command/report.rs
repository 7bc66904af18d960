//! Reports of ended commands.

use std::path::{Path, PathBuf};
use std::time::Duration;

use pollux_fs::Spool;
use pollux_protocol::{AwaitedInput, Display, Measurement, ToolOutput};
use pollux_shell::{Ended, ShellOutcome};

use pollux_protocol::truncation::{truncate, truncate_ends};
use pollux_protocol::untrusted;

/// Settings of a report, in addition to the outcome.
pub(super) struct Report {
    /// Maximum length of output in characters; longer output is cut. 0 for no limit.
    pub(super) threshold: usize,
    /// Maximum run time of the command.
    pub(super) timeout: Option<Duration>,
    /// Maximum time without output.
    pub(super) inactivity: Option<Duration>,
    /// File for output that is cut.
    pub(super) file: PathBuf,
    /// True to show colours to the user.
    pub(super) colour: bool,
    /// Tool and prompt, for the measurements.
    pub(super) tool: &'static str,
    pub(super) prompt_id: String,
}

/// Output as it is reported.
struct Shown {
    text: String,
    /// File with the whole output.
    file: Option<PathBuf>,
    is_cut: bool,
}

impl Report {
    /// Returns the result for model and user. Writes the file if the output is cut.
    pub(super) fn output(&self, outcome: &ShellOutcome) -> ToolOutput {
        let Shown { text, file, is_cut } = self.cut(outcome);
        let measured = is_cut.then(|| self.measure_cut(outcome, &text));
        let reported = match self.reason(outcome) {
            None => ended(outcome, &text),
            Some(reason) if text.is_empty() => {
                format!("{reason} There was no output before it was cancelled.")
            }
            Some(reason) => {
                format!("{reason} Below is the output before it was cancelled:\n{text}")
            }
        };
        let mut reported = untrusted::wrap(&reported);
        if let Some(awaited) = outcome.awaited.as_ref().filter(|_| outcome.ended != Ended::Exited) {
            reported.push_str(&advice(awaited));
        }
        let limit = self.reason(outcome).filter(|_| {
            matches!(outcome.ended, Ended::Inactive | Ended::TimedOut | Ended::Unanswered)
        });
        let display = match (&outcome.lines, limit) {
            (Some(lines), _) if self.colour && !lines.0.is_empty() => Display::Ansi(lines.clone()),
            (_, Some(limit)) if text.is_empty() => Display::Text(limit),
            (_, Some(limit)) => {
                Display::Text(format!("{limit}\n\nOutput before cancellation:\n{text}"))
            }
            _ if text.is_empty() => Display::Text(ending(outcome)),
            _ => Display::Text(text),
        };
        let mut output = ToolOutput::quiet(reported).display(display);
        output.output_file = file;
        output.measurements.extend(measured);
        output
    }

    /// Returns the output as a custom command inserts it, with the end of a failed command in the
    /// words of Gemini CLI.
    pub(super) fn inserted(&self, outcome: &ShellOutcome, command: &str) -> ToolOutput {
        let Shown { mut text, file, .. } = self.cut(outcome);
        let end = match (outcome.ended, outcome.signal, outcome.exit_code) {
            (Ended::Cancelled, ..) => Some("aborted".to_owned()),
            (Ended::Exited, Some(signal), _) => Some(format!("terminated by signal {signal}")),
            (Ended::Exited, None, Some(code)) if code != 0 => {
                Some(format!("exited with code {code}"))
            }
            (Ended::Exited, ..) => None,
            (Ended::Inactive | Ended::TimedOut | Ended::Unanswered, ..) => {
                let reason = self.reason(outcome).unwrap_or_default();
                Some(format!("aborted: {}", reason.trim_end_matches('.')))
            }
        };
        if let Some(end) = end {
            text = format!("{text}\n[Shell command '{command}' {end}]");
        }
        let mut output = ToolOutput::text(text);
        output.output_file = file;
        output
    }

    /// Returns only the output, cut if it is too long.
    pub(super) fn shown(&self, outcome: &ShellOutcome) -> String {
        self.cut(outcome).text
    }

    /// Returns the measurement of output that was cut.
    fn measure_cut(&self, outcome: &ShellOutcome, shown: &str) -> Measurement {
        Measurement::ToolOutputTruncated {
            tool: self.tool.to_owned(),
            prompt_id: self.prompt_id.clone(),
            original: outcome.bytes,
            truncated: shown.len() as u64,
            threshold: self.threshold as u64,
        }
    }

    /// Returns the text of the output, cut if it is too long, and the file with the whole output.
    fn cut(&self, outcome: &ShellOutcome) -> Shown {
        let spilled = outcome.spilled.as_ref().filter(|spilled| spilled.failure.is_none());
        let file = spilled.map(|spilled| spilled.path.clone());
        let missing = outcome.output.omitted();
        if outcome.binary || self.threshold == 0 {
            return Shown { text: last_states(outcome.text()), file, is_cut: false };
        }
        if missing > 0 {
            let (first, second) = outcome.output.tail();
            let (start, end) = (plain(outcome.output.head()), plain(&[first, second].concat()));
            let text = truncate_ends(&start, &end, missing, self.threshold, file.as_deref());
            return Shown { text, file, is_cut: true };
        }
        let text = last_states(outcome.text());
        if text.len() <= self.threshold || text.chars().count() <= self.threshold {
            return Shown { text, file, is_cut: false };
        }
        let file = file.or_else(|| keep(&self.file, &text).then(|| self.file.clone()));
        let text = truncate(&text, self.threshold, file.as_deref()).unwrap_or(text);
        Shown { text, file, is_cut: true }
    }

    /// Returns the reason if the command did not end by itself.
    fn reason(&self, outcome: &ShellOutcome) -> Option<String> {
        let minutes = |limit: Option<Duration>| limit.unwrap_or_default().as_secs_f64() / 60.0;
        Some(match outcome.ended {
            Ended::Exited => return None,
            Ended::Cancelled => {
                "Command was cancelled by user before it could complete.".to_owned()
            }
            Ended::Inactive => format!(
                "Command was automatically cancelled because it exceeded the timeout of {:.1} minutes without output.",
                minutes(self.inactivity)
            ),
            Ended::Unanswered => {
                "Command was automatically cancelled because it waited for input, but no user can type it."
                    .to_owned()
            }
            Ended::TimedOut => format!(
                "Command was automatically cancelled because it exceeded the total time limit of {}.",
                in_words(self.timeout.unwrap_or_default())
            ),
        })
    }
}

/// Advises the model after a command was ended because it waited for input.
fn advice(awaited: &AwaitedInput) -> String {
    let what = match (awaited.secret, awaited.prompt.is_empty()) {
        (true, _) => {
            "It waited for a password or another secret. Use a method that does not ask for one, or ask the user."
        }
        (false, true) => "It waited for keyboard input.",
        (false, false) => "It waited for an answer to its last line.",
    };
    format!(
        "\n{what} Run it so that it does not ask: with a flag like --yes, -y or --non-interactive, with its input from a \
         pipe or a here-document, or with a program that is not an editor, pager or prompt."
    )
}

/// Formats a time limit: `2.5 seconds`, `10.0 minutes`.
fn in_words(limit: Duration) -> String {
    match limit.as_secs_f64() {
        short if short < 60.0 => format!("{short:.1} seconds"),
        long => format!("{:.1} minutes", long / 60.0),
    }
}

/// Returns one line for each fact about a command that has ended.
fn ended(outcome: &ShellOutcome, text: &str) -> String {
    let mut lines = vec![format!("Output: {}", if text.is_empty() { "(empty)" } else { text })];
    if let Some(code) = outcome.exit_code.filter(|code| *code != 0) {
        lines.push(format!("Exit Code: {code}"));
    }
    if let Some(signal) = outcome.signal {
        lines.push(format!("Signal: {signal}"));
    }
    if !outcome.background_pids.is_empty() {
        let pids: Vec<String> = outcome.background_pids.iter().map(u32::to_string).collect();
        lines.push(format!("Background PIDs: {}", pids.join(", ")));
    }
    lines.push(format!("Process Group PGID: {}", outcome.process_group));
    lines.join("\n")
}

/// Returns the text for the user about the end of a command; empty if it succeeded.
pub(super) fn ending(outcome: &ShellOutcome) -> String {
    match (outcome.ended, outcome.signal, outcome.exit_code) {
        (Ended::Cancelled, ..) => "Command was cancelled by user.".to_owned(),
        (Ended::Inactive | Ended::TimedOut, ..) => "Command timed out.".to_owned(),
        (Ended::Unanswered, ..) => "Command waited for input.".to_owned(),
        (Ended::Exited, Some(signal), _) => format!("Command terminated by signal: {signal}"),
        (Ended::Exited, None, Some(code)) if code != 0 => {
            format!("Command exited with code: {code}")
        }
        (Ended::Exited, None, _) => String::new(),
    }
}

/// Returns output as text, with the last state of each line.
fn plain(bytes: &[u8]) -> String {
    last_states(pollux_shell::plain(bytes).trim().to_owned())
}

/// Returns the text with the last state of each line. A program that shows its progress returns to
/// the start of the line with a carriage return and writes over it.
fn last_states(text: String) -> String {
    if !text.contains('\r') {
        return text;
    }
    let mut last = String::with_capacity(text.len());
    for line in text.split_inclusive('\n') {
        let (line, end) = line.strip_suffix('\n').map_or((line, ""), |line| (line, "\n"));
        let line = line.trim_end_matches('\r');
        last.push_str(line.rsplit_once('\r').map_or(line, |(_, state)| state));
        last.push_str(end);
    }
    last
}

/// Writes the whole output to its file. Returns false if that fails; the model then receives a
/// message that there is no file.
fn keep(file: &Path, text: &str) -> bool {
    Spool::create(file).and_then(|mut spool| spool.write(text.as_bytes())).is_ok()
}

#[cfg(test)]
mod tests {
    use pretty_assertions::assert_eq;

    use super::*;

    #[test]
    fn a_line_keeps_its_last_state() {
        for (printed, kept) in [
            ("plain\ntext\n", "plain\ntext\n"),
            ("one\r\ntwo\r\n", "one\ntwo\n"),
            ("1 %\r50 %\r100 %\ndone", "100 %\ndone"),
            ("1 %\r100 %\r", "100 %"),
            ("\r1 %\r100 %\r\r\n\n", "100 %\n\n"),
        ] {
            assert_eq!(last_states(printed.to_owned()), kept, "{printed:?}");
        }
    }
}
