//! What every dialect is given and gives: a connection to one service, and the models behind it.

use std::sync::Arc;

use async_trait::async_trait;
use pollux_net::Backoff;
use pollux_protocol::{CancellationToken, Limits, Model, ModelError, PromptFamily};

use crate::catalog::Vendor;
use crate::configs::ModelConfigs;
use crate::endpoint::Endpoint;
use crate::exchange::Exchange;
use crate::local::LocalServer;

/// The way to one service.
#[derive(Debug)]
pub(crate) struct Connection {
    pub(crate) vendor: Vendor,
    pub(crate) endpoint: Endpoint,
    pub(crate) exchange: Exchange,
    pub(crate) configs: Arc<ModelConfigs>,
    /// Delays between unusable answers.
    pub(crate) content: Backoff,
    /// The server on this machine that speaks here, if it is one.
    pub(crate) server: Option<LocalServer>,
}

/// Speaks one dialect to one service; shared by all models of the service.
#[async_trait]
pub(crate) trait DialectClient: Send + Sync {
    /// The model of this name. `alias` names the configuration that holds for it, where it is not the
    /// name's own.
    ///
    /// # Errors
    /// The configurations are broken.
    fn model(&self, name: &str, alias: Option<&str>) -> Result<BuiltModel, ModelError>;

    /// The name of the model that answers when none is named.
    ///
    /// # Errors
    /// Those of asking the service for its list, and of a list without a model for conversations.
    async fn default_model(&self, cancel: &CancellationToken) -> Result<String, ModelError>;
}

/// A model and what is known of it.
#[derive(Clone)]
pub(crate) struct BuiltModel {
    pub(crate) model: Arc<dyn Model>,
    pub(crate) limits: Limits,
    pub(crate) family: PromptFamily,
}
