//! Sends one request and returns one usable answer.
//!
//! A stream that breaks, or that ends without usable content, is requested again. The content that
//! was already streamed is then void, and the frontend is notified. History, log and calls are not
//! handled here but by the session.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use futures::StreamExt;
use pollux_protocol::{
    CancellationToken, Choice, ChunkStream, Event, FinishReason, InvalidStream, Measurement,
    ModelError, ModelErrorKind, ModelRequest, Models, StreamRetryMeasure,
};
use serde_json::Value;

use crate::budget::Budget;
use crate::hook_events::HookEvents;
use crate::outlet::Outlet;
use crate::turn::{LONGEST_ANSWER, Turn};
use crate::watch::{Asked, Watch};

mod hooked;

pub(crate) use hooked::Interference;
use hooked::{Hooked, Prepared};

/// Number and delays of attempts after an unusable answer.
#[derive(Debug, Clone, Copy)]
pub struct StreamRetries {
    /// Total number of attempts.
    pub attempts: u32,
    /// Delay before the second attempt. It doubles with each further attempt.
    pub base: Duration,
}

impl Default for StreamRetries {
    fn default() -> Self {
        Self { attempts: 4, base: Duration::from_secs(1) }
    }
}

/// Result of a request. `turn` holds the received content, also of an answer that was cut short.
#[derive(Debug)]
pub(crate) struct Answer {
    pub(crate) turn: Turn,
    pub(crate) end: Result<(), ModelError>,
    /// Name of the model that was asked.
    pub(crate) model: String,
    /// Intervention by a hook or by the loop guard.
    pub(crate) interference: Option<Interference>,
}

/// Sends requests to models.
#[derive(Clone)]
pub(crate) struct Chat {
    outlet: Outlet,
    retries: StreamRetries,
    watch: Watch,
    hooked: Option<Hooked>,
    /// Number of attempts so far.
    attempts: Arc<AtomicU64>,
}

impl Chat {
    /// Creates a chat that reports to `outlet` and charges `budget`. If `log_prompts` is true,
    /// measurements contain the texts, too.
    pub(crate) fn new(
        outlet: Outlet,
        retries: StreamRetries,
        budget: Budget,
        log_prompts: bool,
    ) -> Self {
        let watch = Watch::new(outlet.clone(), budget, log_prompts);
        Self { outlet, retries, watch, hooked: None, attempts: Arc::default() }
    }

    /// Lets hooks inspect requests and answers. `models` resolves a model that a hook requests
    /// instead.
    #[must_use]
    pub(crate) fn with_hooks(self, events: HookEvents, models: Arc<dyn Models>) -> Self {
        Self { hooked: Some(Hooked { events, models }), ..self }
    }

    /// Sends the request until an answer is usable, the attempts are used up, or `cancel` fires.
    ///
    /// An answer that repeats itself is cut off if `guarded` is true.
    pub(crate) async fn ask(
        &self,
        choice: &Choice,
        request: ModelRequest,
        guarded: bool,
        cancel: &CancellationToken,
    ) -> Answer {
        let answers_results = request
            .entries
            .last()
            .is_some_and(|entry| entry.content().responses().next().is_some());
        let mut sent = request.clone();
        let mut attempt = 1;
        loop {
            let mut answer = self.attempt(choice, sent.clone(), guarded, cancel).await;
            if answer.interference.is_some() {
                return answer;
            }
            if answer.end.is_ok()
                && let Some(fault) = answer.turn.fault(answers_results)
            {
                answer.end = Err(fault);
            }
            let Err(error) = &answer.end else { return answer };
            if error.kind == ModelErrorKind::Cancelled || cancel.is_cancelled() {
                return answer;
            }
            if !error.retryable || attempt >= self.retries.attempts {
                // A refused request does not count as an attempt at an answer.
                if error.retryable || answer.turn.begun {
                    self.measure_surrender(choice, error, attempt);
                }
                if let ModelErrorKind::Unusable(reason) = error.kind {
                    self.measure_invalid(choice, &request, reason);
                }
                return answer;
            }
            let delay = self.retries.base * 2_u32.saturating_pow(attempt - 1);
            self.measure_retry(choice, error, attempt, delay);
            tokio::select! {
                () = cancel.cancelled() => {
                    answer.end = Err(ModelError::cancelled());
                    return answer;
                }
                () = tokio::time::sleep(delay) => {}
            }
            sent.is_retry = true;
            sent.system = nudged(&request, error);
            self.outlet.emit(Event::StreamRestarted).await;
            attempt += 1;
        }
    }

    /// Makes one attempt, from opening the stream to its end.
    async fn attempt(
        &self,
        choice: &Choice,
        request: ModelRequest,
        guarded: bool,
        cancel: &CancellationToken,
    ) -> Answer {
        let number = self.attempts.fetch_add(1, Ordering::Relaxed);
        let is_main = self.outlet.origin().agent.is_main();
        let own_ids = (!is_main).then(|| format!("{}#{number}", request.prompt_id));
        let mut turn = Turn::new(&request.prompt_id, jiff::Timestamp::now().as_millisecond())
            .with_own_ids(own_ids);
        let prepared = match self.before(choice.clone(), request, cancel).await {
            Ok(prepared) => prepared,
            Err(interference) => return self.interfered(&choice.name, turn, interference).await,
        };
        let Prepared { choice, request, reported } = prepared;
        let model = &choice.model;
        let mut asked = Asked::new(model.vendor(), &choice.name, request);
        let opened =
            self.watch.open(&mut asked, cancel, |request| model.stream(request, cancel.clone()));
        let drained = match opened.await {
            Ok(stream) => self.drain(stream, &mut turn, reported.as_ref(), guarded, cancel).await,
            Err(error) => Err(error),
        };
        self.watch.close(&mut asked, &turn, drained.as_ref().err());
        match drained {
            Ok(Some(interference)) => self.interfered(&choice.name, turn, interference).await,
            drained => {
                let end = drained.map(drop);
                Answer { turn, end, model: choice.name, interference: None }
            }
        }
    }

    /// Returns the answer after an intervention. A blocked or cut-off answer makes no calls.
    async fn interfered(&self, model: &str, mut turn: Turn, interference: Interference) -> Answer {
        if !matches!(interference, Interference::Stopped(_)) {
            turn.forget_calls();
        }
        if matches!(interference, Interference::Blocked(_)) {
            // The block has its own report.
            turn.finish = Some(FinishReason::Stop);
        }
        if let Interference::Blocked(Some(answer)) = &interference {
            for event in turn.take(answer.as_ref().clone()) {
                self.outlet.emit(event).await;
            }
        }
        Answer { turn, end: Ok(()), model: model.to_owned(), interference: Some(interference) }
    }

    /// Reads the stream to its end, or until a hook or the loop guard intervenes. `reported` is the
    /// request in the form that hooks see.
    async fn drain(
        &self,
        mut stream: ChunkStream,
        turn: &mut Turn,
        reported: Option<&Value>,
        guarded: bool,
        cancel: &CancellationToken,
    ) -> Result<Option<Interference>, ModelError> {
        loop {
            let next = tokio::select! {
                biased;
                () = cancel.cancelled() => return Err(ModelError::cancelled()),
                next = stream.next() => next,
            };
            match next {
                None => break,
                Some(Ok(chunk)) => {
                    let chunk = match self.after(reported, chunk, cancel).await {
                        Ok(chunk) => chunk,
                        Err(interference) => return Ok(Some(interference)),
                    };
                    for event in turn.take(chunk) {
                        let found = match &event {
                            Event::Text(words) if guarded => turn.hear(words),
                            _ => None,
                        };
                        self.outlet.emit(event).await;
                        if let Some(found) = found {
                            return Ok(Some(Interference::Looped(found)));
                        }
                    }
                    if turn.is_too_long() {
                        let message = format!(
                            "The answer is longer than {} MiB and was truncated.",
                            LONGEST_ANSWER >> 20
                        );
                        return Err(ModelError::new(ModelErrorKind::Broken, message));
                    }
                }
                Some(Err(error)) => {
                    if error.kind == ModelErrorKind::Broken {
                        let message = error.message.clone();
                        self.outlet.measure(&Measurement::InvalidChunk { message });
                    }
                    return Err(error);
                }
            }
        }
        if let Some(citations) = turn.citations() {
            self.outlet.emit(Event::Citations(citations)).await;
        }
        Ok(None)
    }

    fn measure_invalid(&self, choice: &Choice, request: &ModelRequest, reason: InvalidStream) {
        let model = choice.name.clone();
        let measure = Measurement::InvalidStream { model, role: request.role, reason };
        self.outlet.measure(&measure);
    }

    /// Reports that another attempt follows, after an unusable answer or a broken stream.
    fn measure_retry(&self, choice: &Choice, error: &ModelError, attempt: u32, delay: Duration) {
        let measurement = if matches!(error.kind, ModelErrorKind::Unusable(_)) {
            Measurement::ContentRetry(failed_attempt(choice, error, attempt, Some(delay)))
        } else {
            Measurement::NetworkRetry {
                model: choice.name.clone(),
                attempt,
                max_attempts: self.retries.attempts,
                error_type: error.type_name.to_owned(),
                delay,
            }
        };
        self.outlet.measure(&measurement);
    }

    /// Reports that no further attempt follows.
    fn measure_surrender(&self, choice: &Choice, error: &ModelError, attempt: u32) {
        let measure = failed_attempt(choice, error, attempt, None);
        self.outlet.measure(&Measurement::ContentRetryFailure(measure));
    }
}

fn failed_attempt(
    choice: &Choice,
    error: &ModelError,
    attempt: u32,
    delay: Option<Duration>,
) -> StreamRetryMeasure {
    let reason = match error.kind {
        ModelErrorKind::Unusable(reason) => Some(reason),
        _ => None,
    };
    StreamRetryMeasure {
        model: choice.name.clone(),
        attempt,
        reason,
        error_type: reason.map_or(error.type_name, InvalidStream::code).to_owned(),
        delay,
    }
}

/// Returns the system instruction with an added hint about the unusable answer.
fn nudged(request: &ModelRequest, error: &ModelError) -> Option<Arc<str>> {
    let nudge = match error.kind {
        ModelErrorKind::Unusable(InvalidStream::ThinkingOnlyResponse) => {
            "Your last answer held only thoughts. Answer with text for the user, or call a tool."
        }
        ModelErrorKind::Unusable(InvalidStream::NoResponseText) => {
            "Your last answer was empty. Answer with text for the user, or call a tool."
        }
        _ => return request.system.clone(),
    };
    Some(match &request.system {
        Some(system) => format!("{system}\n\n{nudge}").into(),
        None => nudge.into(),
    })
}
