//! Input of a headless run: the piped and typed text, with the files that it refers to.

#![expect(clippy::disallowed_methods, reason = "finds out whether there is input to read")]

use std::io::IsTerminal;
use std::time::Duration;

use futures::future::BoxFuture;
use pollux_host::commands;
use pollux_protocol::{
    CommandSet, Op, Part, PreparedSession, PromptSource, RunningSession, SessionsError,
};

use crate::exit::Failure;
use crate::stderr::stderr_line;

mod hidden;
mod stdin;

pub(crate) use hidden::secret_of_stdin;
pub(crate) use stdin::{is_terminal as stdin_is_terminal, line as line_of_stdin};

/// Input of a run.
#[derive(Debug, Clone)]
pub(crate) struct Input {
    /// Slash command that the prompt calls.
    pub(crate) command: Option<Op>,
    /// Parts that are sent to the model.
    pub(crate) parts: Vec<Part>,
    /// Prompt as given, if the parts differ from it.
    pub(crate) display: Option<String>,
}

/// Source of piped text.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum StdinMode {
    /// Standard input is not read.
    Ignored,
    /// Standard input is read unless it is a terminal.
    Read {
        /// Time limit for its first byte, if the prompt is complete without it.
        timeout: Option<Duration>,
    },
}

/// Returns the prompt of a run as it was given: the piped text and the `typed` text. `called_as` is
/// for a hint.
///
/// # Errors
/// For a run without input.
pub(crate) async fn prompt(
    typed: &str,
    stdin: StdinMode,
    called_as: &str,
) -> Result<String, Failure> {
    let piped = match stdin {
        StdinMode::Ignored => String::new(),
        // Without a typed prompt the input is the prompt.
        StdinMode::Read { timeout } => piped(timeout.filter(|_| !typed.is_empty())).await?,
    };
    let prompt = stdin::combine(&piped, typed);
    if prompt.is_empty() {
        return Err(Failure::no_input(no_input(called_as)));
    }
    Ok(prompt)
}

impl Input {
    /// Opens a session and finds the slash command that a prompt calls, or expands the `@path`
    /// references of the prompt. The user has `typed` the end of the prompt.
    ///
    /// # Errors
    /// For a session that cannot be opened, a file that cannot be read, and a slash command that
    /// cannot be called.
    pub(crate) async fn open(
        mut session: Box<dyn PreparedSession>,
        typed: &str,
        prompt: String,
    ) -> Result<(Self, Box<dyn RunningSession>), Failure> {
        let source = if typed == prompt {
            PromptSource::Typed
        } else {
            PromptSource::Piped { typed: typed.len() }
        };
        let names_server = session.names_server(&prompt);
        if !may_call_command(&prompt) && !names_server {
            // A file that cannot be read is reported before the session begins.
            let parts = session.expand(prompt.clone(), source).await?;
            session.leave_out_prompt_commands();
            return Ok((Self::of_text(prompt, parts), session.start().await?));
        }
        if commands::needs_a_screen(&prompt) {
            return Err(unsupported());
        }
        let session = session.start().await?;
        let commands = || session.handle().commands().get();
        // A command that is not known may be a prompt of a server.
        if names_server || commands().find(&prompt).is_none() {
            session.ready().await;
        }
        let parts = session.expand(prompt.clone(), source);
        match Self::calling(&commands(), prompt, parts).await {
            Ok(input) => Ok((input, session)),
            Err(failure) => {
                session.close().await;
                Err(failure)
            }
        }
    }

    /// Finds the command that a prompt calls. A prompt that calls none is sent as text.
    async fn calling(
        known: &CommandSet,
        prompt: String,
        parts: BoxFuture<'static, Result<Vec<Part>, SessionsError>>,
    ) -> Result<Self, Failure> {
        let found = known.find(&prompt);
        let command = found.map(|(command, rest)| Op::Command {
            id: uuid::Uuid::new_v4().simple().to_string(),
            name: command.name().to_owned(),
            arguments: rest.to_owned(),
        });
        match found {
            Some((found, _)) if found.is_prompt() => {
                return Ok(Self { command, parts: Vec::new(), display: None });
            }
            Some((found, _)) if found.needs_user() => return Err(unsupported()),
            Some(_) => {}
            None => {
                if let Some(obstacle) = called_name(&prompt).and_then(|name| known.obstacle(name)) {
                    return Err(Failure::input(obstacle));
                }
            }
        }
        Ok(Self { command, ..Self::of_text(prompt, parts.await?) })
    }

    fn of_text(prompt: String, parts: Vec<Part>) -> Self {
        let as_given = matches!(&parts[..], [part] if part.as_text() == Some(&prompt));
        Self { command: None, parts, display: (!as_given).then_some(prompt) }
    }
}

/// Returns Gemini CLI's message for a run without a prompt.
fn no_input(called_as: &str) -> String {
    format!(
        "No input provided via stdin. Input can be provided by piping data into {called_as} or using the --prompt option."
    )
}

/// Returns the text from a pipe or a file; an empty text if no byte arrives within `timeout`.
async fn piped(timeout: Option<Duration>) -> Result<String, Failure> {
    if std::io::stdin().is_terminal() {
        return Ok(String::new());
    }
    let report_wait = || stderr_line(&waiting(timeout));
    let piped = stdin::read(stdin::LIMIT, timeout, report_wait).await;
    let piped =
        piped.map_err(|error| Failure::input(format!("Cannot read standard input: {error}.")))?;
    if piped.truncated {
        stderr_line(&stdin::truncation_warning(stdin::LIMIT));
    }
    if let (true, Some(timeout)) = (piped.timed_out, timeout) {
        let seconds = timeout.as_secs_f64();
        stderr_line(&format!(
            "[WARNING] No data arrived on standard input within {seconds} s. Continuing without it. Use --no-stdin if nothing is piped, or raise pollux.stdinTimeout."
        ));
    }
    Ok(piped.text)
}

/// Returns the notice for a standard input that is open and silent.
fn waiting(timeout: Option<Duration>) -> String {
    match timeout {
        Some(timeout) => format!(
            "Waiting for standard input, at most {} s (--no-stdin skips it).",
            timeout.as_secs_f64()
        ),
        None => "Waiting for the prompt on standard input.".to_owned(),
    }
}

/// True for a prompt that calls a command if there is one of this name.
fn may_call_command(prompt: &str) -> bool {
    prompt.starts_with('/') && !prompt.starts_with("//") && !prompt.starts_with("/*")
}

/// Returns the first word of a prompt without its slash.
fn called_name(prompt: &str) -> Option<&str> {
    prompt.strip_prefix('/')?.split_whitespace().next()
}

/// Returns Gemini CLI's message for a command whose result needs a user at the terminal.
fn unsupported() -> Failure {
    Failure::input("Exiting due to command result that is not supported in non-interactive mode.")
}
