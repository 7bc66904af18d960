//! Models of a run, and the choice of the model for the next request.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, PoisonError};

use async_trait::async_trait;
use pollux_protocol::{
    Choice, Classifier, FIRST_LISTED, Model, ModelError, ModelListing, ModelTier, Models,
    SelectContext,
};

use crate::catalog;
use crate::configs::{ModelConfigs, Purpose};
use crate::dialect::BuiltModel;
use crate::names;
use crate::record::{RecordingModel, ResponseRecorder};
use crate::replay::{Replay, ReplayModel};
use crate::route::{self, Defaults, route};
use crate::services::Services;

/// Source of responses.
pub(crate) enum Source {
    /// Services, selected by the name of the model.
    Services(Box<Services>, Defaults),
    /// Recording, whatever the name of the model.
    Replay(Arc<Replay>),
}

/// Models by their requested name or alias. A model is built once, so that its encoded entries can
/// be reused in the next turn.
pub(crate) struct ModelList {
    source: Source,
    configs: Arc<ModelConfigs>,
    recorder: Option<Arc<ResponseRecorder>>,
    models: Mutex<HashMap<String, BuiltModel>>,
}

impl ModelList {
    pub(crate) fn new(
        source: Source,
        configs: Arc<ModelConfigs>,
        recorder: Option<Arc<ResponseRecorder>>,
    ) -> Self {
        Self { source, configs, recorder, models: Mutex::default() }
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

    /// Returns the name to request for a side call of the conversation with `main`; for a
    /// recording, always the alias.
    fn side_model<'a>(&self, alias: &'a str, main: &'a str) -> &'a str {
        match &self.source {
            Source::Replay(_) => alias,
            Source::Services(_, defaults) => {
                route::side_model(alias, main, &self.configs, defaults)
            }
        }
    }

    /// Returns the vendor prefix and the rest of a name that leaves the choice between Gemini
    /// models to Pollux; `None` for any other name.
    fn automatic<'a>(&self, requested: &'a str) -> Option<(&'a str, &'a str)> {
        let prefix = vendor_prefix(requested);
        let name = &requested.trim()[prefix.len()..];
        let are_geminis = match &self.source {
            Source::Replay(_) => true,
            Source::Services(_, defaults) => route(requested, &self.configs, defaults).is_geminis(),
        };
        (names::is_auto(name) && are_geminis).then_some((prefix, name))
    }

    /// Returns the name of the model of a tier; `None` for a name that stands for one model.
    fn of_tier(&self, requested: &str, tier: ModelTier) -> Option<String> {
        let (prefix, name) = self.automatic(requested)?;
        let own = self.configs.tables().of_tier(name, tier);
        Some(format!("{prefix}{}", own.unwrap_or_else(|| names::of_tier(name, tier))))
    }

    fn recorded(&self, replay: &Arc<Replay>, alias: &str) -> Result<BuiltModel, ModelError> {
        let resolved = self.configs.resolve(alias, Purpose::default());
        let name = resolved?.model;
        let model = Arc::new(ReplayModel::new(Arc::clone(replay), names::resolve(&name)));
        let (limits, family) = (names::limits(model.name()), names::family(model.name()));
        Ok(BuiltModel { model, limits, family, is_first_listed: false })
    }

    /// Returns the model with this key, or the one that `build` creates.
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
impl Models for ModelList {
    /// Selects a model. An explicitly requested model is used unchanged; `auto` is the model of the
    /// chosen tier, otherwise the pro model (for other vendors the first model in the service's
    /// list).
    async fn select(&self, context: &SelectContext) -> Result<Choice, ModelError> {
        let of_tier = context.tier.and_then(|tier| self.of_tier(&context.requested, tier));
        let requested = match (&context.conversation_model, &of_tier) {
            (Some(main), _) => self.side_model(&context.requested, main),
            (None, Some(name)) => name,
            (None, None) => &context.requested,
        };
        let BuiltModel { model, limits, family, is_first_listed } = self.find(requested).await?;
        let name = model.name().to_owned();
        let reason = if is_first_listed {
            FIRST_LISTED
        } else if names::is_auto(&context.requested) {
            "agent-router/default"
        } else {
            "agent-router/override"
        };
        Ok(Choice { limits, family, reason: reason.to_owned(), name, model })
    }

    fn classifier(&self, requested: &str) -> Option<Classifier> {
        self.automatic(requested).map(|(_, name)| names::classifier(name))
    }

    fn substitutes(&self, requested: &str, model: &str) -> Vec<String> {
        let prefix = vendor_prefix(requested);
        let own = self.configs.tables().chain(model);
        let names = own.unwrap_or_else(|| names::substitutes(model).to_vec());
        names.into_iter().map(|name| format!("{prefix}{name}")).collect()
    }

    /// Returns the list of models. A recording has no list: it responds under every name.
    async fn list(&self) -> Vec<ModelListing> {
        let Source::Services(services, _) = &self.source else { return Vec::new() };
        services.list().await
    }
}

/// Returns the part of a requested name up to the slash, if it names a vendor; otherwise nothing.
fn vendor_prefix(requested: &str) -> &str {
    let requested = requested.trim();
    let names_gemini = catalog::after_prefix(requested, catalog::GEMINI).is_some();
    let names_a_vendor = names_gemini || catalog::split(requested).is_some();
    let end = requested.find('/').filter(|_| names_a_vendor).map_or(0, |slash| slash + 1);
    &requested[..end]
}

#[cfg(test)]
mod tests;
