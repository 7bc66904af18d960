//! Safety checker that uses a model (`security.enableConseca`). Once for each prompt, the model
//! derives from the user's text which tool uses are allowed. Then it judges each call by this
//! policy. Any failure lets the call pass, as in Gemini CLI, and the user is notified once.

use std::sync::atomic::{AtomicBool, Ordering};

use pollux_policy::{CheckerFinding, Ruling};
use pollux_protocol::{
    CancellationToken, ConsecaPolicyMeasure, ConsecaVerdictMeasure, Content, Declaration, Event,
    HistoryEntry, JsonRequest, Measurement, ModelRequest, ModelRole, Part, Severity, SideModels,
};
use serde_json::{Map, Value, json};
use tokio::sync::Mutex;

use crate::outlet::Outlet;

const POLICY_PROMPT: &str = include_str!("../prompts/conseca_policy.md");
const VERDICT_PROMPT: &str = include_str!("../prompts/conseca_verdict.md");

/// Alias of the model configuration for these requests: fast, and with minimal randomness.
const ALIAS: &str = "gemini-3-flash-base";

/// Checker of a session.
pub(crate) struct Conseca {
    outlet: Outlet,
    /// Latest prompt that has a policy.
    known: Mutex<Option<Known>>,
    /// True if the user was already notified that a call passed unchecked.
    reported: AtomicBool,
}

/// Policy for the tools of one prompt.
struct Known {
    prompt: String,
    policy: Value,
}

/// Call that is to be judged, with its context.
pub(crate) struct Inquiry<'a> {
    /// Models of the agent that made the call.
    pub(crate) models: &'a dyn SideModels,
    /// Text of the user's prompt.
    pub(crate) prompt: &'a str,
    /// Function that returns the tools that the model was offered.
    pub(crate) tools: &'a (dyn Fn() -> Vec<Declaration> + Sync),
    /// The call: its tool and arguments.
    pub(crate) call: Value,
}

/// Judgement of the model about a call.
struct Judged {
    finding: CheckerFinding,
    verdict: &'static str,
    reason: String,
}

impl Conseca {
    pub(crate) fn new(outlet: Outlet) -> Self {
        Self { outlet, known: Mutex::default(), reported: AtomicBool::new(false) }
    }

    /// Returns the finding of the model about a call; `None` if `cancel` fired.
    pub(crate) async fn look(
        &self,
        inquiry: &Inquiry<'_>,
        cancel: &CancellationToken,
    ) -> Option<CheckerFinding> {
        cancel.run_until_cancelled(self.judge(inquiry, cancel)).await
    }

    async fn judge(&self, inquiry: &Inquiry<'_>, cancel: &CancellationToken) -> CheckerFinding {
        let policy = self.policy(inquiry, cancel).await;
        let judged = match &policy {
            Ok(policy) => self.verdict(inquiry, policy, cancel).await,
            Err(error) => Err(error.clone()),
        };
        let error = judged.as_ref().err().cloned();
        let judged = judged.unwrap_or_else(|_| Judged {
            finding: CheckerFinding::ALLOW,
            verdict: "allow",
            reason: String::new(),
        });
        let measure = ConsecaVerdictMeasure {
            prompt: inquiry.prompt.to_owned(),
            policy: policy.unwrap_or_else(|_| json!({})).to_string(),
            call: inquiry.call.to_string(),
            verdict: judged.verdict,
            rationale: judged.reason,
            error: error.clone(),
        };
        self.outlet.measure(&Measurement::ConsecaVerdict(Box::new(measure)));
        if let Some(error) = error {
            self.warn(&error).await;
        }
        judged.finding
    }

    /// Returns the policy for the prompt: the stored one, otherwise a new one. After a failure, the
    /// next call asks for the policy again.
    async fn policy(
        &self,
        inquiry: &Inquiry<'_>,
        cancel: &CancellationToken,
    ) -> Result<Value, String> {
        let mut known = self.known.lock().await;
        if let Some(known) = known.as_ref().filter(|known| known.prompt == inquiry.prompt) {
            return Ok(known.policy.clone());
        }
        let tools = json!((inquiry.tools)());
        let reported = json!({ "user_prompt": inquiry.prompt, "trusted_content": tools });
        let answer = ask(inquiry.models, POLICY_PROMPT, &reported, policy_schema(), cancel).await;
        let policy = answer.and_then(|answer| by_tool(&answer));
        let measure = ConsecaPolicyMeasure {
            prompt: inquiry.prompt.to_owned(),
            trusted_content: tools.to_string(),
            policy: policy.as_ref().map_or_else(|_| "{}".to_owned(), ToString::to_string),
            error: policy.as_ref().err().cloned(),
        };
        self.outlet.measure(&Measurement::ConsecaPolicy(Box::new(measure)));
        let policy = policy?;
        *known = Some(Known { prompt: inquiry.prompt.to_owned(), policy: policy.clone() });
        Ok(policy)
    }

    async fn verdict(
        &self,
        inquiry: &Inquiry<'_>,
        policy: &Value,
        cancel: &CancellationToken,
    ) -> Result<Judged, String> {
        let reported = json!({
            "user_prompt": inquiry.prompt,
            "policy": policy,
            "tool_call": inquiry.call,
        });
        let answer =
            ask(inquiry.models, VERDICT_PROMPT, &reported, verdict_schema(), cancel).await?;
        read_verdict(&answer)
    }

    /// Warns about a call that passed unchecked, only the first time.
    async fn warn(&self, error: &str) {
        if self.reported.swap(true, Ordering::Relaxed) {
            return;
        }
        let text = format!(
            "The model that checks calls (security.enableConseca) returned no verdict, so a call was allowed without a check: {error} This warning appears only once."
        );
        self.outlet.emit(Event::Notice { severity: Severity::Warning, text }).await;
    }
}

async fn ask(
    models: &dyn SideModels,
    instruction: &str,
    reported: &Value,
    schema: Value,
    cancel: &CancellationToken,
) -> Result<Value, String> {
    let choice = models.select(ALIAS).await.map_err(|error| error.to_string())?;
    let request = JsonRequest {
        request: ModelRequest {
            entries: vec![HistoryEntry::detached(Content::user(vec![Part::text(
                reported.to_string(),
            )]))],
            system: Some(instruction.into()),
            role: ModelRole::UtilityTool,
            ..ModelRequest::default()
        },
        schema,
        max_attempts: 1,
    };
    let answer = choice.model.generate_json(request, cancel.clone()).await;
    answer.map(|(value, _)| value).map_err(|error| error.to_string())
}

/// Returns the entries of an answer by their tools.
fn by_tool(answer: &Value) -> Result<Value, String> {
    let Some(entries) = answer.get("policies").and_then(Value::as_array) else {
        return Err("The answer contains no policies.".to_owned());
    };
    let mut policy = Map::new();
    for entry in entries {
        let Some(tool) = entry.get("tool_name").and_then(Value::as_str) else { continue };
        let part = |key: &str| entry.get(key).cloned().unwrap_or_default();
        let rules = json!({
            "permissions": part("permissions"),
            "constraints": part("constraints"),
            "rationale": part("rationale"),
        });
        policy.insert(tool.to_owned(), rules);
    }
    Ok(policy.into())
}

fn read_verdict(answer: &Value) -> Result<Judged, String> {
    let reason = answer.get("reason").and_then(Value::as_str).unwrap_or_default().to_owned();
    let words = match reason.trim() {
        "" => "It violates the policy for this prompt.".to_owned(),
        words => words.to_owned(),
    };
    let decision = answer.get("decision").and_then(Value::as_str);
    let Some(ruling) = decision.and_then(Ruling::of_word) else {
        return Err("The answer contains no known decision.".to_owned());
    };
    let finding = match ruling {
        Ruling::Allow => CheckerFinding::ALLOW,
        Ruling::AskUser => CheckerFinding::Ask(words),
        Ruling::Deny => CheckerFinding::Deny(words),
    };
    Ok(Judged { finding, verdict: ruling.as_str(), reason })
}

/// Returns the texts of the rulings that a model may answer with.
fn ruling_words() -> [&'static str; 3] {
    [Ruling::Allow, Ruling::AskUser, Ruling::Deny].map(Ruling::as_str)
}

fn policy_schema() -> Value {
    let words = ruling_words();
    json!({
        "type": "object",
        "properties": {
            "policies": {
                "type": "array",
                "items": {
                    "type": "object",
                    "properties": {
                        "tool_name": { "type": "string" },
                        "permissions": { "type": "string", "enum": words },
                        "constraints": { "type": "string" },
                        "rationale": { "type": "string" }
                    },
                    "required": ["tool_name", "permissions", "constraints", "rationale"]
                }
            }
        },
        "required": ["policies"]
    })
}

fn verdict_schema() -> Value {
    let words = ruling_words();
    json!({
        "type": "object",
        "properties": {
            "reason": { "type": "string" },
            "decision": { "type": "string", "enum": words }
        },
        "required": ["reason", "decision"]
    })
}

#[cfg(test)]
mod tests {
    use pretty_assertions::assert_eq;

    use super::*;

    #[test]
    fn answers_are_read_or_refused() {
        let entry = json!({"tool_name": "glob", "permissions": "allow", "constraints": "src", "rationale": "r"});
        assert_eq!(
            by_tool(&json!({"policies": [entry, {"permissions": "deny"}]})),
            Ok(json!({"glob": {"permissions": "allow", "constraints": "src", "rationale": "r"}}))
        );
        assert!(by_tool(&json!([])).is_err());
        let unexplained = "It violates the policy for this prompt.".to_owned();
        for (answer, expected) in [
            (json!({"decision": "allow", "reason": "x"}), Ok(CheckerFinding::ALLOW)),
            (
                json!({"decision": "ask_user", "reason": "x"}),
                Ok(CheckerFinding::Ask("x".to_owned())),
            ),
            (json!({"decision": "deny"}), Ok(CheckerFinding::Deny(unexplained))),
            (json!({"decision": "maybe"}), Err(())),
            (json!("allow"), Err(())),
        ] {
            let found = read_verdict(&answer).map(|judged| judged.finding).map_err(|_| ());
            assert_eq!(found, expected, "{answer}");
        }
    }
}
