//! JSON that appears in an event stream without `data:`.

use serde::Deserialize;

/// Collects lines until the brackets are balanced. Scans each byte once.
#[derive(Debug, Default)]
pub(super) struct RawJson {
    text: Vec<u8>,
    depth: usize,
    in_string: bool,
    escaped: bool,
}

/// Text whose brackets are balanced.
#[derive(Debug)]
pub(super) struct BalancedText(Vec<u8>);

impl RawJson {
    /// True if no text is being collected.
    pub(super) fn is_idle(&self) -> bool {
        self.text.is_empty()
    }

    /// Returns the number of bytes held.
    pub(super) fn len(&self) -> usize {
        self.text.len()
    }

    /// Adds a line (without its line end); returns the text as soon as its brackets are balanced.
    pub(super) fn push_line(&mut self, line: &[u8]) -> Option<BalancedText> {
        for byte in line {
            self.scan(*byte);
        }
        self.text.extend_from_slice(line);
        self.text.push(b'\n');
        (self.depth == 0 && !self.in_string).then(|| BalancedText(std::mem::take(self).text))
    }

    fn scan(&mut self, byte: u8) {
        if self.in_string {
            match byte {
                _ if self.escaped => self.escaped = false,
                b'\\' => self.escaped = true,
                b'"' => self.in_string = false,
                _ => {}
            }
            return;
        }
        match byte {
            b'"' => self.in_string = true,
            b'{' | b'[' => self.depth += 1,
            b'}' | b']' => self.depth = self.depth.saturating_sub(1),
            _ => {}
        }
    }
}

#[derive(Deserialize)]
#[serde(untagged)]
enum Envelope {
    Bare(ErrorEnvelope),
    Listed(Vec<ErrorEnvelope>),
}

#[derive(Deserialize)]
struct ErrorEnvelope {
    error: ErrorCode,
}

#[derive(Deserialize)]
struct ErrorCode {
    code: u16,
}

impl BalancedText {
    /// Returns the text, if it is an error object with a code of 400 to 599.
    pub(super) fn into_error(self) -> Option<String> {
        let code = match serde_json::from_slice(&self.0).ok()? {
            Envelope::Bare(envelope) => envelope.error.code,
            Envelope::Listed(list) => list.first()?.error.code,
        };
        if !(400..=599).contains(&code) {
            return None;
        }
        let mut text = String::from_utf8(self.0).ok()?;
        text.truncate(text.trim_end().len());
        Some(text)
    }
}
