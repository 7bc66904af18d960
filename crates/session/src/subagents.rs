//! Sessions of subagents: `chats/<session>/<subagent>.jsonl`, as in Gemini CLI. They belong to the
//! session that started them, can be resumed by their ids, and are deleted with it.

use std::path::{Path, PathBuf};

use jiff::Timestamp;
use pollux_fs::{AppendLog, EntryKind};
use pollux_protocol::SessionEntry;

use crate::encoder::own;
use crate::error::SessionError;
use crate::layout::{Header, SubagentLine};
use crate::listing;
use crate::log::{SessionLog, timestamp};
use crate::store::{SessionStore, append, claim, encoded, is_valid, opened, safe_name};

/// Maximum number of sessions of subagents that are listed for one session.
const MAX_LISTED: usize = 500;
/// Minimum length of the beginning of an id that selects a session, in bytes.
const SHORTEST_PREFIX: usize = 4;

/// Session of a subagent that is about to start.
#[derive(Debug, Clone)]
pub struct NewSubagent<'a> {
    /// Id of the session that starts it.
    pub parent: &'a str,
    /// Id of its own session, which is new.
    pub id: &'a str,
    /// Name of the subagent.
    pub agent: &'a str,
    /// Call that runs it.
    pub call_id: &'a str,
    /// Folders of its workspace.
    pub folders: Vec<PathBuf>,
}

impl SessionStore {
    /// Creates the session of a subagent. Blocks the thread.
    ///
    /// # Errors
    /// [`SessionError::InvalidId`]; [`SessionError::Files`] when the file cannot be created.
    pub fn create_subagent(&self, new: &NewSubagent<'_>) -> Result<SessionLog, SessionError> {
        let NewSubagent { parent, id, agent, call_id, folders } = new;
        if !is_valid(id) || safe_name(parent).is_empty() {
            return Err(SessionError::InvalidId((*id).to_owned()));
        }
        let time = timestamp(Timestamp::now());
        let folders = folders.iter().map(|folder| folder.display().to_string()).collect();
        let header = encoded(&Header {
            session_id: id,
            project_hash: &self.project_hash,
            start_time: &time,
            last_updated: &time,
            kind: "subagent",
            directories: Some(folders),
        })?;
        let line = SubagentLine { agent: (*agent).to_owned(), call_id: (*call_id).to_owned() };
        let line = serde_json::to_value(line).and_then(|line| own("subagent", &line)).map_err(
            |error| SessionError::Files(pollux_fs::Error::from_io("session", error.into())),
        )?;
        let folder = self.chats.join(safe_name(parent));
        let mut file = AppendLog::open(&folder.join(format!("{id}.jsonl")))?;
        claim(&mut file, id)?;
        append(&mut file, &vec![header])?;
        append(&mut file, &line)?;
        append(&mut file, &opened()?)?;
        Ok(SessionLog::new(id, file, true))
    }

    /// Adds to each session the sessions of its subagents. Blocks the thread.
    ///
    /// # Errors
    /// [`SessionError::Files`].
    pub fn add_subagents(&self, sessions: &mut [SessionEntry]) -> Result<(), SessionError> {
        for session in sessions.iter_mut().filter(|session| !session.is_damaged) {
            session.subagents = of(&self.chats.join(safe_name(&session.id)))?;
        }
        Ok(())
    }
}

/// Returns the sessions of subagents in a folder, the oldest first.
fn of(folder: &Path) -> Result<Vec<SessionEntry>, SessionError> {
    let entries = match pollux_fs::list_directory(folder) {
        Ok(entries) => entries,
        Err(error) if error.is_not_found() => return Ok(Vec::new()),
        Err(error) => return Err(error.into()),
    };
    let files = entries.into_iter().filter(|entry| {
        entry.kind == EntryKind::File && entry.path.extension().is_some_and(|end| end == "jsonl")
    });
    let mut found: Vec<_> = files
        .take(MAX_LISTED)
        .filter_map(|entry| listing::summarise_subagent(&entry.path))
        .collect();
    found.sort_by(|one, other| one.start_time.cmp(&other.start_time));
    Ok(found)
}

/// Returns the sessions of subagents whose ids begin with a text.
pub(crate) fn matching(chats: &Path, prefix: &str) -> Result<Vec<SessionEntry>, SessionError> {
    if prefix.len() < SHORTEST_PREFIX {
        return Ok(Vec::new());
    }
    let mut found = Vec::new();
    for entry in pollux_fs::list_directory(chats)? {
        if entry.kind == EntryKind::Directory {
            found.extend(of(&entry.path)?.into_iter().filter(|one| one.id.starts_with(prefix)));
        }
    }
    if let Some(exact) = found.iter().position(|session| session.id == prefix) {
        return Ok(vec![found.swap_remove(exact)]);
    }
    Ok(found)
}
