//! The models of a run, and which one answers the next request.

use std::collections::HashMap;
use std::path::PathBuf;
use std::sync::{Arc, Mutex, PoisonError};

use async_trait::async_trait;
use pollux_protocol::{Choice, Model, ModelError, ModelListing, Models, SelectContext};

use crate::configs::{ModelConfigs, Purpose};
use crate::dialect::BuiltModel;
use crate::names;
use crate::prices::PriceBook;
use crate::record::{Recorder, RecordingModel};
use crate::replay::{Replay, ReplayModel};
use crate::route::{self, Defaults, route};
use crate::services::Services;

/// Where answers come from.
pub(crate) enum Source {
    /// Services, by the name of the model.
    Services(Box<Services>, Defaults),
    /// A recording, whatever the name.
    Replay(Arc<Replay>),
}

/// Every model by the name or alias that it was asked for. A model is built once, so that what it has
/// encoded is still there in the next turn.
pub(crate) struct Roster {
    source: Source,
    configs: Arc<ModelConfigs>,
    recorder: Option<Arc<Recorder>>,
    /// The person's own prices.
    prices: Option<PathBuf>,
    models: Mutex<HashMap<String, BuiltModel>>,
}

impl Roster {
    pub(crate) fn new(
        source: Source,
        configs: Arc<ModelConfigs>,
        recorder: Option<Arc<Recorder>>,
        prices: Option<PathBuf>,
    ) -> Self {
        Self { source, configs, recorder, prices, models: Mutex::default() }
    }

    async fn find(&self, requested: &str) -> Result<BuiltModel, ModelError> {
        let (services, defaults) = match &self.source {
            Source::Replay(replay) => {
                let alias = route::alias(requested, &self.configs);
                return self.kept(alias, || self.recorded(replay, alias));
            }
            Source::Services(services, defaults) => (services, defaults),
        };
        let route = route(requested, &self.configs, defaults);
        let key = format!("{route:?}");
        let kept = self.models.lock().unwrap_or_else(PoisonError::into_inner).get(&key).cloned();
        if let Some(built) = kept {
            return Ok(built);
        }
        let built = services.build(&route).await?;
        self.kept(&key, || Ok(built))
    }

    /// What is asked for beside the conversation with `main`: a recording answers whatever is asked.
    fn beside<'a>(&self, alias: &'a str, main: &'a str) -> &'a str {
        match &self.source {
            Source::Replay(_) => alias,
            Source::Services(_, defaults) => route::beside(alias, main, &self.configs, defaults),
        }
    }

    fn recorded(&self, replay: &Arc<Replay>, alias: &str) -> Result<BuiltModel, ModelError> {
        let resolved = self.configs.resolve(alias, Purpose::default());
        let name = resolved?.model;
        let model = Arc::new(ReplayModel::new(Arc::clone(replay), names::resolve(&name)));
        let (limits, family) = (names::limits(model.name()), names::family(model.name()));
        Ok(BuiltModel { model, limits, family })
    }

    /// The model that is there under this key, else the one that `build` makes.
    fn kept(
        &self,
        key: &str,
        build: impl FnOnce() -> Result<BuiltModel, ModelError>,
    ) -> Result<BuiltModel, ModelError> {
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

#[async_trait]
impl Models for Roster {
    /// A model that was asked for by name is the one; `auto` is the pro model (elsewhere the first
    /// that the service lists), without asking a model which to take, whatever the mode.
    async fn select(&self, context: &SelectContext) -> Result<Choice, ModelError> {
        let requested = match &context.beside {
            Some(main) => self.beside(&context.requested, main),
            None => &context.requested,
        };
        let BuiltModel { model, limits, family } = self.find(requested).await?;
        let name = model.name().to_owned();
        let how = if names::is_auto(&context.requested) { "default" } else { "override" };
        Ok(Choice { limits, family, reason: format!("agent-router/{how}"), name, model })
    }

    /// A recording has no list: it answers under every name.
    async fn list(&self) -> Vec<ModelListing> {
        let Source::Services(services, _) = &self.source else { return Vec::new() };
        // A table that cannot be read is reported where money is limited.
        let own = self.prices.as_deref().and_then(|path| PriceBook::load(path).ok());
        services.list(&own.unwrap_or_default()).await
    }
}

#[cfg(test)]
mod tests;
