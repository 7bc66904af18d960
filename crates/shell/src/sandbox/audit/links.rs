//! Symbolic links on the way to protected files.
//!
//! Home directories are often links into a repository of configuration files. A command that cannot
//! change the protected file can change what the path leads to: the target of a dangling link, a
//! folder above the target, or a link in the middle of a chain.

use std::collections::HashMap;
use std::path::{Component, Path, PathBuf};

/// Maximum number of links on the way to a file, as in Linux.
const MOST_LINKS: usize = 40;

/// Returns the links in folders above the paths, and the targets of all links on the way to the
/// files. A target need not exist.
pub(super) fn on_the_way(paths: &[PathBuf]) -> Vec<PathBuf> {
    let mut known = HashMap::new();
    let mut found = Vec::new();
    for path in paths {
        let mut path = path.clone();
        for _ in 0..MOST_LINKS {
            let Some(link) = first_link(&path, &mut known) else { break };
            let Ok(target) = link.read_link() else { break };
            let target = lexical(&link.parent().unwrap_or(&link).join(target));
            let rest = path.strip_prefix(&link).unwrap_or(Path::new("")).to_owned();
            found.push(link);
            path = if rest.as_os_str().is_empty() { target } else { target.join(rest) };
            found.push(path.clone());
        }
    }
    found
}

/// Returns the first part of the path that is a link: a folder above the file, or the file itself.
fn first_link(path: &Path, known: &mut HashMap<PathBuf, Option<PathBuf>>) -> Option<PathBuf> {
    let folder = path.parent()?;
    if !known.contains_key(folder) {
        let link = first_link(folder, known);
        known.insert(folder.to_owned(), link);
    }
    let above = known.get(folder).cloned().flatten();
    above.or_else(|| path.is_symlink().then(|| path.to_owned()))
}

/// Returns the path without `.` and `..`.
fn lexical(path: &Path) -> PathBuf {
    let mut whole = PathBuf::new();
    for component in path.components() {
        match component {
            Component::ParentDir => drop(whole.pop()),
            Component::CurDir => {}
            other => whole.push(other),
        }
    }
    whole
}
