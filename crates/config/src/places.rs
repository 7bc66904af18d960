//! Paths of all files and directories, as in Gemini CLI, derived from the environment.
//!
//! Creating a [`Places`] does not access the disk.

use std::path::{Path, PathBuf};

use crate::Environment;
use crate::environment::names;

#[cfg(test)]
mod tests;

/// Name of the state directory in the home directory and in projects.
pub const GEMINI_DIR: &str = ".gemini";

/// Paths that do not depend on the project.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Places {
    /// The home directory: `GEMINI_CLI_HOME`, otherwise the user's, otherwise the temporary
    /// directory.
    pub home: PathBuf,
    /// The directory for temporary files.
    pub temporary: PathBuf,
    /// System settings that override every other layer.
    pub system_settings: PathBuf,
    /// System settings that every other layer overrides.
    pub system_defaults: PathBuf,
    /// The file of trusted folders.
    pub trusted_folders: PathBuf,
}

impl Places {
    /// Derives all paths from `environment`.
    pub fn new(environment: &Environment) -> Self {
        let temporary = environment.temporary_dir();
        let home = environment
            .non_empty(names::GEMINI_CLI_HOME)
            .map(PathBuf::from)
            .or_else(|| environment.home())
            .unwrap_or_else(|| temporary.clone());
        let given = |name| environment.non_empty(name).map(PathBuf::from);
        let system_settings = given(names::GEMINI_CLI_SYSTEM_SETTINGS_PATH)
            .unwrap_or_else(|| system_dir().join("settings.json"));
        let system_defaults = given(names::GEMINI_CLI_SYSTEM_DEFAULTS_PATH)
            .unwrap_or_else(|| system_settings.with_file_name("system-defaults.json"));
        let trusted_folders = given(names::GEMINI_CLI_TRUSTED_FOLDERS_PATH)
            .unwrap_or_else(|| home.join(GEMINI_DIR).join("trustedFolders.json"));
        Self { home, temporary, system_settings, system_defaults, trusted_folders }
    }

    /// Returns `~/.gemini`, the directory of the user's state.
    pub fn gemini_dir(&self) -> PathBuf {
        self.home.join(GEMINI_DIR)
    }

    /// Returns the path of the user's key bindings.
    pub fn key_bindings(&self) -> PathBuf {
        self.in_gemini("keybindings.json")
    }

    /// Returns the path of the user's settings.
    pub fn user_settings(&self) -> PathBuf {
        self.in_gemini("settings.json")
    }

    /// Returns the path of the settings of the project whose root is `cwd`.
    pub fn workspace_settings(&self, cwd: &Path) -> PathBuf {
        cwd.join(GEMINI_DIR).join("settings.json")
    }

    /// Returns the path of the registry of projects and their short names.
    pub fn projects_file(&self) -> PathBuf {
        self.in_gemini("projects.json")
    }

    /// Returns the path of the file with the UUID of this installation.
    pub fn installation_id(&self) -> PathBuf {
        self.in_gemini("installation_id")
    }

    /// Returns the parent of every project's temporary directory.
    pub fn projects_temporary(&self) -> PathBuf {
        self.in_gemini("tmp")
    }

    /// Returns the parent of every project's shadow repository.
    pub fn projects_history(&self) -> PathBuf {
        self.in_gemini("history")
    }

    /// Returns the folder of the user's policy rules.
    pub fn user_policies(&self) -> PathBuf {
        self.in_gemini("policies")
    }

    /// Returns the folder of the administrator's policy rules.
    pub fn system_policies(&self) -> PathBuf {
        system_dir().join("policies")
    }

    /// Returns the folder of the user's own commands.
    pub fn user_commands(&self) -> PathBuf {
        self.in_gemini("commands")
    }

    /// Returns the folder of Pollux's own state, which Gemini CLI does not use.
    pub fn pollux_dir(&self) -> PathBuf {
        self.in_gemini("pollux")
    }

    /// Returns the path of a file with one-time warnings that other programs leave for the next
    /// start.
    pub fn pending_warnings(&self) -> PathBuf {
        self.temporary.join("gemini-cli-warnings.txt")
    }

    /// Returns `given` as a path, with `~` or `%userprofile%` at its start replaced by the home
    /// directory.
    pub fn expand_home(&self, given: &str) -> PathBuf {
        let rest = given.strip_prefix('~').or_else(|| {
            let prefix = given.get(.."%userprofile%".len())?;
            prefix.eq_ignore_ascii_case("%userprofile%").then(|| &given[prefix.len()..])
        });
        match rest {
            Some(rest) if rest.is_empty() || rest.starts_with(['/', '\\']) => {
                self.home.join(rest.trim_start_matches(['/', '\\']))
            }
            _ => PathBuf::from(given),
        }
    }

    fn in_gemini(&self, name: &str) -> PathBuf {
        self.home.join(GEMINI_DIR).join(name)
    }
}

/// Returns the directory of an administrator's settings.
fn system_dir() -> &'static Path {
    Path::new(if cfg!(target_os = "macos") {
        "/Library/Application Support/GeminiCli"
    } else if cfg!(windows) {
        r"C:\ProgramData\gemini-cli"
    } else {
        "/etc/gemini-cli"
    })
}
