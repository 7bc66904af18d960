//! Requests as the server records them.

use std::path::Path;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Instant;

use bytes::Bytes;
use serde_json::Value;

use crate::endpoint::Endpoint;

/// Environment variable with the folder in which every JSON request of a test run is kept, for
/// checks by other programs.
const KEPT_REQUESTS: &str = "POLLUX_TESTKIT_REQUESTS";

/// One received request.
#[derive(Debug, Clone)]
pub struct CapturedRequest {
    /// HTTP method, `POST` for all methods of the API.
    pub method: String,
    /// Path without the query, e.g. `/v1beta/models/gemini-2.5-pro:countTokens`.
    pub path: String,
    /// Query without `?`; empty if the request has no query.
    pub query: String,
    /// Headers in order, with names in lower case.
    pub headers: Vec<(String, String)>,
    /// Body as JSON; `Null` if it is not JSON.
    pub body: Value,
    /// Bytes of the body, after the HTTP framing is removed.
    pub raw: Bytes,
    /// Time at which the last byte of the request was read.
    pub at: Instant,
    /// True if the client disconnected before the answer was complete. The value was current when
    /// this copy was made.
    pub aborted: bool,
    /// Method of the API that was called; `None` for any other address.
    pub endpoint: Option<Endpoint>,
}

impl CapturedRequest {
    /// Creates a request from its parts; `target` is the request target, in origin form or (if the
    /// server is used as a proxy) in absolute form.
    pub(super) fn new(
        method: String,
        target: &str,
        headers: Vec<(String, String)>,
        raw: Bytes,
    ) -> Self {
        let (path, query) = split_target(target);
        let endpoint = Endpoint::of(path);
        Self {
            method,
            path: path.to_owned(),
            query: query.to_owned(),
            headers,
            body: serde_json::from_slice(&raw).unwrap_or(Value::Null),
            raw,
            at: Instant::now(),
            aborted: false,
            endpoint,
        }
    }

    /// Writes path and body into the folder that [`KEPT_REQUESTS`] names, if the variable is set
    /// and the body is JSON.
    pub(super) fn keep(&self) {
        static COUNT: AtomicUsize = AtomicUsize::new(0);
        let Some(folder) = std::env::var_os(KEPT_REQUESTS) else { return };
        // The tests of this crate send requests that no product sends.
        let is_own =
            std::env::var("CARGO_PKG_NAME").is_ok_and(|name| name == env!("CARGO_PKG_NAME"));
        if self.body.is_null() || is_own {
            return;
        }
        // The process id makes the name unique: several test binaries can write to the folder.
        let number = COUNT.fetch_add(1, Ordering::Relaxed);
        let file = Path::new(&folder).join(format!("{}-{number}.json", std::process::id()));
        let request = serde_json::json!({"path": self.path, "body": self.body});
        std::fs::write(file, request.to_string())
            .expect("the folder for requests can be written to");
    }

    /// Returns the first header with this name, in any case.
    pub fn header(&self, name: &str) -> Option<&str> {
        let found = self.headers.iter().find(|(key, _)| key.eq_ignore_ascii_case(name));
        found.map(|(_, value)| value.as_str())
    }

    /// Returns the model named in the path, if any.
    pub fn model(&self) -> Option<&str> {
        let (_, rest) = self.path.split_once("/models/")?;
        rest.rsplit_once(':').map(|(model, _)| model)
    }

    /// Returns the conversation: the `contents` of the body, or an empty slice.
    pub fn contents(&self) -> &[Value] {
        self.body["contents"].as_array().map_or(&[], Vec::as_slice)
    }

    /// Returns the names of the declared functions, in order.
    pub fn declared_tools(&self) -> Vec<&str> {
        let tools = self.body["tools"].as_array().into_iter().flatten();
        let declarations =
            tools.filter_map(|tool| tool["functionDeclarations"].as_array()).flatten();
        declarations.filter_map(|declaration| declaration["name"].as_str()).collect()
    }

    /// Returns the parts of the last content.
    pub fn last_parts(&self) -> &[Value] {
        let last = self.contents().last().and_then(|content| content["parts"].as_array());
        last.map_or(&[], Vec::as_slice)
    }
}

fn split_target(target: &str) -> (&str, &str) {
    let origin = match target.split_once("://") {
        Some((_, rest)) if !target.starts_with('/') => {
            rest.find('/').map_or("/", |start| &rest[start..])
        }
        _ => target,
    };
    origin.split_once('?').unwrap_or((origin, ""))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn targets_are_taken_apart() {
        let table = [
            ("/v1beta/models/m:countTokens", "/v1beta/models/m:countTokens", ""),
            ("/a?alt=sse", "/a", "alt=sse"),
            ("http://host:1/a?b", "/a", "b"),
            ("http://host", "/", ""),
            ("/a?to=http://x/y", "/a", "to=http://x/y"),
        ];
        for (target, path, query) in table {
            assert_eq!(split_target(target), (path, query), "{target}");
        }
    }

    #[test]
    fn a_request_knows_its_model_and_endpoint() {
        let target = "/v1beta/models/gemini-2.5-pro:streamGenerateContent?alt=sse";
        let headers = vec![("x-goog-api-key".to_owned(), "k".to_owned())];
        let request = CapturedRequest::new("POST".to_owned(), target, headers, Bytes::new());
        assert_eq!(request.model(), Some("gemini-2.5-pro"));
        assert_eq!(request.endpoint, Some(Endpoint::StreamGenerateContent));
        assert_eq!(request.header("X-Goog-Api-Key"), Some("k"));
        assert_eq!(request.body, Value::Null);
    }
}
