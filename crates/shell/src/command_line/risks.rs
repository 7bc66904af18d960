//! Explanation why a command is not known: for words that destroy data, their effect.

use super::model::{SimpleCommand, Word};
use super::programs::{Unfamiliar, usage};
use super::table::Usage;
use super::walk::Walk;

impl SimpleCommand {
    /// Returns the reason for which the command is not known as a clause for messages. For an
    /// option or a subcommand that destroys data, the clause says what the command does.
    pub fn explain(&self, reason: &Unfamiliar) -> String {
        self.risk(reason).unwrap_or_else(|| reason.describe(self.name()))
    }

    fn risk(&self, reason: &Unfamiliar) -> Option<String> {
        let (Unfamiliar::Option(unlisted) | Unfamiliar::Subcommand(unlisted)) = reason else {
            return None;
        };
        let mut usage = usage(self.name())?;
        let mut walk = Walk::new(usage, &self.words);
        // An error is ignored: the walk counts as far as it went.
        walk.all().ok();
        let last_verb = walk.subcommand.unwrap_or_default();
        let mut command = self.name().to_owned();
        for word in self.words.iter().take(last_verb + 1).skip(1).filter_map(Word::literal) {
            if let Some(inner) = usage.subcommand(word) {
                usage = inner;
                command = format!("{command} {word}");
            }
        }
        // Without a risk of the word itself, its effects are not known.
        usage.risks.iter().find(|risk| is_of(usage, &risk.words, unlisted))?;
        let words = self.words.iter().skip(last_verb + 1).filter_map(Word::literal);
        let options: Vec<&str> = words.take_while(|word| *word != "--").collect();
        usage.risks.iter().find_map(|risk| {
            let word = options.iter().find(|word| is_of(usage, &risk.words, word))?;
            Some(format!("{command} {word} {}", risk.effect))
        })
    }
}

/// Returns true if a word of a command is one of the listed words, alone or in a group of letters.
fn is_of(usage: &Usage, listed: &[String], word: &str) -> bool {
    let is_group = !usage.single_dash && word.starts_with('-') && !word.starts_with("--");
    let name = word.split_once('=').map_or(word, |(name, _)| name);
    listed.iter().any(|listed| match listed.strip_prefix('-') {
        Some(letter) if is_group && letter.len() == 1 => word[1..].contains(letter),
        _ => listed == name,
    })
}
