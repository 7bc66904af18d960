//! Sends events to the user's hooks, and reports their messages and failures.

use std::collections::BTreeSet;
use std::sync::{Arc, Mutex};

use pollux_hooks::{HookResult, HookRun, Hooks};
use pollux_protocol::{CancellationToken, Event, HookEvent, HookPayload, Measurement, Severity};

use crate::outlet::Outlet;

/// Hooks of a session, and the outlet for their messages.
#[derive(Clone)]
pub(crate) struct HookEvents {
    hooks: Hooks,
    outlet: Outlet,
    /// Failures that were already reported for the current request. The hooks of a streamed answer
    /// run once for each chunk, so the same failure may repeat often.
    reported: Arc<Mutex<BTreeSet<(HookEvent, String)>>>,
}

impl HookEvents {
    pub(crate) fn new(hooks: Hooks, outlet: Outlet) -> Self {
        Self { hooks, outlet, reported: Arc::default() }
    }

    /// True if a hook is registered for the event. Otherwise the payload need not be built.
    pub(crate) fn has(&self, event: HookEvent) -> bool {
        self.hooks.has(event)
    }

    /// Runs the hooks of an event and returns their decision. `cancel` ends the hooks without a
    /// decision.
    pub(crate) async fn fire(
        &self,
        payload: &HookPayload,
        cancel: &CancellationToken,
    ) -> HookResult {
        let event = payload.event();
        if event == HookEvent::BeforeModel
            && let Ok(mut reported) = self.reported.lock()
        {
            reported.clear();
        }
        let outcome = self.hooks.fire(payload, cancel).await;
        for run in &outcome.runs {
            self.outlet.measure(&Measurement::HookCall(run.measure()));
            if let Some(message) = run.system_message() {
                let (hook, message) = (run.hook.clone(), message.to_owned());
                self.outlet.emit(Event::HookMessage { event, hook, message }).await;
            }
        }
        self.warn(event, &outcome.runs).await;
        outcome.result
    }

    async fn warn(&self, event: HookEvent, runs: &[HookRun]) {
        let failed = |run: &HookRun| Some((run.hook.clone(), run.failure()?));
        let failures: Vec<(String, String)> = runs.iter().filter_map(failed).collect();
        if failures.is_empty() {
            return;
        }
        let (names, reasons): (Vec<_>, Vec<_>) = failures.into_iter().unzip();
        let names = names.join(", ");
        let is_of_a_request = matches!(
            event,
            HookEvent::BeforeModel | HookEvent::BeforeToolSelection | HookEvent::AfterModel
        );
        if is_of_a_request
            && self
                .reported
                .lock()
                .is_ok_and(|mut reported| !reported.insert((event, names.clone())))
        {
            return;
        }
        let reasons = reasons.join(", ");
        let text = format!("Hook(s) [{names}] failed for event {event}: {reasons}.");
        self.outlet.emit(Event::Notice { severity: Severity::Warning, text }).await;
    }
}
