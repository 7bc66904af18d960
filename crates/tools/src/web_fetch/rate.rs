//! Rate limit of requests per host, so that a model in a loop does not disturb other people's
//! servers.

use std::collections::{HashMap, VecDeque};
use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant};

/// Maximum number of fetches from one host within [`WINDOW`].
const MOST: usize = 10;
const WINDOW: Duration = Duration::from_mins(1);

/// Maximum number of hosts that are remembered.
const HOSTS: usize = 1000;

/// Times of the fetches from each host.
#[derive(Debug, Default)]
pub(super) struct RateLimit(Mutex<HashMap<String, VecDeque<Instant>>>);

impl RateLimit {
    /// Counts a fetch from `host`; returns false if there were too many.
    pub(super) fn admit(&self, host: &str, now: Instant) -> bool {
        let mut hosts = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let old = |asked: &Instant| now.saturating_duration_since(*asked) >= WINDOW;
        if hosts.len() >= HOSTS && !hosts.contains_key(host) {
            hosts.retain(|_, times| times.back().is_some_and(|asked| !old(asked)));
            if hosts.len() >= HOSTS {
                let longest_ago = hosts.iter().min_by_key(|(_, times)| times.back().copied());
                if let Some(host) = longest_ago.map(|(host, _)| host.clone()) {
                    hosts.remove(&host);
                }
            }
        }
        let times = hosts.entry(host.to_owned()).or_default();
        while times.front().is_some_and(old) {
            times.pop_front();
        }
        let admitted = times.len() < MOST;
        if admitted {
            times.push_back(now);
        }
        admitted
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ten_a_minute_and_host() {
        let (rate, start) = (RateLimit::default(), Instant::now());
        for second in 0..10 {
            assert!(rate.admit("a", start + Duration::from_secs(second)));
        }
        assert!(!rate.admit("a", start + Duration::from_secs(10)));
        assert!(rate.admit("b", start + Duration::from_secs(10)));
        assert!(!rate.admit("a", start + Duration::from_secs(59)));
        assert!(rate.admit("a", start + WINDOW));
        assert!(!rate.admit("a", start + WINDOW));
        assert!(rate.admit("a", start + Duration::from_secs(61)));
    }

    #[test]
    fn hosts_without_end_are_forgotten() {
        let (rate, start) = (RateLimit::default(), Instant::now());
        for number in 0..3000 {
            let now = start + Duration::from_millis(number);
            assert!(rate.admit(&number.to_string(), now));
            assert!(rate.0.lock().unwrap().len() <= HOSTS);
        }
        assert!(rate.admit("later", start + Duration::from_mins(5)));
        assert_eq!(rate.0.lock().unwrap().len(), 1);
    }
}
