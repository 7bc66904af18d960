//! A prompt for which the model has no room is not sent.

use std::sync::Arc;

use pollux_protocol::{
    CancellationToken, Choice, Event, JournalError, ModelError, ModelErrorKind, Request,
};

use super::Fitting;
use crate::conversation::{Conversation, Load};

/// Reason why a request is not sent.
#[derive(Debug)]
pub(crate) enum NoRoom {
    /// The model has no room for it.
    Overflow(ModelError),
    /// Words that had to be taken back could not be: the log failed.
    Log(JournalError),
}

impl Fitting {
    /// Checks that the model has room for what is new in the conversation. Words that it could not
    /// take even alone are taken back; for others, and for results, the conversation can be made
    /// shorter ([`ModelErrorKind::TooLong`]).
    pub(crate) async fn check_room(
        &self,
        conversation: &mut Conversation,
        choice: &Choice,
        cancel: &CancellationToken,
    ) -> Result<(), NoRoom> {
        let limits = choice.limits;
        if limits.context == 0 || limits.tells_overflow {
            return Ok(());
        }
        let load = conversation.load();
        let estimated = count(&load, choice, cancel).await;
        let remaining = limits.context.saturating_sub(load.held);
        if estimated <= remaining {
            return Ok(());
        }
        conversation.outlet().emit(Event::ContextWillOverflow { estimated, remaining }).await;
        let fits_alone = estimated <= limits.context;
        let is_hopeless = !fits_alone && conversation.take_back().await.map_err(NoRoom::Log)?;
        let kind = if is_hopeless { ModelErrorKind::Invalid } else { ModelErrorKind::TooLong };
        let message = format!(
            "The prompt is about {estimated} tokens long, but the conversation leaves room for {remaining} of the {} that {} takes. \
             Make it shorter (a file that is named can be read in pieces), begin a new session, or choose a model with a larger \
             context with --model.",
            limits.context, choice.name
        );
        Err(NoRoom::Overflow(ModelError::new(kind, message)))
    }
}

/// Counts the tokens of what is new: by the vendor where something in it has a size that only it knows.
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
