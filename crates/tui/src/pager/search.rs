//! The text that is searched in a transcript, and the last match. Pure.

use pollux_input::KeyPress;

use super::Place;

/// Maximum length of the text, in bytes.
const LONGEST: usize = 200;

/// Search in a transcript.
#[derive(Debug, Default)]
pub(super) struct Search {
    /// Text that is being typed.
    typed: Option<String>,
    query: String,
    last: Option<Place>,
}

impl Search {
    /// Begins to type a text, of which the beginning may have come with the key.
    pub(super) fn begin(&mut self, text: &str) {
        self.typed = Some(String::new());
        self.type_key(KeyPress::Text(text.to_owned()));
    }

    /// Returns true while the text is typed.
    pub(super) fn is_typed(&self) -> bool {
        self.typed.is_some()
    }

    /// Applies a key to the text; returns true if the text is complete.
    pub(super) fn type_key(&mut self, key: KeyPress) -> bool {
        let Some(typed) = &mut self.typed else { return false };
        match key {
            KeyPress::Text(text) => {
                let text: String = text.chars().filter(|letter| !letter.is_control()).collect();
                if typed.len() + text.len() <= LONGEST {
                    typed.push_str(&text);
                }
            }
            KeyPress::Backspace if typed.pop().is_none() => self.typed = None,
            KeyPress::Escape | KeyPress::Transcript => self.typed = None,
            KeyPress::Enter => {
                if let Some(typed) = self.typed.take().filter(|typed| !typed.is_empty()) {
                    (self.query, self.last) = (typed, None);
                }
                return true;
            }
            _ => {}
        }
        false
    }

    /// Returns the text that is searched.
    pub(super) fn query(&self) -> Option<&str> {
        Some(self.query.as_str()).filter(|query| !query.is_empty())
    }

    /// Returns the place of the last match.
    pub(super) fn place(&self) -> Option<Place> {
        self.last
    }

    /// Records the place of a match.
    pub(super) fn found(&mut self, place: Place) {
        self.last = Some(place);
    }

    /// Forgets the place of the last match: its block has another number now.
    pub(super) fn forget(&mut self) {
        self.last = None;
    }

    /// Returns the row in which the text is typed.
    pub(super) fn label(&self) -> Option<String> {
        self.typed.as_ref().map(|typed| format!("/{typed}"))
    }
}
