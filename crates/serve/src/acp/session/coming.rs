//! A prompt on its way to the agent: the decision about the folder, the start of the session, and
//! the linked files.

use std::future;
use std::path::PathBuf;
use std::sync::Arc;

use agent_client_protocol_schema::v1::{
    RequestId, SessionUpdate, ToolCall, ToolCallLocation, ToolCallStatus, ToolCallUpdate,
    ToolCallUpdateFields, ToolKind,
};
use futures::FutureExt;
use futures::future::BoxFuture;
use pollux_protocol::plain_text::one_line;
use pollux_protocol::{Op, Part, PreparedSession, RunningSession, SessionsError, Severity};

use super::{Ended, Running, Session};
use crate::acp::errors;
use crate::acp::opening::{SessionContext, Trusted};
use crate::acp::outcome::cancelled;
use crate::acp::prompt::PromptContent;

/// Prompt on its way to the agent.
pub(super) struct Coming {
    /// `None` if the prompt was cancelled, and its step must come to an end.
    pub(super) prompt: Option<(RequestId, PromptContent)>,
    pub(super) step: Step,
}

/// Step of a prompt on its way to the agent.
pub(super) enum Step {
    /// The prompt before was cancelled and has not ended. The agent would not cancel a prompt that
    /// waits in its own queue.
    Waiting,
    /// The user decides whether to trust the folder of a session that is running.
    Asking(BoxFuture<'static, Result<Trusted, SessionsError>>),
    /// The user decides about the folder of a session that is not running.
    Preparing(BoxFuture<'static, Result<Box<dyn PreparedSession>, SessionsError>>),
    /// The session starts. This cannot be undone.
    Starting(BoxFuture<'static, Result<Box<dyn RunningSession>, SessionsError>>),
    /// The user decides about links outside of the workspace.
    Allowing(BoxFuture<'static, Vec<(PathBuf, bool)>>),
    /// The linked files are being read.
    Reading(BoxFuture<'static, Result<Vec<Part>, SessionsError>>),
}

/// Result of a step.
pub(super) enum Stepped {
    Asked(Result<Trusted, SessionsError>),
    Prepared(Result<Box<dyn PreparedSession>, SessionsError>),
    Started(Result<Box<dyn RunningSession>, SessionsError>),
    Decided(Vec<(PathBuf, bool)>),
    Read(Result<Vec<Part>, SessionsError>),
}

impl Step {
    pub(super) async fn next(&mut self) -> Stepped {
        match self {
            Self::Waiting => future::pending().await,
            Self::Asking(asking) => Stepped::Asked(asking.await),
            Self::Preparing(preparing) => Stepped::Prepared(preparing.await),
            Self::Starting(starting) => Stepped::Started(starting.await),
            Self::Allowing(allowing) => Stepped::Decided(allowing.await),
            Self::Reading(reading) => Stepped::Read(reading.await),
        }
    }
}

impl Session {
    /// Stops the present prompt, wherever it is.
    pub(super) async fn cancel(&mut self) -> Result<(), Ended> {
        if let Some(running) = self.running.as_ref().filter(|_| !self.current.is_empty()) {
            running.send(Op::Cancel);
        }
        let is_reading = matches!(self.coming, Some(Coming { step: Step::Reading(_), .. }));
        let prompt = self.coming.as_mut().and_then(|coming| coming.prompt.take());
        if !matches!(self.coming, Some(Coming { step: Step::Starting(_), .. })) {
            self.coming = None;
        }
        let Some((request, content)) = prompt else { return Ok(()) };
        if is_reading && !content.links().is_empty() {
            self.reading_ended(&request, false).await?;
        }
        self.answer(request, Ok(cancelled())).await
    }

    /// Returns true for the request of a prompt that has not ended.
    pub(super) fn works_on(&self, request: &RequestId) -> bool {
        let coming = self.coming.as_ref().and_then(|coming| coming.prompt.as_ref());
        coming.is_some_and(|(known, _)| known == request)
            || self.current.values().any(|current| current.request == *request)
    }

    /// Begins the prompt that has waited, once the one before has ended.
    pub(super) async fn begin_waiting(&mut self) -> Result<(), Ended> {
        let waits = matches!(self.coming, Some(Coming { step: Step::Waiting, .. }));
        match self.coming.take_if(|_| waits && self.current.is_empty()) {
            Some(Coming { prompt: Some((request, content)), .. }) => {
                self.begin(request, content).await
            }
            _ => Ok(()),
        }
    }

    /// Begins a prompt: first the user decides about the folder, if that is still to be decided.
    pub(super) async fn begin(
        &mut self,
        request: RequestId,
        content: PromptContent,
    ) -> Result<(), Ended> {
        if let Some(coming) = &mut self.coming {
            // The session is starting already.
            coming.prompt = Some((request, content));
            return Ok(());
        }
        let step = match &self.running {
            _ if !self.current.is_empty() => Step::Waiting,
            None => Step::Preparing(Box::pin(Arc::clone(&self.context).prepare_with_question())),
            Some(_) if self.asks_for_trust => {
                Step::Asking(Box::pin(Arc::clone(&self.context).ask_for_trust()))
            }
            Some(running) => match content.references() {
                Some(references) => {
                    if let Some(allowing) = self.context.ask_about_links(running, &content) {
                        let step = Step::Allowing(allowing);
                        self.coming = Some(Coming { prompt: Some((request, content)), step });
                        return Ok(());
                    }
                    let reading = running.session.expand_links(references, content.allowed());
                    let call = reading_call(&request, content.links());
                    self.update(SessionUpdate::ToolCall(call)).await?;
                    Step::Reading(reading)
                }
                None => return self.send(request, content, Vec::new()).await,
            },
        };
        self.coming = Some(Coming { prompt: Some((request, content)), step });
        Ok(())
    }

    /// Takes the result of a step.
    pub(super) async fn stepped(&mut self, stepped: Stepped) -> Result<(), Ended> {
        let Some(Coming { mut prompt, .. }) = self.coming.take() else { return Ok(()) };
        let (next, failed) = match stepped {
            Stepped::Asked(Ok(Trusted::No)) => {
                self.asks_for_trust = false;
                (None, None)
            }
            Stepped::Asked(Ok(Trusted::Yes)) => {
                let (before, context) = (self.running.take(), Arc::clone(&self.context));
                let preparing = async move {
                    if let Some(before) = before {
                        before.close().await;
                    }
                    context.prepare_with_question().await
                };
                (Some(Step::Preparing(Box::pin(preparing))), None)
            }
            Stepped::Prepared(Ok(prepared)) => {
                (Some(Step::Starting(prepared.start().boxed())), None)
            }
            Stepped::Started(Ok(session)) => {
                self.asks_for_trust = false;
                self.running = Some(Running::new(session));
                self.follow_choices();
                self.announce_commands().await?;
                (None, None)
            }
            Stepped::Decided(decided) => {
                if let Some((_, content)) = &mut prompt {
                    content.decided.extend(decided);
                }
                (None, None)
            }
            Stepped::Read(read) => return self.send_with(prompt, read).await,
            Stepped::Asked(Err(error))
            | Stepped::Prepared(Err(error))
            | Stepped::Started(Err(error)) => (None, Some(errors::opening(&error))),
        };
        match (next, failed, prompt) {
            (Some(step), _, prompt) => self.coming = Some(Coming { prompt, step }),
            (None, Some(error), Some((request, _))) => {
                return self.answer::<()>(request, Err(error)).await;
            }
            (None, None, Some((request, content))) => return self.begin(request, content).await,
            (None, _, None) => {}
        }
        Ok(())
    }

    /// Sends a prompt with its linked files, as far as they could be read.
    async fn send_with(
        &mut self,
        prompt: Option<(RequestId, PromptContent)>,
        read: Result<Vec<Part>, SessionsError>,
    ) -> Result<(), Ended> {
        let Some((request, content)) = prompt else { return Ok(()) };
        self.reading_ended(&request, read.is_ok()).await?;
        let expanded = match read {
            Ok(expanded) => expanded,
            Err(error) => {
                let warning = self.context.notices.update(Severity::Warning, &error.to_string());
                self.update(warning).await?;
                Vec::new()
            }
        };
        self.send(request, content, expanded).await
    }

    /// Reports the end of the call that shows how linked files are read.
    async fn reading_ended(&mut self, request: &RequestId, is_done: bool) -> Result<(), Ended> {
        let status = if is_done { ToolCallStatus::Completed } else { ToolCallStatus::Failed };
        let fields = ToolCallUpdateFields::new().status(status);
        let update = ToolCallUpdate::new(reading_id(request), fields);
        self.update(SessionUpdate::ToolCallUpdate(update)).await
    }
}

impl SessionContext {
    /// Asks about the links of a prompt that exist outside of the workspace and are not decided.
    fn ask_about_links(
        self: &Arc<Self>,
        running: &Running,
        content: &PromptContent,
    ) -> Option<BoxFuture<'static, Vec<(PathBuf, bool)>>> {
        let is_open = |path: &&PathBuf| {
            content.decided.iter().all(|(decided, _)| decided != *path)
                && pollux_fs::info(path).is_ok()
                && !running.session.is_readable(path)
        };
        let open: Vec<PathBuf> = content.links().iter().filter(is_open).cloned().collect();
        if open.is_empty() {
            return None;
        }
        let operator = self.operator();
        let ask = async move {
            let mut decided = Vec::with_capacity(open.len());
            for path in open {
                let is_allowed = operator.ask_about_path(&path).await;
                decided.push((path, is_allowed));
            }
            decided
        };
        Some(ask.boxed())
    }
}

/// Returns the call that shows how the linked files of a prompt are read.
fn reading_call(request: &RequestId, links: &[PathBuf]) -> ToolCall {
    let names = links.iter().filter_map(|path| path.file_name());
    let names: Vec<String> = names.map(|name| one_line(&name.to_string_lossy())).collect();
    ToolCall::new(reading_id(request), format!("Read {}", names.join(", ")))
        .kind(ToolKind::Read)
        .status(ToolCallStatus::InProgress)
        .locations(links.iter().map(ToolCallLocation::new).collect())
}

fn reading_id(request: &RequestId) -> String {
    format!("read_many_files__{request}")
}
