//! What follows when the model goes round in circles: first a hint, then the person is asked; without one the work ends.

use std::sync::Arc;

use pollux_protocol::{
    CancellationToken, LoopKind, LoopMeasure, Measurement, Operator, Outcome, Part, PromptOutcome,
    Question, QuestionChoice, QuestionSubject, SideModels,
};

use super::{End, Session};
use crate::loop_guard::{self, CONVICTION, Finding, Judgement};
use crate::scheduler::Batch;

/// The models that are asked, and that are asked again when the first one is sure.
const JUDGE: &str = "loop-detection";
const SECOND_JUDGE: &str = "loop-detection-double-check";

const STOP: &str = "Keep loop detection enabled - The work on this prompt ends.";
const CONTINUE: &str = "Go on this time - The model is told, and goes on.";
const DISABLE: &str =
    "Disable loop detection for this session - Loops are not looked for any more.";

impl Session {
    /// A loop was found, by a model where there is a judgement. Gives the hint with which the work goes on.
    ///
    /// # Errors
    /// The work ends here.
    pub(super) async fn looped(
        &mut self,
        found: Finding,
        judged: Option<(Judgement, String)>,
        operator: &dyn Operator,
    ) -> Result<Part, End> {
        let is_first = self.guard.is_first();
        let (judgement, model) = judged.unzip();
        let measure = LoopMeasure {
            kind: found.kind,
            prompt_id: self.guard.prompt_id.clone(),
            count: self.guard.found(),
            confirmed_by: model,
            confidence: judgement.as_ref().map(|judgement| judgement.confidence),
            analysis: judgement.map(|judgement| judgement.analysis),
        };
        self.parts.emitter.measure(&Measurement::LoopDetected(measure));
        if !is_first {
            self.goes_on(&found, operator).await?;
        }
        Ok(Part::text(loop_guard::nudge(&found.details)))
    }

    /// Asks the person whether the work goes on; without a person it ends.
    async fn goes_on(&mut self, found: &Finding, operator: &dyn Operator) -> Result<(), End> {
        let outcome = if self.parts.prompt.interactive {
            let subject = QuestionSubject::Loop { details: found.details.clone() };
            let origin = self.parts.emitter.origin();
            operator.ask(Question::new(origin, subject, choices(), None)).await.outcome
        } else {
            Outcome::Cancel
        };
        match outcome {
            Outcome::ProceedOnce => Ok(()),
            Outcome::ProceedAlways => {
                self.parts.loop_detection = false;
                let prompt_id = self.guard.prompt_id.clone();
                self.parts.emitter.measure(&Measurement::LoopDetectionDisabled { prompt_id });
                Ok(())
            }
            _ => Err(End::Outcome(PromptOutcome::Loop(found.details.clone()))),
        }
    }

    /// Looks at what the calls of a turn came to; when a prompt has taken long, another model does, too. Gives a hint
    /// for the model if there is need of one.
    ///
    /// # Errors
    /// The work ends here.
    pub(super) async fn look_for_loops(
        &mut self,
        batch: &Batch,
        operator: &dyn Operator,
        cancel: &CancellationToken,
    ) -> Result<Option<Part>, End> {
        if !self.parts.loop_detection {
            return Ok(None);
        }
        self.guard.turns += 1;
        let finished = batch.finished.iter().map(Arc::as_ref);
        let (found, judged) = match self.guard.calls.turn(finished) {
            Some(found) => (found, None),
            None => match self.judge(cancel).await {
                Some(judged) => {
                    let details = judged.0.analysis.clone();
                    (Finding { kind: LoopKind::Judged, details }, Some(judged))
                }
                None => return Ok(None),
            },
        };
        if batch.ends_the_work() || cancel.is_cancelled() {
            return Ok(None);
        }
        self.looped(found, judged, operator).await.map(Some)
    }

    /// Asks another model, when it is time for that. What it fails to say changes nothing.
    async fn judge(&mut self, cancel: &CancellationToken) -> Option<(Judgement, String)> {
        let turn = self.guard.turns + 1;
        if !self.guard.schedule.is_due(turn) {
            return None;
        }
        let first = self.judged_by(JUDGE, cancel).await;
        let confidence = first.as_ref().map(|(judgement, _)| judgement.confidence);
        self.guard.schedule.asked(turn, confidence);
        let first = first?;
        let is_sure = |(judgement, _): &(Judgement, String)| judgement.confidence >= CONVICTION;
        let second =
            if is_sure(&first) { self.judged_by(SECOND_JUDGE, cancel).await } else { None };
        let measure = Measurement::LoopCheck {
            prompt_id: self.guard.prompt_id.clone(),
            confidence: first.0.confidence,
            second_model: second.as_ref().map_or(SECOND_JUDGE, |(_, model)| model).to_owned(),
            second_confidence: second.as_ref().map(|(judgement, _)| judgement.confidence),
        };
        self.parts.emitter.measure(&measure);
        // Where there is no second model the first one has the last word.
        Some(second.unwrap_or(first)).filter(is_sure)
    }

    async fn judged_by(
        &self,
        alias: &str,
        cancel: &CancellationToken,
    ) -> Option<(Judgement, String)> {
        let entries = self.parts.history.entries();
        let asked = async {
            let choice = self.parts.beside.select(alias).await.ok()?;
            let request = loop_guard::request(entries, &self.guard.prompt);
            let (answer, _) = choice.model.generate_json(request, cancel.clone()).await.ok()?;
            Some((loop_guard::read_judgement(&answer)?, choice.name))
        };
        cancel.run_until_cancelled(asked).await.flatten()
    }
}

/// Choices of the person.
fn choices() -> Vec<QuestionChoice> {
    vec![
        QuestionChoice::new(Outcome::Cancel, STOP, 'n'),
        QuestionChoice::new(Outcome::ProceedOnce, CONTINUE, 'y'),
        QuestionChoice::new(Outcome::ProceedAlways, DISABLE, 'd'),
    ]
}
