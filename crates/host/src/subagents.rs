//! Subagents of a session: which ones there are, and the tool that invokes them.
//!
//! Those of a project need trust in the folder and the user's agreement to exactly their content.
//! A subagent that runs keeps the definition with which it started.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard, OnceLock, PoisonError, Weak};
use std::time::Duration;

use async_trait::async_trait;
use pollux_agent::{Outlet, Subagent};
use pollux_config::consent::{item, kinds};
use pollux_config::{Accepted, GEMINI_DIR, Settings};
use pollux_extensions::agents::{AgentFolder, AgentOverride, AgentOwner, AgentSet};
use pollux_policy::is_tool_name;
use pollux_protocol::plain_text::visible;
use pollux_protocol::{
    CancellationToken, CommandContext, CommandError, Event, Live, RunContext, Severity, Tool,
    ToolError, ToolErrorKind, ToolOutput,
};
use pollux_tools::invoke_agent;
use serde_json::Value;

use crate::consent::SessionConsent;
use crate::rules::tool_lists;
use crate::setup::Setup;

mod outcome;
mod own_servers;
mod session;
mod switch;

pub(crate) use session::SubagentSession;
pub(crate) use switch::AgentSwitch;

/// Setting with changes of agents, by name.
const OVERRIDES: &str = "agents.overrides";
/// Folder of definitions, below `.gemini`.
const FOLDER: &str = "agents";
/// Maximum number of messages about definitions.
const MAX_MESSAGES: usize = 20;
/// Maximum time of an agent, in minutes.
const MAX_MINUTES: f64 = 1440.0;

/// Subagents of a session.
pub(crate) struct Subagents {
    setup: Arc<Setup>,
    consent: Arc<SessionConsent>,
    /// All agents as last found.
    found: Live<AgentSet>,
    /// The enabled agents, for the system instruction.
    offered: Live<Vec<Subagent>>,
    running: Mutex<Vec<RunningAgent>>,
    /// The session, while its agent runs.
    session: OnceLock<Weak<SubagentSession>>,
}

/// Subagent that is working.
#[derive(Debug, Clone)]
pub(crate) struct RunningAgent {
    /// Id of its session.
    pub(crate) id: String,
    /// Name of the agent.
    pub(crate) name: String,
    /// Token that stops only this subagent.
    pub(crate) stop: CancellationToken,
}

impl Setup {
    /// Finds the subagents: the built-in ones, those of the project that are in `accepted`,
    /// those of the user, and those of active extensions. Blocks the thread.
    pub(crate) fn find_agents(&self, accepted: &Accepted, settings: &Settings) -> AgentSet {
        let mut set = AgentSet::built_in();
        if !settings.boolean("experimental.enableAgents") {
            return set.with_overrides(overrides(settings));
        }
        let folder = self.input.request.folder.as_path();
        let is_project = folder != self.places.home;
        if self.loaded.trust.is_trusted() && is_project {
            let refuse = |name: &str, text: &str| {
                let is_accepted =
                    accepted.accepts(&item(kinds::SUBAGENT, name, String::new(), text.as_bytes()));
                (!is_accepted).then(|| {
                    format!(
                        "The subagent {} of this folder is not available, because you have not allowed it. To be asked again: /permissions ask, then /agents reload.",
                        visible(name)
                    )
                })
            };
            set.add_folder(&AgentFolder {
                folder: &folder.join(GEMINI_DIR).join(FOLDER),
                owner: AgentOwner::Project,
                within: Some(folder),
                variables: None,
                is_tool: &is_tool_name,
                refuse: &refuse,
            });
        }
        set.add_folder(&AgentFolder {
            folder: &self.places.home.join(GEMINI_DIR).join(FOLDER),
            owner: AgentOwner::User,
            within: None,
            variables: None,
            is_tool: &is_tool_name,
            refuse: &|_, _| None,
        });
        for extension in self.extensions.active() {
            set.add_folder(&AgentFolder {
                folder: &extension.agents(),
                owner: AgentOwner::Extension(extension.name().to_owned()),
                within: Some(&extension.folder),
                variables: Some(&extension.variables),
                is_tool: &is_tool_name,
                refuse: &|_, _| None,
            });
        }
        set.with_overrides(overrides(settings))
    }

    /// Returns the user's model for subagents whose definition names none, if there is one.
    pub(crate) fn subagent_model(&self) -> Option<String> {
        let model = self.loaded.settings.value("pollux.roles")?.get("subagent")?.as_str()?.trim();
        (!model.is_empty()).then(|| model.to_owned())
    }

    /// Returns the names of the subagents that the model can invoke. Blocks the thread.
    pub(crate) fn agent_names(&self) -> Vec<String> {
        if !self.offers("invoke_agent") {
            return Vec::new();
        }
        let found = self.find_agents(self.accepted(), &self.loaded.settings);
        offered_agents(&found).into_iter().map(|agent| agent.name).collect()
    }

    /// Returns the tool that invokes subagents, if the settings leave it enabled.
    pub(crate) fn agent_tool(
        &self,
        agents: Arc<dyn pollux_tools::Subagents>,
    ) -> Option<Arc<dyn Tool>> {
        let tool = invoke_agent(agents);
        tool_lists(&self.input.options, &self.loaded).keeps(tool.name()).then_some(tool)
    }
}

/// Returns the enabled agents for the system instruction.
pub(crate) fn offered_agents(agents: &AgentSet) -> Vec<Subagent> {
    let offered = agents
        .enabled()
        .map(|agent| Subagent { name: agent.name.clone(), description: agent.description.clone() });
    offered.collect()
}

/// Reads the changes of agents from the settings. Values that make no sense are ignored: the
/// schema reports them.
fn overrides(settings: &Settings) -> HashMap<String, AgentOverride> {
    let values = settings.value(OVERRIDES).and_then(Value::as_object);
    let read = |(name, value): (&String, &Value)| (name.clone(), agent_override(value));
    values.into_iter().flatten().map(read).collect()
}

fn agent_override(value: &Value) -> AgentOverride {
    let (model, run) = (&value["modelConfig"], &value["runConfig"]);
    let minutes = run["maxTimeMinutes"].as_f64().filter(|time| *time > 0.0 && *time <= MAX_MINUTES);
    AgentOverride {
        enabled: value["enabled"].as_bool(),
        max_turns: run["maxTurns"].as_u64().filter(|turns| *turns > 0),
        time_limit: minutes.map(|minutes| Duration::from_secs_f64(minutes * 60.0)),
        model: model["model"].as_str().filter(|name| !name.trim().is_empty()).map(str::to_owned),
        temperature: model["generateContentConfig"]["temperature"].as_f64(),
        tools: value["tools"]
            .as_array()
            .map(|tools| tools.iter().filter_map(Value::as_str).map(str::to_owned).collect()),
        servers: value["mcpServers"].as_object().cloned().unwrap_or_default(),
    }
}

impl Subagents {
    /// Finds the subagents of a session. Blocks the thread.
    pub(crate) fn new(setup: &Arc<Setup>, consent: &Arc<SessionConsent>) -> Self {
        let found = setup.find_agents(&consent.accepted(), &setup.loaded.settings);
        Self {
            setup: Arc::clone(setup),
            consent: Arc::clone(consent),
            offered: Live::new(offered_agents(&found)),
            found: Live::new(found),
            running: Mutex::default(),
            session: OnceLock::new(),
        }
    }

    /// Returns the agents as they were last found.
    pub(crate) fn found(&self) -> Arc<AgentSet> {
        self.found.get()
    }

    /// Returns the enabled agents, for the system instruction.
    pub(crate) fn offered(&self) -> Live<Vec<Subagent>> {
        self.offered.clone()
    }

    /// Returns the subagents that are working, the oldest first.
    pub(crate) fn running(&self) -> Vec<RunningAgent> {
        self.lock().clone()
    }

    fn lock(&self) -> MutexGuard<'_, Vec<RunningAgent>> {
        self.running.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Returns the tool that invokes the subagents; `None` if the settings remove it.
    pub(crate) fn tool(self: &Arc<Self>) -> Option<Arc<dyn Tool>> {
        self.setup.agent_tool(Arc::clone(self) as Arc<dyn pollux_tools::Subagents>)
    }

    /// Lets subagents run in a session for as long as the returned value exists.
    pub(crate) fn begin(&self, session: SubagentSession) -> Arc<SubagentSession> {
        let session = Arc::new(session);
        drop(self.session.set(Arc::downgrade(&session)));
        session
    }

    /// Reports definitions that are left out, and then follows the settings until the session ends.
    pub(crate) fn follow(
        self: &Arc<Self>,
        settings: &Live<Settings>,
        outlet: &Outlet,
    ) -> impl Future<Output = ()> + Send + use<> {
        let (this, outlet) = (Arc::clone(self), outlet.clone());
        let mut watch = settings.watch();
        async move {
            for text in limited(this.found().messages.clone()) {
                outlet.emit(Event::Notice { severity: Severity::Warning, text }).await;
            }
            // The events end when nobody can send any.
            drop(outlet);
            loop {
                let settings = watch.changed().await;
                this.obey(&settings);
            }
        }
    }

    /// Changes the agents as the settings say.
    pub(crate) fn obey(&self, settings: &Settings) {
        self.offer(AgentSet::clone(&self.found()).with_overrides(overrides(settings)));
    }

    /// Reads the definitions again. Returns messages for the user.
    ///
    /// # Errors
    /// The message about a search that did not end.
    pub(crate) async fn refresh(
        self: &Arc<Self>,
        settings: Arc<Settings>,
    ) -> Result<Vec<String>, CommandError> {
        let this = Arc::clone(self);
        let search = move || this.setup.find_agents(&this.consent.accepted(), &settings);
        let found = tokio::task::spawn_blocking(search).await;
        let found = found.map_err(|error| CommandError(error.to_string()))?;
        let messages = limited(found.messages.clone());
        self.offer(found);
        Ok(messages)
    }

    fn offer(&self, found: AgentSet) {
        let offered = offered_agents(&found);
        if *self.offered.get() != offered {
            self.offered.set(offered);
        }
        self.found.set(found);
    }

    /// Asks the user about agents of the project that are new or have changed.
    ///
    /// # Errors
    /// The message about an answer that cannot be stored.
    pub(crate) async fn ask_about_new(&self, context: &CommandContext) -> Result<(), String> {
        if !self.consent.is_by_item() {
            return Ok(());
        }
        let (consent, folder) =
            (Arc::clone(&self.consent), self.setup.input.request.folder.clone());
        let open = tokio::task::spawn_blocking(move || {
            let (items, _) = pollux_config::consent::subagent_items(&folder);
            consent.open(items)
        });
        let open = open.await.map_err(|error| error.to_string())?;
        if !open.is_empty() {
            self.consent.ask_about(open, context).await?;
        }
        Ok(())
    }
}

#[async_trait]
impl pollux_tools::Subagents for Subagents {
    fn has(&self, name: &str) -> bool {
        self.found().is_enabled(name)
    }

    async fn run(&self, name: &str, task: &str, run: RunContext) -> ToolOutput {
        let session = self.session.get().and_then(Weak::upgrade);
        let (Some(session), Some(agent)) = (session, self.found().configured(name)) else {
            let text = format!("Subagent '{name}' not found.");
            return ToolError::new(ToolErrorKind::ExecutionFailed, text).into();
        };
        let running = RunningAgent {
            id: uuid::Uuid::new_v4().to_string(),
            name: name.to_owned(),
            stop: run.cancel.child_token(),
        };
        let _listed = Listed::new(self, running.clone());
        session.run(agent, task, running, run).await
    }
}

/// Entry in the list of running subagents, until it is dropped.
struct Listed<'a> {
    agents: &'a Subagents,
    id: String,
}

impl<'a> Listed<'a> {
    fn new(agents: &'a Subagents, running: RunningAgent) -> Self {
        let id = running.id.clone();
        agents.lock().push(running);
        Self { agents, id }
    }
}

impl Drop for Listed<'_> {
    fn drop(&mut self) {
        self.agents.lock().retain(|running| running.id != self.id);
    }
}

/// The subagents of a preview, which runs none.
pub(crate) struct NoSubagents;

#[async_trait]
impl pollux_tools::Subagents for NoSubagents {
    fn has(&self, _name: &str) -> bool {
        false
    }

    async fn run(&self, name: &str, _task: &str, _run: RunContext) -> ToolOutput {
        let text = format!("Subagent '{name}' not found.");
        ToolError::new(ToolErrorKind::ExecutionFailed, text).into()
    }
}

/// Returns the first messages, and how many more there are.
fn limited(mut messages: Vec<String>) -> Vec<String> {
    let more = messages.len().saturating_sub(MAX_MESSAGES);
    messages.truncate(MAX_MESSAGES);
    messages.extend((more > 0).then(|| format!("{more} more messages about subagents.")));
    messages
}
