//! Command lines: reading any text ends, and the result is small and refers to positions in the
//! text.

use pollux_shell::Dialect;
use pollux_shell::command_line::{CommandLine, read};

/// Maximum size of the result, in bytes: `FACTOR` for each byte of the line, plus `LEAST`.
const FACTOR: usize = 64;
const LEAST: usize = 4096;

pub(crate) fn run(input: (bool, &str)) {
    let (is_posix, text) = input;
    let dialect = if is_posix { Dialect::Posix } else { Dialect::Bash };
    let line = read(text, dialect);
    assert!(size(&line) <= LEAST + FACTOR * text.len(), "{}", size(&line));
    assert!(line.commands.iter().all(|command| command.position <= text.len()));
    for (index, command) in line.commands.iter().enumerate() {
        assert!(command.outer.is_none_or(|outer| outer < index));
        // A rule that names more words never makes a known command unknown.
        let known = command.known(0).is_ok();
        assert!(!known || command.known(command.words.len()).is_ok());
    }
    assert_eq!(line, read(text, dialect), "not the same twice");
}

fn size(line: &CommandLine) -> usize {
    let of = |command: &pollux_shell::command_line::SimpleCommand| {
        let words: usize = command.words.iter().map(|word| word.shown().len()).sum();
        words + command.text.len() + command.input.iter().map(String::len).sum::<usize>()
    };
    line.commands.iter().map(of).sum()
}
