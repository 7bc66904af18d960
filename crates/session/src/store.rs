//! Sessions of a project: create, list, find, resume, import, delete.

use std::path::{Path, PathBuf};

use jiff::Timestamp;
use pollux_config::ProjectIdentity;
use pollux_fs::AppendLog;
use pollux_protocol::SessionEntry;
use serde_json::{Map, Value, json};
use uuid::Uuid;

use crate::contents;
use crate::encoder::{Lines, line, own};
use crate::error::SessionError;
use crate::layout::{Header, Message, Words};
use crate::listing::{self, is_session_file};
use crate::log::{SessionLog, timestamp};
use crate::reader::{Scan, load};
use crate::resume::SessionData;
use crate::{preview, subagents};

/// Identifier of the session that was changed last.
const LATEST: &str = "latest";

/// Minimum length of the beginning of an id that selects a session, in bytes.
const SHORTEST_PREFIX: usize = 4;

/// Maximum size of a session of one JSON object that is read whole, in bytes.
const LARGEST_OLD: u64 = 1 << 30;

/// Folders of a project's state that no session may be named after.
const RESERVED: [&str; 3] = ["chats", "logs", "tool-outputs"];

/// Sessions of one project. Creating the store reads nothing. All functions block the thread.
#[derive(Debug, Clone)]
pub struct SessionStore {
    pub(crate) chats: PathBuf,
    state: PathBuf,
    pub(crate) project_hash: String,
}

impl SessionStore {
    /// Creates the store for the sessions of `project`.
    pub fn new(project: &ProjectIdentity) -> Self {
        Self {
            chats: project.chats_dir(),
            state: project.temporary_dir.clone(),
            project_hash: project.hash.clone(),
        }
    }

    /// Returns the folder of the session files.
    pub fn folder(&self) -> &Path {
        &self.chats
    }

    /// Returns the folder of the project's state.
    pub(crate) fn state(&self) -> &Path {
        &self.state
    }

    /// Returns the store for the sessions of the project with this state folder.
    pub(crate) fn of_project(&self, state: &Path) -> Self {
        let project_hash = self.project_hash.clone();
        Self { chats: state.join("chats"), state: state.to_owned(), project_hash }
    }

    /// Checks that a session with this id can be created. Writes nothing.
    ///
    /// # Errors
    /// [`SessionError::AlreadyExists`], [`SessionError::InvalidId`].
    pub fn check_new(&self, id: &str) -> Result<(), SessionError> {
        if !is_valid(id) {
            return Err(SessionError::InvalidId(id.to_owned()));
        }
        if self.files_of(id).next().is_some() {
            return Err(SessionError::AlreadyExists(id.to_owned()));
        }
        Ok(())
    }

    /// Creates a session, with the given id or a new UUID.
    ///
    /// # Errors
    /// The errors of [`Self::check_new`]; [`SessionError::Files`] when the file cannot be created.
    pub fn create(&self, id: Option<&str>) -> Result<SessionLog, SessionError> {
        let id = match id {
            Some(id) => {
                self.check_new(id)?;
                id.to_owned()
            }
            None => Uuid::new_v4().to_string(),
        };
        let now = Timestamp::now();
        let minute = now.strftime("%Y-%m-%dT%H-%M");
        let (file, _) = self.begin(&id, &minute.to_string(), now, &Lines::new())?;
        Ok(SessionLog::new(&id, file, true))
    }

    /// Lists all sessions that can be resumed, the oldest first, then damaged files. Sessions of
    /// subagents, and those without user or model messages, are not listed.
    pub fn list(&self) -> Result<Vec<SessionEntry>, SessionError> {
        listing::list(&self.chats)
    }

    /// Returns the session with this `identifier`: `latest`, an id, a number of the list, or the
    /// beginning of an id. Only an id, or its beginning, selects the session of a subagent.
    ///
    /// # Errors
    /// [`SessionError::NoneFound`] (for `latest`, callers print a warning and start a new session),
    /// [`SessionError::InvalidIdentifier`], [`SessionError::AmbiguousIdentifier`].
    pub fn find(&self, identifier: &str) -> Result<SessionEntry, SessionError> {
        let identifier = identifier.trim();
        let mut sessions = self.list()?;
        if identifier == LATEST {
            sessions.retain(|session| !session.is_damaged);
            return sessions.pop().ok_or(SessionError::NoneFound);
        }
        if sessions.is_empty() {
            return Err(SessionError::NoneFound);
        }
        if let Some(chosen) = choose(&sessions, identifier) {
            return Ok(sessions.swap_remove(chosen));
        }
        let mut matches = by_prefix(sessions, identifier);
        if matches.is_empty() {
            matches = subagents::matching(&self.chats, identifier)?;
        }
        match matches.len() {
            1 => Ok(matches.swap_remove(0)),
            0 => Err(SessionError::InvalidIdentifier {
                identifier: identifier.to_owned(),
                folder: self.chats.clone(),
            }),
            _ => Err(SessionError::AmbiguousIdentifier {
                identifier: identifier.to_owned(),
                sessions: matches,
            }),
        }
    }

    /// Checks that no other process has a session open.
    ///
    /// # Errors
    /// [`SessionError::InUse`], [`SessionError::Files`].
    pub fn check_free(&self, session: &SessionEntry) -> Result<(), SessionError> {
        claim(&mut AppendLog::open(&session.path)?, &session.id)
    }

    /// Returns the number of messages of a session, its context not counted. `None` if the file is
    /// too large to be read for a list, or cannot be read.
    pub fn count(&self, session: &SessionEntry) -> Option<usize> {
        preview::scan(session).map(|(scan, _)| preview::count(&scan))
    }

    /// Reads the content of a session, without resuming it.
    ///
    /// # Errors
    /// [`SessionError::Unreadable`], [`SessionError::Files`].
    pub fn read(&self, session: &SessionEntry) -> Result<SessionData, SessionError> {
        SessionData::read(&session.path, &mut pollux_fs::open_to_read(&session.path)?)
    }

    /// Resumes a session: returns its log, locked for this process, and its content. New events are
    /// appended to the same file; its existing content does not change. A session in the old format
    /// of one JSON object is copied to a new file next to it.
    ///
    /// # Errors
    /// [`SessionError::InUse`] when another process has the session open;
    /// [`SessionError::Unreadable`].
    pub fn resume(
        &self,
        session: &SessionEntry,
    ) -> Result<(SessionLog, SessionData), SessionError> {
        if session.path.extension().is_some_and(|extension| extension == "json") {
            return self.migrate(session);
        }
        let mut file = AppendLog::open(&session.path)?;
        let claim = claim(&mut file, &session.id);
        let data = SessionData::read(&session.path, &mut pollux_fs::open_to_read(&session.path)?);
        let data = match (claim, data) {
            (Ok(()), data) => data?,
            (Err(SessionError::InUse { id, .. }), Ok(data)) => {
                return Err(SessionError::InUse { id, process: data.process });
            }
            (Err(error), _) => return Err(error),
        };
        append(&mut file, &opened()?)?;
        Ok((SessionLog::new(&data.id, file, !data.has_messages), data))
    }

    /// Copies the conversation of any session file, or of a file with the contents of a
    /// conversation, into a new session.
    ///
    /// # Errors
    /// [`SessionError::Import`] when the file is missing or not a session.
    pub fn import(&self, path: &Path) -> Result<(SessionLog, SessionData), SessionError> {
        let given = path.display().to_string();
        let now = Timestamp::now();
        let millisecond = now.as_millisecond();
        let text = format!("Imported session from {given}");
        let time = timestamp(now);
        let note = Message {
            id: &format!("import-{millisecond}"),
            timestamp: &time,
            kind: "info",
            content: Words::Text(&text),
            display_content: None,
            answer: None,
            extra: None,
        };
        let mut lines = vec![encoded(&note)?];
        let invalid = |_| SessionError::Import(given.clone());
        let was_said = |kind: &str| matches!(kind, "user" | "gemini");
        let recorded = living_lines(path, was_said).map_err(invalid)?;
        let messages = if let Some(messages) = recorded {
            messages
        } else {
            let found = contents::read(path)?;
            let found = found.ok_or_else(|| SessionError::Import(given.clone()))?;
            contents::lines(&contents::history(found), &time).map_err(no_json)?
        };
        lines.extend(messages);
        let id = Uuid::new_v4().to_string();
        let (file, path) = self.begin(&id, &millisecond.to_string(), now, &lines)?;
        let data = SessionData::read(&path, &mut pollux_fs::open_to_read(&path)?)?;
        Ok((SessionLog::new(&id, file, false), data))
    }

    /// Deletes a session and its belongings, because the user explicitly asked for it. `current` is
    /// the id of the running session.
    ///
    /// # Errors
    /// [`SessionError::NothingToDelete`], [`SessionError::InvalidForDeletion`],
    /// [`SessionError::Current`], [`SessionError::InUse`].
    pub fn delete(
        &self,
        identifier: &str,
        current: Option<&str>,
    ) -> Result<SessionEntry, SessionError> {
        let mut sessions = self.list()?;
        if sessions.is_empty() {
            return Err(SessionError::NothingToDelete);
        }
        let identifier = identifier.trim();
        let chosen = match identifier {
            LATEST => sessions.iter().rposition(|session| !session.is_damaged),
            identifier => choose(&sessions, identifier),
        };
        let session = chosen
            .map(|chosen| sessions.swap_remove(chosen))
            .ok_or_else(|| SessionError::InvalidForDeletion(identifier.to_owned()))?;
        if current == Some(&*session.id) {
            return Err(SessionError::Current);
        }
        claim(&mut AppendLog::open(&session.path)?, &session.id)?;
        if session.is_damaged {
            pollux_fs::remove_file(&session.path)?;
            return Ok(session);
        }
        // A session may have another file, in the old format or from an earlier day. It must be
        // deleted too; otherwise the session would appear in the list again.
        let others = self.files_of(&session.id).filter(|path| *path != session.path);
        for path in others.chain([session.path.clone()]) {
            pollux_fs::remove_file(&path)?;
        }
        self.delete_belongings(&session.id)?;
        Ok(session)
    }

    /// Deletes the session with this id and its belongings, also one without messages.
    ///
    /// # Errors
    /// [`SessionError::InUse`], [`SessionError::Files`].
    pub fn discard(&self, id: &str) -> Result<(), SessionError> {
        for path in self.files_of(id) {
            claim(&mut AppendLog::open(&path)?, id)?;
            pollux_fs::remove_file(&path)?;
        }
        self.delete_belongings(id)
    }

    /// Deletes logs, long outputs, plans and subagents of a session.
    fn delete_belongings(&self, id: &str) -> Result<(), SessionError> {
        let safe = safe_name(id);
        if safe.is_empty() {
            return Ok(());
        }
        let log = self.state.join("logs").join(format!("session-{safe}.jsonl"));
        gone(pollux_fs::remove_file(&log))?;
        gone(pollux_fs::remove_tree(
            &self.state.join("tool-outputs").join(format!("session-{safe}")),
        ))?;
        gone(pollux_fs::remove_tree(&self.chats.join(&safe)))?;
        if !RESERVED.contains(&&*safe.to_lowercase()) {
            gone(pollux_fs::remove_tree(&self.state.join(&safe)))?;
        }
        Ok(())
    }

    /// Returns the files of the session with this id. Only files whose names match the id are read.
    pub(crate) fn files_of(&self, id: &str) -> impl Iterator<Item = PathBuf> {
        let short = short_name(id);
        let entries = pollux_fs::list_directory(&self.chats).unwrap_or_default();
        let candidates = entries
            .into_iter()
            .filter(move |entry| is_session_file(&entry.name) && entry.name.contains(&short));
        candidates.map(|entry| entry.path).filter(move |path| {
            let mut scan = Scan::default();
            let read = pollux_fs::open_to_read(path).map(|mut source| scan.read(&mut source));
            matches!(read, Ok(Ok(()))) && scan.metadata.session_id.as_deref() == Some(id)
        })
    }

    /// Creates a new file with its header and these lines.
    fn begin(
        &self,
        id: &str,
        stamp: &str,
        now: Timestamp,
        lines: &Lines,
    ) -> Result<(AppendLog, PathBuf), SessionError> {
        let path = self.free_path(&format!("session-{stamp}-{}", short_name(id)), "jsonl");
        let time = timestamp(now);
        let header = encoded(&Header {
            session_id: id,
            project_hash: &self.project_hash,
            start_time: &time,
            last_updated: &time,
            kind: "main",
            directories: None,
        })?;
        let mut file = AppendLog::open(&path)?;
        claim(&mut file, id)?;
        append(&mut file, &vec![header])?;
        append(&mut file, lines)?;
        append(&mut file, &opened()?)?;
        Ok((file, path))
    }

    /// Returns a path that is not used yet. Two sessions may begin in the same minute with ids that
    /// have the same first characters.
    pub(crate) fn free_path(&self, stem: &str, extension: &str) -> PathBuf {
        let numbered = (2..).map(|number| format!("{stem}-{number}.{extension}"));
        std::iter::once(format!("{stem}.{extension}"))
            .chain(numbered)
            .map(|name| self.chats.join(name))
            .find(|path| pollux_fs::link_info(path).is_err())
            .unwrap_or_else(|| self.chats.join(format!("{stem}.{extension}")))
    }

    /// Copies a session of one JSON object to the new format. The old file is kept.
    fn migrate(&self, session: &SessionEntry) -> Result<(SessionLog, SessionData), SessionError> {
        let old = SessionData::read(&session.path, &mut pollux_fs::open_to_read(&session.path)?)?;
        let path = session.path.with_extension("jsonl");
        let unreadable = || SessionError::Unreadable {
            path: session.path.clone(),
            message: "it does not contain a session ID".to_owned(),
        };
        let messages = living_lines(&session.path, |_| true)?.ok_or_else(unreadable)?;
        let rest = other_keys(&session.path)?;
        let hash = if old.project_hash.is_empty() { &self.project_hash } else { &old.project_hash };
        let header = encoded(&Header {
            session_id: &old.id,
            project_hash: hash,
            start_time: &old.start_time,
            last_updated: &old.last_updated,
            kind: &old.kind,
            directories: None,
        })?;
        let mut file = AppendLog::open(&path)?;
        claim(&mut file, &old.id)?;
        append(&mut file, &vec![header])?;
        append(&mut file, &messages)?;
        if !rest.is_empty() {
            append(&mut file, &vec![encoded(&json!({ "$set": rest }))?])?;
        }
        append(&mut file, &opened()?)?;
        let data = SessionData::read(&path, &mut pollux_fs::open_to_read(&path)?)?;
        Ok((SessionLog::new(&data.id, file, !data.has_messages), data))
    }
}

/// Returns the keys of a session of one JSON object except the messages and the keys of a header:
/// title, folders and so on.
fn other_keys(path: &Path) -> Result<Map<String, Value>, SessionError> {
    const IN_THE_HEADER: [&str; 6] =
        ["sessionId", "projectHash", "startTime", "lastUpdated", "kind", "messages"];
    let bytes = pollux_fs::read_bytes(path, LARGEST_OLD)?;
    let mut keys: Map<String, Value> = serde_json::from_slice(&bytes).unwrap_or_default();
    keys.retain(|key, _| !IN_THE_HEADER.contains(&key.as_str()));
    Ok(keys)
}

/// Returns the live messages of these kinds, one line each; `None` if the file is not a session.
pub(crate) fn living_lines(
    path: &Path,
    is_wanted: impl Fn(&str) -> bool,
) -> Result<Option<Lines>, SessionError> {
    let failed = |error| SessionError::Files(pollux_fs::Error::from_io(path, error));
    let mut source = pollux_fs::open_to_read(path)?;
    let mut scan = Scan::default();
    scan.read(&mut source).map_err(failed)?;
    if scan.metadata.session_id.is_none() {
        return Ok(None);
    }
    let mut lines = Lines::new();
    for living in scan.messages.values() {
        let Some(text) = load(&mut source, living.span).map_err(failed)? else { continue };
        let Ok(message) = serde_json::from_str::<Value>(&text) else { continue };
        if message["type"].as_str().is_some_and(&is_wanted) {
            lines.push(encoded(&message)?);
        }
    }
    Ok(Some(lines))
}

/// Returns the position of a session: by its id first, then by a number written as in the list.
fn choose(sessions: &[SessionEntry], identifier: &str) -> Option<usize> {
    let by_id = sessions.iter().position(|session| session.id == identifier);
    let by_number = || {
        let number: usize = identifier.parse().ok()?;
        (number.to_string() == identifier).then_some(number)?.checked_sub(1)
    };
    by_id.or_else(by_number).filter(|position| *position < sessions.len())
}

/// Returns the sessions whose id begins with a text of at least [`SHORTEST_PREFIX`] bytes.
fn by_prefix(mut sessions: Vec<SessionEntry>, prefix: &str) -> Vec<SessionEntry> {
    sessions.retain(|session| {
        prefix.len() >= SHORTEST_PREFIX && !session.is_damaged && session.id.starts_with(prefix)
    });
    sessions
}

pub(crate) fn claim(file: &mut AppendLog, id: &str) -> Result<(), SessionError> {
    // On Windows a lock would keep other processes from listing the session.
    if cfg!(windows) {
        return Ok(());
    }
    match file.try_lock() {
        Err(pollux_fs::Error::Locked { .. }) => {
            Err(SessionError::InUse { id: id.to_owned(), process: None })
        }
        // Some network file systems have no locks; the user must be able to work there too.
        Ok(()) | Err(_) => Ok(()),
    }
}

/// Returns the line that names the process which writes from here on.
pub(crate) fn opened() -> Result<Lines, SessionError> {
    let opened = json!({ "process": std::process::id(), "version": env!("CARGO_PKG_VERSION") });
    own("opened", &opened).map_err(no_json)
}

pub(crate) fn encoded(value: &impl serde::Serialize) -> Result<Vec<u8>, SessionError> {
    line(value).map_err(no_json)
}

/// Converts a JSON error. Plain strings always have a JSON form, but the type system does not know
/// it.
fn no_json(error: serde_json::Error) -> SessionError {
    SessionError::Files(pollux_fs::Error::from_io("session", error.into()))
}

pub(crate) fn append(file: &mut AppendLog, lines: &Lines) -> Result<(), SessionError> {
    Ok(lines.iter().try_for_each(|line| file.append(line))?)
}

fn gone(result: pollux_fs::Result<()>) -> Result<(), SessionError> {
    match result {
        Err(error) if !error.is_not_found() => Err(error.into()),
        _ => Ok(()),
    }
}

pub(crate) fn is_valid(id: &str) -> bool {
    !id.is_empty() && safe_name(id) == id
}

/// Returns the id in a form that is safe in a path.
pub(crate) fn safe_name(id: &str) -> String {
    let safe = |character: char| match character {
        'a'..='z' | 'A'..='Z' | '0'..='9' | '-' | '_' => character,
        _ => '_',
    };
    id.chars().map(safe).collect()
}

/// Returns the first eight characters of the id, which name the file.
fn short_name(id: &str) -> String {
    safe_name(id).chars().take(8).collect()
}
