//! Failures of model calls.

use crate::bounded::bounded;

/// How a stream of chunks can be unusable though the connection was fine.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum InvalidStream {
    /// It ended without a reason.
    NoFinishReason,
    /// A call that could not be formed.
    MalformedFunctionCall,
    /// A call when none was on offer.
    UnexpectedToolCall,
    /// Nothing said before the tokens ran out.
    MaxTokensExceeded,
    /// Nothing said: unsafe.
    SafetyBlocked,
    /// Nothing said: recitation.
    RecitationBlocked,
    /// Nothing said: another policy.
    OtherBlocked,
    /// Thoughts, but no answer.
    ThinkingOnlyResponse,
    /// Nothing at all.
    NoResponseText,
}

impl InvalidStream {
    /// The code of JSON output and telemetry.
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

    /// The sentence that callers of Gemini CLI match on.
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
    /// The credentials, or the account behind them, may not do this.
    Permission,
    /// The quota is used up; waiting a little does not help.
    Quota,
    /// The vendor limits the rate, and did so through all attempts.
    RateLimited,
    /// The vendor is overloaded or broken, and stayed so through all attempts.
    Overloaded,
    /// The request itself is wrong.
    Invalid,
    /// The conversation is longer than the model takes.
    TooLong,
    /// The vendor refuses the content of the request.
    Filtered,
    /// There is no such model.
    NotFound,
    /// The vendor could not be reached.
    Network,
    /// The answer broke off or made no sense on the wire.
    Broken,
    /// The answer came but cannot be used.
    Unusable(InvalidStream),
    /// The caller cancelled.
    Cancelled,
    /// A recorded model ran out of script or was asked something else than recorded.
    Replay,
    /// The settings that concern models are wrong.
    Config,
    /// A limit of what may be spent was reached: nothing was sent.
    Budget,
    /// Anything else.
    Other,
}

/// Longest error message, in bytes: a vendor's answer may be quoted in it.
const LONGEST_MESSAGE: usize = 8 * 1024;

/// A vendor's refusal in its own terms.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct VendorRefusal {
    /// HTTP status.
    pub status: u16,
    /// The vendor's word for the error, such as `RESOURCE_EXHAUSTED`.
    pub code: Option<String>,
    /// The vendor's message as it came: not safe for a terminal.
    pub message: String,
}

/// A model call failed.
#[derive(Debug, Clone, thiserror::Error)]
#[error("{message}")]
pub struct ModelError {
    /// Meaning of the failure.
    pub kind: ModelErrorKind,
    /// Text for a person: what happened and, where one is known, the remedy.
    pub message: String,
    /// The vendor's refusal, if it answered with one.
    pub refusal: Option<VendorRefusal>,
    /// The class name that Gemini CLI gives it in JSON output, such as `ApiError`.
    pub type_name: &'static str,
    /// The stream broke on the way and asking again may help.
    pub retryable: bool,
}

impl ModelError {
    /// An error without a vendor's answer behind it.
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
        Self { kind, message, refusal: None, type_name, retryable: false }
    }

    /// The HTTP status of the vendor's refusal.
    pub fn status(&self) -> Option<u16> {
        self.refusal.as_ref().map(|refusal| refusal.status)
    }

    /// The caller cancelled.
    pub fn cancelled() -> Self {
        Self::new(ModelErrorKind::Cancelled, "Operation cancelled.")
    }

    /// The stream was fine and the answer is not.
    pub fn unusable(reason: InvalidStream) -> Self {
        Self { retryable: true, ..Self::new(ModelErrorKind::Unusable(reason), reason.message()) }
    }
}
