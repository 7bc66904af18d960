//! The one way a file is replaced: the reader of the path sees the old bytes or the new ones, never a mix.
//!
//! The new bytes go to a temporary file in the target's own folder, are synced, get the target's mode, owner and
//! extended attributes, and take its name by a rename; then the folder is synced. Symbolic links stay links: their
//! target is replaced.
//!
//! A rename cannot be used when the file has other names (hard links), is itself a mount point, belongs to someone
//! else, or its folder may not be written. Then the file is rewritten in place: first the part that makes it longer,
//! so that a full disk shows before any old byte is touched, then the rest; a failure in between puts the old bytes
//! back. Only there can a crash of the machine leave a mix, and never one shorter than both.

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

/// What must be true of the target for the write to happen.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Expectation {
    /// No file is there.
    Absent,
    /// The file is the one that was read.
    Unchanged(Fingerprint),
}

/// How to write. The default overwrites whatever is there, in a folder that exists.
#[derive(Debug, Clone, Copy, Default)]
pub struct WriteOptions {
    /// Checked before the write and again just before the new bytes take the name.
    pub expected: Option<Expectation>,
    /// Permission bits, exactly; `None` keeps those of an old file and gives a new one 0666 less the umask.
    pub mode: Option<u32>,
    /// Whether missing folders on the way are created.
    pub create_parents: bool,
}

impl WriteOptions {
    /// For files of Pollux's own state: readable by the owner only, folders made as needed.
    pub fn private() -> Self {
        Self { expected: None, mode: Some(0o600), create_parents: true }
    }
}

/// What a write did.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Written {
    /// The file that holds the bytes: the path given, or where its links lead.
    pub target: PathBuf,
    /// Whether the file is new.
    pub created: bool,
    /// Whether it had to be rewritten in place.
    pub in_place: bool,
    /// The new content, to expect at the next write.
    pub fingerprint: Fingerprint,
}

/// Writes a whole file, all or nothing. See the module's description for how.
///
/// # Errors
/// [`Error::ChangedOnDisk`] when the expectation does not hold; [`Error::PermissionDenied`] also for a read-only file
/// in a writable folder; [`Error::NotRegular`] for pipes and devices; [`Error::NoSpace`] and all others with the old
/// file intact.
pub fn write_atomic(path: &Path, bytes: &[u8], options: &WriteOptions) -> Result<Written> {
    RealPath::of(path)?.write_atomic(bytes, options)
}

impl RealPath {
    /// The same for a path that was checked.
    ///
    /// # Errors
    /// As [`write_atomic`], and [`Error::PathChanged`].
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

/// The file that is about to be replaced.
struct OldFile {
    metadata: Metadata,
    /// For reading its extended attributes. Windows could not rename over a file that is held open.
    #[cfg_attr(not(unix), allow(dead_code, reason = "only Unix copies attributes by handle"))]
    handle: Option<File>,
}

impl OldFile {
    /// Looks at the file, and makes sure that it may be written: its folder alone would allow the rename.
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

    /// Replacing breaks hard links on Windows; the link count is not in the stable library.
    #[cfg(not(unix))]
    fn has_other_names(&self) -> bool {
        let _ = &self.metadata;
        false
    }
}

/// Why a replacement by rename did not happen. Nothing is left behind and the target is untouched.
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
    // The copy of an old file stays private until it has that one's mode.
    let temporary = Temporary::create(&spot.folder, old.is_some()).map_err(folder_failed)?;
    let mut file = temporary.file();
    file.write_all(bytes).map_err(failed)?;
    if let Some(old) = old {
        // Losing the owner or group of a shared file would lock others out of it.
        attributes::copy(&old.metadata, old.handle.as_ref(), file).map_err(Failure::TryInPlace)?;
    }
    if let Some(mode) = options.mode {
        attributes::set_mode(file, mode).map_err(failed)?;
    }
    file.sync_all().map_err(failed)?;
    check_expectation(spot, options.expected.as_ref()).map_err(Failure::Final)?;
    let is_new = options.expected == Some(Expectation::Absent);
    match temporary.persist(spot.name, is_new) {
        Ok(()) => {
            spot.folder.sync();
            Ok(())
        }
        Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {
            Err(Failure::Final(Error::ChangedOnDisk { path: spot.path.to_path_buf() }))
        }
        Err(error) => Err(folder_failed(error)),
    }
}

/// Failures that concern the folder or the name, not the content of the file.
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
