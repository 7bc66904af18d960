//! The list of slash commands.

use std::sync::Arc;

use pollux_protocol::Command;

/// Slash commands by name. Whoever owns a subject adds its commands.
#[derive(Clone, Default)]
pub struct Commands(Vec<Arc<dyn Command>>);

impl Commands {
    /// These commands.
    pub fn new(commands: Vec<Arc<dyn Command>>) -> Self {
        Self(commands)
    }

    /// All commands in the order in which they were added.
    pub fn iter(&self) -> impl Iterator<Item = &Arc<dyn Command>> {
        self.0.iter()
    }

    /// The command of this exact name or alias; names win over aliases.
    pub fn get(&self, name: &str) -> Option<&Arc<dyn Command>> {
        let named = self.0.iter().find(|command| command.name() == name);
        named.or_else(|| self.0.iter().find(|command| command.aliases().contains(&name)))
    }

    /// The command that a line such as `/memory show all` calls, and the rest of the line: the longest
    /// run of leading words that names a command. None when the line calls nothing.
    pub fn find<'line>(&self, line: &'line str) -> Option<(&Arc<dyn Command>, &'line str)> {
        let line = line.strip_prefix('/')?;
        let mut ends: Vec<usize> =
            line.match_indices(char::is_whitespace).map(|(index, _)| index).collect();
        ends.push(line.len());
        ends.into_iter().rev().filter(|end| *end <= LONGEST_NAME).find_map(|end| {
            let (words, rest) = line.split_at(end);
            let name = words.split_whitespace().collect::<Vec<_>>().join(" ");
            self.get(&name).map(|command| (command, rest.trim()))
        })
    }
}

/// Bytes at the start of a line in which a command's name is looked for.
const LONGEST_NAME: usize = 200;

#[cfg(test)]
mod tests {
    use async_trait::async_trait;
    use pollux_protocol::{CommandEffect, CommandError};

    use super::*;

    struct Named(&'static str, &'static [&'static str]);

    #[async_trait]
    impl Command for Named {
        fn name(&self) -> &str {
            self.0
        }
        fn aliases(&self) -> &[&str] {
            self.1
        }
        fn description(&self) -> &'static str {
            ""
        }
        async fn run(&self, _arguments: &str) -> Result<CommandEffect, CommandError> {
            Ok(CommandEffect::Done)
        }
    }

    #[test]
    fn the_longest_name_wins_and_names_beat_aliases() {
        let commands = Commands::new(vec![
            Arc::new(Named("memory", &["m"])),
            Arc::new(Named("memory show", &[])),
            Arc::new(Named("m", &[])),
        ]);
        let found =
            |line| commands.find(line).map(|(command, rest)| (command.name().to_owned(), rest));
        assert_eq!(found("/memory show all"), Some(("memory show".into(), "all")));
        assert_eq!(found("/memory  edit x"), Some(("memory".into(), "edit x")));
        assert_eq!(found("/m"), Some(("m".into(), "")));
        assert_eq!(found("/nosuch x"), None);
        assert_eq!(found("memory"), None);
        assert_eq!(found("/"), None);
    }
}
