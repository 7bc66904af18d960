//! `read_background_output`: the end of the output of a background process.

use std::borrow::Cow;
use std::sync::Arc;
use std::time::Duration;

use async_trait::async_trait;
use pollux_fs::HEAD_BYTES;
use pollux_protocol::plain_text::with_visible_nuls;
use pollux_protocol::{
    Args, Declaration, Effects, Invocation, RunContext, Tool, ToolError, ToolErrorKind, ToolKind,
    ToolOutput,
};
use pollux_shell::{BINARY_NOTICE, BackgroundProcess};
use serde::Deserialize;
use serde_json::json;

use crate::blocking::{blocking, cancelled};
use crate::context::{ToolContext, failed};
use crate::validation::Schema;

/// Name of the tool for models and policies.
const NAME: &str = "read_background_output";
/// Number of bytes that are read from the end of a log.
const READ_BYTES: usize = 64 * 1024;
/// Number of lines that are shown by default.
const DEFAULT_LINES: usize = 100;
/// Maximum delay before reading.
const LONGEST_DELAY: Duration = Duration::from_hours(24);

/// The tool `read_background_output`.
pub(crate) struct ReadBackgroundOutputTool {
    context: Arc<ToolContext>,
    schema: Schema,
}

impl ReadBackgroundOutputTool {
    /// Creates the tool for a session.
    pub(crate) fn new(context: Arc<ToolContext>) -> Self {
        let schema = Schema::new(json!({
            "type": "object",
            "properties": {
                "pid": {
                    "type": "integer",
                    "description": "The PID of the background process."
                },
                "lines": {
                    "type": "integer",
                    "minimum": 1,
                    "description": "Number of lines from the end of the output. Default: 100."
                },
                "delay_ms": {
                    "type": "integer",
                    "description": "Milliseconds to wait before reading. Default: 0."
                },
                "wait_for_previous": {
                    "type": "boolean",
                    "description": "Wait until all earlier calls of this turn are finished. Default: false."
                }
            },
            "required": ["pid"]
        }));
        Self { context, schema }
    }
}

#[derive(Deserialize)]
struct Params {
    pid: i64,
    #[serde(default)]
    lines: Option<u64>,
    #[serde(default)]
    delay_ms: Option<i64>,
}

impl Tool for ReadBackgroundOutputTool {
    fn name(&self) -> &'static str {
        NAME
    }

    fn display_name(&self) -> &'static str {
        "Read Background Output"
    }

    fn kind(&self) -> ToolKind {
        ToolKind::Read
    }

    fn declaration(&self) -> Declaration {
        Declaration {
            name: NAME.to_owned(),
            description: "Returns the last lines of the output of a background process of this session: \
                          standard output and error together, without terminal escape sequences, at \
                          most the last 64 KiB. Also works after the process has ended. To wait for \
                          more output first, set delay_ms."
                .to_owned(),
            parameters: self.schema.document().clone(),
        }
    }

    fn prepare(&self, args: &Args) -> Result<Box<dyn Invocation>, ToolError> {
        let params: Params = self.schema.read(args)?;
        Ok(Box::new(ReadBackgroundOutput { context: Arc::clone(&self.context), params }))
    }
}

struct ReadBackgroundOutput {
    context: Arc<ToolContext>,
    params: Params,
}

#[async_trait]
impl Invocation for ReadBackgroundOutput {
    fn effects(&self) -> Effects {
        Effects::default()
    }

    fn describe(&self) -> String {
        format!("Reads what background process {} has printed", self.params.pid)
    }

    async fn run(&self, run: RunContext) -> ToolOutput {
        let delay = self.params.delay_ms.and_then(|delay| u64::try_from(delay).ok());
        let delay = Duration::from_millis(delay.unwrap_or(0)).min(LONGEST_DELAY);
        if run.cancel.run_until_cancelled(tokio::time::sleep(delay)).await.is_none() {
            return cancelled().into();
        }
        let Some(process) = find(&self.context, self.params.pid) else {
            return not_found(self.params.pid);
        };
        let lines = self.params.lines.and_then(|lines| usize::try_from(lines).ok());
        let lines = lines.unwrap_or(DEFAULT_LINES);
        let read = blocking(&run.cancel, move |_| read(&process, lines)).await;
        read.unwrap_or_else(ToolOutput::from)
    }
}

/// Returns the process of this session with this id.
pub(crate) fn find(context: &ToolContext, pid: i64) -> Option<Arc<BackgroundProcess>> {
    context.background.find(u32::try_from(pid).ok()?)
}

/// Returns the error for an id that is no process of this session.
pub(crate) fn not_found(pid: i64) -> ToolOutput {
    let message = format!("Background process history lookup failed for PID {pid}");
    failed(ToolError::new(ToolErrorKind::ExecutionFailed, message), "Access denied.")
}

fn read(process: &BackgroundProcess, lines: usize) -> Result<ToolOutput, ToolError> {
    let failure = |reason: String| ToolError::new(ToolErrorKind::ExecutionFailed, reason);
    let bytes = process.read_log(READ_BYTES + 1).map_err(|error| match error {
        pollux_fs::Error::IsLink { .. } => failure(format!(
            "Access denied: the log of background process {} was replaced by a symbolic link.",
            process.id()
        )),
        error => match process.log_failure() {
            Some(reason) => failure(format!("The output could not be saved: {reason}")),
            None => failure(format!("Error reading background log: {error}")),
        },
    })?;
    let cut = process.log_failure().map(|reason| format!("\n[The log ends here: {reason}]"));
    Ok(ToolOutput::text(shown(&bytes, lines) + &cut.unwrap_or_default()))
}

/// Returns the last lines of a log from its last bytes. `bytes` has one byte more than is shown if
/// the log is longer.
fn shown(bytes: &[u8], lines: usize) -> String {
    if bytes.is_empty() {
        return "Log is empty.".to_owned();
    }
    let text = match bytes.len().checked_sub(READ_BYTES).filter(|surplus| *surplus > 0) {
        None => String::from_utf8_lossy(bytes),
        // The first line is incomplete.
        Some(surplus) => {
            let rest = &bytes[surplus..];
            let line_end = rest.iter().position(|byte| *byte == b'\n');
            String::from_utf8_lossy(line_end.map_or(rest, |at| &rest[at + 1..]))
        }
    };
    let is_binary = pollux_fs::is_binary(&text.as_bytes()[..text.len().min(HEAD_BYTES)]);
    let text = if is_binary { Cow::Borrowed(BINARY_NOTICE) } else { with_visible_nuls(text) };
    let total = text.split('\n').count();
    if total <= lines {
        return format!("Full Log Output:\n{text}");
    }
    let last: Vec<&str> = text.split('\n').skip(total - lines).collect();
    format!("Showing last {lines} of {total} lines:\n{}", last.join("\n"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_last_lines_are_shown() {
        let table: [(&str, usize, &str); 7] = [
            ("", 100, "Log is empty."),
            ("a\n\nb", 100, "Full Log Output:\na\n\nb"),
            ("1\n2\n3\n", 4, "Full Log Output:\n1\n2\n3\n"),
            ("1\n2\n3\n", 2, "Showing last 2 of 4 lines:\n3\n"),
            ("a\n\nb", 1, "Showing last 1 of 3 lines:\nb"),
            ("a.rs\0b.rs\0", 1, "Full Log Output:\na.rs\u{2400}b.rs\u{2400}"),
            ("a\0\0\0\0b", 1, "Full Log Output:\n[Binary output detected. Halting stream...]"),
        ];
        for (log, lines, expected) in table {
            assert_eq!(shown(log.as_bytes(), lines), expected);
        }
    }

    #[test]
    fn a_long_log_begins_with_a_whole_line() {
        let log: Vec<u8> = std::iter::repeat_n(*b"123456\n", 20_000).flatten().collect();
        let last = &log[log.len() - READ_BYTES - 1..];
        let text = shown(last, usize::MAX);
        assert!(text.starts_with("Full Log Output:\n123456\n"), "{}", &text[..40]);
        assert!(text.len() > READ_BYTES - 10);
        let one_line = vec![b'x'; READ_BYTES + 1];
        assert_eq!(shown(&one_line, 1).len(), READ_BYTES + "Full Log Output:\n".len());
    }
}
