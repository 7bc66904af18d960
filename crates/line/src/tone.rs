//! Meaning of lines, which decides their colour on a terminal (see STYLE.md).

use std::borrow::Cow;

/// Meaning of a line.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum Tone {
    /// Ordinary text.
    #[default]
    Plain,
    /// Secondary text, such as the lines about calls.
    Secondary,
    /// Message about an error.
    Error,
    /// Warning, or text that needs a decision.
    Warning,
    /// Added line of a change.
    Added,
    /// Removed line of a change.
    Removed,
}

impl Tone {
    /// Returns the tone of a line of a unified patch.
    pub fn of_patch(line: &str) -> Self {
        match line.as_bytes().first() {
            Some(b'+') => Self::Added,
            Some(b'-') => Self::Removed,
            Some(b'@') => Self::Secondary,
            _ => Self::Plain,
        }
    }

    /// Returns the text of one line in its colour.
    pub fn paint(self, text: &str) -> Cow<'_, str> {
        let code = match self {
            Self::Plain => return text.into(),
            Self::Secondary => "2",
            Self::Error | Self::Removed => "31",
            Self::Warning => "33",
            Self::Added => "32",
        };
        if text.is_empty() { text.into() } else { format!("\u{1b}[{code}m{text}\u{1b}[0m").into() }
    }
}

/// A line with its meaning. The text may contain control characters of models and programs.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TonedLine {
    /// Meaning of the line.
    pub tone: Tone,
    /// The line, without its end.
    pub text: String,
}

impl TonedLine {
    /// Creates a line.
    pub fn new(tone: Tone, text: impl Into<String>) -> Self {
        Self { tone, text: text.into() }
    }
}

#[cfg(test)]
mod tests {
    use pretty_assertions::assert_eq;

    use super::*;

    #[test]
    fn a_line_keeps_its_text_and_ends_its_colour() {
        assert_eq!(Tone::Plain.paint("a"), "a");
        assert_eq!(Tone::Error.paint("a"), "\u{1b}[31ma\u{1b}[0m");
        assert_eq!(Tone::Added.paint(""), "");
        let tones = ["+a", "-b", "@@ -1 +1 @@", " c", ""].map(Tone::of_patch);
        let expected = [Tone::Added, Tone::Removed, Tone::Secondary, Tone::Plain, Tone::Plain];
        assert_eq!(tones, expected);
    }
}
