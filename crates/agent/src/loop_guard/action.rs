//! Reactions to a loop: the first time, the model gets a hint. After that, the user is asked, or
//! the work ends in a session without a user.

use std::sync::Arc;

use pollux_protocol::{
    HistoryEntry, LoopKind, LoopMeasure, Measurement, Part, PromptOutcome, Question,
    QuestionChoice, QuestionOutcome, QuestionSubject, SideModels,
};

use super::{CONVICTION, CallTrail, Finding, Judgement, LoopGuard, judge, nudge};
use crate::prompt_run::PromptRun;
use crate::scheduler::Batch;

/// Model configuration of the judge, and of the second judge that confirms a confident judgement.
const JUDGE: &str = "loop-detection";
const SECOND_JUDGE: &str = "loop-detection-double-check";

const STOP: &str = "Keep loop detection enabled - Stops the work on this prompt.";
const CONTINUE: &str = "Continue this time - The model receives a hint and continues.";
const DISABLE: &str = "Disable loop detection for this session - Pollux stops checking for loops.";

impl LoopGuard {
    /// Checks the calls of a turn. In a long prompt, another model judges them, too. Returns a hint
    /// for the model if it seems to be in a loop.
    ///
    /// # Errors
    /// Returns the outcome if the work ends here.
    pub(crate) async fn after_calls(
        &mut self,
        batch: &Batch,
        entries: &[Arc<HistoryEntry>],
        side_models: &dyn SideModels,
        run: &PromptRun<'_>,
    ) -> Result<Option<Part>, PromptOutcome> {
        if !self.is_on() {
            return Ok(None);
        }
        self.turns += 1;
        let finished = batch.finished.iter().map(Arc::as_ref);
        let (found, judged) = match self.calls.turn(finished) {
            Some(found) => (found, None),
            None => match self.judge(entries, side_models, run).await {
                Some(judged) => {
                    let details = judged.0.analysis.clone();
                    (Finding { kind: LoopKind::Judged, details }, Some(judged))
                }
                None => return Ok(None),
            },
        };
        if batch.ends_the_work() || run.cancel.is_cancelled() {
            return Ok(None);
        }
        self.react(found, judged, run).await.map(Some)
    }

    /// Reacts to a loop that a model `judged`, or that was found in calls or text. Returns the hint
    /// for the model that continues.
    ///
    /// # Errors
    /// Returns the outcome if the work ends here.
    pub(crate) async fn react(
        &mut self,
        found: Finding,
        judged: Option<(Judgement, String)>,
        run: &PromptRun<'_>,
    ) -> Result<Part, PromptOutcome> {
        self.found += 1;
        self.calls = CallTrail::default();
        let (judgement, model) = judged.unzip();
        let measure = LoopMeasure {
            kind: found.kind,
            prompt_id: run.id.to_owned(),
            count: self.found,
            confirmed_by: model,
            confidence: judgement.as_ref().map(|judgement| judgement.confidence),
            analysis: judgement.map(|judgement| judgement.analysis),
        };
        self.outlet.measure(&Measurement::LoopDetected(measure));
        // The first time, the model gets a chance to notice the loop itself.
        if self.found > 1 {
            self.ask_person(&found, run).await?;
        }
        Ok(Part::text(nudge(&found.details)))
    }

    /// Asks the user whether to continue. Without a user the work ends.
    async fn ask_person(
        &mut self,
        found: &Finding,
        run: &PromptRun<'_>,
    ) -> Result<(), PromptOutcome> {
        let subject = QuestionSubject::Loop { details: found.details.clone() };
        let question = Question::new(self.outlet.origin(), subject, choices(), None);
        let asked = self.operator.ask(question);
        let Some(reply) = run.cancel.run_until_cancelled(asked).await else {
            return Err(PromptOutcome::Cancelled);
        };
        match reply.outcome {
            QuestionOutcome::ProceedOnce => Ok(()),
            QuestionOutcome::ProceedAlways => {
                self.is_disabled = true;
                let prompt_id = run.id.to_owned();
                self.outlet.measure(&Measurement::LoopDetectionDisabled { prompt_id });
                Ok(())
            }
            _ => Err(PromptOutcome::Loop(found.details.clone())),
        }
    }

    /// Asks another model if a check is due. Without a usable answer nothing changes.
    async fn judge(
        &mut self,
        entries: &[Arc<HistoryEntry>],
        side_models: &dyn SideModels,
        run: &PromptRun<'_>,
    ) -> Option<(Judgement, String)> {
        let turn = self.turns + 1;
        if !self.schedule.is_due(turn) {
            return None;
        }
        let first = self.judged_by(JUDGE, entries, side_models, run).await;
        let confidence = first.as_ref().map(|(judgement, _)| judgement.confidence);
        self.schedule.asked(turn, confidence);
        let first = first?;
        let is_sure = |(judgement, _): &(Judgement, String)| judgement.confidence >= CONVICTION;
        let second = if is_sure(&first) {
            self.judged_by(SECOND_JUDGE, entries, side_models, run).await
        } else {
            None
        };
        let measure = Measurement::LoopCheck {
            prompt_id: run.id.to_owned(),
            confidence: first.0.confidence,
            second_model: second.as_ref().map_or(SECOND_JUDGE, |(_, model)| model).to_owned(),
            second_confidence: second.as_ref().map(|(judgement, _)| judgement.confidence),
        };
        self.outlet.measure(&measure);
        // Without a second judgement, the first one decides.
        Some(second.unwrap_or(first)).filter(is_sure)
    }

    async fn judged_by(
        &self,
        alias: &str,
        entries: &[Arc<HistoryEntry>],
        side_models: &dyn SideModels,
        run: &PromptRun<'_>,
    ) -> Option<(Judgement, String)> {
        let asked = async {
            let choice = side_models.select(alias).await.ok()?;
            let request = judge::request(entries, &self.prompt);
            let (answer, _) = choice.model.generate_json(request, run.cancel.clone()).await.ok()?;
            Some((judge::read_judgement(&answer)?, choice.name))
        };
        run.cancel.run_until_cancelled(asked).await.flatten()
    }
}

/// Returns the choices for the user.
fn choices() -> Vec<QuestionChoice> {
    vec![
        QuestionChoice::new(QuestionOutcome::Cancel, STOP, 'n'),
        QuestionChoice::new(QuestionOutcome::ProceedOnce, CONTINUE, 'y'),
        QuestionChoice::new(QuestionOutcome::ProceedAlways, DISABLE, 'd'),
    ]
}
