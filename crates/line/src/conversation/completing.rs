//! Completion of a command that is being typed.

use pollux_protocol::plain_text::visible;
use tokio::task::JoinHandle;

use super::{Conversation, is_command};

/// Maximum number of completions that are listed.
const LISTED: usize = 50;

/// Completion of a line in progress.
pub(crate) struct Completion {
    /// Text before the part that is completed.
    head: String,
    /// Text that is completed.
    typed: String,
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
    /// end, or a path after an `@` ends at the cursor.
    pub(super) fn complete(&mut self) -> bool {
        if let Some(line) = self.draft.only_line().filter(|line| is_command(line)) {
            let (typed, commands) = (line.to_owned(), self.setting.handle.commands().get());
            let partial = typed.clone();
            let task = tokio::spawn(async move { commands.complete(&partial).await });
            self.completion = Some(Completion { head: String::new(), typed, task });
            return true;
        }
        let Some((head, typed)) = at_path(self.draft.before()) else { return false };
        let (head, typed) = (head.to_owned(), typed.to_owned());
        let task = (self.setting.complete_path)(typed.clone());
        self.completion = Some(Completion { head, typed, task });
        true
    }

    /// Handles the completions of the draft. The draft grows by their common start; if it cannot
    /// grow, the completions are listed.
    pub(crate) fn completed(&mut self, lines: &[String]) {
        let Some(completion) = self.completion.take() else { return };
        let (head, typed) = (completion.head.as_str(), completion.typed.as_str());
        let Some(common) = common_start(lines) else { return };
        let is_only = lines.len() == 1;
        let is_whole = is_only && !common.ends_with('/');
        // Paths that only contain the typed text do not begin with it.
        let grows = common.starts_with(typed) && common.len() > typed.len();
        if grows || is_only {
            let end = if is_whole { " " } else { "" };
            self.draft.replace_before(format!("{head}{common}{end}"));
        } else if lines.len() > 1 {
            let commands = self.setting.handle.commands().get();
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

/// Splits a text behind the `@` of the path at its end. A blank in a path follows a backslash.
fn at_path(text: &str) -> Option<(&str, &str)> {
    let start = text.rfind('@')? + 1;
    let (head, path) = text.split_at(start);
    let before = head[..head.len() - 1].chars().next_back();
    let begins = before.is_none_or(char::is_whitespace);
    let mut letters = path.chars();
    let mut is_one_word = true;
    while let Some(letter) = letters.next() {
        match letter {
            '\\' => drop(letters.next()),
            letter => is_one_word &= !letter.is_whitespace(),
        }
    }
    (begins && is_one_word).then_some((head, path))
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
