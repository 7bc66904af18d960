//! Options with which settings are read.

use std::path::Path;

use crate::consent::ReadCommand;
use crate::{Environment, Places};

/// Sources of the settings of a run.
#[derive(Debug, Clone, Copy)]
pub struct LoadOptions<'a> {
    /// Paths of the person and the system.
    pub places: &'a Places,
    /// The current directory, absolute; it is the root of the project.
    pub cwd: &'a Path,
    /// The environment of the process.
    pub environment: &'a Environment,
    /// `--skip-trust`. The project's settings are honoured then, which Gemini CLI does only for
    /// `GEMINI_CLI_TRUST_WORKSPACE=true`.
    pub skip_trust: bool,
    /// Answer of the companion in an editor about trust, if there is one.
    pub ide_trust: Option<bool>,
    /// `--ignore-env`: no `.env` but those of the home directory.
    pub ignore_env: bool,
    /// Check of a file of the system's settings; the error says why it is not to be read: [`guard::check`](crate::guard::check).
    pub check_system_file: fn(&Path) -> Result<(), String>,
    /// Reader of the command lines that a project's settings bring. By default nothing is read: a change of what such a
    /// command runs then counts as one that cannot be noticed.
    pub read_command: ReadCommand,
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
        }
    }
}
