//! Arguments of `sandbox`.

use std::ffi::{OsStr, OsString};

use clap::{Arg, ArgAction, Command};
use pollux_protocol::ConfinementLevel;

/// Name of the subcommand.
const NAME: &str = "sandbox";
const STATUS: &str = "status";
const RUN: &str = "run";

/// Action of `sandbox`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum SandboxArguments {
    /// Shows the available mechanisms and levels.
    Status {
        /// True for JSON on standard output.
        json: bool,
    },
    /// Runs a command.
    Run {
        level: ConfinementLevel,
        /// True to allow the network at `workspace-write`.
        network: bool,
        /// True if `.git/config` is writable.
        git_configuration: bool,
        /// Program and its arguments; never empty.
        command: Vec<OsString>,
    },
}

/// Returns the leading words that name the subcommand, for its help.
pub(super) fn words(words: &[OsString]) -> Vec<String> {
    words.iter().take(2).map(|word| word.to_string_lossy().into_owned()).collect()
}

/// Parses a command line that begins with `sandbox VERB`; returns `None` for any other line, which
/// may be a prompt. An inner `None` is a request for help.
pub(super) fn read(words: &[OsString]) -> Option<Result<Option<SandboxArguments>, String>> {
    let [name, verb, rest @ ..] = words else { return None };
    if name != NAME {
        return None;
    }
    let is_help = |word: &OsStr| word == "--help" || word == "-h";
    match verb.to_str()? {
        STATUS => Some(status(rest, is_help)),
        RUN => Some(run(rest, is_help)),
        "--help" | "-h" if rest.is_empty() => Some(Ok(None)),
        _ => None,
    }
}

fn status(
    rest: &[OsString],
    is_help: impl Fn(&OsStr) -> bool,
) -> Result<Option<SandboxArguments>, String> {
    let mut json = false;
    for word in rest {
        match word.to_str() {
            Some("--json") => json = true,
            _ if is_help(word) => return Ok(None),
            _ => return Err(format!("Unknown argument: {}", word.to_string_lossy())),
        }
    }
    Ok(Some(SandboxArguments::Status { json }))
}

fn run(
    rest: &[OsString],
    is_help: impl Fn(&OsStr) -> bool,
) -> Result<Option<SandboxArguments>, String> {
    let (mut level, mut network, mut git_configuration) = (ConfinementLevel::Protect, false, false);
    let mut rest = rest.iter();
    let command: Vec<OsString> = loop {
        let Some(word) = rest.next() else { break Vec::new() };
        match word.to_str() {
            Some("--") => break rest.cloned().collect(),
            Some("--network") => network = true,
            Some("--git-config") => git_configuration = true,
            Some("--level") => {
                let given = rest.next().ok_or("Not enough arguments following: level")?;
                level = level_of(&given.to_string_lossy())?;
            }
            Some(text) if text.starts_with("--level=") => {
                level = level_of(&text["--level=".len()..])?;
            }
            _ if is_help(word) => return Ok(None),
            Some(text) if text.starts_with('-') => return Err(format!("Unknown argument: {text}")),
            _ => break std::iter::once(word).chain(rest).cloned().collect(),
        }
    };
    if command.is_empty() {
        return Err("sandbox run requires a command: sandbox run --level inspect -- ls.".to_owned());
    }
    Ok(Some(SandboxArguments::Run { level, network, git_configuration, command }))
}

fn level_of(name: &str) -> Result<ConfinementLevel, String> {
    ConfinementLevel::named(name).ok_or_else(|| {
        let names = ConfinementLevel::ALL.map(ConfinementLevel::as_str).join(", ");
        format!("Unknown level {name}. The levels are {names}.")
    })
}

/// Returns the subcommand, for help, completions and the man page.
pub(super) fn command(help_flag: &dyn Fn() -> Arg) -> Command {
    let switch = |name: &'static str, help: &'static str| {
        Arg::new(name).long(name).action(ArgAction::SetTrue).help(help)
    };
    let levels = ConfinementLevel::ALL.map(ConfinementLevel::as_str);
    let level = Arg::new("level")
        .long("level")
        .value_name("LEVEL")
        .value_parser(clap::builder::PossibleValuesParser::new(levels))
        .default_value(ConfinementLevel::Protect.as_str())
        .help("Level of confinement");
    let words = Arg::new("command").value_name("COMMAND").required(true).num_args(1..).last(true);
    let verb = |name: &'static str, about: &'static str| {
        Command::new(name).about(about).disable_help_flag(true).arg(help_flag())
    };
    Command::new(NAME)
        .about("Show and test the confinement of commands by the kernel")
        .disable_help_flag(true)
        .disable_help_subcommand(true)
        .arg(help_flag())
        .subcommand(
            verb(STATUS, "Show the mechanisms of this system and the available levels")
                .arg(switch("json", "Print JSON")),
        )
        .subcommand(
            verb(RUN, "Run a command in the current folder at a level")
                .arg(level)
                .arg(switch("network", "Allow the network at workspace-write"))
                .arg(switch("git-config", "Leave .git/config writable"))
                .arg(words.help("The program and its arguments")),
        )
}

#[cfg(test)]
mod tests {
    use pretty_assertions::assert_eq;

    use super::*;

    fn read_line(line: &str) -> Option<Result<Option<SandboxArguments>, String>> {
        read(&line.split(' ').map(OsString::from).collect::<Vec<_>>())
    }

    #[test]
    fn verbs_and_flags() {
        let run = |level, network, command: &[&str]| SandboxArguments::Run {
            level,
            network,
            git_configuration: false,
            command: command.iter().map(OsString::from).collect(),
        };
        let (inspect, protect) = (ConfinementLevel::Inspect, ConfinementLevel::Protect);
        let write = ConfinementLevel::WorkspaceWrite;
        for (line, expected) in [
            ("sandbox status", SandboxArguments::Status { json: false }),
            ("sandbox status --json", SandboxArguments::Status { json: true }),
            ("sandbox run ls -l", run(protect, false, &["ls", "-l"])),
            ("sandbox run --level inspect -- ls --level", run(inspect, false, &["ls", "--level"])),
            ("sandbox run --network --level=workspace-write id", run(write, true, &["id"])),
        ] {
            assert_eq!(read_line(line), Some(Ok(Some(expected))), "{line}");
        }
        for line in ["sandbox", "sandbox the tests", "run status"] {
            assert_eq!(read_line(line), None, "{line}");
        }
        assert_eq!(read_line("sandbox run --help"), Some(Ok(None)));
    }

    #[test]
    fn wrong_arguments_are_refused() {
        for (line, message) in [
            ("sandbox status now", "Unknown argument: now"),
            ("sandbox run --level", "Not enough arguments following: level"),
            ("sandbox run --level deep ls", "Unknown level deep."),
            ("sandbox run --nope ls", "Unknown argument: --nope"),
            ("sandbox run --", "sandbox run requires a command"),
        ] {
            let error = read_line(line).unwrap().unwrap_err();
            assert!(error.starts_with(message), "{line}: {error}");
        }
    }
}
