//! The router: decides which tier of models answers a prompt, if the requested name leaves it open.
//!
//! The order is that of Gemini CLI: a model that was named is used; then the approval mode decides,
//! then a model that rates the prompt; otherwise the models have a default. What replaces a model
//! that is not available is in [`crate::fallback`].

use std::sync::Arc;
use std::time::Duration;

use pollux_protocol::{ApprovalMode, Classifier, HistoryEntry, ModelTier, Models, SideModels};

use crate::prompt_run::PromptRun;

mod classifier;

/// Model configuration of the classifiers.
const CLASSIFIER: &str = "classifier";
/// Maximum time for the answer of a classifier. The prompt waits for it.
const PATIENCE: Duration = Duration::from_secs(10);

/// Settings of the router.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct RoutingOptions {
    /// True if plan mode uses the strongest model, and the work on an approved plan a faster one
    /// (`general.plan.modelRouting`).
    pub by_mode: bool,
    /// True if a model rates each prompt (`pollux.routing.classifier`).
    pub classifier: bool,
}

/// Decision of the router.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Routed {
    /// The tier that answers.
    pub(crate) tier: ModelTier,
    /// Component that decided, for [`pollux_protocol::Choice::reason`].
    pub(crate) reason: &'static str,
}

/// Inputs of the decision about one prompt.
pub(crate) struct Routing<'a> {
    pub(crate) options: RoutingOptions,
    pub(crate) models: &'a dyn Models,
    pub(crate) side_models: &'a dyn SideModels,
    /// Requested model: a name, an alias or `auto`.
    pub(crate) requested: &'a str,
    pub(crate) mode: ApprovalMode,
    /// True if the user has approved a plan in this conversation.
    pub(crate) has_plan: bool,
}

impl Routing<'_> {
    /// Returns the tier for the prompt at the end of a conversation; `None` for the default. A
    /// classifier that fails has no effect.
    pub(crate) async fn decide(
        &self,
        entries: &[Arc<HistoryEntry>],
        run: &PromptRun<'_>,
    ) -> Option<Routed> {
        let method = self.models.classifier(self.requested)?;
        if let Some(tier) = self.by_mode() {
            return Some(Routed { tier, reason: "agent-router/approval-mode" });
        }
        if !self.options.classifier {
            return None;
        }
        let reason = match method {
            Classifier::Score => "agent-router/numerical_classifier",
            Classifier::Choice => "agent-router/classifier",
        };
        let tier = self.classified(method, entries, run).await?;
        Some(Routed { tier, reason })
    }

    fn by_mode(&self) -> Option<ModelTier> {
        match (self.options.by_mode, self.mode, self.has_plan) {
            (true, ApprovalMode::Plan, _) => Some(ModelTier::Pro),
            (true, _, true) => Some(ModelTier::Flash),
            _ => None,
        }
    }

    async fn classified(
        &self,
        method: Classifier,
        entries: &[Arc<HistoryEntry>],
        run: &PromptRun<'_>,
    ) -> Option<ModelTier> {
        let asked = async {
            let choice = self.side_models.select(CLASSIFIER).await.ok()?;
            let request = classifier::request(method, entries);
            let (answer, _) = choice.model.generate_json(request, run.cancel.clone()).await.ok()?;
            classifier::read(method, &answer)
        };
        let asked = tokio::time::timeout(PATIENCE, asked);
        run.cancel.run_until_cancelled(asked).await?.ok().flatten()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_mode_decides_before_a_model_does() {
        use ApprovalMode::{Default, Plan};
        let models = pollux_scripted::ScriptedModels::new();
        let on = RoutingOptions { by_mode: true, classifier: false };
        for (options, mode, has_plan, expected) in [
            (on, Plan, false, Some(ModelTier::Pro)),
            (on, Plan, true, Some(ModelTier::Pro)),
            (on, Default, true, Some(ModelTier::Flash)),
            (on, Default, false, None),
            (RoutingOptions::default(), Plan, true, None),
        ] {
            let routing = Routing {
                options,
                models: &models,
                side_models: &models,
                requested: "auto",
                mode,
                has_plan,
            };
            assert_eq!(routing.by_mode(), expected, "{options:?} {mode:?} {has_plan}");
        }
    }
}
