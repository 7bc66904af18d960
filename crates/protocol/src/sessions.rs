//! Sessions: opening more of them, listing and deleting.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use async_trait::async_trait;
use futures::future::BoxFuture;

use crate::{AgentHandle, ApprovalMode, Part, Todo};

/// Beginning of a session.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum SessionStart {
    /// A new session, with this id or one of the program's choice.
    New(Option<String>),
    /// An earlier session of the folder: its id, its number in the list, or `latest`.
    Resume(String),
    /// A new session with the conversation of a session file from anywhere; the path may be relative to the folder.
    Import(PathBuf),
}

impl Default for SessionStart {
    fn default() -> Self {
        Self::New(None)
    }
}

/// Request for a session. Everything that it leaves open is decided by the options of whoever opens sessions, and by the
/// settings that count in the folder.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SessionRequest {
    /// The project's folder, absolute.
    pub folder: PathBuf,
    /// Beginning of the session.
    pub start: SessionStart,
    /// Model, by name or alias.
    pub model: Option<String>,
    /// Approval mode.
    pub mode: Option<ApprovalMode>,
}

impl SessionRequest {
    /// Request for a new session in a folder.
    pub fn new(folder: impl Into<PathBuf>) -> Self {
        Self { folder: folder.into(), start: SessionStart::default(), model: None, mode: None }
    }
}

/// State of an earlier conversation, for a greeting.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct ResumedState {
    /// Topic of the work.
    pub topic: Option<String>,
    /// File of the plan that the person has approved, as the model named it.
    pub plan: Option<String>,
    /// Things to do.
    pub todos: Vec<Todo>,
}

/// What is known of a session when it is opened.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SessionFacts {
    /// Id of the session.
    pub id: String,
    /// The project's folder.
    pub folder: PathBuf,
    /// Folder for the project's temporary files. It may not exist.
    pub temporary_folder: PathBuf,
    /// Model that was asked for: a name, an alias or `auto`.
    pub model: String,
    /// Approval mode.
    pub mode: ApprovalMode,
    /// True if the folder is trusted.
    pub is_trusted: bool,
    /// True if words that are typed while the model works go to it at once ([`crate::Op::Steer`]), instead
    /// of waiting for its end (`experimental.modelSteering`).
    pub is_steered: bool,
    /// State of the conversation; `None` for a new one.
    pub resumed: Option<ResumedState>,
}

/// An open session. Its agent ends when it is closed or dropped.
#[async_trait]
pub trait RunningSession: Send + Sync {
    /// Returns what was known of the session when it was opened.
    fn facts(&self) -> &SessionFacts;

    /// Returns the way to the agent.
    fn handle(&self) -> Arc<dyn AgentHandle>;

    /// Expands the `@path`s of a prompt that a person typed. A prompt without any is one part, as it was.
    ///
    /// # Errors
    /// The message for the person when a file that the prompt names cannot be read.
    fn expand(&self, prompt: String) -> BoxFuture<'static, Result<Vec<Part>, SessionsError>>;

    /// Reads the settings files again, also while a prompt runs. Nobody is asked: of the project only what has been agreed
    /// to takes effect. [`crate::Event::SettingsChanged`] reports every difference.
    ///
    /// # Errors
    /// The message for the person when a file cannot be used. Nothing has changed then.
    async fn reload_settings(&self) -> Result<(), SessionsError>;

    /// Keeps a prompt for [`Self::recent_prompts`] of later sessions.
    fn record_prompt(&self, prompt: &str);

    /// Returns the last prompts that were typed in the project, the oldest first, at most `count`. Blocks the thread.
    fn recent_prompts(&self, count: usize) -> Vec<String>;

    /// Ends the agent and waits, for a bounded time, until everything that it leaves is written.
    async fn close(self: Box<Self>);
}

/// A session as the list shows it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SessionEntry {
    /// Id of the session; for a damaged file its name without the extension.
    pub id: String,
    /// Position in the list, from 1: the oldest session first, damaged files last.
    pub index: usize,
    /// Title in one line.
    pub title: String,
    /// Time of the last change, RFC 3339.
    pub last_updated: String,
    /// True for a file that names no session.
    pub is_damaged: bool,
}

/// A session could not be opened, listed or deleted, or its prompt not be expanded: the message for the person.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{0}")]
pub struct SessionsError(pub String);

/// The port for frontends that open sessions: any number of them side by side, in any folders.
#[async_trait]
pub trait Sessions: Send + Sync {
    /// Opens a session. Questions that come up before it runs go to the operator of the implementation.
    ///
    /// # Errors
    /// The message for the person.
    async fn open(&self, request: SessionRequest)
    -> Result<Box<dyn RunningSession>, SessionsError>;

    /// Opens an earlier session of a folder: by its id, its number in the list, or as `latest`.
    ///
    /// # Errors
    /// As [`Self::open`].
    async fn resume(
        &self,
        folder: &Path,
        session: &str,
    ) -> Result<Box<dyn RunningSession>, SessionsError> {
        let start = SessionStart::Resume(session.to_owned());
        self.open(SessionRequest { start, ..SessionRequest::new(folder) }).await
    }

    /// Lists the sessions of a folder that can be resumed.
    ///
    /// # Errors
    /// The message for the person.
    async fn list(&self, folder: &Path) -> Result<Vec<SessionEntry>, SessionsError>;

    /// Deletes a session of a folder, by its id or its number in the list.
    ///
    /// # Errors
    /// The message for the person.
    async fn delete(&self, folder: &Path, session: &str) -> Result<(), SessionsError>;
}
