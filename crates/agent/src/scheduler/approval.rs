//! Decides if a prepared call may run: by policy, by safety checkers, and if necessary by a
//! question to the user.

use std::sync::Arc;

use pollux_policy::{Approval, ApprovalScope, PolicyVerdict, Rule};
use pollux_protocol::{
    ApprovalMode, CallConfinement, CallStatus, ConfinementLevel, ConfirmationKind, Decision, Event,
    JournalError, LiveWatch, Question, QuestionOutcome, QuestionReply, QuestionSubject, Severity,
    SideModels, ToolError, ToolErrorKind, USER_DENIED,
};

use super::{Batch, Prepared, Ready, STOPPED, Scheduler};
use crate::toolset::declared_effects;

/// Returns the model's error message for a call that needs approval in a session without a user.
/// `tool` is the display name of the tool. `reason` is the policy's reason for the question, if
/// there is one. `is_limited` is true for a command in a run that may only run commands that read.
pub fn nobody_to_ask(tool: &str, reason: Option<&str>, is_limited: bool) -> String {
    let reason = reason.map(|reason| format!(" Reason: {reason}.")).unwrap_or_default();
    let remedy = if is_limited { REMEDY } else { "" };
    format!(
        "Tool execution for \"{tool}\" requires user confirmation, which is not supported in non-interactive mode.{reason}{remedy}"
    )
}

/// Returns the model's error message for a call that the policy denies, with the message of the
/// rule.
pub fn denied(message: Option<&str>) -> String {
    format!("Tool execution denied by policy. {}", message.unwrap_or_default())
        .trim_end()
        .to_owned()
}

/// End of the message for a command in a run that may only read.
const REMEDY: &str = " Without a rule for it, a headless run may only run commands that read. The user can allow more with a rule in ~/.gemini/policies, with --allowed-tools, or with --yolo.";

/// Decision of the user about a call.
enum Asked {
    Yes,
    YesToAllEdits,
    YesToThePlan,
    /// The call must be judged again, because the call or the approval mode has changed.
    Again,
    No,
}

/// State of a call after the user's decision.
enum Followed {
    /// The call may run.
    Runs,
    /// The call was refused or failed.
    Finished,
}

/// Facts for a question to the user.
struct Approving {
    /// True if the user must be asked even if an earlier approval covers the call.
    is_strict: bool,
    /// True if the server has changed the tool since the user approved it.
    is_changed: bool,
    /// Mode in which the policy decided.
    mode: ApprovalMode,
    /// Reason that the policy gives.
    reason: Option<String>,
    /// Confinement if the approval lasts longer than this call.
    confinement: CallConfinement,
}

/// End of the wait for a reply.
enum Replied {
    Reply(QuestionReply),
    Cancelled,
    NoLongerAsked,
}

/// Adds what the tool does not know to the subject of a question.
fn add_facts(
    kind: &mut ConfirmationKind,
    why: Option<String>,
    confinement: ConfinementLevel,
    changed: bool,
) {
    match kind {
        ConfirmationKind::Execute { reason, level, .. } => (*reason, *level) = (why, confinement),
        ConfirmationKind::ServerTool(call) => call.is_changed = changed,
        _ => {}
    }
}

/// Returns the verdict, with a question in place of permission if `asks` is true.
fn asked_if(asks: bool, verdict: PolicyVerdict) -> PolicyVerdict {
    if asks && verdict == PolicyVerdict::Allow { PolicyVerdict::Ask } else { verdict }
}

impl Ready {
    /// True if another approval mode can make this question unnecessary. False if a hook requested
    /// the question, or if its answer is more than an approval.
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
    /// Judges every call of the group. Returns the calls that may run. All others are finished.
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

    /// Judges calls again that the policy allowed in another mode than the current one. The mode
    /// may change while a group waits for the question about one of its calls.
    pub(super) async fn approve_stale(
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
        let is_changed = self.services.grants.definitions.is_changed(ready.tool.as_ref());
        let is_approval = loop {
            let mode = self.services.modes.get();
            let judgement = self.policy.judge(ready.query(mode));
            let may_widen = mode != ApprovalMode::Plan && judgement.level != ConfinementLevel::None;
            let stopped = stopped.clone().filter(|_| may_widen);
            let is_saved = judgement.rule.is_some_and(Rule::is_saved_approval);
            let asks = stopped.is_some() || is_changed && is_saved;
            let judged = ready.hooked.over(asked_if(asks, judgement.verdict.clone()));
            let Some(checked) = self.checked(&ready, mode, judged).await else {
                batch.cancelled = true;
                self.finish_cancelled(batch, &ready.queued, Some(&ready), STOPPED).await?;
                return Ok(None);
            };
            // A question that a checker requests is asked despite earlier approvals.
            let is_strict = judgement.rule.is_some_and(Rule::is_strict)
                || ready.hooked.asks
                || checked.wants_asking
                || stopped.is_some()
                || is_changed;
            match checked.verdict {
                PolicyVerdict::Allow => {
                    ready.decision.get_or_insert(Decision::Accept);
                    ready.allowed_in = Some(mode);
                    ready.confinement = judgement.confinement();
                    break is_saved;
                }
                PolicyVerdict::Deny { message } => {
                    let text = denied(message.as_deref());
                    let error = ToolError::new(ToolErrorKind::PolicyViolation, text);
                    self.finish_error(batch, &ready.queued, Some(&ready), error).await?;
                    return Ok(None);
                }
                PolicyVerdict::Ask => {
                    let reason = stopped.or_else(|| self.reason(&ready, mode));
                    let confinement = judgement.confinement();
                    let approving = Approving { is_strict, is_changed, mode, reason, confinement };
                    match self.confirm(&mut ready, approving, &mut changes).await {
                        Ok(Asked::Again) => {}
                        asked => match self.follow(asked, &ready, batch).await? {
                            Followed::Runs => break true,
                            Followed::Finished => return Ok(None),
                        },
                    }
                }
            }
        };
        self.services.grants.definitions.approve_if(is_approval, ready.tool.as_ref());
        self.moved(&ready.queued.call.id, CallStatus::Scheduled).await;
        Ok(Some(ready))
    }

    /// Returns the policy's reason for a question about a call that earlier approvals do not cover.
    fn reason(&self, ready: &Ready, mode: ApprovalMode) -> Option<String> {
        let granted = self.services.grants.over(self.policy);
        granted.judge(ready.query(mode)).reason
    }

    /// Applies the user's decision about a call.
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
                batch.refused |= !self.services.choices.continues_after_no;
                let reason = format!("Reason: {USER_DENIED}");
                self.finish_cancelled(batch, &ready.queued, Some(ready), &reason).await?;
                return Ok(Followed::Finished);
            }
            Err(error) => {
                self.finish_error(batch, &ready.queued, Some(ready), error).await?;
                return Ok(Followed::Finished);
            }
        }
        Ok(Followed::Runs)
    }

    /// Returns the reason to ask about a command line that confinement has stopped before.
    fn stopped_before(&self, ready: &Ready) -> Option<String> {
        self.policy.facts.interactive.then(|| self.services.grants.take_stop(&ready.effects))?
    }

    async fn confirm(
        &self,
        ready: &mut Ready,
        asked: Approving,
        changes: &mut LiveWatch<ApprovalMode>,
    ) -> Result<Asked, ToolError> {
        let Approving { is_strict, is_changed, mode, reason: why, confinement } = asked;
        if !self.policy.facts.interactive {
            let is_limited = ready.effects.command.is_some() && self.policy.only_reads(mode);
            let message = nobody_to_ask(ready.tool.display_name(), why.as_deref(), is_limited);
            return Err(ToolError::new(ToolErrorKind::UnhandledException, message));
        }
        let call_id = ready.queued.call.id.clone();
        // Preparing the question may read files or ask a model. A cancel does not wait for it.
        let side_models: Arc<dyn SideModels> = self.side_models.clone();
        let look = ready.invocation.confirmation(&call_id, &side_models);
        let Some(confirmation) = self.cancel.run_until_cancelled(look).await else {
            return Ok(Asked::No);
        };
        let mut confirmation = confirmation?;
        add_facts(&mut confirmation.kind, why, confinement.level, is_changed);
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
                    QuestionOutcome::ProceedSubcommand { .. }
                        | QuestionOutcome::ProceedProgram { .. }
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

    /// Processes the outcome that the user chose.
    async fn decided(
        &self,
        ready: &mut Ready,
        outcome: QuestionOutcome,
        kind: &ConfirmationKind,
        confinement: CallConfinement,
        mode: ApprovalMode,
    ) -> Asked {
        match outcome {
            // A choice of this kind was not offered.
            QuestionOutcome::Cancel | QuestionOutcome::Option(_) => Asked::No,
            // The arguments have changed, so the question is asked again.
            QuestionOutcome::ModifyWithEditor => Asked::Again,
            QuestionOutcome::ProceedOnce => {
                ready.decision.get_or_insert(Decision::Accept);
                Asked::Yes
            }
            always @ (QuestionOutcome::ProceedAlways
            | QuestionOutcome::ProceedAlwaysAndSave
            | QuestionOutcome::ProceedAlwaysServer
            | QuestionOutcome::ProceedAlwaysTool
            | QuestionOutcome::ProceedSubcommand { .. }
            | QuestionOutcome::ProceedProgram { .. }) => {
                // A lasting approval is confined from its first run on.
                ready.confinement = confinement;
                ready.decision.get_or_insert(Decision::AutoAccept);
                self.remember(ready, kind, always, mode).await;
                match kind {
                    // The saved approval covers only this file.
                    ConfirmationKind::Edit { .. }
                        if always == QuestionOutcome::ProceedAlwaysAndSave =>
                    {
                        Asked::Yes
                    }
                    ConfirmationKind::Edit { .. } => Asked::YesToAllEdits,
                    ConfirmationKind::Plan { .. } => Asked::YesToThePlan,
                    ConfirmationKind::Execute { .. }
                    | ConfirmationKind::Questions(_)
                    | ConfirmationKind::ServerTool(_)
                    | ConfirmationKind::Information { .. } => Asked::Yes,
                }
            }
        }
    }

    /// Waits for the reply to a question about a call. A change of the mode withdraws the question
    /// if the policy would no longer ask. Questions that do not depend on the mode stay open.
    async fn reply(
        &self,
        question: Question,
        ready: &Ready,
        changes: &mut LiveWatch<ApprovalMode>,
    ) -> Replied {
        let depends_on_mode = ready.depends_on_mode(&question);
        let asked = self.services.operator.ask(question);
        tokio::pin!(asked);
        loop {
            tokio::select! {
                biased;
                () = self.cancel.cancelled() => return Replied::Cancelled,
                reply = &mut asked => return Replied::Reply(reply),
                mode = changes.changed(), if depends_on_mode => {
                    if self.policy.judge(ready.query(*mode)).verdict != PolicyVerdict::Ask {
                        return Replied::NoLongerAsked;
                    }
                }
            }
        }
    }

    /// Saves an approval that is valid beyond this call.
    async fn remember(
        &self,
        ready: &Ready,
        kind: &ConfirmationKind,
        outcome: QuestionOutcome,
        mode: ApprovalMode,
    ) {
        let is_saved = matches!(
            outcome,
            QuestionOutcome::ProceedAlwaysAndSave
                | QuestionOutcome::ProceedSubcommand { saved: true }
                | QuestionOutcome::ProceedProgram { saved: true }
        );
        let has_rule = match kind {
            // These approvals have no rule: they set a mode or are complete in themselves.
            ConfirmationKind::Plan { .. } | ConfirmationKind::Questions(_) => false,
            ConfirmationKind::Edit { .. } => is_saved,
            ConfirmationKind::Execute { .. }
            | ConfirmationKind::ServerTool(_)
            | ConfirmationKind::Information { .. } => true,
        };
        if !has_rule {
            return;
        }
        let scope = match outcome {
            QuestionOutcome::ProceedAlwaysServer => ApprovalScope::Server,
            QuestionOutcome::ProceedSubcommand { .. } => ApprovalScope::Subcommand,
            QuestionOutcome::ProceedProgram { .. } => ApprovalScope::Program,
            _ => ApprovalScope::Call,
        };
        let file = is_saved.then_some(self.policy.facts.approvals_file.as_path());
        if let Err(error) = self.services.grants.grant(self.policy, &ready.query(mode), scope, file)
        {
            let (severity, text) = (Severity::Warning, error.to_string());
            self.outlet().emit(Event::Notice { severity, text }).await;
        }
    }
}
