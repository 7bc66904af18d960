//! The one way out of the program: HTTP requests, event streams, and what to do when they fail.
//!
//! | module | what lives there |
//! |---|---|
//! | [`authoriser`] | signing requests, and renewing credentials that a service refuses |
//! | [`client`] | [`HttpClient`]: one connection pool, proxies, certificates, time limits, cancellation |
//! | [`sse`] | a pure decoder of server-sent events |
//! | [`retry`] | how long to wait before the next try (pure), and the loop that waits |
//! | [`pages`] | pages that a model names: public addresses only, redirects judged step by step |
//! | `public` | which addresses are on the public internet, and a resolver that gives no others |
//! | [`error`] | why a request failed, in words and in Node's error codes |
//!
//! What this crate is not: it knows no vendor's request format (that is `models`), it reads no
//! environment of the process (callers pass a look-up) and it prints nothing.

pub mod authoriser;
pub mod client;
pub mod error;
pub mod pages;
mod public;
pub mod retry;
pub mod sse;

pub use authoriser::{Authoriser, FixedCredentials, Renewal};
pub use client::{
    ClientOptions, EventStream, HttpClient, NoProxy, Request, Response, install_crypto_provider,
};
pub use error::{Error, RedirectReason, StatusError, TimeoutPhase, is_retryable_code};
pub use pages::{Page, PageClient, Reach};
pub use retry::{Backoff, Cancelled, RETRY_BASE_VARIABLE, Retry, RetryAdvice, RetryNotice, retry};
pub use sse::{ServerEvent, SseDecoder, SseError};
