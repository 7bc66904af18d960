//! A model, and how one is chosen.

use std::fmt;
use std::sync::Arc;
use std::time::Duration;

use async_trait::async_trait;
use futures::stream::BoxStream;
use serde_json::{Number, Value};
use tokio_util::sync::CancellationToken;

use crate::{
    ApprovalMode, Declaration, Entry, Grounding, ModelError, ModelListing, Part, ToolChoice, Usage,
};

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
    /// New parts: text and thoughts are increments, calls and signed thoughts are whole. A signed
    /// thought stands before what it led to; its text is empty where increments have shown it.
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

    /// The text of the answer, without thoughts.
    pub fn text(&self) -> String {
        self.parts.iter().filter_map(Part::as_text).collect()
    }
}

/// An answer as it streams. Dropping it closes the connection.
pub type ChunkStream = BoxStream<'static, Result<Chunk, ModelError>>;

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

/// A set of prompt texts, by the generation of models that it is written for.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum PromptFamily {
    /// Gemini 3, and every model that is not a Gemini.
    #[default]
    Modern,
    /// Gemini 2.5 and older.
    Legacy,
}

impl PromptFamily {
    /// Its name in output.
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

/// The model that was chosen, and why.
#[derive(Clone)]
pub struct Choice {
    /// The model.
    pub model: Arc<dyn Model>,
    /// Its name as the vendor knows it.
    pub name: String,
    /// What it can take.
    pub limits: Limits,
    /// The set of prompt texts that is written for it.
    pub family: PromptFamily,
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

    /// The models that can be asked for with the credentials there are: those of the vendors' static lists,
    /// and those of servers on this machine. Nothing beyond this machine is asked.
    async fn list(&self) -> Vec<ModelListing> {
        Vec::new()
    }
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
