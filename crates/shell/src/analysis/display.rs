//! The names that a confirmation shows (Gemini CLI 0.61's, see `tools.md` §8.4).

use super::model::{Analysis, Reason};

/// Names of constructs, which are not commands.
const CONSTRUCTS: &[&str] = &[
    "redirection (<)",
    "redirection (>)",
    "heredoc (<<)",
    "herestring (<<<)",
    "command substitution",
    "backtick substitution",
    "process substitution",
    "subshell",
];

/// How many names are kept.
const MAX_NAMES: usize = 1000;

/// Fills in the names. A text that is not understood is called by its first word.
pub(super) fn name(analysis: &mut Analysis, mut names: Vec<(usize, String)>, command: &str) {
    let is_broken = analysis
        .unknown
        .iter()
        .any(|unknown| matches!(unknown.reason, Reason::Syntax | Reason::TooMuch));
    names.sort_by_key(|(position, _)| *position);
    names.truncate(MAX_NAMES);
    if is_broken || names.is_empty() {
        let first = command.split_whitespace().next().unwrap_or_default();
        let first: String = first.chars().take(200).collect();
        let has_redirection = is_broken && command.contains(['<', '>']);
        analysis.root_command =
            if has_redirection { format!("{first}, redirection") } else { first.clone() };
        analysis.root_commands = if first.is_empty() { Vec::new() } else { vec![first] };
        return;
    }
    let all: Vec<&str> = names.iter().map(|(_, name)| name.as_str()).collect();
    analysis.root_command = all.join(", ");
    for (_, name) in names {
        if !CONSTRUCTS.contains(&name.as_str()) && !analysis.root_commands.contains(&name) {
            analysis.root_commands.push(name);
        }
    }
}
