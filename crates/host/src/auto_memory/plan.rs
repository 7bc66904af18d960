//! When old sessions are read, and which. Pure but for the clock that callers bring.

use std::time::Duration;

use jiff::Timestamp;
use serde::{Deserialize, Serialize};

/// Prompts that a session must have.
pub(super) const LEAST_PROMPTS: usize = 10;
/// Nobody has touched it for so long.
const IDLE: Duration = Duration::from_hours(3);
/// Between two runs.
const PAUSE: Duration = Duration::from_mins(30);
/// Sessions that are read in one run.
pub(super) const SESSIONS: usize = 10;
/// Sessions that are named to the model.
pub(super) const INDEX: usize = 50;
/// A lock that is older was left behind.
pub(super) const STALE: Duration = Duration::from_mins(35);
/// Runs that are remembered.
const RUNS: usize = 500;

/// What was done, `.extraction-state.json`.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct State {
    /// The oldest first.
    #[serde(default)]
    pub(super) runs: Vec<RunRecord>,
}

/// One run.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct RunRecord {
    /// When it was, RFC 3339.
    pub(super) run_at: String,
    /// The sessions that were read.
    #[serde(default)]
    pub(super) session_ids: Vec<String>,
    /// The skills that were proposed.
    #[serde(default)]
    pub(super) skills_created: Vec<String>,
}

impl State {
    /// It is time for a run.
    pub(super) fn is_due(&self, now: Timestamp) -> bool {
        let last = self.runs.iter().filter_map(|run| run.run_at.parse::<Timestamp>().ok()).max();
        // A time to come was told by a clock that was wrong.
        last.is_none_or(|last| last > now || since(last, now) >= PAUSE)
    }

    /// The session was read in an earlier run.
    pub(super) fn knows(&self, session_id: &str) -> bool {
        self.runs.iter().any(|run| run.session_ids.iter().any(|known| known == session_id))
    }

    /// Adds a run.
    pub(super) fn add(&mut self, run: RunRecord) {
        self.runs.push(run);
        let surplus = self.runs.len().saturating_sub(RUNS);
        self.runs.drain(..surplus);
    }
}

/// Nobody has worked on a session that was written to last at this time, RFC 3339, for long enough.
pub(super) fn is_idle(last_updated: &str, now: Timestamp) -> bool {
    last_updated.parse::<Timestamp>().is_ok_and(|last| since(last, now) >= IDLE)
}

fn since(then: Timestamp, now: Timestamp) -> Duration {
    Duration::try_from(now.duration_since(then)).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(time: &str) -> Timestamp {
        time.parse().unwrap()
    }

    fn run(time: &str, sessions: &[&str]) -> RunRecord {
        let session_ids = sessions.iter().map(|id| (*id).to_owned()).collect();
        RunRecord { run_at: time.to_owned(), session_ids, skills_created: Vec::new() }
    }

    #[test]
    fn half_an_hour_lies_between_two_runs() {
        let now = at("2026-11-22T12:00:00Z");
        for (last, due) in [
            ("2026-11-22T11:45:00Z", false),
            ("2026-11-22T11:30:00Z", true),
            ("2026-11-23T11:30:00Z", true),
            ("nonsense", true),
        ] {
            let state = State { runs: vec![run("2026-11-01T00:00:00Z", &[]), run(last, &[])] };
            assert_eq!(state.is_due(now), due, "{last}");
        }
        assert!(State::default().is_due(now));
    }

    #[test]
    fn three_hours_are_idle() {
        let now = at("2026-11-22T12:00:00Z");
        assert!(is_idle("2026-11-22T09:00:00Z", now));
        assert!(!is_idle("2026-11-22T09:00:01Z", now));
        assert!(!is_idle("2026-11-23T09:00:01Z", now) && !is_idle("", now));
    }

    #[test]
    fn sessions_are_known_as_long_as_runs_are_remembered() {
        let mut state = State::default();
        for number in 0..=RUNS {
            state.add(run("2026-11-22T12:00:00Z", &[&number.to_string()]));
        }
        assert!(!state.knows("0") && state.knows("1") && state.knows(&RUNS.to_string()));
        let text = serde_json::to_string(&state).unwrap();
        assert_eq!(serde_json::from_str::<State>(&text).unwrap(), state);
        assert!(text.contains("\"runAt\"") && text.contains("\"sessionIds\""));
    }
}
