//! `/shell`, or `!`: a command line that the user runs.

use std::ffi::OsString;
use std::path::PathBuf;

use async_trait::async_trait;
use pollux_models::catalog::credential_variables;
use pollux_protocol::{Command, CommandContext, CommandError, CommandReport, Op};
use pollux_shell::{
    ChildSpec, Ended, OutputChunk, OutputLimits, Program, ShellCommand, ShellOutcome,
};

use crate::setup::Setup;

/// Bytes of output that the model receives.
const LIMITS: OutputLimits = OutputLimits { head: 8 << 10, tail: 24 << 10 };
/// Maximum number of bytes of output that are shown.
const SHOWN_BYTES: usize = 1 << 20;

/// `/shell`. The command runs without confinement, in the folder of the project. Its output is
/// shown, and sent to the model with the next prompt.
pub(super) struct UserShell {
    folder: PathBuf,
    environment: Vec<(OsString, OsString)>,
}

impl UserShell {
    pub(super) fn new(setup: &Setup) -> Self {
        let names = credential_variables();
        let names: Vec<&str> = names.iter().map(String::as_str).collect();
        let environment = setup.loaded.environment.for_children();
        let environment = pollux_shell::child_environment(environment, &names, None);
        Self { folder: setup.input.request.folder.clone(), environment }
    }
}

#[async_trait]
impl Command for UserShell {
    fn name(&self) -> &'static str {
        "shell"
    }

    fn description(&self) -> &'static str {
        "run a command line yourself (!COMMAND); the model sees it"
    }

    fn arguments(&self) -> Option<&str> {
        Some("COMMAND")
    }

    fn needs_user(&self) -> bool {
        true
    }

    async fn run(&self, context: CommandContext) -> Result<Option<Op>, CommandError> {
        let line = context.arguments.clone();
        if line.is_empty() || line.contains('\0') {
            return Err(CommandError("Usage: !COMMAND".to_owned()));
        }
        let program = Program::CommandLine(line.clone());
        let child = ChildSpec::new(program, &self.folder, self.environment.clone());
        let command = ShellCommand { limits: LIMITS, ..ShellCommand::new(child) };
        let (cancel, output) = (context.cancel.clone(), context.output.clone());
        // After a cancel nothing waits for the command, so it needs its own task to end.
        let running = tokio::spawn(async move {
            let mut lines = ShownLines::default();
            let ended = pollux_shell::run(command, cancel, |chunk| {
                if let OutputChunk::Text(text) = chunk
                    && let Some(whole) = lines.take(text)
                {
                    output(whole);
                }
            });
            let ended = ended.await;
            if !lines.partial.is_empty() {
                output(lines.partial);
            }
            ended
        });
        let outcome = running.await.map_err(|error| CommandError(error.to_string()))?;
        let outcome = outcome.map_err(|error| CommandError(error.to_string()))?;
        let end = end(&outcome);
        let text = format!("$ {line}\n{}\n[{end}]", outcome.text().trim_end());
        context.send(Op::Report(CommandReport::UserCommand(text)));
        match outcome.exit_code {
            Some(0) => Ok(None),
            _ => Err(CommandError(format!("The command ended: {end}."))),
        }
    }
}

/// Describes the end of a command: `exit code 1`.
fn end(outcome: &ShellOutcome) -> String {
    match (outcome.ended, outcome.exit_code, outcome.signal) {
        (Ended::Exited, Some(code), _) => format!("exit code {code}"),
        (Ended::Exited, None, Some(signal)) => format!("signal {signal}"),
        _ => "cancelled by the user".to_owned(),
    }
}

/// Output as lines for the user.
#[derive(Default)]
struct ShownLines {
    /// Incomplete last line.
    partial: String,
    shown: usize,
}

impl ShownLines {
    /// Takes output and returns the whole lines in it, if there are any. After the maximum size
    /// only one line about the rest is returned.
    fn take(&mut self, text: &str) -> Option<String> {
        if self.shown > SHOWN_BYTES {
            return None;
        }
        self.shown += text.len();
        self.partial.push_str(text);
        if self.shown > SHOWN_BYTES {
            self.partial.clear();
            return Some("[The rest of the output is not shown.]".to_owned());
        }
        let end = self.partial.rfind('\n')?;
        let rest = self.partial.split_off(end + 1);
        let mut whole = std::mem::replace(&mut self.partial, rest);
        whole.pop();
        Some(whole)
    }
}

#[cfg(test)]
mod tests {
    use pretty_assertions::assert_eq;

    use super::*;

    #[test]
    fn output_is_shown_in_whole_lines_and_bounded() {
        let mut lines = ShownLines::default();
        assert_eq!(lines.take("a"), None);
        assert_eq!(lines.take("b\n\nc\nd").as_deref(), Some("ab\n\nc"));
        assert_eq!(lines.partial, "d");
        let flood = "x\n".repeat(SHOWN_BYTES);
        assert_eq!(lines.take(&flood).as_deref(), Some("[The rest of the output is not shown.]"));
        assert_eq!((lines.take("y\n"), lines.partial.as_str()), (None, ""));
    }
}
