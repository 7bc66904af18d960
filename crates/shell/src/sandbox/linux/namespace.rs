//! Mount namespace: read-only and covered paths.

use std::collections::BTreeMap;
use std::os::fd::{AsFd, AsRawFd as _, OwnedFd};
use std::os::unix::fs::FileTypeExt as _;
use std::path::{Path, PathBuf};

use pollux_protocol::ConfinementLevel;
use rustix::fs::{CWD, FileType, Mode, OFlags, mkdirat, mknodat, openat};
use rustix::io::Errno;
use rustix::mount::{
    FsMountFlags, FsOpenFlags, MountAttrFlags, MountPropagationFlags, MoveMountFlags,
    OpenTreeFlags, UnmountFlags, fsconfig_create, fsmount, fsopen, mount_change, move_mount,
    open_tree, unmount,
};
use rustix::thread::{CapabilitySet, UnshareFlags, capabilities};

use crate::sandbox::{NetworkAccess, SandboxPlan};

/// Kernel files through which root, even without capabilities, can make the kernel run programs or
/// halt.
const KERNEL: [&str; 3] = ["/proc/sys", "/proc/sysrq-trigger", "/sys"];

/// Sockets of services that can do for a client what `workspace-write` forbids.
const SERVICES: [&str; 9] = [
    "/run/docker.sock",
    "/run/containerd/containerd.sock",
    "/run/podman/podman.sock",
    "/run/crio/crio.sock",
    "/run/dbus/system_bus_socket",
    "/run/systemd/private",
    "/run/systemd/journal",
    "/run/snapd.socket",
    "/run/libvirt",
];

/// Folder in which the covers are created before they are moved. It exists on every system.
const WORKSHOP: &str = "/proc";

/// Treatment of one path.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Treatment {
    /// Mounted over itself: the path cannot be moved, and stays as writable as before.
    Pinned,
    ReadOnly,
    Hidden,
}

/// Moves this process into a new mount namespace and applies the plan to the paths.
pub(super) fn enter(plan: &SandboxPlan) -> Result<(), String> {
    let failed = |what: &str, error: Errno| format!("mount namespace ({what}): {error}");
    let has_rights =
        capabilities(None).is_ok_and(|sets| sets.effective.contains(CapabilitySet::SYS_ADMIN));
    if has_rights {
        unshare(UnshareFlags::NEWNS).map_err(|error| failed("unshare", error))?;
    } else {
        enter_user_namespace()?;
    }
    let (slave, recursive) = (MountPropagationFlags::DOWNSTREAM, MountPropagationFlags::REC);
    mount_change("/", slave | recursive).map_err(|error| failed("propagation", error))?;
    let treated = treatments(plan);
    // All trees are copied before the first is mounted, because a copy inherits read-only state.
    let mut mounts = covered(&treated).map_err(|error| failed("covers", error))?;
    for (path, treatment) in &treated {
        let made = match treatment {
            Treatment::Hidden => continue,
            Treatment::ReadOnly => copy(path).and_then(|tree| make_read_only(&tree).map(|()| tree)),
            Treatment::Pinned => copy(path),
        };
        match made {
            Ok(tree) => mounts.push((path, tree)),
            Err(Errno::NOENT) => {}
            Err(error) => return Err(failed(&path.display().to_string(), error)),
        }
    }
    mounts.sort_by_key(|(path, _)| *path);
    if plan.level == ConfinementLevel::WorkspaceWrite {
        let root = openat(CWD, "/", OFlags::PATH | OFlags::CLOEXEC, Mode::empty())
            .map_err(|error| failed("/", error))?;
        make_read_only(&root).map_err(|error| failed("/", error))?;
    }
    for (path, tree) in mounts {
        let flags = MoveMountFlags::MOVE_MOUNT_F_EMPTY_PATH;
        move_mount(&tree, "", CWD, path, flags)
            .map_err(|error| failed(&path.display().to_string(), error))?;
    }
    Ok(())
}

/// Returns a cover for each hidden path.
fn covered(treated: &BTreeMap<PathBuf, Treatment>) -> Result<Vec<(&Path, OwnedFd)>, Errno> {
    let hidden: Vec<(&Path, bool)> = treated
        .iter()
        .filter(|(_, treatment)| **treatment == Treatment::Hidden)
        .map(|(path, _)| (path.as_path(), path.is_dir()))
        .collect();
    if hidden.is_empty() {
        return Ok(Vec::new());
    }
    let covers = Covers::new()?;
    hidden.into_iter().map(|(path, is_folder)| Ok((path, covers.cover(is_folder)?))).collect()
}

/// Returns the treatment of each path, with links resolved. Folders come before their contents.
fn treatments(plan: &SandboxPlan) -> BTreeMap<PathBuf, Treatment> {
    let mut treated: BTreeMap<PathBuf, Treatment> = BTreeMap::new();
    let mut add = |paths: &[PathBuf], treatment| {
        for path in paths {
            // A path that is gone needs no treatment.
            if let Ok(path) = path.canonicalize()
                && path != Path::new("/")
            {
                treated.insert(path, treatment);
            }
        }
    };
    add(&plan.pinned, Treatment::Pinned);
    add(&plan.read_only, Treatment::ReadOnly);
    add(&plan.writable, Treatment::Pinned);
    add(plan.job_list.as_slice(), Treatment::Pinned);
    if rustix::process::geteuid().is_root() {
        add(&KERNEL.map(PathBuf::from), Treatment::ReadOnly);
        add(&block_devices(Path::new("/dev"), 2), Treatment::Hidden);
    }
    if plan.level == ConfinementLevel::WorkspaceWrite && plan.network == NetworkAccess::Allowed {
        add(&SERVICES.map(PathBuf::from), Treatment::Hidden);
    }
    add(&plan.hidden, Treatment::Hidden);
    let hidden: Vec<PathBuf> = treated
        .iter()
        .filter(|(_, treatment)| **treatment == Treatment::Hidden)
        .map(|(path, _)| path.clone())
        .collect();
    treated
        .retain(|path, _| !hidden.iter().any(|folder| path != folder && path.starts_with(folder)));
    treated
}

/// Returns the block devices. Root, as their owner, can open them without any capability.
fn block_devices(folder: &Path, depth: usize) -> Vec<PathBuf> {
    let Ok(entries) = folder.read_dir() else { return Vec::new() };
    let mut devices = Vec::new();
    for entry in entries.flatten() {
        match entry.file_type() {
            Ok(kind) if kind.is_block_device() => devices.push(entry.path()),
            Ok(kind) if kind.is_dir() && depth > 0 => {
                devices.extend(block_devices(&entry.path(), depth - 1));
            }
            _ => {}
        }
    }
    devices
}

fn copy(path: &Path) -> Result<OwnedFd, Errno> {
    let clone = OpenTreeFlags::OPEN_TREE_CLONE | OpenTreeFlags::OPEN_TREE_CLOEXEC;
    open_tree(CWD, path, clone | OpenTreeFlags::AT_RECURSIVE)
}

/// Makes all mounts of a tree read-only.
#[expect(unsafe_code, reason = "rustix has no call for mount_setattr")]
pub(super) fn make_read_only(tree: &impl AsFd) -> Result<(), Errno> {
    const RECURSIVE: libc::c_uint = 0x8000;
    let mut attributes = libc::mount_attr {
        attr_set: libc::MOUNT_ATTR_RDONLY,
        attr_clr: 0,
        propagation: 0,
        userns_fd: 0,
    };
    // SAFETY: the path is an empty, NUL-terminated string. The kernel reads the attributes by the
    // given size, and they live until the call returns.
    let result = unsafe {
        libc::syscall(
            libc::SYS_mount_setattr,
            tree.as_fd().as_raw_fd(),
            c"".as_ptr(),
            libc::AT_EMPTY_PATH as libc::c_uint | RECURSIVE,
            &raw mut attributes,
            size_of::<libc::mount_attr>(),
        )
    };
    if result == 0 { Ok(()) } else { Err(last_error()) }
}

fn last_error() -> Errno {
    let error = std::io::Error::last_os_error();
    Errno::from_io_error(&error).unwrap_or(Errno::INVAL)
}

/// Moves this process into new namespaces.
#[expect(unsafe_code, reason = "rustix marks the call unsafe for other flags")]
pub(super) fn unshare(flags: UnshareFlags) -> Result<(), Errno> {
    // SAFETY: the call is unsafe because it can unshare the table of open files, and these flags do
    // not unshare it.
    unsafe { rustix::thread::unshare_unsafe(flags) }
}

/// Creates a user namespace in which this process has the same user and group as before.
fn enter_user_namespace() -> Result<(), String> {
    let (user, group) = (rustix::process::geteuid(), rustix::process::getegid());
    let flags = UnshareFlags::NEWUSER | UnshareFlags::NEWNS;
    unshare(flags).map_err(|error| format!("user namespace: {error}"))?;
    let write = |file: &str, text: String| {
        let file = format!("/proc/self/{file}");
        let flags = OFlags::WRONLY | OFlags::CLOEXEC;
        openat(CWD, &file, flags, Mode::empty())
            .and_then(|opened| rustix::io::write(&opened, text.as_bytes()).map(drop))
            .map_err(|error| format!("user namespace ({file}): {error}"))
    };
    write("setgroups", "deny".to_owned())?;
    write("uid_map", format!("{user} {user} 1", user = user.as_raw()))?;
    write("gid_map", format!("{group} {group} 1", group = group.as_raw()))
}

/// Mounts a new file system in memory over [`WORKSHOP`]. Returns its root.
pub(super) fn mount_workshop() -> Result<OwnedFd, Errno> {
    let system = fsopen(c"tmpfs", FsOpenFlags::FSOPEN_CLOEXEC)?;
    fsconfig_create(&system)?;
    let root = fsmount(&system, FsMountFlags::FSMOUNT_CLOEXEC, MountAttrFlags::empty())?;
    move_mount(&root, c"", CWD, WORKSHOP, MoveMountFlags::MOVE_MOUNT_F_EMPTY_PATH)?;
    Ok(root)
}

/// Covers for hidden paths: an empty folder, and a socket without a listener, which cannot be
/// opened.
struct Covers(OwnedFd);

impl Covers {
    const FILE: &str = "file";
    const FOLDER: &str = "folder";

    fn new() -> Result<Self, Errno> {
        // Older kernels can only copy trees that are mounted.
        let root = mount_workshop()?;
        mknodat(&root, Self::FILE, FileType::Socket, Mode::empty(), 0)?;
        mkdirat(&root, Self::FOLDER, Mode::empty())?;
        Ok(Self(root))
    }

    fn cover(&self, is_folder: bool) -> Result<OwnedFd, Errno> {
        let name = if is_folder { Self::FOLDER } else { Self::FILE };
        let clone = OpenTreeFlags::OPEN_TREE_CLONE | OpenTreeFlags::OPEN_TREE_CLOEXEC;
        let tree = open_tree(&self.0, name, clone)?;
        make_read_only(&tree)?;
        Ok(tree)
    }
}

impl Drop for Covers {
    fn drop(&mut self) {
        // The copies stay mounted.
        unmount(WORKSHOP, UnmountFlags::DETACH).ok();
    }
}
