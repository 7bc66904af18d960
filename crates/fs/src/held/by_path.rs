//! Implementation by path for systems without folder handles.
//!
//! Windows requires a privilege for creating links, and the target of a path was checked before; a
//! folder that becomes a link between the check and the use is not detected. Untested on Windows.

use std::ffi::{OsStr, OsString};
use std::fs::{self, File, OpenOptions};
use std::io;
use std::path::{Path, PathBuf};

use super::Purpose;
use crate::files::{EntryKind, FileInfo};

/// Folder, identified by its path.
#[derive(Debug)]
pub(crate) struct HeldFolder(PathBuf);

impl HeldFolder {
    /// Opens the folder at an absolute path.
    pub(crate) fn open(real: &Path) -> io::Result<Self> {
        if fs::metadata(real)?.is_dir() {
            Ok(Self(real.to_path_buf()))
        } else {
            Err(io::ErrorKind::NotADirectory.into())
        }
    }

    /// Opens the folder at an absolute path, and creates all missing folders.
    pub(crate) fn create(real: &Path) -> io::Result<Self> {
        match fs::create_dir_all(real) {
            Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {
                Err(io::ErrorKind::NotADirectory.into())
            }
            created => created.map(|()| Self(real.to_path_buf())),
        }
    }

    /// Returns information about the entry with this name, without following a link.
    pub(crate) fn info(&self, name: &OsStr) -> io::Result<FileInfo> {
        fs::symlink_metadata(self.0.join(name)).map(|metadata| FileInfo::of(&metadata))
    }

    /// Opens the file with this name.
    pub(crate) fn open_file(&self, name: &OsStr, purpose: Purpose) -> io::Result<File> {
        let mut options = OpenOptions::new();
        options.read(purpose != Purpose::Write).write(purpose != Purpose::Read);
        options.open(self.0.join(name))
    }

    /// Creates a file with a name that is not in use. Access lists are inherited.
    pub(crate) fn create_file(&self, name: &OsStr, _private: bool) -> io::Result<File> {
        OpenOptions::new().read(true).write(true).create_new(true).open(self.0.join(name))
    }

    /// Renames a file, and replaces an existing file of the new name.
    pub(crate) fn rename(&self, from: &OsStr, to: &OsStr) -> io::Result<()> {
        tempfile::TempPath::try_from_path(self.0.join(from))?
            .persist(self.0.join(to))
            .map_err(|error| error.error)
    }

    /// Renames a file to a name that is not in use.
    pub(crate) fn rename_to_new(&self, from: &OsStr, to: &OsStr) -> io::Result<()> {
        tempfile::TempPath::try_from_path(self.0.join(from))?
            .persist_noclobber(self.0.join(to))
            .map_err(|error| error.error)
    }

    /// Removes a file.
    pub(crate) fn remove(&self, name: &OsStr) -> io::Result<()> {
        fs::remove_file(self.0.join(name))
    }

    /// Does nothing, because folders cannot be synced on these systems.
    #[expect(clippy::unused_self, reason = "elsewhere there is something to do")]
    pub(crate) fn sync(&self) {}
}

/// Iterator over the entries of a folder.
#[derive(Debug)]
pub(crate) struct FolderReader {
    path: PathBuf,
    entries: fs::ReadDir,
}

impl FolderReader {
    /// Opens the folder at an absolute path.
    pub(crate) fn open(real: &Path) -> io::Result<Self> {
        Ok(Self { path: real.to_path_buf(), entries: fs::read_dir(real)? })
    }

    /// Returns the next name with its kind; skips entries that are removed in the meantime.
    pub(crate) fn next_entry(&mut self) -> Option<io::Result<(OsString, EntryKind)>> {
        loop {
            match self.entries.next()? {
                Ok(entry) => {
                    let Ok(kind) = entry.file_type() else { continue };
                    return Some(Ok((entry.file_name(), EntryKind::of(kind))));
                }
                Err(error) => return Some(Err(error)),
            }
        }
    }

    /// Returns information about the entry with this name, without following a link.
    pub(crate) fn info(&self, name: &OsStr) -> io::Result<FileInfo> {
        fs::symlink_metadata(self.path.join(name)).map(|metadata| FileInfo::of(&metadata))
    }

    /// Returns information about the entry with this name, or the target of a link.
    pub(crate) fn info_of_target(&self, name: &OsStr) -> io::Result<FileInfo> {
        fs::metadata(self.path.join(name)).map(|metadata| FileInfo::of(&metadata))
    }
}

/// Opens a file for reading.
pub(crate) fn open_to_read(real: &Path) -> io::Result<File> {
    File::open(real)
}

/// Returns false: links are followed on these systems.
pub(crate) fn has_met_a_link(_error: &io::Error) -> bool {
    false
}
