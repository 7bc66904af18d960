//! Connection to a client of the Agent Client Protocol.

use agent_client_protocol_schema::v1::{
    CLIENT_METHOD_NAMES, CancelRequestNotification, ClientCapabilities,
    PROTOCOL_LEVEL_METHOD_NAMES, SessionId, SessionNotification, SessionUpdate,
};
use serde_json::Value;

use crate::json_rpc::connection;
use crate::json_rpc::outbox::{ClientGone, Outbox};

/// Connection to a client.
pub(crate) type Connection = connection::Connection<ClientCapabilities>;

/// Opens the connection to a client.
pub(crate) fn connect(outbox: Outbox) -> Connection {
    Connection::new(outbox, |id| {
        let params = serde_json::to_value(CancelRequestNotification::new(id));
        (PROTOCOL_LEVEL_METHOD_NAMES.cancel_request, params.unwrap_or(Value::Null))
    })
}

impl Connection {
    /// True if the client can show forms.
    pub(crate) fn has_forms(&self) -> bool {
        self.capabilities().elicitation.is_some_and(|elicitation| elicitation.form.is_some())
    }

    /// Sends an update of a session.
    pub(crate) async fn update(
        &self,
        session: &SessionId,
        update: SessionUpdate,
    ) -> Result<(), ClientGone> {
        let params = SessionNotification::new(session.clone(), update);
        self.notify(CLIENT_METHOD_NAMES.session_update, params).await
    }

    /// Sends an update of a session from a thread that cannot wait. It is dropped if far too many
    /// messages are waiting.
    pub(crate) fn update_now(&self, session: &SessionId, update: SessionUpdate) {
        let params = SessionNotification::new(session.clone(), update);
        self.notify_now(CLIENT_METHOD_NAMES.session_update, params);
    }
}
