//! Checks of a call in addition to the rules: safety checkers, and additional access that the call
//! requests.

use pollux_policy::{CheckedCall, Checker, CheckerFinding, CheckerKind, PolicyVerdict, Query};
use pollux_protocol::{ApprovalMode, EntryId, Event, History, Role, Severity};
use serde_json::{Value, json};

use super::{Ready, Scheduler};
use crate::conseca::Inquiry;

/// Maximum number of bytes of the conversation that a checker receives. Older turns are left out.
const MOST_HISTORY: usize = 1 << 20;

/// Verdict after all checks of a call.
pub(super) struct Checked {
    pub(super) verdict: PolicyVerdict,
    /// True if the user must be asked despite earlier approvals.
    pub(super) wants_asking: bool,
}

impl Scheduler<'_> {
    /// Returns the verdict after all checkers that apply to the call. Checkers can make it
    /// stricter, never weaker. `None` if the work was stopped in the meantime.
    pub(super) async fn checked(
        &self,
        ready: &Ready,
        mode: ApprovalMode,
        verdict: PolicyVerdict,
    ) -> Option<Checked> {
        let mut checked = Checked { verdict, wants_asking: false };
        let query = ready.query(mode);
        if !matches!(checked.verdict, PolicyVerdict::Deny { .. }) {
            let finding = self.services.grants.over(self.policy).protected_files(&query);
            self.take(&mut checked, finding).await;
        }
        if checked.verdict == PolicyVerdict::Allow {
            self.take(&mut checked, self.policy.additional_files(query.args)).await;
        }
        for checker in self.policy.checks(query) {
            if matches!(checked.verdict, PolicyVerdict::Deny { .. }) {
                break;
            }
            let finding = self.look(checker, ready, &query).await?;
            self.take(&mut checked, finding).await;
        }
        Some(checked)
    }

    /// Applies a finding. Its text is shown to the user before the question.
    async fn take(&self, checked: &mut Checked, finding: CheckerFinding) {
        checked.verdict = finding.over(std::mem::replace(&mut checked.verdict, PolicyVerdict::Ask));
        checked.wants_asking |= matches!(finding, CheckerFinding::Ask(_));
        if let CheckerFinding::Ask(text) | CheckerFinding::Allow { remark: Some(text) } = finding {
            self.outlet().emit(Event::Notice { severity: Severity::Warning, text }).await;
        }
    }

    /// Asks the model that checks calls, if it is enabled.
    async fn ask_conseca(&self, ready: &Ready) -> Option<CheckerFinding> {
        let Some(conseca) = self.conseca else { return Some(CheckerFinding::ALLOW) };
        let call = &ready.queued.call;
        let tools = || {
            let offered = self.toolset.iter().filter(|tool| self.offers(tool.as_ref()));
            offered.map(|tool| tool.declaration()).collect()
        };
        let call = json!({ "name": call.name, "args": call.args });
        let models = self.side_models.as_ref();
        let inquiry = Inquiry { models, prompt: self.prompt, tools: &tools, call };
        conseca.look(&inquiry, self.cancel).await
    }

    async fn look(
        &self,
        checker: &Checker,
        ready: &Ready,
        query: &Query<'_>,
    ) -> Option<CheckerFinding> {
        match checker.kind {
            CheckerKind::InProcess if checker.is_conseca() => self.ask_conseca(ready).await,
            CheckerKind::InProcess => Some(self.policy.allowed_path(checker, query)),
            CheckerKind::External => {
                let turns = || turns(self.history);
                let call =
                    CheckedCall { tool: &ready.queued.call.name, args: query.args, turns: &turns };
                self.services.checkers.ask(checker, call, &self.policy.facts, self.cancel).await
            }
        }
    }
}

/// Returns the conversation in the form for checkers: messages of the user, each with the text and
/// calls of the model that follow it.
fn turns(history: &History) -> Vec<Value> {
    let mut turns: Vec<Value> = Vec::new();
    for entry in history.entries().iter().filter(|entry| entry.id().as_str() != EntryId::CONTEXT) {
        let content = entry.content();
        let text = content.text();
        match content.role {
            Role::User if !text.is_empty() => turns.push(json!({ "user": { "text": text } })),
            Role::User => {}
            Role::Model => {
                let Some(turn) = turns.last_mut() else { continue };
                let said = turn["model"]["text"].as_str().unwrap_or_default();
                let text = format!("{said}{text}");
                let calls =
                    content.calls().map(|call| json!({ "name": call.name, "args": call.args }));
                let earlier = turn["model"]["toolCalls"].as_array().cloned().unwrap_or_default();
                let calls: Vec<Value> = earlier.into_iter().chain(calls).collect();
                turn["model"] = json!({ "text": text, "toolCalls": calls });
            }
        }
    }
    let mut room = MOST_HISTORY;
    let fitting = turns.iter().rev().take_while(|turn| {
        let length = turn.to_string().len();
        let fits = length <= room;
        room = room.saturating_sub(length);
        fits
    });
    let kept = fitting.count();
    turns.split_off(turns.len() - kept)
}

#[cfg(test)]
mod tests {
    use pollux_protocol::Part;
    use pretty_assertions::assert_eq;

    use super::*;

    fn id(name: &str) -> EntryId {
        EntryId::new(name)
    }

    #[test]
    fn a_conversation_is_reported_in_turns() {
        let mut history = History::new();
        history.push_user(id(EntryId::CONTEXT), vec![Part::text("context")]);
        history.push_user(id("1"), vec![Part::text("list")]);
        let parts = vec![
            Part::thought("hm"),
            Part::text("Sure. "),
            Part::call("c", "glob", json!({"a": 1})),
        ];
        history.push_model(id("2"), parts);
        history.push_responses(id("3"), vec![Part::output("c", "glob", "x")]);
        history.push_model(id("4"), vec![Part::text("Done.")]);
        history.push_user(id("5"), vec![Part::text("more")]);
        assert_eq!(
            turns(&history),
            [
                json!({"user": {"text": "list"}, "model": {"text": "Sure. Done.",
                    "toolCalls": [{"name": "glob", "args": {"a": 1}}]}}),
                json!({"user": {"text": "more"}}),
            ]
        );
    }

    #[test]
    fn what_does_not_fit_of_a_conversation_is_its_beginning() {
        let mut history = History::new();
        for (name, length) in [("1", 10), ("2", MOST_HISTORY), ("3", 20)] {
            history.push_user(id(name), vec![Part::text("x".repeat(length))]);
            history.push_model(id(&format!("{name}m")), vec![Part::text("ok")]);
        }
        let turns = turns(&history);
        assert_eq!(turns.len(), 1);
        assert_eq!(turns[0]["user"]["text"].as_str().unwrap().len(), 20);
    }
}
