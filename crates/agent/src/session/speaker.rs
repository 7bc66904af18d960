//! What follows an answer without calls: the model may only have paused.

use pollux_protocol::{
    CONTINUE, CancellationToken, Measurement, NextSpeakerMeasure, Part, SideModels, Speaker,
};

use super::{End, Session};
use crate::next_speaker::{self, Standing};

/// The model that is asked.
const JUDGE: &str = "next-speaker-checker";

impl Session {
    /// True when the model goes on without the person; it was told so. The limits of turns hold for that, too.
    pub(super) async fn goes_on_alone(
        &mut self,
        prompt_id: &str,
        cancel: &CancellationToken,
    ) -> Result<bool, End> {
        let options = self.parts.next_speaker;
        if !(options.asks_model || options.plain_cases) {
            return Ok(false);
        }
        let next = self.next_speaker(prompt_id, cancel).await;
        if cancel.is_cancelled() {
            return Ok(false);
        }
        let measure = NextSpeakerMeasure {
            prompt_id: prompt_id.to_owned(),
            finish_reason: self.finish.as_ref().map(|finish| finish.as_str().to_owned()),
            next,
        };
        self.parts.emitter.measure(&Measurement::NextSpeaker(measure));
        let goes_on = next == Some(Speaker::Model) && !self.repeats_itself();
        if goes_on {
            self.say(vec![Part::text(CONTINUE)], None).await?;
        }
        Ok(goes_on)
    }

    /// Who speaks next, as far as anybody knows.
    async fn next_speaker(&self, prompt_id: &str, cancel: &CancellationToken) -> Option<Speaker> {
        let options = self.parts.next_speaker;
        let entries = self.parts.history.entries();
        match next_speaker::standing(entries) {
            Standing::Model => return Some(Speaker::Model),
            Standing::Unknown => return None,
            Standing::Words => {}
        }
        if options.plain_cases {
            let words = self.answers.last().map_or("", String::as_str);
            let plain = next_speaker::plain_case(words, self.finish.as_ref());
            if plain.is_some() || !options.asks_model {
                return plain;
            }
        }
        let asked = async {
            let choice = self.parts.beside.select(JUDGE).await.ok()?;
            let request = next_speaker::request(entries, prompt_id);
            let (answer, _) = choice.model.generate_json(request, cancel.clone()).await.ok()?;
            next_speaker::read(&answer)
        };
        cancel.run_until_cancelled(asked).await.flatten()
    }

    /// The last answer has the words of the one before: asked once more it would come once more.
    fn repeats_itself(&self) -> bool {
        matches!(self.answers.as_slice(), [.., before, last] if before == last)
    }
}
