//! The first lines of a conversation.

use pollux_protocol::{ResumedState, SessionFacts, Todo};

use crate::narration::cut;

/// Maximum number of to-do items that are listed.
const SHOWN_TODOS: usize = 12;
/// Maximum number of lines that are shown of the last answer.
const SHOWN_LINES: usize = 6;

/// Returns the lines about a session.
pub(crate) fn greeting(version: &str, facts: &SessionFacts) -> String {
    let SessionFacts { id, folder, model, mode, is_trusted, resumed, .. } = facts;
    let trust = if *is_trusted { "trusted" } else { "not trusted" };
    let mut lines = vec![
        format!("Pollux {version}. Model: {model}. Mode: {}.", mode.flag()),
        format!("Folder: {} ({trust}).", folder.display()),
        "/help lists the commands. A final backslash continues a line. Ctrl-C stops the turn, Ctrl-D quits."
            .to_owned(),
    ];
    if let Some(state) = resumed {
        let ResumedState { title, last_used, .. } = state;
        lines.push(format!("Resumed session {id}, last used {last_used}: {}", cut(title)));
        lines.extend(state_lines(state));
        lines.extend(last_messages(state));
    }
    lines.join("\n")
}

/// Returns the beginning of the last prompt, and the end of the last answer.
fn last_messages(state: &ResumedState) -> impl Iterator<Item = String> {
    let prompt = Some(&state.last_prompt).filter(|prompt| !prompt.is_empty());
    let answer: Vec<&str> = state.last_answer.lines().collect();
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
