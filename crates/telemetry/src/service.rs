//! Who answers, and how requests are made: what the conventions for generative models tell of both.

use std::sync::Arc;

use serde_json::{Map, Value, json};

use crate::attributes::{Attributes, pairs, set};

/// Who answers the requests to a model, and with which settings they are made.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Service {
    /// The provider's name in the conventions (`gcp.gen_ai`).
    pub provider: String,
    /// The service's host.
    pub address: Option<String>,
    /// Its port.
    pub port: Option<u16>,
    /// The settings of a request, by their names in the Gemini API (`topP`). Unknown ones are passed over.
    pub settings: Map<String, Value>,
}

/// Tells who answers for a model by the name, alias or `auto` that was asked for. Called on the telemetry's own
/// thread.
pub type Services = Box<dyn FnMut(&str) -> Service + Send>;

/// Names of settings: in the Gemini API and in the conventions.
const SETTINGS: [(&str, &str); 9] = [
    ("temperature", "gen_ai.request.temperature"),
    ("topP", "gen_ai.request.top_p"),
    ("topK", "gen_ai.request.top_k"),
    ("candidateCount", "gen_ai.request.choice.count"),
    ("seed", "gen_ai.request.seed"),
    ("frequencyPenalty", "gen_ai.request.frequency_penalty"),
    ("presencePenalty", "gen_ai.request.presence_penalty"),
    ("maxOutputTokens", "gen_ai.request.max_tokens"),
    ("stopSequences", "gen_ai.request.stop_sequences"),
];

/// The request that figures of answers and failures belong to.
#[derive(Debug, Default)]
pub(crate) struct Asked {
    pub(crate) service: Service,
    /// The system instruction, only when prompts are recorded.
    pub(crate) system: Option<Arc<str>>,
}

impl Asked {
    /// What log events and metrics say of an operation.
    pub(crate) fn operation(&self, model: &str) -> Attributes {
        pairs([
            ("gen_ai.operation.name", json!("generate_content")),
            ("gen_ai.provider.name", json!(self.service.provider)),
            ("gen_ai.request.model", json!(model)),
        ])
    }

    /// What log events alone say of it.
    pub(crate) fn details(&self, model: &str, log_prompts: bool) -> Attributes {
        let mut details = self.operation(model);
        for (setting, name) in SETTINGS {
            set(&mut details, name, self.service.settings.get(setting).cloned());
        }
        let system = self.system.as_ref().filter(|_| log_prompts);
        let instructions =
            system.map(|system| json!([{ "type": "text", "content": system }]).to_string());
        set(&mut details, "gen_ai.system_instructions", instructions);
        set(&mut details, "server.address", self.service.address.clone());
        set(&mut details, "server.port", self.service.port);
        details
    }
}
