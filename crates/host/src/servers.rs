//! MCP servers of a session: which ones may start, and what becomes of their tools.

use std::collections::HashSet;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, OnceLock, PoisonError};
use std::time::{Duration, Instant};

use futures::future::{BoxFuture, ready};
use futures::{FutureExt as _, StreamExt as _};
use pollux_agent::{Loading, Outlet, SessionMemory, Toolset};
use pollux_config::Settings;
use pollux_mcp::{
    Authorization, Sampler, ServerChange, ServerConfig, ServerState, ServerStatus, Servers,
    ServersOptions, resource_tools,
};
use pollux_models::catalog::credential_variables;
use pollux_net::ClientOptions;
use pollux_protocol::{
    CommandSet, CommandSource, Event, Live, NoUser, Operator, Origin, PromptCommand, Severity,
    Tool, ToolSource,
};
use pollux_shell::{Redaction, redact};
use pollux_tools::ToolOptions;
use tokio::sync::mpsc;

use crate::setup::Setup;
use sign_in::WaitingSignIns;

pub use configured::{Configured, StartPermission};
pub use enablement::Enablement;
use instructions::Instructions;
pub(crate) use listing::server_listing;

mod configured;
mod enablement;
mod instructions;
mod listing;
mod sign_in;
mod trial;

/// Variable that shows a program that it was started by Gemini CLI or Pollux.
const MARK: (&str, &str) = ("GEMINI_CLI", "1");
/// Time after which a headless run says for which servers it waits.
const QUIET_WAIT: Duration = Duration::from_secs(1);
/// Time after which a conversation says that a server is ready.
const LATE: Duration = Duration::from_secs(5);

/// Parts of a session that its servers change and use.
#[derive(Clone)]
pub(crate) struct SessionParts<'s> {
    /// Tools of the session.
    pub(crate) toolset: &'s Live<Toolset>,
    /// Slash commands of the session.
    pub(crate) commands: &'s Live<CommandSet>,
    /// Variable end of the system instruction.
    pub(crate) memory: &'s Live<SessionMemory>,
    /// User of the session.
    pub(crate) operator: &'s Arc<dyn Operator>,
    /// Model of the session.
    pub(crate) sampler: Sampler,
    /// Sender of the session's events.
    pub(crate) outlet: &'s Outlet,
}

/// Servers of a session.
pub(crate) struct SessionServers {
    setup: Arc<Setup>,
    session: String,
    /// The started servers; empty while nothing is configured.
    servers: OnceLock<Servers>,
    /// Wait of the first request for the servers.
    loading: OnceLock<Loading>,
    /// Servers that are disabled for this session only.
    disabled: Mutex<HashSet<String>>,
    /// Sign-ins that wait for the user.
    waiting: WaitingSignIns,
}

impl SessionServers {
    pub(crate) fn new(setup: &Arc<Setup>, session_id: &str) -> Self {
        let session = session_id.to_owned();
        Self {
            setup: Arc::clone(setup),
            session,
            servers: OnceLock::new(),
            loading: OnceLock::new(),
            disabled: Mutex::default(),
            waiting: WaitingSignIns::default(),
        }
    }

    /// Starts all servers that may start, in the background. Returns `None` if none is configured;
    /// otherwise the future that the first request waits for.
    pub(crate) fn start(self: &Arc<Self>, parts: &SessionParts<'_>) -> Option<Loading> {
        let outlet = parts.outlet;
        let configured = self.setup.configured_servers();
        if configured.is_empty() {
            return None;
        }
        let (notices, mut waiting) = mpsc::unbounded_channel::<(Severity, String)>();
        let servers = self.servers.get_or_init(|| self.create(parts, notices.clone()));
        let lists = self.setup.tool_lists();
        for tool in resource_tools(servers).into_iter().filter(|tool| lists.keeps(tool.name())) {
            parts.toolset.update(|set| set.insert(tool));
        }
        for server in configured {
            self.launch(servers, server);
        }
        {
            let outlet = outlet.clone();
            tokio::spawn(async move {
                while let Some((severity, text)) = waiting.recv().await {
                    outlet.emit(Event::Notice { severity, text }).await;
                }
            });
        }
        let (this, outlet) = (Arc::clone(self), outlet.clone());
        if self.setup.is_interactive() {
            let operator = Arc::clone(parts.operator);
            tokio::spawn(async move { this.report_starts(&operator, &notices).await });
            return None;
        }
        // If the task panics, there are simply no tools of servers.
        let waiting = tokio::spawn(async move { this.wait_headless(&outlet).await });
        Some(self.loading.get_or_init(|| waiting.map(drop).boxed().shared()).clone())
    }

    /// Waits as long as the first request does.
    pub(crate) fn ready(&self) -> BoxFuture<'static, ()> {
        self.loading.get().map_or_else(|| ready(()).boxed(), |loading| loading.clone().boxed())
    }

    /// Returns the servers; `None` if none is configured.
    pub(crate) fn servers(&self) -> Option<&Servers> {
        self.servers.get()
    }

    /// Returns all servers with their states.
    pub(crate) fn statuses(&self) -> Vec<ServerStatus> {
        self.servers.get().map(Servers::statuses).unwrap_or_default()
    }

    /// Starts all servers again, with the settings as they are.
    pub(crate) fn reload(&self) {
        let Some(servers) = self.servers.get() else { return };
        for server in self.setup.configured_servers() {
            self.launch(servers, server);
        }
    }

    /// Waits until no server is being started, at most for `limit`.
    pub(crate) async fn settled(&self, limit: Duration) {
        if let Some(servers) = self.servers.get() {
            servers.settled(limit).await;
        }
    }

    /// Enables or disables a server, for this session only or for all sessions. Returns false if
    /// there is no such server.
    ///
    /// # Errors
    /// A message for the user if the decision cannot be saved.
    pub(crate) fn enable(
        &self,
        name: &str,
        enabled: bool,
        for_session: bool,
    ) -> Result<bool, String> {
        let wanted = Enablement::key(name);
        let configured = self.setup.configured_servers();
        let found = configured.into_iter().find(|one| Enablement::key(&one.name) == wanted);
        let Some(server) = found else { return Ok(false) };
        if !for_session {
            Enablement::at(&self.setup.places).set(name, enabled)?;
        }
        if enabled {
            // A server that is enabled for good must not stay disabled in this session.
            self.disabled().remove(&wanted);
        } else if for_session {
            self.disabled().insert(wanted);
        }
        if let Some(servers) = self.servers.get() {
            let again = self.setup.configured_servers();
            let server = again.into_iter().find(|one| one.name == server.name).unwrap_or(server);
            self.launch(servers, server);
        }
        Ok(true)
    }

    /// Ends all servers.
    pub(crate) async fn close(&self) {
        if let Some(servers) = self.servers.get() {
            servers.close().await;
        }
    }

    fn disabled(&self) -> std::sync::MutexGuard<'_, HashSet<String>> {
        self.disabled.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn create(
        &self,
        parts: &SessionParts<'_>,
        notices: mpsc::UnboundedSender<(Severity, String)>,
    ) -> Servers {
        let lists = self.setup.tool_lists();
        let (toolset, commands) = (parts.toolset.clone(), parts.commands.clone());
        let instructions = Instructions::new(parts.memory.clone());
        let sink = move |event| match event {
            ServerChange::Instructions { server, text } => instructions.set(server, text),
            ServerChange::Tools { server, tools } => {
                let tools: Vec<Arc<dyn Tool>> =
                    tools.into_iter().filter(|tool| lists.keeps_of_server(tool.name())).collect();
                toolset.update(|set| set.replace_source(&ToolSource::Server(server), tools));
            }
            ServerChange::Prompts { server, prompts } => {
                let prompts = prompts.into_iter().map(|prompt| prompt as Arc<dyn PromptCommand>);
                let (source, prompts) = (CommandSource::Server(server), prompts.collect());
                commands.update(|set| drop(set.replace_source(source, prompts, Vec::new())));
            }
            // The session has ended if nobody receives.
            ServerChange::Notice { severity, text } => drop(notices.send((severity, text))),
        };
        let origin = Origin { session: self.session.as_str().into(), ..Origin::default() };
        let options = ServersOptions {
            operator: Arc::clone(parts.operator),
            origin: Arc::new(origin),
            sampler: Some(Arc::clone(&parts.sampler)),
            ..self.setup.servers_options(&self.session)
        };
        Servers::new(options, Arc::new(sink))
    }

    /// Starts a server, unless it is disabled.
    fn launch(&self, servers: &Servers, mut server: Configured) {
        if server.permission == StartPermission::Open
            && self.disabled().contains(&Enablement::key(&server.name))
        {
            server.permission = StartPermission::Disabled;
        }
        start(servers, server);
    }

    /// Waits for the servers before the first request of a headless run, and reports those that
    /// cannot be used.
    async fn wait_headless(&self, outlet: &Outlet) {
        let Some(servers) = self.servers.get() else { return };
        let limit = wait_limit(&self.setup.loaded.settings);
        let emit = |severity, text| outlet.emit(Event::Notice { severity, text });
        if !limit.is_zero() {
            let settled = servers.settled(limit);
            tokio::pin!(settled);
            if tokio::time::timeout(QUIET_WAIT, &mut settled).await.is_err() {
                let names = servers.starting().join(", ");
                if !names.is_empty() {
                    emit(Severity::Info, format!("Waiting for MCP servers: {names}")).await;
                }
                settled.await;
            }
        }
        let left_out = servers.starting().join(", ");
        if !left_out.is_empty() {
            let text = format!(
                "MCP servers that are still starting are left out: {left_out}. The setting \
                 pollux.mcp.headlessWait is the time to wait."
            );
            emit(Severity::Warning, text).await;
            tokio::spawn(report_late(servers, outlet));
        }
        for server in servers.statuses() {
            if let Some(text) = complaint(&server, servers.authorization()) {
                emit(Severity::Warning, text).await;
            }
            if server.state == ServerState::NeedsSignIn {
                let (program, name) = (&self.setup.input.called_as, &server.name);
                let text = format!("Sign in at the terminal: {program} mcp auth {name}");
                emit(Severity::Warning, text).await;
            }
        }
    }

    /// Reports each server of a conversation as soon as its start is over, if it cannot be used or
    /// has taken long, and lets the user sign in to those that want it.
    async fn report_starts(
        &self,
        operator: &Arc<dyn Operator>,
        notices: &mpsc::UnboundedSender<(Severity, String)>,
    ) {
        let Some(servers) = self.servers.get() else { return };
        let (sender, mut signing) = mpsc::unbounded_channel();
        let began = Instant::now();
        let reporting = async move {
            let mut settling = servers.settling();
            while let Some(server) = settling.next().await {
                let complaint = complaint(&server, servers.authorization());
                let notice = complaint.map(|text| (Severity::Warning, text));
                let late = || late_notice(&server).filter(|_| began.elapsed() > LATE);
                // The session has ended if nobody receives.
                if let Some(notice) = notice.or_else(late) {
                    drop(notices.send(notice));
                }
                if server.state == ServerState::NeedsSignIn {
                    drop(sender.send(server.name));
                }
            }
        };
        // A sign-in waits for the user, and must not hold up reports.
        let signing = async {
            while let Some(server) = signing.recv().await {
                self.sign_in_if_enabled(&server, operator, notices).await;
            }
        };
        tokio::join!(reporting, signing);
    }
}

/// Returns the task that reports the servers that a headless run did not wait for, when their start
/// is over.
fn report_late(servers: &Servers, outlet: &Outlet) -> impl Future<Output = ()> + Send + use<> {
    let left_out = servers.starting();
    let (mut settling, outlet) = (servers.settling(), outlet.clone());
    let authorization = Arc::clone(servers.authorization());
    async move {
        while let Some(server) = settling.next().await {
            if !left_out.contains(&server.name) {
                continue;
            }
            let complaint = complaint(&server, &authorization);
            let notice = complaint.map(|text| (Severity::Warning, text));
            if let Some((severity, text)) = notice.or_else(|| late_notice(&server)) {
                outlet.emit(Event::Notice { severity, text }).await;
            }
        }
    }
}

/// Returns the notice about a server whose tools the model gets late.
fn late_notice(server: &ServerStatus) -> Option<(Severity, String)> {
    let text = format!("MCP server '{}' is ready. The next request uses its tools.", server.name);
    (server.state == ServerState::Connected).then_some((Severity::Info, text))
}

/// Starts a server, or records why it is not started.
pub(crate) fn start(servers: &Servers, server: Configured) {
    let config = match server.config {
        Ok(Some(config)) => config,
        // An entry for a server that an extension brings.
        Ok(None) => return,
        Err(problem) => {
            let state = ServerState::Disconnected(format!("Invalid configuration: {problem}"));
            return servers.stop(ServerConfig::unusable(&server.name), state);
        }
    };
    match server.permission {
        StartPermission::Blocked(reason) => servers.stop(config, ServerState::Blocked(reason)),
        StartPermission::Disabled => servers.stop(config, ServerState::Disabled),
        StartPermission::Open => servers.start(config),
    }
}

/// Returns the time that a first request waits for servers.
pub(crate) fn wait_limit(settings: &Settings) -> Duration {
    let limit = settings.number("pollux.mcp.headlessWait").unwrap_or_default();
    Duration::from_secs_f64(limit.clamp(0.0, 86_400.0))
}

/// Returns the messages about servers that cannot be used, or not completely.
pub(crate) fn complaints(servers: &Servers) -> Vec<String> {
    let statuses = servers.statuses();
    statuses.iter().filter_map(|server| complaint(server, servers.authorization())).collect()
}

/// Returns the message about a server that cannot be used, or not completely.
fn complaint(server: &ServerStatus, authorization: &Authorization) -> Option<String> {
    let name = &server.name;
    match &server.state {
        ServerState::Disconnected(reason) => {
            Some(format!("MCP server '{name}' is not available: {reason}"))
        }
        ServerState::NeedsSignIn => Some(authorization.remedy(name)),
        ServerState::Connected if !server.problems.is_empty() => {
            Some(format!("MCP server '{name}': {}", server.problems.join("; ")))
        }
        _ => None,
    }
}

impl Setup {
    /// Returns the surroundings of the servers, without a user whom they may ask.
    pub fn servers_options(&self, session_id: &str) -> ServersOptions {
        let environment = &self.loaded.environment;
        let lookup = |name: &str| environment.get(name).map(str::to_owned);
        let options = ToolOptions::from_settings(&self.loaded.settings);
        let redaction = Redaction { enabled: true, ..options.redaction };
        let mut variables = redact(environment.for_children(), &redaction);
        let credentials = credential_variables();
        variables.retain(|(name, _)| {
            *name != MARK.0
                && !name.to_str().is_some_and(|name| credentials.iter().any(|known| known == name))
        });
        variables.push((MARK.0.into(), MARK.1.into()));
        let workspace = self.workspace.clone();
        let roots = move || -> Vec<PathBuf> {
            let workspace = workspace.get();
            workspace.roots().map(Path::to_path_buf).collect()
        };
        ServersOptions {
            folder: self.input.request.folder.clone(),
            environment: variables,
            client: ClientOptions::from_environment(&lookup),
            version: env!("CARGO_PKG_VERSION").to_owned(),
            roots: Arc::new(roots),
            operator: Arc::new(NoUser),
            origin: Arc::default(),
            sampler: None,
            truncate_threshold: options.truncate_threshold,
            spill_directory: self.project.tool_outputs_dir(session_id),
            authorization: self.authorization(),
        }
    }
}
