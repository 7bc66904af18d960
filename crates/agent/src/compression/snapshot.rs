//! What a model has written to take the place of a conversation.

use super::{ActionLedger, Said, Todos, ledger, said, todos};

/// The parts that a snapshot is asked to have.
pub const SECTIONS: [&str; 7] = [
    "overall_goal",
    "active_constraints",
    "key_knowledge",
    "artifact_trail",
    "file_system_state",
    "recent_actions",
    "task_state",
];

/// Stands around the plan that was approved.
const PLAN: &str = "approved_plan";

const OPEN: &str = "<state_snapshot>";
const CLOSE: &str = "</state_snapshot>";

/// What no model is trusted to remember.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Kept {
    /// What was done.
    pub ledger: ActionLedger,
    /// What is to be done.
    pub todos: Todos,
    /// What the user has said.
    pub said: Said,
    /// The plan that the user has approved: its file, and what it says.
    pub plan: Option<(String, String)>,
}

/// The words between the tags of a `<state_snapshot>`; never empty.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Snapshot {
    words: String,
    has_tags: bool,
}

impl Snapshot {
    /// Reads the answer of a model that was asked for a snapshot. Its private thoughts before are left out. Without the
    /// tags all of it counts: a summary in another form is better than none. None when nothing is said.
    pub fn read(answer: &str) -> Option<Self> {
        let said = match answer.rsplit_once("</scratchpad>") {
            Some((_, said)) => said,
            None => match answer.split_once("<scratchpad>") {
                // Thoughts without an end reach to the snapshot, where there is one.
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
        // What it repeats of an earlier one's lists is not taken for ours.
        let tags = [said::TAG, ledger::TAG, todos::TAG, PLAN];
        let inner = tags
            .iter()
            .fold(inner, |inner, tag| inner.replace(&format!("<{tag}>"), &format!("< {tag}>")));
        let inner = inner.trim();
        let has_tags = said.contains(OPEN);
        (!inner.is_empty()).then(|| Self { words: inner.to_owned(), has_tags })
    }

    /// What is written in its place when no model has written one.
    pub fn of_nothing(messages: usize) -> Self {
        let words = format!(
            "The oldest part of this conversation, {messages} messages, could not be summarised and is left out. What was done in \
             it and what the user said stands below. Look again at what else is needed."
        );
        Self { words, has_tags: false }
    }

    /// This one, or a later one that takes its place. What only says that all is well does not.
    #[must_use]
    pub fn replaced_by(self, later: Option<Self>) -> Self {
        later.filter(|later| later.has_tags || !self.has_tags).unwrap_or(self)
    }

    /// The words of one part; none when it is not there or says nothing.
    pub fn section(&self, name: &str) -> Option<&str> {
        let (_, rest) = self.words.split_once(&format!("<{name}>"))?;
        let (words, _) = rest.split_once(&format!("</{name}>"))?;
        Some(words.trim()).filter(|words| !words.is_empty())
    }

    /// The parts that it should have and has not.
    pub fn missing(&self) -> impl Iterator<Item = &'static str> {
        SECTIONS.into_iter().filter(|name| self.section(name).is_none())
    }

    /// The message that takes the place of the conversation, with what is kept word for word behind it.
    pub fn render(&self, kept: &Kept) -> String {
        // Actions and todos are one line each and cannot look like another list; a prompt and a plan may look like anything.
        let plan = kept.plan.as_ref().map(|(path, text)| {
            format!("<{PLAN}>\n{}\n{}\n</{PLAN}>", super::one_line(path), text.trim_end())
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

/// The part of a snapshot's message in which nobody's words stand as they were said.
pub(super) fn machine_made(message: &str) -> &str {
    // What stands before is in lines of its own and cannot look like it.
    let prompts = format!("<{}>\n<{} ", said::TAG, said::ITEM);
    message.split_once(&prompts).map_or(message, |(before, _)| before)
}

/// True for a message that takes the place of a conversation.
pub(super) fn is_snapshot(text: &str) -> bool {
    let text = text.trim();
    text.starts_with(OPEN) && text.ends_with(CLOSE)
}
