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

use std::fs::{self, File, OpenOptions};
use std::io::{self, Write};
use std::path::{Path, PathBuf};

use crate::error::{Error, Result};
use crate::files::{EntryKind, do_not_block};
use crate::fingerprint::Fingerprint;

mod attributes;
mod in_place;
#[cfg(test)]
mod tests;

/// How many symbolic links are followed before they count as a loop.
const MAX_LINKS: usize = 40;

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
    let target = follow_links(path)?;
    let folder = match target.parent() {
        Some(folder) if !folder.as_os_str().is_empty() => folder.to_path_buf(),
        _ => PathBuf::from("."),
    };
    if options.create_parents {
        create_folders(&folder)?;
    }
    let old = OldFile::open(&target)?;
    check_expectation(&target, options.expected.as_ref())?;
    let in_place = match &old {
        Some(old) if old.has_other_names() => true,
        _ => match replace(&target, &folder, bytes, old.as_ref(), options) {
            Ok(()) => false,
            Err(Failure::TryInPlace(_)) if old.is_some() => true,
            Err(Failure::TryInPlace(error)) => return Err(Error::from_io(&target, error)),
            Err(Failure::Final(error)) => return Err(error),
        },
    };
    if in_place {
        check_expectation(&target, options.expected.as_ref())?;
        in_place::rewrite(&target, bytes, options.mode)
            .map_err(|error| Error::from_io(&target, error))?;
    }
    let modified = fs::metadata(&target).and_then(|metadata| metadata.modified()).ok();
    let fingerprint = Fingerprint::of_bytes(bytes, modified);
    Ok(Written { created: old.is_none(), target, in_place, fingerprint })
}

/// Creates a folder with its parents, all of them there to stay: what is synced into a folder that a power cut takes
/// away is lost with it.
fn create_folders(folder: &Path) -> Result<()> {
    let missing = missing_folders(folder);
    crate::files::create_directories(folder)?;
    for parent in missing.iter().filter_map(|created| created.parent()) {
        sync_folder(if parent.as_os_str().is_empty() { Path::new(".") } else { parent });
    }
    Ok(())
}

/// The folders on the way to `folder`, itself included, that are not there; the innermost first.
fn missing_folders(folder: &Path) -> Vec<&Path> {
    let is_missing = |folder: &&Path| {
        !folder.as_os_str().is_empty()
            && fs::metadata(folder).is_err_and(|error| error.kind() == io::ErrorKind::NotFound)
    };
    folder.ancestors().take_while(is_missing).collect()
}

/// Where a path leads when its last component is a symbolic link, also one whose target is missing.
///
/// # Errors
/// [`Error::InvalidPath`] for a loop of links.
pub fn follow_links(path: &Path) -> Result<PathBuf> {
    let mut target = path.to_path_buf();
    for _ in 0..MAX_LINKS {
        match fs::read_link(&target) {
            // `join` takes an absolute link as it is; `..` is left for the system to resolve.
            Ok(link) => {
                target = target.parent().map_or_else(|| link.clone(), |dir| dir.join(&link));
            }
            Err(_) => return Ok(target),
        }
    }
    Err(Error::InvalidPath(format!("too many symbolic links: {}", path.display())))
}

fn check_expectation(target: &Path, expected: Option<&Expectation>) -> Result<()> {
    let holds = match expected {
        None => true,
        Some(Expectation::Absent) => match fs::symlink_metadata(target) {
            Ok(_) => false,
            Err(error) if error.kind() == io::ErrorKind::NotFound => true,
            Err(error) => return Err(Error::from_io(target, error)),
        },
        Some(Expectation::Unchanged(fingerprint)) => fingerprint.matches(target)?,
    };
    if holds { Ok(()) } else { Err(Error::ChangedOnDisk { path: target.into() }) }
}

/// The file that is about to be replaced.
struct OldFile {
    metadata: fs::Metadata,
    /// For reading its extended attributes. Windows could not rename over a file that is held open.
    #[cfg_attr(not(unix), allow(dead_code, reason = "only Unix copies attributes by handle"))]
    handle: Option<File>,
}

impl OldFile {
    /// Looks at the file, and makes sure that it may be written: its folder alone would allow the rename.
    fn open(target: &Path) -> Result<Option<Self>> {
        let metadata = match fs::metadata(target) {
            Ok(metadata) => metadata,
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(None),
            Err(error) => return Err(Error::from_io(target, error)),
        };
        match EntryKind::of(metadata.file_type()) {
            EntryKind::File => {}
            EntryKind::Directory => return Err(Error::IsDirectory { path: target.into() }),
            _ => return Err(Error::NotRegular { path: target.into() }),
        }
        let mut options = OpenOptions::new();
        do_not_block(options.write(true));
        let handle = match options.open(target) {
            Ok(handle) => cfg!(unix).then_some(handle),
            // A program that is running cannot be opened for writing, but it can be replaced.
            Err(error) if error.kind() == io::ErrorKind::ExecutableFileBusy => None,
            Err(error) => return Err(Error::from_io(target, error)),
        };
        Ok(Some(Self { metadata, handle }))
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
    target: &Path,
    folder: &Path,
    bytes: &[u8],
    old: Option<&OldFile>,
    options: &WriteOptions,
) -> Result<(), Failure> {
    let failed = |error| Failure::Final(Error::from_io(target, error));
    let mut temporary = create_temporary(folder, old.is_none()).map_err(|error| {
        if may_be_folder_only(&error) { Failure::TryInPlace(error) } else { failed(error) }
    })?;
    temporary.write_all(bytes).map_err(failed)?;
    if let Some(old) = old {
        // Losing the owner or group of a shared file would lock others out of it.
        attributes::copy(&old.metadata, old.handle.as_ref(), temporary.as_file())
            .map_err(Failure::TryInPlace)?;
    }
    if let Some(mode) = options.mode {
        attributes::set_mode(temporary.as_file(), mode).map_err(failed)?;
    }
    temporary.as_file().sync_all().map_err(failed)?;
    check_expectation(target, options.expected.as_ref()).map_err(Failure::Final)?;
    let persisted = if options.expected == Some(Expectation::Absent) {
        temporary.persist_noclobber(target)
    } else {
        temporary.persist(target)
    };
    match persisted {
        Ok(_) => {
            sync_folder(folder);
            Ok(())
        }
        Err(error) if error.error.kind() == io::ErrorKind::AlreadyExists => {
            Err(Failure::Final(Error::ChangedOnDisk { path: target.into() }))
        }
        Err(error) if may_be_folder_only(&error.error) => Err(Failure::TryInPlace(error.error)),
        Err(error) => Err(failed(error.error)),
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

/// A new file gets its mode from the umask at creation; the copy of an old one stays private until it has its mode.
fn create_temporary(folder: &Path, is_new: bool) -> io::Result<tempfile::NamedTempFile> {
    let mut builder = tempfile::Builder::new();
    // The name is short whatever the target's is: it must fit where the target's fits.
    builder.prefix(".pollux-").suffix(".tmp");
    #[cfg(unix)]
    if is_new {
        use std::os::unix::fs::PermissionsExt;
        builder.permissions(fs::Permissions::from_mode(0o666));
    }
    #[cfg(not(unix))]
    let _ = is_new;
    builder.tempfile_in(folder)
}

/// Makes the rename itself survive a power cut. Some file systems cannot sync folders; the data is safe by then.
fn sync_folder(folder: &Path) {
    if cfg!(unix)
        && let Ok(handle) = File::open(folder)
    {
        drop(handle.sync_all());
    }
}
