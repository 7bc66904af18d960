//! Error responses of services, and their meaning.
//!
//! All of it is pure and accepts any input: a body that is not JSON, or JSON of another shape,
//! still gets a kind, from the status alone. The rules are those of Gemini CLI 0.61 for Google's
//! services, in the same order. Gateways of other vendors pass such bodies on, so every dialect
//! uses these rules first.

mod delay;
mod envelope;
mod kind;
mod rules;

pub(crate) use delay::with_delay;
pub(crate) use envelope::parse_duration;
pub(crate) use kind::{QuotaReason, Refusal, RefusalKind};
pub(crate) use rules::invalid;
use serde_json::Value;

/// Maximum length of a stored message, in bytes; the HTML page of a gateway is not a useful
/// message.
const MAX_MESSAGE_BYTES: usize = 4096;

/// Interprets an error response by its HTTP status and body.
///
/// For an error inside a stream that began with status 200, pass the status code of the body.
pub(crate) fn understood(status: u16, body: &[u8]) -> Refusal {
    let text = String::from_utf8_lossy(body);
    let mut error = envelope::parse(&text).unwrap_or_default();
    if error == envelope::ErrorObject::default()
        && !serde_json::from_slice(body).is_ok_and(|value| is_empty(&value))
    {
        text.trim().clone_into(&mut error.message);
    }
    shorten(&mut error.message);
    rules::apply(error.code.unwrap_or(status), error)
}

/// True for JSON without any text or number, such as `{}`.
fn is_empty(value: &Value) -> bool {
    match value {
        Value::Null => true,
        Value::Object(object) => object.values().all(is_empty),
        Value::Array(items) => items.iter().all(is_empty),
        Value::String(text) => text.trim().is_empty(),
        Value::Bool(_) | Value::Number(_) => false,
    }
}

fn shorten(message: &mut String) {
    if message.len() > MAX_MESSAGE_BYTES {
        message.truncate(message.floor_char_boundary(MAX_MESSAGE_BYTES));
        message.push('…');
    }
}

#[cfg(test)]
mod tests;
