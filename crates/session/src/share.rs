//! Conversations in a form for other people and programs.

use std::path::Path;

use pollux_protocol::{Body, Content, History, Part, Role};
use serde_json::{Map, Value, json};

use crate::contents::{contents, pretty};
use crate::error::SessionError;
use crate::reader::Scan;
use crate::store::living_lines;

/// Returns a conversation as Markdown, with the headings of Gemini CLI.
pub fn to_markdown(history: &History) -> String {
    let contents = contents(history);
    let sections = contents.iter().map(section).collect::<Vec<_>>();
    sections.join("\n\n---\n\n") + "\n"
}

fn section(content: &Content) -> String {
    let heading = match content.role {
        Role::User => "## USER 🧑\u{200d}💻",
        Role::Model => "## MODEL ✨",
    };
    let body: String = content.parts.iter().filter(|part| !part.thought).map(piece).collect();
    format!("{heading}\n\n{}", body.trim_end())
}

fn piece(part: &Part) -> String {
    match &part.body {
        Body::Text(text) => text.clone(),
        Body::Call(call) => fenced("Tool Command", &json!(call)),
        Body::Response(response) => fenced("Tool Response", &json!(response)),
        Body::Inline(blob) => format!("\n\n[{}]\n\n", blob.mime_type),
        Body::File(file) => format!("\n\n[{}]\n\n", file.file_uri),
        Body::Other(value) => fenced("Part", &json!(value)),
    }
}

/// Returns a value in a block of code, with a fence that is longer than any in the value.
fn fenced(label: &str, value: &Value) -> String {
    let text = pretty(value);
    let mut fence = "```".to_owned();
    while text.contains(&fence) {
        fence.push('`');
    }
    format!("\n\n**{label}**:\n{fence}json\n{text}\n{fence}\n\n")
}

/// Returns a conversation as a JSON array of contents.
pub fn to_json(history: &History) -> String {
    pretty(&json!(contents(history))) + "\n"
}

/// Returns the session of a file as one JSON object with its messages, as Gemini CLI exports it.
/// Such a file can be imported.
///
/// # Errors
/// [`SessionError::Unreadable`] if the file names no session; [`SessionError::Files`].
pub fn export(path: &Path) -> Result<String, SessionError> {
    let message = "it does not contain a session ID".to_owned();
    let unreadable = || SessionError::Unreadable { path: path.to_owned(), message };
    let mut scan = Scan::default();
    let failed = |error| SessionError::Files(pollux_fs::Error::from_io(path, error));
    scan.read(&mut pollux_fs::open_to_read(path)?).map_err(failed)?;
    let Some(messages) = living_lines(path, |_| true)? else { return Err(unreadable()) };
    let messages = messages.iter().filter_map(|line| serde_json::from_slice::<Value>(line).ok());
    let metadata = scan.metadata;
    let mut session = Map::new();
    for (key, value) in [
        ("sessionId", metadata.session_id),
        ("projectHash", metadata.project_hash),
        ("startTime", metadata.start_time),
        ("lastUpdated", metadata.last_updated),
        ("summary", metadata.summary),
        ("kind", metadata.kind),
    ] {
        if let Some(value) = value {
            session.insert(key.to_owned(), value.into());
        }
    }
    session.insert("messages".to_owned(), messages.collect());
    Ok(pretty(&Value::Object(session)) + "\n")
}

#[cfg(test)]
mod tests {
    use pollux_protocol::EntryId;
    use pretty_assertions::assert_eq;

    use super::*;

    #[test]
    fn markdown_has_every_message() {
        let mut history = History::new();
        history.push_user(EntryId::new("a"), vec![Part::text("go")]);
        let call = Part::call("1", "glob", json!({"pattern": "```"}));
        history.push_model(EntryId::new("b"), vec![Part::text("I look."), call]);
        history.push_responses(EntryId::new("c"), vec![Part::output("1", "glob", "one")]);
        history.push_model(EntryId::new("d"), vec![Part::text("Done.")]);
        let expected = "## USER 🧑\u{200d}💻\n\ngo\n\n---\n\n## MODEL ✨\n\nI look.\n\n**Tool Command**:\n\
            ````json\n{\n  \"id\": \"1\",\n  \"name\": \"glob\",\n  \"args\": {\n    \"pattern\": \"```\"\n  }\n}\n````\n\n\
            ---\n\n## USER 🧑\u{200d}💻\n\n\n\n**Tool Response**:\n```json\n{\n  \"id\": \"1\",\n  \"name\": \"glob\",\n  \
            \"response\": {\n    \"output\": \"one\"\n  }\n}\n```\n\n---\n\n## MODEL ✨\n\nDone.\n";
        assert_eq!(to_markdown(&history), expected);
    }
}
