//! Is the current folder trusted?
//!
//! A folder that is not trusted is data: nothing in it may start a program, choose an endpoint or
//! set a variable. The answer comes from the first source that has one (see [`TrustSource`]); a
//! project's own settings are no source.

use std::path::{Path, PathBuf};

use crate::environment::names;
use crate::{ConfigError, Environment, Places};

mod store;
#[cfg(test)]
mod tests;

pub use store::{TrustLevel, TrustStore};

/// Whether a folder is trusted.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum TrustState {
    /// The person said yes.
    Trusted,
    /// The person said no.
    Untrusted,
    /// Nobody said anything; treated like a no.
    Unknown,
}

/// Who decided.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum TrustSource {
    /// `--skip-trust`.
    Flag,
    /// `GEMINI_CLI_TRUST_WORKSPACE`.
    Environment,
    /// `security.folderTrust.enabled` is off in the person's or the system's settings.
    Disabled,
    /// The companion in an editor.
    Ide,
    /// A rule in the file of trusted folders.
    File,
    /// No source had an answer.
    Nobody,
}

/// The answer and who gave it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Trust {
    /// The answer.
    pub state: TrustState,
    /// Who gave it.
    pub source: TrustSource,
}

/// What the decision looks at, in the order of its sources.
#[derive(Debug, Clone, Copy)]
pub struct TrustQuestion<'a> {
    /// `--skip-trust`.
    pub skip_trust: bool,
    /// The environment of the process, without any `.env` file.
    pub environment: &'a Environment,
    /// `security.folderTrust.enabled` of the person's and the system's settings.
    pub enabled: bool,
    /// What the companion in an editor says.
    pub ide: Option<bool>,
    /// Where the file of trusted folders is.
    pub places: &'a Places,
    /// The folder in question.
    pub cwd: &'a Path,
}

impl Trust {
    /// Whether project files may take effect. Unknown counts as no.
    pub fn is_trusted(self) -> bool {
        self.state == TrustState::Trusted
    }

    /// Whether the person said yes to this very folder, rather than to all or to none.
    pub fn is_explicit(self) -> bool {
        self.is_trusted() && self.source != TrustSource::Disabled
    }

    /// Asks the sources in order. The file is read only when none before it has an answer.
    ///
    /// Fails when the file is asked and broken.
    pub fn resolve(question: &TrustQuestion<'_>) -> Result<Self, ConfigError> {
        if let Some(decided) = Self::before_file(question) {
            return Ok(decided);
        }
        let store = TrustStore::load(question.places)?;
        Ok(match store.decide(question.cwd) {
            Some(trusted) => Self::answer(trusted, TrustSource::File),
            None => Self { state: TrustState::Unknown, source: TrustSource::Nobody },
        })
    }

    fn before_file(question: &TrustQuestion<'_>) -> Option<Self> {
        if question.skip_trust {
            return Some(Self::answer(true, TrustSource::Flag));
        }
        match question.environment.get(names::GEMINI_CLI_TRUST_WORKSPACE) {
            Some("true") => return Some(Self::answer(true, TrustSource::Environment)),
            Some("false") => return Some(Self::answer(false, TrustSource::Environment)),
            _ => {}
        }
        if !question.enabled {
            return Some(Self::answer(true, TrustSource::Disabled));
        }
        question.ide.map(|trusted| Self::answer(trusted, TrustSource::Ide))
    }

    fn answer(trusted: bool, source: TrustSource) -> Self {
        let state = if trusted { TrustState::Trusted } else { TrustState::Untrusted };
        Self { state, source }
    }
}

/// A rule's path in the form that the file holds: absolute, forward slashes, and lower case where
/// the file system does not tell letter case apart.
fn rule_path(path: &Path) -> String {
    let text = path.to_string_lossy().replace('\\', if cfg!(windows) { "/" } else { "\\" });
    if cfg!(any(windows, target_os = "macos")) { text.to_lowercase() } else { text }
}

/// A path as it is compared: real, and folded like [`rule_path`].
fn comparable(path: &Path) -> PathBuf {
    PathBuf::from(rule_path(&crate::files::real_path_or_given(path)))
}
