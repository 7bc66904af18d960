use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, Ordering};

use pollux_protocol::{
    Ceilings, Envelope, Event, FinishReason, Limit, Measurement, ModelErrorKind, ModelLimits,
    ModelRole, Observer, Origin, PromptFamily, Resource, RetryNotice, VendorRefusal,
};
use pretty_assertions::assert_eq;
use serde_json::json;

use super::*;
use crate::budget::{Budget, Spending};
use crate::outlet::Outlet;

/// Model that answers every request with one word, or fails. It notes the prompt ids of requests.
#[derive(Default)]
struct OneWord {
    fails: AtomicBool,
    hangs: AtomicBool,
    breaks: AtomicBool,
    asked: Mutex<Vec<String>>,
}

impl OneWord {
    async fn answer(&self, request: &ModelRequest) -> Result<ResponseChunk, ModelError> {
        self.asked.lock().unwrap().push(request.prompt_id.clone());
        if self.hangs.load(Ordering::SeqCst) {
            std::future::pending::<()>().await;
        }
        if self.breaks.load(Ordering::SeqCst) {
            return Err(ModelError::new(ModelErrorKind::Broken, "no JSON"));
        }
        if self.fails.load(Ordering::SeqCst) {
            let error = ModelError::new(ModelErrorKind::Overloaded, "overloaded");
            return Err(ModelError {
                refusal: Some(VendorRefusal { status: 503, code: None, message: String::new() }),
                ..error
            });
        }
        Ok(ResponseChunk {
            parts: vec![Part::text("word")],
            finish: Some(FinishReason::Stop),
            usage: Some(Usage { prompt: 3, total: 4, ..Usage::default() }),
            model_version: Some("small-1".to_owned()),
            ..ResponseChunk::default()
        })
    }
}

struct Shared(Arc<OneWord>);

#[async_trait]
impl Model for Shared {
    fn name(&self) -> &'static str {
        "small"
    }
    async fn stream(
        &self,
        request: ModelRequest,
        _cancel: CancellationToken,
    ) -> Result<ChunkStream, ModelError> {
        let chunk = self.0.answer(&request).await;
        Ok(stream::iter([chunk]).boxed())
    }
    async fn generate(
        &self,
        request: ModelRequest,
        _cancel: CancellationToken,
    ) -> Result<ResponseChunk, ModelError> {
        if let Some(tell) = &request.on_retry {
            tell(RetryNotice {
                attempt: 1,
                max_attempts: 2,
                delay: std::time::Duration::ZERO,
                reason: "503 busy".to_owned(),
                error_type: "ApiError".to_owned(),
            });
            tokio::task::yield_now().await;
        }
        self.0.answer(&request).await
    }
    async fn generate_json(
        &self,
        request: JsonRequest,
        _cancel: CancellationToken,
    ) -> Result<(Value, Usage), ModelError> {
        let chunk = self.0.answer(&request.request).await?;
        Ok((json!({ "said": chunk.text() }), chunk.usage.unwrap_or_default()))
    }
    async fn count_tokens(&self, _: ModelRequest, _: CancellationToken) -> Result<u64, ModelError> {
        Ok(1)
    }
    async fn embed(
        &self,
        _: Vec<String>,
        _: CancellationToken,
    ) -> Result<Vec<Vec<f32>>, ModelError> {
        Ok(Vec::new())
    }
}

#[async_trait]
impl Models for Shared {
    async fn select(&self, context: &SelectContext) -> Result<Choice, ModelError> {
        let reason = format!(
            "{} beside {}",
            context.requested,
            context.conversation_model.as_deref().unwrap_or("-")
        );
        Ok(Choice {
            model: Arc::new(Self(Arc::clone(&self.0))),
            name: "small".to_owned(),
            limits: ModelLimits::default(),
            family: PromptFamily::Modern,
            reason,
        })
    }
}

/// Observer that notes the measurements as text.
#[derive(Default)]
struct Notes(Mutex<Vec<String>>);

impl Observer for Notes {
    fn observe(&self, envelope: &Envelope) {
        if let Event::Waiting(_) = envelope.event {
            self.0.lock().unwrap().push("waiting".to_owned());
        }
    }

    fn measure(&self, _origin: &Origin, measurement: &Measurement) {
        let note = match measurement {
            Measurement::ApiRequest(one) => {
                format!("{} asks {} for {}", one.prompt_id, one.model, one.role.as_str())
            }
            Measurement::ApiResponse(one) => {
                format!("{} answers in {} tokens", one.model, one.usage.total)
            }
            Measurement::ApiError(one) => format!("{} fails: {}", one.model, one.error_type),
            Measurement::MalformedJson { model } => format!("{model} writes no JSON"),
            _ => return,
        };
        self.0.lock().unwrap().push(note);
    }
}

struct Bench {
    model: Arc<OneWord>,
    notes: Arc<Notes>,
    watched: WatchedModels,
    _events: tokio::sync::mpsc::Receiver<Arc<Envelope>>,
}

fn bench() -> Bench {
    bench_with(Spending::default())
}

fn bench_with(spending: Spending) -> Bench {
    let (model, notes) = (Arc::new(OneWord::default()), Arc::new(Notes::default()));
    let (outlet, events) = Outlet::new("s", vec![notes.clone()]);
    let budget = Budget::new(spending, outlet.clone());
    let models = Arc::new(Shared(Arc::clone(&model)));
    let owner = Owner { requested: "large".to_owned(), ..Owner::default() };
    let watched =
        WatchedModels::new(models, Arc::default(), Watch::new(outlet, budget, false), owner);
    let watched = watched.owned_by(Owner {
        prompt_id: "p1".to_owned(),
        instruction: Some("be kind".into()),
        ..watched.owner().clone()
    });
    Bench { model, notes, watched, _events: events }
}

impl Bench {
    fn notes(&self) -> Vec<String> {
        std::mem::take(&mut self.notes.0.lock().unwrap())
    }
}

fn request() -> ModelRequest {
    ModelRequest { role: ModelRole::UtilityTool, ..ModelRequest::default() }
}

#[tokio::test]
async fn every_way_of_asking_is_reported_as_a_request_and_its_answer() {
    let bench = bench();
    let choice = bench.watched.select("web-search").await.unwrap();
    assert_eq!(choice.reason, "web-search beside large");
    assert_eq!(bench.watched.instruction().as_deref(), Some("be kind"));
    let cancel = CancellationToken::new;

    let mut chunks = choice.model.stream(request(), cancel()).await.unwrap();
    assert_eq!(chunks.next().await.unwrap().unwrap().text(), "word");
    assert!(chunks.next().await.is_none());
    let reported = ["p1 asks small for utility_tool", "small-1 answers in 4 tokens"];
    assert_eq!(bench.notes(), reported);

    let json = JsonRequest { request: request(), schema: json!({}), max_attempts: 1 };
    let (value, _) = choice.model.generate_json(json, cancel()).await.unwrap();
    assert_eq!(value, json!({"said": "word"}));
    assert_eq!(bench.notes(), [reported[0], "small answers in 4 tokens"]);

    let named = ModelRequest { prompt_id: "own".to_owned(), ..request() };
    choice.model.generate(named, cancel()).await.unwrap();
    assert_eq!(*bench.model.asked.lock().unwrap(), ["p1", "p1", "own"]);
}

#[tokio::test]
async fn an_attempt_that_failed_is_a_request_of_its_own() {
    let bench = bench();
    let choice = bench.watched.select("x").await.unwrap();
    choice.model.generate(request(), CancellationToken::new()).await.unwrap();
    let asks = "p1 asks small for utility_tool";
    assert_eq!(
        bench.notes(),
        [asks, "small fails: ApiError", "waiting", asks, "small-1 answers in 4 tokens"]
    );
}

#[tokio::test]
async fn a_refusal_is_reported_as_an_error() {
    let bench = bench();
    bench.model.fails.store(true, Ordering::SeqCst);
    let choice = bench.watched.select("x").await.unwrap();
    let json = JsonRequest { request: request(), schema: json!({}), max_attempts: 1 };
    choice.model.generate_json(json, CancellationToken::new()).await.unwrap_err();
    let mut chunks = choice.model.stream(request(), CancellationToken::new()).await.unwrap();
    assert!(chunks.next().await.unwrap().is_err());
    assert!(chunks.next().await.is_none());
    let reported = ["p1 asks small for utility_tool", "small fails: ApiError"];
    assert_eq!(bench.notes(), [reported, reported].concat());
}

#[tokio::test]
async fn a_cancelled_call_returns_although_the_model_hangs() {
    let bench = bench();
    bench.model.hangs.store(true, Ordering::SeqCst);
    let choice = bench.watched.select("x").await.unwrap();
    let cancel = CancellationToken::new();
    let asking = choice.model.generate(request(), cancel.clone());
    let (answer, ()) = tokio::join!(asking, async { cancel.cancel() });
    assert_eq!(answer.unwrap_err().kind, ModelErrorKind::Cancelled);
    assert_eq!(
        bench.notes().last().map(String::as_str),
        Some("small fails: FatalCancellationError")
    );
}

#[tokio::test]
async fn a_call_that_is_dropped_while_it_runs_has_been_paid_for() {
    let mut prompt = Ceilings::default();
    prompt.set(Resource::Turns, Limit { amount: 1, by_flag: true });
    let bench = bench_with(Spending { prompt, ..Spending::default() });
    bench.model.hangs.store(true, Ordering::SeqCst);
    let choice = bench.watched.select("x").await.unwrap();
    {
        let asking = choice.model.stream(request(), CancellationToken::new());
        tokio::pin!(asking);
        assert!(futures::poll!(&mut asking).is_pending());
    }
    let refused = choice.model.stream(request(), CancellationToken::new()).await.err().unwrap();
    assert_eq!(refused.kind, ModelErrorKind::Budget);
    assert_eq!(bench.model.asked.lock().unwrap().len(), 1, "the second was never sent");
    assert_eq!(bench.notes().len(), 1, "nor reported");
}

#[tokio::test]
async fn each_attempt_at_a_json_answer_is_a_request_of_its_own() {
    let mut prompt = Ceilings::default();
    prompt.set(Resource::Turns, Limit { amount: 2, by_flag: true });
    let bench = bench_with(Spending { prompt, ..Spending::default() });
    bench.model.breaks.store(true, Ordering::SeqCst);
    let choice = bench.watched.select("x").await.unwrap();
    let json = JsonRequest { request: request(), schema: json!({}), max_attempts: 5 };
    let error = choice.model.generate_json(json, CancellationToken::new()).await.unwrap_err();
    assert_eq!(error.kind, ModelErrorKind::Budget);
    assert_eq!(bench.model.asked.lock().unwrap().len(), 2);
    let malformed = |note: &&String| *note == "small writes no JSON";
    assert_eq!(bench.notes().iter().filter(malformed).count(), 2);
}
