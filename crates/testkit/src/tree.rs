//! Content of a folder, to prove which files a run changed and which it did not touch.

use std::collections::BTreeMap;
use std::fs;
use std::hash::{DefaultHasher, Hash as _, Hasher as _};
use std::path::{Path, PathBuf};

/// Content of one path in a folder.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub enum TreeEntry {
    /// A folder.
    Directory,
    /// A file: its bytes and its permission bits (0 on systems without permission bits).
    File(Vec<u8>, u32),
    /// A symbolic link and its target.
    Link(PathBuf),
    /// A pipe, a socket or a device.
    Other,
}

/// Everything below a folder, except what is in `.git`. Links are not followed.
#[derive(Debug, Clone, PartialEq, Eq, Hash, Default)]
pub struct Tree {
    /// Entries by path below the folder, with `/` between names.
    pub entries: BTreeMap<String, TreeEntry>,
}

impl Tree {
    /// Reads a folder.
    pub fn of(folder: impl AsRef<Path>) -> Self {
        let mut tree = Self::default();
        tree.read(folder.as_ref(), "");
        tree
    }

    /// Returns the paths that were added (`+`), removed (`-`) or changed (`~`) since `before`, in
    /// order.
    pub fn changes_since(&self, before: &Self) -> Vec<String> {
        let mut paths: Vec<&String> = before.entries.keys().chain(self.entries.keys()).collect();
        paths.sort_unstable();
        paths.dedup();
        let change = |path: &String| match (before.entries.get(path), self.entries.get(path)) {
            (None, _) => Some(format!("+ {path}")),
            (_, None) => Some(format!("- {path}")),
            (old, new) => (old != new).then(|| format!("~ {path}")),
        };
        paths.into_iter().filter_map(change).collect()
    }

    fn read(&mut self, folder: &Path, prefix: &str) {
        let entries = fs::read_dir(folder)
            .unwrap_or_else(|error| panic!("cannot read {}: {error}", folder.display()));
        for entry in entries {
            let entry = entry.unwrap();
            let name = entry.file_name().to_string_lossy().into_owned();
            let path = format!("{prefix}{name}");
            let kind = entry.file_type().unwrap();
            if kind.is_dir() {
                if name != ".git" {
                    self.read(&entry.path(), &format!("{path}/"));
                }
                self.entries.insert(path, TreeEntry::Directory);
            } else if kind.is_symlink() {
                self.entries.insert(path, TreeEntry::Link(fs::read_link(entry.path()).unwrap()));
            } else if kind.is_file() {
                let bytes = fs::read(entry.path()).unwrap();
                let mode = mode_of(&entry.metadata().unwrap());
                self.entries.insert(path, TreeEntry::File(bytes, mode));
            } else {
                self.entries.insert(path, TreeEntry::Other);
            }
        }
    }
}

/// Returns a number that changes when anything below the folder (outside `.git`) changes. Compare
/// it only within one test run.
pub fn tree_hash(folder: impl AsRef<Path>) -> u64 {
    let mut hasher = DefaultHasher::new();
    Tree::of(folder).hash(&mut hasher);
    hasher.finish()
}

#[cfg(unix)]
fn mode_of(metadata: &fs::Metadata) -> u32 {
    std::os::unix::fs::PermissionsExt::mode(&metadata.permissions()) & 0o7777
}

#[cfg(not(unix))]
fn mode_of(_: &fs::Metadata) -> u32 {
    0
}
