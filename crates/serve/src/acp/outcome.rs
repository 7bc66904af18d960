//! End of a prompt, as the client gets it. Pure.

use agent_client_protocol_schema::v1::{Error, PromptResponse, StopReason};
use pollux_protocol::{FinishReason, PromptOutcome, Usage, UsageReport};
use serde_json::{Value, json};

use super::errors;
use super::initialize::object;

/// Function that returns the message for a prompt that failed; `None` for one that did not.
pub type DescribeOutcome = fn(&PromptOutcome) -> Option<String>;

/// Facts about a prompt at its end.
#[derive(Debug, Default)]
pub(crate) struct Account {
    /// Tokens of the requests, by model in the order of their first request.
    usage: Vec<(String, Usage)>,
    /// True if the conversation does not fit into the context window, or the answer was cut off
    /// because it is too long.
    pub(crate) is_too_long: bool,
}

impl Account {
    /// Adds the tokens of a request.
    pub(crate) fn add(&mut self, report: &UsageReport) {
        match self.usage.iter_mut().find(|(model, _)| *model == report.model) {
            Some((_, sum)) => *sum += report.usage,
            None => self.usage.push((report.model.clone(), report.usage)),
        }
    }

    /// Returns the answer to the request of the prompt, or the error.
    pub(crate) fn close(
        &self,
        outcome: &PromptOutcome,
        describe: DescribeOutcome,
    ) -> Result<PromptResponse, Error> {
        let reason = match outcome {
            PromptOutcome::Cancelled => return Ok(cancelled()),
            PromptOutcome::Failed(error) => return Err(errors::model(error)),
            PromptOutcome::FatalTool { .. }
            | PromptOutcome::LogFailed(_)
            | PromptOutcome::Budget(_)
            | PromptOutcome::Unsatisfied(_) => {
                return Err(errors::failed(describe(outcome).unwrap_or_default()));
            }
            PromptOutcome::TurnLimit(_) | PromptOutcome::Loop(_) => StopReason::MaxTurnRequests,
            PromptOutcome::CutOff(Some(FinishReason::MaxTokens)) => StopReason::MaxTokens,
            _ if self.is_too_long => StopReason::MaxTokens,
            PromptOutcome::Done
            | PromptOutcome::InvalidStream(_)
            | PromptOutcome::CutOff(_)
            | PromptOutcome::Stopped(_) => StopReason::EndTurn,
        };
        Ok(PromptResponse::new(reason).meta(object(json!({ "quota": self.quota() }))))
    }

    /// Returns the tokens of the prompt in the form of Gemini CLI.
    fn quota(&self) -> Value {
        let count = |usage: &Usage| json!({"input_tokens": usage.prompt, "output_tokens": usage.candidates});
        let mut all = Usage::default();
        self.usage.iter().for_each(|(_, usage)| all += *usage);
        let models = self.usage.iter();
        let models =
            models.map(|(model, usage)| json!({"model": model, "token_count": count(usage)}));
        json!({"token_count": count(&all), "model_usage": models.collect::<Vec<_>>()})
    }
}

/// Returns the answer to the request of a prompt that was cancelled.
pub(crate) fn cancelled() -> PromptResponse {
    PromptResponse::new(StopReason::Cancelled)
}
