//! Choice of the shell that runs a command, and its arguments.

use std::ffi::{OsStr, OsString};
use std::path::PathBuf;
use std::sync::OnceLock;

use crate::error::ShellError;

/// Shell languages, as far as their differences matter here.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Dialect {
    /// GNU bash: has `shopt`.
    Bash,
    /// Any POSIX `sh`.
    Posix,
    /// `pwsh` or Windows PowerShell.
    PowerShell,
}

/// A shell found on this computer.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Shell {
    /// Absolute path of the program.
    pub program: PathBuf,
    /// Language of the shell.
    pub dialect: Dialect,
}

/// Shells to try, best first.
#[cfg(not(windows))]
const CANDIDATES: &[(&str, Dialect)] = &[("bash", Dialect::Bash), ("sh", Dialect::Posix)];
#[cfg(windows)]
const CANDIDATES: &[(&str, Dialect)] =
    &[("pwsh", Dialect::PowerShell), ("powershell", Dialect::PowerShell)];

#[cfg(not(windows))]
const CANDIDATE_NAMES: &str = "bash, sh";
#[cfg(windows)]
const CANDIDATE_NAMES: &str = "pwsh, powershell";

/// Settings that change the meaning of a word; Gemini CLI 0.61 turns them off before each command.
const BASH_SETTINGS: &str = "shopt -u promptvars nullglob extglob nocaseglob dotglob; ";

impl Shell {
    /// Returns the shell on the `PATH` of this program: `bash` if present, otherwise `sh`; on
    /// Windows `pwsh`, otherwise `powershell`. The search runs once.
    pub fn current() -> Result<&'static Self, ShellError> {
        static CURRENT: OnceLock<Option<Shell>> = OnceLock::new();
        CURRENT
            .get_or_init(|| Self::find_on(&std::env::var_os("PATH").unwrap_or_default()))
            .as_ref()
            .ok_or(ShellError::NoShell(CANDIDATE_NAMES))
    }

    /// Returns the best shell on the given `PATH` value. Relative entries are skipped, because a
    /// repository must not be able to supply the shell.
    pub fn find_on(path: &OsStr) -> Option<Self> {
        CANDIDATES.iter().find_map(|&(name, dialect)| {
            let mut found = which::which_in_global(name, Some(path)).ok()?;
            let program = found.find(|program| program.is_absolute())?;
            Some(Self { program, dialect })
        })
    }

    /// Returns the arguments that make this shell run `script`.
    pub(crate) fn arguments(&self, script: String) -> Vec<OsString> {
        let flags: &[&str] = match self.dialect {
            Dialect::Bash | Dialect::Posix => &["-c"],
            Dialect::PowerShell => &["-NoProfile", "-Command"],
        };
        flags.iter().map(OsString::from).chain([script.into()]).collect()
    }

    /// Returns the statements in front of every command line.
    pub(crate) fn settings(&self) -> &'static str {
        match self.dialect {
            Dialect::Bash => BASH_SETTINGS,
            Dialect::Posix | Dialect::PowerShell => "",
        }
    }

    /// Returns a script whose exit code is that of its last program. PowerShell needs an explicit
    /// statement for this.
    pub(crate) fn passing_exit_code(&self, script: &str) -> String {
        match self.dialect {
            Dialect::PowerShell => {
                format!("{script}; if ($LASTEXITCODE -ne 0) {{ exit $LASTEXITCODE }}")
            }
            Dialect::Bash | Dialect::Posix => script.to_owned(),
        }
    }
}
