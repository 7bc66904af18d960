//! Accounting and measurement of one request to a model.
//!
//! Every request of a session, including side calls, passes through this module. It is made only if
//! the budget has room for it. Each connection attempt is reported as a request, and its end as a
//! response or an error.

use std::sync::Arc;
use std::time::Duration;

use pollux_protocol::{
    ApiErrorMeasure, ApiRequestMeasure, ApiResponseMeasure, CancellationToken, Choice, Event,
    FinishReason, Measurement, ModelError, ModelErrorKind, ModelRequest, Money, RetryNotice,
    ToolOmission, Usage, estimate,
};
use tokio::sync::mpsc;
use tokio::time::Instant;

use crate::budget::{Budget, Hold};
use crate::outlet::Outlet;
use crate::turn::Turn;

/// Type name of errors with which the vendor refused a request.
const API_ERROR: &str = "ApiError";

/// Charges and reports requests.
#[derive(Clone)]
pub(crate) struct Watch {
    outlet: Outlet,
    budget: Budget,
    log_prompts: bool,
}

/// Cost of a request; `None` if the price of the model is not known.
#[derive(Clone, Copy)]
struct Cost {
    cost: Option<Money>,
    /// True if the vendor did not count the tokens.
    is_estimated: bool,
}

/// Request that is being made.
pub(crate) struct Asked {
    /// Name of the requested model.
    model: String,
    /// Vendor that bills the request.
    vendor: String,
    request: ModelRequest,
    /// Start of the current attempt; `None` during the wait for the next attempt.
    began: Option<Instant>,
    /// Budget that the current or the next attempt holds; `None` after it is settled.
    hold: Option<Hold>,
}

impl Asked {
    pub(crate) fn new(vendor: &str, model: &str, request: ModelRequest) -> Self {
        let (vendor, model) = (vendor.to_owned(), model.to_owned());
        Self { model, vendor, request, began: None, hold: None }
    }

    /// Returns the estimated number of tokens that are sent.
    fn estimate(&self) -> u64 {
        estimate::request(&self.request).ceil() as u64
    }
}

/// Charges a request that was sent and then dropped.
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
    /// Creates a watch. If `log_prompts` is true, measurements contain the texts, too.
    pub(crate) fn new(outlet: Outlet, budget: Budget, log_prompts: bool) -> Self {
        Self { outlet, budget, log_prompts }
    }

    /// True if the budget does not exclude all requests to a model that is to replace another one.
    pub(crate) fn permits(&self, replacement: &Choice) -> bool {
        self.budget.permits(replacement)
    }

    /// Sends the request with `send`, and reports failed connection attempts in the meantime. The
    /// caller must [close](Self::close) the request after an answer or an error.
    ///
    /// # Errors
    /// Returns the error of `send`, `Cancelled` as soon as `cancel` fires, or an error of the
    /// [budget](Budget::admit). After a budget error, no further attempt is made.
    pub(crate) async fn open<T, F>(
        &self,
        asked: &mut Asked,
        cancel: &CancellationToken,
        send: impl FnOnce(ModelRequest) -> F,
    ) -> Result<T, ModelError>
    where
        F: Future<Output = Result<T, ModelError>>,
    {
        let (sender, mut notices) = mpsc::unbounded_channel();
        let mut request = asked.request.clone();
        request.on_retry = Some(Arc::new(move |notice| {
            // Sending fails only if the receiver is gone. Then no one waits for notices.
            drop(sender.send(notice));
        }));
        let outlet = self.outlet.clone();
        request.on_omission = Some(Arc::new(move |omission: &ToolOmission| {
            let ToolOmission { tool, reason } = omission;
            outlet.warn_once(format!("The model cannot use the tool {tool}: {reason}."));
        }));
        self.admit(asked).await?;
        request.adjustments.output_limit = asked.hold.as_ref().and_then(Hold::output_limit);
        self.begin(asked, Instant::now());
        let opening = send(request);
        tokio::pin!(opening);
        // Start of the next attempt, during the wait for it.
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
                    self.report_retry(asked, notice).await;
                    // The next attempt is charged like the first.
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

    /// Reports the end of the last attempt: with the answer in `turn`, or with an error.
    pub(crate) fn close(&self, asked: &mut Asked, turn: &Turn, error: Option<&ModelError>) {
        // Between two attempts there is no request to report.
        let Some(began) = asked.began.take() else { return };
        let (usage, is_estimated) = asked.charged(turn, error);
        let names = [turn.answered_by(&asked.model), &asked.model];
        let cost = self.cost(&asked.vendor, names, &usage);
        if let Some(hold) = asked.hold.take() {
            match turn.finish {
                Some(FinishReason::MaxTokens) => hold.settle_cut_off(usage.all(), cost),
                _ => hold.settle(usage.all(), cost),
            }
        }
        let cost = Cost { cost, is_estimated };
        let measure = match error {
            None => self.response(asked, turn, began.elapsed(), cost),
            Some(error) => {
                asked.failure(turn.answered_by(&asked.model), began.elapsed(), error, cost)
            }
        };
        self.outlet.measure(&measure);
    }

    /// Reserves budget for the next attempt.
    async fn admit(&self, asked: &mut Asked) -> Result<(), ModelError> {
        let price = self.budget.price(&asked.vendor, [&asked.model, &asked.model]);
        asked.hold = Some(self.budget.admit(&asked.model, price, || asked.estimate()).await?);
        Ok(())
    }

    /// Returns the cost of tokens. No tokens cost nothing, even if the price is unknown.
    fn cost(&self, vendor: &str, names: [&str; 2], usage: &Usage) -> Option<Money> {
        if *usage == Usage::default() {
            return Some(Money::ZERO);
        }
        self.budget.price(vendor, names).map(|price| price.cost(usage))
    }

    /// Reports the start of an attempt. Each connection attempt is measured as a separate request.
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

    async fn report_retry(&self, asked: &mut Asked, notice: RetryNotice) {
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
                is_cost_estimated: false,
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
        Cost { cost, is_estimated }: Cost,
    ) -> Measurement {
        let finish_reasons = turn.finish.iter().map(|finish| finish.as_str().to_owned());
        Measurement::ApiResponse(ApiResponseMeasure {
            model: turn.answered_by(&asked.model).to_owned(),
            prompt_id: asked.request.prompt_id.clone(),
            role: asked.request.role,
            duration,
            usage: turn.usage.unwrap_or_default(),
            cost,
            is_cost_estimated: is_estimated,
            finish_reasons: finish_reasons.collect(),
            response_text: self.log_prompts.then(|| turn.to_json()),
            response_id: turn.response_id.clone(),
        })
    }
}

impl Watch {
    /// Reports an answer of this model that is not JSON.
    pub(crate) fn malformed(&self, model: &str) {
        self.outlet.measure(&Measurement::MalformedJson { model: model.to_owned() });
    }
}

impl Asked {
    /// Returns the usage to charge, and whether it is an estimate: the vendor's count, otherwise an
    /// estimate of the sent and received tokens. Some servers report zero tokens instead of none.
    /// Requests that were refused or never arrived are free.
    fn charged(&self, turn: &Turn, error: Option<&ModelError>) -> (Usage, bool) {
        if let Some(usage) = turn.usage.filter(|usage| *usage != Usage::default()) {
            return (usage, false);
        }
        let was_cut_off = |error: &ModelError| {
            matches!(error.kind, ModelErrorKind::Cancelled | ModelErrorKind::Broken)
        };
        if !turn.begun && error.is_some_and(|error| !was_cut_off(error)) {
            return (Usage::default(), false);
        }
        let candidates = turn.parts.iter().map(estimate::part).sum::<f64>().ceil() as u64;
        (Usage { prompt: self.estimate(), candidates, ..Usage::default() }, true)
    }

    fn failure(
        &self,
        model: &str,
        duration: Duration,
        error: &ModelError,
        Cost { cost, is_estimated }: Cost,
    ) -> Measurement {
        // A vendor's refusal is measured as an API error, whatever its consequence for the run.
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
            is_cost_estimated: is_estimated,
        })
    }
}

/// Returns the HTTP status with which the vendor refused an attempt. The reason begins with it.
fn refused_with(notice: &RetryNotice) -> Option<u16> {
    if notice.error_type != API_ERROR {
        return None;
    }
    notice.reason.split(' ').next()?.parse().ok()
}
