//! Replacement of files: a reader of the path sees either the old bytes or the new ones, never a
//! mix.
//!
//! The new bytes are written to a temporary file in the target's own folder and synced. The
//! temporary file gets the target's mode, owner and extended attributes, and replaces the target by
//! a rename; then the folder is synced. Symbolic links are kept: their target is replaced.
//!
//! A rename is not possible if the file has other names (hard links), is itself a mount point,
//! belongs to another user, or its folder is not writable. In these cases the file is rewritten in
//! place: first the part that makes it longer, so that a full disk is detected before any old byte
//! is overwritten, then the rest; after a failure the old bytes are restored. Only in these cases
//! can a crash of the machine leave a mix, which is never shorter than both versions.

use std::fs::{File, Metadata};
use std::io::{self, Write};
use std::path::{Path, PathBuf};

use crate::error::{Error, Result};
use crate::files::EntryKind;
use crate::fingerprint::Fingerprint;
use crate::held::Purpose;
use crate::real::{RealPath, Spot};

mod attributes;
mod in_place;
mod temporary;
#[cfg(test)]
mod tests;

use temporary::Temporary;

/// Condition on the target for a write.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Expectation {
    /// The file does not exist.
    Absent,
    /// The file is the one that was read.
    Unchanged(Fingerprint),
}

/// Options of a write. The default overwrites any file, in an existing folder.
#[derive(Debug, Clone, Copy, Default)]
pub struct WriteOptions {
    /// Condition that is checked before the write and again just before the rename.
    pub expected: Option<Expectation>,
    /// Exact permission bits; `None` keeps those of an old file, and uses 0666 minus the umask for
    /// a new file.
    pub mode: Option<u32>,
    /// True to create missing folders.
    pub create_parents: bool,
    /// True to return before the bytes are on the storage device, for files whose loss in a power
    /// failure costs little: afterwards, the file may have its old content or none.
    pub without_sync: bool,
}

impl WriteOptions {
    /// Returns the options for Pollux's own state files: readable by the owner only, missing
    /// folders are created.
    pub fn private() -> Self {
        Self { mode: Some(0o600), create_parents: true, ..Self::default() }
    }
}

/// Result of a write.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Written {
    /// File that contains the bytes: the given path, or the target of its links.
    pub target: PathBuf,
    /// True if the file is new.
    pub created: bool,
    /// True if the file was rewritten in place.
    pub in_place: bool,
    /// Fingerprint of the new content, as the expectation for the next write.
    pub fingerprint: Fingerprint,
}

/// Writes a whole file atomically. See the module documentation for the method.
///
/// # Errors
/// [`Error::ChangedOnDisk`] if the expectation is not fulfilled;
/// [`Error::PermissionDenied`] also for a read-only file in a writable folder;
/// [`Error::NotRegular`] for pipes and devices; [`Error::NoSpace`] and all other errors, with the
/// old file unchanged.
pub fn write_atomic(path: &Path, bytes: &[u8], options: &WriteOptions) -> Result<Written> {
    RealPath::of(path)?.write_atomic(bytes, options)
}

impl RealPath {
    /// Writes to a path that was already checked, like the function [`write_atomic`].
    ///
    /// # Errors
    /// The same as of [`write_atomic`], and [`Error::PathChanged`].
    pub fn write_atomic(&self, bytes: &[u8], options: &WriteOptions) -> Result<Written> {
        let spot = if options.create_parents { Spot::create(self)? } else { Spot::open(self)? };
        let old = OldFile::open(&spot)?;
        check_expectation(&spot, options.expected.as_ref())?;
        let in_place = match &old {
            Some(old) if old.has_other_names() => true,
            _ => match replace(&spot, bytes, old.as_ref(), options) {
                Ok(()) => false,
                Err(Failure::TryInPlace(_)) if old.is_some() => true,
                Err(Failure::TryInPlace(error)) => return Err(self.failed(error)),
                Err(Failure::Final(error)) => return Err(error),
            },
        };
        if in_place {
            check_expectation(&spot, options.expected.as_ref())?;
            let file = spot.open_file(Purpose::Both)?;
            in_place::rewrite(&file, bytes, options.mode).map_err(|error| self.failed(error))?;
        }
        let modified = spot.info().ok().and_then(|info| info.modified);
        let fingerprint = Fingerprint::of_bytes(bytes, modified);
        Ok(Written { created: old.is_none(), target: self.to_path_buf(), in_place, fingerprint })
    }
}

fn check_expectation(spot: &Spot<'_>, expected: Option<&Expectation>) -> Result<()> {
    let holds = match expected {
        None => true,
        Some(Expectation::Absent) => match spot.info() {
            Ok(_) => false,
            Err(error) if error.is_not_found() => true,
            Err(error) => return Err(error),
        },
        Some(Expectation::Unchanged(fingerprint)) => is_unchanged(spot, fingerprint)?,
    };
    if holds { Ok(()) } else { Err(Error::ChangedOnDisk { path: spot.path.to_path_buf() }) }
}

fn is_unchanged(spot: &Spot<'_>, fingerprint: &Fingerprint) -> Result<bool> {
    let failed = |error| spot.path.failed(error);
    match spot.info() {
        Ok(info) if info.size != fingerprint.len => return Ok(false),
        Ok(info) => spot.path.regular(info.kind)?,
        Err(error) if error.is_not_found() => return Ok(false),
        Err(error) => return Err(error),
    }
    let file = spot.open_file(Purpose::Read)?;
    let metadata = file.metadata().map_err(failed)?;
    Ok(Fingerprint::of_file(&file, &metadata).map_err(failed)? == *fingerprint)
}

/// File that is about to be replaced.
struct OldFile {
    metadata: Metadata,
    /// Handle for reading the extended attributes. Not used on Windows, which cannot rename over an
    /// open file.
    #[cfg_attr(not(unix), allow(dead_code, reason = "only Unix copies attributes by handle"))]
    handle: Option<File>,
}

impl OldFile {
    /// Opens the file, and checks that it is writable: a writable folder would be sufficient for
    /// the rename.
    fn open(spot: &Spot<'_>) -> Result<Option<Self>> {
        match spot.info() {
            Ok(info) => spot.path.regular(info.kind)?,
            Err(error) if error.is_not_found() => return Ok(None),
            Err(error) => return Err(error),
        }
        let opened = match spot.folder.open_file(spot.name, Purpose::Write) {
            // A program that is running cannot be opened for writing, but it can be replaced.
            Err(error) if error.kind() == io::ErrorKind::ExecutableFileBusy => {
                spot.folder.open_file(spot.name, Purpose::Read)
            }
            opened => opened,
        };
        let failed = |error| spot.path.failed(error);
        let handle = opened.map_err(failed)?;
        let metadata = handle.metadata().map_err(failed)?;
        spot.path.regular(EntryKind::of(metadata.file_type()))?;
        Ok(Some(Self { metadata, handle: cfg!(unix).then_some(handle) }))
    }

    #[cfg(unix)]
    fn has_other_names(&self) -> bool {
        std::os::unix::fs::MetadataExt::nlink(&self.metadata) > 1
    }

    /// Returns false: on Windows the replacement breaks hard links, because the link count is not
    /// in the stable library.
    #[cfg(not(unix))]
    fn has_other_names(&self) -> bool {
        let _ = &self.metadata;
        false
    }
}

/// Reason why a replacement by rename failed. No temporary file remains, and the target is
/// unchanged.
enum Failure {
    /// A rewrite in place may still work.
    TryInPlace(io::Error),
    Final(Error),
}

fn replace(
    spot: &Spot<'_>,
    bytes: &[u8],
    old: Option<&OldFile>,
    options: &WriteOptions,
) -> Result<(), Failure> {
    let failed = |error| Failure::Final(spot.path.failed(error));
    let folder_failed = |error: io::Error| {
        if may_be_folder_only(&error) { Failure::TryInPlace(error) } else { failed(error) }
    };
    // The copy of an old file stays private until it gets the old file's mode.
    let temporary = Temporary::create(&spot.folder, old.is_some()).map_err(folder_failed)?;
    let mut file = temporary.file();
    file.write_all(bytes).map_err(failed)?;
    if let Some(old) = old {
        // A changed owner or group of a shared file would deny other users access.
        attributes::copy(&old.metadata, old.handle.as_ref(), file).map_err(Failure::TryInPlace)?;
    }
    if let Some(mode) = options.mode {
        attributes::set_mode(file, mode).map_err(failed)?;
    }
    if !options.without_sync {
        file.sync_all().map_err(failed)?;
    }
    check_expectation(spot, options.expected.as_ref()).map_err(Failure::Final)?;
    let is_new = options.expected == Some(Expectation::Absent);
    match temporary.persist(spot.name, is_new) {
        Ok(()) => {
            if !options.without_sync {
                spot.folder.sync();
            }
            Ok(())
        }
        Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {
            Err(Failure::Final(Error::ChangedOnDisk { path: spot.path.to_path_buf() }))
        }
        Err(error) => Err(folder_failed(error)),
    }
}

/// Returns true for errors that may concern only the folder or the name, not the content of the
/// file.
fn may_be_folder_only(error: &io::Error) -> bool {
    use io::ErrorKind as Kind;
    matches!(
        error.kind(),
        Kind::PermissionDenied
            | Kind::ReadOnlyFilesystem
            | Kind::ResourceBusy
            | Kind::CrossesDevices
    )
}
