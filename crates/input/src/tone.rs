//! Meaning of lines, which decides their colour on a terminal (see STYLE.md).

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
}

/// A line with its meaning. The text may contain control characters of models and programs.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TonedLine {
    /// Meaning of the line.
    pub tone: Tone,
    /// The line, without its end.
    pub text: String,
    /// True for text that breaks between words even if it is indented. Other indented lines are
    /// code, changes and output.
    pub is_prose: bool,
}

impl TonedLine {
    /// Creates a line that is kept as it is if it is indented.
    pub fn new(tone: Tone, text: impl Into<String>) -> Self {
        Self { tone, text: text.into(), is_prose: false }
    }

    /// Creates a line that breaks between words.
    pub fn prose(tone: Tone, text: impl Into<String>) -> Self {
        Self { tone, text: text.into(), is_prose: true }
    }
}

#[cfg(test)]
mod tests {
    use pretty_assertions::assert_eq;

    use super::*;

    #[test]
    fn lines_of_a_patch_have_their_tone() {
        let tones = ["+a", "-b", "@@ -1 +1 @@", " c", ""].map(Tone::of_patch);
        let expected = [Tone::Added, Tone::Removed, Tone::Secondary, Tone::Plain, Tone::Plain];
        assert_eq!(tones, expected);
    }
}
