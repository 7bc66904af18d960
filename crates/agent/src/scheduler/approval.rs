//! May a prepared call run? Policy says, checkers look, and where need be the person is asked.

use std::sync::Arc;

use pollux_policy::{Approval, Rule, Scope, Verdict};
use pollux_protocol::{
    ApprovalMode, CallConfinement, CallStatus, ConfinementLevel, ConfirmationKind, Decision, Event,
    JournalError, LiveWatch, Outcome, Question, QuestionSubject, Reply, Severity, SideModels,
    ToolError, ToolErrorKind,
};

use super::{Batch, Prepared, Ready, STOPPED, Scheduler};
use crate::toolset::declared_effects;

/// What is told to the model about a call that the person did not let run.
const DENIED: &str = "Reason: User denied execution.";

/// What the model is told of a call that a person would have to agree to where there is none; the tool by its name for
/// people. `reason` is that of the question, where policy gives one.
pub fn nobody_to_ask(tool: &str, reason: Option<&str>) -> String {
    let reason = reason.map(|reason| format!(" Reason: {reason}.")).unwrap_or_default();
    format!(
        "Tool execution for \"{tool}\" requires user confirmation, which is not supported in non-interactive mode.{reason}"
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

/// State of a call after a person's decision.
enum Followed {
    /// It may run.
    Runs,
    /// It was refused or failed.
    Finished,
}

/// Facts of the decision that a person must be asked.
struct Approving {
    /// The person is asked whatever they allowed before.
    is_strict: bool,
    /// Mode in which policy decided.
    mode: ApprovalMode,
    /// Reason that policy gives.
    reason: Option<String>,
    /// Confinement if the approval lasts longer than this call.
    confinement: CallConfinement,
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
        let stopped = self.stopped_before(&ready);
        loop {
            let mode = self.services.modes.get();
            let judgement = self.policy.judge(ready.query(mode));
            let may_widen = mode != ApprovalMode::Plan && judgement.level != ConfinementLevel::None;
            let stopped = stopped.clone().filter(|_| may_widen);
            let verdict = match judgement.verdict.clone() {
                Verdict::Allow if stopped.is_some() => Verdict::Ask,
                verdict => verdict,
            };
            let judged = ready.hooked.over(verdict);
            let Some(checked) = self.checked(&ready, mode, judged).await else {
                batch.cancelled = true;
                self.finish_cancelled(batch, &ready.queued, Some(&ready), STOPPED).await?;
                return Ok(None);
            };
            // What a checker wants asked is asked, whatever was allowed before.
            let is_strict = judgement.rule.is_some_and(Rule::is_strict)
                || ready.hooked.asks
                || checked.wants_asking
                || stopped.is_some();
            match checked.verdict {
                Verdict::Allow => {
                    ready.decision.get_or_insert(Decision::Accept);
                    ready.allowed_in = Some(mode);
                    ready.confinement = judgement.confinement();
                    break;
                }
                Verdict::Deny { message } => {
                    let text = denied(message.as_deref());
                    let error = ToolError::new(ToolErrorKind::PolicyViolation, text);
                    self.finish_error(batch, &ready.queued, Some(&ready), error).await?;
                    return Ok(None);
                }
                Verdict::Ask => {
                    let reason = stopped.or_else(|| self.reason(&ready, mode));
                    let confinement = judgement.confinement();
                    let approving = Approving { is_strict, mode, reason, confinement };
                    match self.confirm(&mut ready, approving, &mut changes).await {
                        Ok(Asked::Again) => {}
                        asked => match self.follow(asked, &ready, batch).await? {
                            Followed::Runs => break,
                            Followed::Finished => return Ok(None),
                        },
                    }
                }
            }
        }
        self.moved(&ready.queued.call.id, CallStatus::Scheduled).await;
        Ok(Some(ready))
    }

    /// Returns the reason of policy to ask about a call. What was allowed before is none.
    fn reason(&self, ready: &Ready, mode: ApprovalMode) -> Option<String> {
        let granted = self.services.grants.over(self.policy);
        granted.judge(ready.query(mode)).reason
    }

    /// Does what a person decided about a call.
    async fn follow(
        &self,
        asked: Result<Asked, ToolError>,
        ready: &Ready,
        batch: &mut Batch,
    ) -> Result<Followed, JournalError> {
        match asked {
            Ok(Asked::Yes | Asked::Again) => {}
            Ok(Asked::YesToThePlan) => batch.after_plan = ApprovalMode::AutoEdit,
            Ok(Asked::YesToAllEdits) => self.services.modes.set(ApprovalMode::AutoEdit).await,
            Ok(Asked::No) => {
                batch.refused = true;
                self.finish_cancelled(batch, &ready.queued, Some(ready), DENIED).await?;
                return Ok(Followed::Finished);
            }
            Err(error) => {
                self.finish_error(batch, &ready.queued, Some(ready), error).await?;
                return Ok(Followed::Finished);
            }
        }
        Ok(Followed::Runs)
    }

    /// Returns the reason to ask about a command line that confinement stopped before.
    fn stopped_before(&self, ready: &Ready) -> Option<String> {
        self.policy.facts.interactive.then(|| self.services.grants.take_stop(&ready.effects))?
    }

    async fn confirm(
        &self,
        ready: &mut Ready,
        asked: Approving,
        changes: &mut LiveWatch<ApprovalMode>,
    ) -> Result<Asked, ToolError> {
        let Approving { is_strict, mode, reason: why, confinement } = asked;
        if !self.policy.facts.interactive {
            let message = nobody_to_ask(ready.tool.display_name(), why.as_deref());
            return Err(ToolError::new(ToolErrorKind::UnhandledException, message));
        }
        let call_id = ready.queued.call.id.clone();
        // It may look at the world, and ask a model: a stop does not wait for that.
        let side_models: Arc<dyn SideModels> = self.side_models.clone();
        let look = ready.invocation.confirmation(&call_id, &side_models);
        let Some(confirmation) = self.cancel.run_until_cancelled(look).await else {
            return Ok(Asked::No);
        };
        let mut confirmation = confirmation?;
        if let ConfirmationKind::Execute { reason, level, .. } = &mut confirmation.kind {
            (*reason, *level) = (why, confinement.level);
        }
        let kind = confirmation.kind.clone();
        ready.confinement = CallConfinement::default();
        if !is_strict
            && let Some(granted) = self.services.grants.hold(self.policy, ready.query(mode))
        {
            ready.confinement = granted;
            ready.decision.get_or_insert(Decision::AutoAccept);
            return Ok(Asked::Yes);
        }
        self.notify(&confirmation);
        self.moved(&call_id, CallStatus::AwaitingApproval).await;
        let scopes = Approval::scopes(self.policy, &ready.query(mode));
        let (choices, default) = self.services.choices.of(&kind, &scopes);
        if let ConfirmationKind::Execute { starts, .. } = &mut confirmation.kind
            && choices.iter().any(|choice| {
                matches!(
                    choice.outcome,
                    Outcome::ProceedSubcommand { .. } | Outcome::ProceedProgram { .. }
                )
            })
        {
            *starts = Approval::starts(&scopes);
        }
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
        Ok(self.decided(ready, reply.outcome, &kind, confinement, mode).await)
    }

    /// Takes note of the outcome that a person chose.
    async fn decided(
        &self,
        ready: &mut Ready,
        outcome: Outcome,
        kind: &ConfirmationKind,
        confinement: CallConfinement,
        mode: ApprovalMode,
    ) -> Asked {
        match outcome {
            // Such a choice was not offered.
            Outcome::Cancel | Outcome::Option(_) => Asked::No,
            // The arguments have changed: they are shown once more.
            Outcome::ModifyWithEditor => Asked::Again,
            Outcome::ProceedOnce => {
                ready.decision.get_or_insert(Decision::Accept);
                Asked::Yes
            }
            always @ (Outcome::ProceedAlways
            | Outcome::ProceedAlwaysAndSave
            | Outcome::ProceedAlwaysServer
            | Outcome::ProceedAlwaysTool
            | Outcome::ProceedSubcommand { .. }
            | Outcome::ProceedProgram { .. }) => {
                // An approval that lasts is confined from its first run on.
                ready.confinement = confinement;
                ready.decision.get_or_insert(Decision::AutoAccept);
                self.remember(ready, kind, always, mode).await;
                match kind {
                    // What is kept is kept for this one file.
                    ConfirmationKind::Edit { .. } if always == Outcome::ProceedAlwaysAndSave => {
                        Asked::Yes
                    }
                    ConfirmationKind::Edit { .. } => Asked::YesToAllEdits,
                    ConfirmationKind::Plan { .. } => Asked::YesToThePlan,
                    ConfirmationKind::Execute { .. }
                    | ConfirmationKind::Questions(_)
                    | ConfirmationKind::Information { .. } => Asked::Yes,
                }
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
        let is_saved = matches!(
            outcome,
            Outcome::ProceedAlwaysAndSave
                | Outcome::ProceedSubcommand { saved: true }
                | Outcome::ProceedProgram { saved: true }
        );
        let has_rule = match kind {
            // A mode or an answer of its own stands for these.
            ConfirmationKind::Plan { .. } | ConfirmationKind::Questions(_) => false,
            ConfirmationKind::Edit { .. } => is_saved,
            ConfirmationKind::Execute { .. } | ConfirmationKind::Information { .. } => true,
        };
        if !has_rule {
            return;
        }
        let scope = match outcome {
            Outcome::ProceedAlwaysServer => Scope::Server,
            Outcome::ProceedSubcommand { .. } => Scope::Subcommand,
            Outcome::ProceedProgram { .. } => Scope::Program,
            _ => Scope::Call,
        };
        let file = is_saved.then_some(self.policy.facts.approvals_file.as_path());
        if let Err(error) = self.services.grants.grant(self.policy, &ready.query(mode), scope, file)
        {
            let (severity, text) = (Severity::Warning, error.to_string());
            self.outlet().emit(Event::Notice { severity, text }).await;
        }
    }
}
