//! What a command's end is told as.

use std::path::{Path, PathBuf};
use std::time::Duration;

use pollux_fs::Spool;
use pollux_protocol::{Display, Measurement, ToolOutput};
use pollux_shell::{Ended, Outcome, strip_ansi};

use crate::truncation::{truncate, truncate_ends};
use crate::untrusted;

/// What the report needs to know beside the outcome.
pub(super) struct Report {
    /// Output of more characters is cut; 0 for never.
    pub(super) threshold: usize,
    /// The time that a command may take.
    pub(super) timeout: Option<Duration>,
    /// The time that a command may be silent.
    pub(super) inactivity: Option<Duration>,
    /// The file for output that is cut.
    pub(super) file: PathBuf,
    /// The tool and the prompt, for the figures.
    pub(super) tool: &'static str,
    pub(super) prompt_id: String,
}

/// The output as it is told.
struct Shown {
    text: String,
    /// The file that has the whole of it.
    file: Option<PathBuf>,
    is_cut: bool,
}

impl Report {
    /// The result for model and person. Writes the file when the output is cut.
    pub(super) fn output(&self, outcome: &Outcome) -> ToolOutput {
        let Shown { text, file, is_cut } = self.cut(outcome);
        let measured = is_cut.then(|| self.measure_cut(outcome, &text));
        let told = match self.reason(outcome.ended) {
            None => untrusted::wrap(&ended(outcome, &text)),
            Some(reason) if text.is_empty() => {
                format!("{reason} There was no output before it was cancelled.")
            }
            Some(reason) => {
                let quoted = untrusted::wrap(&text);
                format!("{reason} Below is the output before it was cancelled:\n{quoted}")
            }
        };
        let display = if text.is_empty() { silent(outcome) } else { text };
        let mut output = ToolOutput::quiet(told).display(Display::Text(display));
        output.output_file = file;
        output.measurements.extend(measured);
        output
    }

    /// The figure for output that was cut.
    fn measure_cut(&self, outcome: &Outcome, shown: &str) -> Measurement {
        Measurement::ToolOutputTruncated {
            tool: self.tool.to_owned(),
            prompt_id: self.prompt_id.clone(),
            original: outcome.bytes,
            truncated: shown.len() as u64,
            threshold: self.threshold as u64,
        }
    }

    /// The text of the output, cut if need be, and the file that has the whole of it.
    fn cut(&self, outcome: &Outcome) -> Shown {
        let spilled = outcome.spilled.as_ref().filter(|spilled| spilled.failure.is_none());
        let file = spilled.map(|spilled| spilled.path.clone());
        let missing = outcome.output.omitted();
        if outcome.binary || self.threshold == 0 {
            return Shown { text: outcome.text(), file, is_cut: false };
        }
        if missing > 0 {
            let (first, second) = outcome.output.tail();
            let (start, end) = (plain(outcome.output.head()), plain(&[first, second].concat()));
            let text = truncate_ends(&start, &end, missing, self.threshold, file.as_deref());
            return Shown { text, file, is_cut: true };
        }
        let text = outcome.text();
        if text.len() <= self.threshold || text.chars().count() <= self.threshold {
            return Shown { text, file, is_cut: false };
        }
        let file = file.or_else(|| keep(&self.file, &text).then(|| self.file.clone()));
        let text = truncate(&text, self.threshold, file.as_deref()).unwrap_or(text);
        Shown { text, file, is_cut: true }
    }

    /// Why the command did not end by itself.
    fn reason(&self, ended: Ended) -> Option<String> {
        let minutes = |limit: Option<Duration>| limit.unwrap_or_default().as_secs_f64() / 60.0;
        Some(match ended {
            Ended::Exited => return None,
            Ended::Cancelled => {
                "Command was cancelled by user before it could complete.".to_owned()
            }
            Ended::Inactive => format!(
                "Command was automatically cancelled because it exceeded the timeout of {:.1} minutes without output.",
                minutes(self.inactivity)
            ),
            Ended::TimedOut => format!(
                "Command was automatically cancelled because it exceeded the total time limit of {:.1} minutes.",
                minutes(self.timeout)
            ),
        })
    }
}

/// One line for each thing worth saying.
fn ended(outcome: &Outcome, text: &str) -> String {
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

/// What a person is shown of a command that printed nothing.
fn silent(outcome: &Outcome) -> String {
    match (outcome.ended, outcome.signal, outcome.exit_code) {
        (Ended::Cancelled, ..) => "Command was cancelled by user.".to_owned(),
        (Ended::Inactive | Ended::TimedOut, ..) => "Command timed out.".to_owned(),
        (Ended::Exited, Some(signal), _) => format!("Command terminated by signal: {signal}"),
        (Ended::Exited, None, Some(code)) if code != 0 => {
            format!("Command exited with code: {code}")
        }
        (Ended::Exited, None, _) => String::new(),
    }
}

/// Text without escape sequences.
fn plain(bytes: &[u8]) -> String {
    strip_ansi(String::from_utf8_lossy(bytes).trim()).into_owned()
}

/// Keeps the whole output in its file. Without it the model is told that there is none.
fn keep(file: &Path, text: &str) -> bool {
    Spool::create(file).and_then(|mut spool| spool.write(text.as_bytes())).is_ok()
}
