//! Consent items of a project's settings.

use std::path::{Path, PathBuf};

use pollux_protocol::ConsentItem;
use serde_json::{Map, Value};

use super::judged::{
    Entry, Judgement, ONLY_BY_A_PERSON, PROGRAM, is_divided, judgement, keeps_vendor,
};
use super::{Accepted, CommandFiles, ReadCommand, content_of_policies, item, kinds};
use crate::{Environment, interpolate, schema};

/// Settings that name policy files or folders of policy files. The content of these files is part
/// of the consent.
const POLICY_PATHS: [&str; 2] = ["policyPaths", "adminPolicyPaths"];

/// An item and its position in the file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct SettingItem {
    /// The item to ask about.
    pub(crate) item: ConsentItem,
    /// Keys that lead to the value. Not dotted, because a name may contain dots.
    path: Vec<String>,
}

/// Environment in which a project's settings are judged.
pub(crate) struct Surroundings<'a> {
    /// Settings of the other layers, without defaults.
    pub(crate) below: &'a Value,
    /// Root of the project.
    pub(crate) project: &'a Path,
    /// Variables that settings may refer to.
    pub(crate) environment: &'a Environment,
    /// Parser for command lines.
    pub(crate) read_command: ReadCommand,
    /// Function that returns the policy file or folder for a text of `policyPaths`; `None` for the
    /// user's own.
    pub(crate) locate: &'a dyn Fn(&str) -> Option<PathBuf>,
}

/// Lists the items of a project's settings as written, before variables are replaced: values of the
/// user's variables are not shown, and a change of such a variable does not cause a new question.
pub(crate) fn find(written: &Value, surroundings: &Surroundings<'_>) -> Vec<SettingItem> {
    let mut finding = Finding { surroundings, found: Vec::new() };
    let Value::Object(root) = written else { return Vec::new() };
    for (name, value) in root {
        finding.visit(vec![name.clone()], value);
    }
    finding.found
}

/// Removes the items that are not accepted from the settings.
pub(crate) fn remove_refused(written: &mut Value, items: &[SettingItem], accepted: &Accepted) {
    for refused in items.iter().filter(|found| !accepted.accepts(&found.item)) {
        remove(written, &refused.path);
    }
}

fn remove(value: &mut Value, path: &[String]) {
    let Some((name, groups)) = path.split_last() else { return };
    let parent = groups.iter().try_fold(value, |value, group| value.get_mut(group));
    if let Some(Value::Object(map)) = parent {
        map.shift_remove(name);
    }
}

struct Finding<'a> {
    surroundings: &'a Surroundings<'a>,
    found: Vec<SettingItem>,
}

impl Finding<'_> {
    /// Checks the value at `path`. The table is searched with the dotted path. A name that contains
    /// a dot does not match any key of the table, so the rule of its group applies.
    fn visit(&mut self, path: Vec<String>, value: &Value) {
        let own = path.iter().try_fold(self.surroundings.below, |own, name| own.get(name));
        if own == Some(value) {
            // The same value is in effect without the project.
            return;
        }
        let key = dotted(&path);
        if is_divided(&key) {
            match value {
                Value::Object(parts) => {
                    for (name, part) in parts {
                        let mut below = path.clone();
                        below.push(name.clone());
                        self.visit(below, part);
                    }
                }
                // `null` or another non-object would replace the whole group, including the user's
                // own part.
                _ => match judgement(&key) {
                    Judgement::AskedUnless(tight, _) if tight.is(value) => {}
                    _ => self.ask(path, value, "replaces the whole group"),
                },
            }
            return;
        }
        match judgement(&key) {
            Judgement::Free => {}
            Judgement::AskedUnless(tight, _) if tight.is(value) => {}
            Judgement::Asked(reason) | Judgement::AskedUnless(_, reason) => {
                self.ask(path, value, reason);
            }
            Judgement::IfChanged(_) if own.is_none() => {}
            Judgement::IfChanged(reason) => self.ask(path, value, reason),
            Judgement::IfOtherVendor(reason) => {
                let own = schema::lookup(self.surroundings.below, "model.name");
                if !keeps_vendor(&key, value, own) {
                    self.ask(path, value, reason);
                }
            }
            Judgement::Each(entry) => self.ask_each(path, value, entry),
            Judgement::Elsewhere if value.is_object() => {}
            Judgement::Elsewhere => self.ask(path, value, "replaces the whole group"),
        }
    }

    fn ask(&mut self, path: Vec<String>, value: &Value, reason: &str) {
        let Surroundings { project, read_command, locate, .. } = *self.surroundings;
        let (name, text) = (dotted(&path), value.to_string());
        let command = value.as_str().filter(|_| reason == PROGRAM);
        let words = command.and_then(|command| read_command(&self.replaced(command)));
        let files = CommandFiles::find(&texts_of(value), words.as_deref(), project, project);
        let mut content = format!("{text}\n{}", files.content);
        if POLICY_PATHS.contains(&name.as_str()) {
            let paths: Vec<PathBuf> = texts_of(value).into_iter().filter_map(locate).collect();
            content.push_str(&content_of_policies(&paths));
        }
        let mut item =
            item(kinds::SETTING, &name, format!("{text} ({reason})"), content.as_bytes());
        item.needs_user = ONLY_BY_A_PERSON.contains(&name.as_str());
        let item = if command.is_some() { files.complete(item) } else { item };
        self.found.push(SettingItem { item, path });
    }

    /// Returns a text with its variables replaced by their values.
    fn replaced(&self, text: &str) -> String {
        interpolate::interpolate_text(text, self.surroundings.environment)
    }

    fn ask_each(&mut self, path: Vec<String>, value: &Value, entry: Entry) {
        let Value::Object(entries) = value else {
            return self.ask(path, value, "replaces the whole group");
        };
        for (name, definition) in entries {
            let mut below = path.clone();
            below.push(name.clone());
            let own = below.iter().try_fold(self.surroundings.below, |own, name| own.get(name));
            if own == Some(definition) {
                continue;
            }
            match entry {
                Entry::Server => self.ask_server(below, name, definition),
                Entry::Definition => self.ask(below, definition, "changes an agent"),
            }
        }
    }

    fn ask_server(&mut self, path: Vec<String>, name: &str, definition: &Value) {
        let project = self.surroundings.project;
        let folder = definition.get("cwd").and_then(Value::as_str).unwrap_or_default();
        let of = |keys: &[&str]| -> Vec<&str> {
            keys.iter().filter_map(|key| definition.get(key)).flat_map(texts_of).collect()
        };
        let command = of(&["command", "args"]);
        // The server starts without a shell, but one of its words may be a script for a shell.
        let line: Vec<String> = command.iter().map(|word| quoted(&self.replaced(word))).collect();
        let words = (self.surroundings.read_command)(&line.join(" "));
        let folder = project.join(self.replaced(folder));
        let texts = of(&["command", "args", "env"]);
        let files = CommandFiles::find(&texts, words.as_deref(), &folder, project);
        let content = format!("{definition}\n{}", files.content);
        let item = item(kinds::MCP_SERVER, name, server_detail(definition), content.as_bytes());
        let item = if command.is_empty() { item } else { files.complete(item) };
        self.found.push(SettingItem { item, path });
    }
}

/// Returns a word as one literal of a shell.
fn quoted(word: &str) -> String {
    format!("'{}'", word.replace('\'', "'\\''"))
}

/// Describes the actions of a server, followed by the rest of its definition.
fn server_detail(definition: &Value) -> String {
    let text = |key: &str| definition.get(key).and_then(Value::as_str);
    let mut lines = Vec::new();
    if let Some(command) = text("command") {
        let arguments = definition.get("args").map(texts_of).unwrap_or_default();
        let words: Vec<&str> = [command].into_iter().chain(arguments).collect();
        lines.push(format!("runs: {}", words.join(" ")));
    }
    for key in ["url", "httpUrl", "tcp"] {
        lines.extend(text(key).map(|address| format!("connects to: {address}")));
    }
    if definition.get("trust").is_some_and(|trust| *trust != Value::Bool(false)) {
        lines.push("its tools run without approval".to_owned());
    }
    let shown = ["command", "args", "url", "httpUrl", "tcp", "trust"];
    let rest: Map<String, Value> = definition
        .as_object()
        .into_iter()
        .flatten()
        .filter(|(key, _)| !shown.contains(&key.as_str()))
        .map(|(key, value)| (key.clone(), value.clone()))
        .collect();
    if !rest.is_empty() || lines.is_empty() {
        let rest = if definition.is_object() { Value::Object(rest) } else { definition.clone() };
        lines.push(format!("with: {rest}"));
    }
    lines.join("\n")
}

/// Returns a value's strings: the value itself, or all strings in it.
fn texts_of(value: &Value) -> Vec<&str> {
    match value {
        Value::String(text) => vec![text],
        Value::Array(items) => items.iter().flat_map(texts_of).collect(),
        Value::Object(map) => map.values().flat_map(texts_of).collect(),
        Value::Null | Value::Bool(_) | Value::Number(_) => Vec::new(),
    }
}

fn dotted(path: &[String]) -> String {
    path.join(".")
}
