//! Detection of calls without progress.

use std::collections::VecDeque;
use std::hash::{DefaultHasher, Hash, Hasher};

use pollux_protocol::{CallStatus, FinishedCall, LoopKind, Part};

use super::Finding;

/// Number of times that a call, or a round of calls, must return the same results to count as a
/// loop.
const REPEATS: usize = 5;
/// Maximum number of calls in a round that is recognised.
const LONGEST_ROUND: usize = 5;
/// Number of consecutive turns in which every call failed, or returned a result it had returned
/// shortly before.
const FRUITLESS_TURNS: usize = 10;
/// Minimum number of these turns with a failed call. Without failures, repeated reading is
/// recognised only as a round of calls.
const FAILURES: usize = 4;
/// Maximum number of characters of a tool's name in messages.
const SHOWN_NAME: usize = 64;

/// Latest calls of a prompt, each with its outcome.
#[derive(Debug, Default)]
pub(crate) struct CallTrail {
    steps: VecDeque<Step>,
    /// Number of consecutive turns without a new result, and number of those turns with a failed
    /// call.
    fruitless: usize,
    failing: usize,
}

/// Call and its result.
#[derive(Debug, PartialEq, Eq)]
struct Step {
    /// Hash of the call and of its result, for comparison.
    hash: u64,
    name: String,
}

impl CallTrail {
    /// Adds the calls of one turn, in the order in which the model made them.
    pub(crate) fn turn<'a>(
        &mut self,
        finished: impl IntoIterator<Item = &'a FinishedCall>,
    ) -> Option<Finding> {
        let (mut calls, mut failed, mut barren) = (0, 0, 0);
        let mut found = None;
        for one in finished {
            let step = Step::of(one);
            let fails = one.status == CallStatus::Error;
            calls += 1;
            failed += usize::from(fails);
            barren += usize::from(fails || self.steps.contains(&step));
            if self.steps.len() == REPEATS * LONGEST_ROUND {
                self.steps.pop_front();
            }
            self.steps.push_back(step);
            found = found.or_else(|| self.round());
        }
        if calls == barren {
            self.fruitless += usize::from(calls > 0);
            self.failing += usize::from(failed > 0);
        } else {
            (self.fruitless, self.failing) = (0, 0);
        }
        let is_stuck = self.fruitless >= FRUITLESS_TURNS && self.failing >= FAILURES;
        found.or_else(|| is_stuck.then(|| self.fruitless()))
    }

    fn fruitless(&self) -> Finding {
        let details = format!(
            "Every call of the last {} turns failed or returned known results.",
            self.fruitless
        );
        Finding { kind: LoopKind::Calls, details }
    }

    /// Returns a finding for the shortest round that the latest calls repeat.
    fn round(&self) -> Option<Finding> {
        let length = (1..=LONGEST_ROUND).find(|length| self.repeats(*length))?;
        let names: Vec<&str> = self
            .steps
            .iter()
            .skip(self.steps.len() - length)
            .map(|step| step.name.as_str())
            .collect();
        let details = match names[..] {
            [name] => {
                format!("The same call of {name} was made {REPEATS} times with the same result.")
            }
            _ => format!(
                "The same calls ({}) were made {REPEATS} times in turn with the same results.",
                names.join(", ")
            ),
        };
        Some(Finding { kind: LoopKind::Calls, details })
    }

    fn repeats(&self, length: usize) -> bool {
        let Some(start) = self.steps.len().checked_sub(length * REPEATS) else { return false };
        (start + length..self.steps.len())
            .all(|place| self.steps[place] == self.steps[place - length])
    }
}

impl Step {
    fn of(finished: &FinishedCall) -> Self {
        let call = &finished.call;
        let mut hasher = DefaultHasher::new();
        (&call.name, call.args.to_string()).hash(&mut hasher);
        finished.response.iter().for_each(|part| hash_part(part, &mut hasher));
        Self { hash: hasher.finish(), name: call.name.chars().take(SHOWN_NAME).collect() }
    }
}

/// Hashes the content of a part, without the id of its call, which is always new.
fn hash_part(part: &Part, hasher: &mut DefaultHasher) {
    match part.as_response() {
        Some(response) => {
            response.response.to_string().hash(hasher);
            response.parts.iter().for_each(|part| hash_part(part, hasher));
        }
        None => serde_json::to_string(part).unwrap_or_default().hash(hasher),
    }
}
