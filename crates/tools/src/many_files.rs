//! Bounded reading of several files: the engine of `read_many_files` and of `@path` in prompts.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use base64::Engine as _;
use base64::prelude::BASE64_STANDARD;
use pollux_fs::{
    Access, COMMON_EXCLUDES, Cancel, DIRECTORY_EXCLUDES, EntryKind, Error, Exclusions, FileKind,
    Fingerprint, GlobOptions, HEAD_BYTES, IgnoreRules, READ_MANY_FILE_EXCLUDES, Root, Workspace,
};
use pollux_protocol::{Files, Part};

use crate::contents::{self, MAX_BYTES, too_large};
use crate::read_file::lines::{self, MAX_LINES};
use crate::read_file::{MAX_SVG_BYTES, audio_type, excerpt};

/// Maximum number of bytes of text of all files together.
const MAX_TEXT: usize = 1 << 20;
/// Maximum number of bytes of media of all files together, before base64.
const MAX_MEDIA: usize = 20 << 20;
/// Maximum number of files of one search.
const MAX_FILES: usize = 10_000;

/// Parameters of a search for files.
pub struct FileSearch<'a> {
    /// Folders to search, and the rules for read access.
    pub workspace: &'a Workspace,
    /// Ignore rules.
    pub rules: &'a IgnoreRules,
    /// Further patterns of files to leave out.
    pub exclude: &'a [String],
    /// True to leave out dependencies, build products and files that are not source text.
    pub default_excludes: bool,
    /// Maximum time for all searches together.
    pub time_limit: Duration,
}

/// Result of a search for files.
#[derive(Debug, Default, PartialEq, Eq)]
pub struct FoundFiles {
    /// Files in the order of their paths. The paths begin like the folders of the workspace.
    pub files: BTreeSet<PathBuf>,
    /// Files that were left out by default because of their names, at most 10,000. They are not
    /// source text, such as archives, programs and documents of an office suite.
    pub excluded: BTreeSet<PathBuf>,
    /// Files beyond the maximum number of 10,000.
    pub left_out: Option<LeftOutFiles>,
    /// False if the search ended early, after a cancellation or the time limit.
    pub complete: bool,
}

/// Files that a search has found but not returned.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LeftOutFiles {
    /// Number of the files.
    pub count: usize,
    /// Path of the first of them.
    pub first: PathBuf,
}

impl FileSearch<'_> {
    /// Finds the files that match `patterns` in the folders of the workspace. A pattern is a path,
    /// a glob pattern, or a folder with everything in it. Only links that a pattern names are
    /// followed.
    ///
    /// # Errors
    /// [`Error::Pattern`] for an invalid pattern.
    pub fn find(&self, patterns: &[String], cancel: Cancel<'_>) -> Result<FoundFiles, Error> {
        let by_name: &[&str] = if self.default_excludes { READ_MANY_FILE_EXCLUDES } else { &[] };
        let common: &[&[&str]] =
            if self.default_excludes { &[COMMON_EXCLUDES, DIRECTORY_EXCLUDES] } else { &[] };
        let folders: Vec<String> = by_name.iter().map(|pattern| format!("{pattern}/")).collect();
        let own = self.exclude.iter().chain(&folders).map(String::as_str);
        let exclude = Exclusions::new(common.iter().copied().flatten().copied().chain(own))?;
        let by_name = Exclusions::new(by_name.iter().copied())?;
        let deadline = Instant::now() + self.time_limit;
        let mut found = FoundFiles { complete: true, ..FoundFiles::default() };
        for root in self.workspace.walk_roots() {
            for pattern in patterns {
                let (root, pattern) = self.meant(&root, pattern);
                let options = GlobOptions {
                    workspace: Some(self.workspace),
                    case_sensitive: false,
                    rules: Some(self.rules),
                    exclude: Some(&exclude),
                    time_limit: Some(deadline.saturating_duration_since(Instant::now())),
                };
                let result = pollux_fs::glob(&[root], &pattern, &options, cancel)?;
                found.complete &= result.complete;
                found.add(result.files.into_iter().map(|file| file.path), &by_name);
            }
        }
        found.files.retain(|path| self.workspace.check(path, Access::Read).is_ok());
        Ok(found)
    }

    /// Returns the folder to search and the pattern; a folder stands for everything in it.
    fn meant(&self, root: &Root, pattern: &str) -> (Root, String) {
        let pattern = pattern.replace('\\', "/");
        let path = pollux_fs::absolute(&root.path, Path::new(&pattern));
        if path.starts_with(&root.path)
            && let Ok(real) = self.workspace.check(&path, Access::Read)
            && real.info().is_ok_and(|info| info.kind == EntryKind::Directory)
        {
            return (Root { path, real }, "**".to_owned());
        }
        (root.clone(), pattern)
    }
}

impl FoundFiles {
    fn add(&mut self, files: impl Iterator<Item = PathBuf>, by_name: &Exclusions) {
        for file in files {
            let name = file.file_name().unwrap_or_default().to_string_lossy();
            if by_name.covers_file(&name) {
                if self.excluded.len() < MAX_FILES {
                    self.excluded.insert(file);
                }
            } else if self.files.len() < MAX_FILES {
                self.files.insert(file);
            } else if !self.files.contains(&file) {
                let first = LeftOutFiles { count: 0, first: file };
                self.left_out.get_or_insert(first).count += 1;
            }
        }
    }
}

/// Result of reading a file.
#[derive(Debug, PartialEq)]
pub enum FileContent {
    /// Text of the file, as far as it is shown.
    Text(FileText),
    /// Bytes of the file.
    Media(Part),
    /// The file exceeds the remaining limit.
    TooMuch,
    /// The file was skipped.
    Skipped {
        /// Short reason.
        reason: String,
        /// Message that `read_file` would return.
        reported: String,
    },
}

/// Text of a file.
#[derive(Debug, PartialEq)]
pub struct FileText {
    /// The shown text: at most 2000 lines of at most 2000 characters, with a remark at the top if
    /// something is missing.
    pub text: String,
    /// True if nothing was cut because of the limit for all files.
    pub whole: bool,
    /// Number of lines of the file.
    pub lines: u64,
    /// Number of lines shown, at most 2000.
    pub shown: u64,
    /// True if a shown line is longer than 2000 characters and was cut.
    pub has_cut_lines: bool,
    /// Fingerprint of the file at the time of reading.
    pub fingerprint: Fingerprint,
}

/// Reader of several files with a limit for all files together.
pub struct FileReader<'a> {
    workspace: &'a Workspace,
    files: &'a dyn Files,
    text_left: usize,
    media_left: usize,
}

impl<'a> FileReader<'a> {
    /// Creates a reader with a limit of 1 MiB of text and 20 MiB of media.
    pub fn new(workspace: &'a Workspace, files: &'a dyn Files) -> Self {
        Self { workspace, files, text_left: MAX_TEXT, media_left: MAX_MEDIA }
    }

    /// Returns true if the limit for text is reached.
    pub fn is_full(&self) -> bool {
        self.text_left == 0
    }

    /// Reads one file. `shown` is its path in messages for users. Media are only read if they are
    /// `asked_for`.
    ///
    /// # Errors
    /// Fails if the file cannot be read.
    pub fn read(
        &mut self,
        path: &Path,
        shown: &str,
        asked_for: bool,
    ) -> Result<FileContent, Error> {
        let real = self.workspace.check(path, Access::Read)?;
        let skipped = |reason: &str, reported: String| {
            Ok(FileContent::Skipped { reason: reason.to_owned(), reported })
        };
        let held = contents::held(self.files, &real)?;
        let size = match &held {
            Some(text) => text.len() as u64,
            None => real.info()?.size,
        };
        if size > MAX_BYTES {
            return skipped("larger than 20 MB", too_large(path, size));
        }
        let kind = match &held {
            Some(text) => pollux_fs::detect(path, &text.as_bytes()[..text.len().min(HEAD_BYTES)]),
            None => pollux_fs::detect(path, &real.read_head(HEAD_BYTES)?),
        };
        let sound;
        let mime_type = match kind {
            FileKind::Text | FileKind::Svg => None,
            FileKind::Image(mime) | FileKind::Video(mime) => Some(mime),
            FileKind::Pdf => Some("application/pdf"),
            FileKind::Audio(mime) => {
                let Some(known) = audio_type(mime) else {
                    let reported = format!("Unsupported audio format {mime}: {shown}");
                    return skipped("audio in a format that models do not accept", reported);
                };
                sound = known;
                Some(sound.as_str())
            }
            FileKind::Binary => {
                let reported = format!("Cannot display content of binary file: {shown}");
                return skipped("binary file", reported);
            }
        };
        if mime_type.is_some() && !asked_for {
            let reported = format!("Not named explicitly: {shown}");
            return skipped("image, audio, video or PDF that is not named explicitly", reported);
        }
        let bytes = match held {
            Some(text) => text.into_bytes(),
            None => real.read_bytes(MAX_BYTES)?,
        };
        if kind == FileKind::Svg && bytes.len() > MAX_SVG_BYTES {
            let reported = format!("Cannot display content of SVG file larger than 1MB: {shown}");
            return skipped("vector image larger than 1 MB", reported);
        }
        Ok(match mime_type {
            None => FileContent::Text(self.take_text(&bytes, shown)),
            Some(mime_type) => self.take_media(mime_type, &bytes),
        })
    }

    fn take_text(&mut self, bytes: &[u8], shown: &str) -> FileText {
        let (mut text, has_cut_lines) = excerpt(bytes).unwrap_or_default();
        let whole = text.len() <= self.text_left;
        if whole {
            self.text_left = self.text_left.saturating_sub(text.len() + shown.len());
        } else {
            text.truncate(text.floor_char_boundary(self.text_left));
            text.push_str("\n... [truncated]");
            self.text_left = 0;
        }
        let lines = lines::count(bytes);
        let shown = lines.min(MAX_LINES as u64);
        let fingerprint = Fingerprint::of_bytes(bytes, None);
        FileText { text, whole, lines, shown, has_cut_lines, fingerprint }
    }

    fn take_media(&mut self, mime_type: &str, bytes: &[u8]) -> FileContent {
        let Some(left) = self.media_left.checked_sub(bytes.len()) else {
            return FileContent::TooMuch;
        };
        self.media_left = left;
        FileContent::Media(Part::inline(mime_type, BASE64_STANDARD.encode(bytes)))
    }
}

#[cfg(test)]
mod tests {
    use pollux_protocol::LocalFiles;

    use super::*;

    #[test]
    fn what_may_be_sent_is_kept_to() {
        let folder = tempfile::tempdir().unwrap();
        let root = folder.path().canonicalize().unwrap();
        let workspace = Workspace::new(root.clone(), root.join("temp"));
        let mut reader =
            FileReader { text_left: 10, media_left: 8, ..FileReader::new(&workspace, &LocalFiles) };
        for (name, bytes) in
            [("a", &b"abcd"[..]), ("b", "äääää".as_bytes()), ("p.png", b"\x89PNG\r\n\x1a\n")]
        {
            std::fs::write(root.join(name), bytes).unwrap();
        }
        let mut read = |name: &str, asked| reader.read(&root.join(name), name, asked).unwrap();
        let FileContent::Text(first) = read("a", false) else { panic!("a is text") };
        assert_eq!((first.text.as_str(), first.whole, first.lines), ("abcd", true, 1));
        let FileContent::Text(second) = read("b", false) else { panic!("b is text") };
        assert_eq!((second.text.as_str(), second.whole), ("ää\n... [truncated]", false));
        assert!(matches!(read("p.png", false), FileContent::Skipped { .. }));
        assert!(matches!(read("p.png", true), FileContent::Media(_)));
        assert_eq!(read("p.png", true), FileContent::TooMuch);
        assert!(reader.is_full());
    }
}
