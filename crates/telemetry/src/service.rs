//! Services of models and the settings of requests, in the terms of OpenTelemetry's conventions for
//! generative models.

use std::sync::Arc;

use serde_json::{Map, Value, json};

use crate::attributes::{Attributes, pairs, set};

/// Service that handles the requests to a model, and the settings of these requests.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Service {
    /// Name of the provider in the conventions (`gcp.gen_ai`).
    pub provider: String,
    /// Host of the service.
    pub address: Option<String>,
    /// Port of the service.
    pub port: Option<u16>,
    /// Settings of a request, by their names in the Gemini API (`topP`). Unknown settings are
    /// ignored.
    pub settings: Map<String, Value>,
}

/// Function that returns the service of a model, given the requested name, alias or `auto`. Called
/// on the telemetry thread.
pub type Services = Box<dyn FnMut(&str) -> Service + Send>;

/// Names of settings: in the Gemini API, and in the conventions.
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

/// Latest request, to which the next measurements of responses and failures belong.
#[derive(Debug, Default)]
pub(crate) struct Asked {
    pub(crate) service: Service,
    /// The system instruction, only if prompts are recorded.
    pub(crate) system: Option<Arc<str>>,
}

impl Asked {
    /// Returns the attributes that log events and metrics share for an operation.
    pub(crate) fn operation(&self, model: &str) -> Attributes {
        pairs([
            ("gen_ai.operation.name", json!("generate_content")),
            ("gen_ai.provider.name", json!(self.service.provider)),
            ("gen_ai.request.model", json!(model)),
        ])
    }

    /// Returns the attributes of an operation in log events.
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
