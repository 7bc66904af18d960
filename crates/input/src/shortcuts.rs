//! `/shortcuts`: the keys of the line editor.

use async_trait::async_trait;
use pollux_protocol::{Command, CommandContext, CommandError, Op};

use crate::keys::{SHORTCUTS, SIGNAL_KEYS};

/// Command that lists the keys of a conversation at a terminal.
#[derive(Debug, Clone, Copy)]
pub struct ShortcutsCommand;

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
        context.say(list());
        Ok(None)
    }
}

/// Returns one line for each effect: its keys, and the effect.
fn list() -> String {
    let keys = SHORTCUTS.iter().map(|shortcut| (shortcut.names(), shortcut.effect));
    let signals = SIGNAL_KEYS.map(|(name, effect)| (name.to_owned(), effect));
    let rows: Vec<(String, &str)> = keys.chain(signals).collect();
    // The row with the most keys is wider than the column.
    let width = rows.iter().map(|(names, _)| names.len()).filter(|width| *width <= 24).max();
    let width = width.unwrap_or_default();
    let lines = rows.iter().map(|(names, effect)| format!("{names:<width$}  {effect}"));
    lines.collect::<Vec<_>>().join("\n")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_line_fits_a_terminal() {
        for line in list().lines() {
            assert!(line.chars().count() <= 80, "{line}");
        }
    }
}
