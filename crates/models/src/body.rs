//! Request body that is built from pieces without copying large ones.

use bytes::Bytes;

/// Body of a request, in pieces that are sent one after the other.
#[derive(Debug, Default)]
pub(crate) struct Body {
    pieces: Vec<Bytes>,
    open: Vec<u8>,
}

impl Body {
    /// Size in bytes below which pieces are copied together: each piece costs the connection one
    /// write.
    pub(crate) const COPIED: usize = 8 * 1024;

    /// Adds a fixed piece of text.
    pub(crate) fn text(&mut self, text: &str) {
        self.open.extend_from_slice(text.as_bytes());
    }

    /// Adds bytes, without copying large ones.
    pub(crate) fn bytes(&mut self, bytes: &Bytes) {
        if bytes.len() < Self::COPIED {
            self.open.extend_from_slice(bytes);
            return;
        }
        self.close_piece();
        self.pieces.push(bytes.clone());
    }

    /// Returns the pieces.
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
