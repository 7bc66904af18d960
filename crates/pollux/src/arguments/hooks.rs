//! Arguments of `hooks`.

use clap::{Arg, ArgAction, Command};
use pollux_protocol::HookEvent;
use serde_json::Value;

/// Names of the subcommand; help shows the first.
const NAMES: [&str; 2] = ["hooks", "hook"];

/// Action of `hooks`.
#[derive(Debug, Clone, PartialEq)]
pub(crate) enum HooksVerb {
    /// Shows the hooks.
    List,
    /// Runs the hooks of an event on a sample.
    Test {
        event: HookEvent,
        /// Tool of the sample.
        tool: Option<String>,
        /// Arguments of the tool.
        input: Option<Value>,
    },
    /// Imports the hooks of Claude Code.
    Migrate,
    /// Shows the programs from which hooks can be imported.
    MigrateUsage,
}

/// Words and flags of `hooks`.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct HooksArguments {
    /// Action to run.
    pub(crate) verb: HooksVerb,
    /// True for JSON on standard output.
    pub(crate) json: bool,
    /// True to trust the folder for this run.
    pub(crate) skip_trust: bool,
}

/// Returns true if the name of a group is this subcommand.
pub(super) fn is_called(group: &str) -> bool {
    NAMES.contains(&group)
}

/// Parses the words after the name.
///
/// # Errors
/// Sentence that describes the error.
pub(super) fn read(rest: &[String]) -> Result<HooksArguments, String> {
    let mut words = Vec::new();
    let (mut json, mut skip_trust, mut from_claude) = (false, false, false);
    let (mut tool, mut input) = (None, None);
    let mut rest = rest.iter();
    while let Some(word) = rest.next() {
        let (flag, attached) = match word.split_once('=') {
            Some((flag, value)) if flag.starts_with("--") => (flag, Some(value.to_owned())),
            _ => (word.as_str(), None),
        };
        let mut value = || {
            let given = attached.clone().or_else(|| rest.next().cloned());
            given.ok_or_else(|| format!("Not enough arguments following: {flag}"))
        };
        match flag {
            "--json" => json = true,
            "--skip-trust" => skip_trust = true,
            "--from-claude" => from_claude = true,
            "--tool" => tool = Some(value()?),
            "--input" => input = Some(arguments(&value()?)?),
            flag if flag.starts_with('-') => return Err(format!("Unknown argument: {flag}")),
            _ => words.push(word.as_str()),
        }
    }
    let verb = match words[..] {
        ["list"] => HooksVerb::List,
        ["test", name] => HooksVerb::Test { event: event(name)?, tool, input },
        ["test"] => return Err(format!("hooks test requires an event: {}.", events())),
        ["migrate"] if from_claude => HooksVerb::Migrate,
        ["migrate"] => HooksVerb::MigrateUsage,
        _ => return Err("You need at least one command before continuing.".to_owned()),
    };
    Ok(HooksArguments { verb, json, skip_trust })
}

fn event(name: &str) -> Result<HookEvent, String> {
    HookEvent::of_name(name)
        .ok_or_else(|| format!("Unknown event {name}. The events are {}.", events()))
}

fn events() -> String {
    HookEvent::ALL.map(HookEvent::as_str).join(", ")
}

fn arguments(text: &str) -> Result<Value, String> {
    match serde_json::from_str(text) {
        Ok(value @ Value::Object(_)) => Ok(value),
        Ok(_) => Err("--input must be a JSON object with the arguments of the tool.".to_owned()),
        Err(error) => Err(format!("--input is not JSON: {error}.")),
    }
}

/// Returns the subcommand, for help, completions and the man page.
pub(super) fn command(help_flag: &dyn Fn() -> Arg) -> Command {
    let switch = |name: &'static str, help: &'static str| {
        Arg::new(name).long(name).action(ArgAction::SetTrue).help(help)
    };
    let text = |name: &'static str, value: &'static str, help: &'static str| {
        Arg::new(name).long(name).value_name(value).help(help)
    };
    let json = || switch("json", "Print JSON");
    let trust = || switch("skip-trust", "Trust the current folder for this run");
    let verb = |name: &'static str, about: &'static str| {
        Command::new(name).about(about).disable_help_flag(true).args([help_flag(), json()])
    };
    let event = Arg::new("event").value_name("EVENT").required(true).help("The event");
    Command::new(NAMES[0])
        .about("Show and test the hooks, your programs that run at events of the agent")
        .visible_alias(NAMES[1])
        .disable_help_flag(true)
        .disable_help_subcommand(true)
        .arg(help_flag())
        .subcommand(verb("list", "List the hooks and their sources").arg(trust()))
        .subcommand(
            verb("test", "Run the hooks of an event with sample data, and show the changes that they would make")
                .arg(event)
                .arg(text("tool", "NAME", "The tool in the sample data"))
                .arg(text("input", "JSON", "Its arguments"))
                .arg(trust()),
        )
        .subcommand(
            verb("migrate", "Import the hooks of Claude Code into this project's settings").arg(
                switch("from-claude", "From .claude/settings.local.json or .claude/settings.json"),
            ),
        )
}

#[cfg(test)]
mod tests {
    use pretty_assertions::assert_eq;
    use serde_json::json;

    use super::*;

    fn read_words(words: &[&str]) -> Result<HooksArguments, String> {
        read(&words.iter().map(|word| (*word).to_owned()).collect::<Vec<_>>())
    }

    #[test]
    fn verbs_and_flags() {
        let test = |tool: Option<&str>, input| HooksVerb::Test {
            event: HookEvent::BeforeTool,
            tool: tool.map(str::to_owned),
            input,
        };
        let table = [
            (&["list"][..], HooksVerb::List, false),
            (&["list", "--json"], HooksVerb::List, true),
            (&["test", "BeforeTool"], test(None, None), false),
            (
                &["--json", "test", "--tool", "glob", "BeforeTool", "--input={\"a\":1}"],
                test(Some("glob"), Some(json!({"a": 1}))),
                true,
            ),
            (&["migrate", "--from-claude"], HooksVerb::Migrate, false),
            (&["migrate"], HooksVerb::MigrateUsage, false),
        ];
        for (words, verb, json) in table {
            let read = read_words(words).unwrap();
            assert_eq!((read.verb, read.json), (verb, json), "{words:?}");
        }
    }

    #[test]
    fn what_is_wrong_is_said() {
        for (words, message) in [
            (&[][..], "You need at least one command before continuing."),
            (&["dance"], "You need at least one command before continuing."),
            (&["test", "Nope"], "Unknown event Nope. The events are SessionStart,"),
            (&["test"], "hooks test requires an event:"),
            (&["list", "--nope"], "Unknown argument: --nope"),
            (&["test", "BeforeTool", "--tool"], "Not enough arguments following: --tool"),
            (&["test", "BeforeTool", "--input", "5"], "--input must be a JSON object"),
            (&["test", "BeforeTool", "--input", "{"], "--input is not JSON:"),
        ] {
            let error = read_words(words).unwrap_err();
            assert!(error.starts_with(message), "{words:?}: {error}");
        }
    }
}
