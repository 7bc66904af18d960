//! Return of files to their state before a command, although the command may have taken away the
//! permissions that this needs.

use std::io::{self, Write as _};
use std::path::{Path, PathBuf};

use super::Identity;

/// Folder, below the private folder of Pollux, for files that were moved aside.
const MOVED: [&str; 2] = ["sandbox", "moved"];
/// Maximum size of a file that is kept and restored, in bytes.
const FILE_BYTES: u64 = 1 << 20;

/// State of a file before or after a command.
#[derive(Debug, Clone)]
pub(in crate::sandbox) enum FileState {
    Absent,
    /// A file with its bytes and permission bits.
    File {
        bytes: Vec<u8>,
        mode: u32,
    },
    /// A link, a folder, a file that is too large, or one that cannot be read.
    Other,
}

/// Permission bits are not compared, because they have no effect on the reader of the file.
impl PartialEq for FileState {
    fn eq(&self, other: &Self) -> bool {
        match (self, other) {
            (Self::Absent, Self::Absent) | (Self::Other, Self::Other) => true,
            (Self::File { bytes, .. }, Self::File { bytes: others, .. }) => bytes == others,
            _ => false,
        }
    }
}

impl Eq for FileState {}

impl FileState {
    pub(in crate::sandbox) fn of(path: &Path) -> Self {
        let info = match path.symlink_metadata() {
            Ok(info) => info,
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Self::Absent,
            Err(_) => return Self::Other,
        };
        #[cfg(unix)]
        let mode = std::os::unix::fs::PermissionsExt::mode(&info.permissions()) & 0o777;
        #[cfg(not(unix))]
        let mode = 0;
        match pollux_fs::read_bytes(path, FILE_BYTES) {
            Ok(bytes) if info.is_file() => Self::File { bytes, mode },
            _ => Self::Other,
        }
    }
}

/// Moves the current file aside and writes the original file again. Returns the new place of the
/// current file.
pub(super) fn restore(
    state: &Path,
    path: &Path,
    before: &FileState,
) -> io::Result<Option<PathBuf>> {
    let moved_to = match path.symlink_metadata() {
        Err(error) if error.kind() == io::ErrorKind::NotFound => None,
        _ => Some(move_aside(state, path, None)?),
    };
    if let FileState::File { bytes, mode } = before {
        let folder = path.parent().unwrap_or(path);
        let mut file = tempfile::NamedTempFile::new_in(folder)?;
        file.write_all(bytes)?;
        #[cfg(unix)]
        rustix::fs::fchmod(
            file.as_file(),
            rustix::fs::Mode::from_raw_mode(*mode as rustix::fs::RawMode),
        )?;
        #[cfg(not(unix))]
        let _ = mode;
        // Unlike a write, a rename does not follow a link that is there in the meantime.
        file.persist(path).map_err(|error| error.error)?;
    }
    Ok(moved_to)
}

/// Moves a file or folder into the private folder of Pollux, and restores a link that it replaced.
/// A file that cannot be moved is copied and emptied.
pub(in crate::sandbox) fn move_aside(
    state: &Path,
    path: &Path,
    before: Option<&Identity>,
) -> io::Result<PathBuf> {
    let folder = MOVED.iter().fold(state.to_owned(), |folder, name| folder.join(name));
    pollux_fs::create_private_directories(&folder).map_err(io::Error::other)?;
    let folder = tempfile::Builder::new().prefix("").rand_bytes(8).tempdir_in(&folder)?.keep();
    let target = folder.join(path.file_name().unwrap_or(path.as_os_str()));
    if let Err(error) = take(path, &target) {
        permit(path);
        take(path, &target).or_else(|_| empty(path)).map_err(|_| error)?;
    }
    #[cfg(unix)]
    if let Some(link) = before.and_then(|before| before.link.as_ref()) {
        std::os::unix::fs::symlink(link, path)?;
    }
    #[cfg(not(unix))]
    let _ = before;
    Ok(target)
}

fn take(path: &Path, target: &Path) -> io::Result<()> {
    if pollux_fs::rename(path, target).is_ok() {
        return Ok(());
    }
    // The paths may be on different file systems.
    pollux_fs::copy_tree(path, target).map_err(io::Error::other)?;
    let is_folder = path.symlink_metadata()?.is_dir();
    if is_folder { pollux_fs::remove_tree(path) } else { pollux_fs::remove_file(path) }
        .map_err(io::Error::other)
}

/// Gives this user the permissions to move a file or folder, as far as possible.
#[cfg(unix)]
fn permit(path: &Path) {
    use std::os::unix::fs::PermissionsExt as _;
    for (path, needed) in [(path.parent(), 0o700), (Some(path), 0o600)] {
        let Some(path) = path else { continue };
        // The mode of a link has no effect, and changing it would change the target.
        let Ok(info) = path.symlink_metadata() else { continue };
        if !info.is_symlink() {
            let needed = if info.is_dir() { 0o700 } else { needed };
            let mode = info.permissions().mode() & 0o7777 | needed;
            // An error shows itself when the file is moved.
            rustix::fs::chmod(path, rustix::fs::Mode::from_raw_mode(mode as rustix::fs::RawMode))
                .ok();
        }
    }
}

#[cfg(not(unix))]
fn permit(_: &Path) {}

/// Empties a file, so that it has no effect.
#[cfg(unix)]
fn empty(path: &Path) -> io::Result<()> {
    use rustix::fs::{Mode, OFlags};
    let flags = OFlags::WRONLY | OFlags::NOFOLLOW | OFlags::CLOEXEC | OFlags::NONBLOCK;
    let file = rustix::fs::open(path, flags, Mode::empty())?;
    Ok(rustix::fs::ftruncate(file, 0)?)
}

#[cfg(not(unix))]
fn empty(_: &Path) -> io::Result<()> {
    Err(io::ErrorKind::Unsupported.into())
}
