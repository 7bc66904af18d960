//! A tool, its invocations and their results.

use std::path::PathBuf;
use std::sync::Arc;

use async_trait::async_trait;
use futures::stream::BoxStream;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};
use tokio_util::sync::CancellationToken;

use crate::bounded::bounded;
use crate::{
    AnsiOutput, ApprovalMode, CallConfinement, CallId, Confirmation, ConfirmationKind, Effects,
    Limits, Measurement, Modification, Part, SideModels, Todo, ToolFacts,
};

/// Opens and closes the block at the end of a result that tells of context files which its tool came upon.
pub const DISCOVERED_CONTEXT: [&str; 2] =
    ["--- Newly Discovered Project Context ---", "--- End Project Context ---"];

/// The arguments of a call: always an object.
pub type Args = Map<String, Value>;

/// How a tool is told to a model.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Declaration {
    /// The name that the model calls it by.
    pub name: String,
    /// What it does and when to use it.
    pub description: String,
    /// JSON schema of its arguments.
    pub parameters: Value,
}

/// What sort of tool it is. Policies speak of kinds.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ToolKind {
    /// Reads something.
    Read,
    /// Changes a file.
    Edit,
    /// Removes something.
    Delete,
    /// Moves something.
    Move,
    /// Looks for something.
    Search,
    /// Runs a program.
    Execute,
    /// Only thinks.
    Think,
    /// Hands work to another agent.
    Agent,
    /// Fetches from the network.
    Fetch,
    /// Talks to the person.
    Communicate,
    /// Plans.
    Plan,
    /// Anything else.
    Other,
}

/// Where a tool comes from.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub enum ToolSource {
    /// It is part of the program.
    BuiltIn,
    /// A command of the settings has listed it (`tools.discoveryCommand`).
    Discovered,
    /// A server of this name offers it.
    Server(Arc<str>),
}

/// Why a call failed. The strings are those of JSON output and telemetry.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[expect(
    missing_docs,
    reason = "the names are the documentation: they are the strings of the output"
)]
pub enum ToolErrorKind {
    PolicyViolation,
    InvalidToolParams,
    Unknown,
    UnhandledException,
    ToolNotRegistered,
    ExecutionFailed,
    FileNotFound,
    FileWriteFailure,
    ReadContentFailure,
    AttemptToCreateExistingFile,
    FileTooLarge,
    PermissionDenied,
    NoSpaceLeft,
    TargetIsDirectory,
    PathNotInWorkspace,
    SearchPathNotFound,
    SearchPathNotADirectory,
    EditPreparationFailure,
    EditNoOccurrenceFound,
    EditExpectedOccurrenceMismatch,
    EditNoChange,
    EditNoChangeLlmJudgement,
    GlobExecutionError,
    GrepExecutionError,
    LsExecutionError,
    PathIsNotADirectory,
    McpToolError,
    McpResourceNotFound,
    MemoryToolExecutionError,
    ReadManyFilesSearchError,
    ShellExecuteError,
    SandboxExpansionRequired,
    DiscoveredToolExecutionError,
    WebFetchNoUrlInPrompt,
    WebFetchFallbackFailed,
    WebFetchProcessingError,
    WebSearchFailed,
    StopExecution,
}

impl ToolErrorKind {
    /// The string of JSON output and telemetry.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::PolicyViolation => "policy_violation",
            Self::InvalidToolParams => "invalid_tool_params",
            Self::Unknown => "unknown",
            Self::UnhandledException => "unhandled_exception",
            Self::ToolNotRegistered => "tool_not_registered",
            Self::ExecutionFailed => "execution_failed",
            Self::FileNotFound => "file_not_found",
            Self::FileWriteFailure => "file_write_failure",
            Self::ReadContentFailure => "read_content_failure",
            Self::AttemptToCreateExistingFile => "attempt_to_create_existing_file",
            Self::FileTooLarge => "file_too_large",
            Self::PermissionDenied => "permission_denied",
            Self::NoSpaceLeft => "no_space_left",
            Self::TargetIsDirectory => "target_is_directory",
            Self::PathNotInWorkspace => "path_not_in_workspace",
            Self::SearchPathNotFound => "search_path_not_found",
            Self::SearchPathNotADirectory => "search_path_not_a_directory",
            Self::EditPreparationFailure => "edit_preparation_failure",
            Self::EditNoOccurrenceFound => "edit_no_occurrence_found",
            Self::EditExpectedOccurrenceMismatch => "edit_expected_occurrence_mismatch",
            Self::EditNoChange => "edit_no_change",
            Self::EditNoChangeLlmJudgement => "edit_no_change_llm_judgement",
            Self::GlobExecutionError => "glob_execution_error",
            Self::GrepExecutionError => "grep_execution_error",
            Self::LsExecutionError => "ls_execution_error",
            Self::PathIsNotADirectory => "path_is_not_a_directory",
            Self::McpToolError => "mcp_tool_error",
            Self::McpResourceNotFound => "mcp_resource_not_found",
            Self::MemoryToolExecutionError => "memory_tool_execution_error",
            Self::ReadManyFilesSearchError => "read_many_files_search_error",
            Self::ShellExecuteError => "shell_execute_error",
            Self::SandboxExpansionRequired => "sandbox_expansion_required",
            Self::DiscoveredToolExecutionError => "discovered_tool_execution_error",
            Self::WebFetchNoUrlInPrompt => "web_fetch_no_url_in_prompt",
            Self::WebFetchFallbackFailed => "web_fetch_fallback_failed",
            Self::WebFetchProcessingError => "web_fetch_processing_error",
            Self::WebSearchFailed => "web_search_failed",
            Self::StopExecution => "stop_execution",
        }
    }
}

/// Bytes of an error message: a call's arguments may be quoted in it.
const LONGEST_MESSAGE: usize = 32 * 1024;

/// A call failed; the message goes to the model.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{message}")]
pub struct ToolError {
    /// Why.
    pub kind: ToolErrorKind,
    /// What the model is told: what happened and what would help.
    pub message: String,
}

impl ToolError {
    /// An error with its message for the model.
    pub fn new(kind: ToolErrorKind, message: impl Into<String>) -> Self {
        Self { kind, message: bounded(message.into(), LONGEST_MESSAGE) }
    }
}

/// Lines and characters that a change adds and removes. `model_*` is from the text on disk to the
/// model's proposal, `user_*` from there to what the person made of it. Line ends do not count.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
#[expect(missing_docs, reason = "the names are those of session files")]
pub struct DiffStat {
    pub model_added_lines: u64,
    pub model_removed_lines: u64,
    pub model_added_chars: u64,
    pub model_removed_chars: u64,
    pub user_added_lines: u64,
    pub user_removed_lines: u64,
    pub user_added_chars: u64,
    pub user_removed_chars: u64,
}

/// A change of one file, as it is shown and recorded.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct FileDiff {
    /// Unified patch with three lines of context.
    pub file_diff: String,
    /// The last component of the path.
    pub file_name: String,
    /// The absolute path.
    pub file_path: PathBuf,
    /// The text before; none for a new file.
    pub original_content: Option<String>,
    /// The text after.
    pub new_content: String,
    /// How much changed.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub diff_stat: Option<DiffStat>,
    /// The file did not exist.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub is_new_file: Option<bool>,
}

/// What a person is shown of a result.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(untagged)]
pub enum Display {
    /// Text or Markdown.
    Text(String),
    /// A change of a file.
    Diff(Box<FileDiff>),
    /// What stood on the terminal of a command at its end, and above.
    Ansi(AnsiOutput),
    /// Data with a shape of its own (`{"summary", "files"}` of a listing, `{"todos"}`, …).
    Structured(Value),
}

/// A change of the session that a tool asks for; the agent makes it.
#[derive(Debug, Clone, PartialEq)]
pub enum Directive {
    /// Change the approval mode.
    SetMode(ApprovalMode),
    /// A plan was approved: change to the mode that the person chose with it, otherwise to the default
    /// mode, and carry out this plan.
    LeavePlanMode {
        /// Name of the plan's file in the folder for plans, as the model gave it.
        plan: String,
    },
    /// Run this other call in my place; its result is mine.
    TailCall {
        /// The tool.
        name: String,
        /// Its arguments.
        args: Args,
    },
    /// Confinement stopped the command. Ask the person before the same line runs again, for this reason, even if a rule
    /// allows it: they can let it run without confinement.
    AskAgain(String),
    /// End the turn, for this reason.
    Stop(String),
    /// The work is about this now: a title in a few words.
    SetTopic(String),
    /// The to-do list of the session is now this one.
    SetTodos(Vec<Todo>),
}

/// What a run of a tool gives back.
#[derive(Debug, Clone, Default)]
pub struct ToolOutput {
    /// What the model is told: text parts, media parts. Ignored when `error` is set.
    pub content: Vec<Part>,
    /// What a person is shown.
    pub display: Option<Display>,
    /// Why it failed.
    pub error: Option<ToolError>,
    /// Changes of the session.
    pub directives: Vec<Directive>,
    /// What it did, for telemetry and statistics: files touched, output cut, how an edit matched.
    pub measurements: Vec<Measurement>,
    /// Where the whole output lies when `content` holds only a part of it.
    pub output_file: Option<PathBuf>,
}

impl ToolOutput {
    /// A result in words, the same for model and person.
    pub fn text(text: impl Into<String>) -> Self {
        let text = text.into();
        Self { display: Some(Display::Text(text.clone())), ..Self::quiet(text) }
    }

    /// A result in words for the model alone.
    pub fn quiet(text: impl Into<String>) -> Self {
        Self { content: vec![Part::text(text)], ..Self::default() }
    }

    /// Replaces what a person is shown.
    #[must_use]
    pub fn display(mut self, display: Display) -> Self {
        self.display = Some(display);
        self
    }
}

impl From<ToolError> for ToolOutput {
    fn from(error: ToolError) -> Self {
        let display = Some(Display::Text(error.message.clone()));
        Self { display, error: Some(error), ..Self::default() }
    }
}

/// A piece of output while a call runs.
#[derive(Debug, Clone, PartialEq)]
pub enum LiveOutput {
    /// More text at the end.
    Append(String),
    /// The whole output so far, anew.
    Replace(String),
    /// What the terminal of a command shows now.
    Screen(AnsiOutput),
    /// The command waits for somebody to type, or does no longer. Keys reach it as [`CallInput::Key`].
    Input(Option<AwaitedInput>),
    /// The process group that runs, for whoever wants to signal it.
    ProcessGroup(u32),
}

/// What a command waits for.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct AwaitedInput {
    /// The line in which it asks, as far as there is one.
    pub prompt: String,
    /// It does not show what is typed: a password, most likely.
    pub secret: bool,
}

/// Takes live output; never blocks.
pub type OutputSink = Arc<dyn Fn(LiveOutput) + Send + Sync>;

/// What comes down to a running call.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum CallInput {
    /// Keys.
    Key(Vec<u8>),
    /// The window has a new size.
    Resize {
        /// Columns.
        columns: u16,
        /// Rows.
        rows: u16,
    },
    /// Go on in the background.
    Background,
    /// Stop.
    Stop,
}

/// What a run is given.
pub struct RunContext {
    /// The call that runs.
    pub call_id: CallId,
    /// The prompt that it belongs to.
    pub prompt_id: String,
    /// Cancelled when the person stops the work: return within 100 ms.
    pub cancel: CancellationToken,
    /// Live output up.
    pub output: OutputSink,
    /// Keys, resizes and wishes down.
    pub input: BoxStream<'static, CallInput>,
    /// Characters of output that the model still has room for; none where that is not known.
    pub room: Option<usize>,
    /// Models for side calls, on behalf of the agent that made the call.
    pub models: Arc<dyn SideModels>,
    /// Confinement of the processes that the call starts.
    pub confinement: CallConfinement,
}

/// A tool.
pub trait Tool: Send + Sync {
    /// The name that models and policies use.
    fn name(&self) -> &str;

    /// The name that people see.
    fn display_name(&self) -> &str;

    /// What sort of tool it is.
    fn kind(&self) -> ToolKind;

    /// Where it comes from.
    fn source(&self) -> ToolSource {
        ToolSource::BuiltIn
    }

    /// How it is told to a model.
    fn declaration(&self) -> Declaration;

    /// Whether the model of this name, which can do so much, has it in the main conversation, as far as the tool and the
    /// settings go; policy is asked besides. One that does not is there for other models, or for subagents.
    fn is_offered_to(&self, _model: &str, _limits: Limits) -> bool {
        true
    }

    /// The server that it belongs to; none for a tool of our own.
    fn server(&self) -> Option<&str> {
        None
    }

    /// What its server says of it (`readOnlyHint` …); policies may ask for it.
    fn annotations(&self) -> Option<&Map<String, Value>> {
        None
    }

    /// Facts that hold for every call of the tool.
    fn facts(&self) -> ToolFacts {
        ToolFacts::default()
    }

    /// Returns the lasting change of the session that a call in the past made, by its arguments and by
    /// the response that the model was sent. A session that is resumed makes the change again. Only
    /// asked about calls that did not fail; `None` for a tool whose calls change nothing of the session.
    fn recall(&self, _args: &Value, _response: &Value) -> Option<Directive> {
        None
    }

    /// Its output is Markdown.
    fn renders_markdown(&self) -> bool {
        true
    }

    /// Checks the arguments and makes them ready to run. Called anew whenever they change; changes
    /// nothing in the world.
    fn prepare(&self, args: &Args) -> Result<Box<dyn Invocation>, ToolError>;
}

/// A call whose arguments have been checked.
#[async_trait]
pub trait Invocation: Send + Sync {
    /// What it will do.
    fn effects(&self) -> Effects;

    /// One line for a person.
    fn describe(&self) -> String;

    /// What a person must see before saying yes. It may look at the world (read the file that will
    /// change) and remembers what it saw: `run` refuses when the world has moved on. `side_models`
    /// belong to the agent that made the call.
    async fn confirmation(
        &self,
        call_id: &CallId,
        _side_models: &Arc<dyn SideModels>,
    ) -> Result<Confirmation, ToolError> {
        Ok(Confirmation {
            call_id: call_id.clone(),
            title: "Confirm".to_owned(),
            kind: ConfirmationKind::Information { prompt: self.describe(), urls: Vec::new() },
        })
    }

    /// The arguments after the person's change.
    fn modify(&self, _modification: &Modification) -> Result<Args, ToolError> {
        Err(ToolError::new(ToolErrorKind::InvalidToolParams, "This call cannot be modified."))
    }

    /// Does it.
    async fn run(&self, context: RunContext) -> ToolOutput;
}
