//! Delay before the next attempt that a service asks for.

use std::time::Duration;

use pollux_net::retry::LONGEST_WISH;

use super::{QuotaReason, Refusal, RefusalKind as Kind, parse_duration};

/// Adds the delay that the service asks for: in its message, or else `header`. A delay that is too
/// long turns a rate limit into an exhausted quota. Without capacity, a header with such a delay is
/// ignored.
pub(crate) fn with_delay(mut refusal: Refusal, header: Option<Duration>) -> Refusal {
    if refusal.kind == Kind::NoCapacity {
        let header = header.filter(|delay| *delay <= LONGEST_WISH);
        refusal.retry_after = refusal.retry_after.or(header);
        return refusal;
    }
    if !matches!(refusal.kind, Kind::RateLimited | Kind::Busy | Kind::Server) {
        return refusal;
    }
    let named = refusal.retry_after.or_else(|| try_again_in(&refusal.message));
    let longest = named.max(header);
    let is_too_long = longest > Some(LONGEST_WISH);
    if is_too_long {
        refusal.kind = Kind::Quota(QuotaReason::LongDelay);
    }
    refusal.retry_after = if is_too_long { longest } else { named.or(header) };
    refusal
}

/// Returns the delay after `try again in`: `20s`, `1.5s`, `800ms`, `7m12s`, `1h0m3s`, `5 seconds`
/// or `1 minute`.
fn try_again_in(message: &str) -> Option<Duration> {
    let lower = message.to_ascii_lowercase();
    let (_, rest) = lower.split_once("try again in ")?;
    let is_of_duration = |one: char| one.is_ascii_digit() || matches!(one, '.' | 'h' | 'm' | 's');
    let end = rest.find(|one: char| !is_of_duration(one)).unwrap_or(rest.len());
    let (delay, after) = rest.split_at(end);
    let unit =
        ["second", "minute", "hour"].iter().find(|unit| after.trim_start().starts_with(**unit));
    match unit {
        Some(unit) if end > 0 => parse_duration(&format!("{delay}{}", &unit[..1])),
        _ => parse_duration(delay.trim_end_matches('.')),
    }
}
