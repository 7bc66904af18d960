//! The one way out of the program: HTTP requests, event streams, and what to do when they fail.
//!
//! | module | what lives there |
//! |---|---|
//! | [`client`] | [`HttpClient`]: one connection pool, proxies, certificates, time limits, cancellation |
//! | [`sse`] | server-sent events, cut into payloads by a pure decoder |
//! | [`retry`] | how long to wait before the next try (pure), and the loop that waits |
//! | [`google_error`] | the error body of Google's services and what it means |
//! | [`pages`] | pages that a model names: public addresses only, redirects judged step by step |
//! | [`error`] | why a request failed, in words and in Node's error codes |
//!
//! What this crate is not: it knows no vendor's request format (that is `models`), it reads no
//! environment of the process (callers pass a look-up) and it prints nothing.

pub mod client;
pub mod error;
pub mod google_error;
pub mod pages;
pub mod retry;
pub mod sse;

pub use client::{ClientOptions, HttpClient, NoProxy, Request, Response, install_crypto_provider};
pub use error::{Error, RedirectReason, StatusError, TimeoutPhase, is_retryable_code};
pub use google_error::{GoogleError, GoogleErrorKind, QuotaReason, classify};
pub use pages::{Page, PageClient, Reach};
pub use retry::{Backoff, Cancelled, RETRY_BASE_VARIABLE, Retry, RetryAdvice, RetryNotice, retry};
pub use sse::{EventStream, ServerEvent, SseDecoder, SseError};
