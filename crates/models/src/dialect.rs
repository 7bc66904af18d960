//! Interface of every dialect: a connection to one service, and the models of the service.

use std::sync::Arc;

use async_trait::async_trait;
use pollux_net::Backoff;
use pollux_protocol::{CancellationToken, Model, ModelError, ModelLimits, PromptFamily};

use crate::catalog::Vendor;
use crate::configs::ModelConfigs;
use crate::endpoint::Endpoint;
use crate::exchange::Exchange;
use crate::local::LocalServer;
use crate::wiring::UserAgent;

/// Connection to one service.
#[derive(Debug)]
pub(crate) struct Connection {
    pub(crate) vendor: Vendor,
    pub(crate) endpoint: Endpoint,
    pub(crate) user_agent: UserAgent,
    pub(crate) exchange: Exchange,
    pub(crate) configs: Arc<ModelConfigs>,
    /// Delays after unusable responses.
    pub(crate) content: Backoff,
    /// Google Cloud project of the user, for services that work within one.
    pub(crate) project: Option<String>,
    /// Local server of this connection, if the service runs on this machine.
    pub(crate) server: Option<LocalServer>,
}

/// Client of one service in one dialect; shared by all models of the service.
#[async_trait]
pub(crate) trait DialectClient: Send + Sync {
    /// Returns the model of this name. `alias` names the configuration of the model, if it is not
    /// the one of the name itself.
    ///
    /// # Errors
    /// The configurations are invalid.
    fn model(&self, name: &str, alias: Option<&str>) -> Result<BuiltModel, ModelError>;

    /// Returns the name of the model that is used when no model is named.
    ///
    /// # Errors
    /// The errors of requesting the service's list of models, and an error for a list without a
    /// model for conversations.
    async fn default_model(&self, cancel: &CancellationToken) -> Result<String, ModelError>;
}

/// Model and its known properties.
#[derive(Clone)]
pub(crate) struct BuiltModel {
    pub(crate) model: Arc<dyn Model>,
    pub(crate) limits: ModelLimits,
    pub(crate) family: PromptFamily,
    /// True if no model was named, and the service's list determined this one.
    pub(crate) is_first_listed: bool,
}
