//! Times as text.

use std::time::Duration;

use jiff::Timestamp;
use jiff::tz::TimeZone;

/// Returns a time in whole seconds, and minutes from the first on; `None` below a second.
pub(crate) fn seconds(time: Duration) -> Option<String> {
    match time.as_secs() {
        0 => None,
        seconds @ 1..60 => Some(format!("{seconds} s")),
        seconds => Some(format!("{} min {} s", seconds / 60, seconds % 60)),
    }
}

/// Formats a time in RFC 3339 format as a date with the local time of day: `2026-11-27 13:05`.
/// Empty if it is not such a time.
pub(crate) fn local_minute(time: &str) -> String {
    let local = |time: Timestamp| time.to_zoned(TimeZone::system());
    let time = time.parse().map(local);
    time.map(|time| time.strftime("%Y-%m-%d %H:%M").to_string()).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_have_units() {
        for (time, text) in
            [(0, None), (1, Some("1 s")), (59, Some("59 s")), (61, Some("1 min 1 s"))]
        {
            assert_eq!(seconds(Duration::from_secs(time)).as_deref(), text);
        }
    }

    #[test]
    fn a_time_that_is_none_is_empty() {
        assert_eq!(local_minute("2026-11-27T12:00:00.000Z").len(), "2026-11-27 13:00".len());
        assert_eq!(local_minute("yesterday\u{1b}"), "");
    }
}
