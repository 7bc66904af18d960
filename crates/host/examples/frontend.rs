//! A complete frontend in under 200 lines. CONTRIBUTING.md explains it under "Write a frontend".
//!
//!     cargo run -p pollux-host --example frontend -- FOLDER [RECORDING]

#![allow(clippy::disallowed_methods, clippy::disallowed_types, reason = "not part of the product")]

use std::collections::VecDeque;
use std::io::Write as _;
use std::sync::Arc;

use futures::StreamExt as _;
use pollux_config::Environment;
use pollux_host::{Host, ReplaySource, RunOptions};
use pollux_protocol::plain_text::for_terminal;
use pollux_protocol::{
    CommandOutcome, Envelope, Event, LiveOutput, Notices, Op, Operator, PromptInput, PromptSource,
    Question, QuestionOutcome, QuestionReply, RunningSession, SessionRequest, Sessions,
    SessionsError, Severity,
};
use tokio::sync::{Mutex, mpsc};

const AGAIN: &str = "Type the number of a choice.\n";

/// Input of the user.
pub(crate) enum Input {
    Line(String),
    Interrupt,
}

/// The user: the typed input, and the page that shows the output.
pub(crate) struct Person {
    pub(crate) inputs: Mutex<mpsc::UnboundedReceiver<Input>>,
    pub(crate) page: Box<dyn Fn(&str) + Send + Sync>,
}

impl Person {
    fn show(&self, text: &str) {
        // Text from models, files and servers may hold control characters.
        (self.page)(&for_terminal(text));
    }

    fn show_question(&self, question: &Question) {
        self.show(&format!("\n{}\n", question.subject));
        for (number, choice) in (1..).zip(&question.choices) {
            self.show(&format!("  {number}. {}\n", choice.label));
        }
    }
}

impl Notices for Person {
    fn notice(&self, _severity: Severity, text: &str) {
        self.show(&format!("{text}\n"));
    }
}

/// Questions before a session runs: whether to trust the folder, and which items may take effect.
#[async_trait::async_trait]
impl Operator for Person {
    async fn ask(&self, question: Question) -> QuestionReply {
        self.show_question(&question);
        let mut inputs = self.inputs.lock().await;
        while let Some(Input::Line(line)) = inputs.recv().await {
            match reply_to(&question, &line) {
                Some(reply) => return reply,
                None => self.show(AGAIN),
            }
        }
        question.reply(QuestionOutcome::Cancel)
    }
}

/// Returns the reply for the number of a choice; Enter takes the default.
fn reply_to(question: &Question, line: &str) -> Option<QuestionReply> {
    let number = line.trim().parse::<usize>().ok();
    let index = if line.trim().is_empty() { question.default } else { number?.checked_sub(1) };
    question.choose(index?)
}

struct Talk {
    session: Box<dyn RunningSession>,
    person: Arc<Person>,
    questions: VecDeque<Question>,
    /// Id of the running prompt or command.
    work: Option<String>,
}

impl Talk {
    fn send(&self, op: Op) {
        // If the agent has ended, the stream of events ends too.
        drop(self.session.handle().send(op));
    }

    async fn typed(&mut self, line: String) {
        if let Some(question) = self.questions.front() {
            let Some(reply) = reply_to(question, &line) else { return self.person.show(AGAIN) };
            self.questions.pop_front();
            return self.send(Op::Answer(reply));
        }
        let commands = self.session.handle().commands().get();
        let id = uuid::Uuid::new_v4().to_string();
        let op = match commands.find(&line) {
            Some((command, rest)) if self.work.is_none() || command.runs_while_working() => {
                let (name, arguments) = (command.name().to_owned(), rest.to_owned());
                Op::Command { id: id.clone(), name, arguments }
            }
            _ if self.work.is_some() => return self.send(Op::Steer(line)),
            _ => match self.session.expand(line.clone(), PromptSource::Typed).await {
                Ok(parts) => {
                    Op::Prompt { id: id.clone(), input: PromptInput::shown(parts, Some(line)) }
                }
                Err(error) => return self.person.warning(&error.to_string()),
            },
        };
        self.work.get_or_insert(id);
        self.send(op);
    }

    fn draw(&mut self, Envelope { origin, event }: &Envelope) {
        let text = match event {
            Event::CallPrepared(call) => format!("\n* {} {}\n", call.name, call.description),
            Event::CallMoved { status, .. } => format!("  ({})\n", status.as_str()),
            Event::Text(text) | Event::CallOutput { output: LiveOutput::Append(text), .. } => {
                text.clone()
            }
            Event::CallOutput { output: LiveOutput::Screen { lines, .. }, .. } => {
                lines.text() + "\n"
            }
            Event::CommandOutput(text)
            | Event::Notice { text, .. }
            | Event::CommandEnded(CommandOutcome::Failed(text)) => format!("{text}\n"),
            Event::ModeChanged(mode) => format!("Mode: {mode}\n"),
            Event::Question(question) => {
                self.questions.push_back(Question::clone(question));
                return self.person.show_question(question);
            }
            Event::QuestionWithdrawn(id) => return self.questions.retain(|asked| asked.id != *id),
            Event::PromptEnded(end) if origin.prompt.as_deref() == self.work.as_deref() => {
                self.work = None;
                format!("\n[{end:?}]\n> ")
            }
            _ => return,
        };
        self.person.show(&text);
    }
}

/// Opens a session and runs the conversation until the user leaves.
pub(crate) async fn talk(
    sessions: &dyn Sessions,
    request: SessionRequest,
    person: Arc<Person>,
) -> Result<(), SessionsError> {
    let session = sessions.open(request).await?;
    let mut events = session.handle().events();
    person.show(&format!("Session {}. /help lists the commands.\n> ", session.facts().id));
    let questions = VecDeque::new();
    let mut talk = Talk { session, person: person.clone(), questions, work: None };
    let mut inputs = person.inputs.lock().await;
    loop {
        tokio::select! {
            envelope = events.next() => match envelope {
                Some(envelope) => talk.draw(&envelope),
                None => break,
            },
            input = inputs.recv() => match input {
                Some(Input::Line(line)) => talk.typed(line).await,
                Some(Input::Interrupt) if talk.work.is_some() => talk.send(Op::Cancel),
                Some(Input::Interrupt) | None => break,
            },
        }
    }
    talk.session.close().await;
    Ok(())
}

#[tokio::main(flavor = "current_thread")]
async fn main() -> Result<(), Box<dyn std::error::Error>> {
    let mut arguments = std::env::args().skip(1);
    let folder = std::path::absolute(arguments.next().unwrap_or_default())?;
    let recording = arguments.next().map(|path| pollux_fs::read_text(path.as_ref(), 1 << 24));
    let replay = recording.transpose()?.map(|file| ReplaySource::Text(file.text));
    let (sender, inputs) = mpsc::unbounded_channel();
    let interrupts = sender.downgrade();
    tokio::spawn(async move {
        while let (Ok(()), Some(sender)) = (tokio::signal::ctrl_c().await, interrupts.upgrade()) {
            drop(sender.send(Input::Interrupt));
        }
    });
    std::thread::spawn(move || {
        let mut lines = std::io::stdin().lines().map_while(Result::ok);
        lines.all(|line| sender.send(Input::Line(line)).is_ok())
    });
    let page = |text: &str| {
        let mut page = std::io::stdout();
        drop(page.write_all(text.as_bytes()).and_then(|()| page.flush()));
    };
    let person = Arc::new(Person { inputs: Mutex::new(inputs), page: Box::new(page) });
    let host = Host {
        environment: Environment::from_process(),
        options: RunOptions { replay, ..RunOptions::default() },
        called_as: "frontend".to_owned(),
    };
    let request = SessionRequest {
        operator: Some(person.clone()),
        notices: person.clone(),
        ..SessionRequest::new(folder)
    };
    Ok(talk(&host, request, person).await?)
}
