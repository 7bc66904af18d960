//! Vendor-neutral description of an error response.

use std::time::Duration;

use pollux_net::RetryAdvice;
use pollux_protocol::{ModelErrorKind, VendorLimit};

/// Interpreted error response.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Refusal {
    /// Meaning of the error response.
    pub(crate) kind: RefusalKind,
    /// Status of the body's error object if it is one from 400 to 599, otherwise the HTTP status.
    pub(crate) status: u16,
    /// Error code of the service, for example `RESOURCE_EXHAUSTED`.
    pub(crate) code: Option<String>,
    /// Message of the service (the innermost one, if errors wrap errors), otherwise the beginning
    /// of the body.
    pub(crate) message: String,
    /// Message for the user, with the additions of the rules.
    pub(crate) shown: String,
    /// Delay before a retry that the service asks for.
    pub(crate) retry_after: Option<Duration>,
}

/// Meaning of an error response.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum RefusalKind {
    /// The credentials are not accepted.
    Auth,
    /// The credentials are valid but do not permit this request.
    Permission,
    /// The account must be verified in a browser first.
    Verification {
        /// Address of the page for the verification.
        link: Option<String>,
    },
    /// The account is suspended.
    Suspended {
        /// Address of the page for appeals.
        appeal: Option<String>,
    },
    /// The quota is used up and not renewed soon.
    Quota(QuotaReason),
    /// Too many requests: a retry after a short wait can succeed.
    RateLimited,
    /// The service is busy: a retry after a short wait can succeed.
    Busy,
    /// The model has no capacity left.
    NoCapacity,
    /// The service has an internal error.
    Server,
    /// The model does not exist, or not for this account.
    NotFound,
    /// The conversation is too long for the model.
    TooLong,
    /// The content of the request violates the service's rules.
    Filtered,
    /// The request itself is invalid.
    Invalid,
    /// Any other error.
    Other,
}

/// Reason why a quota is not renewed soon.
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
    /// Returns whether to retry: rate limits, missing capacity and server errors are retried.
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
    /// Returns the corresponding error kind for callers.
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

    /// Returns the limit that was exceeded, if the service named it.
    pub(crate) fn limit(&self) -> Option<VendorLimit> {
        match self {
            Self::RateLimited => Some(VendorLimit::PerMinute),
            Self::NoCapacity => Some(VendorLimit::Capacity),
            Self::Quota(QuotaReason::Daily) => Some(VendorLimit::PerDay),
            Self::Quota(QuotaReason::ZeroLimit) => Some(VendorLimit::NoAccess),
            Self::Quota(QuotaReason::Credits) => Some(VendorLimit::Credits),
            _ => None,
        }
    }

    /// Returns the class name that Gemini CLI gives such an error in JSON output.
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
