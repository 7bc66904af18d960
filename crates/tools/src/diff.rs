//! Differences between two texts: patches, figures and the snippet that a model is shown.
//!
//! Texts have the form in which models see them: line feeds only.

use std::fmt::Write as _;
use std::ops::Range;
use std::time::{Duration, Instant};

use pollux_protocol::DiffStat;
use similar::{Algorithm, DiffOp, DiffTag, capture_diff_slices_deadline, group_diff_ops};

#[cfg(test)]
mod tests;

/// Number of unchanged lines around a change in a patch.
const PATCH_CONTEXT: usize = 3;
/// Number of unchanged lines around a change in a snippet.
const SNIPPET_CONTEXT: usize = 5;
/// Time after which a difference is computed in coarser pieces; the result stays correct.
const DEADLINE: Duration = Duration::from_millis(400);

/// Names of the two sides of a patch.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Labels {
    /// Name of the old side.
    pub old: &'static str,
    /// Name of the new side.
    pub new: &'static str,
}

impl Labels {
    /// Labels of a proposed change.
    pub const PROPOSAL: Self = Self { old: "Current", new: "Proposed" };
    /// Labels of a file that `write_file` has written.
    pub const WRITTEN: Self = Self { old: "Original", new: "Written" };
}

/// Difference between two texts, line by line.
#[derive(Debug)]
pub struct Difference<'a> {
    whole_old: &'a str,
    whole_new: &'a str,
    /// Number of bytes at the beginning that both texts share and that are not compared.
    skipped: usize,
    /// True if shared lines at the end are not compared either.
    rest_is_shared: bool,
    old: Vec<&'a str>,
    new: Vec<&'a str>,
    operations: Vec<DiffOp>,
}

impl<'a> Difference<'a> {
    /// Compares two texts in bounded time: very long or very different texts are compared in
    /// coarser pieces.
    pub fn between(old: &'a str, new: &'a str) -> Self {
        let (whole_old, whole_new) = (old, new);
        // A small change of a large file needs little memory: only the part that differs is split
        // into lines.
        let (before, after) = shared_ends(old, new);
        let lines = |text: &'a str| -> Vec<&'a str> {
            text[before..text.len() - after].split_inclusive('\n').collect()
        };
        let (old, new) = (lines(old), lines(new));
        let deadline = Some(Instant::now() + DEADLINE);
        let operations = capture_diff_slices_deadline(Algorithm::Myers, &old, &new, deadline);
        let (skipped, rest_is_shared) = (before, after > 0);
        Self { whole_old, whole_new, skipped, rest_is_shared, old, new, operations }
    }

    /// Returns the unified patch with three lines of context, in the format of npm's
    /// `diff.createPatch(name, …)`. A patch without changes has no hunks.
    pub fn patch(&self, name: &str, labels: Labels) -> String {
        let rule = "=".repeat(67);
        let Labels { old, new } = labels;
        let hunks = self.hunks();
        format!("Index: {name}\n{rule}\n--- {name}\t{old}\n+++ {name}\t{new}\n{hunks}")
    }

    /// Returns the hunks of the unified patch, with three lines of context and without the lines
    /// that name the two sides. The text is empty if nothing differs.
    pub fn hunks(&self) -> String {
        let mut hunks = String::new();
        if self.operations.iter().all(|operation| operation.tag() == DiffTag::Equal) {
            return hunks;
        }
        let skipped_lines = self.whole_old[..self.skipped].split('\n').count() - 1;
        for group in group_diff_ops(self.operations.clone(), PATCH_CONTEXT) {
            self.write_hunk(&mut hunks, &group, skipped_lines);
        }
        hunks
    }

    fn write_hunk(&self, patch: &mut String, group: &[DiffOp], skipped_lines: usize) {
        let (Some(first), Some(last)) = (group.first(), group.last()) else { return };
        let old = first.old_range().start..last.old_range().end;
        let new = first.new_range().start..last.new_range().end;
        let (old, new) = (hunk_range(&old, skipped_lines), hunk_range(&new, skipped_lines));
        // Writing to a string cannot fail.
        writeln!(patch, "@@ -{old} +{new} @@").unwrap_or_default();
        for operation in group {
            if operation.tag() == DiffTag::Equal {
                write_lines(patch, ' ', &self.old[operation.old_range()]);
            } else {
                write_lines(patch, '-', &self.old[operation.old_range()]);
                write_lines(patch, '+', &self.new[operation.new_range()]);
            }
        }
    }

    /// Returns only the lines that differ, each after `-` or `+`.
    pub fn lines(&self) -> String {
        let mut lines = String::new();
        for operation in self.changes() {
            write_lines(&mut lines, '-', &self.old[operation.old_range()]);
            write_lines(&mut lines, '+', &self.new[operation.new_range()]);
        }
        lines
    }

    /// Returns the edits that turn the old text into the new text: byte spans of the old text, in
    /// order, and their replacements.
    pub fn edits(&self) -> Vec<(Range<usize>, String)> {
        let (mut edits, mut start) = (Vec::new(), self.skipped);
        for operation in &self.operations {
            let length: usize = self.old[operation.old_range()].iter().map(|line| line.len()).sum();
            if operation.tag() != DiffTag::Equal {
                edits.push((start..start + length, self.new[operation.new_range()].concat()));
            }
            start += length;
        }
        edits
    }

    /// Counts removed and added lines and characters (UTF-16 code units, without line ends).
    pub fn figures(&self) -> Figures {
        let mut figures = Figures::default();
        for operation in self.changes() {
            let removed = &self.old[operation.old_range()];
            let added = &self.new[operation.new_range()];
            figures.removed_lines += removed.len() as u64;
            figures.removed_chars += characters(removed);
            figures.added_lines += added.len() as u64;
            figures.added_chars += characters(added);
        }
        figures
    }

    /// Returns the new text around the changes: five lines on either side, gaps as `...`. Returns
    /// the whole new text if nothing changed or the old text was empty.
    pub fn snippet(&self) -> String {
        let ranges = self.snippet_ranges();
        if self.whole_old.is_empty() || ranges.is_empty() {
            return self.whole_new.to_owned();
        }
        let mut pieces: Vec<String> = Vec::new();
        let mut end = 0;
        for range in ranges {
            if range.start > end || (pieces.is_empty() && self.skipped > 0) {
                pieces.push("...\n".to_owned());
            }
            end = range.end;
            pieces.push(self.new[range].concat());
        }
        let mut snippet = pieces.concat();
        if end < self.new.len() || self.rest_is_shared {
            snippet.push_str("...");
        }
        snippet
    }

    fn snippet_ranges(&self) -> Vec<Range<usize>> {
        let mut ranges: Vec<Range<usize>> = Vec::new();
        for operation in self.changes() {
            let changed = operation.new_range();
            let start = changed.start.saturating_sub(SNIPPET_CONTEXT);
            let end = (changed.end + SNIPPET_CONTEXT).min(self.new.len());
            match ranges.last_mut() {
                Some(previous) if start <= previous.end => previous.end = end,
                _ => ranges.push(start..end),
            }
        }
        ranges
    }

    fn changes(&self) -> impl Iterator<Item = &DiffOp> {
        self.operations.iter().filter(|operation| operation.tag() != DiffTag::Equal)
    }
}

/// Numbers of lines and characters that a change removes and adds.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Figures {
    /// Number of removed lines.
    pub removed_lines: u64,
    /// Number of removed characters.
    pub removed_chars: u64,
    /// Number of added lines.
    pub added_lines: u64,
    /// Number of added characters.
    pub added_chars: u64,
}

/// Returns the figures of a change: from `original` to the text that the model `proposed`, and from
/// there to the text that was `written` after the user's changes.
pub fn diff_stat(original: &str, proposed: &str, written: &str) -> DiffStat {
    let model = Difference::between(original, proposed).figures();
    let user = if proposed == written {
        Figures::default()
    } else {
        Difference::between(proposed, written).figures()
    };
    DiffStat {
        model_added_lines: model.added_lines,
        model_removed_lines: model.removed_lines,
        model_added_chars: model.added_chars,
        model_removed_chars: model.removed_chars,
        user_added_lines: user.added_lines,
        user_removed_lines: user.removed_lines,
        user_added_chars: user.added_chars,
        user_removed_chars: user.removed_chars,
    }
}

/// Returns the number of bytes of whole lines that both texts share at the beginning and at the
/// end, without the lines that are shown around a change.
fn shared_ends(old: &str, new: &str) -> (usize, usize) {
    let same = |(one, other): &(u8, u8)| one == other;
    let before = old.bytes().zip(new.bytes()).take_while(same).count();
    let before =
        old.as_bytes()[..before].iter().rposition(|byte| *byte == b'\n').map_or(0, |at| at + 1);
    let ends = old.bytes().rev().zip(new.bytes().rev());
    let after = ends.take(old.len().min(new.len()) - before).take_while(same).count();
    let (head, tail) = (&old[..before], &old.as_bytes()[old.len() - after..]);
    let shown: usize = head.split_inclusive('\n').rev().take(SNIPPET_CONTEXT).map(str::len).sum();
    // The first line of the end may be shared only in part; it is compared, like the lines that are
    // shown.
    let lines = tail.split_inclusive(|byte| *byte == b'\n');
    let taken: usize = lines.take(SNIPPET_CONTEXT + 1).map(<[u8]>::len).sum();
    (before - shown, after - taken)
}

/// Formats `start,count`, one-based; an empty range names the line before it.
fn hunk_range(range: &Range<usize>, skipped_lines: usize) -> String {
    let start = if range.is_empty() { range.start } else { range.start + 1 };
    format!("{},{}", skipped_lines + start, range.len())
}

fn write_lines(patch: &mut String, sign: char, lines: &[&str]) {
    for line in lines {
        patch.push(sign);
        patch.push_str(line);
        if !line.ends_with('\n') {
            patch.push_str("\n\\ No newline at end of file\n");
        }
    }
}

fn characters(lines: &[&str]) -> u64 {
    let length = |line: &&str| line.trim_end_matches('\n').encode_utf16().count() as u64;
    lines.iter().map(length).sum()
}
