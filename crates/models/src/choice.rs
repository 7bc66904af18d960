//! The models of a run, and which one answers the next request.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, PoisonError};

use async_trait::async_trait;
use pollux_protocol::{Choice, Limits, Model, ModelError, Models, SelectContext};

use crate::chat_models::ChatModels;
use crate::configs::{ModelConfigs, Purpose};
use crate::gemini::{GeminiModel, Service};
use crate::names;
use crate::record::{Recorder, RecordingModel};
use crate::replay::{Replay, ReplayModel};

mod route;

pub(crate) use route::{Door, Doors, Route, route};

/// Where answers come from.
pub(crate) enum Source {
    /// Services, by the name of the model.
    Services(Box<Services>),
    /// A recording, whatever the name.
    Replay(Arc<Replay>),
}

/// The services of a run.
pub(crate) struct Services {
    /// The Gemini API, or why it cannot be used.
    pub(crate) gemini: Result<Arc<Service>, ModelError>,
    /// Everyone who speaks Chat Completions.
    pub(crate) chat: ChatModels,
    pub(crate) doors: Doors,
}

/// A model and what is known of it.
#[derive(Clone)]
pub(crate) struct Built {
    pub(crate) model: Arc<dyn Model>,
    pub(crate) limits: Limits,
    pub(crate) family: &'static str,
}

/// Every model by the name or alias that it was asked for. A model is built once, so that what it has
/// encoded is still there in the next turn.
pub(crate) struct Roster {
    source: Source,
    configs: Arc<ModelConfigs>,
    recorder: Option<Arc<Recorder>>,
    models: Mutex<HashMap<String, Built>>,
}

impl Roster {
    pub(crate) fn new(
        source: Source,
        configs: Arc<ModelConfigs>,
        recorder: Option<Arc<Recorder>>,
    ) -> Self {
        Self { source, configs, recorder, models: Mutex::default() }
    }

    async fn find(&self, requested: &str) -> Result<Built, ModelError> {
        let services = match &self.source {
            Source::Replay(replay) => {
                let alias = route::alias(requested, &self.configs);
                return self.kept(alias, || self.recorded(replay, alias));
            }
            Source::Services(services) => services,
        };
        let route = route(requested, &self.configs, services.doors);
        if let Route::Gemini(alias) = &route {
            return self.kept(alias, || {
                let service = Arc::clone(services.gemini.as_ref().map_err(Clone::clone)?);
                Ok(gemini(Arc::new(GeminiModel::new(service, alias)?)))
            });
        }
        let key = format!("{route:?}");
        let kept = self.models.lock().unwrap_or_else(PoisonError::into_inner).get(&key).cloned();
        if let Some(built) = kept {
            return Ok(built);
        }
        let built = services.chat.build(&route).await?;
        self.kept(&key, || Ok(built))
    }

    /// What is asked for beside the conversation with `main`: a recording answers whatever is asked.
    fn beside<'a>(&self, alias: &'a str, main: &'a str) -> &'a str {
        match &self.source {
            Source::Replay(_) => alias,
            Source::Services(services) => route::beside(alias, main, &self.configs, services.doors),
        }
    }

    fn recorded(&self, replay: &Arc<Replay>, alias: &str) -> Result<Built, ModelError> {
        let resolved = self.configs.resolve(alias, Purpose::default());
        let name = resolved?.model;
        Ok(gemini(Arc::new(ReplayModel::new(Arc::clone(replay), names::resolve(&name)))))
    }

    /// The model that is there under this key, else the one that `build` makes.
    fn kept(
        &self,
        key: &str,
        build: impl FnOnce() -> Result<Built, ModelError>,
    ) -> Result<Built, ModelError> {
        let mut models = self.models.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(built) = models.get(key) {
            return Ok(built.clone());
        }
        let mut built = build()?;
        if let Some(recorder) = &self.recorder {
            built.model = Arc::new(RecordingModel::new(built.model, Arc::clone(recorder)));
        }
        models.insert(key.to_owned(), built.clone());
        Ok(built)
    }
}

fn gemini(model: Arc<dyn Model>) -> Built {
    let (limits, family) = (names::limits(model.name()), names::family(model.name()));
    Built { model, limits, family }
}

#[async_trait]
impl Models for Roster {
    /// A model that was asked for by name is the one; `auto` is the pro model (elsewhere the first
    /// that the service lists), without asking a model which to take, whatever the mode.
    async fn select(&self, context: &SelectContext) -> Result<Choice, ModelError> {
        let requested = match &context.beside {
            Some(main) => self.beside(&context.requested, main),
            None => &context.requested,
        };
        let Built { model, limits, family } = self.find(requested).await?;
        let name = model.name().to_owned();
        let how = if names::is_auto(&context.requested) { "default" } else { "override" };
        Ok(Choice { limits, family, reason: format!("agent-router/{how}"), name, model })
    }
}

#[cfg(test)]
mod tests;
