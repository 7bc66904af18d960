//! An open session: its prompts, its questions, and the updates for the client.

use std::collections::HashMap;
use std::sync::Arc;

use agent_client_protocol_schema::v1::{
    CloseSessionResponse, ContentBlock, ElicitationSessionScope, Error, PromptResponse, RequestId,
    SessionConfigOptionValue, SessionInfoUpdate, SessionUpdate, SetSessionConfigOptionResponse,
    SetSessionModeResponse, ToolCallUpdate, UsageUpdate,
};
use futures::future::{BoxFuture, OptionFuture};
use futures::stream::BoxStream;
use futures::{FutureExt, StreamExt};
use pollux_input::QuestionSheet;
use pollux_protocol::plain_text::one_line;
use pollux_protocol::{
    AgentHandle, CommandSet, Confirmation, ConfirmationKind, Envelope, Event, FinishReason, Op,
    Operator as _, Part, PromptId, PromptInput, PromptOutcome, Question, QuestionReply,
    QuestionSubject, RunningSession, UsageReport,
};
use serde::Serialize;
use serde_json::json;
use tokio::sync::mpsc;

use super::opening::SessionContext;
use super::options::{Opened, SessionOptions};
use super::outcome::{Account, cancelled};
use super::prompt::PromptContent;
use super::updates::{Updates, message};
use super::{commands, content, errors};
use crate::asking::Asking;
use crate::json_rpc::outbox::ClientGone;

mod choices;
mod coming;

/// Maximum number of events that are handled together.
const TOGETHER: usize = 128;
/// Maximum number of characters of a title.
const LONGEST_TITLE: usize = 100;

use coming::Coming;

/// Request or notification about an open session.
#[derive(Debug)]
pub(crate) enum SessionCommand {
    /// `session/prompt`.
    Prompt { request: RequestId, blocks: Vec<ContentBlock> },
    /// `session/cancel`.
    Cancel,
    /// `$/cancel_request` for the request of any prompt.
    CancelRequest { request: RequestId },
    /// `session/set_mode`.
    SetMode { request: RequestId, mode: String },
    /// `session/set_model`.
    SetModel { request: RequestId, model: String },
    /// `session/set_config_option`.
    SetOption { request: RequestId, option: String, value: SessionConfigOptionValue },
    /// `session/close`.
    Close { request: RequestId },
}

/// Agent of a session.
pub(crate) struct Running {
    pub(crate) session: Box<dyn RunningSession>,
    handle: Arc<dyn AgentHandle>,
    /// Events, as many together as have arrived.
    events: BoxStream<'static, Vec<Arc<Envelope>>>,
}

impl Running {
    pub(crate) fn new(session: Box<dyn RunningSession>) -> Self {
        let handle = session.handle();
        handle.commands().update(commands::retain_offered);
        let events = handle.events().ready_chunks(TOGETHER).boxed();
        Self { session, handle, events }
    }

    fn send(&self, op: Op) {
        // If the agent is gone, the end of its events reports that.
        drop(self.handle.send(op));
    }

    /// Ends the agent. Its remaining events are of no interest.
    pub(crate) async fn close(self) {
        let Self { session, handle, events } = self;
        drop((handle, events));
        session.close().await;
    }
}

/// Prompt or command that the agent works on, or that waits for its end.
struct Current {
    request: RequestId,
    account: Account,
}

/// Answer to the request that has opened a session.
pub(crate) struct OpenedAnswer {
    pub(crate) request: RequestId,
    pub(crate) opened: Opened,
    /// Commands of a session that is not running yet.
    pub(crate) commands: Option<CommandSet>,
}

/// End of a session.
struct Ended;

impl From<ClientGone> for Ended {
    fn from(ClientGone: ClientGone) -> Self {
        Self
    }
}

/// A session that the client has opened.
pub(crate) struct Session {
    context: Arc<SessionContext>,
    options: SessionOptions,
    /// `None` while the session waits for the decision about its folder.
    running: Option<Running>,
    /// True if the user decides with the first prompt whether to trust the folder.
    asks_for_trust: bool,
    /// True if the first prompt becomes the title of the session.
    needs_title: bool,
    /// Answer that the client waits for.
    opened: Option<OpenedAnswer>,
    /// Commands that the client knows.
    announced: Option<Arc<CommandSet>>,
    updates: Updates,
    coming: Option<Coming>,
    current: HashMap<PromptId, Current>,
    questions: Asking,
}

impl Session {
    /// Creates a session. One that is not running is opened with its first prompt, after the user
    /// has decided whether to trust its folder.
    pub(crate) fn new(
        context: Arc<SessionContext>,
        options: SessionOptions,
        running: Option<Running>,
        asks_for_trust: bool,
        needs_title: bool,
        opened: OpenedAnswer,
    ) -> Self {
        let updates = Updates::new(Arc::clone(&context.notices));
        Self {
            context,
            options,
            running,
            asks_for_trust,
            needs_title,
            opened: Some(opened),
            announced: None,
            updates,
            coming: None,
            current: HashMap::new(),
            questions: Asking::default(),
        }
    }

    /// Runs the session until the client closes it or is gone.
    pub(crate) async fn run(mut self, mut inbox: mpsc::Receiver<SessionCommand>) {
        let opened = self.begin_session().await;
        let closing = match opened {
            Ok(()) => self.work(&mut inbox).await,
            Err(Ended) => None,
        };
        self.questions.clear();
        if let Some(running) = self.running.take() {
            running.send(Op::Cancel);
            running.close().await;
        }
        // A client that is gone needs no answers.
        if let Some(request) = closing {
            drop(self.answer_all(Ok(cancelled())).await);
            drop(self.answer(request, Ok(CloseSessionResponse::new())).await);
        } else {
            let ended = errors::internal("The session has ended.");
            drop(self.answer_all(Err(ended)).await);
        }
    }

    /// Answers the request that has opened the session, and lists its commands.
    async fn begin_session(&mut self) -> Result<(), Ended> {
        if let Some(OpenedAnswer { request, opened, commands }) = self.opened.take() {
            self.answer(request, Ok(opened)).await?;
            self.context.notices.session_opened();
            if let Some(commands) = commands {
                return self.update(commands::available(&commands)).await;
            }
        }
        self.announce_commands().await
    }

    /// Handles everything that happens. Returns the request that closes the session, if there is
    /// one.
    async fn work(&mut self, inbox: &mut mpsc::Receiver<SessionCommand>) -> Option<RequestId> {
        loop {
            let events = self.running.as_mut().map(|running| running.events.next());
            let step = self.coming.as_mut().map(|coming| coming.step.next());
            let handled = tokio::select! {
                command = inbox.recv() => match command {
                    Some(SessionCommand::Close { request }) => return Some(request),
                    Some(command) => self.command(command).await,
                    None => return None,
                },
                Some(event) = OptionFuture::from(events) => match event {
                    Some(envelopes) => self.events(envelopes).await,
                    None => return None,
                },
                Some(stepped) = OptionFuture::from(step) => self.stepped(stepped).await,
                answer = self.questions.next() => {
                    self.answered(answer);
                    Ok(())
                }
            };
            if handled.is_err() {
                return None;
            }
        }
    }

    async fn command(&mut self, command: SessionCommand) -> Result<(), Ended> {
        match command {
            SessionCommand::Prompt { request, blocks } => {
                // As in Gemini CLI, a new prompt replaces the one before.
                self.cancel().await?;
                self.context.notices.prompt_began();
                match PromptContent::read(blocks, &self.context.request.folder) {
                    Ok(content) => self.begin(request, content).await,
                    Err(error) => self.answer::<()>(request, Err(error)).await,
                }
            }
            SessionCommand::Cancel => self.cancel().await,
            SessionCommand::CancelRequest { request } if self.works_on(&request) => {
                self.cancel().await
            }
            SessionCommand::SetMode { request, mode } => {
                let set = self.set_mode(&mode).map(|()| SetSessionModeResponse::new());
                self.answer(request, set).await
            }
            SessionCommand::SetModel { request, model } => {
                let set = self.set_model(model).map(|()| json!({}));
                self.answer(request, set).await
            }
            SessionCommand::SetOption { request, option, value } => {
                let set = self.set_option(&option, value);
                let options = || SetSessionConfigOptionResponse::new(self.options.config_options());
                let set = set.map(|()| options());
                self.answer(request, set).await
            }
            // The caller ends the session.
            SessionCommand::CancelRequest { .. } | SessionCommand::Close { .. } => Ok(()),
        }
    }

    /// Sends a prompt or command to the agent.
    async fn send(
        &mut self,
        request: RequestId,
        content: PromptContent,
        expanded: Vec<Part>,
    ) -> Result<(), Ended> {
        let Some(running) = &self.running else { return Ok(()) };
        let id = uuid::Uuid::new_v4().simple().to_string();
        let registry = running.handle.commands().get();
        let text = content.text();
        let command = content.as_text().and_then(|text| commands::called(&registry, text, &id));
        let title = Some(title(&text)).filter(|_| command.is_none() && self.needs_title);
        running.send(command.unwrap_or_else(|| {
            let parts = content.into_parts(expanded);
            let is_typed = matches!(&parts[..], [part] if part.as_text() == Some(&text));
            Op::Prompt {
                id: id.clone(),
                input: PromptInput::shown(parts, (!is_typed).then_some(text)),
            }
        }));
        self.current.insert(id, Current { request, account: Account::default() });
        if let Some(title) = title {
            self.needs_title = false;
            let info = SessionInfoUpdate::new().title(title);
            self.update(SessionUpdate::SessionInfoUpdate(info)).await?;
        }
        Ok(())
    }

    /// Handles events. Pieces of text that follow each other become one message: a model may send
    /// thousands of them in a second.
    async fn events(&mut self, mut envelopes: Vec<Arc<Envelope>>) -> Result<(), Ended> {
        let ends_in_text = |last: &Arc<Envelope>| matches!(last.event, Event::Text(_));
        while envelopes.len() < TOGETHER && envelopes.last().is_some_and(ends_in_text) {
            // The agent may have more of the text at hand.
            tokio::task::yield_now().await;
            let more =
                self.running.as_mut().and_then(|running| running.events.next().now_or_never());
            match more.flatten() {
                Some(more) => envelopes.extend(more),
                None => break,
            }
        }
        let mut text = String::new();
        for envelope in &envelopes {
            if let Event::Text(more) = &envelope.event {
                text.push_str(more);
                continue;
            }
            self.say(&mut text).await?;
            self.event(envelope).await?;
        }
        self.say(&mut text).await
    }

    async fn say(&mut self, text: &mut String) -> Result<(), Ended> {
        if text.is_empty() {
            return Ok(());
        }
        self.update(message(std::mem::take(text))).await
    }

    async fn event(&mut self, envelope: &Envelope) -> Result<(), Ended> {
        let Envelope { origin, event } = envelope;
        let id = origin.prompt.as_deref().unwrap_or_default();
        match event {
            Event::Question(question) => {
                // The answer goes to the agent.
                let asking = self.asking(Question::clone(question));
                self.questions.ask(question.id, asking);
            }
            Event::QuestionWithdrawn(question) => self.questions.withdraw(*question),
            Event::ModeChanged(mode) => self.mode_changed(*mode).await?,
            Event::ModelChanged { model, reason } if reason == "command" => {
                self.options.model.clone_from(model);
                self.announce_options().await?;
            }
            Event::CommandsChanged => self.announce_commands().await?,
            Event::Usage(report) => {
                if let Some(current) = self.current.get_mut(id) {
                    current.account.add(report);
                }
                self.announce_usage(report).await?;
            }
            Event::ContextWillOverflow { .. }
            | Event::AnswerTruncated(Some(FinishReason::MaxTokens)) => {
                if let Some(current) = self.current.get_mut(id) {
                    current.account.is_too_long = true;
                }
            }
            Event::PromptEnded(outcome) => {
                if let Some(current) = self.current.remove(id) {
                    self.prompt_ended(current, outcome).await?;
                }
                self.begin_waiting().await?;
            }
            _ => {}
        }
        for update in self.updates.of(event) {
            self.update(update).await?;
        }
        Ok(())
    }

    async fn announce_usage(&mut self, report: &UsageReport) -> Result<(), Ended> {
        if report.context == 0 {
            return Ok(());
        }
        let usage = UsageUpdate::new(report.usage.all(), report.context);
        self.update(SessionUpdate::UsageUpdate(usage.cost(self.context.costs.sum()))).await
    }

    /// Answers the request of a prompt. An end that is neither an error nor plain for the client is
    /// explained by a message.
    async fn prompt_ended(
        &mut self,
        Current { request, account }: Current,
        outcome: &PromptOutcome,
    ) -> Result<(), Ended> {
        let describe = self.context.describe_failure;
        let end = account.close(outcome, describe);
        let is_plain = end.is_err() || matches!(outcome, PromptOutcome::Cancelled);
        if let Some(text) = describe(outcome).filter(|_| !is_plain) {
            self.update(message(text)).await?;
        }
        self.answer(request, end).await
    }

    /// Returns the task that asks a question.
    fn asking(&self, question: Question) -> BoxFuture<'static, QuestionReply> {
        let has_fields = match &question.subject {
            QuestionSubject::Call(confirmation) => {
                matches!(confirmation.kind, ConfirmationKind::Questions(_))
            }
            QuestionSubject::Form(form) => !form.fields.is_empty(),
            _ => false,
        };
        if has_fields {
            let scope = ElicitationSessionScope::new(self.context.session.clone());
            let forms = self.context.forms(scope);
            return async move { forms.ask(question).await }.boxed();
        }
        let call = match &question.subject {
            QuestionSubject::Call(confirmation) => {
                Some(self.call_to_approve(&question, confirmation))
            }
            _ => None,
        };
        let operator = self.context.operator();
        async move { operator.ask_about(&question, call).await }.boxed()
    }

    fn call_to_approve(&self, question: &Question, confirmation: &Confirmation) -> ToolCallUpdate {
        let subject = QuestionSheet::subject(question, &self.context.request.folder);
        let content = content::confirmation(confirmation, &subject.join("\n"));
        self.updates.calls.to_approve(&confirmation.call_id, content)
    }

    fn answered(&mut self, answer: Option<QuestionReply>) {
        if let (Some(reply), Some(running)) = (answer, &self.running) {
            running.send(Op::Answer(reply));
        }
    }

    async fn announce_commands(&mut self) -> Result<(), Ended> {
        let Some(running) = &self.running else { return Ok(()) };
        let commands = running.handle.commands().get();
        let announced = self.announced.replace(Arc::clone(&commands));
        if announced.is_some_and(|announced| Arc::ptr_eq(&announced, &commands)) {
            return Ok(());
        }
        self.update(commands::available(&commands)).await
    }

    async fn update(&mut self, update: SessionUpdate) -> Result<(), Ended> {
        Ok(self.context.connection.update(&self.context.session, update).await?)
    }

    async fn answer<R: Serialize>(
        &mut self,
        request: RequestId,
        result: Result<R, Error>,
    ) -> Result<(), Ended> {
        Ok(self.context.connection.answer(request, result).await?)
    }

    /// Answers the requests of all prompts that have not ended.
    async fn answer_all(&mut self, result: Result<PromptResponse, Error>) -> Result<(), Ended> {
        let coming = self.coming.take().and_then(|coming| coming.prompt);
        let coming = coming.map(|(request, _)| request);
        let current = std::mem::take(&mut self.current).into_values();
        for request in coming.into_iter().chain(current.map(|current| current.request)) {
            self.answer(request, result.clone()).await?;
        }
        Ok(())
    }
}

/// Returns the title of a session that begins with this prompt: its first line, cut if it is long.
fn title(prompt: &str) -> String {
    let line = prompt.trim_start().lines().next().unwrap_or_default();
    let mut title: String = one_line(line).chars().take(LONGEST_TITLE).collect();
    if title.len() < line.trim().len() {
        title.push_str("...");
    }
    title
}
