//! Messages about custom commands. Pure.

use std::collections::BTreeMap;

use pollux_protocol::RenamedCommand;

/// Maximum number of messages about files that are left out.
const MAX_LEFT_OUT: usize = 20;

/// Returns messages about commands that have other names than they ask for, one for each name.
pub(super) fn renamed(mut commands: Vec<RenamedCommand>) -> Vec<String> {
    commands.sort();
    commands.dedup();
    let mut by_name: BTreeMap<String, Vec<String>> = BTreeMap::new();
    for command in &commands {
        by_name.entry(command.wanted.clone()).or_default().push(command.to_string());
    }
    let message = |(name, texts): (String, Vec<String>)| match &texts[..] {
        [text] => text.clone(),
        texts => format!("Conflicts detected for command '/{name}':\n- {}", texts.join("\n- ")),
    };
    by_name.into_iter().map(message).collect()
}

/// Returns the first messages, and how many more there are.
pub(super) fn limited(mut messages: Vec<String>) -> Vec<String> {
    let more = messages.len().saturating_sub(MAX_LEFT_OUT);
    messages.truncate(MAX_LEFT_OUT);
    messages.extend((more > 0).then(|| format!("{more} more messages about custom commands.")));
    messages
}

#[cfg(test)]
mod tests {
    use pollux_protocol::CommandSource::{Project, User};
    use pretty_assertions::assert_eq;

    use super::*;

    #[test]
    fn conflicts_of_a_name_are_one_message() {
        let command = |source, wanted: &str, name: &str, conflict| RenamedCommand {
            source,
            wanted: wanted.to_owned(),
            name: name.to_owned(),
            conflict,
        };
        let commands = vec![
            command(User, "x", "user.x", Some(Project)),
            command(Project, "x", "workspace.x", Some(User)),
            command(User, "help", "user.help", None),
        ];
        assert_eq!(
            renamed(commands),
            [
                "User command '/help' was renamed to '/user.help' because it conflicts with built-in command.",
                "Conflicts detected for command '/x':\n\
                 - User command '/x' was renamed to '/user.x' because it conflicts with project command.\n\
                 - Project command '/x' was renamed to '/workspace.x' because it conflicts with user command.",
            ]
        );
    }

    #[test]
    fn messages_are_bounded() {
        let messages = limited(vec!["m".to_owned(); MAX_LEFT_OUT + 2]);
        assert_eq!(messages.len(), MAX_LEFT_OUT + 1);
        assert_eq!(messages.last().unwrap(), "2 more messages about custom commands.");
    }
}
