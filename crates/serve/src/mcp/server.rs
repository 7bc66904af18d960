//! The server: reads messages, and starts calls.

use std::collections::HashMap;
use std::io::{Read, Write};
use std::panic::AssertUnwindSafe;
use std::sync::Arc;

use agent_client_protocol_schema::v1::{Error, RequestId};
use futures::FutureExt;
use pollux_protocol::{SessionRequest, Sessions};
use serde::Deserialize;
use serde_json::{Value, json};
use tokio::sync::watch;
use tokio::task::JoinSet;

use super::answer::refusal;
use super::call::{Call, Context};
use super::initialize::{ClientCapabilities, Initialize};
use super::progress::Progress;
use super::session::Caller;
use super::sessions::{MOST_SESSIONS, OpenSessions};
use super::tools::{self, Misuse};
use crate::DescribeOutcome;
use crate::json_rpc::connection;
use crate::json_rpc::message::Params;
use crate::json_rpc::outbox::Outbox;
use crate::json_rpc::service::{Service, serve};

/// Maximum number of calls at the same time.
const MOST_CALLS: usize = MOST_SESSIONS;

/// Connection to a client.
pub(crate) type Connection = connection::Connection<ClientCapabilities>;

/// Options that all sessions of a server have in common.
pub struct McpOptions {
    /// Version of the program.
    pub version: &'static str,
    /// Request for a session, with the options of the command line. Calls can only restrict them.
    pub request: SessionRequest,
    /// Message for a prompt that failed.
    pub describe_failure: DescribeOutcome,
}

/// Server of the Model Context Protocol, up to the version 2025-11-25.
pub struct McpServer {
    sessions: Arc<dyn Sessions>,
    options: McpOptions,
}

impl McpServer {
    /// Creates a server that opens these sessions.
    pub fn new(sessions: Arc<dyn Sessions>, options: McpOptions) -> Self {
        Self { sessions, options }
    }

    /// Serves a client until its last message, until it accepts no more messages, or until `stop`
    /// is ready. Then all calls and sessions end.
    pub async fn serve(
        self,
        input: impl Read + Send + 'static,
        output: impl Write + Send + 'static,
        stop: impl Future<Output = ()>,
    ) {
        let connection = Connection::new(Outbox::new(output), |id| {
            ("notifications/cancelled", json!({ "requestId": id }))
        });
        let Self { sessions, options } = self;
        let connection = Arc::new(connection);
        let context = Context { sessions, options, connection, open: OpenSessions::default() };
        let server =
            Server { context: Arc::new(context), calls: HashMap::new(), tasks: JoinSet::new() };
        serve(server, input, stop).await;
    }
}

/// Parameters of `tools/call`.
#[derive(Deserialize)]
struct CallTool {
    name: String,
    #[serde(default)]
    arguments: Value,
}

/// Parameters of `notifications/cancelled`.
#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Cancelled {
    request_id: RequestId,
}

/// State of the server.
struct Server {
    context: Arc<Context>,
    /// Calls that have not ended, with the switches that cancel them.
    calls: HashMap<RequestId, watch::Sender<bool>>,
    tasks: JoinSet<RequestId>,
}

impl Service for Server {
    type Capabilities = ClientCapabilities;
    type Done = RequestId;

    fn connection(&self) -> &Connection {
        &self.context.connection
    }

    fn tasks(&mut self) -> &mut JoinSet<RequestId> {
        &mut self.tasks
    }

    fn done(&mut self, done: Option<RequestId>) {
        self.calls.retain(|id, _| done.as_ref() != Some(id));
    }

    fn request(
        &mut self,
        id: RequestId,
        method: &str,
        params: &Params,
    ) -> Result<Option<Value>, Error> {
        match method {
            "initialize" => {
                let initialize: Initialize = params.read()?;
                self.context.connection.set_capabilities(initialize.capabilities());
                Ok(Some(initialize.response(self.context.options.version)))
            }
            "ping" => Ok(Some(json!({}))),
            "tools/list" => Ok(Some(tools::list())),
            "tools/call" => self.call(id, params),
            _ => Err(Error::method_not_found()),
        }
    }

    fn notification(&mut self, method: &str, params: &Params) {
        if method == "notifications/cancelled"
            && let Ok(Cancelled { request_id }) = params.read()
            && let Some(cancel) = self.calls.get(&request_id)
        {
            cancel.send_replace(true);
        }
    }

    async fn end(&mut self) {
        // Without their switches, the calls are cancelled.
        self.calls.clear();
        while self.tasks.join_next().await.is_some() {}
        self.context.open.close().await;
    }
}

impl Server {
    /// Starts a call. Returns the result of one that cannot start.
    fn call(&mut self, id: RequestId, params: &Params) -> Result<Option<Value>, Error> {
        let CallTool { name, arguments } = params.read()?;
        if self.calls.contains_key(&id) {
            return Err(Error::invalid_request().data(json!("the id belongs to another request")));
        }
        if self.calls.len() >= MOST_CALLS {
            return Ok(Some(refusal("Too many calls at once.")));
        }
        let task = match tools::read(&name, arguments) {
            Ok(task) => task,
            Err(Misuse::UnknownTool) => {
                return Err(Error::invalid_params().data(json!(format!("Unknown tool: {name}"))));
            }
            // The model of the client can correct its arguments.
            Err(Misuse::Arguments(reason)) => return Ok(Some(refusal(&reason))),
        };
        let (switch, cancel) = watch::channel(false);
        let connection = Arc::clone(&self.context.connection);
        let progress = Progress::new(Arc::clone(&connection), &params.read()?);
        let call = Call::new(Arc::clone(&self.context), Caller { cancel, progress }, &task);
        self.calls.insert(id.clone(), switch);
        self.tasks.spawn(async move {
            let ran = AssertUnwindSafe(call.run(task)).catch_unwind().await;
            let bug = |_| Error::internal_error().data(json!("This is a bug in Pollux."));
            if let Some(result) = ran.map_err(bug).transpose() {
                // A client that is gone needs no answer.
                drop(connection.answer(id.clone(), result).await);
            }
            id
        });
        Ok(None)
    }
}
