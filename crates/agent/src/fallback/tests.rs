use std::sync::Arc;

use async_trait::async_trait;
use pollux_protocol::{Choice, Models, VendorLimit};
use pollux_scripted::ScriptedModels;
use pretty_assertions::assert_eq;

use super::*;

fn error(kind: ModelErrorKind, limit: Option<VendorLimit>) -> ModelError {
    ModelError { limit, ..ModelError::new(kind, "No.") }
}

#[test]
fn another_model_helps_only_against_failures_of_one_model() {
    use ModelErrorKind as Kind;
    for (kind, replaceable) in [
        (Kind::Quota, true),
        (Kind::RateLimited, true),
        (Kind::Overloaded, true),
        (Kind::NotFound, true),
        (Kind::Network, true),
        (Kind::Auth, false),
        (Kind::Permission, false),
        (Kind::Invalid, false),
        (Kind::TooLong, false),
        (Kind::Filtered, false),
        (Kind::Cancelled, false),
        (Kind::Budget, false),
        (Kind::Broken, false),
    ] {
        assert_eq!(is_replaceable(&error(kind, None)), replaceable, "{kind:?}");
    }
}

/// Models with substitutes for every name.
struct WithSubstitutes(ScriptedModels);

#[async_trait]
impl Models for WithSubstitutes {
    async fn select(&self, context: &SelectContext) -> Result<Choice, ModelError> {
        Models::select(&self.0, context).await
    }

    fn substitutes(&self, _requested: &str, _model: &str) -> Vec<String> {
        ["one", "two", "three"].map(str::to_owned).to_vec()
    }
}

fn chain(names: &[&str]) -> Fallback {
    let chain = names.iter().map(|name| (*name).to_owned()).collect();
    Fallback::new(FallbackOptions { mode: FallbackMode::Chain, chain })
}

async fn next(fallback: &Fallback, models: &dyn Models, requested: &str) -> Option<String> {
    let context = SelectContext { requested: requested.to_owned(), ..SelectContext::default() };
    let choice = models.select(&context).await.unwrap();
    let next = fallback.next(models, &context, &choice.key(), |_| true).await;
    next.map(|(name, _)| name)
}

#[tokio::test(start_paused = true)]
async fn the_next_model_of_the_chain_is_used() {
    let models = ScriptedModels::new();
    let own = chain(&["a", "b", "c"]);
    assert_eq!(next(&own, &models, "x").await.unwrap(), "a", "a model outside of the chain");
    assert_eq!(next(&own, &models, "a").await.unwrap(), "b");
    assert_eq!(next(&own, &models, "c").await, None, "the last one");
    // A model that cannot be used, or is out of use, is left out.
    models.forget("b");
    assert_eq!(next(&own, &models, "a").await.unwrap(), "c");
    own.failed("/c", &error(ModelErrorKind::RateLimited, None));
    assert_eq!(next(&own, &models, "a").await, None);
    tokio::time::advance(RATE_LIMIT_OUTAGE).await;
    assert_eq!(next(&own, &models, "a").await.unwrap(), "c", "after a minute");
    own.failed("/c", &error(ModelErrorKind::Quota, Some(VendorLimit::PerDay)));
    tokio::time::advance(Duration::from_hours(24)).await;
    assert_eq!(next(&own, &models, "a").await, None, "for the session");
    // Without a chain of the user, that of the models.
    let models = WithSubstitutes(models);
    assert_eq!(next(&chain(&[]), &models, "one").await.unwrap(), "two");
}

#[tokio::test(start_paused = true)]
async fn a_model_is_replaced_before_it_is_asked() {
    let models: Arc<dyn Models> = Arc::new(ScriptedModels::new());
    let context = SelectContext { requested: "a".to_owned(), ..SelectContext::default() };
    let choice = models.select(&context).await.unwrap();
    let replacement = async |fallback: &Fallback| {
        let other = fallback.replacement(models.as_ref(), &context, &choice, |_| true).await;
        other.map(|choice| (choice.name, choice.reason))
    };
    let own = chain(&["a", "b"]);
    assert_eq!(replacement(&own).await, None);
    own.failed(&choice.key(), &error(ModelErrorKind::Overloaded, Some(VendorLimit::Capacity)));
    assert_eq!(replacement(&own).await, Some(("b".to_owned(), REASON.to_owned())));
    tokio::time::advance(SHORT_OUTAGE).await;
    assert_eq!(replacement(&own).await, None, "capacity comes back");
    for mode in [FallbackMode::Ask, FallbackMode::Never] {
        let fallback = Fallback::new(FallbackOptions { mode, chain: vec!["b".to_owned()] });
        fallback.failed(&choice.key(), &error(ModelErrorKind::Quota, None));
        assert_eq!(replacement(&fallback).await, None, "{mode:?}");
        fallback.accept(choice.key(), "b".to_owned());
        assert_eq!(replacement(&fallback).await.unwrap().0, "b");
        fallback.forget_accepted();
        assert_eq!(replacement(&fallback).await, None);
    }
}
