//! One request to a model under the eyes of the observers.
//!
//! Every request of a session passes here, those of the conversation and those beside it: it is made only if the budget
//! has room for it, each attempt at a connection is told as a request, and ends as a response or an error.

use std::sync::Arc;
use std::time::Duration;

use pollux_protocol::{
    ApiErrorMeasure, ApiRequestMeasure, ApiResponseMeasure, CancellationToken, Event, Measurement,
    ModelError, ModelErrorKind, Money, Request, RetryNotice, Usage, estimate,
};
use tokio::sync::mpsc;
use tokio::time::Instant;

use crate::budget::{Budget, Hold};
use crate::outlet::Outlet;
use crate::turn::Turn;

/// The class of errors that are refusals of the vendor.
const API_ERROR: &str = "ApiError";

/// Tells of requests.
#[derive(Clone)]
pub(crate) struct Watch {
    outlet: Outlet,
    budget: Budget,
    log_prompts: bool,
}

/// A request on its way.
pub(crate) struct Asked {
    /// The model as it was asked for.
    model: String,
    /// Who bills it.
    vendor: String,
    request: Request,
    /// When the attempt under way began; none while the next one is waited for.
    began: Option<Instant>,
    /// What the attempt, or the next one, holds of the budget; none once it is settled.
    hold: Option<Hold>,
}

impl Asked {
    pub(crate) fn new(vendor: &str, model: &str, request: Request) -> Self {
        let (vendor, model) = (vendor.to_owned(), model.to_owned());
        Self { model, vendor, request, began: None, hold: None }
    }

    /// About how many tokens are sent.
    fn estimate(&self) -> u64 {
        estimate::request(&self.request).ceil() as u64
    }
}

/// Whoever drops a request under way has still sent it.
impl Drop for Asked {
    fn drop(&mut self) {
        if self.began.is_some()
            && let Some(hold) = self.hold.take()
        {
            hold.abandon(self.estimate(), &self.vendor, &self.model);
        }
    }
}

impl Watch {
    /// `log_prompts`: figures carry the texts too.
    pub(crate) fn new(outlet: Outlet, budget: Budget, log_prompts: bool) -> Self {
        Self { outlet, budget, log_prompts }
    }

    /// Sends the request with `send`; tells of connection attempts that failed while it waits. Who gets an
    /// answer, or an error, [closes](Self::close) the matter.
    ///
    /// # Errors
    /// Those of `send`; `Cancelled` as soon as `cancel` is; those of the [budget](Budget::admit), and then nothing is sent.
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
        self.admit(asked).await?;
        self.begin(asked, Instant::now());
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
                        self.begin(asked, began);
                    }
                    next = Some(Instant::now() + notice.delay);
                    self.tell_waiting(asked, notice).await;
                    // The next attempt is a request like the first.
                    self.admit(asked).await?;
                }
                opened = &mut opening => {
                    if let Some(began) = next.take() {
                        self.begin(asked, began);
                    }
                    return opened;
                }
                () = tokio::time::sleep_until(waited), if next.is_some() => {
                    next = None;
                    self.begin(asked, waited);
                }
            }
        }
    }

    /// Tells how the last attempt ended: with the answer in `turn`, or with an error.
    pub(crate) fn close(&self, asked: &mut Asked, turn: &Turn, error: Option<&ModelError>) {
        // Who gave up between two attempts had no request under way.
        let Some(began) = asked.began.take() else { return };
        let usage = asked.charged(turn, error);
        let names = [turn.answered_by(&asked.model), &asked.model];
        let cost = self.cost(&asked.vendor, names, &usage);
        if let Some(hold) = asked.hold.take() {
            hold.settle(usage.all(), cost);
        }
        let measure = match error {
            None => self.response(asked, turn, began.elapsed(), cost),
            Some(error) => {
                asked.failure(turn.answered_by(&asked.model), began.elapsed(), error, cost)
            }
        };
        self.outlet.measure(&measure);
    }

    /// Makes room for the next attempt.
    async fn admit(&self, asked: &mut Asked) -> Result<(), ModelError> {
        let price = self.budget.price(&asked.vendor, [&asked.model, &asked.model]);
        asked.hold = Some(self.budget.admit(&asked.model, price, || asked.estimate()).await?);
        Ok(())
    }

    /// What tokens cost; nothing costs nothing, whoever bills it.
    fn cost(&self, vendor: &str, names: [&str; 2], usage: &Usage) -> Option<Money> {
        if *usage == Usage::default() {
            return Some(Money::ZERO);
        }
        self.budget.price(vendor, names).map(|price| price.cost(usage))
    }

    /// Each attempt at a connection is a request of its own in the figures.
    fn begin(&self, asked: &mut Asked, began: Instant) {
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
        self.outlet.measure(&Measurement::ApiRequest(measure));
    }

    async fn tell_waiting(&self, asked: &mut Asked, notice: RetryNotice) {
        if let Some(began) = asked.began.take() {
            if let Some(hold) = asked.hold.take() {
                hold.settle(0, Some(Money::ZERO));
            }
            let error = ApiErrorMeasure {
                model: asked.model.clone(),
                prompt_id: asked.request.prompt_id.clone(),
                role: asked.request.role,
                duration: began.elapsed(),
                message: notice.reason.clone(),
                error_type: notice.error_type.clone(),
                status: refused_with(&notice),
                cost: Some(Money::ZERO),
            };
            self.outlet.measure(&Measurement::ApiError(error));
        }
        self.outlet.emit(Event::Waiting(notice)).await;
    }

    fn response(
        &self,
        asked: &Asked,
        turn: &Turn,
        duration: Duration,
        cost: Option<Money>,
    ) -> Measurement {
        let finish_reasons = turn.finish.iter().map(|finish| finish.as_str().to_owned());
        Measurement::ApiResponse(ApiResponseMeasure {
            model: turn.answered_by(&asked.model).to_owned(),
            prompt_id: asked.request.prompt_id.clone(),
            role: asked.request.role,
            duration,
            usage: turn.usage.unwrap_or_default(),
            cost,
            finish_reasons: finish_reasons.collect(),
            response_text: self.log_prompts.then(|| turn.to_json()),
            response_id: turn.response_id.clone(),
        })
    }
}

impl Asked {
    /// What is paid for: what the vendor told; else an estimate of what was sent and what came back. Nothing for what was
    /// refused or never arrived.
    fn charged(&self, turn: &Turn, error: Option<&ModelError>) -> Usage {
        if let Some(usage) = turn.usage {
            return usage;
        }
        let was_cut_off = |error: &ModelError| {
            matches!(error.kind, ModelErrorKind::Cancelled | ModelErrorKind::Broken)
        };
        if !turn.begun && error.is_some_and(|error| !was_cut_off(error)) {
            return Usage::default();
        }
        let candidates = turn.parts.iter().map(estimate::part).sum::<f64>().ceil() as u64;
        Usage { prompt: self.estimate(), candidates, ..Usage::default() }
    }

    fn failure(
        &self,
        model: &str,
        duration: Duration,
        error: &ModelError,
        cost: Option<Money>,
    ) -> Measurement {
        // What a vendor refused is an API error in the figures, whatever it means for the run.
        let error_type = if error.refusal.is_some() { API_ERROR } else { error.type_name };
        Measurement::ApiError(ApiErrorMeasure {
            model: model.to_owned(),
            prompt_id: self.request.prompt_id.clone(),
            role: self.request.role,
            duration,
            message: error.message.clone(),
            error_type: error_type.to_owned(),
            status: error.status(),
            cost,
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
