//! The error body of Google's services and what it means for the next request.
//!
//! All of it is pure and takes anything: a body that is no JSON, or JSON of another shape, still
//! gets a kind, from the status alone. The order of the rules is Gemini CLI 0.61's.

use std::collections::BTreeMap;
use std::time::Duration;

use crate::retry::RetryAdvice;

mod parse;
mod rules;

pub use parse::parse_duration;

/// Longest message kept, in bytes; a gateway's HTML page is no message.
const MAX_MESSAGE_BYTES: usize = 4096;

/// A refused request, understood.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
#[error("{message}")]
pub struct GoogleError {
    /// What it means.
    pub kind: GoogleErrorKind,
    /// `error.code` of the body if it is 400 to 599, else the HTTP status.
    pub code: u16,
    /// `error.status` of the body, for example `RESOURCE_EXHAUSTED`.
    pub status: Option<String>,
    /// `error.message` of the body (the innermost one, where errors wrap errors), else the
    /// beginning of the body. Rules may have appended advice.
    pub message: String,
    /// `error.details` of the body.
    pub details: Vec<ErrorDetail>,
}

/// What a refusal means.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum GoogleErrorKind {
    /// 404: there is no such model, or not for this account.
    ModelNotFound,
    /// 403: the account must be verified in a browser first.
    ValidationRequired {
        /// Where to verify.
        link: Option<String>,
        /// Where it is explained.
        learn_more: Option<String>,
    },
    /// 403: the account is suspended.
    AccountSuspended {
        /// Where to appeal.
        appeal_url: Option<String>,
    },
    /// The quota does not come back soon.
    TerminalQuota {
        /// Which quota, or why not.
        reason: QuotaReason,
    },
    /// The quota comes back soon, or the service is busy (429, 499, 503).
    RetryableQuota {
        /// When, if the service says so.
        delay: Option<Duration>,
    },
    /// 401: the credentials are not accepted.
    Auth,
    /// 403 without a more precise meaning.
    Forbidden,
    /// 400: the request itself is wrong.
    BadRequest,
    /// 5xx without a more precise meaning.
    Server,
    /// Anything else.
    Other,
}

/// Why a quota is terminal.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum QuotaReason {
    /// The account's limit for this model is zero.
    ZeroLimit,
    /// The day's quota is used up.
    Daily,
    /// The service asks for a wait of more than five minutes.
    LongDelay(Duration),
    /// The model has no capacity left. Such errors are tried again silently.
    Capacity,
    /// The account's credits are used up.
    Credits,
    /// A rate limit for which the service names no delay.
    RateLimit,
    /// The quota is used up.
    Exhausted,
}

/// One entry of `error.details`, by its `@type`.
#[derive(Debug, Clone, PartialEq)]
pub enum ErrorDetail {
    /// `google.rpc.ErrorInfo`.
    ErrorInfo {
        /// Machine-readable reason, for example `RATE_LIMIT_EXCEEDED`.
        reason: String,
        /// The service that speaks, for example `cloudcode-pa.googleapis.com`.
        domain: String,
        /// Further facts; values that are no strings are written as JSON.
        metadata: BTreeMap<String, String>,
    },
    /// `google.rpc.RetryInfo`.
    RetryInfo {
        /// The delay as written, for example `34.07s`.
        text: String,
        /// The delay, if it can be read.
        delay: Option<Duration>,
    },
    /// `google.rpc.QuotaFailure`: the quotas' ids.
    QuotaFailure {
        /// `quotaId` of each violation.
        quota_ids: Vec<String>,
    },
    /// `google.rpc.Help`: description and address of each link.
    Help {
        /// Description and address.
        links: Vec<(String, String)>,
    },
    /// Any other type.
    Other {
        /// The `@type`, trimmed; may be empty.
        type_name: String,
    },
}

/// Understands a refusal from its HTTP status and body.
///
/// For an error inside a stream that began with 200, pass the body's code as status.
pub fn classify(status: u16, body: &[u8]) -> GoogleError {
    let text = String::from_utf8_lossy(body);
    let parsed = parse::parse(&text);
    let code = parsed.as_ref().and_then(|parsed| parsed.code).unwrap_or(status);
    let (status, message, details) = match parsed {
        Some(parsed) => (parsed.status, parsed.message, parsed.details),
        None => (None, text.trim().to_owned(), Vec::new()),
    };
    let mut error = GoogleError {
        kind: GoogleErrorKind::Other,
        code,
        status,
        message: shortened(message),
        details,
    };
    rules::apply(&mut error);
    error
}

impl GoogleError {
    /// What the retry loop should do when there is no other model to fall back to: quota that
    /// comes back, lost capacity and server errors are tried again.
    pub fn advice(&self) -> RetryAdvice {
        match &self.kind {
            GoogleErrorKind::RetryableQuota { delay } => RetryAdvice::Retry { after: *delay },
            GoogleErrorKind::Server
            | GoogleErrorKind::TerminalQuota { reason: QuotaReason::Capacity } => {
                RetryAdvice::Retry { after: self.retry_delay() }
            }
            _ => RetryAdvice::Fail,
        }
    }

    /// The delay that the body's `RetryInfo` asks for.
    pub fn retry_delay(&self) -> Option<Duration> {
        self.details.iter().find_map(|detail| match detail {
            ErrorDetail::RetryInfo { delay, .. } => *delay,
            _ => None,
        })
    }

    /// The reason of the body's first `ErrorInfo`.
    pub fn reason(&self) -> Option<&str> {
        self.details.iter().find_map(|detail| match detail {
            ErrorDetail::ErrorInfo { reason, .. } => Some(reason.as_str()),
            _ => None,
        })
    }
}

fn shortened(mut message: String) -> String {
    if message.len() > MAX_MESSAGE_BYTES {
        let mut end = MAX_MESSAGE_BYTES;
        while !message.is_char_boundary(end) {
            end -= 1;
        }
        message.truncate(end);
        message.push('…');
    }
    message
}

#[cfg(test)]
mod tests;
