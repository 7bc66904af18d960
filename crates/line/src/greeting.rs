//! The first lines of a conversation.

use pollux_input::{LastMessages, resumed_lines};
use pollux_protocol::SessionFacts;

/// Returns the lines about a session. `last` are the messages of a resumed session.
pub(crate) fn greeting(version: &str, facts: &SessionFacts, last: &LastMessages) -> String {
    let SessionFacts { folder, model, mode, is_trusted, .. } = facts;
    let trust = if *is_trusted { "trusted" } else { "not trusted" };
    let mut lines = vec![
        format!("Pollux {version}. Model: {model}. Mode: {}.", mode.flag()),
        format!("Folder: {} ({trust}).", folder.display()),
        "/help lists the commands. A final backslash continues a line. Esc stops the turn, Ctrl-D quits."
            .to_owned(),
    ];
    lines.extend(resumed_lines(facts, last));
    lines.join("\n")
}
