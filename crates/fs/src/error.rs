//! What can go wrong with a file, by meaning.

use std::io;
use std::path::{Path, PathBuf};

/// The result of everything in this crate that touches files.
pub type Result<T, E = Error> = std::result::Result<T, E>;

/// A failure with its path. [`Error::code`] gives the `errno` name that messages to the model carry.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// Nothing is there, or a folder on the way is missing.
    #[error("no such file or directory: {path}")]
    NotFound {
        /// The path asked for.
        path: PathBuf,
    },
    /// The operating system refuses.
    #[error("permission denied: {path}")]
    PermissionDenied {
        /// The path asked for.
        path: PathBuf,
    },
    /// The device or the quota is full. The target is as it was before.
    #[error("no space left on device: {path}")]
    NoSpace {
        /// The path being written.
        path: PathBuf,
    },
    /// A folder where a file was needed.
    #[error("is a directory: {path}")]
    IsDirectory {
        /// The folder.
        path: PathBuf,
    },
    /// A file where a folder was needed.
    #[error("not a directory: {path}")]
    NotADirectory {
        /// The path, or one of its ancestors.
        path: PathBuf,
    },
    /// A pipe, socket or device: reading may block for ever, writing is no file write.
    #[error("not a regular file: {path}")]
    NotRegular {
        /// The special file.
        path: PathBuf,
    },
    /// A symbolic link where the file itself was needed.
    #[error("is a symbolic link: {path}")]
    IsLink {
        /// The link.
        path: PathBuf,
    },
    /// A symbolic link where none was when the path was checked: whoever put it there may want to lead elsewhere.
    #[error(
        "a symbolic link has taken the place of a file or folder while the path was in use: {path}"
    )]
    PathChanged {
        /// The path as it was.
        path: PathBuf,
    },
    /// The file holds more bytes than the caller accepts.
    #[error("file too large ({size} bytes, limit {limit}): {path}")]
    TooLarge {
        /// The file.
        path: PathBuf,
        /// Its size in bytes; a lower bound when it grew while being read.
        size: u64,
        /// The caller's limit in bytes.
        limit: u64,
    },
    /// The file is not the one that was read, or appeared where none was expected.
    #[error("changed on disk since it was read: {path}")]
    ChangedOnDisk {
        /// The file.
        path: PathBuf,
    },
    /// The text has a character that the file's encoding cannot hold.
    #[error("{character:?} cannot be written in {encoding}")]
    Unencodable {
        /// Name of the encoding, as in the WHATWG Encoding Standard.
        encoding: &'static str,
        /// The first such character.
        character: char,
    },
    /// The bytes were not valid in any encoding, so writing the text back would destroy them.
    #[error("the file is not valid {encoding}; writing its text back would lose bytes")]
    Lossy {
        /// Name of the encoding it was read as.
        encoding: &'static str,
    },
    /// An edit names bytes outside the text, overlaps another, or splits a character.
    #[error("edit span {start}..{end} does not fit the text")]
    InvalidSpan {
        /// First byte.
        start: usize,
        /// One past the last byte.
        end: usize,
    },
    /// A path that no file can have, or that is plainly something else than a path.
    #[error("Invalid path: {0}")]
    InvalidPath(String),
    /// The path leads out of the places that may be touched. Message of Gemini CLI, letter for letter.
    #[error("Path not in workspace: Attempted path \"{}\" resolves outside the allowed workspace directories: {} or the project temp directory: {}", path.display(), join(roots), temp.display())]
    OutsideWorkspace {
        /// The path asked for.
        path: PathBuf,
        /// The workspace folders.
        roots: Vec<PathBuf>,
        /// The project's temp folder.
        temp: PathBuf,
    },
    /// A glob or regular expression that does not compile.
    #[error("{0}")]
    Pattern(String),
    /// A line for a line log holds a line break.
    #[error("a log line must not contain a line break: {path}")]
    InvalidLine {
        /// The log.
        path: PathBuf,
    },
    /// Someone else holds the lock.
    #[error("locked by another process: {path}")]
    Locked {
        /// The lock, or the locked file.
        path: PathBuf,
    },
    /// Any other failure of the operating system.
    #[error("{path}: {source}")]
    Io {
        /// The path asked for.
        path: PathBuf,
        /// What the system said.
        source: io::Error,
    },
}

impl Error {
    /// Gives `source` its path and its meaning.
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

    /// The name of the closest `errno` value (`ENOENT` …), as Node prints it; `EIO` where none fits.
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

    /// The path the failure is about, where it is about one.
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

    /// Whether nothing exists at the path.
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
