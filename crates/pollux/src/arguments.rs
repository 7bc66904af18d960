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

mod checks;
mod config;
mod flags;
mod generate;
mod hooks;
mod later;
mod line;
mod man;
mod options;
mod sandbox;
mod subcommand;
#[cfg(test)]
mod tests;

pub(crate) use checks::budget_flag;
pub(crate) use clap_complete::Shell;
pub(crate) use config::{ConfigArguments, ConfigVerb};
pub(crate) use flags::{
    Arguments, DemoArguments, OutputFormat, PolicyArguments, PolicyVerb, PromptArguments,
    RuleArguments, TrustArguments,
};
pub(crate) use generate::completions;
pub(crate) use hooks::{HooksArguments, HooksVerb};
pub(crate) use man::man;
pub(crate) use sandbox::SandboxArguments;

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
    /// `demo`.
    Demo(DemoArguments),
    /// `config VERB`.
    Config(ConfigArguments),
    /// `policy`.
    Policy(PolicyArguments),
    /// `prompt show`.
    Prompt(PromptArguments),
    /// `hooks VERB`.
    Hooks(HooksArguments),
    /// `sandbox VERB`.
    Sandbox(SandboxArguments),
    /// `trust`.
    Trust(TrustArguments),
    /// `completions SHELL`.
    Completions(Shell),
    /// `man`.
    Man,
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
    if let Some(found) = sandbox::read(&words) {
        return match found {
            Ok(Some(arguments)) => Ok(Invocation::Sandbox(arguments)),
            Ok(None) => Err(Exit::answer(help_of(&sandbox::words(&words), called_as))),
            Err(message) => {
                let help = help_of(&sandbox::words(&words), called_as);
                Err(Exit::refusal(format!("{message}\n{help}")))
            }
        };
    }
    let words = words.into_iter().map(|word| word.to_string_lossy().into_owned()).collect();
    let table = Table::of([
        flags::main(called_as),
        flags::demo(),
        config::flags(),
        flags::policy_flags(),
        flags::prompt_flags(),
        flags::trust(),
        later::reserved_flags(),
    ]);
    let line = Line::read(&table, words, later::GROUPS);
    let refuse = |message: String| {
        let help = flags::whole(called_as).render_help();
        Exit::refusal(format!("{message}\n{help}"))
    };
    match line.asked {
        Some(Asked::Version) => return Err(Exit::answer(format!("{}\n", version()))),
        Some(Asked::Help) => return Err(Exit::answer(help(&line, called_as))),
        None => {}
    }
    if let Some(flag) = &line.missing_value {
        return Err(refuse(format!("Not enough arguments following: {flag}")));
    }
    if let Some((group, rest)) = &line.group {
        checks::only_global(&line).map_err(refuse)?;
        if hooks::is_called(group) {
            return hooks_invocation(group, rest, called_as);
        }
        return Err(Exit::refusal(later::group(group, rest).map_err(refuse)?));
    }
    if let Some(invocation) = subcommand::parse(&line, called_as)? {
        return Ok(invocation);
    }
    checks::main_command(&line, &flags::main(called_as)).map_err(refuse)?;
    if let Some(message) = later::flag_in(&line) {
        return Err(Exit::refusal(message));
    }
    let arguments = line
        .matches(flags::main(called_as))
        .and_then(|matches| Arguments::from_arg_matches(&matches))
        .map_err(|error| refuse(error.to_string()))?;
    let arguments = Arguments {
        sandbox: line.switch(later::SANDBOX),
        screen_reader: line.switch(later::SCREEN_READER),
        ..arguments
    };
    Ok(Invocation::Run(Box::new(arguments.tidy())))
}

/// Returns the invocation of `hooks` with the words after its name.
fn hooks_invocation(group: &str, rest: &[String], called_as: &str) -> Result<Invocation, Exit> {
    if rest.iter().any(|word| word == "--help" || word == "-h") {
        let words: Vec<&str> =
            std::iter::once(group).chain(rest.iter().map(String::as_str)).collect();
        return Err(Exit::answer(help_of(&words, called_as)));
    }
    let usage = |message: String| format!("{message}\n{}", help_of(&[group], called_as));
    hooks::read(rest).map(Invocation::Hooks).map_err(|message| Exit::refusal(usage(message)))
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

/// Returns the help of the subcommand on the line, otherwise of the program.
fn help(line: &Line<'_>, called_as: &str) -> String {
    help_of(&line.command_words().unwrap_or_default().iter().collect::<Vec<_>>(), called_as)
}

/// Returns the help of the subcommand that the words begin with.
fn help_of<W: AsRef<str>>(words: &[W], called_as: &str) -> String {
    let mut whole = flags::whole(called_as);
    // `build` gives subcommands their full name in the usage.
    whole.build();
    for word in words {
        let Some(subcommand) = whole.find_subcommand(word.as_ref()) else { break };
        whole = subcommand.clone();
    }
    whole.render_help().to_string()
}
