//! Which model a prompt runs on.

use std::time::Instant;

use pollux_protocol::{Choice, Event, Measurement, PromptOutcome, SelectContext};

use super::{End, Session};

impl Session {
    /// Chooses the model, and tells of it when it is another one than before.
    pub(super) async fn choose(&mut self) -> Result<Choice, End> {
        let started = Instant::now();
        let context = SelectContext {
            requested: String::clone(&self.requested_model.get()),
            mode: self.mode(),
            beside: None,
        };
        let chosen = self.parts.models.select(&context).await;
        let (model, source) = match &chosen {
            Ok(choice) => (choice.name.clone(), choice.reason.clone()),
            Err(_) => (context.requested.clone(), "router-exception".to_owned()),
        };
        let measure = Measurement::ModelRouting {
            requested: context.requested,
            model: model.clone(),
            source: source.clone(),
            latency: started.elapsed(),
            error: chosen.as_ref().err().map(ToString::to_string),
            mode: self.mode(),
        };
        self.parts.emitter.measure(&measure);
        let choice = chosen.map_err(|error| End::Outcome(PromptOutcome::Failed(error)))?;
        if self.told_model.as_ref() != Some(&model) {
            self.told_model = Some(model.clone());
            self.parts.emitter.emit(Event::ModelChanged { model, reason: source }).await;
        }
        Ok(choice)
    }
}
