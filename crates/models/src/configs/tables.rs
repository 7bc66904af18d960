//! Tables of models that the user replaces: `modelIdResolutions`, `classifierIdResolutions`,
//! `modelChains` and `modelDefinitions`, with `experimental.dynamicModelConfiguration`.
//!
//! Entries of the wrong shape have no effect.

use std::collections::BTreeMap;

use pollux_protocol::ModelTier;
use serde::Deserialize;
use serde::de::DeserializeOwned;
use serde_json::{Map, Value};

/// Conditions of Gemini CLI about the user's access that are always true: as for a user with a key,
/// who has access to previews and to the latest models.
const GRANTED: [&str; 6] = [
    "useGemini3_1",
    "useGemini3_1FlashLite",
    "useGemini3_5Flash",
    "useLatestFlash",
    "useLatestFlashLite",
    "hasAccessToPreview",
];

/// Condition of Gemini CLI that is never true: Pollux has no variant of a model for custom tools.
const CUSTOM_TOOLS: &str = "useCustomTools";

/// Condition about the name that the user has requested.
const REQUESTED: &str = "requestedModels";

/// The tables.
#[derive(Debug, Clone, Default, PartialEq)]
pub(crate) struct ModelTables {
    resolutions: BTreeMap<String, Resolution>,
    tiers: BTreeMap<String, Resolution>,
    chains: Vec<Vec<Link>>,
    definitions: BTreeMap<String, Definition>,
}

/// Model that a name or a tier stands for.
#[derive(Debug, Clone, PartialEq, Deserialize)]
struct Resolution {
    default: String,
    #[serde(default)]
    contexts: Vec<Context>,
}

/// Model that is used under a condition.
#[derive(Debug, Clone, PartialEq, Deserialize)]
struct Context {
    #[serde(default)]
    condition: Map<String, Value>,
    target: String,
}

/// Model of a chain. The number of attempts and the reactions to failures are those of
/// `pollux.fallback.mode`.
#[derive(Debug, Clone, PartialEq, Deserialize)]
struct Link {
    model: String,
}

/// Properties of a model. Those that only change the texts of a dialog have no effect.
#[derive(Debug, Clone, Default, PartialEq, Deserialize)]
#[serde(rename_all = "camelCase", default)]
struct Definition {
    /// False if lists leave the model out.
    is_visible: Option<bool>,
}

impl ModelTables {
    /// Reads the tables of the `modelConfigs` setting.
    pub(crate) fn read(setting: &Value) -> Self {
        Self {
            resolutions: entries(setting.get("modelIdResolutions")),
            tiers: entries(setting.get("classifierIdResolutions")),
            chains: entries(setting.get("modelChains")).into_values().collect(),
            definitions: entries(setting.get("modelDefinitions")),
        }
    }

    /// Returns the model that a requested name stands for; `None` if the tables do not say it.
    pub(crate) fn resolve(&self, requested: &str) -> Option<&str> {
        self.resolutions.get(requested).map(|resolution| resolution.target(requested))
    }

    /// Returns the model of a tier for a requested name; `None` if the tables do not say it.
    pub(crate) fn of_tier(&self, requested: &str, tier: ModelTier) -> Option<&str> {
        let tier = match tier {
            ModelTier::Pro => "pro",
            ModelTier::Flash => "flash",
        };
        self.tiers.get(tier).map(|resolution| resolution.target(requested))
    }

    /// Returns the models of the first chain with this model; `None` if no chain has it.
    pub(crate) fn chain(&self, model: &str) -> Option<Vec<&str>> {
        let has_it = |chain: &&Vec<Link>| chain.iter().any(|link| link.model == model);
        let chain = self.chains.iter().find(has_it)?;
        Some(chain.iter().map(|link| link.model.as_str()).collect())
    }

    /// Returns whether lists contain a model; `None` if the tables do not say it.
    pub(crate) fn is_listed(&self, model: &str) -> Option<bool> {
        self.definitions.get(model)?.is_visible
    }

    /// Returns the names of the models that lists contain.
    pub(crate) fn listed(&self) -> impl Iterator<Item = &str> {
        let is_listed = |name: &&str| self.is_listed(name) == Some(true);
        self.definitions.keys().map(String::as_str).filter(is_listed)
    }
}

impl Resolution {
    /// Returns the model of the first context whose conditions are all true.
    fn target(&self, requested: &str) -> &str {
        let holds = |context: &&Context| {
            context.condition.iter().all(|(name, expected)| is_true(name, expected, requested))
        };
        self.contexts.iter().find(holds).map_or(&self.default, |context| &context.target)
    }
}

/// Returns whether a condition is true; an unknown one is not.
fn is_true(name: &str, expected: &Value, requested: &str) -> bool {
    match name {
        REQUESTED => {
            expected.as_array().is_some_and(|names| names.iter().any(|name| name == requested))
        }
        CUSTOM_TOOLS => *expected == Value::Bool(false),
        name if GRANTED.contains(&name) => *expected == Value::Bool(true),
        _ => false,
    }
}

/// Returns the entries of an object that have the right shape.
fn entries<T: DeserializeOwned>(value: Option<&Value>) -> BTreeMap<String, T> {
    let object = value.and_then(Value::as_object).into_iter().flatten();
    let read = |(name, entry): (&String, &Value)| Some((name.clone(), T::deserialize(entry).ok()?));
    object.filter_map(read).collect()
}

#[cfg(test)]
mod tests {
    use pretty_assertions::assert_eq;
    use serde_json::json;

    use super::*;

    #[test]
    fn the_first_context_that_holds_decides() {
        let tables = ModelTables::read(&json!({
            "modelIdResolutions": {
                "pro": {"default": "d", "contexts": [
                    {"condition": {"hasAccessToPreview": false}, "target": "no preview"},
                    {"condition": {"useGemini3_1": true, "useCustomTools": true}, "target": "custom"},
                    {"condition": {"unknown": true}, "target": "unknown"},
                    {"condition": {"useGemini3_1": true, "useCustomTools": false}, "target": "own"},
                ]},
                "flash": {"default": "f"},
                "broken": {"contexts": []},
                "odd": 7,
            },
            "classifierIdResolutions": {
                "flash": {"default": "new", "contexts": [
                    {"condition": {"requestedModels": ["auto-gemini-2.5"]}, "target": "old"},
                ]},
            },
        }));
        for (requested, expected) in [
            ("pro", Some("own")),
            ("flash", Some("f")),
            ("broken", None),
            ("odd", None),
            ("x", None),
        ] {
            assert_eq!(tables.resolve(requested), expected, "{requested}");
        }
        assert_eq!(tables.of_tier("auto", ModelTier::Flash), Some("new"));
        assert_eq!(tables.of_tier("auto-gemini-2.5", ModelTier::Flash), Some("old"));
        assert_eq!(tables.of_tier("auto", ModelTier::Pro), None);
    }

    #[test]
    fn chains_and_definitions_are_found_by_the_model() {
        let tables = ModelTables::read(&json!({
            "modelChains": {
                "default": [{"model": "a", "maxAttempts": 3}, {"model": "b", "isLastResort": true}],
                "broken": [{"name": "c"}],
            },
            "modelDefinitions": {
                "a": {"displayName": "A", "isVisible": false},
                "b": "no object",
                "c": {"isVisible": true},
                "d": {},
            },
        }));
        assert_eq!(tables.chain("b"), Some(vec!["a", "b"]));
        assert_eq!(tables.chain("c"), None);
        assert_eq!((tables.is_listed("a"), tables.is_listed("d")), (Some(false), None));
        assert_eq!(tables.listed().collect::<Vec<_>>(), ["c"]);
    }

    proptest::proptest! {
        #[test]
        fn no_table_makes_the_reader_fail(text in "[\\PC{}\\[\\]:,\"]{0,200}") {
            let value = serde_json::from_str(&text).unwrap_or(Value::String(text));
            let setting = json!({"modelIdResolutions": value, "modelChains": value,
                "classifierIdResolutions": value, "modelDefinitions": value});
            let tables = ModelTables::read(&setting);
            let _names: Vec<_> = tables.listed().map(|name| tables.resolve(name)).collect();
        }
    }
}
