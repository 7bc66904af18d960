//! The content of one referenced file, within limits.

use std::path::Path;
use std::sync::Arc;

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use pollux_fs::{Error, FileKind, HEAD_BYTES, TextFile};

/// Larger files are not read.
const MAX_FILE_BYTES: u64 = 20 * 1024 * 1024;
/// Larger SVG images are not shown as text.
const MAX_SVG_BYTES: usize = 1024 * 1024;
/// Lines of one file.
const MAX_LINES: usize = 2000;
/// Characters of one line.
const MAX_LINE_CHARACTERS: usize = 2000;
/// Bytes of text from all files of one prompt.
const MAX_TEXT_BYTES: usize = 1024 * 1024;
/// Bytes of media from all files of one prompt, before base64.
const MAX_MEDIA_BYTES: usize = 20 * 1024 * 1024;

/// What may still be sent.
#[derive(Debug)]
pub(super) struct Budget {
    text: usize,
    media: usize,
}

impl Default for Budget {
    fn default() -> Self {
        Self { text: MAX_TEXT_BYTES, media: MAX_MEDIA_BYTES }
    }
}

impl Budget {
    /// Whether no more text may be sent.
    pub(super) fn is_spent(&self) -> bool {
        self.text == 0
    }

    /// As much of `text`, with a label, as may be sent.
    fn take_text(&mut self, label: &str, mut text: String) -> String {
        if text.len() > self.text {
            text.truncate(text.floor_char_boundary(self.text));
            text.push_str("\n... [truncated]");
            self.text = 0;
        } else {
            self.text = self.text.saturating_sub(text.len() + label.len());
        }
        text
    }

    fn take_media(&mut self, bytes: usize) -> bool {
        let left = self.media.checked_sub(bytes);
        self.media = left.unwrap_or(self.media);
        left.is_some()
    }
}

/// What a file gives.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Content {
    /// Its text, or what keeps it from being shown.
    Text(String),
    /// Its bytes.
    Media {
        /// Media type.
        mime_type: &'static str,
        /// The bytes in base64.
        base64: Arc<str>,
    },
    /// More than may be sent.
    TooMuch,
    /// Nothing, for this reason.
    Skipped(String),
}

/// Reads a file. Media and explanations come only with a file that was `named`; as one of a folder it is skipped.
///
/// # Errors
/// What keeps the file from being read.
pub(super) fn read(
    path: &Path,
    label: &str,
    named: bool,
    budget: &mut Budget,
) -> Result<Content, Error> {
    let explain = |text: String| if named { Content::Text(text) } else { Content::Skipped(text) };
    let size = pollux_fs::info(path)?.size;
    if size > MAX_FILE_BYTES {
        let megabytes = size as f64 / (1024.0 * 1024.0);
        let shown = path.display();
        return Ok(explain(format!(
            "File size exceeds the 20MB limit: {shown} ({megabytes:.2}MB)"
        )));
    }
    let kind = pollux_fs::detect(path, &pollux_fs::read_head(path, HEAD_BYTES)?);
    let mime_type = match kind {
        FileKind::Text | FileKind::Svg => None,
        FileKind::Image(mime_type) | FileKind::Audio(mime_type) | FileKind::Video(mime_type) => {
            Some(mime_type)
        }
        FileKind::Pdf => Some("application/pdf"),
        FileKind::Binary => {
            return Ok(explain(format!("Cannot display content of binary file: {label}")));
        }
    };
    if mime_type.is_some() && !named {
        return Ok(Content::Skipped("it is no text and was not named itself".to_owned()));
    }
    let bytes = pollux_fs::read_bytes(path, MAX_FILE_BYTES)?;
    if let Some(mime_type) = mime_type {
        return Ok(if budget.take_media(bytes.len()) {
            Content::Media { mime_type, base64: STANDARD.encode(&bytes).into() }
        } else {
            Content::TooMuch
        });
    }
    if kind == FileKind::Svg && bytes.len() > MAX_SVG_BYTES {
        return Ok(explain(format!("Cannot display content of SVG file larger than 1MB: {label}")));
    }
    let text = shorten(trim(&TextFile::from_bytes(&bytes, None).text));
    Ok(Content::Text(budget.take_text(label, text)))
}

/// Without the blank lines around it. The indentation of the first line stays, because edits need it.
fn trim(text: &str) -> &str {
    let text = text.trim_end();
    let blank = text.len() - text.trim_start().len();
    let first_line = text[..blank].rfind('\n').map_or(0, |end| end + 1);
    &text[first_line..]
}

/// At most [`MAX_LINES`] lines of at most [`MAX_LINE_CHARACTERS`] characters.
fn shorten(text: &str) -> String {
    let total = text.split('\n').count();
    let mut short = String::new();
    if total > MAX_LINES {
        short = format!(
            "[WARNING: This file was truncated. Lines 1-{MAX_LINES} of {total} are shown; read the others with read_file and start_line.]\n\n"
        );
    }
    for (index, line) in text.split('\n').take(MAX_LINES).enumerate() {
        if index > 0 {
            short.push('\n');
        }
        match line.char_indices().nth(MAX_LINE_CHARACTERS) {
            Some((end, _)) => {
                short.push_str(&line[..end]);
                short.push_str("... [truncated]");
            }
            None => short.push_str(line),
        }
    }
    short
}

#[cfg(test)]
mod tests {
    use pretty_assertions::assert_eq;

    use super::*;

    #[test]
    fn blank_lines_around_go_and_indentation_stays() {
        let table = [
            ("a\n", "a"),
            ("\n \n  a\n b\n\n", "  a\n b"),
            ("  a", "  a"),
            (" \n\n", ""),
            ("", ""),
        ];
        for (text, expected) in table {
            assert_eq!(trim(text), expected, "{text:?}");
        }
    }

    #[test]
    fn long_texts_and_lines_are_cut() {
        assert_eq!(shorten("a\nb"), "a\nb");
        let lines = "x\n".repeat(MAX_LINES) + "last";
        let short = shorten(&lines);
        assert!(
            short.starts_with("[WARNING: This file was truncated. Lines 1-2000 of 2001 are shown")
        );
        assert!(short.ends_with("x\nx"));
        let long = "ä".repeat(MAX_LINE_CHARACTERS + 1);
        assert_eq!(shorten(&long), "ä".repeat(MAX_LINE_CHARACTERS) + "... [truncated]");
        let exact = "ä".repeat(MAX_LINE_CHARACTERS);
        assert_eq!(shorten(&exact), exact);
    }

    #[test]
    fn the_budget_is_kept() {
        let mut budget = Budget { text: 10, media: 10 };
        assert_eq!(budget.take_text("l", "abcd".into()), "abcd");
        assert!(!budget.is_spent());
        assert_eq!(budget.take_text("l", "äää".into()), "ää\n... [truncated]");
        assert!(budget.is_spent());
        assert!(budget.take_media(10) && !budget.take_media(1));
    }
}
