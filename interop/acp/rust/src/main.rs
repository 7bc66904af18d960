//! A client of the Agent Client Protocol on the published Rust SDK: the same as `client.mjs`.
//!
//!     acp-interop-client < SCRIPT > RECORDING
//!
//! Results and updates go through the SDK's types. A message that the types do not accept is recorded
//! as `rejected`.

use std::collections::HashMap;
use std::io::{Read as _, Write as _};
use std::process::Stdio;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use agent_client_protocol::v1::schema;
use agent_client_protocol::v1::{ConnectionTo, Responder};
use agent_client_protocol::{
    Agent, ByteStreams, Client, Error, UntypedMessage, on_receive_notification, on_receive_request,
};
use serde_json::{Map, Value, json};
use tokio::io::{
    AsyncBufReadExt as _, AsyncReadExt as _, AsyncWrite, AsyncWriteExt as _, BufReader,
};
use tokio::process::{Child, Command};
use tokio::sync::Notify;
use tokio::task::JoinHandle;
use tokio_util::compat::{TokioAsyncReadCompatExt as _, TokioAsyncWriteCompatExt as _};

/// Size in bytes of the pipes between the recorder and the SDK.
const PIPE: usize = 1 << 20;

fn record(kind: &str, value: &Value) {
    let mut line = json!({ kind: value }).to_string();
    line.push('\n');
    std::io::stdout().lock().write_all(line.as_bytes()).expect("the recording is a pipe");
}

/// One run of a script, shared by the parts of the client.
struct Run {
    script: Value,
    permissions: Mutex<Vec<Value>>,
    elicitations: Mutex<Vec<Value>>,
    buffers: Mutex<Map<String, Value>>,
    arrivals: Mutex<Vec<Value>>,
    arrived: Notify,
    cancelled: Notify,
    saved: Mutex<HashMap<String, String>>,
}

impl Run {
    fn new(script: Value) -> Self {
        let list = |name: &str| script[name].as_array().cloned().unwrap_or_default();
        Self {
            permissions: Mutex::new(list("permissions")),
            elicitations: Mutex::new(list("elicitations")),
            buffers: Mutex::new(script["buffers"].as_object().cloned().unwrap_or_default()),
            arrivals: Mutex::default(),
            arrived: Notify::new(),
            cancelled: Notify::new(),
            saved: Mutex::default(),
            script,
        }
    }

    fn limit(&self) -> Duration {
        Duration::from_secs(self.script["seconds"].as_u64().unwrap_or(30))
    }

    // The editor: permissions, buffers and questions

    async fn permission(
        &self,
        request: schema::RequestPermissionRequest,
    ) -> schema::RequestPermissionResponse {
        let wanted = next(&self.permissions).unwrap_or_else(|| json!("reject_once"));
        if wanted == "wait" {
            self.cancelled.notified().await;
        }
        let is_wanted = |option: &&schema::PermissionOption| json!(option.kind) == wanted;
        let outcome = match request.options.iter().find(is_wanted) {
            Some(option) => schema::RequestPermissionOutcome::Selected(
                schema::SelectedPermissionOutcome::new(option.option_id.clone()),
            ),
            None => schema::RequestPermissionOutcome::Cancelled,
        };
        schema::RequestPermissionResponse::new(outcome)
    }

    fn read(
        &self,
        request: &schema::ReadTextFileRequest,
    ) -> Result<schema::ReadTextFileResponse, Error> {
        let path = request.path.display().to_string();
        let buffer =
            self.buffers.lock().unwrap().get(&path).and_then(Value::as_str).map(str::to_owned);
        let missing = |_| Error::new(-32002, format!("Resource not found: {path}"));
        let content = match buffer {
            Some(content) => content,
            None => std::fs::read_to_string(&request.path).map_err(missing)?,
        };
        let skipped = request.line.unwrap_or(1).saturating_sub(1) as usize;
        let limit = request.limit.map_or(usize::MAX, |limit| limit as usize);
        let content: String = content.split_inclusive('\n').skip(skipped).take(limit).collect();
        Ok(schema::ReadTextFileResponse::new(content))
    }

    fn write(&self, request: schema::WriteTextFileRequest) -> schema::WriteTextFileResponse {
        let path = request.path.display().to_string();
        self.buffers.lock().unwrap().insert(path, json!(request.content));
        schema::WriteTextFileResponse::default()
    }

    fn elicit(&self) -> Result<schema::CreateElicitationResponse, Error> {
        let answer = match next(&self.elicitations) {
            Some(content) => json!({"action": "accept", "content": content}),
            None => json!({"action": "cancel"}),
        };
        serde_json::from_value(answer).map_err(Error::into_internal_error)
    }

    // The script

    fn filled(&self, value: &Value) -> Value {
        match value {
            Value::String(text) => {
                let saved = self.saved.lock().unwrap();
                let fill = |text: String, (name, value): (&String, &String)| {
                    text.replace(&format!("${name}"), value)
                };
                json!(saved.iter().fold(text.clone(), fill))
            }
            Value::Array(items) => items.iter().map(|item| self.filled(item)).collect(),
            Value::Object(fields) => {
                fields.iter().map(|(key, one)| (key.clone(), self.filled(one))).collect()
            }
            other => other.clone(),
        }
    }

    async fn request(
        self: Arc<Self>,
        agent: ConnectionTo<Agent>,
        step: Value,
    ) -> Result<(), String> {
        let method = step["method"].as_str().unwrap_or_default();
        let message = UntypedMessage::new(method, self.filled(&step["params"])).map_err(text)?;
        // An error of the agent is in the recording.
        let Ok(result) = agent.send_request(message).block_task().await else { return Ok(()) };
        if let Err(problem) = typed(method, &result) {
            record("rejected", &json!(format!("{method}: {problem}")));
        }
        for (name, field) in step["save"].as_object().into_iter().flatten() {
            let value = result[field.as_str().unwrap_or_default()].as_str().unwrap_or_default();
            self.saved.lock().unwrap().insert(name.clone(), value.to_owned());
        }
        Ok(())
    }

    async fn within<T>(&self, work: impl Future<Output = T>, what: &str) -> Result<T, String> {
        let seconds = self.limit().as_secs();
        let done = tokio::time::timeout(self.limit(), work).await;
        done.map_err(|_| format!("{what}: nothing for {seconds} s"))
    }

    async fn until(&self, step: &Value, seen: usize) -> Result<(), String> {
        let wanted = self.filled(&step["until"]);
        let count = step["count"].as_u64().unwrap_or(1) as usize;
        loop {
            let arrived = self.arrived.notified();
            let found = self.arrivals.lock().unwrap()[seen..]
                .iter()
                .filter(|one| matches(one, &wanted))
                .count();
            if found >= count {
                return Ok(());
            }
            self.within(arrived, &format!("until {wanted}")).await?;
        }
    }

    async fn step(
        self: &Arc<Self>,
        agent: &ConnectionTo<Agent>,
        step: &Value,
        background: &mut HashMap<String, JoinHandle<Result<(), String>>>,
    ) -> Result<(), String> {
        let seen = self.arrivals.lock().unwrap().len();
        let method = step["method"].as_str();
        if let Some(name) = step["background"].as_str() {
            let work = Arc::clone(self).request(agent.clone(), step.clone());
            background.insert(name.to_owned(), tokio::spawn(work));
            tokio::task::yield_now().await;
        } else if step["notify"].as_bool() == Some(true) {
            let method = method.unwrap_or_default();
            let message =
                UntypedMessage::new(method, self.filled(&step["params"])).map_err(text)?;
            agent.send_notification(message).map_err(text)?;
            if method == "session/cancel" {
                // The request may not have reached the editor yet.
                self.cancelled.notify_one();
            }
        } else if let Some(method) = method {
            self.within(Arc::clone(self).request(agent.clone(), step.clone()), method).await??;
        }
        if let Some(work) = step["finish"].as_str().and_then(|name| background.remove(name)) {
            self.within(work, "finish").await?.map_err(text)??;
        }
        if !step["until"].is_null() {
            self.until(step, if method.is_some() { seen } else { 0 }).await?;
        }
        if let Some(pause) = step["pause"].as_u64() {
            tokio::time::sleep(Duration::from_millis(pause)).await;
        }
        Ok(())
    }
}

fn next(list: &Mutex<Vec<Value>>) -> Option<Value> {
    let mut list = list.lock().unwrap();
    (!list.is_empty()).then(|| list.remove(0))
}

fn text(error: impl std::fmt::Display) -> String {
    error.to_string()
}

/// Reads a result by its type.
fn typed(method: &str, result: &Value) -> Result<(), String> {
    fn read<T: serde::de::DeserializeOwned>(result: &Value) -> Result<(), String> {
        serde_json::from_value::<T>(result.clone()).map(drop).map_err(text)
    }
    match method {
        "initialize" => read::<schema::InitializeResponse>(result),
        "authenticate" => read::<schema::AuthenticateResponse>(result),
        "session/new" => read::<schema::NewSessionResponse>(result),
        "session/load" => read::<schema::LoadSessionResponse>(result),
        "session/resume" => read::<schema::ResumeSessionResponse>(result),
        "session/list" => read::<schema::ListSessionsResponse>(result),
        "session/close" => read::<schema::CloseSessionResponse>(result),
        "session/prompt" => read::<schema::PromptResponse>(result),
        "session/set_mode" => read::<schema::SetSessionModeResponse>(result),
        "session/set_config_option" => read::<schema::SetSessionConfigOptionResponse>(result),
        _ => Ok(()),
    }
}

fn matches(message: &Value, wanted: &Value) -> bool {
    match wanted.as_object() {
        None => message == wanted,
        Some(fields) => fields
            .iter()
            .all(|(key, one)| message.get(key).is_some_and(|found| matches(found, one))),
    }
}

/// Copies lines, and records each as `kind`. Returns the lines that are not JSON.
async fn copy(
    input: impl tokio::io::AsyncRead + Unpin,
    mut output: impl AsyncWrite + Unpin,
    kind: &'static str,
    run: Arc<Run>,
) -> Vec<String> {
    let (mut lines, mut line, mut stray) = (BufReader::new(input), Vec::new(), Vec::new());
    while lines.read_until(b'\n', &mut line).await.is_ok_and(|length| length > 0) {
        match serde_json::from_slice::<Value>(&line) {
            Ok(message) => {
                record(kind, &message);
                if kind == "in" {
                    run.arrivals.lock().unwrap().push(message);
                    run.arrived.notify_waiters();
                }
            }
            Err(_) => stray.push(String::from_utf8_lossy(&line).into_owned()),
        }
        if output.write_all(&line).await.is_err() {
            break;
        }
        line.clear();
    }
    stray
}

fn start(script: &Value) -> std::io::Result<Child> {
    let words: Vec<&str> =
        script["agent"].as_array().into_iter().flatten().filter_map(Value::as_str).collect();
    let environment = script["environment"].as_object().into_iter().flatten();
    Command::new(words[0])
        .args(&words[1..])
        .current_dir(script["folder"].as_str().unwrap_or("."))
        .env_clear()
        .envs(environment.filter_map(|(name, value)| Some((name, value.as_str()?))))
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .kill_on_drop(true)
        .spawn()
}

/// Starts an agent, makes the steps, and ends it.
async fn life(run: &Arc<Run>, first: usize, steps: &[Value]) {
    let mut child = start(&run.script).expect("the agent starts");
    let (stdin, stdout) = (child.stdin.take().unwrap(), child.stdout.take().unwrap());
    let mut stderr = child.stderr.take().unwrap();
    let errors = tokio::spawn(async move {
        let mut text = Vec::new();
        stderr.read_to_end(&mut text).await.ok();
        String::from_utf8_lossy(&text).into_owned()
    });
    let (to_agent, from_client) = tokio::io::duplex(PIPE);
    let (from_agent, to_client) = tokio::io::duplex(PIPE);
    let sent = tokio::spawn(copy(from_client, stdin, "out", Arc::clone(run)));
    let printed = tokio::spawn(copy(stdout, to_client, "in", Arc::clone(run)));
    let transport = ByteStreams::new(to_agent.compat_write(), from_agent.compat());
    let problem = connect(run, transport, first, steps).await.err();
    // The input of the agent ends.
    sent.await.ok();
    let code = match tokio::time::timeout(run.limit(), child.wait()).await {
        Ok(status) => status.ok().and_then(|status| status.code()),
        Err(_) => {
            child.kill().await.ok();
            None
        }
    };
    let stray = printed.await.unwrap_or_default();
    let buffers = run.buffers.lock().unwrap().clone();
    let stderr = errors.await.unwrap_or_default();
    let mut end = json!({"exit": code, "stray": stray, "buffers": buffers, "stderr": stderr});
    if let Some(problem) = problem {
        end["problem"] = json!(problem);
    }
    record("end", &end);
}

async fn connect<T>(
    run: &Arc<Run>,
    transport: T,
    first: usize,
    steps: &[Value],
) -> Result<(), String>
where
    T: agent_client_protocol::ConnectTo<Client>,
{
    let [asked, reading, writing, eliciting] = std::array::from_fn(|_| Arc::clone(run));
    let work = Client
        .v1()
        .name("interop")
        .on_receive_notification(
            async |_: schema::SessionNotification, _: ConnectionTo<Agent>| Ok(()),
            on_receive_notification!(),
        )
        .on_receive_request(
            async move |request: schema::RequestPermissionRequest,
                        responder: Responder<schema::RequestPermissionResponse>,
                        connection: ConnectionTo<Agent>| {
                let run = Arc::clone(&asked);
                connection.spawn(async move { responder.respond(run.permission(request).await) })
            },
            on_receive_request!(),
        )
        .on_receive_request(
            async move |request: schema::ReadTextFileRequest,
                        responder: Responder<schema::ReadTextFileResponse>,
                        _: ConnectionTo<Agent>| {
                responder.respond_with_result(reading.read(&request))
            },
            on_receive_request!(),
        )
        .on_receive_request(
            async move |request: schema::WriteTextFileRequest,
                        responder: Responder<schema::WriteTextFileResponse>,
                        _: ConnectionTo<Agent>| {
                responder.respond(writing.write(request))
            },
            on_receive_request!(),
        )
        .on_receive_request(
            async move |_: schema::CreateElicitationRequest,
                        responder: Responder<schema::CreateElicitationResponse>,
                        _: ConnectionTo<Agent>| {
                responder.respond_with_result(eliciting.elicit())
            },
            on_receive_request!(),
        );
    let mut problem = Ok(());
    let ended = work
        .connect_with(transport, async |agent: ConnectionTo<Agent>| {
            let mut background = HashMap::new();
            for (number, step) in (first..).zip(steps) {
                record("step", &json!(number));
                problem = run.step(&agent, step, &mut background).await;
                if problem.is_err() {
                    break;
                }
            }
            Ok(())
        })
        .await;
    problem.and(ended.map_err(text))
}

#[tokio::main]
async fn main() {
    let mut script = String::new();
    std::io::stdin().read_to_string(&mut script).expect("a script");
    let script: Value = serde_json::from_str(&script).expect("a script of JSON");
    let steps = script["steps"].as_array().cloned().unwrap_or_default();
    let run = Arc::new(Run::new(script));
    let mut first = 0;
    while first <= steps.len() {
        let rest = steps[first..].iter().position(|step| !step["restart"].is_null());
        let last = rest.map_or(steps.len(), |at| first + at);
        life(&run, first, &steps[first..last]).await;
        if let Some(command) = steps.get(last).and_then(|step| step["restart"].as_str()) {
            let done = std::process::Command::new("sh").args(["-c", command]).status();
            assert!(done.is_ok_and(|status| status.success()), "{command} failed");
        }
        first = last + 1;
    }
    // Requests that were never answered must not keep the client.
    std::process::exit(0);
}
