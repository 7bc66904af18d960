//! Text files in two forms: as a model sees them (line feeds only) and as they are on disk.
//!
//! [`decode`] and [`encode`] are inverse for every combination of encoding, byte order mark and
//! uniform line endings. A file with mixed endings keeps its original text in addition to the
//! line-feed form, and [`TextFile::splice`] edits the original, so that no byte outside the edited
//! spans changes.

use std::ops::Range;
use std::path::Path;

use crate::encoding::{Encoding, decode_bytes, encode_text};
use crate::error::{Error, Result};
use crate::files::{open_regular, read_open};
use crate::fingerprint::Fingerprint;

#[cfg(test)]
mod tests;

/// Line ending of a text.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum LineEnding {
    /// Every line ends in a line feed; also used for files of a single line.
    Lf,
    /// Every line ends in carriage return and line feed.
    CrLf,
    /// Carriage returns only (classic Mac OS).
    Cr,
    /// Both kinds; new lines get the more frequent one.
    Mixed {
        /// True if at least half of the lines end in carriage return and line feed.
        mostly_crlf: bool,
    },
}

impl LineEnding {
    /// Returns the ending of a new line in such a file.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Lf | Self::Mixed { mostly_crlf: false } => "\n",
            Self::CrLf | Self::Mixed { mostly_crlf: true } => "\r\n",
            Self::Cr => "\r",
        }
    }

    /// Returns the line ending of the operating system, for new files.
    pub fn native() -> Self {
        if cfg!(windows) { Self::CrLf } else { Self::Lf }
    }

    fn of(raw: &str) -> Self {
        let (mut line_feeds, mut pairs, mut returns, mut previous) = (0_usize, 0_usize, 0_usize, 0);
        for byte in raw.bytes() {
            match byte {
                b'\n' if previous == b'\r' => pairs += 1,
                b'\n' => line_feeds += 1,
                b'\r' => returns += 1,
                _ => {}
            }
            previous = byte;
        }
        match (line_feeds, pairs, returns) {
            (0, 0, 1..) => Self::Cr,
            (_, 0, _) => Self::Lf,
            (0, _, _) => Self::CrLf,
            (alone, paired, _) => Self::Mixed { mostly_crlf: paired >= alone },
        }
    }
}

/// Binary format of a text.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct TextFormat {
    /// Character encoding.
    pub encoding: Encoding,
    /// True if the bytes begin with a byte order mark.
    pub bom: bool,
    /// Line ending.
    pub line_ending: LineEnding,
    /// True if bytes were replaced in decoding. [`encode`] refuses such a text.
    pub lossy: bool,
}

impl Default for TextFormat {
    /// Returns UTF-8 without byte order mark, with line feeds.
    fn default() -> Self {
        Self { encoding: Encoding::Utf8, bom: false, line_ending: LineEnding::Lf, lossy: false }
    }
}

/// Decodes any bytes to text with its own line endings. Never fails; see [`TextFormat::lossy`].
pub fn decode(bytes: &[u8]) -> (String, TextFormat) {
    let decoded = decode_bytes(bytes);
    let format = TextFormat {
        encoding: decoded.encoding,
        bom: decoded.bom,
        line_ending: LineEnding::of(&decoded.text),
        lossy: decoded.lossy,
    };
    (decoded.text.into_owned(), format)
}

/// Encodes a text of line feeds in `format`, with the format's line ending in place of each line
/// feed.
///
/// # Errors
/// [`Error::Unencodable`] for a character outside the encoding, [`Error::Lossy`] for a lossy
/// format.
pub fn encode(text: &str, format: &TextFormat) -> Result<Vec<u8>> {
    match format.line_ending.as_str() {
        "\n" => encode_raw(text, format),
        ending => encode_raw(&text.replace('\n', ending), format),
    }
}

/// Encodes a text that already has its line endings (from [`decode`] or [`TextFile::splice`]).
///
/// # Errors
/// The same as of [`encode`].
pub fn encode_raw(raw: &str, format: &TextFormat) -> Result<Vec<u8>> {
    if format.lossy {
        return Err(Error::Lossy { encoding: format.encoding.name() });
    }
    encode_text(raw, format.encoding, format.bom)
}

/// Converts a text with the given line endings to line feeds.
pub fn normalise(raw: &str, line_ending: LineEnding) -> String {
    match line_ending {
        LineEnding::Lf => raw.to_owned(),
        LineEnding::CrLf | LineEnding::Mixed { .. } => raw.replace("\r\n", "\n"),
        LineEnding::Cr => raw.replace('\r', "\n"),
    }
}

/// A text file that was read.
#[derive(Debug, Clone)]
pub struct TextFile {
    /// Text with `\n` line endings and without byte order mark.
    pub text: String,
    /// Format of the file on disk.
    pub format: TextFormat,
    /// Fingerprint of the bytes that were read.
    pub fingerprint: Fingerprint,
    /// Text with its own line endings, if they differ from `text`.
    raw: Option<String>,
}

impl TextFile {
    /// Creates a text file from bytes that were already read.
    pub fn from_bytes(bytes: &[u8], modified: Option<std::time::SystemTime>) -> Self {
        let (raw, format) = decode(bytes);
        let fingerprint = Fingerprint::of_bytes(bytes, modified);
        if format.line_ending == LineEnding::Lf {
            return Self { text: raw, format, fingerprint, raw: None };
        }
        let text = normalise(&raw, format.line_ending);
        Self { text, format, fingerprint, raw: Some(raw) }
    }

    /// Returns the text with its line endings on disk.
    pub fn raw(&self) -> &str {
        self.raw.as_deref().unwrap_or(&self.text)
    }

    /// Applies edits (byte range of [`TextFile::text`], replacement) and returns the new text with
    /// its line endings on disk.
    ///
    /// The edits must be in order and must not overlap. The text outside of them keeps its bytes,
    /// and so do the common beginning and end of a replacement and the text it replaces; new line
    /// feeds get the file's line ending.
    ///
    /// # Errors
    /// [`Error::InvalidSpan`] for a range outside the text, out of order or inside a character.
    pub fn splice(&self, edits: &[(Range<usize>, String)]) -> Result<String> {
        let raw = self.raw();
        let mut positions = RawPositions::new(raw, self.format.line_ending);
        let mut result = String::with_capacity(raw.len());
        let (mut text_end, mut raw_end) = (0, 0);
        for (range, replacement) in edits {
            let invalid = Error::InvalidSpan { start: range.start, end: range.end };
            if range.start < text_end {
                return Err(invalid);
            }
            let Some(old) = self.text.get(range.clone()) else { return Err(invalid) };
            let new = replacement.replace("\r\n", "\n");
            let (before, after) = common_ends(old, &new);
            let start = positions.of(range.start + before);
            let end = positions.of(range.end - after);
            result.push_str(&raw[raw_end..start]);
            let inserted = &new[before..new.len() - after];
            result.push_str(&inserted.replace('\n', self.format.line_ending.as_str()));
            (text_end, raw_end) = (range.end, end);
        }
        result.push_str(&raw[raw_end..]);
        Ok(result)
    }

    /// Returns the bytes of the file after `edits`; see [`TextFile::splice`].
    ///
    /// # Errors
    /// The same as of [`TextFile::splice`] and [`encode`].
    pub fn edited(&self, edits: &[(Range<usize>, String)]) -> Result<Vec<u8>> {
        encode_raw(&self.splice(edits)?, &self.format)
    }

    /// Returns the bytes of the file with `text` as its new content, in the file's own format.
    ///
    /// # Errors
    /// The same as of [`encode`].
    pub fn replaced(&self, text: &str) -> Result<Vec<u8>> {
        encode(&text.replace("\r\n", "\n"), &self.format)
    }
}

/// Converter of increasing byte positions in the line-feed form to positions in the raw text, in
/// linear time over all calls.
struct RawPositions<'a> {
    raw: &'a [u8],
    pairs: bool,
    text_at: usize,
    raw_at: usize,
}

impl<'a> RawPositions<'a> {
    fn new(raw: &'a str, line_ending: LineEnding) -> Self {
        let pairs = matches!(line_ending, LineEnding::CrLf | LineEnding::Mixed { .. });
        Self { raw: raw.as_bytes(), pairs, text_at: 0, raw_at: 0 }
    }

    /// Converts one position. A position at a line feed is converted to the position before its
    /// carriage return.
    fn of(&mut self, position: usize) -> usize {
        if !self.pairs {
            return position;
        }
        while self.text_at < position && self.raw_at < self.raw.len() {
            let pair = self.raw[self.raw_at..].starts_with(b"\r\n");
            self.raw_at += if pair { 2 } else { 1 };
            self.text_at += 1;
        }
        self.raw_at
    }
}

/// Returns the lengths of the longest common prefix and suffix, at character boundaries and without
/// overlap.
fn common_ends(old: &str, new: &str) -> (usize, usize) {
    let same = |pair: &(char, char)| pair.0 == pair.1;
    let length = |pair: (char, char)| pair.0.len_utf8();
    let before: usize = old.chars().zip(new.chars()).take_while(same).map(length).sum();
    let (old, new) = (&old[before..], &new[before..]);
    let after = old.chars().rev().zip(new.chars().rev()).take_while(same).map(length).sum();
    (before, after)
}

/// Reads a regular file of at most `limit` bytes as text.
///
/// # Errors
/// [`Error::TooLarge`], [`Error::NotFound`], [`Error::IsDirectory`] and similar errors; any bytes
/// are accepted as text.
pub fn read_text(path: &Path, limit: u64) -> Result<TextFile> {
    let (file, metadata) = open_regular(path)?;
    let bytes = read_open(path, &file, &metadata, limit)?;
    Ok(TextFile::from_bytes(&bytes, metadata.modified().ok()))
}
