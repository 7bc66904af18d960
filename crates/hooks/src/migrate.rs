//! Conversion of Claude Code's hooks to hooks of Pollux. Pure.

use serde_json::{Map, Value};

/// Names of events: in Claude Code, and in Pollux. Other names stay unchanged.
const EVENTS: [(&str, &str); 9] = [
    ("PreToolUse", "BeforeTool"),
    ("PostToolUse", "AfterTool"),
    ("UserPromptSubmit", "BeforeAgent"),
    ("Stop", "AfterAgent"),
    ("SubAgentStop", "AfterAgent"),
    ("SubagentStop", "AfterAgent"),
    ("PreCompact", "PreCompress"),
    ("SessionStart", "SessionStart"),
    ("SessionEnd", "SessionEnd"),
];
/// Names of tools in matchers: in Claude Code, and in Pollux.
const TOOLS: [(&str, &str); 7] = [
    ("Edit", "replace"),
    ("Bash", "run_shell_command"),
    ("Read", "read_file"),
    ("Write", "write_file"),
    ("Glob", "glob"),
    ("Grep", "grep_search"),
    ("LS", "list_directory"),
];
/// Maximum time limit that counts as seconds. Claude Code's limits are in seconds, Pollux's in
/// milliseconds; larger values count as milliseconds.
const MOST_SECONDS: f64 = 1000.0;

/// Result of a migration.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Migrated {
    /// The group `hooks` for Pollux's settings.
    pub hooks: Map<String, Value>,
    /// Number of migrated hooks.
    pub count: usize,
    /// Messages for the user about hooks that were not migrated or that need attention.
    pub remarks: Vec<String>,
}

/// Error of a migration that cannot convert any hook.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum MigrateError {
    /// The settings contain no hooks.
    #[error("it contains no hooks")]
    NoHooks,
    /// The hooks are not an object.
    #[error("\"hooks\" is not an object with events as keys")]
    NotAnObject,
}

/// Migrates the hooks of Claude Code's settings. `existing` is the current group `hooks`. Its
/// content is kept, and hooks that it already contains are not added again.
///
/// # Errors
/// Fails if there are no hooks, or if `hooks` is not an object.
pub fn migrate(
    settings: &Value,
    existing: Option<&Map<String, Value>>,
) -> Result<Migrated, MigrateError> {
    let events = match settings.get("hooks") {
        None | Some(Value::Null) => return Err(MigrateError::NoHooks),
        Some(Value::Object(events)) => events,
        Some(_) => return Err(MigrateError::NotAnObject),
    };
    let mut migrated =
        Migrated { hooks: existing.cloned().unwrap_or_default(), ..Migrated::default() };
    for (name, definitions) in events {
        let ours = EVENTS
            .iter()
            .find(|(theirs, _)| theirs == name)
            .map_or(name.as_str(), |(_, ours)| ours);
        let Value::Array(definitions) = definitions else {
            migrated.remarks.push(format!("{name} is not an array and was not imported."));
            continue;
        };
        if pollux_protocol::HookEvent::of_name(ours).is_none() {
            migrated
                .remarks
                .push(format!("Pollux has no event {name}; its hooks were not imported."));
            continue;
        }
        for definition in definitions {
            migrated.take(name, ours, definition);
        }
    }
    Ok(migrated)
}

impl Migrated {
    fn take(&mut self, theirs: &str, ours: &str, definition: &Value) {
        let Some(given) = definition.get("hooks").and_then(Value::as_array) else {
            self.remarks
                .push(format!("A definition of {theirs} has no hooks and was not imported."));
            return;
        };
        let mut hooks = Vec::new();
        for hook in given {
            match converted(hook) {
                Some(hook) => hooks.push(hook),
                None => self.remarks.push(format!(
                    "A hook of {theirs} is not a command and was not imported: {hook}."
                )),
            }
        }
        let mut taken = Map::new();
        if let Some(matcher) = definition.get("matcher").and_then(Value::as_str) {
            taken.insert("matcher".to_owned(), matcher_of(matcher).into());
        }
        if definition.get("sequential") == Some(&Value::Bool(true)) {
            taken.insert("sequential".to_owned(), true.into());
        }
        let count = hooks.len();
        taken.insert("hooks".to_owned(), hooks.into());
        let taken = Value::Object(taken);
        let list = self.hooks.entry(ours).or_insert_with(|| Value::Array(Vec::new()));
        if let Value::Array(list) = list
            && count > 0
            && !list.contains(&taken)
        {
            list.push(taken);
            self.count += count;
        }
    }
}

/// Converts one hook. Returns `None` if the hook is not a command.
fn converted(hook: &Value) -> Option<Value> {
    let command = hook.get("command").and_then(Value::as_str)?;
    let mut taken = Map::new();
    taken.insert("type".to_owned(), "command".into());
    taken.insert(
        "command".to_owned(),
        command.replace("CLAUDE_PROJECT_DIR", "GEMINI_PROJECT_DIR").into(),
    );
    if let Some(limit) = hook.get("timeout").and_then(Value::as_f64).filter(|limit| *limit > 0.0) {
        let milliseconds = if limit <= MOST_SECONDS { limit * 1000.0 } else { limit };
        taken.insert("timeout".to_owned(), Value::from(milliseconds as u64));
    }
    Some(Value::Object(taken))
}

/// Replaces Claude Code's tool names in a matcher, if they are whole words.
fn matcher_of(theirs: &str) -> String {
    let is_word = |character: char| character.is_alphanumeric() || character == '_';
    let mut ours = String::with_capacity(theirs.len());
    let mut rest = theirs;
    while let Some(first) = rest.chars().next() {
        let length = if is_word(first) {
            rest.find(|character| !is_word(character)).unwrap_or(rest.len())
        } else {
            first.len_utf8()
        };
        let (word, after) = rest.split_at(length);
        let known = TOOLS.iter().find(|(theirs, _)| *theirs == word);
        ours.push_str(known.map_or(word, |(_, ours)| ours));
        rest = after;
    }
    ours
}

#[cfg(test)]
mod tests {
    use pretty_assertions::assert_eq;
    use serde_json::json;

    use super::*;

    #[test]
    fn events_tools_variables_and_time_limits() {
        let settings = json!({"hooks": {
            "PreToolUse": [{"matcher": "Bash|Edit|MultiEdit", "hooks": [
                {"type": "command", "command": "\"$CLAUDE_PROJECT_DIR\"/x.sh", "timeout": 30, "extra": 1}]}],
            "Stop": [{"hooks": [{"type": "command", "command": "s", "timeout": 5000}]}],
            "SubAgentStop": [{"hooks": [{"type": "command", "command": "t"}]}],
        }});
        let migrated = migrate(&settings, None).unwrap();
        assert_eq!(
            Value::Object(migrated.hooks.clone()),
            json!({
                "BeforeTool": [{"matcher": "run_shell_command|replace|MultiEdit", "hooks": [
                    {"type": "command", "command": "\"$GEMINI_PROJECT_DIR\"/x.sh", "timeout": 30000}]}],
                "AfterAgent": [{"hooks": [{"type": "command", "command": "s", "timeout": 5000}]},
                    {"hooks": [{"type": "command", "command": "t"}]}],
            })
        );
        assert_eq!((migrated.count, migrated.remarks.len()), (3, 0));
        let again = migrate(&settings, Some(&migrated.hooks)).unwrap();
        assert_eq!((again.count, &again.hooks), (0, &migrated.hooks), "twice is once");
    }

    #[test]
    fn what_is_there_stays() {
        let existing = json!({"BeforeTool": [{"hooks": [{"type": "command", "command": "mine"}]}]});
        let settings = json!({"hooks": {"PreToolUse": [{"hooks": [{"command": "theirs"}]}]}});
        let migrated = migrate(&settings, existing.as_object()).unwrap();
        assert_eq!(migrated.hooks["BeforeTool"][0]["hooks"][0]["command"], "mine");
        assert_eq!(migrated.hooks["BeforeTool"][1]["hooks"][0]["command"], "theirs");
    }

    #[test]
    fn what_cannot_be_taken_over_is_named() {
        let settings = json!({"hooks": {
            "PreToolUse": [{"hooks": [{"type": "prompt", "prompt": "x"}]}, {}],
            "Setup": [{"hooks": [{"command": "x"}]}], "Stop": 5}});
        let migrated = migrate(&settings, None).unwrap();
        assert_eq!(migrated.remarks.len(), 4, "{:?}", migrated.remarks);
        assert_eq!(migrate(&json!({}), None), Err(MigrateError::NoHooks));
        assert_eq!(migrate(&json!({"hooks": []}), None), Err(MigrateError::NotAnObject));
    }
}
