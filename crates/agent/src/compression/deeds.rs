//! What was done, taken from the calls themselves: no model is asked.

use std::collections::{HashMap, HashSet};
use std::fmt;
use std::path::Path;

use pollux_protocol::{Content, FunctionCall, FunctionResponse};
use serde_json::Value;

use super::snapshot::{is_snapshot, machine_made};
use super::{FileState, items_of, list, one_line};

pub(super) const TAG: &str = "ledger";
const ITEM: &str = "did";

const READ: &str = "read ";
const CHANGED: &str = "changed ";

/// Deeds of one kind that are kept: the latest.
const MOST: usize = 200;

/// Characters of a command that are kept.
const LONGEST: usize = 300;

/// Stands before a list with hashes.
const MEANING: &str = "In the ledger a file has the start of its sha256 at the summary that listed it: while it has the same, it \
                       has not changed since.";

/// Files that were read and changed, and commands that ran, each once and at its latest place.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Deeds(Vec<Deed>);

#[derive(Debug, Clone, PartialEq, Eq)]
struct Deed {
    /// What was done, and to what: the same deed when it is done again.
    words: String,
    /// The file as the call names it; none for a command, and for what a snapshot tells.
    file: Option<String>,
    /// How the file stood when it was listed, as far as that is known.
    state: Option<FileState>,
}

impl Deeds {
    /// What was done in these contents, and before them where one is a snapshot. Calls that failed are left out, but for
    /// commands: those have an exit code.
    pub fn in_contents<'a>(contents: impl IntoIterator<Item = &'a Content>) -> Self {
        let mut deeds = Vec::new();
        let mut calls: HashMap<&str, &FunctionCall> = HashMap::new();
        for content in contents {
            for part in &content.parts {
                if let Some(call) = part.as_call() {
                    calls.insert(&call.id, call);
                } else if let Some(answer) = part.as_response() {
                    let call = calls.remove(answer.id.as_str());
                    deeds.extend(call.and_then(|call| Deed::of(call, answer)));
                } else if let Some(text) = part.as_text()
                    && is_snapshot(text)
                {
                    let told = items_of(machine_made(text), TAG, ITEM);
                    deeds.extend(told.into_iter().map(Deed::told));
                }
            }
        }
        Self(latest(deeds))
    }

    /// The files that the calls name, each once, the latest first. Those that a snapshot tells of are not among them: how
    /// they stood stays what it says.
    pub fn files(&self) -> Vec<String> {
        let mut known = HashSet::new();
        let files = self.0.iter().rev().filter_map(|deed| deed.file.as_ref());
        files.filter(|file| known.insert(*file)).cloned().collect()
    }

    /// With how these files stand.
    #[must_use]
    pub fn with_states(mut self, states: &HashMap<String, FileState>) -> Self {
        for deed in &mut self.0 {
            if let Some(file) = &deed.file {
                // What was changed by a relative path may be elsewhere: a plan, or the only file whose path ends so.
                let may_be_elsewhere =
                    deed.words.starts_with(CHANGED) && Path::new(file).is_relative();
                let state = states.get(file).copied();
                deed.state = state.filter(|state| *state != FileState::Gone || !may_be_elsewhere);
            }
        }
        self
    }

    /// The deeds in words, oldest first.
    pub fn lines(&self) -> impl Iterator<Item = String> {
        self.0.iter().map(Deed::to_string)
    }

    /// As a snapshot holds it; empty when nothing was done.
    pub fn render(&self) -> String {
        let list = list(TAG, ITEM, &self.lines().collect::<Vec<_>>());
        let has_hash = self.0.iter().any(|deed| matches!(deed.state, Some(FileState::Hash(_))));
        if has_hash { format!("{MEANING}\n{list}") } else { list }
    }
}

impl Deed {
    /// A call and its answer in words; none for one that leaves no trace.
    fn of(call: &FunctionCall, answer: &FunctionResponse) -> Option<Self> {
        let text = |name: &str| call.args.get(name).and_then(Value::as_str);
        let failed = answer.response.get("error").is_some();
        let file = |kind: &str| {
            let path = text("file_path")?;
            let words = format!("{kind}{}", shortened(path));
            Some(Self { words, file: Some(path.to_owned()), state: None })
        };
        match call.name.as_str() {
            "run_shell_command" => {
                let output = answer.response.get("output").or(answer.response.get("error"));
                let code = exit_code(output.and_then(Value::as_str).unwrap_or_default(), failed);
                let words = format!("exit {code} {}", shortened(text("command")?));
                Some(Self { words, file: None, state: None })
            }
            "read_file" if !failed => file(READ),
            "write_file" | "replace" if !failed => file(CHANGED),
            _ => None,
        }
    }

    /// A line of an earlier snapshot.
    fn told(line: String) -> Self {
        let is_file = line.starts_with(READ) || line.starts_with(CHANGED);
        let parts = line.strip_suffix(')').filter(|_| is_file);
        let parts = parts.and_then(|line| line.rsplit_once(" ("));
        let state = parts.and_then(|(words, state)| Some((words, FileState::read(state)?)));
        match state {
            Some((words, state)) => {
                Self { words: words.to_owned(), file: None, state: Some(state) }
            }
            None => Self { words: line, file: None, state: None },
        }
    }
}

impl fmt::Display for Deed {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(&self.words)?;
        self.state.map_or(Ok(()), |state| write!(formatter, " ({state})"))
    }
}

/// Each once, where it stands last, and of each kind the latest.
fn latest(deeds: Vec<Deed>) -> Vec<Deed> {
    let mut known = HashSet::new();
    let mut counts: HashMap<String, usize> = HashMap::new();
    let mut kept = Vec::new();
    for deed in deeds.into_iter().rev() {
        let kind = deed.words.split(' ').next().unwrap_or_default().to_owned();
        let count = counts.entry(kind).or_default();
        if *count < MOST && known.insert(deed.words.clone()) {
            *count += 1;
            kept.push(deed);
        }
    }
    kept.reverse();
    kept
}

/// The exit code that the result of a command names; without one it went well, or never ran.
fn exit_code(output: &str, failed: bool) -> String {
    let named = output.lines().rev().find_map(|line| line.strip_prefix("Exit Code: "));
    let code = named.and_then(|code| code.trim().parse::<i64>().ok());
    code.map_or_else(|| if failed { "none" } else { "0" }.to_owned(), |code| code.to_string())
}

fn shortened(text: &str) -> String {
    one_line(text).chars().take(LONGEST).collect()
}
