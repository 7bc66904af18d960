//! Dialect of OpenAI's Responses.
//!
//! Requests are stateless: the service stores nothing (`store: false`), and reasoning goes back
//! encrypted, as it came. Everything that does not depend on the form of a conversation, such as
//! the list of models, error responses and embeddings, is shared with Chat Completions.

use std::sync::Arc;

use async_trait::async_trait;
use pollux_protocol::{CancellationToken, ModelError, PromptFamily};

use super::service::Service;
use super::{ChatClient, config_of};
use crate::dialect::{BuiltModel, Connection, DialectClient};

mod answer;
mod items;
mod kept;
mod model;
mod output;
mod request;
mod unsupported;
mod wire;

pub use answer::decode_responses_stream;

use model::ResponsesModel;
use request::Encodings;

/// Name of the dialect in the catalog.
pub(crate) const DIALECT: &str = "responses";

/// Creates a client.
pub(crate) fn open(connection: Connection) -> Arc<dyn DialectClient> {
    let service = Arc::new(Service::new(connection));
    Arc::new(ResponsesClient {
        chat: ChatClient(Arc::clone(&service)),
        service,
        encodings: Arc::default(),
    })
}

struct ResponsesClient {
    service: Arc<Service>,
    encodings: Arc<Encodings>,
    /// Client for models without native tools, which are emulated in Chat Completions only.
    chat: ChatClient,
}

#[async_trait]
impl DialectClient for ResponsesClient {
    fn model(&self, name: &str, alias: Option<&str>) -> Result<BuiltModel, ModelError> {
        if self.service.connection.vendor.facts(name).tools == Some(false) {
            return self.chat.model(name, alias);
        }
        let config = config_of(&self.service, alias)?;
        let encodings = Arc::clone(&self.encodings);
        let model = ResponsesModel::new(Arc::clone(&self.service), encodings, name, &config);
        let (limits, family) = (model.limits(), PromptFamily::Modern);
        Ok(BuiltModel { model: Arc::new(model), limits, family, is_first_listed: false })
    }

    async fn default_model(&self, cancel: &CancellationToken) -> Result<String, ModelError> {
        self.service.first_model(cancel).await
    }
}
