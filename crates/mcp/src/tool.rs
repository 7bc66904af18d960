//! A server's tool as a tool of the session.

use std::sync::Arc;

use async_trait::async_trait;
use base64::Engine as _;
use base64::engine::general_purpose::STANDARD_NO_PAD;
use pollux_protocol::{
    Args, CallId, Confirmation, ConfirmationKind, Declaration, Effects, Invocation, LiveOutput,
    OutputSink, RunContext, ServerToolCall, SideModels, Tool, ToolError, ToolKind, ToolOutput,
    ToolSource,
};
use rmcp::model::{
    self, CallToolRequest, CallToolRequestParams, CancelledNotification,
    CancelledNotificationParam, ClientNotification, ClientRequest, ServerResult,
};
use rmcp::service::{PeerRequestOptions, ServiceError};
use serde_json::{Map, Value, json};
use sha2::{Digest, Sha256};

use crate::incoming::ANNOTATIONS;
use crate::servers::Server;
use crate::{request_error, result};

/// Tool of a server.
#[derive(Clone)]
pub(crate) struct ServerTool {
    server: Arc<Server>,
    /// Name for models.
    name: String,
    display_name: String,
    description: String,
    schema: Value,
    annotations: Option<Map<String, Value>>,
    /// The server's name for the tool.
    original: String,
    /// True if [`Declaration::WAIT`] is an argument of the server's own.
    knows_waiting: bool,
    /// Digest of everything that the server says about the tool.
    definition: String,
}

impl ServerTool {
    /// Creates the tool with this name for models.
    pub(crate) fn new(server: &Arc<Server>, name: String, tool: model::Tool) -> Self {
        let original = tool.name.into_owned();
        let annotations = tool.meta.as_ref().and_then(|meta| meta.0.get(ANNOTATIONS));
        let schema = Arc::unwrap_or_clone(tool.input_schema);
        let definition = json!([original, tool.description, schema, annotations]).to_string();
        let waits = schema.get("properties").and_then(|known| known.get(Declaration::WAIT));
        Self {
            display_name: format!("{original} ({} MCP Server)", server.config.name),
            description: tool.description.map(std::borrow::Cow::into_owned).unwrap_or_default(),
            annotations: annotations.and_then(Value::as_object).cloned(),
            server: Arc::clone(server),
            name,
            knows_waiting: waits.is_some(),
            definition: STANDARD_NO_PAD.encode(Sha256::digest(definition)),
            schema: Declaration::with_waiting(schema),
            original,
        }
    }

    /// Returns the same tool with another name for models.
    pub(crate) fn renamed(&self, name: String) -> Self {
        Self { name, ..self.clone() }
    }

    /// Returns the server's name for the tool.
    pub(crate) fn original(&self) -> &str {
        &self.original
    }

    /// Returns true if the tool belongs to this server, and not to one of the same name.
    pub(crate) fn is_of(&self, server: &Server) -> bool {
        std::ptr::eq(Arc::as_ptr(&self.server), server)
    }

    /// Returns true if the other tool can stand for this one.
    pub(crate) fn is_like(&self, other: &Self) -> bool {
        self.name == other.name
            && self.definition == other.definition
            && Arc::ptr_eq(&self.server, &other.server)
    }
}

impl Tool for ServerTool {
    fn name(&self) -> &str {
        &self.name
    }

    fn display_name(&self) -> &str {
        &self.display_name
    }

    fn kind(&self) -> ToolKind {
        ToolKind::Other
    }

    fn source(&self) -> ToolSource {
        ToolSource::Server(self.server.config.name.as_str().into())
    }

    fn declaration(&self) -> Declaration {
        Declaration {
            name: self.name.clone(),
            description: self.description.clone(),
            parameters: self.schema.clone(),
        }
    }

    fn server(&self) -> Option<&str> {
        Some(&self.server.config.name)
    }

    fn server_tool(&self) -> Option<&str> {
        Some(&self.original)
    }

    fn server_context(&self) -> Option<Map<String, Value>> {
        let mut context = self.server.context.clone();
        context.insert("tool_name".to_owned(), json!(self.original));
        Some(context)
    }

    fn definition(&self) -> Option<&str> {
        Some(&self.definition)
    }

    fn annotations(&self) -> Option<&Map<String, Value>> {
        self.annotations.as_ref()
    }

    fn prepare(&self, args: &Args) -> Result<Box<dyn Invocation>, ToolError> {
        let mut args = args.clone();
        if !self.knows_waiting {
            args.shift_remove(Declaration::WAIT);
        }
        Ok(Box::new(ServerCall {
            server: Arc::clone(&self.server),
            name: self.name.clone(),
            display_name: self.display_name.clone(),
            original: self.original.clone(),
            description: self.description.clone(),
            schema: self.schema.clone(),
            args,
        }))
    }
}

struct ServerCall {
    server: Arc<Server>,
    name: String,
    display_name: String,
    original: String,
    description: String,
    schema: Value,
    args: Args,
}

#[async_trait]
impl Invocation for ServerCall {
    fn effects(&self) -> Effects {
        Effects::unknown()
    }

    fn describe(&self) -> String {
        result::described(&self.args)
    }

    async fn confirmation(
        &self,
        call_id: &CallId,
        _side_models: &Arc<dyn SideModels>,
    ) -> Result<Confirmation, ToolError> {
        let kind = ConfirmationKind::ServerTool(Box::new(ServerToolCall {
            server: self.server.config.name.clone(),
            tool: self.original.clone(),
            display_name: self.display_name.clone(),
            description: self.description.clone(),
            arguments: self.args.clone(),
            schema: self.schema.clone(),
            is_changed: false,
        }));
        let title = "Confirm MCP Tool Execution".to_owned();
        Ok(Confirmation { call_id: call_id.clone(), title, kind })
    }

    async fn run(&self, run: RunContext) -> ToolOutput {
        let called = run.cancel.run_until_cancelled(self.call(&run.output)).await;
        let result = match called {
            Some(Ok(result)) => result,
            Some(Err(failed)) => return failed,
            None => return result::failed("Tool call aborted"),
        };
        let output = result::output(&self.original, &self.args, result);
        self.server.shared.shortened(output, &self.name, &run.call_id, run.room).await
    }
}

impl ServerCall {
    /// Sends the call and waits for its result. Dropping the future cancels the call.
    ///
    /// # Errors
    /// The output of a call that failed outside of the tool.
    async fn call(&self, output: &OutputSink) -> Result<model::CallToolResult, ToolOutput> {
        let server = &self.server.config.name;
        let introduction = format!("MCP tool '{}' of server '{server}' failed:", self.original);
        let explain = |problem: &str| result::failed(format!("{introduction} {problem}"));
        let quote = |error: &ServiceError| {
            result::failed_with(&introduction, &request_error::message(error))
        };
        let Some(connected) = self.server.in_use().await else {
            return Err(explain("the server is not connected. See /mcp"));
        };
        let params =
            CallToolRequestParams::new(self.original.clone()).with_arguments(self.args.clone());
        let request = ClientRequest::CallToolRequest(CallToolRequest::new(params));
        // CallProgress shows that the server is working.
        let options = PeerRequestOptions::with_timeout(self.server.config.timeout)
            .reset_timeout_on_progress();
        let sent = connected.peer.send_request_with_option(request, options).await;
        let handle = sent.map_err(|error| quote(&error))?;
        let output = Arc::clone(output);
        let sink = Arc::new(move |progress: crate::handler::CallProgress| {
            output(LiveOutput::Replace(progress.to_string()));
        });
        let following = connected.handler.follow(handle.progress_token.clone(), sink);
        let withdrawal =
            Withdrawal { peer: connected.peer.clone(), request: Some(handle.id.clone()) };
        let answer = handle.await_response().await;
        withdrawal.answered();
        drop(following);
        match answer {
            Ok(ServerResult::CallToolResult(result)) => Ok(result),
            Ok(ServerResult::InputRequiredResult(_)) => Err(explain(
                "the server wants answers before it continues, which Pollux cannot give in this \
                 way yet",
            )),
            Ok(_) => Err(result::failed("[Error: Could not parse tool response]")),
            Err(ServiceError::McpError(error)) => Ok(result::refused(error.code.0, &error.message)),
            Err(ServiceError::TransportClosed) => Err(explain("the server ended during the call")),
            Err(error @ ServiceError::Timeout { .. }) => {
                Err(explain(&request_error::message(&error)))
            }
            Err(error) => Err(quote(&error)),
        }
    }
}

/// Informs the server that a call is no longer wanted, unless it was answered.
struct Withdrawal {
    peer: rmcp::Peer<rmcp::RoleClient>,
    request: Option<model::RequestId>,
}

impl Withdrawal {
    fn answered(mut self) {
        self.request = None;
    }
}

impl Drop for Withdrawal {
    fn drop(&mut self) {
        let Some(request) = self.request.take() else { return };
        let peer = self.peer.clone();
        let params = CancelledNotificationParam::new(Some(request), Some("cancelled".to_owned()));
        let notification =
            ClientNotification::CancelledNotification(CancelledNotification::new(params));
        if let Ok(runtime) = tokio::runtime::Handle::try_current() {
            runtime.spawn(async move { drop(peer.send_notification(notification).await) });
        }
    }
}
