//! Secret values of requests, which must appear neither in messages nor in recordings.

use std::fmt;

use bytes::Bytes;
use http::HeaderValue;
use url::Url;

use super::request::HttpRequest;

/// Minimum length of a value that is searched for, in bytes. Shorter ones occur by chance.
const MIN_LENGTH: usize = 8;

/// Text in place of a secret in a message.
const REMOVED: &str = "***";

/// Query parameters that are not secret.
const PUBLIC_PARAMETERS: [&str; 2] = ["alt", "api-version"];

/// Secret values of a request, the longest first: one may contain another.
#[derive(Clone, Default)]
pub struct Secrets(Vec<String>);

impl Secrets {
    /// Returns the secrets of a request: the header values that are marked as sensitive, and those
    /// of its address.
    pub(super) fn of(request: &HttpRequest) -> Self {
        let mut secrets = Self::default();
        let sensitive = request.headers.values().filter(|value| value.is_sensitive());
        sensitive.for_each(|value| secrets.add_header(value));
        secrets.add_address(&request.url);
        secrets
    }

    /// Adds the value of a header.
    pub(super) fn add_header(&mut self, value: &HeaderValue) {
        let text = String::from_utf8_lossy(value.as_bytes());
        self.add(text.trim());
        // The credentials of `Authorization: Bearer KEY` are its last word.
        self.add(text.split_whitespace().next_back().unwrap_or_default());
    }

    /// Adds the password and the parameters of an address.
    pub(super) fn add_address(&mut self, url: &Url) {
        self.add(url.password().unwrap_or_default());
        let secret = url.query_pairs().filter(|(name, _)| !is_public_parameter(name));
        secret.for_each(|(_, value)| self.add(&value));
    }

    /// Adds a value, and the forms that it has in JSON.
    fn add(&mut self, value: &str) {
        if value.len() < MIN_LENGTH {
            return;
        }
        let json = serde_json::Value::from(value).to_string();
        let escaped = &json[1..json.len() - 1];
        for form in [value, escaped, &escaped.replace('/', "\\/")] {
            if !self.0.iter().any(|known| known == form) {
                self.0.push(form.to_owned());
            }
        }
        self.0.sort_by_key(|secret| std::cmp::Reverse(secret.len()));
    }

    /// Replaces the secrets in a text by `***`.
    pub fn remove_from(&self, text: &mut String) {
        for secret in &self.0 {
            if text.contains(secret.as_str()) {
                *text = text.replace(secret.as_str(), REMOVED);
            }
        }
    }

    /// Returns a body in which the secrets are replaced by `***`.
    pub(super) fn removed_from(&self, body: Bytes) -> Bytes {
        let mut text = String::from_utf8_lossy(&body).into_owned();
        let length = text.len();
        self.remove_from(&mut text);
        if text.len() == length { body } else { text.into() }
    }

    /// Overwrites the secrets in a piece of a body with `*`, so that its size stays the same.
    pub(super) fn overwrite(&self, bytes: &mut [u8]) {
        for secret in &self.0 {
            let mut start = 0;
            let is_secret = |window: &[u8]| window == secret.as_bytes();
            while let Some(found) = bytes[start..].windows(secret.len()).position(is_secret) {
                let end = start + found + secret.len();
                bytes[start + found..end].fill(b'*');
                start = end;
            }
        }
    }

    /// Returns the length of the longest secret in bytes, 0 without secrets.
    pub(super) fn longest(&self) -> usize {
        self.0.first().map_or(0, String::len)
    }
}

impl fmt::Debug for Secrets {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.debug_tuple("Secrets").field(&self.0.len()).finish()
    }
}

/// True for a query parameter that is not secret.
pub(super) fn is_public_parameter(name: &str) -> bool {
    PUBLIC_PARAMETERS.contains(&name)
}

#[cfg(test)]
mod tests {
    use http::header::AUTHORIZATION;
    use pretty_assertions::assert_eq;

    use super::*;

    fn secrets(url: &str, header: &'static str) -> Secrets {
        let mut value = HeaderValue::from_static(header);
        value.set_sensitive(true);
        let request = HttpRequest::get(url.parse().unwrap()).header(AUTHORIZATION, value);
        Secrets::of(&request.header("x-team".parse().unwrap(), "the-team".parse().unwrap()))
    }

    #[test]
    fn every_form_of_a_secret_is_removed() {
        let url = "http://me:passwort@h/?alt=event-stream&key=query-secret";
        let secrets = secrets(url, "Bearer sk/a\"bcdefg");
        for (text, expected) in [
            ("bad key sk/a\"bcdefg of the-team", "bad key *** of the-team"),
            (r#"{"m": "sk/a\"bcdefg, sk\/a\"bcdefg"}"#, r#"{"m": "***, ***"}"#),
            ("Bearer sk/a\"bcdefg", "***"),
            ("passwort, query-secret, event-stream", "***, ***, event-stream"),
        ] {
            let mut removed = text.to_owned();
            secrets.remove_from(&mut removed);
            assert_eq!(removed, expected);
            assert_eq!(secrets.removed_from(text.to_owned().into()), expected);
        }
        assert!(!format!("{secrets:?}").contains("sk"), "{secrets:?}");
    }

    #[test]
    fn bodies_without_secrets_and_short_values_are_unchanged() {
        let secrets = secrets("http://h/?key=short", "Bearer ollama");
        let body = Bytes::from_static(b"ollama short \xff");
        assert_eq!(secrets.removed_from(body.clone()), body);
    }
}
