//! Comparison of the parsed line with the behaviour of a shell.

use pollux_shell::command_line::{CommandLine, RedirectionKind, SimpleCommand, Word};

use super::run::{Observed, PROGRAMS, ShellBox, WRAPPERS};

/// Returns the first difference between a line and its two runs in a shell.
pub(crate) fn problem(
    line: &CommandLine,
    runs: [&Observed; 2],
    shell: &ShellBox,
) -> Option<&'static str> {
    let is_recorded = |command: &&SimpleCommand| {
        PROGRAMS.contains(&command.name()) || WRAPPERS.contains(&command.name())
    };
    let expected: Vec<&SimpleCommand> = line.commands.iter().filter(is_recorded).collect();
    let mut found = vec![false; expected.len()];
    for run in runs {
        let candidates: Vec<Vec<usize>> = run
            .commands
            .iter()
            .map(|words| {
                (0..expected.len()).filter(|at| fits(&expected[*at].words, words, shell)).collect()
            })
            .collect();
        // Each parsed command stands for one that ran.
        let mut taken = vec![None; expected.len()];
        for index in 0..candidates.len() {
            if !assign(index, &candidates, &mut taken, &mut vec![false; expected.len()]) {
                return Some("a command that was not read");
            }
        }
        for place in candidates.into_iter().flatten() {
            found[place] = true;
        }
        for file in run.files.iter().filter(|file| !shell.is_old(file)) {
            let file = shell.relative(file);
            if !written(line).any(|target| is_target(target, &file)) {
                return Some("a new file that was not read");
            }
        }
    }
    // A failing redirection or `cd` keeps commands from running.
    if is_simple(line) && found.contains(&false) {
        return Some("a command that did not run");
    }
    None
}

/// Finds a place for a command that ran; moves other commands to their next candidates if
/// necessary.
fn assign(
    index: usize,
    candidates: &[Vec<usize>],
    taken: &mut [Option<usize>],
    tried: &mut [bool],
) -> bool {
    for place in &candidates[index] {
        if !std::mem::replace(&mut tried[*place], true) {
            let is_free = match taken[*place] {
                None => true,
                Some(other) => assign(other, candidates, taken, tried),
            };
            if is_free {
                taken[*place] = Some(index);
                return true;
            }
        }
    }
    false
}

fn written(line: &CommandLine) -> impl Iterator<Item = &Word> {
    let redirections = line.commands.iter().flat_map(|command| &command.redirections);
    redirections
        .filter(|redirection| redirection.kind == RedirectionKind::Write)
        .filter_map(|redirection| redirection.target.as_ref())
}

fn is_target(target: &Word, file: &str) -> bool {
    let name = match target {
        Word::Literal(text) => text.strip_prefix("./").unwrap_or(text).to_owned(),
        Word::InHome(rest) => format!("~{rest}"),
        Word::InFolder(rest) => rest.trim_start_matches('/').to_owned(),
        Word::Pattern(_) | Word::Unknown(_) => return false,
    };
    // The line may have changed to the folder or to the home directory first.
    file == name || file == format!("sub/{name}") || file == format!("~/{name}")
}

/// Returns true if all commands of the line must run, in one of the two runs.
fn is_simple(line: &CommandLine) -> bool {
    let is_fine = |command: &SimpleCommand| {
        let names_program = PROGRAMS.contains(&command.name())
            || (WRAPPERS.contains(&command.name()) && command.words.len() > 2);
        let opens = command.redirections.iter().all(|redirection| match &redirection.target {
            Some(Word::Literal(text)) if redirection.kind == RedirectionKind::Read => {
                text == "in" || text == "/dev/null"
            }
            Some(Word::Literal(text)) => ["out", "/dev/null", "new"].contains(&text.as_str()),
            _ => false,
        });
        // A list inside a script may need a status that the list around it does not allow.
        let has_list = |word: &Word| word.shown().contains("&&") || word.shown().contains("||");
        names_program && opens && !command.words.iter().any(has_list)
    };
    // Missing programs, or a wrapper with other options, end with their own status.
    line.commands.iter().all(is_fine)
}

/// Returns true if the words of a run match the parsed words.
fn fits(read: &[Word], run: &[String], shell: &ShellBox) -> bool {
    let Some((first, rest)) = read.split_first() else { return run.is_empty() };
    let home = format!("{}/home", shell.folder.display());
    let alone = |matches: bool| matches && fits(rest, &run[1..], shell);
    let Some(word) = run.first() else { return false };
    match first {
        Word::Literal(text) => alone(word == text),
        Word::InHome(tail) => alone(*word == format!("{home}{tail}")),
        Word::InFolder(tail) => {
            alone(["", "/work", "/work/sub"].iter().any(|at| *word == format!("{home}{at}{tail}")))
        }
        Word::Pattern(pattern) => {
            let is_match = |word: &String| {
                if pattern.starts_with(['~', '"']) {
                    word.starts_with(&home)
                } else {
                    matches(pattern.as_bytes(), word.as_bytes())
                }
            };
            let longest = run.iter().take_while(|word| is_match(word)).count();
            (1..=longest).any(|length| fits(rest, &run[length..], shell))
        }
        Word::Unknown(_) => false,
    }
}

/// Matches `*` and `?` as a shell does; a pattern matches itself.
fn matches(pattern: &[u8], text: &[u8]) -> bool {
    match (pattern.split_first(), text.split_first()) {
        (None, None) => true,
        (Some((b'*', rest)), Some((first, tail))) => {
            matches(rest, text) || (*first != b'/' && matches(pattern, tail))
        }
        (Some((b'*', rest)), None) => matches(rest, text),
        (Some((b'?', rest)), Some((first, tail))) => *first != b'/' && matches(rest, tail),
        (Some((letter, rest)), Some((first, tail))) => letter == first && matches(rest, tail),
        _ => false,
    }
}
