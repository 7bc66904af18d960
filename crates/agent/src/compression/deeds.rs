//! What was done, taken from the calls themselves: no model is asked.

use std::collections::{HashMap, HashSet};

use pollux_protocol::{Content, FunctionCall, FunctionResponse};
use serde_json::Value;

use super::snapshot::{is_snapshot, machine_made};
use super::{items_of, list, one_line};

pub(super) const TAG: &str = "ledger";
const ITEM: &str = "did";

/// Deeds of one kind that are kept: the latest.
const MOST: usize = 200;

/// Characters of a command that are kept.
const LONGEST: usize = 300;

/// Files that were read and changed, and commands that ran, each once and at its latest place.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Deeds(Vec<String>);

impl Deeds {
    /// What was done in these contents, and before them where one is a snapshot. Calls that failed are left out, but for
    /// commands: those have an exit code.
    pub fn in_contents<'a>(contents: impl IntoIterator<Item = &'a Content>) -> Self {
        let mut deeds: Vec<String> = Vec::new();
        let mut calls: HashMap<&str, &FunctionCall> = HashMap::new();
        for content in contents {
            for part in &content.parts {
                if let Some(call) = part.as_call() {
                    calls.insert(&call.id, call);
                } else if let Some(answer) = part.as_response() {
                    let call = calls.remove(answer.id.as_str());
                    deeds.extend(call.and_then(|call| deed(call, answer)));
                } else if let Some(text) = part.as_text()
                    && is_snapshot(text)
                {
                    deeds.extend(items_of(machine_made(text), TAG, ITEM));
                }
            }
        }
        Self(latest(deeds))
    }

    /// The deeds in words, oldest first.
    pub fn lines(&self) -> impl Iterator<Item = &str> {
        self.0.iter().map(String::as_str)
    }

    /// As a snapshot holds it; empty when nothing was done.
    pub fn render(&self) -> String {
        list(TAG, ITEM, &self.0)
    }
}

/// Each once, where it stands last, and of each kind the latest.
fn latest(deeds: Vec<String>) -> Vec<String> {
    let mut known = HashSet::new();
    let mut counts: HashMap<String, usize> = HashMap::new();
    let mut kept = Vec::new();
    for deed in deeds.into_iter().rev() {
        let kind = deed.split(' ').next().unwrap_or_default().to_owned();
        let count = counts.entry(kind).or_default();
        if *count < MOST && known.insert(deed.clone()) {
            *count += 1;
            kept.push(deed);
        }
    }
    kept.reverse();
    kept
}

/// A call and its answer in words; none for one that leaves no trace.
fn deed(call: &FunctionCall, answer: &FunctionResponse) -> Option<String> {
    let text = |name: &str| call.args.get(name).and_then(Value::as_str);
    let failed = answer.response.get("error").is_some();
    match call.name.as_str() {
        "run_shell_command" => {
            let output = answer.response.get("output").or(answer.response.get("error"));
            let code = exit_code(output.and_then(Value::as_str).unwrap_or_default(), failed);
            Some(format!("exit {code} {}", shortened(text("command")?)))
        }
        "read_file" if !failed => Some(format!("read {}", shortened(text("file_path")?))),
        "write_file" | "replace" if !failed => {
            Some(format!("changed {}", shortened(text("file_path")?)))
        }
        _ => None,
    }
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
