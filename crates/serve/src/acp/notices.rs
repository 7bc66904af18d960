//! Messages to the user of a session.

use std::sync::{Arc, Mutex, PoisonError};

use agent_client_protocol_schema::v1::{Notice, NoticeSeverity, SessionId, SessionUpdate};
use pollux_protocol::{Notices, Severity};

use super::connection::Connection;
use super::content;

/// Maximum number of messages that wait until the client knows the session.
const WAITING: usize = 100;

/// Sink that shows messages in the client: in its place for them if it has one, otherwise as
/// thoughts and in the log.
pub(crate) struct ClientNotices {
    connection: Arc<Connection>,
    session: SessionId,
    /// Log for a client without a place for messages.
    log: Arc<dyn Notices>,
    /// Messages that wait until the client can show them; `None` from then on.
    waiting: Mutex<Option<Vec<(Severity, String)>>>,
}

impl ClientNotices {
    pub(crate) fn new(
        connection: Arc<Connection>,
        session: SessionId,
        log: Arc<dyn Notices>,
    ) -> Self {
        Self { connection, session, log, waiting: Mutex::new(Some(Vec::new())) }
    }

    /// Shows all messages so far if the client has a place for them: it now knows the session.
    pub(crate) fn session_opened(&self) {
        if self.has_place() {
            self.show_waiting();
        }
    }

    /// Shows all messages so far, and from now on each message at once.
    pub(crate) fn prompt_began(&self) {
        self.show_waiting();
    }

    fn show_waiting(&self) {
        let waiting = self.waiting.lock().unwrap_or_else(PoisonError::into_inner).take();
        for (severity, text) in waiting.into_iter().flatten() {
            self.show(severity, &text);
        }
    }

    fn has_place(&self) -> bool {
        self.connection.capabilities().session.is_some_and(|session| session.notices.is_some())
    }

    /// Returns the update that shows a message about the current work.
    pub(crate) fn update(&self, severity: Severity, text: &str) -> SessionUpdate {
        match self.notice(severity, text) {
            Some(notice) => notice,
            // As in Gemini CLI.
            None => SessionUpdate::AgentThoughtChunk(content::chunk(match severity {
                Severity::Info => format!("{text}\n"),
                Severity::Warning => format!("Warning: {}\n", unmarked(text)),
                Severity::Error => format!("Error: {}\n", unmarked(text)),
            })),
        }
    }

    fn notice(&self, severity: Severity, text: &str) -> Option<SessionUpdate> {
        if !self.has_place() {
            return None;
        }
        let severity = match severity {
            Severity::Info => NoticeSeverity::Info,
            Severity::Warning => NoticeSeverity::Warning,
            Severity::Error => NoticeSeverity::Error,
        };
        let (title, rest) = text.split_once('\n').unwrap_or((text, ""));
        let notice = Notice::new(severity, title);
        let rest = Some(rest.to_owned()).filter(|rest| !rest.is_empty());
        Some(SessionUpdate::Notice(notice.description(rest)))
    }

    /// Shows a message that belongs to no prompt. As a thought, only a warning is worth it.
    fn show(&self, severity: Severity, text: &str) {
        if self.has_place() || severity > Severity::Info {
            self.connection.update_now(&self.session, self.update(severity, text));
        }
    }
}

impl Notices for ClientNotices {
    fn notice(&self, severity: Severity, text: &str) {
        if !self.has_place() {
            self.log.notice(severity, text);
        }
        let is_kept = match &mut *self.waiting.lock().unwrap_or_else(PoisonError::into_inner) {
            Some(waiting) => {
                // A session is prepared again when its user has decided about the folder.
                let is_known = waiting.iter().any(|(_, known)| known == text);
                if !is_known && waiting.len() < WAITING {
                    waiting.push((severity, text.to_owned()));
                }
                true
            }
            None => false,
        };
        if !is_kept {
            self.show(severity, text);
        }
    }
}

/// Returns a message without the mark of its severity, if it has one.
fn unmarked(text: &str) -> &str {
    let marks = ["[WARNING] ", "Warning: ", "[ERROR] ", "Error: "];
    marks.iter().find_map(|mark| text.strip_prefix(mark)).unwrap_or(text)
}
