//! Basic operations on files and folders, with size limits and typed errors. No operation blocks on
//! a pipe.

use std::fs::{self, File, OpenOptions};
use std::io::{self, Read, Seek, Write};
use std::path::{Path, PathBuf};
use std::time::SystemTime;

use crate::error::{Error, Result};

/// Kind of a directory entry.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum EntryKind {
    /// A regular file.
    File,
    /// A folder.
    Directory,
    /// A symbolic link (only if links are not followed).
    Symlink,
    /// A pipe, socket or device.
    Special,
}

impl EntryKind {
    pub(crate) fn of(kind: fs::FileType) -> Self {
        if kind.is_file() {
            Self::File
        } else if kind.is_dir() {
            Self::Directory
        } else if kind.is_symlink() {
            Self::Symlink
        } else {
            Self::Special
        }
    }
}

/// Kind, size and age of a file or folder.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct FileInfo {
    /// Kind of the entry.
    pub kind: EntryKind,
    /// Size in bytes; for folders the value that the system reports.
    pub size: u64,
    /// Time of the last change of the content, if known.
    pub modified: Option<SystemTime>,
}

impl FileInfo {
    pub(crate) fn of(metadata: &fs::Metadata) -> Self {
        Self {
            kind: EntryKind::of(metadata.file_type()),
            size: metadata.len(),
            modified: metadata.modified().ok(),
        }
    }
}

/// One entry of a folder.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct DirectoryEntry {
    /// Name without its folder; bytes that are not Unicode are replaced.
    pub name: String,
    /// Path of the folder with the name.
    pub path: PathBuf,
    /// Kind of the entry; links are not followed.
    pub kind: EntryKind,
}

/// Returns information about `path`, following links.
pub fn info(path: &Path) -> Result<FileInfo> {
    let metadata = fs::metadata(path).map_err(|error| Error::from_io(path, error))?;
    Ok(FileInfo::of(&metadata))
}

/// Returns information about `path` without following a link.
pub fn link_info(path: &Path) -> Result<FileInfo> {
    let metadata = fs::symlink_metadata(path).map_err(|error| Error::from_io(path, error))?;
    Ok(FileInfo::of(&metadata))
}

/// Opens a regular file for reading. Never blocks: pipes and devices are refused.
pub(crate) fn open_regular(path: &Path) -> Result<(File, fs::Metadata)> {
    let mut options = OpenOptions::new();
    options.read(true);
    do_not_block(&mut options);
    let file = options.open(path).map_err(|error| Error::from_io(path, error))?;
    let metadata = file.metadata().map_err(|error| Error::from_io(path, error))?;
    match EntryKind::of(metadata.file_type()) {
        EntryKind::File => Ok((file, metadata)),
        EntryKind::Directory => Err(Error::IsDirectory { path: path.into() }),
        EntryKind::Symlink | EntryKind::Special => Err(Error::NotRegular { path: path.into() }),
    }
}

/// Opens a regular file for reading in pieces. Never blocks: pipes and devices are refused.
pub fn open_to_read(path: &Path) -> Result<impl Read + std::io::Seek + use<>> {
    open_regular(path).map(|(file, _)| file)
}

/// Owner and permissions of a file or folder.
#[cfg(unix)]
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Ownership {
    /// User id of the owner; 0 is root.
    pub user: u32,
    /// Kind and permission bits, as in `stat`.
    pub mode: u32,
}

/// Returns the ownership of `path`, following links.
///
/// # Errors
/// Returns any error of reading the metadata.
#[cfg(unix)]
pub fn ownership(path: &Path) -> Result<Ownership> {
    use std::os::unix::fs::MetadataExt;

    let metadata = fs::metadata(path).map_err(|error| Error::from_io(path, error))?;
    Ok(Ownership { user: metadata.uid(), mode: metadata.mode() })
}

/// Returns at most the last `limit` bytes of a regular file.
///
/// # Errors
/// Returns any error of opening or reading the file.
pub fn read_tail(path: &Path, limit: usize) -> Result<Vec<u8>> {
    let (file, metadata) = open_regular(path)?;
    tail(path, file, &metadata, limit)
}

/// Returns at most the last `limit` bytes of a regular file that is not a link.
///
/// # Errors
/// [`Error::IsLink`] for a link, and any error of opening or reading the file.
pub fn read_tail_of_file_itself(path: &Path, limit: usize) -> Result<Vec<u8>> {
    let mut options = OpenOptions::new();
    options.read(true);
    do_not_follow(&mut options);
    if link_info(path)?.kind == EntryKind::Symlink {
        return Err(Error::IsLink { path: path.into() });
    }
    // The flag refuses a link that is created between the check and this call.
    let file = options.open(path).map_err(|error| Error::from_io(path, error))?;
    let metadata = file.metadata().map_err(|error| Error::from_io(path, error))?;
    match EntryKind::of(metadata.file_type()) {
        EntryKind::File => tail(path, file, &metadata, limit),
        _ => Err(Error::NotRegular { path: path.into() }),
    }
}

fn tail(path: &Path, mut file: File, metadata: &fs::Metadata, limit: usize) -> Result<Vec<u8>> {
    let failed = |error| Error::from_io(path, error);
    let start = metadata.len().saturating_sub(limit as u64);
    file.seek(io::SeekFrom::Start(start)).map_err(failed)?;
    let mut bytes = Vec::new();
    file.take(limit as u64).read_to_end(&mut bytes).map_err(failed)?;
    Ok(bytes)
}

/// Makes `open` return immediately on a pipe without a peer.
#[cfg(unix)]
pub(crate) fn do_not_block(options: &mut OpenOptions) {
    use std::os::unix::fs::OpenOptionsExt;
    options.custom_flags(rustix::fs::OFlags::NONBLOCK.bits().cast_signed());
}

/// Makes `open` fail on a link, and return immediately on a pipe.
#[cfg(unix)]
fn do_not_follow(options: &mut OpenOptions) {
    use std::os::unix::fs::OpenOptionsExt;
    let flags = rustix::fs::OFlags::NONBLOCK | rustix::fs::OFlags::NOFOLLOW;
    options.custom_flags(flags.bits().cast_signed());
}

/// Does nothing, because links need a privilege on Windows.
#[cfg(not(unix))]
fn do_not_follow(_options: &mut OpenOptions) {}

/// Does nothing, because Windows opens named pipes only by their own path prefix.
#[cfg(not(unix))]
pub(crate) fn do_not_block(_options: &mut OpenOptions) {}

/// Reads a whole regular file of at most `limit` bytes.
///
/// # Errors
/// [`Error::TooLarge`] for a file above the limit, also if the file grows while it is read.
pub fn read_bytes(path: &Path, limit: u64) -> Result<Vec<u8>> {
    let (file, metadata) = open_regular(path)?;
    read_open(path, &file, &metadata, limit)
}

pub(crate) fn read_open(
    path: &Path,
    file: &File,
    metadata: &fs::Metadata,
    limit: u64,
) -> Result<Vec<u8>> {
    let too_large = |size| Error::TooLarge { path: path.into(), size, limit };
    if metadata.len() > limit {
        return Err(too_large(metadata.len()));
    }
    let mut bytes = Vec::with_capacity(metadata.len() as usize);
    file.take(limit.saturating_add(1))
        .read_to_end(&mut bytes)
        .map_err(|error| Error::from_io(path, error))?;
    if bytes.len() as u64 > limit {
        return Err(too_large(bytes.len() as u64));
    }
    Ok(bytes)
}

/// Reads up to `count` bytes from the start of a regular file.
pub fn read_head(path: &Path, count: usize) -> Result<Vec<u8>> {
    let (file, _) = open_regular(path)?;
    let mut bytes = Vec::new();
    file.take(count as u64).read_to_end(&mut bytes).map_err(|error| Error::from_io(path, error))?;
    Ok(bytes)
}

/// Lists a folder, sorted by name (plain string order). Entries that are removed in the meantime
/// are left out.
pub fn list_directory(path: &Path) -> Result<Vec<DirectoryEntry>> {
    let mut entries = Vec::new();
    for entry in fs::read_dir(path).map_err(|error| Error::from_io(path, error))? {
        let entry = entry.map_err(|error| Error::from_io(path, error))?;
        let Ok(kind) = entry.file_type() else { continue };
        entries.push(DirectoryEntry {
            name: entry.file_name().to_string_lossy().into_owned(),
            path: entry.path(),
            kind: EntryKind::of(kind),
        });
    }
    entries.sort_by(|left, right| left.name.cmp(&right.name));
    Ok(entries)
}

/// Creates a folder with its parents; existing folders are left unchanged.
pub fn create_directories(path: &Path) -> Result<()> {
    fs::create_dir_all(path).map_err(|error| creation_error(path, error))
}

/// Creates a folder with its parents; new folders are readable by the owner only (0700).
pub fn create_private_directories(path: &Path) -> Result<()> {
    let mut builder = fs::DirBuilder::new();
    builder.recursive(true);
    #[cfg(unix)]
    std::os::unix::fs::DirBuilderExt::mode(&mut builder, 0o700);
    builder.create(path).map_err(|error| creation_error(path, error))
}

/// Converts the error "exists", which also means that there is a file in place of a folder.
fn creation_error(path: &Path, error: io::Error) -> Error {
    if error.kind() == io::ErrorKind::AlreadyExists {
        return Error::NotADirectory { path: path.into() };
    }
    Error::from_io(path, error)
}

/// Removes a file or a link (not what it points to).
pub fn remove_file(path: &Path) -> Result<()> {
    fs::remove_file(path).map_err(|error| Error::from_io(path, error))
}

/// Removes a folder with everything in it; links inside are removed, not followed.
pub fn remove_tree(path: &Path) -> Result<()> {
    fs::remove_dir_all(path).map_err(|error| Error::from_io(path, error))
}

/// Renames a file within one file system, and replaces a file at `to`.
pub fn rename(from: &Path, to: &Path) -> Result<()> {
    fs::rename(from, to).map_err(|error| Error::from_io(from, error))
}

/// Copies a folder's files, folders and links to `to`, which is created. Special files are left
/// out.
///
/// # Errors
/// Returns the first error; the files copied until then are kept.
pub fn copy_tree(from: &Path, to: &Path) -> Result<()> {
    let mut pending = vec![(from.to_path_buf(), to.to_path_buf())];
    while let Some((source, target)) = pending.pop() {
        create_directories(&target)?;
        for entry in list_directory(&source)? {
            let Some(name) = entry.path.file_name() else { continue };
            let copy = target.join(name);
            let failed = |error| Error::from_io(&entry.path, error);
            match entry.kind {
                EntryKind::Directory => pending.push((entry.path, copy)),
                EntryKind::File => {
                    fs::copy(&entry.path, &copy).map_err(failed)?;
                }
                EntryKind::Symlink => copy_link(&entry.path, &copy).map_err(failed)?,
                EntryKind::Special => {}
            }
        }
    }
    Ok(())
}

#[cfg(unix)]
fn copy_link(from: &Path, to: &Path) -> io::Result<()> {
    std::os::unix::fs::symlink(fs::read_link(from)?, to)
}

/// Copies the target of a link, because creating links needs a privilege on Windows.
#[cfg(not(unix))]
fn copy_link(from: &Path, to: &Path) -> io::Result<()> {
    fs::copy(from, to).map(|_| ())
}

/// A new file that is filled as data arrives, for output too large to keep in memory.
///
/// Dropping the value keeps the file. The file is not synced, because its content can be produced
/// again.
#[derive(Debug)]
pub struct Spool {
    file: File,
    path: PathBuf,
    written: u64,
}

impl Spool {
    /// Creates the file (0600) with its parents (0700); an existing file is truncated.
    pub fn create(path: &Path) -> Result<Self> {
        if let Some(parent) = path.parent() {
            create_private_directories(parent)?;
        }
        let mut options = OpenOptions::new();
        options.write(true).create(true).truncate(true);
        #[cfg(unix)]
        std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
        let file = options.open(path).map_err(|error| Error::from_io(path, error))?;
        Ok(Self { file, path: path.into(), written: 0 })
    }

    /// Appends bytes.
    pub fn write(&mut self, bytes: &[u8]) -> Result<()> {
        self.file.write_all(bytes).map_err(|error| Error::from_io(&self.path, error))?;
        self.written += bytes.len() as u64;
        Ok(())
    }

    /// Returns the number of bytes written so far.
    pub fn written(&self) -> u64 {
        self.written
    }

    /// Returns the path of the file.
    pub fn path(&self) -> &Path {
        &self.path
    }
}
