//! A change of a file as rows: line numbers, signs, and marks of the changed parts of a line. Pure.

use std::ops::Range;

use pollux_protocol::plain_text::visible;
use similar::{Algorithm, DiffOp, capture_diff_slices};

use crate::fold::{Breaks, Room, cut_row, fold};
use crate::row::{Look, Row};

/// Maximum number of words of a line whose changed parts are marked.
const MOST_WORDS: usize = 400;
/// Row between two parts of a file.
const GAP: &str = "...";

/// Returns the rows of the change that a unified patch describes, as text, on a screen whose rows
/// have this number of cells. For checks of what a patch can do to a terminal.
pub fn change_rows(patch: &str, cells: usize) -> Vec<String> {
    Change::of_patch(patch).rows(cells, 2).into_iter().map(Row::into_text).collect()
}

/// A change of a file.
#[derive(Debug, Default, PartialEq, Eq)]
pub(crate) struct Change {
    lines: Vec<ChangeLine>,
    /// Number of digits of the largest line number.
    digits: usize,
}

#[derive(Debug, PartialEq, Eq)]
struct ChangeLine {
    kind: LineKind,
    number: Option<usize>,
    /// The line without its sign. All characters are visible.
    text: String,
    /// Changed parts of the text, in bytes.
    changed: Vec<Range<usize>>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum LineKind {
    Kept,
    Removed,
    Added,
    /// Lines of the file are left out here.
    Gap,
    /// Remark about the line above.
    Remark,
}

impl LineKind {
    fn sign(self) -> &'static str {
        match self {
            Self::Removed => "-",
            Self::Added => "+",
            Self::Kept | Self::Gap | Self::Remark => " ",
        }
    }

    /// Returns the looks of a line and of its changed parts.
    fn looks(self) -> (Look, Look) {
        match self {
            Self::Kept => (Look::Plain, Look::Plain),
            Self::Removed => (Look::Red, Look::RemovedPart),
            Self::Added => (Look::Green, Look::AddedPart),
            Self::Gap | Self::Remark => (Look::Dim, Look::Dim),
        }
    }
}

impl Change {
    /// Returns the change that a unified patch describes.
    pub(crate) fn of_patch(patch: &str) -> Self {
        let mut change = Self::default();
        let (mut old, mut new) = (None, None);
        let body = patch.strip_suffix('\n').unwrap_or(patch).split('\n');
        let body = body.skip_while(|line| !line.starts_with("@@ "));
        let is_crlf = |line: &&str| line.ends_with('\r') || line.starts_with(['@', '\\']);
        let has_crlf = body.clone().all(|line| is_crlf(&line));
        for line in body {
            let line = if has_crlf { line.strip_suffix('\r').unwrap_or(line) } else { line };
            let has_sign = line.starts_with(|letter: char| letter.is_ascii());
            let (sign, text) = line.split_at(usize::from(has_sign));
            let number = match sign {
                "@" => {
                    (old, new) = hunk_start(line);
                    if !change.lines.is_empty() {
                        change.add(LineKind::Gap, None, GAP);
                    }
                    continue;
                }
                "\\" => {
                    change.add(LineKind::Remark, None, text.trim_start());
                    continue;
                }
                "-" => take(&mut old),
                "+" => take(&mut new),
                _ => {
                    take(&mut old);
                    take(&mut new)
                }
            };
            let kind = match sign {
                "-" => LineKind::Removed,
                "+" => LineKind::Added,
                _ => LineKind::Kept,
            };
            change.add(kind, number, text);
        }
        change.mark_parts();
        change
    }

    fn add(&mut self, kind: LineKind, number: Option<usize>, text: &str) {
        self.digits = self.digits.max(number.map_or(0, |number| number.to_string().len()));
        let text = visible(text).replace('\t', "    ");
        self.lines.push(ChangeLine { kind, number, text, changed: Vec::new() });
    }

    /// Marks the changed parts of lines that replace others.
    fn mark_parts(&mut self) {
        let mut at = 0;
        while at < self.lines.len() {
            let run = |from: usize, kind| {
                self.lines[from..].iter().take_while(|line| line.kind == kind).count()
            };
            let removed = run(at, LineKind::Removed);
            let added = run(at + removed, LineKind::Added);
            for pair in 0..removed.min(added) {
                let (old, new) = (at + pair, at + removed + pair);
                let parts = changed_parts(&self.lines[old].text, &self.lines[new].text);
                (self.lines[old].changed, self.lines[new].changed) = parts;
            }
            at += (removed + added).max(1);
        }
    }

    /// Returns true if the change has no lines.
    pub(crate) fn is_empty(&self) -> bool {
        self.lines.is_empty()
    }

    /// Returns the number of the first changed line, if it is known.
    pub(crate) fn first_changed(&self) -> Option<u32> {
        let is_changed =
            |line: &&ChangeLine| matches!(line.kind, LineKind::Added | LineKind::Removed);
        let number = self.lines.iter().find(is_changed)?.number?;
        u32::try_from(number).ok()
    }

    /// Returns the number of lines.
    pub(crate) fn len(&self) -> usize {
        self.lines.len()
    }

    /// Returns the rows of all lines, each in full length.
    pub(crate) fn rows(&self, cells: usize, indent: usize) -> Vec<Row> {
        let room = Room::new(cells).indented(indent).hanging(self.digits + 3);
        let fold_line = |line| fold(&self.row(line), room, Breaks::Anywhere);
        self.lines.iter().flat_map(fold_line).collect()
    }

    /// Returns the first lines, each as one row, which may be cut.
    pub(crate) fn first_rows(&self, count: usize, cells: usize, indent: usize) -> Vec<Row> {
        let cut_line = |line: &ChangeLine| {
            let mut row = Row::plain(" ".repeat(indent.min(cells / 2)));
            row.append(&self.row(line));
            cut_row(row, cells)
        };
        self.lines.iter().take(count).map(cut_line).collect()
    }

    fn row(&self, line: &ChangeLine) -> Row {
        let (look, changed) = line.kind.looks();
        let number = line.number.map_or(String::new(), |number| number.to_string());
        let mut row = Row::new(Look::Dim, format!("{number:>width$} ", width = self.digits));
        row.push(look, line.kind.sign());
        row.push(Look::Plain, " ");
        let mut start = 0;
        for part in &line.changed {
            row.push(look, &line.text[start..part.start]);
            row.push(changed, &line.text[part.clone()]);
            start = part.end;
        }
        row.push(look, &line.text[start..]);
        row
    }
}

/// Returns the first line numbers of a hunk, in the old and in the new file.
fn hunk_start(header: &str) -> (Option<usize>, Option<usize>) {
    let number = |sign| {
        let range = header.split(' ').find_map(|word| word.strip_prefix(sign))?;
        range.split(',').next()?.parse().ok()
    };
    (number('-'), number('+'))
}

/// Returns the number of a line, and goes to the next one.
fn take(number: &mut Option<usize>) -> Option<usize> {
    let taken = *number;
    *number = taken.and_then(|number| number.checked_add(1));
    taken
}

/// Changed parts of a text, in bytes.
type Parts = Vec<Range<usize>>;

/// Returns the parts in which two lines differ; nothing if they have little in common.
fn changed_parts(old: &str, new: &str) -> (Parts, Parts) {
    let (old_words, new_words) = (words(old), words(new));
    if old_words.len().max(new_words.len()) > MOST_WORDS {
        return Default::default();
    }
    let old_texts: Vec<&str> = old_words.iter().map(|word| &old[word.clone()]).collect();
    let new_texts: Vec<&str> = new_words.iter().map(|word| &new[word.clone()]).collect();
    let (mut removed, mut added, mut kept) = (Vec::new(), Vec::new(), 0);
    for op in capture_diff_slices(Algorithm::Myers, &old_texts, &new_texts) {
        if let DiffOp::Equal { old_index, len, .. } = op {
            let same = &old_texts[old_index..old_index + len];
            kept += same.iter().map(|word| word.trim().len()).sum::<usize>();
            continue;
        }
        push_part(&mut removed, &old_words[op.old_range()]);
        push_part(&mut added, &new_words[op.new_range()]);
    }
    let length = old.trim().len().max(new.trim().len());
    if kept * 3 < length { Default::default() } else { (removed, added) }
}

fn push_part(parts: &mut Parts, words: &[Range<usize>]) {
    if let [first, .., last] | [first @ last] = words {
        parts.push(first.start..last.end);
    }
}

/// Returns the positions of the words of a text, and of each other character.
fn words(text: &str) -> Vec<Range<usize>> {
    let mut words: Vec<Range<usize>> = Vec::new();
    let mut was_word = false;
    for (at, letter) in text.char_indices() {
        let is_word = letter.is_alphanumeric() || letter == '_';
        let end = at + letter.len_utf8();
        match words.last_mut() {
            Some(last) if is_word && was_word => last.end = end,
            _ => words.push(at..end),
        }
        was_word = is_word;
    }
    words
}

#[cfg(test)]
mod tests {
    use pretty_assertions::assert_eq;

    use super::*;

    fn texts(rows: &[Row]) -> Vec<String> {
        rows.iter().map(Row::text).collect()
    }

    #[test]
    fn lines_have_numbers_and_signs() {
        let patch = "Index: a\n--- a\n+++ a@@ b\n@@ -9,3 +9,3 @@ fn x\n def\n-old\n+new\n+\n\
                     @@ -100,1 +101,1 @@\n--- a\n+++ b\n\\ No newline at end of file\n";
        let rows = texts(&Change::of_patch(patch).rows(40, 2));
        assert_eq!(
            rows,
            [
                "    9   def",
                "   10 - old",
                "   10 + new",
                "   11 + ",
                "        ...",
                "  100 - -- a",
                "  101 + ++ b",
                "        No newline at end of file",
            ]
        );
    }

    #[test]
    fn the_changed_parts_of_a_line_are_marked() {
        let patch = "@@ -1 +1 @@\n-let a = call(one, two);\n+let b = call(one, 2);\n";
        let row = &Change::of_patch(patch).rows(80, 0)[0];
        let pieces: Vec<_> = row.pieces().collect();
        assert_eq!(
            pieces,
            [
                (Look::Dim, "1 "),
                (Look::Red, "-"),
                (Look::Plain, " "),
                (Look::Red, "let "),
                (Look::RemovedPart, "a"),
                (Look::Red, " = call(one, "),
                (Look::RemovedPart, "two"),
                (Look::Red, ");"),
            ]
        );
        // Lines with little in common are not marked.
        let patch = "@@ -1 +1 @@\n-abc def;\n+x;\n";
        assert!(Change::of_patch(patch).lines.iter().all(|line| line.changed.is_empty()));
        // A blank at the end is a change.
        let patch = "@@ -1 +1 @@\n-abc\n+abc \n";
        assert_eq!(Change::of_patch(patch).lines[1].changed, [Range { start: 3, end: 4 }]);
    }

    #[test]
    fn nothing_of_a_change_is_invisible() {
        let patch = "@@ -1 +1 @@\n-a\n+a\r\n@@ -9 +9 @@\n-x\u{202e}y\n+x\u{200b}y";
        let rows = texts(&Change::of_patch(patch).rows(40, 0));
        assert_eq!(rows[..2], ["1 - a", "1 + a\\u{d}"]);
        assert_eq!(rows[3..], ["9 - x\\u{202e}y", "9 + x\\u{200b}y"]);
        // A file whose lines all end with CR LF shows none of them.
        let patch = "@@ -1 +1 @@\n-a\r\n+b\r\n";
        assert_eq!(texts(&Change::of_patch(patch).rows(40, 0)), ["1 - a", "1 + b"]);
    }

    #[test]
    fn every_change_fits_and_is_whole() {
        for patch in ["", "@@", "@@ -x +y @@\n-a\n+b", "@@ -1 +1 @@\n\n\u{6f22}", "no patch"] {
            Change::of_patch(patch).rows(10, 2);
        }
        let long = format!("@@ -1 +1 @@\n-{}\n+{}\n", "ab \u{6f22}".repeat(500), "ab ".repeat(500));
        let change = Change::of_patch(&long);
        for cells in [8, 20, 80] {
            let rows = change.rows(cells, 2);
            assert!(rows.iter().all(|row| row.width() <= cells));
            let first = change.first_rows(1, cells, 2);
            assert_eq!(first.len(), 1);
            assert!(first[0].width() <= cells);
        }
        let all = texts(&change.rows(80, 2));
        let all: String = all.iter().map(|row| &row[6..]).collect();
        assert!(all.contains(&"ab \u{6f22}".repeat(500)) && all.ends_with(&"ab ".repeat(500)));
    }
}
