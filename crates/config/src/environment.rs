//! Snapshot of the environment, passed to functions instead of the process environment.
//!
//! Pollux never changes the process environment: variables of a `.env` file are added to a copy,
//! which child processes receive, except for variables that start programs
//! ([`dotenv`](crate::dotenv)). This keeps threads safe and tests independent.

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
/// Names are compared as the operating system compares them: case-sensitively, except on Windows.
/// `Debug` prints names only, because values may be credentials.
#[derive(Clone, Default)]
pub struct Environment {
    variables: Arc<BTreeMap<String, String>>,
    /// Values of the process environment that are not Unicode, unchanged.
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
            // If HOME is unset, the account database supplies the home directory, as for Node's
            // `os.homedir()`.
            account_home: etcetera::home_dir().ok(),
        }
    }

    /// Creates an environment of exactly these variables. Of equal names the later pair is used.
    /// The environment has no account, so that a test never reaches the real home directory.
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

    /// Returns the value of `name`, including an empty one.
    pub fn get(&self, name: &str) -> Option<&str> {
        self.variables.get(fold(name).as_ref()).map(String::as_str)
    }

    /// Returns the value of `name` unless it is unset or empty.
    pub fn non_empty(&self, name: &str) -> Option<&str> {
        self.get(name).filter(|value| !value.is_empty())
    }

    /// Returns true if `name` is set, including to an empty value.
    pub fn is_set(&self, name: &str) -> bool {
        self.get(name).is_some()
    }

    /// Returns true if `name` is exactly `true`.
    pub fn is_true(&self, name: &str) -> bool {
        self.get(name) == Some("true")
    }

    /// Returns true if `name` is `true` or `1`, the test used for debug and telemetry variables.
    pub fn is_enabled(&self, name: &str) -> bool {
        matches!(self.get(name), Some("true" | "1"))
    }

    /// Returns all variables, ordered by name.
    pub fn iter(&self) -> impl Iterator<Item = (&str, &str)> {
        self.variables.iter().map(|(name, value)| (name.as_str(), value.as_str()))
    }

    /// Returns a copy with `pairs` added for names that are not set yet, so that the user's
    /// environment always overrides a `.env` file. Of equal names in `pairs` the first is used.
    #[must_use]
    pub fn overlay<'a>(&self, pairs: impl IntoIterator<Item = (&'a str, &'a str)>) -> Self {
        let mut variables = BTreeMap::clone(&self.variables);
        for (name, value) in pairs {
            variables.entry(fold(name).into_owned()).or_insert_with(|| value.to_owned());
        }
        Self { variables: Arc::new(variables), ..self.clone() }
    }

    /// Returns a copy in which `name` has `value`.
    #[must_use]
    pub fn with(&self, name: &str, value: &str) -> Self {
        let mut variables = BTreeMap::clone(&self.variables);
        variables.insert(fold(name).into_owned(), value.to_owned());
        let mut raw = BTreeMap::clone(&self.raw);
        raw.remove(fold(name).as_ref());
        Self { variables: Arc::new(variables), raw: Arc::new(raw), ..self.clone() }
    }

    /// Returns all variables for a child process. Values that are not Unicode are passed on
    /// unchanged.
    pub fn for_children(&self) -> Vec<(OsString, OsString)> {
        let exact = |(name, value): (&str, &str)| {
            let raw = self.raw.get(name).cloned();
            (OsString::from(name), raw.unwrap_or_else(|| value.into()))
        };
        self.iter().map(exact).collect()
    }

    /// Returns the user's home directory: `HOME` (`USERPROFILE` on Windows), otherwise the one in
    /// the account database. `GEMINI_CLI_HOME` is not considered; see [`crate::Places`].
    pub fn home(&self) -> Option<PathBuf> {
        let name = if cfg!(windows) { "USERPROFILE" } else { "HOME" };
        self.non_empty(name).map(PathBuf::from).or_else(|| self.account_home.clone())
    }

    /// Returns the directory for temporary files, chosen like Node's `os.tmpdir()`.
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

/// Returns the form in which a name is stored and searched.
fn fold(name: &str) -> std::borrow::Cow<'_, str> {
    if cfg!(windows) { name.to_uppercase().into() } else { name.into() }
}
