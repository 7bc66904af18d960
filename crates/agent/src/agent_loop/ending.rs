//! Steps after an answer without calls: the model may only have paused, the answer may have the
//! wrong form, and hooks may ask for more work.

use std::sync::Arc;

use pollux_protocol::{
    CONTINUE, Choice, Content, Event, HistoryEntry, Measurement, MessageDisplay, ModelErrorKind,
    NextSpeakerMeasure, Part, PromptOutcome, Speaker,
};

use super::request::Answered;
use super::{AgentLoop, End};
use crate::answer_form::{Checked, Shaping};
use crate::next_speaker::next_speaker;
use crate::prompt_hooks::Verdict;
use crate::prompt_run::PromptRun;

impl AgentLoop {
    /// Runs the `AfterAgent` hooks at the end of the work. They may end it, or make the agent
    /// continue with their own text. That text is returned.
    pub(super) async fn after_agent(
        &mut self,
        prompt: &str,
        is_continued: bool,
        run: &PromptRun<'_>,
    ) -> Result<Option<String>, End> {
        if !self.is_main() {
            return Ok(None);
        }
        let after = self.hooks.after_agent(prompt, &run.answers, is_continued, run.cancel).await;
        if after.clears {
            self.conversation.forget().await?;
        }
        match after.verdict {
            Verdict::Go => Ok(None),
            Verdict::Stop(reason) => Err(PromptOutcome::Stopped(reason).into()),
            Verdict::Block(reason) => {
                self.outlet().emit(Event::Blocked { reason }).await;
                Ok(after.words)
            }
        }
    }

    /// Returns true if the model should continue without input from the user. In that case the
    /// message that says so is already in the conversation. The turn limits apply to this
    /// continuation, too.
    pub(super) async fn goes_on_alone(&mut self, run: &PromptRun<'_>) -> Result<bool, End> {
        let options = self.settings.get().next_speaker;
        if !options.is_on() {
            return Ok(false);
        }
        let entries = self.conversation.entries();
        let next = next_speaker(options, entries, self.side_models.as_ref(), run).await;
        if run.cancel.is_cancelled() {
            return Ok(false);
        }
        let measure = NextSpeakerMeasure {
            prompt_id: run.id.to_owned(),
            finish_reason: run.finish.as_ref().map(|finish| finish.as_str().to_owned()),
            next,
        };
        self.outlet().measure(&Measurement::NextSpeaker(measure));
        let is_continued = next == Some(Speaker::Model) && !run.repeats_itself();
        if is_continued {
            self.conversation.say(vec![Part::text(CONTINUE)], MessageDisplay::Hidden).await?;
        }
        Ok(is_continued)
    }

    /// Checks the last answer, and asks again until the answer satisfies the schema.
    pub(super) async fn satisfy(
        &mut self,
        choice: &mut Choice,
        run: &mut PromptRun<'_>,
    ) -> Result<(), End> {
        loop {
            let Some(shaping) = &mut self.shaping else { return Ok(()) };
            match shaping.check(&run.last_answer()) {
                Checked::Satisfied(value) => {
                    self.outlet().emit(Event::Answer(Arc::new(value))).await;
                    return Ok(());
                }
                Checked::Unsatisfied(unsatisfied) => {
                    return Err(PromptOutcome::Unsatisfied(unsatisfied).into());
                }
                Checked::Again(words) => {
                    self.conversation.say(vec![Part::text(words)], MessageDisplay::Hidden).await?;
                    self.ask_again(choice, run).await?;
                }
            }
        }
    }

    /// Asks for another attempt at the last answer.
    async fn ask_again(&mut self, choice: &mut Choice, run: &mut PromptRun<'_>) -> Result<(), End> {
        loop {
            self.begin_turn(0)?;
            self.outlet().emit(Event::TurnStarted { turn: self.turns }).await;
            let before = run.answers.len();
            let said = match self.ask(choice, run).await {
                // The history itself answers calls of tools that do not exist.
                Ok(Answered::Calls(_)) => run.answers.drain(before..).next_back(),
                Err(End::Outcome(PromptOutcome::Failed(error)))
                    if error.kind == ModelErrorKind::Invalid
                        && self.shaping.as_mut().is_some_and(Shaping::try_by_words) =>
                {
                    continue;
                }
                Ok(Answered::Looped(_)) | Err(End::Outcome(PromptOutcome::InvalidStream(_))) => {
                    None
                }
                Err(end) => return Err(end),
            };
            let nothing = || HistoryEntry::detached(Content::model(Vec::new()));
            run.answers.push(said.unwrap_or_else(nothing));
            return Ok(());
        }
    }
}
