//! Exchange of a code for a token, and renewal of a token (RFC 6749, sections 4.1.3 and 6).

use std::borrow::Cow;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use http::HeaderValue;
use pollux_net::StoredToken;
use serde_json::{Map, Value};
use url::{Url, form_urlencoded};

use super::fetch::{Fetcher, Reply};
use super::registration::Client;
use super::{OAuthError, now, shown};

/// Maximum length of a token, in bytes: as much as most servers accept in a header.
const LONGEST: usize = 16 << 10;
/// Maximum lifetime of a token that is believed, in seconds: a year.
const LONGEST_LIFE: f64 = 365.0 * 24.0 * 3600.0;
/// Error code for a code or a refresh token that is no longer valid.
const INVALID_GRANT: &str = "invalid_grant";

/// Purpose of a request to the token endpoint.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Purpose {
    Exchange,
    Refresh,
}

impl Purpose {
    fn as_str(self) -> &'static str {
        match self {
            Self::Exchange => "Token exchange",
            Self::Refresh => "Token refresh",
        }
    }
}

/// Failure of a request to the token endpoint.
#[derive(Debug)]
pub(super) enum TokenError {
    /// The grant is not valid and never will be.
    InvalidGrant(String),
    /// Any other failure, which may pass.
    Other(OAuthError),
}

impl From<TokenError> for OAuthError {
    fn from(error: TokenError) -> Self {
        match error {
            TokenError::InvalidGrant(text) => Self::Refused(text),
            TokenError::Other(error) => error,
        }
    }
}

/// Request to a token endpoint.
pub(super) struct TokenRequest<'r> {
    pub(super) purpose: Purpose,
    pub(super) endpoint: &'r Url,
    pub(super) client: &'r Client,
    /// Parameters, except those of the client.
    pub(super) parameters: Vec<(&'static str, String)>,
}

impl TokenRequest<'_> {
    /// Sends the request.
    ///
    /// # Errors
    /// [`TokenError`].
    pub(super) async fn send(self, fetcher: &Fetcher) -> Result<StoredToken, TokenError> {
        let (form, authorization) = self.form();
        let sent = fetcher.post_form(self.endpoint, form, authorization).await;
        token(&sent.map_err(TokenError::Other)?, self.purpose)
    }

    /// Returns the body, and the header of a client that authenticates itself.
    fn form(&self) -> (String, Option<HeaderValue>) {
        let Client { id, secret, is_basic } = self.client;
        let mut form = form_urlencoded::Serializer::new(String::new());
        form.extend_pairs(&self.parameters);
        form.append_pair("client_id", id);
        let authorization = match secret {
            Some(secret) if *is_basic => basic(id, secret),
            Some(secret) => {
                form.append_pair("client_secret", secret);
                None
            }
            None => None,
        };
        (form.finish(), authorization)
    }
}

/// Returns the header with id and secret, each encoded as in a form (RFC 6749, section 2.3.1).
fn basic(id: &str, secret: &str) -> Option<HeaderValue> {
    let encoded = |text: &str| form_urlencoded::byte_serialize(text.as_bytes()).collect::<String>();
    let pair = STANDARD.encode(format!("{}:{}", encoded(id), encoded(secret)));
    let mut value = HeaderValue::from_str(&format!("Basic {pair}")).ok()?;
    value.set_sensitive(true);
    Some(value)
}

/// Reads the response of a token endpoint.
pub(super) fn token(reply: &Reply, purpose: Purpose) -> Result<StoredToken, TokenError> {
    let text = String::from_utf8_lossy(&reply.body);
    let fields = fields(&text);
    let field =
        |name: &str| fields.get(name).and_then(Value::as_str).filter(|text| !text.is_empty());
    let failed = |error: &str, description: &str| {
        format!("{} failed: {} - {}", purpose.as_str(), shown(error), shown(description))
    };
    let code = field("error");
    if !reply.status.is_success() || code.is_some() {
        let description = field("error_description");
        let text = match code {
            Some(code) => failed(code, description.unwrap_or("No description")),
            None => failed(reply.status.as_str(), &text),
        };
        // A server that fails (5xx) does not decide about the grant.
        let is_final = code == Some(INVALID_GRANT) && !reply.status.is_server_error();
        return Err(if is_final {
            TokenError::InvalidGrant(text)
        } else {
            TokenError::Other(OAuthError::Refused(text))
        });
    }
    let other = |text: &str| TokenError::Other(OAuthError::refused(text));
    let access = field("access_token")
        .ok_or_else(|| other("No access token received from token endpoint"))?;
    let is_sendable =
        |token: &str| token.len() <= LONGEST && token.bytes().all(|byte| byte.is_ascii_graphic());
    if !is_sendable(access) || !field("refresh_token").is_none_or(is_sendable) {
        return Err(other("The token endpoint sent a token that cannot be used"));
    }
    let life = fields.get("expires_in").and_then(seconds);
    Ok(StoredToken {
        access_token: access.to_owned(),
        token_type: field("token_type").unwrap_or("Bearer").to_owned(),
        refresh_token: field("refresh_token").map(str::to_owned),
        scope: field("scope").map(|text| super::challenge::scopes(text).join(" ")),
        expires_at: life.map(|life| now() + (life * 1000.0) as u64),
        rest: Map::new(),
    })
}

/// Returns the fields of a response in JSON or in form encoding.
fn fields(text: &str) -> Map<String, Value> {
    if let Ok(fields) = serde_json::from_str(text) {
        return fields;
    }
    let pair = |(name, value): (Cow<'_, str>, Cow<'_, str>)| {
        (name.into_owned(), Value::String(value.into_owned()))
    };
    form_urlencoded::parse(text.trim().as_bytes()).map(pair).collect()
}

/// Returns a lifetime in seconds. Some services send it as text.
fn seconds(value: &Value) -> Option<f64> {
    let number = value.as_f64().or_else(|| value.as_str()?.trim().parse().ok());
    number.filter(|life| *life >= 0.0).map(|life| life.min(LONGEST_LIFE))
}

#[cfg(test)]
mod tests {
    use http::StatusCode;
    use pretty_assertions::assert_eq;

    use super::*;

    fn read(status: u16, body: &str) -> Result<StoredToken, (bool, String)> {
        let status = StatusCode::from_u16(status).unwrap();
        let reply = Reply { status, body: body.to_owned().into() };
        token(&reply, Purpose::Refresh).map_err(|error| {
            let is_final = matches!(error, TokenError::InvalidGrant(_));
            (is_final, OAuthError::from(error).to_string())
        })
    }

    #[test]
    fn both_encodings_are_read() {
        let json = r#"{"access_token":"a","token_type":"bearer","refresh_token":"r","expires_in":60,
            "scope":"x y","other":1}"#;
        let form = "access_token=a&token_type=bearer&refresh_token=r&expires_in=60&scope=x+y";
        for body in [json, form] {
            let read = read(200, body).unwrap();
            let left = read.expires_at.unwrap() - now();
            assert!((50_000..=60_000).contains(&left), "{left}");
            let found =
                (read.access_token.as_str(), read.token_type.as_str(), read.scope.as_deref());
            assert_eq!(found, ("a", "bearer", Some("x y")));
            assert_eq!(read.refresh_token.as_deref(), Some("r"));
        }
        let least =
            read(200, r#"{"access_token":"a","expires_in":null,"refresh_token":""}"#).unwrap();
        assert_eq!((least.token_type.as_str(), least.expires_at), ("Bearer", None));
        assert_eq!(least.refresh_token, None);
        for life in ["1e300", "\"1e300\""] {
            let body = format!(r#"{{"access_token":"a","expires_in":{life}}}"#);
            let limit = now() + LONGEST_LIFE as u64 * 1000 + 1000;
            assert!(read(200, &body).unwrap().expires_at.unwrap() <= limit);
        }
    }

    #[test]
    fn failures_are_described_and_only_one_is_final() {
        let long = format!(r#"{{"access_token":"{}"}}"#, "x".repeat(LONGEST + 1));
        for (status, body, is_final, text) in [
            (
                400,
                r#"{"error":"invalid_grant"}"#,
                true,
                "Token refresh failed: invalid_grant - No description",
            ),
            (
                400,
                "error=invalid_grant&error_description=gone+now",
                true,
                "Token refresh failed: invalid_grant - gone now",
            ),
            (
                200,
                r#"{"error":"invalid_grant"}"#,
                true,
                "Token refresh failed: invalid_grant - No description",
            ),
            (
                503,
                r#"{"error":"invalid_grant"}"#,
                false,
                "Token refresh failed: invalid_grant - No description",
            ),
            (500, "<h1>no</h1>", false, "Token refresh failed: 500 - <h1>no</h1>"),
            (
                400,
                r#"{"error":"invalid_client"}"#,
                false,
                "Token refresh failed: invalid_client - No description",
            ),
            (200, "{}", false, "No access token received from token endpoint"),
            (200, r#"{"access_token":1}"#, false, "No access token received from token endpoint"),
            (
                200,
                r#"{"access_token":"a b"}"#,
                false,
                "The token endpoint sent a token that cannot be used",
            ),
            (200, &long, false, "The token endpoint sent a token that cannot be used"),
        ] {
            assert_eq!(read(status, body).unwrap_err(), (is_final, text.to_owned()), "{body}");
        }
    }

    #[test]
    fn id_and_secret_are_encoded() {
        // "a%3Ab:s+%C3%A9"
        let header = basic("a:b", "s é").unwrap();
        assert_eq!(header.to_str().unwrap(), "Basic YSUzQWI6cyslQzMlQTk=");
        assert!(header.is_sensitive());
    }
}
