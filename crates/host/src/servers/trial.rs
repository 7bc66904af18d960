//! Connection to one server outside of a session, to report about it.

use std::future::pending;
use std::sync::Arc;
use std::time::Duration;

use futures::FutureExt as _;
use pollux_mcp::{Probed, Sampler, ServerConfig, ServersOptions, Unreachable};

use crate::setup::Setup;

/// Name of the session in paths of files, none of which is written.
const NO_SESSION: &str = "";

impl Setup {
    /// Starts a server or connects to it, and ends the connection. Takes at most `limit`, or the
    /// time limit of the server's entry.
    ///
    /// # Errors
    /// [`Unreachable`].
    pub async fn reach_server(
        &self,
        config: &ServerConfig,
        limit: Duration,
    ) -> Result<(), Unreachable> {
        pollux_mcp::reach(&limited(config, limit), self.trial_options()).await
    }

    /// Starts a server or connects to it, and reports what it offers. Each step takes at most
    /// `limit`, or the time limit of the server's entry.
    pub async fn probe_server(&self, config: &ServerConfig, limit: Duration) -> Probed {
        pollux_mcp::probe(&limited(config, limit), self.trial_options()).await
    }
}

impl Setup {
    /// Returns the surroundings of a server outside of a session. The server sees the same
    /// capabilities as in a session, because some servers offer less to a client without a model.
    fn trial_options(&self) -> ServersOptions {
        // Never called: no server gets the model without the permission of a user.
        let sampler: Sampler = Arc::new(|_, _| pending().boxed());
        ServersOptions { sampler: Some(sampler), ..self.servers_options(NO_SESSION) }
    }
}

fn limited(config: &ServerConfig, limit: Duration) -> ServerConfig {
    let timeout = if config.has_timeout { config.timeout } else { limit };
    ServerConfig { timeout, ..config.clone() }
}
