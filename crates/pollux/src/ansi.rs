//! Escape sequences are taken out of the model's words, also where a sequence is cut in two by the
//! stream.

use std::borrow::Cow;

/// A sequence that has not ended after so many bytes is no sequence.
const LONGEST: usize = 4096;

/// Strips a stream of text.
#[derive(Debug, Default)]
pub(crate) struct AnsiFilter {
    held: String,
}

impl AnsiFilter {
    /// The next piece without escape sequences. An unfinished sequence at its end is held back.
    pub(crate) fn push<'text>(&mut self, text: &'text str) -> Cow<'text, str> {
        if self.held.is_empty() && !text.contains('\u{1b}') {
            return Cow::Borrowed(text);
        }
        let mut whole = std::mem::take(&mut self.held);
        whole.push_str(text);
        if let Some(start) = unfinished(&whole) {
            self.held = whole.split_off(start);
        }
        Cow::Owned(pollux_shell::strip_ansi(&whole).into_owned())
    }
}

/// Where a sequence begins that has not ended by the end of the text.
fn unfinished(text: &str) -> Option<usize> {
    let start = text.rfind('\u{1b}')?;
    let sequence = &text.as_bytes()[start + 1..];
    let open = match sequence.first() {
        None => true,
        Some(b'[') => !sequence[1..].iter().any(|byte| (0x40..=0x7e).contains(byte)),
        Some(b']') => !sequence.contains(&0x07),
        Some(_) => false,
    };
    (open && sequence.len() < LONGEST).then_some(start)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_cut_sequence_is_held_back() {
        for cut in 0..="a\u{1b}[31mred\u{1b}[0m\u{1b}]0;title\u{7}b".len() {
            let (left, right) = "a\u{1b}[31mred\u{1b}[0m\u{1b}]0;title\u{7}b".split_at(cut);
            let mut filter = AnsiFilter::default();
            let text = filter.push(left).into_owned() + &filter.push(right);
            assert_eq!(text, "aredb", "cut at {cut}");
        }
        let mut filter = AnsiFilter::default();
        assert_eq!(filter.push("plain\ttext\n"), "plain\ttext\n");
    }
}
