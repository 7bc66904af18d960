//! Decision whether the current folder is trusted.
//!
//! Files in an untrusted folder are only data: nothing in it may start a program, choose an
//! endpoint or set a variable. The first source with an answer decides (see [`TrustSource`]); a
//! project's own settings are not a source.

use std::path::{Path, PathBuf};

use crate::environment::names;
use crate::{ConfigError, Environment, Places};

mod store;
#[cfg(test)]
mod tests;

pub use store::{TrustLevel, TrustStore};

/// State of a folder's trust.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum TrustState {
    /// The user trusts the folder.
    Trusted,
    /// The user does not trust the folder.
    Untrusted,
    /// There is no answer, which counts as untrusted.
    Unknown,
}

/// Source of the trust decision.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum TrustSource {
    /// `--skip-trust`.
    Flag,
    /// `GEMINI_CLI_TRUST_WORKSPACE`.
    Environment,
    /// `security.folderTrust.enabled` is off in the user's or the system's settings.
    Disabled,
    /// The companion in an editor.
    Ide,
    /// A rule in the file of trusted folders.
    File,
    /// No source had an answer.
    Nobody,
}

/// Trust decision with its source.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Trust {
    /// State of the trust.
    pub state: TrustState,
    /// Source of the decision.
    pub source: TrustSource,
}

/// Inputs of the trust decision, in the order of its sources.
#[derive(Debug, Clone, Copy)]
pub struct TrustQuestion<'a> {
    /// `--skip-trust`.
    pub skip_trust: bool,
    /// The environment of the process, without any `.env` file.
    pub environment: &'a Environment,
    /// `security.folderTrust.enabled` of the user's and the system's settings.
    pub enabled: bool,
    /// Answer of the companion in an editor.
    pub ide: Option<bool>,
    /// Paths of the user, including the file of trusted folders.
    pub places: &'a Places,
    /// The folder to decide about.
    pub cwd: &'a Path,
}

impl Trust {
    /// Returns true if project files may take effect. Unknown trust counts as untrusted.
    pub fn is_trusted(self) -> bool {
        self.state == TrustState::Trusted
    }

    /// Returns true if the folder itself is trusted. Returns false if it is trusted only because
    /// the question is switched off.
    pub fn is_explicit(self) -> bool {
        self.is_trusted() && self.source != TrustSource::Disabled
    }

    /// Asks the sources in order. The file is read only if no source before it has an answer.
    ///
    /// Fails if the file is needed and invalid.
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

/// Returns a rule's path in the form used in the file: absolute, with forward slashes, and in lower
/// case on systems whose file names are not case-sensitive.
fn rule_path(path: &Path) -> String {
    let text = path.to_string_lossy().replace('\\', if cfg!(windows) { "/" } else { "\\" });
    if cfg!(any(windows, target_os = "macos")) { text.to_lowercase() } else { text }
}

/// Returns the form of a path for comparisons: real, and normalized like [`rule_path`].
fn comparable(path: &Path) -> PathBuf {
    PathBuf::from(rule_path(&crate::files::real_path_or_given(path)))
}
