//! State of a resumed session, for the first lines of a conversation.

use pollux_protocol::{
    Part, ResumedState, RunningSession, SessionFacts, Todo, TranscriptFrom, TranscriptItem,
};

use crate::narration::cut;

/// Maximum number of to-do items that are listed.
const SHOWN_TODOS: usize = 12;
/// Maximum number of lines that are shown of the last answer.
const SHOWN_LINES: usize = 6;

/// Number of messages that are read at a time.
const PAGE: usize = 20;
/// Number of prompts, with all messages after them, that are read.
const PROMPTS: usize = 2;
/// Maximum number of messages that are read.
const MOST_MESSAGES: usize = 200;

/// Last messages of an earlier conversation.
#[derive(Debug, Default)]
pub struct LastMessages {
    items: Vec<TranscriptItem>,
    has_earlier: bool,
}

impl LastMessages {
    /// Reads the last prompts and the messages after them from the transcript of a session. They
    /// are empty if the transcript cannot be read.
    pub(crate) async fn read(session: &dyn RunningSession) -> Self {
        let (mut last, mut next) = (Self::default(), Some(TranscriptFrom::End));
        let mut prompts = 0;
        while let Some(from) = next
            && let Ok(page) = session.transcript(from, PAGE).await
        {
            let mut items = page.items.into_iter().rev();
            while let Some(item) = items.next() {
                prompts += usize::from(matches!(item, TranscriptItem::User { .. }));
                last.items.push(item);
                if prompts == PROMPTS || last.items.len() == MOST_MESSAGES {
                    last.has_earlier = items.next().is_some() || page.before.is_some();
                    last.items.reverse();
                    return last;
                }
            }
            next = page.before.map(TranscriptFrom::Before);
        }
        last.items.reverse();
        last
    }

    /// Returns the messages, oldest first.
    pub fn items(&self) -> &[TranscriptItem] {
        &self.items
    }

    /// Returns true if the session has messages before these.
    pub fn has_earlier(&self) -> bool {
        self.has_earlier
    }

    /// Returns the last prompt, and the last text of the model after it.
    fn prompt_and_answer(&self) -> (String, String) {
        let mut last_answer = String::new();
        for item in self.items.iter().rev() {
            match item {
                TranscriptItem::User { parts, .. } => return (text(parts), last_answer),
                TranscriptItem::Answer(answer) if last_answer.is_empty() => {
                    last_answer = text(&answer.parts);
                }
                _ => {}
            }
        }
        (String::new(), last_answer)
    }
}

fn text(parts: &[Part]) -> String {
    parts.iter().filter_map(Part::as_text).collect::<String>().trim().to_owned()
}

/// Returns the lines about a resumed session; empty for a new one. `last` are its last messages.
pub fn resumed_lines(facts: &SessionFacts, last: &LastMessages) -> Vec<String> {
    let mut lines = resumed_state_lines(facts);
    if facts.resumed.is_some() {
        let (prompt, answer) = last.prompt_and_answer();
        lines.extend(last_messages(&prompt, &answer));
    }
    lines
}

/// Returns the lines about a resumed session without its last messages; empty for a new one.
pub fn resumed_state_lines(facts: &SessionFacts) -> Vec<String> {
    let Some(state) = &facts.resumed else { return Vec::new() };
    let ResumedState { title, last_used, .. } = state;
    let first = format!("Resumed session {}, last used {last_used}: {}", facts.id, cut(title));
    std::iter::once(first).chain(state_lines(state)).collect()
}

/// Returns the beginning of the last prompt, and the end of the last answer.
fn last_messages(prompt: &str, answer: &str) -> Vec<String> {
    let answer: Vec<&str> = answer.lines().collect();
    let hidden = answer.len().saturating_sub(SHOWN_LINES);
    let prompt = Some(prompt).filter(|prompt| !prompt.is_empty());
    let prompt = prompt.map(|prompt| format!("  > {}", cut(prompt)));
    let mark = (hidden > 0).then(|| "  ...".to_owned());
    let shown = answer[hidden..].iter().map(|line| format!("  {}", cut(line)));
    prompt.into_iter().chain(mark).chain(shown).collect()
}

fn state_lines(state: &ResumedState) -> impl Iterator<Item = String> {
    let ResumedState { topic, plan, todos, .. } = state;
    let topic = topic.as_ref().map(|topic| format!("Topic: {topic}"));
    let plan = plan.as_ref().map(|plan| format!("Plan: {plan} (approved)"));
    let more = todos.len().checked_sub(SHOWN_TODOS).filter(|more| *more > 0);
    let todo = |Todo { status, description }: &Todo| format!("  [{status}] {description}");
    topic
        .into_iter()
        .chain(plan)
        .chain(todos.iter().take(SHOWN_TODOS).map(todo))
        .chain(more.map(|more| format!("  ... {more} more")))
}
