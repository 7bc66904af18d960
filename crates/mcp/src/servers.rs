//! All servers of a session, started in the background.

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

use futures::future::ready;
use futures::stream::FuturesUnordered;
use futures::{Stream, StreamExt as _};
use pollux_fs::Spool;
use pollux_protocol::truncation::{self, output_path};
use pollux_protocol::{CallId, CancellationToken, Severity, ToolOutput};
use rmcp::{Peer, RoleClient};
use serde_json::{Map, Value};
use tokio::sync::watch;
use tokio::task::JoinHandle;

use crate::config::ServerConfig;
use crate::connection::{ConnectError, Connection, START_SHARE, Surroundings};
use crate::handler::{Handler, ServerLists};
use crate::log::{ErrorOutput, Log};
use crate::oauth::Authorization;
use crate::prompts::ServerPrompt;
use crate::resources::{ResourceBlock, ServerResource};
use crate::result;
use crate::status::{
    EventSink, ServerChange, ServerState, ServerStatus, ServersOptions, surroundings,
};
use changes::Changes;

mod changes;
mod lists;

/// Delays before a server is started again whose connection broke.
const RESTARTS: [Duration; 5] = [
    Duration::from_secs(1),
    Duration::from_secs(2),
    Duration::from_secs(5),
    Duration::from_secs(15),
    Duration::from_mins(1),
];
/// Time that the user's wish waits for a server that is being started again.
const RESTART_PATIENCE: Duration = Duration::from_secs(10);
/// A server that was connected for this long may use all [`RESTARTS`] again.
const STABLE: Duration = Duration::from_mins(2);
/// Delay of a change of the tools, so that several changes at once are one.
const SETTLING: Duration = Duration::from_millis(200);

/// Servers of a session. Clones are the same servers; dropping the last one ends them all.
#[derive(Clone)]
pub struct Servers {
    pub(crate) shared: Arc<Shared>,
    entries: Arc<Mutex<BTreeMap<String, Entry>>>,
    changes: Arc<Changes>,
}

/// State that all servers of a session share.
pub(crate) struct Shared {
    surroundings: Surroundings,
    truncate_threshold: usize,
    spill_directory: PathBuf,
}

impl Shared {
    /// Shortens a result that is too long for the model, and saves the whole.
    pub(crate) async fn shortened(
        &self,
        output: ToolOutput,
        tool: &str,
        call_id: &CallId,
        room: Option<usize>,
    ) -> ToolOutput {
        let limit = truncation::limit(self.truncate_threshold, room);
        let file = output_path(&self.spill_directory, tool, call_id);
        let work = move || {
            result::shortened(output, limit, |text| {
                let mut spool = Spool::create(&file).ok()?;
                spool.write(text.as_bytes()).ok()?;
                Some(file.clone())
            })
        };
        let done = tokio::task::spawn_blocking(work).await;
        done.unwrap_or_else(|error| result::failed(format!("The tool failed: {error}")))
    }
}

struct Entry {
    server: Arc<Server>,
    task: Option<JoinHandle<()>>,
    cancel: CancellationToken,
}

/// One server.
pub(crate) struct Server {
    pub(crate) config: ServerConfig,
    /// Facts about the server for hooks.
    pub(crate) context: Map<String, Value>,
    pub(crate) shared: Arc<Shared>,
    state: watch::Sender<ServerState>,
    connected: watch::Sender<Option<Connected>>,
    facts: Mutex<Facts>,
    log: Log,
    /// The first attempt to connect is over.
    settled: watch::Sender<bool>,
}

/// Facts about a connected server.
#[derive(Default, Clone)]
struct Facts {
    introduction: String,
    protocol: String,
    instructions: Option<String>,
    prompts: Vec<Arc<ServerPrompt>>,
    resources: Vec<ServerResource>,
    /// Problems of the list of tools, of prompts and of resources.
    problems: [Vec<String>; 3],
    /// Error output of its program.
    errors: ErrorOutput,
}

/// Interface to a connected server.
#[derive(Clone)]
pub(crate) struct Connected {
    pub(crate) peer: Peer<RoleClient>,
    pub(crate) handler: Handler,
}

impl Servers {
    /// Creates the servers and starts none of them.
    pub fn new(options: ServersOptions, events: EventSink) -> Self {
        let shared = Shared {
            truncate_threshold: options.truncate_threshold,
            spill_directory: options.spill_directory.clone(),
            surroundings: surroundings(options),
        };
        let changes = Arc::new(Changes::new(events));
        Self { shared: Arc::new(shared), entries: Arc::default(), changes }
    }

    /// Starts a server in the background. A server with the same name is ended. If tools of several
    /// servers have the same name, the server that was started first keeps it. Must be called
    /// inside a tokio runtime.
    pub fn start(&self, config: ServerConfig) {
        let server = Arc::new(Server::new(config, &self.shared, ServerState::Connecting));
        let cancel = CancellationToken::new();
        let name = server.config.name.clone();
        self.changes.register(&name);
        let running = Arc::clone(&server).run(Arc::clone(&self.changes), cancel.clone());
        let task = Some(tokio::spawn(running));
        self.entries().insert(name, Entry { server, task, cancel });
    }

    /// Adds a server that is not started, with its state. A running server of this name is ended,
    /// and its tools are removed.
    pub fn stop(&self, config: ServerConfig, state: ServerState) {
        let name = config.name.clone();
        self.changes.register(&name);
        let server = Arc::new(Server::new(config, &self.shared, state));
        server.settled.send_replace(true);
        let entry = Entry { server, task: None, cancel: CancellationToken::new() };
        let before = self.entries().insert(name.clone(), entry);
        if before.is_some_and(|before| before.task.is_some()) {
            self.changes.withdraw(&name);
        }
    }

    /// Returns the sign-ins to servers.
    pub fn authorization(&self) -> &Arc<Authorization> {
        &self.shared.surroundings.authorization
    }

    /// Returns the resources of all servers.
    pub fn resources(&self) -> Vec<ServerResource> {
        self.entries().values().flat_map(|entry| entry.server.resources()).collect()
    }

    /// Returns true if a server offers a resource.
    pub fn has_resources(&self) -> bool {
        self.entries().values().any(|entry| !entry.server.facts().resources.is_empty())
    }

    /// Returns the resource that a reference means: `server:uri`, or its address alone.
    pub fn resource(&self, reference: &str) -> Option<ServerResource> {
        let resources = self.resources();
        let named = resources.iter().find(|known| known.reference() == reference);
        named.or_else(|| resources.iter().find(|known| known.uri == reference)).cloned()
    }

    /// Reads a resource.
    ///
    /// # Errors
    /// A message for the user.
    pub async fn read(&self, resource: &ServerResource) -> Result<Vec<ResourceBlock>, String> {
        let server = self.entries().get(&resource.server).map(|entry| Arc::clone(&entry.server));
        let connected = match &server {
            Some(server) => server.in_use().await,
            None => None,
        };
        let (Some(server), Some(connected)) = (server, connected) else {
            return Err(format!("MCP server '{}' is not connected", resource.server));
        };
        connected.read(&resource.uri, server.config.timeout).await
    }

    /// Informs all connected servers that the folders of the workspace have changed. Must be called
    /// inside a tokio runtime.
    pub fn roots_changed(&self) {
        for entry in self.entries().values() {
            let Some(connected) = entry.server.connected.borrow().clone() else { continue };
            // A connection that has ended needs no notification.
            tokio::spawn(async move { connected.peer.notify_roots_list_changed().await.ok() });
        }
    }

    /// Returns all servers with their states, by name.
    pub fn statuses(&self) -> Vec<ServerStatus> {
        self.entries().values().map(|entry| entry.server.status(&self.changes)).collect()
    }

    /// Returns the names of the servers whose first attempt to connect is not over, and whose tools
    /// are not known.
    pub fn starting(&self) -> Vec<String> {
        let entries = self.entries();
        let starting = entries.values().filter(|entry| {
            let Server { settled, state, .. } = &*entry.server;
            !*settled.borrow() && *state.borrow() == ServerState::Connecting
        });
        starting.map(|entry| entry.server.config.name.clone()).collect()
    }

    /// Waits until the first attempt to connect is over for all servers. For each server the wait
    /// is limited to `limit`, or to the server's own time limit if that is shorter; the own limit
    /// begins with the server's turn to start.
    pub async fn settled(&self, limit: Duration) {
        let waiting: Vec<_> = {
            let entries = self.entries();
            let turns = START_SHARE * u32::try_from(entries.len()).unwrap_or(u32::MAX);
            let wait = |entry: &Entry| {
                let own = &entry.server.config;
                let own_limit = own.has_timeout.then(|| own.timeout.saturating_add(turns));
                (entry.server.settled.subscribe(), own_limit.map_or(limit, |own| own.min(limit)))
            };
            entries.values().map(wait).collect()
        };
        let waits = waiting.into_iter().map(|(mut settled, limit)| async move {
            let over = settled.wait_for(|settled| *settled);
            drop(tokio::time::timeout(limit, over).await.map(drop));
        });
        futures::future::join_all(waits).await;
    }

    /// Returns the states of the servers, each as soon as its first attempt to connect is over.
    /// Servers that are ended earlier are left out.
    pub fn settling(&self) -> impl Stream<Item = ServerStatus> + Send + Unpin + use<> {
        let waiting = |entry: &Entry| {
            let mut settled = entry.server.settled.subscribe();
            let server = Arc::downgrade(&entry.server);
            let changes = Arc::clone(&self.changes);
            async move {
                settled.wait_for(|settled| *settled).await.ok()?;
                Some(server.upgrade()?.status(&changes))
            }
        };
        let waiting: FuturesUnordered<_> = self.entries().values().map(waiting).collect();
        waiting.filter_map(ready)
    }

    /// Ends all servers, and waits a moment for them.
    pub async fn close(&self) {
        let entries = std::mem::take(&mut *self.entries());
        let tasks = entries.into_values().filter_map(|mut entry| {
            entry.cancel.cancel();
            entry.task.take()
        });
        futures::future::join_all(tasks).await;
    }

    fn entries(&self) -> std::sync::MutexGuard<'_, BTreeMap<String, Entry>> {
        self.entries.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Drop for Entry {
    fn drop(&mut self) {
        self.cancel.cancel();
    }
}

impl Server {
    fn new(config: ServerConfig, shared: &Arc<Shared>, state: ServerState) -> Self {
        Self {
            context: config.context(),
            config,
            shared: Arc::clone(shared),
            state: watch::Sender::new(state),
            connected: watch::Sender::new(None),
            facts: Mutex::default(),
            log: Log::default(),
            settled: watch::Sender::new(false),
        }
    }

    /// Returns the connection; waits for it while the server is being connected. `None` if there
    /// will be none.
    pub(crate) async fn connected(&self) -> Option<Connected> {
        let mut connected = self.connected.subscribe();
        let mut state = self.state.subscribe();
        loop {
            if let Some(connected) = connected.borrow_and_update().clone() {
                return Some(connected);
            }
            if *state.borrow_and_update() != ServerState::Connecting {
                return None;
            }
            tokio::select! {
                changed = connected.changed() => changed.ok()?,
                changed = state.changed() => changed.ok()?,
            }
        }
    }

    /// Returns the connection for a wish of the user; waits a moment for a server that is
    /// being started again.
    pub(crate) async fn in_use(&self) -> Option<Connected> {
        let connected = tokio::time::timeout(RESTART_PATIENCE, self.connected()).await.ok()??;
        connected.handler.called();
        Some(connected)
    }

    fn resources(&self) -> Vec<ServerResource> {
        self.facts().resources.clone()
    }

    fn facts(&self) -> std::sync::MutexGuard<'_, Facts> {
        self.facts.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn status(&self, changes: &Changes) -> ServerStatus {
        let facts = self.facts().clone();
        let mut log = self.log.lines();
        log.extend(facts.errors.lines());
        ServerStatus {
            name: self.config.name.clone(),
            state: self.state.borrow().clone(),
            introduction: facts.introduction,
            protocol: facts.protocol,
            target: self.config.target(),
            transport: self.config.transport(),
            description: self.config.description.clone(),
            tools: changes.declarations(self),
            prompts: facts.prompts,
            resources: facts.resources,
            problems: facts.problems.concat(),
            instructions: facts.instructions,
            log,
        }
    }

    /// Keeps the server connected until `cancel` is cancelled.
    async fn run(self: Arc<Self>, changes: Arc<Changes>, cancel: CancellationToken) {
        let mut failures = 0;
        loop {
            self.state.send_replace(ServerState::Connecting);
            let log = self.log.sink();
            let opening = Connection::open(&self.config, &self.shared.surroundings, &log);
            let Some(opened) = cancel.run_until_cancelled(Box::pin(opening)).await else { return };
            let connection = match opened {
                Ok(connection) => connection,
                Err(error) => {
                    let is_restart = *self.settled.borrow();
                    if is_restart
                        && failures < RESTARTS.len()
                        && error != ConnectError::Unauthorized
                    {
                        let pause = tokio::time::sleep(RESTARTS[failures]);
                        failures += 1;
                        if cancel.run_until_cancelled(pause).await.is_none() {
                            return;
                        }
                        continue;
                    }
                    self.give_up(error, &changes);
                    return;
                }
            };
            let since = Instant::now();
            let Some(reason) = self.serve(connection, &changes, &cancel).await else { return };
            if since.elapsed() > STABLE {
                failures = 0;
            }
            self.log.push(reason.clone());
            let Some(pause) = RESTARTS.get(failures) else {
                self.give_up(ConnectError::Failed(reason), &changes);
                return;
            };
            failures += 1;
            let name = &self.config.name;
            let text = format!("MCP server '{name}': {reason}. It is started again.");
            changes.notify(Severity::Warning, text);
            self.state.send_replace(ServerState::Connecting);
            if cancel.run_until_cancelled(tokio::time::sleep(*pause)).await.is_none() {
                return;
            }
        }
    }

    /// Uses a connection until it ends. Returns the reason for its end; `None` if `cancel` was
    /// cancelled.
    async fn serve(
        self: &Arc<Self>,
        connection: Connection,
        changes: &Changes,
        cancel: &CancellationToken,
    ) -> Option<String> {
        {
            let mut facts = self.facts();
            facts.introduction.clone_from(&connection.introduction);
            facts.protocol.clone_from(&connection.protocol);
            facts.instructions.clone_from(&connection.instructions);
            facts.errors = connection.errors();
        }
        let text = connection.instructions.clone();
        changes.send(ServerChange::Instructions { server: self.config.name.as_str().into(), text });
        let peer = connection.peer().clone();
        let handler = connection.handler().clone();
        self.connected.send_replace(Some(Connected { peer, handler: handler.clone() }));
        let listing = Box::pin(self.list(&connection, ServerLists::ALL, changes));
        if cancel.run_until_cancelled(listing).await.is_none() {
            self.connected.send_replace(None);
            connection.close().await;
            return None;
        }
        self.settled.send_replace(true);
        let ended = loop {
            tokio::select! {
                () = cancel.cancelled() => break false,
                () = connection.closed() => break true,
                lists = handler.changed() => {
                    tokio::time::sleep(SETTLING).await;
                    let listing = Box::pin(self.list(&connection, lists, changes));
                    match cancel.run_until_cancelled(listing).await {
                        Some(true) => {
                            let text = format!("Tools updated for server: {}", self.config.name);
                            changes.notify(Severity::Info, text);
                        }
                        Some(false) => {}
                        None => break false,
                    }
                }
            }
        };
        self.connected.send_replace(None);
        if !ended {
            connection.close().await;
            return None;
        }
        let errors = connection.errors();
        for line in errors.lines() {
            self.log.push(line);
        }
        Some(connection.reason().await)
    }

    /// Records that the server cannot be used.
    fn give_up(&self, error: ConnectError, changes: &Changes) {
        let name = &self.config.name;
        let was_used = *self.settled.borrow();
        if was_used {
            let text = format!("MCP server '{name}' is disconnected: {error}");
            changes.notify(Severity::Warning, text);
            *self.facts() = Facts::default();
        }
        // Also what a replaced server of this name offered cannot be used any more.
        changes.withdraw(name);
        self.state.send_replace(match error {
            ConnectError::Unauthorized => ServerState::NeedsSignIn,
            ConnectError::NoHandshake(reason) | ConnectError::Failed(reason) => {
                ServerState::Disconnected(reason)
            }
        });
        self.settled.send_replace(true);
    }
}
