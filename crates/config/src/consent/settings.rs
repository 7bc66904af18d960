//! The items among a project's settings.

use std::path::{Path, PathBuf};

use pollux_protocol::ConsentItem;
use serde_json::{Map, Value};

use super::judged::{Entry, Judgement, is_divided, judgement, keeps_vendor};
use super::{Accepted, content_of_command_files, content_of_policies, item, kinds};
use crate::schema;

/// Settings that name policy files and folders of them: their content is part of what is agreed to.
const POLICY_PATHS: [&str; 2] = ["policyPaths", "adminPolicyPaths"];

/// An item and where it stands in the file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct SettingItem {
    /// What is asked.
    pub(crate) item: ConsentItem,
    /// The keys that lead to the value. Not dotted: a name may hold dots.
    path: Vec<String>,
}

/// Lists the items of a project's settings as written, before variables are replaced: a variable of
/// the person's is not shown, and its change does not ask again. `below` is what the other layers say,
/// without defaults. `locate` returns the policy file or folder that a text of `policyPaths` names, `None` for the
/// person's own.
pub(crate) fn find(
    written: &Value,
    below: &Value,
    project: &Path,
    locate: &dyn Fn(&str) -> Option<PathBuf>,
) -> Vec<SettingItem> {
    let mut finding = Finding { below, project, locate, found: Vec::new() };
    let Value::Object(root) = written else { return Vec::new() };
    for (name, value) in root {
        finding.visit(vec![name.clone()], value);
    }
    finding.found
}

/// Takes the items out of the settings that are not accepted.
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
    below: &'a Value,
    project: &'a Path,
    locate: &'a dyn Fn(&str) -> Option<PathBuf>,
    found: Vec<SettingItem>,
}

impl Finding<'_> {
    /// Looks at the value at `path`, whose names are dotted for the table. A name with a dot in it
    /// makes no key of the table, so it is judged by its group.
    fn visit(&mut self, path: Vec<String>, value: &Value) {
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
                // `null` and its like would replace the whole group, the person's own part too.
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
            Judgement::IfChanged(reason) => match schema::lookup(self.below, &key) {
                Some(own) if own != value => self.ask(path, value, reason),
                _ => {}
            },
            Judgement::IfOtherVendor(reason) => {
                if !keeps_vendor(&key, value, schema::lookup(self.below, "model.name")) {
                    self.ask(path, value, reason);
                }
            }
            Judgement::Each(entry) => self.ask_each(path, value, entry),
            Judgement::Elsewhere if value.is_object() => {}
            Judgement::Elsewhere => self.ask(path, value, "replaces the whole group"),
        }
    }

    fn ask(&mut self, path: Vec<String>, value: &Value, reason: &str) {
        let (name, text) = (dotted(&path), value.to_string());
        let mut content = format!("{text}\n{}", self.files_of(&texts_of(value), self.project));
        if POLICY_PATHS.contains(&name.as_str()) {
            let paths: Vec<PathBuf> =
                texts_of(value).into_iter().filter_map(|path| (self.locate)(path)).collect();
            content.push_str(&content_of_policies(&paths));
        }
        let item = item(kinds::SETTING, &name, format!("{text} ({reason})"), content.as_bytes());
        self.found.push(SettingItem { item, path });
    }

    fn ask_each(&mut self, path: Vec<String>, value: &Value, entry: Entry) {
        let Value::Object(entries) = value else {
            return self.ask(path, value, "replaces the whole group");
        };
        for (name, definition) in entries {
            let mut below = path.clone();
            below.push(name.clone());
            match entry {
                Entry::Server => self.ask_server(below, name, definition),
                Entry::Definition => self.ask(below, definition, "changes an agent"),
            }
        }
    }

    fn ask_server(&mut self, path: Vec<String>, name: &str, definition: &Value) {
        let folder = definition.get("cwd").and_then(Value::as_str).unwrap_or_default();
        let words = [definition.get("command"), definition.get("args")];
        let words: Vec<&str> = words.into_iter().flatten().flat_map(texts_of).collect();
        let files = self.files_of(&words, &self.project.join(folder));
        let content = format!("{definition}\n{files}");
        let item = item(kinds::MCP_SERVER, name, server_detail(definition), content.as_bytes());
        self.found.push(SettingItem { item, path });
    }

    fn files_of(&self, words: &[&str], folder: &Path) -> String {
        content_of_command_files(words.iter().copied(), folder, self.project)
    }
}

/// What a server would do, then everything that its definition says beside.
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
        lines.push("its tools run without being asked about".to_owned());
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

/// A value's texts: itself, or those in it.
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
