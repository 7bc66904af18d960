//! Unified diffs of text files: creation, parsing and application. Pure functions.

use std::path::{Path, PathBuf};

use pollux_tools::Difference;

/// Limits of the files and lines of a patch that is read.
const MOST_FILES: usize = 20;
const MOST_LINES: usize = 20_000;
/// Marker after a last line without a line end.
const NO_END: &str = "\\ No newline at end of file";

/// Change of one file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct FilePatch {
    /// Path of the file, as the patch names it.
    pub(crate) path: PathBuf,
    hunks: Vec<Hunk>,
}

/// Change in one place.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
struct Hunk {
    /// First line of the change, counted from 0.
    start: usize,
    old: Vec<String>,
    new: Vec<String>,
}

/// Returns the patch that turns `old` into `new`; `old` is `None` if the file does not exist yet.
pub(crate) fn make(path: &Path, old: Option<&str>, new: &str) -> String {
    let path = path.display().to_string();
    let from = if old.is_some() { &path } else { "/dev/null" };
    let hunks = Difference::between(old.unwrap_or_default(), new).hunks();
    format!("--- {from}\n+++ {path}\n{hunks}")
}

fn lines(text: &str) -> Vec<&str> {
    text.split_inclusive('\n').collect()
}

/// Parses a patch; returns `None` if the text is not a patch.
pub(crate) fn parse(text: &str) -> Option<Vec<FilePatch>> {
    let mut files: Vec<FilePatch> = Vec::new();
    let lines: Vec<&str> = text.lines().take(MOST_LINES + 1).collect();
    if lines.len() > MOST_LINES {
        return None;
    }
    let mut rest = lines.as_slice();
    while let Some((line, after)) = rest.split_first() {
        if line.starts_with("--- ") && after.first().is_some_and(|next| next.starts_with("+++ ")) {
            let path = after[0].strip_prefix("+++ ")?.trim_end();
            files.push(FilePatch { path: path.into(), hunks: Vec::new() });
            rest = &after[1..];
        } else if line.starts_with("@@ -") {
            let (hunk, after) = hunk(line, after)?;
            files.last_mut()?.hunks.push(hunk);
            rest = after;
        } else if line.trim().is_empty() {
            rest = after;
        } else {
            return None;
        }
    }
    let is_whole = !files.is_empty()
        && files.len() <= MOST_FILES
        && files.iter().all(|file| !file.hunks.is_empty());
    is_whole.then_some(files)
}

/// Parses the hunk after its range line; returns it and the remaining lines.
fn hunk<'a, 'b>(places: &str, lines: &'b [&'a str]) -> Option<(Hunk, &'b [&'a str])> {
    let (old, new) = places.strip_prefix("@@ -")?.split_once(" @@")?.0.split_once(" +")?;
    let place = |text: &str| -> Option<(usize, usize)> {
        let (start, length) = text.split_once(',').unwrap_or((text, "1"));
        Some((start.parse().ok()?, length.parse().ok()?))
    };
    let ((start, old_length), (_, new_length)) = (place(old)?, place(new)?);
    let start = if old_length == 0 { start } else { start.checked_sub(1)? };
    let mut hunk = Hunk { start, ..Hunk::default() };
    let mut rest = lines;
    while hunk.old.len() < old_length || hunk.new.len() < new_length {
        let (line, after) = rest.split_first()?;
        let is_last = after.first().is_some_and(|next| *next == NO_END);
        rest = if is_last { &after[1..] } else { after };
        let mark = line.chars().next().unwrap_or(' ');
        let words = line.get(1..).unwrap_or_default();
        let words = if is_last { words.to_owned() } else { format!("{words}\n") };
        if matches!(mark, ' ' | '-') {
            hunk.old.push(words.clone());
        }
        if matches!(mark, ' ' | '+') {
            hunk.new.push(words);
        }
        if !matches!(mark, ' ' | '-' | '+') {
            return None;
        }
    }
    (hunk.old.len() == old_length && hunk.new.len() == new_length).then_some((hunk, rest))
}

impl FilePatch {
    /// Applies the patch to a text; returns `None` if the text does not match the patch.
    pub(crate) fn apply(&self, text: &str) -> Option<String> {
        let old = lines(text);
        let mut new = String::with_capacity(text.len());
        let mut done = 0;
        for hunk in &self.hunks {
            let start = hunk.place(&old, done)?;
            new.extend(old[done..start].iter().copied());
            new.extend(hunk.new.iter().map(String::as_str));
            done = start + hunk.old.len();
        }
        new.extend(old[done..].iter().copied());
        Some(new)
    }
}

impl Hunk {
    /// Returns the first line of the hunk: the stated line if it matches, otherwise the only other
    /// place that matches.
    fn place(&self, lines: &[&str], from: usize) -> Option<usize> {
        let fits = |start: usize| {
            start >= from
                && lines.get(start..start + self.old.len()).is_some_and(|there| *there == self.old)
        };
        if fits(self.start) {
            return Some(self.start);
        }
        if self.old.is_empty() {
            return None;
        }
        let mut places = (from..lines.len()).filter(|start| fits(*start));
        places.next().filter(|_| places.next().is_none())
    }
}

#[cfg(test)]
mod tests {
    use pretty_assertions::assert_eq;
    use proptest::prelude::*;

    use super::*;

    const FILE: &str = "/m/MEMORY.md";

    fn patched(patch: &str, text: &str) -> Option<String> {
        parse(patch)?.iter().try_fold(text.to_owned(), |text, file| file.apply(&text))
    }

    #[test]
    fn a_patch_reads_as_patches_do() {
        assert_eq!(
            make(Path::new(FILE), Some("a\nb\nc\nd\n"), "a\nb\nc\nd\ne\n"),
            "--- /m/MEMORY.md\n+++ /m/MEMORY.md\n@@ -2,3 +2,4 @@\n b\n c\n d\n+e\n"
        );
        assert_eq!(
            make(Path::new(FILE), None, "a\n"),
            "--- /dev/null\n+++ /m/MEMORY.md\n@@ -0,0 +1,1 @@\n+a\n"
        );
    }

    #[test]
    fn a_text_that_has_moved_is_found_and_another_is_not_touched() {
        let patch = make(Path::new(FILE), Some("a\nb\n"), "a\nb\nc\n");
        assert_eq!(patched(&patch, "new\na\nb\nend\n").as_deref(), Some("new\na\nb\nc\nend\n"));
        assert_eq!(patched(&patch, "x\na\nb\na\nb\n"), None, "two places");
        assert_eq!(patched(&patch, "other\n"), None);
        let new = make(Path::new(FILE), None, "a\n");
        assert_eq!(patched(&new, ""), Some("a\n".to_owned()));
    }

    #[test]
    fn what_is_no_patch_is_refused() {
        for text in [
            "",
            "hello",
            "--- a\n+++ b\n",
            "@@ -1,1 +1,1 @@\n a\n",
            "--- a\n+++ b\n@@ -1,9 +1,9 @@\n a\n",
            "--- a\n+++ b\n@@ -1,1 +1,1 @@\n*a\n",
            "--- a\n+++ b\n@@ -x +1,1 @@\n+a\n",
        ] {
            assert_eq!(parse(text), None, "{text:?}");
        }
    }

    proptest! {
        #[test]
        fn a_patch_does_what_it_was_made_for(old in "([ab]\n?){0,20}", new in "([abc]\n?){0,20}") {
            prop_assume!(old != new);
            let patch = make(Path::new(FILE), Some(&old), &new);
            prop_assert_eq!(patched(&patch, &old), Some(new), "{}", patch);
        }

        #[test]
        fn no_text_ends_in_a_panic(text in "([-+ @]{0,3}[0-9,a\n]{0,6}){0,30}", old in "[a\n]{0,9}") {
            patched(&text, &old);
        }
    }
}
