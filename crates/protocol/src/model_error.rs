//! Failures of model calls.

use crate::bounded::bounded;

/// Reason why a stream is unusable although the connection worked.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum InvalidStream {
    /// The stream ended without a finish reason.
    NoFinishReason,
    /// The model made a malformed call.
    MalformedFunctionCall,
    /// The model made a call although no tools were offered.
    UnexpectedToolCall,
    /// There is no text, because the token limit was reached.
    MaxTokensExceeded,
    /// There is no text, because safety rules blocked it.
    SafetyBlocked,
    /// There is no text, because it was blocked as a recitation.
    RecitationBlocked,
    /// There is no text, because another policy blocked it.
    OtherBlocked,
    /// There are thoughts, but no answer.
    ThinkingOnlyResponse,
    /// The answer is empty.
    NoResponseText,
}

impl InvalidStream {
    /// Returns the code used in JSON output and telemetry.
    pub fn code(self) -> &'static str {
        match self {
            Self::NoFinishReason => "NO_FINISH_REASON",
            Self::MalformedFunctionCall => "MALFORMED_FUNCTION_CALL",
            Self::UnexpectedToolCall => "UNEXPECTED_TOOL_CALL",
            Self::MaxTokensExceeded => "MAX_TOKENS_EXCEEDED",
            Self::SafetyBlocked => "SAFETY_BLOCKED",
            Self::RecitationBlocked => "RECITATION_BLOCKED",
            Self::OtherBlocked => "OTHER_BLOCKED",
            Self::ThinkingOnlyResponse => "THINKING_ONLY_RESPONSE",
            Self::NoResponseText => "NO_RESPONSE_TEXT",
        }
    }

    /// Returns the sentence that callers of Gemini CLI match on.
    pub fn message(self) -> &'static str {
        match self {
            Self::MaxTokensExceeded => {
                "Model response was truncated because it exceeded the token limit. Try using /compress to free up context space."
            }
            Self::SafetyBlocked => "The model response was blocked due to safety settings.",
            Self::RecitationBlocked => {
                "The model response was blocked due to recitation/copyright filters."
            }
            Self::OtherBlocked => "The model response was blocked due to other policy settings.",
            Self::ThinkingOnlyResponse => {
                "The model returned reasoning thoughts but no final response text. If your context window is near capacity, try using /compress."
            }
            Self::NoResponseText => {
                "The model returned an empty response with no text or thoughts. This may be a transient API issue; please try again."
            }
            Self::NoFinishReason => "Model stream ended without a finish reason.",
            Self::MalformedFunctionCall => "Model stream ended with malformed function call.",
            Self::UnexpectedToolCall => "Model stream ended with unexpected tool call.",
        }
    }
}

/// Meaning of a failed model call for the caller.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum ModelErrorKind {
    /// The credentials are missing or wrong.
    Auth,
    /// The credentials, or the account that they belong to, do not permit the request.
    Permission,
    /// The quota is used up; a short wait does not help.
    Quota,
    /// The vendor limited the rate on all attempts.
    RateLimited,
    /// The vendor was overloaded or failed on all attempts.
    Overloaded,
    /// The request itself is invalid.
    Invalid,
    /// The conversation is longer than the model accepts.
    TooLong,
    /// The vendor refuses the content of the request.
    Filtered,
    /// There is no such model.
    NotFound,
    /// The vendor could not be reached.
    Network,
    /// The answer ended early or could not be decoded.
    Broken,
    /// The answer was received but cannot be used.
    Unusable(InvalidStream),
    /// The caller cancelled.
    Cancelled,
    /// A recorded model has no more answers, or the request differs from the recorded one.
    Replay,
    /// The model settings are wrong.
    Config,
    /// A budget limit was reached: no request was sent.
    Budget,
    /// Any other failure.
    Other,
}

/// Limit of a vendor that a request exceeded. The strings are those of JSON output.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum VendorLimit {
    /// Requests or tokens per minute, or over another short time.
    PerMinute,
    /// Requests or tokens per day.
    PerDay,
    /// The account has no access to the model: its quota is zero.
    NoAccess,
    /// The account's credits or its budget.
    Credits,
    /// The vendor's own capacity for the model.
    Capacity,
}

impl VendorLimit {
    /// Returns the string of JSON output.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::PerMinute => "per_minute",
            Self::PerDay => "per_day",
            Self::NoAccess => "no_access",
            Self::Credits => "credits",
            Self::Capacity => "capacity",
        }
    }

    /// Returns a description for the user, as a part of a sentence.
    pub fn describe(self) -> &'static str {
        match self {
            Self::PerMinute => "the quota per minute is used up",
            Self::PerDay => "the daily quota is used up",
            Self::NoAccess => "the quota for this model is zero",
            Self::Credits => "the credits are used up",
            Self::Capacity => "the service has no capacity left for this model",
        }
    }
}

/// Maximum length of an error message, in bytes: it may quote a vendor's answer.
const LONGEST_MESSAGE: usize = 8 * 1024;

/// Refusal of a vendor, in its original form.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct VendorRefusal {
    /// HTTP status.
    pub status: u16,
    /// Error code of the vendor, such as `RESOURCE_EXHAUSTED`.
    pub code: Option<String>,
    /// Message of the vendor, unchanged: not safe to print on a terminal.
    pub message: String,
}

/// Error of a model call.
#[derive(Debug, Clone, thiserror::Error)]
#[error("{message}")]
pub struct ModelError {
    /// Meaning of the failure.
    pub kind: ModelErrorKind,
    /// Text for the user: what happened and, if known, the remedy.
    pub message: String,
    /// The vendor's refusal, if it answered with one.
    pub refusal: Option<VendorRefusal>,
    /// Name of the error's class in the JSON output of Gemini CLI, such as `ApiError`.
    pub type_name: &'static str,
    /// True if the stream broke and another attempt may help.
    pub retryable: bool,
    /// Limit of the vendor that the request exceeded, if the vendor named it.
    pub limit: Option<VendorLimit>,
}

impl ModelError {
    /// Creates an error without a refusal of the vendor.
    pub fn new(kind: ModelErrorKind, message: impl Into<String>) -> Self {
        let type_name = match kind {
            ModelErrorKind::Unusable(_) => "InvalidStreamError",
            ModelErrorKind::Auth => "FatalAuthenticationError",
            ModelErrorKind::Cancelled => "FatalCancellationError",
            ModelErrorKind::Config => "FatalConfigError",
            ModelErrorKind::Budget => "FatalBudgetExceededError",
            ModelErrorKind::NotFound => "ModelNotFoundError",
            ModelErrorKind::Quota => "TerminalQuotaError",
            ModelErrorKind::RateLimited | ModelErrorKind::Overloaded => "RetryableQuotaError",
            ModelErrorKind::Permission
            | ModelErrorKind::Invalid
            | ModelErrorKind::TooLong
            | ModelErrorKind::Filtered
            | ModelErrorKind::Network
            | ModelErrorKind::Broken
            | ModelErrorKind::Replay
            | ModelErrorKind::Other => "Error",
        };
        let message = bounded(message.into(), LONGEST_MESSAGE);
        Self { kind, message, refusal: None, type_name, retryable: false, limit: None }
    }

    /// Returns the HTTP status of the vendor's refusal.
    pub fn status(&self) -> Option<u16> {
        self.refusal.as_ref().map(|refusal| refusal.status)
    }

    /// Creates the error of a call that the caller cancelled.
    pub fn cancelled() -> Self {
        Self::new(ModelErrorKind::Cancelled, "Operation cancelled.")
    }

    /// Creates the error of an answer that was received but is unusable.
    pub fn unusable(reason: InvalidStream) -> Self {
        Self { retryable: true, ..Self::new(ModelErrorKind::Unusable(reason), reason.message()) }
    }
}
