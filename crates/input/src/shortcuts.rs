//! `/shortcuts`: the keys of the line editor.

use std::sync::Arc;

use async_trait::async_trait;
use pollux_protocol::{Command, CommandContext, CommandError, Op};

use crate::keys::{KeyMap, KeyPress, SIGNAL_KEYS};

/// Command that lists the keys of a conversation at a terminal.
#[derive(Debug, Clone)]
pub struct ShortcutsCommand {
    keys: Arc<KeyMap>,
}

impl ShortcutsCommand {
    /// Creates the command for these keys.
    pub fn new(keys: Arc<KeyMap>) -> Self {
        Self { keys }
    }
}

#[async_trait]
impl Command for ShortcutsCommand {
    fn name(&self) -> &'static str {
        "shortcuts"
    }

    fn description(&self) -> &'static str {
        "list the keys"
    }

    fn runs_while_working(&self) -> bool {
        true
    }

    fn needs_user(&self) -> bool {
        true
    }

    async fn run(&self, context: CommandContext) -> Result<Option<Op>, CommandError> {
        context.say(list(&self.keys));
        Ok(None)
    }
}

/// Returns the names of keys, and their effects, in the order in which they are listed.
pub fn listed_keys(keys: &KeyMap) -> Vec<(String, &'static str)> {
    let keys = keys.listed().map(|(command, mut names)| {
        // Of the usual keys, further ones are variants of the first.
        if keys.changed(&command.press).is_none() {
            names.truncate(if command.press == KeyPress::Newline { 4 } else { 2 });
        }
        let names = if names.is_empty() { "no key".to_owned() } else { names.join(", ") };
        (names, command.effect)
    });
    let signals = SIGNAL_KEYS.map(|(name, effect)| (name.to_owned(), effect));
    keys.chain(signals).collect()
}

/// Returns one line for each effect: its keys, and the effect.
fn list(keys: &KeyMap) -> String {
    let rows = listed_keys(keys);
    // The row with the most keys is wider than the column.
    let width = rows.iter().map(|(names, _)| names.len()).filter(|width| *width <= 24).max();
    let width = width.unwrap_or_default();
    let lines = rows.iter().map(|(names, effect)| format!("{names:<width$}  {effect}"));
    lines.collect::<Vec<_>>().join("\n")
}

#[cfg(test)]
mod tests {
    use pollux_config::KeyBinding;

    use super::*;

    #[test]
    fn every_line_fits_a_terminal() {
        for line in list(&KeyMap::default()).lines() {
            assert!(line.chars().count() <= 80, "{line}");
        }
    }

    #[test]
    fn keys_of_the_user_are_listed() {
        let binding = |command: &str, key: &str| KeyBinding {
            line: 1,
            command: command.to_owned(),
            key: key.to_owned(),
        };
        let bindings = [
            binding("history.search.start", "f3"),
            binding("-edit.undo", "ctrl+_"),
            binding("-edit.undo", "alt+z"),
            binding("-edit.undo", "cmd+z"),
        ];
        let (keys, messages) = KeyMap::with(&bindings, "k");
        assert_eq!(messages, [""; 0]);
        let list = list(&keys);
        let has =
            |line: &str| list.lines().any(|found| found.split("  ").collect::<String>() == line);
        assert!(list.contains("Ctrl-R, F3") && list.contains("no key"), "{list}");
        assert!(!has("Ctrl-_"));
    }
}
