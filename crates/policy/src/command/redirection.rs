//! Redirections to files, which are judged like other changes.

use std::path::{Path, PathBuf};

use pollux_fs::Workspace;
use pollux_protocol::{ApprovalMode, Effects};
use pollux_shell::command_line::{CommandLine, Redirection, RedirectionKind, Word};

use crate::facts::Facts;
use crate::paths::{lexical, path_fault};

/// Files that store no data.
const SINKS: [&str; 4] = ["/dev/null", "/dev/stdout", "/dev/stderr", "/dev/tty"];

/// Returns the redirections that need a rule or an approval, each with the index of its command.
pub(super) fn in_question<'a>(
    line: &'a CommandLine,
    facts: &Facts,
    mode: ApprovalMode,
    effects: &Effects,
) -> Vec<(usize, &'a Redirection)> {
    let redirections = line.commands.iter().enumerate().flat_map(|(index, command)| {
        command.redirections.iter().map(move |redirection| (index, redirection))
    });
    let is_open = |redirection: &Redirection| match &redirection.target {
        _ if mode == ApprovalMode::Yolo => false,
        Some(Word::Literal(target)) if redirection.kind == RedirectionKind::Read => {
            is_connection(target)
        }
        Some(_) if redirection.kind == RedirectionKind::Read => false,
        Some(Word::Literal(target)) if SINKS.contains(&target.as_str()) => false,
        Some(target) if mode == ApprovalMode::AutoEdit => {
            let files = files(target, line, facts, effects);
            let workspace = facts.workspace.get();
            files.is_none_or(|files| !files.iter().all(|file| is_editable(file, &workspace)))
        }
        // Includes a file that is known only when the line runs.
        None | Some(_) => true,
    };
    redirections.filter(|(_, redirection)| is_open(redirection)).collect()
}

/// Returns the files that redirections write and whose names suggest that they are editable.
pub(super) fn taken_for_editable(
    line: &CommandLine,
    facts: &Facts,
    effects: &Effects,
) -> Vec<PathBuf> {
    let redirections = line.commands.iter().flat_map(|command| &command.redirections);
    redirections
        .filter(|redirection| redirection.kind == RedirectionKind::Write)
        .filter_map(|redirection| redirection.target.as_ref())
        .filter(|target| !target.literal().is_some_and(|target| SINKS.contains(&target)))
        .flat_map(|target| files(target, line, facts, effects).unwrap_or_default())
        .collect()
}

/// Returns the file that a word names, for each directory that the line may run in.
fn files(
    target: &Word,
    line: &CommandLine,
    facts: &Facts,
    effects: &Effects,
) -> Option<Vec<PathBuf>> {
    let Word::Literal(target) = target else { return None };
    let folder = folder_of(facts, effects);
    let moved = match &line.folder {
        None => None,
        Some(Word::Literal(directory)) => Some(lexical(&folder, directory)),
        Some(_) => return None,
    };
    let folders = moved.into_iter().chain([folder]);
    Some(folders.map(|folder| lexical(&folder, target)).collect())
}

/// Returns the directory in which a line starts.
pub(super) fn folder_of(facts: &Facts, effects: &Effects) -> PathBuf {
    effects.folder.clone().unwrap_or_else(|| facts.folder())
}

/// Returns true for a path that Bash treats as a network connection, not a file.
fn is_connection(target: &str) -> bool {
    target.starts_with("/dev/tcp/") || target.starts_with("/dev/udp/")
}

/// Returns true for a file that edits may change without a question, based on its name only.
fn is_editable(path: &Path, workspace: &Workspace) -> bool {
    workspace.roots().any(|root| path.starts_with(root)) && path_fault(path).is_none()
}
