//! A model, and how one is chosen.

use std::fmt;
use std::sync::Arc;
use std::time::Duration;

use async_trait::async_trait;
use futures::stream::BoxStream;
use serde_json::{Number, Value};
use tokio_util::sync::CancellationToken;

use crate::bounded::bounded;
use crate::{ApprovalMode, Declaration, Entry, Grounding, Part, ToolChoice, Usage};

/// What a model call is for. The strings are those of statistics and telemetry.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum ModelRole {
    /// The conversation itself.
    #[default]
    Main,
    /// The conversation of a subagent.
    Subagent,
    /// A tool's own call.
    UtilityTool,
    /// Summarising history.
    UtilityCompressor,
    /// Summarising output.
    UtilitySummarizer,
    /// Choosing a model.
    UtilityRouter,
    /// Judging loops.
    UtilityLoopDetector,
    /// Judging whose turn it is.
    UtilityNextSpeaker,
    /// Mending edits.
    UtilityEditCorrector,
}

impl ModelRole {
    /// The string of statistics and telemetry.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Main => "main",
            Self::Subagent => "subagent",
            Self::UtilityTool => "utility_tool",
            Self::UtilityCompressor => "utility_compressor",
            Self::UtilitySummarizer => "utility_summarizer",
            Self::UtilityRouter => "utility_router",
            Self::UtilityLoopDetector => "utility_loop_detector",
            Self::UtilityNextSpeaker => "utility_next_speaker",
            Self::UtilityEditCorrector => "utility_edit_corrector",
        }
    }
}

/// A connection attempt failed and will be made again.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RetryNotice {
    /// The attempt that failed, from 1.
    pub attempt: u32,
    /// The most that will be made.
    pub max_attempts: u32,
    /// How long until the next.
    pub delay: Duration,
    /// What went wrong, for a person.
    pub reason: String,
    /// The class of the error, for telemetry.
    pub error_type: String,
}

/// Is told of retries while they wait.
pub type RetryListener = Arc<dyn Fn(RetryNotice) + Send + Sync>;

/// Figures that a model is asked with; what is none is left to the configuration.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Tuning {
    /// How much chance there is in the answer.
    pub temperature: Option<Number>,
    /// The longest answer, in tokens.
    pub max_output_tokens: Option<Number>,
    /// The share of likely words that is drawn from.
    pub top_p: Option<Number>,
    /// The number of likely words that is drawn from.
    pub top_k: Option<Number>,
}

impl Tuning {
    /// These figures, and those of `base` where there are none.
    #[must_use]
    pub fn over(self, base: Self) -> Self {
        Self {
            temperature: self.temperature.or(base.temperature),
            max_output_tokens: self.max_output_tokens.or(base.max_output_tokens),
            top_p: self.top_p.or(base.top_p),
            top_k: self.top_k.or(base.top_k),
        }
    }
}

/// What differs for one request from how the model is asked else.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Adjustments {
    /// Figures in place of the configured ones.
    pub tuning: Tuning,
    /// Which tools may be called.
    pub tool_choice: Option<ToolChoice>,
    /// The JSON schema that the answer is to satisfy. The service is asked for JSON then; it goes with no tools.
    pub schema: Option<Arc<Value>>,
}

/// One request to a model. Cheap to clone: contents and declarations are shared.
#[derive(Clone, Default)]
pub struct Request {
    /// The conversation; the last entry is the user's. Entries of one role may follow each other: the
    /// dialect joins them.
    pub entries: Vec<Arc<Entry>>,
    /// The system instruction.
    pub system: Option<Arc<str>>,
    /// The tools on offer.
    pub tools: Arc<[Declaration]>,
    /// The id of the prompt that it serves.
    pub prompt_id: String,
    /// What it is for.
    pub role: ModelRole,
    /// The answer before was unusable and this asks again: model settings may differ then.
    pub is_retry: bool,
    /// What differs for this request alone.
    pub adjustments: Adjustments,
    /// Is told when the connection is tried again.
    pub on_retry: Option<RetryListener>,
}

impl fmt::Debug for Request {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter
            .debug_struct("Request")
            .field("entries", &self.entries.len())
            .field("tools", &self.tools.len())
            .field("prompt_id", &self.prompt_id)
            .field("role", &self.role)
            .field("is_retry", &self.is_retry)
            .finish_non_exhaustive()
    }
}

/// A request whose answer is one JSON value.
#[derive(Debug, Clone)]
pub struct JsonRequest {
    /// The request.
    pub request: Request,
    /// The JSON schema of the answer.
    pub schema: Value,
    /// How often an unusable answer is asked again, the first time included.
    pub max_attempts: u32,
}

/// Why a model stopped.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum FinishReason {
    /// It was done.
    Stop,
    /// It ran out of tokens.
    MaxTokens,
    /// Blocked as unsafe.
    Safety,
    /// Blocked as a recitation.
    Recitation,
    /// It tried to call a tool and failed to form the call.
    MalformedFunctionCall,
    /// It called a tool when none was on offer.
    UnexpectedToolCall,
    /// Any other reason, by the vendor's name.
    Other(String),
}

impl FinishReason {
    /// The word of telemetry.
    pub fn as_str(&self) -> &str {
        match self {
            Self::Stop => "STOP",
            Self::MaxTokens => "MAX_TOKENS",
            Self::Safety => "SAFETY",
            Self::Recitation => "RECITATION",
            Self::MalformedFunctionCall => "MALFORMED_FUNCTION_CALL",
            Self::UnexpectedToolCall => "UNEXPECTED_TOOL_CALL",
            Self::Other(word) => word,
        }
    }
}

/// A source that the model names.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct Citation {
    /// Title, when known.
    pub title: Option<String>,
    /// Address.
    pub uri: String,
}

/// One piece of an answer as it streams, or the whole of one that did not.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Chunk {
    /// New parts: text and thoughts are increments, calls are whole.
    pub parts: Vec<Part>,
    /// Set on the last piece.
    pub finish: Option<FinishReason>,
    /// Tokens so far; the last one told counts.
    pub usage: Option<Usage>,
    /// Sources named in this piece.
    pub citations: Vec<Citation>,
    /// What the vendor looked at on the web for the answer.
    pub grounding: Option<Box<Grounding>>,
    /// The vendor's id of the answer.
    pub response_id: Option<String>,
    /// The model that answered, by the vendor's name.
    pub model_version: Option<String>,
}

impl Chunk {
    /// Puts the next piece of the same answer behind this one.
    pub fn append(&mut self, next: Self) {
        self.parts.extend(next.parts);
        self.finish = next.finish.or(self.finish.take());
        self.usage = next.usage.or(self.usage);
        self.citations.extend(next.citations);
        self.grounding = next.grounding.or(self.grounding.take());
        self.response_id = next.response_id.or(self.response_id.take());
        self.model_version = next.model_version.or(self.model_version.take());
    }

    /// The words of the answer, without thoughts.
    pub fn text(&self) -> String {
        self.parts.iter().filter(|part| !part.thought).filter_map(Part::as_text).collect()
    }
}

/// An answer as it streams. Dropping it closes the connection.
pub type ChunkStream = BoxStream<'static, Result<Chunk, ModelError>>;

/// How a stream of chunks can be unusable though the connection was fine.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum InvalidStream {
    /// It ended without a reason.
    NoFinishReason,
    /// A call that could not be formed.
    MalformedFunctionCall,
    /// A call when none was on offer.
    UnexpectedToolCall,
    /// Nothing said before the tokens ran out.
    MaxTokensExceeded,
    /// Nothing said: unsafe.
    SafetyBlocked,
    /// Nothing said: recitation.
    RecitationBlocked,
    /// Nothing said: another policy.
    OtherBlocked,
    /// Thoughts, but no answer.
    ThinkingOnlyResponse,
    /// Nothing at all.
    NoResponseText,
}

impl InvalidStream {
    /// The code of JSON output and telemetry.
    pub fn code(self) -> &'static str {
        match self {
            Self::NoFinishReason => "NO_FINISH_REASON",
            Self::MalformedFunctionCall => "MALFORMED_FUNCTION_CALL",
            Self::UnexpectedToolCall => "UNEXPECTED_TOOL_CALL",
            Self::MaxTokensExceeded => "MAX_TOKENS_EXCEEDED",
            Self::SafetyBlocked => "SAFETY_BLOCKED",
            Self::RecitationBlocked => "RECITATION_BLOCKED",
            Self::OtherBlocked => "OTHER_BLOCKED",
            Self::ThinkingOnlyResponse => "THINKING_ONLY_RESPONSE",
            Self::NoResponseText => "NO_RESPONSE_TEXT",
        }
    }

    /// The sentence that callers of Gemini CLI match on.
    pub fn message(self) -> &'static str {
        match self {
            Self::MaxTokensExceeded => {
                "Model response was truncated because it exceeded the token limit. Try using /compress to free up context space."
            }
            Self::SafetyBlocked => "The model response was blocked due to safety settings.",
            Self::RecitationBlocked => {
                "The model response was blocked due to recitation/copyright filters."
            }
            Self::OtherBlocked => "The model response was blocked due to other policy settings.",
            Self::ThinkingOnlyResponse => {
                "The model returned reasoning thoughts but no final response text. If your context window is near capacity, try using /compress."
            }
            Self::NoResponseText => {
                "The model returned an empty response with no text or thoughts. This may be a transient API issue; please try again."
            }
            Self::NoFinishReason => "Model stream ended without a finish reason.",
            Self::MalformedFunctionCall => "Model stream ended with malformed function call.",
            Self::UnexpectedToolCall => "Model stream ended with unexpected tool call.",
        }
    }
}

/// What a failed model call means for the caller.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum ModelErrorKind {
    /// The credentials are missing, wrong or not enough.
    Auth,
    /// The quota is used up; waiting a little does not help.
    Quota,
    /// The vendor is overloaded or limits the rate, and stayed so through all attempts.
    Busy,
    /// The request itself is wrong.
    Invalid,
    /// The conversation is longer than the model takes.
    TooLong,
    /// There is no such model.
    NotFound,
    /// The vendor could not be reached.
    Network,
    /// The answer broke off or made no sense on the wire.
    Broken,
    /// The answer came but cannot be used.
    Unusable(InvalidStream),
    /// The caller cancelled.
    Cancelled,
    /// A recorded model ran out of script or was asked something else than recorded.
    Replay,
    /// The settings that concern models are wrong.
    Config,
    /// A limit of what may be spent was reached: nothing was sent.
    Budget,
    /// Anything else.
    Other,
}

/// Bytes of an error message: a vendor's answer may be quoted in it.
const LONGEST_MESSAGE: usize = 8 * 1024;

/// A model call failed.
#[derive(Debug, Clone, thiserror::Error)]
#[error("{message}")]
pub struct ModelError {
    /// What it means.
    pub kind: ModelErrorKind,
    /// For a person: what happened and, where one is known, the remedy.
    pub message: String,
    /// The HTTP status, when the vendor answered.
    pub status: Option<u16>,
    /// The vendor's own status word, such as `RESOURCE_EXHAUSTED`.
    pub vendor_status: Option<String>,
    /// The class name that Gemini CLI gives it in JSON output, such as `ApiError`.
    pub type_name: &'static str,
    /// The stream broke on the way and asking again may help.
    pub retryable: bool,
}

impl ModelError {
    /// An error without a vendor's answer behind it.
    pub fn new(kind: ModelErrorKind, message: impl Into<String>) -> Self {
        let type_name = match kind {
            ModelErrorKind::Unusable(_) => "InvalidStreamError",
            ModelErrorKind::Auth => "FatalAuthenticationError",
            ModelErrorKind::Cancelled => "FatalCancellationError",
            ModelErrorKind::Config => "FatalConfigError",
            ModelErrorKind::Budget => "FatalBudgetExceededError",
            ModelErrorKind::NotFound => "ModelNotFoundError",
            ModelErrorKind::Quota => "TerminalQuotaError",
            ModelErrorKind::Busy => "RetryableQuotaError",
            ModelErrorKind::Invalid
            | ModelErrorKind::TooLong
            | ModelErrorKind::Network
            | ModelErrorKind::Broken
            | ModelErrorKind::Replay
            | ModelErrorKind::Other => "Error",
        };
        let message = bounded(message.into(), LONGEST_MESSAGE);
        Self { kind, message, status: None, vendor_status: None, type_name, retryable: false }
    }

    /// The caller cancelled.
    pub fn cancelled() -> Self {
        Self::new(ModelErrorKind::Cancelled, "Operation cancelled.")
    }

    /// The stream was fine and the answer is not.
    pub fn unusable(reason: InvalidStream) -> Self {
        Self { retryable: true, ..Self::new(ModelErrorKind::Unusable(reason), reason.message()) }
    }
}

/// What a model can take and give.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Limits {
    /// Tokens of a request and its answer together.
    pub context: u64,
    /// Media may sit inside a function response.
    pub media_in_responses: bool,
    /// Its vendor searches the web when a side call asks for it (`web-search`).
    pub web_search: bool,
    /// Who answers for it tells by itself when a request is too long: nobody needs to estimate before.
    pub tells_overflow: bool,
    /// Its vendor reads the addresses in a side call itself (`web-fetch`).
    pub reads_urls: bool,
}

/// The model that was chosen, and why.
#[derive(Clone)]
pub struct Choice {
    /// The model.
    pub model: Arc<dyn Model>,
    /// Its name as the vendor knows it.
    pub name: String,
    /// What it can take.
    pub limits: Limits,
    /// The prompt family that it belongs to: `modern` or `legacy`.
    pub family: &'static str,
    /// Who chose, such as `agent-router/override`.
    pub reason: String,
}

/// What a choice of model may depend on.
#[derive(Debug, Clone, Default)]
pub struct SelectContext {
    /// What was asked for: a name, an alias, or `auto`.
    pub requested: String,
    /// The mode of the session.
    pub mode: ApprovalMode,
    /// Set for a side call: what the conversation asked for. `requested` is then the name of a configuration, and
    /// where the conversation's vendor has no model for it, the conversation's own model answers.
    pub beside: Option<String>,
}

/// Chooses a model.
#[async_trait]
pub trait Models: Send + Sync {
    /// The model for the next request.
    async fn select(&self, context: &SelectContext) -> Result<Choice, ModelError>;
}

/// One model.
#[async_trait]
pub trait Model: Send + Sync {
    /// Its name as the vendor knows it.
    fn name(&self) -> &str;

    /// Who bills it: an id of the catalog, `local` for a server on the person's own machine, empty for the Gemini API.
    #[expect(clippy::unnecessary_literal_bound, reason = "others give what they hold")]
    fn vendor(&self) -> &str {
        ""
    }

    /// The figures that a request is sent with, without its own adjustments.
    fn tuning(&self, _request: &Request) -> Tuning {
        Tuning::default()
    }

    /// Sends the request; resolves when the answer begins. Attempts to connect are repeated inside.
    async fn stream(
        &self,
        request: Request,
        cancel: CancellationToken,
    ) -> Result<ChunkStream, ModelError>;

    /// Asks for the answer in one piece. It may say nothing: the caller judges.
    async fn generate(
        &self,
        request: Request,
        cancel: CancellationToken,
    ) -> Result<Chunk, ModelError>;

    /// Asks for one JSON value that satisfies a schema.
    async fn generate_json(
        &self,
        request: JsonRequest,
        cancel: CancellationToken,
    ) -> Result<(Value, Usage), ModelError>;

    /// The tokens of a request, counted by the vendor.
    async fn count_tokens(
        &self,
        request: Request,
        cancel: CancellationToken,
    ) -> Result<u64, ModelError>;

    /// One vector for each text.
    async fn embed(
        &self,
        texts: Vec<String>,
        cancel: CancellationToken,
    ) -> Result<Vec<Vec<f32>>, ModelError>;
}
