//! A client of the Agent Client Protocol, written by hand: every line of standard output must be a
//! message.

#![expect(clippy::needless_pass_by_value, reason = "messages are written in place")]

use std::time::{Duration, Instant};

use pollux_testkit::{Finished, Pollux, RunningProgram};
use serde_json::{Value, json};

use super::stage::{MODEL, SOON, Stage};

/// Client of a running agent.
pub(crate) struct Client {
    pub(crate) program: RunningProgram,
    /// Number of bytes of standard output that were read.
    read: usize,
    last_id: i64,
}

impl Client {
    /// Starts the agent of a stage, in a trusted folder and with the usual model.
    pub(crate) fn start(stage: &Stage) -> Self {
        Self::of(stage.program().args(["-m", MODEL]))
    }

    /// Starts a program as the agent.
    pub(crate) fn of(program: Pollux) -> Self {
        Self::speaking_to(program.args(["--acp"]))
    }

    /// Starts a program that exchanges messages.
    pub(crate) fn speaking_to(program: Pollux) -> Self {
        let program = program.stdin_held_open().spawn();
        Self { program, read: 0, last_id: 0 }
    }

    /// Starts the agent of a stage, and opens a session in its project.
    pub(crate) fn with_session(stage: &Stage) -> (Self, String) {
        let mut client = Self::start(stage);
        client.initialize(json!({}));
        let session = client.new_session(stage);
        (client, session)
    }

    /// Introduces a client that has these capabilities.
    pub(crate) fn initialize(&mut self, capabilities: Value) -> Value {
        let params = json!({"protocolVersion": 1, "clientCapabilities": capabilities});
        self.call("initialize", params).expect("initialize")
    }

    /// Opens a session in the stage's project, and returns its id.
    pub(crate) fn new_session(&mut self, stage: &Stage) -> String {
        let opened = self.call("session/new", folder(stage)).expect("session/new");
        opened["sessionId"].as_str().expect("an id").to_owned()
    }

    /// Sends a message without its version.
    pub(crate) fn send(&mut self, mut message: Value) {
        message["jsonrpc"] = "2.0".into();
        self.program.write_stdin(format!("{message}\n").as_bytes());
    }

    /// Sends a request and returns its id.
    pub(crate) fn request(&mut self, method: &str, params: Value) -> i64 {
        self.last_id += 1;
        self.send(json!({"id": self.last_id, "method": method, "params": params}));
        self.last_id
    }

    pub(crate) fn notify(&mut self, method: &str, params: Value) {
        self.send(json!({"method": method, "params": params}));
    }

    /// Answers a request of the agent.
    pub(crate) fn respond(&mut self, request: &Value, result: Value) {
        self.send(json!({"id": request["id"], "result": result}));
    }

    /// Sends a prompt that is one text, and returns the id of the request.
    pub(crate) fn prompt(&mut self, session: &str, text: &str) -> i64 {
        let prompt = json!([{"type": "text", "text": text}]);
        self.request("session/prompt", json!({"sessionId": session, "prompt": prompt}))
    }

    /// Chooses an option of a permission request.
    pub(crate) fn choose(&mut self, request: &Value, option: &str) {
        let outcome = json!({"outcome": "selected", "optionId": option});
        self.respond(request, json!({"outcome": outcome}));
    }

    /// Sends a request and returns its result, or its error. Other messages are dropped.
    pub(crate) fn call(&mut self, method: &str, params: Value) -> Result<Value, Value> {
        let id = self.request(method, params);
        self.answer(id)
    }

    /// Waits for the answer to a request. Other messages are dropped.
    pub(crate) fn answer(&mut self, id: i64) -> Result<Value, Value> {
        self.answer_with(id).1
    }

    /// Waits for the answer to a request; returns the messages before it, too.
    pub(crate) fn answer_with(&mut self, id: i64) -> (Vec<Value>, Result<Value, Value>) {
        let mut messages = self.until(|message| message["id"] == id && message["method"].is_null());
        let mut answer = messages.pop().expect("the answer");
        let result = match answer.get("error") {
            Some(error) => Err(error.clone()),
            None => Ok(answer["result"].take()),
        };
        (messages, result)
    }

    /// Waits for a request of the agent with this method; returns the messages before it, too.
    pub(crate) fn asked_with(&mut self, method: &str) -> (Vec<Value>, Value) {
        let mut messages =
            self.until(|message| message["method"] == method && !message["id"].is_null());
        let asked = messages.pop().expect("the request");
        (messages, asked)
    }

    /// Waits for a request of the agent with this method.
    pub(crate) fn asked(&mut self, method: &str) -> Value {
        self.asked_with(method).1
    }

    /// Waits for news of this kind about a session; returns the update.
    pub(crate) fn update(&mut self, kind: &str) -> Value {
        let mut messages =
            self.until(|message| message["params"]["update"]["sessionUpdate"] == kind);
        messages.pop().expect("the update")["params"]["update"].take()
    }

    /// Returns all messages up to the first that is wanted.
    pub(crate) fn until(&mut self, is_wanted: impl Fn(&Value) -> bool) -> Vec<Value> {
        let begun = Instant::now();
        let mut messages = Vec::new();
        loop {
            let output = self.program.stdout();
            while let Some(length) = output[self.read..].find('\n') {
                let line = &output[self.read..self.read + length];
                self.read += length + 1;
                let message: Value = serde_json::from_str(line).expect(line);
                assert_eq!(message["jsonrpc"], "2.0", "{line}");
                let is_last = is_wanted(&message);
                messages.push(message);
                if is_last {
                    return messages;
                }
            }
            let report = || format!("{messages:#?}\n{}", self.program.stderr());
            assert!(begun.elapsed() < SOON, "the message does not come\n{}", report());
            std::thread::sleep(Duration::from_millis(2));
        }
    }

    /// Closes the agent's input and waits for its end.
    pub(crate) fn end(mut self) -> Finished {
        self.program.close_stdin();
        self.program.wait()
    }
}

/// Returns the parameters of a session in the stage's project.
pub(crate) fn folder(stage: &Stage) -> Value {
    json!({"cwd": stage.home.project(), "mcpServers": []})
}

/// Returns the updates among messages, without their envelopes.
pub(crate) fn updates(messages: &[Value]) -> Vec<Value> {
    let updates = messages.iter().map(|message| message["params"]["update"].clone());
    updates.filter(|update| !update.is_null()).collect()
}

/// Returns the text of all pieces of this kind.
pub(crate) fn text_of(messages: &[Value], kind: &str) -> String {
    let updates = updates(messages).into_iter();
    let pieces = updates.filter(|update| update["sessionUpdate"] == kind);
    pieces.map(|update| update["content"]["text"].as_str().unwrap_or_default().to_owned()).collect()
}
