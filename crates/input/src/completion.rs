//! Completion of a command or path that is being typed.

use std::time::Duration;

use pollux_protocol::{CommandSet, Completions, Live};
use tokio::task::JoinHandle;

use crate::editor::LineEditor;
use crate::work::is_command;

/// Function that completes a path in the workspace, within a time limit.
pub type CompletePath<'a> = dyn Fn(String, Duration) -> JoinHandle<Completions> + 'a;

/// Completion of a line in progress.
pub struct Completion {
    /// Text before the part that is completed.
    head: String,
    /// Text that is completed.
    typed: String,
    task: JoinHandle<Completions>,
    is_partial: bool,
}

impl Completion {
    /// Starts to complete the line of an editor. Returns `None` unless it is a command with the
    /// cursor at its end, or a path after an `@` ends at the cursor. `limit` is the time limit of
    /// the search for a path.
    pub fn start(
        editor: &LineEditor,
        commands: &Live<CommandSet>,
        complete_path: &CompletePath<'_>,
        limit: Duration,
    ) -> Option<Self> {
        if let Some(line) = editor.only_line().filter(|line| is_command(line)) {
            let (typed, commands) = (line.to_owned(), commands.get());
            let partial = typed.clone();
            let task = tokio::spawn(async move {
                Completions { texts: commands.complete(&partial).await, is_partial: false }
            });
            return Some(Self { head: String::new(), typed, task, is_partial: false });
        }
        let (head, typed) = at_path(editor.before())?;
        let (head, typed) = (head.to_owned(), typed.to_owned());
        let task = complete_path(typed.clone(), limit);
        Some(Self { head, typed, task, is_partial: false })
    }

    /// Returns true if part of a path after an `@` is left of the cursor.
    pub fn is_path(editor: &LineEditor) -> bool {
        at_path(editor.before()).is_some_and(|(_, path)| !path.is_empty())
    }

    /// Waits for the completions of the line.
    pub async fn lines(&mut self) -> Vec<String> {
        // A command whose completion panics has no completions.
        let Completions { texts, is_partial } = (&mut self.task).await.unwrap_or_default();
        self.is_partial = is_partial;
        texts
    }

    /// Returns true if the search has ended at its time limit: a new one continues it.
    pub fn is_partial(&self) -> bool {
        self.is_partial
    }

    /// Returns the text left of the cursor with the common start of all completions, if it is
    /// longer than the typed text. Those that do not begin with the typed text count only if there
    /// are no others. A single completion is followed by a blank, unless it is a folder.
    pub fn grown(&self, lines: &[String]) -> Option<String> {
        let begins = |line: &&String| line.starts_with(&self.typed);
        let beginning: Vec<&String> = lines.iter().filter(begins).collect();
        let lines = if beginning.is_empty() { lines.iter().collect() } else { beginning };
        let common = common_start(&lines)?;
        let is_only = lines.len() == 1;
        let end = if is_only && !common.ends_with('/') { " " } else { "" };
        let grows = common.starts_with(&self.typed) && common.len() > self.typed.len();
        (grows || is_only).then(|| self.replaced(common) + end)
    }

    /// Returns the text left of the cursor with this completion.
    pub fn replaced(&self, completed: &str) -> String {
        format!("{}{completed}", self.head)
    }
}

impl Drop for Completion {
    fn drop(&mut self) {
        self.task.abort();
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
fn common_start<'l>(lines: &[&'l String]) -> Option<&'l str> {
    let (first, rest) = lines.split_first()?;
    let common = rest.iter().fold(first.len(), |length, line| {
        let same = first.bytes().zip(line.bytes()).take_while(|(one, other)| one == other);
        length.min(same.count())
    });
    Some(&first[..first.floor_char_boundary(common)])
}
