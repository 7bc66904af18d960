//! Search for context files.

use std::path::{Component, Path, PathBuf};

use pollux_fs::{RealPath, RealPaths};

use crate::files::{self, FileIdentity};

/// A context file that exists.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct FoundFile {
    /// Path at which the file was found.
    pub(super) path: PathBuf,
    /// Real path of the containing folder. If the folder is later replaced by a link, this path
    /// does not follow it.
    pub(super) folder: RealPath,
    /// Real path of the file, starting from `folder`.
    pub(super) real: RealPath,
    /// Identity of the file, regardless of its name.
    pub(super) identity: FileIdentity,
}

impl FoundFile {
    /// Returns the file at `path`, if there is one. A folder with this name does not count.
    pub(super) fn at(path: PathBuf) -> Option<Self> {
        Self::among(path, &mut RealPaths::default())
    }

    /// Does the same as [`at`](Self::at), with the folders that `known` has already resolved.
    pub(super) fn among(path: PathBuf, known: &mut RealPaths) -> Option<Self> {
        if !files::is_file(&path) {
            return None;
        }
        let identity = files::identity(&path)?;
        let folder = RealPath::among(path.parent()?, known).ok()?;
        let real = RealPath::among(&folder.join(path.file_name()?), known).ok()?;
        Some(Self { path, folder, real, identity })
    }
}

/// Returns the folder at which the upward search from `folder` ends: the nearest one that contains
/// a marker, otherwise `folder` itself. Markers that are absolute or contain `..` are ignored.
pub(super) fn ceiling(folder: &Path, markers: &[String]) -> PathBuf {
    boundary(folder, markers).unwrap_or_else(|| folder.to_owned())
}

/// Returns the nearest folder upward from `folder` that contains a marker.
pub(super) fn boundary(folder: &Path, markers: &[String]) -> Option<PathBuf> {
    let usable = |marker: &&String| {
        !marker.is_empty()
            && Path::new(marker)
                .components()
                .all(|part| matches!(part, Component::Normal(_) | Component::CurDir))
    };
    let markers: Vec<_> = markers.iter().filter(usable).collect();
    let holds = |folder: &&Path| markers.iter().any(|marker| files::exists(&folder.join(marker)));
    folder.ancestors().find(holds).map(Path::to_owned)
}

/// Returns the files with these names from `start` up to and including `ceiling`. The search also
/// ends at `state`, the directory of the user's own state.
pub(super) fn upward(
    start: &Path,
    ceiling: &Path,
    state: &Path,
    names: &[String],
) -> Vec<FoundFile> {
    let mut found = Vec::new();
    for folder in start.ancestors().take_while(|folder| *folder != state) {
        found.extend(names.iter().filter_map(|name| FoundFile::at(folder.join(name))));
        if folder == ceiling {
            break;
        }
    }
    found
}

/// Returns the real path of a file if a link leads out of `root`.
pub(super) fn way_out(found: &FoundFile, root: &Path) -> Option<PathBuf> {
    let inside = found.real.starts_with(files::real_path_or_given(root));
    (!inside).then(|| found.real.to_path_buf())
}

/// Sorts files by folder, outer folders first, then by name. Later files take precedence: a deeper
/// file overrides those above it, and `GEMINI.md` overrides `AGENTS.md` in the same folder.
pub(super) fn sorted(mut found: Vec<FoundFile>) -> Vec<FoundFile> {
    found.sort_by_cached_key(|found| (found.path.parent().map(Path::to_owned), found.path.clone()));
    found
}
