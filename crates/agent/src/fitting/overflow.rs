//! Check that a prompt fits into the model's context window before it is sent.

use std::sync::Arc;

use pollux_protocol::{
    CancellationToken, Choice, Event, JournalError, ModelError, ModelErrorKind, ModelRequest,
};

use super::Fitting;
use crate::conversation::{Conversation, Load};

/// Reason for not sending a request.
#[derive(Debug)]
pub(crate) enum NoRoom {
    /// The request is larger than the remaining context.
    Overflow(ModelError),
    /// A message had to be taken back, and the log failed.
    Log(JournalError),
}

impl Fitting {
    /// Checks that the new entries fit into the remaining context. A message that is larger than
    /// the whole context is taken back. Otherwise, and for results, the conversation can be
    /// compressed ([`ModelErrorKind::TooLong`]).
    pub(crate) async fn check_room(
        &self,
        conversation: &mut Conversation,
        choice: &Choice,
        cancel: &CancellationToken,
    ) -> Result<(), NoRoom> {
        let limits = choice.limits;
        if limits.context == 0 || limits.rejects_overflow {
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
        // A prompt that was cancelled before this check stays in the conversation, and may be too
        // long itself: no later prompt would fit.
        while is_hopeless && conversation.load().estimate() > limits.context {
            if !conversation.take_back().await.map_err(NoRoom::Log)? {
                break;
            }
        }
        let kind = if is_hopeless { ModelErrorKind::Invalid } else { ModelErrorKind::TooLong };
        let message = format!(
            "The prompt is about {estimated} tokens long, but only {remaining} of the {} tokens of {} are free in this conversation. \
             Shorten it (the model can read a referenced file in parts), start a new session, or choose a model with a larger \
             context with --model.",
            limits.context, choice.name
        );
        Err(NoRoom::Overflow(ModelError::new(kind, message)))
    }
}

/// Returns the tokens of the new entries. Media are counted by the vendor, because only it knows
/// their size.
async fn count(load: &Load<'_>, choice: &Choice, cancel: &CancellationToken) -> u64 {
    let estimated = load.estimate();
    if !load.has_media() {
        return estimated;
    }
    let entries = load.new.iter().map(|entry| Arc::clone(entry)).collect();
    let request = ModelRequest { entries, ..ModelRequest::default() };
    let counting = choice.model.count_tokens(request, cancel.clone());
    let counted = cancel.run_until_cancelled(counting).await;
    counted.and_then(Result::ok).unwrap_or(estimated)
}
