//! What the tools do, in lines for a person who watches. A headless run prints them on standard error,
//! beside the model's words.

use pollux_protocol::{Call, Display, FinishedCall};

use super::stderr_line;

/// Lines of a result that are shown.
const SHOWN_LINES: usize = 12;
/// Characters of a line that are shown.
const SHOWN_CHARACTERS: usize = 160;
/// Arguments that say what a call is about, the most telling first.
const TELLING: [&str; 5] = ["command", "file_path", "pattern", "dir_path", "path"];

/// Tells of calls that have ended.
pub(super) fn narrate(calls: &[std::sync::Arc<FinishedCall>]) {
    for finished in calls {
        stderr_line(&format!("  > {}", headline(&finished.call)));
        for line in result(finished) {
            stderr_line(&format!("    {line}"));
        }
    }
}

/// A call in one line: the tool, and what it is about.
pub(crate) fn headline(call: &Call) -> String {
    let about = TELLING.iter().find_map(|name| call.args.get(name)?.as_str());
    cut(&format!("{} {}", call.name, about.unwrap_or_default()))
}

/// The first lines of what a person is shown of a result; none of a failure.
pub(crate) fn result(finished: &FinishedCall) -> Vec<String> {
    let text = match (&finished.error, &finished.display) {
        // Standard error is told of failures anyway.
        (Some(_), _) | (None, None) => return Vec::new(),
        (None, Some(Display::Text(text))) => text.as_str(),
        (None, Some(Display::Diff(diff))) => diff.file_diff.as_str(),
        (None, Some(Display::Structured(value))) => {
            value.get("summary").and_then(|summary| summary.as_str()).unwrap_or_default()
        }
    };
    let mut lines: Vec<String> = text.lines().take(SHOWN_LINES).map(cut).collect();
    let more = text.lines().count().saturating_sub(SHOWN_LINES);
    if more > 0 {
        lines.push(format!("... {more} more lines"));
    }
    lines
}

/// The first line of a text, no longer than is good to read.
pub(crate) fn cut(line: &str) -> String {
    let first = line.lines().next().unwrap_or_default();
    let mut shown: String = first.chars().take(SHOWN_CHARACTERS).collect();
    if shown.len() < line.len() {
        shown.push_str("...");
    }
    shown
}
