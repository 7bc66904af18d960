//! Frontend: the conversation on the screen, from its beginning to its end.

use futures::stream::BoxStream;
use pollux_input::{ConversationEnd, TerminalSignal, TerminalUser};
use pollux_protocol::{RunningSession, SessionRequest, Sessions};

use crate::view::View;

/// Runs a conversation until the user ends it, also in other sessions that the user changes to.
/// `sessions` opens these with what `request` has, except for its start.
///
/// # Errors
/// Fails if the system does not report terminal events.
pub async fn talk(
    user: TerminalUser,
    sessions: &dyn Sessions,
    request: &SessionRequest,
    session: Box<dyn RunningSession>,
    signals: BoxStream<'_, TerminalSignal>,
) -> std::io::Result<ConversationEnd> {
    user.talk(sessions, request, session, signals, |opening| Box::new(View::begin(opening))).await
}
