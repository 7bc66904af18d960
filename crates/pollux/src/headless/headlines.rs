//! Tool calls on standard error, for a user who watches a headless run.

use std::collections::HashMap;
use std::sync::Arc;

use pollux_line::narration::{headline, result};
use pollux_protocol::{CallId, FinishedCall, PreparedCall};

use crate::stderr::stderr_line;

/// Descriptions of the calls of a turn.
#[derive(Debug, Default)]
pub(super) struct Headlines(HashMap<CallId, String>);

impl Headlines {
    /// Stores the description of a call.
    pub(super) fn take(&mut self, prepared: &PreparedCall) {
        let headline = headline(&prepared.name, &prepared.description);
        self.0.insert(prepared.call_id.clone(), headline);
    }

    /// Prints the finished calls of a turn.
    pub(super) fn narrate(&mut self, calls: &[Arc<FinishedCall>]) {
        for finished in calls {
            let headline = self.0.remove(&finished.call.id);
            stderr_line(&format!("  > {}", headline.as_ref().unwrap_or(&finished.call.name)));
            for line in result(finished) {
                stderr_line(&format!("    {line}"));
            }
        }
        self.0.clear();
    }
}
