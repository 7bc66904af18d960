//! Command lines: whatever a model writes, the analysis ends, stays small, and points into the text.

#![no_main]

use libfuzzer_sys::fuzz_target;
use pollux_shell::{Analysis, Dialect, analyse_in};

/// What an analysis may hold in all, in bytes; it promises 2 MiB of text and says when there is more.
const MAX_SIZE: usize = 4 << 20;

fuzz_target!(|input: (bool, &str)| {
    let (is_posix, command) = input;
    let dialect = if is_posix { Dialect::Posix } else { Dialect::Bash };
    let analysis = analyse_in(command, dialect);
    assert!(size(&analysis) <= MAX_SIZE);
    let within = |position: usize| position <= command.len();
    assert!(analysis.programs.iter().all(|program| within(program.position)));
    assert!(analysis.sub_commands.iter().all(|command| within(command.position)));
    assert!(analysis.unknown.iter().all(|unknown| within(unknown.position)));
    assert_eq!(analysis, analyse_in(command, dialect), "not the same twice");
});

fn size(analysis: &Analysis) -> usize {
    let programs = analysis.programs.iter().map(|program| {
        program.name.len() + program.environment.iter().map(String::len).sum::<usize>()
    });
    let texts = analysis.sub_commands.iter().map(|command| command.text.len());
    programs.chain(texts).sum::<usize>() + analysis.root_command.len()
}
