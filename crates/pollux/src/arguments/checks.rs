//! Checks of the command line, with Gemini CLI's messages.
//!
//! The order is that of Gemini CLI: unknown names, invalid values, then flags that exclude each
//! other.

use std::error::Error as _;

use clap::builder::{PossibleValue, Str};
use clap::error::{ContextKind, ContextValue, ErrorKind};
use clap::{Arg, ArgAction, Command};
use pollux_protocol::{Resource, spelling};

use super::config::OVER_SETTINGS;
use super::line::{Flag, Line};

/// Checks a line of the main command.
pub(super) fn main_command(line: &Line<'_>, main: &Command) -> Result<(), String> {
    let is_main =
        |name: &str| main.get_arguments().any(|argument| argument.get_long() == Some(name));
    unknown(line, main, &is_main)?;
    choices(line)?;
    limits(line)?;
    session_id(line)?;
    policies(line)?;
    exclusions(line)
}

/// Gemini CLI's message for a group of subcommands without a verb.
pub(super) const NO_VERB: &str = "You need at least one command before continuing.";

/// Returns the message for a subcommand of Pollux without a verb.
pub(super) fn needs_verb(name: &str, verbs: &[String]) -> String {
    format!("{name} needs a subcommand: {}.", verbs.join(", "))
}

/// Checks that no flag lacks its value.
pub(super) fn no_missing_value(line: &Line<'_>) -> Result<(), String> {
    match &line.missing_value {
        Some(flag) => Err(format!("Not enough arguments following: {flag}")),
        None => Ok(()),
    }
}

/// Message for `sandbox run` without a command.
pub(super) const NO_COMMAND: &str =
    "sandbox run requires a command: sandbox run --level inspect -- ls.";

/// Checks that all flags of the line belong to the subcommand of this path, and their values.
pub(super) fn flags_of(line: &Line<'_>, path: &[&str], command: &Command) -> Result<(), String> {
    let is_config = path[0] == "config";
    let is_known = |name: &str| {
        name == "debug"
            || command.get_arguments().any(|argument| argument.get_long() == Some(name))
            || is_config && OVER_SETTINGS.contains(&name)
    };
    unknown(line, command, &is_known)?;
    // `config` shows the values of the flags that override settings, whatever they are.
    if is_config {
        return Ok(());
    }
    choices(line)?;
    policies(line)
}

/// Checks the number of operands of the subcommand of this path.
pub(super) fn operands(path: &[&str], given: &[&str], command: &Command) -> Result<(), String> {
    let taken: Vec<&Arg> = command.get_positionals().collect();
    let least = taken.iter().filter(|operand| operand.is_required_set()).count();
    let is_list = taken.iter().any(|operand| matches!(operand.get_action(), ArgAction::Append));
    if given.len() >= least && (is_list || given.len() <= taken.len()) {
        return Ok(());
    }
    let values = |operand: &Arg| {
        let values = operand.get_possible_values();
        values.iter().map(PossibleValue::get_name).collect::<Vec<_>>().join(", ")
    };
    let names = taken.iter().filter_map(|operand| operand.get_value_names());
    let names = names.flatten().map(Str::as_str).collect::<Vec<_>>().join(" ");
    let path = path.join(" ");
    Err(match (path.as_str(), &taken[..]) {
        (_, []) => format!("{path} takes no further arguments."),
        ("completions", [shell]) => {
            format!("completions takes the name of one shell: {}.", values(shell))
        }
        ("config set", _) => format!(
            "config set takes {names}. Quote a value that contains spaces; a list is JSON, as in '[\"a\", \"b\"]'."
        ),
        ("hooks test", [event]) if given.is_empty() => {
            format!("hooks test requires an event: {}.", values(event))
        }
        ("sandbox run", _) => NO_COMMAND.to_owned(),
        ("policy explain", _) => "policy explain requires a command line.".to_owned(),
        _ => format!("{path} takes {names}."),
    })
}

/// Returns the message for an error of clap, in the words of the other checks.
pub(super) fn message(error: &clap::Error) -> String {
    let context = |kind| match error.get(kind) {
        Some(ContextValue::String(text)) => text.as_str(),
        _ => "",
    };
    let flag = context(ContextKind::InvalidArg);
    // The name of the value, as in `--level <LEVEL>`.
    let name = flag.trim_end_matches('>').rsplit('<').next().unwrap_or_default().to_lowercase();
    match (error.kind(), context(ContextKind::InvalidValue), error.get(ContextKind::ValidValue)) {
        (ErrorKind::UnknownArgument, ..) => format!("Unknown argument: {flag}"),
        (ErrorKind::InvalidValue, "", _) => format!("Not enough arguments following: {name}"),
        (ErrorKind::InvalidValue, value, Some(ContextValue::Strings(valid))) => {
            format!("Unknown {name} {value}. The {name}s are {}.", valid.join(", "))
        }
        (ErrorKind::ValueValidation, ..) => {
            error.source().map_or_else(|| error.to_string(), ToString::to_string)
        }
        _ => error.to_string(),
    }
}

/// Checks that no flag except `--debug` precedes a group of subcommands.
pub(super) fn only_global(line: &Line<'_>, main: &Command) -> Result<(), String> {
    unknown(line, main, &|name| name == "debug")
}

/// Flags of other agents, each with the flag of Pollux that has the same purpose.
const FOREIGN_FLAGS: [(&str, &str); 8] = [
    ("full-auto", "--approval-mode auto_edit"),
    ("ask-for-approval", "--approval-mode"),
    ("permission-mode", "--approval-mode"),
    ("dangerously-skip-permissions", "--yolo"),
    ("print", "--prompt"),
    ("continue", "--resume"),
    ("add-dir", "--include-directories"),
    ("json-schema", "--output-schema"),
];

/// Rejects unknown flags, each named as it was typed. A flag of the command that is similar to the
/// first one, or has the same purpose, is suggested.
fn unknown(
    line: &Line<'_>,
    command: &Command,
    is_known: &dyn Fn(&str) -> bool,
) -> Result<(), String> {
    let misplaced = line.names().filter(|name| !is_known(name)).map(str::to_owned);
    let mut names: Vec<String> = Vec::new();
    for name in line.unknown.iter().cloned().chain(misplaced) {
        let shown = if name.trim().is_empty() { format!("\"{name}\"") } else { name };
        if !names.contains(&shown) {
            names.push(shown);
        }
    }
    let Some(first) = names.first() else { return Ok(()) };
    let plural = if names.len() == 1 { "" } else { "s" };
    let foreign = FOREIGN_FLAGS.iter().find(|(name, meant)| {
        let flag = meant.split(' ').next().unwrap_or_default().trim_start_matches('-');
        name == first && is_known(flag)
    });
    let meant = foreign.map(|(_, meant)| (*meant).to_owned());
    let similar = || similar_flag(command, first, is_known).map(|flag| format!("--{flag}"));
    let meant = meant.or_else(similar);
    let meant = meant.map(|flag| format!("\nDid you mean {flag}?")).unwrap_or_default();
    Err(format!("Unknown argument{plural}: {}{meant}", names.join(", ")))
}

/// Returns the visible flag that is most similar to a name.
fn similar_flag<'c>(
    command: &'c Command,
    name: &str,
    is_known: &dyn Fn(&str) -> bool,
) -> Option<&'c str> {
    let visible = command.get_arguments().filter(|flag| !flag.is_hide_set());
    spelling::nearest(name, visible.filter_map(Arg::get_long).filter(|flag| is_known(flag)))
}

/// Rejects values that are not among a flag's choices.
fn choices(line: &Line<'_>) -> Result<(), String> {
    let quoted = |words: &mut dyn Iterator<Item = &String>| {
        words.map(|word| format!("\"{word}\"")).collect::<Vec<_>>().join(", ")
    };
    let complaint = |(flag, values): (&Flag, Vec<String>)| {
        let wrong: Vec<&String> =
            values.iter().filter(|value| !flag.choices.contains(value)).collect();
        if flag.choices.is_empty() || wrong.is_empty() {
            return None;
        }
        let wrong = quoted(&mut wrong.into_iter());
        let choices = quoted(&mut flag.choices.iter());
        Some(format!("\n  Argument: {}, Given: {wrong}, Choices: {choices}", flag.name))
    };
    let complaints: String = line.texts().into_iter().filter_map(complaint).collect();
    if complaints.is_empty() { Ok(()) } else { Err(format!("Invalid values:{complaints}")) }
}

/// Returns the flag that limits a resource for one prompt.
pub(crate) fn budget_flag(resource: Resource) -> &'static str {
    match resource {
        Resource::Turns => "--max-turns",
        Resource::ToolCalls => "--max-tool-calls",
        Resource::Tokens => "--max-tokens",
        Resource::Usd => "--max-cost",
        Resource::Seconds => "--timeout",
    }
}

/// Rejects invalid limits.
fn limits(line: &Line<'_>) -> Result<(), String> {
    for resource in Resource::ALL {
        let name = budget_flag(resource).trim_start_matches('-');
        let Some(text) = line.text(name) else { continue };
        if text.trim().parse().ok().and_then(|number| resource.limit(number)).is_none() {
            let unit = resource.unit();
            return Err(format!(
                "Invalid values:\n  Argument: {name}, Given: \"{text}\", Required: a {unit} above zero"
            ));
        }
    }
    Ok(())
}

fn session_id(line: &Line<'_>) -> Result<(), String> {
    let Some(id) = line.text("session-id").map(str::trim) else { return Ok(()) };
    if id.is_empty() {
        return Err("The --session-id option cannot be empty.".to_owned());
    }
    let allowed = |character: char| character.is_ascii_alphanumeric() || "-_".contains(character);
    if id.chars().all(allowed) {
        return Ok(());
    }
    Err(format!(
        "Invalid session ID \"{id}\": Only alphanumeric characters, dashes, and underscores are allowed."
    ))
}

/// Rejects flags that name no policy file. A script whose variable is empty would otherwise run
/// without the rules that it asks for.
fn policies(line: &Line<'_>) -> Result<(), String> {
    for name in ["policy", "admin-policy"] {
        if line.is_given(name) && line.list(name).iter().all(String::is_empty) {
            return Err(format!("The --{name} option cannot be empty."));
        }
    }
    Ok(())
}

fn exclusions(line: &Line<'_>) -> Result<(), String> {
    let says = |flag: &str| line.text(flag).is_some_and(|text| !text.is_empty());
    let sessions = ["resume", "session-id", "session-file"];
    let rules = [
        (
            sessions.iter().filter(|flag| line.is_given(flag)).count() > 1,
            "The flags --resume, --session-id, and --session-file are mutually exclusive. Please provide only one.",
        ),
        (
            says("prompt") && !line.words.is_empty(),
            "Cannot use both a positional prompt and the --prompt (-p) flag together",
        ),
        (
            says("prompt") && says("prompt-interactive"),
            "Cannot use both --prompt (-p) and --prompt-interactive (-i) together",
        ),
        (
            line.switch("yolo") == Some(true) && line.is_given("approval-mode"),
            "Cannot use both --yolo (-y) and --approval-mode together. Use --approval-mode=yolo instead.",
        ),
    ];
    match rules.into_iter().find(|(broken, _)| *broken) {
        Some((_, message)) => Err(message.to_owned()),
        None => Ok(()),
    }
}
