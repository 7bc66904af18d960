//! Completion of a command that is being typed.

use std::time::Duration;

use pollux_input::{Completion, is_command};
use pollux_protocol::plain_text::visible;

use super::Conversation;

/// Maximum number of completions that are listed.
const LISTED: usize = 50;
/// Time limit of the search for a path.
const SEARCH: Duration = Duration::from_secs(1);

impl Conversation<'_> {
    /// Starts to complete the draft. Returns false if there is nothing to complete.
    pub(super) fn complete(&mut self) -> bool {
        let commands = self.workload.handle().commands();
        self.completion = Completion::start(&self.draft, &commands, &*self.complete_path, SEARCH);
        self.completion.is_some()
    }

    /// Handles the completions of the draft. The draft grows by their common start; if it cannot
    /// grow, the completions are listed.
    pub(super) fn show_completions(&mut self, lines: &[String]) {
        let Some(completion) = self.completion.take() else { return };
        if let Some(text) = completion.grown(lines) {
            self.draft.replace_before(text);
        } else if lines.len() > 1 {
            // Commands that match loosely count only if there are no others.
            let typed = self.draft.before();
            let begins = |line: &&String| is_command(line) && line.starts_with(typed);
            let beginning: Vec<String> = lines.iter().filter(begins).cloned().collect();
            let lines = if beginning.is_empty() { lines } else { &beginning[..] };
            let commands = self.workload.handle().commands().get();
            let described = |line: &String| {
                let command = commands.get(line.strip_prefix('/')?)?;
                Some(format!("{line} — {}", visible(command.description())))
            };
            let shown = &lines[..lines.len().min(LISTED)];
            let more = lines.len() - shown.len();
            let more = (more > 0).then(|| format!("({more} more)"));
            let rows: Option<Vec<String>> = shown.iter().map(described).collect();
            let listed = match rows {
                Some(rows) => rows.into_iter().chain(more).collect::<Vec<_>>().join("\n"),
                None => shown.iter().cloned().chain(more).collect::<Vec<_>>().join("  "),
            };
            self.page.line(&listed);
        }
    }
}
