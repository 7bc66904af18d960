//! Opening, listing and deleting sessions.

use std::collections::BTreeMap;
use std::fmt;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::{Duration, Instant};

use async_trait::async_trait;
use futures::future::BoxFuture;
use serde_json::{Map, Value};

use crate::{
    AgentHandle, ApprovalMode, CommandSet, Files, Live, LocalFiles, ModelListing, Notices,
    Observer, Operator, Part, ServerListing, SessionsError, SettingEntry, SettingValues, Severity,
    Todo, TranscriptFrom, TranscriptPage,
};

/// Completions of a text that is being typed.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Completions {
    /// The completed texts, the best first.
    pub texts: Vec<String>,
    /// True if there may be more: the same request continues the search.
    pub is_partial: bool,
}

/// Start of a session.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum SessionStart {
    /// A new session, with this id or a generated one.
    New(Option<String>),
    /// An earlier session of the folder: its id, its number in the list, or `latest`.
    Resume(String),
    /// A new session with the conversation of a file from any location: a session file, or the
    /// contents of a conversation in JSON. The path may be relative to the folder.
    Import(PathBuf),
    /// A new session that takes the place of one that the user has cleared.
    Cleared,
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
    /// True if the user can answer questions of the model; the model has no tool for them
    /// otherwise.
    pub answers_model: bool,
    /// True if the work continues after the user has refused a call; otherwise it stops, so that
    /// the user can say what to do instead.
    pub continues_after_no: bool,
    /// Sink for messages that belong to no prompt.
    pub notices: Arc<dyn Notices>,
    /// Holder of the text of files, such as an editor.
    pub files: Arc<dyn Files>,
    /// Receivers of all events and measurements of the session.
    pub observers: Vec<Arc<dyn Observer>>,
    /// Settings by dotted key. They override the settings files, except those of the system.
    pub settings: Map<String, Value>,
    /// MCP servers by name, each in the form of an entry of `mcpServers` without references to
    /// variables. They take precedence over the servers of the settings.
    pub servers: Map<String, Value>,
    /// Variables by name. They take precedence over the environment of the process, for credentials
    /// that the user has given to the frontend.
    pub variables: BTreeMap<String, String>,
    /// True if the frontend opens another session in place of this one when
    /// [`crate::Event::SwitchRequested`] asks for it.
    pub can_switch: bool,
    /// Keys of settings that the frontend applies as soon as [`crate::Event::SettingsChanged`]
    /// reports a change.
    pub live_settings: &'static [&'static str],
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
            answers_model: true,
            continues_after_no: false,
            notices: Arc::new(|_: Severity, _: &str| {}),
            files: Arc::new(LocalFiles),
            observers: Vec::new(),
            settings: Map::new(),
            servers: Map::new(),
            variables: BTreeMap::new(),
            can_switch: false,
            live_settings: &[],
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
    /// True if additional diagnostic messages were requested.
    pub is_debug: bool,
    /// State of the conversation; `None` for a new one.
    pub resumed: Option<ResumedState>,
}

/// Command that runs in the background.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct BackgroundCommand {
    /// Process number, by which `/tasks` names it.
    pub id: u32,
    /// Command line.
    pub command: String,
    /// Time at which it came into the background.
    pub since: Instant,
}

/// An open session. Closing or dropping it ends its agent.
#[async_trait]
pub trait RunningSession: Send + Sync {
    /// Returns the facts known when the session was opened.
    fn facts(&self) -> &SessionFacts;

    /// Returns the settings as they were last read.
    fn settings(&self) -> SettingValues;

    /// Reads all settings with their sources, for a list in which the user changes them.
    fn setting_entries(&self) -> BoxFuture<'static, Result<Vec<SettingEntry>, SessionsError>>;

    /// Returns the handle of the agent.
    fn handle(&self) -> Arc<dyn AgentHandle>;

    /// Returns the commands that run in the background, the oldest first.
    fn background(&self) -> Live<Vec<BackgroundCommand>>;

    /// Returns the models that can be requested, as far as known without asking their vendors.
    /// Model servers on this machine are asked, which may take a second.
    fn models(&self) -> BoxFuture<'static, Vec<ModelListing>>;

    /// Returns the MCP servers with their states, tools, prompts and resources, as they are now.
    fn servers(&self) -> Vec<ServerListing>;

    /// Checks that settings and trust allow an approval mode. A frontend calls it before it sends
    /// [`crate::Op::SetMode`].
    ///
    /// # Errors
    /// The reason, for the user.
    fn check_mode(&self, mode: ApprovalMode) -> Result<(), SessionsError>;

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

    /// Reads what a list shows about a session of the project. `None` if its file is too large to
    /// be read for a list, or cannot be read.
    fn preview(&self, session: SessionEntry) -> BoxFuture<'static, Option<SessionPreview>>;

    /// Waits until the session has everything that its first request waits for, such as the tools
    /// and prompts of servers. In a conversation nothing is waited for.
    fn ready(&self) -> BoxFuture<'static, ()>;

    /// Expands the `@path`s of a prompt, and the resources of servers that it names. A prompt
    /// without any becomes one unchanged part.
    ///
    /// # Errors
    /// The message for the user if a file or resource that the prompt names cannot be read.
    fn expand(
        &self,
        prompt: String,
        source: PromptSource,
    ) -> BoxFuture<'static, Result<Vec<Part>, SessionsError>>;

    /// Expands `@path`s that stand for the links of a prompt, like [`Self::expand`], except that
    /// ignored files are left out: a program may have added the links, such as an editor that adds
    /// the file in view. Also reads paths outside of the workspace that the user has allowed for
    /// this prompt.
    ///
    /// # Errors
    /// The errors of [`Self::expand`].
    fn expand_links(
        &self,
        links: String,
        allowed: Vec<PathBuf>,
    ) -> BoxFuture<'static, Result<Vec<Part>, SessionsError>>;

    /// True if tools and `@path`s may read this absolute path. Looks at the disk.
    fn is_readable(&self, path: &Path) -> bool;

    /// Returns the paths of the workspace that match this text, as they are written after an `@`:
    /// those that begin with it, sorted, and then others. A folder ends with `/`. Ignored files are
    /// left out. The answer takes little more than `limit`.
    fn complete_path(&self, partial: String, limit: Duration) -> BoxFuture<'static, Completions>;

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

    /// True if the user wants the session to be deleted when it is closed.
    fn is_deleted_at_end(&self) -> bool;

    /// Ends the agent and waits, for a limited time, until all its data is written.
    async fn close(self: Box<Self>);
}

/// Session in the list of sessions.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SessionEntry {
    /// Id of the session; for a damaged file the file name without the extension.
    pub id: String,
    /// Path of the session file.
    pub path: PathBuf,
    /// Position in the list, from 1: the oldest session first, damaged files last.
    pub index: usize,
    /// Time of the start, in RFC 3339 format.
    pub start_time: String,
    /// Time of the last change, in RFC 3339 format.
    pub last_updated: String,
    /// First message of the user, on one line, without control characters.
    pub first_message: String,
    /// Title that Gemini CLI generated, if any.
    pub summary: Option<String>,
    /// True if the file does not identify a session. It is listed, and left unchanged.
    pub is_damaged: bool,
    /// Name of the subagent whose session it is; `None` for the session of a user, and if it is not
    /// known.
    pub agent: Option<String>,
    /// Sessions of its subagents, the oldest first, where they are listed.
    pub subagents: Vec<Self>,
}

impl SessionEntry {
    /// Returns the title, one line.
    pub fn title(&self) -> &str {
        self.summary.as_deref().unwrap_or(&self.first_message)
    }
}

/// Summary of a session for which its whole file is read.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct SessionPreview {
    /// Number of messages, the context not counted.
    pub messages: usize,
    /// Last prompt of the user: its beginning, on one line, without control characters.
    pub last_prompt: Option<String>,
}

/// Source of a prompt.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum PromptSource {
    /// The user typed the whole prompt.
    Typed,
    /// A program wrote the references, such as an editor.
    Linked,
    /// Part of the prompt came through a pipe.
    Piped {
        /// Number of bytes at the end of the prompt that the user typed.
        typed: usize,
    },
}

/// A session whose settings, models and limits are known, and that has not begun: it has no agent,
/// no hook has run, and a new session has no file. Dropping it leaves nothing behind.
#[async_trait]
pub trait PreparedSession: Send + Sync {
    /// Returns the facts known so far. Of a resumed conversation, they contain the title and the
    /// last messages.
    fn facts(&self) -> &SessionFacts;

    /// Returns the settings of the session.
    fn settings(&self) -> SettingValues;

    /// Returns the models that can be requested, like [`RunningSession::models`].
    fn models(&self) -> BoxFuture<'static, Vec<ModelListing>>;

    /// Returns the slash commands that the session will have, for a list of them: they act on
    /// nothing before it runs.
    ///
    /// # Errors
    /// The message for the user if they cannot be determined.
    async fn commands(&self) -> Result<CommandSet, SessionsError>;

    /// Checks that settings and trust allow an approval mode, like [`RunningSession::check_mode`].
    ///
    /// # Errors
    /// The reason, for the user.
    fn check_mode(&self, mode: ApprovalMode) -> Result<(), SessionsError>;

    /// Returns true if the prompt names something of a server, which only a running session knows.
    fn names_server(&self, prompt: &str) -> bool;

    /// Expands the `@path`s of the first prompt, like [`RunningSession::expand`].
    ///
    /// # Errors
    /// The message for the user if a file that the prompt names cannot be read, or if the prompt
    /// calls a command that is not available.
    fn expand(
        &self,
        prompt: String,
        source: PromptSource,
    ) -> BoxFuture<'static, Result<Vec<Part>, SessionsError>>;

    /// Leaves out the commands of files and skills, which need not be searched then. For a session
    /// without a user whose only prompt calls no command.
    fn leave_out_prompt_commands(&mut self);

    /// Starts the agent.
    ///
    /// # Errors
    /// The message for the user if the file of the session cannot be created.
    async fn start(self: Box<Self>) -> Result<Box<dyn RunningSession>, SessionsError>;
}

/// Access to sessions for frontends, which may have any number of open sessions, in any folders.
#[async_trait]
pub trait Sessions: Send + Sync {
    /// Prepares a session: reads the settings, finds or names the session, and selects its models.
    /// Questions go to the operator of the request.
    ///
    /// # Errors
    /// The message for the user.
    async fn prepare(
        &self,
        request: SessionRequest,
    ) -> Result<Box<dyn PreparedSession>, SessionsError>;

    /// Opens a session.
    ///
    /// # Errors
    /// The message for the user.
    async fn open(
        &self,
        request: SessionRequest,
    ) -> Result<Box<dyn RunningSession>, SessionsError> {
        self.prepare(request).await?.start().await
    }

    /// Lists the sessions that can be resumed in the folder of the request. Settings that cannot be
    /// used are reported as for opening a session, but nothing is asked and nothing is stored.
    ///
    /// # Errors
    /// The message for the user.
    async fn list(&self, request: SessionRequest) -> Result<Vec<SessionEntry>, SessionsError>;

    /// Deletes a session of the folder of the request, by its id, its number in the list or
    /// `latest`, and returns the deleted entry. The settings are treated as by [`Self::list`].
    ///
    /// # Errors
    /// The message for the user; [`SessionFailure::Input`] if there is no such session.
    async fn delete(
        &self,
        request: SessionRequest,
        session: &str,
    ) -> Result<SessionEntry, SessionsError>;
}
