//! A list of options, of which the user chooses one or several, with a field for other words. Pure.

use pollux_input::{KeyPress, LineEditor, SurveyAnswer};
use pollux_protocol::SurveyOption;

use super::number::TypedNumber;
use crate::fold::{Breaks, Room, fold};
use crate::row::{Look, Row};

/// Options with what is chosen and typed.
pub(super) struct Options {
    offered: Vec<SurveyOption>,
    /// For each option, whether it is chosen; `None` if only one can be.
    marks: Option<Vec<bool>>,
    /// The chosen option, if only one can be.
    chosen: Option<usize>,
    field: Option<Field>,
    /// Index of the selected row.
    selected: usize,
    number: TypedNumber,
}

/// Field for other words.
struct Field {
    /// Text of the empty field.
    placeholder: String,
    /// Text before the typed words.
    label: &'static str,
    editor: LineEditor,
}

/// Row of the list.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Entry {
    Option(usize),
    /// Chooses all options.
    All,
    Words,
    /// Ends the choice of several options.
    Done,
}

/// Rows of the list, with the position of the cursor in them.
pub(super) struct OptionRows {
    pub(super) rows: Vec<Row>,
    /// Index of the row, and column.
    pub(super) cursor: (usize, usize),
}

impl Options {
    /// Creates a list from which one option can be chosen.
    pub(super) fn new(offered: Vec<SurveyOption>) -> Self {
        let number = TypedNumber::default();
        Self { offered, marks: None, chosen: None, field: None, selected: 0, number }
    }

    /// Lets several options be chosen.
    pub(super) fn multiple(mut self) -> Self {
        self.marks = Some(vec![false; self.offered.len()]);
        self
    }

    /// Adds a field for other words, with the text of the empty field and a text before the words.
    pub(super) fn with_field(mut self, placeholder: String, label: &'static str) -> Self {
        self.field = Some(Field { placeholder, label, editor: LineEditor::default() });
        self
    }

    /// Chooses these options.
    pub(super) fn choose(&mut self, indexes: &[usize]) {
        if let Some(marks) = &mut self.marks {
            for (index, mark) in marks.iter_mut().enumerate() {
                *mark = indexes.contains(&index);
            }
        } else if let Some(index) = indexes.first() {
            (self.chosen, self.selected) = (Some(*index), *index);
        }
    }

    /// Returns what is chosen and typed. Typed words take the place of a single choice.
    pub(super) fn answer(&self) -> SurveyAnswer {
        let options = match &self.marks {
            Some(marks) => (0..marks.len()).filter(|index| marks[*index]).collect(),
            None => self.chosen.into_iter().collect(),
        };
        let takes_words = self.marks.is_some() || self.chosen.is_none();
        let words = if takes_words { self.words().trim().to_owned() } else { String::new() };
        SurveyAnswer { options, words }
    }

    /// Returns true if the selected row is the field for words.
    pub(super) fn is_in_field(&self) -> bool {
        self.entry() == Entry::Words
    }

    /// Returns true if the left and right arrow keys move in typed words.
    pub(super) fn takes_arrows(&self) -> bool {
        self.is_in_field() && !self.words().is_empty()
    }

    /// Returns true if there is only the field.
    pub(super) fn is_field(&self) -> bool {
        self.offered.is_empty()
    }

    fn words(&self) -> String {
        let editor = self.field.as_ref().map(|field| &field.editor);
        editor.map(|editor| format!("{}{}", editor.before(), editor.after())).unwrap_or_default()
    }

    fn entries(&self) -> Vec<Entry> {
        let options = (0..self.offered.len()).map(Entry::Option);
        let all = self.marks.is_some().then_some(Entry::All);
        let words = self.field.is_some().then_some(Entry::Words);
        let done = self.marks.is_some().then_some(Entry::Done);
        options.chain(all).chain(words).chain(done).collect()
    }

    fn entry(&self) -> Entry {
        self.entries().get(self.selected).copied().unwrap_or(Entry::Done)
    }

    /// Applies a key; returns true if the answer is complete. Pasted text only becomes words.
    pub(super) fn press(&mut self, key: KeyPress, is_pasted: bool) -> bool {
        let count = self.entries().len();
        match key {
            KeyPress::Text(text) if is_pasted || self.is_in_field() => self.insert(&text),
            KeyPress::Text(text) => return self.press_character(&text),
            KeyPress::Enter => return self.take(self.selected),
            KeyPress::Up if count > 0 => self.selected = (self.selected + count - 1) % count,
            KeyPress::Down if count > 0 => self.selected = (self.selected + 1) % count,
            // The field has no lines.
            KeyPress::Newline if self.is_in_field() => self.insert(" "),
            KeyPress::Tab | KeyPress::Newline | KeyPress::Up | KeyPress::Down => {}
            key if self.is_in_field() => {
                if let Some(field) = &mut self.field {
                    drop(field.editor.press(key));
                    self.chosen = None;
                }
            }
            _ => {}
        }
        self.number = TypedNumber::default();
        false
    }

    /// Takes text that was typed at an option: the number of a row, a blank, or the begin of words.
    fn press_character(&mut self, text: &str) -> bool {
        let count = self.entries().len();
        if let Some(digit) = text.parse().ok().filter(|_| text.len() == 1) {
            return match self.number.take(digit, count) {
                Some((index, true)) => self.take(index),
                Some((index, false)) => {
                    self.selected = index;
                    false
                }
                None => false,
            };
        }
        match self.entry() {
            Entry::Option(_) | Entry::All if text == " " && self.marks.is_some() => {
                self.take(self.selected);
            }
            _ if text.trim().is_empty() => {}
            _ => self.insert(text),
        }
        false
    }

    /// Inserts text into the field, which is selected then.
    fn insert(&mut self, text: &str) {
        let at = self.entries().iter().position(|entry| *entry == Entry::Words);
        let (Some(at), Some(field)) = (at, &mut self.field) else { return };
        field.editor.press(KeyPress::Text(text.replace('\n', " ")));
        (self.selected, self.chosen) = (at, None);
    }

    /// Takes the row with this index; returns true if the answer is complete.
    fn take(&mut self, index: usize) -> bool {
        let entries = self.entries();
        self.number = TypedNumber::default();
        // The Enter key at the field ends the words.
        let is_end = self.selected == index && self.is_in_field();
        self.selected = index;
        match (entries.get(index), &mut self.marks) {
            (Some(Entry::Option(option)), Some(marks)) => marks[*option] = !marks[*option],
            (Some(Entry::Option(option)), None) => {
                self.chosen = Some(*option);
                return true;
            }
            (Some(Entry::All), Some(marks)) => {
                let is_any_left = marks.contains(&false);
                marks.fill(is_any_left);
            }
            (Some(Entry::Words), Some(_)) if is_end => self.selected = entries.len() - 1,
            (Some(Entry::Words), None) if is_end => {
                return self.offered.is_empty() || !self.words().trim().is_empty();
            }
            (Some(Entry::Done), _) => return true,
            _ => {}
        }
        false
    }

    /// Returns the rows.
    pub(super) fn rows(&self, cells: usize) -> OptionRows {
        let (mut rows, mut cursor) = (Vec::new(), (0, 0));
        for (index, entry) in self.entries().into_iter().enumerate() {
            let is_selected = index == self.selected;
            let (mut line, hanging) = self.line(index, entry, is_selected);
            let room = Room::new(cells).hanging(hanging);
            if is_selected {
                cursor = (rows.len(), 0);
            }
            let Some(field) = self.field.as_ref().filter(|_| entry == Entry::Words) else {
                rows.extend(fold(&line, room, Breaks::Words));
                continue;
            };
            let editor = &field.editor;
            let is_empty = self.words().is_empty();
            if !is_empty {
                line.push(Look::Cyan, field.label);
            }
            if is_selected {
                let before = line.clone().with(Look::Plain, editor.before());
                let before = fold(&before, room, Breaks::Anywhere);
                let column = before.last().map_or(0, Row::width);
                cursor = (rows.len() + before.len() - 1, column);
            }
            if is_empty {
                line.push(Look::Dim, &field.placeholder);
            } else {
                line.push(Look::Plain, &self.words());
            }
            rows.extend(fold(&line, room, Breaks::Anywhere));
        }
        OptionRows { rows, cursor }
    }

    /// Returns the line of an entry, without the words of the field, and the width of its marks.
    fn line(&self, index: usize, entry: Entry, is_selected: bool) -> (Row, usize) {
        if self.is_field() {
            return (Row::new(Look::Cyan, "> "), 2);
        }
        let mark = if is_selected { "\u{25cf} " } else { "  " };
        let look = if is_selected { Look::Cyan } else { Look::Plain };
        let marks = self.marks.as_ref();
        let is_marked = marks.and_then(|marks| match entry {
            Entry::Option(option) => Some(marks[option]),
            Entry::All => Some(marks.iter().all(|is_marked| *is_marked)),
            Entry::Words => Some(!self.words().trim().is_empty()),
            Entry::Done => None,
        });
        let number = format!("{mark}{}. ", index + 1);
        let hanging = number.chars().count();
        let mut line = Row::new(look, number);
        let (label, about) = match entry {
            Entry::Option(option) => {
                let option = &self.offered[option];
                (option.label.as_str(), option.description.as_str())
            }
            Entry::All => ("All of the above", "Select all options"),
            Entry::Words => ("", ""),
            Entry::Done => ("Done", ""),
        };
        if let Some(is_marked) = is_marked {
            line.push(look, if is_marked { "[x] " } else { "[ ] " });
        }
        line.push(look, label);
        if self.marks.is_none() && entry != Entry::Words && self.chosen == Some(index) {
            line.push(Look::Green, " \u{2713}");
        }
        if !about.is_empty() {
            line.push(Look::Dim, &format!(" - {about}"));
        }
        (line, hanging + if is_marked.is_some() { 4 } else { 0 })
    }
}
