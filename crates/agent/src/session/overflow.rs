//! A prompt for which the model has no room is not sent.

use std::sync::Arc;

use pollux_protocol::{
    CancellationToken, Choice, Event, ModelError, ModelErrorKind, PromptOutcome, Record, Request,
};

use super::{End, Session};
use crate::fill::Load;

impl Session {
    /// Looks whether the model has room for what is new in the conversation. Words that it could not take even alone are
    /// taken back; for others, and for results, the conversation can be made shorter ([`ModelErrorKind::TooLong`]).
    ///
    /// # Errors
    /// The work ends here.
    pub(super) async fn check_room(
        &mut self,
        choice: &Choice,
        cancel: &CancellationToken,
    ) -> Result<(), End> {
        let limits = choice.limits;
        if limits.context == 0 || limits.tells_overflow {
            return Ok(());
        }
        let load = self.fill.load(&self.parts.history);
        let estimated = count(&load, choice, cancel).await;
        let remaining = limits.context.saturating_sub(load.held);
        if estimated <= remaining {
            return Ok(());
        }
        self.parts.emitter.emit(Event::ContextWillOverflow { estimated, remaining }).await;
        let fits_alone = estimated <= limits.context;
        let is_hopeless = !fits_alone && self.take_back().await?;
        let kind = if is_hopeless { ModelErrorKind::Invalid } else { ModelErrorKind::TooLong };
        let message = format!(
            "The prompt is about {estimated} tokens long, but the conversation leaves room for {remaining} of the {} that {} takes. \
             Make it shorter (a file that is named can be read in pieces), begin a new session, or choose a model with a larger \
             context with --model.",
            limits.context, choice.name
        );
        let error = ModelError::new(kind, message);
        Err(End::Outcome(PromptOutcome::Failed(error)))
    }

    /// Words that were not sent are no part of the conversation, so that it can go on without them. What tools did is: false.
    pub(super) async fn take_back(&mut self) -> Result<bool, End> {
        let last = self.parts.history.entries().last().cloned();
        let Some(last) = last.filter(|last| last.content().responses().next().is_none()) else {
            return Ok(false);
        };
        self.record(Record::Rewound { to: last.id().clone() }).await?;
        self.parts.history.rewind(last.id());
        Ok(true)
    }
}

/// Tokens of what is new: counted by the vendor where something in it has a size that only it knows.
async fn count(load: &Load<'_>, choice: &Choice, cancel: &CancellationToken) -> u64 {
    let estimated = load.estimate();
    if !load.has_media() {
        return estimated;
    }
    let entries = load.new.iter().map(|entry| Arc::clone(entry)).collect();
    let request = Request { entries, ..Request::default() };
    let counting = choice.model.count_tokens(request, cancel.clone());
    let counted = cancel.run_until_cancelled(counting).await;
    counted.and_then(Result::ok).unwrap_or(estimated)
}
