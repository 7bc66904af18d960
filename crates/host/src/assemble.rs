//! Where everyone meets: from the setup to an agent that is ready to work.

use std::sync::Arc;
use std::time::Duration;

use pollux_agent::{
    AgentLoop, AgentParts, AgentServices, AnswerForm, Budget, FittingParts, Handle,
    InstructionSource, Outlet, Recorder, SessionContext, SessionMode, Spending, Standing,
    StreamRetries, Toolset,
};
use pollux_config::Environment;
use pollux_fs::{IgnoreRules, MAX_TREE_ITEMS, folder_tree};
use pollux_hooks::Hooks;
use pollux_net::{Backoff, ClientOptions, PageClient};
use pollux_protocol::{
    AgentHandle, ApprovalMode, CommandSet, Files, History, HookEvent, Live, LocalFiles, ModelRole,
    Models, NoCheckpoints, Observer, Op, Tool,
};
use pollux_session::{SessionLog, Statistics};
use pollux_shell::BackgroundProcesses;
use pollux_telemetry::Telemetry;
use pollux_tools::{Ledger, ToolContext, ToolOptions, WebAccess};

use crate::auto_memory::AutoMemory;
use crate::closing::ClosingMessages;
use crate::credentials::credentials;
use crate::memory::Memory;
use crate::platform::node_platform;
use crate::prompt::Wishes;
use crate::reload::LiveSettings;
use crate::reports;
use crate::rules::tool_lists;
use crate::setup::Setup;

/// Grace period for the end of a session: telemetry, the agent's final messages.
pub(crate) const SHUTDOWN_GRACE: Duration = Duration::from_secs(2);

/// How long a page may keep silent.
const PAGE_PATIENCE: Duration = Duration::from_secs(10);

/// Maximum number of repairs of an answer that does not satisfy its schema.
const MOST_REPAIRS: f64 = 20.0;

/// An agent at work, with everything that ends after it.
pub(crate) struct Assembled {
    /// The way to the agent.
    pub(crate) handle: Arc<Handle>,
    task: tokio::task::JoinHandle<()>,
    /// The figures of the session.
    pub(crate) statistics: Arc<Statistics>,
    telemetry: Option<Arc<Telemetry>>,
    auto_memory: Option<AutoMemory>,
    /// State of the work in a conversation that goes on.
    pub(crate) standing: Standing,
    /// Maximum time that the agent may take to end.
    grace: Duration,
    closing: Arc<ClosingMessages>,
}

impl Assembled {
    /// Ends the agent and everything that belongs to it. Whatever does not end in time dies with the process.
    pub(crate) async fn close(self) {
        drop(self.auto_memory);
        self.closing.listen();
        // An agent that has ended accepts no operation.
        drop(self.handle.send(Op::Close));
        drop(tokio::time::timeout(self.grace, self.task).await);
        if let Some(telemetry) = &self.telemetry {
            telemetry.shutdown();
        }
    }
}

/// Everything that an agent starts with, beside its setup.
pub(crate) struct Launch<'a> {
    /// The models of the run.
    pub(crate) models: Arc<dyn Models>,
    /// The log of the session.
    pub(crate) log: Arc<SessionLog>,
    /// The id of the session.
    pub(crate) session_id: &'a str,
    /// The conversation so far.
    pub(crate) history: History,
    /// The figures so far.
    pub(crate) statistics: Arc<Statistics>,
    /// The slash commands.
    pub(crate) commands: CommandSet,
    /// The hooks, ready to run.
    pub(crate) hooks: Hooks,
    /// What the environment says about the system instruction.
    pub(crate) wishes: Wishes,
    /// The context files.
    pub(crate) memory: Arc<Memory>,
    /// The limits.
    pub(crate) spending: Spending,
    /// The settings that may be read again.
    pub(crate) settings: LiveSettings,
}

impl Setup {
    /// Starts the agent on the current runtime.
    pub(crate) fn start(self: &Arc<Self>, launch: Launch<'_>) -> Assembled {
        let (session_id, statistics) = (launch.session_id, Arc::clone(&launch.statistics));
        let telemetry = crate::telemetry::start(self, session_id);
        let closing = Arc::new(ClosingMessages::new(Arc::clone(&self.notices)));
        let mut observers: Vec<Arc<dyn Observer>> = vec![statistics.clone(), closing.clone()];
        observers.extend(telemetry.clone().map(|telemetry| telemetry as Arc<dyn Observer>));
        let (outlet, events) = Outlet::new(session_id, observers);
        let mode = Live::new(self.mode);
        let log_prompts = telemetry.is_some() && self.telemetry.log_prompts;
        let services = self.services(&launch, &outlet, mode.clone(), log_prompts);
        let Launch { log, history, commands, wishes, memory, settings, .. } = launch;
        memory.resume(&history);
        let (reporter, news) = reports::channel();
        let tool_context = Arc::new(ToolContext {
            reporter: Some(reporter),
            ..self.tool_context(session_id, &memory, mode)
        });
        let tools = Toolset::new(self.builtin_tools(&tool_context));
        let standing = Standing::of(&history, &tools);
        let toolset = Live::new(tools);
        let grace = SHUTDOWN_GRACE + services.hooks.patience(HookEvent::SessionEnd);
        let requested_model = Live::new(self.model.clone());
        let side_models = {
            let (services, outlet) = (services.clone(), outlet.clone());
            let requested = requested_model.clone();
            move || services.side_models(outlet.clone(), String::clone(&requested.get()))
        };
        let parts = AgentParts {
            role: ModelRole::Main,
            requested_model,
            instruction: InstructionSource::Session {
                inputs: Box::new(self.prompt_inputs(session_id, &wishes)),
                memory: memory.told(),
            },
            instruction_copy: wishes.copy,
            loading: self.discover_tools(&tool_context, &toolset, &outlet),
            toolset,
            recorder: Recorder::new(log, outlet),
            history,
            context: self.context(memory),
            settings: settings.followed(),
            fitting: self.fitting(session_id),
            answer: self.answer_form(),
        };
        let agent = AgentLoop::new(services, parts);
        let (handle, task) = pollux_agent::spawn(agent, Live::new(commands), events);
        settings.report_to(handle.downgrade());
        tokio::spawn(news.deliver(handle.downgrade()));
        let auto_memory = self
            .collector(session_id)
            .map(|it| it.start(Box::new(side_models), handle.downgrade()));
        let handle = Arc::new(handle);
        Assembled { handle, task, statistics, telemetry, auto_memory, standing, grace, closing }
    }

    /// Everything that the agents of the session share.
    fn services(
        &self,
        launch: &Launch<'_>,
        outlet: &Outlet,
        mode: Live<ApprovalMode>,
        log_prompts: bool,
    ) -> AgentServices {
        AgentServices {
            models: Arc::clone(&launch.models),
            policy: Live::new(self.policy(launch.session_id)),
            checkers: self.checkers(),
            conseca: self.loaded.settings.boolean("security.enableConseca"),
            modes: Arc::new(SessionMode::new(mode, outlet.clone())),
            choices: self.approval_choices(),
            grants: Arc::default(),
            inputs: Arc::default(),
            checkpoints: Arc::new(NoCheckpoints),
            budget: Budget::new(launch.spending.clone(), outlet.clone()),
            hooks: launch.hooks.clone(),
            retries: self.stream_retries(),
            log_prompts,
            interactive: self.options.interactive,
            new_id: Arc::new(|| uuid::Uuid::new_v4().to_string()),
        }
    }

    /// Form that the last answer of this run must have.
    fn answer_form(&self) -> Option<AnswerForm> {
        let schema = self.options.answer_schema.as_ref()?.schema();
        let repairs = self.loaded.settings.number("pollux.outputSchema.repairs");
        let repairs = repairs.unwrap_or_default().clamp(0.0, MOST_REPAIRS) as u32;
        Some(AnswerForm { schema, repairs })
    }

    fn stream_retries(&self) -> StreamRetries {
        let attempts = self.loaded.settings.general.max_attempts;
        StreamRetries {
            attempts: attempts.min(StreamRetries::default().attempts),
            base: retry_base(&self.loaded.environment),
        }
    }

    /// The built-in tools that the settings and the flags keep.
    pub(crate) fn builtin_tools(&self, context: &Arc<ToolContext>) -> Vec<Arc<dyn Tool>> {
        let lists = tool_lists(&self.options, &self.loaded);
        let mut tools = pollux_tools::builtin(context);
        // Whatever rules say, nobody is there to answer.
        let is_answered = |name: &str| self.options.interactive || name != "ask_user";
        tools.retain(|tool| lists.keeps(tool.name()) && is_answered(tool.name()));
        tools
    }

    /// Places and sources for keeping the conversation within what the model takes.
    fn fitting(&self, session_id: &str) -> FittingParts {
        FittingParts {
            outputs: self.project.tool_outputs_dir(session_id),
            open_tasks: self.open_tasks(session_id),
            workspace: Arc::clone(&self.workspace),
            plans: self.plans_directory(session_id),
            interactive: self.options.interactive,
        }
    }

    /// The open tasks of the tracker, where there is one.
    fn open_tasks(&self, session_id: &str) -> Box<dyn Fn() -> Vec<String> + Send + Sync> {
        let directory = self.tracker_directory(session_id);
        let is_kept = self.loaded.settings.boolean("experimental.taskTracker");
        Box::new(
            move || {
                if is_kept { pollux_tools::open_tasks(directory.clone()) } else { Vec::new() }
            },
        )
    }

    /// Returns the holder of the text of files for tools and references.
    pub(crate) fn files() -> Arc<dyn Files> {
        Arc::new(LocalFiles)
    }

    /// Everything that the built-in tools need to know of a session.
    pub(crate) fn tool_context(
        &self,
        session_id: &str,
        memory: &Arc<Memory>,
        mode: Live<ApprovalMode>,
    ) -> ToolContext {
        ToolContext {
            workspace: Arc::clone(&self.workspace),
            files: Self::files(),
            options: ToolOptions::from_settings(&self.loaded.settings),
            environment: self.loaded.environment.for_children(),
            credentials: credentials(),
            mode,
            plans_directory: self.plans_directory(session_id),
            tracker_directory: self.tracker_directory(session_id),
            memory_file: self.global_memory(),
            ledger: Arc::new(Ledger::new()),
            spill_directory: self.project.tool_outputs_dir(session_id),
            background: BackgroundProcesses::new(
                self.places.projects_temporary().join("background-processes"),
            ),
            reporter: None,
            interactive: self.options.interactive,
            context_for: memory.lookup(),
            web: self.web_access(),
            sandbox: Arc::new(self.sandbox_places()),
        }
    }

    /// The way to pages of the web. A proxy that makes no sense is told of where a model is asked.
    fn web_access(&self) -> Option<WebAccess> {
        let environment = &self.loaded.environment;
        let lookup = |name: &str| environment.get(name).map(str::to_owned);
        let private = self.loaded.settings.texts("pollux.web.privateHosts").unwrap_or_default();
        let options = ClientOptions {
            headers_timeout: PAGE_PATIENCE,
            idle_timeout: PAGE_PATIENCE,
            ..ClientOptions::from_environment(&lookup)
        };
        let pages = PageClient::new(options, &private.join(",")).ok()?;
        Some(WebAccess { pages, backoff: Backoff::MID_STREAM.with_environment(&lookup) })
    }

    /// Gathers the block that opens a conversation, when one begins.
    fn context(
        self: &Arc<Self>,
        memory: Arc<Memory>,
    ) -> Box<dyn Fn() -> SessionContext + Send + Sync> {
        let setup = Arc::clone(self);
        Box::new(move || setup.session_context(&memory))
    }

    /// The block that opens a conversation here and now.
    pub(crate) fn session_context(&self, memory: &Memory) -> SessionContext {
        let settings = &self.loaded.settings.context;
        SessionContext {
            date: jiff::Zoned::now().strftime("%A, %B %-d, %Y").to_string(),
            platform: node_platform().to_owned(),
            temporary_directory: self.project.temporary_dir.clone(),
            workspace: self.folders.clone(),
            tree: settings.include_directory_tree.then(|| self.tree()),
            memory: memory.project_section(),
        }
    }
}

impl Setup {
    /// The folders of the workspace as trees.
    fn tree(&self) -> String {
        let options = self.ignore_options();
        let trees = self.folders.iter().map(|folder| {
            folder_tree(folder, Some(&IgnoreRules::new(folder, &options)), MAX_TREE_ITEMS)
        });
        trees.collect::<Vec<_>>().join("\n")
    }
}

/// The wait before an unusable answer is asked for again: a second, or what `POLLUX_RETRY_BASE_MS` says.
fn retry_base(environment: &Environment) -> Duration {
    let given = environment.get(pollux_net::RETRY_BASE_VARIABLE).and_then(|text| text.parse().ok());
    given.map_or(StreamRetries::default().base, Duration::from_millis)
}
