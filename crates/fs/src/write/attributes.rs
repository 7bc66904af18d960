//! Attributes of a file other than its content.

use std::fs::{File, Metadata};
use std::io;

/// Copies owner, group, permissions and extended attributes of the old file to `new`.
///
/// # Errors
/// Returns an error if owner or group cannot be set.
#[cfg(unix)]
pub(super) fn copy(old: &Metadata, old_file: Option<&File>, new: &File) -> io::Result<()> {
    use std::os::unix::fs::{MetadataExt, fchown};
    let created = new.metadata()?;
    let owner = (created.uid() != old.uid()).then(|| old.uid());
    let group = (created.gid() != old.gid()).then(|| old.gid());
    if owner.is_some() || group.is_some() {
        fchown(new, owner, group)?;
    }
    // Set after the owner, because changing the owner clears the set-user-id bits.
    set_mode(new, old.mode() & 0o7777)?;
    #[cfg(any(target_os = "linux", target_os = "macos"))]
    if let Some(old_file) = old_file {
        copy_extended(old_file, new);
    }
    Ok(())
}

/// Does nothing on Windows: the old file was writable, so its read-only flag is not set, and access
/// lists are inherited.
#[cfg(not(unix))]
pub(super) fn copy(_old: &Metadata, _old_file: Option<&File>, _new: &File) -> io::Result<()> {
    Ok(())
}

/// Sets the permission bits, independent of the umask.
#[cfg(unix)]
pub(super) fn set_mode(file: &File, mode: u32) -> io::Result<()> {
    use std::os::unix::fs::PermissionsExt;
    file.set_permissions(std::fs::Permissions::from_mode(mode))
}

/// Does nothing, because Windows has no permission bits.
#[cfg(not(unix))]
pub(super) fn set_mode(_file: &File, _mode: u32) -> io::Result<()> {
    Ok(())
}

/// Copies extended attributes: access lists, labels, the user's own attributes. Errors are ignored:
/// a lost label is no reason to refuse the write.
#[cfg(any(target_os = "linux", target_os = "macos"))]
fn copy_extended(old: &File, new: &File) {
    use rustix::fs::{XattrFlags, fgetxattr, flistxattr, fsetxattr};

    /// More than the kernel's limit on names; larger values are left out.
    const MAX_BYTES: usize = 64 * 1024;
    let mut names = vec![0_u8; MAX_BYTES];
    let Ok(length) = flistxattr(old, &mut names[..]) else { return };
    let mut value = Vec::new();
    for name in names[..length].split(|byte| *byte == 0).filter(|name| !name.is_empty()) {
        value.resize(MAX_BYTES, 0_u8);
        if let Ok(length) = fgetxattr(old, name, &mut value[..]) {
            fsetxattr(new, name, &value[..length], XattrFlags::empty()).ok();
        }
    }
}
