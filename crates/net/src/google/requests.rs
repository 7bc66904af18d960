//! Requests to identity services, and their responses.

use std::time::Duration;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use bytes::Bytes;
use http::header::{AUTHORIZATION, CONTENT_TYPE};
use http::{HeaderMap, HeaderValue, Method, StatusCode};
use serde::Deserialize;
use serde_json::Value;
use tokio_util::sync::CancellationToken;
use url::{Url, form_urlencoded};

use super::{GoogleError, LOGIN, now, shown};
use crate::client::{HttpClient, HttpRequest};
use crate::error::{Error, is_loopback};
use crate::retry::{Backoff, Retry, RetryAdvice, retry};

/// Maximum size of a response, in bytes.
const LARGEST: usize = 1 << 20;
/// Time limit of one request with its response.
const LIMIT: Duration = Duration::from_secs(30);
/// Maximum number of attempts.
const ATTEMPTS: u32 = 3;
/// Maximum length of a token in bytes: as much as most servers accept in a header.
const LONGEST_TOKEN: usize = 16 << 10;
/// Maximum lifetime of a token that is believed, in seconds.
const LONGEST_LIFE: f64 = 24.0 * 3600.0;

/// Access token with its expiry.
#[derive(Clone, PartialEq, Eq)]
pub struct GoogleToken {
    /// The token.
    pub secret: String,
    /// Time at which it expires, in seconds since 1970.
    pub expires_at: i64,
}

impl std::fmt::Debug for GoogleToken {
    /// Shows no secret.
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let mut fields = formatter.debug_struct("GoogleToken");
        fields.field("expires_at", &self.expires_at).finish_non_exhaustive()
    }
}

/// Client for identity services.
#[derive(Debug)]
pub(super) struct Requests {
    pub(super) http: HttpClient,
    pub(super) backoff: Backoff,
}

/// Response that was read to its end.
pub(super) struct Reply {
    pub(super) status: StatusCode,
    pub(super) headers: HeaderMap,
    pub(super) body: Bytes,
    /// Host that was asked, for messages.
    pub(super) host: String,
}

impl Requests {
    /// Posts a form, with the id and the secret of a client in a header if they are given.
    pub(super) async fn form(
        &self,
        url: &Url,
        pairs: &[(&str, &str)],
        client: Option<&(String, String)>,
    ) -> Result<Reply, GoogleError> {
        let body = form_urlencoded::Serializer::new(String::new()).extend_pairs(pairs).finish();
        let mut headers = HeaderMap::new();
        let form = HeaderValue::from_static("application/x-www-form-urlencoded");
        headers.insert(CONTENT_TYPE, form);
        if let Some((id, secret)) = client {
            let text = format!("Basic {}", STANDARD.encode(format!("{id}:{secret}")));
            headers.insert(AUTHORIZATION, sensitive(&text)?);
        }
        let body = vec![Bytes::from(body)];
        self.send(HttpRequest { method: Method::POST, url: url.clone(), headers, body }).await
    }

    /// Posts a JSON document, signed with a token.
    pub(super) async fn json(
        &self,
        url: &Url,
        body: &Value,
        token: &GoogleToken,
    ) -> Result<Reply, GoogleError> {
        let request = HttpRequest::post_json(url.clone(), vec![Bytes::from(body.to_string())]);
        let bearer = sensitive(&format!("Bearer {}", token.secret))?;
        self.send(request.header(AUTHORIZATION, bearer)).await
    }

    /// Sends a request with a secret. A service that is overloaded is asked again.
    async fn send(&self, request: HttpRequest) -> Result<Reply, GoogleError> {
        if request.url.scheme() != "https" && !is_loopback(&request.url) {
            let url = shown(request.url.as_str());
            return Err(GoogleError::Refused(format!("{url} is not an https address.")));
        }
        self.ask(request).await
    }

    /// Sends a request that may go over a connection that is not encrypted.
    pub(super) async fn ask(&self, request: HttpRequest) -> Result<Reply, GoogleError> {
        let cancel = CancellationToken::new();
        let rules = Retry { max_attempts: ATTEMPTS, backoff: self.backoff, cancel: &cancel };
        let host = request.url.host_str().unwrap_or_default().to_owned();
        let attempt = |_| async {
            let sending = async {
                let response = self.http.send(request.clone(), &cancel).await?;
                let (status, headers) = (response.status(), response.headers().clone());
                let body = response.bytes(LARGEST).await?;
                Ok(Reply { status, headers, body, host: host.clone() })
            };
            tokio::time::timeout(LIMIT, sending).await.unwrap_or_else(|_| {
                Err(Error::Timeout {
                    phase: crate::error::TimeoutPhase::Idle,
                    host: host.clone(),
                    limit: LIMIT,
                })
            })
        };
        let again = |error: &Error| match error {
            Error::Status(refusal) if is_temporary(refusal.status) => {
                RetryAdvice::Retry { after: None }
            }
            _ => RetryAdvice::Fail,
        };
        match retry(rules, attempt, again, |_| {}).await {
            Ok(reply) => Ok(reply),
            Err(Error::Status(refusal)) => Ok(Reply {
                status: refusal.status,
                headers: refusal.headers,
                body: refusal.body,
                host,
            }),
            Err(error) => Err(error.into()),
        }
    }
}

/// True for a status after which the same request may succeed.
fn is_temporary(status: StatusCode) -> bool {
    matches!(status.as_u16(), 408 | 429) || status.is_server_error()
}

impl Reply {
    /// Returns the token in the response of a token endpoint. `who` describes the credentials.
    ///
    /// # Errors
    /// The service refused, or its response contains no usable token.
    pub(super) fn token(&self, who: &str) -> Result<GoogleToken, GoogleError> {
        #[derive(Deserialize)]
        struct Answer {
            access_token: Option<String>,
            expires_in: Option<Value>,
        }
        let answer: Answer = self.decoded(who)?;
        let seconds = answer.expires_in.as_ref().and_then(seconds).unwrap_or(3600.0);
        self.usable(who, answer.access_token, now() + seconds as i64)
    }

    /// Returns the token for a service account, whose expiry is a date.
    ///
    /// # Errors
    /// As for [`token`](Self::token).
    pub(super) fn account_token(&self, who: &str) -> Result<GoogleToken, GoogleError> {
        #[derive(Deserialize)]
        #[serde(rename_all = "camelCase")]
        struct Answer {
            access_token: Option<String>,
            expire_time: Option<jiff::Timestamp>,
        }
        let answer: Answer = self.decoded(who)?;
        let limit = now() + LONGEST_LIFE as i64;
        let expiry = answer.expire_time.map_or(now() + 3600, |time| time.as_second().min(limit));
        self.usable(who, answer.access_token, expiry)
    }

    /// Returns the ID token in a response; it contains its expiry itself.
    ///
    /// # Errors
    /// As for [`token`](Self::token).
    pub(super) fn id_token(&self, who: &str) -> Result<GoogleToken, GoogleError> {
        #[derive(Deserialize)]
        struct Answer {
            token: Option<String>,
        }
        let answer: Answer = self.decoded(who)?;
        let expiry = answer.token.as_deref().and_then(expiry_of).unwrap_or_else(|| now() + 3600);
        self.usable(who, answer.token, expiry.min(now() + LONGEST_LIFE as i64))
    }

    fn decoded<'a, T: Deserialize<'a>>(&'a self, who: &str) -> Result<T, GoogleError> {
        if !self.status.is_success() {
            return Err(GoogleError::Refused(self.refusal(who)));
        }
        serde_json::from_slice(&self.body).map_err(|_| self.unusable(who))
    }

    fn usable(
        &self,
        who: &str,
        token: Option<String>,
        expires_at: i64,
    ) -> Result<GoogleToken, GoogleError> {
        let secret = token.filter(|token| is_sendable(token));
        secret.map(|secret| GoogleToken { secret, expires_at }).ok_or_else(|| self.unusable(who))
    }

    fn unusable(&self, who: &str) -> GoogleError {
        GoogleError::Refused(format!("{} sent no usable token for {who}.", self.host))
    }

    /// Returns the description of a refusal, with the remedy.
    fn refusal(&self, who: &str) -> String {
        let (code, text) = self.reason();
        let remedy = match code.as_str() {
            "invalid_grant" | "invalid_rapt" => {
                format!(" They have expired or were revoked. Sign in again: `{LOGIN}`.")
            }
            "invalid_client" | "unauthorized_client" => {
                " The client of these credentials was deleted or may not do this.".to_owned()
            }
            "PERMISSION_DENIED" => {
                " They need the role roles/iam.serviceAccountTokenCreator on the service account."
                    .to_owned()
            }
            _ => String::new(),
        };
        let text = if text.is_empty() { String::new() } else { format!(" - {text}") };
        let host = &self.host;
        format!("{host} refused {who}: HTTP {} {code}{text}.{remedy}", self.status.as_u16())
    }

    /// Returns the code and the text of an error, in the form of OAuth or of Google's APIs.
    fn reason(&self) -> (String, String) {
        let value: Value = serde_json::from_slice(&self.body).unwrap_or_default();
        let text = |value: Option<&Value>| {
            shown(value.and_then(Value::as_str).unwrap_or_default())
                .trim_end_matches('.')
                .to_owned()
        };
        match value.get("error") {
            Some(Value::Object(error)) => (text(error.get("status")), text(error.get("message"))),
            code => (text(code), text(value.get("error_description"))),
        }
    }
}

/// Returns a lifetime in seconds. Some services send it as text.
fn seconds(value: &Value) -> Option<f64> {
    let number = value.as_f64().or_else(|| value.as_str()?.trim().parse().ok());
    number.filter(|life| *life >= 0.0).map(|life| life.min(LONGEST_LIFE))
}

/// True for a token that can be part of a header.
pub(super) fn is_sendable(token: &str) -> bool {
    (1..=LONGEST_TOKEN).contains(&token.len()) && token.bytes().all(|byte| byte.is_ascii_graphic())
}

/// Returns the expiry in an ID token, which is read without a check of its signature: the server
/// that it is for checks it.
fn expiry_of(token: &str) -> Option<i64> {
    use base64::engine::general_purpose::URL_SAFE_NO_PAD;
    let claims = token.split('.').nth(1)?;
    let claims = URL_SAFE_NO_PAD.decode(claims.trim_end_matches('=')).ok()?;
    serde_json::from_slice::<Value>(&claims).ok()?.get("exp")?.as_i64()
}

/// Returns a header value that is never shown.
pub(super) fn sensitive(text: &str) -> Result<HeaderValue, GoogleError> {
    let mut value = HeaderValue::from_str(text).map_err(|_| {
        GoogleError::Refused("The Google credentials contain invalid characters.".to_owned())
    })?;
    value.set_sensitive(true);
    Ok(value)
}

#[cfg(test)]
mod tests;
