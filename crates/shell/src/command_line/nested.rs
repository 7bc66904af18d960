//! Nested commands: those that wrappers run, and scripts in an argument.

use super::model::{CommandLine, Construct, Gap, SimpleCommand, Word};
use super::programs::Inner;
use super::{MAX_NESTING, reader};

/// Adds, after each command of a line, the commands that this command runs itself.
pub(super) fn expand(line: &mut CommandLine) {
    let has_folder = line.folder.is_some();
    let mut expansion = Expansion { line: CommandLine::default(), steps: 0, has_folder };
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
    /// True if the first command is a `cd` at the beginning of the line.
    has_folder: bool,
}

/// Built-in commands of bash and dash. A built-in without a table may change how the shell reads
/// and runs the rest of the line.
pub(super) const BUILT_IN: [&str; 46] = [
    ".",
    "alias",
    "bg",
    "bind",
    "break",
    "builtin",
    "caller",
    "cd",
    "compgen",
    "complete",
    "compopt",
    "continue",
    "declare",
    "dirs",
    "disown",
    "enable",
    "eval",
    "exec",
    "export",
    "fc",
    "fg",
    "getopts",
    "hash",
    "history",
    "let",
    "local",
    "logout",
    "mapfile",
    "popd",
    "pushd",
    "read",
    "readarray",
    "readonly",
    "return",
    "set",
    "shift",
    "shopt",
    "source",
    "suspend",
    "times",
    "trap",
    "typeset",
    "ulimit",
    "umask",
    "unalias",
    "unset",
];

/// Built-in commands whose arguments are shell scripts.
const EVALUATING: [&str; 2] = ["eval", "trap"];

/// Maximum number of inner commands of one line.
const MAX_INNER: usize = 256;

impl Expansion {
    fn add(&mut self, command: SimpleCommand, depth: usize) {
        let inner = command.inner();
        self.note_gaps(&command, &inner);
        let index = self.line.commands.len();
        let position = command.position;
        self.line.commands.push(command);
        let is_nested = !inner.commands.is_empty() || !inner.scripts.is_empty();
        self.steps += usize::from(is_nested);
        if is_nested && (depth >= MAX_NESTING || self.steps > MAX_INNER) {
            return self.gap(Construct::TooLong, position);
        }
        for range in &inner.commands {
            self.add_inner(index, *range, &inner, depth);
        }
        for place in inner.scripts {
            self.add_script(index, place, depth);
        }
    }

    /// Notes the commands that a command may run and that are not listed.
    fn note_gaps(&mut self, command: &SimpleCommand, inner: &Inner) {
        let position = command.position;
        let is_folder = self.line.commands.is_empty() && self.has_folder;
        let evaluates = EVALUATING.contains(&command.name()) && !command.is_constant();
        if evaluates || inner.runs_input {
            self.gap(Construct::Script, position);
        }
        // The line is parsed, but rules that deny must not rely on the list.
        let gap = match inner {
            _ if inner.is_out_of_reach => Some(Construct::CommandName),
            _ if inner.may_run_input || command.changes_shell() => Some(Construct::Script),
            _ => None,
        };
        if let Some(construct) = gap {
            self.line.hidden.get_or_insert(Gap { construct, position });
        }
        if inner.is_computed {
            self.gap(Construct::CommandName, position);
        }
        if BUILT_IN.contains(&command.name()) && !command.has_table() && !is_folder {
            self.line.beyond.get_or_insert(Gap { construct: Construct::BuiltIn, position });
        }
    }

    /// Adds the command that is formed by these words of another command.
    fn add_inner(&mut self, index: usize, range: (usize, usize), inner: &Inner, depth: usize) {
        let outer = &self.line.commands[index];
        let (start, end) = range;
        let position = outer.position;
        let is_assignment = |word: &&Word| word.literal().is_some_and(|text| text.contains('='));
        let variables = outer.words[start..end].iter().take_while(is_assignment).count();
        let start = start + variables;
        let mut words: Vec<Word> = outer.words[start..end].to_vec();
        if inner.fills_braces {
            words.iter_mut().for_each(fill_braces);
        }
        let command = SimpleCommand {
            text: words.iter().map(Word::shown).collect::<Vec<_>>().join(" "),
            words,
            position,
            // Copies of the input for any number of commands would make the work more than linear.
            input: if inner.commands.len() == 1 { outer.input.clone() } else { Vec::new() },
            receives_input: outer.receives_input,
            has_more: outer.has_more || inner.adds_arguments,
            outer: Some(index),
            offset: start,
            ..SimpleCommand::default()
        };
        if variables > 0 {
            self.line.beyond.get_or_insert(Gap { construct: Construct::Assignment, position });
        }
        if command.words.first().is_none_or(|name| name.literal().is_none()) {
            return self.gap(Construct::CommandName, position);
        }
        self.add(command, depth + 1);
    }

    /// Adds the commands of a script that is an argument of a command.
    fn add_script(&mut self, index: usize, place: usize, depth: usize) {
        let outer = &self.line.commands[index];
        let position = outer.position;
        let is_fed = outer.receives_input;
        let Some(script) = outer.words[place].literal() else { return };
        let read = reader::read(script);
        if let Some(gap) = read.hidden {
            self.gap(gap.construct, position);
        } else if let Some(gap) = read.beyond {
            self.line.beyond.get_or_insert(Gap { position, ..gap });
        }
        for inner in read.commands {
            let receives_input = inner.receives_input || is_fed;
            let outer = Some(index);
            let command = SimpleCommand { position, outer, offset: 0, receives_input, ..inner };
            self.add(command, depth + 1);
        }
    }

    fn gap(&mut self, construct: Construct, position: usize) {
        let gap = Gap { construct, position };
        self.line.beyond.get_or_insert(gap);
        self.line.hidden.get_or_insert(gap);
    }
}

/// Marks a word in which `find` replaces `{}` by paths. A single `{}` is like a pattern that
/// matches files; `{}` within another text makes the word unknown.
fn fill_braces(word: &mut Word) {
    match word.literal() {
        Some("{}") => *word = Word::Pattern("{}".to_owned()),
        Some(text) if text.contains("{}") => *word = Word::Unknown(text.to_owned()),
        _ => {}
    }
}
