//! What services answer when they refuse a request, and what it means.
//!
//! All of it is pure and takes anything: a body that is no JSON, or JSON of another shape, still gets a
//! kind, from the status alone. The rules are those that Gemini CLI 0.61 has for Google's services, in
//! its order; gateways of other vendors pass such bodies on, so every dialect begins with them.

mod envelope;
mod kind;
mod rules;

pub(crate) use kind::{QuotaReason, Refusal, RefusalKind};
pub(crate) use rules::invalid;

/// Longest message kept, in bytes; a gateway's HTML page is no message.
const MAX_MESSAGE_BYTES: usize = 4096;

/// Understands a refusal from its HTTP status and body.
///
/// For an error inside a stream that began with 200, pass the body's code as status.
pub(crate) fn understood(status: u16, body: &[u8]) -> Refusal {
    let text = String::from_utf8_lossy(body);
    let mut error = envelope::parse(&text).unwrap_or_else(|| envelope::ErrorObject {
        message: text.trim().to_owned(),
        ..envelope::ErrorObject::default()
    });
    shorten(&mut error.message);
    rules::apply(error.code.unwrap_or(status), error)
}

fn shorten(message: &mut String) {
    if message.len() > MAX_MESSAGE_BYTES {
        message.truncate(message.floor_char_boundary(MAX_MESSAGE_BYTES));
        message.push('…');
    }
}

#[cfg(test)]
mod tests;
