//! Schedule of the runs, and selection of the sessions to read. Pure functions; callers pass the
//! time.

use std::time::Duration;

use jiff::Timestamp;
use serde::{Deserialize, Serialize};

/// Minimum number of prompts in a session that is read.
pub(crate) const LEAST_PROMPTS: usize = 10;
/// Time after which an unchanged session counts as idle.
const IDLE: Duration = Duration::from_hours(3);
/// Minimum time between two runs.
const PAUSE: Duration = Duration::from_mins(30);
/// Maximum number of sessions that are read in one run.
pub(crate) const SESSIONS: usize = 10;
/// Maximum number of sessions that are listed for the model.
pub(crate) const INDEX: usize = 50;
/// Age after which a lock counts as abandoned.
pub(crate) const STALE: Duration = Duration::from_mins(35);
/// Maximum number of runs that are recorded.
const RUNS: usize = 500;

/// Record of earlier runs, stored in `.extraction-state.json`.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct State {
    /// Runs, the oldest first.
    #[serde(default)]
    pub(crate) runs: Vec<RunRecord>,
}

/// Record of one run.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct RunRecord {
    /// Time of the run, RFC 3339.
    pub(crate) run_at: String,
    /// Ids of the sessions that were read.
    #[serde(default)]
    pub(crate) session_ids: Vec<String>,
    /// Names of the skills that were proposed.
    #[serde(default)]
    pub(crate) skills_created: Vec<String>,
}

impl State {
    /// Returns true if a run is due.
    pub(crate) fn is_due(&self, now: Timestamp) -> bool {
        let last = self.runs.iter().filter_map(|run| run.run_at.parse::<Timestamp>().ok()).max();
        // A timestamp in the future comes from a clock that was wrong; it must not delay the next
        // run.
        last.is_none_or(|last| last > now || since(last, now) >= PAUSE)
    }

    /// Returns true if an earlier run has read the session.
    pub(crate) fn knows(&self, session_id: &str) -> bool {
        self.runs.iter().any(|run| run.session_ids.iter().any(|known| known == session_id))
    }

    /// Adds a run.
    pub(crate) fn add(&mut self, run: RunRecord) {
        self.runs.push(run);
        let surplus = self.runs.len().saturating_sub(RUNS);
        self.runs.drain(..surplus);
    }
}

/// Returns true if a session with this last update, RFC 3339, has been idle long enough.
pub(crate) fn is_idle(last_updated: &str, now: Timestamp) -> bool {
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
