//! Finding context files.

use std::path::{Component, Path, PathBuf};

use pollux_fs::RealPath;

use crate::files::{self, FileIdentity};

/// A context file that exists.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Found {
    /// Where it was found.
    pub(super) path: PathBuf,
    /// Where its folder is: a folder that becomes a link later leads nowhere else.
    pub(super) folder: RealPath,
    /// Where the file is, from that folder on.
    pub(super) real: RealPath,
    /// What it is, whatever its name.
    pub(super) identity: FileIdentity,
}

impl Found {
    /// The file at `path`, if there is one. A folder of that name is no file.
    pub(super) fn at(path: PathBuf) -> Option<Self> {
        if !files::is_file(&path) {
            return None;
        }
        let identity = files::identity(&path)?;
        let folder = RealPath::of(path.parent()?).ok()?;
        let real = RealPath::of(&folder.join(path.file_name()?)).ok()?;
        Some(Self { path, folder, real, identity })
    }
}

/// The folder at which the upward search from `folder` ends: the nearest one that holds a marker,
/// else `folder` itself. Markers that are absolute or climb are skipped.
pub(super) fn ceiling(folder: &Path, markers: &[String]) -> PathBuf {
    boundary(folder, markers).unwrap_or_else(|| folder.to_owned())
}

/// The nearest folder upward from `folder` that holds a marker.
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

/// The files of these names from `start` up to `ceiling`, inclusive. The search also ends at
/// `state`, the directory of the person's own state.
pub(super) fn upward(start: &Path, ceiling: &Path, state: &Path, names: &[String]) -> Vec<Found> {
    let mut found = Vec::new();
    for folder in start.ancestors().take_while(|folder| *folder != state) {
        found.extend(names.iter().filter_map(|name| Found::at(folder.join(name))));
        if folder == ceiling {
            break;
        }
    }
    found
}

/// Where a file really is, when a link leads out of `root`.
pub(super) fn way_out(found: &Found, root: &Path) -> Option<PathBuf> {
    let inside = found.real.starts_with(files::real_path_or_given(root));
    (!inside).then(|| found.real.to_path_buf())
}

/// Outer folders first, within a folder by name: what stands later has the last word, so a deeper file
/// outranks one above it, and `GEMINI.md` outranks `AGENTS.md` beside it.
pub(super) fn sorted(mut found: Vec<Found>) -> Vec<Found> {
    found.sort_by_cached_key(|found| (found.path.parent().map(Path::to_owned), found.path.clone()));
    found
}
