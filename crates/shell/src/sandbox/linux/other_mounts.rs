//! Other names of a path: folders that are mounted more than once.

use std::ffi::OsString;
use std::os::unix::ffi::OsStringExt as _;
use std::path::{Path, PathBuf};

/// Maximum length of the list of mounts that is read, in bytes.
const LIST_BYTES: usize = 16 << 20;

/// Mounts of which some show the same part of a file system.
pub(in crate::sandbox) struct OtherMounts(Vec<Mount>);

/// One line of `/proc/self/mountinfo`.
#[derive(Debug, Clone, PartialEq, Eq)]
struct Mount {
    /// Number of the file system.
    device: String,
    /// Folder of the file system that is mounted.
    root: PathBuf,
    /// Folder at which it is mounted.
    point: PathBuf,
}

impl OtherMounts {
    /// Returns the mounts of this process.
    pub(in crate::sandbox) fn of_this_process() -> Self {
        let list = pollux_fs::read_head(Path::new("/proc/self/mountinfo"), LIST_BYTES);
        // Without the list, only the known names are restricted.
        Self::parse(&list.unwrap_or_default())
    }

    fn parse(text: &[u8]) -> Self {
        let mounts: Vec<Mount> = text.split(|byte| *byte == b'\n').filter_map(mount).collect();
        let is_shared = |mount: &Mount| {
            let overlaps = |other: &Mount| {
                other.root.starts_with(&mount.root) || mount.root.starts_with(&other.root)
            };
            let others = mounts.iter().filter(|other| other.point != mount.point);
            others.filter(|other| other.device == mount.device).any(overlaps)
        };
        // If nothing is mounted twice, no list is needed.
        if mounts.iter().any(is_shared) { Self(mounts) } else { Self(Vec::new()) }
    }

    /// Returns the other names of a path, with links resolved. They need not exist.
    pub(in crate::sandbox) fn names(&self, path: &Path) -> Vec<PathBuf> {
        if self.0.is_empty() {
            return Vec::new();
        }
        let path = path.canonicalize().unwrap_or_else(|_| path.to_owned());
        // Of two mounts at the same place, the later one is visible.
        let covering = self.0.iter().filter(|mount| path.starts_with(&mount.point));
        let Some(own) = covering.max_by_key(|mount| mount.point.components().count()) else {
            return Vec::new();
        };
        let Ok(rest) = path.strip_prefix(&own.point) else { return Vec::new() };
        let inner = own.root.join(rest);
        let others = self.0.iter().filter(|mount| mount.device == own.device);
        others
            .filter_map(|mount| Some(joined(&mount.point, inner.strip_prefix(&mount.root).ok()?)))
            .filter(|name| *name != path)
            .collect()
    }
}

/// Joins paths without a trailing slash, which would follow a link.
fn joined(folder: &Path, rest: &Path) -> PathBuf {
    if rest.as_os_str().is_empty() { folder.to_owned() } else { folder.join(rest) }
}

fn mount(line: &[u8]) -> Option<Mount> {
    let mut fields = line.split(|byte| *byte == b' ').skip(2);
    let device = String::from_utf8(fields.next()?.to_vec()).ok()?;
    let mut path = || Some(PathBuf::from(OsString::from_vec(unescaped(fields.next()?))));
    Some(Mount { device, root: path()?, point: path()? })
}

/// Replaces the octal escapes with which the kernel writes spaces, line breaks and backslashes.
fn unescaped(field: &[u8]) -> Vec<u8> {
    let mut bytes = Vec::with_capacity(field.len());
    let mut rest = field;
    while let [first, tail @ ..] = rest {
        let number = |digits: &[u8; 3]| {
            std::str::from_utf8(digits).ok().and_then(|text| u8::from_str_radix(text, 8).ok())
        };
        let escaped = tail.first_chunk().and_then(number).filter(|_| *first == b'\\');
        bytes.push(escaped.unwrap_or(*first));
        rest = if escaped.is_some() { &tail[3..] } else { tail };
    }
    bytes
}

#[cfg(test)]
mod tests {
    use pretty_assertions::assert_eq;

    use super::*;

    const MOUNTS: &[u8] = b"1 0 254:0 / / rw - ext4 /dev/vda rw\n\
        2 1 0:20 / /proc rw - proc proc rw\n\
        3 1 254:0 /no-such-home/me /mnt/my\\040home rw - ext4 /dev/vda rw\n\
        4 1 254:0 / /mnt/all rw - ext4 /dev/vda rw\n\
        5 1 254:1 / /data rw - ext4 /dev/vdb rw\n";

    #[test]
    fn a_path_has_a_name_in_each_mount_that_shows_it() {
        let mounts = OtherMounts::parse(MOUNTS);
        let names = |path: &str| -> Vec<PathBuf> { mounts.names(Path::new(path)) };
        let expected = ["/mnt/my home/.env", "/mnt/all/no-such-home/me/.env"].map(PathBuf::from);
        assert_eq!(names("/no-such-home/me/.env"), expected);
        let expected =
            ["/no-such-home/me/.env", "/mnt/all/no-such-home/me/.env"].map(PathBuf::from);
        assert_eq!(names("/mnt/my home/.env"), expected);
        assert_eq!(names("/no-such-file"), [Path::new("/mnt/all/no-such-file")]);
        assert_eq!(names("/data/x"), Vec::<PathBuf>::new());
        let single: Vec<u8> =
            MOUNTS.split_inclusive(|byte| *byte == b'\n').take(2).flatten().copied().collect();
        assert!(OtherMounts::parse(&single).0.is_empty());
    }

    proptest::proptest! {
        #[test]
        fn any_list_is_read_without_a_panic(text: Vec<u8>) {
            OtherMounts::parse(&text).names(Path::new("/a"));
        }
    }
}
