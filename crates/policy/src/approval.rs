//! Permanent approvals: the rule that allows a call again, and the file that stores such rules.

use std::fmt::Write as _;
use std::path::Path;
use std::time::Duration;

use pollux_fs::{DirLock, WriteOptions};
use pollux_protocol::{ApprovalMode, SubjectArgument};
use serde_json::Value;

use crate::arguments;
use crate::file::{self, MAX_BYTES, PolicyFile};
use crate::lint;
use crate::one_line::NO_COMMAND;
use crate::policy::Policy;
use crate::rule::{SESSION, Tier};
use crate::subject::Query;

mod merge;
mod narrow;

pub use narrow::ApprovalScope;
use narrow::{Narrow, narrow};

/// Maximum wait for another process that saves an approval.
const LOCK_WAIT: Duration = Duration::from_secs(3);

/// Rule that allows a call permanently.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Approval {
    /// The rule as it is written to a file.
    text: String,
    tool: String,
}

/// Error of an approval that could not be saved.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("Failed to persist policy for {tool}: {reason}")]
pub struct SaveApprovalError {
    /// Name of the tool.
    pub tool: String,
    /// Reason of the failure.
    pub reason: String,
}

impl Approval {
    /// Returns the scopes for a command line that the user can choose in addition to
    /// [`ApprovalScope::Call`], each with the commands that it allows, for display. A scope that
    /// allows no more than a narrower one is left out.
    pub fn scopes(policy: &Policy, query: &Query<'_>) -> Vec<(ApprovalScope, String)> {
        let Some(line) = query.effects.command.as_deref() else { return Vec::new() };
        let mut found: Vec<(ApprovalScope, String)> = Vec::new();
        for scope in [ApprovalScope::Subcommand, ApprovalScope::Program] {
            if let Some(Narrow::Prefixes(prefixes)) = narrow(&policy.facts, line, scope) {
                let text = prefixes.join(", ");
                if found.iter().all(|(_, other)| *other != text) {
                    found.push((scope, text));
                }
            }
        }
        found
    }

    /// Returns sentences about the programs that the programs of a command line start by
    /// themselves, for the narrowest of [`Approval::scopes`].
    pub fn starts(scopes: &[(ApprovalScope, String)]) -> Vec<String> {
        let prefixes = scopes.first().map_or("", |(_, commands)| commands.as_str()).split(", ");
        prefixes.filter_map(lint::starts_sentence).collect()
    }

    /// Returns the rule that allows the call again for this scope; `None` if there is none.
    pub fn of(policy: &Policy, query: &Query<'_>, scope: ApprovalScope) -> Option<Self> {
        let tool = query.subject.tool;
        let mut text = String::from("[[rule]]\ndecision = \"allow\"\npriority = 950\n");
        let mut field = |name: &str, value: &str| {
            // Writing to a String cannot fail.
            writeln!(text, "{name} = {value}").unwrap_or_default();
        };
        // A `*` in the name of a server or tool would make the rule match all of them.
        let is_wild = |name: &str| name.contains('*');
        if is_wild(tool) || query.subject.server.is_some_and(is_wild) {
            return None;
        }
        let line = query.effects.command.as_deref();
        let narrowed = line.map(|line| narrow(&policy.facts, line, scope));
        match (query.subject.server, scope) {
            (Some(server), ApprovalScope::Server) => {
                field("toolName", "\"*\"");
                field("mcpName", &quoted(server));
            }
            (Some(server), _) => {
                let bare = query.subject.bare_names().last().unwrap_or(tool);
                field("toolName", &quoted(bare));
                field("mcpName", &quoted(server));
            }
            (None, _) => {
                field("toolName", &quoted(tool));
                match narrowed {
                    Some(Some(Narrow::Prefixes(prefixes))) => {
                        // Gemini CLI has no tables of programs: with the prefix alone it would
                        // allow every option and subcommand. The pattern restricts Gemini CLI to
                        // this line.
                        let pattern = match narrow(&policy.facts, line?, ApprovalScope::Call) {
                            Some(Narrow::Exactly { pattern, .. }) => pattern,
                            Some(Narrow::Prefixes(_)) | None => NO_COMMAND.to_owned(),
                        };
                        field("commandRegex", &quoted(&pattern));
                        let prefixes: Vec<String> =
                            prefixes.iter().map(|text| quoted(text)).collect();
                        field("polluxPrefix", &format!("[ {} ]", prefixes.join(", ")));
                    }
                    Some(Some(Narrow::Exactly { pattern, redirects })) => {
                        field("commandRegex", &quoted(&pattern));
                        if redirects {
                            field("allowRedirection", "true");
                        }
                    }
                    Some(None) => return None,
                    // Without the condition, the rule would allow every call of the tool.
                    None => {
                        if let Some(subject) = query.subject.facts.subject {
                            field("argsPattern", &quoted(&pattern_for(subject, query)?));
                        }
                    }
                }
            }
        }
        let modes = modes_from(query.mode).iter().map(|mode| quoted(mode.as_str()));
        field("modes", &format!("[ {} ]", modes.collect::<Vec<_>>().join(", ")));
        Some(Self { text, tool: tool.to_owned() })
    }

    /// Returns the rules for the rest of the session.
    pub fn rules(&self) -> PolicyFile {
        file::read(Tier::Workspace, Path::new(SESSION), &self.text)
    }

    /// Saves the rule to a file under a lock, because other processes save there, too. The content
    /// of an invalid file is kept as a backup file.
    ///
    /// # Errors
    /// Returns an error if the file cannot be locked, read or written.
    pub fn save(&self, path: &Path) -> Result<(), SaveApprovalError> {
        // Marks the change as Pollux's own, so that it is not attributed to a command that runs at
        // this time.
        pollux_shell::sandbox::own_change(path, || self.merge_into(path)).map_err(|error| {
            SaveApprovalError { tool: self.tool.clone(), reason: error.to_string() }
        })
    }

    fn merge_into(&self, path: &Path) -> pollux_fs::Result<()> {
        if let Some(folder) = path.parent() {
            pollux_fs::create_private_directories(folder)?;
        }
        let _lock = DirLock::acquire(path, LOCK_WAIT)?;
        let mut text = match pollux_fs::read_text(path, MAX_BYTES as u64) {
            Ok(file) => file.text,
            Err(error) if error.is_not_found() => String::new(),
            Err(error) => return Err(error),
        };
        if file::read(Tier::User, path, &text).problems.iter().any(crate::Problem::is_error) {
            let aside = path.with_extension("toml.bak");
            pollux_fs::write_atomic(&aside, text.as_bytes(), &WriteOptions::private())?;
            text.clear();
        }
        let Some(merged) = merge::merged(&text, &self.text) else { return Ok(()) };
        pollux_fs::write_atomic(path, merged.as_bytes(), &WriteOptions::private()).map(drop)
    }
}

/// Returns a pattern for the argument that identifies the subject of a call; `None` for a call
/// without that argument, and for a pattern that is too long.
fn pattern_for(subject: SubjectArgument, query: &Query<'_>) -> Option<String> {
    let confined = query.effects.confined_to();
    let path = match subject {
        SubjectArgument::Path(_) => confined.first(),
        SubjectArgument::Value(_) => None,
    };
    let value = match path {
        // A rule of the user holds in every folder, so it must contain the absolute path.
        Some(path) => Value::from(path.to_string_lossy()),
        None => query.args.get(subject.name())?.clone(),
    };
    let mut fields = serde_json::Map::new();
    fields.insert(subject.name().to_owned(), value);
    let text = arguments::text(&Value::Object(fields));
    let inner = text.trim_start_matches("{\0").trim_end_matches("\0}");
    let mut pattern = String::from("\\x00");
    for letter in inner.chars() {
        if letter.is_ascii() && !letter.is_ascii_alphanumeric() && letter != '_' {
            pattern.push('\\');
        }
        pattern.push(letter);
    }
    pattern.push_str("\\x00");
    (pattern.len() <= crate::rule::MAX_PATTERN_LENGTH).then_some(pattern)
}

/// Returns this mode and every mode that allows more.
fn modes_from(mode: ApprovalMode) -> &'static [ApprovalMode] {
    use ApprovalMode::{AutoEdit, Default, Plan, Yolo};
    match mode {
        Plan => &[Plan, Default, AutoEdit, Yolo],
        Default => &[Default, AutoEdit, Yolo],
        AutoEdit => &[AutoEdit, Yolo],
        Yolo => &[Yolo],
    }
}

/// Returns a text as a TOML string.
fn quoted(text: &str) -> String {
    Value::from(text).to_string().replace('\u{7f}', "\\u007f")
}

#[cfg(test)]
mod tests;
