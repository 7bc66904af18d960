//! All network access of the program: HTTP requests, event streams, and retries after failures.
//!
//! | module | contents |
//! |---|---|
//! | [`authoriser`] | signing of requests, and renewal of credentials that a service rejects |
//! | [`credentials`] | [`CredentialStore`]: files of tokens, shared with other processes |
//! | [`google`] | Google credentials and the tokens that they give |
//! | [`client`] | [`HttpClient`]: connections, proxies, certificates, time limits, cancellation |
//! | [`sse`] | a pure decoder of server-sent events |
//! | [`retry`] | computation of the delay before the next attempt (pure), and the loop that waits |
//! | [`pages`] | pages requested by a model: public addresses only, each redirect checked |
//! | `public` | test for public addresses, and a resolver that returns only these |
//! | [`error`] | errors of requests, with messages and with Node's error codes |
//!
//! Out of scope: this crate knows no vendor's request format (see `models`), reads no environment
//! variables (callers pass a lookup function) and prints nothing.

#![cfg_attr(test, allow(clippy::disallowed_methods, clippy::disallowed_types))]

pub mod authoriser;
pub mod client;
pub mod credentials;
pub mod error;
pub mod google;
pub mod pages;
mod public;
pub mod retry;
pub mod sse;

pub use authoriser::{Authoriser, FixedCredentials, Renewal};
pub use client::{
    ClientCertificate, ClientOptions, EventStream, HttpClient, HttpRequest, NoProxy, RequestTrace,
    Response, Secrets, WireRecorder, install_crypto_provider,
};
pub use credentials::{
    CredentialError, CredentialFormat, CredentialStore, RefreshLock, SecretStore,
    StoredCredentials, StoredToken,
};
pub use error::{Error, RedirectReason, StatusError, TimeoutPhase, is_loopback, is_retryable_code};
pub use pages::{Page, PageClient, Reach};
pub use retry::{
    Backoff, Cancelled, FailedAttempt, RETRY_BASE_VARIABLE, Retry, RetryAdvice, retry,
};
pub use sse::{ServerEvent, SseDecoder, SseError};
