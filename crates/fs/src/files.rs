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
    let (file, metadata) = open_regular(path)?;
    read_start(&file, &metadata, count).map_err(|error| Error::from_io(path, error))
}

/// Reads up to `count` bytes from the start of an open file.
pub(crate) fn read_start(
    file: &File,
    metadata: &fs::Metadata,
    count: usize,
) -> io::Result<Vec<u8>> {
    // One more byte, so that the end of the file needs no second buffer.
    let size = usize::try_from(metadata.len()).unwrap_or(usize::MAX).saturating_add(1);
    let mut bytes = Vec::with_capacity(size.min(count));
    file.take(count as u64).read_to_end(&mut bytes)?;
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

/// Puts the folder `new` in the place of `old`, which may be a folder, a link, or nothing. Both
/// must be on one file system. Where the file system can exchange two names, the place is never
/// empty.
///
/// # Errors
/// Returns an error if `old` is still in its place. What is left of a replaced folder that cannot
/// be removed is not an error.
pub fn replace_tree(new: &Path, old: &Path) -> Result<()> {
    let Ok(replaced) = link_info(old) else { return rename(new, old) };
    let remove = |path: &Path| match replaced.kind {
        EntryKind::Directory => remove_tree(path),
        _ => remove_file(path),
    };
    if exchange(new, old) {
        drop(remove(new));
        return Ok(());
    }
    let mut aside = new.as_os_str().to_owned();
    aside.push(".old");
    let aside = Path::new(&aside);
    rename(old, aside)?;
    if let Err(error) = rename(new, old) {
        rename(aside, old)?;
        return Err(error);
    }
    drop(remove(aside));
    Ok(())
}

/// Exchanges two names in one step. Returns false if the system cannot.
#[cfg(target_os = "linux")]
fn exchange(one: &Path, other: &Path) -> bool {
    use rustix::fs::{CWD, RenameFlags, renameat_with};
    renameat_with(CWD, one, CWD, other, RenameFlags::EXCHANGE).is_ok()
}

/// Returns false: the system cannot exchange two names.
#[cfg(not(target_os = "linux"))]
fn exchange(_: &Path, _: &Path) -> bool {
    false
}

/// Creates a link to a folder.
#[cfg(unix)]
pub fn link_folder(target: &Path, link: &Path) -> Result<()> {
    std::os::unix::fs::symlink(target, link).map_err(|error| Error::from_io(link, error))
}

/// Creates a link to a folder, which needs a privilege on Windows.
#[cfg(windows)]
pub fn link_folder(target: &Path, link: &Path) -> Result<()> {
    std::os::windows::fs::symlink_dir(target, link).map_err(|error| Error::from_io(link, error))
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
            if entry.kind == EntryKind::Directory {
                pending.push((entry.path, copy));
            } else {
                copy_entry(&entry, &copy)?;
            }
        }
    }
    Ok(())
}

/// Copies an entry of a folder: a folder as [`copy_tree`] does, a file, or a link. A special file
/// is left out.
pub fn copy_entry(entry: &DirectoryEntry, to: &Path) -> Result<()> {
    let copied = match entry.kind {
        EntryKind::Directory => return copy_tree(&entry.path, to),
        EntryKind::File => fs::copy(&entry.path, to).map(drop),
        EntryKind::Symlink => copy_link(&entry.path, to),
        EntryKind::Special => Ok(()),
    };
    copied.map_err(|error| Error::from_io(&entry.path, error))
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
