//! Recording of requests and their responses in a folder, for bug reports (`--record-wire`).
//!
//! Each attempt of a request has its own folder, whose name begins with the time:
//!
//! | file | content |
//! |---|---|
//! | `request.json` | method, address, headers, time, size of the body |
//! | `request.body` | the body, if it is JSON |
//! | `response.json` | status, headers, milliseconds since the start; absent without a response |
//! | `response.body` | the body, decompressed |
//! | `pieces.jsonl` | a line for each piece of the response's body, with its size and time; then the end |
//!
//! Secrets are left out by allow-lists: of other headers and query parameters, only the names are
//! written. Their values are also overwritten with `*` wherever they occur in a body.

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Instant;

use http::header::{CONTENT_TYPE, HeaderMap};
use http::{HeaderName, StatusCode};
use jiff::Timestamp;
use pollux_fs::{Spool, WriteOptions, write_atomic};
use serde_json::{Value, json};
use url::Url;

use super::request::HttpRequest;
use super::secrets::{Secrets, is_public_parameter};
use crate::error::Error;

/// Maximum number of recorded bytes of one body. The rest is left out.
const BODY_LIMIT: u64 = 64 << 20;

/// Number of recorded bytes of bodies after which a recorder records no further request.
const TOTAL_LIMIT: u64 = 1 << 30;

/// File in the folder of the recording that says that [`TOTAL_LIMIT`] was reached.
const FULL: &str = "full.txt";

/// Text in place of a value that is left out.
const REMOVED: &str = "(removed)";

/// Headers that are written with their values, of requests and of responses.
const KEPT_HEADERS: [HeaderName; 10] = [
    http::header::ACCEPT,
    http::header::CONTENT_ENCODING,
    http::header::CONTENT_LENGTH,
    http::header::CONTENT_TYPE,
    http::header::DATE,
    http::header::RETRY_AFTER,
    http::header::SERVER,
    http::header::TRANSFER_ENCODING,
    http::header::USER_AGENT,
    http::header::VIA,
];

/// Headers of the vendors that are written with their values.
const KEPT_VENDOR_HEADERS: [&str; 9] = [
    "anthropic-beta",
    "anthropic-version",
    "openai-beta",
    "openai-processing-ms",
    "openai-version",
    "request-id",
    "retry-after-ms",
    "x-request-id",
    "x-should-retry",
];

/// Beginnings of the names of more such headers.
const KEPT_PREFIXES: [&str; 2] = ["anthropic-ratelimit-", "x-ratelimit-"];

/// Number of requests that this process has recorded. Several sessions can share a folder.
static COUNT: AtomicU64 = AtomicU64::new(0);

/// Recorder of requests. Clones record into the same folder.
#[derive(Debug, Clone)]
pub struct WireRecorder(Arc<Recorder>);

#[derive(Debug)]
struct Recorder {
    folder: PathBuf,
    /// Recorded bytes of bodies.
    recorded: AtomicU64,
}

impl WireRecorder {
    /// Creates a recorder that writes into `folder`, which is created with the first request.
    pub fn new(folder: PathBuf) -> Self {
        Self(Arc::new(Recorder { folder, recorded: AtomicU64::new(0) }))
    }

    /// Records a request that is about to be sent. `None` after [`TOTAL_LIMIT`] bytes.
    ///
    /// # Errors
    /// [`Error::InvalidOptions`] if the folder cannot be written to.
    pub(super) fn start(
        &self,
        request: &HttpRequest,
    ) -> Result<Option<Box<RecordedExchange>>, Error> {
        let not_recorded = |error: pollux_fs::Error| {
            Error::InvalidOptions(format!(
                "The request cannot be recorded (--record-wire): {error}"
            ))
        };
        let Recorder { folder, recorded } = &*self.0;
        if recorded.load(Ordering::Relaxed) >= TOTAL_LIMIT {
            let text = "The recording has 1 GiB. Later requests were not recorded.\n";
            let full = write_atomic(&folder.join(FULL), text.as_bytes(), &WriteOptions::private());
            return full.map(|_| None).map_err(not_recorded);
        }
        let number = COUNT.fetch_add(1, Ordering::Relaxed) + 1;
        let now = Timestamp::now();
        let name =
            format!("{}-{}-{number:04}", now.strftime("%Y%m%dT%H%M%S%3fZ"), std::process::id());
        RecordedExchange::start(self.clone(), folder.join(name), request, now)
            .map(|recorded| Some(Box::new(recorded)))
            .map_err(not_recorded)
    }
}

/// Recording of one attempt of a request. Dropping it ends the recording.
///
/// After the start, a failure to write ends the recording, not the request.
#[derive(Debug)]
pub(super) struct RecordedExchange {
    recorder: WireRecorder,
    folder: PathBuf,
    started: Instant,
    /// Values that must not be written.
    secrets: Secrets,
    body: Option<MaskedFile>,
    /// Times of the pieces of the body; `None` after the end.
    pieces: Option<Spool>,
}

impl RecordedExchange {
    fn start(
        recorder: WireRecorder,
        folder: PathBuf,
        request: &HttpRequest,
        now: Timestamp,
    ) -> Result<Self, pollux_fs::Error> {
        let mut secrets = Secrets::default();
        let is_json = has_json(&request.headers);
        let description = json!({
            "method": request.method.as_str(),
            "url": shown_address(&request.url, &mut secrets),
            "headers": shown_headers(&request.headers, &mut secrets),
            "time": now.to_string(),
            "bodyBytes": request.content_length(),
            "bodyRecorded": is_json,
        });
        write_json(&folder.join("request.json"), &description)?;
        if is_json {
            let mut body = MaskedFile::create(&folder.join("request.body"), secrets.clone())?;
            for piece in &request.body {
                body.write(piece)?;
            }
            recorder.count_bytes(body.finish()?);
        }
        let pieces = Some(Spool::create(&folder.join("pieces.jsonl"))?);
        Ok(Self { recorder, folder, started: Instant::now(), secrets, body: None, pieces })
    }

    /// Records the head of the response.
    pub(super) fn answered(&mut self, status: StatusCode, headers: &HeaderMap) {
        // Cookies and the like of a response are secrets, too.
        let mut secrets = std::mem::take(&mut self.secrets);
        let description = json!({
            "status": status.as_u16(),
            "headers": shown_headers(headers, &mut secrets),
            "ms": self.milliseconds(),
        });
        let body = write_json(&self.folder.join("response.json"), &description)
            .and_then(|()| MaskedFile::create(&self.folder.join("response.body"), secrets));
        self.body = body.ok();
    }

    /// Records a piece of the body.
    pub(super) fn received(&mut self, piece: &[u8]) {
        let line = json!({ "ms": self.milliseconds(), "bytes": piece.len() });
        let is_written = self.body.as_mut().is_some_and(|body| body.write(piece).is_ok());
        if is_written {
            self.line(&line);
        } else {
            self.pieces = None;
        }
    }

    /// Records the end: `Ok` if the body is complete.
    pub(super) fn ended(&mut self, outcome: Result<(), &Error>) {
        let ms = self.milliseconds();
        match outcome {
            Ok(()) => self.end(&json!({ "ms": ms, "end": "complete" })),
            Err(Error::Cancelled) => self.end(&json!({ "ms": ms, "end": "cancelled" })),
            Err(error) => {
                self.end(&json!({ "ms": ms, "end": "failed", "cause": error.to_string() }));
            }
        }
    }

    fn end(&mut self, line: &Value) {
        if let Some(body) = self.body.take() {
            self.recorder.count_bytes(body.finish().unwrap_or_default());
        }
        self.line(line);
        self.pieces = None;
    }

    fn line(&mut self, line: &Value) {
        if let Some(pieces) = &mut self.pieces
            && pieces.write(format!("{line}\n").as_bytes()).is_err()
        {
            self.pieces = None;
        }
    }

    fn milliseconds(&self) -> u64 {
        u64::try_from(self.started.elapsed().as_millis()).unwrap_or(u64::MAX)
    }
}

impl Drop for RecordedExchange {
    fn drop(&mut self) {
        if self.pieces.is_some() {
            // A reader that has what it needs also drops the response.
            self.end(&json!({ "ms": self.milliseconds(), "end": "closed" }));
        }
    }
}

impl WireRecorder {
    fn count_bytes(&self, bytes: u64) {
        self.0.recorded.fetch_add(bytes, Ordering::Relaxed);
    }
}

/// File in which secrets are overwritten with `*`, so that all sizes stay the same.
#[derive(Debug)]
struct MaskedFile {
    file: Spool,
    secrets: Secrets,
    /// Bytes that are not written yet, because they may be the beginning of a secret.
    pending: Vec<u8>,
    /// Number of bytes of [`BODY_LIMIT`] that are left.
    room: u64,
}

impl MaskedFile {
    fn create(path: &Path, secrets: Secrets) -> Result<Self, pollux_fs::Error> {
        let file = Spool::create(path)?;
        Ok(Self { file, secrets, pending: Vec::new(), room: BODY_LIMIT })
    }

    fn write(&mut self, bytes: &[u8]) -> Result<(), pollux_fs::Error> {
        let taken = usize::try_from(self.room).unwrap_or(usize::MAX).min(bytes.len());
        self.room -= taken as u64;
        self.pending.extend_from_slice(&bytes[..taken]);
        self.secrets.overwrite(&mut self.pending);
        let held = self.secrets.longest().saturating_sub(1);
        let ready = self.pending.len().saturating_sub(held);
        self.file.write(&self.pending[..ready])?;
        self.pending.drain(..ready);
        Ok(())
    }

    /// Writes the rest; returns the size of the file.
    fn finish(mut self) -> Result<u64, pollux_fs::Error> {
        self.file.write(&self.pending)?;
        Ok(self.file.written())
    }
}

fn write_json(path: &Path, value: &Value) -> Result<(), pollux_fs::Error> {
    Spool::create(path)?.write(format!("{value:#}\n").as_bytes())
}

/// Returns true if the headers say that the body is JSON. A form can contain credentials.
fn has_json(headers: &HeaderMap) -> bool {
    let media_type = headers.get(CONTENT_TYPE).and_then(|value| value.to_str().ok());
    media_type.is_some_and(|value| value.trim_start().starts_with("application/json"))
}

/// Returns the headers as pairs of name and value. Adds the values that are left out to `secrets`.
fn shown_headers(headers: &HeaderMap, secrets: &mut Secrets) -> Value {
    let pairs = headers.iter().map(|(name, value)| {
        if is_kept(name) {
            return json!([name.as_str(), String::from_utf8_lossy(value.as_bytes())]);
        }
        secrets.add_header(value);
        json!([name.as_str(), REMOVED])
    });
    pairs.collect()
}

fn is_kept(name: &HeaderName) -> bool {
    KEPT_HEADERS.contains(name)
        || KEPT_VENDOR_HEADERS.contains(&name.as_str())
        || KEPT_PREFIXES.iter().any(|prefix| name.as_str().starts_with(prefix))
}

/// Returns the address without user, password and fragment. Adds the values of parameters that are
/// left out to `secrets`.
fn shown_address(url: &Url, secrets: &mut Secrets) -> String {
    let mut shown = url.clone();
    secrets.add_address(url);
    // Both fail only for addresses without a host, which have no credentials either.
    shown.set_username("").and_then(|()| shown.set_password(None)).unwrap_or_default();
    shown.set_fragment(None);
    shown.set_query(None);
    for (name, value) in url.query_pairs() {
        let value = if is_public_parameter(&name) { &value } else { REMOVED };
        shown.query_pairs_mut().append_pair(&name, value);
    }
    shown.into()
}

#[cfg(test)]
mod tests;
