//! The input of a headless run: what was piped in and what was typed, with what it refers to.

use std::io::IsTerminal;

use pollux_agent::Commands;
use pollux_protocol::{CommandEffect, Part};

use crate::exit::Failure;
use crate::headless::stderr_line;
use crate::setup::Setup;

mod at_path;
mod references;
mod stdin;

pub(crate) use references::Expander;

/// What a run works on.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Input {
    /// The prompt as it was given, piped text first.
    pub(crate) prompt: String,
    /// What the model is sent.
    pub(crate) parts: Vec<Part>,
    /// The prompt, where the model is sent something else.
    pub(crate) display: Option<String>,
}

/// The prompt of a run as it was given: what was piped in, unless standard input is a terminal, and what was
/// typed.
///
/// # Errors
/// No input at all.
pub(crate) async fn prompt(setup: &Setup) -> Result<String, Failure> {
    let typed = setup.arguments.prompt_text().unwrap_or_default();
    // A recorded run of the program's own has its prompt.
    let piped = if setup.replay.is_some() { String::new() } else { piped().await? };
    let prompt = stdin::combine(&piped, &typed);
    if prompt.is_empty() {
        return Err(Failure::no_input(no_input(&crate::called_as())));
    }
    Ok(prompt)
}

impl Input {
    /// Runs the slash command that a prompt is, or expands its `@path`s.
    ///
    /// # Errors
    /// A file that cannot be read; a slash command that fails, or whose result needs a screen.
    pub(crate) async fn prepare(setup: &Setup, prompt: String) -> Result<Self, Failure> {
        let parts = if let Some(parts) = run_command(&prompt, &crate::commands::all()).await? {
            parts
        } else {
            let typed = setup.arguments.prompt_text().as_deref() == Some(prompt.as_str());
            Expander::new(setup, typed).expand(&prompt).await?
        };
        let as_given = matches!(&parts[..], [part] if part.as_text() == Some(&prompt));
        let display = (!as_given).then(|| prompt.clone());
        Ok(Self { prompt, parts, display })
    }
}

/// Gemini CLI's message for a run without a prompt.
fn no_input(called_as: &str) -> String {
    format!(
        "No input provided via stdin. Input can be provided by piping data into {called_as} or using the --prompt option."
    )
}

/// What comes through a pipe or a file.
async fn piped() -> Result<String, Failure> {
    if std::io::stdin().is_terminal() {
        return Ok(String::new());
    }
    let piped = stdin::read(stdin::LIMIT, stdin::WAIT).await;
    let piped = piped
        .map_err(|error| Failure::input(format!("Standard input cannot be read: {error}.")))?;
    if piped.truncated {
        stderr_line(&stdin::truncation_warning(stdin::LIMIT));
    }
    Ok(piped.text)
}

/// Runs the slash command that the prompt calls. Gives what the command sends to the model; none when the prompt calls
/// nothing, or something that has acted and leaves the prompt to the model.
async fn run_command(prompt: &str, commands: &Commands) -> Result<Option<Vec<Part>>, Failure> {
    if prompt.starts_with("//") || prompt.starts_with("/*") {
        return Ok(None);
    }
    let Some((command, rest)) = commands.find(prompt) else {
        return if crate::commands::needs_a_screen(prompt) { Err(unsupported()) } else { Ok(None) };
    };
    match command.run(rest).await {
        Ok(CommandEffect::Submit(parts)) => Ok(Some(parts)),
        // There is no screen to show a message on: as in Gemini CLI, the words themselves go to the model.
        Ok(CommandEffect::Done | CommandEffect::Message(_)) => Ok(None),
        Ok(
            CommandEffect::SubmitIn { .. }
            | CommandEffect::Ops(_)
            | CommandEffect::Compress
            | CommandEffect::Uncompress
            | CommandEffect::Quit,
        ) => Err(unsupported()),
        Err(error) => Err(Failure::general(error.to_string())),
    }
}

/// Gemini CLI's message for a command whose result needs a person.
fn unsupported() -> Failure {
    Failure::input("Exiting due to command result that is not supported in non-interactive mode.")
}
