//! Completions and the man page, from the same declaration as the parser.

use clap_complete::Shell;

use super::flags;

/// Name of the program in both.
const PROGRAM: &str = "pollux";

/// Returns the completion script for `shell`.
pub(crate) fn completions(shell: Shell) -> String {
    let mut script = Vec::new();
    clap_complete::generate(shell, &mut flags::whole(PROGRAM), PROGRAM, &mut script);
    String::from_utf8_lossy(&script).into_owned()
}

/// Returns the man page (section 1) in roff.
pub(crate) fn man() -> Vec<u8> {
    let mut page = Vec::new();
    let command = flags::whole(PROGRAM).version(super::version());
    // Writing to memory does not fail.
    clap_mangen::Man::new(command).render(&mut page).map(|()| page).unwrap_or_default()
}
