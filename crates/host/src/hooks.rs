//! Hooks of a run: their definitions from the settings, with the data of the session.

use std::ffi::OsString;
use std::path::{Path, PathBuf};

use pollux_config::{Loaded, PendingSettings};
use pollux_extensions::ExtensionSet;
use pollux_hooks::{HookOptions, Hooks};
use pollux_models::catalog::credential_variables;
use pollux_protocol::ConsentItem;
use pollux_tools::ToolOptions;

use crate::setup::Setup;

mod saving;

pub(crate) use saving::saving;

/// Returns the items that need consent before the hooks of the folder run.
pub(crate) fn consent_items(found: &PendingSettings, cwd: &Path) -> Vec<ConsentItem> {
    if !found.own_settings().boolean(ENABLED) {
        return Vec::new();
    }
    let layers: Vec<_> = found.project_layer().into_iter().collect();
    pollux_hooks::consent_items(&pollux_hooks::read(&layers).hooks, cwd)
}

/// Setting that switches all hooks off.
const ENABLED: &str = "hooksConfig.enabled";

/// Returns the hooks that the settings and the extensions define; empty if hooks are switched off.
pub fn found_in(loaded: &Loaded, extensions: &ExtensionSet) -> pollux_hooks::HookDefinitions {
    if !loaded.settings.boolean(ENABLED) {
        return pollux_hooks::HookDefinitions::default();
    }
    let mut found = pollux_hooks::read(&loaded.layers);
    for extension in extensions.active() {
        let Some(hooks) = &extension.hooks else { continue };
        let values: Vec<(&str, &str)> = extension.values().collect();
        let brought = pollux_hooks::read_extension(hooks, &extension.hooks_file(), &values);
        found.hooks.extend(brought.hooks);
        found.warnings.extend(brought.warnings);
    }
    found
}

/// Returns the environment for the user's programs: without credentials of models, and redacted
/// further if the settings ask for it.
pub fn environment_of_programs(loaded: &Loaded) -> Vec<(OsString, OsString)> {
    let environment = loaded.environment.for_children();
    let redaction = ToolOptions::from_settings(&loaded.settings).redaction;
    let redaction = redaction.strict_in_actions(&environment);
    let credentials = credential_variables();
    let mut environment = pollux_shell::redact(environment, &redaction);
    environment.retain(|(name, _)| !credentials.iter().any(|secret| name == secret.as_str()));
    environment
}

impl Setup {
    /// Returns the hooks of this session, ready to run. Reports definitions that were left out.
    pub(crate) fn hooks(&self, session_id: &str, transcript: Option<PathBuf>) -> Hooks {
        let found = found_in(&self.loaded, &self.extensions);
        found.warnings.iter().for_each(|warning| {
            self.input.request.notices.warning(&format!("[WARNING] {warning}"));
        });
        if found.hooks.is_empty() {
            return Hooks::default();
        }
        Hooks::new(HookOptions {
            hooks: found.hooks,
            accepted: self.loaded.accepted.clone(),
            disabled: self.loaded.settings.texts("hooksConfig.disabled").unwrap_or_default(),
            session_id: session_id.to_owned(),
            transcript,
            cwd: self.input.request.folder.clone(),
            plans_directory: self.plans_directory(session_id),
            environment: environment_of_programs(&self.loaded),
        })
    }
}
