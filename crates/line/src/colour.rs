//! Colours of lines on a terminal (see STYLE.md).

use std::borrow::Cow;

use pollux_input::Tone;

/// Returns the text of one line in the colour of its meaning.
pub fn paint(tone: Tone, text: &str) -> Cow<'_, str> {
    let code = match tone {
        Tone::Plain => return text.into(),
        Tone::Secondary => "2",
        Tone::Error | Tone::Removed => "31",
        Tone::Warning => "33",
        Tone::Added => "32",
    };
    if text.is_empty() { text.into() } else { format!("\u{1b}[{code}m{text}\u{1b}[0m").into() }
}

#[cfg(test)]
mod tests {
    use pretty_assertions::assert_eq;

    use super::*;

    #[test]
    fn a_line_keeps_its_text_and_ends_its_colour() {
        assert_eq!(paint(Tone::Plain, "a"), "a");
        assert_eq!(paint(Tone::Error, "a"), "\u{1b}[31ma\u{1b}[0m");
        assert_eq!(paint(Tone::Added, ""), "");
    }
}
