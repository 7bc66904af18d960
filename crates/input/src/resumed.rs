//! State of a resumed session, for the first lines of a conversation.

use pollux_protocol::{
    Part, ResumedState, RunningSession, SessionFacts, Todo, TranscriptFrom, TranscriptItem,
};

use crate::narration::cut;

/// Maximum number of to-do items that are listed.
const SHOWN_TODOS: usize = 12;
/// Maximum number of lines that are shown of the last answer.
const SHOWN_LINES: usize = 6;

/// Number of messages that are read at a time to find the last prompt.
const PAGE: usize = 20;

/// Last prompt of an earlier conversation, and the last text of the model after it.
#[derive(Debug, Default)]
pub struct LastMessages {
    prompt: String,
    answer: String,
}

impl LastMessages {
    /// Reads the messages from the transcript of a session. They are empty if the transcript cannot
    /// be read.
    pub(crate) async fn read(session: &dyn RunningSession) -> Self {
        let (mut last, mut next) = (Self::default(), Some(TranscriptFrom::End));
        while let Some(from) = next
            && let Ok(page) = session.transcript(from, PAGE).await
        {
            for item in page.items.into_iter().rev() {
                match item {
                    TranscriptItem::User { parts, .. } => {
                        last.prompt = text(&parts);
                        return last;
                    }
                    TranscriptItem::Answer(answer) if last.answer.is_empty() => {
                        last.answer = text(&answer.parts);
                    }
                    _ => {}
                }
            }
            next = page.before.map(TranscriptFrom::Before);
        }
        last
    }
}

fn text(parts: &[Part]) -> String {
    parts.iter().filter_map(Part::as_text).collect::<String>().trim().to_owned()
}

/// Returns the lines about a resumed session; empty for a new one. `last` are its last messages.
pub fn resumed_lines(facts: &SessionFacts, last: &LastMessages) -> Vec<String> {
    let Some(state) = &facts.resumed else { return Vec::new() };
    let ResumedState { title, last_used, .. } = state;
    let first = format!("Resumed session {}, last used {last_used}: {}", facts.id, cut(title));
    std::iter::once(first).chain(state_lines(state)).chain(last_messages(last)).collect()
}

/// Returns the beginning of the last prompt, and the end of the last answer.
fn last_messages(last: &LastMessages) -> impl Iterator<Item = String> {
    let prompt = Some(&last.prompt).filter(|prompt| !prompt.is_empty());
    let answer: Vec<&str> = last.answer.lines().collect();
    let hidden = answer.len().saturating_sub(SHOWN_LINES);
    let mark = (hidden > 0).then(|| "  ...".to_owned());
    let shown: Vec<String> =
        answer[hidden..].iter().map(|line| format!("  {}", cut(line))).collect();
    prompt.map(|prompt| format!("  > {}", cut(prompt))).into_iter().chain(mark).chain(shown)
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
