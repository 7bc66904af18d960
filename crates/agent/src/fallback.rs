//! Replacement of models that are not available: which failures permit it, which models are out of
//! use, and which one comes next.

use std::collections::HashMap;
use std::sync::{Mutex, PoisonError};
use std::time::Duration;

use pollux_protocol::{Choice, ModelError, ModelErrorKind, Models, SelectContext};
use tokio::time::Instant;

/// Time after which a model without capacity, or a service that failed, is tried again.
const SHORT_OUTAGE: Duration = Duration::from_secs(30);
/// Time after which a model with a rate limit is tried again.
const RATE_LIMIT_OUTAGE: Duration = Duration::from_mins(1);
/// Maximum number of connection attempts while another model can answer.
const ATTEMPTS: u32 = 3;

/// [`Choice::reason`] of a model that replaces another one.
pub(crate) const REASON: &str = "agent-router/fallback";

/// Decision about the replacement of a model (`pollux.fallback.mode`).
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum FallbackMode {
    /// The user is asked. Without a user, nothing is replaced.
    Ask,
    /// No model is replaced.
    #[default]
    Never,
    /// The next model of the chain is used without a question.
    Chain,
}

/// Settings of the replacement of models.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct FallbackOptions {
    /// Condition for a replacement.
    pub mode: FallbackMode,
    /// Names of the models that may be used, the best first (`pollux.fallback.chain`). Empty for
    /// the models that are known to replace the requested one.
    pub chain: Vec<String>,
}

/// Availability of the models of a session, which its agents share.
#[derive(Debug, Default)]
pub struct Fallback {
    options: FallbackOptions,
    state: Mutex<State>,
}

#[derive(Debug, Default)]
struct State {
    /// Models that are out of use, by [`Choice::key`], until this time; `None` for the session.
    out: HashMap<String, Option<Instant>>,
    /// Names that the user has accepted for the session, by the key of the replaced model.
    accepted: HashMap<String, String>,
}

impl Fallback {
    /// Creates the state of a session in which all models are available.
    pub fn new(options: FallbackOptions) -> Self {
        Self { options, state: Mutex::default() }
    }

    /// Returns the condition for a replacement.
    pub(crate) fn mode(&self) -> FallbackMode {
        self.options.mode
    }

    /// Notes that a request to a model failed.
    pub(crate) fn failed(&self, key: &str, error: &ModelError) {
        if let Some(outage) = outage(error) {
            let until = match outage {
                Outage::For(time) => Some(Instant::now() + time),
                Outage::Session => None,
            };
            self.state().out.insert(key.to_owned(), until);
        }
    }

    /// Notes that a model may be tried again.
    pub(crate) fn restore(&self, key: &str) {
        self.state().out.remove(key);
    }

    /// Notes that the user wants this model instead, for the rest of the session.
    pub(crate) fn accept(&self, key: String, name: String) {
        self.state().accepted.insert(key, name);
    }

    /// Forgets what the user has accepted: another model is requested.
    pub(crate) fn forget_accepted(&self) {
        self.state().accepted.clear();
    }

    /// Returns the maximum number of connection attempts of a request that another model can
    /// answer without a question.
    pub(crate) fn attempts(&self, models: &dyn Models, requested: &str, key: &str) -> Option<u32> {
        let another = || !self.names(models, requested, key).is_empty();
        (self.options.mode == FallbackMode::Chain && another()).then_some(ATTEMPTS)
    }

    /// Returns the model to use instead of one that is out of use, if this is decided already.
    /// `permits` is true for the models that may be used without a question.
    pub(crate) async fn replacement(
        &self,
        models: &dyn Models,
        context: &SelectContext,
        choice: &Choice,
        permits: impl Fn(&Choice) -> bool + Send,
    ) -> Option<Choice> {
        let key = choice.key();
        let accepted = self.state().accepted.get(&key).cloned();
        if let Some(name) = accepted {
            return select(models, context, name).await;
        }
        if self.options.mode == FallbackMode::Chain && self.is_out(&key) {
            return self.next(models, context, &key, permits).await.map(|(_, choice)| choice);
        }
        None
    }

    /// Returns the first model of the chain that is available and that `permits` accepts, with its
    /// name in the chain.
    pub(crate) async fn next(
        &self,
        models: &dyn Models,
        context: &SelectContext,
        key: &str,
        permits: impl Fn(&Choice) -> bool + Send,
    ) -> Option<(String, Choice)> {
        for name in self.names(models, &context.requested, key) {
            if let Some(choice) = select(models, context, name.clone()).await
                && choice.key() != key
                && !self.is_out(&choice.key())
                && permits(&choice)
            {
                return Some((name, choice));
            }
        }
        None
    }

    /// Returns the names after the model in its chain; all names if the chain does not contain it.
    fn names(&self, models: &dyn Models, requested: &str, key: &str) -> Vec<String> {
        let model = key.split_once('/').map_or(key, |(_, model)| model);
        let chain = match self.options.chain.as_slice() {
            [] => models.substitutes(requested, model),
            chain => chain.to_vec(),
        };
        let place = chain.iter().position(|name| name == model || name == key);
        let place = place.or_else(|| chain.iter().position(|name| name == requested));
        let after = place.map_or(0, |place| place + 1);
        chain.into_iter().skip(after).collect()
    }

    fn is_out(&self, key: &str) -> bool {
        let mut state = self.state();
        let until = state.out.get(key).copied();
        match until {
            Some(Some(until)) if until <= Instant::now() => {
                state.out.remove(key);
                false
            }
            Some(_) => true,
            None => false,
        }
    }

    fn state(&self) -> std::sync::MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Returns the model of this name; `None` if it cannot be used, for example without a key.
async fn select(models: &dyn Models, context: &SelectContext, name: String) -> Option<Choice> {
    let context = SelectContext { requested: name, tier: None, ..context.clone() };
    let choice = models.select(&context).await.ok()?;
    Some(Choice { reason: REASON.to_owned(), ..choice })
}

/// Time for which a model is out of use.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Outage {
    For(Duration),
    Session,
}

/// Returns how long a model that failed is out of use; `None` if another model would not help.
fn outage(error: &ModelError) -> Option<Outage> {
    match error.kind {
        ModelErrorKind::Quota | ModelErrorKind::NotFound => Some(Outage::Session),
        ModelErrorKind::RateLimited => Some(Outage::For(RATE_LIMIT_OUTAGE)),
        // Also a model without capacity.
        ModelErrorKind::Overloaded | ModelErrorKind::Network => Some(Outage::For(SHORT_OUTAGE)),
        _ => None,
    }
}

/// True if another model may answer a request that failed like this.
pub(crate) fn is_replaceable(error: &ModelError) -> bool {
    outage(error).is_some()
}

/// True if the same request may succeed later, or after the user has done something about it.
pub(crate) fn may_pass(error: &ModelError) -> bool {
    use ModelErrorKind::{Overloaded, Quota, RateLimited};
    matches!(error.kind, Quota | RateLimited | Overloaded)
}

/// Returns the reason for the user why a model is replaced, without a full stop.
pub(crate) fn reason(error: &ModelError) -> String {
    let reason = match (error.kind, error.limit) {
        (_, Some(limit)) => limit.describe(),
        (ModelErrorKind::Quota, _) => "the quota is used up",
        (ModelErrorKind::NotFound, _) => "the model does not exist",
        (ModelErrorKind::RateLimited, _) => "the rate limit is reached",
        (ModelErrorKind::Network, _) => "the service cannot be reached",
        _ => "the service is overloaded or has an error",
    };
    reason.to_owned()
}

#[cfg(test)]
mod tests;
