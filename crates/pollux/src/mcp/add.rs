//! `mcp add`.

use std::path::Path;

use pollux_config::{Environment, Places, edit, edit_file, interpolate};
use pollux_host::{Enablement, ServerConfig, Setup};
use pollux_protocol::plain_text::visible;
use serde_json::{Map, Value, json};

use super::change::{failure, file};
use super::found::{Finding, found, written};
use super::{Answer, reference};
use crate::arguments::{AddArguments, Pair};
use crate::exit::Failure;
use crate::process::Process;

/// Names that settings cannot contain.
const BANNED: [&str; 3] = ["__proto__", "constructor", "prototype"];
const STDIO: &str = "stdio";

/// Writes the entry of a server. An entry of the same name is replaced.
pub(super) fn add(
    process: &Process,
    wanted: &AddArguments,
    setup: &dyn Fn() -> Result<Setup, Failure>,
) -> Result<Answer, Failure> {
    let name = wanted.server.as_str();
    if name.trim().is_empty() || BANNED.contains(&name) || name.chars().any(char::is_control) {
        return Err(Failure::general(format!("\"{}\" cannot be a name.", visible(name))));
    }
    let (places, cwd) = (Places::new(&process.environment), Process::folder()?);
    let path = file(&places, &cwd, wanted.scope)?;
    let mut notes = Vec::new();
    let entry = entry(wanted, &process.environment, &mut notes)?;
    let is_known = has_entry(&path, name);
    edit_file(wanted.scope, &path, &|text| edit::set(&path, text, &["mcpServers", name], &entry))
        .map_err(|error| failure(&error))?;
    let scope = wanted.scope.as_str();
    let text = if is_known {
        format!(
            "MCP server \"{name}\" is already configured within {scope} settings.\n\
             MCP server \"{name}\" updated in {scope} settings."
        )
    } else {
        format!("MCP server \"{name}\" added to {scope} settings. ({})", wanted.transport)
    };
    // The entry is saved even if other settings cannot be read.
    if let Ok(setup) = setup() {
        notes.extend(obstacle(&setup, name, &process.called_as));
    }
    Ok(Answer { notes, ..Answer::of_text(text) })
}

fn has_entry(path: &Path, name: &str) -> bool {
    written(path).is_some_and(|servers| servers.contains_key(name))
}

/// Returns the entry as it is saved.
fn entry(
    wanted: &AddArguments,
    environment: &Environment,
    notes: &mut Vec<String>,
) -> Result<Value, Failure> {
    let mut entry = Map::new();
    let mut add = |key: &str, value: Value| drop(entry.insert(key.to_owned(), value));
    if wanted.transport == STDIO {
        add("command", json!(wanted.target));
        let arguments = wanted.arguments.iter();
        let arguments = arguments.map(|text| saved("An argument", text, environment, notes));
        add("args", arguments.collect());
        if !wanted.env.is_empty() {
            add("env", referring(&wanted.env, environment, notes));
        }
    } else {
        add("url", Value::String(saved("The address", &wanted.target, environment, notes)));
        add("type", json!(wanted.transport));
        if !wanted.header.is_empty() {
            add("headers", referring(&wanted.header, environment, notes));
        }
    }
    notes.extend(without_effect(wanted));
    let texts = |texts: &[String]| (!texts.is_empty()).then(|| json!(texts));
    for (key, value) in [
        ("timeout", wanted.timeout.clone().map(Value::Number)),
        ("trust", wanted.is_trusted.map(Value::Bool)),
        ("description", wanted.description.clone().map(Value::String)),
        ("includeTools", texts(&wanted.include_tools)),
        ("excludeTools", texts(&wanted.exclude_tools)),
    ] {
        if let Some(value) = value {
            add(key, value);
        }
    }
    let entry = Value::Object(entry);
    let mut replaced = entry.clone();
    interpolate(&mut replaced, environment);
    // A reference that has no value yet may stand in an address.
    if let Err(problem) = ServerConfig::read(&wanted.server, &replaced)
        && !wanted.target.contains('$')
    {
        let shown = visible(&wanted.target);
        return Err(Failure::general(format!("\"{shown}\" cannot be used: {problem}.")));
    }
    Ok(entry)
}

/// Returns an object in which references stand for secrets of the environment.
fn referring(pairs: &[Pair], environment: &Environment, notes: &mut Vec<String>) -> Value {
    let referring = |(name, value): &Pair| {
        (name.clone(), Value::String(saved(name, value, environment, notes)))
    };
    Value::Object(pairs.iter().map(referring).collect())
}

/// Returns a text in which references stand for secrets of the environment. `name` says what it is.
fn saved(name: &str, text: &str, environment: &Environment, notes: &mut Vec<String>) -> String {
    let Some(found) = reference::to_secrets(name, text, environment) else {
        return text.to_owned();
    };
    for variable in found.variables {
        notes.push(format!(
            "{} is saved with a reference to ${variable}, whose value it has, so that the file contains no secret.",
            visible(name)
        ));
    }
    found.text
}

/// Returns remarks about arguments that this transport does not use.
fn without_effect(wanted: &AddArguments) -> Vec<String> {
    let is_stdio = wanted.transport == STDIO;
    let is_address = ["http://", "https://"].iter().any(|start| wanted.target.starts_with(start));
    let remarks = [
        (
            is_stdio && is_address,
            "The command is an address. For a server on the network add --transport http, or --transport sse.",
        ),
        (is_stdio && !wanted.header.is_empty(), "--header has no effect with --transport stdio."),
        (!is_stdio && !wanted.env.is_empty(), "--env only has an effect with --transport stdio."),
        (
            !is_stdio && !wanted.arguments.is_empty(),
            "Arguments only have an effect with --transport stdio.",
        ),
    ];
    let remarks = remarks.into_iter().filter(|(applies, _)| *applies);
    remarks.map(|(_, text)| text.to_owned()).collect()
}

/// Returns the reason why a saved server does not start yet.
fn obstacle(setup: &Setup, name: &str, called_as: &str) -> Option<String> {
    let server = found(setup).into_iter().rfind(|server| server.name == name)?;
    match server.finding {
        Finding::Untrusted => Some(format!(
            "This folder is not trusted, so no server starts here. {called_as} trust changes that."
        )),
        Finding::NotAccepted => Some(format!(
            "The server starts after you have approved it: {called_as} asks you at the terminal."
        )),
        Finding::Disabled => {
            let key = Enablement::key(name);
            Some(format!("The server is disabled. Enable it: {called_as} mcp enable {key}"))
        }
        Finding::Blocked(reason) => Some(reason),
        Finding::Open(_) | Finding::Unusable(_) => None,
    }
}
