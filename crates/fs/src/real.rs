//! Paths without links that cannot lead to another file between their check and their use.

use std::ffi::OsStr;
use std::fs::{self, File};
use std::io;
use std::ops::Deref;
use std::path::{Path, PathBuf};

use crate::error::{Error, Result};
use crate::files::{DirectoryEntry, EntryKind, FileInfo, read_open, read_start};
use crate::held::{FolderReader, HeldFolder, Purpose, has_met_a_link, open_to_read};
use crate::paths::{RealPaths, real_path};
use crate::text::TextFile;

#[cfg(test)]
mod tests;

/// Absolute path with all its links resolved; its last components need not exist.
///
/// [`Workspace::check`](crate::Workspace::check) checks such a path and returns it. All operations
/// walk from the root of the file system to the file without following a link: a link on the path
/// was created after the check, and the operation fails with [`Error::PathChanged`]. The file that
/// is used is therefore the one that was checked, even if another process exchanges folders at the
/// same time.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct RealPath(PathBuf);

impl RealPath {
    /// Resolves the links in `path`; missing last components are allowed.
    ///
    /// # Errors
    /// [`Error::InvalidPath`] for a loop of links.
    pub fn of(path: &Path) -> Result<Self> {
        let absolute = std::path::absolute(path).map_err(|error| Error::from_io(path, error))?;
        real_path(&absolute).map(Self)
    }

    /// Does the same as [`of`](Self::of), with the folders that `known` has already resolved.
    ///
    /// # Errors
    /// As for [`of`](Self::of).
    pub fn among(path: &Path, known: &mut RealPaths) -> Result<Self> {
        let absolute = std::path::absolute(path).map_err(|error| Error::from_io(path, error))?;
        known.resolve(&absolute).map(Self)
    }

    /// Creates a path that is assumed to be real. If it contains a link, operations on it fail.
    pub(crate) fn assumed(path: impl Into<PathBuf>) -> Self {
        Self(path.into())
    }

    /// Returns the path of an entry below this one. The entry must not be a link.
    pub(crate) fn below(&self, name: impl AsRef<Path>) -> Self {
        Self(self.0.join(name))
    }

    /// Returns the path.
    pub fn into_path_buf(self) -> PathBuf {
        self.0
    }

    /// Returns information about the file or folder.
    pub fn info(&self) -> Result<FileInfo> {
        let spot = Spot::open(self)?;
        let info = spot.info()?;
        if info.kind == EntryKind::Symlink { Err(self.changed()) } else { Ok(info) }
    }

    /// Reads a whole regular file of at most `limit` bytes.
    ///
    /// # Errors
    /// [`Error::TooLarge`] for a file above the limit, also if the file grows while it is read.
    pub fn read_bytes(&self, limit: u64) -> Result<Vec<u8>> {
        let (file, metadata) = self.open_regular()?;
        read_open(self, &file, &metadata, limit)
    }

    /// Reads up to `count` bytes from the start of a regular file.
    pub fn read_head(&self, count: usize) -> Result<Vec<u8>> {
        let (file, metadata) = self.open_regular()?;
        read_start(&file, &metadata, count).map_err(|error| self.failed(error))
    }

    /// Reads a regular file of at most `limit` bytes as text.
    ///
    /// # Errors
    /// [`Error::TooLarge`], [`Error::NotFound`], [`Error::IsDirectory`] and similar errors; any
    /// bytes are accepted as text.
    pub fn read_text(&self, limit: u64) -> Result<TextFile> {
        let (file, metadata) = self.open_regular()?;
        let bytes = read_open(self, &file, &metadata, limit)?;
        Ok(TextFile::from_bytes(&bytes, metadata.modified().ok()))
    }

    /// Lists a folder, sorted by name (plain string order): each entry, and information about the
    /// entry or its link target. Broken links are left out.
    pub fn list(&self) -> Result<Vec<(DirectoryEntry, FileInfo)>> {
        let mut folder = FolderReader::open(self).map_err(|error| self.failed(error))?;
        let mut entries = Vec::new();
        while let Some(entry) = folder.next_entry() {
            let (name, kind) = entry.map_err(|error| self.failed(error))?;
            let Ok(info) = folder.info_of_target(&name) else { continue };
            let path = self.join(&name);
            let name = name.to_string_lossy().into_owned();
            entries.push((DirectoryEntry { name, path, kind }, info));
        }
        entries.sort_by(|(left, _), (right, _)| left.name.cmp(&right.name));
        Ok(entries)
    }

    /// Opens a regular file for reading. Never blocks: pipes and devices are refused without being
    /// opened, because opening a device may have an effect.
    pub(crate) fn open_regular(&self) -> Result<(File, fs::Metadata)> {
        let spot = Spot::open(self)?;
        self.regular(spot.info()?.kind)?;
        let file = spot.open_file(Purpose::Read)?;
        let metadata = file.metadata().map_err(|error| self.failed(error))?;
        self.regular(EntryKind::of(metadata.file_type()))?;
        Ok((file, metadata))
    }

    /// Opens a file that a listing has reported as a regular file. Never blocks.
    pub(crate) fn open_listed(&self) -> Result<File> {
        let file = open_to_read(self).map_err(|error| self.failed(error))?;
        let metadata = file.metadata().map_err(|error| self.failed(error))?;
        self.regular(EntryKind::of(metadata.file_type()))?;
        Ok(file)
    }

    /// Refuses everything except a regular file.
    pub(crate) fn regular(&self, kind: EntryKind) -> Result<()> {
        match kind {
            EntryKind::File => Ok(()),
            EntryKind::Directory => Err(Error::IsDirectory { path: self.0.clone() }),
            EntryKind::Symlink => Err(self.changed()),
            EntryKind::Special => Err(Error::NotRegular { path: self.0.clone() }),
        }
    }

    pub(crate) fn failed(&self, error: io::Error) -> Error {
        if has_met_a_link(&error) { self.changed() } else { Error::from_io(&self.0, error) }
    }

    fn changed(&self) -> Error {
        Error::PathChanged { path: self.0.clone() }
    }
}

impl Deref for RealPath {
    type Target = Path;

    fn deref(&self) -> &Path {
        &self.0
    }
}

impl AsRef<Path> for RealPath {
    fn as_ref(&self) -> &Path {
        &self.0
    }
}

impl AsRef<OsStr> for RealPath {
    fn as_ref(&self) -> &OsStr {
        self.0.as_os_str()
    }
}

/// Name in a folder with an open handle.
#[derive(Debug)]
pub(crate) struct Spot<'a> {
    pub(crate) path: &'a RealPath,
    pub(crate) folder: HeldFolder,
    pub(crate) name: &'a OsStr,
}

impl<'a> Spot<'a> {
    /// Opens an existing folder.
    pub(crate) fn open(path: &'a RealPath) -> Result<Self> {
        Self::with(path, HeldFolder::open)
    }

    /// Opens a folder, and creates it if it is missing.
    pub(crate) fn create(path: &'a RealPath) -> Result<Self> {
        Self::with(path, HeldFolder::create)
    }

    fn with(path: &'a RealPath, open: fn(&Path) -> io::Result<HeldFolder>) -> Result<Self> {
        // The root of the file system has no parent folder.
        let (folder, name) = match (path.parent(), path.file_name()) {
            (Some(folder), Some(name)) => (folder, name),
            _ => (&**path, OsStr::new(".")),
        };
        let folder = open(folder).map_err(|error| path.failed(error))?;
        Ok(Self { path, folder, name })
    }

    pub(crate) fn info(&self) -> Result<FileInfo> {
        self.folder.info(self.name).map_err(|error| self.path.failed(error))
    }

    pub(crate) fn open_file(&self, purpose: Purpose) -> Result<File> {
        self.folder.open_file(self.name, purpose).map_err(|error| self.path.failed(error))
    }
}
