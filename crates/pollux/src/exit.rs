//! Mapping from failures to the exit code, the name in JSON output, and the remedy.
//!
//! | code | meaning |
//! |---|---|
//! | 0 | done (also: the model's answer could not be used, after all attempts) |
//! | 1 | wrong arguments, and everything without a code of its own |
//! | 41 | no credentials, or wrong ones |
//! | 42 | no input, a session that cannot be found, an `@path` that cannot be read |
//! | 44 | a sandbox was requested and is not available |
//! | 52 | broken settings |
//! | 53 | the limit of turns was reached |
//! | 54 | a tool or the session log failed fatally (the disk is full, a change cannot be undone) |
//! | 55 | an approval mode was requested that the untrusted folder does not permit |
//! | 56 | the model was stuck in a loop |
//! | 57 | a limit of the budget was reached |
//! | 58 | the answer does not satisfy the required schema |
//! | 59 | the answer of a model other than Gemini's was cut off |
//! | 60 | the quota of the model is used up |
//! | 61 | the vendor limited the rate, was overloaded or failed, on all attempts |
//! | 62 | the vendor could not be reached |
//! | 130, 143 | ended by SIGINT, SIGTERM |
//! | status mod 256 | HTTP error of the vendor, in JSON formats; in text 1, 60 or 61; 1 for unknown models |

use pollux_extensions::InstallError;
use pollux_input::ConversationEnd;
use pollux_input::narration;
use pollux_protocol::{
    Exceeded, FinishReason, ModelError, ModelErrorKind, Period, PromptOutcome, SessionFailure,
    SessionsError, TurnLimit, Unsatisfied,
};
use serde_json::{Value, json};

use crate::arguments::budget_flag;

/// Reason why the program fails.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Failure {
    /// Name of the error in JSON output.
    pub(crate) name: &'static str,
    /// Message for the user: what happened and how to fix it.
    pub(crate) message: String,
    /// The `code` of JSON output: an exit code or an HTTP status.
    pub(crate) code: i64,
    /// Exit code in text mode. JSON modes exit with `code` mod 256.
    pub(crate) text_exit: i32,
    /// True if standard error gets plain text even in the JSON format, because Gemini CLI fails at
    /// this point before it knows the output format.
    pub(crate) is_plain: bool,
    /// Additional data with its key in the `error` object of JSON output. Failures that Gemini CLI
    /// does not have carry such data, and their output also contains the statistics of the run.
    pub(crate) details: Option<Box<(&'static str, Value)>>,
}

impl Failure {
    fn new(name: &'static str, code: i32, message: impl Into<String>) -> Self {
        Self {
            name,
            message: message.into(),
            code: code.into(),
            text_exit: code,
            is_plain: false,
            details: None,
        }
    }

    pub(crate) fn general(message: impl Into<String>) -> Self {
        Self::new("Error", 1, message)
    }

    pub(crate) fn authentication(message: impl Into<String>) -> Self {
        Self::new("Error", 41, message)
    }

    pub(crate) fn input(message: impl Into<String>) -> Self {
        Self::new("FatalInputError", 42, message)
    }

    pub(crate) fn no_input(message: impl Into<String>) -> Self {
        Self { is_plain: true, ..Self::input(message) }
    }

    pub(crate) fn sandbox(message: impl Into<String>) -> Self {
        Self::new("FatalSandboxError", 44, message)
    }

    pub(crate) fn config(message: impl Into<String>) -> Self {
        Self { is_plain: true, ..Self::new("FatalConfigError", 52, message) }
    }

    pub(crate) fn untrusted(message: impl Into<String>) -> Self {
        Self { is_plain: true, ..Self::new("FatalUntrustedWorkspaceError", 55, message) }
    }

    pub(crate) fn turn_limit(limit: TurnLimit) -> Self {
        let message = match limit {
            TurnLimit::Session => "Reached max session turns for this session. Increase the number of turns by specifying maxSessionTurns in settings.json.".to_owned(),
            TurnLimit::Prompt(turns) => format!(
                "Reached the limit of {turns} turns for one prompt. Continue with --resume latest, or set model.maxSessionTurns in settings.json, which replaces this limit."
            ),
        };
        Self::new("FatalTurnLimitedError", 53, message)
    }

    pub(crate) fn looped(details: &str) -> Self {
        let message = format!(
            "Loop detected, stopping execution. {details} Continue with --resume latest and a different prompt, or set model.disableLoopDetection in settings.json."
        );
        Self::new("FatalLoopDetectedError", 56, message)
    }

    pub(crate) fn budget(exceeded: &Exceeded) -> Self {
        let number = |amount| exceeded.resource.number(amount);
        let source = limit_source(exceeded);
        let details = json!({
            "period": exceeded.period.key(),
            "resource": exceeded.resource.key(),
            "limit": number(exceeded.limit.amount),
            "spent": number(exceeded.spent),
            "source": source,
        });
        let remedy = match exceeded.period {
            Period::Prompt | Period::Session => "and continue with --resume latest",
            Period::Day => "or continue tomorrow with --resume latest",
        };
        let (budget, excess) = (exceeded.budget(), exceeded.excess());
        let message = format!("{budget} ({source}) {excess}\nRaise {source}, {remedy}.");
        Self {
            details: Some(Box::new(("budget", details))),
            ..Self::new("FatalBudgetExceededError", 57, message)
        }
    }

    pub(crate) fn unsatisfied(unsatisfied: &Unsatisfied) -> Self {
        let details = json!({ "problems": unsatisfied.problems, "repairs": unsatisfied.repairs });
        let message = format!(
            "The answer does not satisfy the schema of --output-schema: {}\nRaise pollux.outputSchema.repairs, simplify the schema, or use another model.",
            unsatisfied.problem()
        );
        Self {
            details: Some(Box::new(("schema", details))),
            ..Self::new("FatalOutputSchemaError", 58, message)
        }
    }

    pub(crate) fn cut_off(reason: Option<&FinishReason>) -> Self {
        let remedy = match reason {
            Some(FinishReason::MaxTokens) => "ask for a shorter answer",
            _ => "use another model",
        };
        let message =
            format!("{}\nContinue with --resume latest, or {remedy}.", narration::cut_off(reason));
        Self {
            details: Some(Box::new(("finishReason", reason.map(FinishReason::as_str).into()))),
            ..Self::new("FatalAnswerCutOffError", 59, message)
        }
    }

    pub(crate) fn tool(message: impl Into<String>) -> Self {
        Self::new("FatalToolExecutionError", 54, message)
    }

    pub(crate) fn cancelled(code: i32) -> Self {
        Self::new("FatalCancellationError", code, "Operation cancelled.")
    }

    /// Returns the failure for a failed request to a model.
    pub(crate) fn model(error: &ModelError) -> Self {
        match error.kind {
            ModelErrorKind::Auth if error.refusal.is_none() => Self::authentication(&error.message),
            ModelErrorKind::Config => Self::config(&error.message),
            ModelErrorKind::Cancelled => Self::cancelled(130),
            kind => {
                // As in Gemini CLI, a 404 means that the model does not exist, and has no exit
                // status of its own.
                let status = error.status().filter(|_| kind != ModelErrorKind::NotFound);
                let text_exit = match kind {
                    ModelErrorKind::Quota => 60,
                    ModelErrorKind::RateLimited | ModelErrorKind::Overloaded => 61,
                    ModelErrorKind::Network => 62,
                    _ => 1,
                };
                let code = status.map_or(1, i64::from);
                let general = Self::general(&error.message);
                Self { name: error.type_name, code, text_exit, ..general }
            }
        }
    }

    /// Returns the failure for the end of a prompt; `None` if the exit code is 0.
    pub(crate) fn outcome(outcome: &PromptOutcome) -> Option<Self> {
        match outcome {
            PromptOutcome::Done | PromptOutcome::InvalidStream(_) | PromptOutcome::Stopped(_) => {
                None
            }
            PromptOutcome::CutOff(reason) => Some(Self::cut_off(reason.as_ref())),
            PromptOutcome::Cancelled => Some(Self::cancelled(130)),
            PromptOutcome::TurnLimit(limit) => Some(Self::turn_limit(*limit)),
            PromptOutcome::Budget(exceeded) => Some(Self::budget(exceeded)),
            PromptOutcome::Unsatisfied(unsatisfied) => Some(Self::unsatisfied(unsatisfied)),
            PromptOutcome::Loop(details) => Some(Self::looped(details)),
            PromptOutcome::FatalTool { tool, message } => {
                Some(Self::tool(format!("Error executing tool {tool}: {message}")))
            }
            PromptOutcome::Failed(error) => Some(Self::model(error)),
            PromptOutcome::LogFailed(message) => Some(Self::tool(message)),
        }
    }

    /// Returns the exit code. `json` is true for the formats that exit with the vendor's status.
    pub(crate) fn exit_code(&self, json: bool) -> u8 {
        let code = if json { self.code } else { i64::from(self.text_exit) };
        // A failure never exits with 0, even if the status is a multiple of 256.
        u8::try_from(code.rem_euclid(256)).unwrap_or(1).max(1)
    }

    /// Returns the `error` object of JSON output.
    pub(crate) fn to_json(&self) -> Value {
        let mut error = json!({ "type": self.name, "message": self.message, "code": self.code });
        self.add_details(&mut error);
        error
    }

    /// Adds the additional data to an `error` object.
    pub(crate) fn add_details(&self, error: &mut Value) {
        if let Some(details) = &self.details {
            let (key, value) = details.as_ref();
            error[*key] = value.clone();
        }
    }
}

impl From<InstallError> for Failure {
    fn from(error: InstallError) -> Self {
        Self::general(error.to_string())
    }
}

impl From<SessionFailure> for Failure {
    fn from(failure: SessionFailure) -> Self {
        match failure {
            SessionFailure::Config(message) => Self::config(message),
            SessionFailure::Input(message) => Self::input(message),
            SessionFailure::Sandbox(message) => Self::sandbox(message),
            SessionFailure::Log(message) | SessionFailure::ChangeNotReverted(message) => {
                Self::tool(message)
            }
            SessionFailure::Untrusted(message) => Self::untrusted(message),
            SessionFailure::Model(error) => Self::model(&error),
            SessionFailure::General(message) => Self::general(message),
        }
    }
}

impl From<SessionsError> for Failure {
    fn from(error: SessionsError) -> Self {
        (*error.failure).into()
    }
}

/// Returns the origin of a limit of the budget: a flag, or a key of the settings.
fn limit_source(exceeded: &Exceeded) -> String {
    if exceeded.limit.by_flag {
        return budget_flag(exceeded.resource).to_owned();
    }
    format!("pollux.budget.{}.{}", exceeded.period.key(), exceeded.resource.key())
}

/// Returns the exit code of a conversation.
pub(crate) fn conversation_code(end: ConversationEnd) -> u8 {
    match end {
        ConversationEnd::Finished => 0,
        ConversationEnd::AgentGone => 1,
        // Exit code of SIGHUP.
        ConversationEnd::HungUp => 129,
        ConversationEnd::Signalled(code) => u8::try_from(code).unwrap_or(1),
    }
}

#[cfg(test)]
mod tests {
    use pollux_protocol::{Limit, Resource, VendorRefusal};

    use super::*;

    #[test]
    fn a_budget_names_the_source_of_its_limit_and_the_remedy() {
        let mut exceeded = Exceeded {
            resource: Resource::Turns,
            period: Period::Prompt,
            limit: Limit { amount: 3, by_flag: true },
            spent: 3,
            wanted: 1,
        };
        assert_eq!(
            Failure::budget(&exceeded).message,
            "The prompt's budget of 3 turns (--max-turns) is used up: 3 turns spent.\nRaise --max-turns, and continue with --resume latest."
        );
        exceeded.period = Period::Day;
        exceeded.limit.by_flag = false;
        assert_eq!(
            Failure::budget(&exceeded).message,
            "The day's budget of 3 turns (pollux.budget.day.turns) is used up: 3 turns spent.\nRaise pollux.budget.day.turns, or continue tomorrow with --resume latest."
        );
    }

    #[test]
    fn codes() {
        let refused = |kind, status| {
            let mut error = ModelError::new(kind, "bad");
            error.refusal = Some(VendorRefusal { status, code: None, message: "bad".to_owned() });
            error
        };
        let api = refused(ModelErrorKind::Invalid, 400);
        let outcomes = [
            (PromptOutcome::Done, None),
            (PromptOutcome::Cancelled, Some((130, 130))),
            (PromptOutcome::TurnLimit(TurnLimit::Session), Some((53, 53))),
            (PromptOutcome::Failed(api), Some((144, 1))),
            (
                PromptOutcome::Failed(ModelError::new(ModelErrorKind::Auth, "no key")),
                Some((41, 41)),
            ),
            (
                PromptOutcome::Failed(ModelError::new(ModelErrorKind::Network, "down")),
                Some((1, 62)),
            ),
            (PromptOutcome::Failed(refused(ModelErrorKind::Quota, 429)), Some((173, 60))),
            (PromptOutcome::Failed(refused(ModelErrorKind::RateLimited, 429)), Some((173, 61))),
            (PromptOutcome::Failed(refused(ModelErrorKind::Overloaded, 503)), Some((247, 61))),
            (PromptOutcome::Failed(refused(ModelErrorKind::NotFound, 404)), Some((1, 1))),
            (PromptOutcome::LogFailed("full".into()), Some((54, 54))),
            (PromptOutcome::Loop("again".into()), Some((56, 56))),
        ];
        for (outcome, expected) in outcomes {
            let failure = Failure::outcome(&outcome);
            let codes = failure.map(|failure| (failure.exit_code(true), failure.exit_code(false)));
            assert_eq!(codes, expected, "{outcome:?}");
        }
    }
}
