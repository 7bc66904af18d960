//! Forms in the client.

use std::sync::Arc;

use agent_client_protocol_schema::v1::{
    CLIENT_METHOD_NAMES, CreateElicitationRequest, CreateElicitationResponse, ElicitationFormMode,
    ElicitationSchema, ElicitationScope,
};
use async_trait::async_trait;

use super::connection::Connection;
use crate::forms::Forms;
use crate::json_rpc::connection::RequestError;

/// Client that can show forms.
pub(crate) struct ClientForms {
    pub(crate) connection: Arc<Connection>,
    /// Request or session that the forms belong to.
    pub(crate) scope: ElicitationScope,
}

#[async_trait]
impl Forms for ClientForms {
    async fn show(
        &self,
        message: String,
        schema: ElicitationSchema,
    ) -> Result<CreateElicitationResponse, RequestError> {
        let mode = ElicitationFormMode::new(self.scope.clone(), schema);
        let request = CreateElicitationRequest::new(mode, message);
        self.connection.request(CLIENT_METHOD_NAMES.elicitation_create, request).await
    }
}
