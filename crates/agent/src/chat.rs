//! One request, one usable answer.
//!
//! A stream that breaks on the way, or that ends without anything usable, is asked for again: what had
//! streamed is void then, and the frontend is told so. Everything else (the history, the log, the calls)
//! is the session's.

use std::sync::Arc;
use std::time::{Duration, Instant};

use futures::StreamExt;
use pollux_protocol::{
    ApiErrorMeasure, ApiRequestMeasure, ApiResponseMeasure, CancellationToken, Choice, ChunkStream,
    Event, InvalidStream, Measurement, ModelError, ModelErrorKind, Request, RetryNotice,
    StreamRetryMeasure,
};
use tokio::sync::mpsc;

use crate::emitter::Emitter;
use crate::turn::{LONGEST_ANSWER, Turn};

/// How often and how patiently an unusable answer is asked for again.
#[derive(Debug, Clone, Copy)]
pub struct StreamRetries {
    /// Attempts in all.
    pub attempts: u32,
    /// The wait before the second attempt; it doubles each time.
    pub base: Duration,
}

impl Default for StreamRetries {
    fn default() -> Self {
        Self { attempts: 4, base: Duration::from_secs(1) }
    }
}

/// What came of a request. `turn` holds what was said, also when it was cut short.
#[derive(Debug)]
pub(crate) struct Answer {
    pub(crate) turn: Turn,
    pub(crate) end: Result<(), ModelError>,
}

/// Asks models.
#[derive(Clone)]
pub struct Chat {
    emitter: Emitter,
    retries: StreamRetries,
    log_prompts: bool,
}

impl Chat {
    /// A chat that tells its events to `emitter`. `log_prompts`: figures carry the texts too.
    pub fn new(emitter: Emitter, retries: StreamRetries, log_prompts: bool) -> Self {
        Self { emitter, retries, log_prompts }
    }

    /// Sends the request until an answer is usable, the attempts are used up, or `cancel` is.
    pub(crate) async fn ask(
        &self,
        choice: &Choice,
        request: Request,
        cancel: &CancellationToken,
    ) -> Answer {
        let answers_results = request
            .entries
            .last()
            .is_some_and(|entry| entry.content().responses().next().is_some());
        let mut sent = request.clone();
        let mut attempt = 1;
        loop {
            let mut answer = self.attempt(choice, sent.clone(), cancel).await;
            if answer.end.is_ok()
                && let Some(reason) = answer.turn.judge(answers_results)
            {
                answer.end = Err(ModelError::unusable(reason));
            }
            let Err(error) = &answer.end else { return answer };
            if !error.retryable || cancel.is_cancelled() {
                return answer;
            }
            let last = attempt >= self.retries.attempts;
            let delay = self.retries.base * 2_u32.saturating_pow(attempt - 1);
            self.measure_retry(choice, error, attempt, (!last).then_some(delay)).await;
            if last {
                if let ModelErrorKind::Unusable(reason) = error.kind {
                    self.measure_invalid(choice, &request, reason).await;
                }
                return answer;
            }
            tokio::select! {
                () = cancel.cancelled() => {
                    answer.end = Err(ModelError::cancelled());
                    return answer;
                }
                () = tokio::time::sleep(delay) => {}
            }
            sent.is_retry = true;
            sent.system = nudged(&request, error);
            self.emitter.emit(Event::StreamRestarted).await;
            attempt += 1;
        }
    }

    /// One attempt, from opening to the end of the stream.
    async fn attempt(
        &self,
        choice: &Choice,
        request: Request,
        cancel: &CancellationToken,
    ) -> Answer {
        let started = Instant::now();
        let mut turn = Turn::new(&request.prompt_id, jiff::Timestamp::now().as_millisecond());
        self.measure_request(choice, &request).await;
        let (prompt_id, role) = (request.prompt_id.clone(), request.role);
        let end = match self.open(choice, request, cancel).await {
            Ok(stream) => self.drain(stream, &mut turn, cancel).await,
            Err(error) => Err(error),
        };
        let duration = started.elapsed();
        let model = choice.name.clone();
        match &end {
            Ok(()) => {
                let finish_reasons = turn.finish.iter().map(|finish| finish.as_str().to_owned());
                let measure = ApiResponseMeasure {
                    model,
                    prompt_id,
                    role,
                    duration,
                    usage: turn.usage.unwrap_or_default(),
                    finish_reasons: finish_reasons.collect(),
                    response_text: self.log_prompts.then(|| turn.text()),
                    response_id: turn.response_id.clone(),
                };
                self.emitter.measure(Measurement::ApiResponse(measure)).await;
            }
            Err(error) => {
                let measure = api_error(&model, &prompt_id, role, duration, error);
                self.emitter.measure(Measurement::ApiError(measure)).await;
            }
        }
        Answer { turn, end }
    }

    /// Opens the stream; tells of connection attempts that failed while it waits.
    async fn open(
        &self,
        choice: &Choice,
        mut request: Request,
        cancel: &CancellationToken,
    ) -> Result<ChunkStream, ModelError> {
        let (sender, mut notices) = mpsc::unbounded_channel();
        let (prompt_id, role) = (request.prompt_id.clone(), request.role);
        request.on_retry = Some(Arc::new(move |notice| {
            // Nobody waits any more when the receiver is gone.
            drop(sender.send(notice));
        }));
        let opening = choice.model.stream(request, cancel.clone());
        tokio::pin!(opening);
        loop {
            tokio::select! {
                biased;
                () = cancel.cancelled() => return Err(ModelError::cancelled()),
                Some(notice) = notices.recv() => {
                    self.tell_waiting(&choice.name, &prompt_id, role, notice).await;
                }
                opened = &mut opening => return opened,
            }
        }
    }

    async fn tell_waiting(
        &self,
        model: &str,
        prompt_id: &str,
        role: pollux_protocol::ModelRole,
        notice: RetryNotice,
    ) {
        // Each failed attempt counts as a request that failed.
        let error = ApiErrorMeasure {
            model: model.to_owned(),
            prompt_id: prompt_id.to_owned(),
            role,
            duration: Duration::ZERO,
            message: notice.reason.clone(),
            error_type: notice.error_type.clone(),
            status: None,
        };
        self.emitter.measure(Measurement::ApiError(error)).await;
        let retry = Measurement::NetworkRetry {
            model: model.to_owned(),
            attempt: notice.attempt,
            max_attempts: notice.max_attempts,
            error_type: notice.error_type.clone(),
            delay: notice.delay,
        };
        self.emitter.measure(retry).await;
        self.emitter.emit(Event::Waiting(notice)).await;
    }

    async fn drain(
        &self,
        mut stream: ChunkStream,
        turn: &mut Turn,
        cancel: &CancellationToken,
    ) -> Result<(), ModelError> {
        loop {
            let next = tokio::select! {
                biased;
                () = cancel.cancelled() => return Err(ModelError::cancelled()),
                next = stream.next() => next,
            };
            match next {
                None => break,
                Some(Ok(chunk)) => {
                    for event in turn.take(chunk) {
                        self.emitter.emit(event).await;
                    }
                    if turn.is_too_long() {
                        let message = format!(
                            "The answer is longer than {} MiB and was cut off.",
                            LONGEST_ANSWER >> 20
                        );
                        return Err(ModelError::new(ModelErrorKind::Broken, message));
                    }
                }
                Some(Err(error)) => return Err(error),
            }
        }
        if let Some(citations) = turn.citations() {
            self.emitter.emit(Event::Citations(citations)).await;
        }
        Ok(())
    }

    async fn measure_request(&self, choice: &Choice, request: &Request) {
        let request_text = self.log_prompts.then(|| {
            let contents: Vec<_> = request.entries.iter().map(|entry| entry.content()).collect();
            serde_json::to_string(&contents).unwrap_or_default()
        });
        let measure = ApiRequestMeasure {
            model: choice.name.clone(),
            prompt_id: request.prompt_id.clone(),
            role: request.role,
            request_text,
        };
        self.emitter.measure(Measurement::ApiRequest(measure)).await;
    }

    async fn measure_invalid(&self, choice: &Choice, request: &Request, reason: InvalidStream) {
        let model = choice.name.clone();
        let measure = Measurement::InvalidStream { model, role: request.role, reason };
        self.emitter.measure(measure).await;
    }

    async fn measure_retry(
        &self,
        choice: &Choice,
        error: &ModelError,
        attempt: u32,
        delay: Option<Duration>,
    ) {
        let reason = match error.kind {
            ModelErrorKind::Unusable(reason) => Some(reason),
            _ => None,
        };
        let measure = StreamRetryMeasure {
            model: choice.name.clone(),
            attempt,
            reason,
            error_type: reason.map_or(error.type_name, InvalidStream::code).to_owned(),
            delay,
        };
        let measurement = match delay {
            Some(_) => Measurement::ContentRetry(measure),
            None => Measurement::ContentRetryFailure(measure),
        };
        self.emitter.measure(measurement).await;
    }
}

fn api_error(
    model: &str,
    prompt_id: &str,
    role: pollux_protocol::ModelRole,
    duration: Duration,
    error: &ModelError,
) -> ApiErrorMeasure {
    ApiErrorMeasure {
        model: model.to_owned(),
        prompt_id: prompt_id.to_owned(),
        role,
        duration,
        message: error.message.clone(),
        // What a vendor refused is an API error in the figures, whatever it means for the run.
        error_type: if error.status.is_some() { "ApiError" } else { error.type_name }.to_owned(),
        status: error.status,
    }
}

/// The system instruction with a word about the answer that said nothing.
fn nudged(request: &Request, error: &ModelError) -> Option<Arc<str>> {
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
