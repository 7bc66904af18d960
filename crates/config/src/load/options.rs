//! Options for loading settings.

use std::path::Path;

use serde_json::{Map, Value};

use crate::consent::ReadCommand;
use crate::{Environment, Places};

/// Sources of the settings of a run.
#[derive(Debug, Clone, Copy)]
pub struct LoadOptions<'a> {
    /// Paths of the user and the system.
    pub places: &'a Places,
    /// Current directory as an absolute path; the root of the project.
    pub cwd: &'a Path,
    /// The environment of the process.
    pub environment: &'a Environment,
    /// `--skip-trust`. The project's settings then take effect; in Gemini CLI they do so only with
    /// `GEMINI_CLI_TRUST_WORKSPACE=true`.
    pub skip_trust: bool,
    /// Trust decision of the companion in an editor, if there is one.
    pub ide_trust: Option<bool>,
    /// `--ignore-env`: no `.env` files except those of the home directory.
    pub ignore_env: bool,
    /// Check of a file of the system's settings, usually [`guard::check`](crate::guard::check). The
    /// error is the reason for not reading the file.
    pub check_system_file: fn(&Path) -> Result<(), String>,
    /// Parser for the command lines in a project's settings. The default parses nothing, so changes
    /// of the programs that such a command runs count as unnoticeable.
    pub read_command: ReadCommand,
    /// Settings by dotted key. They override all files except those of the system.
    pub overrides: Option<&'a Map<String, Value>>,
}

impl<'a> LoadOptions<'a> {
    /// Returns the options of a run in this folder.
    pub fn new(
        places: &'a Places,
        cwd: &'a Path,
        environment: &'a Environment,
        skip_trust: bool,
    ) -> Self {
        Self {
            places,
            cwd,
            environment,
            skip_trust,
            ide_trust: None,
            ignore_env: false,
            check_system_file: crate::guard::check,
            read_command: |_| None,
            overrides: None,
        }
    }
}
