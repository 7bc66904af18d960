//! Facts that a list shows about a session besides its title: its length, and its last prompt.

use std::io::{Read, Seek};

use pollux_protocol::plain_text::{for_terminal, one_line};
use pollux_protocol::{EntryId, Part, SessionEntry, SessionPreview, TranscriptItem};

use crate::reader::{Scan, load};
use crate::store::SessionStore;
use crate::stored::StoredMessage;
use crate::transcript;

/// Maximum size of a session file that is read for a list, in bytes.
const LARGEST: u64 = 16 << 20;
/// Maximum length of the last prompt, in characters.
const PROMPT: usize = 500;

impl SessionStore {
    /// Reads what a list shows about a session. `None` if the file is too large to be read for a
    /// list, or cannot be read.
    pub fn preview(&self, session: &SessionEntry) -> Option<SessionPreview> {
        let (scan, mut source) = scan(session)?;
        let last_prompt = last_prompt(&scan, &mut source);
        Some(SessionPreview { messages: count(&scan), last_prompt })
    }
}

/// Reads the lines of a session file that is small enough; also returns the open file.
pub(crate) fn scan(session: &SessionEntry) -> Option<(Scan, impl Read + Seek)> {
    let is_small = |info: &pollux_fs::FileInfo| info.size <= LARGEST;
    pollux_fs::info(&session.path).ok().filter(is_small)?;
    let mut source = pollux_fs::open_to_read(&session.path).ok()?;
    let mut scan = Scan::default();
    scan.read(&mut source).ok()?;
    Some((scan, source))
}

/// Returns the number of messages, the context not counted.
pub(crate) fn count(scan: &Scan) -> usize {
    scan.messages.keys().filter(|id| *id != EntryId::CONTEXT).count()
}

/// Returns the beginning of the last prompt that the user typed.
fn last_prompt(scan: &Scan, source: &mut (impl Read + Seek)) -> Option<String> {
    scan.messages.values().rev().find_map(|living| {
        let message = StoredMessage::parse(&load(source, living.span).ok()??)?;
        let is_users = message.kind == "user";
        let Some(TranscriptItem::User { parts, .. }) =
            is_users.then(|| transcript::user(message)).flatten()
        else {
            return None;
        };
        let text: String = parts.iter().filter_map(Part::as_text).collect();
        let text = one_line(&for_terminal(text.trim()));
        (!text.is_empty()).then(|| text.chars().take(PROMPT).collect())
    })
}
