//! Environment for the agent in tests: scripted models and tools, a journal in memory, an observer.

use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};

use pollux_agent::{
    AgentLoop, AgentParts, AgentServices, AnswerForm, ApprovalChoices, Budget, EventOperator,
    Fallback, FallbackOptions, FittingParts, Handle, HistoryRecorder, InstructionSource,
    LoopSettings, MaskingOptions, NextSpeakerOptions, Outlet, PromptInputs, RoutingOptions,
    SessionContext, SessionMode, Spending, StreamRetries, Toolset, spawn,
};
use pollux_config::{Layer, LayerKind};
use pollux_fs::Workspace;
use pollux_hooks::{HookOptions, Hooks};
use pollux_policy::{CheckerPrograms, Facts, Policy, Problem, ProblemKind, Tier};
use pollux_protocol::{
    AgentHandle, ApprovalMode, Checkpoints, CommandSet, Event, FinishedCall, History, Live,
    ModelRole, NoCheckpoints, NoUser, Op, Operator, Part, PromptOutcome, Question, QuestionId,
    QuestionReply, Tool, Tuning,
};
use pollux_scripted::{EventLog, FakeTool, Gate, MemoryJournal, ScriptedModels, ScriptedReply};
use serde_json::{Value, json};
use tempfile::TempDir;

/// Rules of most tests: the tool `look` is allowed, `edit` is allowed in the mode `AutoEdit`, and
/// all other tools need approval.
const RULES: &str = "[[rule]]\ntoolName = \"look\"\ndecision = \"allow\"\npriority = 1\n\
    [[rule]]\ntoolName = \"edit\"\ndecision = \"allow\"\npriority = 1\nmodes = [\"autoEdit\"]\n";

/// Parts of a session. Each test changes the parts that it checks.
#[derive(Clone)]
pub(crate) struct Stage {
    pub(crate) models: ScriptedModels,
    pub(crate) journal: Arc<MemoryJournal>,
    pub(crate) log: Arc<EventLog>,
    pub(crate) folder: Arc<TempDir>,
    pub(crate) tools: Vec<FakeTool>,
    /// Tools of the session after its start.
    pub(crate) toolset: Live<Toolset>,
    pub(crate) commands: Live<CommandSet>,
    pub(crate) history: History,
    pub(crate) interactive: bool,
    pub(crate) mode: ApprovalMode,
    pub(crate) max_turns: Option<u64>,
    pub(crate) checkpoints: Arc<dyn Checkpoints>,
    pub(crate) loop_detection: bool,
    pub(crate) next_speaker: NextSpeakerOptions,
    pub(crate) answer: Option<AnswerForm>,
    pub(crate) spending: Spending,
    pub(crate) conseca: bool,
    pub(crate) fallback: FallbackOptions,
    pub(crate) routing: RoutingOptions,
    /// Requested model.
    pub(crate) model: &'static str,
    /// Content of a policy file.
    pub(crate) rules: String,
    pub(crate) checkers: CheckerPrograms,
    /// Value of the setting `hooks`.
    pub(crate) hooks: Value,
    /// Number of tokens of results that are never masked, and minimum number of tokens that are
    /// masked at once.
    pub(crate) masking: (f64, f64),
    /// Share of the context at which the conversation is compressed.
    pub(crate) compression: f64,
    pub(crate) open_tasks: Vec<String>,
    pub(crate) script: Option<Arc<ScriptCheck>>,
}

/// Check at the end of a test: all scripted replies were requested, or
/// [discarded](ScriptedModels::discard_replies).
pub(crate) struct ScriptCheck(ScriptedModels);

impl Drop for ScriptCheck {
    fn drop(&mut self) {
        if !std::thread::panicking() {
            self.0.assert_done();
        }
    }
}

impl Stage {
    /// Creates a headless session in YOLO mode whose model streams these answers. Its tool is
    /// `look`.
    pub(crate) fn with(replies: impl IntoIterator<Item = ScriptedReply>) -> Self {
        Self {
            models: ScriptedModels::with(replies),
            journal: Arc::default(),
            log: Arc::default(),
            folder: Arc::new(TempDir::new().unwrap()),
            tools: vec![FakeTool::new("look")],
            toolset: Live::default(),
            commands: Live::default(),
            history: History::new(),
            interactive: false,
            mode: ApprovalMode::Yolo,
            max_turns: None,
            checkpoints: Arc::new(NoCheckpoints),
            loop_detection: true,
            next_speaker: NextSpeakerOptions::default(),
            answer: None,
            spending: Spending::default(),
            conseca: false,
            fallback: FallbackOptions::default(),
            routing: RoutingOptions::default(),
            model: "main",
            rules: RULES.to_owned(),
            checkers: CheckerPrograms::default(),
            hooks: Value::Null,
            masking: (50_000.0, 30_000.0),
            compression: 0.5,
            open_tasks: Vec::new(),
            script: None,
        }
    }

    /// Adds one tool. It replaces a tool of the same name.
    pub(crate) fn tool(mut self, tool: FakeTool) -> Self {
        self.tools.retain(|known| known.name() != tool.name());
        self.tools.push(tool);
        self
    }

    /// Makes the session interactive, in default mode.
    pub(crate) fn interactive(self) -> Self {
        Self { interactive: true, mode: ApprovalMode::Default, ..self }
    }

    /// Adds hooks of the user: event, matcher, command line.
    pub(crate) fn hooks(mut self, hooks: &[(&str, &str, &str)]) -> Self {
        for (event, matcher, command) in hooks {
            let hook = json!({"type": "command", "command": command, "timeout": 20_000});
            let definition = json!({"matcher": matcher, "hooks": [hook]});
            if self.hooks[*event].is_null() {
                self.hooks[*event] = json!([]);
            }
            self.hooks[*event].as_array_mut().unwrap().push(definition);
        }
        self
    }

    /// Starts with the conversation that the journal contains.
    pub(crate) fn resumed(self) -> Self {
        let history = self.journal.history();
        Self { history, log: Arc::default(), ..self }
    }

    /// Returns a path in the project folder.
    pub(crate) fn path(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    /// Starts the session.
    pub(crate) fn start(mut self) -> Talk {
        // A resumed session continues the same script.
        let models = &self.models;
        self.script.get_or_insert_with(|| Arc::new(ScriptCheck(models.clone())));
        let (outlet, events) = Outlet::new("s", vec![self.log.clone()]);
        let replies = Arc::new(EventOperator::new(outlet.clone()));
        let operator: Arc<dyn Operator> =
            if self.interactive { replies.clone() } else { Arc::new(NoUser) };
        let agent = AgentLoop::new(self.services(&outlet, operator), self.parts(outlet));
        let (handle, task) = spawn(agent, self.commands.clone(), replies, events);
        let over = Gate::closed();
        let tell = over.clone();
        let task = tokio::spawn(async move {
            let ended = task.await;
            tell.open();
            ended.unwrap();
        });
        // The log has all events, so no other reader is needed.
        drop(handle.events());
        let (models, journal, log) = (self.models.clone(), self.journal.clone(), self.log.clone());
        let prompts = AtomicUsize::new(0);
        let replied = Mutex::default();
        Talk { stage: self, models, journal, log, handle, task, over, prompts, replied }
    }

    /// Returns the services that the agents of the session share.
    pub(crate) fn services(&self, outlet: &Outlet, operator: Arc<dyn Operator>) -> AgentServices {
        // Ids continue after those of an earlier session.
        let number = AtomicUsize::new(self.journal.records().len() * 10);
        AgentServices {
            models: Arc::new(self.models.clone()),
            fallback: Arc::new(Fallback::new(self.fallback.clone())),
            routing: self.routing,
            operator,
            policy: Live::new(self.policy()),
            checkers: self.checkers.clone(),
            conseca: self.conseca,
            modes: Arc::new(SessionMode::new(Live::new(self.mode), outlet.clone())),
            choices: ApprovalChoices { session: true, ..ApprovalChoices::default() },
            grants: Arc::default(),
            inputs: Arc::default(),
            checkpoints: Arc::clone(&self.checkpoints),
            budget: Budget::new(self.spending.clone(), outlet.clone()),
            hooks: self.user_programs(),
            retries: StreamRetries::default(),
            log_prompts: false,
            interactive: self.interactive,
            new_id: Arc::new(move || format!("e{}", number.fetch_add(1, Ordering::SeqCst))),
        }
    }

    /// Returns the parts of the main agent.
    pub(crate) fn parts(&self, outlet: Outlet) -> AgentParts {
        let tools = self.tools.iter().map(|tool| Arc::new(tool.clone()) as Arc<dyn Tool>);
        self.toolset.set(Toolset::new(tools.collect()));
        let inputs = PromptInputs { interactive: self.interactive, ..PromptInputs::default() };
        AgentParts {
            role: ModelRole::Main,
            requested_model: Live::new(self.model.to_owned()),
            conversation_model: None,
            tuning: Tuning::default(),
            instruction: InstructionSource::Session {
                inputs: Box::new(inputs),
                memory: Live::default(),
            },
            instruction_copy: None,
            toolset: self.toolset.clone(),
            loading: None,
            recorder: HistoryRecorder::new(self.journal.clone(), outlet),
            history: self.history.clone(),
            is_after_clear: false,
            context: Some(Box::new(SessionContext::default)),
            settings: Live::new(self.settings()),
            fitting: self.fitting(),
            answer: self.answer.clone(),
            kept: None,
        }
    }

    fn settings(&self) -> LoopSettings {
        let (protected, least) = self.masking;
        LoopSettings {
            max_turns: self.max_turns,
            loop_detection: self.loop_detection,
            next_speaker: self.next_speaker,
            masking: MaskingOptions { protected, least, protect_latest: true },
            compression_share: self.compression,
            ..LoopSettings::default()
        }
    }

    /// Returns the folders for fitting, all in the project folder.
    pub(crate) fn fitting(&self) -> FittingParts {
        let (folder, tasks) = (self.folder.path().to_owned(), self.open_tasks.clone());
        FittingParts {
            outputs: self.path("outputs"),
            open_tasks: Box::new(move || tasks.clone()),
            plans: folder.join("plans"),
            workspace: self.workspace(),
            interactive: self.interactive,
        }
    }

    fn workspace(&self) -> Live<Workspace> {
        let folder = self.folder.path().to_owned();
        Live::new(Workspace::new(folder.clone(), folder))
    }

    fn policy(&self) -> Policy {
        let folder = self.folder.path().to_owned();
        let facts = Facts {
            interactive: self.interactive,
            plans_directory: folder.join("plans"),
            workspace: self.workspace(),
            ..Facts::default()
        };
        let rules = pollux_policy::read(Tier::User, Path::new("test.toml"), &self.rules);
        // The tools of tests have names that the policy does not know.
        let is_known = |problem: &Problem| problem.kind != ProblemKind::ToolName;
        assert!(!rules.problems.iter().any(is_known), "{:?}", rules.problems);
        Policy::new(facts, rules)
    }

    fn user_programs(&self) -> Hooks {
        let (path, value) = (self.path("settings.json"), json!({ "hooks": self.hooks }));
        let found = pollux_hooks::read(&[Layer { kind: LayerKind::User, path, value }]);
        assert_eq!(found.warnings, [""; 0], "the hooks of the test");
        Hooks::new(HookOptions {
            hooks: found.hooks,
            cwd: self.folder.path().to_owned(),
            environment: std::env::vars_os().collect(),
            ..HookOptions::default()
        })
    }
}

/// Running session.
pub(crate) struct Talk {
    stage: Stage,
    pub(crate) models: ScriptedModels,
    pub(crate) journal: Arc<MemoryJournal>,
    pub(crate) log: Arc<EventLog>,
    handle: Handle,
    task: tokio::task::JoinHandle<()>,
    /// Opens after the agent has ended.
    over: Gate,
    prompts: AtomicUsize,
    replied: Mutex<Vec<QuestionId>>,
}

impl Talk {
    /// Waits for a question that has had no reply.
    pub(crate) async fn question(&self, is_meant: impl Fn(&Question) -> bool) -> Question {
        let open = |event: &Event| match event {
            Event::Question(asked)
                if is_meant(asked) && !self.replied.lock().unwrap().contains(&asked.id) =>
            {
                Some(Question::clone(asked))
            }
            _ => None,
        };
        self.first(open).await
    }

    /// Replies to a question.
    pub(crate) fn reply(&self, reply: &QuestionReply) {
        self.replied.lock().unwrap().push(reply.question);
        self.send(Op::Answer(reply.clone()));
    }

    /// Returns the registry of commands.
    pub(crate) fn commands(&self) -> Live<CommandSet> {
        self.handle.commands()
    }

    /// Sends an op.
    pub(crate) fn send(&self, op: Op) {
        self.handle.send(op).unwrap();
    }

    /// Starts a prompt. Returns its id.
    pub(crate) fn begin(&self, text: &str) -> String {
        let id = format!("p{}", self.prompts.fetch_add(1, Ordering::SeqCst));
        self.send(Op::Prompt { id: id.clone(), input: vec![Part::text(text)].into() });
        id
    }

    /// Runs a prompt to its end.
    pub(crate) async fn prompt(&self, text: &str) -> PromptOutcome {
        let id = self.begin(text);
        self.ended(&id).await
    }

    /// Waits until the prompt with this id has ended.
    pub(crate) async fn ended(&self, id: &str) -> PromptOutcome {
        self.alive(self.log.ended(id)).await
    }

    /// Waits for the first event from which `pick` takes a value.
    pub(crate) async fn first<T>(&self, pick: impl FnMut(&Event) -> Option<T>) -> T {
        self.alive(self.log.first(pick)).await
    }

    /// Waits for something that happens while the agent lives. The test fails if the agent ends
    /// first.
    async fn alive<T>(&self, work: impl Future<Output = T>) -> T {
        tokio::select! {
            biased;
            done = work => done,
            () = self.over.pass() => panic!("the agent has ended"),
        }
    }

    /// Runs a prompt that is expected to end with success.
    pub(crate) async fn done(&self, text: &str) {
        let outcome = self.prompt(text).await;
        assert!(matches!(outcome, PromptOutcome::Done), "{outcome:?}");
    }

    /// Closes the session and waits until it has ended.
    pub(crate) async fn close(self) -> Stage {
        self.send(Op::Close);
        self.task.await.unwrap();
        self.stage
    }

    /// Closes the session and starts another session with the conversation in its journal.
    pub(crate) async fn resume(self) -> Self {
        self.close().await.resumed().start()
    }

    /// Checks that the journal has the conversation as the last request sent it, followed only by
    /// the answer to that request.
    pub(crate) fn assert_replays(&self) {
        let history = self.journal.history();
        let replayed: Vec<_> = history.entries().iter().map(|entry| entry.content()).collect();
        let last = self.models.last();
        let sent = last.contents();
        assert!(replayed.len() <= sent.len() + 1, "{} of {}", replayed.len(), sent.len());
        assert_eq!(replayed[..sent.len()], sent[..]);
    }

    /// Returns the finished calls, in the order in which they were announced.
    pub(crate) fn finished(&self) -> Vec<Arc<FinishedCall>> {
        let groups = self.log.all(|event| match event {
            Event::CallsFinished(calls) => Some(calls.clone()),
            _ => None,
        });
        groups.concat()
    }
}
