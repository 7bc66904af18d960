//! Snapshot that a model wrote to replace a conversation.

use pollux_protocol::plain_text::one_line;

use super::{ActionLedger, Todos, UserMessages, ledger, todos, user_messages};

/// Sections that the model is asked to write.
pub const SECTIONS: [&str; 7] = [
    "overall_goal",
    "active_constraints",
    "key_knowledge",
    "artifact_trail",
    "file_system_state",
    "recent_actions",
    "task_state",
];

/// Tag around the approved plan.
const PLAN: &str = "approved_plan";

const OPEN: &str = "<state_snapshot>";
const CLOSE: &str = "</state_snapshot>";

/// Content that is kept exactly and not left to a model's memory.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Kept {
    /// Past actions.
    pub ledger: ActionLedger,
    /// Open tasks.
    pub todos: Todos,
    /// User messages.
    pub said: UserMessages,
    /// Plan that the user approved: its file and its content.
    pub plan: Option<(String, String)>,
}

/// Text between the tags of a `<state_snapshot>`; never empty.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CompressionSnapshot {
    words: String,
    has_tags: bool,
}

impl CompressionSnapshot {
    /// Reads the answer of a model that was asked for a snapshot. The scratchpad is left out. An
    /// answer without the tags is used as a whole: a summary in another form is better than no
    /// summary. `None` if the text is empty.
    pub fn read(answer: &str) -> Option<Self> {
        let said = match answer.rsplit_once("</scratchpad>") {
            Some((_, said)) => said,
            None => match answer.split_once("<scratchpad>") {
                // A scratchpad without an end tag ends at the snapshot, if there is one.
                Some((before, thoughts)) => {
                    thoughts.find(OPEN).map_or(before, |start| &thoughts[start..])
                }
                None => answer,
            },
        };
        let inner = said.split_once(OPEN).map_or(said, |(_, inner)| inner);
        let inner = inner.rsplit_once(CLOSE).map_or(inner, |(inner, _)| inner);
        let inner =
            [OPEN, CLOSE].iter().fold(inner.to_owned(), |inner, tag| inner.replace(tag, ""));
        // A list that the model copied from an earlier snapshot must not be read as a list from
        // Pollux.
        let tags = [user_messages::TAG, ledger::TAG, todos::TAG, PLAN];
        let inner = tags
            .iter()
            .fold(inner, |inner, tag| inner.replace(&format!("<{tag}>"), &format!("< {tag}>")));
        let inner = inner.trim();
        let has_tags = said.contains(OPEN);
        (!inner.is_empty()).then(|| Self { words: inner.to_owned(), has_tags })
    }

    /// Returns the replacement text for messages without a summary by a model.
    pub fn of_nothing(messages: usize) -> Self {
        let words = format!(
            "The oldest part of this conversation, {messages} messages, could not be summarised and is omitted. Its actions and the user's messages are listed below. Read other content again if you need it."
        );
        Self { words, has_tags: false }
    }

    /// Returns `later` if it is a better snapshot than this one. A later answer without the tags,
    /// such as "no changes needed", does not replace a snapshot with tags.
    #[must_use]
    pub fn replaced_by(self, later: Option<Self>) -> Self {
        later.filter(|later| later.has_tags || !self.has_tags).unwrap_or(self)
    }

    /// Returns the text of one section; `None` if the section is missing or empty.
    pub fn section(&self, name: &str) -> Option<&str> {
        let (_, rest) = self.words.split_once(&format!("<{name}>"))?;
        let (words, _) = rest.split_once(&format!("</{name}>"))?;
        Some(words.trim()).filter(|words| !words.is_empty())
    }

    /// Returns the names of the missing sections.
    pub fn missing(&self) -> impl Iterator<Item = &'static str> {
        SECTIONS.into_iter().filter(|name| self.section(name).is_none())
    }

    /// Returns the message that replaces the conversation, with the exactly kept content at its
    /// end.
    pub fn render(&self, kept: &Kept) -> String {
        // Each action and each todo is a single line and cannot look like another list. A prompt or
        // a plan may contain any text.
        let plan = kept.plan.as_ref().map(|(path, text)| {
            format!("<{PLAN}>\n{}\n{}\n</{PLAN}>", one_line(path), text.trim_end())
        });
        let parts = [
            self.words.clone(),
            kept.ledger.render(),
            kept.todos.render(),
            kept.said.render(),
            plan.unwrap_or_default(),
        ];
        let parts: Vec<&str> =
            parts.iter().map(String::as_str).filter(|part| !part.is_empty()).collect();
        format!("{OPEN}\n{}\n{CLOSE}", parts.join("\n"))
    }
}

/// Returns the part of a snapshot's message before the user's own text.
pub(super) fn machine_made(message: &str) -> &str {
    // The items before are single lines and cannot look like this opening.
    let prompts = format!("<{}>\n<{} ", user_messages::TAG, user_messages::ITEM);
    message.split_once(&prompts).map_or(message, |(before, _)| before)
}

/// True for a message that replaces a conversation.
pub(super) fn is_snapshot(text: &str) -> bool {
    let text = text.trim();
    text.starts_with(OPEN) && text.ends_with(CLOSE)
}
