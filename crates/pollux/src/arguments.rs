//! Command line of the program.
//!
//! Gemini CLI reads its command line with yargs, and scripts rely on its habits: camelCase twins,
//! `--flag=false`, lists split at commas, the last of repeated values. [`line`] reads that dialect;
//! [`flags`] declares the flags once, for parsing, help, completions and the man page; [`later`]
//! holds flags and subcommands of Gemini CLI that this version does not have. All functions are
//! pure: they turn arguments into an [`Invocation`], or into an [`Exit`] with its text.

use std::ffi::OsString;

use clap::FromArgMatches;
use pollux_config::Environment;

mod auth;
mod checks;
mod completions;
mod config;
mod demo;
mod doctor;
mod extensions;
mod flags;
mod foreign;
mod hooks;
mod later;
mod line;
mod man;
mod mcp;
mod models;
mod options;
mod policy;
mod prompt;
mod sandbox;
mod skills;
mod subcommand;
#[cfg(test)]
mod tests;
mod trust;

pub(crate) use auth::{AuthArguments, AuthVerb};
pub(crate) use checks::budget_flag;
pub(crate) use completions::completions;
pub(crate) use config::{ConfigArguments, ConfigVerb};
pub(crate) use demo::DemoArguments;
pub(crate) use doctor::DoctorArguments;
pub(crate) use extensions::{
    EnablementArguments, ExtensionsArguments, ExtensionsVerb, InstallArguments,
};
pub(crate) use flags::{Arguments, OutputFormat, RuleArguments};
pub(crate) use hooks::{HooksArguments, HooksVerb};
pub(crate) use man::man;
pub(crate) use mcp::{AddArguments, McpArguments, McpVerb, Pair, ServeArguments, SwitchArguments};
pub(crate) use models::{ModelsArguments, ModelsVerb};
pub(crate) use policy::{PolicyArguments, PolicyVerb, command_line};
pub(crate) use prompt::{PromptArguments, PromptVerb};
pub(crate) use sandbox::{SandboxArguments, SandboxVerb};
pub(crate) use skills::{SkillsArguments, SkillsVerb, scope_name};
pub(crate) use subcommand::Subcommand;
pub(crate) use trust::TrustArguments;

use line::{Asked, Line, Table};

/// Immediate end of the program with a text.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Exit {
    /// Exit code: 0 for help and version, 1 for a command line that cannot be used, 42 for one that
    /// is neither a subcommand nor a prompt.
    pub(crate) code: u8,
    /// Text for standard output, including line ends.
    pub(crate) stdout: String,
    /// Text for standard error, including line ends.
    pub(crate) stderr: String,
}

impl Exit {
    fn answer(stdout: String) -> Self {
        Self { code: 0, stdout, stderr: String::new() }
    }

    fn refusal(stderr: String) -> Self {
        Self { code: 1, stdout: String::new(), stderr }
    }
}

/// Requested action.
#[derive(Debug)]
pub(crate) enum Invocation {
    /// A prompt, or a flag of the main command that needs no prompt (`--list-sessions`).
    Run(Box<Arguments>),
    /// A subcommand.
    Subcommand(Subcommand),
}

/// Parses the command line. `argv` begins with the program's path; the usage shows the program as
/// `called_as`. Words that are not Unicode are read with replacement characters, as Node.js does.
///
/// # Errors
/// [`Exit`] with code 0 for `--help` and `--version`; with code 1, Gemini CLI's message and the
/// usage for an invalid line; with code 1 and a message for features of Gemini CLI, or planned
/// features of Pollux, that this version does not have; with code 42 for a line whose first word is
/// a subcommand but that is neither this subcommand nor a prompt.
pub(crate) fn parse(
    argv: impl IntoIterator<Item = OsString>,
    called_as: &str,
) -> Result<Invocation, Exit> {
    let words: Vec<OsString> = argv.into_iter().skip(1).collect();
    let whole = flags::whole(called_as);
    if sandbox::is_called(&words) {
        return sandbox::parse(&words, whole, called_as).map(Invocation::Subcommand);
    }
    let words = words.into_iter().map(|word| word.to_string_lossy().into_owned()).collect();
    let table = Table::of(flags::of_line(&whole));
    let mut line = Line::read(&table, words, later::GROUPS);
    let refuse = |message: String| subcommand::refusal(&message, &[], called_as);
    match line.asked {
        Some(Asked::Version) => return Err(Exit::answer(format!("{}\n", version()))),
        Some(Asked::Help) => return Err(Exit::answer(help_of(&line.command_words(), called_as))),
        None => {}
    }
    checks::no_missing_value(&line).map_err(refuse)?;
    if let Some((group, rest)) = line.group.take() {
        checks::only_global(&line, &whole).map_err(refuse)?;
        if whole.find_subcommand(&group).is_some() {
            let subcommand = subcommand::parse_group(&group, rest, whole, called_as);
            return subcommand.map(Invocation::Subcommand);
        }
        return Err(Exit::refusal(later::group(&group, &rest).map_err(refuse)?));
    }
    if let Some(words) = subcommand::words(&line, &whole, called_as)? {
        return subcommand::parse(&line, &words, whole, called_as).map(Invocation::Subcommand);
    }
    checks::main_command(&line, &whole).map_err(refuse)?;
    if let Some(message) = later::flag_in(&line) {
        return Err(Exit::refusal(message));
    }
    let arguments = line
        .matches(whole, &[], &line.words())
        .and_then(|matches| Arguments::from_arg_matches(&matches))
        .map_err(|error| refuse(error.to_string()))?;
    let arguments = Arguments {
        sandbox: line.switch(later::SANDBOX),
        screen_reader: line.switch(later::SCREEN_READER),
        ..arguments
    };
    Ok(Invocation::Run(Box::new(arguments.tidy())))
}

/// Returns the version number.
pub(crate) fn version() -> &'static str {
    env!("CARGO_PKG_VERSION")
}

/// Returns true if this run is headless by the rules of Gemini CLI: on a CI machine, with a pipe on
/// either side, or with `--prompt`. A positional prompt at a terminal is interactive.
pub(crate) fn is_headless(
    arguments: &Arguments,
    stdin_is_terminal: bool,
    stdout_is_terminal: bool,
    environment: &Environment,
) -> bool {
    let automated = environment.is_true("CI") || environment.is_true("GITHUB_ACTIONS");
    automated && !environment.is_true("GEMINI_CLI_INTEGRATION_TEST")
        || !stdin_is_terminal
        || !stdout_is_terminal
        || arguments.prompt.is_some()
        || arguments.is_command
}

/// Returns the help of the subcommand that the words begin with, otherwise of the program.
pub(crate) fn help_of<W: AsRef<str>>(words: &[W], called_as: &str) -> String {
    let mut whole = flags::whole(called_as);
    // `build` gives subcommands their full name in the usage.
    whole.build();
    let words: Vec<&str> = words.iter().map(AsRef::as_ref).collect();
    flags::descend(&whole, &words).0.clone().render_help().to_string()
}
