//! Lines of a text.

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
}
