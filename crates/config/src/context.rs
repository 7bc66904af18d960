//! Context files: `GEMINI.md`, `AGENTS.md` and similar files with information for the model.
//!
//! There are four tiers: the user's own files (`~/.gemini`), those of extensions, the project's
//! files (upward from each workspace folder), and those of subfolders, which are loaded when a tool
//! touches a path below them.

use std::collections::HashSet;
use std::path::{Component, Path, PathBuf};

use pollux_fs::RealPaths;
use pollux_protocol::ConsentItem;

use crate::consent::{Accepted, item, kinds};
use crate::files::FileIdentity;
use crate::imports::ImportFormat;
use crate::{ContextSettings, Places, files};

mod read;
mod render;
mod search;
#[cfg(test)]
mod tests;

use read::{Loader, Read};
use search::{FoundFile, ceiling, upward};

pub use read::{MAX_FILE_BYTES, MAX_TOTAL_BYTES};
pub use render::{blocks, project_section, system_section};

/// Default names of context files, in this order, after those of the settings. Gemini CLI knows
/// only the first one.
pub const DEFAULT_NAMES: [&str; 2] = ["GEMINI.md", "AGENTS.md"];

/// Name of the index of the private notes about a project.
pub const PRIVATE_INDEX: &str = "MEMORY.md";

/// Options for finding and reading context files.
#[derive(Debug, Clone)]
pub struct ContextOptions<'a> {
    /// Paths of the user's files.
    pub places: &'a Places,
    /// Workspace folders as absolute paths, the current directory first.
    pub workspace: &'a [PathBuf],
    /// Folder of the private notes about the project, if any.
    pub private_memory_dir: Option<PathBuf>,
    /// Files of extensions.
    pub extensions: &'a [PathBuf],
    /// True if the project's files may be read.
    pub trusted: bool,
    /// Items of the project that may take effect. Files that are links out of the project need
    /// consent.
    pub accepted: &'a Accepted,
    /// `context.*`.
    pub settings: ContextSettings,
}

/// One context file with its imports expanded.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ContextFile {
    /// Absolute path of the file.
    pub path: PathBuf,
    /// Text of the file, trimmed and not empty.
    pub text: String,
}

/// Context files of a run. The value records the loaded files, so that no file is loaded twice.
#[derive(Debug, Clone, Default)]
pub struct ContextFiles {
    /// Files of the user.
    pub global: Vec<ContextFile>,
    /// Private notes about the project.
    pub private_memory: Option<ContextFile>,
    /// Files of extensions.
    pub extensions: Vec<ContextFile>,
    /// Files of the project, outer folders first.
    pub project: Vec<ContextFile>,
    /// Files of subfolders, in the order in which tools touched them.
    pub subfolders: Vec<ContextFile>,
    /// Messages about files that could not be used, with the reason.
    pub warnings: Vec<String>,
    seen: Seen,
    bytes: usize,
}

/// Origin of a context file.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ContextFileOrigin {
    /// The user's own files, for all projects.
    Global,
    /// The user's private notes about the project.
    PrivateMemory,
    /// Extensions.
    Extension,
    /// The project.
    Project,
    /// A subfolder, found when a tool touched it.
    Subfolder,
}

impl ContextFileOrigin {
    /// Returns the heading in Gemini CLI's list.
    pub fn title(self) -> &'static str {
        match self {
            Self::Global => "Global",
            Self::PrivateMemory => "Private Project Memory",
            Self::Extension => "Extension",
            Self::Project => "Project",
            Self::Subfolder => "Subfolders",
        }
    }
}

/// Files that were loaded or tried, by path and by identity.
#[derive(Debug, Clone, Default)]
struct Seen {
    paths: HashSet<PathBuf>,
    identities: HashSet<FileIdentity>,
}

impl Seen {
    /// Records a file. Returns `false` if the file was already recorded, under any name.
    fn insert(&mut self, found: &FoundFile) -> bool {
        let new_path = self.paths.insert(found.path.clone());
        let new_identity = self.identities.insert(found.identity.clone());
        new_path && new_identity
    }
}

/// Returns the names to search for, without repeats: the given names, trimmed, then
/// [`DEFAULT_NAMES`].
pub fn names(given: &[String]) -> Vec<String> {
    let given = given.iter().map(|name| name.trim().trim_start_matches(['/', '\\']));
    // A name must not lead out of the folder that is searched.
    let inside = |name: &&str| {
        !Path::new(name)
            .components()
            .any(|part| !matches!(part, Component::Normal(_) | Component::CurDir))
    };
    let given = given.filter(|name| !name.is_empty()).filter(inside);
    let mut names: Vec<String> = Vec::new();
    for name in given.chain(DEFAULT_NAMES) {
        let normal: PathBuf = Path::new(name).components().collect();
        let normal = normal.to_string_lossy().into_owned();
        if !names.contains(&normal) {
            names.push(normal);
        }
    }
    names
}

/// Finds and reads the user's context files and, in a trusted folder, the project's.
pub fn discover(options: &ContextOptions<'_>) -> ContextFiles {
    let names = names(&options.settings.file_names);
    let mut files = ContextFiles::default();
    let home = options.places.gemini_dir();
    let mut known = RealPaths::default();
    let own = names.iter().filter_map(|name| FoundFile::among(home.join(name), &mut known));
    let own: Vec<_> = own.collect();
    files.global = files.load(options, own, options.settings.import_format);
    files.private_memory = files.load_private_memory(options, &names);
    let brought = options.extensions.iter().cloned();
    let brought = brought.filter_map(|path| FoundFile::among(path, &mut known)).collect();
    // The files of an extension import only files beside them, wherever it is installed.
    files.extensions = files.load_within(&[], brought, options.settings.import_format);
    if options.trusted {
        let mut found = Vec::new();
        for folder in options.workspace {
            let ceiling = ceiling(folder, &options.settings.memory_boundary_markers);
            let here = upward(folder, &ceiling, &home, &names);
            found.extend(files.admitted(options, here, &ceiling));
        }
        let found = search::sorted(found);
        files.project = files.load(options, found, options.settings.import_format);
    }
    files
}

/// Returns the consent items of a project: context files upward from its folder that are links out
/// of the project.
pub(crate) fn items(settings: &ContextSettings, project: &Path, state: &Path) -> Vec<ConsentItem> {
    let ceiling = ceiling(project, &settings.memory_boundary_markers);
    let found = upward(project, &ceiling, state, &names(&settings.file_names));
    let links = found.into_iter().filter_map(|file| {
        let real = search::way_out(&file, &ceiling)?;
        Some(link_item(&file.path, &real))
    });
    links.collect()
}

/// Returns the item of a link. Consent covers the link's target, but not the content there, which
/// is the user's own.
fn link_item(path: &Path, real: &Path) -> ConsentItem {
    let (name, target) = (path.to_string_lossy(), real.to_string_lossy());
    let detail = format!(
        "is a link to a file outside of the project; the content of {target} is sent to the model"
    );
    item(kinds::CONTEXT_FILE, &name, detail, target.as_bytes())
}

/// Removes files that another file imports. Of files that import each other, the last one remains.
fn without_imported(mut read: Vec<(FoundFile, Read)>) -> Vec<ContextFile> {
    let mut place = 0;
    while let Some((found, _)) = read.get(place) {
        let is_reported = |(other, (_, read)): (usize, &(FoundFile, Read))| {
            other != place && read.imported.contains(&found.identity)
        };
        if read.iter().enumerate().any(is_reported) {
            read.remove(place);
        } else {
            place += 1;
        }
    }
    read.into_iter().map(|(_, read)| read.file).collect()
}

impl ContextFiles {
    /// Returns all loaded files by origin. Origins without files are omitted.
    pub fn by_origin(&self) -> impl Iterator<Item = (ContextFileOrigin, &[ContextFile])> {
        let notes = self.private_memory.as_slice();
        [
            (ContextFileOrigin::Global, self.global.as_slice()),
            (ContextFileOrigin::PrivateMemory, notes),
            (ContextFileOrigin::Extension, &self.extensions),
            (ContextFileOrigin::Project, &self.project),
            (ContextFileOrigin::Subfolder, &self.subfolders),
        ]
        .into_iter()
        .filter(|(_, files)| !files.is_empty())
    }

    /// Records subfolder files that an earlier run has already given to the model, so that they are
    /// not loaded again.
    pub fn mark_loaded(&mut self, paths: impl IntoIterator<Item = PathBuf>) {
        for found in paths.into_iter().filter_map(FoundFile::at) {
            self.seen.insert(&found);
        }
    }

    /// Loads the context files that apply to `target` and were not loaded before. `target` is the
    /// absolute path of a file or folder that a tool touched. Returns an empty list for paths
    /// outside of the workspace, and in folders that are not trusted.
    pub fn jit(&mut self, options: &ContextOptions<'_>, target: &Path) -> Vec<ContextFile> {
        if !options.trusted {
            return Vec::new();
        }
        let target = files::without_dots(target);
        let start = match target.parent() {
            Some(parent) if !files::is_dir(&target) => parent,
            _ => target.as_path(),
        };
        let real = files::real_path_or_given(start);
        // The path's text determines the search, and the real path makes sure that no link leads
        // out of the workspace.
        let holds = |folder: &&PathBuf| {
            start.starts_with(folder) && real.starts_with(files::real_path_or_given(folder))
        };
        let deepest = options.workspace.iter().filter(holds);
        let Some(folder) = deepest.max_by_key(|folder| folder.components().count()) else {
            return Vec::new();
        };
        let names = names(&options.settings.file_names);
        let ceiling = ceiling(folder, &options.settings.memory_boundary_markers);
        let found = upward(start, &ceiling, &options.places.gemini_dir(), &names);
        let found = self.admitted(options, found, &ceiling);
        let loaded = self.load(options, search::sorted(found), ImportFormat::Tree);
        self.subfolders.extend(loaded.iter().cloned());
        loaded
    }

    /// Returns the files that are not links out of the project, and those whose link the user
    /// agreed to.
    fn admitted(
        &mut self,
        options: &ContextOptions<'_>,
        found: Vec<FoundFile>,
        root: &Path,
    ) -> Vec<FoundFile> {
        let mut admitted = Vec::new();
        for file in found {
            match search::way_out(&file, root) {
                Some(real) if !options.accepted.accepts(&link_item(&file.path, &real)) => {
                    let (path, real) = (file.path.display(), real.display());
                    self.warnings.push(format!(
                        "Context file {path} was not loaded: it is a link to {real}, outside of the project, and you have not approved it."
                    ));
                }
                _ => admitted.push(file),
            }
        }
        admitted
    }

    fn load(
        &mut self,
        options: &ContextOptions<'_>,
        found: Vec<FoundFile>,
        format: ImportFormat,
    ) -> Vec<ContextFile> {
        self.load_within(&options.settings.memory_boundary_markers, found, format)
    }

    /// Loads files. The nearest folder with one of the markers holds everything that they import.
    fn load_within(
        &mut self,
        markers: &[String],
        found: Vec<FoundFile>,
        format: ImportFormat,
    ) -> Vec<ContextFile> {
        let mut loader = Loader { markers, format, bytes: self.bytes, warnings: Vec::new() };
        let fresh: Vec<_> = found.into_iter().filter(|found| self.seen.insert(found)).collect();
        let read: Vec<(FoundFile, Read)> = fresh
            .into_iter()
            .filter_map(|found| loader.load(&found).map(|read| (found, read)))
            .collect();
        self.bytes = loader.bytes;
        self.warnings.append(&mut loader.warnings);
        // The model has received the imported files too, so they are not loaded again.
        self.seen.identities.extend(read.iter().flat_map(|(_, read)| read.imported.clone()));
        without_imported(read)
    }

    fn load_private_memory(
        &mut self,
        options: &ContextOptions<'_>,
        names: &[String],
    ) -> Option<ContextFile> {
        let folder = options.private_memory_dir.as_ref()?;
        let candidates = std::iter::once(PRIVATE_INDEX).chain(names.iter().map(String::as_str));
        let found = candidates.into_iter().find_map(|name| FoundFile::at(folder.join(name)))?;
        self.load(options, vec![found], options.settings.import_format).pop()
    }
}
