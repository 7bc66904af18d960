//! Editing by the keys of vi: the modes INSERT and NORMAL, counts, operators and repetition. Pure.

use unicode_segmentation::UnicodeSegmentation;

use crate::editor::LineEditor;
use crate::keys::KeyPress;

mod motion;
#[cfg(test)]
mod tests;

use motion::{Extent, Find, Text};

/// Maximum count before a key.
const MOST: usize = 9_999;
/// Maximum number of keys of a change that can be repeated.
const LONGEST_CHANGE: usize = 2_000;

/// Mode of the keys.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum VimMode {
    /// Keys insert text.
    #[default]
    Insert,
    /// Keys are commands.
    Normal,
}

/// Command of which further keys are expected.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Pending {
    /// `d`, `c` or `y`.
    Operator(char),
    /// `g`, with the operator before it.
    Go(Option<char>),
    /// `f`, `F`, `t` or `T`, with the operator before it.
    Find(Option<char>, char),
    /// `r`.
    Replace,
}

/// State of the keys of vi.
#[derive(Debug, Default)]
pub struct Vim {
    mode: VimMode,
    /// Digits before the command, and before its operator.
    count: Option<usize>,
    operator_count: Option<usize>,
    pending: Option<Pending>,
    found: Option<Find>,
    /// Text that was deleted or copied, and whether it is whole lines.
    register: (String, bool),
    /// Keys of the change in progress, and of the last one.
    recorded: Vec<KeyPress>,
    last_change: Vec<KeyPress>,
    is_repeating: bool,
}

impl Vim {
    /// Returns the mode.
    pub fn mode(&self) -> VimMode {
        self.mode
    }

    /// Returns true if Esc has an effect: it ends INSERT mode, or an unfinished command.
    pub fn takes_escape(&self) -> bool {
        self.mode == VimMode::Insert || self.pending.is_some() || self.count.is_some()
    }

    fn forget(&mut self) {
        (self.count, self.operator_count, self.pending) = (None, None, None);
    }

    /// Applies a key to the text; returns the key if it has its usual effect.
    pub fn press(&mut self, key: KeyPress, editor: &mut LineEditor) -> Option<KeyPress> {
        if self.mode == VimMode::Insert {
            return self.press_in_insert(key, editor);
        }
        let letter = match key {
            KeyPress::Text(text) => return self.press_letters(&text, editor),
            KeyPress::Escape if self.pending.is_some() || self.count.is_some() => {
                self.forget();
                return None;
            }
            KeyPress::Backspace | KeyPress::Left => "h",
            KeyPress::Right => "l",
            KeyPress::Home => "0",
            KeyPress::End => "$",
            KeyPress::Delete => "x",
            key => {
                self.forget();
                return Some(key);
            }
        };
        self.press_letter(letter, editor);
        None
    }

    /// Applies characters. What follows a change to INSERT mode is returned: it is inserted.
    fn press_letters(&mut self, text: &str, editor: &mut LineEditor) -> Option<KeyPress> {
        let mut letters = text.graphemes(true);
        while self.mode == VimMode::Normal
            && let Some(letter) = letters.next()
        {
            self.press_letter(letter, editor);
        }
        let rest = letters.as_str();
        if rest.is_empty() {
            return None;
        }
        self.press_in_insert(KeyPress::Text(rest.to_owned()), editor)
    }

    fn press_in_insert(&mut self, key: KeyPress, editor: &mut LineEditor) -> Option<KeyPress> {
        self.record(&key);
        if key != KeyPress::Escape {
            return Some(key);
        }
        self.mode = VimMode::Normal;
        self.end_change();
        let cursor = Snapshot::of(editor).cursor;
        let start = Snapshot::of(editor).text().line_start(cursor);
        Snapshot::of(editor).put_cursor(cursor.saturating_sub(1).max(start), editor);
        None
    }

    fn record(&mut self, key: &KeyPress) {
        if !self.is_repeating && self.recorded.len() < LONGEST_CHANGE {
            self.recorded.push(key.clone());
        }
    }

    /// Ends a change, which `.` repeats.
    fn end_change(&mut self) {
        if !self.is_repeating && !self.recorded.is_empty() {
            self.last_change = std::mem::take(&mut self.recorded);
        }
    }

    fn press_letter(&mut self, letter: &str, editor: &mut LineEditor) {
        if self.pending.is_none() && self.count.is_none() {
            self.recorded.clear();
        }
        self.record(&KeyPress::Text(letter.to_owned()));
        let key = letter.chars().next().unwrap_or(' ');
        match self.pending.take() {
            Some(Pending::Replace) => self.replace(letter, editor),
            Some(Pending::Find(operator, kind)) => {
                let find = (kind, letter.to_owned());
                self.found = Some(find.clone());
                let count = self.take_count();
                let target = Snapshot::of(editor).text().find(&find, count, false);
                self.go(operator, target, editor);
            }
            Some(Pending::Go(operator)) => {
                let line = self.count.unwrap_or(1);
                if key == 'g' {
                    let target = Snapshot::of(editor).text().line(line);
                    self.go(operator, Some((target, Extent::Lines)), editor);
                }
                self.forget();
            }
            Some(Pending::Operator(operator)) => self.press_after(operator, key, editor),
            None => self.press_command(key, editor),
        }
    }

    fn take_count(&mut self) -> usize {
        let operator = self.operator_count.take().unwrap_or(1);
        self.count.take().unwrap_or(1).saturating_mul(operator).clamp(1, MOST)
    }

    fn digit(&mut self, key: char) -> bool {
        let Some(digit) = key.to_digit(10).filter(|digit| *digit > 0 || self.count.is_some())
        else {
            return false;
        };
        let digit = usize::try_from(digit).unwrap_or_default();
        let count = self.count.unwrap_or(0) * 10 + digit;
        self.count = Some(count.min(MOST));
        true
    }

    /// Handles the key after an operator.
    fn press_after(&mut self, operator: char, key: char, editor: &mut LineEditor) {
        if self.digit(key) {
            self.pending = Some(Pending::Operator(operator));
            return;
        }
        match key {
            'g' => self.pending = Some(Pending::Go(Some(operator))),
            'f' | 'F' | 't' | 'T' => self.pending = Some(Pending::Find(Some(operator), key)),
            _ if key == operator => {
                let count = self.take_count();
                let snapshot = Snapshot::of(editor);
                let mut last = snapshot.cursor;
                for _ in 1..count {
                    let end = snapshot.text().line_end(last);
                    last = if end < snapshot.characters().len() { end + 1 } else { last };
                }
                self.go(Some(operator), Some((last, Extent::Lines)), editor);
            }
            'G' => {
                let target = self.last_line(editor);
                self.go(Some(operator), Some((target, Extent::Lines)), editor);
            }
            _ => {
                let target = self.motion(key, editor);
                // As in vi: `cw` changes up to the end of the word.
                let snapshot = Snapshot::of(editor);
                let is_on_word = snapshot
                    .characters()
                    .get(snapshot.cursor)
                    .is_some_and(|text| !text.trim().is_empty());
                let target = match (operator, key, target) {
                    ('c', 'w' | 'W', Some((target, _))) if is_on_word => {
                        let text: String = snapshot.characters()[snapshot.cursor..target].concat();
                        let blanks = text
                            .graphemes(true)
                            .rev()
                            .take_while(|part| part.trim().is_empty())
                            .count();
                        Some((target - blanks, Extent::Exclusive))
                    }
                    (_, _, target) => target,
                };
                self.go(Some(operator), target, editor);
            }
        }
    }

    fn last_line(&mut self, editor: &LineEditor) -> usize {
        let number = self.count.take().unwrap_or(MOST);
        Snapshot::of(editor).text().line(number)
    }

    /// Returns the target of a movement.
    fn motion(&mut self, key: char, editor: &LineEditor) -> Option<(usize, Extent)> {
        let count = self.take_count();
        let snapshot = Snapshot::of(editor);
        match key {
            ';' => snapshot.text().find(self.found.as_ref()?, count, true),
            ',' => {
                let (kind, letter) = self.found.clone()?;
                let other = if kind.is_lowercase() {
                    kind.to_ascii_uppercase()
                } else {
                    kind.to_ascii_lowercase()
                };
                snapshot.text().find(&(other, letter), count, true)
            }
            key => snapshot.text().target(key, count),
        }
    }

    fn press_command(&mut self, key: char, editor: &mut LineEditor) {
        if self.digit(key) {
            return;
        }
        match key {
            'd' | 'c' | 'y' => {
                self.operator_count = self.count.take();
                self.pending = Some(Pending::Operator(key));
            }
            'g' => self.pending = Some(Pending::Go(None)),
            'f' | 'F' | 't' | 'T' => self.pending = Some(Pending::Find(None, key)),
            'r' => self.pending = Some(Pending::Replace),
            'G' => {
                let target = self.last_line(editor);
                self.go(None, Some((target, Extent::Lines)), editor);
            }
            'i' | 'a' | 'I' | 'A' | 'o' | 'O' => self.insert(key, editor),
            'x' | 'X' | '~' | 'D' | 'C' | 'Y' | 'p' | 'P' => self.change(key, editor),
            'u' => {
                for _ in 0..self.take_count() {
                    editor.press(KeyPress::Undo);
                }
                self.clamp(editor);
            }
            '.' => self.repeat(editor),
            key => {
                let target = self.motion(key, editor);
                self.go(None, target, editor);
            }
        }
    }

    fn repeat(&mut self, editor: &mut LineEditor) {
        let count = self.take_count();
        let keys = self.last_change.clone();
        self.is_repeating = true;
        for _ in 0..count.min(100) {
            for key in keys.clone() {
                if let Some(key) = self.press(key, editor) {
                    editor.press(key);
                }
            }
        }
        self.is_repeating = false;
        self.recorded.clear();
    }

    /// Moves the cursor, or applies an operator to the text in between.
    fn go(
        &mut self,
        operator: Option<char>,
        target: Option<(usize, Extent)>,
        editor: &mut LineEditor,
    ) {
        self.forget();
        let Some((target, extent)) = target else { return };
        let Some(operator) = operator else {
            Snapshot::of(editor).put_cursor(target, editor);
            return self.clamp(editor);
        };
        let snapshot = Snapshot::of(editor);
        let text = snapshot.text();
        let (start, end) = (snapshot.cursor.min(target), snapshot.cursor.max(target));
        let count = snapshot.characters().len();
        let (start, end) = match extent {
            Extent::Exclusive => (start, end),
            Extent::Inclusive => (start, (end + 1).min(count)),
            Extent::Lines => (text.line_start(start), text.line_end(end)),
        };
        self.register = (snapshot.characters()[start..end].concat(), extent == Extent::Lines);
        match operator {
            'y' => {
                let cursor = if extent == Extent::Lines { snapshot.cursor } else { start };
                snapshot.put_cursor(cursor, editor);
            }
            'd' if extent == Extent::Lines => {
                // The line end goes with the line: that behind it, or that before the last one.
                let (start, end) =
                    if end < count { (start, end + 1) } else { (start.saturating_sub(1), end) };
                snapshot.splice(start, end, "", editor);
                let rest = Snapshot::of(editor);
                let cursor = rest.text().first_of_line(rest.cursor);
                rest.put_cursor(cursor, editor);
            }
            _ => snapshot.splice(start, end, "", editor),
        }
        match operator {
            'c' => self.mode = VimMode::Insert,
            'd' => self.end_change(),
            _ => {}
        }
        self.clamp(editor);
    }

    fn insert(&mut self, key: char, editor: &mut LineEditor) {
        self.forget();
        let snapshot = Snapshot::of(editor);
        let (text, cursor) = (snapshot.text(), snapshot.cursor);
        let (start, end) = (text.line_start(cursor), text.line_end(cursor));
        match key {
            'a' => snapshot.put_cursor((cursor + 1).min(end), editor),
            'I' => snapshot.put_cursor(text.first_of_line(cursor), editor),
            'A' => snapshot.put_cursor(end, editor),
            'o' => snapshot.splice(end, end, "\n", editor),
            'O' => {
                snapshot.splice(start, start, "\n", editor);
                Snapshot::of(editor).put_cursor(start, editor);
            }
            _ => {}
        }
        self.mode = VimMode::Insert;
    }

    fn change(&mut self, key: char, editor: &mut LineEditor) {
        let count = self.take_count();
        let snapshot = Snapshot::of(editor);
        let (text, cursor) = (snapshot.text(), snapshot.cursor);
        let (start, end) = (text.line_start(cursor), text.line_end(cursor));
        match key {
            'x' => self.delete(cursor, (cursor + count).min(end), editor),
            'X' => self.delete(cursor.saturating_sub(count).max(start), cursor, editor),
            'D' | 'C' => {
                self.delete(cursor, end, editor);
                if key == 'C' {
                    self.mode = VimMode::Insert;
                    return;
                }
            }
            'Y' => self.register = (snapshot.characters()[start..end].concat(), true),
            '~' => {
                let end = (cursor + count).min(end);
                let swap = |text: &String| {
                    if editor.is_unit(text) {
                        text.clone()
                    } else {
                        text.chars().map(swapped_case).collect()
                    }
                };
                let swapped: String = snapshot.characters()[cursor..end].iter().map(swap).collect();
                snapshot.splice(cursor, end, &swapped, editor);
            }
            _ => self.put(key == 'P', count, editor),
        }
        if key != 'Y' {
            self.end_change();
        }
        self.clamp(editor);
    }

    fn delete(&mut self, start: usize, end: usize, editor: &mut LineEditor) {
        let snapshot = Snapshot::of(editor);
        if start < end {
            self.register = (snapshot.characters()[start..end].concat(), false);
            snapshot.splice(start, end, "", editor);
        }
    }

    fn put(&mut self, is_before: bool, count: usize, editor: &mut LineEditor) {
        let (text, is_lines) = self.register.clone();
        let most = (1 << 20) / text.len().max(1);
        let count = count.min(most.max(1));
        let snapshot = Snapshot::of(editor);
        let cursor = snapshot.cursor;
        let (start, end) = (snapshot.text().line_start(cursor), snapshot.text().line_end(cursor));
        if text.is_empty() {
            return;
        }
        if is_lines {
            let lines = vec![text.as_str(); count].join("\n");
            let at = if is_before { start } else { end };
            let lines = if is_before { format!("{lines}\n") } else { format!("\n{lines}") };
            snapshot.splice(at, at, &lines, editor);
            let first = at + usize::from(!is_before);
            return Snapshot::of(editor).put_cursor(first, editor);
        }
        let at = if is_before { cursor } else { (cursor + 1).min(end) };
        snapshot.splice(at, at, &text.repeat(count), editor);
        let end = Snapshot::of(editor).cursor;
        Snapshot::of(editor).put_cursor(end.saturating_sub(1), editor);
    }

    fn replace(&mut self, letter: &str, editor: &mut LineEditor) {
        let count = self.take_count();
        let snapshot = Snapshot::of(editor);
        let (cursor, end) = (snapshot.cursor, snapshot.text().line_end(snapshot.cursor));
        if cursor + count <= end {
            snapshot.splice(cursor, cursor + count, &letter.repeat(count), editor);
            Snapshot::of(editor).put_cursor(cursor + count - 1, editor);
            self.end_change();
        }
    }

    /// Moves the cursor from the end of a line to its last character, where it is in NORMAL mode.
    fn clamp(&self, editor: &mut LineEditor) {
        if self.mode == VimMode::Normal {
            let snapshot = Snapshot::of(editor);
            let last = snapshot.text().last_of_line(snapshot.cursor);
            snapshot.put_cursor(snapshot.cursor.min(last), editor);
        }
    }
}

fn swapped_case(letter: char) -> char {
    let mut other: Box<dyn Iterator<Item = char>> = if letter.is_lowercase() {
        Box::new(letter.to_uppercase())
    } else {
        Box::new(letter.to_lowercase())
    };
    other.next().unwrap_or(letter)
}

/// The text of an editor in characters, with the place of the cursor.
struct Snapshot {
    characters: Vec<String>,
    cursor: usize,
}

impl Snapshot {
    fn of(editor: &LineEditor) -> Self {
        let (before, after) = (editor.before(), editor.after());
        let mut characters = editor.characters(before);
        let cursor = characters.len();
        characters.extend(editor.characters(after));
        Self { characters, cursor }
    }

    fn characters(&self) -> &[String] {
        &self.characters
    }

    fn text(&self) -> Text<'_> {
        Text { characters: &self.characters, cursor: self.cursor }
    }

    fn put_cursor(&self, at: usize, editor: &mut LineEditor) {
        editor.move_to(self.characters[..at.min(self.characters.len())].concat().len());
    }

    /// Replaces characters; the cursor is then behind the new ones.
    fn splice(&self, start: usize, end: usize, text: &str, editor: &mut LineEditor) {
        let before = self.characters[..start].concat() + text;
        editor.replace_halves(before, self.characters[end..].concat());
    }
}
