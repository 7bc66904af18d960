//! Extensions that the user enables and disables.

use std::path::{Path, PathBuf};

use pollux_config::{FileScope, Places};
use pollux_extensions::{Extension, ExtensionEnablement, extensions_folder};

use crate::servers;

/// Places in which extensions are enabled and disabled.
#[derive(Debug, Clone)]
pub struct ExtensionSwitch {
    /// Paths of the user.
    pub places: Places,
    /// Folder of the project.
    pub cwd: PathBuf,
}

impl ExtensionSwitch {
    /// Enables an extension everywhere below the home directory, or in the project, and with it
    /// its MCP servers. Blocks the thread.
    ///
    /// # Errors
    /// The message about a file that cannot be read or written.
    pub fn enable(&self, extension: &Extension, scope: FileScope) -> Result<(), String> {
        self.set(extension, scope, true)?;
        let disabled = servers::Enablement::at(&self.places);
        let known = disabled.disabled();
        for (server, _) in &extension.manifest.servers {
            if known.contains(&servers::Enablement::key(server)) {
                disabled.set(server, true)?;
            }
        }
        Ok(())
    }

    /// Disables an extension everywhere below the home directory, or in the project. Blocks the
    /// thread.
    ///
    /// # Errors
    /// The message about a file that cannot be read or written.
    pub fn disable(&self, extension: &Extension, scope: FileScope) -> Result<(), String> {
        self.set(extension, scope, false)
    }

    /// Returns true if an extension is enabled in a scope. Blocks the thread.
    pub fn is_enabled(&self, extension: &Extension, scope: FileScope) -> bool {
        self.file().is_ok_and(|file| file.is_enabled(extension.name(), self.folder(scope)))
    }

    fn set(&self, extension: &Extension, scope: FileScope, enabled: bool) -> Result<(), String> {
        let mut file = self.file()?;
        file.set(extension.name(), self.folder(scope), enabled);
        file.save().map_err(|error| error.to_string())
    }

    fn file(&self) -> Result<ExtensionEnablement, String> {
        ExtensionEnablement::read(&extensions_folder(&self.places.gemini_dir()))
    }

    fn folder(&self, scope: FileScope) -> &Path {
        match scope {
            FileScope::Project => &self.cwd,
            _ => &self.places.home,
        }
    }
}
