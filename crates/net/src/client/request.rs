//! What is sent.

use std::sync::{Arc, Mutex, PoisonError};

use bytes::Bytes;
use futures::stream;
use http::Method;
use http::header::{CONTENT_LENGTH, HeaderMap, HeaderName, HeaderValue};
use tokio::time::Instant;
use url::Url;

/// Largest piece handed to the connection at once, in bytes, so that progress shows.
const PIECE: usize = 256 * 1024;

/// A request. Cloning it copies no body bytes.
#[derive(Debug, Clone)]
pub struct Request {
    /// The method.
    pub method: Method,
    /// The address, http or https.
    pub url: Url,
    /// Headers besides `Content-Length`, `User-Agent` (unless set here) and `Accept-Encoding`.
    pub headers: HeaderMap,
    /// The body's bytes, in pieces that are sent one after the other without being joined.
    pub body: Vec<Bytes>,
}

impl Request {
    /// A GET without headers.
    pub fn get(url: Url) -> Self {
        Self { method: Method::GET, url, headers: HeaderMap::new(), body: Vec::new() }
    }

    /// A POST of a JSON text in pieces, `Content-Type: application/json`.
    pub fn post_json(url: Url, body: Vec<Bytes>) -> Self {
        let mut headers = HeaderMap::new();
        headers.insert(http::header::CONTENT_TYPE, HeaderValue::from_static("application/json"));
        Self { method: Method::POST, url, headers, body }
    }

    /// Sets a header, replacing an earlier one.
    #[must_use]
    pub fn header(mut self, name: HeaderName, value: HeaderValue) -> Self {
        self.headers.insert(name, value);
        self
    }

    /// Size of the body in bytes.
    pub fn content_length(&self) -> u64 {
        self.body.iter().map(|piece| piece.len() as u64).sum()
    }

    /// The HTTP library's request, which tells `progress` of each piece it takes.
    pub(super) fn build(&self, progress: &SendProgress) -> reqwest::Request {
        let mut request = reqwest::Request::new(self.method.clone(), self.url.clone());
        *request.headers_mut() = self.headers.clone();
        if self.body.is_empty() {
            return request;
        }
        if let [piece] = self.body.as_slice()
            && piece.len() <= PIECE
        {
            // Known whole, so the library may send it again on a connection that went stale.
            *request.body_mut() = Some(piece.clone().into());
            return request;
        }
        // A stream has no size of its own; with the header it is not sent in chunked encoding.
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

/// The chunks, cut to at most [`PIECE`] bytes each; no bytes are copied.
fn pieces(chunks: Vec<Bytes>) -> impl Iterator<Item = Bytes> {
    chunks.into_iter().flat_map(|chunk| {
        let starts = (0..chunk.len()).step_by(PIECE);
        starts.map(move |start| chunk.slice(start..chunk.len().min(start + PIECE)))
    })
}

/// When the request last made progress on its way out.
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
        let request = Request::post_json(Url::parse("http://h/").unwrap(), chunks);
        assert_eq!(request.content_length(), PIECE as u64 + 4);
    }
}
