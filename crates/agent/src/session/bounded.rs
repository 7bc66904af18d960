//! A prompt and what it may cost.

use pollux_protocol::{CancellationToken, ModelErrorKind, Operator, Part, PromptOutcome};

use super::{End, Session};

/// The end of a prompt with nothing more to do, unless it was stopped just then.
pub(super) fn ended(cancel: &CancellationToken) -> PromptOutcome {
    if cancel.is_cancelled() { PromptOutcome::Cancelled } else { PromptOutcome::Done }
}

impl Session {
    /// Works on a prompt as long as its budget lasts. When the time is up, whatever runs is stopped as a person would
    /// stop it.
    pub(super) async fn within_budget(
        &mut self,
        prompt_id: &str,
        parts: Vec<Part>,
        display: Option<String>,
        operator: &dyn Operator,
        cancel: &CancellationToken,
    ) -> Result<PromptOutcome, End> {
        let budget = self.parts.budget.clone();
        budget.begin();
        self.begin_form();
        let deadline = budget.deadline().await;
        let stopped = cancel.child_token();
        let ended = {
            let work = self.turns(prompt_id, parts, display, operator, &stopped);
            tokio::pin!(work);
            match deadline {
                None => work.await,
                Some((at, exceeded)) => tokio::select! {
                    biased;
                    ended = &mut work => ended,
                    () = tokio::time::sleep_until(at) => {
                        budget.stop(exceeded);
                        stopped.cancel();
                        work.await
                    }
                },
            }
        };
        let outcome = match ended {
            Ok(outcome) | Err(End::Outcome(outcome)) => outcome,
            Err(log) => return Err(log),
        };
        let was_stopped = match &outcome {
            PromptOutcome::Cancelled => !cancel.is_cancelled(),
            PromptOutcome::Failed(error) => error.kind == ModelErrorKind::Budget,
            _ => false,
        };
        Ok(match budget.exceeded().filter(|_| was_stopped) {
            Some(exceeded) => PromptOutcome::Budget(Box::new(exceeded)),
            None => self.formed(outcome),
        })
    }
}
