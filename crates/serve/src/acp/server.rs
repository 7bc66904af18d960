//! The agent: reads messages, and passes them on to sessions.

use std::collections::{HashMap, HashSet};
use std::io::{Read, Write};
use std::panic::AssertUnwindSafe;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use agent_client_protocol_schema::v1::{
    AuthenticateResponse, CancelNotification, CancelRequestNotification, ClientCapabilities,
    CloseSessionRequest, DeleteSessionRequest, DeleteSessionResponse, Error, ListSessionsRequest,
    ListSessionsResponse, LoadSessionRequest, McpServer, NewSessionRequest, PromptRequest,
    RequestId, ResumeSessionRequest, SessionId, SessionInfo, SetSessionConfigOptionRequest,
    SetSessionModeRequest,
};
use futures::FutureExt;
use pollux_protocol::{SessionEntry, SessionRequest, SessionStart, Sessions};
use serde_json::Value;
use tokio::sync::mpsc::error::TrySendError;
use tokio::sync::{mpsc, oneshot};
use tokio::task::JoinSet;

use super::authenticate::Credentials;
use super::connection::{Connection, connect};
use super::errors;
use super::folders::KnownFolders;
use super::initialize::{self, Initialize};
use super::opening::{Kind, SessionContext};
use super::options::SetModel;
use super::outcome::DescribeOutcome;
use super::servers;
use super::session::{Session, SessionCommand};
use crate::folders;
use crate::json_rpc::message::Params;
use crate::json_rpc::outbox::{ClientGone, Outbox};
use crate::json_rpc::service::{Service, serve};

/// Maximum number of requests that open or list sessions at the same time.
const STARTING: usize = 32;
/// Maximum number of open sessions.
const SESSIONS: usize = 200;
/// Maximum number of messages that wait for a session.
const WAITING: usize = 64;

/// Options that all sessions of an agent have in common.
pub struct AcpOptions {
    /// Version of the program.
    pub version: &'static str,
    /// Request for a session, with the options of the command line. Its folder is that of sessions
    /// which the client lists without naming a folder; its notices are shown where the client
    /// cannot show them.
    pub request: SessionRequest,
    /// Message for a prompt that failed.
    pub describe_failure: DescribeOutcome,
}

/// Agent of the Agent Client Protocol, version 1.
pub struct AcpServer {
    sessions: Arc<dyn Sessions>,
    options: AcpOptions,
}

impl AcpServer {
    /// Creates an agent that opens these sessions.
    pub fn new(sessions: Arc<dyn Sessions>, options: AcpOptions) -> Self {
        Self { sessions, options }
    }

    /// Serves a client until its last message, until it accepts no more messages, or until `stop`
    /// is ready. Then all sessions end.
    pub async fn serve(
        self,
        input: impl Read + Send + 'static,
        output: impl Write + Send + 'static,
        stop: impl Future<Output = ()>,
    ) {
        let connection = Arc::new(connect(Outbox::new(output)));
        let agent = Agent {
            server: self,
            connection,
            open: HashMap::new(),
            coming: HashSet::new(),
            folders: Arc::default(),
            tasks: JoinSet::new(),
            starting: 0,
            generations: 0,
            credentials: Credentials::default(),
        };
        serve(agent, input, stop).await;
    }
}

/// Open session.
struct Entry {
    inbox: mpsc::Sender<SessionCommand>,
    /// Ready when the session has ended.
    ended: oneshot::Receiver<()>,
    /// Number of the task.
    generation: u64,
}

/// End of a task.
enum Done {
    /// A request was answered.
    Answered,
    /// A session was opened, or could not be opened.
    Opened(SessionId, Option<Box<Session>>),
    /// A session has ended.
    Ended(SessionId, u64),
}

/// State of the agent.
struct Agent {
    server: AcpServer,
    connection: Arc<Connection>,
    open: HashMap<SessionId, Entry>,
    /// Sessions that are being opened.
    coming: HashSet<SessionId>,
    folders: Arc<KnownFolders>,
    tasks: JoinSet<Done>,
    /// Number of tasks that open or list sessions.
    starting: usize,
    /// Number of sessions so far.
    generations: u64,
    credentials: Credentials,
}

impl Service for Agent {
    type Capabilities = ClientCapabilities;
    type Done = Done;

    fn connection(&self) -> &Connection {
        &self.connection
    }

    fn tasks(&mut self) -> &mut JoinSet<Done> {
        &mut self.tasks
    }

    fn done(&mut self, done: Option<Done>) {
        match done {
            Some(Done::Answered) => self.starting -= 1,
            Some(Done::Opened(id, session)) => {
                self.starting -= 1;
                self.coming.remove(&id);
                if let Some(session) = session {
                    self.run(id, *session);
                }
            }
            Some(Done::Ended(id, generation)) => {
                self.open.retain(|known, entry| *known != id || entry.generation != generation);
            }
            None => {}
        }
    }

    fn request(
        &mut self,
        id: RequestId,
        method: &str,
        params: &Params,
    ) -> Result<Option<Value>, Error> {
        match method {
            "initialize" => {
                let Initialize { client_capabilities } = params.read()?;
                self.connection.set_capabilities(client_capabilities);
                let response = initialize::response(self.server.options.version);
                return json(&response).map(Some);
            }
            "authenticate" => {
                self.credentials.take(params.read()?)?;
                return json(&AuthenticateResponse::new()).map(Some);
            }
            "session/new" => {
                let request: NewSessionRequest = params.read()?;
                let session = SessionId::new(uuid::Uuid::new_v4().to_string());
                let start = SessionStart::New(Some(session.to_string()));
                let folders = (request.cwd, request.additional_directories);
                self.open(id, Kind::New, session, start, folders, &request.mcp_servers)?;
            }
            "session/load" => {
                let request: LoadSessionRequest = params.read()?;
                let folders = (request.cwd, request.additional_directories);
                self.resume(id, Kind::Load, request.session_id, folders, &request.mcp_servers)?;
            }
            "session/resume" => {
                let request: ResumeSessionRequest = params.read()?;
                let folders = (request.cwd, request.additional_directories);
                self.resume(id, Kind::Resume, request.session_id, folders, &request.mcp_servers)?;
            }
            "session/list" => self.list(id, params.read()?)?,
            "session/delete" => self.delete(id, params.read()?)?,
            "session/prompt" => {
                let PromptRequest { session_id, prompt, .. } = params.read()?;
                self.pass(&session_id, SessionCommand::Prompt { request: id, blocks: prompt })?;
            }
            "session/set_mode" => {
                let SetSessionModeRequest { session_id, mode_id, .. } = params.read()?;
                let mode = mode_id.0.as_ref().to_owned();
                self.pass(&session_id, SessionCommand::SetMode { request: id, mode })?;
            }
            "session/set_model" => {
                let SetModel { session_id, model_id } = params.read()?;
                let command = SessionCommand::SetModel { request: id, model: model_id };
                self.pass(&SessionId::new(session_id), command)?;
            }
            "session/set_config_option" => {
                let SetSessionConfigOptionRequest { session_id, config_id, value, .. } =
                    params.read()?;
                let option = config_id.0.as_ref().to_owned();
                let command = SessionCommand::SetOption { request: id, option, value };
                self.pass(&session_id, command)?;
            }
            "session/close" => {
                let CloseSessionRequest { session_id, .. } = params.read()?;
                self.pass(&session_id, SessionCommand::Close { request: id })?;
            }
            unknown => return Err(errors::unknown_method(unknown)),
        }
        Ok(None)
    }

    fn notification(&mut self, method: &str, params: &Params) {
        match method {
            "session/cancel" => {
                if let Ok(CancelNotification { session_id, .. }) = params.read() {
                    // There is nothing to cancel in a session that is not open.
                    drop(self.pass(&session_id, SessionCommand::Cancel));
                }
            }
            "$/cancel_request" => {
                if let Ok(CancelRequestNotification { request_id, .. }) = params.read() {
                    for entry in self.open.values() {
                        let request = request_id.clone();
                        // A session that is too busy is not the one that works on the request.
                        drop(entry.inbox.try_send(SessionCommand::CancelRequest { request }));
                    }
                }
            }
            _ => {}
        }
    }

    async fn end(&mut self) {
        self.open.clear();
        while self.tasks.join_next().await.is_some() {}
    }
}

impl Agent {
    /// Passes a command on to a session.
    fn pass(&self, session: &SessionId, command: SessionCommand) -> Result<(), Error> {
        let entry = self.open.get(session);
        let entry = entry.ok_or_else(|| errors::unknown_session(&session.0))?;
        entry.inbox.try_send(command).map_err(|error| match error {
            TrySendError::Full(_) => errors::internal("Too many requests wait for the session."),
            TrySendError::Closed(_) => errors::unknown_session(&session.0),
        })
    }

    /// Opens an earlier session. One that is open is closed first.
    fn resume(
        &mut self,
        id: RequestId,
        kind: Kind,
        session: SessionId,
        folders: (PathBuf, Vec<PathBuf>),
        servers: &[McpServer],
    ) -> Result<(), Error> {
        let start = SessionStart::Resume(session.to_string());
        self.open(id, kind, session, start, folders, servers)
    }

    fn open(
        &mut self,
        id: RequestId,
        kind: Kind,
        session: SessionId,
        start: SessionStart,
        (folder, further): (PathBuf, Vec<PathBuf>),
        servers: &[McpServer],
    ) -> Result<(), Error> {
        if self.open.len() >= SESSIONS && !self.open.contains_key(&session) {
            return Err(errors::internal("Too many sessions are open."));
        }
        if self.coming.contains(&session) {
            return Err(errors::internal("The session is being opened already."));
        }
        self.check_room()?;
        check_folder(&folder)?;
        further.iter().try_for_each(|folder| check_folder(folder))?;
        let template = self.server.options.request.clone();
        let further_folders = template.further_folders.iter().cloned().chain(further).collect();
        let servers = servers::entries(servers);
        let mut template = SessionRequest { folder, further_folders, start, servers, ..template };
        self.credentials.add_to(&mut template);
        let context = Arc::new(SessionContext::new(
            Arc::clone(&self.server.sessions),
            Arc::clone(&self.connection),
            session.clone(),
            template,
            self.server.options.describe_failure,
        ));
        self.folders.remember(&session.0, &context.request.folder);
        self.coming.insert(session.clone());
        let before = self.open.remove(&session).map(|entry| entry.ended);
        let request = id.clone();
        let opening = async move {
            if let Some(ended) = before {
                // Removing the entry has closed the inbox, which ends the session.
                drop(ended.await);
            }
            context.open(request, kind).await.map(Box::new)
        };
        self.start(id, opening, move |opened| Done::Opened(session, opened));
        Ok(())
    }

    fn list(&mut self, id: RequestId, request: ListSessionsRequest) -> Result<(), Error> {
        let template = self.server.options.request.clone();
        let folder = request.cwd.unwrap_or_else(|| template.folder.clone());
        check_folder(&folder)?;
        self.check_room()?;
        let sessions = Arc::clone(&self.server.sessions);
        let (connection, folders) = (Arc::clone(&self.connection), Arc::clone(&self.folders));
        let request = id.clone();
        let listing = async move {
            let template = SessionRequest { folder: folder.clone(), ..template };
            let listed = sessions.list(template).await;
            let mut listed = listed.map_err(|error| errors::opening(&error))?;
            listed.retain(|entry| !entry.is_damaged);
            // The latest first, as in the lists of editors.
            listed.sort_by(|a, b| b.last_updated.cmp(&a.last_updated));
            let info = |entry: &SessionEntry| {
                folders.remember(&entry.id, &folder);
                let title = Some(entry.title().to_owned()).filter(|title| !title.is_empty());
                SessionInfo::new(entry.id.clone(), folder.clone())
                    .title(title)
                    .updated_at(entry.last_updated.clone())
            };
            let response = ListSessionsResponse::new(listed.iter().map(info).collect());
            sent(connection.answer(request, Ok(response)).await)
        };
        self.start(id, listing, |_| Done::Answered);
        Ok(())
    }

    fn delete(&mut self, id: RequestId, request: DeleteSessionRequest) -> Result<(), Error> {
        let session = request.session_id;
        if self.open.contains_key(&session) || self.coming.contains(&session) {
            return Err(errors::internal("The session is open. Close it first."));
        }
        self.check_room()?;
        let template = self.server.options.request.clone();
        let folder = self.folders.of(&session.0).unwrap_or_else(|| template.folder.clone());
        let template = SessionRequest { folder, ..template };
        let (sessions, connection) =
            (Arc::clone(&self.server.sessions), Arc::clone(&self.connection));
        let request = id.clone();
        let deleting = async move {
            let deleted = sessions.delete(template, &session.0).await;
            deleted.map_err(|error| errors::opening(&error))?;
            sent(connection.answer(request, Ok(DeleteSessionResponse::new())).await)
        };
        self.start(id, deleting, |_| Done::Answered);
        Ok(())
    }

    /// Checks that another task may start.
    fn check_room(&self) -> Result<(), Error> {
        if self.starting >= STARTING {
            return Err(errors::internal("Too many requests wait for an answer."));
        }
        Ok(())
    }

    /// Starts a task that answers a request. If it fails, its error is the answer. `done` gets the
    /// result; `None` after a failure.
    fn start<T: Send + 'static>(
        &mut self,
        id: RequestId,
        task: impl Future<Output = Result<T, Error>> + Send + 'static,
        done: impl FnOnce(Option<T>) -> Done + Send + 'static,
    ) {
        self.starting += 1;
        let connection = Arc::clone(&self.connection);
        self.tasks.spawn(async move {
            let result = AssertUnwindSafe(task).catch_unwind().await;
            let error = match result {
                Ok(Ok(result)) => return done(Some(result)),
                Ok(Err(error)) => error,
                Err(_) => errors::internal("This is a bug in Pollux."),
            };
            // A client that is gone needs no answer.
            drop(connection.answer::<()>(id, Err(error)).await);
            done(None)
        });
    }

    /// Runs a session that has been opened.
    fn run(&mut self, id: SessionId, session: Session) {
        let (inbox, commands) = mpsc::channel(WAITING);
        let (end, ended) = oneshot::channel();
        self.generations += 1;
        let generation = self.generations;
        self.open.insert(id.clone(), Entry { inbox, ended, generation });
        self.tasks.spawn(async move {
            let ran = AssertUnwindSafe(session.run(commands)).catch_unwind().await;
            // A panic was reported when it happened, and nobody may wait for the end.
            drop((ran, end.send(())));
            Done::Ended(id, generation)
        });
    }
}

fn json(value: &impl serde::Serialize) -> Result<Value, Error> {
    serde_json::to_value(value).map_err(|error| errors::internal(error.to_string()))
}

fn sent(sent: Result<(), ClientGone>) -> Result<(), Error> {
    sent.map_err(|ClientGone| errors::stopped())
}

/// Checks the folder of a session.
fn check_folder(folder: &Path) -> Result<(), Error> {
    folders::check(folder).map_err(errors::unusable)
}
