//! Where session files are opened for reading.

use std::io::{self, Cursor, Read, Seek, SeekFrom};
use std::path::Path;

/// No session file is longer. One line, at most, is held in memory besides what lives.
const LARGEST_FILE: u64 = 1 << 30;

/// An opened session file.
pub(crate) type Source = Cursor<Vec<u8>>;

/// A piece of the file.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Span {
    /// First byte.
    pub(crate) offset: u64,
    /// Bytes.
    pub(crate) length: usize,
}

/// Opens a regular file.
pub(crate) fn open(path: &Path) -> Result<Source, pollux_fs::Error> {
    pollux_fs::read_bytes(path, LARGEST_FILE).map(Cursor::new)
}

/// Reads one piece.
pub(crate) fn read_span(source: &mut (impl Read + Seek), span: Span) -> io::Result<Vec<u8>> {
    source.seek(SeekFrom::Start(span.offset))?;
    let mut bytes = vec![0; span.length];
    source.read_exact(&mut bytes)?;
    Ok(bytes)
}
