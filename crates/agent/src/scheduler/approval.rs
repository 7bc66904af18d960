//! May a prepared call run? Policy says, checkers look, and where need be the person is asked.

use std::sync::Arc;

use pollux_policy::{Rule, Scope, Verdict};
use pollux_protocol::{
    ApprovalMode, CallStatus, ConfirmationKind, Decision, Event, JournalError, LiveWatch, Outcome,
    Question, QuestionSubject, Reply, Severity, SideModels, ToolError, ToolErrorKind,
};

use super::{Batch, Prepared, Ready, STOPPED, Scheduler};
use crate::toolset::declared_effects;

/// What is told to the model about a call that the person did not let run.
const DENIED: &str = "Reason: User denied execution.";

/// What the model is told of a call that a person would have to agree to where there is none; the tool by its name for
/// people.
pub fn nobody_to_ask(tool: &str) -> String {
    format!(
        "Tool execution for \"{tool}\" requires user confirmation, which is not supported in non-interactive mode."
    )
}

/// What the model is told of a call that policy denies, with what the rule adds.
pub fn denied(message: Option<&str>) -> String {
    format!("Tool execution denied by policy. {}", message.unwrap_or_default())
        .trim_end()
        .to_owned()
}

/// Decision of a person about a call.
enum Asked {
    Yes,
    YesToAllEdits,
    YesToThePlan,
    /// The call is to be judged again: it was changed, or the approval mode was.
    Again,
    No,
}

/// End of the wait for a reply.
enum Replied {
    Reply(Reply),
    Cancelled,
    NoLongerAsked,
}

impl Ready {
    /// True for a question that another approval mode can settle: not one that a hook asked for, nor
    /// one in which the person says more than yes or no.
    fn depends_on_mode(&self, question: &Question) -> bool {
        let QuestionSubject::Call(confirmation) = &question.subject else { return false };
        let says_more = matches!(
            confirmation.kind,
            ConfirmationKind::Plan { .. } | ConfirmationKind::Questions(_)
        );
        !says_more && !self.hooked.asks
    }
}

impl Scheduler<'_> {
    /// Judges every call of the group; those that may run come back, all others are finished.
    pub(super) async fn approve_group(
        &self,
        group: Vec<Prepared>,
        batch: &mut Batch,
    ) -> Result<Vec<Ready>, JournalError> {
        let mut approved = Vec::with_capacity(group.len());
        for prepared in self.before_tools(group).await {
            batch.cancelled |= self.cancel.is_cancelled();
            match prepared {
                Ok(ready) if batch.cancelled => {
                    self.finish_cancelled(batch, &ready.queued, Some(&ready), STOPPED).await?;
                }
                Ok(ready) => approved.extend(self.approve(ready, batch).await?),
                Err(failed) => {
                    let (queued, error) = *failed;
                    if batch.cancelled {
                        self.finish_cancelled(batch, &queued, None, STOPPED).await?;
                    } else {
                        self.finish_error(batch, &queued, None, error).await?;
                    }
                }
            }
        }
        self.approve_stale(approved, batch).await
    }

    /// Judges calls again that policy let run under another mode than the present one: they have
    /// waited for the question about a neighbour.
    async fn approve_stale(
        &self,
        mut approved: Vec<Ready>,
        batch: &mut Batch,
    ) -> Result<Vec<Ready>, JournalError> {
        loop {
            let mode = self.services.modes.get();
            let is_stale = |ready: &Ready| ready.allowed_in.is_some_and(|judged| judged != mode);
            if !approved.iter().any(is_stale) {
                return Ok(approved);
            }
            let mut settled = Vec::with_capacity(approved.len());
            for ready in approved {
                if is_stale(&ready) {
                    settled.extend(self.approve(ready, batch).await?);
                } else {
                    settled.push(ready);
                }
            }
            approved = settled;
        }
    }

    async fn approve(
        &self,
        mut ready: Ready,
        batch: &mut Batch,
    ) -> Result<Option<Ready>, JournalError> {
        self.moved(&ready.queued.call.id, CallStatus::Validating).await;
        if let Some(error) = ready.hooked.refusal.take() {
            self.finish_error(batch, &ready.queued, Some(&ready), error).await?;
            return Ok(None);
        }
        let mut changes = self.services.modes.watch();
        loop {
            let mode = self.services.modes.get();
            let judgement = self.policy.judge(ready.query(mode));
            let judged = ready.hooked.over(judgement.verdict);
            let Some(checked) = self.checked(&ready, mode, judged).await else {
                batch.cancelled = true;
                self.finish_cancelled(batch, &ready.queued, Some(&ready), STOPPED).await?;
                return Ok(None);
            };
            // What a checker wants asked is asked, whatever was allowed before.
            let is_strict = judgement.rule.is_some_and(Rule::is_strict)
                || ready.hooked.asks
                || checked.wants_asking;
            match checked.verdict {
                Verdict::Allow => {
                    ready.decision.get_or_insert(Decision::Accept);
                    ready.allowed_in = Some(mode);
                    break;
                }
                Verdict::Deny { message } => {
                    let text = denied(message.as_deref());
                    let error = ToolError::new(ToolErrorKind::PolicyViolation, text);
                    self.finish_error(batch, &ready.queued, Some(&ready), error).await?;
                    return Ok(None);
                }
                Verdict::Ask => match self.confirm(&mut ready, is_strict, mode, &mut changes).await
                {
                    Ok(Asked::Yes) => break,
                    Ok(Asked::Again) => {}
                    Ok(Asked::No) => {
                        batch.refused = true;
                        self.finish_cancelled(batch, &ready.queued, Some(&ready), DENIED).await?;
                        return Ok(None);
                    }
                    Ok(Asked::YesToThePlan) => {
                        batch.after_plan = ApprovalMode::AutoEdit;
                        break;
                    }
                    Ok(Asked::YesToAllEdits) => {
                        self.services.modes.set(ApprovalMode::AutoEdit).await;
                        break;
                    }
                    Err(error) => {
                        self.finish_error(batch, &ready.queued, Some(&ready), error).await?;
                        return Ok(None);
                    }
                },
            }
        }
        self.moved(&ready.queued.call.id, CallStatus::Scheduled).await;
        Ok(Some(ready))
    }

    async fn confirm(
        &self,
        ready: &mut Ready,
        is_strict: bool,
        mode: ApprovalMode,
        changes: &mut LiveWatch<ApprovalMode>,
    ) -> Result<Asked, ToolError> {
        if !self.policy.facts.interactive {
            let message = nobody_to_ask(ready.tool.display_name());
            return Err(ToolError::new(ToolErrorKind::UnhandledException, message));
        }
        let call_id = ready.queued.call.id.clone();
        // It may look at the world, and ask a model: a stop does not wait for that.
        let side_models: Arc<dyn SideModels> = self.side_models.clone();
        let look = ready.invocation.confirmation(&call_id, &side_models);
        let Some(confirmation) = self.cancel.run_until_cancelled(look).await else {
            return Ok(Asked::No);
        };
        let (confirmation, kind) = confirmation.map(|it| (it.clone(), it.kind))?;
        if !is_strict && self.services.grants.hold(self.policy, ready.query(mode)) {
            ready.decision.get_or_insert(Decision::AutoAccept);
            return Ok(Asked::Yes);
        }
        self.notify(&confirmation);
        self.moved(&call_id, CallStatus::AwaitingApproval).await;
        let (choices, default) = self.services.choices.of(&kind);
        let subject = QuestionSubject::Call(confirmation);
        let question = Question::new(self.outlet().origin(), subject, choices, default);
        let reply = match self.reply(question, ready, changes).await {
            Replied::Reply(reply) => reply,
            Replied::Cancelled => return Ok(Asked::No),
            Replied::NoLongerAsked => return Ok(Asked::Again),
        };
        if let Some(modification) = &reply.modification {
            let args = ready.invocation.modify(modification)?;
            ready.invocation = ready.tool.prepare(&args)?;
            ready.effects = declared_effects(ready.tool.as_ref(), ready.invocation.as_ref());
            ready.queued.call.args = serde_json::Value::Object(args);
            ready.decision = Some(Decision::Modify);
            self.describe(ready).await;
        }
        match reply.outcome {
            // Such a choice was not offered.
            Outcome::Cancel | Outcome::Option(_) => Ok(Asked::No),
            // The arguments have changed: they are shown once more.
            Outcome::ModifyWithEditor => Ok(Asked::Again),
            Outcome::ProceedOnce => {
                ready.decision.get_or_insert(Decision::Accept);
                Ok(Asked::Yes)
            }
            always @ (Outcome::ProceedAlways
            | Outcome::ProceedAlwaysAndSave
            | Outcome::ProceedAlwaysServer
            | Outcome::ProceedAlwaysTool) => {
                ready.decision.get_or_insert(Decision::AutoAccept);
                self.remember(ready, &kind, always, mode).await;
                Ok(match kind {
                    // What is kept is kept for this one file.
                    ConfirmationKind::Edit { .. } if always == Outcome::ProceedAlwaysAndSave => {
                        Asked::Yes
                    }
                    ConfirmationKind::Edit { .. } => Asked::YesToAllEdits,
                    ConfirmationKind::Plan { .. } => Asked::YesToThePlan,
                    ConfirmationKind::Execute { .. }
                    | ConfirmationKind::Questions(_)
                    | ConfirmationKind::Information { .. } => Asked::Yes,
                })
            }
        }
    }

    /// Waits for the reply to a question about a call. A change of the mode withdraws the question
    /// when policy would no longer ask; questions that no mode decides stay open.
    async fn reply(
        &self,
        question: Question,
        ready: &Ready,
        changes: &mut LiveWatch<ApprovalMode>,
    ) -> Replied {
        let (id, depends_on_mode) = (question.id, ready.depends_on_mode(&question));
        let asked = self.operator.ask(question);
        tokio::pin!(asked);
        let replied = loop {
            tokio::select! {
                biased;
                () = self.cancel.cancelled() => break Replied::Cancelled,
                reply = &mut asked => return Replied::Reply(reply),
                mode = changes.changed(), if depends_on_mode => {
                    if self.policy.judge(ready.query(*mode)).verdict != Verdict::Ask {
                        break Replied::NoLongerAsked;
                    }
                }
            }
        };
        self.outlet().emit(Event::QuestionWithdrawn(id)).await;
        replied
    }

    /// Keeps an answer that holds beyond this call.
    async fn remember(
        &self,
        ready: &Ready,
        kind: &ConfirmationKind,
        outcome: Outcome,
        mode: ApprovalMode,
    ) {
        let is_saved = outcome == Outcome::ProceedAlwaysAndSave;
        let has_rule = match kind {
            // A mode or an answer of its own stands for these.
            ConfirmationKind::Plan { .. } | ConfirmationKind::Questions(_) => false,
            ConfirmationKind::Edit { .. } => is_saved,
            ConfirmationKind::Execute { .. } | ConfirmationKind::Information { .. } => true,
        };
        if !has_rule {
            return;
        }
        let whole_server = outcome == Outcome::ProceedAlwaysServer;
        let scope = if whole_server { Scope::Server } else { Scope::Call };
        let file = is_saved.then_some(self.policy.facts.approvals_file.as_path());
        if let Err(error) = self.services.grants.grant(self.policy, &ready.query(mode), scope, file)
        {
            let (severity, text) = (Severity::Warning, error.to_string());
            self.outlet().emit(Event::Notice { severity, text }).await;
        }
    }
}
