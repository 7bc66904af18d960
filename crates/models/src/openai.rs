//! OpenAI's dialects: Chat Completions, which many vendors, gateways and local model servers
//! support, and Responses ([`responses`]), which is the default at OpenAI's own address.

use std::sync::Arc;

use async_trait::async_trait;
use pollux_protocol::{CancellationToken, ModelError, PromptFamily};
use serde_json::{Map, Value};

use crate::configs::Purpose;
use crate::dialect::{BuiltModel, Connection, DialectClient};

mod answer;
mod calls;
mod emulation;
mod frame;
mod ids;
mod messages;
mod model;
mod reasoning;
mod refusal;
mod request;
pub(crate) mod responses;
mod service;
mod splitter;
mod wire;

pub use answer::{decode_chat_chunk, decode_chat_stream};
pub use responses::decode_responses_stream;

pub(crate) use answer::finish_reason;
pub(crate) use ids::call_id;
pub(crate) use model::{limits, permitted_tools};
pub(crate) use refusal::{NO_KEYS, Refusals, says_no_model};
pub(crate) use request::json_schema;
pub(crate) use service::first_model;

use model::ChatModel;
use service::Service;

/// Name of the dialect in the catalog.
pub(crate) const DIALECT: &str = "openai";

/// Creates a client.
pub(crate) fn open(connection: Connection) -> Arc<dyn DialectClient> {
    Arc::new(ChatClient(Arc::new(Service::new(connection))))
}

struct ChatClient(Arc<Service>);

#[async_trait]
impl DialectClient for ChatClient {
    /// Returns the model. Only parameters that the user configured for the alias are sent: many
    /// models refuse parameter values intended for other models.
    fn model(&self, name: &str, alias: Option<&str>) -> Result<BuiltModel, ModelError> {
        let config = config_of(&self.0, alias)?;
        let model = ChatModel::new(Arc::clone(&self.0), name, &config);
        let (limits, family) = (model.limits(), PromptFamily::Modern);
        Ok(BuiltModel { model: Arc::new(model), limits, family, is_first_listed: false })
    }

    async fn default_model(&self, cancel: &CancellationToken) -> Result<String, ModelError> {
        self.0.first_model(cancel).await
    }
}

/// Returns the configuration of an alias; empty without an alias.
fn config_of(service: &Service, alias: Option<&str>) -> Result<Map<String, Value>, ModelError> {
    let Some(alias) = alias else { return Ok(Map::new()) };
    Ok(service.connection.configs.resolve(alias, Purpose::default())?.config)
}
