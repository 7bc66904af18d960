//! HTTP requests.

use std::sync::{Arc, Mutex, PoisonError};

use bytes::Bytes;
use futures::stream;
use http::Method;
use http::header::{CONTENT_LENGTH, HeaderMap, HeaderName, HeaderValue};
use tokio::time::Instant;
use url::Url;

/// Maximum number of bytes that are passed to the connection in one piece, so that progress is
/// visible.
const PIECE: usize = 256 * 1024;

/// HTTP request. Cloning it copies no body bytes.
#[derive(Debug, Clone)]
pub struct HttpRequest {
    /// HTTP method.
    pub method: Method,
    /// Address with scheme `http` or `https`.
    pub url: Url,
    /// Headers, except `Content-Length`, `User-Agent` (unless set here) and `Accept-Encoding`.
    pub headers: HeaderMap,
    /// Bytes of the body, in pieces that are sent one after the other without being joined.
    pub body: Vec<Bytes>,
}

impl HttpRequest {
    /// Creates a GET request without headers.
    pub fn get(url: Url) -> Self {
        Self { method: Method::GET, url, headers: HeaderMap::new(), body: Vec::new() }
    }

    /// Creates a POST request with a JSON body in pieces and `Content-Type: application/json`.
    pub fn post_json(url: Url, body: Vec<Bytes>) -> Self {
        let mut headers = HeaderMap::new();
        headers.insert(http::header::CONTENT_TYPE, HeaderValue::from_static("application/json"));
        Self { method: Method::POST, url, headers, body }
    }

    /// Sets a header, replacing an earlier value.
    #[must_use]
    pub fn header(mut self, name: HeaderName, value: HeaderValue) -> Self {
        self.headers.insert(name, value);
        self
    }

    /// Returns the size of the body in bytes.
    pub fn content_length(&self) -> u64 {
        self.body.iter().map(|piece| piece.len() as u64).sum()
    }

    /// Converts to a request of the HTTP library, which updates `progress` when it takes a piece.
    pub(super) fn build(&self, progress: &SendProgress) -> reqwest::Request {
        let mut request = reqwest::Request::new(self.method.clone(), self.url.clone());
        *request.headers_mut() = self.headers.clone();
        if self.body.is_empty() {
            return request;
        }
        if let [piece] = self.body.as_slice()
            && piece.len() <= PIECE
        {
            // The whole body is known, so the library may send it again if a reused connection is
            // stale.
            *request.body_mut() = Some(piece.clone().into());
            return request;
        }
        // A stream has no known size; with this header the body is not sent in chunked encoding.
        request.headers_mut().insert(CONTENT_LENGTH, HeaderValue::from(self.content_length()));
        let progress = progress.clone();
        let pieces = pieces(self.body.clone()).map(move |piece| {
            progress.advance();
            Ok::<_, std::convert::Infallible>(piece)
        });
        *request.body_mut() = Some(reqwest::Body::wrap_stream(stream::iter(pieces)));
        request
    }
}

/// Splits the chunks into pieces of at most [`PIECE`] bytes each; no bytes are copied.
fn pieces(chunks: Vec<Bytes>) -> impl Iterator<Item = Bytes> {
    chunks.into_iter().flat_map(|chunk| {
        let starts = (0..chunk.len()).step_by(PIECE);
        starts.map(move |start| chunk.slice(start..chunk.len().min(start + PIECE)))
    })
}

/// Time of the last progress in sending the request.
#[derive(Debug, Clone)]
pub(super) struct SendProgress(Arc<Mutex<Instant>>);

impl SendProgress {
    pub(super) fn start() -> Self {
        Self(Arc::new(Mutex::new(Instant::now())))
    }

    pub(super) fn last(&self) -> Instant {
        *self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn advance(&self) {
        *self.0.lock().unwrap_or_else(PoisonError::into_inner) = Instant::now();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn large_chunks_are_cut_and_none_is_lost() {
        let chunks = vec![Bytes::from(vec![1; PIECE + 1]), Bytes::new(), Bytes::from(vec![2; 3])];
        let sizes: Vec<usize> = pieces(chunks.clone()).map(|piece| piece.len()).collect();
        assert_eq!(sizes, [PIECE, 1, 3]);
        let request = HttpRequest::post_json(Url::parse("http://h/").unwrap(), chunks);
        assert_eq!(request.content_length(), PIECE as u64 + 4);
    }
}
