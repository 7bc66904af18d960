//! Result of resuming a session.

use std::io::{Cursor, Read, Seek};
use std::path::Path;

use pollux_protocol::{Compression, Content, Effects, EntryId, History, Repair};

use crate::error::SessionError;
use crate::figures::RecordedFigures;
use crate::reader::{Scan, load};
use crate::rebuild::{Notes, Rebuild, Rebuilt};
use crate::source::Span;
use crate::stored::{StoredCall, StoredMessage};

/// Session as recorded in its file.
#[derive(Debug, Clone, Default)]
pub struct SessionData {
    /// Id of the session.
    pub id: String,
    /// SHA-256 of the project's root, in hexadecimal.
    pub project_hash: String,
    /// Time when the session began, RFC 3339.
    pub start_time: String,
    /// Time of the last write to the session, RFC 3339.
    pub last_updated: String,
    /// Kind of the session: `main` or `subagent`.
    pub kind: String,
    /// Title that Gemini CLI generated, if any.
    pub summary: Option<String>,
    /// Conversation, for `History::restore`. Contains the context of the session first, if the file
    /// has it. Every call has exactly one response, including interrupted calls.
    pub contents: Vec<(EntryId, Content)>,
    /// Effects that calls declared when they started to run, by the ids of the calls.
    pub effects: Vec<(String, Effects)>,
    /// Compressions of the conversation, in the order in which they were made.
    pub compressions: Vec<Compression>,
    /// Figures for `Statistics::hydrate`.
    pub figures: RecordedFigures,
    /// Reports about content that could not be read, one line each, for the user.
    pub damage: Vec<String>,
    /// Process that opened the file last.
    pub(crate) process: Option<u32>,
    /// True if there is at least one message, even if it is only a notice.
    pub(crate) has_messages: bool,
}

/// Returns the conversation of a session file as the model sees it.
///
/// # Errors
/// [`SessionError::Unreadable`] when the file names no session; [`SessionError::Files`].
pub fn conversation(path: &Path) -> Result<History, SessionError> {
    let mut source = pollux_fs::open_to_read(path)?;
    Ok(SessionData::read(path, &mut source)?.history().0)
}

impl SessionData {
    /// Reads a session file that is held in memory.
    ///
    /// # Errors
    /// [`SessionError::Unreadable`] when the file names no session.
    pub fn from_bytes(bytes: &[u8]) -> Result<Self, SessionError> {
        Self::read(Path::new("(memory)"), &mut Cursor::new(bytes))
    }

    /// Returns the conversation as the model sees it from now on, and the repairs made. A
    /// compression whose messages no longer exist is skipped: they may have been taken back since.
    pub fn history(&mut self) -> (History, Vec<Repair>) {
        let (mut history, repairs) = self.whole_history();
        for compression in &self.compressions {
            history.compress(compression);
        }
        (history, repairs)
    }

    /// Returns the conversation without its compressions, and the repairs made.
    pub(crate) fn whole_history(&mut self) -> (History, Vec<Repair>) {
        let (mut history, repairs) = History::restore(std::mem::take(&mut self.contents));
        for (call_id, effects) in std::mem::take(&mut self.effects) {
            history.note_effects(call_id, effects);
        }
        (history, repairs)
    }

    /// Reads a whole file.
    pub(crate) fn read(path: &Path, source: &mut (impl Read + Seek)) -> Result<Self, SessionError> {
        let failed =
            |error: std::io::Error| SessionError::Files(pollux_fs::Error::from_io(path, error));
        let mut scan = Scan::default();
        scan.read(source).map_err(failed)?;
        let Some(id) = scan.metadata.session_id.clone() else {
            let message = "it does not contain a session ID".to_owned();
            return Err(SessionError::Unreadable { path: path.into(), message });
        };
        let mut rebuild = Rebuild::default();
        let living: Vec<_> = scan.messages.drain(..).collect();
        let has_messages = !living.is_empty();
        for (message_id, living) in living {
            let text = load(source, living.span).map_err(failed)?;
            let Some(message) = text.as_deref().and_then(StoredMessage::parse) else {
                scan.damaged_message(&message_id);
                continue;
            };
            let mut text = |span: Span| load(source, span).map_err(failed);
            let mut notes = Notes::default();
            for span in living.started {
                let started = text(span)?;
                notes.started.extend(started.and_then(|call| serde_json::from_str(&call).ok()));
            }
            for span in living.finished {
                notes.finished.extend(text(span)?.as_deref().and_then(StoredCall::parse));
            }
            if let Some(span) = living.responses {
                notes.responses =
                    text(span)?.and_then(|responses| serde_json::from_str(&responses).ok());
            }
            rebuild.push(message, notes);
        }
        let Rebuilt { contents, effects, figures, renamed } = rebuild.finish();
        let mut compressions = Vec::new();
        for compression in scan.compressions {
            let stored = load(source, compression.span).map_err(failed)?;
            compressions.extend(stored.and_then(|stored| serde_json::from_str(&stored).ok()));
        }
        renamed.apply(&contents, &mut compressions);
        let metadata = scan.metadata;
        Ok(Self {
            id,
            project_hash: metadata.project_hash.unwrap_or_default(),
            start_time: metadata.start_time.unwrap_or_default(),
            last_updated: metadata.last_updated.unwrap_or_default(),
            kind: metadata.kind.unwrap_or_else(|| "main".to_owned()),
            summary: metadata.summary,
            contents,
            effects,
            compressions,
            figures,
            damage: scan.damage,
            process: scan.process,
            has_messages,
        })
    }
}
