//! Line editor with history. Pure: it takes keys and returns results.

use unicode_segmentation::UnicodeSegmentation;

use crate::keys::Key;

/// Maximum size of a prompt, in bytes.
const LONGEST: usize = 8 << 20;
/// Maximum number of lines in the history.
pub(super) const HISTORY: usize = 500;
/// Maximum size of a line in the history, in bytes.
const LONGEST_KEPT: usize = 64 << 10;
/// Maximum number of bytes that are searched for the character next to the cursor; no character
/// that users type is longer.
const NEAR: usize = 1024;

/// Result of a key.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Edited {
    /// The content of the line may have changed.
    Line,
    /// The line ended with a backslash: the prompt continues on the next line.
    Continued,
    /// The prompt is complete.
    Submitted(String),
    /// The prompt exceeded the maximum size and was dropped.
    TooLong,
    /// The input has ended.
    EndOfInput,
}

/// Line editor. The text is stored as two halves around the cursor, so that the cost of a key does
/// not depend on its length.
#[derive(Debug, Default)]
pub(super) struct Editor {
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
}

impl Editor {
    /// Returns the text left of the cursor.
    pub(super) fn before(&self) -> &str {
        &self.before
    }

    /// Returns the text right of the cursor.
    pub(super) fn after(&self) -> &str {
        &self.after
    }

    /// Returns true if the prompt has earlier lines.
    pub(super) fn is_continued(&self) -> bool {
        !self.above.is_empty()
    }

    /// Returns true if nothing is typed.
    pub(super) fn is_empty(&self) -> bool {
        self.above.is_empty() && self.before.is_empty() && self.after.is_empty() && !self.too_long
    }

    /// Returns and removes the earlier lines of the prompt.
    pub(super) fn take_above(&mut self) -> String {
        std::mem::take(&mut self.above)
    }

    /// Removes all typed text.
    pub(super) fn clear(&mut self) {
        self.above.clear();
        self.set(String::new());
        self.too_long = false;
        self.shown = None;
    }

    /// Returns the line if it is the only one and the cursor is at its end.
    pub(super) fn only_line(&self) -> Option<&str> {
        (self.above.is_empty() && self.after.is_empty()).then_some(self.before.as_str())
    }

    /// Replaces the line that [`Self::only_line`] returns.
    pub(super) fn replace_line(&mut self, line: String) {
        self.set(line);
    }

    /// Applies a key.
    pub(super) fn press(&mut self, key: Key) -> Edited {
        match key {
            Key::Text(text) => self.insert(&text),
            Key::Tab => self.insert("\t"),
            Key::Enter => return self.enter(),
            Key::EndOfInput if self.is_empty() => return Edited::EndOfInput,
            Key::Backspace => self.before.truncate(last_cluster(&self.before)),
            Key::Delete | Key::EndOfInput => drop(self.after.drain(..first_cluster(&self.after))),
            Key::KillLeft => self.before.clear(),
            Key::KillRight => self.after.clear(),
            Key::KillWord => self.before.truncate(word_start(&self.before)),
            Key::Left => self.move_left(last_cluster(&self.before)),
            Key::WordLeft => self.move_left(word_start(&self.before)),
            Key::Home => self.move_left(0),
            Key::Right => self.move_right(first_cluster(&self.after)),
            Key::WordRight => self.move_right(word_end(&self.after)),
            Key::End => self.move_right(self.after.len()),
            Key::Up => self.up(),
            Key::Down => self.down(),
        }
        Edited::Line
    }

    /// Adds a line to the history.
    pub(super) fn remember(&mut self, line: &str) {
        let known = self.history.last().is_some_and(|last| last == line);
        if known || line.trim().is_empty() || line.len() > LONGEST_KEPT {
            return;
        }
        if self.history.len() == HISTORY {
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

    fn enter(&mut self) -> Edited {
        if self.too_long {
            self.clear();
            return Edited::TooLong;
        }
        let mut text = std::mem::take(&mut self.before) + &std::mem::take(&mut self.after);
        self.shown = None;
        let backslashes = text.len() - text.trim_end_matches('\\').len();
        if backslashes % 2 == 1 {
            text.pop();
            self.above.push_str(&text);
            self.above.push('\n');
            return Edited::Continued;
        }
        let whole = std::mem::take(&mut self.above) + &text;
        self.remember(&whole);
        Edited::Submitted(whole)
    }

    fn move_left(&mut self, start: usize) {
        let moved = self.before.split_off(start);
        self.after.insert_str(0, &moved);
    }

    fn move_right(&mut self, end: usize) {
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

/// Returns the end of a text: `bytes` bytes, extended to the next character boundary.
pub(super) fn tail(text: &str, bytes: usize) -> &str {
    &text[text.floor_char_boundary(text.len().saturating_sub(bytes))..]
}

fn word_start(text: &str) -> usize {
    let word = text.trim_end();
    word.rfind(char::is_whitespace)
        .map_or(0, |space| space + word[space..].chars().next().map_or(0, char::len_utf8))
}

fn word_end(text: &str) -> usize {
    let word = text.trim_start();
    let skipped = text.len() - word.len();
    skipped + word.find(char::is_whitespace).unwrap_or(word.len())
}

#[cfg(test)]
mod tests;
