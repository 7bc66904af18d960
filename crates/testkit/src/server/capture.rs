//! What the server remembers of a request.

use std::path::Path;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Instant;

use bytes::Bytes;
use serde_json::Value;

use crate::endpoint::Endpoint;

/// The folder in which every JSON request of a test run is kept, for checks by other programs.
const KEPT_REQUESTS: &str = "POLLUX_TESTKIT_REQUESTS";

/// One request, as it came.
#[derive(Debug, Clone)]
pub struct CapturedRequest {
    /// The HTTP method, `POST` for all of the API.
    pub method: String,
    /// The path without the query, e.g. `/v1beta/models/gemini-2.5-pro:countTokens`.
    pub path: String,
    /// The query without `?`; empty when there is none.
    pub query: String,
    /// The headers in order, names in lower case.
    pub headers: Vec<(String, String)>,
    /// The body as JSON; `Null` when it is none.
    pub body: Value,
    /// The body's bytes, after HTTP's own framing is taken off.
    pub raw: Bytes,
    /// When the last byte of the request was read.
    pub at: Instant,
    /// Whether the client went away before the answer was complete, as known when this copy was
    /// taken.
    pub aborted: bool,
    /// Which of the API's methods was called; `None` for any other address.
    pub endpoint: Option<Endpoint>,
}

impl CapturedRequest {
    /// Makes a request from its parts; `target` is the request target, in origin form or (when
    /// the server is used as a proxy) absolute form.
    pub(super) fn new(
        method: String,
        target: &str,
        headers: Vec<(String, String)>,
        raw: Bytes,
    ) -> Self {
        let (path, query) = split_target(target);
        let endpoint = path.rsplit_once(':').and_then(|(_, action)| Endpoint::of(action));
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

    /// Writes path and body into the folder that [`KEPT_REQUESTS`] names, if it does and there is a body.
    pub(super) fn keep(&self) {
        static COUNT: AtomicUsize = AtomicUsize::new(0);
        let Some(folder) = std::env::var_os(KEPT_REQUESTS) else { return };
        if self.body.is_null() {
            return;
        }
        // Several test binaries may write there.
        let number = COUNT.fetch_add(1, Ordering::Relaxed);
        let file = Path::new(&folder).join(format!("{}-{number}.json", std::process::id()));
        let request = serde_json::json!({"path": self.path, "body": self.body});
        std::fs::write(file, request.to_string())
            .expect("the folder for requests can be written to");
    }

    /// The first header of this name, whatever its case.
    pub fn header(&self, name: &str) -> Option<&str> {
        let found = self.headers.iter().find(|(key, _)| key.eq_ignore_ascii_case(name));
        found.map(|(_, value)| value.as_str())
    }

    /// The model named in the path; `None` when the path names none.
    pub fn model(&self) -> Option<&str> {
        let (_, rest) = self.path.split_once("/models/")?;
        rest.rsplit_once(':').map(|(model, _)| model)
    }

    /// The conversation that was sent: the body's `contents`, empty when it has none.
    pub fn contents(&self) -> &[Value] {
        self.body["contents"].as_array().map_or(&[], Vec::as_slice)
    }

    /// The names of the declared functions, in order.
    pub fn declared_tools(&self) -> Vec<&str> {
        let tools = self.body["tools"].as_array().into_iter().flatten();
        let declarations =
            tools.filter_map(|tool| tool["functionDeclarations"].as_array()).flatten();
        declarations.filter_map(|declaration| declaration["name"].as_str()).collect()
    }

    /// The parts of the last content.
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
