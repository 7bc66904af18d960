//! Assembly of a session: turns a [`Setup`] into an agent that is ready to work.

use std::sync::Arc;
use std::time::Duration;

use futures::FutureExt as _;
use pollux_agent::{
    AgentLoop, AgentParts, AgentServices, AnswerForm, Budget, EventOperator, Fallback,
    FittingParts, Grants, Handle, HistoryRecorder, InstructionSource, Loading, Outlet,
    PinnedContext, SessionMode, Spending, StreamRetries, WatchedModels,
};
use pollux_config::Environment;
use pollux_hooks::Hooks;
use pollux_mcp::Sampler;
use pollux_protocol::{
    AgentHandle, BackgroundCommand, CommandSet, History, HookEvent, Live, ModelError, ModelRole,
    Models, NoUser, Observer, Op, Operator, SessionStart, SideModels as _, Tuning,
};
use pollux_session::{SessionLog, Statistics};
use pollux_telemetry::Telemetry;
use pollux_tools::ToolContext;
use tokio::task::JoinSet;

use crate::auto_memory;
use crate::closing::ClosingMessages;
use crate::models::{fallback, routing};
use crate::prompt::SystemPromptOverrides;
use crate::reports::BackgroundReports;
use crate::servers::SessionParts;
use crate::servers::SessionServers;
use crate::setup::Setup;
use crate::state::SessionState;
use crate::subagents::SubagentSession;

/// Grace period for the end of a session: telemetry, the agent's final messages.
pub(crate) const SHUTDOWN_GRACE: Duration = Duration::from_secs(2);

/// Maximum number of repairs of an answer that does not satisfy its schema.
const MOST_REPAIRS: f64 = 20.0;

/// A running agent, together with everything that must end after it.
pub(crate) struct Assembled {
    /// Handle for sending operations to the agent.
    pub(crate) handle: Arc<Handle>,
    task: tokio::task::JoinHandle<()>,
    telemetry: Option<Arc<Telemetry>>,
    /// Tasks that end with this value.
    tasks: JoinSet<()>,
    /// Pinned context of a resumed conversation.
    pub(crate) standing: PinnedContext,
    /// Maximum time that the agent may take to end.
    grace: Duration,
    /// Context of the tools, with the commands in the background.
    tools: Arc<ToolContext>,
    servers: Arc<SessionServers>,
    closing: Arc<ClosingMessages>,
}

impl Assembled {
    /// Returns the commands that run in the background.
    pub(crate) fn background(&self) -> Live<Vec<BackgroundCommand>> {
        self.tools.background.running()
    }

    /// Ends the agent and everything that belongs to it. Tasks that exceed the grace period are
    /// abandoned and end with the process.
    pub(crate) async fn close(mut self) {
        // A task may still own the log, whose file is locked until then.
        self.tasks.shutdown().await;
        self.closing.listen();
        if self.tools.interactive {
            let running = self.tools.background.list().into_iter();
            for process in
                running.filter(|process| process.state() == pollux_shell::ProcessState::Running)
            {
                let (id, command) =
                    (process.id(), pollux_protocol::plain_text::one_line(process.command()));
                self.closing.report(&format!("Background command {id} is ended: {command}"));
            }
        }
        // An agent that has ended accepts no operation.
        drop(self.handle.send(Op::Close));
        drop(tokio::time::timeout(self.grace, self.task).await);
        self.servers.close().await;
        if let Some(telemetry) = &self.telemetry {
            telemetry.shutdown();
        }
    }
}

/// Everything that an agent is started with, besides its setup.
pub(crate) struct Launch<'a> {
    /// The models of the run.
    pub(crate) models: Arc<dyn Models>,
    /// The log of the session.
    pub(crate) log: Arc<SessionLog>,
    /// Id of the session.
    pub(crate) session_id: &'a str,
    /// Conversation so far.
    pub(crate) history: History,
    /// Statistics so far.
    pub(crate) statistics: Arc<Statistics>,
    /// The slash commands.
    pub(crate) commands: Live<CommandSet>,
    /// The hooks, ready to run.
    pub(crate) hooks: Hooks,
    /// Changes to the system instruction that the environment asks for.
    pub(crate) overrides: SystemPromptOverrides,
    /// Limits of the session and the usage so far.
    pub(crate) spending: Spending,
    /// Values that may change during the session.
    pub(crate) state: SessionState,
    /// Reports about background commands.
    pub(crate) reports: BackgroundReports,
}

impl Setup {
    /// Starts the agent on the current runtime.
    pub(crate) fn start(self: &Arc<Self>, launch: Launch<'_>) -> Assembled {
        let session_id = launch.session_id;
        let telemetry = crate::telemetry::start(self, session_id);
        let closing = Arc::new(ClosingMessages::new(Arc::clone(&self.input.request.notices)));
        let mut observers = self.observers(&launch, telemetry.as_ref());
        observers.push(closing.clone());
        let (outlet, events) = Outlet::new(session_id, observers);
        let log_prompts = telemetry.is_some() && self.telemetry.log_prompts;
        let replies = Arc::new(EventOperator::new(outlet.clone()));
        let operator = self.operator(&replies);
        let services = self.services(&launch, Arc::clone(&operator), &outlet, log_prompts);
        let Launch { log, history, commands, overrides, state, reports, .. } = launch;
        let SessionState { toolset, tools, memory, servers, settings, .. } = state.clone();
        memory.resume(&history);
        let standing = PinnedContext::of(&history, &toolset.get());
        let grace = SHUTDOWN_GRACE + services.hooks.patience(HookEvent::SessionEnd);
        let requested_model = Live::new(self.model.clone());
        state.custom_commands.check_in_background(&commands, &outlet);
        let mut tasks = JoinSet::new();
        let (current, set) = (settings.current(), toolset.clone());
        tasks.spawn(state.skills.follow(&current, set, commands.clone(), &outlet));
        tasks.spawn(state.subagents.follow(&current, &outlet));
        let kept = self.subagents_of(session_id, &services, &outlet, &requested_model, &state);
        let side_models = side_models(&services, &outlet, &requested_model);
        let parts = AgentParts {
            role: ModelRole::Main,
            conversation_model: None,
            tuning: Tuning::default(),
            instruction: self.instruction(session_id, &overrides, &state),
            instruction_copy: overrides.copy,
            loading: both(
                self.discover_tools(&tools, &toolset, &outlet),
                servers.start(&SessionParts {
                    toolset: &toolset,
                    commands: &commands,
                    memory: &memory.reported(),
                    operator: &operator,
                    sampler: sampler(side_models.clone(), requested_model.clone()),
                    outlet: &outlet,
                }),
            ),
            requested_model,
            toolset,
            recorder: HistoryRecorder::new(log, outlet),
            history,
            is_after_clear: self.input.request.start == SessionStart::Cleared,
            context: Some(self.context(memory)),
            settings: settings.followed(),
            fitting: self.fitting(session_id),
            answer: self.answer_form(),
            kept: Some(kept),
        };
        let agent = AgentLoop::new(services, parts);
        let (handle, task) = pollux_agent::spawn(agent, commands, replies, events);
        settings.report_to(handle.downgrade());
        tokio::spawn(reports.deliver(handle.downgrade()));
        if let Some(collector) = self.collector(session_id) {
            tasks.spawn(auto_memory::collect(collector, side_models, handle.downgrade()));
        }
        let handle = Arc::new(handle);
        Assembled { handle, task, telemetry, tasks, standing, grace, tools, servers, closing }
    }

    /// Lets subagents run in the session for as long as the returned value exists.
    fn subagents_of(
        self: &Arc<Self>,
        session_id: &str,
        services: &AgentServices,
        outlet: &Outlet,
        requested_model: &Live<String>,
        state: &SessionState,
    ) -> Arc<SubagentSession> {
        state.subagents.begin(SubagentSession {
            setup: Arc::clone(self),
            id: session_id.to_owned(),
            services: services.clone(),
            outlet: outlet.clone(),
            toolset: state.toolset.clone(),
            requested_model: requested_model.clone(),
            settings: state.settings.followed(),
            tools: Arc::clone(&state.tools),
            memory: Arc::clone(&state.memory),
        })
    }

    /// Returns the source of the main agent's system instruction.
    fn instruction(
        &self,
        session_id: &str,
        overrides: &SystemPromptOverrides,
        state: &SessionState,
    ) -> InstructionSource {
        let (skills, subagents) = (state.skills.offered(), state.subagents.offered());
        InstructionSource::Session {
            inputs: Box::new(self.prompt_inputs(session_id, overrides, skills, subagents)),
            memory: state.memory.reported(),
        }
    }

    /// Returns the observers of the session, besides that of the closing messages.
    fn observers(
        &self,
        launch: &Launch<'_>,
        telemetry: Option<&Arc<Telemetry>>,
    ) -> Vec<Arc<dyn Observer>> {
        let mut observers: Vec<Arc<dyn Observer>> = vec![launch.statistics.clone()];
        observers.extend(self.input.request.observers.iter().cloned());
        observers.extend(launch.state.checkpoints.iter().map(|kept| Arc::clone(kept) as _));
        observers.extend(telemetry.map(|telemetry| Arc::clone(telemetry) as _));
        observers
    }

    /// Returns the user of the session.
    fn operator(&self, replies: &Arc<EventOperator>) -> Arc<dyn Operator> {
        if self.is_interactive() { Arc::clone(replies) as _ } else { Arc::new(NoUser) }
    }

    /// Returns the services that all agents of the session share.
    fn services(
        &self,
        launch: &Launch<'_>,
        operator: Arc<dyn Operator>,
        outlet: &Outlet,
        log_prompts: bool,
    ) -> AgentServices {
        let state = &launch.state;
        AgentServices {
            models: Arc::clone(&launch.models),
            fallback: Arc::new(Fallback::new(fallback(&self.loaded.settings))),
            routing: routing(&self.loaded.settings),
            operator,
            policy: state.policy.clone(),
            checkers: self.checkers(),
            conseca: self.loaded.settings.boolean("security.enableConseca"),
            modes: Arc::new(SessionMode::new(state.mode.clone(), outlet.clone())),
            choices: self.approval_choices(),
            grants: Arc::new(Grants::remembering(
                self.places.pollux_dir().join("mcp-definitions.json"),
            )),
            inputs: Arc::default(),
            checkpoints: state.agent_checkpoints(),
            budget: Budget::new(launch.spending.clone(), outlet.clone()),
            hooks: launch.hooks.clone(),
            retries: self.stream_retries(),
            log_prompts,
            interactive: self.is_interactive(),
            new_id: Arc::new(|| uuid::Uuid::new_v4().to_string()),
        }
    }

    /// Returns the form that the last answer of this run must have.
    fn answer_form(&self) -> Option<AnswerForm> {
        let schema = self.input.options.answer_schema.as_ref()?.schema();
        let repairs = self.loaded.settings.number("pollux.outputSchema.repairs");
        let repairs = repairs.unwrap_or_default().clamp(0.0, MOST_REPAIRS) as u32;
        Some(AnswerForm { schema, repairs })
    }

    fn stream_retries(&self) -> StreamRetries {
        let attempts = self.loaded.settings.max_attempts();
        StreamRetries {
            attempts: attempts.min(StreamRetries::default().attempts),
            base: retry_base(&self.loaded.environment),
        }
    }

    /// Returns the paths and sources for keeping the conversation within the model's context
    /// window.
    pub(crate) fn fitting(&self, session_id: &str) -> FittingParts {
        FittingParts {
            outputs: self.project.tool_outputs_dir(session_id),
            open_tasks: self.open_tasks(session_id),
            workspace: self.workspace.clone(),
            plans: self.plans_directory(session_id),
            interactive: self.is_interactive(),
        }
    }

    /// Returns a function that lists the open tasks of the tracker; the list is empty if the
    /// tracker is off.
    fn open_tasks(&self, session_id: &str) -> Box<dyn Fn() -> Vec<String> + Send + Sync> {
        let directory = self.tracker_directory(session_id);
        let is_kept = self.loaded.settings.boolean("experimental.taskTracker");
        Box::new(
            move || {
                if is_kept { pollux_tools::open_tasks(directory.clone()) } else { Vec::new() }
            },
        )
    }
}

/// Returns the function that creates the models for side calls outside of a prompt.
fn side_models(
    services: &AgentServices,
    outlet: &Outlet,
    requested: &Live<String>,
) -> impl Fn() -> WatchedModels + Clone + Send + Sync + 'static {
    let (services, outlet, requested) = (services.clone(), outlet.clone(), requested.clone());
    move || services.side_models(outlet.clone(), String::clone(&requested.get()))
}

/// Returns the interface by which servers ask the model that the user has chosen.
fn sampler(
    models: impl Fn() -> WatchedModels + Send + Sync + 'static,
    requested: Live<String>,
) -> Sampler {
    Arc::new(move |request, cancel| {
        let (models, requested) = (models(), requested.get());
        Box::pin(async move {
            let selecting = models.select(&requested);
            let selected = cancel.run_until_cancelled(selecting).await;
            let choice = selected.unwrap_or_else(|| Err(ModelError::cancelled()))?;
            let chunk = choice.model.generate(request, cancel).await?;
            Ok((choice.name, chunk))
        })
    })
}

/// Returns the future that waits for both.
fn both(first: Option<Loading>, second: Option<Loading>) -> Option<Loading> {
    match (first, second) {
        (Some(first), Some(second)) => {
            Some(futures::future::join(first, second).map(drop).boxed().shared())
        }
        (first, second) => first.or(second),
    }
}

/// Returns the delay before the retry of an unusable answer: one second, or the value of
/// `POLLUX_RETRY_BASE_MS` in milliseconds.
fn retry_base(environment: &Environment) -> Duration {
    let given = environment.get(pollux_net::RETRY_BASE_VARIABLE).and_then(|text| text.parse().ok());
    given.map_or(StreamRetries::default().base, Duration::from_millis)
}
