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
    AnsiOutput, ApprovalMode, CallConfinement, CallId, Confirmation, ConfirmationKind, Declaration,
    Effects, Measurement, ModelLimits, Modification, Part, SideModels, Todo, ToolFacts,
};

/// First and last line of the block at the end of a result that lists context files found by its
/// tool.
pub const DISCOVERED_CONTEXT: [&str; 2] =
    ["--- Newly Discovered Project Context ---", "--- End Project Context ---"];

/// Arguments of a call: always an object.
pub type Args = Map<String, Value>;

/// Kind of a tool. Policies can refer to kinds.
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
    /// Searches for something.
    Search,
    /// Runs a program.
    Execute,
    /// Only thinks.
    Think,
    /// Delegates work to another agent.
    Agent,
    /// Fetches data from the network.
    Fetch,
    /// Communicates with the user.
    Communicate,
    /// Plans.
    Plan,
    /// Any other kind.
    Other,
}

/// Origin of a tool.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub enum ToolSource {
    /// The tool is built in.
    BuiltIn,
    /// A command in the settings has listed the tool (`tools.discoveryCommand`).
    Discovered,
    /// The server with this name offers the tool.
    Server(Arc<str>),
}

/// Kind of a call's error. The strings are those of JSON output and telemetry.
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
    /// A command changed a file that confinement protects, and the change cannot be undone.
    ChangeNotReverted,
}

impl ToolErrorKind {
    /// Returns the string of JSON output and telemetry.
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
            Self::ChangeNotReverted => "change_not_reverted",
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

/// Maximum length of an error message, in bytes: it may quote a call's arguments.
const LONGEST_MESSAGE: usize = 32 * 1024;

/// Error of a call; the message goes to the model.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{message}")]
pub struct ToolError {
    /// Kind of the error.
    pub kind: ToolErrorKind,
    /// Message for the model: what happened and what would help.
    pub message: String,
}

impl ToolError {
    /// Creates an error with its message for the model.
    pub fn new(kind: ToolErrorKind, message: impl Into<String>) -> Self {
        Self { kind, message: bounded(message.into(), LONGEST_MESSAGE) }
    }
}

/// Lines and characters that a change adds and removes. `model_*` counts from the text on disk to
/// the model's proposal, `user_*` from the proposal to the text after the user's changes. Line
/// endings do not count.
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

/// Change of one file, for display and in records.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct FileDiff {
    /// Unified patch with three lines of context.
    pub file_diff: String,
    /// Last component of the path.
    pub file_name: String,
    /// Absolute path; empty if a session file does not name it.
    #[serde(default)]
    pub file_path: PathBuf,
    /// Text before the change; `None` for a new file.
    pub original_content: Option<String>,
    /// Text after the change.
    pub new_content: String,
    /// Size of the change.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub diff_stat: Option<DiffStat>,
    /// `Some(true)` if the file did not exist before.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub is_new_file: Option<bool>,
}

/// Output of a tool for the user.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(untagged)]
pub enum Display {
    /// Text or Markdown.
    Text(String),
    /// Change of a file.
    Diff(Box<FileDiff>),
    /// Terminal screen of a command when it ended, with the lines that were scrolled out.
    Ansi(AnsiOutput),
    /// Data with a tool-specific shape (`{"summary", "files"}` of a listing, `{"todos"}`, …).
    Structured(Value),
}

/// Change of the session that a tool requests and the agent carries out.
#[derive(Debug, Clone, PartialEq)]
pub enum Directive {
    /// Change the approval mode.
    SetMode(ApprovalMode),
    /// Plan approved: change to the mode that the user chose with the approval, or to the default
    /// mode if there was no choice, and carry out this plan.
    LeavePlanMode {
        /// Name of the plan's file in the folder for plans, as the model gave it.
        plan: String,
    },
    /// Run this other call in place of the present one, and use its result.
    TailCall {
        /// Name of the tool.
        name: String,
        /// Arguments of the call.
        args: Args,
    },
    /// Confinement stopped the command. Ask the user before the same line runs again, for this
    /// reason, even if a rule allows the line: the user can let it run without confinement.
    AskAgain(String),
    /// End the turn, for this reason.
    Stop(String),
    /// End the work on the prompt: it is done.
    Finish,
    /// Set the topic of the work: a short title.
    SetTopic(String),
    /// Replace the to-do list of the session.
    SetTodos(Vec<Todo>),
    /// Let the tools read everything in this folder, which may be outside of the workspace.
    OpenFolder(PathBuf),
}

/// Result of a tool's run.
#[derive(Debug, Clone, Default)]
pub struct ToolOutput {
    /// Content for the model: text parts, media parts. Ignored if `error` is set.
    pub content: Vec<Part>,
    /// Output for the user.
    pub display: Option<Display>,
    /// Error of a failed run.
    pub error: Option<ToolError>,
    /// Requested changes of the session.
    pub directives: Vec<Directive>,
    /// Measurements for telemetry and statistics: file accesses, truncated output, the strategy of
    /// an edit.
    pub measurements: Vec<Measurement>,
    /// File with the whole output, if `content` contains only a part of it.
    pub output_file: Option<PathBuf>,
}

impl ToolOutput {
    /// Creates a text result, the same for the model and the user.
    pub fn text(text: impl Into<String>) -> Self {
        let text = text.into();
        Self { display: Some(Display::Text(text.clone())), ..Self::quiet(text) }
    }

    /// Creates a text result for the model only.
    pub fn quiet(text: impl Into<String>) -> Self {
        Self { content: vec![Part::text(text)], ..Self::default() }
    }

    /// Replaces the output for the user.
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

/// Output while a call runs.
#[derive(Debug, Clone, PartialEq)]
pub enum LiveOutput {
    /// Text to append to the output.
    Append(String),
    /// The whole output so far, which replaces the earlier output.
    Replace(String),
    /// Present screen of the command's terminal.
    Screen {
        /// Lines of the screen.
        lines: AnsiOutput,
        /// Number of lines that have left the top of the screen.
        above: u64,
    },
    /// The command failed, with this end: its exit code, a signal or a time limit, in a sentence.
    Ended(String),
    /// The command started to wait for keyboard input, or stopped waiting (`None`). Keys reach the
    /// command as [`CallInput::Key`].
    Input(Option<AwaitedInput>),
    /// Id of the process group that runs, as a target for signals.
    ProcessGroup(u32),
}

/// Keyboard input that a command waits for.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct AwaitedInput {
    /// Line with the prompt of the command, if there is one.
    pub prompt: String,
    /// True if the command does not echo the input, which is then most likely a password.
    pub secret: bool,
}

/// Callback for live output; never blocks.
pub type OutputSink = Arc<dyn Fn(LiveOutput) + Send + Sync>;

/// Input for a running call.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum CallInput {
    /// Keys.
    Key(Vec<u8>),
    /// The terminal window has a new size.
    Resize {
        /// Columns.
        columns: u16,
        /// Rows.
        rows: u16,
    },
    /// Continue in the background.
    Background,
    /// Stop.
    Stop,
}

/// Inputs of a tool's run.
pub struct RunContext {
    /// Id of the call.
    pub call_id: CallId,
    /// Id of the prompt that the call belongs to.
    pub prompt_id: String,
    /// Cancelled when the user stops the work: the run must then return within 100 ms.
    pub cancel: CancellationToken,
    /// Callback for live output.
    pub output: OutputSink,
    /// Keys, window sizes and other input for the call.
    pub input: BoxStream<'static, CallInput>,
    /// Number of characters of output that the model has room for; `None` if unknown.
    pub room: Option<usize>,
    /// Models for side calls, on behalf of the agent that made the call.
    pub models: Arc<dyn SideModels>,
    /// Confinement of the processes that the call starts.
    pub confinement: CallConfinement,
}

/// A tool that a model can call.
pub trait Tool: Send + Sync {
    /// Returns the name that models and policies use.
    fn name(&self) -> &str;

    /// Returns the display name.
    fn display_name(&self) -> &str;

    /// Returns the kind of the tool.
    fn kind(&self) -> ToolKind;

    /// Returns the origin of the tool.
    fn source(&self) -> ToolSource {
        ToolSource::BuiltIn
    }

    /// Returns the description of the tool for a model.
    fn declaration(&self) -> Declaration;

    /// True if the model with this name and these limits gets the tool in the main conversation, as
    /// far as the tool and the settings decide; the policy decides, too. A tool that is not offered
    /// remains available to other models and to subagents.
    fn is_offered_to(&self, _model: &str, _limits: ModelLimits) -> bool {
        true
    }

    /// Returns a digest of everything that the server says about the tool; `None` for a tool of
    /// Pollux. An approval is about one definition.
    fn definition(&self) -> Option<&str> {
        None
    }

    /// Returns the server of the tool; `None` for a tool of Pollux.
    fn server(&self) -> Option<&str> {
        None
    }

    /// Returns the server's own name of the tool; `None` for a tool of Pollux.
    fn server_tool(&self) -> Option<&str> {
        None
    }

    /// Returns the server's annotations of the tool (`readOnlyHint` …), which policies may check.
    fn annotations(&self) -> Option<&Map<String, Value>> {
        None
    }

    /// Returns the facts about the server of the tool that hooks get: its name, the server's own
    /// name of the tool, and its command or address; `None` for a tool of Pollux.
    fn server_context(&self) -> Option<Map<String, Value>> {
        None
    }

    /// Returns the facts that hold for every call of the tool.
    fn facts(&self) -> ToolFacts {
        ToolFacts::default()
    }

    /// Returns the lasting change of the session that a past call made, based on its arguments and
    /// on the response that was sent to the model. A resumed session makes the change again. Only
    /// called for calls that did not fail; `None` for a tool whose calls do not change the session.
    fn recall(&self, _args: &Value, _response: &Value) -> Option<Directive> {
        None
    }

    /// True if the results of the tool are Markdown.
    fn renders_markdown(&self) -> bool {
        true
    }

    /// Validates the arguments and prepares them for a run. Called again whenever the arguments
    /// change; has no side effects.
    fn prepare(&self, args: &Args) -> Result<Box<dyn Invocation>, ToolError>;
}

/// Call whose arguments have been validated.
#[async_trait]
pub trait Invocation: Send + Sync {
    /// Returns the declared effects.
    fn effects(&self) -> Effects;

    /// Returns a description in one line, for the user.
    fn describe(&self) -> String;

    /// Returns the line, from 1, at which the call begins in the first of its files; `None` if it
    /// concerns the whole file.
    fn first_line(&self) -> Option<u64> {
        None
    }

    /// Returns the details that a user must see before approving the call. The method may read
    /// files, such as the file that will change, and remembers their state: `run` refuses if the
    /// state has changed since then. `side_models` belong to the agent that made the call.
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

    /// Returns the arguments after the user's change.
    fn modify(&self, _modification: &Modification) -> Result<Args, ToolError> {
        Err(ToolError::new(ToolErrorKind::InvalidToolParams, "This call cannot be modified."))
    }

    /// Runs the call.
    async fn run(&self, context: RunContext) -> ToolOutput;
}
