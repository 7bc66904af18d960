//! Line editor with history. Pure: it takes keys and returns results.

use unicode_segmentation::UnicodeSegmentation;

use crate::keys::KeyPress;

mod history_search;
mod units;

use history_search::HistorySearch;
pub use history_search::SearchMatches;

/// Maximum size of a prompt, in bytes.
const LONGEST: usize = 8 << 20;
/// Maximum number of lines in the history.
pub const HISTORY_LINES: usize = 500;
/// Maximum size of a line in the history, in bytes.
const LONGEST_KEPT: usize = 64 << 10;
/// Maximum number of bytes that are searched for the character next to the cursor; no character
/// that users type is longer.
const NEAR: usize = 1024;
/// Maximum number of changes that can be undone.
const UNDONE: usize = 100;

/// Result of a key.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum EditOutcome {
    /// The content of the line may have changed.
    Line,
    /// The line ended with a backslash: the prompt continues on the next line.
    Continued,
    /// The prompt is complete.
    Submitted(String),
    /// The prompt exceeded the maximum size and was dropped.
    TooLong,
    /// The input has ended. Lines of a prompt may precede the empty last line.
    EndOfInput,
    /// The screen must be cleared.
    ClearScreen,
    /// The prompt must be opened in the external editor.
    ExternalEditor,
}

/// Line editor. The text is stored as two halves around the cursor, so that the cost of a key does
/// not depend on its length.
#[derive(Debug, Default)]
pub struct LineEditor {
    /// Earlier lines of a prompt with several lines.
    above: String,
    before: String,
    after: String,
    too_long: bool,
    history: Vec<String>,
    /// Index of the history line that is shown.
    shown: Option<usize>,
    /// Text that was typed before the user opened the history.
    set_aside: String,
    /// Text that was deleted last.
    killed: String,
    undo: Undo,
    search: Option<HistorySearch>,
    /// Texts that count as one character.
    units: Vec<String>,
}

impl LineEditor {
    /// Returns the text left of the cursor.
    pub fn before(&self) -> &str {
        &self.before
    }

    /// Returns the text right of the cursor.
    pub fn after(&self) -> &str {
        &self.after
    }

    /// Returns the earlier lines of the prompt, with their line ends.
    pub fn above(&self) -> &str {
        &self.above
    }

    /// Returns true if the prompt has earlier lines.
    pub fn is_continued(&self) -> bool {
        !self.above.is_empty()
    }

    /// Returns true if nothing is typed.
    pub fn is_empty(&self) -> bool {
        self.above.is_empty() && self.is_at_empty_line()
    }

    fn is_at_empty_line(&self) -> bool {
        self.before.is_empty() && self.after.is_empty() && !self.too_long
    }

    /// Returns and removes the earlier lines of the prompt.
    pub fn take_above(&mut self) -> String {
        std::mem::take(&mut self.above)
    }

    /// Removes all typed text.
    pub fn clear(&mut self) {
        self.above.clear();
        self.set(String::new());
        (self.search, self.undo) = (None, Undo::default());
        self.too_long = false;
        self.shown = None;
    }

    /// Returns the whole prompt.
    pub fn whole(&self) -> String {
        [self.above.as_str(), &self.before, &self.after].concat()
    }

    /// Replaces the whole prompt.
    pub fn replace_whole(&mut self, text: String) {
        self.undo.keep(&self.before, &self.after);
        self.above.clear();
        self.set(text);
    }

    /// Replaces the texts on both sides of the cursor.
    pub(crate) fn replace_halves(&mut self, before: String, after: String) {
        self.undo.keep(&self.before, &self.after);
        (self.before, self.after) = (before, after);
    }

    /// Moves the cursor behind this number of bytes of the text, which is one line with line ends.
    pub fn move_to(&mut self, bytes: usize) {
        match bytes.checked_sub(self.before.len()) {
            Some(more) => self.move_right(more.min(self.after.len())),
            None => self.move_left(bytes),
        }
    }

    /// Returns the line if it is the only one and the cursor is at its end.
    pub fn only_line(&self) -> Option<&str> {
        (self.above.is_empty() && self.after.is_empty()).then_some(self.before.as_str())
    }

    /// Replaces the text left of the cursor.
    pub fn replace_before(&mut self, text: String) {
        self.undo.keep(&self.before, &self.after);
        self.before = text;
    }

    /// Applies a key.
    pub fn press(&mut self, key: KeyPress) -> EditOutcome {
        let Some(key) = self.search(key) else { return EditOutcome::Line };
        if self.undo.is_wanted(&key) {
            self.undo.keep(&self.before, &self.after);
        }
        match key {
            KeyPress::Text(text) => self.insert(&text),
            KeyPress::Tab => self.insert("\t"),
            KeyPress::Enter => return self.enter(),
            KeyPress::Newline => return self.newline(),
            KeyPress::EndOfInput if self.is_at_empty_line() => return EditOutcome::EndOfInput,
            KeyPress::ClearScreen => return EditOutcome::ClearScreen,
            KeyPress::ExternalEditor => return EditOutcome::ExternalEditor,
            KeyPress::Yank => self.insert(&self.killed.clone()),
            KeyPress::Undo => self.undo(),
            KeyPress::Backspace if self.before.is_empty() => self.join_lines(),
            KeyPress::Backspace => self.before.truncate(self.last_character()),
            KeyPress::Delete | KeyPress::EndOfInput => {
                drop(self.after.drain(..self.behind_unit(first_cluster(&self.after))));
            }
            KeyPress::KillLeft => self.kill_left(line_start(&self.before)),
            KeyPress::KillRight => self.kill_right(line_end(&self.after)),
            KeyPress::KillWord => self.kill_left(blank_word_start(&self.before)),
            KeyPress::KillWordLeft => self.kill_left(word_start(&self.before)),
            KeyPress::KillWordRight => self.kill_right(word_end(&self.after)),
            KeyPress::Left | KeyPress::Background => self.move_left(last_cluster(&self.before)),
            KeyPress::WordLeft => self.move_left(word_start(&self.before)),
            KeyPress::Home | KeyPress::ScrollStart => self.move_left(line_start(&self.before)),
            KeyPress::Right => self.move_right(first_cluster(&self.after)),
            KeyPress::WordRight => self.move_right(word_end(&self.after)),
            KeyPress::End | KeyPress::ScrollEnd => self.move_right(line_end(&self.after)),
            KeyPress::Up | KeyPress::AltUp => self.up(),
            KeyPress::Down | KeyPress::AltDown => self.down(),
            // A search has handled its keys; a frontend handles the others.
            KeyPress::Escape
            | KeyPress::Search
            | KeyPress::CycleMode
            | KeyPress::ShiftUp
            | KeyPress::ShiftDown
            | KeyPress::Todos
            | KeyPress::Paste
            | KeyPress::Transcript
            | KeyPress::Signal(_)
            | KeyPress::Knows(_)
            | KeyPress::PageUp
            | KeyPress::PageDown
            | KeyPress::WheelUp
            | KeyPress::WheelDown
            | KeyPress::PasteBegin
            | KeyPress::PasteEnd => {}
        }
        EditOutcome::Line
    }

    /// Adds a line to the history.
    pub fn remember(&mut self, line: &str) {
        let known = self.history.last().is_some_and(|last| last == line);
        if known || line.trim().is_empty() || line.len() > LONGEST_KEPT {
            return;
        }
        if self.history.len() == HISTORY_LINES {
            self.history.remove(0);
        }
        self.history.push(line.to_owned());
    }

    fn insert(&mut self, text: &str) {
        let length = self.above.len() + self.before.len() + self.after.len() + text.len();
        if self.too_long || length > LONGEST {
            // A prompt that is too long cannot be sent, so its text is dropped.
            self.clear();
            self.too_long = true;
        } else {
            self.before.push_str(text);
        }
    }

    fn enter(&mut self) -> EditOutcome {
        if self.too_long {
            self.clear();
            return EditOutcome::TooLong;
        }
        let mut text = std::mem::take(&mut self.before) + &std::mem::take(&mut self.after);
        self.shown = None;
        let backslashes = text.len() - text.trim_end_matches('\\').len();
        if backslashes % 2 == 1 {
            text.pop();
            self.above.push_str(&text);
            self.above.push('\n');
            return EditOutcome::Continued;
        }
        let whole = std::mem::take(&mut self.above) + &text;
        self.remember(&whole);
        EditOutcome::Submitted(whole)
    }

    /// Ends the line at the cursor; the rest goes to the next line.
    fn newline(&mut self) -> EditOutcome {
        if self.too_long {
            self.clear();
            return EditOutcome::TooLong;
        }
        self.above.push_str(&self.before);
        self.above.push('\n');
        self.before.clear();
        self.shown = None;
        EditOutcome::Continued
    }

    /// Returns to the end of the line above.
    fn join_lines(&mut self) {
        if self.above.pop().is_some() {
            let start = line_start(&self.above);
            self.before = self.above.split_off(start);
        }
    }

    /// Returns the position at which the last character left of the cursor begins.
    fn last_character(&self) -> usize {
        self.before_unit(last_cluster(&self.before))
    }

    fn kill_left(&mut self, start: usize) {
        self.killed = self.before.split_off(self.before_unit(start));
    }

    fn kill_right(&mut self, end: usize) {
        self.killed = self.after.drain(..self.behind_unit(end)).collect();
    }

    fn undo(&mut self) {
        if let Some((before, after)) = self.undo.earlier.pop() {
            (self.before, self.after) = (before, after);
        }
    }

    fn move_left(&mut self, start: usize) {
        let moved = self.before.split_off(self.before_unit(start));
        self.after.insert_str(0, &moved);
    }

    fn move_right(&mut self, end: usize) {
        let end = self.behind_unit(end);
        self.before.extend(self.after.drain(..end));
    }

    fn up(&mut self) {
        let at = self.shown.unwrap_or(self.history.len());
        let Some(above) = at.checked_sub(1) else { return };
        if self.shown.is_none() {
            self.set_aside = format!("{}{}", self.before, self.after);
        }
        self.shown = Some(above);
        self.set(self.history[above].clone());
    }

    fn down(&mut self) {
        let Some(at) = self.shown else { return };
        let below = self.history.get(at + 1).cloned();
        self.shown = below.is_some().then_some(at + 1);
        let line = below.unwrap_or_else(|| std::mem::take(&mut self.set_aside));
        self.set(line);
    }

    fn set(&mut self, line: String) {
        self.before = line;
        self.after.clear();
    }
}

/// Returns the position at which the last character begins.
fn last_cluster(text: &str) -> usize {
    let near = tail(text, NEAR);
    text.len() - near.graphemes(true).next_back().map_or(0, str::len)
}

/// Returns the position at which the first character ends.
fn first_cluster(text: &str) -> usize {
    let near = &text[..text.floor_char_boundary(NEAR)];
    near.graphemes(true).next().map_or(0, str::len)
}

/// Returns the position at which the last line begins.
fn line_start(text: &str) -> usize {
    text.rfind('\n').map_or(0, |end| end + 1)
}

/// Returns the position at which the first line ends.
fn line_end(text: &str) -> usize {
    text.find('\n').unwrap_or(text.len())
}

/// Returns the end of a text: `bytes` bytes, extended to the next character boundary.
fn tail(text: &str, bytes: usize) -> &str {
    &text[text.floor_char_boundary(text.len().saturating_sub(bytes))..]
}

/// States of a line before its changes.
#[derive(Debug, Default)]
struct Undo {
    earlier: Vec<(String, String)>,
    /// True while text is typed: the characters of a word are one change.
    is_typing: bool,
}

impl Undo {
    /// Returns true if the line must be kept before this key.
    fn is_wanted(&mut self, key: &KeyPress) -> bool {
        let is_word = matches!(key, KeyPress::Text(text) if !text.contains(char::is_whitespace));
        let continues = std::mem::replace(&mut self.is_typing, is_word) && is_word;
        let changes = matches!(
            key,
            KeyPress::Text(_)
                | KeyPress::Tab
                | KeyPress::Yank
                | KeyPress::Backspace
                | KeyPress::Delete
                | KeyPress::EndOfInput
                | KeyPress::KillLeft
                | KeyPress::KillRight
                | KeyPress::KillWord
                | KeyPress::KillWordLeft
                | KeyPress::KillWordRight
        );
        if matches!(key, KeyPress::Enter | KeyPress::Newline) {
            self.earlier.clear();
        }
        changes && !continues
    }

    /// Keeps a state. A very long line is not kept, so that the cost of a key stays bounded.
    fn keep(&mut self, before: &str, after: &str) {
        if before.len() + after.len() > LONGEST_KEPT {
            return self.earlier.clear();
        }
        if self.earlier.len() == UNDONE {
            self.earlier.remove(0);
        }
        self.earlier.push((before.to_owned(), after.to_owned()));
    }
}

/// Returns the position at which the last word begins. Punctuation separates words.
fn word_start(text: &str) -> usize {
    let word = text.trim_end_matches(|letter| !is_of_word(letter));
    word.rfind(|letter| !is_of_word(letter))
        .map_or(0, |at| at + word[at..].chars().next().map_or(0, char::len_utf8))
}

fn is_of_word(letter: char) -> bool {
    letter.is_alphanumeric() || letter == '_'
}

/// Returns the position at which the last word begins. Only white space separates words.
fn blank_word_start(text: &str) -> usize {
    let word = text.trim_end();
    word.rfind(char::is_whitespace)
        .map_or(0, |space| space + word[space..].chars().next().map_or(0, char::len_utf8))
}

fn word_end(text: &str) -> usize {
    let word = text.trim_start_matches(|letter| !is_of_word(letter));
    let skipped = text.len() - word.len();
    skipped + word.find(|letter| !is_of_word(letter)).unwrap_or(word.len())
}

#[cfg(test)]
mod tests;
