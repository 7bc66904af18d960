//! Lines of a text, and replacements that keep the indentation of the text.

use std::ops::Range;

/// A text with the positions of its lines. A final line feed does not begin another line.
pub(super) struct Lines<'a> {
    pub(super) text: &'a str,
    starts: Vec<u32>,
}

impl<'a> Lines<'a> {
    /// Finds the lines. The text must be shorter than 4 GiB; longer texts are refused before.
    pub(super) fn of(text: &'a str) -> Self {
        let mut starts = Vec::new();
        let mut start = 0;
        for line in text.split_inclusive('\n') {
            starts.push(start as u32);
            start += line.len();
        }
        Self { text, starts }
    }

    /// Returns the number of lines.
    pub(super) fn count(&self) -> usize {
        self.starts.len()
    }

    /// Returns the offset at which a line begins; the end of the text for the line after the last.
    pub(super) fn start(&self, line: usize) -> usize {
        self.starts.get(line).map_or(self.text.len(), |start| *start as usize)
    }

    /// Returns a line without its line feed.
    pub(super) fn get(&self, line: usize) -> &'a str {
        let whole = &self.text[self.start(line)..self.start(line + 1)];
        whole.strip_suffix('\n').unwrap_or(whole)
    }

    /// Returns all lines without their line feeds.
    pub(super) fn iter(&self) -> impl Iterator<Item = &'a str> + '_ {
        (0..self.count()).map(|line| self.get(line))
    }

    /// Returns the number, from 1, of the line that contains a byte.
    pub(super) fn number_of(&self, position: usize) -> usize {
        self.starts.partition_point(|start| *start as usize <= position).max(1)
    }

    /// Replaces whole lines by `block`. The block stays unchanged if its old text has the
    /// indentation of these lines; otherwise it is indented like the first of them. The line feed
    /// of the last line stays, unless the block deletes the lines. The text in `kept` stays, too.
    pub(super) fn replace(
        &self,
        window: Range<usize>,
        block: &Block<'_>,
        kept: KeptText,
    ) -> (Range<usize>, String) {
        let (start, end) = (self.start(window.start), self.start(window.end));
        if block.deletes && kept == KeptText::default() {
            return (start..end, String::new());
        }
        let end = end - usize::from(self.text[start..end].ends_with('\n')) - kept.after;
        let own = || window.clone().map(|line| self.get(line));
        let first = own().find(|line| !line.trim().is_empty()).unwrap_or_default();
        let same = own().map(indentation).eq(block.old.split('\n').map(indentation));
        let new = if same { block.new.to_owned() } else { block.indented(indentation(first)) };
        match kept.before {
            0 => (start..end, new),
            before => (start + before..end, new.trim_start().to_owned()),
        }
    }
}

/// Text of replaced lines that stays because the searched text does not contain it.
#[derive(Debug, Default, Clone, Copy, PartialEq, Eq)]
pub(super) struct KeptText {
    /// Number of bytes at the start of the first line.
    pub(super) before: usize,
    /// Number of bytes at the end of the last line, without its line feed.
    pub(super) after: usize,
}

/// The searched text and its replacement, without a line feed that ends both.
pub(super) struct Block<'a> {
    pub(super) old: &'a str,
    pub(super) new: &'a str,
    deletes: bool,
}

impl<'a> Block<'a> {
    pub(super) fn new(old: &'a str, new: &'a str) -> Self {
        let deletes = new.is_empty();
        match old.strip_suffix('\n') {
            Some(old) => Self { old, new: new.strip_suffix('\n').unwrap_or(new), deletes },
            None => Self { old, new, deletes },
        }
    }

    /// Returns the new lines, moved so that the first line is indented by `base`. Lines without
    /// text become empty.
    pub(super) fn indented(&self, base: &str) -> String {
        let with_text = |line: &&str| !line.trim().is_empty();
        let reference = indentation(self.new.split('\n').find(with_text).unwrap_or_default());
        let mut result = String::with_capacity(self.new.len());
        for (index, line) in self.new.split('\n').enumerate() {
            if index > 0 {
                result.push('\n');
            }
            let body = line.trim_start();
            if body.is_empty() {
                continue;
            }
            let own = indentation(line);
            if let Some(deeper) = own.strip_prefix(reference) {
                result.push_str(base);
                result.push_str(deeper);
            } else {
                // Less indented than the first line: remove the missing indentation from the base
                // if both use the same white space.
                let missing = reference.strip_prefix(own).unwrap_or_default();
                result.push_str(base.strip_suffix(missing).unwrap_or(base));
            }
            result.push_str(body);
        }
        result
    }
}

/// Returns the white space at the beginning of a line; empty for a line of white space only.
pub(super) fn indentation(line: &str) -> &str {
    match line.trim_start() {
        "" => "",
        text => &line[..line.len() - text.len()],
    }
}
