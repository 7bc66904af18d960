//! The extensions of a session.

use std::path::{Path, PathBuf};

use pollux_config::{Environment, Expression};
use pollux_fs::EntryKind;
use pollux_net::credentials::SecretStore;
use serde_json::Value;

use crate::enablement::ExtensionEnablement;
use crate::extension::{Extension, ExtensionError};
use crate::record::InstallRecord;
use crate::servers::server_faults;

#[cfg(test)]
mod tests;

/// Maximum number of extensions.
const MAX_EXTENSIONS: usize = 500;
/// Name in `--extensions` that stands for no extension.
const NONE: &str = "none";

/// Places that the extensions of a session depend on.
#[derive(Clone, Copy)]
pub struct ExtensionPlaces<'a> {
    /// State folder of the user (`~/.gemini`).
    pub state: &'a Path,
    /// Folder of the project.
    pub workspace: &'a Path,
    /// Environment for the variables in manifests.
    pub environment: &'a Environment,
    /// Returns true for a variable of the project's `.env` that may take effect, with its value.
    pub accepts_value: &'a dyn Fn(&str, &str) -> bool,
}

/// Rules about which extensions take effect.
#[derive(Debug, Clone, Default)]
pub struct ExtensionRules {
    /// `--extensions`: the only ones that are active; `none` for no extension.
    pub named: Option<Vec<String>>,
    /// `extensions.disabled`.
    pub disabled: Vec<String>,
    /// Rules about sources.
    pub sources: SourceRules,
}

/// Rules about the sources that extensions may come from.
#[derive(Debug, Clone, Default)]
pub struct SourceRules {
    /// `security.allowedExtensions`: patterns of the only sources that are allowed; empty for all.
    pub allowed: Vec<String>,
    /// `security.blockGitExtensions`: true if no extension may come from the network.
    pub blocks_git: bool,
}

/// Extensions in the order of the names of their folders.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct ExtensionSet {
    extensions: Vec<Extension>,
    /// Messages for the user about extensions that are left out.
    pub messages: Vec<String>,
}

/// Returns the folder of the extensions in a state folder.
pub fn extensions_folder(state: &Path) -> PathBuf {
    state.join("extensions")
}

impl ExtensionSet {
    /// Finds all extensions. One that cannot be used is left out, with a message. Blocks the
    /// thread.
    pub fn find(places: &ExtensionPlaces<'_>, rules: &ExtensionRules) -> Self {
        let mut set = Self::default();
        let folder = extensions_folder(places.state);
        let Ok(entries) = pollux_fs::list_directory(&folder) else {
            set.report_unknown(rules);
            return set;
        };
        let enablement = ExtensionEnablement::read(&folder);
        if let Err(problem) = &enablement {
            set.messages.push(format!("{problem} No extension is active until it is fixed."));
        }
        let secrets = SecretStore::in_state(places.state);
        for entry in entries {
            let kind = match entry.kind {
                EntryKind::Symlink => pollux_fs::info(&entry.path).ok().map(|info| info.kind),
                kind => Some(kind),
            };
            // Names with a dot are those of installations that were interrupted.
            if kind != Some(EntryKind::Directory) || entry.name.starts_with('.') {
                continue;
            }
            if set.extensions.len() == MAX_EXTENSIONS {
                set.messages
                    .push(format!("Only the first {MAX_EXTENSIONS} extensions are loaded."));
                break;
            }
            match read(&entry.path, places, rules, &secrets) {
                Ok(mut extension) => {
                    extension.is_active = enablement.as_ref().is_ok_and(|enablement| {
                        rules.activates(extension.name(), enablement, places.workspace)
                    });
                    set.add(extension);
                }
                Err(error) => set.messages.push(format!(
                    "Warning: Skipping extension in {}: {error}",
                    entry.path.display()
                )),
            }
        }
        set.report_unknown(rules);
        set.report_servers();
        set
    }

    fn add(&mut self, extension: Extension) {
        if let Some(known) = self.get(extension.name()) {
            self.messages.push(format!(
                "Warning: Skipping extension in {}: Extension with name {} already was loaded from {}",
                extension.home.display(),
                extension.name(),
                known.home.display()
            ));
            return;
        }
        if extension.is_active {
            self.messages.extend(extension.hooks_problem.clone());
            let faults = server_faults(&extension.manifest, &extension.folder).into_iter();
            self.messages.extend(faults.filter(|fault| fault.is_severe).map(|fault| fault.text));
        }
        self.extensions.push(extension);
    }

    fn report_unknown(&mut self, rules: &ExtensionRules) {
        for name in rules.named.iter().flatten() {
            let is_none = name.eq_ignore_ascii_case(NONE) && rules.names_none();
            if !is_none && !self.iter().any(|known| known.name().eq_ignore_ascii_case(name)) {
                self.messages.push(format!("Extension not found: {name}"));
            }
        }
    }

    /// Reports servers that are left out, because another extension brings one of the same name.
    fn report_servers(&mut self) {
        let mut seen: Vec<(&str, &str)> = Vec::new();
        let mut messages = Vec::new();
        for (extension, server) in self.active().flat_map(|extension| {
            extension.manifest.servers.iter().map(move |(server, _)| (extension.name(), server))
        }) {
            match seen.iter().find(|(known, _)| known == server) {
                Some((_, other)) => messages.push(format!(
                    "Warning: Skipping the MCP server \"{server}\" of the extension \"{extension}\": the extension \"{other}\" brings a server of this name."
                )),
                None => seen.push((server, extension)),
            }
        }
        self.messages.extend(messages);
    }

    /// Returns the folder of plans that an active extension wants, relative to the project.
    pub fn plan_directory(&self) -> Option<&str> {
        self.active().find_map(|extension| extension.manifest.plan_directory.as_deref())
    }

    /// Returns the context files of active extensions.
    pub fn context_files(&self) -> Vec<PathBuf> {
        let mut files: Vec<PathBuf> =
            self.active().flat_map(|extension| extension.context_files.clone()).collect();
        files.sort();
        files.dedup();
        files
    }

    /// Returns the MCP servers of active extensions, each with its entry. Of several servers with
    /// one name, the first one is returned.
    pub fn servers(&self) -> Vec<(&Extension, &str, &Value)> {
        let mut servers: Vec<(&Extension, &str, &Value)> = Vec::new();
        for extension in self.active() {
            for (name, entry) in &extension.manifest.servers {
                if servers.iter().all(|(_, known, _)| known != name) {
                    servers.push((extension, name, entry));
                }
            }
        }
        servers
    }

    /// Returns all extensions, also those that are not active.
    pub fn iter(&self) -> impl Iterator<Item = &Extension> {
        self.extensions.iter()
    }

    /// Returns the extensions that take effect.
    pub fn active(&self) -> impl Iterator<Item = &Extension> {
        self.extensions.iter().filter(|extension| extension.is_active)
    }

    /// Returns the extension with a name. Case does not count.
    pub fn get(&self, name: &str) -> Option<&Extension> {
        self.extensions.iter().find(|extension| extension.name().eq_ignore_ascii_case(name))
    }
}

fn read(
    home: &Path,
    places: &ExtensionPlaces<'_>,
    rules: &ExtensionRules,
    secrets: &SecretStore,
) -> Result<Extension, ExtensionError> {
    let record = InstallRecord::read(home).map_err(ExtensionError::Record)?;
    rules.sources.check(record.as_ref()).map_err(ExtensionError::NotAllowed)?;
    Extension::read(home, record, places, secrets)
}

impl ExtensionRules {
    fn names_none(&self) -> bool {
        matches!(self.named.as_deref(), Some([name]) if name.eq_ignore_ascii_case(NONE))
    }

    /// Returns true if an extension is active in a folder.
    fn activates(&self, name: &str, enablement: &ExtensionEnablement, workspace: &Path) -> bool {
        let names = |list: &[String]| list.iter().any(|other| other.eq_ignore_ascii_case(name));
        match &self.named {
            _ if self.names_none() => false,
            Some(named) => names(named),
            None => !names(&self.disabled) && enablement.is_enabled(name, workspace),
        }
    }
}

impl SourceRules {
    /// Refuses an extension whose source is not allowed.
    ///
    /// # Errors
    /// The message for the user.
    pub fn check(&self, record: Option<&InstallRecord>) -> Result<(), String> {
        if self.allowed.is_empty() {
            return match record {
                Some(record) if self.blocks_git && record.kind.is_remote() => Err(
                    "Installing extensions from remote sources is disallowed by your current settings."
                        .to_owned(),
                ),
                _ => Ok(()),
            };
        }
        let Some(record) = record else {
            return Err(
                "Its source is not known, and security.allowedExtensions is set.".to_owned()
            );
        };
        let real = pollux_fs::real_path(Path::new(&record.source)).ok();
        let real = real.filter(|_| !record.kind.is_remote());
        let source = real.map_or_else(|| record.source.clone(), |real| real.display().to_string());
        let matches = |pattern: &String| {
            Expression::new(pattern).is_ok_and(|pattern| pattern.find(&source).is_sure())
        };
        if self.allowed.iter().any(matches) {
            return Ok(());
        }
        Err(format!(
            "Installing extension from source \"{source}\" is not allowed by the \"allowedExtensions\" security setting."
        ))
    }
}
