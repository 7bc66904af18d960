//! A list with a search: typed text leaves the entries that contain its words. Pure.

use std::ops::Range;

use pollux_input::{KeyPress, LineEditor};

/// Number of entries that Page Up and Page Down move by.
const PAGE: usize = 10;

/// The search in a list, and its selection.
#[derive(Default)]
pub(super) struct SearchList {
    search: LineEditor,
    /// Texts of all entries in which words are found, in lower case.
    texts: Vec<String>,
    /// Indexes of the entries that contain the words.
    found: Vec<usize>,
    /// Position of the selection among them.
    place: usize,
}

impl SearchList {
    /// Creates a list of entries with these texts.
    pub(super) fn new(texts: impl Iterator<Item = String>, selected: usize) -> Self {
        let texts: Vec<String> = texts.map(|text| text.to_lowercase()).collect();
        let found = (0..texts.len()).collect();
        let place = selected.min(texts.len().saturating_sub(1));
        Self { search: LineEditor::default(), texts, found, place }
    }

    /// Replaces the entries. The search stays; this entry is selected if it is found.
    pub(super) fn replace(&mut self, texts: impl Iterator<Item = String>, selected: usize) {
        self.texts = texts.map(|text| text.to_lowercase()).collect();
        self.find();
        let place = self.found.iter().position(|index| *index == selected);
        self.place = place.unwrap_or_else(|| self.place.min(self.found.len().saturating_sub(1)));
    }

    /// Returns the index of the selected entry; `None` if none is found.
    pub(super) fn selected(&self) -> Option<usize> {
        self.found.get(self.place).copied()
    }

    /// Returns the typed text, left and right of the cursor.
    pub(super) fn typed(&self) -> (&str, &str) {
        (self.search.before(), self.search.after())
    }

    /// Returns the number of entries that are found, and the position of the selection, from 1.
    pub(super) fn count(&self) -> (usize, usize) {
        (self.found.len(), (self.place + 1).min(self.found.len()))
    }

    /// Returns the entries to show in a room of `count` rows: their indexes, and true for the
    /// selected one.
    pub(super) fn shown(&self, count: usize) -> impl Iterator<Item = (usize, bool)> + '_ {
        self.range(count).map(|place| (self.found[place], place == self.place))
    }

    fn range(&self, count: usize) -> Range<usize> {
        let count = count.min(self.found.len());
        let start = self.place.saturating_sub(count / 2).min(self.found.len() - count);
        start..start + count
    }

    /// Applies a key to the selection or the search.
    pub(super) fn press(&mut self, key: KeyPress) {
        let last = self.found.len().saturating_sub(1);
        match key {
            KeyPress::Up if self.place == 0 => self.place = last,
            KeyPress::Up => self.place -= 1,
            KeyPress::Down if self.place >= last => self.place = 0,
            KeyPress::Down => self.place += 1,
            KeyPress::PageUp => self.place = self.place.saturating_sub(PAGE),
            KeyPress::PageDown => self.place = (self.place + PAGE).min(last),
            // A search has one line, and does not end the program.
            KeyPress::Enter | KeyPress::Newline | KeyPress::Tab | KeyPress::EndOfInput => {}
            KeyPress::Text(text) => {
                let text = text.replace(char::is_control, " ");
                drop(self.search.press(KeyPress::Text(text)));
                self.find();
            }
            key => {
                drop(self.search.press(key));
                self.find();
            }
        }
    }

    /// Finds the entries that contain all words; the selected entry stays selected if it is one of
    /// them.
    fn find(&mut self) {
        let typed = self.search.whole().to_lowercase();
        let words: Vec<&str> = typed.split_whitespace().collect();
        let selected = self.selected();
        let fits = |index: &usize| words.iter().all(|word| self.texts[*index].contains(word));
        self.found = (0..self.texts.len()).filter(fits).collect();
        let place = self.found.iter().position(|index| Some(*index) == selected);
        self.place = if words.is_empty() { place.unwrap_or(0) } else { 0 };
    }
}

#[cfg(test)]
mod tests {
    use pretty_assertions::assert_eq;

    use super::*;

    fn list() -> SearchList {
        SearchList::new(["Ayu", "Ayu Light", "Dracula"].into_iter().map(str::to_owned), 2)
    }

    fn shown(list: &SearchList) -> Vec<(usize, bool)> {
        list.shown(10).collect()
    }

    #[test]
    fn typed_words_are_searched() {
        let mut list = list();
        assert_eq!(shown(&list), [(0, false), (1, false), (2, true)]);
        list.press(KeyPress::Text("LIGHT a".to_owned()));
        assert_eq!(shown(&list), [(1, true)]);
        assert_eq!(list.count(), (1, 1));
        list.press(KeyPress::Text("x".to_owned()));
        assert_eq!((list.selected(), list.count()), (None, (0, 0)));
        for key in [KeyPress::Up, KeyPress::Down, KeyPress::PageDown, KeyPress::Up] {
            list.press(key);
            assert_eq!(list.selected(), None);
        }
        list.press(KeyPress::KillLeft);
        assert_eq!(list.selected(), Some(0));
    }

    #[test]
    fn the_selection_moves_around_and_stays_in_view() {
        let mut list = list();
        list.press(KeyPress::Down);
        assert_eq!(list.selected(), Some(0));
        list.press(KeyPress::Up);
        assert_eq!(list.selected(), Some(2));
        assert_eq!(list.shown(2).collect::<Vec<_>>(), [(1, false), (2, true)]);
        assert_eq!(list.shown(0).count(), 0);
        list.press(KeyPress::PageUp);
        assert_eq!(list.selected(), Some(0));
    }
}
