//! Where session files are opened for reading.

use std::io::{self, Read, Seek, SeekFrom};

/// A piece of the file.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Span {
    /// First byte.
    pub(crate) offset: u64,
    /// Bytes.
    pub(crate) length: usize,
}

/// Reads one piece.
pub(crate) fn read_span(source: &mut (impl Read + Seek), span: Span) -> io::Result<Vec<u8>> {
    source.seek(SeekFrom::Start(span.offset))?;
    let mut bytes = vec![0; span.length];
    source.read_exact(&mut bytes)?;
    Ok(bytes)
}
