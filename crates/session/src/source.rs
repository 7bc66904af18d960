//! Reading of pieces of session files.

use std::io::{self, Read, Seek, SeekFrom};

/// Location of a piece of the file.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Span {
    /// Offset of the first byte.
    pub(crate) offset: u64,
    /// Number of bytes.
    pub(crate) length: usize,
}

/// Reads one piece.
pub(crate) fn read_span(source: &mut (impl Read + Seek), span: Span) -> io::Result<Vec<u8>> {
    source.seek(SeekFrom::Start(span.offset))?;
    let mut bytes = vec![0; span.length];
    source.read_exact(&mut bytes)?;
    Ok(bytes)
}
