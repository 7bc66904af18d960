//! Opening, listing and deleting sessions.

use std::fmt;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use async_trait::async_trait;
use futures::future::BoxFuture;

use crate::{
    AgentHandle, ApprovalMode, Files, LocalFiles, Notices, Observer, Operator, Part, Severity,
    Todo, TranscriptFrom, TranscriptPage,
};

/// Start of a session.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum SessionStart {
    /// A new session, with this id or a generated one.
    New(Option<String>),
    /// An earlier session of the folder: its id, its number in the list, or `latest`.
    Resume(String),
    /// A new session with the conversation of a session file from any location; the path may be
    /// relative to the folder.
    Import(PathBuf),
}

impl Default for SessionStart {
    fn default() -> Self {
        Self::New(None)
    }
}

/// Request for a session. The options of the implementation, and the settings that apply in the
/// folder, determine everything that the request leaves open.
#[derive(Clone)]
pub struct SessionRequest {
    /// Absolute path of the project's folder.
    pub folder: PathBuf,
    /// Workspace folders in addition to the project's folder and those of the settings. They may be
    /// relative to the project's folder, or begin with `~/`.
    pub further_folders: Vec<PathBuf>,
    /// Start of the session.
    pub start: SessionStart,
    /// Model, by name or alias.
    pub model: Option<String>,
    /// Approval mode.
    pub mode: Option<ApprovalMode>,
    /// Connection to the user for questions before the session runs, such as whether to trust the
    /// folder; `None` for a session without a user, in which nobody answers questions.
    pub operator: Option<Arc<dyn Operator>>,
    /// Sink for messages that belong to no prompt.
    pub notices: Arc<dyn Notices>,
    /// Holder of the text of files, such as an editor.
    pub files: Arc<dyn Files>,
    /// Receivers of all events and measurements of the session.
    pub observers: Vec<Arc<dyn Observer>>,
}

impl SessionRequest {
    /// Creates a request for a new session in a folder, without a user. Messages are dropped, and
    /// all files are on the disk.
    pub fn new(folder: impl Into<PathBuf>) -> Self {
        Self {
            folder: folder.into(),
            further_folders: Vec::new(),
            start: SessionStart::default(),
            model: None,
            mode: None,
            operator: None,
            notices: Arc::new(|_: Severity, _: &str| {}),
            files: Arc::new(LocalFiles),
            observers: Vec::new(),
        }
    }
}

impl fmt::Debug for SessionRequest {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut fields = formatter.debug_struct("SessionRequest");
        fields.field("folder", &self.folder).field("start", &self.start).finish_non_exhaustive()
    }
}

/// State of an earlier conversation, for a greeting.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct ResumedState {
    /// Topic of the work.
    pub topic: Option<String>,
    /// File of the plan that the user has approved, as the model named it.
    pub plan: Option<String>,
    /// To-do list.
    pub todos: Vec<Todo>,
    /// Title of the session, one line.
    pub title: String,
    /// Local time of the last change, such as `2026-11-23 18:05`.
    pub last_used: String,
}

/// Facts known when a session is opened.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SessionFacts {
    /// Id of the session.
    pub id: String,
    /// The project's folder.
    pub folder: PathBuf,
    /// Folder for the project's temporary files. It may not exist.
    pub temporary_folder: PathBuf,
    /// Model that was requested: a name, an alias or `auto`.
    pub model: String,
    /// Approval mode.
    pub mode: ApprovalMode,
    /// True if the folder is trusted.
    pub is_trusted: bool,
    /// True if text typed while the model works is sent to the model immediately
    /// ([`crate::Op::Steer`]), instead of after the work (`experimental.modelSteering`).
    pub is_steered: bool,
    /// True if the user listens to the text, so that labels must be short
    /// (`ui.accessibility.screenReader`).
    pub is_for_screen_reader: bool,
    /// State of the conversation; `None` for a new one.
    pub resumed: Option<ResumedState>,
}

/// An open session. Closing or dropping it ends its agent.
#[async_trait]
pub trait RunningSession: Send + Sync {
    /// Returns the facts known when the session was opened.
    fn facts(&self) -> &SessionFacts;

    /// Returns the handle of the agent.
    fn handle(&self) -> Arc<dyn AgentHandle>;

    /// Reads a page of the conversation as the user saw it, with the items of at most `count`
    /// messages; fewer if the messages are large. Everything that was recorded before the call is
    /// part of the transcript, also if its event has not arrived yet. The time for the first page
    /// grows with the size of the session log, the memory only with the page.
    ///
    /// # Errors
    /// The message for the user if the session log cannot be read.
    async fn transcript(
        &self,
        from: TranscriptFrom,
        count: usize,
    ) -> Result<TranscriptPage, SessionsError>;

    /// Expands the `@path`s of a prompt that the user typed. A prompt without any becomes one
    /// unchanged part.
    ///
    /// # Errors
    /// The message for the user if a file that the prompt names cannot be read.
    fn expand(&self, prompt: String) -> BoxFuture<'static, Result<Vec<Part>, SessionsError>>;

    /// Returns the paths of the workspace that begin with this text, as they are written after an
    /// `@`, sorted. A folder ends with `/`. Ignored files are left out.
    fn complete_path(&self, partial: String) -> BoxFuture<'static, Vec<String>>;

    /// Reads the settings files again, even while a prompt runs. The user is not asked: of the
    /// project's settings, only those with existing consent take effect.
    /// [`crate::Event::SettingsChanged`] reports every difference.
    ///
    /// # Errors
    /// The message for the user if a file cannot be used. The settings have then not
    /// changed.
    async fn reload_settings(&self) -> Result<(), SessionsError>;

    /// Stores a prompt for [`Self::recent_prompts`] of later sessions.
    fn record_prompt(&self, prompt: &str);

    /// Returns at most `count` of the last prompts that were typed in the project, oldest first.
    /// Blocks the thread.
    fn recent_prompts(&self, count: usize) -> Vec<String>;

    /// Ends the agent and waits, for a limited time, until all its data is written.
    async fn close(self: Box<Self>);
}

/// Session in the list of sessions.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SessionEntry {
    /// Id of the session; for a damaged file the file name without the extension.
    pub id: String,
    /// Position in the list, from 1: the oldest session first, damaged files last.
    pub index: usize,
    /// Title, one line.
    pub title: String,
    /// Time of the last change, in RFC 3339 format.
    pub last_updated: String,
    /// True for a file that does not identify a session.
    pub is_damaged: bool,
}

/// Error of opening, listing or deleting a session, or of expanding its prompt, with the message
/// for the user.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{0}")]
pub struct SessionsError(pub String);

/// Access to sessions for frontends, which may have any number of open sessions, in any folders.
#[async_trait]
pub trait Sessions: Send + Sync {
    /// Opens a session. Questions that arise before it runs go to the operator of the
    /// request.
    ///
    /// # Errors
    /// The message for the user.
    async fn open(&self, request: SessionRequest)
    -> Result<Box<dyn RunningSession>, SessionsError>;

    /// Opens an earlier session of a folder: by its id, its number in the list, or as `latest`.
    ///
    /// # Errors
    /// The same as of [`Self::open`].
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
    /// The message for the user.
    async fn list(&self, folder: &Path) -> Result<Vec<SessionEntry>, SessionsError>;

    /// Deletes a session of a folder, by its id or its number in the list.
    ///
    /// # Errors
    /// The message for the user.
    async fn delete(&self, folder: &Path, session: &str) -> Result<(), SessionsError>;
}
