//! Dialect of OpenAI's Chat Completions, which many vendors, gateways and local model servers
//! support.

use std::sync::Arc;

use async_trait::async_trait;
use pollux_protocol::{CancellationToken, ModelError, PromptFamily};
use serde_json::Map;

use crate::configs::Purpose;
use crate::dialect::{BuiltModel, Connection, DialectClient};

mod answer;
mod calls;
mod emulation;
mod ids;
mod messages;
mod model;
mod reasoning;
mod refusal;
mod request;
mod service;
mod splitter;
mod wire;

pub use answer::{decode_chat_chunk, decode_chat_stream};

use model::ChatModel;
pub(crate) use model::limits;
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
        let config = match alias {
            Some(alias) => self.0.connection.configs.resolve(alias, Purpose::default())?.config,
            None => Map::new(),
        };
        let model = ChatModel::new(Arc::clone(&self.0), name, &config);
        let (limits, family) = (model.limits(), PromptFamily::Modern);
        Ok(BuiltModel { model: Arc::new(model), limits, family, is_first_listed: false })
    }

    async fn default_model(&self, cancel: &CancellationToken) -> Result<String, ModelError> {
        self.0.first_model(cancel).await
    }
}
