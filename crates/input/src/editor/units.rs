//! Parts of a text that keys treat as one character.

use std::ops::Range;

use unicode_segmentation::UnicodeSegmentation;

use super::LineEditor;

impl LineEditor {
    /// Sets the texts that count as one character wherever they stand in the prompt: the cursor
    /// moves over them, and a key that deletes a part of one deletes all of it.
    pub fn set_units(&mut self, units: Vec<String>) {
        self.units = units;
    }

    /// Returns true if a text counts as one character.
    pub(crate) fn is_unit(&self, text: &str) -> bool {
        self.units.iter().any(|unit| unit == text)
    }

    /// Returns the characters of a text, as the user sees them.
    pub(crate) fn characters(&self, text: &str) -> Vec<String> {
        let (mut characters, mut rest) = (Vec::new(), text);
        loop {
            let found = |unit: &String| rest.find(unit.as_str()).map(|at| (at, unit.len()));
            let next = self.units.iter().filter_map(found).min();
            let (at, length) = next.unwrap_or((rest.len(), 0));
            characters.extend(rest[..at].graphemes(true).map(str::to_owned));
            if length == 0 {
                return characters;
            }
            characters.push(rest[at..at + length].to_owned());
            rest = &rest[at + length..];
        }
    }

    /// Returns a position left of the cursor, moved to the start of the unit in which it is.
    pub(super) fn before_unit(&self, at: usize) -> usize {
        self.unit_at(&self.before, at).map_or(at, |unit| unit.start)
    }

    /// Returns a position right of the cursor, moved to the end of the unit in which it is.
    pub(super) fn behind_unit(&self, at: usize) -> usize {
        self.unit_at(&self.after, at).map_or(at, |unit| unit.end)
    }

    /// Returns the unit of a text that begins before a position and ends behind it.
    fn unit_at(&self, text: &str, at: usize) -> Option<Range<usize>> {
        self.units.iter().find_map(|unit| {
            let start = text.floor_char_boundary((at + 1).saturating_sub(unit.len()));
            let end = text.floor_char_boundary(at + unit.len());
            let found = text[start..end].match_indices(unit.as_str());
            let mut ranges = found.map(|(from, _)| start + from..start + from + unit.len());
            ranges.find(|range| range.start < at && at < range.end)
        })
    }
}
