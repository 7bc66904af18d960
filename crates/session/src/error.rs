//! Why a session could not be created, found, resumed, imported or deleted.

use std::path::PathBuf;

/// Every way in which the store fails. The texts are those that Gemini CLI 0.61 prints, where it has them; callers
/// put its `Error resuming session: ` (or `starting`, `importing session from file`) before them.
#[derive(Debug, thiserror::Error)]
pub enum SessionError {
    /// There is nothing to resume.
    #[error("No previous sessions found for this project.")]
    NoneFound,
    /// No session has this id or number.
    #[error(
        "Invalid session identifier \"{identifier}\".\n  Searched for sessions in {}.\n  Use --list-sessions to see available sessions, then use --resume {{number}}, --resume {{uuid}}, or --resume latest.",
        folder.display()
    )]
    InvalidIdentifier {
        /// What was asked for.
        identifier: String,
        /// Where it was searched.
        folder: PathBuf,
    },
    /// A new session was given the id of an old one.
    #[error(
        "Session ID \"{0}\" already exists. Use --resume to resume it, or provide a different ID."
    )]
    AlreadyExists(String),
    /// The id has characters that an id may not have.
    #[error(
        "Invalid session ID \"{0}\": Only alphanumeric characters, dashes, and underscores are allowed."
    )]
    InvalidId(String),
    /// The file to import is no session.
    #[error("File not found or invalid format: {0}")]
    Import(String),
    /// Another process works on the session.
    #[error("Session {id} is open in another process{}. End it first, or start a new session.", holder(*.process))]
    InUse {
        /// The session.
        id: String,
        /// The process that opened it last, when the log says so.
        process: Option<u32>,
    },
    /// The file holds nothing that could be gone on with. It is left as it is.
    #[error("The session file {} cannot be read: {message}. It was left as it is.", path.display())]
    Unreadable {
        /// The file.
        path: PathBuf,
        /// What is wrong.
        message: String,
    },
    /// There is nothing to delete.
    #[error("No sessions found for this project.")]
    NothingToDelete,
    /// What was to be deleted does not exist.
    #[error("Invalid session identifier \"{0}\". Use --list-sessions to see available sessions.")]
    InvalidForDeletion(String),
    /// The running session cannot be deleted.
    #[error("Cannot delete the current active session.")]
    Current,
    /// The system refused.
    #[error(transparent)]
    Files(#[from] pollux_fs::Error),
}

fn holder(process: Option<u32>) -> String {
    process.map_or_else(String::new, |process| format!(" (process {process})"))
}
