//! Arguments of `hooks`.

use clap::builder::{PossibleValuesParser, TypedValueParser};
use clap::{Args, Subcommand};
use pollux_protocol::HookEvent;
use serde_json::Value;

/// Show and test the hooks, your programs that run at events of the agent
#[derive(Debug, Clone, PartialEq, Args)]
#[command(visible_alias = "hook")]
pub(crate) struct HooksArguments {
    #[command(subcommand)]
    pub(crate) verb: HooksVerb,
}

/// Action of `hooks`.
#[derive(Debug, Clone, PartialEq, Subcommand)]
pub(crate) enum HooksVerb {
    /// List the hooks and their sources
    List {
        /// Print JSON
        #[arg(long)]
        json: bool,
        /// Trust the current folder for this run
        #[arg(long)]
        skip_trust: bool,
    },
    /// Run the hooks of an event with sample data, and show the changes that they would make
    Test {
        /// Print JSON
        #[arg(long)]
        json: bool,
        /// The event
        #[arg(value_name = "EVENT", value_parser = event(), hide_possible_values = true)]
        event: HookEvent,
        /// The tool in the sample data
        #[arg(long, value_name = "NAME")]
        tool: Option<String>,
        /// Its arguments
        #[arg(long, value_name = "JSON", value_parser = arguments_of_tool)]
        input: Option<Value>,
        /// Trust the current folder for this run
        #[arg(long)]
        skip_trust: bool,
    },
    /// Import the hooks of Claude Code into this project's settings
    Migrate {
        /// Print JSON
        #[arg(long)]
        json: bool,
        /// From .claude/settings.local.json or .claude/settings.json
        #[arg(long)]
        from_claude: bool,
    },
}

impl HooksArguments {
    /// Returns true for JSON on standard output.
    pub(crate) fn json(&self) -> bool {
        match self.verb {
            HooksVerb::List { json, .. }
            | HooksVerb::Test { json, .. }
            | HooksVerb::Migrate { json, .. } => json,
        }
    }
}

fn event() -> impl TypedValueParser<Value = HookEvent> {
    let events = PossibleValuesParser::new(HookEvent::ALL.map(HookEvent::as_str));
    events.try_map(|name| HookEvent::of_name(&name).ok_or("unknown event"))
}

fn arguments_of_tool(text: &str) -> Result<Value, String> {
    match serde_json::from_str(text) {
        Ok(value @ Value::Object(_)) => Ok(value),
        Ok(_) => Err("--input must be a JSON object with the arguments of the tool.".to_owned()),
        Err(error) => Err(format!("--input is not JSON: {error}.")),
    }
}

#[cfg(test)]
mod tests {
    use pretty_assertions::assert_eq;
    use serde_json::json;

    use super::*;
    use crate::arguments::{Exit, Subcommand, flags, subcommand};

    fn read_words(words: &[&str]) -> Result<HooksVerb, Exit> {
        let words = words.iter().map(|word| (*word).to_owned()).collect();
        let read = subcommand::parse_group("hooks", words, flags::whole("pollux"), "pollux");
        read.map(|subcommand| match subcommand {
            Subcommand::Hooks(arguments) => arguments.verb,
            other => panic!("{other:?}"),
        })
    }

    #[test]
    fn verbs_and_flags() {
        let (json, event, skip_trust) = (false, HookEvent::BeforeTool, false);
        let tool = Some("glob".to_owned());
        let input = Some(json!({"a": 1}));
        for (words, verb) in [
            (&["list"][..], HooksVerb::List { json, skip_trust }),
            (&["list", "--json"], HooksVerb::List { json: true, skip_trust }),
            (
                &["test", "BeforeTool"],
                HooksVerb::Test { json, event, tool: None, input: None, skip_trust },
            ),
            (
                &["--json", "test", "--tool", "glob", "BeforeTool", "--input={\"a\":1}"],
                HooksVerb::Test { json: true, event, tool, input, skip_trust },
            ),
            (&["migrate", "--fromClaude"], HooksVerb::Migrate { json, from_claude: true }),
            (&["migrate"], HooksVerb::Migrate { json, from_claude: false }),
        ] {
            assert_eq!(read_words(words), Ok(verb), "{words:?}");
        }
        let help = read_words(&["test", "-h"]).unwrap_err();
        assert!(help.stdout.contains("Usage: pollux hooks test "), "{help:?}");
    }

    #[test]
    fn wrong_arguments_are_refused() {
        for (words, message) in [
            (&[][..], "You need at least one command before continuing."),
            (&["dance"], "You need at least one command before continuing."),
            (&["test", "Nope"], "Unknown event Nope. The events are SessionStart,"),
            (&["test"], "hooks test requires an event: SessionStart, "),
            (&["list", "all"], "hooks list takes no further arguments."),
            (&["list", "--nope"], "Unknown argument: nope"),
            (&["list", "--tool", "glob"], "Unknown argument: tool"),
            (&["test", "BeforeTool", "--tool"], "Not enough arguments following: tool"),
            (&["test", "BeforeTool", "--input", "5"], "--input must be a JSON object"),
            (&["test", "BeforeTool", "--input", "{"], "--input is not JSON:"),
        ] {
            let error = read_words(words).unwrap_err().stderr;
            assert!(error.starts_with(message), "{words:?}: {error}");
        }
    }
}
