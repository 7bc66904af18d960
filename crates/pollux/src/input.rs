//! Input of a headless run: the piped and typed text, with the files that it refers to.

#![expect(clippy::disallowed_methods, reason = "finds out whether there is input to read")]

use std::io::IsTerminal;
use std::time::Duration;

use pollux_host::commands;
use pollux_protocol::{CommandSet, Op, Part, PreparedSession, PromptSource};

use crate::exit::Failure;
use crate::stderr::stderr_line;

mod stdin;

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
    /// Finds the slash command that a prompt calls, and expands its `@path` references. The user
    /// has `typed` the end of the prompt.
    ///
    /// # Errors
    /// For a file that cannot be read, and for a slash command that needs a user at the terminal.
    pub(crate) async fn prepare(
        session: &dyn PreparedSession,
        called_as: &str,
        typed: &str,
        prompt: String,
    ) -> Result<Self, Failure> {
        let command = called(&prompt, &commands::headless(called_as))?;
        let source = if typed == prompt {
            PromptSource::Typed
        } else {
            PromptSource::Piped { typed: typed.len() }
        };
        let parts = session.expand(prompt.clone(), source).await?;
        let as_given = matches!(&parts[..], [part] if part.as_text() == Some(&prompt));
        let display = (!as_given).then_some(prompt);
        Ok(Self { command, parts, display })
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

/// Returns the operation that runs the command which the prompt calls; `None` if it calls no
/// command.
///
/// # Errors
/// For a command that needs a user at the terminal.
fn called(prompt: &str, known: &CommandSet) -> Result<Option<Op>, Failure> {
    if prompt.starts_with("//") || prompt.starts_with("/*") {
        return Ok(None);
    }
    match known.find(prompt) {
        Some((command, _)) if command.needs_user() => Err(unsupported()),
        Some((command, rest)) => Ok(Some(Op::Command {
            id: uuid::Uuid::new_v4().simple().to_string(),
            name: command.name().to_owned(),
            arguments: rest.to_owned(),
        })),
        None if commands::needs_a_screen(prompt) => Err(unsupported()),
        None => Ok(None),
    }
}

/// Returns Gemini CLI's message for a command whose result needs a user at the terminal.
fn unsupported() -> Failure {
    Failure::input("Exiting due to command result that is not supported in non-interactive mode.")
}
