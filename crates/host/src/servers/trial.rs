//! Connection to one server outside of a session, to report about it.

use std::time::Duration;

use pollux_mcp::{Probed, ServerConfig, Unreachable};

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
        pollux_mcp::reach(&limited(config, limit), self.servers_options(NO_SESSION)).await
    }

    /// Starts a server or connects to it, and reports what it offers. Each step takes at most
    /// `limit`, or the time limit of the server's entry.
    pub async fn probe_server(&self, config: &ServerConfig, limit: Duration) -> Probed {
        pollux_mcp::probe(&limited(config, limit), self.servers_options(NO_SESSION)).await
    }
}

fn limited(config: &ServerConfig, limit: Duration) -> ServerConfig {
    let timeout = if config.has_timeout { config.timeout } else { limit };
    ServerConfig { timeout, ..config.clone() }
}
