//! Completion of a command that is being typed.

use tokio::task::JoinHandle;

use super::{Conversation, is_command};

/// Maximum number of completions that are listed.
const LISTED: usize = 50;

/// Completion of a line in progress.
pub(crate) struct Completion {
    line: String,
    task: JoinHandle<Vec<String>>,
}

impl Completion {
    /// Waits for the completions of the line.
    pub(crate) async fn lines(&mut self) -> Vec<String> {
        // A command whose completion panics has no completions.
        (&mut self.task).await.unwrap_or_default()
    }
}

impl Drop for Completion {
    fn drop(&mut self) {
        self.task.abort();
    }
}

impl Conversation<'_> {
    /// Starts to complete the draft. Returns false unless it is a command with the cursor at its
    /// end.
    pub(super) fn complete(&mut self) -> bool {
        let Some(line) = self.draft.only_line().filter(|line| is_command(line)) else {
            return false;
        };
        let (line, commands) = (line.to_owned(), self.setting.handle.commands().get());
        let partial = line.clone();
        let task = tokio::spawn(async move { commands.complete(&partial).await });
        self.completion = Some(Completion { line, task });
        true
    }

    /// Handles the completions of the draft. The draft grows by their common start; if it cannot
    /// grow, the completions are listed.
    pub(crate) fn completed(&mut self, lines: &[String]) {
        let Some(completion) = self.completion.take() else { return };
        let typed = completion.line.as_str();
        let Some(common) = common_start(lines).filter(|common| common.starts_with(typed)) else {
            return;
        };
        if common.len() > typed.len() {
            let end = if lines.len() == 1 { " " } else { "" };
            self.draft.replace_line(format!("{common}{end}"));
        } else if lines.len() > 1 {
            let shown: Vec<&str> = lines.iter().take(LISTED).map(String::as_str).collect();
            let more = lines.len() - shown.len();
            let more = if more == 0 { String::new() } else { format!("  ({more} more)") };
            self.page.line(&format!("{}{more}", shown.join("  ")));
        }
    }
}

/// Returns the longest common start of all lines.
fn common_start(lines: &[String]) -> Option<&str> {
    let (first, rest) = lines.split_first()?;
    let common = rest.iter().fold(first.len(), |length, line| {
        let same = first.bytes().zip(line.bytes()).take_while(|(one, other)| one == other);
        length.min(same.count())
    });
    Some(&first[..first.floor_char_boundary(common)])
}
