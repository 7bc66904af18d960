//! Dialect of the Gemini API, as used over HTTP by Google's service and by gateways for it.

use std::sync::Arc;

use async_trait::async_trait;
use pollux_protocol::{CancellationToken, Model as _, ModelError};

use crate::dialect::{BuiltModel, Connection, DialectClient};
use crate::names;

mod code_assist;
mod contents;
mod embed;
mod model;
mod refusal;
mod request;
mod service;
mod stream;

pub use stream::decode_chunk;

pub(crate) use contents::{PartsCache, Takes};
pub(crate) use stream::write_grounding;

use code_assist::CodeAssist;
use model::GeminiModel;
use refusal::{Access, GoogleRefusals};
use request::Encodings;
use service::Service;

/// Name of the dialect in the catalog.
pub(crate) const DIALECT: &str = "gemini";

/// Creates a client.
pub(crate) fn open(connection: Connection) -> Arc<dyn DialectClient> {
    let access = Access::of(&connection.vendor);
    let refusals = Arc::new(GoogleRefusals { gateway: connection.endpoint.gateway(), access });
    let encodings = Encodings::default();
    let code_assist =
        (access == Access::CodeAssist).then(|| CodeAssist::new(connection.project.clone()));
    Arc::new(GeminiClient(Arc::new(Service { connection, refusals, encodings, code_assist })))
}

struct GeminiClient(Arc<Service>);

#[async_trait]
impl DialectClient for GeminiClient {
    /// Returns the model. Its configuration is looked up by the name itself.
    fn model(&self, name: &str, alias: Option<&str>) -> Result<BuiltModel, ModelError> {
        let model = Arc::new(GeminiModel::new(Arc::clone(&self.0), alias.unwrap_or(name))?);
        let (mut limits, family) = (names::limits(model.name()), names::family(model.name()));
        let own = self.0.connection.vendor.own_facts(model.name());
        limits.context = own.context.unwrap_or(limits.context);
        Ok(BuiltModel { model, limits, family, is_first_listed: false })
    }

    async fn default_model(&self, _cancel: &CancellationToken) -> Result<String, ModelError> {
        Ok(names::resolve(names::AUTO).to_owned())
    }
}
