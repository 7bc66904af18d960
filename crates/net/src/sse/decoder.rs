//! Conversion of bytes to events, without I/O. The events do not depend on how the bytes are split
//! into chunks, and the run time is linear in the number of bytes.

use std::collections::VecDeque;

use super::raw_json::RawJson;

/// Maximum size of a line and of a record, in bytes. A record is held in memory until it is
/// complete.
pub const MAX_RECORD_BYTES: usize = 64 * 1024 * 1024;

/// Maximum capacity of a buffer that is kept after its record is complete, in bytes.
const KEPT_CAPACITY: usize = 256 * 1024;

const BYTE_ORDER_MARK: &[u8] = b"\xEF\xBB\xBF";

/// One record of the stream.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct ServerEvent {
    /// Value of the `event:` field; empty if there was none.
    pub name: String,
    /// `data:` lines, joined by line feeds. Bytes that are not valid UTF-8 are replaced by U+FFFD.
    pub data: String,
    /// True if `data` is a JSON object `{"error": {"code": 400..=599, …}}` (possibly in an array)
    /// that appeared in the stream without `data:`, as Google's front ends send it.
    pub bare_error: bool,
}

/// Error in a stream of events that ends the decoding.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum SseError {
    /// The stream ended inside a record, or contained something that is not a record. The message
    /// is that of the Gemini SDK; retry rules match it.
    #[error("Incomplete JSON segment at the end")]
    Incomplete,
    /// A record is larger than [`MAX_RECORD_BYTES`].
    #[error("a record of the event stream is larger than {} MiB", MAX_RECORD_BYTES / (1024 * 1024))]
    TooLarge,
}

/// Decoder that splits a byte stream into [`ServerEvent`]s.
///
/// Pass bytes to [`push`](Self::push), then call [`pop`](Self::pop) until it returns `None`. At the
/// end of the stream call [`finish`](Self::finish) and pop the remaining events.
///
/// Lines end with LF, CRLF or CR. A byte-order mark at the start, comments, and fields other than
/// `data` and `event` are skipped. Records without data are ignored.
#[derive(Debug)]
pub struct SseDecoder {
    ready: VecDeque<ServerEvent>,
    /// Beginning of the current line, if it came with earlier bytes.
    line: Vec<u8>,
    /// Finished `data` lines of the current record, each followed by a line feed.
    data: Vec<u8>,
    name: String,
    raw: RawJson,
    /// True if the last byte was a CR: an LF that follows belongs to it.
    after_return: bool,
    at_start: bool,
    /// True if the stream contained something that is neither a field, a comment nor an error
    /// object.
    saw_garbage: bool,
    limit: usize,
}

impl Default for SseDecoder {
    fn default() -> Self {
        Self::with_limit(MAX_RECORD_BYTES)
    }
}

impl SseDecoder {
    /// Creates a decoder with a different record limit, in bytes.
    pub fn with_limit(limit: usize) -> Self {
        Self {
            ready: VecDeque::new(),
            line: Vec::new(),
            data: Vec::new(),
            name: String::new(),
            raw: RawJson::default(),
            after_return: false,
            at_start: true,
            saw_garbage: false,
            limit,
        }
    }

    /// Decodes the next bytes. Events completed before an error can still be [popped](Self::pop).
    ///
    /// # Errors
    /// [`SseError::TooLarge`]; after it, no more bytes may be pushed.
    pub fn push(&mut self, mut bytes: &[u8]) -> Result<(), SseError> {
        if self.after_return && !bytes.is_empty() {
            self.after_return = false;
            bytes = bytes.strip_prefix(b"\n").unwrap_or(bytes);
        }
        while let Some(end) = bytes.iter().position(|byte| matches!(byte, b'\n' | b'\r')) {
            self.end_line(&bytes[..end])?;
            let rest = &bytes[end + 1..];
            bytes = match (bytes[end], rest.first()) {
                (b'\r', Some(b'\n')) => &rest[1..],
                (b'\r', None) => {
                    self.after_return = true;
                    rest
                }
                _ => rest,
            };
        }
        self.check_size(bytes.len())?;
        self.line.extend_from_slice(bytes);
        Ok(())
    }

    /// Returns the next complete event.
    pub fn pop(&mut self) -> Option<ServerEvent> {
        self.ready.pop_front()
    }

    /// Ends the stream.
    ///
    /// # Errors
    /// [`SseError::Incomplete`] if the remaining bytes do not form a record. Events that were
    /// complete before can still be [popped](Self::pop).
    pub fn finish(&mut self) -> Result<(), SseError> {
        let last = std::mem::take(&mut self.line);
        let text = last.trim_ascii();
        if !text.is_empty() {
            // Bare JSON and comments may end without a line end, fields may not.
            let excused = !self.raw.is_idle() || looks_like_json(text) || text.starts_with(b":");
            self.end_line(&last)?;
            self.saw_garbage |= !excused;
        }
        if self.saw_garbage || !self.raw.is_idle() || !self.data.is_empty() {
            return Err(SseError::Incomplete);
        }
        Ok(())
    }

    fn check_size(&self, more: usize) -> Result<(), SseError> {
        let held = self.line.len() + self.data.len() + self.raw.len();
        if held + more > self.limit { Err(SseError::TooLarge) } else { Ok(()) }
    }

    /// Handles a line whose beginning may be in `self.line` and whose end is `tail`.
    fn end_line(&mut self, tail: &[u8]) -> Result<(), SseError> {
        self.check_size(tail.len())?;
        if self.line.is_empty() {
            self.handle_line(tail);
        } else {
            let mut line = std::mem::take(&mut self.line);
            line.extend_from_slice(tail);
            self.handle_line(&line);
            line.clear();
            if line.capacity() <= KEPT_CAPACITY {
                self.line = line;
            }
        }
        Ok(())
    }

    fn handle_line(&mut self, line: &[u8]) {
        let line = if std::mem::take(&mut self.at_start) {
            line.strip_prefix(BYTE_ORDER_MARK).unwrap_or(line)
        } else {
            line
        };
        if !self.raw.is_idle() || (self.data.is_empty() && looks_like_json(line)) {
            return self.handle_raw(line);
        }
        // Gemini's framing allows white space before `data:`.
        let line = line.trim_ascii_start();
        if line.is_empty() {
            return self.dispatch();
        }
        let (name, value) = match line.iter().position(|byte| *byte == b':') {
            Some(colon) => (&line[..colon], &line[colon + 1..]),
            None => (line, &[][..]),
        };
        let value = value.strip_prefix(b" ").unwrap_or(value);
        match name {
            b"data" => {
                self.data.extend_from_slice(value);
                self.data.push(b'\n');
            }
            b"event" => self.name = String::from_utf8_lossy(value).into_owned(),
            _ => self.saw_garbage |= !is_field_name(name),
        }
    }

    /// Handles a line of JSON that appears in the stream without `data:`.
    fn handle_raw(&mut self, line: &[u8]) {
        if let Some(json) = self.raw.push_line(line) {
            match json.into_error() {
                Some(data) => {
                    self.ready.push_back(ServerEvent {
                        name: String::new(),
                        data,
                        bare_error: true,
                    });
                }
                None => self.saw_garbage = true,
            }
        }
    }

    /// Handles a blank line: the record is complete.
    fn dispatch(&mut self) {
        let name = std::mem::take(&mut self.name);
        if self.data.pop().is_none() {
            return;
        }
        if self.data.is_empty() {
            return;
        }
        let bytes = if self.data.capacity() > KEPT_CAPACITY {
            std::mem::take(&mut self.data)
        } else {
            let bytes = self.data.clone();
            self.data.clear();
            bytes
        };
        let data = String::from_utf8(bytes)
            .unwrap_or_else(|error| String::from_utf8_lossy(error.as_bytes()).into_owned());
        self.ready.push_back(ServerEvent { name, data, bare_error: false });
    }
}

fn looks_like_json(line: &[u8]) -> bool {
    matches!(line.trim_ascii_start().first(), Some(b'{' | b'['))
}

/// True if a line with this name is an unknown field or a comment (empty name), and not, for
/// example, a page of HTML.
fn is_field_name(name: &[u8]) -> bool {
    name.iter().all(|byte| byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'_'))
}

#[cfg(test)]
mod tests;
