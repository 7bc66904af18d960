//! Redirections are writes like any other.

use std::path::{Path, PathBuf};

use pollux_protocol::{ApprovalMode, Effects};
use pollux_shell::analysis::{Analysis, Redirection, RedirectionKind};

use crate::facts::Facts;
use crate::policy::lexical;

/// Writing there changes no file.
const SINKS: &[&str] = &["/dev/null", "/dev/stdout", "/dev/stderr", "/dev/tty"];

/// The redirections that a rule must allow, or a person.
pub(super) fn in_question<'a>(
    analysis: &'a Analysis,
    facts: &Facts,
    mode: ApprovalMode,
    effects: &Effects,
) -> impl Iterator<Item = &'a Redirection> {
    let moves = analysis
        .built_ins
        .iter()
        .any(|built_in| matches!(built_in.name.as_str(), "cd" | "pushd" | "popd"));
    let folder = folder_of(facts, effects);
    let workspace = facts.workspace.clone();
    analysis.redirections.iter().filter(move |redirection| {
        let target = redirection.target.as_deref();
        match redirection.kind {
            RedirectionKind::Duplicate
            | RedirectionKind::HereDocument
            | RedirectionKind::HereString => false,
            RedirectionKind::Read => target.is_none_or(is_connection),
            RedirectionKind::Write | RedirectionKind::Append | RedirectionKind::ReadWrite => {
                match (mode, target) {
                    (ApprovalMode::Yolo, _) => false,
                    (_, Some(target)) if is_sink(target) => false,
                    (ApprovalMode::AutoEdit, Some(target)) => {
                        target.starts_with('~')
                            || (moves && Path::new(target).is_relative())
                            || !is_editable(&lexical(&folder, target), &workspace)
                    }
                    _ => true,
                }
            }
        }
    })
}

/// The files that are written and that are taken for editable by their names, with where the line says so.
pub(super) fn taken_for_editable(
    analysis: &Analysis,
    facts: &Facts,
    effects: &Effects,
) -> Vec<(usize, PathBuf)> {
    let folder = folder_of(facts, effects);
    let questions = in_question(analysis, facts, ApprovalMode::AutoEdit, effects);
    let open: Vec<usize> = questions.map(|redirection| redirection.position).collect();
    let written = analysis
        .redirections
        .iter()
        .filter(|redirection| redirection.kind.writes() && !open.contains(&redirection.position));
    let file = |redirection: &Redirection| {
        let target = redirection.target.as_deref().filter(|target| !is_sink(target))?;
        Some((redirection.position, lexical(&folder, target)))
    };
    written.filter_map(file).collect()
}

/// Returns the folder in which the line runs.
pub(super) fn folder_of(facts: &Facts, effects: &Effects) -> PathBuf {
    effects.folder.clone().unwrap_or_else(|| facts.folder.clone())
}

fn is_sink(target: &str) -> bool {
    SINKS.contains(&target)
        || target
            .strip_prefix("/dev/fd/")
            .is_some_and(|number| number.bytes().all(|byte| byte.is_ascii_digit()))
}

/// Bash opens no file there, but a connection.
fn is_connection(target: &str) -> bool {
    target.starts_with("/dev/tcp/") || target.starts_with("/dev/udp/")
}

/// A file that edits may change without a question, as far as its name tells.
fn is_editable(path: &Path, workspace: &[PathBuf]) -> bool {
    workspace.iter().any(|root| path.starts_with(root))
        && crate::checker::path_fault(path).is_none()
}
