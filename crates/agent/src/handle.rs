//! The running agent: accepts operations, runs prompts, and can be stopped at any time.

mod desk;

use std::sync::{Arc, Mutex};

use futures::StreamExt;
use futures::stream::BoxStream;
use pollux_protocol::{
    AgentGone, AgentHandle, CancellationToken, CommandSet, Envelope, Event, Live, Op, PromptOutcome,
};
use tokio::sync::mpsc;

use crate::agent_loop::AgentLoop;
use crate::operator::EventOperator;
use desk::{Desk, QueuedOnCancel};

/// Frontend's handle to the agent: sends operations and receives events.
pub struct Handle {
    ops: mpsc::UnboundedSender<Op>,
    events: Mutex<Option<mpsc::Receiver<Arc<Envelope>>>>,
    /// Cancelled when the agent has ended.
    ended: CancellationToken,
    commands: Live<CommandSet>,
}

/// Sender of operations that does not keep the agent alive.
#[derive(Clone)]
pub struct WeakHandle(mpsc::WeakUnboundedSender<Op>);

impl WeakHandle {
    /// Waits until the agent has ended.
    pub async fn gone(&self) {
        if let Some(ops) = self.0.upgrade() {
            ops.closed().await;
        }
    }

    /// Sends an operation. It is dropped if the agent has ended.
    pub fn send(&self, op: Op) {
        if let Some(ops) = self.0.upgrade() {
            drop(ops.send(op));
        }
    }
}

impl Handle {
    /// Returns a sender for components other than the frontend.
    pub fn downgrade(&self) -> WeakHandle {
        WeakHandle(self.ops.downgrade())
    }
}

impl AgentHandle for Handle {
    fn send(&self, op: Op) -> Result<(), AgentGone> {
        self.ops.send(op).map_err(|_| AgentGone)
    }

    fn events(&self) -> BoxStream<'static, Arc<Envelope>> {
        let receiver = self.events.lock().ok().and_then(|mut events| events.take());
        let ended = self.ended.clone();
        futures::stream::unfold((receiver, ended), |(receiver, ended)| async move {
            let mut receiver = receiver?;
            let received = ended.run_until_cancelled(receiver.recv()).await;
            let event = if let Some(event) = received {
                event
            } else {
                // Parts of the session that live on, such as servers, have senders, too.
                receiver.close();
                receiver.recv().await
            };
            event.map(|event| (event, (Some(receiver), ended)))
        })
        // A frontend may poll again after the end.
        .fuse()
        .boxed()
    }

    fn commands(&self) -> Live<CommandSet> {
        self.commands.clone()
    }
}

/// Starts the session on the current runtime. `replies` receives the replies of the user, and
/// `events` is the receiver of the session's outlet. The agent and the stream of events end after
/// [`Op::Close`] or when the handle is dropped.
pub fn spawn(
    agent: AgentLoop,
    commands: Live<CommandSet>,
    replies: Arc<EventOperator>,
    events: mpsc::Receiver<Arc<Envelope>>,
) -> (Handle, tokio::task::JoinHandle<()>) {
    let (ops, received) = mpsc::unbounded_channel();
    let desk = Desk::new(&agent, commands.clone(), replies, (ops.downgrade(), received));
    let ended = CancellationToken::new();
    let at_end = ended.clone().drop_guard();
    let task = tokio::spawn(async move {
        let _at_end = at_end;
        Worker { agent, desk }.run().await;
    });
    (Handle { ops, events: Mutex::new(Some(events)), ended, commands }, task)
}

/// Task of one session.
struct Worker {
    agent: AgentLoop,
    desk: Desk,
}

impl Worker {
    async fn run(mut self) {
        self.begin().await;
        while let Some(op) = self.desk.next().await {
            Box::pin(self.serve(op)).await;
        }
        self.finish().await;
    }

    /// Starts the session. Operations wait, but a cancel takes effect immediately: it also ends the
    /// waiting prompts.
    async fn begin(&mut self) {
        let cancel = CancellationToken::new();
        let begun = self.agent.session_start(&cancel);
        self.desk.during(&cancel, QueuedOnCancel::Stop, begun).await;
        for op in self.desk.take_stopped() {
            if let Some(id) = op.id() {
                let ended = Event::PromptEnded(PromptOutcome::Cancelled);
                self.agent.outlet().for_prompt(id).emit(ended).await;
            }
        }
    }

    /// Ends the session: runs the `SessionEnd` hooks, and measures the time in the last mode.
    async fn finish(&mut self) {
        self.agent.session_end(self.desk.end_reason()).await;
        let modes = &self.agent.services().modes;
        modes.measure_end_of(modes.get());
    }

    /// Runs one operation. Operations with immediate effect were already applied by the desk.
    async fn serve(&mut self, op: Op) {
        let cancel = CancellationToken::new();
        let (agent, desk) = (&mut self.agent, &mut self.desk);
        let keep = QueuedOnCancel::Keep;
        match op {
            Op::Prompt { id, input } => {
                let work = agent.prompt(&id, input, &cancel);
                desk.during(&cancel, keep, work).await;
            }
            Op::Command { id, name, arguments } => {
                let run = desk.command(id, name, arguments, cancel.clone());
                if let Some(next) = desk.during(&cancel, keep, run.run()).await {
                    desk.continue_with(next).await;
                }
            }
            Op::Compress { id } => {
                desk.during(&cancel, keep, agent.compress_now(&id, &cancel)).await;
            }
            Op::Uncompress { id } => desk.during(&cancel, keep, agent.uncompress_now(&id)).await,
            Op::Clear { id } => desk.during(&cancel, keep, agent.clear_now(&id)).await,
            Op::Rewind { id, to } => desk.during(&cancel, keep, agent.rewind_now(&id, &to)).await,
            Op::Close
            | Op::Cancel
            | Op::Steer(_)
            | Op::Report(_)
            | Op::Answer(_)
            | Op::Key { .. }
            | Op::Resize { .. }
            | Op::Background(_)
            | Op::SetMode(_)
            | Op::SetModel(_)
            | Op::Switch(_) => {}
        }
    }
}
