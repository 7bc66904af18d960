//! Citation marks in an answer: which text is supported by which pages.

use pollux_protocol::{Grounding, Part, Support};
use unicode_segmentation::UnicodeSegmentation;

/// Unit of offsets when the text that came with them does not decide it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum OffsetUnit {
    /// Bytes of UTF-8, as the vendor documents.
    Bytes,
    /// UTF-16 code units, as Gemini CLI reads the result of a fetch.
    Utf16,
}

/// Number of bytes around an offset that are searched for a whole grapheme cluster.
const WINDOW: usize = 64;

/// Returns the text of an answer with a mark such as `[1][3]` after each text that is supported by
/// sources, counted from 1.
///
/// The unit of each offset is detected: bytes or code units, from the start of the whole text or
/// of its part. The combination that ends where the quoted text ends is used. Marks never split a
/// character; sources that do not exist are left out.
pub fn cite(parts: &[Part], grounding: &Grounding, unit: OffsetUnit) -> String {
    let answer = Answer::new(parts);
    let mut marks: Vec<(usize, String)> = Vec::new();
    for support in &grounding.supports {
        let mut mark = String::new();
        for source in &support.sources {
            if usize::try_from(*source).is_ok_and(|place| place < grounding.sources.len()) {
                mark.extend(["[", &(source + 1).to_string(), "]"]);
            }
        }
        if support.end > 0 && !mark.is_empty() {
            marks.push((answer.end_of(support, unit), mark));
        }
    }
    // At the same place, later marks come first, as in Gemini CLI, which inserts marks one after
    // the other.
    marks.reverse();
    marks.sort_by_key(|(at, _)| *at);
    let mut marked = String::with_capacity(answer.text.len() + 8 * marks.len());
    let mut from = 0;
    for (at, mark) in marks {
        marked.push_str(&answer.text[from..at]);
        marked.push_str(&mark);
        from = at;
    }
    marked + &answer.text[from..]
}

/// Returns `Sources:` and a numbered line for each source; `None` without sources. A missing title
/// or address is replaced by a fixed text.
pub(crate) fn source_list(grounding: &Grounding, no_address: &str) -> Option<String> {
    if grounding.sources.is_empty() {
        return None;
    }
    let lines = grounding.sources.iter().enumerate().map(|(index, source)| {
        let title = one_line(source.title.as_deref(), "Untitled");
        let address = one_line(source.uri.as_deref(), no_address);
        format!("\n[{}] {title} ({address})", index + 1)
    });
    Some(format!("Sources:{}", lines.collect::<String>()))
}

fn one_line(text: Option<&str>, instead: &str) -> String {
    let words: Vec<&str> = text.unwrap_or_default().split_whitespace().collect();
    if words.is_empty() { instead.to_owned() } else { words.join(" ") }
}

/// Text of an answer and the offsets at which its parts begin.
struct Answer {
    text: String,
    starts: Vec<usize>,
    /// Byte offset of each UTF-16 code unit; empty if all offsets are equal.
    units: Vec<usize>,
}

impl Answer {
    fn new(parts: &[Part]) -> Self {
        let (mut text, mut starts) = (String::new(), Vec::with_capacity(parts.len()));
        for part in parts {
            starts.push(text.len());
            if let Some(words) = part.as_text() {
                text.push_str(words);
            }
        }
        let mut units = Vec::new();
        if !text.is_ascii() {
            for (at, letter) in text.char_indices() {
                units.extend(std::iter::repeat_n(at, letter.len_utf16()));
            }
        }
        Self { text, starts, units }
    }

    /// Returns the end of the supported text, in bytes.
    fn end_of(&self, support: &Support, unit: OffsetUnit) -> usize {
        let part = usize::try_from(support.part).ok();
        let start = part.and_then(|part| self.starts.get(part)).copied().unwrap_or(0);
        let other = match unit {
            OffsetUnit::Bytes => OffsetUnit::Utf16,
            OffsetUnit::Utf16 => OffsetUnit::Bytes,
        };
        if let Some(words) = support.text.as_deref().filter(|words| !words.is_empty()) {
            for (start, unit) in [(start, unit), (start, other), (0, unit), (0, other)] {
                let end = self.offset(start, support.end, unit);
                if self.text.get(..end).is_some_and(|text| text.ends_with(words)) {
                    return self.whole(end);
                }
            }
        }
        self.whole(self.offset(start, support.end, unit))
    }

    /// Returns the offset of `count` units after `start`, in bytes; at most the end of the text.
    fn offset(&self, start: usize, count: u64, unit: OffsetUnit) -> usize {
        let count = usize::try_from(count).unwrap_or(usize::MAX);
        if unit == OffsetUnit::Bytes || self.units.is_empty() {
            return start.saturating_add(count).min(self.text.len());
        }
        let before = self.units.partition_point(|at| *at < start);
        let place = before.saturating_add(count);
        let at = |place: usize| self.units.get(place).copied();
        let half = place.checked_sub(1).is_some_and(|last| at(last) == at(place));
        // The second code unit of a character: use the offset after the character.
        at(if half { place.saturating_add(1) } else { place }).unwrap_or(self.text.len())
    }

    /// Moves the offset to the end of the character that contains it.
    fn whole(&self, offset: usize) -> usize {
        let from = self.text.floor_char_boundary(offset.saturating_sub(WINDOW));
        let to = self.text.ceil_char_boundary((offset + WINDOW).min(self.text.len()));
        let mut end = from;
        for character in self.text[from..to].graphemes(true) {
            if end >= offset {
                break;
            }
            end += character.len();
        }
        end
    }
}

#[cfg(test)]
mod tests;
