//! What can go wrong while settings are found, read and kept.

use std::fmt;
use std::path::{Path, PathBuf};

/// A place in a text file, counted from one. Columns count characters.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Position {
    /// Line number.
    pub line: usize,
    /// Column number.
    pub column: usize,
}

/// A configuration file that cannot be used, with the place where reading stopped.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub struct SyntaxError {
    /// The file.
    pub path: PathBuf,
    /// Where; `None` when the file as a whole is wrong or unreadable.
    pub position: Option<Position>,
    /// What is wrong.
    pub message: String,
}

impl SyntaxError {
    /// An error about the file as a whole.
    pub(crate) fn whole(path: &Path, message: impl Into<String>) -> Self {
        Self { path: path.to_owned(), position: None, message: message.into() }
    }
}

impl fmt::Display for SyntaxError {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "Error in {}: {}", self.path.display(), self.message)?;
        match self.position {
            Some(Position { line, column }) => {
                write!(formatter, " (line {line}, column {column})")
            }
            None => Ok(()),
        }
    }
}

/// Every way in which configuration fails. The program ends with the configuration exit code (52)
/// for all of them, except where a caller only wanted to save something.
#[derive(Debug, thiserror::Error)]
pub enum ConfigError {
    /// One or more settings files are broken; all of them are named.
    #[error("{}Please fix the configuration file(s) and try again.", BrokenList(.0))]
    Broken(Vec<SyntaxError>),
    /// The file of trusted folders is broken, so trust cannot be decided.
    #[error("{}Please fix the configuration file(s) and try again.", BrokenList(.0))]
    BrokenTrust(Vec<SyntaxError>),
    /// `telemetry.*` or its variables name an unknown target or protocol.
    #[error("Invalid telemetry configuration: {0}")]
    Telemetry(String),
    /// A file could not be written.
    #[error("Could not save {}: {message}", path.display())]
    Save {
        /// The file that keeps its old content.
        path: PathBuf,
        /// What the operating system said.
        message: String,
    },
}

/// Writes each broken file on its own line.
struct BrokenList<'a>(&'a [SyntaxError]);

impl fmt::Display for BrokenList<'_> {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.iter().try_for_each(|error| writeln!(formatter, "{error}"))
    }
}
