//! Errors of installations.

use std::path::{Path, PathBuf};

use crate::values::ValueError;

/// Reason why something cannot be installed. Nothing was changed.
#[derive(Debug, thiserror::Error)]
pub enum InstallError {
    /// A file cannot be read or written.
    #[error("{}", .0.to_string().trim_end_matches('.'))]
    File(#[from] pollux_fs::Error),
    /// A value of a setting of the extension cannot be read or stored.
    #[error(transparent)]
    Value(#[from] ValueError),
    /// The archive cannot be used, for this reason.
    #[error("Cannot extract {}: {reason}", archive.display())]
    Archive {
        /// Path of the archive.
        archive: PathBuf,
        /// Reason, without a full stop.
        reason: String,
    },
    /// The address of a repository cannot be used, for this reason.
    #[error("Cannot clone {address}: {reason}")]
    Address {
        /// Address as it was given, without credentials.
        address: String,
        /// Reason, without a full stop.
        reason: String,
    },
    /// Git has failed, with this message.
    #[error("Failed to clone Git repository from {address} {message}")]
    Git {
        /// Address, without credentials.
        address: String,
        /// Message of Git.
        message: String,
    },
    /// The folder contains something that is not installed, as the message says.
    #[error("Cannot install {}: {reason}", folder.display())]
    Folder {
        /// Folder to install.
        folder: PathBuf,
        /// Reason, without a full stop.
        reason: String,
    },
    /// There is something at the path of a new extension.
    #[error("Path already exists: {}", .0.display())]
    Exists(PathBuf),
    /// The name of an extension is not allowed, with this message.
    #[error("{0}")]
    Name(String),
    /// There is something else in the place of the installation.
    #[error(
        "Cannot install extension \"{0}\" because a directory with that name already exists. Please remove it manually."
    )]
    Occupied(String),
    /// The path below the source leads out of it.
    #[error("Invalid path: Directory traversal not allowed.")]
    Traversal,
    /// The source contains no skill.
    #[error(
        "No valid skills found in {source_name}. Ensure a SKILL.md file exists with valid frontmatter."
    )]
    NoSkill {
        /// Source, and the path below it.
        source_name: String,
    },
    /// Several skills of the source have the same name.
    #[error("Duplicate skill name \"{name}\" found at multiple locations:{}", listed(files))]
    Duplicate {
        /// Name of the skills.
        name: String,
        /// Their files.
        files: Vec<PathBuf>,
    },
}

impl InstallError {
    pub(crate) fn archive(archive: &Path, reason: impl Into<String>) -> Self {
        Self::Archive { archive: archive.to_owned(), reason: reason.into() }
    }

    pub(crate) fn folder(folder: &Path, reason: impl Into<String>) -> Self {
        Self::Folder { folder: folder.to_owned(), reason: reason.into() }
    }
}

fn listed(files: &[PathBuf]) -> String {
    let shown = files.iter().map(|file| format!("\n  - {}", file.display()));
    shown.collect::<Vec<_>>().concat()
}
