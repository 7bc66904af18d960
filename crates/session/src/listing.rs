//! The list of sessions: its members, their order and their titles.
//!
//! Of a long file only two pieces are read: the beginning, up to the first user message, and the
//! end, which has later changes of the title and the time.

use std::collections::HashMap;
use std::fmt::Write as _;
use std::path::Path;
use std::time::SystemTime;

use jiff::Timestamp;
use pollux_protocol::SessionEntry;
use pollux_protocol::plain_text::{for_terminal, one_line};
use serde_json::{Value, json};

use crate::error::SessionError;
use crate::log::timestamp;
use crate::reader::Scan;

#[cfg(test)]
mod tests;

/// Number of bytes of a file that are read first. Most sessions contain their title there.
const HEAD_BYTES: usize = 16 * 1024;

/// Kind of the sessions of subagents.
const SUBAGENT: &str = "subagent";

/// Maximum length of a title in characters; longer titles are cut.
const TITLE_LENGTH: usize = 100;

/// Returns the title of a session, cut if it is too long.
pub(crate) fn short_title(session: &SessionEntry) -> String {
    let title = session.title();
    if title.chars().count() > TITLE_LENGTH {
        title.chars().take(TITLE_LENGTH - 3).chain("...".chars()).collect()
    } else {
        title.to_owned()
    }
}

/// Returns a session of the project in `folder` as a JSON object.
fn to_json(session: &SessionEntry, folder: &Path) -> Value {
    json!({
        "index": session.index,
        "id": session.id,
        "title": session.title(),
        "firstMessage": session.first_message,
        "startTime": session.start_time,
        "lastUpdated": session.last_updated,
        "cwd": folder.display().to_string(),
        "file": session.path.display().to_string(),
        "isDamaged": session.is_damaged,
        "subagents": session.subagents.iter().map(subagent_to_json).collect::<Vec<_>>(),
    })
}

fn subagent_to_json(session: &SessionEntry) -> Value {
    json!({
        "id": session.id,
        "agent": session.agent,
        "title": session.title(),
        "startTime": session.start_time,
        "lastUpdated": session.last_updated,
        "file": session.path.display().to_string(),
    })
}

/// Lists the sessions of a `chats` folder. A folder that does not exist contains no sessions.
pub(crate) fn list(chats: &Path) -> Result<Vec<SessionEntry>, SessionError> {
    let entries = match pollux_fs::list_directory(chats) {
        Ok(entries) => entries,
        Err(error) if error.is_not_found() => return Ok(Vec::new()),
        Err(error) => return Err(error.into()),
    };
    let mut newest: HashMap<String, SessionEntry> = HashMap::new();
    let mut damaged = Vec::new();
    for entry in entries.iter().filter(|entry| is_session_file(&entry.name)) {
        match summarise(&entry.path) {
            Some(summary) if summary.is_damaged => damaged.push(summary),
            Some(summary) => {
                let is_older = newest.get(&summary.id).is_some_and(|other| {
                    instant(&other.last_updated) > instant(&summary.last_updated)
                });
                if !is_older {
                    newest.insert(summary.id.clone(), summary);
                }
            }
            None => {}
        }
    }
    let mut sessions: Vec<_> = newest.into_values().collect();
    sessions.sort_by_cached_key(|summary| (instant(&summary.start_time), summary.path.clone()));
    sessions.append(&mut damaged);
    for (index, summary) in sessions.iter_mut().enumerate() {
        summary.index = index + 1;
    }
    Ok(sessions)
}

pub(crate) fn is_session_file(name: &str) -> bool {
    let extension = Path::new(name).extension();
    name.starts_with("session-")
        && extension.is_some_and(|extension| extension == "jsonl" || extension == "json")
}

/// Reads the summary of the file of a subagent's session. Returns `None` for a session without
/// messages, and for a file of another kind.
pub(crate) fn summarise_subagent(path: &Path) -> Option<SessionEntry> {
    let (scan, is_whole) = survey(path).ok()??;
    (scan.metadata.kind.as_deref() == Some(SUBAGENT)).then_some(())?;
    entry(path, scan, is_whole)
}

/// Reads the summary of one file. Returns `None` for a session without user or model messages, and
/// for sessions of subagents.
pub(crate) fn summarise(path: &Path) -> Option<SessionEntry> {
    let (scan, is_whole) = match survey(path) {
        Ok(Some(survey)) => survey,
        // The file is empty or has been deleted.
        Ok(None) => return None,
        Err(error) if error.is_not_found() => return None,
        Err(_) => return Some(damaged(path)),
    };
    if scan.metadata.session_id.is_none() {
        return Some(damaged(path));
    }
    if scan.metadata.kind.as_deref() == Some(SUBAGENT) {
        return None;
    }
    entry(path, scan, is_whole)
}

/// Returns the entry of a session that can be resumed.
fn entry(path: &Path, scan: Scan, is_whole: bool) -> Option<SessionEntry> {
    if !scan.is_resumable() {
        return None;
    }
    let Scan { metadata, first_words, .. } = scan;
    let id = metadata.session_id?;
    // The modification time of the file is used if only a part of the file was read.
    let recorded = metadata.last_updated.filter(|_| is_whole);
    let last_updated = recorded.unwrap_or_else(|| modified(path));
    Some(SessionEntry {
        id,
        path: path.into(),
        index: 0,
        start_time: metadata.start_time.unwrap_or_else(|| last_updated.clone()),
        last_updated,
        first_message: first_words
            .map_or_else(|| "Empty conversation".to_owned(), |words| printable(&words)),
        summary: metadata.summary.map(|summary| printable(&summary)),
        is_damaged: false,
        agent: metadata.agent.map(|agent| printable(&agent)),
        subagents: Vec::new(),
    })
}

/// Scans as much of the file as necessary, and returns the scan and whether it covered the whole
/// file.
fn survey(path: &Path) -> Result<Option<(Scan, bool)>, pollux_fs::Error> {
    let head = pollux_fs::read_head(path, HEAD_BYTES)?;
    if head.is_empty() {
        return Ok(None);
    }
    if head.len() == HEAD_BYTES && path.extension().is_some_and(|extension| extension == "jsonl") {
        let mut scan = Scan::survey();
        let mut offset = 0;
        for line in head.split_inclusive(|byte| *byte == b'\n').filter(|line| line.ends_with(b"\n"))
        {
            scan.line(line, offset);
            offset += line.len() as u64;
        }
        if scan.metadata.is_known() && scan.first_words.is_some() {
            let began = scan.metadata.last_updated.clone();
            if let Some(scan) = with_end(path, scan)? {
                let is_reported = scan.metadata.last_updated != began;
                return Ok(Some((scan, is_reported)));
            }
        }
    }
    let mut scan = Scan::survey();
    let failed = |error| pollux_fs::Error::from_io(path, error);
    if head.len() < HEAD_BYTES {
        scan.read(&mut std::io::Cursor::new(head)).map_err(failed)?;
    } else {
        scan.read(&mut pollux_fs::open_to_read(path)?).map_err(failed)?;
    }
    Ok(Some((scan, true)))
}

/// Adds the changes of title and time at the end of the file. Returns `None` if the end removes
/// messages, so that the whole file must be read.
fn with_end(path: &Path, mut scan: Scan) -> Result<Option<Scan>, pollux_fs::Error> {
    let end = pollux_fs::read_tail(path, HEAD_BYTES)?;
    let lines = end.split_inclusive(|byte| *byte == b'\n').skip(1);
    for line in lines.filter(|line| line.starts_with(b"{\"$") && line.ends_with(b"\n")) {
        let text = String::from_utf8_lossy(line);
        if text.starts_with("{\"$rewindTo\"") || text.contains("\"messages\"") {
            return Ok(None);
        }
        // Changes of the header refer to no message, so their offset does not matter.
        if text.starts_with("{\"$set\"") {
            scan.line(line, 0);
        }
    }
    Ok(Some(scan))
}

fn damaged(path: &Path) -> SessionEntry {
    let name = path.file_stem().map(|name| name.to_string_lossy().into_owned()).unwrap_or_default();
    let time = modified(path);
    SessionEntry {
        first_message: "(damaged file)".to_owned(),
        id: name,
        path: path.into(),
        index: 0,
        start_time: time.clone(),
        last_updated: time,
        summary: None,
        is_damaged: true,
        agent: None,
        subagents: Vec::new(),
    }
}

fn modified(path: &Path) -> String {
    let time = pollux_fs::info(path).ok().and_then(|info| info.modified);
    let time = time.unwrap_or(SystemTime::UNIX_EPOCH);
    timestamp(Timestamp::try_from(time).unwrap_or(Timestamp::UNIX_EPOCH))
}

fn instant(time: &str) -> Timestamp {
    time.parse().unwrap_or(Timestamp::UNIX_EPOCH)
}

/// Converts a title, which may be in any language, to one line that does not act on a terminal.
fn printable(title: &str) -> String {
    one_line(&for_terminal(title))
}

/// Returns the age of `time` (RFC 3339) as text: `Just now`, `1 minute ago`, `3 days ago`.
pub fn age(time: &str, now: Timestamp) -> String {
    let seconds = now.duration_since(instant(time)).as_secs();
    let (count, unit) = match seconds {
        86_400.. => (seconds / 86_400, "day"),
        3_600.. => (seconds / 3_600, "hour"),
        60.. => (seconds / 60, "minute"),
        _ => return "Just now".to_owned(),
    };
    format!("{count} {unit}{} ago", if count == 1 { "" } else { "s" })
}

/// Returns the text that `--list-sessions` prints on stdout. `current` is the id of the running
/// session, if there is one.
pub fn format_list(sessions: &[SessionEntry], current: Option<&str>, now: Timestamp) -> String {
    if sessions.is_empty() {
        return "No previous sessions found for this project.".to_owned();
    }
    let mut text = format!("\nAvailable sessions for this project ({}):\n", sessions.len());
    for session in sessions {
        let title = short_title(session);
        let mark = if current == Some(&*session.id) { ", current" } else { "" };
        let age = age(&session.last_updated, now);
        // Writing to a string cannot fail.
        let _written =
            writeln!(text, "  {}. {title} ({age}{mark}) [{}]", session.index, session.id);
        for subagent in &session.subagents {
            let (agent, title) = (subagent.agent.as_deref(), short_title(subagent));
            let (agent, id) = (agent.unwrap_or(SUBAGENT), &subagent.id);
            let _written = writeln!(text, "       - {agent}: {title} [{id}]");
        }
    }
    text
}

/// Returns the sessions of the project in `folder` as a JSON array, with a final line feed.
pub fn format_list_as_json(sessions: &[SessionEntry], folder: &Path) -> String {
    let list: Value = sessions.iter().map(|session| to_json(session, folder)).collect();
    format!("{list:#}\n")
}

/// Returns the text that `--delete-session` prints on stdout, without a final line feed.
pub fn format_deleted(session: &SessionEntry, now: Timestamp) -> String {
    let age = age(&session.last_updated, now);
    format!("Deleted session {}: {} ({age})", session.index, session.first_message)
}
