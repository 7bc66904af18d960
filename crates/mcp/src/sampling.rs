//! Requests of a server for an answer of the user's model.

#![allow(deprecated, reason = "sampling is deprecated, but is what today's servers use")]

use std::fmt::Write as _;
use std::sync::Arc;

use futures::future::BoxFuture;
use pollux_protocol::{
    CancellationToken, Content, FinishReason, HistoryEntry, ModelError, ModelRequest, ModelRole,
    Part, ResponseChunk, Role, text_of,
};
use rmcp::model::{
    self, CreateMessageRequestParams, CreateMessageResult, ErrorData, SamplingMessage,
    SamplingMessageContentBlock,
};

use crate::result;

/// Asks the model of a session. The answer comes with the name of the model.
pub type Sampler =
    Arc<dyn Fn(ModelRequest, CancellationToken) -> BoxFuture<'static, SamplerResult> + Send + Sync>;

/// Result of a [`Sampler`].
pub type SamplerResult = Result<(String, ResponseChunk), ModelError>;

/// Maximum number of messages of a request.
const MOST_MESSAGES: usize = 200;
/// Maximum number of tokens of an answer.
const MOST_TOKENS: u32 = 16_384;

/// Request of a server in the form of a request to a model, and its text for the user.
pub(crate) struct SamplingRequest {
    pub(crate) text: String,
    pub(crate) request: ModelRequest,
}

impl SamplingRequest {
    /// Reads a server's request.
    ///
    /// # Errors
    /// The answer to a request that is not supported.
    pub(crate) fn read(params: CreateMessageRequestParams) -> Result<Self, ErrorData> {
        if params.messages.is_empty() || params.messages.len() > MOST_MESSAGES {
            return Err(ErrorData::invalid_params("number of messages", None));
        }
        let mut text = String::new();
        let mut entries = Vec::new();
        for message in params.messages {
            let content = content(message)?;
            // Writing to a String cannot fail.
            let author = if content.role == Role::User { "user" } else { "model" };
            writeln!(text, "{author}: {}", text_of(&content.parts)).unwrap_or_default();
            entries.push(HistoryEntry::detached(content));
        }
        if let Some(system) = &params.system_prompt {
            text.insert_str(0, &format!("system: {system}\n"));
        }
        let mut request = ModelRequest {
            entries,
            system: params.system_prompt.map(Into::into),
            role: ModelRole::UtilityTool,
            ..ModelRequest::default()
        };
        let tokens = params.max_tokens.clamp(1, MOST_TOKENS);
        request.adjustments.tuning.max_output_tokens = Some(tokens.into());
        Ok(Self { text, request })
    }
}

/// Returns the answer of a model for a server.
pub(crate) fn answer(model: String, chunk: &ResponseChunk) -> CreateMessageResult {
    let message = SamplingMessage::assistant_text(text_of(&chunk.parts));
    let mut result = CreateMessageResult::new(message, model);
    let reason = match chunk.finish {
        Some(FinishReason::MaxTokens) => CreateMessageResult::STOP_REASON_END_MAX_TOKEN,
        _ => CreateMessageResult::STOP_REASON_END_TURN,
    };
    result.stop_reason = Some(reason.to_owned());
    result
}

fn content(message: SamplingMessage) -> Result<Content, ErrorData> {
    let unsupported = || ErrorData::invalid_params("tools in sampling are not supported", None);
    let mut parts: Vec<Part> = Vec::new();
    for block in message.content.into_vec() {
        let block = match block {
            SamplingMessageContentBlock::Text(text) => model::ContentBlock::Text(text),
            SamplingMessageContentBlock::Image(image) => model::ContentBlock::Image(image),
            SamplingMessageContentBlock::Audio(audio) => model::ContentBlock::Audio(audio),
            _ => return Err(unsupported()),
        };
        parts.extend(result::prompt_parts(block));
    }
    let role = match message.role {
        model::Role::Assistant => Role::Model,
        model::Role::User => Role::User,
    };
    Ok(Content { role, parts })
}
