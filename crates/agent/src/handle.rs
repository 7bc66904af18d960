//! The agent at work: takes wishes, runs prompts, can be stopped at any moment.

use std::collections::{HashMap, VecDeque};
use std::sync::{Arc, Mutex};

use async_trait::async_trait;
use futures::StreamExt;
use futures::stream::BoxStream;
use pollux_protocol::{
    AgentGone, AgentHandle, Answer, CallId, CallInput, CancellationToken, CommandEffect,
    Confirmation, ConsentItem, Event, Measurement, Op, Operator, Outcome, Part, PromptId,
    PromptOutcome, Report, Severity,
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

/// A way to send wishes that does not keep the agent alive.
#[derive(Clone)]
pub struct Wishes(mpsc::WeakUnboundedSender<Op>);

impl Wishes {
    /// Waits until the agent has ended.
    pub async fn gone(&self) {
        if let Some(ops) = self.0.upgrade() {
            ops.closed().await;
        }
    }

    /// Sends a wish; an agent that has ended does not hear it.
    pub fn send(&self, op: Op) {
        if let Some(ops) = self.0.upgrade() {
            drop(ops.send(op));
        }
    }
}

impl Handle {
    /// For those beside the frontend who have something to say.
    pub fn wishes(&self) -> Wishes {
        Wishes(self.ops.downgrade())
    }
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

/// What the session is to do.
enum Task {
    Prompt { parts: Vec<Part>, display: Option<String> },
    Compress,
    Uncompress,
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
        self.begin().await;
        while let Some(op) = self.next().await {
            self.serve(op).await;
        }
        self.session.finish().await;
    }

    /// The session begins. Wishes wait, but a stop is heard: it ends the prompts that wait as well.
    async fn begin(&mut self) {
        let cancel = CancellationToken::new();
        let mut stopped = Vec::new();
        {
            let work = self.session.begin(&cancel);
            tokio::pin!(work);
            loop {
                let op = tokio::select! {
                    biased;
                    () = &mut work => break,
                    op = self.wishes.recv() => op,
                };
                match op {
                    None | Some(Op::Close) => {
                        self.closed = true;
                        self.waiting.clear();
                        cancel.cancel();
                        work.await;
                        break;
                    }
                    Some(Op::Cancel) => {
                        cancel.cancel();
                        stopped.extend(self.waiting.drain(..));
                    }
                    Some(later) => self.waiting.push_back(later),
                }
            }
        }
        for op in stopped {
            if let Op::Prompt { id, .. } | Op::Command { id, .. } = op {
                let ended = Event::PromptEnded { prompt_id: id, outcome: PromptOutcome::Cancelled };
                self.session.emitter().emit(ended).await;
            }
        }
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
            Op::Prompt { id, parts, display } => {
                self.work(id, Task::Prompt { parts, display }).await;
            }
            Op::Command { id, name, arguments } => self.command(id, &name, &arguments).await,
            Op::SetMode(mode) => self.session.set_mode(mode).await,
            Op::SetModel(model) => {
                let text = format!("The next prompt goes to the model {model}.");
                self.session.set_model(model);
                self.tell(Severity::Info, text).await;
            }
            Op::Steer(text) => self.session.steering.push(text),
            Op::Report(report) => self.report(report).await,
            Op::Resize { columns, rows } => self.session.inputs.resize(columns, rows),
            Op::Close => {
                self.closed = true;
                self.waiting.clear();
            }
            // Nothing runs that these could reach.
            Op::Cancel | Op::Answer(_) | Op::Key { .. } | Op::Background(_) => {}
        }
    }

    /// Does something that takes a while; wishes are heard meanwhile.
    async fn work(&mut self, id: PromptId, task: Task) {
        let cancel = CancellationToken::new();
        let steering = Arc::clone(&self.session.steering);
        let inputs = Arc::clone(&self.session.inputs);
        let asker = Arc::clone(&self.asker);
        let emitter = self.session.emitter().clone();
        let session = &mut self.session;
        let work = async {
            match task {
                Task::Prompt { parts, display } => {
                    session.prompt(&id, parts, display, asker.as_ref(), &cancel).await;
                }
                Task::Compress => session.compress_now(&id, &cancel).await,
                Task::Uncompress => session.uncompress(&id).await,
            }
        };
        tokio::pin!(work);
        loop {
            let op = tokio::select! {
                biased;
                () = &mut work => return,
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
                    inputs.resize(columns, rows);
                }
                Some(Op::Report(Report::ForModel(text))) => steering.push_output(text),
                Some(Op::Report(Report::ForPerson(text))) => {
                    // The work goes on meanwhile: a frontend that is slow must not hold it up.
                    let told = emitter.emit(Event::Notice { severity: Severity::Info, text });
                    tokio::select! {
                        biased;
                        () = &mut work => return,
                        () = told => {}
                    }
                }
                Some(Op::Background(call_id)) => inputs.send(&call_id, CallInput::Background),
                Some(later) => self.waiting.push_back(later),
            }
        }
    }

    async fn report(&self, report: Report) {
        match report {
            Report::ForModel(text) => self.session.steering.push_output(text),
            Report::ForPerson(text) => self.tell(Severity::Info, text).await,
        }
    }

    async fn command(&mut self, id: PromptId, name: &str, arguments: &str) {
        let effect = match self.commands.get(name) {
            Some(command) => {
                let effect = command.run(arguments).await;
                self.measure_command(command.name(), effect.is_ok()).await;
                effect.map_err(|error| error.to_string())
            }
            None => Err(format!("Unknown command: /{name}. Type /help for a list.")),
        };
        match effect {
            Ok(CommandEffect::Submit(parts)) => {
                return self.work(id, Task::Prompt { parts, display: None }).await;
            }
            Ok(CommandEffect::SubmitIn { mode, parts }) => {
                self.session.set_mode(mode).await;
                return self.work(id, Task::Prompt { parts, display: None }).await;
            }
            Ok(CommandEffect::Compress) => return self.work(id, Task::Compress).await,
            Ok(CommandEffect::Uncompress) => return self.work(id, Task::Uncompress).await,
            Ok(CommandEffect::Message(text)) => self.tell(Severity::Info, text).await,
            Ok(CommandEffect::Ops(ops)) => self.waiting.extend(ops),
            Ok(CommandEffect::Quit) => self.closed = true,
            Ok(CommandEffect::Done) => {}
            Err(message) => self.tell(Severity::Error, message).await,
        }
        let ended = Event::PromptEnded { prompt_id: id, outcome: PromptOutcome::Done };
        self.session.emitter().emit(ended).await;
    }

    /// Tells the figure of a command by its own name, whatever alias it was called by. What is no command tells
    /// none: it may be words of a prompt.
    async fn measure_command(&self, name: &str, success: bool) {
        let (command, subcommand) = match name.split_once(' ') {
            Some((command, rest)) => (command, Some(rest.to_owned())),
            None => (name, None),
        };
        let command = command.to_owned();
        let measure = Measurement::SlashCommand { command, subcommand, success };
        self.session.emitter().measure(measure).await;
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
