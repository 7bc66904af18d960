//! Selection of the lines to show, and the remark about missing lines.
//!
//! A line feed ends a line; at the end of the text it does not begin another one. Long lines are
//! measured in UTF-16 units, as in Gemini CLI.

/// Number of lines shown if the call does not specify an end.
pub(crate) const MAX_LINES: usize = 2000;
/// Maximum number of UTF-16 units shown of a line.
const MAX_LINE_LENGTH: usize = 2000;
/// Text appended to a line that was cut.
const CUT: &str = "... [truncated]";

/// Requested lines, from 1, inclusive.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct LineRange {
    start: usize,
    end: usize,
}

impl LineRange {
    /// Creates a range; `None` if the end is before the start.
    pub(super) fn new(start: Option<u64>, end: Option<u64>) -> Option<Self> {
        let number = |line: u64| usize::try_from(line).unwrap_or(usize::MAX);
        let start = start.map_or(1, number).max(1);
        let end = end.map_or_else(|| start.saturating_add(MAX_LINES - 1), number);
        (start <= end).then_some(Self { start, end })
    }
}

/// The shown part of a text.
pub(super) struct View {
    content: String,
    first: usize,
    last: usize,
    total: usize,
    shortened: bool,
}

/// Extracts the lines of `range` from `text`. Carriage returns before line feeds are removed.
///
/// # Errors
/// The number of lines of `text` if the range starts behind the last one.
pub(super) fn view(text: &str, range: LineRange) -> Result<View, usize> {
    let mut view =
        View { content: String::new(), first: range.start, last: 0, total: 0, shortened: false };
    for line in text.split_inclusive('\n') {
        view.total += 1;
        if view.total < range.start || view.total > range.end {
            continue;
        }
        match line.strip_suffix('\n') {
            Some(line) => {
                view.push(line.strip_suffix('\r').unwrap_or(line));
                view.content.push('\n');
            }
            None => view.push(line),
        }
    }
    if range.start > view.total.max(1) {
        return Err(view.total);
    }
    view.last = range.end.min(view.total);
    if view.last < view.total {
        // The line feed before the first line that is not shown.
        view.content.pop();
    }
    Ok(view)
}

impl View {
    fn push(&mut self, line: &str) {
        match cut(line) {
            Some(at) => {
                self.content.push_str(&line[..at]);
                self.content.push_str(CUT);
                self.shortened = true;
            }
            None => self.content.push_str(line),
        }
    }

    pub(super) fn has_cut_lines(&self) -> bool {
        self.shortened
    }

    fn is_partial(&self) -> bool {
        self.first > 1 || self.last < self.total
    }

    /// Returns the message for the user; empty for a file that was read completely.
    pub(super) fn summary(&self, path: &str) -> String {
        let shortened = if self.shortened { " (some lines were shortened)" } else { "" };
        if self.is_partial() {
            let Self { first, last, total, .. } = self;
            format!("Read lines {first}-{last} of {total} from {path}{shortened}")
        } else if self.shortened {
            format!("Read all {} lines from {path}{shortened}", self.total)
        } else {
            String::new()
        }
    }

    /// Returns the text for the model if the file is read together with others: the plain text, or
    /// text with a remark at the top.
    pub(super) fn into_excerpt(self) -> String {
        if !self.is_partial() && !self.shortened {
            return self.content;
        }
        if !self.is_partial() {
            return format!(
                "[WARNING: Lines of this file that are longer than {MAX_LINE_LENGTH} characters are cut.]\n\n{}",
                self.content
            );
        }
        let Self { content, last, total, .. } = self;
        format!(
            "[WARNING: This file was truncated. Lines 1-{last} of {total} are shown, the longest ones cut; read the \
             others with read_file and start_line.]\n\n{content}"
        )
    }

    /// Returns the text for the model: the plain text, or text with a header if something is
    /// missing.
    pub(super) fn into_text(self) -> String {
        if !self.is_partial() && !self.shortened {
            return self.content;
        }
        let Self { content, first, last, total, shortened } = self;
        let is_partial = first > 1 || last < total;
        let range = if last < total {
            format!(
                "To read on, call read_file with start_line and end_line; next start_line: {}",
                last + 1
            )
        } else {
            "This is the end of the file. Use start_line and end_line to read other lines."
                .to_owned()
        };
        let cut = format!(
            "Lines longer than {MAX_LINE_LENGTH} characters are cut. To see the rest of such a line, use grep_search for a text in it, or a command such as cut -c {}- with the file.",
            MAX_LINE_LENGTH + 1
        );
        let action = match (is_partial, shortened) {
            (true, true) => format!("{range} {cut}"),
            (_, false) => range,
            (false, true) => cut,
        };
        format!(
            "\nIMPORTANT: The file content has been truncated.\n\
             Status: Showing lines {first}-{last} of {total} total lines.\n\
             Action: {action}\n\n--- FILE CONTENT (truncated) ---\n{content}"
        )
    }
}

/// Returns the offset at which a line is cut: before the first character that does not fit.
fn cut(line: &str) -> Option<usize> {
    // A text never has more UTF-16 units than bytes, so most lines need no count.
    if line.len() <= MAX_LINE_LENGTH {
        return None;
    }
    let mut units = 0;
    line.char_indices().find_map(|(at, character)| {
        units += character.len_utf16();
        (units > MAX_LINE_LENGTH).then_some(at)
    })
}

/// Returns the number of lines.
pub(crate) fn count(bytes: &[u8]) -> u64 {
    bytes.split_inclusive(|byte| *byte == b'\n').count() as u64
}

#[cfg(test)]
mod tests {
    use pretty_assertions::assert_eq;

    use super::*;

    fn show(text: &str, start: Option<u64>, end: Option<u64>) -> (String, String) {
        let view = view(text, LineRange::new(start, end).unwrap()).ok().unwrap();
        (view.summary("a"), view.into_text())
    }

    #[test]
    fn whole_texts_come_bare() {
        for (text, expected) in
            [("", ""), ("a", "a"), ("a\r\nb\r\n", "a\nb\n"), ("\n\n", "\n\n"), ("a\rb", "a\rb")]
        {
            assert_eq!(show(text, None, None), (String::new(), expected.to_owned()));
        }
    }

    #[test]
    fn a_part_says_how_to_go_on() {
        let (summary, text) = show("a\nb\nc\n", Some(1), Some(2));
        assert_eq!(summary, "Read lines 1-2 of 3 from a");
        assert_eq!(
            text,
            "\nIMPORTANT: The file content has been truncated.\nStatus: Showing lines 1-2 of 3 total lines.\n\
             Action: To read on, call read_file with start_line and end_line; next start_line: 3\n\n\
             --- FILE CONTENT (truncated) ---\na\nb"
        );
        let (_, end) = show("a\nb\nc\n", Some(3), None);
        assert!(end.contains("Showing lines 3-3 of 3") && end.ends_with("---\nc\n"), "{end}");
    }

    #[test]
    fn the_last_line_feed_begins_no_line() {
        let text = "one\ntwo\nthree\nfour\nfive\n";
        let table = [
            (Some(2), Some(3), "2-3", "two\nthree"),
            (Some(1), Some(4), "1-4", "one\ntwo\nthree\nfour"),
            (Some(4), Some(5), "4-5", "four\nfive\n"),
            (Some(5), None, "5-5", "five\n"),
            (Some(5), Some(12), "5-5", "five\n"),
        ];
        for (start, end, shown, content) in table {
            let (summary, reported) = show(text, start, end);
            assert_eq!(summary, format!("Read lines {shown} of 5 from a"));
            assert!(
                reported.contains(&format!("Showing lines {shown} of 5 total lines.")),
                "{reported}"
            );
            assert!(
                reported.ends_with(&format!("--- FILE CONTENT (truncated) ---\n{content}")),
                "{reported}"
            );
        }
        assert_eq!(show(text, Some(1), Some(5)), (String::new(), text.to_owned()));
        let counts = [("", 0), ("a", 1), ("a\n", 1), ("a\n\n", 2), ("a\nb", 2)];
        for (text, lines) in counts {
            assert_eq!(count(text.as_bytes()), lines, "{text:?}");
        }
    }

    #[test]
    fn a_start_behind_the_end_is_refused_with_the_length() {
        for (text, start, expected) in [
            ("a\nb\n", 3, Some(2)),
            ("a\nb", 3, Some(2)),
            ("a\nb\n", 2, None),
            ("", 2, Some(0)),
            ("", 1, None),
        ] {
            let view = view(text, LineRange::new(Some(start), None).unwrap());
            assert_eq!(view.err(), expected, "{text:?} from {start}");
        }
    }

    #[test]
    fn two_thousand_lines_unless_an_end_is_named() {
        let text = "x\n".repeat(5321);
        assert!(show(&text, None, None).1.contains("Showing lines 1-2000 of 5321 total lines."));
        assert!(show(&text, Some(2001), None).1.contains("next start_line: 4001"));
        assert_eq!(show(&text, None, Some(9999)).1, text);
        let full = "x\n".repeat(2000);
        assert_eq!(show(&full, None, None), (String::new(), full.clone()));
        assert_eq!(show(full.trim_end(), None, None).0, "");
        assert_eq!(show(&(full + "x"), None, None).0, "Read lines 1-2000 of 2001 from a");
    }

    #[test]
    fn long_lines_are_cut_at_characters() {
        let text = format!("{}\nb\n", "é".repeat(2001));
        let (summary, shown) = show(&text, None, None);
        assert_eq!(summary, "Read all 2 lines from a (some lines were shortened)");
        assert!(shown.ends_with(&format!("{}... [truncated]\nb\n", "é".repeat(2000))));
        assert!(shown.contains("\nAction: Lines longer than 2000 characters are cut."), "{shown}");
        assert_eq!(show(&"é".repeat(2000), None, None).0, "");
        // Two UTF-16 units per character.
        let (_, shown) = show(&"🦀".repeat(1500), None, None);
        assert!(shown.ends_with(&format!("---\n{}... [truncated]", "🦀".repeat(1000))), "{shown}");
        let (_, shown) = show(&format!("x{}", "🦀".repeat(1000)), None, None);
        assert!(shown.ends_with(&format!("---\nx{}... [truncated]", "🦀".repeat(999))), "{shown}");
    }

    #[test]
    fn ends_before_starts_are_refused() {
        assert_eq!(LineRange::new(Some(3), Some(2)), None);
        assert!(LineRange::new(Some(u64::MAX), None).is_some());
    }
}
