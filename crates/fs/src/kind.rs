//! Kind of a file's content, detected from its name and its first bytes.

use std::path::Path;

#[cfg(test)]
mod tests;

/// Number of bytes at the start of a file that [`detect`] needs.
pub const HEAD_BYTES: usize = 8192;

/// Kind of content, as far as tools distinguish it. The strings are MIME types.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum FileKind {
    /// Text in any encoding that [`crate::decode`] reads.
    Text,
    /// An SVG image: text.
    Svg,
    /// A raster image.
    Image(&'static str),
    /// Audio.
    Audio(&'static str),
    /// Video.
    Video(&'static str),
    /// A PDF document.
    Pdf,
    /// Anything else.
    Binary,
}

/// Extensions of binary files, recognised without reading the content (in addition to those with a
/// media type).
const BINARY_EXTENSIONS: &[&str] = &[
    "bin", "exe", "dll", "so", "dylib", "class", "jar", "war", "zip", "tar", "gz", "bz2", "rar",
    "7z", "pak", "rpa", "doc", "docx", "xls", "xlsx", "ppt", "pptx", "odt", "ods", "odp", "pyc",
    "pyo", "dat", "obj", "o", "a", "lib", "wasm",
];

/// Extensions of audio formats that models accept, with the MIME types that models use for them.
const AUDIO_EXTENSIONS: &[(&str, &str)] = &[
    ("mp3", "audio/mpeg"),
    ("wav", "audio/wav"),
    ("aiff", "audio/aiff"),
    ("aif", "audio/aiff"),
    ("aac", "audio/aac"),
    ("ogg", "audio/ogg"),
    ("flac", "audio/flac"),
];

/// Image formats that models accept. An image of another format would make every request that
/// contains it fail.
const IMAGES: &[&str] = &[
    "image/png",
    "image/jpeg",
    "image/gif",
    "image/webp",
    "image/bmp",
    "image/heic",
    "image/heif",
    "image/avif",
];

/// Video formats that models accept.
const VIDEOS: &[&str] =
    &["video/mp4", "video/mpeg", "video/quicktime", "video/webm", "video/3gpp", "video/ogg"];

/// Text in place of a file that is stored elsewhere (Git Large File Storage). A request with such a
/// text as an image would be refused.
const LFS_POINTER: &[u8] = b"version https://git-lfs.github.com/spec/";

/// Detects the kind by extension first, then by content, as Gemini CLI does. `head` contains the
/// first [`HEAD_BYTES`] of the file (all of a shorter file).
pub fn detect(path: &Path, head: &[u8]) -> FileKind {
    let extension = path.extension().unwrap_or_default().to_string_lossy().to_ascii_lowercase();
    // In these extensions, `ts` means TypeScript, not MPEG transport stream.
    if matches!(extension.as_str(), "ts" | "mts" | "cts") || head.starts_with(LFS_POINTER) {
        return FileKind::Text;
    }
    if extension == "svg" {
        return FileKind::Svg;
    }
    let audio = AUDIO_EXTENSIONS.iter().find(|(known, _)| *known == extension);
    let mime = mime_guess::from_ext(&extension).first_raw().unwrap_or_default();
    if IMAGES.contains(&mime) {
        return FileKind::Image(mime);
    }
    // The head of a PDF may be text.
    let is_binary = head.starts_with(b"%PDF-") || is_binary(head);
    let is_media = audio.is_some() || VIDEOS.contains(&mime) || is_sound(mime);
    match mime.split('/').next() {
        Some("audio" | "video") if !is_binary => return FileKind::Text,
        Some("audio") if is_media => {
            return FileKind::Audio(audio.map_or(mime, |(_, known)| known));
        }
        Some("video") if is_media => return FileKind::Video(mime),
        _ => {}
    }
    if mime == "application/pdf" {
        return FileKind::Pdf;
    }
    if BINARY_EXTENSIONS.contains(&extension.as_str()) {
        return FileKind::Binary;
    }
    match audio {
        Some((_, mime)) => FileKind::Audio(mime),
        None if is_binary => by_magic(head),
        None => FileKind::Text,
    }
}

/// Returns true for a registered audio type. Whether models accept it is checked when the file is
/// read.
fn is_sound(mime: &str) -> bool {
    mime.strip_prefix("audio/").is_some_and(|name| !name.starts_with("x-"))
}

/// Detects an image or a document whose name has another extension.
fn by_magic(head: &[u8]) -> FileKind {
    match infer::get(head).map(|kind| kind.mime_type()) {
        Some("application/pdf") => FileKind::Pdf,
        Some(mime @ ("image/png" | "image/jpeg" | "image/gif" | "image/webp")) => {
            FileKind::Image(mime)
        }
        _ => FileKind::Binary,
    }
}

/// Returns true if bytes are not text, by the first [`HEAD_BYTES`] of them (all of a shorter file).
/// This is the one rule for files, for searches, and for the output of commands.
///
/// Text is UTF-8 with at most as many NULs as other bytes, such as a source file that contains a
/// NUL or a list of names that end with one. Several NULs in a row near the start are the padding
/// of a binary format; later ones may be what a crash leaves in a log. Without NULs, text may be in
/// any encoding. Text has at most a tenth of other control characters. Unicode with a byte order
/// mark is always text.
pub fn is_binary(head: &[u8]) -> bool {
    const START: usize = 512;
    const PADDING: [u8; 4] = [0; 4];
    const MARKS: [&[u8]; 5] =
        [b"\xEF\xBB\xBF", b"\xFF\xFE\0\0", b"\0\0\xFE\xFF", b"\xFF\xFE", b"\xFE\xFF"];
    if MARKS.iter().any(|mark| head.starts_with(mark)) {
        return false;
    }
    let start = &head[..head.len().min(START)];
    if start.windows(PADDING.len()).any(|bytes| bytes == PADDING) {
        return true;
    }
    let nuls: usize = head.iter().map(|byte| usize::from(*byte == 0)).sum();
    if nuls > 0 && (nuls * 2 > head.len() || !is_utf8(head)) {
        return true;
    }
    // The escape character is allowed, because coloured logs contain it.
    let control = |byte: &&u8| matches!(byte, 1..=6 | 14..=26 | 28..=31 | 127);
    head.iter().filter(control).count() * 10 > head.len()
}

/// Returns true for UTF-8, of which the last character may be cut off.
pub(crate) fn is_utf8(head: &[u8]) -> bool {
    std::str::from_utf8(head).map_or_else(|error| error.error_len().is_none(), |_| true)
}
