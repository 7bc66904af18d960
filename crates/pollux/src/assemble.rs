//! Where everyone meets: from arguments and environment to an agent that is ready to work.

use std::ffi::OsString;
use std::path::PathBuf;
use std::sync::{Arc, Weak};
use std::time::Duration;

use pollux_agent::{
    Budget, Chat, Commands, CompressionOptions, Emitter, Handle, MaskingOptions,
    NextSpeakerOptions, Session, SessionContext, SessionParts, SharedToolset, Spending,
    StreamRetries, Toolset, WatchedModels,
};
use pollux_config::context;
use pollux_config::{Environment, names as variables};
use pollux_fs::{IgnoreRules, MAX_TREE_ITEMS, folder_tree};
use pollux_hooks::Hooks;
use pollux_models::local::{self, LocalServer};
use pollux_models::{ModelsOptions, ReplaySource};
use pollux_net::{Backoff, ClientOptions, PageClient};
use pollux_protocol::{
    AgentHandle, History, HookEvent, Models, Observer, Op, SharedMode, SideModels, Tool,
};
use pollux_session::{SessionLog, Statistics};
use pollux_shell::BackgroundProcesses;
use pollux_telemetry::Telemetry;
use pollux_tools::{Ledger, ToolContext, ToolOptions, WebAccess};

use crate::exit::Failure;
use crate::hooks::LastWords;
use crate::memory::Memory;
use crate::prompt::Wishes;
use crate::setup::{Setup, node_platform};

/// Variables that hold credentials of models: commands do not see them.
const CREDENTIALS: [&str; 4] = [
    variables::GEMINI_API_KEY,
    variables::GOOGLE_API_KEY,
    variables::GOOGLE_CLOUD_ACCESS_TOKEN,
    variables::GEMINI_CLI_CUSTOM_HEADERS,
];

/// What the end of a run may take after its result is out: telemetry, the agent's last words.
pub(crate) const FAREWELL: Duration = Duration::from_secs(2);

/// How long a page may keep silent.
const PAGE_PATIENCE: Duration = Duration::from_secs(10);

/// An agent at work, and what hangs on it.
pub(crate) struct Assembled {
    pub(crate) handle: Handle,
    pub(crate) task: tokio::task::JoinHandle<()>,
    pub(crate) statistics: Arc<Statistics>,
    pub(crate) telemetry: Option<Arc<Telemetry>>,
    /// Models for calls beside the conversation, as long as that lasts: who keeps them keeps its events from ending.
    pub(crate) beside: Weak<dyn SideModels>,
    /// How long the agent may take to end.
    farewell: Duration,
    last_words: Arc<LastWords>,
}

/// What an agent starts with, beside its setup.
pub(crate) struct Launch<'a> {
    pub(crate) models: Arc<dyn Models>,
    pub(crate) log: Arc<SessionLog>,
    pub(crate) session_id: &'a str,
    pub(crate) history: History,
    pub(crate) statistics: Arc<Statistics>,
    pub(crate) commands: Commands,
    pub(crate) hooks: Hooks,
    pub(crate) wishes: Wishes,
    pub(crate) memory: Arc<Memory>,
    pub(crate) spending: Spending,
}

impl Assembled {
    /// Ends the agent and what hangs on it. What does not end in time dies with the process.
    pub(crate) async fn close(self) {
        self.last_words.listen();
        // An agent that has ended needs no telling.
        drop(self.handle.send(Op::Close));
        drop(tokio::time::timeout(self.farewell, self.task).await);
        if let Some(telemetry) = &self.telemetry {
            telemetry.shutdown();
        }
    }
}

impl Setup {
    /// The models of the run. Without credentials it fails, with what could be used instead; only then is
    /// the network touched, on this machine.
    pub(crate) async fn models(&self) -> Result<Arc<dyn Models>, Failure> {
        let options = self.models_options();
        let assembled = if pollux_models::is_undecided(&options) {
            Err(pollux_models::undecided(&options, &self.local_servers().await))
        } else {
            pollux_models::assemble(&options)
        };
        assembled.map_err(|error| Failure::model(&error))
    }

    /// True when nothing says who is to answer.
    pub(crate) fn is_undecided(&self) -> bool {
        pollux_models::is_undecided(&self.models_options())
    }

    /// The model servers on this machine.
    pub(crate) async fn local_servers(&self) -> Vec<LocalServer> {
        local::discover(&local::ports(&self.loaded.environment)).await
    }

    fn models_options(&self) -> ModelsOptions {
        let arguments = &self.arguments;
        let file = |path: &PathBuf, strict| ReplaySource::File { path: path.clone(), strict };
        let replay =
            match (&self.replay, &arguments.fake_responses_non_strict, &arguments.fake_responses) {
                (Some(text), _, _) => Some(ReplaySource::Text(text.clone())),
                (None, Some(path), _) => Some(file(path, false)),
                (None, None, Some(path)) => Some(file(path, true)),
                (None, None, None) => None,
            };
        ModelsOptions {
            settings: self.loaded.settings.clone(),
            environment: self.loaded.environment.clone(),
            user_settings: self.places.user_settings(),
            cwd: self.cwd.clone(),
            http: None,
            replay,
            record: arguments.record_responses.clone(),
            startup_model: self.model.clone(),
            client: "cli".to_owned(),
        }
    }

    /// Starts the agent on the current runtime.
    pub(crate) fn start(self, launch: Launch<'_>) -> Assembled {
        let Launch { models, log, session_id, history, commands, hooks, .. } = launch;
        let (statistics, wishes, memory) = (launch.statistics, launch.wishes, launch.memory);
        let spending = launch.spending;
        let telemetry = crate::telemetry::start(&self, session_id);
        let log_prompts = telemetry.is_some() && self.telemetry.log_prompts;
        let last_words = Arc::new(LastWords::default());
        let mut observers: Vec<Arc<dyn Observer>> = vec![statistics.clone(), last_words.clone()];
        observers.extend(telemetry.clone().map(|telemetry| telemetry as Arc<dyn Observer>));
        let (emitter, events) = Emitter::new(log, observers);
        memory.resume(&history);
        let (mode, budget) = (SharedMode::new(self.mode), Budget::new(spending, emitter.clone()));
        let beside = watched(&models, &emitter, &budget, log_prompts);
        let lasting = Arc::downgrade(&beside) as Weak<dyn SideModels>;
        let (reporter, news) = crate::reports::channel();
        let tool_context = Arc::new(ToolContext {
            reporter: Some(reporter),
            ..self.tool_context(session_id, &memory, mode.clone(), Some(beside.clone()))
        });
        let toolset = SharedToolset::new(Toolset::new(self.builtin_tools(&tool_context)));
        let chat = Chat::new(emitter.clone(), self.stream_retries(), budget.clone(), log_prompts)
            .with_hooks(hooks.clone(), Arc::clone(&models));
        let farewell = FAREWELL + hooks.patience(HookEvent::SessionEnd);
        let session = Session::new(SessionParts {
            models,
            beside,
            requested_model: self.model.clone(),
            loading: self.discover_tools(&tool_context, &toolset, &emitter),
            toolset,
            policy: self.policy(session_id),
            checkers: self.checkers(),
            conseca: self.loaded.settings.boolean("security.enableConseca"),
            mode: mode.clone(),
            chat,
            emitter,
            history,
            hooks,
            prompt: self.prompt_inputs(session_id, &wishes),
            memory: memory.told(),
            prompt_copy: wishes.copy,
            max_turns: self.loaded.settings.model.max_session_turns,
            budget,
            answer: self.answer_form(),
            loop_detection: !self.loaded.settings.model.loop_detection_disabled,
            next_speaker: self.next_speaker(),
            masking: self.masking(session_id),
            compression: self.compression(session_id),
            new_id: Arc::new(|| uuid::Uuid::new_v4().to_string()),
            context: self.into_context(memory),
        });
        let (handle, task) = pollux_agent::spawn(session, commands, events);
        tokio::spawn(news.deliver(handle.wishes()));
        Assembled { handle, task, statistics, telemetry, beside: lasting, farewell, last_words }
    }

    fn stream_retries(&self) -> StreamRetries {
        let attempts = self.loaded.settings.general.max_attempts;
        StreamRetries {
            attempts: attempts.min(StreamRetries::default().attempts),
            base: retry_base(&self.loaded.environment),
        }
    }

    /// Whether the model goes on by itself when it only paused.
    fn next_speaker(&self) -> NextSpeakerOptions {
        let settings = &self.loaded.settings;
        NextSpeakerOptions {
            asks_model: !settings.model.skip_next_speaker_check,
            plain_cases: settings.boolean("pollux.continueUnfinished"),
        }
    }

    /// The built-in tools that the settings and the flags keep.
    pub(crate) fn builtin_tools(&self, context: &Arc<ToolContext>) -> Vec<Arc<dyn Tool>> {
        let lists = crate::policy::tool_lists(&self.arguments, &self.loaded);
        let mut tools = pollux_tools::builtin(context);
        // Whatever rules say, nobody is there to answer.
        let is_answered = |name: &str| self.interactive || name != "ask_user";
        tools.retain(|tool| lists.keeps(tool.name()) && is_answered(tool.name()));
        tools
    }

    /// Where plan mode may write: the configured folder, else one of the session's own. Links are followed
    /// here, once, so that paths can be compared.
    pub(crate) fn plans_directory(&self, session_id: &str) -> PathBuf {
        let folder = match &self.loaded.settings.general.plan_directory {
            Some(directory) => self.cwd.join(directory),
            None => self.project.temporary_dir.join(session_id).join("plans"),
        };
        pollux_fs::real_path(&folder).unwrap_or(folder)
    }

    /// Where the task tracker keeps the tasks of a session.
    pub(crate) fn tracker_directory(&self, session_id: &str) -> PathBuf {
        self.project.temporary_dir.join(session_id).join("tracker")
    }

    /// When old results of tools become short, and where they go.
    fn masking(&self, session_id: &str) -> MaskingOptions {
        let settings = &self.loaded.settings;
        let tokens = |key, least| settings.number(key).unwrap_or(least);
        let protected = "contextManagement.tools.outputMasking.protectionThresholdTokens";
        let least = "contextManagement.tools.outputMasking.minPrunableThresholdTokens";
        let latest = "contextManagement.tools.outputMasking.protectLatestTurn";
        MaskingOptions {
            protected: tokens(protected, 50_000.0),
            least: tokens(least, 30_000.0),
            protect_latest: settings.boolean(latest),
            directory: self.project.tool_outputs_dir(session_id),
        }
    }

    /// When the conversation is compressed.
    fn compression(&self, session_id: &str) -> CompressionOptions {
        let settings = &self.loaded.settings;
        let seconds = settings.number("pollux.compression.timeout").unwrap_or(300.0).max(1.0);
        let patience = Duration::try_from_secs_f64(seconds).unwrap_or(Duration::MAX);
        let open_tasks = self.open_tasks(session_id);
        CompressionOptions {
            share: settings.model.compression_threshold,
            patience,
            open_tasks,
            workspace: Arc::clone(&self.workspace),
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

    pub(crate) fn tool_context(
        &self,
        session_id: &str,
        memory: &Arc<Memory>,
        mode: SharedMode,
        models: Option<Arc<dyn SideModels>>,
    ) -> ToolContext {
        ToolContext {
            workspace: Arc::clone(&self.workspace),
            options: ToolOptions::from_settings(&self.loaded.settings),
            environment: for_children(&self.loaded.environment),
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
            interactive: self.interactive,
            context_for: memory.lookup(),
            models,
            web: self.web_access(),
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

    /// The context file of all projects.
    pub(crate) fn global_memory(&self) -> PathBuf {
        let names = context::names(&self.loaded.settings.context.file_names);
        self.places.gemini_dir().join(&names[0])
    }

    /// Gathers the block that opens a conversation, when one begins.
    fn into_context(self, memory: Arc<Memory>) -> Box<dyn Fn() -> SessionContext + Send + Sync> {
        Box::new(move || self.session_context(&memory))
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

/// The models for calls beside the conversation.
fn watched(
    models: &Arc<dyn Models>,
    emitter: &Emitter,
    budget: &Budget,
    log_prompts: bool,
) -> Arc<WatchedModels> {
    let (models, emitter) = (Arc::clone(models), emitter.clone());
    Arc::new(WatchedModels::new(models, emitter, budget.clone(), log_prompts))
}

/// Names of all variables that hold credentials of models.
pub(crate) fn credentials() -> Vec<String> {
    let own = CREDENTIALS.map(str::to_owned);
    own.into_iter().chain(pollux_models::catalog::key_variables()).collect()
}

/// The environment for commands. Values that are not Unicode go through as they are.
pub(crate) fn for_children(environment: &Environment) -> Vec<(OsString, OsString)> {
    let exact = |(name, value): (&str, &str)| {
        let own = std::env::var_os(name).filter(|own| own.to_string_lossy() == value);
        (OsString::from(name), own.unwrap_or_else(|| value.into()))
    };
    environment.iter().map(exact).collect()
}

/// The wait before an unusable answer is asked for again: a second, or what `POLLUX_RETRY_BASE_MS` says.
fn retry_base(environment: &Environment) -> Duration {
    let given = environment.get(pollux_net::RETRY_BASE_VARIABLE).and_then(|text| text.parse().ok());
    given.map_or(StreamRetries::default().base, Duration::from_millis)
}
