//! A file system that is soon full, for tests of "no space left on device".

use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use tempfile::TempDir;

/// A small tmpfs that only the programs started on it can see: each gets user and mount
/// namespaces of its own, and an empty file system with them.
#[derive(Debug)]
pub struct TinyDisk {
    mount: PathBuf,
    size: u64,
    _folder: Option<TempDir>,
}

/// Mounts, and becomes the command that follows the size and the place.
const SCRIPT: &str = r#"mount -t tmpfs -o "size=$1" tmpfs "$2" && shift 2 && exec "$@""#;

/// A disk of `size` bytes (rounded up to whole pages) in a folder of its own. `None`, and a note
/// on standard error, where the system does not let an ordinary user mount one.
pub fn tiny_disk(size: u64) -> Option<TinyDisk> {
    let folder = tempfile::tempdir().unwrap();
    let mount = folder.path().canonicalize().unwrap();
    TinyDisk { mount, size, _folder: Some(folder) }.tried()
}

/// The same at a folder that exists, e.g. `.gemini/tmp` of a test's home. What the folder holds
/// is hidden. It must not hold the program's current directory.
pub fn tiny_disk_at(mount: impl AsRef<Path>, size: u64) -> Option<TinyDisk> {
    TinyDisk { mount: mount.as_ref().to_owned(), size, _folder: None }.tried()
}

impl TinyDisk {
    /// Where the programs started on it find it.
    pub fn path(&self) -> &Path {
        &self.mount
    }

    /// A command that runs `program` where the disk is mounted, in the same process.
    pub fn command(&self, program: impl Into<OsString>) -> Command {
        let prefix = self.prefix();
        let mut command = Command::new(&prefix[0]);
        command.args(&prefix[1..]).arg(program.into());
        command
    }

    /// The words to put before a command line.
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
            eprintln!("skipped: this system does not let us mount a tmpfs in a user namespace");
        }
        works.then_some(self)
    }
}
