//! Shortening of very large messages while they arrive.
//!
//! A tool may return hundreds of megabytes in one text. The message is cut before it is in memory:
//! as soon as it is larger than the limit, the rest of a long text is dropped. What remains is a
//! complete message with a shortened text.

/// Minimum length of a text that is shortened, in bytes. The names of keys and ids are shorter.
const SHORTEST_CUT: usize = 1024;

/// Note at the end of a text that was cut.
const CUT: &[u8] = b"\\n[Cut: the message is too large.]";

/// Message that is larger than twice the limit, although its long texts have been cut.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("The server sent a message that is too large.")]
pub(crate) struct TooLarge;

/// Filter for the bytes of one message of JSON.
#[derive(Debug, Clone)]
pub(crate) struct Shortener {
    /// Number of bytes from which on long texts are cut.
    limit: usize,
    /// Number of bytes passed on so far.
    passed: usize,
    place: Place,
}

/// Position in the message.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Place {
    /// Outside of texts.
    Outside,
    /// In a text of which this number of bytes was passed on.
    Text { length: usize, escape: Escape, is_cut: bool },
}

/// Position in an escape sequence of a text.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Escape {
    None,
    /// After the backslash.
    Begun,
    /// In `\uXXXX`, with this number of digits still to come.
    Digits(u8),
}

impl Shortener {
    /// Creates a filter for the next message.
    pub(crate) fn new(limit: usize) -> Self {
        Self { limit, passed: 0, place: Place::Outside }
    }

    /// Appends to `message` what remains of the next bytes.
    ///
    /// # Errors
    /// [`TooLarge`]: the message has to be given up.
    pub(crate) fn push(&mut self, bytes: &[u8], message: &mut Vec<u8>) -> Result<(), TooLarge> {
        if self.passed + bytes.len() <= self.limit {
            // Nothing can be cut, so only the position matters.
            message.extend_from_slice(bytes);
            self.passed += bytes.len();
            for byte in bytes {
                self.follow(*byte);
            }
            return Ok(());
        }
        for byte in bytes {
            self.step(*byte, message);
            if self.passed > 2 * self.limit {
                return Err(TooLarge);
            }
        }
        Ok(())
    }

    fn step(&mut self, byte: u8, message: &mut Vec<u8>) {
        if let Place::Text { length, escape: Escape::None, is_cut: false } = self.place
            && length >= SHORTEST_CUT
            && self.passed >= self.limit
            && byte != b'"'
            && !is_inside_character(byte)
            && !ends_with_surrogate(message)
        {
            message.extend_from_slice(CUT);
            self.passed += CUT.len();
            self.place = Place::Text { length, escape: Escape::None, is_cut: true };
        }
        self.follow(byte);
        if !matches!(self.place, Place::Text { is_cut: true, .. }) {
            message.push(byte);
            self.passed += 1;
        }
    }

    /// Moves the position past a byte.
    fn follow(&mut self, byte: u8) {
        self.place = match (self.place, byte) {
            (Place::Outside, b'"') => {
                Place::Text { length: 0, escape: Escape::None, is_cut: false }
            }
            (Place::Outside, _) | (Place::Text { escape: Escape::None, .. }, b'"') => {
                Place::Outside
            }
            (Place::Text { length, escape, is_cut }, _) => {
                let escape = match (escape, byte) {
                    (Escape::None, b'\\') => Escape::Begun,
                    (Escape::Begun, b'u') => Escape::Digits(4),
                    (Escape::Digits(left @ 2..), _) => Escape::Digits(left - 1),
                    _ => Escape::None,
                };
                Place::Text { length: length + 1, escape, is_cut }
            }
        };
    }
}

/// True for a byte that continues a character of UTF-8.
fn is_inside_character(byte: u8) -> bool {
    byte & 0xc0 == 0x80
}

/// True after the first half of a character that is written as two escape sequences.
fn ends_with_surrogate(message: &[u8]) -> bool {
    let Some([b'\\', b'u', b'd' | b'D', high, _, _]) = message.last_chunk::<6>() else {
        return false;
    };
    matches!(high, b'8' | b'9' | b'a' | b'b' | b'A' | b'B')
}

#[cfg(test)]
mod tests {
    use pretty_assertions::assert_eq;
    use proptest::prelude::*;
    use serde_json::{Value, json};

    use super::*;

    fn shortened(text: &str, limit: usize, piece: usize) -> Result<Vec<u8>, TooLarge> {
        let (mut shortener, mut message) = (Shortener::new(limit), Vec::new());
        for piece in text.as_bytes().chunks(piece) {
            shortener.push(piece, &mut message)?;
        }
        Ok(message)
    }

    #[test]
    fn the_rest_of_a_long_text_is_dropped() {
        let text = json!({"result": {"text": "x".repeat(100_000)}, "id": 7}).to_string();
        for piece in [1, 7, 4096, text.len()] {
            let message = shortened(&text, 10_000, piece).unwrap();
            let value: Value = serde_json::from_slice(&message).unwrap();
            let text = value["result"]["text"].as_str().unwrap();
            assert!(text.ends_with("x\n[Cut: the message is too large.]"), "{piece}");
            assert!(message.len() < 12_000 && message.len() > 9000, "{piece}");
            assert_eq!(value["id"], 7, "{piece}");
        }
    }

    #[test]
    fn a_message_of_many_parts_is_given_up() {
        let text = json!(vec![1; 10_000]).to_string();
        assert_eq!(shortened(&text, 5000, 64), Err(TooLarge));
        assert_eq!(shortened(&text, 20_000, 64).unwrap(), text.as_bytes());
    }

    proptest! {
        #[test]
        fn what_remains_is_json(
            texts in prop::collection::vec("[a\"\\\\\u{e9}\u{1f600}\n]{0,3000}", 1..6),
            limit in 500_usize..4000,
            piece in 1_usize..500,
            is_ascii in any::<bool>(),
        ) {
            let mut text = json!({"texts": texts, "id": 1}).to_string();
            if is_ascii {
                let mut units = [0; 2];
                text = text.chars().map(|c| match c {
                    c if c.is_ascii() => c.to_string(),
                    c => {
                        let units = c.encode_utf16(&mut units).iter();
                        units.map(|unit| format!("\\u{unit:04x}")).collect::<Vec<_>>().concat()
                    }
                }).collect();
            }
            if let Ok(message) = shortened(&text, limit, piece) {
                let value: Value = serde_json::from_slice(&message).unwrap();
                prop_assert_eq!(&value["id"], 1);
                for (short, whole) in value["texts"].as_array().unwrap().iter().zip(&texts) {
                    let short = short.as_str().unwrap();
                    let kept = short.strip_suffix("\n[Cut: the message is too large.]");
                    prop_assert!(kept.map_or(short == whole, |kept| whole.starts_with(kept)));
                }
            }
        }
    }
}
