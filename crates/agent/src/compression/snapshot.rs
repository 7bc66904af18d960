//! What a model has written to take the place of a conversation.

use super::{Deeds, Said, deeds, said};

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

const OPEN: &str = "<state_snapshot>";
const CLOSE: &str = "</state_snapshot>";

/// The words between the tags of a `<state_snapshot>`; never empty.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Snapshot(String);

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
        // What it repeats of an earlier one's lists is not taken for ours.
        let tags = [said::TAG, deeds::TAG].map(|tag| format!("<{tag}>"));
        let foreign = [OPEN, CLOSE].into_iter().chain(tags.iter().map(String::as_str));
        let inner = foreign.fold(inner.to_owned(), |inner, tag| inner.replace(tag, ""));
        let inner = inner.trim();
        (!inner.is_empty()).then(|| Self(inner.to_owned()))
    }

    /// The words of one part; none when it is not there or says nothing.
    pub fn section(&self, name: &str) -> Option<&str> {
        let (_, rest) = self.0.split_once(&format!("<{name}>"))?;
        let (words, _) = rest.split_once(&format!("</{name}>"))?;
        Some(words.trim()).filter(|words| !words.is_empty())
    }

    /// The parts that it should have and has not.
    pub fn missing(&self) -> impl Iterator<Item = &'static str> {
        SECTIONS.into_iter().filter(|name| self.section(name).is_none())
    }

    /// The message that takes the place of the conversation, with what is kept word for word behind it.
    pub fn render(&self, deeds: &Deeds, said: &Said) -> String {
        // A deed is one line and cannot look like the list of prompts; a prompt may look like anything.
        let parts = [self.0.clone(), deeds.render(), said.render()];
        let parts: Vec<&str> =
            parts.iter().map(String::as_str).filter(|part| !part.is_empty()).collect();
        format!("{OPEN}\n{}\n{CLOSE}", parts.join("\n"))
    }
}

/// True for a message that takes the place of a conversation.
pub(super) fn is_snapshot(text: &str) -> bool {
    let text = text.trim();
    text.starts_with(OPEN) && text.ends_with(CLOSE)
}
