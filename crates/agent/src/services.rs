//! Services that the agents of a session share.

use std::sync::Arc;

use pollux_hooks::Hooks;
use pollux_policy::{CheckerPrograms, Policy};
use pollux_protocol::{Checkpoints, Live, Models, Operator};

use crate::budget::Budget;
use crate::chat::StreamRetries;
use crate::fallback::Fallback;
use crate::mode::SessionMode;
use crate::outlet::Outlet;
use crate::routing::RoutingOptions;
use crate::scheduler::{ApprovalChoices, CallInputs, Grants};
use crate::side_models::{Owner, WatchedModels};
use crate::watch::Watch;

/// Services of a session. Clones share them: a subagent gets a clone, and therefore has the same
/// mode, rules, approvals and budget as its parent.
#[derive(Clone)]
pub struct AgentServices {
    /// Selection of models.
    pub models: Arc<dyn Models>,
    /// Replacement of models that are not available.
    pub fallback: Arc<Fallback>,
    /// Settings of the router.
    pub routing: RoutingOptions,
    /// Connection to the user, for all questions of the session.
    pub operator: Arc<dyn Operator>,
    /// Rules that decide which calls may run.
    pub policy: Live<Policy>,
    /// The user's programs that check calls.
    pub checkers: CheckerPrograms,
    /// True if a model checks calls, too (`security.enableConseca`).
    pub conseca: bool,
    /// Approval mode.
    pub modes: Arc<SessionMode>,
    /// Choices in addition to "allow once" and "no" when a call needs approval.
    pub choices: ApprovalChoices,
    /// Approvals for the rest of the session.
    pub grants: Arc<Grants>,
    /// Channels for keys and window sizes to running calls.
    pub inputs: Arc<CallInputs>,
    /// Checkpoints of the files before calls change them.
    pub checkpoints: Arc<dyn Checkpoints>,
    /// Limits of the work's cost.
    pub budget: Budget,
    /// The user's hooks.
    pub hooks: Hooks,
    /// Number and delays of attempts after unusable answers.
    pub retries: StreamRetries,
    /// True if measurements contain the texts of requests and answers, too.
    pub log_prompts: bool,
    /// True if a user can answer questions.
    pub interactive: bool,
    /// Function that creates ids for new entries.
    pub new_id: Arc<dyn Fn() -> String + Send + Sync>,
}

impl AgentServices {
    /// Creates the side models of an agent that has made no request yet. They report to `outlet`.
    pub fn side_models(&self, outlet: Outlet, requested: String) -> WatchedModels {
        let owner = Owner { requested, mode: self.modes.get(), ..Owner::default() };
        let (models, budget) = (Arc::clone(&self.models), self.budget.clone());
        let watch = Watch::new(outlet, budget, self.log_prompts);
        WatchedModels::new(models, Arc::clone(&self.fallback), watch, owner)
    }
}
