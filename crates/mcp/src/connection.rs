//! Connection to one server: transport, handshake and lists.

use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::sync::{Arc, PoisonError};
use std::time::Duration;

use http::{HeaderMap, HeaderName, HeaderValue};
use pollux_net::{ClientOptions, HttpClient};
use pollux_protocol::plain_text::visible;
use pollux_protocol::{Operator, Origin};
use pollux_shell::{ChildSpec, Output, OutputLimits, ProcessState, Program, spawn_duplex};
use rmcp::RoleClient;
use rmcp::model::{ErrorCode, ErrorData, ProtocolVersion};
use rmcp::service::{
    ClientInitializeError, ClientLifecycleMode, ClientServiceExt as _, Peer, RunningService,
    RunningServiceCancellationToken, serve_client,
};
use rmcp::transport::streamable_http_client::{
    StreamableHttpClientTransport, StreamableHttpClientTransportConfig,
};
use tokio_util::sync::CancellationToken;

use crate::config::{Remote, ServerAddress, ServerConfig};
use crate::elicitation::Elicitation;
use crate::handler::{Handler, LogSink, Roots, ServerLists};
use crate::http::{HttpConnection, HttpFailure, Signer};
use crate::incoming::shown_line;
use crate::legacy_sse::SseTransport;
use crate::log::{ErrorOutput, error_lines};
use crate::oauth::{Authorization, ServerTokens};
use crate::request_error;
use crate::sampling::Sampler;
use crate::starts::{Starts, Turn};
use crate::stdio::{Ending, LARGE_MESSAGE, StdioTransport};

/// Limits of a server's error output that is kept, in bytes.
const KEPT_ERRORS: OutputLimits = OutputLimits { head: 16 << 10, tail: 48 << 10 };
/// Time that a response may take longer than the request may, before the connection gives up.
const MARGIN: Duration = Duration::from_secs(5);
/// Time that a stream may be silent: as long as the session lasts.
const FOREVER: Duration = Duration::from_hours(24 * 365);
/// Time for which the start of a program keeps others waiting.
pub(crate) const START_SHARE: Duration = Duration::from_millis(100);
/// Time that a server has to end after its connection was closed.
const CLOSING_LIMIT: Duration = Duration::from_millis(500);
/// Surroundings that all servers share.
#[derive(Clone)]
pub(crate) struct Surroundings {
    /// Folder of the project.
    pub(crate) folder: PathBuf,
    /// Environment of the servers' programs.
    pub(crate) environment: Vec<(OsString, OsString)>,
    /// Options of the HTTP client.
    pub(crate) client: ClientOptions,
    /// Version of Pollux.
    pub(crate) version: String,
    /// Folders of the workspace.
    pub(crate) roots: Roots,
    /// User of the session.
    pub(crate) operator: Arc<dyn Operator>,
    /// Session, as the sender of questions.
    pub(crate) origin: Arc<Origin>,
    /// Starts of programs.
    pub(crate) starts: Starts,
    /// Sign-ins to servers.
    pub(crate) authorization: Arc<Authorization>,
    /// Model of the session, for servers.
    pub(crate) sampler: Option<Sampler>,
}

/// Reason for which a server cannot be used.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub(crate) enum ConnectError {
    /// The server wants the user to sign in.
    #[error("the server requires authentication")]
    Unauthorized,
    /// The server does not know the handshake that was tried. The message is for the user.
    #[error("{0}")]
    NoHandshake(String),
    /// Anything else, as a message for the user.
    #[error("{0}")]
    Failed(String),
}

/// Established connection. Dropping it ends the server's program.
pub(crate) struct Connection {
    peer: Peer<RoleClient>,
    handler: Handler,
    /// Ends the connection; `None` once it was used.
    stop: Option<RunningServiceCancellationToken>,
    /// Cancelled when the connection has ended.
    closed: CancellationToken,
    process: Option<Ending>,
    /// Text that the server wants the model to know.
    pub(crate) instructions: Option<String>,
    /// Name and version of the server.
    pub(crate) introduction: String,
    /// Version of the protocol.
    pub(crate) protocol: String,
    /// Lists that the server has.
    pub(crate) lists: ServerLists,
}

impl Connection {
    /// Connects to a server within its time limit.
    ///
    /// # Errors
    /// [`ConnectError`]; a program that was started has been ended.
    pub(crate) async fn open(
        config: &ServerConfig,
        surroundings: &Surroundings,
        log: &LogSink,
    ) -> Result<Self, ConnectError> {
        let turn = match &config.endpoint {
            ServerAddress::Stdio { .. } => surroundings.starts.turn().await,
            _ => None,
        };
        let opening = Self::open_with_any_handshake(config, surroundings, log, turn);
        tokio::time::timeout(config.timeout, opening).await.unwrap_or_else(|_| {
            let seconds = config.timeout.as_secs_f64();
            Err(ConnectError::Failed(format!("no connection within {seconds} s")))
        })
    }

    /// Begins with `initialize`, which almost all servers know, and with `server/discover` if the
    /// server says that it only knows the protocol without a handshake. The other order would cost
    /// each of today's servers a request, and 10 s those that do not answer unknown requests.
    async fn open_with_any_handshake(
        config: &ServerConfig,
        surroundings: &Surroundings,
        log: &LogSink,
        turn: Option<Turn>,
    ) -> Result<Self, ConnectError> {
        let first = ClientLifecycleMode::Initialize;
        match Self::open_any(config, surroundings, log, turn, first).await {
            Err(ConnectError::NoHandshake(_)) => {
                let preferred_versions = vec![ProtocolVersion::NO_INITIALIZE];
                let second = ClientLifecycleMode::Discover { preferred_versions };
                Self::open_any(config, surroundings, log, None, second).await
            }
            other => other,
        }
    }

    async fn open_any(
        config: &ServerConfig,
        surroundings: &Surroundings,
        log: &LogSink,
        turn: Option<Turn>,
        lifecycle: ClientLifecycleMode,
    ) -> Result<Self, ConnectError> {
        let (operator, origin) = (&surroundings.operator, &surroundings.origin);
        let elicitation = Elicitation::new(
            &config.name,
            Arc::clone(operator),
            Arc::clone(origin),
            Arc::clone(log),
        );
        let roots = Arc::clone(&surroundings.roots);
        let sampler = surroundings.sampler.clone();
        let log_sink = Arc::clone(log);
        let handler = Handler::new(&surroundings.version, roots, elicitation, sampler, log_sink);
        match &config.endpoint {
            ServerAddress::Stdio { command, args, env, cwd } => {
                let spec = child(command, args, env, cwd.as_deref(), surroundings);
                Self::open_program(spec, handler, log, turn, lifecycle).await
            }
            ServerAddress::Http(remote) => {
                Self::open_http(config, remote, surroundings, handler, lifecycle).await
            }
            ServerAddress::Sse(remote) => {
                Self::open_sse(config, remote, surroundings, handler).await
            }
            ServerAddress::HttpOrSse(remote) => {
                let http =
                    Self::open_http(config, remote, surroundings, handler.clone(), lifecycle);
                match http.await {
                    Err(ConnectError::Failed(first)) => {
                        let second = Self::open_sse(config, remote, surroundings, handler).await;
                        second.map_err(|error| match error {
                            ConnectError::Failed(second) => {
                                ConnectError::Failed(format!("{first}; as type sse: {second}"))
                            }
                            _ => error,
                        })
                    }
                    other => other,
                }
            }
        }
    }

    async fn open_program(
        spec: ChildSpec,
        handler: Handler,
        log: &LogSink,
        turn: Option<Turn>,
        lifecycle: ClientLifecycleMode,
    ) -> Result<Self, ConnectError> {
        // Starting a process waits until the system has run it.
        let started = tokio::task::spawn_blocking(move || spawn_duplex(&spec, KEPT_ERRORS)).await;
        let server = started
            .map_err(|error| ConnectError::Failed(error.to_string()))?
            .map_err(|error| ConnectError::Failed(error.to_string()))?;
        let (transport, process) = StdioTransport::new(server, Arc::clone(log));
        let mut attempt = Attempt { process: Arc::clone(&process), log, has_failed: true };
        let mut connecting = Box::pin(handler.serve_with_lifecycle(transport, lifecycle));
        let early = tokio::time::timeout(START_SHARE, &mut connecting).await;
        drop(turn);
        let connected = match early {
            Ok(connected) => connected,
            Err(_) => connecting.await,
        };
        match connected {
            Ok(service) => {
                attempt.has_failed = false;
                Ok(Self::new(service, Some(process)))
            }
            Err(ClientInitializeError::JsonRpcError(error)) => Err(refused(&error)),
            Err(_) => Err(ConnectError::Failed(complaint(&process).await)),
        }
    }

    async fn open_http(
        config: &ServerConfig,
        remote: &Remote,
        surroundings: &Surroundings,
        handler: Handler,
        lifecycle: ClientLifecycleMode,
    ) -> Result<Self, ConnectError> {
        let connection = http_connection(config, remote, surroundings)?;
        let settings = StreamableHttpClientTransportConfig::with_uri(remote.url.as_str())
            .max_sse_event_size(2 * LARGE_MESSAGE)
            .max_json_response_size(2 * LARGE_MESSAGE)
            .reinit_on_expired_session(true);
        let transport = StreamableHttpClientTransport::with_client(connection, settings);
        let service = handler.serve_with_lifecycle(transport, lifecycle).await;
        service.map(|service| Self::new(service, None)).map_err(|error| refusal(&error))
    }

    async fn open_sse(
        config: &ServerConfig,
        remote: &Remote,
        surroundings: &Surroundings,
        handler: Handler,
    ) -> Result<Self, ConnectError> {
        let connection = http_connection(config, remote, surroundings)?;
        let transport =
            SseTransport::connect(connection, &remote.url).await.map_err(|error| match error {
                HttpFailure::Unauthorized(_) => ConnectError::Unauthorized,
                other => ConnectError::Failed(other.to_string()),
            })?;
        let service = serve_client(handler, transport).await;
        service.map(|service| Self::new(service, None)).map_err(|error| refusal(&error))
    }

    fn new(service: RunningService<RoleClient, Handler>, process: Option<Ending>) -> Self {
        let info = service.peer().peer_info();
        let server = info.as_ref().and_then(|info| info.server_info.as_ref());
        let introduction =
            server.map(|server| format!("{} {}", server.name, server.version)).unwrap_or_default();
        Self {
            instructions: info.as_ref().and_then(|info| info.instructions.clone()),
            introduction: visible(introduction.trim()),
            protocol: info
                .as_ref()
                .map(|info| visible(info.protocol_version.as_str()))
                .unwrap_or_default(),
            lists: info.map_or_else(ServerLists::default, |info| ServerLists {
                tools: info.capabilities.tools.is_some(),
                prompts: info.capabilities.prompts.is_some(),
                resources: info.capabilities.resources.is_some(),
            }),
            peer: service.peer().clone(),
            handler: service.service().clone(),
            stop: Some(service.cancellation_token()),
            closed: watched(service),
            process,
        }
    }

    /// Returns the interface for requests.
    pub(crate) fn peer(&self) -> &Peer<RoleClient> {
        &self.peer
    }

    /// Returns the handler of the server's notifications.
    pub(crate) fn handler(&self) -> &Handler {
        &self.handler
    }

    /// Returns the error output of the program.
    pub(crate) fn errors(&self) -> ErrorOutput {
        ErrorOutput::of(self.process.as_ref())
    }

    /// Waits until the connection has ended.
    pub(crate) async fn closed(&self) {
        self.closed.cancelled().await;
    }

    /// Returns the reason for the end of a connection that has ended.
    pub(crate) async fn reason(self) -> String {
        match &self.process {
            Some(process) => complaint(process).await,
            None => "the connection was closed".to_owned(),
        }
    }

    /// Closes the connection and waits a moment for the server to end.
    pub(crate) async fn close(mut self) {
        self.stop();
        drop(tokio::time::timeout(CLOSING_LIMIT, self.closed()).await);
        let process = self.process.take();
        let process = process.and_then(|process| taken(&process));
        if let Some(mut process) = process {
            drop(tokio::time::timeout(CLOSING_LIMIT, process.ended()).await);
        }
    }

    fn stop(&mut self) {
        if let Some(stop) = self.stop.take() {
            stop.cancel();
        }
    }
}

impl Drop for Connection {
    fn drop(&mut self) {
        self.stop();
    }
}

/// Returns a token that is cancelled when the service has ended.
fn watched(service: RunningService<RoleClient, Handler>) -> CancellationToken {
    let closed = CancellationToken::new();
    let guard = closed.clone().drop_guard();
    tokio::spawn(async move {
        drop(service.waiting().await);
        drop(guard);
    });
    closed
}

/// Attempt to connect to a program. If it fails, or takes too long and is dropped, the program's
/// error output is added to the log.
struct Attempt<'l> {
    process: Ending,
    log: &'l LogSink,
    has_failed: bool,
}

impl Drop for Attempt<'_> {
    fn drop(&mut self) {
        if self.has_failed {
            for line in error_lines(&self.process) {
                (self.log)(line);
            }
        }
    }
}

/// Takes the process of a server.
fn taken(process: &Ending) -> Option<pollux_shell::DuplexProcess> {
    process.lock().unwrap_or_else(PoisonError::into_inner).take()
}

/// Builds the child process of a server.
fn child(
    command: &str,
    args: &[String],
    env: &[(String, String)],
    cwd: Option<&Path>,
    surroundings: &Surroundings,
) -> ChildSpec {
    let folder =
        cwd.map_or_else(|| surroundings.folder.clone(), |cwd| surroundings.folder.join(cwd));
    let mut environment = surroundings.environment.clone();
    for (name, value) in env {
        environment.retain(|(known, _)| known != name.as_str());
        environment.push((name.into(), value.into()));
    }
    let arguments = args.iter().map(OsString::from).collect();
    ChildSpec::new(Program::File { path: command.into(), arguments }, folder, environment)
}

fn http_connection(
    config: &ServerConfig,
    remote: &Remote,
    surroundings: &Surroundings,
) -> Result<HttpConnection, ConnectError> {
    let options = ClientOptions {
        headers_timeout: config.timeout.saturating_add(MARGIN).min(FOREVER),
        idle_timeout: FOREVER,
        ..surroundings.client.clone()
    };
    let client =
        HttpClient::new(options).map_err(|error| ConnectError::Failed(error.to_string()))?;
    let mut headers = HeaderMap::new();
    for (name, value) in &remote.headers {
        let header =
            HeaderName::try_from(name.as_str()).ok().zip(HeaderValue::try_from(value).ok());
        let (name, value) = header
            .ok_or_else(|| ConnectError::Failed(format!("the header {name:?} is not valid")))?;
        headers.insert(name, value);
    }
    let authorization = &surroundings.authorization;
    let signer = match &config.google {
        Some(google) => {
            let authoriser = google.authoriser(authorization.google());
            let failed = |error: pollux_net::Error| ConnectError::Failed(error.to_string());
            Signer::Google(authoriser.map_err(failed)?)
        }
        None => Signer::User(Arc::new(ServerTokens::new(authorization, config, remote))),
    };
    Ok(HttpConnection::new(client, headers, signer, CancellationToken::new()))
}

/// Returns the error of a handshake over HTTP, without the SDK's words around it.
fn refusal(error: &ClientInitializeError) -> ConnectError {
    let cause = match error {
        ClientInitializeError::TransportError { error, .. } => error.error.as_ref(),
        ClientInitializeError::JsonRpcError(error) => return refused(error),
        other => return ConnectError::Failed(other.to_string()),
    };
    match request_error::http_failure(cause) {
        Some(HttpFailure::Unauthorized(_)) => ConnectError::Unauthorized,
        _ => ConnectError::Failed(request_error::transport_message(cause)),
    }
}

/// Returns the error of a handshake that a server has refused.
fn refused(error: &ErrorData) -> ConnectError {
    let message = format!("the server refused: {}", shown_line(&error.message));
    match error.code {
        ErrorCode::METHOD_NOT_FOUND | ErrorCode::UNSUPPORTED_PROTOCOL_VERSION => {
            ConnectError::NoHandshake(message)
        }
        _ => ConnectError::Failed(message),
    }
}

/// Describes how a program ended.
async fn complaint(ending: &Ending) -> String {
    let Some(mut process) = taken(ending) else {
        return "the program ended".to_owned();
    };
    let state = tokio::time::timeout(Duration::from_millis(500), process.ended()).await;
    let how = match state {
        Ok(ProcessState::Exited { code: Some(code), .. }) => {
            format!("the program ended with exit code {code}")
        }
        Ok(ProcessState::Exited { signal: Some(signal), .. }) => {
            format!("the program was ended by signal {signal}")
        }
        Ok(_) => "the program ended".to_owned(),
        Err(_) => "the program closed its output".to_owned(),
    };
    let last = last_line(&process.stderr());
    *ending.lock().unwrap_or_else(PoisonError::into_inner) = Some(process);
    match last {
        Some(line) => format!("{how}: {line}"),
        None => how,
    }
}

/// Returns the last line that is not blank.
fn last_line(output: &Output) -> Option<String> {
    let text = output.text();
    let line = text.lines().rev().find(|line| !line.trim().is_empty())?;
    Some(shown_line(line))
}
