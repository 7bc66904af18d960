//! Long pasted texts, which the input shows as labels. Pure.

/// Maximum number of lines, and of characters, of a pasted text that is shown itself.
const LINES: usize = 5;
const CHARACTERS: usize = 500;
/// Maximum size of a pasted text, in bytes.
const LONGEST: usize = 8 << 20;
/// Maximum number of texts that are kept, for prompts that the user takes from the history.
const KEPT: usize = 20;

/// Pasted texts with their labels.
#[derive(Debug, Default)]
pub(crate) struct Pastes {
    kept: Vec<(String, String)>,
    /// Text of the paste that arrives.
    arriving: Option<Result<String, TooLong>>,
    /// True if an `@` in a pasted text names no file.
    pub(crate) escapes_at: bool,
}

/// Error: a pasted text is too long. Nothing of it is taken, because a part of it would look like
/// all of it.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct TooLong;

impl Pastes {
    /// Begins a paste.
    pub(crate) fn begin(&mut self) {
        self.arriving = Some(Ok(String::new()));
    }

    /// Returns true while a paste arrives.
    pub(crate) fn is_arriving(&self) -> bool {
        self.arriving.is_some()
    }

    /// Takes a piece of text; returns false if no paste arrives.
    pub(crate) fn take(&mut self, text: &str) -> bool {
        let Some(arriving) = &mut self.arriving else { return false };
        match arriving {
            Ok(taken) if taken.len() + text.len() <= LONGEST => taken.push_str(text),
            _ => *arriving = Err(TooLong),
        }
        true
    }

    /// Ends the paste; returns the text for the input: the pasted text, or its label if it is long.
    /// `None` without a paste.
    pub(crate) fn end(&mut self) -> Option<Result<String, TooLong>> {
        let arrived = self.arriving.take()?;
        Some(arrived.map(|text| {
            let text = if self.escapes_at { text.replace('@', "\\@") } else { text };
            self.keep(text)
        }))
    }

    fn keep(&mut self, text: String) -> String {
        let (lines, characters) = (text.lines().count(), text.chars().count());
        if lines <= LINES && characters <= CHARACTERS {
            return text;
        }
        let size =
            if lines > LINES { format!("{lines} lines") } else { format!("{characters} chars") };
        let mut label = format!("[Pasted Text: {size}]");
        let mut number = 1;
        while self.kept.iter().any(|(known, _)| *known == label) {
            number += 1;
            label = format!("[Pasted Text: {size} #{number}]");
        }
        if self.kept.len() == KEPT {
            self.kept.remove(0);
        }
        self.kept.push((label.clone(), text));
        label
    }

    /// Returns the labels of the texts that are kept.
    pub(crate) fn labels(&self) -> Vec<String> {
        self.kept.iter().map(|(label, _)| label.clone()).collect()
    }

    /// Returns a text with the pasted texts in place of their labels.
    pub(crate) fn expand(&self, text: &str) -> String {
        let mut expanded = String::with_capacity(text.len());
        let mut rest = text;
        while let Some(at) = rest.find("[Pasted Text: ") {
            let (before, from) = rest.split_at(at);
            expanded.push_str(before);
            let found = self.kept.iter().find(|(label, _)| from.starts_with(label.as_str()));
            let (written, length) = match found {
                Some((label, pasted)) => (pasted.as_str(), label.len()),
                None => (&from[..1], 1),
            };
            expanded.push_str(written);
            rest = &from[length..];
        }
        expanded + rest
    }
}

#[cfg(test)]
mod tests {
    use pretty_assertions::assert_eq;

    use super::*;

    fn paste(pastes: &mut Pastes, text: &str) -> String {
        assert!(!pastes.take("typed"));
        pastes.begin();
        for piece in text.split_inclusive('\n') {
            assert!(pastes.take(piece));
        }
        pastes.end().unwrap().unwrap()
    }

    #[test]
    fn pasted_signs_can_be_literal() {
        let mut pastes = Pastes { escapes_at: true, ..Pastes::default() };
        assert_eq!(paste(&mut pastes, "a@b"), "a\\@b");
        let label = paste(&mut pastes, &"@\n".repeat(9));
        assert_eq!(pastes.expand(&label), "\\@\n".repeat(9));
    }

    #[test]
    fn a_text_that_is_too_long_is_not_cut() {
        let mut pastes = Pastes::default();
        pastes.begin();
        pastes.take(&"x".repeat(LONGEST));
        pastes.take("y");
        assert_eq!(pastes.end(), Some(Err(TooLong)));
        assert_eq!(paste(&mut pastes, "z"), "z");
    }

    #[test]
    fn a_long_text_has_a_label_and_comes_back_whole() {
        let mut pastes = Pastes::default();
        assert_eq!(paste(&mut pastes, "a\nb\nc\nd\ne"), "a\nb\nc\nd\ne");
        let (first, second) = ("x\n".repeat(9), "y\n".repeat(9));
        assert_eq!(paste(&mut pastes, &first), "[Pasted Text: 9 lines]");
        assert_eq!(paste(&mut pastes, &second), "[Pasted Text: 9 lines #2]");
        assert_eq!(paste(&mut pastes, &"z".repeat(501)), "[Pasted Text: 501 chars]");
        let typed = "a [Pasted Text: 9 lines #2] b [Pasted Text: 9 lines] [Pasted Text: 7 lines]";
        assert_eq!(pastes.expand(typed), format!("a {second} b {first} [Pasted Text: 7 lines]"));
        assert_eq!(pastes.labels().len(), 3);
        assert_eq!(pastes.end(), None);
    }
}
