//! Figures: what telemetry and statistics fold. Names and attributes on the outside are given by the
//! telemetry crate.

use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use crate::{ApprovalMode, Decision, DiffStat, HookEvent, InvalidStream, ModelRole, Money, Usage};

/// What happened to a file.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum FileOperationKind {
    /// It was made.
    Create,
    /// It was read.
    Read,
    /// It was changed.
    Update,
}

/// A tool touched a file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FileOperation {
    /// The tool.
    pub tool: String,
    /// What it did.
    pub kind: FileOperationKind,
    /// The file.
    pub path: PathBuf,
    /// Lines read or written.
    pub lines: Option<u64>,
    /// Media type.
    pub mime_type: Option<String>,
}

/// A request is about to be sent.
#[derive(Debug, Clone)]
pub struct ApiRequestMeasure {
    /// The model.
    pub model: String,
    /// The prompt.
    pub prompt_id: String,
    /// What it is for.
    pub role: ModelRole,
    /// The contents as JSON, only when somebody records prompts.
    pub request_text: Option<String>,
    /// The system instruction, only when somebody records prompts.
    pub system: Option<Arc<str>>,
}

/// A request was answered.
#[derive(Debug, Clone)]
pub struct ApiResponseMeasure {
    /// The model that answered, by the vendor's name.
    pub model: String,
    /// The prompt.
    pub prompt_id: String,
    /// What it was for.
    pub role: ModelRole,
    /// From sending to the end of the answer.
    pub duration: Duration,
    /// Tokens.
    pub usage: Usage,
    /// What it cost; none when the model's price is not known.
    pub cost: Option<Money>,
    /// The vendor's names of the reasons.
    pub finish_reasons: Vec<String>,
    /// The answer as JSON, only when somebody records prompts.
    pub response_text: Option<String>,
    /// The vendor's id of the answer.
    pub response_id: Option<String>,
}

/// A request failed; it may be made again.
#[derive(Debug, Clone)]
pub struct ApiErrorMeasure {
    /// The model: the one that answered, when an answer had begun.
    pub model: String,
    /// The prompt.
    pub prompt_id: String,
    /// What it was for.
    pub role: ModelRole,
    /// From sending to the failure.
    pub duration: Duration,
    /// For a person.
    pub message: String,
    /// The class of the error.
    pub error_type: String,
    /// The HTTP status.
    pub status: Option<u16>,
    /// What it cost all the same; none when the model's price is not known.
    pub cost: Option<Money>,
}

/// A call of a tool has ended.
#[derive(Debug, Clone)]
pub struct ToolCallMeasure {
    /// The tool.
    pub name: String,
    /// The prompt.
    pub prompt_id: String,
    /// The arguments.
    pub args: serde_json::Value,
    /// How long it ran.
    pub duration: Duration,
    /// It ended well.
    pub success: bool,
    /// Who decided.
    pub decision: Option<Decision>,
    /// Why it failed: message and type string.
    pub error: Option<(String, &'static str)>,
    /// Characters of the response to the model.
    pub content_length: Option<u64>,
    /// What it changed.
    pub diff: Option<DiffStat>,
}

/// An unusable answer is asked for again, or given up.
#[derive(Debug, Clone)]
pub struct StreamRetryMeasure {
    /// The model.
    pub model: String,
    /// Attempts made so far.
    pub attempt: u32,
    /// Why; none for a broken connection.
    pub reason: Option<InvalidStream>,
    /// The code of the reason, or the class of the error.
    pub error_type: String,
    /// The wait before the next attempt; none when given up.
    pub delay: Option<Duration>,
}

/// A model was asked what tools may do for a prompt.
#[derive(Debug, Clone)]
pub struct ConsecaPolicyMeasure {
    /// The words of the person.
    pub prompt: String,
    /// The tools, as JSON.
    pub trusted_content: String,
    /// What they may do, as JSON.
    pub policy: String,
    /// Why there is none.
    pub error: Option<String>,
}

/// A model has judged a call.
#[derive(Debug, Clone)]
pub struct ConsecaVerdictMeasure {
    /// The words of the person.
    pub prompt: String,
    /// What tools may do for them, as JSON.
    pub policy: String,
    /// The call, as JSON.
    pub call: String,
    /// `allow`, `ask_user` or `deny`.
    pub verdict: &'static str,
    /// Why.
    pub rationale: String,
    /// Why the verdict is not the model's.
    pub error: Option<String>,
}

/// One of the user's programs has run at an event.
#[derive(Debug, Clone)]
pub struct HookCallMeasure {
    /// The event.
    pub event: HookEvent,
    /// The hook's name, else its command line.
    pub name: String,
    /// How long it ran.
    pub duration: Duration,
    /// It ended with exit code 0.
    pub success: bool,
    /// Its exit code.
    pub exit_code: Option<i32>,
    /// Why it did not come to an end of its own.
    pub error: Option<String>,
    /// What it was told, as JSON.
    pub input: Arc<str>,
    /// What it decided, as JSON.
    pub output: Option<String>,
    /// What it printed, its beginning.
    pub stdout: String,
    /// What it complained of, its beginning.
    pub stderr: String,
}

/// Why pages are not read by the vendor. The strings are those of telemetry.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum WebFetchFallback {
    /// The vendor could not read them.
    PrimaryFailed,
    /// An address is private and was left out.
    PrivateIpSkipped,
}

impl WebFetchFallback {
    /// The word of telemetry.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::PrimaryFailed => "primary_failed",
            Self::PrivateIpSkipped => "private_ip_skipped",
        }
    }
}

/// How a loop shows itself. The strings are those of telemetry.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum LoopKind {
    /// Calls that keep giving the same, or nothing.
    Calls,
    /// Words that come back again and again.
    Chant,
    /// Another model says so.
    Judged,
}

impl LoopKind {
    /// The word of telemetry.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Calls => "consecutive_identical_tool_calls",
            Self::Chant => "chanting_identical_sentences",
            Self::Judged => "llm_detected_loop",
        }
    }
}

/// Who speaks next.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Speaker {
    /// The person: the model is done, or asks something.
    User,
    /// The model: it only paused.
    Model,
}

impl Speaker {
    /// The word of telemetry.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::User => "user",
            Self::Model => "model",
        }
    }
}

/// Who speaks after an answer.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct NextSpeakerMeasure {
    /// The prompt.
    pub prompt_id: String,
    /// Why the answer ended.
    pub finish_reason: Option<String>,
    /// Who was decided for; none when nobody could tell.
    pub next: Option<Speaker>,
}

/// The model goes round in circles.
#[derive(Debug, Clone)]
pub struct LoopMeasure {
    /// How it shows.
    pub kind: LoopKind,
    /// The prompt.
    pub prompt_id: String,
    /// How many loops the prompt has led to, this one included.
    pub count: u32,
    /// Of one that was judged: the model that had the last word.
    pub confirmed_by: Option<String>,
    /// Of one that was judged: why.
    pub analysis: Option<String>,
    /// Of one that was judged: how sure the model is, from 0 to 1.
    pub confidence: Option<f64>,
}

/// One figure.
#[derive(Debug, Clone)]
pub enum Measurement {
    /// The person sent a prompt.
    UserPrompt {
        /// The prompt's id.
        prompt_id: String,
        /// Its text.
        prompt: String,
    },
    /// A model was chosen.
    ModelRouting {
        /// What was asked for: a name, an alias or `auto`.
        requested: String,
        /// The model.
        model: String,
        /// Who chose.
        source: String,
        /// How long it took.
        latency: Duration,
        /// Why choosing failed.
        error: Option<String>,
        /// The mode at that time.
        mode: ApprovalMode,
    },
    /// A request is about to be sent.
    ApiRequest(ApiRequestMeasure),
    /// A request was answered.
    ApiResponse(ApiResponseMeasure),
    /// A request failed.
    ApiError(ApiErrorMeasure),
    /// An answer came but was semantically unusable: an error without a failed request.
    InvalidStream {
        /// The model.
        model: String,
        /// What it was for.
        role: ModelRole,
        /// Why.
        reason: InvalidStream,
    },
    /// A chunk made no sense.
    InvalidChunk {
        /// Why.
        message: String,
    },
    /// An unusable answer is asked for again.
    ContentRetry(StreamRetryMeasure),
    /// It was given up.
    ContentRetryFailure(StreamRetryMeasure),
    /// The connection broke while an answer arrived, and is tried again.
    NetworkRetry {
        /// The model.
        model: String,
        /// The attempt that failed, from 1.
        attempt: u32,
        /// The most that will be made.
        max_attempts: u32,
        /// The class of the error.
        error_type: String,
        /// The wait.
        delay: Duration,
    },
    /// A call of a tool has ended.
    ToolCall(ToolCallMeasure),
    /// One of the user's programs has run at an event.
    HookCall(HookCallMeasure),
    /// A model was asked what tools may do for a prompt.
    ConsecaPolicy(Box<ConsecaPolicyMeasure>),
    /// A model has judged a call.
    ConsecaVerdict(Box<ConsecaVerdictMeasure>),
    /// A tool touched a file.
    File(FileOperation),
    /// Large output was cut.
    ToolOutputTruncated {
        /// The tool.
        tool: String,
        /// The prompt.
        prompt_id: String,
        /// Characters before.
        original: u64,
        /// Characters after.
        truncated: u64,
        /// The limit.
        threshold: u64,
    },
    /// Old results of tools were masked in the conversation.
    ToolOutputMasked {
        /// Estimated tokens of these results before.
        before: u64,
        /// And after.
        after: u64,
        /// How many results.
        count: u64,
        /// Estimated tokens of all results that were old enough.
        prunable: u64,
    },
    /// The conversation was compressed, or would have become longer.
    ChatCompression {
        /// Tokens before.
        before: u64,
        /// And after.
        after: u64,
    },
    /// Pages are not read by the vendor.
    WebFetchFallback(WebFetchFallback),
    /// Which step of the edit ladder matched.
    EditStrategy(String),
    /// A slash command ran.
    SlashCommand {
        /// Its name.
        command: String,
        /// The subcommand.
        subcommand: Option<String>,
        /// It ended well.
        success: bool,
    },
    /// The approval mode changed.
    ModeSwitch {
        /// Before.
        from: ApprovalMode,
        /// After.
        to: ApprovalMode,
    },
    /// How long a mode lasted.
    ModeDuration {
        /// The mode.
        mode: ApprovalMode,
        /// How long.
        duration: Duration,
    },
    /// A loop was found.
    LoopDetected(LoopMeasure),
    /// The person does not want loops to be looked for in this session.
    LoopDetectionDisabled {
        /// The prompt.
        prompt_id: String,
    },
    /// A model was asked whether the work goes round in circles.
    LoopCheck {
        /// The prompt.
        prompt_id: String,
        /// How sure the first model is.
        confidence: f64,
        /// The second model.
        second_model: String,
        /// How sure it is; none when it was not asked.
        second_confidence: Option<f64>,
    },
    /// It was decided who speaks after an answer.
    NextSpeaker(NextSpeakerMeasure),
    /// A conversation has ended.
    ConversationFinished {
        /// The mode.
        mode: ApprovalMode,
        /// Turns taken.
        turns: u64,
    },
}
