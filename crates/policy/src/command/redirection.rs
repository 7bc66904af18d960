//! Redirections are writes like any other.

use std::path::Path;

use pollux_protocol::ApprovalMode;
use pollux_shell::analysis::{Analysis, Redirection, RedirectionKind};
use serde_json::Value;

use crate::facts::Facts;
use crate::policy::lexical;

/// Writing there changes no file.
const SINKS: &[&str] = &["/dev/null", "/dev/stdout", "/dev/stderr", "/dev/tty"];

/// The redirections that a rule must allow, or a person.
pub(super) fn in_question<'a>(
    analysis: &'a Analysis,
    facts: &Facts,
    mode: ApprovalMode,
    args: &Value,
) -> impl Iterator<Item = &'a Redirection> {
    let moves = analysis
        .built_ins
        .iter()
        .any(|built_in| matches!(built_in.name.as_str(), "cd" | "pushd" | "popd"));
    let given = args.get("dir_path").and_then(Value::as_str).unwrap_or_default();
    let folder = lexical(&facts.folder, given);
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
fn is_editable(path: &Path, workspace: &[std::path::PathBuf]) -> bool {
    workspace.iter().any(|root| path.starts_with(root))
        && crate::checker::path_fault(path).is_none()
}
