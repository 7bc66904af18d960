//! The models of a run, and which one answers the next request.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, PoisonError};

use async_trait::async_trait;
use pollux_protocol::{Choice, Model, ModelError, Models, SelectContext};

use crate::configs::{ModelConfigs, Purpose};
use crate::gemini::{GeminiModel, Service};
use crate::names;
use crate::record::{Recorder, RecordingModel};
use crate::replay::{Replay, ReplayModel};

/// Where answers come from.
pub(crate) enum Source {
    /// The service.
    Gemini(Arc<Service>),
    /// A recording.
    Replay(Arc<Replay>),
}

/// Every model by the name or alias that it was asked for. A model is built once, so that what it has
/// encoded is still there in the next turn.
pub(crate) struct Catalog {
    source: Source,
    configs: Arc<ModelConfigs>,
    recorder: Option<Arc<Recorder>>,
    models: Mutex<HashMap<String, Arc<dyn Model>>>,
}

impl Catalog {
    pub(crate) fn new(
        source: Source,
        configs: Arc<ModelConfigs>,
        recorder: Option<Arc<Recorder>>,
    ) -> Self {
        Self { source, configs, recorder, models: Mutex::default() }
    }

    /// What the configuration of a requested model is looked up by.
    fn alias<'a>(&self, requested: &'a str) -> &'a str {
        let requested = requested.trim();
        if self.configs.knows(requested) && !names::is_auto(requested) {
            requested
        } else {
            names::resolve(requested)
        }
    }

    fn model(&self, alias: &str) -> Result<Arc<dyn Model>, ModelError> {
        let mut models = self.models.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(model) = models.get(alias) {
            return Ok(Arc::clone(model));
        }
        let mut model: Arc<dyn Model> = match &self.source {
            Source::Gemini(service) => Arc::new(GeminiModel::new(Arc::clone(service), alias)?),
            Source::Replay(replay) => {
                let resolved = self.configs.resolve(alias, Purpose::default());
                let name = resolved?.model;
                Arc::new(ReplayModel::new(Arc::clone(replay), names::resolve(&name)))
            }
        };
        if let Some(recorder) = &self.recorder {
            model = Arc::new(RecordingModel::new(model, Arc::clone(recorder)));
        }
        models.insert(alias.to_owned(), Arc::clone(&model));
        Ok(model)
    }
}

#[async_trait]
impl Models for Catalog {
    /// A model that was asked for by name is the one; `auto` is the pro model, without asking a model
    /// which to take, whatever the mode.
    async fn select(&self, context: &SelectContext) -> Result<Choice, ModelError> {
        let model = self.model(self.alias(&context.requested))?;
        let name = model.name().to_owned();
        let how = if names::is_auto(&context.requested) { "default" } else { "override" };
        Ok(Choice {
            limits: names::limits(&name),
            family: names::family(&name),
            reason: format!("agent-router/{how}"),
            name,
            model,
        })
    }
}

#[cfg(test)]
mod tests;
