//! Test stage: one home, a scripted model server, and a host that opens sessions.

use std::collections::{HashMap, VecDeque};
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex};

use futures::StreamExt as _;
use pollux_config::Environment;
use pollux_host::{Host, RunOptions};
use pollux_protocol::{
    AgentHandle, Event, Observer as _, Op, Operator, Part, PromptOutcome, Question,
    QuestionOutcome, RunningSession, SessionRequest, Sessions,
};
use pollux_scripted::{EventLog, ScriptedOperator};
use pollux_testkit::{CapturedRequest, Endpoint, ModelReply, ModelServer, TestHome};
use serde_json::Value;

/// Queued replies to the requests, by model.
type Replies = Arc<Mutex<HashMap<String, VecDeque<ModelReply>>>>;

/// A machine on which one host opens sessions.
pub(crate) struct Stage {
    pub(crate) home: TestHome,
    pub(crate) server: ModelServer,
    pub(crate) host: Host,
    replies: Replies,
}

impl Stage {
    pub(crate) fn new() -> Self {
        let (home, server, replies) = (TestHome::new(), ModelServer::start(), Replies::default());
        let queues = Arc::clone(&replies);
        server.answer_with(Endpoint::StreamGenerateContent, move |request| {
            let model = request.model().unwrap();
            let reply = queues.lock().unwrap().get_mut(model).and_then(VecDeque::pop_front);
            reply.unwrap_or_else(|| panic!("no reply is left for {model}"))
        });
        let variables = home.environment().into_iter().chain([server_variable(&server)]);
        let text = |value: std::ffi::OsString| value.into_string().unwrap();
        let environment =
            Environment::from_pairs(variables.map(|(name, value)| (text(name), text(value))));
        let host =
            Host { environment, options: RunOptions::default(), called_as: "test".to_owned() };
        Self { home, server, host, replies }
    }

    /// Creates a stage on which only an answer of the user trusts a folder.
    pub(crate) fn with_folder_trust() -> Self {
        let mut stage = Self::new();
        let environment = &stage.host.environment;
        stage.host.environment = environment.with("GEMINI_CLI_TRUST_WORKSPACE", "");
        stage
    }

    /// Creates a folder with these settings and this text in its context file, and returns its
    /// path.
    pub(crate) fn folder(&self, name: &str, settings: &Value, context: (&str, &str)) -> PathBuf {
        let (file, text) = context;
        let path = |file: &str| format!("{name}/{file}");
        self.home.project_file(&path(".gemini/settings.json"), settings.to_string());
        self.home.project_file(&path(file), text);
        self.home.project().join(name)
    }

    /// Queues a reply of a model after all replies that were queued before.
    pub(crate) fn reply(&self, model: &str, reply: ModelReply) {
        self.replies.lock().unwrap().entry(model.to_owned()).or_default().push_back(reply);
    }

    /// Returns the requests to one model, side calls included.
    pub(crate) fn requests(&self, model: &str) -> Vec<CapturedRequest> {
        let mut requests = self.server.requests();
        requests.retain(|request| request.model() == Some(model));
        requests
    }

    /// Opens a session through the port, for a user who makes the first choice of each question
    /// before it. Its events also go to `shared`.
    pub(crate) async fn open(&self, request: SessionRequest, shared: &Arc<EventLog>) -> Talk {
        let sessions: &dyn Sessions = &self.host;
        let yes: Arc<dyn Operator> = Arc::new(ScriptedOperator::new(|asked| asked.choose(0)));
        let request = SessionRequest { operator: request.operator.or(Some(yes)), ..request };
        Talk::new(sessions.open(request).await.unwrap(), shared)
    }
}

impl Drop for Stage {
    /// Fails the test if a reply was queued and never requested.
    fn drop(&mut self) {
        let replies = self.replies.lock().unwrap();
        let left: Vec<&String> =
            replies.iter().filter(|(_, queue)| !queue.is_empty()).map(|(model, _)| model).collect();
        assert!(std::thread::panicking() || left.is_empty(), "replies are left for {left:?}");
    }
}

fn server_variable(server: &ModelServer) -> (std::ffi::OsString, std::ffi::OsString) {
    ("GOOGLE_GEMINI_BASE_URL".into(), server.url().into())
}

/// An open session whose events are kept.
pub(crate) struct Talk {
    pub(crate) session: Box<dyn RunningSession>,
    pub(crate) handle: Arc<dyn AgentHandle>,
    pub(crate) log: Arc<EventLog>,
    reader: tokio::task::JoinHandle<()>,
}

impl Talk {
    pub(crate) fn new(session: Box<dyn RunningSession>, shared: &Arc<EventLog>) -> Self {
        let (handle, log) = (session.handle(), Arc::<EventLog>::default());
        let (mut events, logs) = (handle.events(), [Arc::clone(&log), Arc::clone(shared)]);
        let reader = tokio::spawn(async move {
            while let Some(envelope) = events.next().await {
                for log in &logs {
                    log.observe(&envelope);
                }
            }
        });
        Self { session, handle, log, reader }
    }

    pub(crate) fn id(&self) -> String {
        self.session.facts().id.clone()
    }

    pub(crate) fn send(&self, op: Op) {
        self.handle.send(op).unwrap();
    }

    pub(crate) fn prompt(&self, id: &str, text: &str) {
        let parts = vec![Part::text(text)];
        self.send(Op::Prompt { id: id.to_owned(), input: parts.into() });
    }

    /// Runs a slash command to its end.
    pub(crate) async fn command(&self, id: &str, name: &str, arguments: &str) -> PromptOutcome {
        let (id, name) = (id.to_owned(), name.to_owned());
        self.send(Op::Command { id: id.clone(), name, arguments: arguments.to_owned() });
        self.log.ended(&id).await
    }

    /// Waits for question `number`, counted from 0, of all questions that the session has asked.
    pub(crate) async fn question(&self, number: usize) -> Question {
        let mut left = number;
        let pick = |event: &Event| match event {
            Event::Question(question) if left == 0 => Some(Question::clone(question)),
            Event::Question(_) => {
                left -= 1;
                None
            }
            _ => None,
        };
        self.log.first(pick).await
    }

    pub(crate) fn answer(&self, question: &Question, outcome: QuestionOutcome) {
        self.send(Op::Answer(question.reply(outcome)));
    }

    /// Closes the session, waits for its last event, and returns all events.
    pub(crate) async fn close(self) -> Arc<EventLog> {
        drop(self.handle);
        self.session.close().await;
        self.reader.await.unwrap();
        self.log
    }
}

/// Returns true if the conversation of a request contains this text.
pub(crate) fn says(request: &CapturedRequest, text: &str) -> bool {
    Value::from(request.contents().to_vec()).to_string().contains(text)
}

/// Returns true if a request contains this text anywhere.
pub(crate) fn mentions(request: &CapturedRequest, text: &str) -> bool {
    String::from_utf8_lossy(&request.raw).contains(text)
}

/// Returns true if the file exists.
pub(crate) fn exists(folder: &Path, name: &str) -> bool {
    folder.join(name).exists()
}
