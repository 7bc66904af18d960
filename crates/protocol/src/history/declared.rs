//! Effects that the calls of a conversation declared when they began to run.

use std::collections::HashSet;
use std::sync::Arc;

use super::History;
use crate::Effects;

impl History {
    /// Records the effects that a call declared, or that a call in its place declared. They are
    /// kept for as long as the history holds the call.
    pub fn note_effects(&mut self, call_id: impl Into<String>, effects: Effects) {
        let noted = Arc::make_mut(&mut self.effects).entry(call_id.into()).or_default();
        Arc::make_mut(noted).absorb(effects);
    }

    /// Returns the effects that a call declared; `None` for a call that never ran, or whose session
    /// was recorded by a program that does not log effects.
    pub fn effects_of(&self, call_id: &str) -> Option<&Effects> {
        self.effects.get(call_id).map(AsRef::as_ref)
    }

    /// Drops the effects of calls that the history does not hold.
    pub(super) fn forget_effects(&mut self) {
        let calls = self.entries.iter().flat_map(|entry| entry.content().calls());
        let held: HashSet<&str> = calls.map(|call| call.id.as_str()).collect();
        Arc::make_mut(&mut self.effects).retain(|id, _| held.contains(id.as_str()));
    }
}
