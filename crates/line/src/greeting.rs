//! The first lines of a conversation.

use pollux_protocol::{ResumedState, SessionFacts, Todo};

/// Maximum number of to-do items that are listed.
const SHOWN_TODOS: usize = 12;

/// Returns the lines about a session.
pub(crate) fn greeting(version: &str, facts: &SessionFacts) -> String {
    let SessionFacts { id, folder, model, mode, is_trusted, resumed, .. } = facts;
    let trust = if *is_trusted { "trusted" } else { "not trusted" };
    let mut lines = vec![
        format!("Pollux {version}. Model: {model}. Mode: {mode}."),
        format!("Folder: {} ({trust}).", folder.display()),
        "/help lists the commands. A backslash at the end continues a line. Ctrl-C stops the work, Ctrl-D ends."
            .to_owned(),
    ];
    if let Some(state) = resumed {
        lines.push(format!("Session {id} goes on."));
        lines.extend(state_lines(state));
    }
    lines.join("\n")
}

fn state_lines(state: &ResumedState) -> impl Iterator<Item = String> {
    let ResumedState { topic, plan, todos } = state;
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
