//! Merging of a rule into the text of a file: an existing rule for the same calls is extended in
//! place.

use toml::de::{DeTable, DeValue};

use crate::fields::{Fault, Fields};
use crate::rule::Modes;

/// Fields that two saved rules must share to be merged: all fields except the modes.
#[derive(PartialEq, Eq)]
struct Identity {
    tools: Vec<String>,
    server: Option<String>,
    prefixes: Option<Vec<String>>,
    own_prefixes: Option<Vec<String>>,
    command: Option<String>,
    arguments: Option<String>,
    decision: Option<String>,
    priority: u16,
}

/// Rule in a text, with the fields that merging needs.
struct Saved {
    identity: Identity,
    modes: Modes,
    /// Byte range of the list of modes.
    modes_at: std::ops::Range<usize>,
}

/// Returns the text with the rule added; `None` if the text already contains the rule.
pub(super) fn merged(text: &str, rule: &str) -> Option<String> {
    let Some(wanted) = saved(rule).into_iter().next() else { return Some(appended(text, rule)) };
    let same = saved(text).into_iter().find(|saved| saved.identity == wanted.identity);
    match same {
        Some(old) if old.modes.covers(wanted.modes) => None,
        Some(old) => {
            let names: Vec<String> =
                old.modes.and(wanted.modes).named().map(|mode| format!("\"{mode}\"")).collect();
            let mut text = text.to_owned();
            text.replace_range(old.modes_at, &format!("[ {} ]", names.join(", ")));
            Some(text)
        }
        None => Some(appended(text, rule)),
    }
}

fn appended(text: &str, rule: &str) -> String {
    let gap = match text {
        "" => "",
        text if text.ends_with('\n') => "\n",
        _ => "\n\n",
    };
    format!("{text}{gap}{rule}")
}

/// Returns the rules of a text that list their modes. A rule for all modes cannot be extended, and
/// repeating it does no harm.
fn saved(text: &str) -> Vec<Saved> {
    let Ok(root) = DeTable::parse(text) else { return Vec::new() };
    let rules = root.get_ref().iter().find(|(key, _)| key.get_ref() == "rule");
    let Some(DeValue::Array(items)) = rules.map(|(_, value)| value.get_ref()) else {
        return Vec::new();
    };
    let tables = items.iter().filter_map(|item| match item.get_ref() {
        DeValue::Table(table) => Some(Fields { table, at: item.span().start }),
        _ => None,
    });
    tables.filter_map(|fields| of(&fields).ok().flatten()).collect()
}

fn of(fields: &Fields<'_, '_>) -> Result<Option<Saved>, Fault> {
    let Some(modes_at) = fields.span("modes") else { return Ok(None) };
    // A rule with other conditions is not changed.
    let others = ["subagent", "toolAnnotations", "interactive"];
    if others.iter().any(|key| fields.span(key).is_some()) {
        return Ok(None);
    }
    let identity = Identity {
        tools: fields.texts("toolName")?.map(|(names, _)| names).unwrap_or_default(),
        server: fields.text("mcpName")?,
        prefixes: fields.texts("commandPrefix")?.map(|(prefixes, _)| prefixes),
        own_prefixes: fields.texts("polluxPrefix")?.map(|(prefixes, _)| prefixes),
        command: fields.text("commandRegex")?,
        arguments: fields.text("argsPattern")?,
        decision: fields.text("decision")?,
        priority: fields.priority()?,
    };
    Ok(Some(Saved { identity, modes: fields.modes()?, modes_at }))
}
