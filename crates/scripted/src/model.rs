//! Models that answer from a script.

use std::collections::{BTreeSet, VecDeque};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};

use async_trait::async_trait;
use futures::{StreamExt, stream};
use pollux_protocol::{
    CancellationToken, Choice, ChunkStream, Classifier, JsonRequest, Model, ModelError,
    ModelErrorKind, ModelLimits, ModelRequest, ModelTier, Models, PromptFamily, ResponseChunk,
    SelectContext, SideModels, Usage,
};
use serde_json::Value;
use tokio::sync::watch;

use crate::reply::{Ending, Opening, ScriptedReply};
use crate::sent::{SentAs, SentRequest};

/// Models that exist under every name and share one script. `stream` has one queue of replies,
/// `generate` and `generate_json` share another, so that side calls do not use up the replies of
/// the conversation. A request for which the script has no reply panics. All clones share one
/// state.
#[derive(Clone)]
pub struct ScriptedModels {
    script: Arc<Script>,
    limits: ModelLimits,
    vendor: &'static str,
}

struct Script {
    streamed: Mutex<Replies>,
    generated: Mutex<Replies>,
    /// Result of `count_tokens`.
    count: Mutex<Result<u64, ModelError>>,
    /// Names for which `select` fails.
    unknown: Mutex<BTreeSet<String>>,
    selected: Mutex<Vec<SelectContext>>,
    sent: watch::Sender<Vec<SentRequest>>,
    open: AtomicUsize,
}

/// Function that makes the reply to a request.
type Answering = Arc<dyn Fn(&SentRequest) -> ScriptedReply + Send + Sync>;

#[derive(Default)]
struct Replies {
    queue: VecDeque<ScriptedReply>,
    /// Function that makes a reply when the queue is empty.
    otherwise: Option<Answering>,
}

impl Default for ScriptedModels {
    fn default() -> Self {
        Self::new()
    }
}

impl ScriptedModels {
    /// Creates models without replies, with a context of one million tokens.
    pub fn new() -> Self {
        let script = Script {
            streamed: Mutex::default(),
            generated: Mutex::default(),
            count: Mutex::new(Ok(1)),
            unknown: Mutex::default(),
            selected: Mutex::default(),
            sent: watch::Sender::new(Vec::new()),
            open: AtomicUsize::new(0),
        };
        let limits =
            ModelLimits { context: 1_000_000, rejects_overflow: true, ..ModelLimits::default() };
        Self { script: Arc::new(script), limits, vendor: "" }
    }

    /// Creates models that stream these replies, in order.
    pub fn with(replies: impl IntoIterator<Item = ScriptedReply>) -> Self {
        let models = Self::new();
        replies.into_iter().for_each(|reply| models.stream(reply));
        models
    }

    /// Replaces the limits of the models.
    #[must_use]
    pub fn with_limits(self, limits: ModelLimits) -> Self {
        Self { limits, ..self }
    }

    /// Replaces the vendor that bills the models.
    #[must_use]
    pub fn with_vendor(self, vendor: &'static str) -> Self {
        Self { vendor, ..self }
    }

    /// Adds a reply for `stream`.
    pub fn stream(&self, reply: ScriptedReply) {
        self.script.streamed.lock().unwrap().queue.push_back(reply);
    }

    /// Adds a reply for `generate` and `generate_json`.
    pub fn generate(&self, reply: ScriptedReply) {
        self.script.generated.lock().unwrap().queue.push_back(reply);
    }

    /// Sets the function that replies to `stream` when no added reply is left.
    pub fn stream_with(
        &self,
        answer: impl Fn(&SentRequest) -> ScriptedReply + Send + Sync + 'static,
    ) {
        self.script.streamed.lock().unwrap().otherwise = Some(Arc::new(answer));
    }

    /// Sets the function that replies to `generate` and `generate_json` when no added reply is
    /// left.
    pub fn generate_with(
        &self,
        answer: impl Fn(&SentRequest) -> ScriptedReply + Send + Sync + 'static,
    ) {
        self.script.generated.lock().unwrap().otherwise = Some(Arc::new(answer));
    }

    /// Sets the result of `count_tokens`.
    pub fn count(&self, count: Result<u64, ModelError>) {
        *self.script.count.lock().unwrap() = count;
    }

    /// Makes `select` fail for this name.
    pub fn forget(&self, name: &str) {
        self.script.unknown.lock().unwrap().insert(name.to_owned());
    }

    /// Returns all requests so far, oldest first.
    pub fn all_sent(&self) -> Vec<SentRequest> {
        self.script.sent.borrow().clone()
    }

    /// Returns the requests through `stream`.
    pub fn streamed(&self) -> Vec<SentRequest> {
        self.sent(|kind| *kind == SentAs::Stream)
    }

    /// Returns the requests through `generate` and `generate_json`.
    pub fn generated(&self) -> Vec<SentRequest> {
        self.sent(|kind| matches!(kind, SentAs::Generate | SentAs::Json(_)))
    }

    /// Returns the requests through `count_tokens`.
    pub fn counted(&self) -> Vec<SentRequest> {
        self.sent(|kind| *kind == SentAs::Count)
    }

    /// Returns the last request through `stream`.
    pub fn last(&self) -> SentRequest {
        self.streamed().pop().expect("nothing was streamed")
    }

    /// Returns the contexts that `select` was called with.
    pub fn selected(&self) -> Vec<SelectContext> {
        self.script.selected.lock().unwrap().clone()
    }

    /// Waits until at least this many requests of all kinds were sent.
    pub async fn wait_for(&self, count: usize) {
        let mut sent = self.script.sent.subscribe();
        sent.wait_for(|sent| sent.len() >= count).await.expect("the script holds the sender");
    }

    /// Returns the number of replies that are currently awaited or being read.
    pub fn open_answers(&self) -> usize {
        self.script.open.load(Ordering::SeqCst)
    }

    /// Removes the replies that were never requested. For tests that end before the script.
    pub fn discard_replies(&self) {
        self.script.streamed.lock().unwrap().queue.clear();
        self.script.generated.lock().unwrap().queue.clear();
    }

    /// Fails the test if a reply was added but never requested.
    pub fn assert_done(&self) {
        let left = |replies: &Mutex<Replies>| replies.lock().unwrap().queue.len();
        let left = (left(&self.script.streamed), left(&self.script.generated));
        assert_eq!(left, (0, 0), "answers that nobody asked for: streamed, generated");
    }

    fn sent(&self, keep: impl Fn(&SentAs) -> bool) -> Vec<SentRequest> {
        self.all_sent().into_iter().filter(|sent| keep(&sent.kind)).collect()
    }
}

#[async_trait]
impl Models for ScriptedModels {
    async fn select(&self, context: &SelectContext) -> Result<Choice, ModelError> {
        self.script.selected.lock().unwrap().push(context.clone());
        let name = match context.tier.filter(|_| context.conversation_model.is_none()) {
            Some(ModelTier::Pro) => format!("{}-pro", context.requested),
            Some(ModelTier::Flash) => format!("{}-flash", context.requested),
            None => context.requested.clone(),
        };
        if self.script.unknown.lock().unwrap().contains(&name) {
            let message = format!("There is no model {name}.");
            return Err(ModelError::new(ModelErrorKind::NotFound, message));
        }
        let model = ScriptedModel {
            script: Arc::clone(&self.script),
            name: name.clone(),
            vendor: self.vendor,
        };
        Ok(Choice {
            model: Arc::new(model),
            name,
            limits: self.limits,
            family: PromptFamily::Modern,
            reason: "script".to_owned(),
        })
    }

    /// Returns a method for the name `auto`.
    fn classifier(&self, requested: &str) -> Option<Classifier> {
        (requested == "auto").then_some(Classifier::Score)
    }
}

struct ScriptedModel {
    script: Arc<Script>,
    name: String,
    vendor: &'static str,
}

impl ScriptedModel {
    fn note(&self, kind: SentAs, request: ModelRequest) -> SentRequest {
        let sent = SentRequest { model: self.name.clone(), kind, request };
        self.script.sent.send_modify(|all| all.push(sent.clone()));
        sent
    }

    /// Waits until the reply has begun, or returns its error.
    async fn opened(
        &self,
        replies: &Mutex<Replies>,
        sent: &SentRequest,
    ) -> Result<(ScriptedReply, OpenAnswer), ModelError> {
        let reply = next(replies, sent);
        let open = OpenAnswer::new(&self.script);
        for notice in &reply.retries {
            if let Some(listener) = &sent.request.on_retry {
                listener(notice.clone());
            }
            // Lets the receiver of the notice run before the next attempt, even if the delay is
            // short.
            tokio::task::yield_now().await;
            tokio::time::sleep(notice.delay).await;
        }
        if let Some(gate) = &reply.gate {
            gate.pass().await;
        }
        if !reply.delay.is_zero() {
            tokio::time::sleep(reply.delay).await;
        }
        match &reply.opening {
            Opening::Answers => Ok((reply, open)),
            Opening::Fails(error) => Err(error.clone()),
            Opening::NeverAnswers => std::future::pending().await,
        }
    }

    /// Returns the whole answer as one chunk.
    async fn whole(&self, sent: &SentRequest) -> Result<ResponseChunk, ModelError> {
        let (reply, _open) = self.opened(&self.script.generated, sent).await?;
        let mut whole = ResponseChunk::default();
        reply.stream_chunks().into_iter().for_each(|chunk| whole.append(chunk));
        match reply.ending {
            Ending::Complete => Ok(whole),
            Ending::Breaks(error) => Err(error),
            Ending::Hangs => std::future::pending().await,
        }
    }
}

fn next(replies: &Mutex<Replies>, sent: &SentRequest) -> ScriptedReply {
    let mut replies = replies.lock().unwrap();
    if let Some(reply) = replies.queue.pop_front() {
        return reply;
    }
    let Some(answer) = replies.otherwise.clone() else {
        drop(replies);
        panic!("the script has no answer for {:?}: {}", sent.kind, sent.last_texts().join("\n"));
    };
    drop(replies);
    answer(sent)
}

/// Guard that counts an answer as open until it is dropped.
struct OpenAnswer(Arc<Script>);

impl OpenAnswer {
    fn new(script: &Arc<Script>) -> Self {
        script.open.fetch_add(1, Ordering::SeqCst);
        Self(Arc::clone(script))
    }
}

impl Drop for OpenAnswer {
    fn drop(&mut self) {
        self.0.open.fetch_sub(1, Ordering::SeqCst);
    }
}

#[async_trait]
impl Model for ScriptedModel {
    fn name(&self) -> &str {
        &self.name
    }

    fn vendor(&self) -> &str {
        self.vendor
    }

    async fn stream(
        &self,
        request: ModelRequest,
        _cancel: CancellationToken,
    ) -> Result<ChunkStream, ModelError> {
        let sent = self.note(SentAs::Stream, request);
        let (reply, open) = self.opened(&self.script.streamed, &sent).await?;
        let chunks = stream::iter(reply.stream_chunks().into_iter().map(Ok));
        let end = match reply.ending {
            Ending::Complete => stream::empty().boxed(),
            Ending::Breaks(error) => stream::iter([Err(error)]).boxed(),
            Ending::Hangs => stream::pending().boxed(),
        };
        let held = chunks.chain(end).map(move |chunk| {
            let _open = &open;
            chunk
        });
        Ok(held.boxed())
    }

    async fn generate(
        &self,
        request: ModelRequest,
        _cancel: CancellationToken,
    ) -> Result<ResponseChunk, ModelError> {
        let sent = self.note(SentAs::Generate, request);
        self.whole(&sent).await
    }

    async fn generate_json(
        &self,
        request: JsonRequest,
        _cancel: CancellationToken,
    ) -> Result<(Value, Usage), ModelError> {
        let sent = self.note(SentAs::Json(request.schema), request.request);
        let whole = self.whole(&sent).await?;
        let value = serde_json::from_str(&whole.text())
            .map_err(|error| ModelError::new(ModelErrorKind::Broken, error.to_string()))?;
        Ok((value, whole.usage.unwrap_or_default()))
    }

    async fn count_tokens(
        &self,
        request: ModelRequest,
        _cancel: CancellationToken,
    ) -> Result<u64, ModelError> {
        self.note(SentAs::Count, request);
        self.script.count.lock().unwrap().clone()
    }

    async fn embed(
        &self,
        texts: Vec<String>,
        _cancel: CancellationToken,
    ) -> Result<Vec<Vec<f32>>, ModelError> {
        Ok(vec![Vec::new(); texts.len()])
    }
}

/// Side calls that belong to no conversation.
#[async_trait]
impl SideModels for ScriptedModels {
    async fn select(&self, alias: &str) -> Result<Choice, ModelError> {
        let context = SelectContext { requested: alias.to_owned(), ..SelectContext::default() };
        Models::select(self, &context).await
    }

    fn instruction(&self) -> Option<Arc<str>> {
        None
    }
}
