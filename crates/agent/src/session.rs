//! A conversation and the work on its prompts.

use std::collections::HashMap;
use std::sync::Arc;

use pollux_policy::Policy;
use pollux_protocol::{
    ApprovalMode, Call, CallId, CallRecord, CallStatus, CancellationToken, Choice, Content,
    Declaration, Directive, EntryId, Event, FinishedCall, History, JournalError, Measurement,
    MessageRecord, ModelError, ModelErrorKind, ModelRole, Models, Operator, Part, PromptOutcome,
    Record, Request, Role, SelectContext, Severity, SharedMode, Tool, ToolErrorKind, TurnLimit,
};

use crate::chat::{Answer, Chat};
use crate::context::{CONTEXT_ENTRY_ID, SessionContext};
use crate::emitter::Emitter;
use crate::prompt::{PromptInputs, system_prompt};
use crate::scheduler::{Batch, CallInputs, Grants, Scheduler};
use crate::steering::Steering;
use crate::toolset::Toolset;

/// Marks an answer that was cut short, for the model that reads it later.
const CUT_SHORT: &str = "\n\n[This answer was interrupted here.]";

/// Requests that one prompt may lead to, unless the settings set a limit of their own.
const PROMPT_TURNS: u64 = 100;

/// What a session is made of.
pub struct SessionParts {
    /// Chooses the model.
    pub models: Arc<dyn Models>,
    /// The model that was asked for: a name, an alias or `auto`.
    pub requested_model: String,
    /// All tools, before policy decides which of them are on offer.
    pub tools: Vec<Arc<dyn Tool>>,
    /// What may run.
    pub policy: Policy,
    /// The approval mode; the tools share it.
    pub mode: SharedMode,
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
    /// Requests that the session may send; none for no limit.
    pub max_turns: Option<u64>,
    /// Makes ids for new entries.
    pub new_id: Arc<dyn Fn() -> String + Send + Sync>,
}

/// A conversation. Prompts run one after the other.
pub struct Session {
    parts: SessionParts,
    toolset: Toolset,
    turns: u64,
    system: Option<(ApprovalMode, Arc<str>, Arc<[Declaration]>)>,
    told_model: Option<String>,
    pub(crate) steering: Arc<Steering>,
    pub(crate) inputs: Arc<CallInputs>,
    grants: Grants,
}

/// Why a prompt's work ends: by an outcome, or by a log that cannot be written.
enum End {
    Outcome(PromptOutcome),
    Log(JournalError),
}

impl From<JournalError> for End {
    fn from(error: JournalError) -> Self {
        Self::Log(error)
    }
}

impl Session {
    /// A session that has done nothing yet.
    pub fn new(parts: SessionParts) -> Self {
        let toolset = Toolset::new(parts.tools.clone());
        Self {
            parts,
            toolset,
            turns: 0,
            system: None,
            told_model: None,
            steering: Arc::default(),
            inputs: Arc::default(),
            grants: Grants::default(),
        }
    }

    /// The approval mode at this moment.
    pub fn mode(&self) -> ApprovalMode {
        self.parts.mode.get()
    }

    /// Changes the approval mode.
    pub async fn set_mode(&mut self, mode: ApprovalMode) {
        let from = self.parts.mode.replace(mode);
        if from != mode {
            self.parts.emitter.measure(Measurement::ModeSwitch { from, to: mode }).await;
        }
    }

    /// Asks for another model from the next prompt on.
    pub fn set_model(&mut self, requested: String) {
        self.parts.requested_model = requested;
    }

    pub(crate) fn emitter(&self) -> &Emitter {
        &self.parts.emitter
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
        emitter.emit(Event::PromptStarted { prompt_id: prompt_id.to_owned() }).await;
        let outcome = match self.turns(prompt_id, parts, display, operator, cancel).await {
            Ok(outcome) | Err(End::Outcome(outcome)) => {
                let closed = self.close(prompt_id, &outcome).await;
                closed
                    .map_or_else(|error| PromptOutcome::LogFailed(error.to_string()), |()| outcome)
            }
            Err(End::Log(error)) => PromptOutcome::LogFailed(error.to_string()),
        };
        let ended =
            Event::PromptEnded { prompt_id: prompt_id.to_owned(), outcome: outcome.clone() };
        emitter.emit(ended).await;
        outcome
    }

    /// The log tells why work ended early, and is brought to the device.
    async fn close(&self, prompt_id: &str, outcome: &PromptOutcome) -> Result<(), JournalError> {
        let text = match outcome {
            PromptOutcome::Failed(error) => Some(error.message.clone()),
            PromptOutcome::InvalidStream(reason) => Some(reason.message().to_owned()),
            PromptOutcome::FatalTool { message, .. } => Some(message.clone()),
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
        self.take_prompt(prompt_id, parts, display).await?;
        let choice =
            self.choose().await.map_err(|error| End::Outcome(PromptOutcome::Failed(error)))?;
        let mut turn = 0;
        loop {
            if cancel.is_cancelled() {
                return Ok(PromptOutcome::Cancelled);
            }
            self.turns += 1;
            turn += 1;
            if let Some(limit) = self.turn_limit(turn) {
                return Ok(PromptOutcome::TurnLimit(limit));
            }
            self.parts.emitter.emit(Event::TurnStarted { turn: self.turns }).await;
            let calls = self.ask(prompt_id, &choice, cancel).await?;
            if calls.is_empty() {
                // Words that came while the model finished are work of their own.
                let Some(words) = self.steering.take() else { return Ok(PromptOutcome::Done) };
                self.say(vec![words], None).await?;
                continue;
            }
            let batch = self.run_calls(calls, &choice, operator, cancel).await?;
            if let Some(outcome) = outcome_of(&batch) {
                return Ok(outcome);
            }
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
    ) -> Result<(), End> {
        let text =
            display.clone().unwrap_or_else(|| parts.iter().filter_map(Part::as_text).collect());
        let measure = Measurement::UserPrompt { prompt_id: prompt_id.to_owned(), prompt: text };
        self.parts.emitter.measure(measure).await;
        let id = EntryId::new(CONTEXT_ENTRY_ID);
        // An imported conversation comes without the context of this place.
        if !self.parts.history.entries().iter().any(|entry| *entry.id() == id) {
            let context = vec![Part::text((self.parts.context)().render())];
            self.record(Record::Context { id: id.clone(), parts: context.clone() }).await?;
            self.parts.history.push_user(id, context);
        }
        let parts = self.steering.take().into_iter().chain(parts).collect();
        self.say(parts, display).await
    }

    /// The person says something: first in the log, then in the conversation.
    async fn say(&mut self, parts: Vec<Part>, display: Option<String>) -> Result<(), End> {
        let id = self.new_id();
        self.record(Record::User { id: id.clone(), parts: parts.clone(), display }).await?;
        self.parts.history.push_user(id, parts);
        Ok(())
    }

    async fn choose(&mut self) -> Result<Choice, ModelError> {
        let started = std::time::Instant::now();
        let context =
            SelectContext { requested: self.parts.requested_model.clone(), mode: self.mode() };
        let chosen = self.parts.models.select(&context).await;
        let (model, source) = match &chosen {
            Ok(choice) => (choice.name.clone(), choice.reason.clone()),
            Err(_) => (context.requested, "router-exception".to_owned()),
        };
        let measure = Measurement::ModelRouting {
            model: model.clone(),
            source: source.clone(),
            latency: started.elapsed(),
            error: chosen.as_ref().err().map(ToString::to_string),
            mode: self.mode(),
        };
        self.parts.emitter.measure(measure).await;
        let choice = chosen?;
        if self.told_model.as_ref() != Some(&model) {
            self.told_model = Some(model.clone());
            self.parts.emitter.emit(Event::ModelChosen { model, reason: source }).await;
        }
        Ok(choice)
    }

    /// One request and its answer. Gives the calls to run; none when the model is done.
    async fn ask(
        &mut self,
        prompt_id: &str,
        choice: &Choice,
        cancel: &CancellationToken,
    ) -> Result<Vec<Call>, End> {
        let request = self.request(prompt_id, choice)?;
        let answer = self.parts.chat.ask(choice, request, cancel).await;
        let id = self.new_id();
        match answer.end {
            Ok(()) => self.take_answer(id, answer, choice).await,
            Err(ref error) => {
                let outcome = match error.kind {
                    ModelErrorKind::Cancelled => PromptOutcome::Cancelled,
                    ModelErrorKind::Unusable(reason) => PromptOutcome::InvalidStream(reason),
                    _ => PromptOutcome::Failed(error.clone()),
                };
                self.take_cut_short(id, answer, choice).await?;
                Err(End::Outcome(outcome))
            }
        }
    }

    fn request(&mut self, prompt_id: &str, choice: &Choice) -> Result<Request, End> {
        let entries = self.parts.history.request().map_err(|error| {
            let message = format!("The conversation cannot be sent: {error}.");
            End::Outcome(PromptOutcome::Failed(ModelError::new(ModelErrorKind::Other, message)))
        })?;
        let (system, tools) = self.instruction(choice);
        Ok(Request {
            entries,
            system: Some(system),
            tools,
            prompt_id: prompt_id.to_owned(),
            role: ModelRole::Main,
            is_retry: false,
            on_retry: None,
        })
    }

    /// System instruction and declarations for the current mode; made once for each mode.
    fn instruction(&mut self, choice: &Choice) -> (Arc<str>, Arc<[Declaration]>) {
        let mode = self.mode();
        if let Some((made_for, system, tools)) = &self.system
            && *made_for == mode
        {
            return (Arc::clone(system), Arc::clone(tools));
        }
        let mut offered = self.toolset.clone();
        offered.retain(|tool| self.parts.policy.declares(tool.name(), tool.kind(), mode));
        let tools = offered.declarations();
        let names: Vec<&str> = tools.iter().map(|tool| tool.name.as_str()).collect();
        let system: Arc<str> =
            system_prompt(&self.parts.prompt, mode, choice.family, &names).into();
        self.system = Some((mode, Arc::clone(&system), Arc::clone(&tools)));
        (system, tools)
    }

    async fn take_answer(
        &mut self,
        id: EntryId,
        answer: Answer,
        choice: &Choice,
    ) -> Result<Vec<Call>, End> {
        let turn = answer.turn;
        let calls = turn.calls.clone();
        let stored = self.store_answer(&id, turn.parts);
        let message = MessageRecord {
            id,
            calls: calls.iter().map(|call| self.planned(call)).collect(),
            parts: stored,
            thoughts: turn.thoughts,
            usage: turn.usage,
            model: choice.name.clone(),
            interrupted: false,
        };
        if !message.parts.is_empty() || !message.thoughts.is_empty() {
            self.record(Record::Model(message)).await?;
        }
        Ok(calls)
    }

    /// Pushes the answer; gives back the parts as the history holds them.
    fn store_answer(&mut self, id: &EntryId, parts: Vec<Part>) -> Vec<Part> {
        self.parts.history.push_model(id.clone(), parts);
        self.last_parts(id)
    }

    fn last_parts(&self, id: &EntryId) -> Vec<Part> {
        let last = self.parts.history.entries().last();
        last.filter(|entry| entry.id() == id && entry.content().role == Role::Model)
            .map(|entry| Content::clone(entry.content()).parts)
            .unwrap_or_default()
    }

    /// What an answer had said when it was cut short is kept, and marked.
    async fn take_cut_short(
        &mut self,
        id: EntryId,
        answer: Answer,
        choice: &Choice,
    ) -> Result<(), End> {
        let mut turn = answer.turn;
        if !turn.has_content() {
            return Ok(());
        }
        if turn.parts.iter().any(|part| part.as_text().is_some_and(|text| !text.is_empty())) {
            turn.parts.push(Part::text(CUT_SHORT));
        }
        self.parts.history.push_interrupted(id.clone(), turn.parts);
        let parts = self.last_parts(&id);
        if parts.is_empty() {
            return Ok(());
        }
        let message = MessageRecord {
            id,
            parts,
            thoughts: turn.thoughts,
            usage: turn.usage,
            model: choice.name.clone(),
            interrupted: true,
            calls: Vec::new(),
        };
        self.record(Record::Model(message)).await
    }

    fn planned(&self, call: &Call) -> CallRecord {
        let tool = self.toolset.get(&call.name);
        CallRecord {
            id: call.id.clone(),
            name: call.name.clone(),
            args: call.args.clone(),
            status: CallStatus::Validating,
            result: None,
            result_display: None,
            description: String::new(),
            display_name: tool.map_or(call.name.as_str(), |tool| tool.display_name()).to_owned(),
            render_output_as_markdown: tool.is_some_and(|tool| tool.renders_markdown()),
        }
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
        let scheduler = Scheduler {
            emitter: &self.parts.emitter,
            toolset: &self.toolset,
            policy: &self.parts.policy,
            operator,
            inputs: &self.inputs,
            grants: &self.grants,
            cancel,
            mode: self.mode(),
            media_in_responses: choice.limits.media_in_responses,
        };
        let mut batch = scheduler.run(calls).await?;
        let mut in_order: Vec<Arc<FinishedCall>> = batch.finished.clone();
        in_order.sort_by_key(|finished| asked.get(&finished.call.id).copied());
        self.parts.emitter.emit(Event::CallsFinished(in_order)).await;
        for directive in std::mem::take(&mut batch.directives) {
            match directive {
                Directive::SetMode(mode) => self.set_mode(mode).await,
                Directive::TailCall { .. } => {}
                stop @ Directive::Stop(_) => batch.directives.push(stop),
            }
        }
        self.take_responses(&batch).await?;
        Ok(batch)
    }

    async fn take_responses(&mut self, batch: &Batch) -> Result<(), End> {
        let responses =
            batch.finished.iter().flat_map(|finished| finished.response.iter().cloned());
        let parts: Vec<Part> = self.steering.take().into_iter().chain(responses).collect();
        let id = self.new_id();
        self.record(Record::Responses { id: id.clone(), parts: parts.clone() }).await?;
        self.parts.history.push_responses(id, parts);
        Ok(())
    }

    async fn record(&self, record: Record) -> Result<(), End> {
        Ok(self.parts.emitter.record(record).await?)
    }

    fn new_id(&self) -> EntryId {
        EntryId::new((self.parts.new_id)())
    }

    /// Tells the figures of a session that ends.
    pub async fn finish(&self, since: std::time::Instant) {
        let mode = self.mode();
        let duration = since.elapsed();
        self.parts.emitter.measure(Measurement::ModeDuration { mode, duration }).await;
    }
}

/// An end that the calls themselves brought about.
fn outcome_of(batch: &Batch) -> Option<PromptOutcome> {
    for finished in &batch.finished {
        let Some(error) = &finished.error else { continue };
        match error.kind {
            ToolErrorKind::NoSpaceLeft => {
                let (tool, message) = (finished.call.name.clone(), error.message.clone());
                return Some(PromptOutcome::FatalTool { tool, message });
            }
            ToolErrorKind::StopExecution => {
                return Some(PromptOutcome::Stopped(error.message.clone()));
            }
            _ => {}
        }
    }
    for directive in &batch.directives {
        if let Directive::Stop(reason) = directive {
            return Some(PromptOutcome::Stopped(reason.clone()));
        }
    }
    batch.cancelled.then_some(PromptOutcome::Cancelled)
}
