//! One request to a model under the eyes of the observers.
//!
//! Every request of a session passes here, those of the conversation and those beside it: each attempt at a
//! connection is told as a request, and ends as a response or an error.

use std::sync::Arc;
use std::time::Duration;

use pollux_protocol::{
    ApiErrorMeasure, ApiRequestMeasure, ApiResponseMeasure, CancellationToken, Event, Measurement,
    ModelError, Request, RetryNotice,
};
use tokio::sync::mpsc;
use tokio::time::Instant;

use crate::emitter::Emitter;
use crate::turn::Turn;

/// The class of errors that are refusals of the vendor.
const API_ERROR: &str = "ApiError";

/// Tells of requests.
#[derive(Clone)]
pub(crate) struct Watch {
    emitter: Emitter,
    log_prompts: bool,
}

/// A request on its way.
pub(crate) struct Asked {
    /// The model as it was asked for.
    model: String,
    request: Request,
    /// When the attempt under way began; none while the next one is waited for.
    began: Option<Instant>,
}

impl Asked {
    pub(crate) fn new(model: &str, request: Request) -> Self {
        Self { model: model.to_owned(), request, began: None }
    }
}

impl Watch {
    /// `log_prompts`: figures carry the texts too.
    pub(crate) fn new(emitter: Emitter, log_prompts: bool) -> Self {
        Self { emitter, log_prompts }
    }

    /// Sends the request with `send`; tells of connection attempts that failed while it waits. Who gets an
    /// answer, or an error, [closes](Self::close) the matter.
    ///
    /// # Errors
    /// Those of `send`; `Cancelled` as soon as `cancel` is.
    pub(crate) async fn open<T, F>(
        &self,
        asked: &mut Asked,
        cancel: &CancellationToken,
        send: impl FnOnce(Request) -> F,
    ) -> Result<T, ModelError>
    where
        F: Future<Output = Result<T, ModelError>>,
    {
        let (sender, mut notices) = mpsc::unbounded_channel();
        let mut request = asked.request.clone();
        request.on_retry = Some(Arc::new(move |notice| {
            // Nobody waits any more when the receiver is gone.
            drop(sender.send(notice));
        }));
        self.begin(asked, Instant::now()).await;
        let opening = send(request);
        tokio::pin!(opening);
        // When the next attempt begins, while none is under way.
        let mut next: Option<Instant> = None;
        loop {
            let waited = next.unwrap_or_else(Instant::now);
            tokio::select! {
                biased;
                () = cancel.cancelled() => return Err(ModelError::cancelled()),
                Some(notice) = notices.recv() => {
                    if let Some(began) = next.take() {
                        self.begin(asked, began).await;
                    }
                    next = Some(Instant::now() + notice.delay);
                    self.tell_waiting(asked, notice).await;
                }
                opened = &mut opening => {
                    if let Some(began) = next.take() {
                        self.begin(asked, began).await;
                    }
                    return opened;
                }
                () = tokio::time::sleep_until(waited), if next.is_some() => {
                    next = None;
                    self.begin(asked, waited).await;
                }
            }
        }
    }

    /// Tells how the last attempt ended: with the answer in `turn`, or with an error.
    pub(crate) async fn close(&self, asked: &Asked, turn: &Turn, error: Option<&ModelError>) {
        // Who gave up between two attempts had no request under way.
        let Some(began) = asked.began else { return };
        let measure = match error {
            None => self.response(asked, turn, began.elapsed()),
            Some(error) => asked.failure(turn.answered_by(&asked.model), began.elapsed(), error),
        };
        self.emitter.measure(measure).await;
    }

    /// Each attempt at a connection is a request of its own in the figures.
    async fn begin(&self, asked: &mut Asked, began: Instant) {
        asked.began = Some(began);
        let request = &asked.request;
        let request_text = self.log_prompts.then(|| {
            let contents: Vec<_> = request.entries.iter().map(|entry| entry.content()).collect();
            serde_json::to_string(&contents).unwrap_or_default()
        });
        let measure = ApiRequestMeasure {
            model: asked.model.clone(),
            prompt_id: request.prompt_id.clone(),
            role: request.role,
            request_text,
            system: request.system.clone().filter(|_| self.log_prompts),
        };
        self.emitter.measure(Measurement::ApiRequest(measure)).await;
    }

    async fn tell_waiting(&self, asked: &mut Asked, notice: RetryNotice) {
        if let Some(began) = asked.began.take() {
            let error = ApiErrorMeasure {
                model: asked.model.clone(),
                prompt_id: asked.request.prompt_id.clone(),
                role: asked.request.role,
                duration: began.elapsed(),
                message: notice.reason.clone(),
                error_type: notice.error_type.clone(),
                status: refused_with(&notice),
            };
            self.emitter.measure(Measurement::ApiError(error)).await;
        }
        self.emitter.emit(Event::Waiting(notice)).await;
    }

    fn response(&self, asked: &Asked, turn: &Turn, duration: Duration) -> Measurement {
        let finish_reasons = turn.finish.iter().map(|finish| finish.as_str().to_owned());
        Measurement::ApiResponse(ApiResponseMeasure {
            model: turn.answered_by(&asked.model).to_owned(),
            prompt_id: asked.request.prompt_id.clone(),
            role: asked.request.role,
            duration,
            usage: turn.usage.unwrap_or_default(),
            finish_reasons: finish_reasons.collect(),
            response_text: self.log_prompts.then(|| turn.to_json()),
            response_id: turn.response_id.clone(),
        })
    }
}

impl Asked {
    fn failure(&self, model: &str, duration: Duration, error: &ModelError) -> Measurement {
        // What a vendor refused is an API error in the figures, whatever it means for the run.
        let error_type = if error.status.is_some() { API_ERROR } else { error.type_name };
        Measurement::ApiError(ApiErrorMeasure {
            model: model.to_owned(),
            prompt_id: self.request.prompt_id.clone(),
            role: self.request.role,
            duration,
            message: error.message.clone(),
            error_type: error_type.to_owned(),
            status: error.status,
        })
    }
}

/// The status of an attempt that the vendor refused: the reason begins with it.
fn refused_with(notice: &RetryNotice) -> Option<u16> {
    if notice.error_type != API_ERROR {
        return None;
    }
    notice.reason.split(' ').next()?.parse().ok()
}
