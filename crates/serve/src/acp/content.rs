//! Content for the client: texts, diffs, and what tools return. Pure.

use agent_client_protocol_schema::v1::{ContentBlock, ContentChunk, Diff, ToolCallContent};
use pollux_protocol::plain_text::harmless;
use pollux_protocol::{Confirmation, ConfirmationKind, Display, FileDiff, Thought};
use serde_json::{Value, json};

use super::initialize::object;

/// Returns a piece of a message.
pub(crate) fn chunk(text: impl Into<String>) -> ContentChunk {
    ContentChunk::new(ContentBlock::from(text))
}

/// Returns the text of a thought, in the form of Gemini CLI.
pub(crate) fn thought(thought: &Thought) -> String {
    let Thought { subject, description } = thought;
    if subject.is_empty() { description.clone() } else { format!("**{subject}**\n{description}") }
}

/// Returns a text that the client shows as it is, not as Markdown: markup in it could hide a part
/// of what the user decides about.
pub(crate) fn code(text: &str) -> ToolCallContent {
    fenced(text).into()
}

/// Returns the output of a slash command as Markdown: lines would otherwise become a paragraph.
pub(crate) fn command_output(text: &str) -> String {
    if text.trim_end().contains('\n') { fenced(&harmless(text)) } else { text.to_owned() }
}

fn fenced(text: &str) -> String {
    let runs = text.split(|letter| letter != '`').map(str::len);
    let fence = "`".repeat(runs.max().unwrap_or_default().max(2) + 1);
    format!("{fence}\n{}\n{fence}", text.trim_end_matches('\n'))
}

/// Returns the output of a tool for the user. `is_markdown` is true if its text is Markdown.
pub(crate) fn display(display: &Display, is_markdown: bool) -> Vec<ToolCallContent> {
    match display {
        Display::Text(text) if text.trim().is_empty() => Vec::new(),
        Display::Text(text) if is_markdown => vec![harmless(text).into_owned().into()],
        Display::Text(text) => vec![code(&harmless(text))],
        Display::Ansi(lines) => vec![code(&harmless(&lines.text()))],
        Display::Diff(diff) => vec![file_diff(diff)],
        Display::Structured(value) if value.get("isSubagentProgress").is_some() => {
            let result = value.get("result").and_then(Value::as_str).unwrap_or_default();
            vec![harmless(result).into_owned().into()]
        }
        Display::Structured(_) => Vec::new(),
    }
}

/// Returns what the user must see before a decision about a call. `subject` is the question as
/// text, for everything that is not a change of a file.
pub(crate) fn confirmation(confirmation: &Confirmation, subject: &str) -> Vec<ToolCallContent> {
    match &confirmation.kind {
        ConfirmationKind::Edit { path, original, proposed, rewrite, .. } => {
            let change = diff(path.clone(), original.clone(), proposed.clone());
            let warning = rewrite.map(|rewrite| format!("Careful: this {rewrite}.").into());
            std::iter::once(change).chain(warning).collect()
        }
        ConfirmationKind::Plan { text, .. } => vec![harmless(text).into_owned().into()],
        ConfirmationKind::Execute { .. }
        | ConfirmationKind::Questions(_)
        | ConfirmationKind::ServerTool(_)
        | ConfirmationKind::Information { .. } => vec![code(subject)],
    }
}

fn file_diff(change: &FileDiff) -> ToolCallContent {
    let original = change.original_content.clone().filter(|_| change.is_new_file != Some(true));
    diff(change.file_path.clone(), original, change.new_content.clone())
}

fn diff(path: impl Into<std::path::PathBuf>, old: Option<String>, new: String) -> ToolCallContent {
    let kind = match &old {
        None => "add",
        Some(_) if new.is_empty() => "delete",
        Some(_) => "modify",
    };
    Diff::new(path, new).old_text(old).meta(object(json!({ "kind": kind }))).into()
}

#[cfg(test)]
mod tests {
    use pretty_assertions::assert_eq;
    use serde_json::{Value, to_value};

    use super::*;

    fn text(content: &ToolCallContent) -> String {
        to_value(content).unwrap()["content"]["text"].as_str().unwrap().to_owned()
    }

    #[test]
    fn nothing_can_leave_a_block_of_code() {
        for (given, expected) in [
            ("rm -rf _a_", "```\nrm -rf _a_\n```"),
            ("a `b` <!-- c\n", "```\na `b` <!-- c\n```"),
            ("a\n```\n<!-- hidden -->\n```", "````\na\n```\n<!-- hidden -->\n```\n````"),
            ("`````", "``````\n`````\n``````"),
        ] {
            assert_eq!(text(&code(given)), expected);
        }
    }

    #[test]
    fn output_of_several_lines_stays_in_lines() {
        assert_eq!(command_output("Mode: yolo\n"), "Mode: yolo\n");
        assert_eq!(command_output("/a — x\n/b — y"), "```\n/a — x\n/b — y\n```");
    }

    #[test]
    fn a_change_is_a_diff_with_its_kind() {
        for (old, new, kind) in
            [(None, "a", "add"), (Some("a"), "b", "modify"), (Some("a"), "", "delete")]
        {
            let diff = to_value(diff("/w/a", old.map(str::to_owned), new.to_owned())).unwrap();
            assert_eq!(
                (&diff["type"], &diff["_meta"]["kind"]),
                (&Value::from("diff"), &kind.into())
            );
            assert_eq!(diff["oldText"], old.map_or(Value::Null, Value::from));
        }
    }

    #[test]
    fn thoughts_have_the_form_of_gemini_cli() {
        assert_eq!(thought(&Thought::parse("**Plan** to say it")), "**Plan**\nto say it");
        assert_eq!(thought(&Thought::parse("to say it")), "to say it");
    }
}
