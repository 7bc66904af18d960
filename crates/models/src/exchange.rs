//! One request and the beginning of its response, with retries where they can help.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use pollux_net::{
    Authoriser, Backoff, Error, HttpClient, HttpRequest, Response, Retry, RetryAdvice, retry,
};
use pollux_protocol::{CancellationToken, ModelError, ModelErrorKind, RetryListener, RetryNotice};
use serde::Deserialize;

use crate::failure::{self, RefusalReader};

/// Maximum size of a response that is not streamed, in bytes.
pub(crate) const ANSWER_LIMIT: usize = 64 * 1024 * 1024;

/// Maximum time for attempts to reach a service that was never reached: the network is down, or no
/// server runs at the address.
const UNREACHED_TIME: Duration = Duration::from_secs(30);

/// Access to one service, with the retry rules.
#[derive(Debug)]
pub(crate) struct Exchange {
    pub(crate) http: HttpClient,
    /// Signer of each attempt.
    pub(crate) authoriser: Arc<dyn Authoriser>,
    /// Delays between attempts before the response begins.
    pub(crate) connection: Backoff,
    /// Maximum number of attempts before the response begins.
    pub(crate) max_attempts: u32,
    /// Value of the setting `general.retryFetchErrors`.
    pub(crate) retry_fetch_errors: bool,
    /// True after the service, or a proxy for it, was reached once.
    pub(crate) was_reached: AtomicBool,
}

/// One request, with its retry rules.
pub(crate) struct Call<'a> {
    pub(crate) request: HttpRequest,
    /// Reader of error responses.
    pub(crate) refusals: &'a dyn RefusalReader,
    /// Name of the model, for messages.
    pub(crate) model: &'a str,
    pub(crate) max_attempts: u32,
    pub(crate) on_retry: Option<&'a RetryListener>,
    pub(crate) cancel: &'a CancellationToken,
}

impl Call<'_> {
    /// Returns the call with at most this number of attempts.
    pub(crate) fn at_most(self, attempts: u32) -> Self {
        Self { max_attempts: self.max_attempts.min(attempts), ..self }
    }

    /// Returns the call with at most the number of attempts that a request permits.
    pub(crate) fn within(self, attempts: Option<u32>) -> Self {
        match attempts {
            Some(attempts) => self.at_most(attempts),
            None => self,
        }
    }
}

impl Exchange {
    /// Sends a request; returns the response as soon as its headers have arrived with a success
    /// status.
    pub(crate) async fn open(&self, call: Call<'_>) -> Result<Response, ModelError> {
        self.attempts(&call, |request| self.send(request, call.cancel)).await
    }

    /// Sends a request; returns what `read` makes of the whole response body.
    ///
    /// # Errors
    /// The errors of the request and of `read`, without the secrets of the request.
    pub(crate) async fn ask<T>(
        &self,
        call: Call<'_>,
        read: impl FnOnce(&[u8]) -> Result<T, ModelError>,
    ) -> Result<T, ModelError> {
        let attempt = |request| async {
            let response = self.send(request, call.cancel).await?;
            let secrets = response.secrets().clone();
            Ok::<_, Error>((response.bytes(ANSWER_LIMIT).await?, secrets))
        };
        let (body, secrets) = self.attempts(&call, attempt).await?;
        read(&body).map_err(|error| failure::without_secrets(error, &secrets))
    }

    async fn send(
        &self,
        request: HttpRequest,
        cancel: &CancellationToken,
    ) -> Result<Response, Error> {
        self.http.send_signed(request, &*self.authoriser, cancel).await
    }

    async fn attempts<T, F>(
        &self,
        call: &Call<'_>,
        send: impl Fn(HttpRequest) -> F,
    ) -> Result<T, ModelError>
    where
        F: Future<Output = Result<T, Error>>,
    {
        let refusals = call.refusals;
        let rules = Retry {
            max_attempts: call.max_attempts,
            backoff: self.connection,
            cancel: call.cancel,
        };
        let outcome = retry(
            rules,
            |_attempt| send(call.request.clone()),
            |error| self.advice(call.refusals, error),
            |notice| {
                if let Some(listener) = call.on_retry {
                    listener(RetryNotice {
                        attempt: notice.attempt,
                        max_attempts: notice.max_attempts,
                        delay: notice.delay,
                        reason: failure::reason(refusals, notice.error),
                        error_type: failure::class(notice.error),
                    });
                }
            },
        )
        .await;
        if outcome.is_ok() {
            self.was_reached.store(true, Ordering::Relaxed);
        }
        outcome.map_err(|error| failure::before_answer(refusals, &error, call.model))
    }
}

impl Exchange {
    /// Returns whether to retry after a failed attempt.
    fn advice(&self, refusals: &dyn RefusalReader, error: &Error) -> RetryAdvice {
        let advice = failure::advice(refusals, error, self.retry_fetch_errors);
        if !failure::is_unreached(error) {
            self.was_reached.store(true, Ordering::Relaxed);
        }
        match advice {
            RetryAdvice::Retry { .. } if !self.was_reached.load(Ordering::Relaxed) => {
                RetryAdvice::RetryWithin(UNREACHED_TIME)
            }
            advice => advice,
        }
    }
}

/// Decodes a response of a known shape.
pub(crate) fn decode<'a, T: Deserialize<'a>>(json: &'a [u8]) -> Result<T, ModelError> {
    serde_json::from_slice(json).map_err(|error| {
        let message =
            format!("The response of the service does not have the expected form: {error}");
        ModelError::new(ModelErrorKind::Broken, message)
    })
}

/// Returns the error for a request that has no JSON form.
pub(crate) fn not_encoded(error: &serde_json::Error) -> ModelError {
    ModelError::new(ModelErrorKind::Invalid, format!("Cannot encode the request as JSON: {error}"))
}

#[cfg(test)]
mod tests;
