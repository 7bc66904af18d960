//! `$NAME`, `${NAME}` and `${NAME:-default}` in the strings of a settings file.

use serde_json::{Map, Value};

use crate::Environment;

#[cfg(test)]
mod tests;

/// Key of the entries of MCP servers.
const SERVERS: &str = "mcpServers";
/// Key of the headers in such an entry.
const HEADERS: &str = "headers";

/// Replaces variables in every string below `value`; keys are not changed.
///
/// A variable that is set to an empty value counts as set. A name that is unset and has no default
/// is left as written. There is no escape syntax.
pub fn interpolate(value: &mut Value, environment: &Environment) {
    match value {
        Value::String(text) => {
            if text.contains('$') {
                *text = interpolate_text(text, environment);
            }
        }
        Value::Array(items) => items.iter_mut().for_each(|item| interpolate(item, environment)),
        Value::Object(map) => map.values_mut().for_each(|item| interpolate(item, environment)),
        Value::Null | Value::Bool(_) | Value::Number(_) => {}
    }
}

/// Applies [`interpolate`] to a settings file or a manifest, and [`interpolate_server`] to the
/// entries of its MCP servers.
pub fn interpolate_settings(value: &mut Value, environment: &Environment) {
    let servers = value.get_mut(SERVERS).map(Value::take);
    interpolate(value, environment);
    if let (Some(mut servers), Some(place)) = (servers, value.get_mut(SERVERS)) {
        match &mut servers {
            Value::Object(entries) => {
                entries.values_mut().for_each(|entry| interpolate_server(entry, environment));
            }
            other => interpolate(other, environment),
        }
        *place = servers;
    }
}

/// Applies [`interpolate`] to the entry of an MCP server. In the headers, a variable that is unset
/// and has no default is empty (as in Gemini CLI): a server must not get its name.
pub fn interpolate_server(entry: &mut Value, environment: &Environment) {
    let headers = entry.get_mut(HEADERS).map(Value::take);
    interpolate(entry, environment);
    if let (Some(mut headers), Some(place)) = (headers, entry.get_mut(HEADERS)) {
        for text in headers.as_object_mut().into_iter().flat_map(Map::values_mut) {
            if let Value::String(text) = text {
                *text = replaced(text, environment, |_, _| "");
            }
        }
        *place = headers;
    }
}

/// Returns the headers of an MCP server's entry that refer to a variable which is unset and has no
/// default, each with the name of the variable. `entry` is the entry as it was written.
pub fn unset_in_headers(entry: &Value, environment: &Environment) -> Vec<(String, String)> {
    let headers = entry.get(HEADERS).and_then(Value::as_object);
    let mut unset = Vec::new();
    for (header, value) in headers.into_iter().flatten() {
        // The text itself is not needed.
        drop(replaced(value.as_str().unwrap_or_default(), environment, |name, _| {
            unset.push((header.clone(), name.to_owned()));
            ""
        }));
    }
    unset
}

/// Applies [`interpolate`] to one string. Variables inside a variable's value are not replaced.
pub fn interpolate_text(text: &str, environment: &Environment) -> String {
    replaced(text, environment, |_, written| written)
}

/// Replaces the variables in a text. `unset` gets the name and the whole reference of a variable
/// that is unset and has no default, and returns what replaces it.
fn replaced<'t>(
    text: &'t str,
    environment: &Environment,
    mut unset: impl FnMut(&'t str, &'t str) -> &'t str,
) -> String {
    let mut output = String::with_capacity(text.len());
    let mut rest = text;
    // Without this bound, the search for the end of many unclosed `${` would take quadratic time.
    let last_close = text.rfind('}').map_or(usize::MAX, |close| text.len() - close);
    while let Some(dollar) = rest.find('$') {
        output.push_str(&rest[..dollar]);
        rest = &rest[dollar..];
        let may_close = rest.len() >= last_close;
        let Some(reference) = Reference::at_start(rest, may_close) else {
            output.push('$');
            rest = &rest[1..];
            continue;
        };
        match environment.get(reference.name).or(reference.default) {
            Some(value) => output.push_str(value),
            None => output.push_str(unset(reference.name, &rest[..reference.length])),
        }
        rest = &rest[reference.length..];
    }
    output.push_str(rest);
    output
}

/// A reference to a variable at the start of a text.
struct Reference<'a> {
    name: &'a str,
    default: Option<&'a str>,
    /// Number of bytes from the dollar sign to the end.
    length: usize,
}

impl<'a> Reference<'a> {
    /// Parses a reference. `may_close` is true if a closing brace follows at all.
    fn at_start(text: &'a str, may_close: bool) -> Option<Self> {
        let after = text.strip_prefix('$')?;
        if let Some(braced) = after.strip_prefix('{') {
            return may_close.then(|| Self::braced(braced)).flatten();
        }
        let end = after
            .find(|character: char| !character.is_ascii_alphanumeric() && character != '_')
            .unwrap_or(after.len());
        (end > 0).then(|| Self { name: &after[..end], default: None, length: end + 1 })
    }

    fn braced(inner: &'a str) -> Option<Self> {
        let end = inner.find('}')?;
        let content = &inner[..end];
        let (name, default) = match content.find(":-") {
            // Without a name before `:-`, the whole content is an (unknown) name.
            Some(0) | None => (content, None),
            Some(at) => (&content[..at], Some(&content[at + 2..])),
        };
        (!name.is_empty()).then_some(Self { name, default, length: end + 3 })
    }
}
