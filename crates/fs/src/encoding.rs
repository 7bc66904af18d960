//! Lossless conversion of bytes to text and back.
//!
//! A byte order mark determines the encoding; otherwise valid UTF-8 is read as UTF-8; otherwise a
//! legacy encoding is guessed, and used only if encoding the text again returns identical bytes.
//! All other content is decoded with replacement characters and can never be written back.

use std::borrow::Cow;

use chardetng::{EncodingDetector, Iso2022JpDetection, Utf8Detection};

use crate::error::{Error, Result};

/// Number of bytes, from the first non-ASCII byte, that the detector of legacy encodings examines.
const DETECTION_WINDOW: usize = 256 * 1024;

/// Character encoding.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Encoding {
    /// UTF-8, the default for new files.
    Utf8,
    /// UTF-16, little-endian.
    Utf16Le,
    /// UTF-16, big-endian.
    Utf16Be,
    /// UTF-32, little-endian.
    Utf32Le,
    /// UTF-32, big-endian.
    Utf32Be,
    /// A legacy encoding of the WHATWG Encoding Standard (windows-1252, Shift_JIS …).
    Legacy(&'static encoding_rs::Encoding),
}

impl Encoding {
    /// Returns the name in the WHATWG Encoding Standard (which does not contain UTF-32).
    pub fn name(self) -> &'static str {
        match self {
            Self::Utf8 => "UTF-8",
            Self::Utf16Le => "UTF-16LE",
            Self::Utf16Be => "UTF-16BE",
            Self::Utf32Le => "UTF-32LE",
            Self::Utf32Be => "UTF-32BE",
            Self::Legacy(encoding) => encoding.name(),
        }
    }

    /// Returns the byte order mark; empty for an encoding without one.
    fn mark(self) -> &'static [u8] {
        match self {
            Self::Utf8 => b"\xEF\xBB\xBF",
            Self::Utf16Le => b"\xFF\xFE",
            Self::Utf16Be => b"\xFE\xFF",
            Self::Utf32Le => b"\xFF\xFE\0\0",
            Self::Utf32Be => b"\0\0\xFE\xFF",
            Self::Legacy(_) => b"",
        }
    }
}

/// Decoded text with its original line endings.
pub(crate) struct Decoded<'a> {
    pub(crate) text: Cow<'a, str>,
    pub(crate) encoding: Encoding,
    pub(crate) bom: bool,
    pub(crate) lossy: bool,
}

/// Decodes any bytes.
pub(crate) fn decode_bytes(bytes: &[u8]) -> Decoded<'_> {
    // UTF-32LE comes before UTF-16LE, because its mark begins with the mark of UTF-16LE.
    let marked = [
        Encoding::Utf32Le,
        Encoding::Utf32Be,
        Encoding::Utf8,
        Encoding::Utf16Le,
        Encoding::Utf16Be,
    ];
    let mut lossy = None;
    for encoding in marked {
        let Some(rest) = bytes.strip_prefix(encoding.mark()) else { continue };
        if let Some(text) = decode_unicode(rest, encoding) {
            return Decoded { text, encoding, bom: true, lossy: false };
        }
        lossy = Some((encoding, rest));
    }
    match lossy {
        Some((encoding, rest)) => {
            Decoded { text: Cow::Owned(replace(rest, encoding)), encoding, bom: true, lossy: true }
        }
        None => decode_unmarked(bytes),
    }
}

fn decode_unmarked(bytes: &[u8]) -> Decoded<'_> {
    let error = match std::str::from_utf8(bytes) {
        Ok(text) => {
            let text = Cow::Borrowed(text);
            return Decoded { text, encoding: Encoding::Utf8, bom: false, lossy: false };
        }
        Err(error) => error,
    };
    if !mostly_utf8(bytes)
        && let Some((text, encoding)) = decode_legacy(bytes, error.valid_up_to())
    {
        let encoding = Encoding::Legacy(encoding);
        return Decoded { text: Cow::Owned(text), encoding, bom: false, lossy: false };
    }
    let text = String::from_utf8_lossy(bytes);
    Decoded { text, encoding: Encoding::Utf8, bom: false, lossy: true }
}

/// Returns true for UTF-8 with a few invalid bytes: any single-byte encoding would "fit" and show
/// every accented letter as two characters. A character that is cut off at the end is no sign of
/// another encoding.
fn mostly_utf8(bytes: &[u8]) -> bool {
    let (mut wide, mut broken, mut is_cut) = (0_usize, 0_usize, false);
    for chunk in bytes.utf8_chunks() {
        wide += chunk.valid().bytes().filter(|byte| *byte >= 0xC0).count();
        broken += usize::from(!chunk.invalid().is_empty());
        is_cut = std::str::from_utf8(chunk.invalid()).is_err_and(|e| e.error_len().is_none());
    }
    wide > broken - usize::from(is_cut)
}

fn decode_legacy(
    bytes: &[u8],
    first_high: usize,
) -> Option<(String, &'static encoding_rs::Encoding)> {
    let start = first_high.saturating_sub(64);
    let window = &bytes[start..bytes.len().min(first_high + DETECTION_WINDOW)];
    let mut detector = EncodingDetector::new(Iso2022JpDetection::Deny);
    detector.feed(window, true);
    let guess = detector.guess(None, Utf8Detection::Deny);
    let text = guess.decode_without_bom_handling_and_without_replacement(bytes)?;
    let (again, _, unmappable) = guess.encode(&text);
    (!unmappable && again.as_ref() == bytes).then(|| (text.into_owned(), guess))
}

/// Decodes valid text; `None` for invalid bytes.
fn decode_unicode(bytes: &[u8], encoding: Encoding) -> Option<Cow<'_, str>> {
    let owned = match encoding {
        Encoding::Utf8 => return std::str::from_utf8(bytes).ok().map(Cow::Borrowed),
        Encoding::Utf16Le | Encoding::Utf16Be => {
            if !bytes.len().is_multiple_of(2) {
                return None;
            }
            char::decode_utf16(units16(bytes, encoding)).collect::<Result<String, _>>().ok()?
        }
        Encoding::Utf32Le | Encoding::Utf32Be => {
            if !bytes.len().is_multiple_of(4) {
                return None;
            }
            units32(bytes, encoding).map(char::from_u32).collect::<Option<String>>()?
        }
        Encoding::Legacy(_) => return None,
    };
    Some(Cow::Owned(owned))
}

/// Decodes invalid text, with U+FFFD in place of each error.
fn replace(bytes: &[u8], encoding: Encoding) -> String {
    let bad = char::REPLACEMENT_CHARACTER;
    match encoding {
        Encoding::Utf8 | Encoding::Legacy(_) => String::from_utf8_lossy(bytes).into_owned(),
        Encoding::Utf16Le | Encoding::Utf16Be => {
            char::decode_utf16(units16(bytes, encoding)).map(|unit| unit.unwrap_or(bad)).collect()
        }
        Encoding::Utf32Le | Encoding::Utf32Be => {
            units32(bytes, encoding).map(|unit| char::from_u32(unit).unwrap_or(bad)).collect()
        }
    }
}

fn units16(bytes: &[u8], encoding: Encoding) -> impl Iterator<Item = u16> {
    let big = encoding == Encoding::Utf16Be;
    let (pairs, _) = bytes.as_chunks::<2>();
    pairs
        .iter()
        .map(move |pair| if big { u16::from_be_bytes(*pair) } else { u16::from_le_bytes(*pair) })
}

fn units32(bytes: &[u8], encoding: Encoding) -> impl Iterator<Item = u32> {
    let big = encoding == Encoding::Utf32Be;
    let (quads, _) = bytes.as_chunks::<4>();
    quads
        .iter()
        .map(move |quad| if big { u32::from_be_bytes(*quad) } else { u32::from_le_bytes(*quad) })
}

/// Encodes `text` without changing line endings.
pub(crate) fn encode_text(text: &str, encoding: Encoding, bom: bool) -> Result<Vec<u8>> {
    let mut bytes = Vec::with_capacity(text.len() + 4);
    if bom {
        bytes.extend_from_slice(encoding.mark());
    }
    match encoding {
        Encoding::Utf8 => bytes.extend_from_slice(text.as_bytes()),
        Encoding::Utf16Le => bytes.extend(text.encode_utf16().flat_map(u16::to_le_bytes)),
        Encoding::Utf16Be => bytes.extend(text.encode_utf16().flat_map(u16::to_be_bytes)),
        Encoding::Utf32Le => bytes.extend(text.chars().flat_map(|c| u32::from(c).to_le_bytes())),
        Encoding::Utf32Be => bytes.extend(text.chars().flat_map(|c| u32::from(c).to_be_bytes())),
        Encoding::Legacy(legacy) => bytes.extend_from_slice(&encode_legacy(text, legacy)?),
    }
    Ok(bytes)
}

fn encode_legacy<'a>(
    text: &'a str,
    legacy: &'static encoding_rs::Encoding,
) -> Result<Cow<'a, [u8]>> {
    let (bytes, _, unmappable) = legacy.encode(text);
    if !unmappable {
        return Ok(bytes);
    }
    let mut buffer = [0_u8; 4];
    let character = text
        .chars()
        .find(|character| legacy.encode(character.encode_utf8(&mut buffer)).2)
        .unwrap_or(char::REPLACEMENT_CHARACTER);
    Err(Error::Unencodable { encoding: legacy.name(), character })
}
