use std::cell::{Cell, RefCell};

use http::HeaderValue;
use proptest::prelude::*;

use super::*;

const S: fn(u64) -> Duration = Duration::from_secs;

#[test]
fn delays_double_up_to_the_cap() {
    let delay = |failures| Backoff::CONNECTION.delay(failures, None, 0.5);
    assert_eq!(
        [1, 2, 3, 4, 5, 10, u32::MAX].map(delay),
        [S(5), S(10), S(20), S(30), S(30), S(30), S(30)]
    );
    let delay = |failures| Backoff::MID_STREAM.delay(failures, None, 0.9);
    assert_eq!([1, 2, 3].map(delay), [S(1), S(2), S(4)]);
}

#[test]
fn jitter_is_thirty_percent_each_way() {
    assert_eq!(Backoff::CONNECTION.delay(1, None, 0.0), Duration::from_millis(3_500));
    assert_eq!(Backoff::CONNECTION.delay(1, None, 1.0), Duration::from_millis(6_500));
}

#[test]
fn a_server_delay_replaces_ours_and_grows_by_up_to_a_fifth() {
    let delay =
        |failures, server, random| Backoff::CONNECTION.delay(failures, Some(server), random);
    assert_eq!(delay(1, S(17), 0.0), S(17));
    assert_eq!(delay(1, S(17), 1.0), Duration::from_millis(20_400));
    assert_eq!(delay(1, S(1), 0.0), S(1), "ours is longer");
    assert_eq!(delay(9, S(1), 1.0), Duration::from_millis(1_200));
    assert_eq!(delay(9, S(100), 0.0), S(100), "not capped");
    assert_eq!(delay(1, Duration::ZERO, 0.5), S(5), "ours");
}

#[test]
fn the_environment_sets_the_initial_delay() {
    let base = |value: &'static str| {
        Backoff::CONNECTION
            .with_environment(&|name| (name == RETRY_BASE_VARIABLE).then(|| value.to_owned()))
            .initial
    };
    assert_eq!(base("20"), Duration::from_millis(20));
    assert_eq!(base("0"), Duration::ZERO);
    assert_eq!(base("soon"), S(5));
    assert_eq!(Backoff::CONNECTION.with_environment(&|_| None), Backoff::CONNECTION);
}

proptest! {
    #[test]
    fn delays_stay_in_bounds(
        failures in any::<u32>(),
        server in proptest::option::of(any::<u64>()),
        random in any::<f64>(),
    ) {
        let delay = Backoff::CONNECTION.delay(failures, server.map(Duration::from_secs), random);
        match server {
            None | Some(0) => {
                prop_assert!(delay >= Duration::from_millis(3_500) && delay <= S(39));
            }
            Some(asked) if asked < 1 << 40 => {
                let slack = Duration::from_millis(1);
                prop_assert!(delay >= S(asked) && delay <= S(asked).mul_f64(1.2) + slack);
            }
            Some(_) => {}
        }
    }
}

#[derive(Debug, PartialEq)]
enum Failure {
    Cancelled,
    Busy,
    Broken,
}

impl From<Cancelled> for Failure {
    fn from(_: Cancelled) -> Self {
        Self::Cancelled
    }
}

const FAST: Backoff = Backoff { initial: Duration::from_millis(1), ..Backoff::CONNECTION };

fn advise(failure: &Failure) -> RetryAdvice {
    match failure {
        Failure::Busy => RetryAdvice::Retry { after: None },
        _ => RetryAdvice::Fail,
    }
}

#[tokio::test]
async fn tries_until_it_succeeds_and_tells_of_each_wait() {
    let cancel = CancellationToken::new();
    let notices = RefCell::new(Vec::new());
    let result = retry(
        Retry { max_attempts: 5, backoff: FAST, cancel: &cancel },
        |attempt| async move { if attempt < 3 { Err(Failure::Busy) } else { Ok(attempt) } },
        advise,
        |notice| notices.borrow_mut().push((notice.attempt, notice.max_attempts)),
    )
    .await;
    assert_eq!(result, Ok(3));
    assert_eq!(*notices.borrow(), [(1, 5), (2, 5)]);
}

#[tokio::test]
async fn gives_the_last_error_when_attempts_are_used_up_or_useless() {
    let cancel = CancellationToken::new();
    for (failure, max_attempts, expected) in
        [(Failure::Busy, 4, 4), (Failure::Broken, 4, 1), (Failure::Busy, 0, 1)]
    {
        let calls = Cell::new(0);
        let result: Result<(), _> = retry(
            Retry { max_attempts, backoff: FAST, cancel: &cancel },
            |_| {
                calls.set(calls.get() + 1);
                let failure =
                    if failure == Failure::Busy { Failure::Busy } else { Failure::Broken };
                async move { Err(failure) }
            },
            advise,
            |_| {},
        )
        .await;
        assert_eq!(result, Err(failure));
        assert_eq!(calls.get(), expected);
    }
}

#[tokio::test(start_paused = true)]
async fn all_waits_together_are_bounded() {
    let cancel = CancellationToken::new();
    let backoff = Backoff {
        max_wait: Duration::from_secs(100),
        jitter: 0.0,
        server_jitter: 0.0,
        ..Backoff::CONNECTION
    };
    // 5 + 10 + 20 + 30 + 30 seconds; 40 + 40 seconds.
    for (after, expected, seconds) in [(None, 6, 95), (Some(Duration::from_secs(40)), 3, 80)] {
        let (calls, started) = (Cell::new(0), tokio::time::Instant::now());
        let result: Result<(), _> = retry(
            Retry { max_attempts: 10, backoff, cancel: &cancel },
            |attempt| {
                calls.set(attempt);
                async { Err(Failure::Busy) }
            },
            |_| RetryAdvice::Retry { after },
            |_| {},
        )
        .await;
        assert_eq!(result, Err(Failure::Busy));
        assert_eq!((calls.get(), started.elapsed().as_secs()), (expected, seconds));
    }
}

#[test]
fn a_used_up_rate_limit_has_a_reset() {
    let seconds = |headers: &[(&'static str, &str)]| {
        let headers = headers
            .iter()
            .map(|(name, value)| (http::HeaderName::from_static(name), value.parse().unwrap()));
        rate_limit_reset(&headers.collect()).map(|wait| wait.as_secs_f64())
    };
    let requests = |remaining, reset| {
        seconds(&[
            ("x-ratelimit-remaining-requests", remaining),
            ("x-ratelimit-reset-requests", reset),
        ])
    };
    for (reset, expected) in [
        ("6m0s", Some(360.0)),
        ("1h0m3s", Some(3603.0)),
        ("7.66s", Some(7.66)),
        ("20ms", Some(0.02)),
        ("12", Some(12.0)),
        ("1.5", Some(1.5)),
        ("", None),
        ("soon", None),
        ("-5s", None),
        ("NaN", Some(0.0)),
    ] {
        assert_eq!(requests("0", reset), expected, "{reset}");
    }
    assert_eq!(requests("1", "6m0s"), None, "something is left");
    assert_eq!(seconds(&[("x-ratelimit-reset-requests", "6m0s")]), None, "nothing is known");
    let both = [
        ("x-ratelimit-remaining-requests", "0"),
        ("x-ratelimit-reset-requests", "2s"),
        ("x-ratelimit-remaining-tokens", "0"),
        ("x-ratelimit-reset-tokens", "9s"),
    ];
    assert_eq!(seconds(&both), Some(9.0));
    let passed_on = [
        ("llm_provider-x-ratelimit-remaining-tokens", "0"),
        ("llm_provider-x-ratelimit-reset-tokens", "9s"),
    ];
    assert_eq!(seconds(&passed_on), Some(9.0));
    let now = jiff::Timestamp::now().as_second();
    for time in [(now + 60).to_string(), ((now + 60) * 1000).to_string()] {
        let wait =
            seconds(&[("x-ratelimit-remaining", "0"), ("x-ratelimit-reset", &time)]).unwrap();
        assert!((55.0..=60.0).contains(&wait), "{time}: {wait}");
    }
    assert_eq!(
        seconds(&[("x-ratelimit-remaining", "0"), ("x-ratelimit-reset", "1000000001")]),
        Some(0.0)
    );
}

/// Runs attempts that always fail with this advice; returns the number of attempts and the seconds
/// that they took on a virtual clock.
async fn attempts(advice: RetryAdvice) -> (u32, f64) {
    let cancel = CancellationToken::new();
    let (calls, announced) = (Cell::new(0), Cell::new(1));
    let started = tokio::time::Instant::now();
    let backoff = Backoff { jitter: 0.0, server_jitter: 0.0, ..Backoff::CONNECTION };
    let result: Result<(), _> = retry(
        Retry { max_attempts: 4, backoff, cancel: &cancel },
        |attempt| {
            calls.set(attempt);
            async { Err(Failure::Busy) }
        },
        |_| advice,
        |failed| announced.set(failed.max_attempts),
    )
    .await;
    assert_eq!(result, Err(Failure::Busy));
    assert_eq!(announced.get(), calls.get(), "{advice:?}");
    (calls.get(), started.elapsed().as_secs_f64())
}

#[tokio::test(start_paused = true)]
async fn attempts_are_bounded_by_number_delay_and_time() {
    let after = |after| RetryAdvice::Retry { after: Some(after) };
    let millisecond = Duration::from_millis(1);
    for (advice, expected) in [
        (RetryAdvice::Retry { after: None }, (4, 35.0)),
        (after(S(1)), (4, 3.0)),
        (after(S(300)), (4, 900.0)),
        (after(S(300) + millisecond), (1, 0.0)),
        (after(S(3600)), (1, 0.0)),
        (RetryAdvice::RetryWithin(S(60)), (4, 35.0)),
        (RetryAdvice::RetryWithin(S(35)), (4, 35.0)),
        (RetryAdvice::RetryWithin(S(34)), (3, 15.0)),
        (RetryAdvice::RetryWithin(S(4)), (1, 0.0)),
        (RetryAdvice::Fail, (1, 0.0)),
    ] {
        let (calls, seconds) = attempts(advice).await;
        // The virtual clock counts whole milliseconds.
        assert_eq!((calls, (seconds * 10.0).round() / 10.0), expected, "{advice:?}");
    }
}

/// Uses a virtual clock: time advances only in `sleep`.
#[tokio::test(start_paused = true)]
async fn cancel_ends_a_wait_and_an_attempt_at_once() {
    for stuck_in_attempt in [false, true] {
        let cancel = CancellationToken::new();
        let canceller = cancel.clone();
        tokio::spawn(async move {
            tokio::time::sleep(Duration::from_millis(20)).await;
            canceller.cancel();
        });
        let started = tokio::time::Instant::now();
        let result: Result<(), _> = retry(
            Retry { max_attempts: 3, backoff: Backoff::CONNECTION, cancel: &cancel },
            |_| async move {
                if stuck_in_attempt {
                    std::future::pending::<()>().await;
                }
                Err(Failure::Busy)
            },
            advise,
            |_| {},
        )
        .await;
        assert_eq!(result, Err(Failure::Cancelled));
        assert_eq!(started.elapsed().as_millis(), 20);
    }
}

#[test]
fn retry_after_reads_seconds_milliseconds_and_dates() {
    let read = |name: &'static str, value: &str| {
        let mut headers = HeaderMap::new();
        headers.insert(name, HeaderValue::from_str(value).unwrap());
        retry_after(&headers)
    };
    assert_eq!(read("retry-after", "12"), Some(S(12)));
    assert_eq!(read("llm_provider-retry-after", "60"), Some(S(60)));
    assert_eq!(read("retry-after-ms", "1500"), Some(Duration::from_millis(1_500)));
    assert_eq!(read("retry-after", "Wed, 21 Oct 2015 07:28:00 GMT"), Some(Duration::ZERO));
    let future = read("retry-after", "Fri, 31 Dec 2100 23:59:59 GMT").unwrap();
    assert!(future > S(1_000_000));
    // The clock of this machine does not matter if the response has the time of the server.
    let mut dated = HeaderMap::new();
    dated.insert("date", HeaderValue::from_static("Wed, 21 Oct 2015 07:28:00 GMT"));
    dated.insert("retry-after", HeaderValue::from_static("Wed, 21 Oct 2015 07:28:30 GMT"));
    assert_eq!(retry_after(&dated), Some(S(30)));
    dated.insert("date", HeaderValue::from_static("Wed, 21 Oct 2015 07:29:00 GMT"));
    assert_eq!(retry_after(&dated), Some(Duration::ZERO));
    let mut both = HeaderMap::new();
    both.insert("retry-after", HeaderValue::from_static("12"));
    both.insert("retry-after-ms", HeaderValue::from_static("1500"));
    assert_eq!(retry_after(&both), Some(Duration::from_millis(1_500)), "the exact one");
    both.insert("retry-after-ms", HeaderValue::from_static("soon"));
    assert_eq!(retry_after(&both), Some(S(12)));
    assert_eq!(read("retry-after", " 12 "), Some(S(12)));
    for value in ["soon", "-1", ""] {
        assert_eq!(read("retry-after", value), None, "{value:?}");
    }
}
