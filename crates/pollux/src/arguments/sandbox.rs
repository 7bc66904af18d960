//! Arguments of `sandbox`.

use std::ffi::OsString;

use clap::builder::{PossibleValuesParser, TypedValueParser};
use clap::error::ErrorKind;
use clap::{Args, Command, FromArgMatches, Subcommand};
use pollux_protocol::ConfinementLevel;

use super::{Exit, checks, help_of, subcommand};

/// Show and test the confinement of commands by the kernel
#[derive(Debug, Clone, PartialEq, Eq, Args)]
pub(crate) struct SandboxArguments {
    #[command(subcommand)]
    pub(crate) verb: SandboxVerb,
}

/// Action of `sandbox`.
#[derive(Debug, Clone, PartialEq, Eq, Subcommand)]
pub(crate) enum SandboxVerb {
    /// Show the mechanisms of this system and the available levels
    Status {
        /// Print JSON
        #[arg(long)]
        json: bool,
    },
    /// Run a command in the current folder at a level
    Run {
        /// Level of confinement
        #[arg(
            long,
            value_name = "LEVEL",
            value_parser = level(),
            default_value = ConfinementLevel::Protect.as_str()
        )]
        level: ConfinementLevel,
        /// Allow the network at workspace-write
        #[arg(long)]
        network: bool,
        /// Leave .git/config writable
        #[arg(long = "git-config")]
        git_configuration: bool,
        /// The program and its arguments
        #[arg(value_name = "COMMAND", required = true, last = true)]
        command: Vec<OsString>,
    },
}

fn level() -> impl TypedValueParser<Value = ConfinementLevel> {
    let levels = PossibleValuesParser::new(ConfinementLevel::ALL.map(ConfinementLevel::as_str));
    levels.try_map(|name| ConfinementLevel::named(&name).ok_or("unknown level"))
}

/// Returns true if a line begins with `sandbox` and a verb. [`parse`] reads it.
pub(super) fn is_called(words: &[OsString]) -> bool {
    matches!(words, [name, verb, ..] if name == "sandbox" && (verb == "status" || verb == "run"))
}

/// Parses a line without the rules of Gemini CLI, because its words belong to another program: they
/// may look like flags, and need not be Unicode.
///
/// # Errors
/// The exit with help or an error message.
pub(super) fn parse(
    words: &[OsString],
    whole: Command,
    called_as: &str,
) -> Result<subcommand::Subcommand, Exit> {
    // The help requires a `--`; the parser does not.
    let run = |run: Command| {
        run.mut_arg("command", |command| command.last(false).trailing_var_arg(true))
            .args_override_self(true)
    };
    let whole = whole.mut_subcommand("sandbox", |sandbox| sandbox.mut_subcommand("run", run));
    let line = std::iter::once(OsString::from(called_as)).chain(words.iter().cloned());
    let matches = whole.try_get_matches_from(line);
    matches.and_then(|matches| subcommand::Subcommand::from_arg_matches(&matches)).map_err(
        |error| {
            let path = [words[0].to_string_lossy(), words[1].to_string_lossy()];
            let path = [path[0].as_ref(), path[1].as_ref()];
            let message = match error.kind() {
                ErrorKind::DisplayHelp => return Exit::answer(help_of(&path, called_as)),
                ErrorKind::MissingRequiredArgument => {
                    "sandbox run requires a command: sandbox run --level inspect -- ls.".to_owned()
                }
                _ => checks::message(&error),
            };
            subcommand::refusal(&message, &path, called_as)
        },
    )
}

#[cfg(test)]
mod tests {
    use pretty_assertions::assert_eq;

    use super::*;
    use crate::arguments::flags;

    fn words(line: &str) -> Vec<OsString> {
        line.split(' ').map(OsString::from).collect()
    }

    fn read_line(line: &str) -> Result<SandboxVerb, Exit> {
        parse(&words(line), flags::whole("pollux"), "pollux").map(|subcommand| match subcommand {
            subcommand::Subcommand::Sandbox(arguments) => arguments.verb,
            other => panic!("{line}: {other:?}"),
        })
    }

    #[test]
    fn verbs_and_flags() {
        let run = |level, network, command: &[&str]| SandboxVerb::Run {
            level,
            network,
            git_configuration: false,
            command: command.iter().map(OsString::from).collect(),
        };
        let (inspect, protect) = (ConfinementLevel::Inspect, ConfinementLevel::Protect);
        let write = ConfinementLevel::WorkspaceWrite;
        for (line, expected) in [
            ("sandbox status", SandboxVerb::Status { json: false }),
            ("sandbox status --json", SandboxVerb::Status { json: true }),
            ("sandbox run ls -l", run(protect, false, &["ls", "-l"])),
            ("sandbox run ls -- --help", run(protect, false, &["ls", "--", "--help"])),
            ("sandbox run --level inspect -- ls --level", run(inspect, false, &["ls", "--level"])),
            ("sandbox run --network --level=workspace-write id", run(write, true, &["id"])),
            ("sandbox run --level none --level inspect id", run(inspect, false, &["id"])),
        ] {
            assert_eq!(read_line(line), Ok(expected), "{line}");
        }
        for line in ["sandbox", "sandbox the tests", "run status"] {
            assert!(!is_called(&words(line)), "{line}");
        }
        let help = read_line("sandbox run --help").unwrap_err();
        assert!(help.stdout.contains("Usage: pollux sandbox run "), "{help:?}");
    }

    #[test]
    fn wrong_arguments_are_refused() {
        for (line, message) in [
            ("sandbox status now", "Unknown argument: now"),
            ("sandbox run --level", "Not enough arguments following: level"),
            ("sandbox run --level deep ls", "Unknown level deep. The levels are inspect, "),
            ("sandbox run --nope ls", "Unknown argument: --nope"),
            ("sandbox run -z ls", "Unknown argument: -z"),
            ("sandbox run --", "sandbox run requires a command: "),
        ] {
            let error = read_line(line).unwrap_err().stderr;
            assert!(error.starts_with(message), "{line}: {error}");
        }
    }
}
