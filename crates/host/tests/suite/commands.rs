//! Slash commands of a session.

use std::sync::Arc;

use pollux_host::commands::{Availability, GEMINI_COMMANDS};
use pollux_protocol::{CommandSet, SessionRequest};
use pretty_assertions::assert_eq;
use serde_json::json;

use super::stage::Stage;

/// Commands that only Pollux has.
const OWN: [&str; 2] = ["mode", "shell"];
/// Maximum length of a description, so that a line of the list has at most 80 columns.
const LONGEST: usize = 60;

/// Returns the commands of a session with a user in a trusted folder, with the settings that some
/// commands need.
async fn commands() -> CommandSet {
    let stage = Stage::new();
    let settings = json!({"general": {"checkpointing": {"enabled": true}}});
    let folder = stage.folder("shop", &settings, ("GEMINI.md", ""));
    let talk = stage.open(SessionRequest::new(folder), &Arc::default()).await;
    let commands = CommandSet::clone(&talk.handle.commands().get());
    talk.close().await;
    commands
}

#[tokio::test]
async fn the_table_names_exactly_the_commands_that_exist() {
    let commands = commands().await;
    for listed in GEMINI_COMMANDS {
        let is_available = listed.availability == Availability::Available;
        if listed.availability == Availability::AtTerminal {
            continue;
        }
        let command = commands.get(listed.name);
        assert_eq!(command.is_some(), is_available, "/{}", listed.name);
        if let Some(command) = command {
            let mut aliases = command.aliases().to_vec();
            aliases.retain(|alias| !alias.contains(' '));
            assert_eq!(aliases, listed.aliases, "/{}", listed.name);
        }
    }
    let names = commands.iter().map(|command| command.name());
    let own = names.filter(|name| {
        !name.contains(' ') && GEMINI_COMMANDS.iter().all(|listed| listed.name != *name)
    });
    let mut own: Vec<&str> = own.collect();
    own.sort_unstable();
    assert_eq!(own, OWN);
}

#[tokio::test]
async fn descriptions_fit_on_a_line() {
    for command in commands().await.iter() {
        let description = command.description();
        let length = description.chars().count();
        assert!(length <= LONGEST, "/{}: {description:?} has {length}", command.name());
        assert!(!description.ends_with('.'), "/{}: {description:?}", command.name());
    }
}
