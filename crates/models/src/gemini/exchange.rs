//! One request and the beginning of its answer, tried again where that can help.

use bytes::Bytes;
use pollux_net::{Error, Response, Retry, retry};
use pollux_protocol::{CancellationToken, ModelError, ModelErrorKind, RetryListener, RetryNotice};
use serde::Deserialize;

use super::Service;
use super::endpoint::Method;
use crate::failure;

/// Largest answer that is not streamed, in bytes.
const ANSWER_LIMIT: usize = 64 * 1024 * 1024;

/// What is asked, of whom, and how patiently.
pub(super) struct Call<'a> {
    pub(super) method: Method,
    pub(super) model: &'a str,
    pub(super) body: Vec<Bytes>,
    pub(super) max_attempts: u32,
    pub(super) on_retry: Option<&'a RetryListener>,
    pub(super) cancel: &'a CancellationToken,
}

impl Service {
    /// Sends a request; gives the answer as soon as its head is there and says success.
    pub(super) async fn open(&self, call: Call<'_>) -> Result<Response, ModelError> {
        self.attempts(&call, |request| self.http.send(request, call.cancel)).await
    }

    /// Sends a request; gives the whole of the answer.
    pub(super) async fn ask(&self, call: Call<'_>) -> Result<Bytes, ModelError> {
        let attempt = |request| async {
            self.http.send(request, call.cancel).await?.bytes(ANSWER_LIMIT).await
        };
        self.attempts(&call, attempt).await
    }

    async fn attempts<T, F>(
        &self,
        call: &Call<'_>,
        send: impl Fn(pollux_net::Request) -> F,
    ) -> Result<T, ModelError>
    where
        F: Future<Output = Result<T, Error>>,
    {
        let request = pollux_net::Request {
            method: http::Method::POST,
            url: self.endpoint.url(call.model, call.method),
            headers: self.endpoint.headers().clone(),
            body: call.body.clone(),
        };
        let rules = Retry {
            max_attempts: call.max_attempts,
            backoff: self.connection,
            cancel: call.cancel,
        };
        let outcome = retry(
            rules,
            |_attempt| send(request.clone()),
            |error| failure::advice(error, self.retry_fetch_errors),
            |notice| {
                if let Some(listener) = call.on_retry {
                    listener(RetryNotice {
                        attempt: notice.attempt,
                        max_attempts: notice.max_attempts,
                        delay: notice.delay,
                        reason: failure::reason(notice.error),
                        error_type: failure::class(notice.error),
                    });
                }
            },
        )
        .await;
        outcome.map_err(|error| failure::before_answer(&error, call.model))
    }
}

/// The answer of `countTokens`.
pub(super) fn decode_total(json: &[u8]) -> Result<u64, ModelError> {
    #[derive(Deserialize)]
    #[serde(rename_all = "camelCase")]
    struct Count {
        total_tokens: Option<u64>,
    }
    let count: Count = decode(json)?;
    // Zero is not written by the service.
    Ok(count.total_tokens.unwrap_or_default())
}

/// An answer of a known shape.
pub(super) fn decode<'a, T: Deserialize<'a>>(json: &'a [u8]) -> Result<T, ModelError> {
    serde_json::from_slice(json).map_err(|error| {
        let message = format!("The service's answer is not of the expected shape: {error}");
        ModelError::new(ModelErrorKind::Broken, message)
    })
}
