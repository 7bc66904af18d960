//! Times as text.

use std::time::Duration;

/// Returns a time in whole seconds, and minutes from the first on; `None` below a second.
pub(crate) fn seconds(time: Duration) -> Option<String> {
    match time.as_secs() {
        0 => None,
        seconds @ 1..60 => Some(format!("{seconds} s")),
        seconds => Some(format!("{} min {} s", seconds / 60, seconds % 60)),
    }
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
}
