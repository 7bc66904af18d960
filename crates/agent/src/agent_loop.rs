//! The loop: sends requests to the model and runs the calls of its answers until a prompt is
//! finished.
//!
//! The main agent of a session and its subagents run the same loop with different [`AgentParts`]
//! and the same [`AgentServices`].

use std::path::PathBuf;
use std::sync::Arc;

use futures::future::{BoxFuture, Shared};
use pollux_protocol::{
    ApprovalMode, CancellationToken, Choice, Content, Event, FinishReason, History,
    INTERRUPTED_RESPONSE, JournalError, Live, Measurement, MessageDisplay, ModelErrorKind,
    ModelRole, Part, PromptInput, PromptOutcome, Role, Todo, Tuning, TurnLimit, text_of,
};

use crate::answer_form::{AnswerForm, Shaping};
use crate::chat::Chat;
use crate::conseca::Conseca;
use crate::context::SessionContext;
use crate::conversation::Conversation;
use crate::fitting::{Cause, Fitting, FittingParts};
use crate::hook_events::HookEvents;
use crate::instruction::{Instruction, InstructionSource};
use crate::loop_guard::LoopGuard;
use crate::outlet::Outlet;
use crate::prompt_hooks::Verdict;
use crate::prompt_run::PromptRun;
use crate::recorder::HistoryRecorder;
use crate::routing::Routed;
use crate::services::AgentServices;
use crate::settings::LoopSettings;
use crate::side_models::{Owner, WatchedModels};
use crate::standing::PinnedContext;
use crate::steering::{Steering, SteeringInput};
use crate::toolset::Toolset;

mod calls;
mod changes;
mod choosing;
mod ending;
mod request;

use request::Answered;

/// Maximum number of requests for one prompt if the settings set no limit.
const PROMPT_TURNS: u64 = 100;

/// Loading of tools in the background. The future can be cloned, so that several tasks can wait for
/// its end.
pub type Loading = Shared<BoxFuture<'static, ()>>;

/// Parts that each agent has for itself.
pub struct AgentParts {
    /// Role of the agent's requests: main conversation or subagent.
    pub role: ModelRole,
    /// Requested model: a name, an alias or `auto`.
    pub requested_model: Live<String>,
    /// Model to use if `requested_model` is an alias for which its vendor has no model.
    pub conversation_model: Option<String>,
    /// Sampling parameters of all requests.
    pub tuning: Tuning,
    /// Source of the system instruction.
    pub instruction: InstructionSource,
    /// File that receives a copy of the system instruction each time the instruction changes.
    pub instruction_copy: Option<PathBuf>,
    /// All tools, before the policy decides which of them are offered to the model. The set may
    /// change while the agent works.
    pub toolset: Live<Toolset>,
    /// Future that ends when the agent's initial tools are complete. The first request waits for
    /// it.
    pub loading: Option<Loading>,
    /// Writer for the agent's log, with the outlet for its events.
    pub recorder: HistoryRecorder,
    /// The conversation so far.
    pub history: History,
    /// True for a new session that takes the place of one that the user has cleared.
    pub is_after_clear: bool,
    /// Function that collects the context block at the start of a new conversation; `None` for a
    /// conversation without one.
    pub context: Option<Box<dyn Fn() -> SessionContext + Send + Sync>>,
    /// Limits and behaviour of the loop.
    pub settings: Live<LoopSettings>,
    /// Folders and data sources for keeping the conversation within the model's context window.
    pub fitting: FittingParts,
    /// Required form of the final answer, for answers that a program reads.
    pub answer: Option<AnswerForm>,
    /// Value that is dropped together with the agent, such as what its subagents need of it.
    pub kept: Option<Arc<dyn Send + Sync>>,
}

/// One agent. Prompts run one after the other.
pub struct AgentLoop {
    services: AgentServices,
    role: ModelRole,
    /// Names of the subagents that lead to this one; `None` for the main agent.
    caller: Option<String>,
    requested_model: Live<String>,
    conversation_model: Option<String>,
    tuning: Tuning,
    _kept: Option<Arc<dyn Send + Sync>>,
    toolset: Live<Toolset>,
    loading: Option<Loading>,
    settings: Live<LoopSettings>,
    conversation: Conversation,
    instruction: Instruction,
    instruction_copy: Option<PathBuf>,
    chat: Chat,
    side_models: Arc<WatchedModels>,
    fitting: Fitting,
    guard: LoopGuard,
    shaping: Option<Shaping>,
    hooks: HookEvents,
    conseca: Option<Conseca>,
    steering: Arc<Steering>,
    /// To-do list of a resumed conversation, until it is reported.
    todos: Vec<Todo>,
    /// True for a new session after a cleared one.
    is_after_clear: bool,
    /// Text that hooks returned at the start of the session, for the first prompt.
    opening: Option<String>,
    /// Decision of the router about the current prompt.
    routed: Option<Routed>,
    /// Model of the last [`Event::ModelChanged`].
    model: Option<String>,
    /// Number of requests in this conversation so far.
    turns: u64,
}

/// Early end of a prompt: with an outcome, or because the log cannot be written.
enum End {
    Outcome(PromptOutcome),
    Log(JournalError),
}

impl From<JournalError> for End {
    fn from(error: JournalError) -> Self {
        Self::Log(error)
    }
}

impl From<PromptOutcome> for End {
    fn from(outcome: PromptOutcome) -> Self {
        Self::Outcome(outcome)
    }
}

impl AgentLoop {
    /// Creates an agent that has not handled any prompt yet.
    pub fn new(services: AgentServices, parts: AgentParts) -> Self {
        let outlet = parts.recorder.outlet().clone();
        let PinnedContext { topic, plan, todos, folders } =
            PinnedContext::of(&parts.history, &parts.toolset.get());
        let fitting = Fitting::new(parts.fitting, parts.settings.clone());
        for folder in &folders {
            fitting.open_folder(folder);
        }
        let hooks = HookEvents::new(services.hooks.clone(), outlet.clone());
        // Side calls before the first request also use the model of the conversation.
        let requested = String::clone(&parts.requested_model.get());
        let side_models = services.side_models(outlet.clone(), requested);
        let budget = services.budget.clone();
        let chat = Chat::new(outlet.clone(), services.retries, budget, services.log_prompts)
            .with_hooks(hooks.clone(), Arc::clone(&services.models));
        let new_id = Arc::clone(&services.new_id);
        let caller = outlet.origin().agent.below_main();
        Self {
            conversation: Conversation::new(parts.recorder, parts.history, parts.context, new_id),
            instruction: Instruction::new(parts.instruction, topic, plan).of(caller.clone()),
            instruction_copy: parts.instruction_copy,
            chat,
            side_models: Arc::new(side_models),
            fitting,
            guard: LoopGuard::new(
                parts.settings.clone(),
                outlet.clone(),
                Arc::clone(&services.operator),
            ),
            shaping: parts.answer.map(Shaping::new),
            hooks,
            conseca: services.conseca.then(|| Conseca::new(outlet)),
            steering: Arc::default(),
            todos,
            is_after_clear: parts.is_after_clear,
            opening: None,
            routed: None,
            model: None,
            turns: 0,
            role: parts.role,
            caller,
            requested_model: parts.requested_model,
            conversation_model: parts.conversation_model,
            tuning: parts.tuning,
            _kept: parts.kept,
            toolset: parts.toolset,
            loading: parts.loading,
            settings: parts.settings,
            services,
        }
    }

    pub(crate) fn services(&self) -> &AgentServices {
        &self.services
    }

    pub(crate) fn outlet(&self) -> &Outlet {
        self.conversation.outlet()
    }

    pub(crate) fn requested_model(&self) -> &Live<String> {
        &self.requested_model
    }

    pub(crate) fn toolset(&self) -> &Live<Toolset> {
        &self.toolset
    }

    pub(crate) fn steering(&self) -> &Arc<Steering> {
        &self.steering
    }

    /// Handles one prompt until it ends, for any reason. The end is reported as
    /// [`Event::PromptEnded`].
    pub async fn prompt(
        &mut self,
        id: &str,
        input: PromptInput,
        cancel: &CancellationToken,
    ) -> PromptOutcome {
        let outlet = self.outlet().clone();
        outlet.set_prompt(Some(id));
        outlet.emit(Event::PromptStarted).await;
        let turns_before = self.turns;
        let outcome = match self.within_budget(id, input, cancel).await {
            Ok(outcome) | Err(End::Outcome(outcome)) => {
                let is_cancelled = matches!(outcome, PromptOutcome::Cancelled);
                let ended = self.conversation.end_prompt(id, failure(&outcome), is_cancelled).await;
                ended.map_or_else(|error| PromptOutcome::LogFailed(error.to_string()), |()| outcome)
            }
            Err(End::Log(error)) => PromptOutcome::LogFailed(error.to_string()),
        };
        self.measure_end(self.turns - turns_before);
        if self.is_main() {
            self.services.budget.end().await;
        }
        // Nothing follows: a frontend that knows the end may cancel the next work at once.
        outlet.emit(Event::PromptEnded(outcome.clone())).await;
        outlet.set_prompt(None);
        outcome
    }

    /// Measures the end of a prompt where Gemini CLI does: in interactive sessions in YOLO mode.
    fn measure_end(&self, turns: u64) {
        let mode = self.services.modes.get();
        let is_meant = self.is_main() && self.services.interactive && mode == ApprovalMode::Yolo;
        if is_meant && turns > 0 {
            self.outlet().measure(&Measurement::ConversationFinished { mode, turns });
        }
    }

    /// True for the main agent of a session. Subagents work within its prompt and its budget.
    fn is_main(&self) -> bool {
        self.caller.is_none()
    }

    /// Lets the next request begin without the initial tools that are not complete yet.
    pub(crate) fn skip_loading(&mut self) {
        self.loading = None;
    }

    /// Returns the number of requests so far.
    pub(crate) fn turns(&self) -> u64 {
        self.turns
    }

    /// Returns the text of the last answer that has one.
    pub(crate) fn last_text(&self) -> String {
        let is_own = |text: &String| !text.is_empty() && text != INTERRUPTED_RESPONSE;
        let answers = self.conversation.entries().iter().rev().map(|entry| entry.content());
        let texts = answers.filter(|content| content.role == Role::Model).map(Content::text);
        texts.map(|text| text.trim().to_owned()).find(is_own).unwrap_or_default()
    }

    /// Handles a prompt within its budget. At the end of the available time, running work is
    /// cancelled in the same way as by the user.
    async fn within_budget(
        &mut self,
        id: &str,
        input: PromptInput,
        cancel: &CancellationToken,
    ) -> Result<PromptOutcome, End> {
        let budget = self.services.budget.clone();
        let deadline = if self.is_main() {
            budget.begin();
            budget.deadline().await
        } else {
            None
        };
        let stopped = cancel.child_token();
        let mut run = PromptRun::new(id, &stopped);
        let ended = {
            let work = self.work(input, &mut run);
            tokio::pin!(work);
            match deadline {
                None => work.await,
                Some((at, exceeded)) => tokio::select! {
                    biased;
                    ended = &mut work => ended,
                    () = tokio::time::sleep_until(at) => {
                        budget.stop(exceeded);
                        stopped.cancel();
                        work.await
                    }
                },
            }
        };
        let outcome = match ended {
            Ok(outcome) | Err(End::Outcome(outcome)) => outcome,
            Err(log) => return Err(log),
        };
        let was_stopped = match &outcome {
            PromptOutcome::Cancelled => !cancel.is_cancelled(),
            PromptOutcome::Failed(error) => error.kind == ModelErrorKind::Budget,
            PromptOutcome::Done | PromptOutcome::CutOff(_) => {
                run.finish == Some(FinishReason::MaxTokens)
            }
            _ => false,
        };
        Ok(match (budget.exceeded().filter(|_| was_stopped), &self.shaping) {
            (Some(exceeded), _) => PromptOutcome::Budget(Box::new(exceeded)),
            (None, Some(shaping)) => shaping.outcome(outcome, &run.last_answer()),
            (None, None) => outcome,
        })
    }

    /// Sends requests and runs the calls of the answers until the model is done.
    async fn work(
        &mut self,
        mut input: PromptInput,
        run: &mut PromptRun<'_>,
    ) -> Result<PromptOutcome, End> {
        self.begin(run.id);
        input.parts = self.opened(input.parts).await?;
        let prompt = text_of(&input.parts).into_owned();
        self.guard.begin(&prompt);
        self.take_prompt(input, run).await?;
        self.wait_for_tools(run.cancel).await;
        let mut requested = self.requested_model.get();
        self.route(run).await;
        let mut choice = self.choose(run.cancel).await?;
        let (mut turn, mut is_continued) = (0, false);
        loop {
            if run.cancel.is_cancelled() {
                return Ok(PromptOutcome::Cancelled);
            }
            if self.asks_for_another(&mut requested) {
                self.routed = None;
                choice = self.choose(run.cancel).await?;
            }
            turn += 1;
            self.begin_turn(turn)?;
            self.compress(Cause::Due, &choice, run.id, run.cancel).await?;
            self.outlet().emit(Event::TurnStarted { turn: self.turns }).await;
            let calls = match self.ask_fitting(&mut choice, run).await? {
                Answered::Calls(calls) => calls,
                Answered::Looped(found) => {
                    let hint = self.guard.react(found, None, run).await?;
                    self.conversation.say(vec![hint], MessageDisplay::Hidden).await?;
                    continue;
                }
            };
            if !calls.is_empty() {
                let batch = self.run_calls(calls, &choice, run).await?;
                match batch.outcome() {
                    Some(outcome) => return Ok(outcome),
                    None => continue,
                }
            }
            // User messages that arrived while the model finished need a further request.
            if let Some(SteeringInput { parts, typed }) = self.steering.take_with_words() {
                run.add(&parts);
                self.conversation.say(parts, typed.into()).await?;
                continue;
            }
            if self.goes_on_alone(run).await? {
                continue;
            }
            self.satisfy(&mut choice, run).await?;
            let done = self.report_cut_off(&choice, run).await;
            let Some(more) = self.after_agent(&prompt, is_continued, run).await? else {
                let is_stopped = run.cancel.is_cancelled();
                return Ok(if is_stopped { PromptOutcome::Cancelled } else { done });
            };
            is_continued = true;
            self.conversation.open().await?;
            let (parts, hidden) = (vec![Part::text(more)], MessageDisplay::Hidden);
            let parts = self.before_agent(parts, &hidden, run.cancel).await?;
            self.conversation.say(parts, hidden).await?;
        }
    }

    /// Returns the outcome of the last answer. A cut-off that is not a failure is reported. An
    /// answer that satisfies a schema is whole.
    async fn report_cut_off(&self, choice: &Choice, run: &PromptRun<'_>) -> PromptOutcome {
        let finish = run.finish.clone();
        if finish == Some(FinishReason::Stop) || self.shaping.is_some() {
            PromptOutcome::Done
        } else if choice.limits.fails_when_cut_off {
            PromptOutcome::CutOff(finish)
        } else {
            self.outlet().emit(Event::AnswerTruncated(finish)).await;
            PromptOutcome::Done
        }
    }

    /// Resets the state that belongs to one prompt.
    fn begin(&mut self, prompt_id: &str) {
        self.instruction.begin_prompt();
        if let Some(shaping) = &mut self.shaping {
            shaping.begin();
        }
        self.own_side_calls(prompt_id, self.side_models.owner().instruction.clone());
    }

    /// Makes all later side calls use this prompt and the agent's current model and mode.
    fn own_side_calls(&mut self, prompt_id: &str, instruction: Option<Arc<str>>) {
        self.side_models = Arc::new(self.side_models.owned_by(Owner {
            requested: String::clone(&self.requested_model.get()),
            mode: self.services.modes.get(),
            prompt_id: prompt_id.to_owned(),
            instruction,
        }));
    }

    /// Adds the text that hooks returned at the start of the session: in an interactive session as
    /// a message before the prompt, otherwise at the start of the prompt.
    async fn opened(&mut self, mut parts: Vec<Part>) -> Result<Vec<Part>, End> {
        let Some(context) = self.opening.take() else { return Ok(parts) };
        if self.services.interactive {
            self.conversation.open().await?;
            self.conversation.say(vec![Part::text(context)], MessageDisplay::Hidden).await?;
            return Ok(parts);
        }
        let first = parts.first().and_then(Part::as_text).map(str::to_owned);
        match first {
            Some(words) => parts[0] = Part::text(format!("{context}\n\n{words}")),
            None => parts.insert(0, Part::text(format!("{context}\n\n"))),
        }
        Ok(parts)
    }

    async fn take_prompt(
        &mut self,
        input: PromptInput,
        run: &mut PromptRun<'_>,
    ) -> Result<(), End> {
        let PromptInput { parts, display, earlier } = input;
        run.text = display.clone().unwrap_or_else(|| text_of(&parts).into_owned());
        if self.is_main() {
            let (prompt_id, prompt) = (run.id.to_owned(), run.text.clone());
            self.outlet().measure(&Measurement::UserPrompt { prompt_id, prompt });
        }
        self.conversation.open().await?;
        let own = parts.len();
        let display = MessageDisplay::from(display);
        let parts = self.before_agent(parts, &display, run.cancel).await?;
        self.conversation.precede(earlier).await?;
        let news = self.instruction.take_notice().map(Part::text);
        let SteeringInput { parts: steering, typed } = self.steering.take();
        // Text of hooks and of Pollux is not text of the user.
        let is_mixed = parts.len() > own || news.is_some() || !steering.is_empty();
        let display = match typed {
            Some(typed) => MessageDisplay::Text(format!("{typed}\n{}", run.text)),
            None if is_mixed => MessageDisplay::Text(run.text.clone()),
            None => display,
        };
        let parts = news.into_iter().chain(steering).chain(parts).collect();
        Ok(self.conversation.say(parts, display).await?)
    }

    /// Waits until the agent's initial tools are complete.
    async fn wait_for_tools(&mut self, cancel: &CancellationToken) {
        if let Some(loading) = self.loading.clone()
            && cancel.run_until_cancelled(loading).await.is_some()
        {
            self.loading = None;
        }
    }

    /// True if the user has requested another model since `requested`. Updates `requested`.
    fn asks_for_another(&self, requested: &mut Arc<String>) -> bool {
        let before = std::mem::replace(requested, self.requested_model.get());
        !Arc::ptr_eq(&before, requested)
    }

    /// Counts a turn. The limit in the settings applies to the whole conversation. Without that
    /// limit, a fixed maximum applies to each prompt, so that no prompt runs forever.
    fn begin_turn(&mut self, turn_of_prompt: u64) -> Result<(), PromptOutcome> {
        self.turns += 1;
        let limit = match self.settings.get().max_turns {
            Some(limit) => (self.turns > limit).then_some(TurnLimit::Session),
            None => (turn_of_prompt > PROMPT_TURNS).then_some(TurnLimit::Prompt(PROMPT_TURNS)),
        };
        limit.map_or(Ok(()), |limit| Err(PromptOutcome::TurnLimit(limit)))
    }

    /// Runs the `BeforeAgent` hooks on a prompt. A blocked prompt is not added to the conversation.
    async fn before_agent(
        &mut self,
        mut parts: Vec<Part>,
        display: &MessageDisplay,
        cancel: &CancellationToken,
    ) -> Result<Vec<Part>, End> {
        // The message of a subagent is no prompt of the user.
        if !self.is_main() {
            return Ok(parts);
        }
        match self.hooks.before_agent(&mut parts, cancel).await {
            Verdict::Go => Ok(parts),
            Verdict::Stop(reason) => {
                self.conversation.say(parts, display.clone()).await?;
                Err(PromptOutcome::Stopped(reason).into())
            }
            Verdict::Block(reason) => {
                self.outlet().emit(Event::Blocked { reason }).await;
                Err(PromptOutcome::Done.into())
            }
        }
    }
}

/// Returns the log message for an early end.
fn failure(outcome: &PromptOutcome) -> Option<String> {
    match outcome {
        PromptOutcome::Failed(error) | PromptOutcome::InvalidStream(error) => {
            Some(error.message.clone())
        }
        PromptOutcome::FatalTool { message, .. } | PromptOutcome::Loop(message) => {
            Some(message.clone())
        }
        PromptOutcome::Budget(exceeded) => Some(exceeded.to_string()),
        PromptOutcome::Unsatisfied(unsatisfied) => Some(unsatisfied.to_string()),
        _ => None,
    }
}
