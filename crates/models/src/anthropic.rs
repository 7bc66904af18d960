//! Dialect of Anthropic's Messages API, which gateways and other vendors support as well.

use std::sync::Arc;

use async_trait::async_trait;
use pollux_protocol::{CancellationToken, ModelError, PromptFamily};
use serde_json::Map;

use crate::configs::Purpose;
use crate::dialect::{BuiltModel, Connection, DialectClient};

mod answer;
mod blocks;
mod concessions;
mod messages;
mod model;
mod parameters;
mod pause;
mod refusal;
mod request;
mod service;
mod thinking;
mod wire;

pub use answer::decode_messages_stream;

use model::MessagesModel;
use service::Service;

/// Name of the dialect in the catalog, and of the opaque data of its parts.
pub(crate) const DIALECT: &str = "anthropic";

/// Creates a client.
pub(crate) fn open(connection: Connection) -> Arc<dyn DialectClient> {
    Arc::new(MessagesClient(Arc::new(Service::new(connection))))
}

struct MessagesClient(Arc<Service>);

#[async_trait]
impl DialectClient for MessagesClient {
    /// Returns the model. Only parameters that the user configured for the alias are sent.
    fn model(&self, name: &str, alias: Option<&str>) -> Result<BuiltModel, ModelError> {
        let config = match alias {
            Some(alias) => self.0.connection.configs.resolve(alias, Purpose::default())?.config,
            None => Map::new(),
        };
        let name = self.0.connection.vendor.resolve(name);
        let model = MessagesModel::new(Arc::clone(&self.0), name, &config);
        let (limits, family) = (model.limits(), PromptFamily::Modern);
        Ok(BuiltModel { model: Arc::new(model), limits, family, is_first_listed: false })
    }

    async fn default_model(&self, cancel: &CancellationToken) -> Result<String, ModelError> {
        self.0.first_model(cancel).await
    }
}
