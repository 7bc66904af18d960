//! Frontend: the conversation line by line, from its beginning to its end.

use futures::stream::BoxStream;
use pollux_input::{ConversationEnd, TerminalSignal, TerminalUser};
use pollux_protocol::RunningSession;

use crate::conversation::Conversation;

/// Runs a conversation until the user ends it.
///
/// # Errors
/// Fails if the system does not report terminal events.
pub async fn talk(
    user: TerminalUser,
    session: Box<dyn RunningSession>,
    signals: BoxStream<'_, TerminalSignal>,
) -> std::io::Result<ConversationEnd> {
    user.talk(session, signals, |opening| Box::new(Conversation::begin(opening))).await
}
