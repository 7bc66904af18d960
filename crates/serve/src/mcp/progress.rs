//! Progress notifications of a call.

use std::sync::Arc;
use std::time::Duration;

use serde_json::{Value, json};

use super::server::Connection;
use crate::json_rpc::outbox::ClientGone;

/// Time after which the last message is sent again: clients give up on a call without progress.
pub(crate) const REPEAT: Duration = Duration::from_secs(10);

/// Progress of a call, for a client that has asked for it.
pub(crate) struct Progress {
    connection: Arc<Connection>,
    /// `None` if the client has not asked.
    token: Option<Value>,
    count: u64,
    message: String,
}

impl Progress {
    /// Creates the progress of a call with these parameters.
    pub(crate) fn new(connection: Arc<Connection>, params: &Value) -> Self {
        let token = &params["_meta"]["progressToken"];
        let token = (token.is_string() || token.is_number()).then(|| token.clone());
        Self { connection, token, count: 0, message: String::new() }
    }

    /// Tells what happens now.
    pub(crate) async fn say(&mut self, message: String) -> Result<(), ClientGone> {
        self.message = message;
        self.repeat().await
    }

    /// Tells again what happens. The count increases each time, as the protocol demands.
    pub(crate) async fn repeat(&mut self) -> Result<(), ClientGone> {
        let Some(token) = &self.token else { return Ok(()) };
        self.count += 1;
        let params =
            json!({"progressToken": token, "progress": self.count, "message": self.message});
        self.connection.notify("notifications/progress", params).await
    }
}
