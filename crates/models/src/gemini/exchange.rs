//! Calls to the service, made from its methods.

use bytes::Bytes;
use pollux_protocol::{CancellationToken, ModelError, RetryListener};
use serde::Deserialize;

use super::Service;
use super::endpoint::Method;
use crate::exchange::{Call, decode};
use crate::failure::Google;

/// What is asked of a model.
pub(super) struct MethodCall<'a> {
    pub(super) method: Method,
    pub(super) model: &'a str,
    pub(super) body: Vec<Bytes>,
    pub(super) max_attempts: u32,
    pub(super) on_retry: Option<&'a RetryListener>,
    pub(super) cancel: &'a CancellationToken,
}

impl Service {
    /// The request for a method.
    pub(super) fn call<'a>(&self, call: MethodCall<'a>) -> Call<'a> {
        let request = pollux_net::Request {
            method: http::Method::POST,
            url: self.endpoint.url(call.model, call.method),
            headers: self.endpoint.headers().clone(),
            body: call.body,
        };
        let MethodCall { model, max_attempts, on_retry, cancel, .. } = call;
        Call { request, speaker: &Google, model, max_attempts, on_retry, cancel }
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
