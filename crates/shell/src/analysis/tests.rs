//! Command lines and what is said of them.

use super::*;

mod builtins;
mod display;
mod doubts;
mod programs;
mod properties;
mod wrappers;

/// The names of the programs, with a space between them.
fn names(analysis: &Analysis) -> String {
    let names: Vec<&str> = analysis.programs.iter().map(|program| program.name.as_str()).collect();
    names.join(" ")
}

/// The reasons, each once.
fn reasons(analysis: &Analysis) -> Vec<Reason> {
    let mut reasons = Vec::new();
    for unknown in &analysis.unknown {
        if !reasons.contains(&unknown.reason) {
            reasons.push(unknown.reason);
        }
    }
    reasons
}

/// Checks the programs of lines of which everything can be told.
fn check_known(table: &[(&str, &str)]) {
    let wrong: Vec<String> = table
        .iter()
        .filter_map(|(line, programs)| {
            let analysis = analyse(line);
            let (found, why) = (names(&analysis), &analysis.unknown);
            (found != *programs || !why.is_empty())
                .then(|| format!("{line}\n  wanted [{programs}]\n  found  [{found}] {why:?}"))
        })
        .collect();
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

/// Checks the programs of lines of which something cannot be told, and why.
fn check_unknown(table: &[(&str, &str, Reason)]) {
    let wrong: Vec<String> = table
        .iter()
        .filter_map(|(line, programs, reason)| {
            let analysis = analyse(line);
            let (found, why) = (names(&analysis), reasons(&analysis));
            (found != *programs || !why.contains(reason)).then(|| {
                format!("{line}\n  wanted [{programs}] {reason:?}\n  found  [{found}] {why:?}")
            })
        })
        .collect();
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}
