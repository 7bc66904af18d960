//! Tokens of other identity providers, from a file or an address.

use std::path::{Path, PathBuf};

use http::{HeaderName, HeaderValue};
use serde_json::Value;

use super::file::{SubjectFormat, SubjectSource};
use super::requests::{Requests, is_sendable};
use super::{GoogleError, shown};
use crate::client::HttpRequest;

/// Maximum size of a file with a token, in bytes.
const LARGEST: u64 = 1 << 20;

/// Returns the token of another identity provider. Relative paths begin in the folder of the
/// program, as for Google's libraries.
pub(super) async fn subject_token(
    requests: &Requests,
    source: &SubjectSource,
    format: &SubjectFormat,
) -> Result<String, GoogleError> {
    let (bytes, place) = match source {
        SubjectSource::File(path) => {
            let place = format!("The file {}", shown(path));
            let path = PathBuf::from(path);
            let reading = tokio::task::spawn_blocking(move || read(&path));
            let bytes = reading.await.unwrap_or_else(|error| Err(error.to_string()));
            let failed = |cause| GoogleError::Refused(format!("{place} cannot be read: {cause}."));
            (bytes.map_err(failed)?, place)
        }
        SubjectSource::Address { url, headers } => {
            let mut request = HttpRequest::get(url.clone());
            for (name, value) in headers {
                let name = HeaderName::try_from(name).ok();
                let value = HeaderValue::from_str(value).ok();
                let Some((name, mut value)) = name.zip(value) else {
                    let text = "A header in credential_source.headers is not valid.";
                    return Err(GoogleError::Refused(text.to_owned()));
                };
                value.set_sensitive(true);
                request.headers.insert(name, value);
            }
            let place = format!("{}{}", url.authority(), url.path());
            let reply = requests.ask(request).await?;
            if !reply.status.is_success() {
                let status = reply.status.as_u16();
                return Err(GoogleError::Refused(format!(
                    "{place} gave no token for the exchange: HTTP {status}."
                )));
            }
            (reply.body.to_vec(), place)
        }
    };
    token_in(&bytes, format).map_err(|cause| GoogleError::Refused(format!("{place} {cause}.")))
}

fn read(path: &Path) -> Result<Vec<u8>, String> {
    pollux_fs::read_bytes(path, LARGEST).map_err(|error| error.to_string())
}

/// Returns the token in the content of its source.
///
/// # Errors
/// The reason why there is none, as the end of a sentence.
pub(super) fn token_in(bytes: &[u8], format: &SubjectFormat) -> Result<String, String> {
    let token = match format {
        SubjectFormat::Text => String::from_utf8_lossy(bytes).trim().to_owned(),
        SubjectFormat::Json(field) => {
            let value: Value = serde_json::from_slice(bytes).unwrap_or_default();
            let token = value.get(field).and_then(Value::as_str);
            let missing = || format!("has no field \"{}\" with a token", shown(field));
            token.ok_or_else(missing)?.to_owned()
        }
    };
    // SAML assertions are base64 and longer than other tokens.
    let is_usable = is_sendable(&token) || (token.is_ascii() && token.len() > 16 << 10);
    if is_usable { Ok(token) } else { Err("contains no token".to_owned()) }
}
