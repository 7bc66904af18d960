//! Errors of finding, reading and saving settings.

use std::fmt;
use std::path::{Path, PathBuf};

/// A position in a text file, counted from one. Columns count characters.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Position {
    /// Line number.
    pub line: usize,
    /// Column number.
    pub column: usize,
}

/// Error of a configuration file that cannot be used, with the position where parsing stopped.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub struct SyntaxError {
    /// Path of the file.
    pub path: PathBuf,
    /// Position of the error, or `None` if the file as a whole is invalid or unreadable.
    pub position: Option<Position>,
    /// Description of the error.
    pub message: String,
}

impl SyntaxError {
    /// Creates an error about the file as a whole.
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

/// Error of the configuration. The program ends with the configuration exit code (52) for all of
/// them, except if the caller only wanted to save something.
#[derive(Debug, thiserror::Error)]
pub enum ConfigError {
    /// One or more settings files are invalid. All of them are listed.
    #[error("{}Please fix the configuration file(s) and try again.", BrokenList(.0))]
    Broken(Vec<SyntaxError>),
    /// The file of trusted folders is invalid, so trust cannot be decided.
    #[error("{}Please fix the configuration file(s) and try again.", BrokenList(.0))]
    BrokenTrust(Vec<SyntaxError>),
    /// `telemetry.*` or its variables name an unknown target or protocol.
    #[error("Invalid telemetry configuration: {0}")]
    Telemetry(String),
    /// A file could not be written.
    #[error("Could not save {}: {message}", path.display())]
    Save {
        /// Path of the file, which keeps its old content.
        path: PathBuf,
        /// Message of the operating system.
        message: String,
    },
}

/// List of invalid files, displayed with one file per line.
struct BrokenList<'a>(&'a [SyntaxError]);

impl fmt::Display for BrokenList<'_> {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.iter().try_for_each(|error| writeln!(formatter, "{error}"))
    }
}
