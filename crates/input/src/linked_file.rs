//! Files that links on the screen may open.

use std::path::{Path, PathBuf};
use std::sync::LazyLock;

use pollux_fs::EntryKind;

/// Extensions of files that a desktop runs, follows to another place, or shows in a browser that
/// runs their scripts. A file of a project must not do any of this because of a click.
const ACTIVE: [&str; 20] = [
    "app", "bat", "cmd", "com", "command", "desktop", "exe", "fileloc", "htm", "html", "inetloc",
    "jar", "lnk", "mht", "shtml", "svg", "url", "webloc", "workflow", "xhtml",
];

/// File that a link may open.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LinkedFile {
    /// Name of the machine with the file; empty if it is not known. A terminal on another machine
    /// does not open the file.
    pub host: &'static str,
    /// Real path.
    pub path: PathBuf,
}

/// Function that finds the file that a link may open.
pub type FindLinked<'a> = Box<dyn Fn(&Path) -> Option<LinkedFile> + 'a>;

impl LinkedFile {
    /// Looks for a file that exists, that `is_readable` permits by its real path, and that is no
    /// program. A relative path is below `folder`. Looks at the disk.
    pub(crate) fn find(
        path: &Path,
        folder: &Path,
        is_readable: impl Fn(&Path) -> bool,
    ) -> Option<Self> {
        let path = pollux_fs::real_path(&folder.join(path)).ok()?;
        let info = pollux_fs::info(&path).ok()?;
        let is_shown = info.kind == EntryKind::File && !is_active(&path) && is_readable(&path);
        is_shown.then(|| Self { host: &HOST, path })
    }
}

/// Name of this machine, if an address can contain it.
static HOST: LazyLock<String> = LazyLock::new(|| {
    let is_kept = |byte: u8| byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'.' | b'_');
    whoami::hostname().ok().filter(|name| name.bytes().all(is_kept)).unwrap_or_default()
});

/// Returns true for a file that may do more than show its text when a desktop opens it.
fn is_active(path: &Path) -> bool {
    let extension = path.extension().unwrap_or_default().to_string_lossy().to_lowercase();
    ACTIVE.contains(&extension.as_str()) || is_executable(path)
}

#[cfg(unix)]
fn is_executable(path: &Path) -> bool {
    rustix::fs::access(path, rustix::fs::Access::EXEC_OK).is_ok()
}

/// Returns true, because the extension alone decides what a desktop runs, and the user can change
/// how.
#[cfg(not(unix))]
fn is_executable(_: &Path) -> bool {
    true
}

#[cfg(all(test, unix))]
mod tests {
    use std::os::unix::fs::{PermissionsExt, symlink};

    use super::*;

    #[test]
    fn only_texts_of_the_workspace_are_linked() {
        let disk = tempfile::tempdir().unwrap();
        let root = pollux_fs::real_path(disk.path()).unwrap();
        let folder = root.join("project");
        std::fs::create_dir(&folder).unwrap();
        for name in ["project/a.rs", "project/run", "project/b.desktop", "project/c.HTML", "out.rs"]
        {
            std::fs::write(root.join(name), "").unwrap();
        }
        std::fs::set_permissions(folder.join("run"), PermissionsExt::from_mode(0o755)).unwrap();
        symlink(root.join("out.rs"), folder.join("out.rs")).unwrap();
        symlink(folder.join("a.rs"), folder.join("also.rs")).unwrap();
        let find = |path: &str| {
            let found =
                LinkedFile::find(Path::new(path), &folder, |path| path.starts_with(&folder));
            found.map(|found| found.path.strip_prefix(&root).unwrap().display().to_string())
        };
        let absolute = folder.join("a.rs").display().to_string();
        for (path, expected) in [
            ("a.rs", Some("project/a.rs")),
            (absolute.as_str(), Some("project/a.rs")),
            ("also.rs", Some("project/a.rs")),
            ("run", None),
            ("b.desktop", None),
            ("c.HTML", None),
            ("out.rs", None),
            ("../out.rs", None),
            (".", None),
            ("missing.rs", None),
            ("/etc/passwd", None),
        ] {
            assert_eq!(find(path).as_deref(), expected, "{path}");
        }
        assert!(!HOST.contains('/'));
    }
}
