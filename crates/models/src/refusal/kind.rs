//! A refusal in neutral terms.

use std::time::Duration;

use pollux_net::RetryAdvice;
use pollux_protocol::ModelErrorKind;

/// A refused request, understood.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Refusal {
    /// Its meaning.
    pub(crate) kind: RefusalKind,
    /// Status of the body's error object if it is one from 400 to 599, else the HTTP status.
    pub(crate) status: u16,
    /// The service's own word for the error, for example `RESOURCE_EXHAUSTED`.
    pub(crate) code: Option<String>,
    /// The service's own message (the innermost one, where errors wrap errors), else the beginning of
    /// the body.
    pub(crate) message: String,
    /// The message with what the rules add to it, for people.
    pub(crate) shown: String,
    /// Time after which the service wants to be asked again.
    pub(crate) retry_after: Option<Duration>,
}

/// Meaning of a refusal.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum RefusalKind {
    /// The credentials are not accepted.
    Auth,
    /// The credentials are known, and this is not allowed to them.
    Permission,
    /// The account must be verified in a browser first.
    Verification {
        /// Address of the page for that.
        link: Option<String>,
    },
    /// The account is suspended.
    Suspended {
        /// Address of the page for appeals.
        appeal: Option<String>,
    },
    /// The quota does not come back soon.
    Quota(QuotaReason),
    /// Too many requests: a short wait helps.
    RateLimited,
    /// The service is busy: a short wait helps.
    Busy,
    /// The model has no capacity left.
    NoCapacity,
    /// The service is broken.
    Server,
    /// There is no such model, or not for this account.
    NotFound,
    /// The conversation is longer than the model takes.
    TooLong,
    /// The content of the request is against the service's rules.
    Filtered,
    /// The request itself is wrong.
    Invalid,
    /// Anything else.
    Other,
}

/// Reason why a quota does not come back soon.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum QuotaReason {
    /// The account's limit for this model is zero.
    ZeroLimit,
    /// The day's quota is used up.
    Daily,
    /// The service asks for a wait of more than five minutes.
    LongDelay,
    /// The account's credits are used up.
    Credits,
    /// A rate limit for which the service names no delay.
    RateLimit,
    /// The quota is used up.
    Exhausted,
}

impl Refusal {
    /// Whether to ask again: quota that comes back, lost capacity and server errors are tried again.
    pub(crate) fn advice(&self) -> RetryAdvice {
        match self.kind {
            RefusalKind::RateLimited
            | RefusalKind::Busy
            | RefusalKind::NoCapacity
            | RefusalKind::Server => RetryAdvice::Retry { after: self.retry_after },
            _ => RetryAdvice::Fail,
        }
    }
}

impl RefusalKind {
    /// The meaning for callers.
    pub(crate) fn error_kind(&self) -> ModelErrorKind {
        match self {
            Self::Auth => ModelErrorKind::Auth,
            Self::Permission | Self::Verification { .. } | Self::Suspended { .. } => {
                ModelErrorKind::Permission
            }
            Self::Quota(_) => ModelErrorKind::Quota,
            Self::RateLimited => ModelErrorKind::RateLimited,
            Self::Busy | Self::NoCapacity | Self::Server => ModelErrorKind::Overloaded,
            Self::NotFound => ModelErrorKind::NotFound,
            Self::TooLong => ModelErrorKind::TooLong,
            Self::Filtered => ModelErrorKind::Filtered,
            Self::Invalid => ModelErrorKind::Invalid,
            Self::Other => ModelErrorKind::Other,
        }
    }

    /// The class that Gemini CLI gives such an error in JSON output.
    pub(crate) fn type_name(&self) -> &'static str {
        match self {
            Self::NotFound => "ModelNotFoundError",
            Self::Verification { .. } => "ValidationRequiredError",
            Self::Suspended { .. } => "AccountSuspendedError",
            Self::Quota(_) | Self::NoCapacity => "TerminalQuotaError",
            Self::RateLimited | Self::Busy => "RetryableQuotaError",
            Self::Auth
            | Self::Permission
            | Self::Server
            | Self::TooLong
            | Self::Filtered
            | Self::Invalid
            | Self::Other => "ApiError",
        }
    }
}
