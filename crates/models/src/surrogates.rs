//! Unpaired surrogates in JSON.
//!
//! A gateway that splits text by UTF-16 units writes half a character as `\ud83d`, which JSON's
//! grammar allows and Rust's strings cannot represent. Such halves become U+FFFD instead of an
//! error.

use pollux_protocol::{ModelError, ModelErrorKind};
use serde::de::DeserializeOwned;

/// Decodes a response of a model.
///
/// # Errors
/// [`ModelErrorKind::Broken`] (retryable) for text that is not JSON of this shape.
pub(crate) fn decode<T: DeserializeOwned>(json: &[u8]) -> Result<T, ModelError> {
    let decoded = serde_json::from_slice(json).or_else(|error| match repair_surrogates(json) {
        Some(json) => serde_json::from_slice(&json),
        None => Err(error),
    });
    decoded.map_err(|error| {
        let message = format!("The response of the model does not have the expected form: {error}");
        ModelError { retryable: true, ..ModelError::new(ModelErrorKind::Broken, message) }
    })
}

/// Returns the JSON with every unpaired surrogate escape replaced; `None` if there is no such
/// escape.
fn repair_surrogates(json: &[u8]) -> Option<Vec<u8>> {
    let mut repaired = None;
    let mut at = 0;
    while at < json.len() {
        if json[at] != b'\\' {
            at += 1;
            continue;
        }
        match (escape(json, at), escape(json, at + 6)) {
            (Some(0xD800..=0xDBFF), Some(0xDC00..=0xDFFF)) => at += 12,
            (Some(0xD800..=0xDFFF), _) => {
                let repaired = repaired.get_or_insert_with(|| json.to_vec());
                repaired[at..at + 6].copy_from_slice(br"\ufffd");
                at += 6;
            }
            (Some(_), _) => at += 6,
            // The byte after a backslash is never the start of an escape.
            (None, _) => at += 2,
        }
    }
    repaired
}

/// Returns the value of the `\uXXXX` escape at this position, if there is one.
fn escape(json: &[u8], at: usize) -> Option<u16> {
    let digits = json.get(at..at + 6)?.strip_prefix(br"\u")?;
    let all_hex = digits.iter().all(u8::is_ascii_hexdigit);
    let digits = std::str::from_utf8(digits).ok().filter(|_| all_hex)?;
    u16::from_str_radix(digits, 16).ok()
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn only_halves_are_replaced() {
        for (json, expected) in [
            (r#""\ud83e\udd80""#, None),
            (r#""\\ud83e""#, None),
            (r#""\u00e9\n\"""#, None),
            (r#""\ud83e""#, Some(r#""\ufffd""#)),
            (r#""\uDD80x\ud83e\ud83e\udd80""#, Some(r#""\ufffdx\ufffd\ud83e\udd80""#)),
            (r"\ud83", None),
            (r"\", None),
        ] {
            assert_eq!(
                repair_surrogates(json.as_bytes()),
                expected.map(|text| text.as_bytes().to_vec())
            );
        }
    }

    proptest! {
        #[test]
        fn any_escapes_can_be_read_afterwards(
            units in prop::collection::vec(prop_oneof![0xD7FE_u16..0xE002, any::<u16>()], 0..12),
        ) {
            let escapes: Vec<String> = units.iter().map(|unit| format!("\\u{unit:04x}")).collect();
            let json = format!("\"{}\"", escapes.concat());
            let bytes = repair_surrogates(json.as_bytes()).unwrap_or(json.into_bytes());
            let text: String = serde_json::from_slice(&bytes).unwrap();
            prop_assert_eq!(text, String::from_utf16_lossy(&units));
        }
    }
}
