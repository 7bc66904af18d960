//! The service and calls of its methods.

use std::sync::Arc;

use bytes::Bytes;
use pollux_protocol::{CancellationToken, ModelError, RetryListener};
use serde::Deserialize;

use super::code_assist::{self, CodeAssist};
use super::refusal::GoogleRefusals;
use super::request::Encodings;
use crate::dialect::Connection;
use crate::exchange::{Call, decode};

/// State that is shared by all models of the service.
#[derive(Debug)]
pub(super) struct Service {
    pub(super) connection: Connection,
    pub(super) refusals: Arc<GoogleRefusals>,
    pub(super) encodings: Encodings,
    /// The wrapping of requests to Code Assist, if this is the service.
    pub(super) code_assist: Option<CodeAssist>,
}

/// Method of the service.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Method {
    GenerateContent,
    StreamGenerateContent,
    CountTokens,
    BatchEmbedContents,
}

impl Method {
    pub(super) fn as_str(self) -> &'static str {
        match self {
            Self::GenerateContent => "generateContent",
            Self::StreamGenerateContent => "streamGenerateContent",
            Self::CountTokens => "countTokens",
            Self::BatchEmbedContents => "batchEmbedContents",
        }
    }

    /// Returns the path of this method for a model. Models are in `folder`, unless their name
    /// contains another one.
    fn path(self, folder: &str, model: &str) -> String {
        let method = self.as_str();
        if folder.is_empty() || model.starts_with("tunedModels/") {
            return format!("{model}:{method}");
        }
        format!("{folder}/{model}:{method}")
    }
}

/// Call of a method.
pub(super) struct MethodCall<'a> {
    pub(super) method: Method,
    pub(super) model: &'a str,
    pub(super) body: Vec<Bytes>,
    /// Id of the prompt that the request belongs to.
    pub(super) prompt: &'a str,
    pub(super) max_attempts: u32,
    pub(super) on_retry: Option<&'a RetryListener>,
    pub(super) cancel: &'a CancellationToken,
}

impl Service {
    /// Creates the request for a method.
    ///
    /// # Errors
    /// Those of setting up Code Assist, which happens with the first request.
    pub(super) async fn call<'a>(&'a self, call: MethodCall<'a>) -> Result<Call<'a>, ModelError> {
        let MethodCall { method, model, body, prompt, max_attempts, on_retry, cancel } = call;
        let (path, body) = if let Some(code_assist) = &self.code_assist {
            let project = Box::pin(code_assist.project(self, cancel)).await?;
            let body = code_assist::wrap(method, model, project.as_deref(), prompt, body);
            (format!(":{}", method.as_str()), body)
        } else {
            let folder = self.connection.vendor.models_path.as_deref().unwrap_or_default();
            (method.path(folder, model), body)
        };
        let mut request = self.connection.endpoint.request(http::Method::POST, &path, body);
        if method == Method::StreamGenerateContent {
            request.url.query_pairs_mut().append_pair("alt", "sse");
        }
        Ok(Call { request, refusals: &*self.refusals, model, max_attempts, on_retry, cancel })
    }
}

/// Decodes the response of `countTokens`.
pub(super) fn decode_total(json: &[u8]) -> Result<u64, ModelError> {
    #[derive(Deserialize)]
    #[serde(rename_all = "camelCase")]
    struct Count {
        total_tokens: Option<u64>,
    }
    let count: Count = decode(json)?;
    // The service omits the field if it is zero.
    Ok(count.total_tokens.unwrap_or_default())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn paths() {
        let method = Method::GenerateContent;
        for (folder, model, expected) in [
            ("models", "m", "models/m:generateContent"),
            ("models", "tunedModels/m", "tunedModels/m:generateContent"),
            ("models", "vendor/m", "models/vendor/m:generateContent"),
            ("publishers/google/models", "m", "publishers/google/models/m:generateContent"),
            ("", "m", "m:generateContent"),
        ] {
            assert_eq!(method.path(folder, model), expected);
        }
    }
}
