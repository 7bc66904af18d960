//! Commands within commands: those that wrappers run, and scripts in an argument.

use super::model::{CommandLine, Construct, Gap, SimpleCommand, Word};
use super::{MAX_NESTING, reader};

/// Adds the commands that the commands of a line run themselves, behind each of them.
pub(super) fn expand(line: &mut CommandLine) {
    let mut expansion = Expansion { line: CommandLine::default(), steps: 0 };
    for command in std::mem::take(&mut line.commands) {
        expansion.add(command, 0);
    }
    line.commands = expansion.line.commands;
    line.beyond = line.beyond.or(expansion.line.beyond);
    line.hidden = line.hidden.or(expansion.line.hidden);
}

struct Expansion {
    line: CommandLine,
    /// Number of inner commands so far.
    steps: usize,
}

/// Inner commands of one line.
const MAX_INNER: usize = 256;

impl Expansion {
    fn add(&mut self, command: SimpleCommand, depth: usize) {
        let inner = command.inner();
        let index = self.line.commands.len();
        let position = command.position;
        self.line.commands.push(command);
        if inner.runs_input {
            self.gap(Construct::Script, position);
        }
        if inner.is_computed {
            self.gap(Construct::CommandName, position);
        }
        let is_nested = !inner.commands.is_empty() || !inner.scripts.is_empty();
        self.steps += usize::from(is_nested);
        if is_nested && (depth >= MAX_NESTING || self.steps > MAX_INNER) {
            return self.gap(Construct::TooLong, position);
        }
        for (start, end) in inner.commands {
            let outer = &self.line.commands[index];
            let words: Vec<Word> = outer.words[start..end].to_vec();
            let text = words.iter().map(Word::shown).collect::<Vec<_>>().join(" ");
            let has_more = outer.has_more || inner.adds_arguments;
            let input = outer.input.clone();
            if words.first().is_none_or(|name| name.literal().is_none()) {
                self.gap(Construct::CommandName, position);
                continue;
            }
            let command = SimpleCommand {
                words,
                text,
                position,
                input,
                has_more,
                outer: Some(index),
                offset: start,
                ..SimpleCommand::default()
            };
            self.add(command, depth + 1);
        }
        for place in inner.scripts {
            let Some(script) = self.line.commands[index].words[place].literal() else { continue };
            let read = reader::read(script);
            if let Some(gap) = read.hidden {
                self.gap(gap.construct, position);
            } else if let Some(gap) = read.beyond {
                self.line.beyond.get_or_insert(Gap { position, ..gap });
            }
            for inner in read.commands {
                let command = SimpleCommand { position, outer: Some(index), offset: 0, ..inner };
                self.add(command, depth + 1);
            }
        }
    }

    fn gap(&mut self, construct: Construct, position: usize) {
        let gap = Gap { construct, position };
        self.line.beyond.get_or_insert(gap);
        self.line.hidden.get_or_insert(gap);
    }
}
