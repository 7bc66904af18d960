//! Retries: computation of the delay (pure), and the loop that waits.

use std::future::Future;
use std::time::Duration;

use http::HeaderMap;
use http::header::DATE;
use tokio::time::{Instant, sleep};
use tokio_util::sync::CancellationToken;

/// Environment variable with the first delay in milliseconds, for tests of whole programs. It
/// replaces the initial delay of every [`Backoff`]; delays that a server asks for are not changed.
pub const RETRY_BASE_VARIABLE: &str = "POLLUX_RETRY_BASE_MS";

/// Growth of the delays between attempts. The constants have the values of Gemini CLI 0.61.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Backoff {
    /// Delay after the first failure.
    pub initial: Duration,
    /// Factor by which each further failure multiplies the delay.
    pub factor: f64,
    /// Maximum delay before jitter, unless the server asks for another one.
    pub cap: Duration,
    /// Fraction by which the delay is randomly shortened or lengthened, 0 to 1.
    pub jitter: f64,
    /// Fraction by which a delay that a server asked for is randomly lengthened, 0 to 1.
    pub server_jitter: f64,
    /// Maximum of all delays together. The attempt whose delay would exceed it is not made.
    pub max_wait: Duration,
}

/// Default of [`Backoff::max_wait`].
const MAX_WAIT: Duration = Duration::from_mins(15);

impl Backoff {
    /// Delays for requests that fail before the response begins: 5 s, doubled up to 30 s, ±30 %.
    pub const CONNECTION: Self = Self {
        initial: Duration::from_secs(5),
        factor: 2.0,
        cap: Duration::from_secs(30),
        jitter: 0.3,
        server_jitter: 0.2,
        max_wait: MAX_WAIT,
    };

    /// Delays for responses that break off or are invalid: 1 s, 2 s, 4 s, without jitter.
    pub const MID_STREAM: Self = Self {
        initial: Duration::from_secs(1),
        factor: 2.0,
        cap: Duration::from_secs(4),
        jitter: 0.0,
        server_jitter: 0.2,
        max_wait: MAX_WAIT,
    };

    /// Returns these delays, with the initial one replaced by the value of [`RETRY_BASE_VARIABLE`]
    /// if `lookup` finds a whole number there.
    #[must_use]
    pub fn with_environment(self, lookup: &dyn Fn(&str) -> Option<String>) -> Self {
        let base = lookup(RETRY_BASE_VARIABLE).and_then(|text| text.trim().parse().ok());
        match base {
            Some(milliseconds) => Self { initial: Duration::from_millis(milliseconds), ..self },
            None => self,
        }
    }

    /// Returns the delay after the `failures`-th failure (counted from 1).
    ///
    /// Our own delay is `initial · factor^(failures-1)`, limited to `cap`, plus or minus `jitter`.
    /// A delay that the server asked for replaces ours, unless it is zero, which would make all
    /// attempts follow each other immediately; up to `server_jitter` is added to it. `random` is
    /// uniformly distributed over 0..1; values outside are clamped.
    pub fn delay(&self, failures: u32, server: Option<Duration>, random: f64) -> Duration {
        let random = if random.is_finite() { random.clamp(0.0, 1.0) } else { 0.5 };
        let exponent = i32::try_from(failures.saturating_sub(1)).unwrap_or(i32::MAX);
        let own = (self.initial.as_secs_f64() * self.factor.powi(exponent))
            .min(self.cap.as_secs_f64())
            .max(0.0);
        let seconds = match server.filter(|asked| !asked.is_zero()) {
            Some(asked) => asked.as_secs_f64() * (1.0 + self.server_jitter * random),
            None => own * (1.0 + self.jitter * (2.0 * random - 1.0)),
        };
        Duration::try_from_secs_f64(seconds).unwrap_or(self.cap)
    }

    /// Returns the number of the last attempt that can be expected to begin within `left` after
    /// attempt number `from`. Delays of zero limit it to 100 more.
    fn attempts_within(&self, mut left: Duration, from: u32) -> u32 {
        let last = from.saturating_add(100);
        (from..last)
            .find(|failures| match left.checked_sub(self.delay(*failures, None, 0.5)) {
                Some(rest) => {
                    left = rest;
                    false
                }
                None => true,
            })
            .unwrap_or(last)
    }
}

/// Maximum delay that a server may ask for; if it asks for more, the request is not retried.
pub const LONGEST_WISH: Duration = Duration::from_mins(5);

/// Reaction to a failure.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum RetryAdvice {
    /// The attempt may be repeated, after the time that the server asked for.
    Retry {
        /// Delay that the server asked for, if any.
        after: Option<Duration>,
    },
    /// The attempt may be repeated, if it begins within this time after the first attempt.
    RetryWithin(Duration),
    /// Another attempt cannot succeed.
    Fail,
}

/// Information about a failed attempt, reported before each wait.
#[derive(Debug)]
pub struct FailedAttempt<'a, E> {
    /// Number of the attempt that failed, from 1.
    pub attempt: u32,
    /// Maximum number of attempts; for [`RetryAdvice::RetryWithin`], the number to be expected.
    pub max_attempts: u32,
    /// Time until the next attempt.
    pub delay: Duration,
    /// Error of the failed attempt.
    pub error: &'a E,
}

/// Cancellation of the loop. The error type of [`retry`] must be convertible from it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("cancelled")]
pub struct Cancelled;

/// Rules of one retry loop.
#[derive(Debug, Clone, Copy)]
pub struct Retry<'a> {
    /// Maximum number of attempts; 0 counts as 1.
    pub max_attempts: u32,
    /// Delays between the attempts.
    pub backoff: Backoff,
    /// Token that ends the loop immediately, also during a wait or an attempt.
    pub cancel: &'a CancellationToken,
}

/// Calls `operation` (with the number of the attempt, from 1) until it succeeds, `advise` returns
/// `Fail`, the attempts are used up, or the token is cancelled.
///
/// `on_retry` is called before each wait. On cancellation, the future of a running attempt is
/// dropped, which closes its connection.
///
/// # Errors
/// The error of the last attempt, or one made from [`Cancelled`].
pub async fn retry<T, E, F>(
    rules: Retry<'_>,
    mut operation: impl FnMut(u32) -> F,
    advise: impl Fn(&E) -> RetryAdvice,
    mut on_retry: impl FnMut(FailedAttempt<'_, E>),
) -> Result<T, E>
where
    F: Future<Output = Result<T, E>>,
    E: From<Cancelled>,
{
    let started = Instant::now();
    let mut waited = Duration::ZERO;
    let mut attempt = 1;
    loop {
        let outcome = rules.cancel.run_until_cancelled(operation(attempt)).await;
        let error = match outcome {
            None => return Err(Cancelled.into()),
            Some(Ok(value)) => return Ok(value),
            Some(Err(error)) => error,
        };
        let (after, limit) = match advise(&error) {
            RetryAdvice::Retry { after } => (after, None),
            RetryAdvice::RetryWithin(limit) => (None, Some(limit)),
            RetryAdvice::Fail => return Err(error),
        };
        let delay = rules.backoff.delay(attempt, after, rand::random());
        let max_attempts = rules.max_attempts;
        if attempt >= max_attempts
            || after.is_some_and(|after| after > LONGEST_WISH)
            || waited + delay > rules.backoff.max_wait
            || limit.is_some_and(|limit| started.elapsed() + delay > limit)
        {
            return Err(error);
        }
        let left = limit.map(|limit| limit.saturating_sub(started.elapsed() + delay));
        let max_attempts = left.map_or(max_attempts, |left| {
            rules.backoff.attempts_within(left, attempt + 1).min(max_attempts)
        });
        on_retry(FailedAttempt { attempt, max_attempts, delay, error: &error });
        if rules.cancel.run_until_cancelled(sleep(delay)).await.is_none() {
            return Err(Cancelled.into());
        }
        waited += delay;
        attempt += 1;
    }
}

/// Returns the delay that a server asks for in `retry-after-ms` or `Retry-After` (RFC 9110
/// §10.2.3, seconds or a date). A date is compared with the clock of the server, if the response
/// has its time. LiteLLM passes the headers of the vendor on under another name.
pub fn retry_after(headers: &HeaderMap) -> Option<Duration> {
    let text = |name: &str| {
        let passed_on = || headers.get(format!("llm_provider-{name}"));
        headers.get(name).or_else(passed_on)?.to_str().ok().map(str::trim)
    };
    if let Some(milliseconds) = text("retry-after-ms").and_then(|text| text.parse().ok()) {
        return Some(Duration::from_millis(milliseconds));
    }
    let text = text("retry-after")?;
    if let Ok(seconds) = text.parse() {
        return Some(Duration::from_secs(seconds));
    }
    let date = jiff::fmt::rfc2822::parse(text).ok()?;
    let wait = date.timestamp().duration_since(now(headers));
    Some(Duration::try_from(wait).unwrap_or_default())
}

/// Returns the time of the server, from the header `Date`.
pub fn server_time(headers: &HeaderMap) -> Option<jiff::Timestamp> {
    let date = headers.get(DATE)?.to_str().ok()?;
    jiff::fmt::rfc2822::parse(date).ok().map(|date| date.timestamp())
}

/// Returns the time of the server, otherwise that of this machine.
fn now(headers: &HeaderMap) -> jiff::Timestamp {
    server_time(headers).unwrap_or_else(jiff::Timestamp::now)
}

/// Returns the time until a used-up rate limit is reset, from the headers of OpenAI and the
/// services that follow it: `x-ratelimit-reset-requests` and `-tokens` with a duration (`6m0s`,
/// `7.66s`, seconds), beside `x-ratelimit-remaining-…`; and `x-ratelimit-reset` with a duration or
/// a time since 1970. Limits with something left do not count. If several are used up, the last
/// reset counts.
pub fn rate_limit_reset(headers: &HeaderMap) -> Option<Duration> {
    const LIMITS: [&str; 4] = ["", "-requests", "-tokens", "-input-tokens"];
    let text = |name: String| {
        let passed_on = || headers.get(format!("llm_provider-{name}"));
        headers.get(&name).or_else(passed_on)?.to_str().ok().map(str::trim)
    };
    let now = now(headers);
    let reset = |limit: &&str| {
        let remaining = text(format!("x-ratelimit-remaining{limit}"))?;
        let is_used_up = remaining.parse::<f64>().is_ok_and(|remaining| remaining <= 0.0);
        is_used_up.then(|| until_reset(text(format!("x-ratelimit-reset{limit}"))?, now))?
    };
    LIMITS.iter().filter_map(reset).max()
}

/// Reads the value of a header with the time of a reset.
fn until_reset(text: &str, now: jiff::Timestamp) -> Option<Duration> {
    /// Smallest number that is a time since 1970 and not a duration, in seconds.
    const FIRST_TIME: f64 = 1e9;
    let Ok(number) = text.parse::<f64>() else {
        let duration: jiff::SignedDuration = text.parse().ok()?;
        return Duration::try_from(duration).ok();
    };
    let now = now.as_millisecond() as f64 / 1000.0;
    let seconds = match number {
        milliseconds if milliseconds >= FIRST_TIME * 1000.0 => milliseconds / 1000.0 - now,
        time if time >= FIRST_TIME => time - now,
        seconds => seconds,
    };
    Duration::try_from_secs_f64(seconds.max(0.0)).ok()
}

#[cfg(test)]
mod tests;
