//! Ledger of the actions of a conversation's calls. It is built from the effects that the calls
//! declared, without a model.

use std::borrow::Cow;
use std::collections::{HashMap, HashSet};
use std::fmt;
use std::path::{Path, PathBuf};

use pollux_fs::Workspace;
use pollux_protocol::plain_text::one_line;
use pollux_protocol::{Content, Effects, FunctionCall, FunctionResponse};
use serde_json::Value;

use super::snapshot::{is_snapshot, machine_made};
use super::{FileState, items_of, list};

pub(super) const TAG: &str = "ledger";
const ITEM: &str = "did";

const READ: &str = "read ";
const CHANGED: &str = "changed ";
const REMOVED: &str = "removed ";

/// Maximum number of actions of one kind that are kept. The latest are kept.
const MOST: usize = 200;

/// Maximum number of characters that are kept of a command, a path or the arguments of a call.
const LONGEST: usize = 300;

/// Explanation before a list that contains hashes.
const MEANING: &str = "The ledger contains the start of the SHA-256 of each file at the time of \
                       the summary. If a file still has it, the file has not changed since.";

/// Data about calls from which a ledger is made.
pub struct ActionSource<'a> {
    /// Function that returns the effects that a call declared; `None` for an unknown call.
    pub effects_of: &'a dyn Fn(&FunctionCall) -> Option<Cow<'a, Effects>>,
    /// Folders of the session. Files below the first of them are listed by their relative paths.
    pub workspace: &'a Workspace,
}

/// Files that were read, changed and removed, commands that ran, and calls with unknown effects.
/// Each action is listed once, at its latest position.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct ActionLedger(Vec<Action>);

#[derive(Debug, Clone, PartialEq, Eq)]
struct Action {
    /// Action and its object. A repeated action has the same text.
    text: String,
    /// Absolute path of the file whose state is recorded; `None` for a command and for a line of an
    /// earlier snapshot.
    file: Option<PathBuf>,
    /// State of the file at the time of the listing, if it is known.
    state: Option<FileState>,
}

impl ActionLedger {
    /// Lists the actions in these contents, and the actions that a snapshot among the contents
    /// lists. Failed calls are left out, except for commands: those have an exit code.
    pub fn in_contents<'a>(
        contents: impl IntoIterator<Item = &'a Content>,
        source: &ActionSource<'_>,
    ) -> Self {
        let mut actions = Vec::new();
        let mut calls: HashMap<&str, &FunctionCall> = HashMap::new();
        for content in contents {
            for part in &content.parts {
                if let Some(call) = part.as_call() {
                    calls.insert(&call.id, call);
                } else if let Some(answer) = part.as_response() {
                    if let Some(call) = calls.remove(answer.id.as_str()) {
                        source.add(call, answer, &mut actions);
                    }
                } else if let Some(text) = part.as_text()
                    && is_snapshot(text)
                {
                    let listed = items_of(machine_made(text), TAG, ITEM);
                    actions.extend(listed.into_iter().map(Action::listed));
                }
            }
        }
        Self(latest(actions))
    }

    /// Returns the files that calls have read or changed, each once, the latest first. Files that
    /// only a snapshot lists are not included: their states stay as the snapshot has them.
    pub fn files(&self) -> Vec<PathBuf> {
        let mut known = HashSet::new();
        let files = self.0.iter().rev().filter_map(|action| action.file.as_ref());
        files.filter(|file| known.insert(*file)).cloned().collect()
    }

    /// Adds the states of these files.
    #[must_use]
    pub fn with_states(mut self, states: &HashMap<PathBuf, FileState>) -> Self {
        for action in &mut self.0 {
            if let Some(file) = &action.file {
                action.state = states.get(file).copied();
            }
        }
        self
    }

    /// Returns one line for each action, oldest first.
    pub fn lines(&self) -> impl Iterator<Item = String> {
        self.0.iter().map(Action::to_string)
    }

    /// Returns the list in its snapshot form; empty without actions.
    pub fn render(&self) -> String {
        let list = list(TAG, ITEM, &self.lines().collect::<Vec<_>>());
        let has_hash = self.0.iter().any(|action| matches!(action.state, Some(FileState::Hash(_))));
        if has_hash { format!("{MEANING}\n{list}") } else { list }
    }
}

impl ActionSource<'_> {
    /// Adds the actions of a call, derived from its effects and its answer.
    fn add(&self, call: &FunctionCall, answer: &FunctionResponse, actions: &mut Vec<Action>) {
        let Some(effects) = (self.effects_of)(call) else { return };
        let failed = answer.response.get("error").is_some();
        if let Some(command) = &effects.command {
            let output = answer.response.get("output").or(answer.response.get("error"));
            let code = exit_code(output.and_then(Value::as_str).unwrap_or_default(), failed);
            actions.push(Action::of(format!("exit {code} {}", shortened(command))));
        }
        if failed {
            return;
        }
        if effects.unknown {
            let text = format!("called {} {}", call.name, call.args);
            actions.push(Action::of(shortened(&text)));
            // The other effects that such a call declares are not reliable.
            return;
        }
        let only_read = effects.reads.iter().filter(|path| !effects.writes.contains(path));
        actions.extend(only_read.map(|path| self.of_file(READ, path)));
        actions.extend(effects.writes.iter().map(|path| self.of_file(CHANGED, path)));
        let removed = effects.deletes.iter().map(|path| format!("{REMOVED}{}", self.name(path)));
        actions.extend(removed.map(Action::of));
    }

    fn of_file(&self, verb: &str, path: &Path) -> Action {
        let text = format!("{verb}{}", self.name(path));
        Action { file: Some(path.to_path_buf()), ..Action::of(text) }
    }

    /// Returns the path to show: relative to the project folder for files below it.
    fn name(&self, path: &Path) -> String {
        let relative = self.workspace.relative(path);
        let shown = if relative.starts_with("..") { path } else { &relative };
        shortened(&shown.to_string_lossy())
    }
}

impl Action {
    fn of(text: String) -> Self {
        Self { text, file: None, state: None }
    }

    /// Reads a line of an earlier snapshot.
    fn listed(line: String) -> Self {
        let is_file = line.starts_with(READ) || line.starts_with(CHANGED);
        let parts = line.strip_suffix(')').filter(|_| is_file);
        let parts = parts.and_then(|line| line.rsplit_once(" ("));
        let state = parts.and_then(|(text, state)| Some((text, FileState::read(state)?)));
        match state {
            Some((text, state)) => Self { state: Some(state), ..Self::of(text.to_owned()) },
            None => Self::of(line),
        }
    }
}

impl fmt::Display for Action {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(&self.text)?;
        self.state.map_or(Ok(()), |state| write!(formatter, " ({state})"))
    }
}

/// Keeps each action once, at its last position, and only the latest actions of each kind.
fn latest(actions: Vec<Action>) -> Vec<Action> {
    let mut known = HashSet::new();
    let mut counts: HashMap<String, usize> = HashMap::new();
    let mut kept = Vec::new();
    for action in actions.into_iter().rev() {
        let kind = action.text.split(' ').next().unwrap_or_default().to_owned();
        let count = counts.entry(kind).or_default();
        if *count < MOST && known.insert(action.text.clone()) {
            *count += 1;
            kept.push(action);
        }
    }
    kept.reverse();
    kept
}

/// Returns the exit code in the result of a command. Without a code it is `0`, or `none` for a
/// failed call.
fn exit_code(output: &str, failed: bool) -> String {
    let named = output.lines().rev().find_map(|line| line.strip_prefix("Exit Code: "));
    let code = named.and_then(|code| code.trim().parse::<i64>().ok());
    code.map_or_else(|| if failed { "none" } else { "0" }.to_owned(), |code| code.to_string())
}

fn shortened(text: &str) -> String {
    one_line(text).chars().take(LONGEST).collect()
}
