//! Measurements from which telemetry and statistics are computed. The telemetry crate defines the
//! external names and attributes.

use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use crate::{ApprovalMode, Decision, DiffStat, HookEvent, InvalidStream, ModelRole, Money, Usage};

/// Kind of access to a file.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum FileOperationKind {
    /// The file was created.
    Create,
    /// The file was read.
    Read,
    /// The file was changed.
    Update,
}

/// Access of a tool to a file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FileOperation {
    /// Name of the tool.
    pub tool: String,
    /// Kind of access.
    pub kind: FileOperationKind,
    /// Path of the file.
    pub path: PathBuf,
    /// Number of lines read or written.
    pub lines: Option<u64>,
    /// Media type.
    pub mime_type: Option<String>,
}

/// Measurement of a request that is about to be sent.
#[derive(Debug, Clone)]
pub struct ApiRequestMeasure {
    /// Name of the model.
    pub model: String,
    /// Id of the prompt.
    pub prompt_id: String,
    /// Purpose of the request.
    pub role: ModelRole,
    /// Contents as JSON, only if prompts are recorded.
    pub request_text: Option<String>,
    /// System instruction, only if prompts are recorded.
    pub system: Option<Arc<str>>,
}

/// Measurement of a request that was answered.
#[derive(Debug, Clone)]
pub struct ApiResponseMeasure {
    /// Model that answered, as the vendor names it.
    pub model: String,
    /// Id of the prompt.
    pub prompt_id: String,
    /// Purpose of the request.
    pub role: ModelRole,
    /// Time from sending to the end of the answer.
    pub duration: Duration,
    /// Token counts.
    pub usage: Usage,
    /// Cost; `None` if the model's price is unknown.
    pub cost: Option<Money>,
    /// True if the vendor did not count the tokens, so that the cost is an estimate.
    pub is_cost_estimated: bool,
    /// Finish reasons, as the vendor names them.
    pub finish_reasons: Vec<String>,
    /// Answer as JSON, only if prompts are recorded.
    pub response_text: Option<String>,
    /// Id of the answer, assigned by the vendor.
    pub response_id: Option<String>,
}

/// Measurement of a request that failed; it may be repeated.
#[derive(Debug, Clone)]
pub struct ApiErrorMeasure {
    /// Name of the model: of the one that answered, if an answer had begun.
    pub model: String,
    /// Id of the prompt.
    pub prompt_id: String,
    /// Purpose of the request.
    pub role: ModelRole,
    /// Time from sending to the failure.
    pub duration: Duration,
    /// Message for the user.
    pub message: String,
    /// Class of the error.
    pub error_type: String,
    /// HTTP status.
    pub status: Option<u16>,
    /// Cost in spite of the failure; `None` if the model's price is unknown.
    pub cost: Option<Money>,
    /// True if the vendor did not count the tokens, so that the cost is an estimate.
    pub is_cost_estimated: bool,
}

/// Measurement of a tool call that has ended.
#[derive(Debug, Clone)]
pub struct ToolCallMeasure {
    /// Name of the tool.
    pub name: String,
    /// Id of the prompt.
    pub prompt_id: String,
    /// Arguments of the call.
    pub args: serde_json::Value,
    /// Run time.
    pub duration: Duration,
    /// True if the call succeeded.
    pub success: bool,
    /// Decision whether the call may run.
    pub decision: Option<Decision>,
    /// Error: message and type string.
    pub error: Option<(String, &'static str)>,
    /// Number of characters of the response to the model.
    pub content_length: Option<u64>,
    /// Changes that the call made.
    pub diff: Option<DiffStat>,
}

/// Measurement of an unusable answer that is requested again or given up.
#[derive(Debug, Clone)]
pub struct StreamRetryMeasure {
    /// Name of the model.
    pub model: String,
    /// Number of attempts made so far.
    pub attempt: u32,
    /// Reason; `None` for a broken connection.
    pub reason: Option<InvalidStream>,
    /// Code of the reason, or class of the error.
    pub error_type: String,
    /// Wait before the next attempt; `None` if there is no further attempt.
    pub delay: Option<Duration>,
}

/// Measurement of a request to a model for a tool policy for one prompt.
#[derive(Debug, Clone)]
pub struct ConsecaPolicyMeasure {
    /// Text of the prompt.
    pub prompt: String,
    /// Tools, as JSON.
    pub trusted_content: String,
    /// The policy: permitted actions of the tools, as JSON.
    pub policy: String,
    /// Reason why there is no policy.
    pub error: Option<String>,
}

/// Measurement of a model's verdict about a call.
#[derive(Debug, Clone)]
pub struct ConsecaVerdictMeasure {
    /// Text of the prompt.
    pub prompt: String,
    /// The policy: permitted actions of the tools, as JSON.
    pub policy: String,
    /// The call, as JSON.
    pub call: String,
    /// `allow`, `ask_user` or `deny`.
    pub verdict: &'static str,
    /// Reason of the verdict.
    pub rationale: String,
    /// Reason why the verdict does not come from the model.
    pub error: Option<String>,
}

/// Measurement of a hook that ran at an event.
#[derive(Debug, Clone)]
pub struct HookCallMeasure {
    /// Event of the hook.
    pub event: HookEvent,
    /// Name of the hook, or its command line if it has no name.
    pub name: String,
    /// Run time.
    pub duration: Duration,
    /// True if the exit code was 0.
    pub success: bool,
    /// Exit code.
    pub exit_code: Option<i32>,
    /// Reason why the hook did not exit by itself.
    pub error: Option<String>,
    /// Input of the hook, as JSON.
    pub input: Arc<str>,
    /// Decision of the hook, as JSON.
    pub output: Option<String>,
    /// Beginning of the standard output.
    pub stdout: String,
    /// Beginning of the standard error output.
    pub stderr: String,
}

/// Reason why the vendor does not read web pages. The strings are those of telemetry.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum WebFetchFallback {
    /// The vendor could not read the pages.
    PrimaryFailed,
    /// A URL with a private address was left out.
    PrivateIpSkipped,
}

impl WebFetchFallback {
    /// Returns the string used in telemetry.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::PrimaryFailed => "primary_failed",
            Self::PrivateIpSkipped => "private_ip_skipped",
        }
    }
}

/// Kind of loop. The strings are those of telemetry.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum LoopKind {
    /// Calls whose results are the same each time, or empty.
    Calls,
    /// Text that is repeated many times.
    Chant,
    /// A loop that another model has detected.
    Judged,
}

impl LoopKind {
    /// Returns the string used in telemetry.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Calls => "consecutive_identical_tool_calls",
            Self::Chant => "chanting_identical_sentences",
            Self::Judged => "llm_detected_loop",
        }
    }
}

/// Next speaker of the conversation.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Speaker {
    /// The user: the model has finished, or asks a question.
    User,
    /// The model: it has only paused.
    Model,
}

impl Speaker {
    /// Returns the string used in telemetry.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::User => "user",
            Self::Model => "model",
        }
    }
}

/// Measurement of the decision who speaks after an answer.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct NextSpeakerMeasure {
    /// Id of the prompt.
    pub prompt_id: String,
    /// Finish reason of the answer.
    pub finish_reason: Option<String>,
    /// Next speaker; `None` if it could not be decided.
    pub next: Option<Speaker>,
}

/// Measurement of a loop of the model.
#[derive(Debug, Clone)]
pub struct LoopMeasure {
    /// Kind of loop.
    pub kind: LoopKind,
    /// Id of the prompt.
    pub prompt_id: String,
    /// Number of loops during the prompt, including this one.
    pub count: u32,
    /// For [`LoopKind::Judged`]: the model that made the final decision.
    pub confirmed_by: Option<String>,
    /// For [`LoopKind::Judged`]: the model's explanation.
    pub analysis: Option<String>,
    /// For [`LoopKind::Judged`]: confidence of the model, from 0 to 1.
    pub confidence: Option<f64>,
}

/// One measurement.
#[derive(Debug, Clone)]
pub enum Measurement {
    /// The user sent a prompt.
    UserPrompt {
        /// Id of the prompt.
        prompt_id: String,
        /// Text of the prompt.
        prompt: String,
    },
    /// A model was chosen.
    ModelRouting {
        /// Requested model: a name, an alias or `auto`.
        requested: String,
        /// Name of the chosen model.
        model: String,
        /// Component that chose the model.
        source: String,
        /// Duration of the choice.
        latency: Duration,
        /// Reason why the choice failed.
        error: Option<String>,
        /// Approval mode at that time.
        mode: ApprovalMode,
    },
    /// A request is about to be sent.
    ApiRequest(ApiRequestMeasure),
    /// A request was answered.
    ApiResponse(ApiResponseMeasure),
    /// A request failed.
    ApiError(ApiErrorMeasure),
    /// An answer was received but is semantically unusable: an error without a failed request.
    InvalidStream {
        /// Name of the model.
        model: String,
        /// Purpose of the request.
        role: ModelRole,
        /// Reason why the answer is unusable.
        reason: InvalidStream,
    },
    /// A chunk of an answer was incomplete or could not be decoded.
    InvalidChunk {
        /// Description of the problem.
        message: String,
    },
    /// An unusable answer is requested again.
    ContentRetry(StreamRetryMeasure),
    /// An unusable answer is not requested again, because no attempt is left.
    ContentRetryFailure(StreamRetryMeasure),
    /// The connection broke during an answer, and the request is repeated.
    NetworkRetry {
        /// Name of the model.
        model: String,
        /// Number of the failed attempt, from 1.
        attempt: u32,
        /// Maximum number of attempts.
        max_attempts: u32,
        /// Class of the error.
        error_type: String,
        /// Wait before the next attempt.
        delay: Duration,
    },
    /// A tool call has ended.
    ToolCall(ToolCallMeasure),
    /// A hook ran at an event.
    HookCall(HookCallMeasure),
    /// A model was asked for a tool policy for a prompt.
    ConsecaPolicy(Box<ConsecaPolicyMeasure>),
    /// A model has given a verdict about a call.
    ConsecaVerdict(Box<ConsecaVerdictMeasure>),
    /// A tool accessed a file.
    File(FileOperation),
    /// Long output was truncated.
    ToolOutputTruncated {
        /// Name of the tool.
        tool: String,
        /// Id of the prompt.
        prompt_id: String,
        /// Number of characters before.
        original: u64,
        /// Number of characters after.
        truncated: u64,
        /// Limit, in characters.
        threshold: u64,
    },
    /// Old tool results in the conversation were masked.
    ToolOutputMasked {
        /// Estimated tokens of these results before.
        before: u64,
        /// Estimated tokens of these results after.
        after: u64,
        /// Number of masked results.
        count: u64,
        /// Estimated tokens of all results that were old enough.
        prunable: u64,
    },
    /// The conversation was compressed, or was not because it would have become longer.
    ChatCompression {
        /// Tokens before.
        before: u64,
        /// Tokens after.
        after: u64,
    },
    /// The vendor does not read web pages.
    WebFetchFallback(WebFetchFallback),
    /// Name of the strategy with which an edit matched.
    EditStrategy(String),
    /// A model was asked to correct an edit that did not match.
    EditCorrection {
        /// True if the corrected edit could be made.
        success: bool,
    },
    /// An answer that had to be JSON was not.
    MalformedJson {
        /// Name of the model.
        model: String,
    },
    /// Calls of an answer wait in the queue.
    ToolQueue {
        /// Number of calls.
        depth: usize,
    },
    /// The user approved a plan, and the model carries it out.
    PlanExecution {
        /// Approval mode in which the plan is carried out.
        mode: ApprovalMode,
    },
    /// The user chose a model with a slash command.
    ModelCommand {
        /// Name of the model.
        model: String,
    },
    /// A slash command ran.
    SlashCommand {
        /// Name of the command.
        command: String,
        /// Name of the subcommand.
        subcommand: Option<String>,
        /// True if the command succeeded.
        success: bool,
    },
    /// The approval mode changed.
    ModeSwitch {
        /// Previous mode.
        from: ApprovalMode,
        /// New mode.
        to: ApprovalMode,
    },
    /// Duration of an approval mode.
    ModeDuration {
        /// The mode.
        mode: ApprovalMode,
        /// Duration.
        duration: Duration,
    },
    /// A loop was detected.
    LoopDetected(LoopMeasure),
    /// The user has disabled loop detection for this session.
    LoopDetectionDisabled {
        /// Id of the prompt.
        prompt_id: String,
    },
    /// A model was asked whether the work is in a loop.
    LoopCheck {
        /// Id of the prompt.
        prompt_id: String,
        /// Confidence of the first model.
        confidence: f64,
        /// Name of the second model.
        second_model: String,
        /// Confidence of the second model; `None` if it was not asked.
        second_confidence: Option<f64>,
    },
    /// The next speaker after an answer was decided.
    NextSpeaker(NextSpeakerMeasure),
    /// The work on a prompt has ended in an interactive session that allows all calls.
    ConversationFinished {
        /// Approval mode.
        mode: ApprovalMode,
        /// Number of turns of the prompt.
        turns: u64,
    },
}
