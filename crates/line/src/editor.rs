//! The line that is being typed, and the lines that were. Pure: keys in, what came of them out.

use unicode_segmentation::UnicodeSegmentation;

use crate::keys::Key;

/// More than this is not taken as one prompt.
const LONGEST: usize = 8 << 20;
/// Lines that can be called back.
pub(super) const HISTORY: usize = 500;
/// A line that is longer than this is not kept to be called back.
const LONGEST_KEPT: usize = 64 << 10;
/// No character that people type is longer: what is further from the cursor is not looked at.
const NEAR: usize = 1024;

/// What came of a key.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Edited {
    /// The line may look different.
    Line,
    /// It was ended by a backslash: it goes on.
    Continued,
    /// It is complete.
    Submitted(String),
    /// It was longer than a prompt may be, and is gone.
    TooLong,
    /// There is no more input to come.
    EndOfInput,
}

/// A line editor. The text is held in two halves, so that typing costs the same however long it is.
#[derive(Debug, Default)]
pub(super) struct Editor {
    /// The lines before this one of a prompt that goes over several.
    above: String,
    before: String,
    after: String,
    too_long: bool,
    history: Vec<String>,
    /// The line of the history that is shown.
    shown: Option<usize>,
    /// What was typed before the history was looked at.
    set_aside: String,
}

impl Editor {
    /// What stands left of the cursor.
    pub(super) fn before(&self) -> &str {
        &self.before
    }

    /// What stands right of it.
    pub(super) fn after(&self) -> &str {
        &self.after
    }

    /// The prompt has lines before this one.
    pub(super) fn is_continued(&self) -> bool {
        !self.above.is_empty()
    }

    /// Nothing is typed.
    pub(super) fn is_empty(&self) -> bool {
        self.above.is_empty() && self.before.is_empty() && self.after.is_empty() && !self.too_long
    }

    /// The lines that were continued, and nothing is typed any more.
    pub(super) fn take_above(&mut self) -> String {
        std::mem::take(&mut self.above)
    }

    /// Drops what is typed.
    pub(super) fn clear(&mut self) {
        self.above.clear();
        self.set(String::new());
        self.too_long = false;
        self.shown = None;
    }

    /// Returns the line if it is the only one and the cursor stands at its end.
    pub(super) fn only_line(&self) -> Option<&str> {
        (self.above.is_empty() && self.after.is_empty()).then_some(self.before.as_str())
    }

    /// Replaces the line that [`Self::only_line`] returns.
    pub(super) fn replace_line(&mut self, line: String) {
        self.set(line);
    }

    /// Does what the key says.
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

    /// Keeps a line to be called back.
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
            // What cannot be sent is not kept.
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

/// Where the last character begins.
fn last_cluster(text: &str) -> usize {
    let near = tail(text, NEAR);
    text.len() - near.graphemes(true).next_back().map_or(0, str::len)
}

/// Where the first one ends.
fn first_cluster(text: &str) -> usize {
    let near = &text[..text.floor_char_boundary(NEAR)];
    near.graphemes(true).next().map_or(0, str::len)
}

/// The end of a text, not much more than `bytes` of it.
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
