//! Overrides: changes to a configuration that depend on its purpose.

use serde_json::{Map, Value};

use super::purpose::Purpose;

/// Scope of the main conversation.
const CORE: &str = "core";

/// One override as written in the settings.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Override {
    model: Option<String>,
    scope: Option<String>,
    is_retry: Option<bool>,
    config: Map<String, Value>,
}

impl Override {
    /// Parses an override; `None` if it has the wrong shape or no conditions.
    pub(super) fn read(value: &Value) -> Option<Self> {
        let conditions = value.get("match")?.as_object()?;
        let text = |key: &str| conditions.get(key).and_then(Value::as_str).map(str::to_owned);
        let read = Self {
            model: text("model"),
            scope: text("overrideScope"),
            is_retry: conditions.get("isRetry").and_then(Value::as_bool),
            config: value.get("modelConfig")?.as_object()?.clone(),
        };
        // A condition that cannot be parsed must not make the override match more than intended.
        (read.conditions() == conditions.len() && read.conditions() > 0).then_some(read)
    }

    fn conditions(&self) -> usize {
        [self.model.is_some(), self.scope.is_some(), self.is_retry.is_some()]
            .into_iter()
            .filter(|given| *given)
            .count()
    }

    /// Returns the precedence level of the override: 0 for any model and for the resolved model, 1
    /// and more for the aliases, counted from the root. `None` if the override does not match.
    fn level(&self, model: Option<&str>, chain: &[&str], purpose: Purpose<'_>) -> Option<usize> {
        if let Some(scope) = &self.scope
            && scope != purpose.scope.unwrap_or(CORE)
        {
            return None;
        }
        // As in Gemini CLI, `isRetry: false` never matches, not even on a first attempt.
        if self.is_retry.is_some_and(|is_retry| !(is_retry && purpose.is_retry)) {
            return None;
        }
        let Some(wanted) = self.model.as_deref() else { return Some(0) };
        let alias = chain.iter().position(|alias| *alias == wanted).map(|index| index + 1);
        alias.or_else(|| (model == Some(wanted)).then_some(0))
    }
}

/// Returns the changes that apply, in the order in which they are made: by level, then by the
/// number of conditions, then by position.
pub(super) fn applicable<'a>(
    overrides: &'a [Override],
    model: Option<&str>,
    chain: &[&str],
    purpose: Purpose<'_>,
) -> impl Iterator<Item = &'a Map<String, Value>> {
    let mut matching: Vec<(usize, usize, &Override)> = overrides
        .iter()
        .filter_map(|one| Some((one.level(model, chain, purpose)?, one.conditions(), one)))
        .collect();
    matching.sort_by_key(|(level, conditions, _)| (*level, *conditions));
    matching.into_iter().map(|(_, _, one)| &one.config)
}
