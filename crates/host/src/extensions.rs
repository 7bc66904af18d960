//! Extensions of a session: which ones take effect, and the lists of tools with their exclusions.

use std::path::Path;
use std::sync::Arc;

use pollux_config::{Loaded, Places, Settings};
use pollux_extensions::{ExtensionPlaces, ExtensionRules, ExtensionSet, SourceRules};
use pollux_policy::ToolLists;
use pollux_protocol::SettingValues;
use serde_json::{Map, Value};

mod switch;

use crate::rules;
use crate::setup::Setup;
pub use switch::ExtensionSwitch;

/// Finds the extensions of the user for a session in a folder. Only those in `named` are active, if
/// it is given. Blocks the thread.
pub fn find(
    loaded: &Loaded,
    places: &Places,
    folder: &Path,
    named: Option<&[String]>,
) -> Arc<ExtensionSet> {
    if !loaded.settings.boolean("admin.extensions.enabled") {
        return Arc::default();
    }
    let is_trusted = loaded.trust.is_trusted();
    // A value of the project's `.env` takes effect only if the variable may take effect at all.
    let accepts = |name: &str, value: &str| {
        is_trusted
            && (loaded.accepted.is_everything() || loaded.environment.get(name) == Some(value))
    };
    let set = ExtensionSet::find(
        &ExtensionPlaces {
            state: &places.gemini_dir(),
            workspace: folder,
            environment: &loaded.environment,
            accepts_value: &accepts,
        },
        &ExtensionRules {
            named: named.map(<[String]>::to_vec),
            disabled: loaded.settings.texts("extensions.disabled").unwrap_or_default(),
            sources: source_rules(loaded),
        },
    );
    Arc::new(set)
}

/// Returns the rules about the sources of extensions.
pub fn source_rules(loaded: &Loaded) -> SourceRules {
    SourceRules {
        allowed: loaded.settings.texts("security.allowedExtensions").unwrap_or_default(),
        blocks_git: loaded.settings.boolean("security.blockGitExtensions"),
    }
}

impl Setup {
    /// Returns the settings for frontends. The themes of active extensions are among the user's own
    /// ones, as `THEME (EXTENSION)`.
    pub(crate) fn setting_values(&self, settings: &Settings) -> SettingValues {
        let themes: Vec<(String, &Value)> = self
            .extensions
            .active()
            .flat_map(|extension| {
                extension.manifest.themes.iter().filter_map(move |theme| {
                    let name = theme.get("name")?.as_str()?;
                    Some((format!("{name} ({})", extension.name()), theme))
                })
            })
            .collect();
        if themes.is_empty() {
            return settings.values();
        }
        let mut merged = settings.merged().clone();
        let own = &mut merged["ui"]["customThemes"];
        if !own.is_object() {
            *own = Value::Object(Map::new());
        }
        for (name, theme) in themes {
            // A theme of the user with the same name is the user's decision.
            if own.get(&name).is_none() {
                own[name.as_str()] = theme.clone();
            }
        }
        SettingValues::new(Arc::new(merged))
    }

    /// Returns the lists that decide which tools are available: those of settings and options, and
    /// the exclusions of extensions.
    pub(crate) fn tool_lists(&self) -> ToolLists {
        let mut lists = rules::tool_lists(&self.input.options, &self.loaded);
        for extension in self.extensions.active() {
            lists.exclude.extend(extension.manifest.exclude_tools.iter().cloned());
        }
        lists
    }
}
