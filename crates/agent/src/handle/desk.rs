//! Operations during running work: some are applied immediately, all others wait in order.

use std::collections::VecDeque;
use std::sync::Arc;

use futures::StreamExt;
use futures::future::BoxFuture;
use futures::stream::FuturesUnordered;
use pollux_protocol::{
    CallInput, CancellationToken, CommandReport, CommandSet, Event, Live, LiveWatch, Measurement,
    Op, PromptId, SessionEndReason, SessionView, Severity,
};
use tokio::sync::mpsc;

use crate::agent_loop::AgentLoop;
use crate::commands::CommandRun;
use crate::fallback::Fallback;
use crate::mode::SessionMode;
use crate::operator::EventOperator;
use crate::outlet::Outlet;
use crate::scheduler::CallInputs;
use crate::services::AgentServices;
use crate::steering::Steering;
use crate::toolset::Toolset;

/// Treatment of waiting operations when the running work is cancelled.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum QueuedOnCancel {
    /// The operations stay in the queue.
    Keep,
    /// The operations are removed from the queue, see [`Desk::take_stopped`].
    Stop,
}

/// Parts of the session that operations can reach while the agent is working.
struct Controls {
    outlet: Outlet,
    modes: Arc<SessionMode>,
    model: Live<String>,
    steering: Arc<Steering>,
    inputs: Arc<CallInputs>,
    replies: Arc<EventOperator>,
    fallback: Arc<Fallback>,
}

impl Controls {
    /// Applies an operation with immediate effect. Returns every other operation.
    async fn apply(&self, op: Op) -> Option<Op> {
        match op {
            Op::Steer(text) => self.steering.push(text),
            Op::Report(CommandReport::ForModel(text)) => self.steering.push_output(text),
            Op::Report(CommandReport::UserCommand(text)) => self.steering.push_command(text),
            Op::Report(CommandReport::ForUser(text)) => self.notify(text).await,
            Op::Report(CommandReport::ForClipboard(text)) => {
                self.outlet.emit(Event::ForClipboard(text)).await;
            }
            Op::Report(CommandReport::ForInput(text)) => {
                self.outlet.emit(Event::ForInput(text)).await;
            }
            Op::Report(CommandReport::SettingsChanged { changed, restart }) => {
                self.outlet.emit(Event::SettingsChanged { changed, restart }).await;
            }
            Op::Answer(reply) => self.replies.reply(reply),
            Op::Key { call_id, bytes } => self.inputs.send(&call_id, CallInput::Key(bytes)),
            Op::Resize { columns, rows } => self.inputs.resize(columns, rows),
            Op::Background(call_id) => self.inputs.send(&call_id, CallInput::Background),
            Op::SetMode(mode) => self.modes.set(mode).await,
            Op::SetModel(model) => {
                self.outlet.measure(&Measurement::ModelCommand { model: model.clone() });
                self.model.set(model.clone());
                self.fallback.forget_accepted();
                let reason = "command".to_owned();
                self.outlet.emit(Event::ModelChanged { model, reason }).await;
            }
            work => return Some(work),
        }
        None
    }

    async fn notify(&self, text: String) {
        self.outlet.emit(Event::Notice { severity: Severity::Info, text }).await;
    }
}

/// Input of the desk.
enum Incoming {
    /// Operation; `None` after the last sender is gone.
    Op(Option<Op>),
    /// End of a command that ran in parallel to the work, with an operation that may follow from
    /// it.
    CommandEnded(Option<Op>),
    /// Change of a live value.
    Changed(Event),
}

/// Receiver of operations, and the queue of waiting operations.
pub(super) struct Desk {
    controls: Controls,
    services: AgentServices,
    commands: Live<CommandSet>,
    sender: mpsc::WeakUnboundedSender<Op>,
    ops: mpsc::UnboundedReceiver<Op>,
    commands_changed: LiveWatch<CommandSet>,
    tools_changed: LiveWatch<Toolset>,
    /// Commands that run in parallel to the work.
    running: FuturesUnordered<BoxFuture<'static, Option<Op>>>,
    /// Cancels these commands.
    running_cancel: CancellationToken,
    waiting: VecDeque<Op>,
    stopped: Vec<Op>,
    is_closed: bool,
    /// True if the frontend was asked to open another session in place of this one.
    is_replaced: bool,
}

impl Desk {
    pub(super) fn new(
        agent: &AgentLoop,
        commands: Live<CommandSet>,
        replies: Arc<EventOperator>,
        (sender, ops): (mpsc::WeakUnboundedSender<Op>, mpsc::UnboundedReceiver<Op>),
    ) -> Self {
        let outlet = agent.outlet().clone();
        let controls = Controls {
            modes: Arc::clone(&agent.services().modes),
            model: agent.requested_model().clone(),
            steering: Arc::clone(agent.steering()),
            inputs: Arc::clone(&agent.services().inputs),
            replies,
            fallback: Arc::clone(&agent.services().fallback),
            outlet,
        };
        Self {
            controls,
            services: agent.services().clone(),
            commands_changed: commands.watch(),
            tools_changed: agent.toolset().watch(),
            commands,
            sender,
            ops,
            running: FuturesUnordered::new(),
            running_cancel: CancellationToken::new(),
            waiting: VecDeque::new(),
            stopped: Vec::new(),
            is_closed: false,
            is_replaced: false,
        }
    }

    /// Waits for the next operation to run; `None` if the agent must end.
    pub(super) async fn next(&mut self) -> Option<Op> {
        loop {
            if let Some(work) = self.waiting.pop_front() {
                return Some(work);
            }
            if self.is_closed {
                self.running_cancel.cancel();
                return None;
            }
            let incoming = self.incoming().await;
            if let Incoming::Op(Some(Op::Cancel)) = incoming {
                self.cancel_running();
            }
            self.take(incoming).await;
        }
    }

    /// Runs `work` and handles operations that arrive in the meantime. Closing cancels the work.
    pub(super) async fn during<T>(
        &mut self,
        cancel: &CancellationToken,
        queued: QueuedOnCancel,
        work: impl Future<Output = T>,
    ) -> T {
        // The future is large and lives long.
        let mut work = Box::pin(work);
        loop {
            let incoming = tokio::select! {
                biased;
                done = &mut work => return done,
                incoming = self.incoming() => incoming,
            };
            match &incoming {
                Incoming::Op(Some(Op::Cancel)) => {
                    cancel.cancel();
                    self.cancel_running();
                    if queued == QueuedOnCancel::Stop {
                        self.stopped.extend(self.waiting.drain(..));
                    }
                }
                Incoming::Op(None | Some(Op::Close)) => {
                    self.close();
                    cancel.cancel();
                    return work.await;
                }
                _ => {}
            }
            let taken = self.take(incoming);
            tokio::pin!(taken);
            // A slow frontend must not block the work.
            tokio::select! {
                biased;
                done = &mut work => {
                    taken.await;
                    return done;
                }
                () = &mut taken => {}
            }
        }
    }

    /// Puts the operation that follows from a command before all waiting operations, and after the
    /// operations that the command itself has sent.
    pub(super) async fn continue_with(&mut self, op: Op) {
        let waiting = std::mem::take(&mut self.waiting);
        while let Ok(sent) = self.ops.try_recv() {
            self.take(Incoming::Op(Some(sent))).await;
        }
        let sent = std::mem::replace(&mut self.waiting, waiting);
        self.waiting.extend(sent);
        self.take(Incoming::CommandEnded(Some(op))).await;
    }

    /// Returns the operations that a cancel has removed from the queue.
    pub(super) fn take_stopped(&mut self) -> Vec<Op> {
        std::mem::take(&mut self.stopped)
    }

    /// Returns the reason for the end of the session.
    pub(super) fn end_reason(&self) -> SessionEndReason {
        if self.is_replaced { SessionEndReason::Clear } else { SessionEndReason::Exit }
    }

    /// Prepares a command to run.
    pub(super) fn command(
        &self,
        id: PromptId,
        name: String,
        arguments: String,
        cancel: CancellationToken,
    ) -> CommandRun {
        let sender = self.sender.clone();
        CommandRun {
            command: self.commands.get().get(&name).cloned(),
            name,
            id,
            arguments,
            cancel,
            ops: Arc::new(move |op| {
                if let Some(sender) = sender.upgrade() {
                    drop(sender.send(op));
                }
            }),
            operator: Arc::clone(&self.services.operator),
            services: self.services.clone(),
            session: SessionView {
                session: Arc::clone(&self.controls.outlet.origin().session),
                mode: self.controls.modes.get(),
                model: String::clone(&self.controls.model.get()),
                commands: self.commands.clone(),
            },
            outlet: self.controls.outlet.clone(),
        }
    }

    async fn incoming(&mut self) -> Incoming {
        tokio::select! {
            biased;
            op = self.ops.recv(), if !self.is_closed => Incoming::Op(op),
            Some(next) = self.running.next() => Incoming::CommandEnded(next),
            _ = self.commands_changed.changed() => Incoming::Changed(Event::CommandsChanged),
            _ = self.tools_changed.changed() => Incoming::Changed(Event::ToolsChanged),
        }
    }

    /// Applies operations with immediate effect, and queues all others.
    async fn take(&mut self, incoming: Incoming) {
        match incoming {
            Incoming::Op(None | Some(Op::Close)) | Incoming::CommandEnded(Some(Op::Close)) => {
                self.close();
            }
            Incoming::Op(Some(Op::Cancel)) | Incoming::CommandEnded(None) => {}
            Incoming::Op(Some(Op::Switch(_))) => self.is_replaced = true,
            Incoming::Op(Some(Op::Command { id, name, arguments })) if self.is_beside(&name) => {
                let cancel = self.running_cancel.clone();
                let run = self.command(id, name, arguments, cancel);
                self.running.push(Box::pin(run.run()));
            }
            Incoming::Op(Some(op)) => {
                let work = self.controls.apply(op).await;
                self.waiting.extend(work);
            }
            // The operation continues the command's work, so it comes before everything that waits.
            Incoming::CommandEnded(Some(op)) => {
                if let Some(work) = self.controls.apply(op).await {
                    self.waiting.push_front(work);
                }
            }
            Incoming::Changed(event) => self.controls.outlet.emit(event).await,
        }
    }

    /// True for a command that runs in parallel to the work.
    fn is_beside(&self, name: &str) -> bool {
        self.commands.get().get(name).is_some_and(|command| command.runs_while_working())
    }

    fn cancel_running(&mut self) {
        std::mem::take(&mut self.running_cancel).cancel();
    }

    fn close(&mut self) {
        self.is_closed = true;
        self.waiting.clear();
    }
}
