//! Implementation for Unix, which has system calls for all operations relative to a folder handle.

use std::ffi::{OsStr, OsString};
use std::fs::File;
use std::io;
use std::os::fd::{AsFd, OwnedFd};
use std::os::unix::ffi::OsStrExt;
use std::path::{Component, Path};
use std::time::{Duration, SystemTime};

use rustix::fs::{AtFlags, CWD, Dir, FileType, Mode, OFlags, Stat};
use rustix::io::Errno;

use super::Purpose;
use crate::files::{EntryKind, FileInfo};

#[cfg(test)]
mod tests;

/// Flags to open a folder for use as a handle. On systems that support it, read permission is not
/// needed.
#[cfg(any(target_os = "linux", target_os = "android"))]
const SEARCH: OFlags = OFlags::PATH;
#[cfg(not(any(target_os = "linux", target_os = "android")))]
const SEARCH: OFlags = OFlags::RDONLY;

/// Flags to open a file for reading, without blocking on a pipe.
const READ: OFlags = OFlags::RDONLY.union(OFlags::NONBLOCK).union(OFlags::NOCTTY);

/// Folder, identified by its handle, even after it is moved.
#[derive(Debug)]
pub(crate) struct HeldFolder(OwnedFd);

impl HeldFolder {
    /// Opens the folder at an absolute path that contains no link.
    pub(crate) fn open(real: &Path) -> io::Result<Self> {
        open_folder(real, SEARCH).map(Self)
    }

    /// Opens the folder at an absolute path, and creates all missing folders. New folders are
    /// synced, because a power failure that removes a folder also loses the synced files in it.
    pub(crate) fn create(real: &Path) -> io::Result<Self> {
        let mut missing = Vec::new();
        let mut present = real;
        let mut folder = loop {
            match (Self::open(present), present.parent(), present.file_name()) {
                (Err(error), Some(parent), Some(name))
                    if error.kind() == io::ErrorKind::NotFound =>
                {
                    missing.push(name);
                    present = parent;
                }
                (opened, _, _) => break opened?,
            }
        };
        while let Some(name) = missing.pop() {
            folder = folder.create_folder(name)?;
        }
        Ok(folder)
    }

    fn create_folder(&self, name: &OsStr) -> io::Result<Self> {
        match rustix::fs::mkdirat(&self.0, name, Mode::RWXU | Mode::RWXG | Mode::RWXO) {
            Ok(()) => self.sync(),
            // Another process has created it first.
            Err(Errno::EXIST) => {}
            Err(error) => return Err(error.into()),
        }
        Ok(Self(step(&self.0, name, SEARCH)?))
    }

    /// Returns information about the entry with this name, without following a link.
    pub(crate) fn info(&self, name: &OsStr) -> io::Result<FileInfo> {
        look(&self.0, name, AtFlags::SYMLINK_NOFOLLOW)
    }

    /// Opens the file with this name, which must not be a link. Does not block on a pipe.
    pub(crate) fn open_file(&self, name: &OsStr, purpose: Purpose) -> io::Result<File> {
        let access = match purpose {
            Purpose::Read => OFlags::RDONLY,
            Purpose::Write => OFlags::WRONLY,
            Purpose::Both => OFlags::RDWR,
        };
        let flags = access | OFlags::NOFOLLOW | OFlags::NONBLOCK | OFlags::NOCTTY | OFlags::CLOEXEC;
        Ok(rustix::fs::openat(&self.0, name, flags, Mode::empty())?.into())
    }

    /// Creates a file with a name that is not in use; for the owner only, or with the mode from the
    /// umask.
    pub(crate) fn create_file(&self, name: &OsStr, private: bool) -> io::Result<File> {
        let owner = Mode::RUSR | Mode::WUSR;
        let others = Mode::RGRP | Mode::WGRP | Mode::ROTH | Mode::WOTH;
        let mode = if private { owner } else { owner | others };
        let flags = OFlags::RDWR | OFlags::CREATE | OFlags::EXCL | OFlags::CLOEXEC;
        Ok(rustix::fs::openat(&self.0, name, flags, mode)?.into())
    }

    /// Renames a file, and replaces an existing file of the new name.
    pub(crate) fn rename(&self, from: &OsStr, to: &OsStr) -> io::Result<()> {
        Ok(rustix::fs::renameat(&self.0, from, &self.0, to)?)
    }

    /// Renames a file to a name that is not in use.
    pub(crate) fn rename_to_new(&self, from: &OsStr, to: &OsStr) -> io::Result<()> {
        #[cfg(any(target_os = "linux", target_os = "android"))]
        {
            use rustix::fs::{RenameFlags, renameat_with};
            match renameat_with(&self.0, from, &self.0, to, RenameFlags::NOREPLACE) {
                // Not every file system supports this call.
                Err(Errno::INVAL | Errno::NOSYS) => {}
                renamed => return Ok(renamed?),
            }
        }
        rustix::fs::linkat(&self.0, from, &self.0, to, AtFlags::empty())?;
        self.remove(from)
    }

    /// Removes a file.
    pub(crate) fn remove(&self, name: &OsStr) -> io::Result<()> {
        Ok(rustix::fs::unlinkat(&self.0, name, AtFlags::empty())?)
    }

    /// Syncs the folder, so that changes of names survive a power failure. Errors are ignored,
    /// because some file systems cannot sync folders; the data is already safe.
    pub(crate) fn sync(&self) {
        let flags = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::CLOEXEC;
        if let Ok(handle) = rustix::fs::openat(&self.0, ".", flags, Mode::empty()) {
            rustix::fs::fsync(handle).ok();
        }
    }
}

/// Iterator over the entries of a folder.
#[derive(Debug)]
pub(crate) struct FolderReader(Dir);

impl FolderReader {
    /// Opens the folder at an absolute path that contains no link.
    pub(crate) fn open(real: &Path) -> io::Result<Self> {
        Ok(Self(Dir::new(open_folder(real, OFlags::RDONLY)?)?))
    }

    /// Returns the next name with its kind; skips entries that are removed in the meantime.
    pub(crate) fn next_entry(&mut self) -> Option<io::Result<(OsString, EntryKind)>> {
        loop {
            let entry = match self.0.read()? {
                Ok(entry) => entry,
                Err(error) => return Some(Err(error.into())),
            };
            let name = entry.file_name().to_bytes();
            if name == b"." || name == b".." {
                continue;
            }
            let name = OsStr::from_bytes(name).to_owned();
            let kind = match entry.file_type() {
                FileType::Unknown => match self.info(&name) {
                    Ok(info) => info.kind,
                    Err(_) => continue,
                },
                known => kind(known),
            };
            return Some(Ok((name, kind)));
        }
    }

    /// Returns information about the entry with this name, without following a link.
    pub(crate) fn info(&self, name: &OsStr) -> io::Result<FileInfo> {
        look(self.0.fd()?, name, AtFlags::SYMLINK_NOFOLLOW)
    }

    /// Returns information about the entry with this name, or the target of a link.
    pub(crate) fn info_of_target(&self, name: &OsStr) -> io::Result<FileInfo> {
        look(self.0.fd()?, name, AtFlags::empty())
    }
}

/// Returns true if a link has ended the walk.
pub(crate) fn has_met_a_link(error: &io::Error) -> bool {
    error.raw_os_error() == Some(Errno::LOOP.raw_os_error())
}

/// Opens the file at an absolute path that contains no link. Does not block on a pipe.
pub(crate) fn open_to_read(real: &Path) -> io::Result<File> {
    if let Some(opened) = open_at_once(real, READ) {
        return opened.map(File::from);
    }
    let (Some(folder), Some(name)) = (real.parent(), real.file_name()) else {
        return Err(Errno::ISDIR.into());
    };
    HeldFolder::open(folder)?.open_file(name, Purpose::Read)
}

fn open_folder(real: &Path, access: OFlags) -> io::Result<OwnedFd> {
    match open_at_once(real, access | OFlags::DIRECTORY) {
        Some(opened) => opened,
        None => Ok(step_by_step(real, access)?),
    }
}

/// Walks the whole path in one system call; `None` if the system does not support the call (before
/// Linux 5.6) or forbids it (older container programs).
#[cfg(any(target_os = "linux", target_os = "android"))]
fn open_at_once(real: &Path, flags: OFlags) -> Option<io::Result<OwnedFd>> {
    use rustix::fs::{ResolveFlags, openat2};
    let flags = flags | OFlags::CLOEXEC;
    match openat2(CWD, real, flags, Mode::empty(), ResolveFlags::NO_SYMLINKS) {
        Err(Errno::NOSYS | Errno::PERM) => None,
        opened => Some(opened.map_err(io::Error::from)),
    }
}

/// Returns `None`, because other systems have no such call.
#[cfg(not(any(target_os = "linux", target_os = "android")))]
fn open_at_once(_real: &Path, _flags: OFlags) -> Option<io::Result<OwnedFd>> {
    None
}

/// Walks the path from folder to folder.
fn step_by_step(real: &Path, access: OFlags) -> Result<OwnedFd, Errno> {
    let mut components = real.components().peekable();
    if components.next() != Some(Component::RootDir) {
        return Err(Errno::INVAL);
    }
    let flags = |is_last: bool| if is_last { access } else { SEARCH };
    let root = flags(components.peek().is_none()) | OFlags::DIRECTORY | OFlags::CLOEXEC;
    let mut folder = rustix::fs::openat(CWD, "/", root, Mode::empty())?;
    while let Some(component) = components.next() {
        let Component::Normal(name) = component else { return Err(Errno::INVAL) };
        folder = step(&folder, name, flags(components.peek().is_none()))?;
    }
    Ok(folder)
}

/// Opens a folder in a folder; [`Errno::LOOP`] if it is a link.
fn step(folder: &OwnedFd, name: &OsStr, access: OFlags) -> Result<OwnedFd, Errno> {
    let flags = access | OFlags::DIRECTORY | OFlags::NOFOLLOW | OFlags::CLOEXEC;
    rustix::fs::openat(folder, name, flags, Mode::empty()).map_err(|error| {
        // If a folder is required, most systems report only that a link is not a folder.
        let looked = rustix::fs::statat(folder, name, AtFlags::SYMLINK_NOFOLLOW);
        match looked.map(|stat| FileType::from_raw_mode(stat.st_mode)) {
            Ok(FileType::Symlink) if error == Errno::NOTDIR => Errno::LOOP,
            _ => error,
        }
    })
}

fn look(folder: impl AsFd, name: &OsStr, flags: AtFlags) -> io::Result<FileInfo> {
    let stat = rustix::fs::statat(folder, name, flags)?;
    Ok(FileInfo {
        kind: kind(FileType::from_raw_mode(stat.st_mode)),
        size: stat.st_size as u64,
        modified: modified(&stat),
    })
}

#[allow(clippy::unnecessary_cast, reason = "the fields have other types on other systems")]
fn modified(stat: &Stat) -> Option<SystemTime> {
    let seconds = stat.st_mtime;
    let start = if seconds < 0 {
        SystemTime::UNIX_EPOCH.checked_sub(Duration::from_secs(-seconds as u64))?
    } else {
        SystemTime::UNIX_EPOCH.checked_add(Duration::from_secs(seconds as u64))?
    };
    start.checked_add(Duration::from_nanos(stat.st_mtime_nsec as u64))
}

fn kind(kind: FileType) -> EntryKind {
    match kind {
        FileType::RegularFile => EntryKind::File,
        FileType::Directory => EntryKind::Directory,
        FileType::Symlink => EntryKind::Symlink,
        _ => EntryKind::Special,
    }
}
