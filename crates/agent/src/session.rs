//! A conversation and the work on its prompts.

use std::collections::HashMap;
use std::path::PathBuf;
use std::sync::Arc;

use futures::future::{BoxFuture, Shared};
use pollux_hooks::Hooks;
use pollux_policy::{CheckerPrograms, Policy};
use pollux_protocol::{
    Adjustments, ApprovalMode, Call, CallId, CancellationToken, Checkpoints, Choice, Directive,
    Event, FinishReason, FinishedCall, History, JournalError, Live, Measurement, ModelError,
    ModelErrorKind, ModelRole, Models, Operator, Part, PromptOutcome, Record, Request, Severity,
    TurnLimit,
};

use crate::beside::{Conversation, WatchedModels};
use crate::budget::Budget;
use crate::chat::{Chat, Interference};
use crate::conseca::Conseca;
use crate::context::SessionContext;
use crate::emitter::Emitter;
use crate::fill::Fill;
use crate::hook_events::HookEvents;
use crate::instruction::Instruction;
use crate::loop_guard::{Finding, LoopGuard};
use crate::masking::{Masking, MaskingOptions};
use crate::memory::{SessionMemory, take_notice};
use crate::mode::SessionMode;
use crate::next_speaker::NextSpeakerOptions;
use crate::prompt::PromptInputs;
use crate::scheduler::{ApprovalChoices, Batch, CallInputs, Grants, Scheduler};
use crate::steering::Steering;
use crate::toolset::Toolset;

mod answers;
mod bounded;
mod choice;
mod compressing;
mod forgetting;
mod guarded;
mod hooked;
mod overflow;
mod speaker;
mod structured;
mod words;

use compressing::Compressing;
pub use compressing::CompressionOptions;
pub use structured::AnswerForm;
use structured::Form;

/// Requests that one prompt may lead to, unless the settings set a limit of their own.
const PROMPT_TURNS: u64 = 100;

/// The loading of tools: runs beside everything, and ends.
pub type Loading = Shared<BoxFuture<'static, ()>>;

/// What a session is made of.
pub struct SessionParts {
    /// Chooses the model.
    pub models: Arc<dyn Models>,
    /// The same models for calls beside the conversation; the tools share them.
    pub beside: Arc<WatchedModels>,
    /// The model that was asked for: a name, an alias or `auto`.
    pub requested_model: String,
    /// All tools, before policy decides which of them are on offer. They may change while the session runs.
    pub toolset: Live<Toolset>,
    /// Ends when the tools are complete that a session begins with; the first request waits for that.
    pub loading: Option<Loading>,
    /// What may run.
    pub policy: Policy,
    /// The person's programs that check calls.
    pub checkers: CheckerPrograms,
    /// A model checks calls too.
    pub conseca: bool,
    /// The approval mode; the tools share it.
    pub mode: Live<ApprovalMode>,
    /// Choices beyond yes and no when a call needs approval.
    pub choices: ApprovalChoices,
    /// Where events go.
    pub emitter: Emitter,
    /// Asks models.
    pub chat: Chat,
    /// The conversation so far.
    pub history: History,
    /// What opens a new conversation. Gathered only when one begins.
    pub context: Box<dyn Fn() -> SessionContext + Send + Sync>,
    /// What the system instruction depends on.
    pub prompt: PromptInputs,
    /// What it says of the user's own context files.
    pub memory: Live<SessionMemory>,
    /// Where the system instruction is written as often as it changes.
    pub prompt_copy: Option<PathBuf>,
    /// Requests that the session may send; none for no limit.
    pub max_turns: Option<u64>,
    /// What the work may cost; the chat and the models beside it pay from the same.
    pub budget: Budget,
    /// When old results of tools become short.
    pub masking: MaskingOptions,
    /// When the conversation is compressed.
    pub compression: CompressionOptions,
    /// Loops are looked for.
    pub loop_detection: bool,
    /// Whether the model goes on by itself when it only paused.
    pub next_speaker: NextSpeakerOptions,
    /// The user's programs.
    pub hooks: Hooks,
    /// Keeper of the state before calls change files.
    pub checkpoints: Arc<dyn Checkpoints>,
    /// What answers must be like, where a program reads them.
    pub answer: Option<AnswerForm>,
    /// Makes ids for new entries.
    pub new_id: Arc<dyn Fn() -> String + Send + Sync>,
}

/// A conversation. Prompts run one after the other.
pub struct Session {
    parts: SessionParts,
    turns: u64,
    modes: Arc<SessionMode>,
    /// Model that was asked for: a name, an alias or `auto`.
    requested_model: Live<String>,
    instruction: Instruction,
    told_model: Option<String>,
    /// Tokens of the last request and its answer.
    last_tokens: u64,
    fill: Fill,
    /// Why the last answer ended.
    finish: Option<FinishReason>,
    pub(crate) steering: Arc<Steering>,
    pub(crate) inputs: Arc<CallInputs>,
    grants: Grants,
    masking: Masking,
    compressing: Compressing,
    guard: LoopGuard,
    pub(crate) hooks: HookEvents,
    /// What programs said when the session began, for the first prompt.
    opening: Option<String>,
    /// The words of the prompt under way, as the person typed them.
    prompt: String,
    /// The words of the answers to it.
    answers: Vec<String>,
    conseca: Option<Conseca>,
    form: Form,
}

/// Why a prompt's work ends: by an outcome, or by a log that cannot be written.
enum End {
    Outcome(PromptOutcome),
    Log(JournalError),
}

/// What an answer asks for.
enum Answered {
    /// Calls to run; none when the model is done.
    Calls(Vec<Call>),
    /// It went round in circles and was cut off.
    Looped(Finding),
}

impl From<JournalError> for End {
    fn from(error: JournalError) -> Self {
        Self::Log(error)
    }
}

impl Session {
    /// A session that has done nothing yet.
    pub fn new(mut parts: SessionParts) -> Self {
        let instruction = Instruction::of(&parts.history, &parts.toolset.get());
        parts.history.put_away();
        let masking = Masking::new(parts.masking.clone());
        let hooks = HookEvents::new(parts.hooks.clone(), parts.emitter.clone());
        // Side calls before the first prompt follow the conversation, too.
        parts.beside.follow(Conversation {
            requested: parts.requested_model.clone(),
            mode: *parts.mode.get(),
            ..Conversation::default()
        });
        let conseca =
            parts.conseca.then(|| Conseca::new(parts.beside.clone(), parts.emitter.clone()));
        let modes = Arc::new(SessionMode::new(parts.mode.clone(), parts.emitter.clone()));
        let requested_model = Live::new(parts.requested_model.clone());
        Self {
            hooks,
            opening: None,
            prompt: String::new(),
            answers: Vec::new(),
            conseca,
            form: Form::default(),
            parts,
            turns: 0,
            modes,
            requested_model,
            instruction,
            told_model: None,
            last_tokens: 0,
            fill: Fill::default(),
            finish: None,
            steering: Arc::default(),
            inputs: Arc::default(),
            grants: Grants::default(),
            masking,
            compressing: Compressing::default(),
            guard: LoopGuard::default(),
        }
    }

    pub(crate) fn emitter(&self) -> &Emitter {
        &self.parts.emitter
    }

    pub(crate) fn modes(&self) -> &Arc<SessionMode> {
        &self.modes
    }

    pub(crate) fn requested_model(&self) -> &Live<String> {
        &self.requested_model
    }

    pub(crate) fn toolset(&self) -> &Live<Toolset> {
        &self.parts.toolset
    }

    /// The approval mode at this moment.
    fn mode(&self) -> ApprovalMode {
        self.modes.get()
    }

    /// Works on one prompt to its end, whatever that is. The end is told as [`Event::PromptEnded`].
    pub async fn prompt(
        &mut self,
        prompt_id: &str,
        parts: Vec<Part>,
        display: Option<String>,
        operator: &dyn Operator,
        cancel: &CancellationToken,
    ) -> PromptOutcome {
        let emitter = self.parts.emitter.clone();
        emitter.set_prompt(Some(prompt_id));
        emitter.emit(Event::PromptStarted).await;
        let outcome = match self.within_budget(prompt_id, parts, display, operator, cancel).await {
            Ok(outcome) | Err(End::Outcome(outcome)) => {
                let closed = self.close(prompt_id, &outcome).await;
                closed
                    .map_or_else(|error| PromptOutcome::LogFailed(error.to_string()), |()| outcome)
            }
            Err(End::Log(error)) => PromptOutcome::LogFailed(error.to_string()),
        };
        emitter.emit(Event::PromptEnded(outcome.clone())).await;
        emitter.set_prompt(None);
        self.parts.budget.end().await;
        outcome
    }

    /// The log tells why work ended early, and is brought to the device.
    async fn close(&self, prompt_id: &str, outcome: &PromptOutcome) -> Result<(), JournalError> {
        let text = match outcome {
            PromptOutcome::Failed(error) => Some(error.message.clone()),
            PromptOutcome::InvalidStream(reason) => Some(reason.message().to_owned()),
            PromptOutcome::FatalTool { message, .. } | PromptOutcome::Loop(message) => {
                Some(message.clone())
            }
            PromptOutcome::Budget(exceeded) => Some(exceeded.to_string()),
            PromptOutcome::Unsatisfied(unsatisfied) => Some(unsatisfied.to_string()),
            _ => None,
        };
        if let Some(text) = text {
            let severity = Severity::Error;
            self.parts.emitter.record(Record::Notice { severity, text }).await?;
        }
        let ended = Record::PromptEnded { prompt_id: prompt_id.to_owned() };
        self.parts.emitter.record(ended).await?;
        self.parts.emitter.sync().await
    }

    /// The loop: ask, run what the model calls, ask again.
    async fn turns(
        &mut self,
        prompt_id: &str,
        parts: Vec<Part>,
        display: Option<String>,
        operator: &dyn Operator,
        cancel: &CancellationToken,
    ) -> Result<PromptOutcome, End> {
        self.instruction.begin_prompt();
        self.answers.clear();
        let parts = self.opened(parts).await?;
        let prompt = hooked::words(&parts);
        self.guard = LoopGuard::new(prompt_id, &prompt);
        self.take_prompt(prompt_id, parts, display, cancel).await?;
        self.wait_for_tools(cancel).await;
        let mut requested = self.requested_model.get();
        let mut choice = self.choose().await?;
        let (mut turn, mut goes_on) = (0, false);
        loop {
            if cancel.is_cancelled() {
                return Ok(PromptOutcome::Cancelled);
            }
            if self.asks_for_another(&mut requested) {
                choice = self.choose().await?;
            }
            self.turns += 1;
            turn += 1;
            if let Some(limit) = self.turn_limit(turn) {
                return Ok(PromptOutcome::TurnLimit(limit));
            }
            self.compress_if_due(prompt_id, &choice, cancel).await?;
            self.parts.emitter.emit(Event::TurnStarted { turn: self.turns }).await;
            let calls = match self.ask_fitting(prompt_id, &choice, cancel).await? {
                Answered::Calls(calls) => calls,
                Answered::Looped(found) => {
                    let hint = self.looped(found, None, operator).await?;
                    self.say(vec![hint], None).await?;
                    continue;
                }
            };
            if calls.is_empty() {
                // Words that came while the model finished are work of their own.
                let words = self.steering.take_with_words();
                if !words.is_empty() {
                    self.prompt = format!("{}\n\n{}", self.prompt, hooked::words(&words));
                    self.say(words, None).await?;
                    continue;
                }
                if self.goes_on_alone(prompt_id, cancel).await? {
                    continue;
                }
                self.satisfy(prompt_id, &choice, cancel).await?;
                let Some(more) = self.after_agent(&prompt, goes_on, cancel).await? else {
                    return Ok(bounded::ended(cancel));
                };
                goes_on = true;
                self.open_context().await?;
                let parts = self.before_agent(vec![Part::text(more)], cancel).await?;
                self.say(parts, None).await?;
                continue;
            }
            let batch = self.run_calls(calls, &choice, operator, cancel).await?;
            if let Some(outcome) = batch.outcome() {
                return Ok(outcome);
            }
        }
    }

    /// True when the person has asked for another model since `requested`, which follows them.
    fn asks_for_another(&self, requested: &mut Arc<String>) -> bool {
        let before = std::mem::replace(requested, self.requested_model.get());
        !Arc::ptr_eq(&before, requested)
    }

    /// The first request has all tools.
    async fn wait_for_tools(&mut self, cancel: &CancellationToken) {
        if let Some(loading) = self.parts.loading.clone()
            && cancel.run_until_cancelled(loading).await.is_some()
        {
            self.parts.loading = None;
        }
    }

    /// The limit that the turn about to begin would pass. The settings' limit holds for the session;
    /// without one a single prompt may not go on for ever.
    fn turn_limit(&self, turn_of_prompt: u64) -> Option<TurnLimit> {
        match self.parts.max_turns {
            Some(limit) => (self.turns > limit).then_some(TurnLimit::Session),
            None => (turn_of_prompt > PROMPT_TURNS).then_some(TurnLimit::Prompt(PROMPT_TURNS)),
        }
    }

    async fn take_prompt(
        &mut self,
        prompt_id: &str,
        parts: Vec<Part>,
        display: Option<String>,
        cancel: &CancellationToken,
    ) -> Result<(), End> {
        let text =
            display.clone().unwrap_or_else(|| parts.iter().filter_map(Part::as_text).collect());
        self.prompt.clone_from(&text);
        let measure = Measurement::UserPrompt { prompt_id: prompt_id.to_owned(), prompt: text };
        self.parts.emitter.measure(&measure);
        self.open_context().await?;
        let parts = self.before_agent(parts, cancel).await?;
        let news = take_notice(&self.parts.memory).map(Part::text);
        let parts = news.into_iter().chain(self.steering.take()).chain(parts).collect();
        self.say(parts, display).await
    }

    /// One request and its answer.
    async fn ask(
        &mut self,
        prompt_id: &str,
        choice: &Choice,
        cancel: &CancellationToken,
    ) -> Result<Answered, End> {
        let toolset = self.parts.toolset.get();
        if let Some(masked) = self.masking.apply(&mut self.parts.history, &toolset).await {
            self.parts.emitter.measure(&masked);
        }
        self.check_room(choice, cancel).await?;
        let request = self.request(prompt_id, choice)?;
        let copied = self.instruction.copy_to(self.parts.prompt_copy.as_deref()).await;
        copied.map_err(|error| End::Outcome(PromptOutcome::Failed(error)))?;
        let guarded = self.parts.loop_detection;
        let answer = self.parts.chat.ask(choice, request, guarded, cancel).await;
        let id = self.new_id();
        match answer.interference.clone() {
            Some(Interference::Stopped(reason)) => {
                self.take_cut_short(id, answer).await?;
                return Err(End::Outcome(PromptOutcome::Stopped(reason)));
            }
            Some(Interference::Looped(found)) => {
                self.take_cut_short(id, answer).await?;
                return Ok(Answered::Looped(found));
            }
            Some(Interference::Blocked(_)) | None => {}
        }
        match answer.end {
            Ok(()) => {
                self.report_usage(&answer, choice).await;
                Ok(Answered::Calls(self.take_answer(id, answer).await?))
            }
            Err(ref error) => {
                let outcome = match error.kind {
                    ModelErrorKind::Cancelled => PromptOutcome::Cancelled,
                    ModelErrorKind::Unusable(reason) => PromptOutcome::InvalidStream(reason),
                    _ => PromptOutcome::Failed(error.clone()),
                };
                self.take_cut_short(id, answer).await?;
                Err(End::Outcome(outcome))
            }
        }
    }

    fn request(&mut self, prompt_id: &str, choice: &Choice) -> Result<Request, End> {
        let entries = self.parts.history.request().map_err(|error| {
            let message = format!("The conversation cannot be sent: {error}.");
            End::Outcome(PromptOutcome::Failed(ModelError::new(ModelErrorKind::Other, message)))
        })?;
        let (mode, parts) = (self.mode(), &self.parts);
        let (memory, toolset) = (parts.memory.get(), parts.toolset.get());
        let (system, tools) = self.instruction.make(
            &parts.prompt,
            &memory.system,
            &toolset,
            &parts.policy,
            mode,
            choice,
        );
        parts.beside.follow(Conversation {
            requested: String::clone(&self.requested_model.get()),
            mode,
            prompt_id: prompt_id.to_owned(),
            instruction: Some(Arc::clone(&system)),
        });
        Ok(self.shape(Request {
            entries,
            system: Some(system),
            tools,
            prompt_id: prompt_id.to_owned(),
            role: ModelRole::Main,
            is_retry: false,
            adjustments: Adjustments::default(),
            on_retry: None,
        }))
    }

    async fn run_calls(
        &mut self,
        calls: Vec<Call>,
        choice: &Choice,
        operator: &dyn Operator,
        cancel: &CancellationToken,
    ) -> Result<Batch, End> {
        let asked: HashMap<CallId, usize> =
            calls.iter().enumerate().map(|(place, call)| (call.id.clone(), place)).collect();
        let toolset = self.parts.toolset.get();
        let scheduler = Scheduler {
            emitter: &self.parts.emitter,
            toolset: &toolset,
            policy: &self.parts.policy,
            operator,
            inputs: &self.inputs,
            grants: &self.grants,
            checkers: &self.parts.checkers,
            conseca: self.conseca.as_ref(),
            prompt: &self.prompt,
            history: &self.parts.history,
            hooks: &self.hooks,
            checkpoints: self.parts.checkpoints.as_ref(),
            cancel,
            budget: &self.parts.budget,
            modes: &self.modes,
            choices: self.parts.choices,
            model: &choice.name,
            limits: choice.limits,
            room: self.room(choice.limits),
        };
        let mut batch = scheduler.run(calls).await?;
        for (call_id, effects) in std::mem::take(&mut batch.started) {
            self.parts.history.note_effects(call_id.as_str(), effects);
        }
        let mut in_order: Vec<Arc<FinishedCall>> = batch.finished.clone();
        in_order.sort_by_key(|finished| asked.get(&finished.call.id).copied());
        self.parts.emitter.emit(Event::CallsFinished(in_order)).await;
        for directive in std::mem::take(&mut batch.directives) {
            match directive {
                Directive::SetMode(mode) => self.modes.set(mode).await,
                Directive::SetTopic(title) => self.instruction.set_topic(&title),
                Directive::SetTodos(todos) => {
                    self.parts.emitter.emit(Event::TodosChanged(todos)).await;
                }
                Directive::LeavePlanMode { plan } => {
                    self.instruction.approve_plan(&plan);
                    self.modes.set(batch.after_plan).await;
                }
                Directive::TailCall { .. } => {}
                stop @ Directive::Stop(_) => batch.directives.push(stop),
            }
        }
        let guarded = self.look_for_loops(&batch, operator, cancel).await;
        self.take_responses(&batch, guarded.as_ref().ok().cloned().flatten()).await?;
        guarded?;
        Ok(batch)
    }

    /// `hint` is ours, for the model.
    async fn take_responses(&mut self, batch: &Batch, hint: Option<Part>) -> Result<(), End> {
        let responses =
            batch.finished.iter().flat_map(|finished| finished.response.iter().cloned());
        let parts: Vec<Part> =
            self.steering.take().into_iter().chain(hint).chain(responses).collect();
        let id = self.new_id();
        self.record(Record::Responses { id: id.clone(), parts: parts.clone() }).await?;
        self.parts.history.push_responses(id, parts);
        Ok(())
    }

    /// Tells programs that the session ends, and its figures.
    pub async fn finish(&mut self) {
        self.end().await;
        self.modes.measure_end_of(self.mode());
    }
}
