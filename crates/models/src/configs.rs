//! Settings of requests to models: named configurations that extend each other, and overrides.
//!
//! The formats are those of the `modelConfigs` setting of Gemini CLI 0.61; the built-in table is in
//! `configs/defaults.json`. Everything here is pure. A setting of the wrong shape is an error only
//! when it is used.

use indexmap::IndexMap;
use pollux_config::Settings;
use pollux_protocol::{ModelError, ModelErrorKind};
use serde_json::{Map, Value};

mod overrides;
mod purpose;
mod roles;
mod tables;

pub use purpose::Purpose;
pub(crate) use tables::ModelTables;

use overrides::Override;

/// Maximum length of a chain of aliases that extend each other.
pub const MAX_DEPTH: usize = 100;

/// Alias that is used for an unknown model.
const CHAT_BASE: &str = "chat-base";

const DEFAULTS: &str = include_str!("configs/defaults.json");

/// Error of resolving a model's configuration.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum ConfigsError {
    /// Aliases extend each other in a circle.
    #[error("Circular alias dependency: {}", .0.join(" -> "))]
    Circular(Vec<String>),
    /// An alias extends an alias that does not exist.
    #[error("Alias \"{0}\" not found.")]
    NotFound(String),
    /// The chain of aliases is too long.
    #[error("Alias \"{0}\" extends more than {MAX_DEPTH} others.")]
    TooDeep(String),
    /// An alias is not written as an object.
    #[error("Alias \"{0}\" in modelConfigs must be an object.")]
    NotAnObject(String),
    /// Neither the aliases nor the overrides name a model.
    #[error(
        "Could not resolve a model name for alias \"{0}\". Set \"model\" in this alias or in one that it extends."
    )]
    NoModel(String),
}

impl From<ConfigsError> for ModelError {
    fn from(error: ConfigsError) -> Self {
        Self::new(ModelErrorKind::Config, error.to_string())
    }
}

/// Resolved and merged configuration.
#[derive(Debug, Clone, PartialEq)]
pub struct Resolved {
    /// Model as named in the configuration (possibly an abbreviation such as `flash-lite`).
    pub model: String,
    /// The `generateContentConfig`.
    pub config: Map<String, Value>,
}

/// Aliases and overrides that are in effect.
#[derive(Debug, Clone, Default)]
pub struct ModelConfigs {
    aliases: IndexMap<String, Value>,
    overrides: Vec<Override>,
    /// Tables that replace the built-in ones.
    tables: ModelTables,
}

impl ModelConfigs {
    /// Creates the configurations: the built-in table, changed by the `modelConfigs` setting.
    /// `aliases` are merged into the built-in ones, `overrides` replace them, `customAliases` and
    /// `customOverrides` are added last.
    pub fn new(setting: Option<&Value>) -> Self {
        let defaults: Value = serde_json::from_str(DEFAULTS).unwrap_or_default();
        let lookup = |key: &str| setting.and_then(|setting| setting.get(key));
        let object = |value: Option<&Value>| value.and_then(Value::as_object).cloned();
        let list = |value: Option<&Value>| value.and_then(Value::as_array).cloned();

        let mut aliases = object(defaults.get("aliases")).unwrap_or_default();
        merge(&mut aliases, &object(lookup("aliases")).unwrap_or_default());
        let custom = object(lookup("customAliases")).unwrap_or_default();
        let aliases = aliases.into_iter().chain(custom).collect();

        let own = list(lookup("overrides")).or_else(|| list(defaults.get("overrides")));
        let custom = list(lookup("customOverrides"));
        let overrides =
            own.into_iter().chain(custom).flatten().filter_map(|value| Override::read(&value));
        let tables = ModelTables::default();
        Self { aliases, overrides: overrides.collect(), tables }
    }

    /// Creates the configurations of these settings, with the user's own tables of models if
    /// `experimental.dynamicModelConfiguration` is on.
    pub fn of(settings: &Settings) -> Self {
        let setting = settings.value("modelConfigs");
        let is_dynamic = settings.boolean("experimental.dynamicModelConfiguration");
        let mut configs = Self::new(setting);
        roles::assign(&mut configs.aliases, settings.value("pollux.roles"));
        match setting.filter(|_| is_dynamic) {
            Some(setting) => configs.with_tables(setting),
            None => configs,
        }
    }

    /// Returns the configurations with the tables of the `modelConfigs` setting.
    pub(crate) fn with_tables(self, setting: &Value) -> Self {
        Self { tables: ModelTables::read(setting), ..self }
    }

    /// Returns the tables that replace the built-in ones.
    pub(crate) fn tables(&self) -> &ModelTables {
        &self.tables
    }

    /// True if there is a configuration of exactly this name.
    pub fn knows(&self, name: &str) -> bool {
        self.aliases.contains_key(name)
    }

    /// Returns the configuration for a model or alias. A name that is not an alias is a model,
    /// which gets the general conversation settings (`chat-base`).
    ///
    /// # Errors
    /// The aliases are invalid, or no model is named.
    pub fn resolve(&self, name: &str, purpose: Purpose<'_>) -> Result<Resolved, ConfigsError> {
        let known = self.knows(name);
        let chain = match (known, self.knows(CHAT_BASE)) {
            (true, _) => self.chain(name)?,
            (false, true) => self.chain(CHAT_BASE)?,
            (false, false) => Vec::new(),
        };
        let mut merged = Map::new();
        for (alias, value) in &chain {
            let body =
                value.as_object().ok_or_else(|| ConfigsError::NotAnObject((*alias).into()))?;
            if let Some(config) = body.get("modelConfig").and_then(Value::as_object) {
                merge(&mut merged, config);
            }
        }
        if !known {
            merged.insert("model".to_owned(), Value::from(name));
        }
        let model = model_of(&merged).map(str::to_owned);
        // A model without an alias has the same position in the chain as its alias would have.
        let own = (!known).then_some(name);
        let aliases: Vec<&str> = chain.iter().map(|(alias, _)| *alias).chain(own).collect();
        for config in overrides::applicable(&self.overrides, model.as_deref(), &aliases, purpose) {
            merge(&mut merged, config);
        }
        let model = model_of(&merged).ok_or_else(|| ConfigsError::NoModel(name.to_owned()))?;
        let model = model.to_owned();
        let config = match merged.remove("generateContentConfig") {
            Some(Value::Object(config)) => config,
            _ => Map::new(),
        };
        Ok(Resolved { model, config })
    }

    /// Returns the alias and those it extends, root first.
    fn chain<'a>(&'a self, name: &'a str) -> Result<Vec<(&'a str, &'a Value)>, ConfigsError> {
        let mut chain: Vec<(&str, &Value)> = Vec::new();
        let mut next = Some(name);
        while let Some(name) = next {
            if let Some(start) = chain.iter().position(|(seen, _)| *seen == name) {
                let circle = chain[start..].iter().map(|(seen, _)| *seen).chain([name]);
                return Err(ConfigsError::Circular(circle.map(str::to_owned).collect()));
            }
            if chain.len() == MAX_DEPTH {
                return Err(ConfigsError::TooDeep(chain[0].0.to_owned()));
            }
            let value =
                self.aliases.get(name).ok_or_else(|| ConfigsError::NotFound(name.to_owned()))?;
            chain.push((name, value));
            next = value.get("extends").and_then(Value::as_str);
        }
        chain.reverse();
        Ok(chain)
    }
}

fn model_of(config: &Map<String, Value>) -> Option<&str> {
    config.get("model").and_then(Value::as_str).filter(|model| !model.is_empty())
}

/// Merges `over` into `under`: objects are merged recursively, other values are replaced.
fn merge(under: &mut Map<String, Value>, over: &Map<String, Value>) {
    for (key, value) in over {
        match (under.get_mut(key), value) {
            (Some(Value::Object(under)), Value::Object(over)) => merge(under, over),
            _ => {
                under.insert(key.clone(), value.clone());
            }
        }
    }
}

#[cfg(test)]
mod tests;
