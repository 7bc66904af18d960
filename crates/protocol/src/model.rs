//! Models and the choice of a model.

use std::fmt;
use std::sync::Arc;
use std::time::Duration;

use async_trait::async_trait;
use futures::stream::BoxStream;
use serde_json::{Number, Value};
use tokio_util::sync::CancellationToken;

use crate::bounded::bounded;
use crate::plain_text::one_line;
use crate::{
    ApprovalMode, Declaration, Grounding, HistoryEntry, ModelError, ModelListing, Part, ToolChoice,
    Usage,
};

/// Purpose of a model call. The strings are those of statistics and telemetry.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum ModelRole {
    /// The conversation itself.
    #[default]
    Main,
    /// The conversation of a subagent.
    Subagent,
    /// A request made by a tool.
    UtilityTool,
    /// Summary of the history.
    UtilityCompressor,
    /// Summary of output.
    UtilitySummarizer,
    /// Choice of a model.
    UtilityRouter,
    /// Detection of loops.
    UtilityLoopDetector,
    /// Decision whether the user or the model speaks next.
    UtilityNextSpeaker,
    /// Correction of edits.
    UtilityEditCorrector,
}

impl ModelRole {
    /// Returns the string of statistics and telemetry.
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

/// Notice that a connection attempt failed and will be repeated.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RetryNotice {
    /// Number of the failed attempt, from 1.
    pub attempt: u32,
    /// Maximum number of attempts.
    pub max_attempts: u32,
    /// Wait until the next attempt.
    pub delay: Duration,
    /// Description of the error for the user.
    pub reason: String,
    /// Class of the error, for telemetry.
    pub error_type: String,
}

/// Callback for retries, called before the wait.
pub type RetryListener = Arc<dyn Fn(RetryNotice) + Send + Sync>;

/// A tool that was left out of a request, because it cannot be described to the vendor.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ToolOmission {
    /// Name of the tool.
    pub tool: String,
    /// Reason: the rest of a sentence, without the full stop.
    pub reason: String,
}

/// Callback for tools that are left out of a request, called before it is sent.
pub type OmissionListener = Arc<dyn Fn(&ToolOmission) + Send + Sync>;

/// Sampling parameters of a request; `None` uses the configured value.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Tuning {
    /// Randomness of the answer.
    pub temperature: Option<Number>,
    /// Maximum length of the answer, in tokens.
    pub max_output_tokens: Option<Number>,
    /// Probability mass of the tokens to sample from (nucleus sampling).
    pub top_p: Option<Number>,
    /// Number of the most likely tokens to sample from.
    pub top_k: Option<Number>,
}

impl Tuning {
    /// Returns these parameters, with missing ones taken from `base`.
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

/// Per-request overrides of the model's configuration.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Adjustments {
    /// Sampling parameters that replace the configured ones.
    pub tuning: Tuning,
    /// Tools that may be called.
    pub tool_choice: Option<ToolChoice>,
    /// JSON schema that the answer must satisfy. It makes the service return JSON, and excludes
    /// tools.
    pub schema: Option<Arc<Value>>,
    /// Maximum number of tokens of the answer, including thoughts, for which the budget has room.
    /// A lower limit in the configuration stays.
    pub output_limit: Option<u64>,
}

/// One request to a model. Cheap to clone: contents and declarations are shared.
#[derive(Clone, Default)]
pub struct ModelRequest {
    /// The conversation; the last entry is the user's. Consecutive entries may have the same role:
    /// the dialect joins them.
    pub entries: Vec<Arc<HistoryEntry>>,
    /// System instruction.
    pub system: Option<Arc<str>>,
    /// Tools that the model may call.
    pub tools: Arc<[Declaration]>,
    /// Id of the prompt that the request belongs to.
    pub prompt_id: String,
    /// Purpose of the request.
    pub role: ModelRole,
    /// True if the previous answer was unusable and this request repeats it: model settings may
    /// then differ.
    pub is_retry: bool,
    /// Overrides for this request only.
    pub adjustments: Adjustments,
    /// Maximum number of connection attempts, if it is lower than the configured one: another model
    /// is ready to answer.
    pub max_attempts: Option<u32>,
    /// Callback for repeated connection attempts.
    pub on_retry: Option<RetryListener>,
    /// Callback for tools that are left out of the request.
    pub on_omission: Option<OmissionListener>,
}

impl fmt::Debug for ModelRequest {
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
    /// The underlying request.
    pub request: ModelRequest,
    /// JSON schema of the answer.
    pub schema: Value,
    /// Maximum number of attempts if the answer is unusable, including the first one.
    pub max_attempts: u32,
}

/// Reason why a model stopped.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum FinishReason {
    /// The model has finished.
    Stop,
    /// The token limit was reached.
    MaxTokens,
    /// Blocked because of safety rules.
    Safety,
    /// Blocked as a recitation.
    Recitation,
    /// The model made a malformed tool call.
    MalformedFunctionCall,
    /// The model called a tool although no tools were offered.
    UnexpectedToolCall,
    /// The prompt was blocked, for this reason of the vendor: there is no answer.
    PromptBlocked(String),
    /// Any other reason, as the vendor names it.
    Other(String),
}

/// Maximum length of a finish reason in messages, in bytes.
const LONGEST_REASON: usize = 64;

impl FinishReason {
    /// Returns the string used in telemetry.
    pub fn as_str(&self) -> &str {
        match self {
            Self::Stop => "STOP",
            Self::MaxTokens => "MAX_TOKENS",
            Self::Safety => "SAFETY",
            Self::Recitation => "RECITATION",
            Self::MalformedFunctionCall => "MALFORMED_FUNCTION_CALL",
            Self::UnexpectedToolCall => "UNEXPECTED_TOOL_CALL",
            Self::PromptBlocked(word) | Self::Other(word) => word,
        }
    }

    /// Returns the string for messages: a vendor's own name is shortened to one printable line.
    pub fn shown(&self) -> String {
        bounded(one_line(self.as_str()), LONGEST_REASON)
    }
}

/// Source that the model cites.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct Citation {
    /// Title, if known.
    pub title: Option<String>,
    /// URL.
    pub uri: String,
}

/// One piece of a streamed answer, or a whole answer.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct ResponseChunk {
    /// New parts: text and thoughts are increments, calls and signed thoughts are complete. A
    /// signed thought comes before the parts that it led to; its text is empty if increments have
    /// already contained it.
    pub parts: Vec<Part>,
    /// Set on the last piece.
    pub finish: Option<FinishReason>,
    /// Tokens so far; the last reported value counts.
    pub usage: Option<Usage>,
    /// Sources cited in this piece.
    pub citations: Vec<Citation>,
    /// Web sources that the vendor used for the answer.
    pub grounding: Option<Box<Grounding>>,
    /// Id of the answer, assigned by the vendor.
    pub response_id: Option<String>,
    /// Model that answered, as the vendor names it.
    pub model_version: Option<String>,
}

impl ResponseChunk {
    /// Appends the next piece of the same answer.
    pub fn append(&mut self, next: Self) {
        self.parts.extend(next.parts);
        self.finish = next.finish.or(self.finish.take());
        self.usage = next.usage.or(self.usage);
        self.citations.extend(next.citations);
        self.grounding = next.grounding.or(self.grounding.take());
        self.response_id = next.response_id.or(self.response_id.take());
        self.model_version = next.model_version.or(self.model_version.take());
    }

    /// Returns the text of the answer, without thoughts.
    pub fn text(&self) -> String {
        self.parts.iter().filter_map(Part::as_text).collect()
    }
}

/// Answer as a stream. Dropping it closes the connection.
pub type ChunkStream = BoxStream<'static, Result<ResponseChunk, ModelError>>;

/// Limits and capabilities of a model.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct ModelLimits {
    /// Maximum number of tokens of a request and its answer together.
    pub context: u64,
    /// True if media may be inside a function response.
    pub media_in_responses: bool,
    /// True if the vendor searches the web when a side call requests it (`web-search`).
    pub web_search: bool,
    /// True if the service rejects over-long requests with a recognisable error, so no local
    /// estimate is needed.
    pub rejects_overflow: bool,
    /// True if an answer that was cut off or is unusable is a failure. False for the Gemini API:
    /// scripts expect success.
    pub fails_when_cut_off: bool,
    /// True if the vendor itself reads the URLs in a side call (`web-fetch`).
    pub reads_urls: bool,
}

/// Set of prompt texts, by the generation of models that it is written for.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum PromptFamily {
    /// Gemini 3, and every model of another family.
    #[default]
    Modern,
    /// Gemini 2.5 and older.
    Legacy,
}

impl PromptFamily {
    /// Returns the name used in output.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Modern => "modern",
            Self::Legacy => "legacy",
        }
    }
}

impl fmt::Display for PromptFamily {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(self.as_str())
    }
}

/// A chosen model, with the reason of the choice.
#[derive(Clone)]
pub struct Choice {
    /// The model.
    pub model: Arc<dyn Model>,
    /// Name of the model as the vendor knows it.
    pub name: String,
    /// Limits of the model.
    pub limits: ModelLimits,
    /// Set of prompt texts for the model.
    pub family: PromptFamily,
    /// Component that chose the model, such as `agent-router/override`.
    pub reason: String,
}

impl Choice {
    /// Returns a name that is different for each model of each service.
    pub fn key(&self) -> String {
        format!("{}/{}", self.model.service(), self.name)
    }
}

/// Tier of models between which a router chooses.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum ModelTier {
    /// The strongest model.
    Pro,
    /// A faster and cheaper model.
    Flash,
}

/// Method by which a model decides which tier answers a prompt.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Classifier {
    /// The model rates how complex the prompt is.
    Score,
    /// The model names the tier.
    Choice,
}

/// [`Choice::reason`] of a model that was chosen only because it is the first one in the list of
/// the service.
pub const FIRST_LISTED: &str = "agent-router/first-listed";

/// Inputs to the choice of a model.
#[derive(Debug, Clone, Default)]
pub struct SelectContext {
    /// Requested model: a name, an alias, or `auto`.
    pub requested: String,
    /// Approval mode of the session.
    pub mode: ApprovalMode,
    /// Set for a side call: the model requested for the conversation. `requested` is then the name
    /// of a configuration; if the conversation's vendor has no model for it, the conversation's own
    /// model is used.
    pub conversation_model: Option<String>,
    /// Tier that the router has chosen. It has no effect on a name that stands for one model.
    pub tier: Option<ModelTier>,
}

/// Selector of models.
#[async_trait]
pub trait Models: Send + Sync {
    /// Chooses the model for the next request.
    async fn select(&self, context: &SelectContext) -> Result<Choice, ModelError>;

    /// Returns the method by which a model can choose the tier for this requested name; `None` for
    /// a name that stands for one model.
    fn classifier(&self, _requested: &str) -> Option<Classifier> {
        None
    }

    /// Returns the names of the models that can take the place of a model that was chosen for
    /// `requested`, the best first. They may contain the model itself.
    fn substitutes(&self, _requested: &str, _model: &str) -> Vec<String> {
        Vec::new()
    }

    /// Returns the models that are available with the present credentials: those of the vendors'
    /// static lists, and those of servers on this machine. No request leaves this machine.
    async fn list(&self) -> Vec<ModelListing> {
        Vec::new()
    }
}

/// One model.
#[async_trait]
pub trait Model: Send + Sync {
    /// Returns the model's name as the vendor knows it.
    fn name(&self) -> &str;

    /// Returns the party that bills for the model: an id of the catalog, `local` for a server on
    /// the user's own machine, empty for the Gemini API.
    #[expect(clippy::unnecessary_literal_bound, reason = "others give what they hold")]
    fn vendor(&self) -> &str {
        ""
    }

    /// Returns the service that answers: several services may have the same models and prices.
    fn service(&self) -> &str {
        self.vendor()
    }

    /// Returns the sampling parameters of a request, without the request's own adjustments.
    fn tuning(&self, _request: &ModelRequest) -> Tuning {
        Tuning::default()
    }

    /// Sends the request; resolves when the answer begins. Failed connection attempts are repeated
    /// internally.
    async fn stream(
        &self,
        request: ModelRequest,
        cancel: CancellationToken,
    ) -> Result<ChunkStream, ModelError>;

    /// Requests the answer in one piece. The answer may be empty: the caller must check it.
    async fn generate(
        &self,
        request: ModelRequest,
        cancel: CancellationToken,
    ) -> Result<ResponseChunk, ModelError>;

    /// Requests one JSON value that satisfies a schema.
    async fn generate_json(
        &self,
        request: JsonRequest,
        cancel: CancellationToken,
    ) -> Result<(Value, Usage), ModelError>;

    /// Returns the number of tokens of a request, counted by the vendor.
    async fn count_tokens(
        &self,
        request: ModelRequest,
        cancel: CancellationToken,
    ) -> Result<u64, ModelError>;

    /// Returns one embedding vector for each text.
    async fn embed(
        &self,
        texts: Vec<String>,
        cancel: CancellationToken,
    ) -> Result<Vec<Vec<f32>>, ModelError>;
}
