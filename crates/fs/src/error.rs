//! Errors of file operations, by meaning.

use std::io;
use std::path::{Path, PathBuf};

/// Result of all functions in this crate that access files.
pub type Result<T, E = Error> = std::result::Result<T, E>;

/// Failure with its path. [`Error::code`] returns the `errno` name for messages to the model.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// The path does not exist, or a folder in it is missing.
    #[error("no such file or directory: {path}")]
    NotFound {
        /// The requested path.
        path: PathBuf,
    },
    /// The operating system denies access.
    #[error("permission denied: {path}")]
    PermissionDenied {
        /// The requested path.
        path: PathBuf,
    },
    /// The device or the quota is full. The target is unchanged.
    #[error("no space left on device: {path}")]
    NoSpace {
        /// The path being written.
        path: PathBuf,
    },
    /// The path is a folder, but a file is required.
    #[error("is a directory: {path}")]
    IsDirectory {
        /// The folder.
        path: PathBuf,
    },
    /// The path is a file, but a folder is required.
    #[error("not a directory: {path}")]
    NotADirectory {
        /// The path, or one of its ancestors.
        path: PathBuf,
    },
    /// The path is a pipe, socket or device: reading may block forever, and writing does not write
    /// a file.
    #[error("not a regular file: {path}")]
    NotRegular {
        /// The special file.
        path: PathBuf,
    },
    /// The path is a symbolic link, but the file itself is required.
    #[error("is a symbolic link: {path}")]
    IsLink {
        /// The link.
        path: PathBuf,
    },
    /// The path contains a symbolic link that did not exist when the path was checked: it may lead
    /// to another target on purpose.
    #[error(
        "a symbolic link has taken the place of a file or folder while the path was in use: {path}"
    )]
    PathChanged {
        /// The path as it was checked.
        path: PathBuf,
    },
    /// The file is larger than the caller accepts.
    #[error("file too large ({size} bytes, limit {limit}): {path}")]
    TooLarge {
        /// The file.
        path: PathBuf,
        /// Size in bytes; a lower bound if the file grew while it was read.
        size: u64,
        /// The caller's limit in bytes.
        limit: u64,
    },
    /// The file is not the one that was read, or exists although no file was expected.
    #[error("changed on disk since it was read: {path}")]
    ChangedOnDisk {
        /// The file.
        path: PathBuf,
    },
    /// The text contains a character that the file's encoding does not support.
    #[error("{character:?} cannot be written in {encoding}")]
    Unencodable {
        /// Name of the encoding, as in the WHATWG Encoding Standard.
        encoding: &'static str,
        /// The first such character.
        character: char,
    },
    /// The bytes were not valid in any encoding, so that writing the text back would destroy them.
    #[error("the file is not valid {encoding}; writing its text back would lose bytes")]
    Lossy {
        /// Name of the encoding with which it was read.
        encoding: &'static str,
    },
    /// An edit names bytes outside the text, overlaps another, or splits a character.
    #[error("edit span {start}..{end} does not fit the text")]
    InvalidSpan {
        /// First byte.
        start: usize,
        /// Byte after the last one.
        end: usize,
    },
    /// The path is impossible, or is clearly not a path.
    #[error("Invalid path: {0}")]
    InvalidPath(String),
    /// The path is outside the places that may be accessed. The message is that of Gemini CLI,
    /// letter for letter.
    #[error("Path not in workspace: Attempted path \"{}\" resolves outside the allowed workspace directories: {} or the project temp directory: {}", path.display(), join(roots), temp.display())]
    OutsideWorkspace {
        /// The requested path.
        path: PathBuf,
        /// The workspace folders.
        roots: Vec<PathBuf>,
        /// The project's temp folder.
        temp: PathBuf,
    },
    /// The glob or regular expression does not compile.
    #[error("{0}")]
    Pattern(String),
    /// A line for a line log contains a line break.
    #[error("a log line must not contain a line break: {path}")]
    InvalidLine {
        /// The log.
        path: PathBuf,
    },
    /// Another process holds the lock.
    #[error("locked by another process: {path}")]
    Locked {
        /// The lock, or the locked file.
        path: PathBuf,
    },
    /// Any other failure of the operating system.
    #[error("{path}: {source}")]
    Io {
        /// The requested path.
        path: PathBuf,
        /// Error of the operating system.
        source: io::Error,
    },
}

impl Error {
    /// Converts `source` to an error with a path, chosen by the kind of `source`.
    pub fn from_io(path: impl Into<PathBuf>, source: io::Error) -> Self {
        use io::ErrorKind as Kind;
        let path = path.into();
        match source.kind() {
            Kind::NotFound => Self::NotFound { path },
            Kind::PermissionDenied => Self::PermissionDenied { path },
            Kind::StorageFull | Kind::QuotaExceeded => Self::NoSpace { path },
            Kind::IsADirectory => Self::IsDirectory { path },
            Kind::NotADirectory => Self::NotADirectory { path },
            _ => Self::Io { path, source },
        }
    }

    /// Returns the name of the closest `errno` value (`ENOENT` …), as Node prints it; `EIO` if no
    /// other fits.
    pub fn code(&self) -> &'static str {
        match self {
            Self::NotFound { .. } => "ENOENT",
            Self::PermissionDenied { .. } | Self::OutsideWorkspace { .. } => "EACCES",
            Self::NoSpace { .. } => "ENOSPC",
            Self::IsDirectory { .. } => "EISDIR",
            Self::NotADirectory { .. } => "ENOTDIR",
            Self::IsLink { .. } | Self::PathChanged { .. } => "ELOOP",
            Self::TooLarge { .. } => "EFBIG",
            Self::ChangedOnDisk { .. } => "ESTALE",
            Self::Unencodable { .. } | Self::Lossy { .. } => "EILSEQ",
            Self::Locked { .. } => "ELOCKED",
            Self::NotRegular { .. }
            | Self::InvalidSpan { .. }
            | Self::InvalidPath(_)
            | Self::InvalidLine { .. }
            | Self::Pattern(_) => "EINVAL",
            Self::Io { source, .. } => io_code(source),
        }
    }

    /// Returns the path of the failure, if there is one.
    pub fn path(&self) -> Option<&Path> {
        match self {
            Self::NotFound { path }
            | Self::PermissionDenied { path }
            | Self::NoSpace { path }
            | Self::IsDirectory { path }
            | Self::NotADirectory { path }
            | Self::NotRegular { path }
            | Self::IsLink { path }
            | Self::PathChanged { path }
            | Self::TooLarge { path, .. }
            | Self::ChangedOnDisk { path }
            | Self::OutsideWorkspace { path, .. }
            | Self::InvalidLine { path }
            | Self::Locked { path }
            | Self::Io { path, .. } => Some(path),
            Self::Unencodable { .. }
            | Self::Lossy { .. }
            | Self::InvalidSpan { .. }
            | Self::InvalidPath(_)
            | Self::Pattern(_) => None,
        }
    }

    /// Returns true if the path does not exist.
    pub fn is_not_found(&self) -> bool {
        matches!(self, Self::NotFound { .. })
    }
}

fn io_code(error: &io::Error) -> &'static str {
    use io::ErrorKind as Kind;
    match error.kind() {
        Kind::AlreadyExists => "EEXIST",
        Kind::DirectoryNotEmpty => "ENOTEMPTY",
        Kind::ReadOnlyFilesystem => "EROFS",
        Kind::CrossesDevices => "EXDEV",
        Kind::ResourceBusy => "EBUSY",
        Kind::ExecutableFileBusy => "ETXTBSY",
        Kind::FileTooLarge => "EFBIG",
        Kind::InvalidFilename => "ENAMETOOLONG",
        Kind::InvalidInput => "EINVAL",
        Kind::TooManyLinks => "EMLINK",
        Kind::Interrupted => "EINTR",
        Kind::TimedOut => "ETIMEDOUT",
        _ => "EIO",
    }
}

fn join(paths: &[PathBuf]) -> String {
    paths.iter().map(|path| path.display().to_string()).collect::<Vec<_>>().join(", ")
}
