//! The body of a request, put together from pieces that are not copied.

use bytes::Bytes;

/// The body of a request, in pieces that are sent one after the other.
#[derive(Debug, Default)]
pub(crate) struct Body {
    pieces: Vec<Bytes>,
    open: Vec<u8>,
}

impl Body {
    /// Pieces smaller than this are copied together: each piece costs the connection a write.
    pub(crate) const COPIED: usize = 8 * 1024;

    /// Adds text of our own.
    pub(crate) fn text(&mut self, text: &str) {
        self.open.extend_from_slice(text.as_bytes());
    }

    /// Adds bytes, without copying them when they are many.
    pub(crate) fn bytes(&mut self, bytes: &Bytes) {
        if bytes.len() < Self::COPIED {
            self.open.extend_from_slice(bytes);
            return;
        }
        self.close_piece();
        self.pieces.push(bytes.clone());
    }

    /// The pieces.
    pub(crate) fn finish(mut self) -> Vec<Bytes> {
        self.close_piece();
        self.pieces
    }

    fn close_piece(&mut self) {
        if !self.open.is_empty() {
            self.pieces.push(std::mem::take(&mut self.open).into());
        }
    }
}
