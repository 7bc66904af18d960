//! A file system with little space, for tests of "no space left on device".

use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use tempfile::TempDir;

/// A small tmpfs that only the programs started on it can see: each program gets its own user and
/// mount namespaces, and an empty file system in them.
#[derive(Debug)]
pub struct TinyDisk {
    mount: PathBuf,
    size: u64,
    _folder: Option<TempDir>,
}

/// Shell script that mounts the file system and then executes the command after the size and the
/// mount point.
const SCRIPT: &str = r#"mount -t tmpfs -o "size=$1" tmpfs "$2" && shift 2 && exec "$@""#;

/// Creates a disk of `size` bytes (rounded up to whole pages) in a separate temporary folder.
/// Returns `None` and [reports](crate::cannot_run) it if the system does not let an ordinary user
/// mount a file system.
pub fn tiny_disk(size: u64) -> Option<TinyDisk> {
    let folder = tempfile::tempdir().unwrap();
    let mount = folder.path().canonicalize().unwrap();
    TinyDisk { mount, size, _folder: Some(folder) }.tried()
}

/// Creates a disk like [`tiny_disk`] at an existing folder, e.g. `.gemini/tmp` of a test's home.
/// The disk hides the content of the folder. The folder must not contain the program's current
/// directory.
pub fn tiny_disk_at(mount: impl AsRef<Path>, size: u64) -> Option<TinyDisk> {
    TinyDisk { mount: mount.as_ref().to_owned(), size, _folder: None }.tried()
}

impl TinyDisk {
    /// Returns the mount point, as the programs started on the disk see it.
    pub fn path(&self) -> &Path {
        &self.mount
    }

    /// Returns a command that mounts the disk and runs `program` on it, in the same process.
    pub fn command(&self, program: impl Into<OsString>) -> Command {
        let prefix = self.prefix();
        let mut command = Command::new(&prefix[0]);
        command.args(&prefix[1..]).arg(program.into());
        command
    }

    /// Returns the arguments to put before a command line.
    pub(crate) fn prefix(&self) -> Vec<OsString> {
        let words = ["unshare", "--user", "--map-root-user", "--mount", "sh", "-c", SCRIPT, "sh"];
        let mut words: Vec<OsString> = words.into_iter().map(OsString::from).collect();
        words.push(self.size.to_string().into());
        words.push(self.mount.clone().into());
        words
    }

    fn tried(self) -> Option<Self> {
        let quiet = |mut command: Command| {
            command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null()).status()
        };
        let works = cfg!(target_os = "linux")
            && quiet(self.command("true")).is_ok_and(|status| status.success());
        if !works {
            crate::cannot_run("no tmpfs can be mounted in a user namespace");
        }
        works.then_some(self)
    }
}
