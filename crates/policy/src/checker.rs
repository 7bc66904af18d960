//! Safety checkers: programs and built-in checks that look at a call which the rules would let run.

use serde_json::{Map, Value};

use crate::file::{Fault, Fields};
use crate::rule::Rule;

mod run;

/// What does the check.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum CheckerKind {
    /// A built-in check: `allowed-path` or `conseca`.
    InProcess,
    /// A program.
    External,
}

/// A checker as a file names it.
#[derive(Debug, Clone, PartialEq)]
pub struct Checker {
    /// Built in, or a program.
    pub kind: CheckerKind,
    /// Its name.
    pub name: String,
    /// What it must be told: `environment`, `history`; nothing named means both.
    pub required_context: Vec<String>,
    /// Its own settings.
    pub config: Option<Map<String, Value>>,
}

/// A checker and the calls that it looks at.
#[derive(Debug, Clone)]
pub struct CheckerRule {
    /// The conditions; the ruling in it means nothing.
    pub rule: Rule,
    /// Checkers with larger numbers look first.
    pub priority: i64,
    /// What looks.
    pub checker: Checker,
}

impl Checker {
    /// From the table of a `[[safety_checker]]`.
    pub(crate) fn read(fields: &Fields<'_, '_>) -> Result<Self, Fault> {
        let Some(table) = fields.table("checker")? else {
            return Err(fields.fault("checker", "is required"));
        };
        let kind = match table.text("type")?.as_deref() {
            Some("in-process") => CheckerKind::InProcess,
            Some("external") => CheckerKind::External,
            _ => return Err(table.fault("type", "must be in-process or external")),
        };
        let Some(name) = table.text("name")? else {
            return Err(table.fault("name", "is required"));
        };
        if kind == CheckerKind::InProcess && !["allowed-path", "conseca"].contains(&name.as_str()) {
            return Err(table.fault("name", "must be allowed-path or conseca for type in-process"));
        }
        let required_context = table.texts("required_context")?.map(|(names, _)| names);
        let required_context = required_context.unwrap_or_default();
        if required_context.iter().any(|name| !["environment", "history"].contains(&name.as_str()))
        {
            return Err(table.fault("required_context", "may name environment and history"));
        }
        let config = table.table("config")?.map(|config| config.object());
        Ok(Self { kind, name, required_context, config })
    }
}

/// Why a file at this path is not changed without a question, by its name alone.
pub(crate) fn path_fault(path: &std::path::Path) -> Option<&'static str> {
    let faults = path.components().filter_map(|component| {
        let name = component.as_os_str().to_string_lossy().to_lowercase();
        let name = name.split(':').next().unwrap_or_default().trim_end_matches(['.', ' ']);
        match name {
            ".git" => Some(".git"),
            ".env" => Some(".env"),
            "node_modules" => Some("node_modules"),
            ".vscode" => Some(".vscode"),
            _ => None,
        }
    });
    faults.into_iter().next()
}
