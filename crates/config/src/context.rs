//! Context files: what `GEMINI.md`, `AGENTS.md` and their like tell the model.
//!
//! Three tiers: the person's own (`~/.gemini`), the project's (upward from each workspace folder),
//! and those of sub-folders, which are found when a tool touches a path below them.

use std::collections::HashSet;
use std::path::{Component, Path, PathBuf};

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
use search::{Found, ceiling, upward};

pub use read::{MAX_FILE_BYTES, MAX_TOTAL_BYTES};
pub use render::{blocks, project_section, system_section};

/// The names that are always looked for, in this order, after those of the settings. Gemini CLI
/// knows only the first.
pub const DEFAULT_NAMES: [&str; 2] = ["GEMINI.md", "AGENTS.md"];

/// The index of the private notes about a project.
pub const PRIVATE_INDEX: &str = "MEMORY.md";

/// Where to look and how to read.
#[derive(Debug, Clone)]
pub struct ContextOptions<'a> {
    /// Where the person's files are.
    pub places: &'a Places,
    /// The workspace folders, the current directory first; absolute.
    pub workspace: &'a [PathBuf],
    /// The folder of private notes about the project, if there is one.
    pub private_memory_dir: Option<PathBuf>,
    /// Whether the project's files may be read at all.
    pub trusted: bool,
    /// What of the project may take effect: files that are links out of it are asked about.
    pub accepted: &'a Accepted,
    /// `context.*`.
    pub settings: &'a ContextSettings,
}

/// One context file with its imports expanded.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ContextFile {
    /// Its absolute path.
    pub path: PathBuf,
    /// Its text, trimmed and not empty.
    pub text: String,
}

/// The context files of a run. It remembers what was loaded, so that nothing is loaded twice.
#[derive(Debug, Clone, Default)]
pub struct ContextFiles {
    /// The person's own files.
    pub global: Vec<ContextFile>,
    /// The private notes about the project.
    pub private_memory: Option<ContextFile>,
    /// The project's files, outer folders first.
    pub project: Vec<ContextFile>,
    /// Files of sub-folders, in the order in which tools came upon them.
    pub subfolders: Vec<ContextFile>,
    /// Files that could not be used, and why.
    pub warnings: Vec<String>,
    seen: Seen,
    bytes: usize,
}

/// Where a context file comes from.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Origin {
    /// The person's own, for all projects.
    Global,
    /// The person's private notes about the project.
    PrivateMemory,
    /// The project's.
    Project,
    /// A sub-folder's, found when a tool touched it.
    Subfolder,
}

impl Origin {
    /// The heading of Gemini CLI's list.
    pub fn title(self) -> &'static str {
        match self {
            Self::Global => "Global",
            Self::PrivateMemory => "Private Project Memory",
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
    /// Notes a file; `false` when it was there already, under whatever name.
    fn insert(&mut self, found: &Found) -> bool {
        let new_path = self.paths.insert(found.path.clone());
        let new_identity = self.identities.insert(found.identity.clone());
        new_path && new_identity
    }
}

/// The names to look for: those given, trimmed, then [`DEFAULT_NAMES`]; none twice.
pub fn names(given: &[String]) -> Vec<String> {
    let given = given.iter().map(|name| name.trim().trim_start_matches(['/', '\\']));
    // A name never leads out of the folder that it is looked for in.
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

/// Finds and reads the person's and, in a trusted folder, the project's context files.
pub fn discover(options: &ContextOptions<'_>) -> ContextFiles {
    let names = names(&options.settings.file_names);
    let mut files = ContextFiles::default();
    let home = options.places.gemini_dir();
    let own = names.iter().filter_map(|name| Found::at(home.join(name)));
    let own: Vec<_> = own.collect();
    files.global = files.load(options, own, options.settings.import_format);
    files.private_memory = files.load_private_memory(options, &names);
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

/// The items of a project: context files upward from its folder that are links out of it.
pub(crate) fn items(settings: &ContextSettings, project: &Path, state: &Path) -> Vec<ConsentItem> {
    let ceiling = ceiling(project, &settings.memory_boundary_markers);
    let found = upward(project, &ceiling, state, &names(&settings.file_names));
    let links = found.into_iter().filter_map(|file| {
        let real = search::way_out(&file, &ceiling)?;
        Some(link_item(&file.path, &real))
    });
    links.collect()
}

/// A link is agreed to by where it leads. What stands there is the person's own.
fn link_item(path: &Path, real: &Path) -> ConsentItem {
    let (name, target) = (path.to_string_lossy(), real.to_string_lossy());
    let detail = format!("is a link out of the project; the model is told what is in {target}");
    item(kinds::CONTEXT_FILE, &name, detail, target.as_bytes())
}

/// The files that no other of them brings along. Of files that import each other the last stays.
fn without_imported(mut read: Vec<(Found, Read)>) -> Vec<ContextFile> {
    let mut place = 0;
    while let Some((found, _)) = read.get(place) {
        let is_told = |(other, (_, read)): (usize, &(Found, Read))| {
            other != place && read.imported.contains(&found.identity)
        };
        if read.iter().enumerate().any(is_told) {
            read.remove(place);
        } else {
            place += 1;
        }
    }
    read.into_iter().map(|(_, read)| read.file).collect()
}

impl ContextFiles {
    /// All that was loaded, by where it comes from; origins without files are left out.
    pub fn by_origin(&self) -> impl Iterator<Item = (Origin, &[ContextFile])> {
        let notes = self.private_memory.as_slice();
        [
            (Origin::Global, self.global.as_slice()),
            (Origin::PrivateMemory, notes),
            (Origin::Project, &self.project),
            (Origin::Subfolder, &self.subfolders),
        ]
        .into_iter()
        .filter(|(_, files)| !files.is_empty())
    }

    /// Notes files of sub-folders that an earlier run has told the model of, so that they are not told again.
    pub fn note_told(&mut self, paths: impl IntoIterator<Item = PathBuf>) {
        for found in paths.into_iter().filter_map(Found::at) {
            self.seen.insert(&found);
        }
    }

    /// Loads what applies to `target` (absolute, a file or folder that a tool touched) and was not
    /// loaded yet. Empty outside of the workspace and in folders that are not trusted.
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
        // By text for the search, and by real path so that no link leads out of the workspace.
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

    /// The files that are where they seem to be, or whose link out of the project was agreed to.
    fn admitted(
        &mut self,
        options: &ContextOptions<'_>,
        found: Vec<Found>,
        root: &Path,
    ) -> Vec<Found> {
        let mut admitted = Vec::new();
        for file in found {
            match search::way_out(&file, root) {
                Some(real) if !options.accepted.accepts(&link_item(&file.path, &real)) => {
                    let (path, real) = (file.path.display(), real.display());
                    self.warnings.push(format!(
                        "Context file {path} was not loaded: it is a link out of the project, to {real}, \
                         and nobody has agreed to that."
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
        found: Vec<Found>,
        format: ImportFormat,
    ) -> Vec<ContextFile> {
        let markers = &options.settings.memory_boundary_markers;
        let mut loader = Loader { markers, format, bytes: self.bytes, warnings: Vec::new() };
        let fresh: Vec<_> = found.into_iter().filter(|found| self.seen.insert(found)).collect();
        let read: Vec<(Found, Read)> = fresh
            .into_iter()
            .filter_map(|found| loader.load(&found).map(|read| (found, read)))
            .collect();
        self.bytes = loader.bytes;
        self.warnings.append(&mut loader.warnings);
        // What a file brings along has been told, whoever touches it later.
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
        let found = candidates.into_iter().find_map(|name| Found::at(folder.join(name)))?;
        self.load(options, vec![found], options.settings.import_format).pop()
    }
}
