//! Classification rules, in their order. Each rule is one function; the first rule that applies
//! decides.

use std::collections::BTreeMap;
use std::time::Duration;

use pollux_net::retry::LONGEST_WISH;

use super::envelope::{ErrorDetail, ErrorObject, parse_duration};
use super::kind::{QuotaReason, Refusal, RefusalKind as Kind};

/// Delay after a per-minute quota.
const PER_MINUTE_DELAY: Duration = Duration::from_mins(1);

/// Decision of a rule.
struct Ruling {
    kind: Kind,
    /// Delay before a retry that the service asks for.
    retry_after: Option<Duration>,
    /// Text that is added to the message.
    suggestion: Option<String>,
}

impl From<Kind> for Ruling {
    fn from(kind: Kind) -> Self {
        Self { kind, retry_after: None, suggestion: None }
    }
}

/// Error object and its effective status.
struct Error<'a> {
    status: u16,
    object: &'a ErrorObject,
}

/// Interprets an error object. `status` is the one of the object, or that of the response.
pub(super) fn apply(status: u16, object: ErrorObject) -> Refusal {
    let Ruling { kind, retry_after, suggestion } = Error { status, object: &object }.ruling();
    let message = object.message;
    let shown = match (&kind, suggestion) {
        (Kind::Quota(QuotaReason::Daily), _) => {
            format!("The daily quota of this model is exhausted. {message}")
        }
        (_, Some(suggestion)) => format!("{message}\n{suggestion}"),
        (_, None) => message.clone(),
    };
    Refusal { kind, status, code: object.status, message, shown, retry_after }
}

impl Error<'_> {
    fn ruling(&self) -> Ruling {
        if let Some(kind) = self.refused_account() {
            return kind.into();
        }
        if matches!(self.status, 429 | 499 | 503) { self.quota() } else { self.by_status() }
    }

    /// Handles status 403 with a reason.
    fn refused_account(&self) -> Option<Kind> {
        if self.status != 403 {
            return None;
        }
        self.infos().find_map(|info| match info.reason {
            "VALIDATION_REQUIRED" if info.is_cloud_code() => {
                let link = self.help_link().or_else(|| info.metadata("validation_link"));
                Some(Kind::Verification { link })
            }
            "TOS_VIOLATION" => Some(Kind::Suspended { appeal: info.metadata("appeal_url") }),
            _ => None,
        })
    }

    fn by_status(&self) -> Ruling {
        if let (500..=599, Some(delay)) = (self.status, self.please_retry_in()) {
            return self.by_delay(delay);
        }
        let kind = match self.status {
            400 if self.is_bad_key() => Kind::Auth,
            400 => invalid(self.object.status.as_deref(), &self.object.message),
            401 => Kind::Auth,
            403 => Kind::Permission,
            404 => Kind::NotFound,
            500..=599 => {
                let retry_after = self.retry_info().map(|(delay, _)| delay);
                return Ruling { retry_after, ..Kind::Server.into() };
            }
            _ => Kind::Other,
        };
        kind.into()
    }

    /// Handles 429, 499 and 503.
    fn quota(&self) -> Ruling {
        if says_limit_zero(&self.object.message) {
            return Kind::Quota(QuotaReason::ZeroLimit).into();
        }
        if !self.has_structure() {
            return match self.please_retry_in() {
                Some(delay) => self.by_delay(delay),
                None => self.by_wording(),
            };
        }
        if self.any_quota_id(&["PerDay", "Daily"]) {
            return Kind::Quota(QuotaReason::Daily).into();
        }
        if let Some(ruling) = self.by_reason() {
            return ruling;
        }
        if let Some((delay, text)) = self.retry_info() {
            let suggestion = Some(format!("Suggested retry after {text}."));
            return Ruling { suggestion, ..self.by_delay(delay) };
        }
        if self.any_quota_id(&["PerMinute"]) || self.any_quota_limit("PerMinute") {
            return self.passing(Some(PER_MINUTE_DELAY));
        }
        self.by_wording()
    }

    fn by_reason(&self) -> Option<Ruling> {
        self.infos().find_map(|info| match info.reason {
            "MODEL_CAPACITY_EXHAUSTED" | "MODEL_CAPACITY_EXCEEDED" => Some(self.no_capacity()),
            "INSUFFICIENT_G1_CREDITS_BALANCE" => Some(Kind::Quota(QuotaReason::Credits).into()),
            "RATE_LIMIT_EXCEEDED" if info.is_cloud_code() => Some(match self.retry_info() {
                Some((delay, _)) => self.by_delay(delay),
                None => Kind::Quota(QuotaReason::RateLimit).into(),
            }),
            "QUOTA_EXHAUSTED" if info.is_cloud_code() => {
                Some(Kind::Quota(QuotaReason::Exhausted).into())
            }
            _ => None,
        })
    }

    fn by_delay(&self, delay: Duration) -> Ruling {
        if delay > LONGEST_WISH {
            let kind = Kind::Quota(QuotaReason::LongDelay);
            Ruling { retry_after: Some(delay), ..kind.into() }
        } else {
            self.passing(Some(delay))
        }
    }

    fn by_wording(&self) -> Ruling {
        let lower = self.object.message.to_ascii_lowercase();
        let wordings = ["exhausted your capacity", "capacity exceeded", "model_capacity_exhausted"];
        if wordings.iter().any(|wording| lower.contains(wording)) {
            self.no_capacity()
        } else {
            self.passing(None)
        }
    }

    /// Returns the decision for a temporary error.
    fn passing(&self, retry_after: Option<Duration>) -> Ruling {
        let kind = if self.status == 429 { Kind::RateLimited } else { Kind::Busy };
        Ruling { retry_after, ..kind.into() }
    }

    fn no_capacity(&self) -> Ruling {
        let retry_after = self.retry_info().map(|(delay, _)| delay);
        Ruling { retry_after, ..Kind::NoCapacity.into() }
    }

    /// True if there are details of a type that the rules use.
    fn has_structure(&self) -> bool {
        self.object.details.iter().any(|detail| *detail != ErrorDetail::Other)
    }

    /// Returns the delay in `Please retry in 12.5s` or `Please retry in 800ms`.
    fn please_retry_in(&self) -> Option<Duration> {
        let (_, rest) = self.object.message.split_once("Please retry in ")?;
        let number = rest.bytes().take_while(|byte| byte.is_ascii_digit() || *byte == b'.').count();
        let unit = if rest[number..].starts_with("ms") { 2 } else { 1 };
        parse_duration(rest.get(..number + unit)?)
    }

    fn retry_info(&self) -> Option<(Duration, &str)> {
        self.object.details.iter().find_map(|detail| match detail {
            ErrorDetail::RetryInfo { text, delay: Some(delay) } => Some((*delay, text.as_str())),
            _ => None,
        })
    }

    fn any_quota_id(&self, words: &[&str]) -> bool {
        self.object.details.iter().any(|detail| match detail {
            ErrorDetail::QuotaFailure { quota_ids } => {
                quota_ids.iter().any(|id| words.iter().any(|word| id.contains(word)))
            }
            _ => false,
        })
    }

    fn any_quota_limit(&self, word: &str) -> bool {
        let mut limits = self.infos().filter_map(|info| info.metadata("quota_limit"));
        limits.any(|limit| limit.contains(word))
    }

    fn help_link(&self) -> Option<String> {
        self.object.details.iter().find_map(|detail| match detail {
            ErrorDetail::Help { links } => links.first().cloned(),
            _ => None,
        })
    }

    /// True for an invalid key, which Google reports as a bad request (400).
    fn is_bad_key(&self) -> bool {
        const WORDINGS: [&str; 3] = ["API key not valid", "API key expired", "API_KEY_INVALID"];
        let reason = self.infos().next().map(|info| info.reason);
        matches!(reason, Some("API_KEY_INVALID" | "API_KEY_EXPIRED"))
            || WORDINGS.iter().any(|wording| self.object.message.contains(wording))
    }

    fn infos(&self) -> impl Iterator<Item = Info<'_>> {
        self.object.details.iter().filter_map(|detail| match detail {
            ErrorDetail::ErrorInfo { reason, domain, metadata } => {
                Some(Info { reason, domain, metadata })
            }
            _ => None,
        })
    }
}

/// Returns the kind of an invalid request. Each service has its own message for a conversation that
/// is too long for the model.
pub(crate) fn invalid(code: Option<&str>, message: &str) -> Kind {
    const CODES: [&str; 3] =
        ["context_length_exceeded", "exceed_context_size_error", "ContextWindowExceededError"];
    const WORDINGS: [&str; 11] = [
        // Gemini, then services with Chat Completions: OpenAI and vLLM, llama.cpp, gateways to
        // Anthropic, Mistral, LiteLLM, whose messages name the class of the error.
        "exceeds the maximum number of tokens",
        "context_length_exceeded",
        "maximum context length",
        "exceeds the available context size",
        "context window",
        "prompt is too long",
        "exceed context limit",
        "input is too long",
        "too large for model with",
        "exceed_context_size_error",
        "contextwindowexceedederror",
    ];
    let message = message.to_ascii_lowercase();
    let is_too_long = code.is_some_and(|code| CODES.contains(&code))
        || WORDINGS.iter().any(|wording| message.contains(wording));
    if is_too_long { Kind::TooLong } else { Kind::Invalid }
}

/// True for `limit: 0`, but not for `limit: 0.5` or `limit: 05`.
fn says_limit_zero(message: &str) -> bool {
    message.match_indices("limit: 0").any(|(at, found)| {
        let rest = &message.as_bytes()[at + found.len()..];
        let digit = |index: usize| rest.get(index).is_some_and(u8::is_ascii_digit);
        let fraction = rest.first() == Some(&b'.') && digit(1);
        !digit(0) && !fraction
    })
}

/// Borrowed fields of a `google.rpc.ErrorInfo`.
struct Info<'a> {
    reason: &'a str,
    domain: &'a str,
    metadata: &'a BTreeMap<String, String>,
}

impl Info<'_> {
    /// True if the error is from Code Assist. Real responses sometimes have stray characters around
    /// the domain.
    fn is_cloud_code(&self) -> bool {
        let domain = self.domain.trim_matches(|character: char| !character.is_ascii_alphanumeric());
        let service = domain.strip_suffix(".googleapis.com").unwrap_or(domain);
        ["cloudcode-pa", "staging-cloudcode-pa", "autopush-cloudcode-pa"].contains(&service)
    }

    fn metadata(&self, key: &str) -> Option<String> {
        self.metadata.get(key).cloned()
    }
}
