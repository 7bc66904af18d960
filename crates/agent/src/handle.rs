//! The agent at work: takes wishes, runs prompts, can be stopped at any moment.

use std::collections::{HashMap, VecDeque};
use std::sync::{Arc, Mutex};
use std::time::Instant;

use async_trait::async_trait;
use futures::StreamExt;
use futures::stream::BoxStream;
use pollux_protocol::{
    AgentGone, AgentHandle, Answer, CallId, CallInput, CancellationToken, CommandEffect,
    Confirmation, ConsentItem, Event, Op, Operator, Outcome, Part, PromptId, PromptOutcome,
    Severity,
};
use tokio::sync::{mpsc, oneshot};

use crate::commands::Commands;
use crate::emitter::Emitter;
use crate::session::Session;

/// The frontend's end: wishes down, events up.
pub struct Handle {
    ops: mpsc::UnboundedSender<Op>,
    events: Mutex<Option<mpsc::Receiver<Arc<Event>>>>,
}

impl AgentHandle for Handle {
    fn send(&self, op: Op) -> Result<(), AgentGone> {
        self.ops.send(op).map_err(|_| AgentGone)
    }

    fn events(&self) -> BoxStream<'static, Arc<Event>> {
        let receiver = self.events.lock().ok().and_then(|mut events| events.take());
        futures::stream::unfold(receiver, |receiver| async move {
            let mut receiver = receiver?;
            receiver.recv().await.map(|event| (event, Some(receiver)))
        })
        // A frontend may look once more after the end.
        .fuse()
        .boxed()
    }
}

/// Starts the session on the current runtime. `events` is the far end of the session's emitter. The
/// agent ends, and with it the stream of events, after [`Op::Close`] or when the handle is dropped.
pub fn spawn(
    session: Session,
    commands: Commands,
    events: mpsc::Receiver<Arc<Event>>,
) -> (Handle, tokio::task::JoinHandle<()>) {
    let (ops, wishes) = mpsc::unbounded_channel();
    let asker = Arc::new(EventOperator::new(session.emitter().clone()));
    let worker =
        Worker { session, commands, wishes, asker, waiting: VecDeque::new(), closed: false };
    let task = tokio::spawn(worker.run());
    (Handle { ops, events: Mutex::new(Some(events)) }, task)
}

struct Worker {
    session: Session,
    commands: Commands,
    wishes: mpsc::UnboundedReceiver<Op>,
    asker: Arc<EventOperator>,
    /// Wishes that came during a prompt and can only be met after it.
    waiting: VecDeque<Op>,
    closed: bool,
}

impl Worker {
    async fn run(mut self) {
        let started = Instant::now();
        while let Some(op) = self.next().await {
            self.serve(op).await;
        }
        self.session.finish(started).await;
    }

    async fn next(&mut self) -> Option<Op> {
        if let Some(op) = self.waiting.pop_front() {
            return Some(op);
        }
        if self.closed {
            return None;
        }
        self.wishes.recv().await
    }

    async fn serve(&mut self, op: Op) {
        match op {
            Op::Prompt { id, parts, display } => self.prompt(id, parts, display).await,
            Op::Command { id, name, arguments } => self.command(id, &name, &arguments).await,
            Op::SetMode(mode) => self.session.set_mode(mode).await,
            Op::SetModel(model) => {
                let text = format!("The next prompt goes to the model {model}.");
                self.session.set_model(model);
                self.tell(Severity::Info, text).await;
            }
            Op::Steer(text) => self.session.steering.push(text),
            Op::Close => {
                self.closed = true;
                self.waiting.clear();
            }
            // Nothing runs that these could reach.
            Op::Cancel | Op::Answer(_) | Op::Key { .. } | Op::Resize { .. } | Op::Background(_) => {
            }
        }
    }

    async fn prompt(&mut self, id: PromptId, parts: Vec<Part>, display: Option<String>) {
        let cancel = CancellationToken::new();
        let steering = Arc::clone(&self.session.steering);
        let inputs = Arc::clone(&self.session.inputs);
        let asker = Arc::clone(&self.asker);
        let work = self.session.prompt(&id, parts, display, asker.as_ref(), &cancel);
        tokio::pin!(work);
        loop {
            let op = tokio::select! {
                biased;
                _ = &mut work => return,
                op = self.wishes.recv() => op,
            };
            match op {
                None | Some(Op::Close) => {
                    self.closed = true;
                    cancel.cancel();
                    work.await;
                    return;
                }
                Some(Op::Cancel) => cancel.cancel(),
                Some(Op::Steer(text)) => steering.push(text),
                Some(Op::Answer(answer)) => asker.answer(answer),
                Some(Op::Key { call_id, bytes }) => inputs.send(&call_id, CallInput::Key(bytes)),
                Some(Op::Resize { columns, rows }) => {
                    inputs.broadcast(&CallInput::Resize { columns, rows });
                }
                Some(Op::Background(call_id)) => inputs.send(&call_id, CallInput::Background),
                Some(later) => self.waiting.push_back(later),
            }
        }
    }

    async fn command(&mut self, id: PromptId, name: &str, arguments: &str) {
        let effect = match self.commands.get(name) {
            Some(command) => command.run(arguments).await.map_err(|error| error.to_string()),
            None => Err(format!("Unknown command: /{name}. Type /help for a list.")),
        };
        match effect {
            Ok(CommandEffect::Submit(parts)) => return self.prompt(id, parts, None).await,
            Ok(CommandEffect::Message(text)) => self.tell(Severity::Info, text).await,
            Ok(CommandEffect::Ops(ops)) => self.waiting.extend(ops),
            Ok(CommandEffect::Quit) => self.closed = true,
            Ok(CommandEffect::Done) => {}
            Err(message) => self.tell(Severity::Error, message).await,
        }
        let ended = Event::PromptEnded { prompt_id: id, outcome: PromptOutcome::Done };
        self.session.emitter().emit(ended).await;
    }

    async fn tell(&self, severity: Severity, text: String) {
        self.session.emitter().emit(Event::Notice { severity, text }).await;
    }
}

/// Asks through the stream of events and waits for [`Op::Answer`].
struct EventOperator {
    emitter: Emitter,
    open: Mutex<HashMap<CallId, oneshot::Sender<Answer>>>,
}

impl EventOperator {
    fn new(emitter: Emitter) -> Self {
        Self { emitter, open: Mutex::default() }
    }

    /// Hands an answer to its question; an answer to nothing is dropped.
    fn answer(&self, answer: Answer) {
        let asked = self.open.lock().ok().and_then(|mut open| open.remove(&answer.call_id));
        if let Some(asked) = asked {
            drop(asked.send(answer));
        }
    }
}

#[async_trait]
impl Operator for EventOperator {
    async fn confirm(&self, confirmation: Confirmation) -> Answer {
        let call_id = confirmation.call_id.clone();
        let (sender, receiver) = oneshot::channel();
        if let Ok(mut open) = self.open.lock() {
            open.insert(call_id.clone(), sender);
        }
        self.emitter.emit(Event::Question(confirmation)).await;
        // No answer will come any more: that is a no.
        receiver.await.unwrap_or(Answer { call_id, outcome: Outcome::Cancel, modification: None })
    }

    async fn choose(&self, _question: &str, _options: &[String]) -> Option<usize> {
        None
    }

    async fn ask(&self, _question: &str) -> Option<String> {
        None
    }

    async fn consent(&self, items: &[ConsentItem]) -> Vec<bool> {
        vec![false; items.len()]
    }
}
