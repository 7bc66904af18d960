//! A scripted model server on loopback, for the Gemini API and Anthropic's Messages API.
//!
//! The server has its own thread and runtime, so that a blocking test and a test with its own
//! runtime can both use it. It implements HTTP/1.1 itself: a ready-made server is built never to
//! send a reset in the middle of a chunk, half a character, or an endless pause.

mod capture;
mod connection;

use std::collections::{BTreeMap, VecDeque};
use std::net::{Ipv4Addr, SocketAddr};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::thread::JoinHandle;
use std::time::Duration;

use tokio::net::TcpListener;
use tokio::sync::oneshot;

pub use capture::CapturedRequest;

use crate::endpoint::Endpoint;
use crate::errors;
use crate::reply::{ModelReply, REDIRECT_LOOP, reply};
use crate::validate::{validate_messages, validate_request};

/// A model server that answers from a script and records its requests.
///
/// Dropping the server stops it, and fails the test if the script did not foresee a request.
pub struct ModelServer {
    shared: Arc<Shared>,
    address: SocketAddr,
    stop: Option<oneshot::Sender<()>>,
    thread: Option<JoinHandle<()>>,
}

type Responder = Arc<dyn Fn(&CapturedRequest) -> ModelReply + Send + Sync>;

/// State that the server's thread and the test share.
struct Shared {
    state: Mutex<State>,
    changed: Condvar,
}

#[derive(Default)]
struct State {
    queues: BTreeMap<Endpoint, VecDeque<ModelReply>>,
    responders: BTreeMap<Endpoint, Responder>,
    routes: BTreeMap<String, Responder>,
    requests: Vec<CapturedRequest>,
    connections: usize,
    /// Numbers of the requests whose clients disconnected and that no test has waited for yet, in
    /// the order of the disconnects.
    aborts: VecDeque<usize>,
    invalid: Vec<String>,
    failures: Vec<String>,
}

impl ModelServer {
    /// Starts a server on a free port of 127.0.0.1 with an empty script.
    pub fn start() -> Self {
        let shared =
            Arc::new(Shared { state: Mutex::new(State::default()), changed: Condvar::new() });
        let (stop, stopped) = oneshot::channel();
        let (ready, address) = std::sync::mpsc::channel();
        let serving = Arc::clone(&shared);
        let thread = std::thread::Builder::new()
            .name("model-server".to_owned())
            .spawn(move || {
                let runtime = tokio::runtime::Builder::new_current_thread()
                    .enable_all()
                    .build()
                    .expect("a runtime for the model server");
                runtime.block_on(async move {
                    let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).await.unwrap();
                    ready.send(listener.local_addr().unwrap()).unwrap();
                    tokio::select! {
                        () = accept(listener, serving) => {}
                        _ = stopped => {}
                    }
                });
            })
            .expect("a thread for the model server");
        let address = address.recv().expect("the model server listens");
        Self { shared, address, stop: Some(stop), thread: Some(thread) }
    }

    /// Returns the base URL without a trailing slash, as `GOOGLE_GEMINI_BASE_URL` expects it.
    pub fn url(&self) -> String {
        format!("http://{}", self.address)
    }

    /// Returns the address on which the server listens.
    pub fn address(&self) -> SocketAddr {
        self.address
    }
}

/// Methods that write the script.
impl ModelServer {
    /// Adds a reply for the next `streamGenerateContent` request.
    pub fn stream(&self, reply: ModelReply) -> &Self {
        self.enqueue(Endpoint::StreamGenerateContent, reply)
    }

    /// Adds a reply for the next `generateContent` request.
    pub fn generate(&self, reply: ModelReply) -> &Self {
        self.enqueue(Endpoint::GenerateContent, reply)
    }

    /// Adds a reply for the next request to Anthropic's Messages API.
    pub fn message(&self, reply: ModelReply) -> &Self {
        self.enqueue(Endpoint::Messages, reply)
    }

    /// Adds a reply to an endpoint's queue.
    pub fn enqueue(&self, endpoint: Endpoint, reply: ModelReply) -> &Self {
        self.state().queues.entry(endpoint).or_default().push_back(reply);
        self
    }

    /// Sets a function that answers requests to an endpoint whose queue is empty. The function runs
    /// on the server's only thread and must not block; a panic in it is reported as a failure of
    /// the test.
    pub fn answer_with(
        &self,
        endpoint: Endpoint,
        responder: impl Fn(&CapturedRequest) -> ModelReply + Send + Sync + 'static,
    ) -> &Self {
        self.state().responders.insert(endpoint, Arc::new(responder));
        self
    }

    /// Sets a function that answers all requests for exactly this path (without the query). The
    /// path can be outside the API.
    pub fn route(
        &self,
        path: &str,
        responder: impl Fn(&CapturedRequest) -> ModelReply + Send + Sync + 'static,
    ) -> &Self {
        self.state().routes.insert(path.to_owned(), Arc::new(responder));
        self
    }

    /// Returns the number of queued replies that were not requested yet.
    pub fn remaining(&self) -> usize {
        self.state().queues.values().map(VecDeque::len).sum()
    }
}

/// Methods that inspect the requests.
impl ModelServer {
    /// Returns all requests so far, in the order in which their bodies were complete.
    pub fn requests(&self) -> Vec<CapturedRequest> {
        self.state().requests.clone()
    }

    /// Returns the requests to one endpoint.
    pub fn requests_to(&self, endpoint: Endpoint) -> Vec<CapturedRequest> {
        let mut requests = self.requests();
        requests.retain(|request| request.endpoint == Some(endpoint));
        requests
    }

    /// Returns the latest request; fails the test if there was no request.
    pub fn last_request(&self) -> CapturedRequest {
        self.state().requests.last().expect("the server was asked at least once").clone()
    }

    /// Returns the number of TCP connections so far: lower than the number of requests if the
    /// client reuses connections.
    pub fn connections(&self) -> usize {
        self.state().connections
    }

    /// Waits until `count` requests have arrived and returns them; fails the test after the
    /// timeout.
    pub fn wait_for_requests(&self, count: usize, timeout: Duration) -> Vec<CapturedRequest> {
        let state = self.wait_until(timeout, |state| state.requests.len() >= count);
        let seen = state.requests.len();
        assert!(seen >= count, "waited {timeout:?} for {count} requests, saw {seen}");
        state.requests.clone()
    }

    /// Waits for the next request whose client closed the connection before the answer was
    /// complete, which proves that a cancellation reached the socket. Each abort is returned once;
    /// `None` after the timeout. A client that shuts down only its sending half counts as
    /// disconnected.
    pub fn wait_for_abort(&self, timeout: Duration) -> Option<CapturedRequest> {
        let mut state = self.wait_until(timeout, |state| !state.aborts.is_empty());
        let number = state.aborts.pop_front()?;
        Some(state.requests[number].clone())
    }

    fn wait_until(
        &self,
        timeout: Duration,
        mut done: impl FnMut(&State) -> bool,
    ) -> MutexGuard<'_, State> {
        let waited =
            self.shared.changed.wait_timeout_while(self.state(), timeout, |state| !done(state));
        waited.unwrap_or_else(PoisonError::into_inner).0
    }
}

/// Methods that check the requests and the script.
impl ModelServer {
    /// Fails the test if a `streamGenerateContent` or Messages request broke the rules of the
    /// service (see [`validate_contents`](crate::validate_contents) and
    /// [`validate_messages`](crate::validate_messages)), or the script did not foresee a request.
    pub fn assert_all_valid(&self) {
        let state = self.state();
        let problems: Vec<&str> =
            state.invalid.iter().chain(&state.failures).map(String::as_str).collect();
        assert!(problems.is_empty(), "the model server objects:\n{}", problems.join("\n"));
    }

    /// Fails the test if queued replies were never requested.
    pub fn assert_script_done(&self) {
        let left = self.remaining();
        assert!(left == 0, "{left} scripted replies were never asked for");
    }

    /// Removes the queued replies that were never requested. For tests that end before the script.
    pub fn discard_replies(&self) {
        self.state().queues.clear();
    }

    /// Removes and returns the failures (requests that the script did not foresee), so that
    /// dropping the server does not report them. For tests that provoke failures.
    pub fn take_failures(&self) -> Vec<String> {
        std::mem::take(&mut self.state().failures)
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.shared.lock()
    }
}

impl Drop for ModelServer {
    fn drop(&mut self) {
        if let Some(stop) = self.stop.take() {
            stop.send(()).ok();
        }
        if let Some(thread) = self.thread.take() {
            thread.join().ok();
        }
        let failures = self.take_failures();
        if failures.is_empty() {
            return;
        }
        let report = format!("the model server's script failed:\n{}", failures.join("\n"));
        // A second panic would abort the whole test binary.
        if std::thread::panicking() {
            eprintln!("{report}");
        } else {
            panic!("{report}");
        }
    }
}

impl Shared {
    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Records a complete request and returns its number and its reply.
    fn take_reply(&self, request: &CapturedRequest) -> (usize, ModelReply) {
        let mut state = self.lock();
        let number = state.requests.len();
        let validated = match request.endpoint {
            Some(Endpoint::StreamGenerateContent) => validate_request(&request.body),
            Some(Endpoint::Messages) => validate_messages(&request.body),
            _ => Ok(()),
        };
        if let Err(problem) = validated {
            state.invalid.push(format!("request {number}: {problem}"));
        }
        let planned = state.planned(request);
        state.requests.push(request.clone());
        request.keep();
        drop(state);
        self.changed.notify_all();
        let reply = match planned {
            Planned::Reply(reply) => *reply,
            // Called without the lock, because a responder may use the server.
            Planned::Responder(responder) => catch_unwind(AssertUnwindSafe(|| responder(request)))
                .unwrap_or_else(|_| self.fail(number, request, "the test's responder panicked")),
            Planned::Nothing(reason) => self.fail(number, request, reason),
        };
        (number, reply)
    }

    fn fail(&self, number: usize, request: &CapturedRequest, reason: &str) -> ModelReply {
        let message = format!("request {number} ({} {}): {reason}", request.method, request.path);
        self.lock().failures.push(message.clone());
        errors::api_error(500, "INTERNAL", &format!("testkit: {message}"), &[])
    }

    fn mark_aborted(&self, number: usize) {
        let mut state = self.lock();
        state.requests[number].aborted = true;
        state.aborts.push_back(number);
        drop(state);
        self.changed.notify_all();
    }
}

/// Answer to `countTokens` if the script sets no other.
const FEW_TOKENS: u64 = 1000;

enum Planned {
    Reply(Box<ModelReply>),
    Responder(Responder),
    Nothing(&'static str),
}

impl State {
    fn planned(&mut self, request: &CapturedRequest) -> Planned {
        if let Some(hop) = request.path.strip_prefix(REDIRECT_LOOP) {
            let hop: u64 = hop.parse().unwrap_or(0);
            return Planned::Reply(Box::new(reply().redirect_to(hop.saturating_add(1))));
        }
        if let Some(responder) = self.routes.get(&request.path) {
            return Planned::Responder(Arc::clone(responder));
        }
        let Some(endpoint) = request.endpoint else {
            return Planned::Nothing("no such endpoint");
        };
        if let Some(reply) = self.queues.get_mut(&endpoint).and_then(VecDeque::pop_front) {
            return Planned::Reply(Box::new(reply));
        }
        match self.responders.get(&endpoint) {
            Some(responder) => Planned::Responder(Arc::clone(responder)),
            // Media are counted before they are sent; a script sets the number only where it
            // matters.
            None if endpoint == Endpoint::CountTokens => {
                Planned::Reply(Box::new(reply().tokens(FEW_TOKENS)))
            }
            None => Planned::Nothing("the script has no reply left for it"),
        }
    }
}

async fn accept(listener: TcpListener, shared: Arc<Shared>) {
    loop {
        let Ok((stream, _)) = listener.accept().await else {
            // Most likely out of file descriptors: wait until some connections have ended.
            tokio::time::sleep(Duration::from_millis(10)).await;
            continue;
        };
        shared.lock().connections += 1;
        tokio::spawn(connection::serve(stream, Arc::clone(&shared)));
    }
}
