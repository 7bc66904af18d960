//! Errors of creating, finding, resuming, importing and deleting sessions.

use std::path::PathBuf;

use pollux_protocol::SessionEntry;

use crate::listing::short_title;

/// Maximum number of sessions in a message.
const LISTED: usize = 20;

/// Failure of the session store. Where Gemini CLI 0.61 has a message, it is used unchanged; callers
/// put its `Error resuming session: ` (or `starting`, `importing session from file`) before the
/// message.
#[derive(Debug, thiserror::Error)]
pub enum SessionError {
    /// The project has no session that can be resumed.
    #[error("No previous sessions found for this project.")]
    NoneFound,
    /// No session has this id or number.
    #[error(
        "Invalid session identifier \"{identifier}\".\n  Searched for sessions in {}.\n  Use --list-sessions to see available sessions, then use --resume {{number}}, --resume {{uuid}}, or --resume latest.",
        folder.display()
    )]
    InvalidIdentifier {
        /// Identifier that was requested.
        identifier: String,
        /// Folder that was searched.
        folder: PathBuf,
    },
    /// Several sessions have an id with this beginning.
    #[error("Several sessions have an id that begins with \"{identifier}\":{}", lines(sessions))]
    AmbiguousIdentifier {
        /// Beginning that was given.
        identifier: String,
        /// Sessions with this beginning.
        sessions: Vec<SessionEntry>,
    },
    /// The session belongs to another project.
    #[error(
        "Session {id} belongs to the project {}.\n  Resume it there, or continue a copy here with --session-file {}",
        folder.display(),
        file.display()
    )]
    OtherProject {
        /// Id of the session.
        id: String,
        /// Folder of the project.
        folder: PathBuf,
        /// File of the session.
        file: PathBuf,
    },
    /// The id of a new session is already used by another session.
    #[error(
        "Session ID \"{0}\" already exists. Use --resume to resume it, or provide a different ID."
    )]
    AlreadyExists(String),
    /// The id contains characters that are not allowed in an id.
    #[error(
        "Invalid session ID \"{0}\": Only alphanumeric characters, dashes, and underscores are allowed."
    )]
    InvalidId(String),
    /// The file to import is not a session.
    #[error("File not found or invalid format: {0}")]
    Import(String),
    /// Another process has the session open.
    #[error("Session {id} is open in another process{}. End it first, or start a new session.", holder(*.process))]
    InUse {
        /// Id of the session.
        id: String,
        /// Process that opened the session last, if the log records it.
        process: Option<u32>,
    },
    /// The file has no content that could be continued. It is left unchanged.
    #[error("The session file {} cannot be read: {message}. It was not changed.", path.display())]
    Unreadable {
        /// Path of the file.
        path: PathBuf,
        /// Description of the problem.
        message: String,
    },
    /// The project has no session that can be deleted.
    #[error("No sessions found for this project.")]
    NothingToDelete,
    /// The session to delete does not exist.
    #[error("Invalid session identifier \"{0}\". Use --list-sessions to see available sessions.")]
    InvalidForDeletion(String),
    /// The conversation has no message.
    #[error("No conversation found to save.")]
    NothingToSave,
    /// The running session cannot be deleted.
    #[error("Cannot delete the current active session.")]
    Current,
    /// The file system reported an error.
    #[error(transparent)]
    Files(#[from] pollux_fs::Error),
}

/// Returns the first sessions, each on a line that begins with a line end.
fn lines(sessions: &[SessionEntry]) -> String {
    let line = |session: &SessionEntry| {
        format!("\n  {}. {} [{}]", session.index, short_title(session), session.id)
    };
    let more = sessions.len().saturating_sub(LISTED);
    let rest = (more > 0).then(|| format!("\n  and {more} more"));
    sessions.iter().take(LISTED).map(line).chain(rest).collect()
}

fn holder(process: Option<u32>) -> String {
    process.map_or_else(String::new, |process| format!(" (process {process})"))
}
