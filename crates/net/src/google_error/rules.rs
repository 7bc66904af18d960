//! The rules, in their order. Each is one function; the first that has an opinion decides.

use std::time::Duration;

use super::{ErrorDetail, GoogleError, GoogleErrorKind as Kind, QuotaReason, parse_duration};

/// A longer wait than this is no wait but an end.
const MAX_RETRYABLE_DELAY: Duration = Duration::from_mins(5);

/// The wait after a per-minute quota.
const PER_MINUTE_DELAY: Duration = Duration::from_mins(1);

/// Sets the error's kind, and appends advice to its message where the original does.
pub(super) fn apply(error: &mut GoogleError) {
    let quota = matches!(error.code, 429 | 499 | 503);
    let precise = forbidden(error).or_else(|| quota.then(|| quota_kind(error)));
    error.kind = precise.unwrap_or_else(|| by_code(error));
    if quota && matches!(error.kind, Kind::TerminalQuota { reason: QuotaReason::Daily }) {
        error.message = format!("The daily quota of this model is exhausted. {}", error.message);
    }
}

/// 404, 403 with a reason.
fn forbidden(error: &GoogleError) -> Option<Kind> {
    if error.code != 403 {
        return None;
    }
    error_infos(error).find_map(|info| match info.reason {
        "VALIDATION_REQUIRED" if info.is_cloud_code() => {
            let link = help_link(error, |_| true).or_else(|| info.metadata("validation_link"));
            let learn_more = help_link(error, |text| text.eq_ignore_ascii_case("learn more"))
                .or_else(|| info.metadata("validation_learn_more_url"));
            Some(Kind::ValidationRequired { link, learn_more })
        }
        "TOS_VIOLATION" => Some(Kind::AccountSuspended { appeal_url: info.metadata("appeal_url") }),
        _ => None,
    })
}

fn by_code(error: &GoogleError) -> Kind {
    if let (500..=599, Some(delay)) = (error.code, please_retry_in(&error.message)) {
        return by_delay(delay);
    }
    match error.code {
        400 => Kind::BadRequest,
        401 => Kind::Auth,
        403 => Kind::Forbidden,
        404 => Kind::ModelNotFound,
        500..=599 => Kind::Server,
        _ => Kind::Other,
    }
}

/// 429, 499 and 503.
fn quota_kind(error: &mut GoogleError) -> Kind {
    if says_limit_zero(&error.message) {
        return terminal(QuotaReason::ZeroLimit);
    }
    if !has_structure(error) {
        return match please_retry_in(&error.message) {
            Some(delay) => by_delay(delay),
            None => by_wording(error),
        };
    }
    if any_quota_id(error, &["PerDay", "Daily"]) {
        return terminal(QuotaReason::Daily);
    }
    if let Some(kind) = by_reason(error) {
        return kind;
    }
    if let Some((delay, text)) = retry_info(error) {
        error.message = format!("{}\nSuggested retry after {text}.", error.message);
        return by_delay(delay);
    }
    if any_quota_id(error, &["PerMinute"]) || any_quota_limit(error, "PerMinute") {
        return Kind::RetryableQuota { delay: Some(PER_MINUTE_DELAY) };
    }
    by_wording(error)
}

fn by_reason(error: &GoogleError) -> Option<Kind> {
    error_infos(error).find_map(|info| match info.reason {
        "MODEL_CAPACITY_EXHAUSTED" | "MODEL_CAPACITY_EXCEEDED" => {
            Some(terminal(QuotaReason::Capacity))
        }
        "INSUFFICIENT_G1_CREDITS_BALANCE" => Some(terminal(QuotaReason::Credits)),
        "RATE_LIMIT_EXCEEDED" if info.is_cloud_code() => Some(match retry_info(error) {
            Some((delay, _)) => by_delay(delay),
            None => terminal(QuotaReason::RateLimit),
        }),
        "QUOTA_EXHAUSTED" if info.is_cloud_code() => Some(terminal(QuotaReason::Exhausted)),
        _ => None,
    })
}

fn by_delay(delay: Duration) -> Kind {
    if delay > MAX_RETRYABLE_DELAY {
        terminal(QuotaReason::LongDelay(delay))
    } else {
        Kind::RetryableQuota { delay: Some(delay) }
    }
}

fn by_wording(error: &GoogleError) -> Kind {
    let lower = error.message.to_ascii_lowercase();
    let wordings = ["exhausted your capacity", "capacity exceeded", "model_capacity_exhausted"];
    if wordings.iter().any(|wording| lower.contains(wording)) {
        terminal(QuotaReason::Capacity)
    } else {
        Kind::RetryableQuota { delay: None }
    }
}

fn terminal(reason: QuotaReason) -> Kind {
    Kind::TerminalQuota { reason }
}

/// Whether there are details of a kind the rules look at.
fn has_structure(error: &GoogleError) -> bool {
    error.details.iter().any(|detail| !matches!(detail, ErrorDetail::Other { .. }))
}

/// `limit: 0`, and not `limit: 0.5` or `limit: 05`.
fn says_limit_zero(message: &str) -> bool {
    message.match_indices("limit: 0").any(|(at, found)| {
        let rest = &message.as_bytes()[at + found.len()..];
        let digit = |index: usize| rest.get(index).is_some_and(u8::is_ascii_digit);
        let fraction = rest.first() == Some(&b'.') && digit(1);
        !digit(0) && !fraction
    })
}

/// The delay in `Please retry in 12.5s` or `Please retry in 800ms`.
fn please_retry_in(message: &str) -> Option<Duration> {
    let (_, rest) = message.split_once("Please retry in ")?;
    let number = rest.bytes().take_while(|byte| byte.is_ascii_digit() || *byte == b'.').count();
    let unit = if rest[number..].starts_with("ms") { 2 } else { 1 };
    parse_duration(rest.get(..number + unit)?)
}

fn retry_info(error: &GoogleError) -> Option<(Duration, String)> {
    error.details.iter().find_map(|detail| match detail {
        ErrorDetail::RetryInfo { text, delay: Some(delay) } => Some((*delay, text.clone())),
        _ => None,
    })
}

fn any_quota_id(error: &GoogleError, words: &[&str]) -> bool {
    error.details.iter().any(|detail| match detail {
        ErrorDetail::QuotaFailure { quota_ids } => {
            quota_ids.iter().any(|id| words.iter().any(|word| id.contains(word)))
        }
        _ => false,
    })
}

fn any_quota_limit(error: &GoogleError, word: &str) -> bool {
    error_infos(error)
        .any(|info| info.metadata("quota_limit").is_some_and(|limit| limit.contains(word)))
}

fn help_link(error: &GoogleError, wanted: impl Fn(&str) -> bool) -> Option<String> {
    error.details.iter().find_map(|detail| match detail {
        ErrorDetail::Help { links } => links
            .iter()
            .find(|(description, _)| wanted(description.trim()))
            .map(|(_, url)| url.clone()),
        _ => None,
    })
}

struct Info<'a> {
    reason: &'a str,
    domain: &'a str,
    metadata: &'a std::collections::BTreeMap<String, String>,
}

impl Info<'_> {
    /// Whether Code Assist speaks. Stray characters around the domain are seen in the wild.
    fn is_cloud_code(&self) -> bool {
        let domain = self.domain.trim_matches(|character: char| !character.is_ascii_alphanumeric());
        let service = domain.strip_suffix(".googleapis.com").unwrap_or(domain);
        ["cloudcode-pa", "staging-cloudcode-pa", "autopush-cloudcode-pa"].contains(&service)
    }

    fn metadata(&self, key: &str) -> Option<String> {
        self.metadata.get(key).cloned()
    }
}

fn error_infos(error: &GoogleError) -> impl Iterator<Item = Info<'_>> {
    error.details.iter().filter_map(|detail| match detail {
        ErrorDetail::ErrorInfo { reason, domain, metadata } => {
            Some(Info { reason, domain, metadata })
        }
        _ => None,
    })
}
