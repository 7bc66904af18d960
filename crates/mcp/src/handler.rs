//! Requests and notifications of a server.

#![allow(
    deprecated,
    reason = "roots, sampling and log messages are deprecated, but are what today's servers use"
)]

use std::collections::HashMap;
use std::future::{Future, ready};
use std::path::PathBuf;
use std::sync::{Arc, Mutex, PoisonError};

use pollux_protocol::plain_text::one_line;
use rmcp::model::{
    ClientCapabilities, ClientConfig, CreateMessageRequestParams, CreateMessageResult,
    ElicitRequestParams, ElicitResult, ElicitationAction, ElicitationCapability, ErrorCode,
    ErrorData, FormElicitationCapability, Implementation, ListRootsResult,
    LoggingMessageNotificationParam, ProgressNotificationParam, ProgressToken, ProtocolVersion,
    Root, RootsCapabilities, SamplingCapability, UrlElicitationCapability,
};
use rmcp::service::{NotificationContext, RequestContext};
use rmcp::{ClientHandler, RoleClient};
use tokio::sync::Notify;
use url::Url;

use crate::elicitation::Elicitation;
use crate::sampling::{self, Sampler, SamplingRequest};

/// Code of the specification for a request that the user has refused.
const USER_REFUSED: ErrorCode = ErrorCode(-1);
/// Name that servers see, as from Gemini CLI: some servers decide by it.
const CLIENT_NAME: &str = "gemini-cli-mcp-client";
/// Maximum length of a message about progress, in characters.
const LONGEST_MESSAGE: usize = 300;

/// Progress of a call.
#[derive(Debug, Clone, PartialEq)]
pub struct CallProgress {
    /// Work that is done.
    pub done: f64,
    /// All work, if known.
    pub total: Option<f64>,
    /// Message of the server, on one line.
    pub message: Option<String>,
}

impl std::fmt::Display for CallProgress {
    /// Writes `3 of 10: message`, with as much of it as is known.
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(formatter, "{}", self.done)?;
        if let Some(total) = self.total {
            write!(formatter, " of {total}")?;
        }
        match &self.message {
            Some(message) if !message.is_empty() => write!(formatter, ": {message}"),
            _ => Ok(()),
        }
    }
}

/// Receives the progress of one call.
pub(crate) type ProgressSink = Arc<dyn Fn(CallProgress) + Send + Sync>;

/// Returns the folders of the workspace.
pub(crate) type Roots = Arc<dyn Fn() -> Vec<PathBuf> + Send + Sync>;

/// Handler for what one server asks and reports. Copies share their state.
#[derive(Clone)]
pub(crate) struct Handler {
    state: Arc<State>,
}

struct State {
    version: String,
    roots: Roots,
    running: Mutex<HashMap<ProgressToken, ProgressSink>>,
    /// Lists of the server that have changed.
    changed: Mutex<ServerLists>,
    /// Notified when `changed` gets another list.
    is_changed: Notify,
    elicitation: Elicitation,
    sampler: Option<Sampler>,
    log: LogSink,
}

/// Lists of a server.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(crate) struct ServerLists {
    pub(crate) tools: bool,
    pub(crate) prompts: bool,
    pub(crate) resources: bool,
}

impl ServerLists {
    /// All lists.
    pub(crate) const ALL: Self = Self { tools: true, prompts: true, resources: true };
}

/// Receives lines for the server's log.
pub(crate) type LogSink = Arc<dyn Fn(String) + Send + Sync>;

impl Handler {
    /// Creates a handler for a connection of a Pollux of this version.
    pub(crate) fn new(
        version: &str,
        roots: Roots,
        elicitation: Elicitation,
        sampler: Option<Sampler>,
        log: LogSink,
    ) -> Self {
        let state = State {
            version: version.to_owned(),
            roots,
            running: Mutex::default(),
            changed: Mutex::default(),
            is_changed: Notify::new(),
            elicitation,
            sampler,
            log,
        };
        Self { state: Arc::new(state) }
    }

    /// Passes the progress of the request with this token to `sink` until the guard is dropped.
    pub(crate) fn follow(&self, token: ProgressToken, sink: ProgressSink) -> Following {
        self.running().insert(token.clone(), sink);
        Following { handler: self.clone(), token }
    }

    /// Waits until the server says that lists have changed, and returns them.
    pub(crate) async fn changed(&self) -> ServerLists {
        self.state.is_changed.notified().await;
        std::mem::take(&mut *self.state.changed.lock().unwrap_or_else(PoisonError::into_inner))
    }

    /// Notes that the user wants something of the server, so that it may ask again.
    pub(crate) fn called(&self) {
        self.state.elicitation.called();
    }

    fn note_change(&self, note: impl FnOnce(&mut ServerLists)) {
        note(&mut self.state.changed.lock().unwrap_or_else(PoisonError::into_inner));
        // Stored if nobody waits yet, so no change is missed.
        self.state.is_changed.notify_one();
    }

    fn running(&self) -> std::sync::MutexGuard<'_, HashMap<ProgressToken, ProgressSink>> {
        self.state.running.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Guard of [`Handler::follow`].
pub(crate) struct Following {
    handler: Handler,
    token: ProgressToken,
}

impl Drop for Following {
    fn drop(&mut self) {
        self.handler.running().remove(&self.token);
    }
}

impl ClientHandler for Handler {
    fn get_info(&self) -> ClientConfig {
        let mut capabilities = ClientCapabilities::default();
        let mut roots = RootsCapabilities::default();
        roots.list_changed = Some(true);
        capabilities.roots = Some(roots);
        let elicitation = ElicitationCapability::new()
            .with_form(FormElicitationCapability::new())
            .with_url(UrlElicitationCapability::new());
        capabilities.elicitation = Some(elicitation);
        capabilities.sampling = self.state.sampler.is_some().then(SamplingCapability::default);
        let client = Implementation::new(CLIENT_NAME, self.state.version.clone());
        ClientConfig::new(capabilities, client)
            .with_protocol_version(ProtocolVersion::LATEST_WITH_INITIALIZE)
    }

    fn list_roots(
        &self,
        _context: RequestContext<RoleClient>,
    ) -> impl Future<Output = Result<ListRootsResult, ErrorData>> + Send + '_ {
        let roots = (self.state.roots)();
        let root = |folder: PathBuf| {
            let uri = Url::from_file_path(&folder).ok()?;
            let name = folder.file_name().map(|name| name.to_string_lossy().into_owned());
            let root = Root::new(uri);
            Some(match name {
                Some(name) => root.with_name(name),
                None => root,
            })
        };
        ready(Ok(ListRootsResult::new(roots.into_iter().filter_map(root).collect())))
    }

    fn on_progress(
        &self,
        params: ProgressNotificationParam,
        _context: NotificationContext<RoleClient>,
    ) -> impl Future<Output = ()> + Send + '_ {
        let sink = self.running().get(&params.progress_token).cloned();
        if let Some(sink) = sink {
            let message = params.message.map(|message| {
                one_line(&message).chars().take(LONGEST_MESSAGE).collect::<String>()
            });
            sink(CallProgress { done: params.progress, total: params.total, message });
        }
        ready(())
    }

    fn on_logging_message(
        &self,
        params: LoggingMessageNotificationParam,
        _context: NotificationContext<RoleClient>,
    ) -> impl Future<Output = ()> + Send + '_ {
        let text = match params.data {
            serde_json::Value::String(text) => text,
            other => other.to_string(),
        };
        let text: String = one_line(&text).chars().take(LONGEST_MESSAGE).collect();
        (self.state.log)(text);
        ready(())
    }

    fn on_tool_list_changed(
        &self,
        _context: NotificationContext<RoleClient>,
    ) -> impl Future<Output = ()> + Send + '_ {
        self.note_change(|lists| lists.tools = true);
        ready(())
    }

    fn on_prompt_list_changed(
        &self,
        _context: NotificationContext<RoleClient>,
    ) -> impl Future<Output = ()> + Send + '_ {
        self.note_change(|lists| lists.prompts = true);
        ready(())
    }

    fn on_resource_list_changed(
        &self,
        _context: NotificationContext<RoleClient>,
    ) -> impl Future<Output = ()> + Send + '_ {
        self.note_change(|lists| lists.resources = true);
        ready(())
    }

    async fn create_message(
        &self,
        params: CreateMessageRequestParams,
        context: RequestContext<RoleClient>,
    ) -> Result<CreateMessageResult, ErrorData> {
        let SamplingRequest { text, request } = SamplingRequest::read(params)?;
        let refused = || ErrorData::new(USER_REFUSED, "User rejected sampling request", None);
        let sampler = self.state.sampler.as_ref().ok_or_else(refused)?;
        let sampling = async {
            if !self.state.elicitation.permits_model(&text).await {
                return Err(refused());
            }
            match sampler(request, context.ct.child_token()).await {
                Ok((model, chunk)) => Ok(sampling::answer(model, &chunk)),
                Err(error) => Err(ErrorData::internal_error(error.to_string(), None)),
            }
        };
        let done = context.ct.run_until_cancelled(sampling).await;
        done.unwrap_or_else(|| Err(refused()))
    }

    async fn create_elicitation(
        &self,
        params: ElicitRequestParams,
        context: RequestContext<RoleClient>,
    ) -> Result<ElicitResult, ErrorData> {
        // The server may withdraw its question.
        let asked = context.ct.run_until_cancelled(self.state.elicitation.ask(params)).await;
        Ok(asked.unwrap_or_else(|| ElicitResult::new(ElicitationAction::Cancel)))
    }
}
