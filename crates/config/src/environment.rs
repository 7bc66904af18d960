//! One snapshot of the environment, passed along instead of the process's own.
//!
//! Nothing in Pollux changes the process environment: what a `.env` file adds is an overlay on a
//! copy. That keeps threads safe, tests hermetic and children free of what a project's `.env` says.

use std::collections::BTreeMap;
use std::ffi::OsString;
use std::fmt;
use std::path::{Path, PathBuf};
use std::sync::Arc;

pub mod names;

#[cfg(test)]
mod tests;

/// An immutable, ordered snapshot of environment variables. Cloning is cheap.
///
/// Names are compared as the operating system compares them: by letter case everywhere but on
/// Windows. `Debug` prints names only, because values hold credentials.
#[derive(Clone, Default)]
pub struct Environment {
    variables: Arc<BTreeMap<String, String>>,
    /// Values of the process that are not Unicode, as they are.
    raw: Arc<BTreeMap<String, OsString>>,
    account_home: Option<PathBuf>,
}

impl Environment {
    /// Copies the environment of this process.
    ///
    /// Variables whose name is not Unicode are left out; values that are not Unicode are decoded
    /// with replacement characters.
    pub fn from_process() -> Self {
        let (mut variables, mut raw) = (BTreeMap::new(), BTreeMap::new());
        for (name, value) in std::env::vars_os() {
            let Some(name) = name.to_str() else { continue };
            variables.insert(fold(name).into_owned(), value.to_string_lossy().into_owned());
            if value.to_str().is_none() {
                raw.insert(fold(name).into_owned(), value);
            }
        }
        Self {
            variables: Arc::new(variables),
            raw: Arc::new(raw),
            // The account database answers when HOME is unset, as it does for Node's `os.homedir()`.
            account_home: etcetera::home_dir().ok(),
        }
    }

    /// Builds an environment of exactly these variables; later pairs win. It knows no account, so
    /// that a test never reaches the real home.
    pub fn from_pairs<N, V>(pairs: impl IntoIterator<Item = (N, V)>) -> Self
    where
        N: Into<String>,
        V: Into<String>,
    {
        let variables = pairs
            .into_iter()
            .map(|(name, value)| (fold(&name.into()).into_owned(), value.into()))
            .collect();
        Self { variables: Arc::new(variables), ..Self::default() }
    }

    /// The value of `name`, also when it is empty.
    pub fn get(&self, name: &str) -> Option<&str> {
        self.variables.get(fold(name).as_ref()).map(String::as_str)
    }

    /// The value of `name` unless it is unset or empty.
    pub fn non_empty(&self, name: &str) -> Option<&str> {
        self.get(name).filter(|value| !value.is_empty())
    }

    /// Whether `name` is set, also to nothing.
    pub fn is_set(&self, name: &str) -> bool {
        self.get(name).is_some()
    }

    /// Whether `name` is exactly `true`.
    pub fn is_true(&self, name: &str) -> bool {
        self.get(name) == Some("true")
    }

    /// Whether `name` is `true` or `1`, the looser test of the debug and telemetry variables.
    pub fn is_enabled(&self, name: &str) -> bool {
        matches!(self.get(name), Some("true" | "1"))
    }

    /// All variables, ordered by name.
    pub fn iter(&self) -> impl Iterator<Item = (&str, &str)> {
        self.variables.iter().map(|(name, value)| (name.as_str(), value.as_str()))
    }

    /// A copy with `pairs` added where the name is not set yet: the environment that a person
    /// gave always beats a `.env` file. Among `pairs` the first of a name wins.
    #[must_use]
    pub fn overlay<'a>(&self, pairs: impl IntoIterator<Item = (&'a str, &'a str)>) -> Self {
        let mut variables = BTreeMap::clone(&self.variables);
        for (name, value) in pairs {
            variables.entry(fold(name).into_owned()).or_insert_with(|| value.to_owned());
        }
        Self { variables: Arc::new(variables), ..self.clone() }
    }

    /// A copy in which `name` has `value`, whatever it was.
    #[must_use]
    pub fn with(&self, name: &str, value: &str) -> Self {
        let mut variables = BTreeMap::clone(&self.variables);
        variables.insert(fold(name).into_owned(), value.to_owned());
        let mut raw = BTreeMap::clone(&self.raw);
        raw.remove(fold(name).as_ref());
        Self { variables: Arc::new(variables), raw: Arc::new(raw), ..self.clone() }
    }

    /// All variables for a child process. Values of the process that are not Unicode are passed on as they are.
    pub fn for_children(&self) -> Vec<(OsString, OsString)> {
        let exact = |(name, value): (&str, &str)| {
            let raw = self.raw.get(name).cloned();
            (OsString::from(name), raw.unwrap_or_else(|| value.into()))
        };
        self.iter().map(exact).collect()
    }

    /// The home directory of the person: `HOME` (`USERPROFILE` on Windows), else what the account
    /// database says. `GEMINI_CLI_HOME` is not considered; see [`crate::Places`].
    pub fn home(&self) -> Option<PathBuf> {
        let name = if cfg!(windows) { "USERPROFILE" } else { "HOME" };
        self.non_empty(name).map(PathBuf::from).or_else(|| self.account_home.clone())
    }

    /// The directory for temporary files, found as Node's `os.tmpdir()` finds it.
    pub fn temporary_dir(&self) -> PathBuf {
        let order: &[&str] =
            if cfg!(windows) { &["TEMP", "TMP"] } else { &["TMPDIR", "TMP", "TEMP"] };
        let given = order.iter().find_map(|name| self.non_empty(name));
        let fallback = if cfg!(windows) { r"C:\Windows\Temp" } else { "/tmp" };
        let path = Path::new(given.unwrap_or(fallback));
        // Collecting the components drops a trailing separator.
        path.components().collect()
    }
}

impl fmt::Debug for Environment {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.debug_set().entries(self.variables.keys()).finish()
    }
}

/// The form in which a name is stored and looked up.
fn fold(name: &str) -> std::borrow::Cow<'_, str> {
    if cfg!(windows) { name.to_uppercase().into() } else { name.into() }
}
