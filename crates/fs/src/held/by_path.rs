//! Systems without such handles: by the path. Windows demands a privilege for creating links, and what is at the end of a path
//! was looked at before; a folder that becomes a link in that moment is not noticed. Untested there.

use std::ffi::{OsStr, OsString};
use std::fs::{self, File, OpenOptions};
use std::io;
use std::path::{Path, PathBuf};

use super::Purpose;
use crate::files::{EntryKind, FileInfo};

/// A folder by its path.
#[derive(Debug)]
pub(crate) struct HeldFolder(PathBuf);

impl HeldFolder {
    /// The folder at an absolute path.
    pub(crate) fn open(real: &Path) -> io::Result<Self> {
        if fs::metadata(real)?.is_dir() {
            Ok(Self(real.to_path_buf()))
        } else {
            Err(io::ErrorKind::NotADirectory.into())
        }
    }

    /// The same, created where it is missing with all that is missing on the way.
    pub(crate) fn create(real: &Path) -> io::Result<Self> {
        match fs::create_dir_all(real) {
            Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {
                Err(io::ErrorKind::NotADirectory.into())
            }
            created => created.map(|()| Self(real.to_path_buf())),
        }
    }

    /// Looks at what has this name, a link being a link.
    pub(crate) fn info(&self, name: &OsStr) -> io::Result<FileInfo> {
        fs::symlink_metadata(self.0.join(name)).map(|metadata| FileInfo::of(&metadata))
    }

    /// Opens what has this name.
    pub(crate) fn open_file(&self, name: &OsStr, purpose: Purpose) -> io::Result<File> {
        let mut options = OpenOptions::new();
        options.read(purpose != Purpose::Write).write(purpose != Purpose::Read);
        options.open(self.0.join(name))
    }

    /// Creates a file under a name that nothing has. Access lists are inherited.
    pub(crate) fn create_file(&self, name: &OsStr, _private: bool) -> io::Result<File> {
        OpenOptions::new().read(true).write(true).create_new(true).open(self.0.join(name))
    }

    /// Gives a file another name, in place of what has it.
    pub(crate) fn rename(&self, from: &OsStr, to: &OsStr) -> io::Result<()> {
        tempfile::TempPath::try_from_path(self.0.join(from))?
            .persist(self.0.join(to))
            .map_err(|error| error.error)
    }

    /// Gives a file a name that nothing else has.
    pub(crate) fn rename_to_new(&self, from: &OsStr, to: &OsStr) -> io::Result<()> {
        tempfile::TempPath::try_from_path(self.0.join(from))?
            .persist_noclobber(self.0.join(to))
            .map_err(|error| error.error)
    }

    /// Removes a file.
    pub(crate) fn remove(&self, name: &OsStr) -> io::Result<()> {
        fs::remove_file(self.0.join(name))
    }

    /// Folders cannot be synced here.
    #[expect(clippy::unused_self, reason = "elsewhere there is something to do")]
    pub(crate) fn sync(&self) {}
}

/// A folder that is being listed.
#[derive(Debug)]
pub(crate) struct FolderReader {
    path: PathBuf,
    entries: fs::ReadDir,
}

impl FolderReader {
    /// The folder at an absolute path.
    pub(crate) fn open(real: &Path) -> io::Result<Self> {
        Ok(Self { path: real.to_path_buf(), entries: fs::read_dir(real)? })
    }

    /// The next name in it, and what has that name; what vanishes meanwhile is left out.
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

    /// Looks at what has this name, a link being a link.
    pub(crate) fn info(&self, name: &OsStr) -> io::Result<FileInfo> {
        fs::symlink_metadata(self.path.join(name)).map(|metadata| FileInfo::of(&metadata))
    }

    /// Looks at what has this name or what it links to.
    pub(crate) fn info_of_target(&self, name: &OsStr) -> io::Result<FileInfo> {
        fs::metadata(self.path.join(name)).map(|metadata| FileInfo::of(&metadata))
    }
}

/// Opens a file for reading.
pub(crate) fn open_to_read(real: &Path) -> io::Result<File> {
    File::open(real)
}

/// Links are not met here, but followed.
pub(crate) fn has_met_a_link(_error: &io::Error) -> bool {
    false
}
